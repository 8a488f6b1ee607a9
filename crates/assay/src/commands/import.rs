//! `assay import`: the files of a command line, their records, and what becomes of each in the store.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::imports::{self, FoundFile, ImportPlace, Kept, STANDARD_INPUT, Untaken, Waiting};
use assay_analysis::{identity, mark_doubtful, names_model};
use assay_core::exit::Exit;
use assay_core::finding::{Finding, Warning};
use assay_core::observation::Observation;
use assay_core::record::{Record, Source};
use assay_core::text::{self, harmless, quoted};
use assay_core::units::{counted, grouped};
use assay_import::{Given, IdleRow, ImportError, Imported, Item, Options, PathPattern, Sheet};
use assay_store::read_document;
use serde_json::Value;

use crate::cli::ImportArgs;
use crate::documents::{
    self, FormatsDocument, ImportChange, ImportDocument, ImportProblem, ImportedRecord, RefusedFile,
};
use crate::ending::Failure;
use crate::output;
use crate::output::Questions;
use crate::progress::{Status, time_left};

// The files of a command line, one after another.

/// What takes longer shows how far it is.
const LONG: Duration = Duration::from_secs(1);

pub(in crate::commands) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    if args.formats {
        return formats(args.json);
    }
    let options = Options {
        labels: args.labels.iter().cloned().collect(),
        host: args.host.clone(),
        kind: args.kind,
        path: args.path.clone(),
        sheet: args.sheet.as_deref().map(sheet).transpose()?,
        keep_text: !args.no_text,
    };
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for path in &args.paths {
        match imports::files(path) {
            Ok(some) => files.extend(some),
            // The others are no worse for it.
            Err(failure) => unread.push((path, failure)),
        }
    }
    // For nothing no store is made.
    let mut intake = Intake::new(args, &options, ImportPlace::open(args.dry_run || files.is_empty())?);
    unread.iter().for_each(|(path, failure)| intake.pass_over(path, failure));
    let begun = Instant::now();
    for (done, found) in files.iter().enumerate() {
        if begun.elapsed() > LONG {
            intake.status.show(|| progress(done, files.len(), begun.elapsed()));
        }
        intake.open();
        let outcome = imports::imported(found, &options, &mut |held| {
            if begun.elapsed() > LONG {
                intake.status.show(|| progress(done, files.len(), begun.elapsed()));
            }
            intake.take(found, held)
        });
        match outcome {
            Ok(()) => {}
            Err(Untaken::Content(error)) => intake.refuse(found, &error),
            Err(Untaken::File(failure)) => intake.pass_over(&found.path, &failure),
            Err(Untaken::Taker(failure)) => {
                // What was read before is not lost.
                intake.keep()?;
                return Err(failure);
            }
        }
    }
    intake.keep()?;
    intake.tell()
}

fn formats(json: bool) -> Result<Exit, Failure> {
    let names = assay_import::names();
    if json {
        output::print_json(&FormatsDocument { formats: names })?;
    } else {
        output::print(&names.join("\n"))?;
    }
    Ok(Exit::Good)
}

/// A sheet of names.
fn sheet(path: &Path) -> Result<Sheet, Failure> {
    let file = imports::read(path)?;
    Sheet::parse(&file.bytes).map_err(|error| Failure::usage(format!("{}, {error}", output::shown(path))))
}

/// `imported 1,200 of 10,000 files, about 7 s left`.
fn progress(done: usize, of: usize, elapsed: Duration) -> String {
    let files = |count: usize| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    let mut line = format!("imported {} of {} files", files(done), files(of));
    if done > 0 {
        let left = elapsed.mul_f64((of - done) as f64 / done as f64);
        line += &format!(", {}", time_left(left));
    }
    line
}

// The records of files on their way into the store, and what is said of them.

/// Records that are saved in one transaction.
const AT_ONCE: usize = 500;
/// Bytes of documents from which on fewer are.
const AT_ONCE_BYTES: usize = 8 << 20;
/// Most rows of a sheet that are named.
const MOST_ROWS_TOLD: usize = 10;
/// Why a record without identities is not taken for one with them, and what to do to put stores together.
const BARE: &str = "the store here has identities that the file has not: it was exported without them";
const BARE_MEND: &str = "to put stores together: assay export --identities";
/// Most records of a file that are refused one by one.
const MOST_REFUSED: usize = 1_000;

/// What became of the files.
struct Intake<'a> {
    args: &'a ImportArgs,
    options: &'a Options,
    place: ImportPlace,
    status: Status,
    questions: Questions,
    waiting: Vec<Waiting>,
    /// Bytes of their documents.
    bytes: usize,
    /// Records of the file under way that were refused.
    refused_of_file: usize,
    /// The model of the records of the file under way that name none, where that was asked for.
    model: Option<Option<String>>,
    /// The files as their records name them, each with the number of its results so far.
    files: BTreeMap<String, usize>,
    /// Rows of the sheet that were taken.
    rows: BTreeSet<usize>,
    /// Of each record what `--json` prints, as text, which takes a third of the memory.
    records: Vec<Box<str>>,
    problems: Vec<ImportProblem>,
    refused: Vec<RefusedFile>,
    skipped: Vec<String>,
    added: usize,
    known: usize,
    conflicts: usize,
    /// How many of them have identities in the store and none in the file.
    bare: usize,
    /// How many records are new and of a text that is not complete.
    incomplete: usize,
    /// How many records are new and name no model, and the first of them.
    nameless: (usize, String),
    /// Which figures were to be marked as doubtful, and how often each was.
    doubtful: Vec<(String, usize)>,
    /// The exit code where a file that was named itself cannot be read or holds no result, or what was said fits nothing.
    failed: Option<Exit>,
    /// Why lines could not be printed: the records are saved all the same.
    unprinted: Option<Failure>,
}

impl<'a> Intake<'a> {
    fn new(args: &'a ImportArgs, options: &'a Options, place: ImportPlace) -> Self {
        let input = args.paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT);
        Self {
            args,
            options,
            place,
            status: Status::new(false),
            questions: Questions::new(args.json || args.dry_run || input),
            waiting: Vec::new(),
            bytes: 0,
            refused_of_file: 0,
            model: None,
            files: BTreeMap::new(),
            rows: BTreeSet::new(),
            records: Vec::new(),
            problems: Vec::new(),
            refused: Vec::new(),
            skipped: Vec::new(),
            added: 0,
            known: 0,
            conflicts: 0,
            bare: 0,
            incomplete: 0,
            nameless: (0, String::new()),
            doubtful: args.doubtful.iter().map(|(load, _)| (load.clone(), 0)).collect(),
            failed: None,
            unprinted: None,
        }
    }

    /// Begins with a file.
    fn open(&mut self) {
        (self.refused_of_file, self.model) = (0, None);
    }

    /// Takes what a file held, or some of it, and saves what waits where that is enough; whether more is wanted.
    fn take(&mut self, found: &FoundFile, held: Imported) -> Result<ControlFlow<()>, Failure> {
        for (of, problem) in &held.problems {
            self.status.say(&format!("{of}, line {}: {}", problem.line, problem.what));
            if self.args.json {
                self.problems.push(ImportProblem {
                    file: of.clone(),
                    line: problem.line,
                    problem: problem.what.clone(),
                });
            }
        }
        let owns = held.items.iter().any(|item| matches!(item, Item::Own { .. }));
        if owns && !self.args.labels.is_empty() {
            let file = output::shown(&found.path);
            self.status.say(&format!("{file}: records of assay keep their labels; change them with: assay label"));
        }
        let mut made = Vec::new();
        for item in held.items {
            match item {
                Item::Own { file, document } => match read_document(&document) {
                    Ok(record) => self.wait(Waiting {
                        file: found.path.clone(),
                        member: file,
                        record,
                        document,
                        given: Given::default(),
                    }),
                    Err(error) => {
                        if self.refused_of_file >= MOST_REFUSED {
                            let what =
                                format!("more than {MOST_REFUSED} of its records cannot be read; the rest is left out");
                            self.refuse_with(found, what);
                            self.keep_full()?;
                            return Ok(ControlFlow::Break(()));
                        }
                        self.refused_of_file += 1;
                        self.refuse_with(found, error.to_string());
                    }
                },
                Item::Made(record) => made.push(*record),
            }
        }
        self.name(found, &mut made);
        for mut record in made {
            let file = record.origin.imported().map(|source| source.file.clone()).unwrap_or_default();
            let count = self.files.entry(file.clone()).or_default();
            *count += 1;
            let mut given = self.options.given(&file, *count);
            self.rows.extend(given.row);
            given.doubtful.extend(self.args.doubtful.iter().cloned());
            self.mark(&mut record, &given);
            let document = imports::document(&record)?;
            self.wait(Waiting { file: found.path.clone(), member: file, record, document, given });
        }
        self.keep_full()?;
        Ok(ControlFlow::Continue(()))
    }

    fn wait(&mut self, waiting: Waiting) {
        self.bytes += waiting.document.len();
        self.waiting.push(waiting);
    }

    /// Saves what waits, where it is enough for a transaction.
    fn keep_full(&mut self) -> Result<(), Failure> {
        if self.waiting.len() >= AT_ONCE || self.bytes >= AT_ONCE_BYTES { self.keep() } else { Ok(()) }
    }

    /// Asks for the model of new records that name none, where somebody can be asked: once a file. A directory is not
    /// asked about file by file.
    fn name(&mut self, found: &FoundFile, made: &mut [Record]) {
        if !found.named || !self.questions.asks() {
            return;
        }
        let new =
            |record: &&mut Record| !names_model(&Observation::from(&**record)) && self.place.load(&record.id).is_err();
        let mut nameless: Vec<&mut Record> = made.iter_mut().filter(new).collect();
        if nameless.is_empty() {
            return;
        }
        if self.model.is_none() {
            self.status.clear();
            let question = format!("{} names no model. Which is it? (Enter: unknown)", output::shown(&found.path));
            self.model = Some(self.questions.ask(&question));
        }
        if let Some(Some(model)) = &self.model {
            for record in &mut nameless {
                record.labels.insert("model".to_owned(), model.clone());
            }
        }
    }

    /// Marks the figures that are said to be doubtful.
    fn mark(&mut self, record: &mut Record, given: &Given) {
        for (load, why) in &given.doubtful {
            let marked = mark_doubtful(record, load, why).unwrap_or(0);
            match self.doubtful.iter_mut().find(|(known, _)| known == load) {
                Some((_, count)) => *count += marked,
                None => self.doubtful.push((load.clone(), marked)),
            }
        }
    }

    /// Saves what waits, or rehearses that, and says of each what became of it.
    fn keep(&mut self) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        let mut lines = Vec::new();
        let kept = crate::imports::keep(&mut self.place, &waiting)?;
        for (Waiting { file, member, record, .. }, kept) in waiting.into_iter().zip(kept) {
            let shown = whence(&file, &member);
            let (change, reason) = match kept {
                Kept::Added if self.args.dry_run => (ImportChange::WouldBeAdded, None),
                Kept::Added => (ImportChange::Added, None),
                Kept::Known => (ImportChange::Known, None),
                Kept::Conflict(reason) => {
                    self.status.say(&format!("{shown}: {reason}"));
                    (ImportChange::Conflict, Some(reason))
                }
                Kept::WithoutIdentities => {
                    self.bare += 1;
                    (ImportChange::Conflict, Some(format!("{BARE}; {BARE_MEND}")))
                }
            };
            let is_new = matches!(change, ImportChange::Added | ImportChange::WouldBeAdded);
            match &reason {
                Some(_) => self.conflicts += 1,
                None if is_new => self.added += 1,
                None => self.known += 1,
            }
            if is_new {
                self.tell_incomplete(&shown, &record);
            }
            let named = names_model(&Observation::from(&record));
            if is_new && !named {
                if self.nameless.0 == 0 {
                    self.nameless.1.clone_from(&record.id);
                }
                self.nameless.0 += 1;
            }
            if !self.args.json {
                lines.push(line(&record, change, &shown, &member));
                continue;
            }
            // The text is in the record already.
            let told = ImportedRecord {
                file: documents::path(&file),
                model: named.then(|| record.model()),
                measurements: record.measurements.len(),
                scores: record.scores.len(),
                verification: record.verification.as_ref().map(|check| check.verdict),
                source: record.origin.source().map(|source| Source { text: None, ..source }),
                id: record.id,
                labels: record.labels,
                change,
                reason,
            };
            self.records.push(output::json(&told)?.to_string().into_boxed_str());
        }
        if !lines.is_empty() {
            self.status.clear();
            let printed = output::print(&lines.join("\n"));
            self.unprinted = self.unprinted.take().or(printed.err());
        }
        Ok(())
    }

    /// That the text of a record was cut off.
    fn tell_incomplete(&mut self, shown: &str, record: &Record) {
        let cut = |warning: &&Warning| matches!(warning.finding, Finding::SourceIncomplete { .. });
        if let Some(warning) = record.all_warnings().find(cut) {
            self.incomplete += 1;
            self.status.say(&format!("{shown}: {}", warning.cause()));
        }
    }

    fn refuse(&mut self, found: &FoundFile, error: &ImportError) {
        if !found.named && matches!(error, ImportError::Unknown { .. }) {
            self.skipped.push(documents::path(&found.path));
            return;
        }
        self.fail(Exit::Usage);
        self.status.say(&format!("assay: {error}"));
        self.refused.push(RefusedFile { file: documents::path(&found.path), reason: error.to_string() });
    }

    /// Goes on without a file that cannot be read.
    fn pass_over(&mut self, path: &Path, failure: &Failure) {
        self.fail(failure.exit());
        self.status.say(&format!("assay: {}", failure.message()));
        self.refused.push(RefusedFile { file: documents::path(path), reason: failure.message().to_owned() });
    }

    /// What the environment does is graver than what a file holds.
    fn fail(&mut self, exit: Exit) {
        if self.failed != Some(Exit::Environment) {
            self.failed = Some(exit);
        }
    }

    fn refuse_with(&mut self, found: &FoundFile, reason: String) {
        self.fail(Exit::Usage);
        self.status.say(&format!("assay: {}: {reason}", output::shown(&found.path)));
        self.refused.push(RefusedFile { file: documents::path(&found.path), reason });
    }

    /// Says what became of all.
    fn tell(mut self) -> Result<Exit, Failure> {
        self.status.clear();
        self.tell_names();
        let args = self.args;
        if let Some(failure) = self.unprinted.take() {
            return Err(failure);
        }
        if args.json {
            self.print_json()?;
        } else {
            let mut parts = vec![records(self.added, if args.dry_run { "would be added" } else { "added" })];
            parts.extend((self.incomplete > 0).then(|| format!("{} of a text that is not complete", self.incomplete)));
            parts.extend((self.known > 0).then(|| records(self.known, "known already")));
            parts.extend((self.conflicts > 0).then(|| records(self.conflicts, "in conflict with the store")));
            parts.extend((!self.skipped.is_empty()).then(|| match self.skipped.len() {
                1 => "1 file holds no result".to_owned(),
                n => format!("{n} files hold no result"),
            }));
            // Of one file that was refused, the refusal says all.
            if self.added + self.known + self.conflicts + self.skipped.len() > 0 {
                output::tell_wrapped(&parts.join(", "));
            }
            if self.failed.is_none() && self.added + self.known + self.conflicts + self.skipped.len() == 0 {
                output::tell_wrapped("there is no file with a result");
            }
            self.tell_bare();
            self.tell_nameless();
        }
        let nothing = self.added + self.known == 0;
        let otherwise = if self.conflicts > 0 || nothing { Exit::Usage } else { Exit::Good };
        Ok(self.failed.unwrap_or(otherwise))
    }

    /// Prints the answer record by record: as one document it would take ten times the memory.
    fn print_json(&mut self) -> Result<(), Failure> {
        let whole = output::json(&ImportDocument {
            dry_run: self.args.dry_run,
            added: self.added,
            known: self.known,
            conflicts: self.conflicts,
            records: Vec::new(),
            problems: std::mem::take(&mut self.problems),
            refused: std::mem::take(&mut self.refused),
            skipped: std::mem::take(&mut self.skipped),
        })?;
        let whole = text::json(&format!("{whole:#}"));
        let Some((head, tail)) = whole.split_once("\n  \"records\": []").filter(|_| !self.records.is_empty()) else {
            return output::print(&whole);
        };
        output::print_bytes(head.as_bytes())?;
        for (at, record) in self.records.iter().enumerate() {
            let value: Value = serde_json::from_str(record).unwrap_or_default();
            let lines = text::json(&format!("{value:#}")).replace('\n', "\n    ");
            let before = if at == 0 { "\n  \"records\": [\n    " } else { ",\n    " };
            output::print_bytes(format!("{before}{lines}").as_bytes())?;
        }
        output::print(&format!("\n  ]{tail}"))
    }

    /// What was said of files or loads that are not there.
    fn tell_names(&mut self) {
        let mut missed = false;
        missed |= self.tell_rows();
        let fits = |pattern: &PathPattern| self.files.keys().any(|file| pattern.labels(file).is_some());
        if let (Some(pattern), Some(one)) =
            (self.options.path.as_ref().filter(|pattern| !fits(pattern)), self.files.keys().next())
        {
            missed = true;
            let (pattern, one) = (quoted(pattern.as_str()), quoted(one));
            output::tell_wrapped(&format!(
                "assay: --path {pattern} fits none of the files, such as {one}: it is matched with the end of the path"
            ));
        }
        for (load, _) in self.doubtful.iter().filter(|(_, count)| *count == 0) {
            missed = true;
            output::tell_wrapped(&format!(
                "assay: no figure is of the load {load}, and none is marked as doubtful; assay show ID names the loads"
            ));
        }
        if missed {
            self.fail(Exit::Usage);
        }
    }

    /// Rows of the sheet without effect, in one line; whether there are any.
    fn tell_rows(&self) -> bool {
        let (Some(sheet), Some(path)) = (&self.options.sheet, &self.args.sheet) else { return false };
        let idle = sheet.idle(&self.rows);
        if idle.is_empty() {
            return false;
        }
        let row = |IdleRow { line, name, result }: &IdleRow<'_>| match result {
            Some(number) => format!("line {line} ({name}, result {number})"),
            None => format!("line {line} ({name})"),
        };
        let mut rows: Vec<String> = idle.iter().take(MOST_ROWS_TOLD).map(row).collect();
        rows.extend((idle.len() > MOST_ROWS_TOLD).then(|| format!("{} more", idle.len() - MOST_ROWS_TOLD)));
        output::tell_wrapped(&format!(
            "assay: {}: {} of {} without effect: {}; no result is like them, or an earlier row fits it",
            output::shown(path),
            idle.len(),
            counted(sheet.rows(), "row"),
            rows.join(", ")
        ));
        true
    }

    /// That records are in the store with more than the files have.
    fn tell_bare(&self) {
        if self.bare > 0 {
            let which = counted(self.bare, "record");
            output::tell_wrapped(&format!("{which} in conflict: {BARE}; {BARE_MEND}"));
        }
    }

    /// That records name no model, by which media are put together.
    fn tell_nameless(&self) {
        let (which, it, one) = match &self.nameless {
            (0, _) => return,
            (1, one) => ("1 record names no model".to_owned(), "it", one),
            (n, one) => (format!("{n} records name no model"), "them", one),
        };
        let mend = if self.args.dry_run {
            "import with --label model=…, --path or --sheet".to_owned()
        } else {
            format!("name {it}: assay label {one} model=…")
        };
        output::tell_wrapped(&format!("{which}: rank, advise and compare --by model leave {it} out; {mend}"));
    }
}

fn records(n: usize, what: &str) -> String {
    format!("{} {what}", counted(n, "record"))
}

/// The file, with the member of it where it is an archive.
fn whence(file: &Path, member: &str) -> String {
    let named = file.to_string_lossy();
    let member = assay_import::member(&named, member).map(|member| format!("{named}/{member}"));
    output::shown(member.as_deref().map_or(file, Path::new))
}

/// A record in a line.
fn line(record: &Record, change: ImportChange, file: &str, member: &str) -> String {
    let word = match change {
        ImportChange::Added => "added",
        ImportChange::WouldBeAdded => "would add",
        ImportChange::Known => "known",
        ImportChange::Conflict => "conflict",
    };
    let figures = record.measurements.len() + record.scores.len();
    let held = match (&record.verification, figures) {
        (Some(check), _) => check.verdict.title().to_owned(),
        (None, 0) if !record.medium.health.is_empty() => "health".to_owned(),
        (None, 1) => "1 figure".to_owned(),
        (None, n) => format!("{n} figures"),
    };
    let unit = identity(&Observation::from(record)).unit;
    let whose = if unit.is_empty() { record.title() } else { format!("{} {unit}", record.title()) };
    // Those of a record of assay are of a text that is elsewhere.
    let source = record.origin.imported().filter(|source| source.file == member);
    let lines = source.and_then(|source| source.lines);
    let lines = lines.map_or_else(String::new, |(from, to)| format!(":{from}-{to}"));
    harmless(&format!("{word:<9} {}  {whose}, {}, {held}, {file}{lines}", record.id, record.tool.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_files_are_done_and_what_is_left() {
        let line = progress(1_000, 5_000, Duration::from_secs(3));
        assert_eq!(line, format!("imported {} of {} files, 12 s left", grouped(1_000), grouped(5_000)));
        assert_eq!(progress(0, 2, Duration::from_secs(3)), "imported 0 of 2 files");
    }
}
