//! From a file to records.

use std::ops::ControlFlow;

use assay_core::finding::{Finding, Missing};
use assay_core::record::{Record, schema_major};
use serde_json::value::RawValue;

use crate::group::{Groups, Options};
use crate::registry::{FORMATS, ImportError, nearest};
use crate::report::{MOST_FIGURES, Part, Problem, Section};
use crate::text::{MOST_LINES, Text};
use crate::unpack::{File, unpack};

/// Most records that are handed on at once.
const BATCH: usize = 500;
/// Bytes, about, from which on records are handed on though there are fewer.
const BATCH_BYTES: usize = 8 << 20;
/// What a figure takes of them, about.
const FIGURE_BYTES: usize = 2 << 10;
/// Most records of a file, or of all members of an archive.
const MOST_RECORDS: usize = 200_000;
/// Most problems of a file that are told.
const MOST_PROBLEMS: usize = 1_000;

/// What a file held, or some of it.
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
    Own {
        /// The file, or the member of an archive.
        file: String,
        /// The record as JSON.
        document: String,
    },
    /// A record that was made of a report.
    Made(Box<Record>),
}

impl Item {
    /// The memory that it takes, about.
    fn bytes(&self) -> usize {
        match self {
            Self::Own { document, .. } => document.len(),
            Self::Made(record) => {
                let text = record.origin.imported().and_then(|source| source.text.as_ref()).map_or(0, String::len);
                text + (record.measurements.len() + record.scores.len() + 1) * FIGURE_BYTES
            }
        }
    }
}

/// Reads the records in a file, or in the members of an archive.
///
/// # Errors
/// [`ImportError`] where it gives none. A file that can be read in part gives that part and its problems.
pub fn import(file: File, options: &Options) -> Result<Imported, ImportError> {
    let mut all = Imported::default();
    import_each(file, options, &mut |some| {
        all.items.extend(some.items);
        all.problems.extend(some.problems);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// The same, and hands the records on as they are read, at most 500 at a time, until `take` wants no more.
///
/// # Errors
/// As [`import`]; of a file that holds too many records, the first were handed on.
pub fn import_each(
    file: File,
    options: &Options,
    take: &mut dyn FnMut(Imported) -> ControlFlow<()>,
) -> Result<(), ImportError> {
    let name = file.name.clone();
    let mut hands =
        Hands { take, next: Imported::default(), bytes: 0, records: 0, untold: 0, flow: ControlFlow::Continue(()) };
    let (mut failed, mut refused) = (None, None);
    unpack(file, &mut |file| {
        match one(&file, options, &mut hands) {
            Ok(()) => {}
            Err(error) if file.name == name => failed = Some(error),
            // Of an archive the other members count.
            Err(error) => {
                hands.problem(&file.name, Problem { line: 1, what: error.to_string() });
                refused.get_or_insert(error);
            }
        }
        hands.flow
    })?;
    match failed.or(refused.filter(|_| hands.records == 0)) {
        Some(error) => Err(error),
        None => hands.end(&name),
    }
}

/// Records and problems on their way.
struct Hands<'a> {
    take: &'a mut dyn FnMut(Imported) -> ControlFlow<()>,
    next: Imported,
    bytes: usize,
    records: usize,
    /// Problems that the text does not list, since they are too many.
    untold: usize,
    flow: ControlFlow<()>,
}

impl Hands<'_> {
    /// Takes a record; whether another is wanted.
    fn item(&mut self, item: Item) -> ControlFlow<()> {
        self.records += 1;
        if self.records > MOST_RECORDS {
            self.flow = ControlFlow::Break(());
        }
        if self.flow.is_continue() {
            self.bytes += item.bytes();
            self.next.items.push(item);
            if self.next.items.len() >= BATCH || self.bytes >= BATCH_BYTES {
                self.hand_on();
            }
        }
        self.flow
    }

    fn problem(&mut self, file: &str, problem: Problem) {
        if self.next.problems.len() < MOST_PROBLEMS {
            self.next.problems.push((file.to_owned(), problem));
        } else {
            self.untold += 1;
        }
    }

    fn hand_on(&mut self) {
        self.bytes = 0;
        self.flow = (self.take)(std::mem::take(&mut self.next));
    }

    /// Hands on what is left of the file of this name.
    fn end(mut self, name: &str) -> Result<(), ImportError> {
        let over = self.records > MOST_RECORDS;
        if self.flow.is_continue() || over {
            if self.untold > 0 {
                let what = format!("{} more of its parts could not be read", self.untold);
                self.next.problems.push((name.to_owned(), Problem { line: 1, what }));
            }
            if !(self.next.items.is_empty() && self.next.problems.is_empty()) {
                self.hand_on();
            }
        }
        if over { Err(ImportError::TooMany { file: name.to_owned(), most: MOST_RECORDS }) } else { Ok(()) }
    }
}

/// Reads a file that is not packed.
fn one(file: &File, options: &Options, hands: &mut Hands<'_>) -> Result<(), ImportError> {
    if let Some(documents) = own_documents(&file.bytes) {
        let documents = documents.map_err(|reason| ImportError::Own { file: file.name.clone(), reason })?;
        for document in documents {
            if hands.item(Item::Own { file: file.name.clone(), document: document.to_owned() }).is_break() {
                break;
            }
        }
        return Ok(());
    }
    let too_many_lines = || ImportError::Nothing {
        file: file.name.clone(),
        line: 1,
        what: format!("more than {MOST_LINES} lines, which no output of a tool has"),
    };
    if file.bytes.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count() > MOST_LINES {
        return Err(too_many_lines());
    }
    let text = Text::from_bytes(&file.bytes);
    // Pages and strings of JSON have lines within their lines.
    if text.len() > MOST_LINES {
        return Err(too_many_lines());
    }
    // Lines of an unknown log begin with a prefix. The reading that finds more is right.
    let other = text.without_shared().filter(|other| figures(other) > figures(&text));
    let text = other.unwrap_or(text);
    let Outcome { any, problems, untold } = read(&text, file, options, hands);
    if !any {
        return Err(match problems.into_iter().next() {
            Some(Problem { line, what }) => ImportError::Nothing { file: file.name.clone(), line, what },
            None => {
                let lines = text.lines().iter().filter(|line| !line.text.trim().is_empty()).count();
                ImportError::Unknown { file: file.name.clone(), lines, nearest: nearest(&text) }
            }
        });
    }
    for problem in problems {
        hands.problem(&file.name, problem);
    }
    hands.untold += untold;
    Ok(())
}

/// What came of a text.
struct Outcome {
    /// Whether a record was made of it.
    any: bool,
    problems: Vec<Problem>,
    /// Problems that the text does not list, since they are too many.
    untold: usize,
}

/// How many figures, scores and verdicts are in a text.
fn figures(text: &Text) -> usize {
    let mut count = 0;
    scan(text, &mut |found| {
        if let FoundReport::Part(part) = found {
            let report = &part.report;
            let health = report.medium.health.len();
            count += report.figures.len() + report.scores.len() + usize::from(report.verification.is_some()) + health;
        }
        ControlFlow::Continue(())
    });
    count
}

/// Reads the reports in a text.
fn read(text: &Text, file: &File, options: &Options, hands: &mut Hands<'_>) -> Outcome {
    let mut groups = Groups::new(text, file, options);
    let (mut problems, mut untold, mut any) = (Vec::new(), 0, false);
    let mut hand = |record: Option<Record>, hands: &mut Hands<'_>| match record {
        Some(record) => {
            any = true;
            hands.item(Item::Made(Box::new(record)))
        }
        None => hands.flow,
    };
    let mut problem = |problem| if problems.len() < MOST_PROBLEMS { problems.push(problem) } else { untold += 1 };
    scan(text, &mut |found| match found {
        FoundReport::Part(part) => match groups.add(*part) {
            Ok(record) => hand(record, hands),
            Err(refused) => {
                problem(refused);
                hands.flow
            }
        },
        FoundReport::Problem(found) => {
            problem(found);
            hands.flow
        }
    });
    if hands.flow.is_continue() {
        let _ = hand(groups.end(), hands);
    }
    Outcome { any, problems, untold }
}

/// What stands in a text.
enum FoundReport {
    Part(Box<Part>),
    Problem(Problem),
}

/// Offers each line to each format, lets the first that knows it read on, and hands on what it reads, until no more is
/// wanted.
fn scan(text: &Text, take: &mut dyn FnMut(FoundReport) -> ControlFlow<()>) {
    let mut at = 0;
    while at < text.len() {
        let Some(format) = FORMATS.iter().find(|format| format.begins(text, at)) else {
            at += 1;
            continue;
        };
        let Section { end, reports, problems } = format.read(text, at);
        // A format that reads nothing would be asked for ever.
        let end = end.clamp(at + 1, text.len());
        for problem in problems {
            if take(FoundReport::Problem(problem)).is_break() {
                return;
            }
        }
        for mut report in reports {
            if report.is_full() {
                let missing = Missing::Beyond { figures: MOST_FIGURES as u64 };
                report.findings.push(Finding::SourceIncomplete { missing });
            }
            let (from, to) = report.lines.unwrap_or((at, end));
            let part = Part { format: format.name(), report, from, to };
            if take(FoundReport::Part(Box::new(part))).is_break() {
                return;
            }
        }
        at = end;
    }
}

// Records of assay itself, which are taken as they are.

/// The documents of a file that begins with a record of assay, one after another or in a list; `None` where it does not.
fn own_documents(bytes: &[u8]) -> Option<Result<Vec<&str>, String>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let first = match text.strip_prefix('[') {
        Some(_) => serde_json::from_str::<Vec<&RawValue>>(text).ok()?.first()?.get(),
        None => match serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next()? {
            Ok(value) => value.get(),
            // The end is missing, as of a file that was cut off.
            Err(error) if error.is_eof() && begins_as_record(text) => {
                return Some(Err(format!("a record of assay is not complete: {error}")));
            }
            Err(_) => return None,
        },
    };
    if !is_record(first) {
        return None;
    }
    let mut documents = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = match value {
            Ok(value) => value.get(),
            Err(error) => return Some(Err(format!("a record of assay is not complete: {error}"))),
        };
        match serde_json::from_str::<Vec<&RawValue>>(value) {
            Ok(list) => documents.extend(list.iter().map(|value| value.get())),
            Err(_) => documents.push(value),
        }
    }
    Some(Ok(documents))
}

/// Whether a text begins as records of assay are written: by their schema.
fn begins_as_record(text: &str) -> bool {
    let after = |text: &'_ str, words: &[&str]| -> Option<usize> {
        let rest = words.iter().try_fold(text, |rest, word| rest.trim_start().strip_prefix(word))?;
        Some(text.len() - rest.len())
    };
    let Some(at) = after(text, &["{", "\"schema\"", ":", "\""]) else { return false };
    let Some((version, rest)) = text[at..].split_once('"') else { return false };
    schema_major(version).is_some() && after(rest, &[",", "\"id\"", ":"]).is_some()
}

/// Whether a JSON object has the fields by which a record is known.
fn is_record(json: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Marks {
        #[serde(rename = "schema")]
        _schema: String,
        #[serde(rename = "id")]
        _id: String,
        #[serde(rename = "suite")]
        _suite: serde::de::IgnoredAny,
        #[serde(rename = "medium")]
        _medium: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Marks>(json).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(n: usize) -> String {
        format!("{n}+0 records in\n{n}+0 records out\n{} bytes (1 MB) copied, 1 s, 1 MB/s\n", n * 512)
    }

    #[test]
    fn records_are_handed_on_as_they_are_read() {
        let text: String = (1..=1_201).map(report).collect();
        let options = Options::default();
        let mut batches = Vec::new();
        let take = |batches: &mut Vec<usize>, some: Imported, most: usize| {
            batches.push(some.items.len());
            if batches.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        import_each(File::new("a.txt", text.clone()), &options, &mut |some| take(&mut batches, some, 9)).unwrap();
        assert_eq!(batches, [500, 500, 201]);
        assert_eq!(import(File::new("a.txt", text.clone()), &options).unwrap().items.len(), 1_201);
        // Nothing more is read when no more is wanted.
        batches.clear();
        import_each(File::new("a.txt", text), &options, &mut |some| take(&mut batches, some, 1)).unwrap();
        assert_eq!(batches, [500]);
    }

    /// Of a directory such a file is one that is damaged, and not one of another kind.
    #[test]
    fn a_record_that_was_cut_off_is_named_as_one() {
        let refused = |text: &str| import(File::new("a.json", text.to_owned()), &Options::default()).unwrap_err();
        for record in [r#"{"schema":"1.0","id":"0ykn","created":"20"#, "{\n  \"schema\": \"1.7\",\n  \"id\": \"0y"] {
            let refused = refused(record);
            assert!(
                matches!(&refused, ImportError::Own { reason, .. } if reason.contains("not complete")),
                "{refused}"
            );
        }
        for other in [r#"{"schema":"x","id":1"#, r#"{"schema":"1.0","name":1"#, r#"{"schema":"1.0"#, "{", "[{", "{}"] {
            assert!(matches!(refused(other), ImportError::Unknown { .. }), "{other}");
        }
    }

    #[test]
    fn what_cannot_be_read_comes_with_what_can_and_alone_it_refuses_the_file() {
        let nothing = "AS SSD Benchmark 1.0\n\n";
        let options = Options::default();
        let held = import(File::new("a.txt", report(1) + nothing), &options).unwrap();
        assert_eq!((held.items.len(), held.problems.len()), (1, 1));
        assert!(matches!(import(File::new("a.txt", nothing), &options), Err(ImportError::Nothing { .. })));
        let many = report(1) + &nothing.repeat(MOST_PROBLEMS + 7);
        let held = import(File::new("a.txt", many), &options).unwrap();
        assert_eq!(held.problems.len(), MOST_PROBLEMS + 1);
        assert_eq!(held.problems[MOST_PROBLEMS].1.what, "7 more of its parts could not be read");
    }

    #[test]
    fn records_stand_alone_in_lines_or_in_a_list() {
        let one = r#"{"schema":"1.0","id":"a","suite":{},"medium":{},"new":1}"#;
        for text in [one.to_owned(), format!("\u{feff} {one}\n"), format!("[{one}]")] {
            assert_eq!(own_documents(text.as_bytes()), Some(Ok(vec![one])), "{text}");
        }
        assert_eq!(own_documents(format!("{one}\n{one}\n").as_bytes()).unwrap().unwrap().len(), 2);
        assert!(matches!(own_documents(format!("{one}\n{{\"schema\":").as_bytes()), Some(Err(_))), "cut off");
        for other in ["", "{}", "[1]", "text", r#"{"fio version":"fio-3.33"}"#, "{\"schema\":\"1.0\""] {
            assert_eq!(own_documents(other.as_bytes()), None, "{other}");
        }
    }
}
