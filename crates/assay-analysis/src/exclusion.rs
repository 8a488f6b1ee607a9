//! Why a record or a figure of it decides nothing.

use std::fmt;

use assay_core::finding::{self, Severity};
use assay_core::medium::Mounted;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record};
use assay_core::units::{Bytes, grouped};
use assay_core::verification::Verdict;
use serde::Serialize;

use crate::identity::{identity, unit_name};
use crate::load::Load;
use crate::quantity::Quantity;

/// A record, a figure of it or a part of one that takes no part. Text is as medium and user gave it.
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
    /// Of a record, or of its figure under a load.
    #[must_use]
    pub fn new(record: &Record, load: Option<&Load>, reason: Reason) -> Self {
        let whose = identity(record);
        Self { record: record.id.clone(), model: whose.model, unit: whose.unit, load: load.map(Load::title), reason }
    }

    /// Model, and unit where it is known.
    #[must_use]
    pub fn name(&self) -> String {
        unit_name(&self.model, &self.unit)
    }
}

/// What is printed of an [`Excluded`]: with the reason also in words.
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
    /// The reason in words.
    text: String,
}

impl From<Excluded> for ExcludedDocument {
    fn from(excluded: Excluded) -> Self {
        let Excluded { record, model, unit, load, reason } = excluded;
        Self { text: reason.to_string(), record, model, unit, load, reason }
    }
}

/// Why a figure takes no part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The load was measured at other depths only.
    OtherDepths {
        /// What was measured, like `QD1`.
        measured: Vec<String>,
    },
    /// This kind of load was measured with other blocks only.
    OtherBlocks {
        /// Their sizes in bytes; 0 where that is not known.
        block_bytes: Vec<u64>,
    },
    /// Nothing like it was measured.
    NotMeasured,
    /// Of the load not everything is known, so that nobody else can be said to have it.
    LoadNotTold,
    /// The workload has no completed repeat.
    NoFigure {
        /// Why, as far as the record says it.
        cause: String,
    },
    /// It was measured, but not this figure of it.
    NoQuantity {
        /// Which.
        quantity: Quantity,
    },
    /// A value that is not positive and finite was left out.
    BadValue {
        /// The value.
        value: String,
    },
    /// Repeats were left out.
    Repeats {
        /// So many.
        left_out: usize,
        /// Of so many.
        of: usize,
    },
    /// It is not what it says.
    Invalid {
        /// Why it is invalid.
        cause: String,
    },
    /// The unit, in this record or another one, was found to be fake, damaged or failing.
    NotGenuine {
        /// What was found.
        cause: String,
    },
    /// The medium failed while it was measured: what it did until then is not what it does.
    MediumFailed {
        /// How.
        cause: String,
    },
    /// The run is under way, or was killed.
    Unfinished,
    /// It was not measured under a load that the question is about.
    NoLoadAsked,
    /// A mixed load crosses the wire in both directions, which no share of it is about.
    Mixed,
    /// The network volume was not measured under this load.
    NotOnVolume,
    /// Another number of nodes that measured the network volume at once is nearer to the question.
    OtherNodes {
        /// So many did in this one.
        nodes: u32,
        /// And so many in what counts.
        counted: u32,
    },
    /// The node lost the others, so that it was out of step.
    OutOfStep,
    /// Not all nodes that began together are known: some failed, or are not among the records.
    Partners {
        /// Nodes whose records count.
        known: usize,
        /// Nodes that began.
        began: u32,
    },
    /// The nodes of its run did not measure the network volume at the same time, as far as their clocks tell.
    NotAtOnce,
    /// Nodes took turns on the network volume, some at a time.
    InTurns,
    /// The test area was less than a quarter of what the suite asks for, and that of others was not.
    SmallArea {
        /// What the suite asks for, in bytes.
        asked_bytes: u64,
        /// What was used, in bytes.
        used_bytes: u64,
    },
    /// The target of the node was no mounted medium, and that of most others was.
    NotMounted {
        /// Where it was instead.
        mounted: Mounted,
    },
    /// It cannot be bought without a price.
    NoPrice,
    /// Nobody knows of which model it is.
    NoModel,
}

impl Reason {
    /// Whether it only says that there is no such figure, which advice tells once for all loads of a question.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::OtherDepths { .. }
                | Self::OtherBlocks { .. }
                | Self::NotMeasured
                | Self::LoadNotTold
                | Self::NoFigure { .. }
                | Self::NoQuantity { .. }
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherDepths { measured } => write!(f, "not measured at this depth, but at {}", measured.join(", ")),
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
            Self::Invalid { cause } => write!(f, "invalid: {cause}"),
            Self::NotGenuine { cause } => f.write_str(cause),
            Self::MediumFailed { cause } => write!(f, "the medium failed: {cause}"),
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
            Self::NoPrice => {
                f.write_str("no label price; give --price 'MODEL=12.90USD', or measure with --label price=12.90USD")
            }
            Self::NoModel => f.write_str("names no model; assay label it with model=…"),
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

/// Why a record decides nothing, whatever the load; `None` where it may.
#[must_use]
pub(crate) fn excluded_whole(record: &Record) -> Option<Reason> {
    if let Some(verification) = record.verification.as_ref().filter(|v| v.verdict.is_bad()) {
        let cause = match verification.verdict {
            Verdict::Fake => "a fake: it announces more than it has",
            Verdict::Failed => "failed: it stopped working while it was checked",
            _ => "damaged: it loses data",
        };
        return Some(Reason::NotGenuine { cause: cause.to_owned() });
    }
    match &record.outcome {
        Outcome::Running => return Some(Reason::Unfinished),
        Outcome::Failed { failure, .. } if record.outcome.medium_failed() => {
            return Some(Reason::MediumFailed { cause: failure.title().to_owned() });
        }
        _ => {}
    }
    let warned = record.warnings.iter().any(|w| w.severity == Severity::Invalid);
    // Records from elsewhere may say it without a finding; findings of one workload speak for that one.
    let said = record.validity.verdict == finding::ValidityVerdict::Invalid
        && !record.all_warnings().any(|w| w.severity == Severity::Invalid);
    (warned || said).then(|| invalid(record, None))
}

pub(crate) fn invalid(record: &Record, measurement: Option<&Measurement>) -> Reason {
    let own = measurement.into_iter().flat_map(|m| &m.warnings);
    let warning = record.warnings.iter().chain(own).find(|w| w.severity == Severity::Invalid);
    let said = warning.map(|w| w.cause.clone()).or_else(|| record.validity.reasons.first().cloned());
    Reason::Invalid { cause: said.unwrap_or_else(|| "the record says so".to_owned()) }
}
