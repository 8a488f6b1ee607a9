//! Two groups of records or more, load by load: same, different or cannot tell, and by how much.

mod analyse;
mod examine;
mod gather;
mod group;
mod judge;
mod note;
mod numbers;
mod primary;
mod reason;
mod report;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod scenes;

pub use analyse::compare;
pub use group::{By, CompareError, Group, MOST_GROUPS, Request, split};
pub use judge::{Verdict, Why};
pub use note::Note;
pub use reason::{Excluded, Reason};
pub use report::{Basis, Comparison, GroupInfo, LoadComparison, Method, Pair, Run, Side};
