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
pub use gate::{Check, Gate, LimitAnswer, LimitCase, LimitDoubt, gate};
pub use report::{
    Comparison, Days, DoubtCause, GroupBasis, GroupFigure, GroupInfo, LoadComparison, Method, NoSeries, Note, Pair,
    PairQuestion, PairVerdict, RunPair, Series, SeriesUse, SideRun, WhyUnknown,
};
pub use request::{By, CompareError, CompareRequest, GateLimit, LimitError, LimitSense, RecordGroup, nameless, split};
