//! What is known of a record: one list, of which card, page, Markdown and `info` lay out the part they have room for.

mod fact;
mod medium;
mod record;
mod words;

pub(crate) use fact::{Fact, Rank};
pub(crate) use medium::{RULE as MEDIUM_RULE, of_medium};
pub(crate) use record::{about, results};
pub(crate) use words::{host, machine, nanoseconds, no_figure, other_labels, scaled_down, slot, unit, when};
