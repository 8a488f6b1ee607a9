//! The known facts about a record. Card, page, Markdown and `info` each show the part of this list that they have room
//! for.

mod fact;
pub(crate) mod info;
mod medium;
mod record;
mod words;

pub(crate) use fact::{Fact, Rank};
pub(crate) use medium::{RULE as MEDIUM_RULE, of_medium};
pub(crate) use record::{about, results};
pub(crate) use words::{host, machine, nanoseconds, no_figure, other_labels, scaled_down, slot, unit, when};
