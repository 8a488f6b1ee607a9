//! Two groups of records or more, load by load: same, different or cannot tell, and by how much.

mod analyse;
#[cfg(test)]
mod day_scenes;
mod examine;
mod gate;
mod gather;
mod group;
mod judge;
mod limit;
mod models;
mod note;
mod notes;
mod numbers;
mod orders;
mod pair;
mod question;
mod report;
#[cfg(test)]
mod samples;
mod scatter;
#[cfg(test)]
mod scenes;
mod series;
mod telling;

pub use analyse::compare;
pub(crate) use analyse::under;
pub use gate::{Answer, Case, Check, Doubt, Gate, gate};
pub use group::{By, CompareError, Group, Request, nameless, split};
pub use limit::{Limit, LimitError, LimitSense};
pub use note::Note;
pub(crate) use orders::Orders;
pub use report::{
    Basis, Comparison, Days, GroupInfo, LoadComparison, Method, NoSeries, Pair, PairVerdict, Question, Run, Runs,
    Series, SeriesUse, Side, Why,
};
