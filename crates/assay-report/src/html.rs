//! One self-contained page: works offline, without scripts (tables and bars), and on paper.

mod record;
mod shell;

use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_pictures::{Wanted, film};
use maud::html;
pub use shell::{Asset, Part};
pub(crate) use shell::{Scripts, Shell, facts, prose, said, slider};

use crate::presented::{Overview, Presented};

/// The report as one HTML page, without any reference to the network.
#[must_use]
pub fn html(records: &[Record]) -> String {
    shell(records).page()
}

/// The same report as a part of a page.
#[must_use]
pub fn part(records: &[Record]) -> Part {
    shell(records).part()
}

/// Pictures over block sizes, one after the other; none of records with too few sizes.
#[must_use]
pub fn film_part(records: &[Observation]) -> Option<Part> {
    let film = film(records, &Wanted::default()).ok()?;
    let title = "Over block sizes".to_owned();
    let body = slider(&film).into_string();
    Some(Part { title, kind: "picture", has_picture: true, body, data: Scripts::Films.data().0, charts: false })
}

/// What results about several records take.
pub(crate) fn observed(records: &[Record]) -> Vec<Observation> {
    records.iter().map(Observation::from).collect()
}

fn shell(records: &[Record]) -> Shell {
    let title = match records {
        [one] => one.title(),
        many => format!("{} records", many.len()),
    };
    let all: Vec<Presented<'_>> = records.iter().map(Presented::from_record).collect();
    let body = html! {
        @match all.as_slice() {
            [] => p { "No records." },
            [one] => (record::record_section(one, 0)),
            many => {
                @let overview = Overview::from_records(&observed(records));
                (record::records_overview(records, many, &overview))
                @for (i, (record, listed)) in many.iter().zip(&overview.rows).enumerate() {
                    (record::folded_record(listed, &record::record_section(record, i)))
                }
            }
        }
    };
    // A check has neither repeats nor charts.
    let measured = records.iter().any(|record| !record.measurements.is_empty());
    let footer = html! {
        @if measured {
        "± and brackets are confidence intervals over repeats, valid if these are independent of each other; the level \
         and the number of repeats are given with the figures. "
        span.handling { "Charts: hover or use the arrow keys, drag to zoom, double-click or Esc to reset. " }
        }
    };
    Shell { title, kind: "report", has_picture: true, body, footer, scripts: Scripts::Charts(shell::json(records)) }
}
