//! Ranks models from records: which are equal, which differ, and which are undecided.

mod answer;
mod bridged_days;
mod ceiling;
mod collect;
mod composite;
mod composite_figures;
mod endings;
mod level;
mod odd;
mod one;
mod options;
mod pibenchmarks;
mod refusal;
mod rows;
mod setting;
#[cfg(test)]
mod tests;
mod whole;

pub use answer::{
    Basis, Deviation, LoadRanking, ModelRow, PairRow, RankReport, Ratio, Remark, Shares, SlotWarning, Standing,
    TwoSpeeds, UnitRow, Unresolved,
};
pub use assay_stats::rank::{Better, Class, Medal, Notice};
pub use ceiling::{CeilingSource, UsedCeiling};
pub use composite::{CompositeKind, CompositeRanking, CompositeRow};
pub use endings::{FailedRecord, FailureShare};
pub(crate) use level::{DecidedLoad, Levels};
pub use options::RankOptions;
pub use refusal::RankError;
pub(crate) use setting::Setting;
pub use whole::rank;
