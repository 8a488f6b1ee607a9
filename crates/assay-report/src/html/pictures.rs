//! Pictures of several records, and the slider over block sizes.

use assay_core::record::Record;
use assay_core::text::markup;

use assay_pictures::{Curves, Film, Heat, Pareto, Sweep, Wanted, curves, dots, heat, pareto, sweep};
use assay_pictures::{Dots, Drawing};

/// Kinds of load with curves of their own; more are in `assay report --picture curves --load …`.
const MOST_CURVES: usize = 6;

pub(super) fn add(out: &mut String, records: &[Record]) {
    let all = Wanted::default();
    let mut stills: Vec<Drawing> = Vec::new();
    stills.extend(Heat::of(records, &all).as_ref().map(heat));
    let families = Curves::all_of(records, &all);
    stills.extend(families.iter().take(MOST_CURVES).map(curves));
    stills.extend(Dots::of(records, &all).as_ref().map(dots));
    stills.extend(Pareto::of(records, &all).as_ref().map(pareto));
    let film = Sweep::of(records, &all).as_ref().map(sweep);
    if stills.is_empty() {
        return;
    }
    out.push_str("<h2 id=\"pictures\">Pictures</h2>\n");
    if let Some(film) = film {
        slider(out, &film);
    }
    for drawing in stills {
        let wide = if drawing.size().0 > 900.0 { " wide" } else { "" };
        out.push_str(&format!("<figure class=\"picture{wide}\">{}</figure>\n", drawing.inline()));
    }
    if families.len() > MOST_CURVES {
        let more = families.len() - MOST_CURVES;
        out.push_str(&format!(
            "<p class=\"hint\">{more} more kinds of load were measured at several block sizes.</p>\n"
        ));
    }
}

/// All frames; a script shows one of them, and without one all are there.
fn slider(out: &mut String, film: &Film) {
    let last = film.frames().count().saturating_sub(1);
    out.push_str(&format!(
        "<figure class=\"picture sweep\"><figcaption class=\"control\" hidden><button type=\"button\">Play</button><input type=\"range\" min=\"0\" max=\"{last}\" value=\"0\" step=\"1\" aria-label=\"Block size\"><output></output></figcaption>\n"
    ));
    for (name, drawing) in film.frames() {
        out.push_str(&format!("<div class=\"frame\" data-name=\"{}\">{}</div>\n", markup(name), drawing.inline()));
    }
    out.push_str("</figure>\n");
}
