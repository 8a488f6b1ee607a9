//! From records to verdicts: what the statistics say of records, for machines to read and for
//! reports to show. Pure functions: nothing here touches a file, a clock or a network.

mod admission;
pub mod advise;
pub mod aggregate;
mod area;
pub mod at_once;
#[cfg(test)]
mod best_of_tests;
mod bus;
pub mod compare;
mod connected;
#[cfg(test)]
mod connected_tests;
#[cfg(test)]
mod consistency_tests;
mod copies;
mod deciding_load;
mod deciding_quantity;
mod exclusion;
pub mod fleet;
mod host_days;
mod identity;
mod load;
pub mod load_curve;
mod load_query;
mod manner;
mod mark_doubtful;
mod needed;
mod over_days;
mod overlap;
pub mod percentiles;
pub mod plan;
mod published;
mod quantity;
pub mod rank;
mod reading;
mod resolution;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scale_tests;
mod settle;

pub use admission::{admit, examine, excluded, share_verdicts};
pub use area::small_area;
pub use bus::held_by_bus;
pub use copies::leave_out_copies;
pub use deciding_load::{LoadError, by_model, deciding_load, loads_named};
pub use deciding_quantity::{Decides, deciding_quantity};
pub use exclusion::{Excluded, Reason};
pub use identity::{Identity, identity, names_model, short_name, unit_of};
pub use load::Load;
pub use load_query::LoadQuery;
pub use mark_doubtful::mark_doubtful;
pub use needed::{Needed, Values};
pub use over_days::{ASSUMED_DAYS, over_days};
pub use published::{PREFIX, PublishedError, published};
pub use quantity::{Quantity, estimate};
pub use reading::{Mark, Reading, loads, reading};
pub use settle::{UnitNote, settle_units};
