//! Why a record or a figure of it decides nothing, and whether a record is the result that a cell of a plan or a node of a
//! run asks for. Plan, fleet and their reports count by this rule alone.

use std::fmt;

use assay_core::finding::{self, Finding, Severity, ValidityVerdict, Warning};
use assay_core::medium::Mounted;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::units::{Bytes, grouped};
use assay_core::verification::Verdict;
use serde::Serialize;

use crate::identity::{identity, unit_name};
use crate::load::Load;
use crate::quantity::Quantity;

/// A record, or a figure or part of a figure of it, that is left out of an analysis. Text is as the medium and the user
/// gave it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(into = "ExcludedDocument")]
pub struct Excluded {
    /// Id of the record.
    pub record: String,
    /// Its model.
    pub model: String,
    /// Its unit; empty where it is not known.
    pub unit: String,
    /// Title of the load; null where it is about the whole record.
    pub load: Option<String>,
    /// Why.
    pub reason: Reason,
}

impl Excluded {
    /// Leaves out a record (`load` is `None`), or its figure under a load.
    #[must_use]
    pub fn new(record: &Observation, load: Option<&Load>, reason: Reason) -> Self {
        let whose = identity(record);
        Self { record: record.id.clone(), model: whose.model, unit: whose.unit, load: load.map(Load::title), reason }
    }

    /// The model, and the unit where it is known.
    #[must_use]
    pub fn name(&self) -> String {
        unit_name(&self.model, &self.unit)
    }
}

/// The serialised form of [`Excluded`], which also holds the reason as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Excluded"))]
struct ExcludedDocument {
    /// Id of the record.
    record: String,
    /// Its model.
    model: String,
    /// Its unit; empty where it is not known.
    unit: String,
    /// Title of the load; null where it is about the whole record.
    load: Option<String>,
    /// Why.
    reason: Reason,
    /// The reason as text.
    text: String,
}

impl From<Excluded> for ExcludedDocument {
    fn from(excluded: Excluded) -> Self {
        let Excluded { record, model, unit, load, reason } = excluded;
        Self { text: reason.to_string(), record, model, unit, load, reason }
    }
}

/// Why a figure is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The load was measured at other depths only.
    OtherDepths {
        /// The depths that were measured, like `QD1`.
        measured: Vec<String>,
    },
    /// The load was measured, but not by this tool, or not by this one of several workloads of the load.
    OtherTool,
    /// This kind of load was measured with other blocks only.
    OtherBlocks {
        /// Their sizes in bytes; 0 where that is not known.
        block_bytes: Vec<u64>,
    },
    /// No similar load was measured.
    NotMeasured,
    /// The load is not fully known, so it cannot be matched with the load of another record.
    LoadNotTold,
    /// The workload has no completed repeat.
    NoFigure {
        /// Why.
        cause: NoFigureCause,
    },
    /// The load was measured, but this figure of it was not recorded.
    NoQuantity {
        /// The figure.
        quantity: Quantity,
    },
    /// A value that is not positive and finite was left out.
    BadValue {
        /// The value.
        value: String,
    },
    /// Repeats were left out.
    Repeats {
        /// Number of repeats that were left out.
        left_out: usize,
        /// Number of repeats in total.
        of: usize,
    },
    /// The figure is not what it claims to be.
    Invalid {
        /// Why it is invalid; null where the record says no more.
        warning: Option<Box<Warning>>,
    },
    /// The unit, in this record or another one, was found to be fake, damaged or failing.
    NotGenuine {
        /// The verdict of the check.
        verdict: Verdict,
    },
    /// The medium failed during the measurement. Its speed until then does not describe it.
    MediumFailed {
        /// The failure.
        failure: RunFailure,
    },
    /// The run is under way, or was killed.
    Unfinished,
    /// It was not measured under a load that the question is about.
    NoLoadAsked,
    /// A mixed load uses both directions of the wire, and the share of a node is computed for one direction.
    Mixed,
    /// The network volume was not measured under this load.
    NotOnVolume,
    /// Another run on the network volume is nearer to the question by its number of simultaneous nodes.
    OtherNodes {
        /// Number of simultaneous nodes in this run.
        nodes: u32,
        /// Number of simultaneous nodes in the run that counts.
        counted: u32,
    },
    /// The node lost contact with the others and ran out of step.
    OutOfStep,
    /// Some of the nodes that began together are missing: they failed, or their records were not given.
    Partners {
        /// Number of nodes whose records count.
        known: usize,
        /// Number of nodes that began.
        began: u32,
    },
    /// According to their clocks, the nodes of the run did not measure the network volume at the same time.
    NotAtOnce,
    /// The nodes took turns on the network volume, several at a time.
    InTurns,
    /// The test area was less than a quarter of the area that the suite asks for, while other records used a full area.
    SmallArea {
        /// What the suite asks for, in bytes.
        asked_bytes: u64,
        /// The area that was used, in bytes.
        used_bytes: u64,
    },
    /// The target of the node was not a mounted medium, while the targets of most other nodes were.
    NotMounted {
        /// What the target was instead.
        mounted: Mounted,
    },
    /// The unit is in one of two groups only, and others are in both: those are compared, each with itself.
    OneGroup,
    /// The model has no price, so it cannot be offered.
    NoPrice,
    /// Figures of an article whose power is not known; they take no labels.
    NoPower,
    /// The model is unknown.
    NoModel,
}

/// Why a workload has no figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoFigureCause {
    /// The record has no measurement at all.
    NothingMeasured {
        /// How it ended.
        outcome: Outcome,
    },
    /// The run left the workload out, for the reason in the finding.
    Skipped {
        /// The finding.
        warning: Box<Warning>,
    },
    /// The run ended before the workload.
    NotReached,
    /// No repeat was completed.
    NoneCompleted {
        /// Number of repeats.
        repeats: usize,
    },
}

impl fmt::Display for NoFigureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingMeasured { outcome } => write!(f, "nothing measured, {}", outcome.sentence()),
            Self::Skipped { warning } => match &warning.finding {
                Finding::FewerRepeats { shortfall, .. } => write!(f, "skipped: {shortfall}"),
                _ => write!(f, "skipped: {}", warning.cause()),
            },
            Self::NotReached => f.write_str("the run ended before it"),
            Self::NoneCompleted { repeats } => write!(f, "none of {repeats} repeats completed"),
        }
    }
}

impl Reason {
    /// What is missing, where the reason is only that there is no such figure. Advice reports this once for all loads of
    /// a question.
    #[must_use]
    pub fn absence(&self) -> Option<Absence> {
        match self {
            Self::OtherDepths { .. } => Some(Absence::OtherLoad("other queue depths")),
            Self::OtherBlocks { .. } => Some(Absence::OtherLoad("other block sizes")),
            Self::OtherTool => Some(Absence::OtherLoad("other tools or tests")),
            Self::NotMeasured => Some(Absence::OtherLoad("not measured")),
            Self::LoadNotTold => Some(Absence::LoadNotTold("not everything is known about their loads")),
            Self::NoFigure { .. } | Self::NoQuantity { .. } => Some(Absence::NoFigure),
            _ => None,
        }
    }
}

/// What is missing where there is no figure, from the least that is known on. The words are about several records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The load: others were measured, or none.
    OtherLoad(&'static str),
    /// Parts of the load that was measured.
    LoadNotTold(&'static str),
    /// The figure of the load.
    NoFigure,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherDepths { measured } => write!(f, "not measured at this depth, but at {}", measured.join(", ")),
            Self::OtherTool => f.write_str("not measured by that tool or test"),
            Self::OtherBlocks { block_bytes } => {
                let size = |bytes: &u64| match bytes {
                    0 => "an unknown one".to_owned(),
                    bytes => Bytes(*bytes).to_string(),
                };
                let sizes: Vec<String> = block_bytes.iter().map(size).collect();
                write!(f, "not measured at this block size, but at {}", sizes.join(", "))
            }
            Self::NotMeasured => f.write_str("not measured"),
            Self::LoadNotTold => f.write_str("cannot be compared: not everything is known about this load"),
            Self::NoFigure { cause } => write!(f, "no figure: {cause}"),
            Self::NoQuantity { quantity: Quantity::DurableBytesPerSecond } => {
                f.write_str("no durable rate; only writes have one")
            }
            Self::NoQuantity { quantity } if quantity.least_operations() > 1 => {
                let least = grouped(quantity.least_operations().cast_signed());
                write!(f, "no {}: it takes {least} operations in a repeat", quantity.name())
            }
            Self::NoQuantity { quantity } => write!(f, "no {} was kept", quantity.name()),
            Self::BadValue { value } => write!(f, "left out a value of {value}: not a positive finite number"),
            Self::Repeats { left_out, of } => write!(f, "left out {left_out} of {of} repeats: not completed"),
            Self::Invalid { warning: Some(warning) } => write!(f, "invalid: {}", warning.cause()),
            Self::Invalid { warning: None } => f.write_str("invalid: the record says so"),
            Self::NotGenuine { verdict } => f.write_str(match verdict {
                Verdict::Fake => "a fake: it announces more than it has",
                Verdict::Failed => "failed: it stopped working while it was checked",
                _ => "damaged: it loses data",
            }),
            Self::MediumFailed { failure } => write!(f, "the medium failed: {}", failure.title()),
            Self::Unfinished => f.write_str("the run is under way, or was killed"),
            Self::NoLoadAsked => f.write_str("not measured under a load that is judged"),
            Self::Mixed => f.write_str("a mixed load: it uses the wire in both directions"),
            Self::SmallArea { asked_bytes, used_bytes } => write!(
                f,
                "measured on {} instead of {}: not compared with full test areas",
                Bytes(*used_bytes),
                Bytes(*asked_bytes)
            ),
            Self::NotMounted { mounted: Mounted::Memory } => {
                f.write_str("memory was measured: not compared with media that are mounted")
            }
            Self::NotMounted { .. } => {
                f.write_str("the root disk was measured: not compared with media that are mounted")
            }
            Self::OneGroup => {
                f.write_str("only in one of the two groups, and units of both are compared with themselves")
            }
            Self::NoPrice => f.write_str(
                "no label price; give --price 'MODEL=12.90USD', or label it: assay label 'model=MODEL' price=12.90USD",
            ),
            Self::NoPower => f.write_str("the article tells no power; without --power-price it is offered"),
            Self::NoModel => f.write_str("names no model; name it: assay label ID model=…"),
            Self::OtherNodes { nodes, counted } => {
                write!(
                    f,
                    "{nodes} nodes measured the NAS at once; the figures of {counted} nodes are closer to the question"
                )
            }
            Self::OutOfStep => f.write_str("the node lost the others: it did not measure with them"),
            Self::InTurns => {
                f.write_str("nodes measured the NAS in turns, several at a time: neither alone nor all at once")
            }
            Self::Partners { known, began } => write!(
                f,
                "{known} of the {began} nodes that measured the NAS at once have valid figures: what the others got is unknown"
            ),
            Self::NotAtOnce => {
                f.write_str("its nodes did not measure the NAS at the same time, according to their clocks")
            }
            Self::NotOnVolume => f.write_str("the NAS was not measured under this load"),
        }
    }
}

/// Why a record decides nothing under any load; `None` if it may.
#[must_use]
pub(crate) fn excluded_whole(record: &Observation) -> Option<Reason> {
    if let Some(verification) = record.verification.as_ref().filter(|v| v.verdict.is_bad()) {
        return Some(Reason::NotGenuine { verdict: verification.verdict });
    }
    match &record.outcome {
        Outcome::Running => return Some(Reason::Unfinished),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => {
            return Some(Reason::MediumFailed { failure: *failure });
        }
        _ => {}
    }
    let warned = record.warnings.iter().any(|w| w.severity == Severity::Invalid);
    // Imported records may be marked invalid without a finding. A finding of one workload applies to that workload
    // only.
    let said = record.validity.verdict == finding::ValidityVerdict::Invalid
        && !record.all_warnings().any(|w| w.severity == Severity::Invalid);
    (warned || said).then(|| invalid(record, None))
}

pub(crate) fn invalid(record: &Observation, measurement: Option<&ObservedMeasurement>) -> Reason {
    let own = measurement.into_iter().flat_map(|m| &m.warnings);
    let warning = record.warnings.iter().chain(own).find(|w| w.severity == Severity::Invalid);
    let warning = warning.or(record.validity.reasons.first());
    Reason::Invalid { warning: warning.cloned().map(Box::new) }
}

/// What a record is the result of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Achieved {
    /// It was measured.
    Measured,
    /// The medium failed, which is a result.
    MediumFailed(RunFailure),
}

/// Why a record is no result: what it was for is measured again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoResult {
    /// The run is under way, or was killed.
    Running,
    /// The run did not finish, for a reason that is not the medium's.
    Unfinished(RunFailure),
    /// The record is invalid.
    Invalid,
}

/// Whether a record is a result.
///
/// # Errors
/// [`NoResult`], where it is none.
pub fn result_of(record: &Observation) -> Result<Achieved, NoResult> {
    match &record.outcome {
        Outcome::Running => Err(NoResult::Running),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => Ok(Achieved::MediumFailed(*failure)),
        Outcome::Failed { failure, .. } => Err(NoResult::Unfinished(*failure)),
        Outcome::Completed if record.validity.verdict == ValidityVerdict::Invalid => Err(NoResult::Invalid),
        Outcome::Completed => Ok(Achieved::Measured),
    }
}

/// Why a record is invalid, in the words of the first finding that says so.
#[must_use]
pub fn why_invalid(record: &Observation) -> String {
    let reasons = || record.validity.reasons.iter();
    let worst = reasons().chain(record.all_warnings()).find(|warning| warning.severity == Severity::Invalid);
    worst.or(reasons().next()).map_or_else(|| "the record says so".to_owned(), |warning| warning.cause())
}
