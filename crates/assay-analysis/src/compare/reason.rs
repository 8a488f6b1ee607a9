//! What is left out of a comparison, and why.

use std::fmt;

use assay_core::units::Bytes;
use serde::Serialize;

use crate::load::Quantity;

/// A figure, or a part of one, that takes no part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Excluded {
    /// Index of the group.
    pub group: usize,
    /// Id of the record.
    pub record: String,
    /// Title of the load.
    pub load: String,
    /// Why.
    pub reason: Reason,
}

/// Why a figure takes no part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// The load was measured at other depths only.
    OtherDepths {
        /// What was measured, like `QD 1`.
        measured: Vec<String>,
    },
    /// This kind of load was measured with other blocks only.
    OtherBlocks {
        /// Their sizes in bytes.
        block_bytes: Vec<u64>,
    },
    /// Nothing like it was measured.
    NotMeasured,
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
    /// Left out of its group because others of the group are sound.
    Invalid {
        /// Why it is invalid.
        cause: String,
    },
    /// Left out of its group because other media of the group are genuine.
    Fake {
        /// What was found.
        cause: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherDepths { measured } => write!(f, "not measured at this depth, but at {}", measured.join(", ")),
            Self::OtherBlocks { block_bytes } => {
                let sizes: Vec<String> = block_bytes.iter().map(|b| Bytes(*b).to_string()).collect();
                write!(f, "not measured at this block size, but at {}", sizes.join(", "))
            }
            Self::NotMeasured => f.write_str("not measured"),
            Self::NoFigure { cause } => write!(f, "no figure: {cause}"),
            Self::NoQuantity { quantity: Quantity::DurableBytesPerSecond } => {
                f.write_str("no durable rate; only writes have one")
            }
            Self::NoQuantity { quantity } => write!(f, "no {} was kept", quantity.name()),
            Self::BadValue { value } => write!(f, "left out a value of {value}: not a positive finite number"),
            Self::Repeats { left_out, of } => write!(f, "left out {left_out} of {of} repeats: not completed"),
            Self::Invalid { cause } => write!(f, "left out as invalid: {cause}"),
            Self::Fake { cause } => write!(f, "left out as not genuine: {cause}"),
        }
    }
}
