//! From a file to records.

use assay_core::record::Record;

use crate::error::ImportError;
use crate::file::File;
use crate::format::{Problem, Section};
use crate::group::{self, Part};
use crate::options::Options;
use crate::own;
use crate::registry::{FORMATS, nearest};
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
