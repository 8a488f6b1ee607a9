//! From records to verdicts: what the statistics say of records, for machines to read and for
//! reports to show. Pure functions: nothing here touches a file, a clock or a network.

mod admission;
pub mod advise;
pub mod aggregate;
pub mod compare;
#[cfg(test)]
mod consistency_tests;
mod deciding;
mod exclusion;
pub mod fleet;
mod identity;
mod load;
mod overlap;
pub mod plan;
mod published;
mod quantity;
pub mod rank;
mod reading;
#[cfg(test)]
mod samples;
mod settle;
mod several_media;
pub mod survive;

pub use admission::{admit, examine, excluded, share_verdicts, share_verdicts_of_records, small_area};
pub use deciding::{
    ASSUMED_DAYS, Decides, LoadError, Needed, Values, by_model, deciding_load, deciding_quantity, loads_named,
    over_days,
};
pub use exclusion::{Absence, Achieved, Excluded, NoFigureCause, NoResult, Reason, result_of, why_invalid};
pub use identity::{
    Identity, Listed, identity, listed_identity, names_model, short_name, unit_name, unit_of, unit_words,
};
pub use load::{Load, LoadQuery, LoadQueryError, nearest};
pub use overlap::{Alone, AtOnce, Member, at_once};
pub use published::{PREFIX, PublishedError, published, published_records};
pub use quantity::{Quantity, estimate, operations_for, percentile};
pub use reading::{KNEE_FACTOR, LoadCurve, LoadPoint, Mark, Reading, held_by_bus, load_curves, loads, reading};
pub use settle::{UnitNote, leave_out_copies, mark_doubtful, settle_units};
