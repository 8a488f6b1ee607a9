//! Results of other tools as records.
//!
//! bytes → [`Text`] (decoded, unpacked, without what wraps it) → reports by [`registry`] → records.
//!
//! Formats are recognised by content, never by name. What a format does not tell stays unknown: see
//! [`Load`], whose fields are optional for that reason.

mod command;
mod date;
mod formats;
mod group;
mod import;
mod joined;
mod labels;
mod number;
mod pattern;
mod reach;
mod registry;
mod report;
mod sheet;
mod text;
mod unpack;

pub use group::Options;
pub use import::{Imported, Item, import, import_each};
pub use labels::{Given, PathError, PathPattern};
pub use registry::{FORMATS, ImportError, Nearest, names};
pub use report::{Figure, Format, Load, Problem, Report, Section, Statistic};
pub use sheet::{IdleRow, Sheet, SheetError, doubt};
pub use text::{Line, Text};
pub use unpack::{File, member};
