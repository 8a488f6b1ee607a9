//! Ranks models from records: which are equal, which differ, and which are undecided.

mod answer;
mod collect;
mod composite;
mod level;
mod ranking;
#[cfg(test)]
mod tests;

pub(crate) use answer::Setting;
pub use answer::{
    FailedRecord, FailureShare, LoadRanking, MediumFailure, ModelRow, OddUnitDeviation, PairRow, RankBasis,
    RankOptions, RankRemark, RankReport, RankStanding, Ratio, Shares, SlotWarning, TwoSpeeds, UnitGroups, UnitRow,
    Unresolved,
};
pub use assay_stats::rank::{Better, Medal, Notice, Precedence, RankRefusal};
pub use collect::{CeilingSource, UsedCeiling};
pub use composite::{CompositeKind, CompositeRanking, CompositeRefusal, CompositeRow};
pub(crate) use level::{DecidedLoad, Levels, is_adjusted};
pub use ranking::{RankError, rank};
