//! Files with results, read as records.

use std::fs::File as SystemFile;
use std::io::Read;
use std::path::{Path, PathBuf};

use assay_core::record::Record;
use assay_import::{File, ImportError, Imported, Item, Options, import};
use assay_store::{SqliteStore, Store, Stored, read_document};

use crate::copies::{Copy, DATABASE};
use crate::failure::Failure;
use crate::{output, state, system};

/// Name of standard input on the command line.
pub(crate) const STANDARD_INPUT: &str = "-";
/// Most bytes that are read of a file: what is longer is no output of a tool.
const LARGEST: u64 = 64 << 20;
/// Deepest directory below one that is named.
const DEEPEST: usize = 32;

/// A file that was named, or found in a directory that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Whether it is the directory of a store.
    pub(crate) store: bool,
    /// Whether it was named itself: one of a directory may be anything.
    pub(crate) named: bool,
}

/// The files that paths name: a directory stands for all in it, in the order of their names, but for hidden ones and
/// for links.
pub(crate) fn files(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        if path.as_os_str() == STANDARD_INPUT {
            all.push(Found { path: path.clone(), store: false, named: true });
            continue;
        }
        let kind = path.metadata().map_err(|error| cannot_read(path, &error))?;
        if kind.is_dir() {
            walk(path, 0, &mut all)?;
        } else {
            all.push(Found { path: path.clone(), store: false, named: true });
        }
    }
    Ok(all)
}

fn walk(directory: &Path, depth: usize, all: &mut Vec<Found>) -> Result<(), Failure> {
    if directory.join(DATABASE).is_file() {
        all.push(Found { path: directory.to_owned(), store: true, named: depth == 0 });
        return Ok(());
    }
    let unreadable = |error| cannot_read(directory, &error);
    let mut entries: Vec<_> =
        directory.read_dir().map_err(unreadable)?.collect::<Result<_, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type().map_err(unreadable)?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < DEEPEST {
            walk(&entry.path(), depth + 1, all)?;
        } else if kind.is_file() {
            all.push(Found { path: entry.path(), store: false, named: false });
        }
    }
    Ok(())
}

/// Reads a file, or standard input, within bounds.
pub(crate) fn read(path: &Path) -> Result<File, Failure> {
    let mut bytes = Vec::new();
    let outcome = if path.as_os_str() == STANDARD_INPUT {
        std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)
    } else {
        let kind = path.metadata().map_err(|error| cannot_read(path, &error))?;
        // A pipe is read as one; a device would be read for hours.
        if system::is_device(&kind) {
            return Err(Failure::usage(format!("{} is a device, and no file with results", output::shown(path))));
        }
        SystemFile::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| cannot_read(path, &error))?;
    Ok(File { name: path.to_string_lossy().into_owned(), bytes })
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("{} cannot be read: {error}", output::shown(path));
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(message),
        _ => Failure::environment(message),
    }
}

/// What a file or the directory of a store holds.
pub(crate) fn imported(found: &Found, options: &Options) -> Result<Result<Imported, ImportError>, Failure> {
    if found.store {
        return Ok(Ok(Imported { items: of_store(&found.path)?, problems: Vec::new() }));
    }
    Ok(import(read(&found.path)?, options))
}

/// The records of another store, which stays as it is: a copy is read, and brought up to date where it is of an older
/// version.
fn of_store(directory: &Path) -> Result<Vec<Item>, Failure> {
    let data = state::directory()?;
    assay_store::make_directory(&data)?;
    let copy = Copy::of(directory, &data)?;
    let Some(store) = SqliteStore::open_existing(copy.path())? else { return Ok(Vec::new()) };
    let ids = store.resolve("all")?;
    ids.iter().map(|id| Ok(Item::Own(store.load(id)?.document))).collect()
}

/// Whether a query names a file or a directory rather than records of the store: it has a slash or a point, which no id
/// has, and is there.
pub(crate) fn is_file(query: &str) -> bool {
    query == STANDARD_INPUT || query.contains(['/', '.', std::path::MAIN_SEPARATOR]) && Path::new(query).exists()
}

/// The records in a file or a directory that stands in the place of a query. Nothing of them is kept.
pub(crate) fn of_query(query: &str) -> Result<Vec<Stored>, Failure> {
    let options = Options::default();
    let mut all = Vec::new();
    for found in files(&[PathBuf::from(query)])? {
        let held = match imported(&found, &options)? {
            Ok(held) => held,
            // A directory may hold other things beside.
            Err(ImportError::Unknown { .. }) if !found.named => continue,
            Err(error) => return Err(Failure::usage(error.to_string())),
        };
        for (file, problem) in &held.problems {
            output::tell_wrapped(&format!("{file}, line {}: {}", problem.line, problem.what));
        }
        for item in held.items {
            all.push(stored(item)?);
        }
    }
    if all.is_empty() {
        return Err(Failure::usage(format!("there is no result in {}", output::shown(Path::new(query)))));
    }
    Ok(all)
}

/// A record as the store would give it.
fn stored(item: Item) -> Result<Stored, Failure> {
    Ok(match item {
        Item::Own(document) => Stored { record: read_document(&document)?, document },
        Item::Made(record) => Stored { document: document(&record)?, record: *record },
    })
}

/// A record as JSON.
pub(crate) fn document(record: &Record) -> Result<String, Failure> {
    record.to_json().map_err(|e| Failure::environment(format!("a record cannot be written as JSON: {e}")))
}
