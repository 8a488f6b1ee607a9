//! Views of records, made once. Card, page and Markdown lay out the part that they have room for.

pub(crate) mod crosscheck;
mod document;
mod figures;
pub(crate) mod finding;
mod load_row;
mod record;
mod several;

pub(crate) use document::{of_record, of_several};
pub(crate) use figures::{Figure, Figures};
pub(crate) use load_row::{LoadRow, Mark};
pub(crate) use record::{Crosscheck, Presented};
pub(crate) use several::{Listed, Overview};
