//! From records to verdicts: what the statistics say of records, for machines to read and for
//! reports to show. Pure functions: nothing here touches a file, a clock or a network.

pub mod advise;
pub mod compare;
mod load;
pub mod plan;
mod published;
pub mod rank;
mod reading;

pub use load::{Load, Quantity};
pub use published::{PREFIX, PublishedError, published};
pub use reading::{Identity, Mark, Reading, identity, loads, reading, short_name};
