//! Files with results, read as records; and what becomes of these in the store, or would become where nothing is kept.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use assay_core::exit::Exit;
use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_core::units::{Bytes, counted};
use assay_device::owned::{Directory, OwnedError};
use assay_import::{File, Given, ImportError, Imported, Item, Options, Problem, import_each};
use assay_report::{Redactor, unredacted};
use assay_store::{Change, Foreign, Rehearsal, Saved, SqliteStore, Store, StoreError, Stored, read_document};

use super::files;
use crate::copies::{Copy, DATABASE};
use crate::ending::Failure;
use crate::{output, state, system};

/// Name of standard input on the command line.
pub(crate) const STANDARD_INPUT: &str = "-";
/// Most bytes that are read of a file: what is longer is no output of a tool.
const LARGEST: u64 = 64 << 20;
/// Most bytes of the records, as JSON, in a file or a directory that is used as a query: all of them are in memory at once.
const LARGEST_QUERY: usize = 256 << 20;
/// Most records of a store that are handed on at once.
const AT_ONCE: usize = 500;
/// Most records of a store that are told one by one as they cannot be read.
const MOST_BROKEN: usize = 1_000;
/// And bytes of them, about.
const AT_ONCE_BYTES: usize = 8 << 20;
/// Deepest directory below one that is named.
const DEEPEST: usize = 32;

/// A file that was named, or found in a directory that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    /// Whether it is the directory of a store.
    pub(crate) store: bool,
    /// Whether it was named itself: one of a directory may be anything.
    pub(crate) named: bool,
    /// The directory that was named, where it is that, or lies in it.
    root: Option<PathBuf>,
}

impl FoundFile {
    fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), store: false, named: true, root: None }
    }
}

/// The files that a path names: a directory stands for all in it, in the order of their names, but for hidden ones and
/// for what is no file, such as links.
pub(crate) fn files(path: &Path) -> Result<Vec<FoundFile>, Failure> {
    if path.as_os_str() == STANDARD_INPUT {
        return Ok(vec![FoundFile::named(path)]);
    }
    let kind = path.metadata().map_err(|error| cannot_read(path, &error))?;
    if !kind.is_dir() {
        return Ok(vec![FoundFile::named(path)]);
    }
    if path.join(DATABASE).symlink_metadata().is_ok() {
        // Opening it reports what is not a file.
        return Ok(vec![FoundFile { path: path.to_owned(), store: true, named: true, root: Some(path.to_owned()) }]);
    }
    let mut all = Vec::new();
    let directory = Directory::open(path).map_err(|error| cannot_open(path, &error))?;
    walk(&directory, path, 0, &mut all)?;
    Ok(all)
}

fn walk(directory: &Directory, root: &Path, depth: usize, all: &mut Vec<FoundFile>) -> Result<(), Failure> {
    let found = |path: PathBuf, store| FoundFile { path, store, named: false, root: Some(root.to_owned()) };
    if directory.file_bytes(OsStr::new(DATABASE)).is_some() {
        all.push(found(directory.path().to_owned(), true));
        return Ok(());
    }
    let unreadable = |error: OwnedError| cannot_open(directory.path(), &error);
    let mut names: Vec<OsString> = Vec::new();
    directory.names(u64::MAX, &mut |name| names.push(name.to_owned())).map_err(unreadable)?;
    names.sort();
    for name in names.iter().filter(|name| !name.to_string_lossy().starts_with('.')) {
        if directory.file_bytes(name).is_some() {
            all.push(found(directory.path().join(name), false));
        } else if depth < DEEPEST
            && let Some(below) = directory.inside(name).map_err(unreadable)?
        {
            walk(&below, root, depth + 1, all)?;
        }
    }
    Ok(())
}

/// Reads a file that was named, or standard input, within bounds.
pub(crate) fn read(path: &Path) -> Result<File, Failure> {
    if path.as_os_str() == STANDARD_INPUT {
        return all_of(std::io::stdin().lock(), path);
    }
    let kind = path.metadata().map_err(|error| cannot_read(path, &error))?;
    // A pipe is read as one; a device would be read for hours.
    if system::is_device(&kind) {
        return Err(Failure::usage(format!("{} is a device, and no file with results", output::shown(path))));
    }
    all_of(files::open(path).map_err(|error| cannot_read(path, &error))?, path)
}

/// Reads what was named or found.
fn read_found(found: &FoundFile) -> Result<File, Failure> {
    let Some(root) = &found.root else { return read(&found.path) };
    let inner = found.path.strip_prefix(root).unwrap_or(&found.path);
    let file = files::open_below(root, inner).map_err(|error| cannot_open(&found.path, &error))?;
    all_of(file, &found.path)
}

fn all_of(reader: impl Read, path: &Path) -> Result<File, Failure> {
    let mut bytes = Vec::new();
    reader.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| cannot_read(path, &error))?;
    Ok(File { name: path.to_string_lossy().into_owned(), bytes })
}

fn cannot_open(path: &Path, error: &OwnedError) -> Failure {
    Failure::environment(format!("{} cannot be read: {error}", output::shown(path)))
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    let shown = output::shown(path);
    if error.kind() == std::io::ErrorKind::NotFound {
        return Failure::usage(format!("{shown}: no such file or directory"));
    }
    let message = format!("{shown} cannot be read: {error}");
    match error.kind() {
        std::io::ErrorKind::TimedOut => Failure::usage(message),
        _ => Failure::environment(message),
    }
}

/// What is done with what a file or a store holds, some of it after the other: whether more is wanted.
pub(crate) type Take<'a> = dyn FnMut(Imported) -> Result<ControlFlow<()>, Failure> + 'a;

/// Why not all that a file or the directory of a store holds was taken.
#[derive(Debug)]
pub(crate) enum Untaken {
    /// It holds no result, or not all of it can be read.
    Content(ImportError),
    /// It cannot be read itself.
    File(Failure),
    /// What took its records failed.
    Taker(Failure),
}

/// Hands on what a file or the directory of a store holds, as it is read.
pub(crate) fn imported(found: &FoundFile, options: &Options, take: &mut Take<'_>) -> Result<(), Untaken> {
    let mut failed = None;
    let mut hand = |some: Imported| match take(some) {
        Ok(flow) => flow,
        Err(failure) => {
            failed = Some(failure);
            ControlFlow::Break(())
        }
    };
    let own =
        |reason: String| Untaken::Content(ImportError::Own { file: found.path.to_string_lossy().into_owned(), reason });
    // One of a directory that cannot be read is one of many, and that of a store may be anything.
    let unread = |failure: Failure| match found.named {
        true => Untaken::File(failure),
        false => own(failure.message().to_owned()),
    };
    let outcome = if found.store {
        match of_store(found, &mut hand) {
            Ok(0) => Ok(()),
            Ok(broken) => Err(own(format!("{} cannot be read", counted(broken, "record")))),
            Err(failure) => Err(unread(failure)),
        }
    } else {
        read_found(found)
            .map_err(unread)
            .and_then(|file| import_each(file, options, &mut hand).map_err(Untaken::Content))
    };
    failed.map_or(outcome, |failure| Err(Untaken::Taker(failure)))
}

/// Hands on the records of another store, which stays as it is: a copy is read. Returns how many cannot be read.
fn of_store(found: &FoundFile, hand: &mut dyn FnMut(Imported) -> ControlFlow<()>) -> Result<usize, Failure> {
    let data = state::directory()?;
    assay_store::make_directory(&data)?;
    let root = found.root.as_deref().unwrap_or(&found.path);
    let inner = found.path.strip_prefix(root).unwrap_or(Path::new(""));
    let directory = files::directory_below(root, inner).map_err(|error| cannot_open(&found.path, &error))?;
    let copy = Copy::make(&directory, &data)?;
    let Some(mut store) = Foreign::open(copy.path()).map_err(|error| of_foreign(found, &copy, &error))? else {
        return Ok(0);
    };
    let (mut next, mut bytes, mut broken) = (Imported::default(), 0, 0);
    while let Some(document) = store.next_document().map_err(|error| of_foreign(found, &copy, &error))? {
        match document {
            Ok(document) => {
                bytes += document.len();
                next.items.push(Item::Own { file: found.path.to_string_lossy().into_owned(), document });
            }
            Err(_) if broken >= MOST_BROKEN => {
                let _ = hand(next);
                return Err(Failure::environment(format!(
                    "{}: more than {MOST_BROKEN} of its records cannot be read; the rest is left out",
                    output::shown(&found.path)
                )));
            }
            Err(error) => {
                broken += 1;
                let what = of_foreign(found, &copy, &error).message().to_owned();
                next.problems.push((found.path.to_string_lossy().into_owned(), Problem { line: 1, what }));
            }
        }
        if next.items.len() + next.problems.len() >= AT_ONCE || bytes >= AT_ONCE_BYTES {
            bytes = 0;
            if hand(std::mem::take(&mut next)).is_break() {
                return Ok(broken);
            }
        }
    }
    let _ = hand(next);
    Ok(broken)
}

/// What is wrong with another store, by the name that the user knows, not that of its copy.
fn of_foreign(found: &FoundFile, copy: &Copy, error: &StoreError) -> Failure {
    // Without the slash that may stand behind it.
    let theirs: PathBuf = found.path.components().collect();
    let (theirs, ours) = (output::shown(&theirs), output::shown(copy.path()));
    let message = error.to_string().replace(&ours, &theirs);
    match error.exit() {
        Exit::Usage => Failure::usage(message),
        _ => Failure::environment(message),
    }
}

/// Whether a query names a file or a directory rather than records of the store: it has a slash or a point, which no id
/// has, and is there.
pub(crate) fn is_file(query: &str) -> bool {
    // Who can open a page is not yet who may read files.
    if output::answers_a_page() {
        return false;
    }
    query == STANDARD_INPUT || query.contains(['/', '.', std::path::MAIN_SEPARATOR]) && Path::new(query).exists()
}

/// Whether a name that may be another thing is that of a directory.
pub(crate) fn is_directory(name: &str) -> bool {
    !output::answers_a_page() && Path::new(name).is_dir()
}

/// A file or standard input in a command that is shown to be copied.
pub(crate) fn operand(path: &str) -> String {
    if path == STANDARD_INPUT { path.to_owned() } else { output::operand(path) }
}

/// The records in a file or a directory that is used as a query. They are not stored.
pub(crate) fn of_query(query: &str) -> Result<Vec<Stored>, Failure> {
    let options = Options::default();
    let (mut all, mut bytes) = (Vec::new(), 0);
    let (mut skipped, mut unknown, found) = (0, 0, files(Path::new(query))?);
    let count = found.len();
    for found in found {
        let outcome = imported(&found, &options, &mut |some| {
            for (file, problem) in &some.problems {
                output::tell_wrapped(&format!("{file}, line {}: {}", problem.line, problem.what));
            }
            for item in some.items {
                let stored = match stored(item) {
                    Ok(stored) => stored,
                    Err(failure) if !found.named => {
                        output::tell_wrapped(&format!("{}: {}", output::shown(&found.path), failure.message()));
                        continue;
                    }
                    Err(failure) => return Err(failure),
                };
                bytes += stored.document.len();
                all.push(stored);
            }
            if bytes > LARGEST_QUERY {
                let shown = output::shown(Path::new(query));
                return Err(Failure::usage(format!(
                    "{shown} holds more than {} of records; take them into the store first: assay import {}",
                    Bytes(LARGEST_QUERY as u64),
                    operand(query)
                )));
            }
            Ok(ControlFlow::Continue(()))
        });
        match outcome {
            Ok(()) => {}
            // A directory may hold other things beside.
            Err(Untaken::Content(ImportError::Unknown { .. })) if !found.named => unknown += 1,
            Err(Untaken::Content(error)) if !found.named => {
                skipped += 1;
                output::tell_wrapped(&error.to_string());
            }
            Err(Untaken::Content(error)) => return Err(Failure::usage(error.to_string())),
            Err(Untaken::File(failure) | Untaken::Taker(failure)) => return Err(failure),
        }
    }
    let shown = output::shown(Path::new(query));
    if all.is_empty() {
        let looked = if count > 1 { format!("; {count} files were looked at") } else { String::new() };
        return Err(Failure::usage(format!("there is no result in {shown}{looked}")));
    }
    if skipped > 0 {
        output::tell_wrapped(&format!("{shown}: {} of {count} skipped", counted(skipped, "file")));
    }
    if unknown > 0 {
        output::tell_wrapped(&format!("{shown}: no result of a known format in {unknown} of {count} files"));
    }
    Ok(all)
}

/// A record as the store would give it.
fn stored(item: Item) -> Result<Stored, Failure> {
    Ok(match item {
        Item::Own { document, .. } => Stored { record: read_document(&document)?, document },
        Item::Made(record) => Stored { document: document(&record)?, record: *record },
    })
}

/// A record as JSON.
pub(crate) fn document(record: &Record) -> Result<String, Failure> {
    record.to_json().map_err(|e| Failure::environment(format!("a record cannot be written as JSON: {e}")))
}

/// Where records go.
pub(crate) enum ImportPlace {
    /// Into the store.
    Store(SqliteStore),
    /// Into a rehearsal, after which the store is as before.
    Rehearsed(Rehearsal),
}

impl ImportPlace {
    /// The store, made where it is missing; of a rehearsal what is there.
    pub(crate) fn open(rehearsal: bool) -> Result<Self, Failure> {
        Ok(if rehearsal {
            Self::Rehearsed(Rehearsal::beside(state::at_hand()?)?)
        } else {
            Self::Store(state::opened()?)
        })
    }

    fn save(&mut self, documents: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        match self {
            Self::Store(store) => store.save_documents(documents),
            Self::Rehearsed(rehearsal) => rehearsal.save_documents(documents),
        }
    }

    /// The record with exactly this id.
    pub(crate) fn load(&self, id: &str) -> Result<Stored, StoreError> {
        match self {
            Self::Store(store) => store.load(id),
            Self::Rehearsed(rehearsal) => rehearsal.load(id),
        }
    }
}

/// A record that is to be saved.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) file: PathBuf,
    /// The same as its record tells it, behind which a member of an archive is named.
    pub(crate) member: String,
    pub(crate) record: Record,
    pub(crate) document: String,
    /// What was said of it beside its text.
    pub(crate) given: Given,
}

/// What became of it, or would become.
pub(crate) enum Kept {
    Added,
    Known,
    Conflict(String),
    /// The record in the store has identities, and this one has none.
    WithoutIdentities,
}

/// Saves records. One that was made of the same text before is known, though a later version of assay may read more of
/// it, and labels may have been added since; with other labels it is another claim about the same figures.
pub(crate) fn keep(place: &mut ImportPlace, waiting: &[Waiting]) -> Result<Vec<Kept>, Failure> {
    let documents: Vec<&str> = waiting.iter().map(|one| one.document.as_str()).collect();
    let saved = place.save(&documents)?;
    let mut redactor: Option<Redactor> = None;
    let mut all = Vec::with_capacity(waiting.len());
    for (saved, one) in saved.into_iter().zip(waiting) {
        all.push(match saved {
            Ok(saved) if saved.change == Change::Unchanged => Kept::Known,
            Ok(_) => Kept::Added,
            Err(StoreError::Conflict { id }) => {
                let redactor = match &mut redactor {
                    Some(made) => made,
                    none => none.insert(state::redactor(false)?),
                };
                conflict(one, &place.load(&id)?, redactor)?
            }
            Err(error) => return Err(error.into()),
        });
    }
    Ok(all)
}

/// What a record is beside one of the same id that is in the store. One that was exported from it without identities is known.
fn conflict(waiting: &Waiting, stored: &Stored, redactor: &Redactor) -> Result<Kept, Failure> {
    let record = &waiting.record;
    let bare = read_document(&state::redacted(&stored.document, redactor)?).ok();
    if bare.as_ref() == Some(record) {
        return Ok(Kept::Known);
    }
    let id = &stored.record.id;
    let relabelled = |there: &Record| *there == (Record { labels: there.labels.clone(), ..record.clone() });
    if !record.is_printed() && (relabelled(&stored.record) || bare.as_ref().is_some_and(relabelled)) {
        return Ok(Kept::Conflict(format!(
            "record {id} is in the store with other labels; to change them: assay label {id} KEY=VALUE"
        )));
    }
    if !record.is_printed() && is_redacted(&waiting.document) && !is_redacted(&stored.document) {
        return Ok(Kept::WithoutIdentities);
    }
    Ok(other_claim(waiting, &stored.record))
}

/// Whether a document names no host, path or unit.
fn is_redacted(document: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(document).is_ok_and(|value| unredacted(&value).is_none())
}

/// What the same text is with other labels or facts, or another record of the same id.
fn other_claim(Waiting { record, given, .. }: &Waiting, there: &Record) -> Kept {
    let id = &there.id;
    let text = |of: &Record| of.origin.imported().map(|source| source.original_text_sha256.clone());
    if !record.is_printed() || text(record) != text(there) {
        return Kept::Conflict(format!("another record {id} is in the store; both stay as they are"));
    }
    let host = given.host.is_none() || given.host == there.host.hostname;
    let kind = given.kind.is_none_or(|kind| kind == there.medium.kind);
    let marked = given.doubtful.is_empty() || doubts(record) == doubts(there);
    let labelled = record.labels.iter().all(|(key, value)| there.labels.get(key) == Some(value));
    if labelled && host && kind && marked {
        return Kept::Known;
    }
    let labels: Vec<String> = there.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let what = if !labelled {
        if labels.is_empty() { "without labels".to_owned() } else { format!("as {}", labels.join(", ")) }
    } else if !host {
        there.host.hostname.as_ref().map_or_else(|| "without a host".to_owned(), |host| format!("of host {host}"))
    } else if !kind {
        format!("as {}", there.medium.kind.title())
    } else {
        "with other figures marked as doubtful".to_owned()
    };
    let mend = if labelled {
        format!("to change that: assay rm {id}, and import again")
    } else {
        format!("to change that: assay label {id} KEY=VALUE")
    };
    Kept::Conflict(format!("the same text is in the store {what}, record {id}; {mend}"))
}

/// The figures that are marked, with the reasons.
fn doubts(record: &Record) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    for (at, measurement) in record.measurements.iter().enumerate() {
        for warning in &measurement.warnings {
            if let Finding::MarkedDoubtful { why } = &warning.finding {
                all.push((at, why.as_str()));
            }
        }
    }
    all
}
