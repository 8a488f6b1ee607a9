//! `assay import`

use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::record::{Record, Source};
use assay_core::text::harmless;
use assay_import::{ImportError, Imported, Item, Options};
use assay_store::{Change, SqliteStore, Store, StoreError, read_document};
use serde_json::{Value, json};

use crate::cli::ImportArgs;
use crate::failure::Failure;
use crate::imports::{self, Found};
use crate::{output, state};

pub(super) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    if args.formats {
        return formats(args.json);
    }
    let options =
        Options { labels: args.labels.iter().cloned().collect(), path: args.path.clone(), keep_text: !args.no_text };
    let files = imports::files(&args.paths)?;
    let mut store = if args.dry_run { None } else { Some(state::opened()?) };
    let mut intake = Intake::default();
    for found in &files {
        match imports::imported(found, &options)? {
            Ok(held) => intake.take(found, held)?,
            Err(error) => intake.refuse(found, &error),
        }
        if intake.waiting.len() >= AT_ONCE {
            intake.keep(store.as_mut())?;
        }
    }
    intake.keep(store.as_mut())?;
    intake.tell(args)
}

fn formats(json: bool) -> Result<Exit, Failure> {
    let names = assay_import::names();
    if json {
        output::print_json(&json!({ "formats": names }))?;
    } else {
        output::print(&names.join("\n"))?;
    }
    Ok(Exit::Good)
}

/// Records that are saved in one transaction.
const AT_ONCE: usize = 500;

/// A record that is to be saved.
#[derive(Debug)]
struct Waiting {
    file: PathBuf,
    record: Record,
    document: String,
}

/// What became of the files.
#[derive(Debug, Default)]
struct Intake {
    waiting: Vec<Waiting>,
    records: Vec<Value>,
    problems: Vec<Value>,
    refused: Vec<Value>,
    skipped: Vec<String>,
    added: usize,
    known: usize,
    conflicts: usize,
    /// Whether a file that was named itself holds no result.
    failed: bool,
    lines: Vec<String>,
}

impl Intake {
    fn take(&mut self, found: &Found, held: Imported) -> Result<(), Failure> {
        let file = output::shown(&found.path);
        for (of, problem) in &held.problems {
            output::tell_wrapped(&format!("{of}, line {}: {}", problem.line, problem.what));
            self.problems.push(json!({ "file": of, "line": problem.line, "problem": problem.what }));
        }
        for item in held.items {
            match item {
                Item::Own(document) => match read_document(&document) {
                    Ok(record) => self.waiting.push(Waiting { file: found.path.clone(), record, document }),
                    Err(error) => {
                        self.failed = true;
                        output::tell_wrapped(&format!("assay: {file}: {error}"));
                        self.refused.push(json!({ "file": found.path, "reason": error.to_string() }));
                    }
                },
                Item::Made(record) => {
                    let document = imports::document(&record)?;
                    self.waiting.push(Waiting { file: found.path.clone(), record: *record, document });
                }
            }
        }
        Ok(())
    }

    /// Saves what waits, where there is a store, and says of each what became of it.
    fn keep(&mut self, store: Option<&mut SqliteStore>) -> Result<(), Failure> {
        let waiting = std::mem::take(&mut self.waiting);
        let kept = match store {
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
                    output::tell_wrapped(&format!("{shown}: {reason}"));
                }
                None if word == "added" => self.added += 1,
                None => self.known += 1,
            }
            self.lines.push(line(&record, word, &shown));
            // The text is in the record already.
            let source = record.source.clone().map(|source| Source { text: None, ..source });
            self.records.push(json!({
                "id": record.id, "change": word, "file": file, "source": source, "model": record.model(),
                "labels": record.labels, "measurements": record.measurements.len(), "scores": record.scores.len(),
                "verification": record.verification.as_ref().map(|v| v.verdict), "reason": reason,
            }));
        }
        Ok(())
    }

    fn refuse(&mut self, found: &Found, error: &ImportError) {
        if !found.named && matches!(error, ImportError::Unknown { .. }) {
            self.skipped.push(found.path.to_string_lossy().into_owned());
            return;
        }
        self.failed = true;
        output::tell_wrapped(&format!("assay: {error}"));
        self.refused.push(json!({ "file": found.path, "reason": error.to_string() }));
    }

    fn tell(self, args: &ImportArgs) -> Result<Exit, Failure> {
        if args.json {
            output::print_json(&json!({
                "dry_run": args.dry_run, "added": self.added, "known": self.known, "conflicts": self.conflicts,
                "records": self.records, "problems": self.problems, "refused": self.refused, "skipped": self.skipped,
            }))?;
        } else {
            if !self.lines.is_empty() {
                output::print(&self.lines.join("\n"))?;
            }
            let mut parts = vec![counted(self.added, if args.dry_run { "would be added" } else { "added" })];
            parts.extend((self.known > 0).then(|| counted(self.known, "known already")));
            parts.extend((self.conflicts > 0).then(|| counted(self.conflicts, "in conflict with the store")));
            parts.extend((!self.skipped.is_empty()).then(|| match self.skipped.len() {
                1 => "1 file holds no result".to_owned(),
                n => format!("{n} files hold no result"),
            }));
            // Of one file that was refused, the refusal says all.
            if self.added + self.known + self.conflicts + self.skipped.len() > 0 {
                output::tell_wrapped(&parts.join(", "));
            }
        }
        let nothing = self.added + self.known == 0;
        Ok(if self.failed || self.conflicts > 0 || nothing { Exit::Usage } else { Exit::Good })
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {} {what}", if n == 1 { "record" } else { "records" })
}

/// A record in a line.
fn line(record: &Record, word: &str, file: &str) -> String {
    let figures = record.measurements.len() + record.scores.len();
    let held = match (&record.verification, figures) {
        (Some(check), _) => check.verdict.title().to_owned(),
        (None, 1) => "1 figure".to_owned(),
        (None, n) => format!("{n} figures"),
    };
    let unit = assay_analysis::identity(record).unit;
    let whose = if unit.is_empty() { record.title() } else { format!("{} {unit}", record.title()) };
    let lines = record.source.as_ref().and_then(|source| source.lines);
    let lines = lines.map_or_else(String::new, |(from, to)| format!(":{from}-{to}"));
    harmless(&format!("{word:<8} {}  {whose}, {}, {held}, {file}{lines}", record.id, record.tool.name))
}

enum Kept {
    Added,
    Known,
    Conflict(String),
}

/// Saves records. One that was made of the same text before is known, though a later version of assay may read more of
/// it; with other labels it is another claim about the same figures.
fn keep(store: &mut SqliteStore, waiting: &[Waiting]) -> Result<Vec<Kept>, Failure> {
    let documents: Vec<&str> = waiting.iter().map(|one| one.document.as_str()).collect();
    let saved = store.save_documents(&documents)?;
    let kept = saved.into_iter().zip(waiting).map(|(saved, Waiting { record, .. })| match saved {
        Ok(saved) if saved.change == Change::Unchanged => Ok(Kept::Known),
        Ok(_) => Ok(Kept::Added),
        Err(StoreError::Conflict { id }) => Ok(conflict(record, &store.load(&id)?.record)),
        Err(error) => Err(error.into()),
    });
    kept.collect()
}

/// What a record is beside one of the same id that is in the store.
fn conflict(record: &Record, there: &Record) -> Kept {
    let id = &there.id;
    let text = |of: &Record| of.source.as_ref().map(|source| source.original_text_sha256.clone());
    if record.source.is_none() || text(record) != text(there) {
        return Kept::Conflict(format!("another record {id} is in the store; both stay as they are"));
    }
    if record.labels == there.labels {
        return Kept::Known;
    }
    let labels: Vec<String> = there.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let labels = if labels.is_empty() { "without labels".to_owned() } else { format!("as {}", labels.join(", ")) };
    Kept::Conflict(format!(
        "the same text is in the store {labels}, record {id}; to change that: assay rm {id}, and import again"
    ))
}
