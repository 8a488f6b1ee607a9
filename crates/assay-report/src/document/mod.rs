//! An answer before layout: finding, tables, notes, pictures; and its layouts as a page, as Markdown, as CSV and on a
//! terminal.

mod model;
mod page;
mod table;

pub use model::{Answered, Column, Document, left, right, wrapped};
pub(crate) use model::{BEST, Block, Cell, Data, Figure, Seen, Table, TableRow, number};
pub(crate) use table::of_rows;
pub use table::plain as table;
