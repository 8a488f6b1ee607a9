//! Pictures of several records, and the slider over block sizes.

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_pictures::{Curves, Dots, Drawing, Film, Heat, Pareto, Sweep, Wanted, curves, dots, heat, pareto, sweep};
use maud::{Markup, PreEscaped, html};

/// Kinds of load with curves of their own; more are in `assay report --picture curves --load …`.
const MOST_CURVES: usize = 6;

pub(super) fn section(records: &[Record]) -> Markup {
    let all = Wanted::default();
    let mut stills: Vec<Drawing> = Vec::new();
    stills.extend(Heat::of(records, &all).as_ref().map(heat));
    let families = Curves::all_of(records, &all);
    stills.extend(families.iter().take(MOST_CURVES).map(curves));
    stills.extend(Dots::of(records, &all).as_ref().map(dots));
    stills.extend(Pareto::of(records, &all).as_ref().map(pareto));
    let film = Sweep::of(records, &all).as_ref().map(sweep);
    html! {
        @if !stills.is_empty() {
            h2 id="pictures" { "Pictures" }
            @if let Some(film) = film { (slider(&film)) }
            @for drawing in stills {
                figure.picture.wide[drawing.size().0 > 900.0] { (PreEscaped(drawing.inline())) }
            }
            @if families.len() > MOST_CURVES {
                p.hint { (families.len() - MOST_CURVES) " more kinds of load were measured at several block sizes." }
            }
        }
    }
}

/// All frames; a script shows one of them, and without one all are there.
fn slider(film: &Film) -> Markup {
    html! {
        figure.picture.sweep {
            figcaption.control hidden {
                button type="button" { "Play" }
                input type="range" min="0" max=(film.frames().count().saturating_sub(1)) value="0" step="1"
                    aria-label="Block size";
                output {}
            }
            @for (name, drawing) in film.frames() {
                div.frame data-name=(harmless(name)) { (PreEscaped(drawing.inline())) }
            }
        }
    }
}
