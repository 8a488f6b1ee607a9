//! What stands under a picture.

use assay_core::record::Record;
use assay_core::text::capitalised;
use assay_pictures::{Drawing, Kind};
use serde::Serialize;

use super::scope::computers;

/// What a picture shows, what its figures rest on, and how they were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caption {
    /// The kind of picture: `curves`.
    pub picture: &'static str,
    /// The kind of the picture, as text.
    pub shows: &'static str,
    /// The description of what the picture shows.
    pub seen: String,
    /// Load, unit, number of values, level of the intervals.
    pub rests_on: String,
    /// The computers.
    pub hosts: Vec<String>,
    /// Records that were asked for.
    pub records: usize,
}

/// The kind of the picture, independent of the records.
fn shows(kind: Kind) -> &'static str {
    match kind {
        Kind::Curves => "Rates over block sizes",
        Kind::Heat => "Units by loads",
        Kind::Dots => "Each unit a row, each repeat a dot",
        Kind::Sweep => "One block size after the other",
        other => other.help(),
    }
}

impl Caption {
    pub(super) fn of(kind: Kind, drawing: &Drawing, records: &[Record]) -> Self {
        Self {
            picture: kind.name(),
            shows: shows(kind),
            seen: drawing.title().to_owned(),
            rests_on: drawing.description().to_owned(),
            hosts: computers(records),
            records: records.len(),
        }
    }

    /// All of it in sentences.
    #[must_use]
    pub fn sentence(&self) -> String {
        let on = match self.hosts.as_slice() {
            [] => String::new(),
            [one] => format!(" Measured on {one}."),
            several => format!(" Measured on {}.", several.join(", ")),
        };
        let said = |text: &str| capitalised(text.trim_end_matches('.'));
        format!("{}. {}. {}.{on}", self.shows, said(&self.seen), said(&self.rests_on))
    }
}
