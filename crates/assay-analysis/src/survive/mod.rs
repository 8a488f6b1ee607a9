//! How long units last under wear: lives of units from several kinds of files, curves of groups, and their comparison.

mod answer;
mod read;
mod survey;
mod unit;

pub use answer::{
    CauseShare, CensoredUnits, Course, LeftOut, Life, MOST_COMPARED, Needed, Pair, Point, ShareAt, Survival,
    SurviveGroup, SurviveOptions, Verdict, WeibullFit, survive,
};
pub use assay_stats::survival::MOST_UNITS;
pub use read::{ReadError, read_lives};
pub use unit::{Axis, End, Grouping, Happening, LastSeen, Lives, Milestone, Reached, Silent, Unit};
