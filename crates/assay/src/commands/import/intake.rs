//! The records of files on their way into the store, and what is said of them.

use std::collections::BTreeSet;

use assay_analysis::{identity, mark_doubtful, names_model};
use assay_core::exit::Exit;
use assay_core::record::{Record, Source};
use assay_core::text::{harmless, quoted};
use assay_core::units::counted;
use assay_import::{Given, ImportError, Imported, Item, Options, PathPattern};
use assay_store::{SqliteStore, Store, read_document};
use serde_json::{Value, json};

use super::kept::{Kept, Waiting, keep};
use crate::cli::ImportArgs;
use crate::failure::Failure;
use crate::imports::{self, Found, STANDARD_INPUT};
use crate::output;
use crate::progress::Status;
use crate::questions::Questions;

/// Records that are saved in one transaction.
pub(super) const AT_ONCE: usize = 500;

/// What became of the files.
pub(super) struct Intake<'a> {
    args: &'a ImportArgs,
    options: &'a Options,
    /// None where nothing is kept.
    store: Option<SqliteStore>,
    pub(super) status: Status,
    questions: Questions,
    pub(super) waiting: Vec<Waiting>,
    /// The files as their records name them.
    files: BTreeSet<String>,
    records: Vec<Value>,
    problems: Vec<Value>,
    refused: Vec<Value>,
    skipped: Vec<String>,
    added: usize,
    known: usize,
    conflicts: usize,
    /// Records that are new and name no model.
    nameless: Vec<String>,
    /// Which figures were to be marked as doubtful, and how often each was.
    doubtful: Vec<(String, usize)>,
    /// Whether a file that was named itself holds no result.
    failed: bool,
    lines: Vec<String>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(args: &'a ImportArgs, options: &'a Options, store: Option<SqliteStore>) -> Self {
        let input = args.paths.iter().any(|path| path.as_os_str() == STANDARD_INPUT);
        Self {
            args,
            options,
            store,
            status: Status::new(false),
            questions: Questions::new(args.json || args.dry_run || input),
            waiting: Vec::new(),
            files: BTreeSet::new(),
            records: Vec::new(),
            problems: Vec::new(),
            refused: Vec::new(),
            skipped: Vec::new(),
            added: 0,
            known: 0,
            conflicts: 0,
            nameless: Vec::new(),
            doubtful: args.doubtful.iter().map(|(load, _)| (load.clone(), 0)).collect(),
            failed: false,
            lines: Vec::new(),
        }
    }

    /// Takes what a file held.
    pub(super) fn take(&mut self, found: &Found, held: Imported) -> Result<(), Failure> {
        for (of, problem) in &held.problems {
            self.status.say(&format!("{of}, line {}: {}", problem.line, problem.what));
            self.problems.push(json!({ "file": of, "line": problem.line, "problem": problem.what }));
        }
        let mut made = Vec::new();
        for item in held.items {
            match item {
                Item::Own(document) => match read_document(&document) {
                    Ok(record) => {
                        let (file, given) = (found.path.clone(), Given::default());
                        self.waiting.push(Waiting { file, record, document, given });
                    }
                    Err(error) => {
                        let file = output::shown(&found.path);
                        self.failed = true;
                        self.status.say(&format!("assay: {file}: {error}"));
                        self.refused.push(json!({ "file": found.path, "reason": error.to_string() }));
                    }
                },
                Item::Made(record) => made.push(*record),
            }
        }
        self.name(found, &mut made);
        for mut record in made {
            let file = record.source.as_ref().map(|source| source.file.clone()).unwrap_or_default();
            let mut given = self.options.given(&file);
            given.doubtful.extend(self.args.doubtful.iter().cloned());
            self.mark(&mut record, &given);
            self.files.insert(file);
            let document = imports::document(&record)?;
            self.waiting.push(Waiting { file: found.path.clone(), record, document, given });
        }
        Ok(())
    }

    /// Asks for the model of new records that name none, where somebody can be asked. A directory is not asked about
    /// file by file.
    fn name(&mut self, found: &Found, made: &mut [Record]) {
        if !found.named || !self.questions.asks() {
            return;
        }
        let new = |record: &&mut Record| {
            !names_model(record) && self.store.as_ref().is_none_or(|store| store.load(&record.id).is_err())
        };
        let mut nameless: Vec<&mut Record> = made.iter_mut().filter(new).collect();
        if nameless.is_empty() {
            return;
        }
        self.status.clear();
        let question = format!("{} names no model. Which is it? (Enter: unknown)", output::shown(&found.path));
        if let Some(model) = self.questions.ask(&question) {
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

    /// Saves what waits, where there is a store, and says of each what became of it.
    pub(super) fn keep(&mut self) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let kept = match &mut self.store {
            Some(store) => keep(store, &waiting)?,
            None => waiting.iter().map(|_| Kept::Added).collect(),
        };
        for (Waiting { file, record, .. }, kept) in waiting.into_iter().zip(kept) {
            let shown = output::shown(&file);
            let (word, reason) = match kept {
                Kept::Added => ("added", None),
                Kept::Known => ("known", None),
                Kept::Conflict(reason) => ("conflict", Some(reason)),
            };
            match &reason {
                Some(reason) => {
                    self.conflicts += 1;
                    self.status.say(&format!("{shown}: {reason}"));
                }
                None if word == "added" => self.added += 1,
                None => self.known += 1,
            }
            self.lines.push(line(&record, word, &shown));
            let named = names_model(&record);
            if word == "added" && !named {
                self.nameless.push(record.id.clone());
            }
            // The text is in the record already.
            let source = record.source.clone().map(|source| Source { text: None, ..source });
            self.records.push(json!({
                "id": record.id, "change": word, "file": file, "source": source,
                "model": named.then(|| record.model()), "labels": record.labels,
                "measurements": record.measurements.len(), "scores": record.scores.len(),
                "verification": record.verification.as_ref().map(|v| v.verdict), "reason": reason,
            }));
        }
        Ok(())
    }

    pub(super) fn refuse(&mut self, found: &Found, error: &ImportError) {
        if !found.named && matches!(error, ImportError::Unknown { .. }) {
            self.skipped.push(found.path.to_string_lossy().into_owned());
            return;
        }
        self.failed = true;
        self.status.say(&format!("assay: {error}"));
        self.refused.push(json!({ "file": found.path, "reason": error.to_string() }));
    }

    /// Says what became of all.
    pub(super) fn tell(mut self) -> Result<Exit, Failure> {
        self.status.clear();
        self.tell_names();
        let args = self.args;
        if args.json {
            output::print_json(&json!({
                "dry_run": args.dry_run, "added": self.added, "known": self.known, "conflicts": self.conflicts,
                "records": self.records, "problems": self.problems, "refused": self.refused, "skipped": self.skipped,
            }))?;
        } else {
            if !self.lines.is_empty() {
                output::print(&self.lines.join("\n"))?;
            }
            let mut parts = vec![records(self.added, if args.dry_run { "would be added" } else { "added" })];
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
            self.tell_nameless();
        }
        let nothing = self.added + self.known == 0;
        Ok(if self.failed || self.conflicts > 0 || nothing { Exit::Usage } else { Exit::Good })
    }

    /// What was said of files or loads that are not there.
    fn tell_names(&mut self) {
        for (line, name) in self.options.sheet.iter().flat_map(|sheet| sheet.idle(&self.files)) {
            let sheet = self.args.sheet.as_deref().map(output::shown).unwrap_or_default();
            output::tell_wrapped(&format!("{sheet}, line {line}: no result is in a file like {name}"));
        }
        let fits = |pattern: &PathPattern| self.files.iter().any(|file| pattern.labels(file).is_some());
        if let (Some(pattern), Some(one)) =
            (self.options.path.as_ref().filter(|pattern| !fits(pattern)), self.files.first())
        {
            self.failed = true;
            let (pattern, one) = (quoted(pattern.as_str()), quoted(one));
            output::tell_wrapped(&format!(
                "assay: --path {pattern} fits none of the files, such as {one}: it is held against the end of a path"
            ));
        }
        for (load, _) in self.doubtful.iter().filter(|(_, count)| *count == 0) {
            self.failed = true;
            output::tell_wrapped(&format!(
                "assay: no figure is of the load {load}, and none is marked as doubtful; assay show ID names the loads"
            ));
        }
    }

    /// That records name no model, by which media are put together.
    fn tell_nameless(&self) {
        let (which, it, rm) = match &self.nameless[..] {
            [] => return,
            [one] => ("1 record names no model".to_owned(), "it", format!("assay rm {one}")),
            [one, ..] => {
                (format!("{} records name no model", self.nameless.len()), "them", format!("assay rm {one} …"))
            }
        };
        let mend = if self.args.dry_run { "import".to_owned() } else { format!("{rm}, and import {it} again") };
        output::tell_wrapped(&format!(
            "{which}: rank, advise and compare --by model leave {it} out; {mend} with --label model=…, --path or --sheet"
        ));
    }
}

fn records(n: usize, what: &str) -> String {
    format!("{} {what}", counted(n, "record"))
}

/// A record in a line.
fn line(record: &Record, word: &str, file: &str) -> String {
    let figures = record.measurements.len() + record.scores.len();
    let held = match (&record.verification, figures) {
        (Some(check), _) => check.verdict.title().to_owned(),
        (None, 1) => "1 figure".to_owned(),
        (None, n) => format!("{n} figures"),
    };
    let unit = identity(record).unit;
    let whose = if unit.is_empty() { record.title() } else { format!("{} {unit}", record.title()) };
    let lines = record.source.as_ref().and_then(|source| source.lines);
    let lines = lines.map_or_else(String::new, |(from, to)| format!(":{from}-{to}"));
    harmless(&format!("{word:<8} {}  {whose}, {}, {held}, {file}{lines}", record.id, record.tool.name))
}
