//! An answer before it is laid out: what is found, tables, notes, pictures; and the same as a page,
//! as Markdown, as CSV and on a terminal.

mod markdown;
mod model;
mod page;
mod table;
mod text;

pub use model::{Answered, Document};
pub(crate) use model::{Block, Cell, Column, Data, Row, Table, left, number, right};
