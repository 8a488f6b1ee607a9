//! From records to verdicts: what the statistics say of records, for machines to read and for
//! reports to show. Pure functions: nothing here touches a file, a clock or a network.

mod admission;
pub mod advise;
pub mod aggregate;
pub mod at_once;
pub mod compare;
#[cfg(test)]
mod consistency_tests;
mod deciding;
mod displayed;
mod exclusion;
pub mod fleet;
mod identity;
mod load;
pub mod load_curve;
mod needed;
mod overlap;
pub mod percentiles;
pub mod plan;
mod published;
mod quantity;
pub mod rank;
mod reading;
#[cfg(test)]
mod samples;
mod settle;

pub use admission::{admit, examine, excluded, share_verdicts, small_area};
pub use deciding::{Decides, LoadError, by_model, deciding_load, deciding_quantity, loads_named};
pub use exclusion::{Absence, Excluded, NoFigureCause, Reason};
pub use identity::{Identity, identity, names_model, short_name, unit_name, unit_of, unit_words};
pub use load::{Load, LoadQuery, LoadQueryError, nearest};
pub use needed::{ASSUMED_DAYS, Needed, Values, over_days};
pub use published::{PREFIX, PublishedError, published};
pub use quantity::{Quantity, estimate};
pub use reading::{Mark, Reading, held_by_bus, loads, reading};
pub use settle::{UnitNote, leave_out_copies, mark_doubtful, settle_units};
