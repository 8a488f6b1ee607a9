//! One medium in brief, from its records: what a page shows beside other media.

use assay_core::observation::Observation;
use assay_core::text::clean;

use crate::document::Cell;
use crate::headline::Columns;
use crate::list::{figure_cell, figure_title};
use crate::presented::common_finding;
use crate::verdict::{Tone, checked, tone, word};
use crate::{caveats, facts, health};

/// A medium and the last that is known of it. All text is plain and may come from elsewhere: a page escapes it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitCard {
    /// Vendor, model and capacity, or the label `model`.
    pub title: String,
    /// Unit, slot and host, as far as they are known.
    pub place: String,
    /// Id of the last record with figures, or else of the last record.
    pub record: String,
    /// When it was begun.
    pub when: String,
    /// How it ended, or whether its figures can be trusted.
    pub word: &'static str,
    /// Class of the tone: `good`, `plain`, `care` or `bad`.
    pub tone: &'static str,
    /// Title, value, and interval with the number of repeats.
    pub figures: Vec<(String, String, String)>,
    /// What the medium says of its own state.
    pub health: Option<String>,
    /// Verdict of the last check for genuineness.
    pub check: Option<String>,
    /// The last record against the one before it, under the load that decides; none with fewer than two.
    pub trend: Option<String>,
    /// The gravest warning of the last record.
    pub problem: Option<String>,
}

impl UnitCard {
    /// Of the newest records of one medium, oldest first; none without a record. Verdicts of checks are expected to be shared with
    /// the records, as every query does.
    #[must_use]
    pub fn from_records(records: &[Observation]) -> Option<Self> {
        let measured: Vec<&Observation> = records.iter().filter(|record| !record.measurements.is_empty()).collect();
        let last = measured.last().copied().or(records.last())?;
        let alone = std::slice::from_ref(last);
        let loads = Columns::from_records(alone);
        let figure = |at: usize| {
            let Cell { value, small, .. } = figure_cell(&loads, last, at);
            (figure_title(&loads, at), value, small)
        };
        let gravest =
            caveats::notes(last).into_iter().next().filter(|note| note.severity > assay_core::finding::Severity::Note);
        Some(Self {
            title: last.title(),
            place: place(last),
            record: last.id.clone(),
            when: facts::when(&last.created),
            word: word(last),
            tone: tone_name(tone(last)),
            figures: loads.filled().into_iter().map(figure).collect(),
            health: health::words(&last.medium),
            check: last.verification.as_ref().map(|found| checked(found).to_owned()),
            trend: trend(&measured),
            problem: gravest.map(|note| note.short_sentence(last.measurements.len())),
        })
    }
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Care => "care",
        Tone::Bad => "bad",
    }
}

fn place(record: &Observation) -> String {
    let part = |name: &str, text: String| (!text.is_empty()).then(|| format!("{name} {text}"));
    let host = record.host.hostname.as_deref().map(clean).unwrap_or_default();
    let parts = [part("unit", facts::unit(record)), part("slot", facts::slot(record)), part("on", host)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The finding of `assay compare` on the last two records.
fn trend(measured: &[&Observation]) -> Option<String> {
    let [.., before, last] = measured else { return None };
    Some(common_finding(&[(*before).clone(), (*last).clone()], None).title)
}
