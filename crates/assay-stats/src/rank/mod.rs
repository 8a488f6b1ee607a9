//! From repeats on many units to statements about models: components of variance, a ranking with
//! ties, odd units, bus ceilings, failures, and what a campaign can distinguish before it starts.
//!
//! Everything is on logarithms, where effects are ratios: a 5 % unit stays 5 % at every block size,
//! and the order of operations per second is the reverse of that of seconds per operation.
//! The unit, not the repeat, is what a statement about a model rests on.

mod entry;
mod fit;
mod groups;
mod outlier;
mod pairwise;
mod ranking;
mod resolution;
mod shared;
mod table;
mod variances;

pub use entry::{
    AggregateRule, AggregateValue, Ending, Entrant, FitValue, Invalid, Options, Precedence, RankRefusal, Sense,
    SlotCeiling, SpeedGroups, UnitShare, aggregate, compressed, jeffreys, measured_ceiling,
};
pub use fit::{
    Components, Fit, ModelFit, OrderEffect, OutstandingSlot, SlotCheck, SlotTest, UnitFit, VarianceShares, fit,
    slot_check, slots_testable,
};
pub use groups::TwoGroups;
pub use outlier::{Disagreement, GROUPS_ALPHA, ODD_ALPHA, OddUnit, Oddities, odd_units, units_to_name};
pub use pairwise::{PairAnswer, PairComparison, PairDoubt, compare, compare_all};
pub use ranking::{Better, Medal, ModelRanking, Pair, Ranked, rank, rank_sharing, tests};
pub use resolution::{CampaignSize, Precision, precisions, smallest_ratio, studentized_range};
pub use shared::SharedErrors;
pub use table::{FitError, Notice};
pub(crate) use variances::pair_degrees;
pub use variances::{PRIOR_DEGREES, Spread, moderated, pooled};
