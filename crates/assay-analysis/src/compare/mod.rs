//! Two groups of records or more, load by load: same, different or cannot tell, and by how much.

mod analyse;
#[cfg(test)]
mod day_scenes;
mod gate;
mod pair;
mod report;
mod request;
mod scatter;
#[cfg(test)]
mod scenes;

pub use analyse::compare;
pub(crate) use analyse::{Orders, under};
pub use gate::{Answer, Case, Check, Doubt, Gate, gate};
pub use report::{
    Basis, Comparison, Days, DoubtCause, GroupInfo, LoadComparison, Method, NoSeries, Note, Pair, PairVerdict,
    Question, Runs, Series, SeriesUse, Side, SideRun, Why,
};
pub use request::{By, CompareError, Group, Limit, LimitError, LimitSense, Request, nameless, split};
