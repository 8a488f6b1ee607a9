//! Records of `assay list` for programs.

use std::collections::BTreeMap;

use assay_analysis::{Load, identity, names_model};
use assay_core::estimate::Estimate;
use assay_core::finding::ValidityVerdict;
use assay_core::medium::MediumKind;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::verification::Verdict;
use serde::Serialize;

use crate::headline::Columns;

/// A record in `assay list`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedRecord {
    /// Id.
    id: String,
    /// When it was begun, RFC 3339, UTC; null where its source does not say.
    created: Option<String>,
    /// Model: the label, or what the medium says; null where it is not known.
    model: Option<String>,
    /// Title of the medium.
    medium: String,
    /// Kind of the medium.
    kind: MediumKind,
    /// Unit: serial number, CID or label.
    unit: Option<String>,
    /// Host name.
    host: Option<String>,
    /// Slot or port.
    slot: Option<String>,
    /// Name of the suite.
    suite: String,
    /// How the run ended.
    outcome: Outcome,
    /// Whether the figures can be trusted.
    verdict: ValidityVerdict,
    /// Verdict of the checks of this unit; null where it was not checked.
    verification: Option<Verdict>,
    /// Labels.
    labels: BTreeMap<String, String>,
    /// The figures of the columns: sequential and random reads and writes, each of the load that most records have.
    figures: Vec<ListedFigure>,
}

/// A figure of a record.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFigure {
    /// The load.
    load: Load,
    /// The load as text.
    title: String,
    /// The quantity of the estimate: `bytes_per_second` or `iops`.
    quantity: &'static str,
    /// The figure.
    estimate: Estimate,
}

/// The records in their order.
#[must_use]
pub fn listed(records: &[Record]) -> Vec<ListedRecord> {
    let columns = Columns::of(records);
    records.iter().map(|record| ListedRecord::new(record, &columns)).collect()
}

impl ListedRecord {
    fn new(record: &Record, columns: &Columns) -> Self {
        let figure = |column: usize| {
            let found = columns.figure(record, column)?;
            let load = Load::of(&found.measurement.workload);
            let quantity = if Columns::is_of_rates(column) { "bytes_per_second" } else { "iops" };
            Some(ListedFigure { title: load.title(), load, quantity, estimate: found.estimate.clone() })
        };
        Self {
            id: record.id.clone(),
            created: Some(record.created.clone()).filter(|created| !created.is_empty()),
            model: names_model(record).then(|| identity(record).model),
            medium: record.medium.title(),
            kind: record.medium.kind,
            unit: record.medium.unit.clone(),
            host: record.host.hostname.clone(),
            slot: record.host.slot.clone(),
            suite: record.suite.name.clone(),
            outcome: record.outcome.clone(),
            verdict: record.validity.verdict,
            verification: record.verification.as_ref().map(|check| check.verdict),
            labels: record.labels.clone(),
            figures: (0..Columns::TITLES.len()).filter_map(figure).collect(),
        }
    }
}
