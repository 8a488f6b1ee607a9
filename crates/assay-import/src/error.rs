//! Why nothing was imported.

use assay_core::text::quoted;
use assay_core::units::Bytes;

use crate::registry::names;

/// Why nothing was imported of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No format that is known.
    #[error("{}: {}; {}", quoted(.file), unknown(*.lines), nearest_words(*.nearest))]
    Unknown {
        /// The file.
        file: String,
        /// How many lines it has.
        lines: usize,
        /// The format that is nearest by its words.
        nearest: Option<&'static str>,
    },
    /// A format is known, and nothing of it could be used.
    #[error("{}, line {line}: {what}", quoted(.file))]
    Nothing {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// What is wrong with it.
        what: String,
    },
    /// It is too large to be the output of a tool.
    #[error("{}: larger than {}, which no output of a tool is; name the results themselves", quoted(.file), Bytes(*.most))]
    TooLarge {
        /// The file.
        file: String,
        /// What would be read, in bytes.
        most: u64,
    },
    /// It holds more records than are taken of one file; the first were.
    #[error("{}: more than {most} results; the first {most} were taken: divide the file", quoted(.file))]
    TooMany {
        /// The file.
        file: String,
        /// How many were taken.
        most: usize,
    },
    /// A compressed file or an archive cannot be unpacked.
    #[error("{}: cannot be unpacked: {reason}", quoted(.file))]
    Packed {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A record of assay that cannot be read.
    #[error("{}: {reason}", quoted(.file))]
    Own {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
}

fn unknown(lines: usize) -> &'static str {
    if lines == 0 { "the file is empty" } else { "no result of a known format is in it" }
}

fn nearest_words(nearest: Option<&'static str>) -> String {
    match nearest {
        Some(name) => format!("nearest to {name}; `assay import --formats` lists what is read"),
        None => format!("known are {}", names().join(", ")),
    }
}
