//! What people and machines read of records: the terminal card, `info`, `list`, and reports as
//! HTML, Markdown, CSV and JSON. Pure functions from records to text; nothing here touches a
//! file, a clock or a network.

pub mod advise;
mod aggregates;
pub mod article;
mod at_once;
mod bus;
mod card;
pub mod compare;
mod csv;
mod document;
mod facts;
mod figure;
pub mod fleet;
mod foreign;
mod headline;
mod html;
mod json;
mod least_loss;
mod left_out;
mod line;
mod list;
mod listed;
mod load_curve;
mod markdown;
mod needed;
mod notes;
mod over_days;
mod percentiles;
pub mod plan;
mod presented;
pub mod rank;
mod redact;
mod render;
mod scores;
mod sensors;
mod style;
mod verdict;
mod verification;
mod wrap;

pub use aggregates::{AggregatesDocument, aggregates};
pub use card::card;
pub use csv::csv;
pub use document::{Answered, Column, Document, left, right, table, wrapped};
pub use facts::info;
pub use html::html;
pub use json::json;
pub use list::{list, list_document};
pub use listed::{ListedFigure, ListedRecord, listed};
pub use markdown::markdown;
pub use percentiles::{percentile_heading, percentile_lines};
pub use redact::{RedactError, Redactor};
pub use render::{Format, FormatError, RenderError, View, render, render_files};
pub use style::Style;
pub use verdict::verdict_sentence;
