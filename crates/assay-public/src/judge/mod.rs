//! Judges what was submitted: by itself, and by what others submitted.

mod examine;
mod figures;
mod others;
mod worker;

pub use examine::examine;
pub(crate) use others::median;
pub use others::{Examined, examined, judge};
pub use worker::{Judge, judge_waiting, rejudge};
