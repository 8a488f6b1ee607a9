//! What pages read of a record. All public records are in memory in this form, so it is small: texts that many records have
//! are kept once, and what is more than this is read from the database when it is asked for.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use assay_analysis::Load;
use assay_core::finding::ValidityVerdict;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::text::clean;
use assay_core::verification::Verdict;
use serde::{Deserialize, Serialize};

use crate::classes::{self, bus_of};

/// A text that is kept once.
pub type Text = Arc<str>;

/// The digest of a record, as the database holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest<'a> {
    /// When the run started.
    #[serde(borrow)]
    created: Cow<'a, str>,
    /// Its suite.
    #[serde(borrow)]
    suite: Cow<'a, str>,
    /// Board, or processor.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    host: Cow<'a, str>,
    /// Slot or port.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    slot: Cow<'a, str>,
    /// Bus and mode.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    bus: Cow<'a, str>,
    /// Driver of what is between the bus and the medium, where the bus has one.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    bridge: Cow<'a, str>,
    /// What the submitter paid.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    price: Cow<'a, str>,
    /// Whether its figures can be trusted.
    verdict: ValidityVerdict,
    /// What its check came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checked: Option<Verdict>,
    /// Its figures.
    #[serde(borrow)]
    figures: Vec<DigestFigure<'a>>,
}

/// A figure of a digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DigestFigure<'a> {
    /// Title of the load.
    #[serde(borrow)]
    load: Cow<'a, str>,
    /// The same where it is distinguished from others of the record.
    #[serde(borrow, default, skip_serializing_if = "str::is_empty")]
    apart: Cow<'a, str>,
    /// Operations per second and their interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iops: Option<(f64, Option<f64>, Option<f64>)>,
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
}

impl<'a> Digest<'a> {
    /// The digest of an observation.
    #[must_use]
    pub fn of(observation: &'a Observation) -> Self {
        let host = &observation.host;
        let optional = |text: Option<&String>| Cow::Owned(text.map(|text| clean(text)).unwrap_or_default());
        Self {
            created: Cow::Borrowed(&observation.created),
            suite: Cow::Owned(clean(&observation.suite.name)),
            host: optional(host.board.as_ref().or(host.cpu.as_ref())),
            slot: optional(observation.labels.get("slot").or(host.slot.as_ref())),
            bus: Cow::Owned(clean(&bus_of(&observation.medium))),
            bridge: optional(observation.medium.bus.as_ref().and_then(|bus| bus.driver.as_ref())),
            price: optional(observation.labels.get("price")),
            verdict: observation.validity.verdict,
            checked: observation.verification.as_ref().map(|check| check.verdict),
            figures: observation.measurements.iter().map(|one| DigestFigure::of(observation, one)).collect(),
        }
    }

    /// As the database holds it.
    ///
    /// # Errors
    /// Where a number is none that JSON has.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl DigestFigure<'_> {
    fn of(observation: &Observation, measurement: &ObservedMeasurement) -> Self {
        let load = Load::from_workload(&measurement.workload).title();
        let apart = observation.load_title(measurement);
        Self {
            apart: if apart == load { Cow::Borrowed("") } else { Cow::Owned(apart) },
            load: Cow::Owned(load),
            iops: measurement.iops.as_ref().map(|iops| (iops.point, iops.low, iops.high)),
            rate: measurement.bytes_per_second.as_ref().map(|rate| rate.point),
        }
    }
}

/// A figure of a public record.
#[derive(Debug)]
pub struct Figure {
    /// Title of the load.
    pub load: Text,
    /// The same where it is distinguished from others of the record.
    pub apart: Text,
    /// Operations per second and their interval; none where it is unknown.
    pub iops: Option<(f64, Option<f64>, Option<f64>)>,
    /// Bytes per second.
    pub rate: Option<f64>,
}

/// A public record.
#[derive(Debug)]
pub struct Entry {
    /// Its identity.
    pub id: Box<str>,
    /// Who sent it.
    pub account: Text,
    /// BLAKE3 of its document.
    pub hash: blake3::Hash,
    /// Its class.
    pub class: &'static str,
    /// Name of its model.
    pub model: Text,
    /// Name of its unit on this site.
    pub unit: Text,
    /// When the run started.
    pub created: Box<str>,
    /// Its suite.
    pub suite: Text,
    /// Board, or processor.
    pub host: Text,
    /// Slot or port.
    pub slot: Text,
    /// Bus and mode.
    pub bus: Text,
    /// Driver of a bridge.
    pub bridge: Text,
    /// What the submitter paid; empty where it is not said.
    pub price: Text,
    /// Whether its figures can be trusted.
    pub verdict: ValidityVerdict,
    /// What its check came to.
    pub checked: Option<Verdict>,
    /// Its figures.
    pub figures: Box<[Figure]>,
}

/// What a database says of a public record beside its digest.
#[derive(Debug)]
pub struct Row<'a> {
    /// Identity of the record.
    pub id: &'a str,
    /// Who sent it.
    pub account: &'a str,
    /// BLAKE3 of its document, in hexadecimal digits.
    pub hash: &'a str,
    /// Its class.
    pub class: &'a str,
    /// Name of its model.
    pub model: &'a str,
    /// Name of its unit.
    pub unit: &'a str,
    /// Its digest.
    pub digest: &'a str,
}

/// Texts that are kept once.
#[derive(Debug, Default)]
pub struct Texts(HashSet<Text>);

impl Texts {
    fn once(&mut self, text: &str) -> Text {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Text = text.into();
        self.0.insert(Arc::clone(&new));
        new
    }

    /// A record from its row.
    ///
    /// # Errors
    /// Where the row is none that this program wrote.
    pub fn entry(&mut self, row: &Row<'_>) -> Result<Entry, String> {
        let digest: Digest<'_> = serde_json::from_str(row.digest).map_err(|error| error.to_string())?;
        let known = classes::ALL.iter().find(|(class, _)| *class == row.class);
        let figures = digest.figures.iter().map(|figure| {
            let load = self.once(&figure.load);
            let apart = if figure.apart.is_empty() { Arc::clone(&load) } else { self.once(&figure.apart) };
            Figure { load, apart, iops: figure.iops, rate: figure.rate }
        });
        let figures = figures.collect();
        Ok(Entry {
            id: row.id.into(),
            account: self.once(row.account),
            hash: blake3::Hash::from_hex(row.hash).map_err(|error| error.to_string())?,
            class: known.map(|(class, _)| *class).ok_or_else(|| format!("there is no class {}", row.class))?,
            model: self.once(row.model),
            unit: self.once(row.unit),
            created: digest.created.as_ref().into(),
            suite: self.once(&digest.suite),
            host: self.once(&digest.host),
            slot: self.once(&digest.slot),
            bus: self.once(&digest.bus),
            bridge: self.once(&digest.bridge),
            price: self.once(&digest.price),
            verdict: digest.verdict,
            checked: digest.checked,
            figures,
        })
    }
}
