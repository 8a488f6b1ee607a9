//! Results of other tools as records.
//!
//! bytes → [`Text`] (decoded, unpacked, without what wraps it) → reports by [`registry`] → records.
//!
//! Formats are recognised by content, never by name. What a format does not tell stays unknown: see
//! [`Load`], whose fields are optional for that reason.

mod check;
mod command;
mod date;
mod error;
mod file;
mod format;
mod formats;
mod given;
mod group;
mod import;
mod json;
mod labels;
mod number;
mod options;
mod own;
mod pattern;
mod plausible;
mod privacy;
mod registry;
mod report;
mod sections;
mod sheet;
mod text;
mod title;
mod unpack;
mod xz;

pub use error::ImportError;
pub use file::File;
pub use format::{Format, Problem, Section};
pub use given::Given;
pub use import::{Imported, Item, import, import_each};
pub use labels::{PathError, PathPattern};
pub use options::Options;
pub use registry::{FORMATS, names};
pub use report::{Figure, Load, Report, Statistic};
pub use sheet::{IdleRow, Sheet, SheetError, doubt};
pub use text::{Line, Text};
