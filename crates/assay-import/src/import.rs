//! From a file to records.

use assay_core::record::Record;
use assay_core::text::quoted;
use assay_core::units::Bytes;

use crate::file::File;
use crate::format::{Problem, Section};
use crate::given::Options;
use crate::group::{self, Part};
use crate::own;
use crate::registry::{FORMATS, names, nearest};
use crate::text::Text;
use crate::unpack::unpack;

/// Most lines of a text: fio's JSON with bins of latencies has a few ten thousand.
const MOST_LINES: usize = 500_000;

/// What a file held.
#[derive(Debug, Clone, Default)]
pub struct Imported {
    /// Its records in order.
    pub items: Vec<Item>,
    /// What of it could not be read, each with the file or the member of an archive.
    pub problems: Vec<(String, Problem)>,
}

/// A record out of a file.
#[derive(Debug, Clone)]
pub enum Item {
    /// A record of assay, as it stands in the file, with fields that this version does not know.
    Own(String),
    /// A record that was made of a report.
    Made(Box<Record>),
}

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

/// Reads the records in a file, or in the members of an archive.
///
/// # Errors
/// [`ImportError`] where it gives none. A file that can be read in part gives that part and its problems.
pub fn import(file: File, options: &Options) -> Result<Imported, ImportError> {
    let (name, packed) = (file.name.clone(), file);
    let mut all = Imported::default();
    let mut refused = None;
    for file in unpack(packed)? {
        match one(&file, options) {
            Ok(found) => {
                all.items.extend(found.items);
                all.problems.extend(found.problems);
            }
            Err(error) if file.name == name => return Err(error),
            // Of an archive the other members count.
            Err(error) => {
                all.problems.push((file.name.clone(), Problem { line: 1, what: error.to_string() }));
                refused.get_or_insert(error);
            }
        }
    }
    match refused {
        Some(error) if all.items.is_empty() => Err(error),
        _ => Ok(all),
    }
}

fn one(file: &File, options: &Options) -> Result<Imported, ImportError> {
    if let Some(documents) = own::documents(&file.bytes) {
        let documents = documents.map_err(|reason| ImportError::Own { file: file.name.clone(), reason })?;
        return Ok(Imported { items: documents.into_iter().map(Item::Own).collect(), problems: Vec::new() });
    }
    let ends = file.bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    if ends > MOST_LINES {
        return Err(ImportError::Nothing {
            file: file.name.clone(),
            line: 1,
            what: format!("more than {MOST_LINES} lines, which no output of a tool has"),
        });
    }
    let text = Text::of(&file.bytes);
    let (parts, problems) = scan(&text);
    let records = group::records(parts, &text, file, options);
    if records.is_empty() {
        return Err(match problems.into_iter().next() {
            Some(Problem { line, what }) => ImportError::Nothing { file: file.name.clone(), line, what },
            None => {
                let lines = text.lines().iter().filter(|line| !line.text.trim().is_empty()).count();
                ImportError::Unknown { file: file.name.clone(), lines, nearest: nearest(&text) }
            }
        });
    }
    Ok(Imported {
        items: records.into_iter().map(|record| Item::Made(Box::new(record))).collect(),
        problems: problems.into_iter().map(|problem| (file.name.clone(), problem)).collect(),
    })
}

/// Offers each line to each format, and lets the first that knows it read on.
fn scan(text: &Text) -> (Vec<Part>, Vec<Problem>) {
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < text.len() {
        let Some(format) = FORMATS.iter().find(|format| format.begins(text, at)) else {
            at += 1;
            continue;
        };
        let Section { end, reports, problems: found } = format.read(text, at);
        // A format that reads nothing would be asked for ever.
        let end = end.clamp(at + 1, text.len());
        parts.extend(reports.into_iter().map(|report| {
            let (from, to) = report.lines.unwrap_or((at, end));
            Part { format: format.name(), report, from, to }
        }));
        problems.extend(found);
        at = end;
    }
    (parts, problems)
}
