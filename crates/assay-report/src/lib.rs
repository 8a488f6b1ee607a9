//! What people and machines read of records: the terminal card, `info`, `list`, and reports as
//! HTML, Markdown, CSV and JSON. Pure functions from records to text; nothing here touches a
//! file, a clock or a network.

pub mod advise;
pub mod article;
mod card;
mod caveats;
mod change;
#[cfg(feature = "columns")]
pub mod columns;
pub mod compare;
mod csv;
mod document;
mod facts;
pub mod fleet;
mod foreign;
mod headline;
mod health;
mod html;
mod list;
pub mod plan;
mod presented;
pub mod rank;
mod redact;
mod render;
mod results;
mod retention;
pub mod survive;
mod terminal;
mod verdict;
mod verification;
pub mod watch;
pub mod wear;

pub use card::{UnitCard, card};
pub use csv::{AggregatesDocument, aggregates, csv};
pub use document::{Answered, Column, Document, left, right, table, wrapped};
pub use facts::{info, when};
pub use headline::{percentile_heading, percentile_lines};
pub use html::{Asset, Part, film_part, html, part};
pub use list::{Life, ListRow, ListTable, ListedFigure, ListedRecord, Lives, list, list_document, list_table, listed};
pub use redact::{RedactError, Redactor, unredacted};
pub use render::{FormatError, RenderError, ReportFormat, View, json, markdown, render, render_files};
pub use retention::{days, speed_by_age};
pub use terminal::Style;
pub use verdict::verdict_sentence;
pub use verification::check_sentence;
