//! Two groups of records or more, load by load: same, different or cannot tell, and by how much.

mod analyse;
#[cfg(test)]
mod day_scenes;
mod gate;
mod group;
mod limit;
mod notes;
mod pair;
mod report;
#[cfg(test)]
mod samples;
mod scatter;
#[cfg(test)]
mod scenes;
mod series;

pub use analyse::compare;
pub(crate) use analyse::{Orders, under};
pub use gate::{Answer, Case, Check, Doubt, Gate, gate};
pub use group::{By, CompareError, Group, Request, nameless, split};
pub use limit::{Limit, LimitError, LimitSense};
pub use report::{
    Basis, Comparison, Days, GroupInfo, LoadComparison, Method, NoSeries, Note, Pair, PairVerdict, Question, Run, Runs,
    Series, SeriesUse, Side, Why,
};
