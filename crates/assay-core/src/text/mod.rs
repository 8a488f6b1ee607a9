//! Text that came from a device, a file or another host is never trusted. One function for each
//! place that text goes to; each takes any text and gives what cannot act there.
//!
//! | to | function |
//! | --- | --- |
//! | one line on a terminal | [`harmless`], [`label`], [`clean`], [`statement`]; in an error [`quoted`] |
//! | a file shown on a terminal | [`visible`] |
//! | HTML, SVG and XML, between tags and in quoted attributes | [`markup`] |
//! | Markdown, in a line or a table's cell | [`markdown`] |
//! | a cell of CSV | [`csv`] |
//! | a JSON document | [`json`] |
//! | a string in TOML | [`toml`] |
//! | a word of a command that is shown to be copied | [`shell()`] |
//! | a word that is handed to a POSIX shell | [`posix_word`] |
//! | an annotation of GitHub Actions | [`annotation`], [`annotation_property`] |

mod annotation;
mod capital;
mod csv;
mod harmless;
mod json;
mod markdown;
mod markup;
mod shell;
mod toml;
mod unbroken;

pub use annotation::{annotation, annotation_property};
pub use capital::capitalised;
pub use csv::csv;
pub use harmless::{clean, harmless, label, quoted, statement, visible};
pub use json::json;
pub use markdown::markdown;
pub use markup::markup;
pub use shell::{posix_word, shell};
pub use toml::toml;
pub use unbroken::unbroken;
