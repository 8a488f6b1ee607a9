//! What is said of records, made once: card, page and Markdown lay it out, each as much of it as it has room for.

mod document;
mod figures;
mod load_row;
mod record;
mod several;

pub(crate) use document::{of_record, of_several};
pub(crate) use figures::{Figure, Figures};
pub(crate) use load_row::{LoadRow, Mark};
pub(crate) use record::{Crosscheck, Presented};
pub(crate) use several::{Listed, Overview};
