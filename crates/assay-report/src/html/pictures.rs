//! Pictures of several records, and the slider over block sizes.

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_pictures::{Decided, Drawing, Film, Kind, Wanted, film, on_page};
use maud::{Markup, PreEscaped, html};

/// Pictures of one kind; more are in `assay report --picture`.
const MOST: usize = 6;

/// `decided` is the load that the page is about: its finding stands above.
pub(super) fn section(records: &[Record], decided: Option<Decided>) -> Markup {
    let wanted = Wanted::default().decided(decided);
    let kinds: Vec<(Kind, Vec<Drawing>)> =
        on_page(records, &wanted).filter(|(_, drawings)| !drawings.is_empty()).collect();
    let film = film(records, &Wanted::default()).ok();
    html! {
        @if !kinds.is_empty() {
            h2 id="pictures" { "Pictures" }
            @if let Some(film) = film { (slider(&film)) }
            @for (kind, drawings) in &kinds {
                @for drawing in drawings.iter().take(MOST) {
                    figure.picture.wide[drawing.size().0 > 900.0] { (PreEscaped(drawing.inline())) }
                }
                @if drawings.len() > MOST {
                    p.hint {
                        (drawings.len() - MOST) " more by " code { "assay report --picture " (kind.name()) " --load …" }
                    }
                }
            }
        }
    }
}

/// All frames; a script shows one of them, and without one all are there.
pub(crate) fn slider(film: &Film) -> Markup {
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
