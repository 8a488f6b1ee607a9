//! Open data: every public record as files, of one snapshot, with a manifest.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_report::columns::Table;
use axum::body::Body;
use futures_util::stream;
use ruzstd::encoding::{CompressionLevel, compress};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::database::{Database, DatabaseError};
use crate::derived::observation_texts;
use crate::digest::Entry;
use crate::figures;
use crate::snapshot::Snapshot;
use crate::store::document;

const MANIFEST: &str = "manifest.json";
const OBSERVATIONS: &str = "observations.ndjson.zst";
const DOCUMENTS: &str = "documents.ndjson.zst";
const FIGURES: &str = "figures.csv";
const FIGURES_PARQUET: &str = "figures.parquet";
/// Rows of a group in Parquet.
const GROUP: usize = 100_000;
/// Snapshots whose files are kept, so that a download that began goes on.
const KEPT: usize = 2;
/// Records that are read at once.
const AT_ONCE: usize = 20;
/// Bytes of a file that are sent at once.
const CHUNK: usize = 64 << 10;

/// The files cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The directory cannot be written.
    #[error("the files of the open data cannot be written: {0}")]
    Io(#[from] io::Error),
    /// The documents cannot be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// What files there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Under which terms.
    pub licence: String,
    /// The snapshot that they hold.
    pub snapshot: ManifestSnapshot,
    /// The files.
    pub files: Vec<ManifestFile>,
}

/// The snapshot of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSnapshot {
    /// Its number.
    pub number: i64,
    /// When it was made.
    pub made: String,
    /// Its records.
    pub records: i64,
    /// BLAKE3 over identities and hashes of its documents.
    pub hash: String,
}

/// A file of the open data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Lines, without a heading.
    pub rows: u64,
    /// BLAKE3 of its bytes.
    pub hash: String,
}

/// Directories of snapshots, the newest last.
fn made(data: &Path) -> Vec<(i64, PathBuf)> {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    let mut all: Vec<(i64, PathBuf)> =
        entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))).collect();
    all.sort();
    all
}

/// The newest manifest.
#[must_use]
pub fn manifest(data: &Path) -> Option<Manifest> {
    let (_, newest) = made(data).pop()?;
    serde_json::from_slice(&fs::read(newest.join(MANIFEST)).ok()?).ok()
}

/// A file of the newest snapshot by its name: its type, the file and its size.
pub(crate) fn open(data: &Path, name: &str) -> Option<(&'static str, File, u64)> {
    let kind = match name {
        MANIFEST => crate::answers::JSON,
        OBSERVATIONS | DOCUMENTS => "application/zstd",
        FIGURES => "text/csv; charset=utf-8",
        FIGURES_PARQUET => "application/vnd.apache.parquet",
        _ => return None,
    };
    let file = File::open(made(data).pop()?.1.join(name)).ok()?;
    let bytes = file.metadata().ok()?.len();
    Some((kind, file, bytes))
}

/// A file as the body of an answer, read while it is sent.
pub(crate) fn streamed(file: File) -> Body {
    let chunks = stream::try_unfold(file, |mut file| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK];
            let count = file.read(&mut chunk)?;
            chunk.truncate(count);
            Ok::<_, io::Error>((chunk, file))
        });
        let (chunk, file) = read.await.map_err(io::Error::other)??;
        Ok::<_, io::Error>((!chunk.is_empty()).then_some((chunk, file)))
    });
    Body::from_stream(chunks)
}

/// Makes the files of a snapshot, unless they are there; whether it made them. They appear together.
///
/// # Errors
/// [`DataError`].
pub fn make(data: &Path, database: &Database, snapshot: &Snapshot) -> Result<bool, DataError> {
    let number = snapshot.cited.number;
    if made(data).last().is_some_and(|(newest, _)| *newest >= number) {
        return Ok(false);
    }
    let new = data.join(".new");
    let _ = fs::remove_dir_all(&new);
    fs::create_dir_all(&new)?;
    let observation = |entries: &[&Arc<Entry>]| -> Result<Vec<String>, DataError> {
        let ids: Vec<&str> = entries.iter().map(|entry| &*entry.id).collect();
        let texts = database.with(|connection| observation_texts(connection, &ids))?;
        let texts: HashMap<String, String> = texts.into_iter().collect();
        let line = |entry: &&Arc<Entry>| {
            let Entry { id, account, unit, class, .. } = entry.as_ref();
            let mut of = json!({ "id": **id, "account": **account, "unit": **unit, "class": class }).to_string();
            of.truncate(of.len().saturating_sub(1));
            // What is in the database is text already.
            texts.get(&**id).map(|text| format!("{of},\"observation\":{text}}}"))
        };
        Ok(entries.iter().filter_map(line).collect())
    };
    let whole = |entries: &[&Arc<Entry>]| -> Result<Vec<String>, DataError> {
        let line = |entry: &&Arc<Entry>| -> Result<Option<String>, DataError> {
            let id = &entry.id;
            // One that was taken back since is left out: its state counts more than the number of the snapshot.
            let Some(bytes) = database.with(|connection| document(connection, id))? else { return Ok(None) };
            let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            Ok(Some(json!({ "id": **id, "hash": entry.hash.to_hex().as_str(), "document": value }).to_string()))
        };
        entries.iter().filter_map(|entry| line(entry).transpose()).collect()
    };
    let files = vec![
        lines(&new, OBSERVATIONS, snapshot, &observation)?,
        lines(&new, DOCUMENTS, snapshot, &whole)?,
        figures_csv(&new, snapshot)?,
        figures_parquet(&new, snapshot)?,
    ];
    let cited = &snapshot.cited;
    let manifest = Manifest {
        licence: "CC0-1.0".to_owned(),
        snapshot: ManifestSnapshot {
            number,
            made: cited.made.clone(),
            records: cited.records,
            hash: cited.hash.clone(),
        },
        files,
    };
    fs::write(new.join(MANIFEST), serde_json::to_vec_pretty(&manifest).map_err(io::Error::other)?)?;
    fs::rename(&new, data.join(number.to_string()))?;
    let all = made(data);
    for (_, old) in all.iter().rev().skip(KEPT) {
        fs::remove_dir_all(old)?;
    }
    Ok(true)
}

/// Lines of some records.
type LinesOf<'a> = &'a dyn Fn(&[&Arc<Entry>]) -> Result<Vec<String>, DataError>;

fn lines(directory: &Path, name: &str, snapshot: &Snapshot, of: LinesOf<'_>) -> Result<ManifestFile, DataError> {
    let mut of = Lines { entries: snapshot.records(), of, rest: Vec::new(), at: 0, rows: 0, failed: None };
    let mut file = Hashing::create(&directory.join(name))?;
    compress(&mut of, &mut file, CompressionLevel::Fastest);
    match of.failed.take() {
        Some(error) => Err(error),
        None => Ok(file.finish(name, of.rows)?),
    }
}

/// Lines of JSON as something to be read: no file is held in memory.
struct Lines<'a, I> {
    entries: I,
    of: LinesOf<'a>,
    rest: Vec<u8>,
    at: usize,
    rows: u64,
    failed: Option<DataError>,
}

impl<'a, I: Iterator<Item = &'a Arc<Entry>>> Read for Lines<'a, I> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.rest.len() {
            let next: Vec<&Arc<Entry>> = self.entries.by_ref().take(AT_ONCE).collect();
            if next.is_empty() {
                return Ok(0);
            }
            match (self.of)(&next) {
                Ok(lines) => {
                    self.rows += lines.len() as u64;
                    (self.rest, self.at) = (Vec::new(), 0);
                    for line in lines {
                        self.rest.extend_from_slice(line.as_bytes());
                        self.rest.push(b'\n');
                    }
                }
                // The compressor takes no error: what it made is thrown away.
                Err(error) => {
                    self.failed = Some(error);
                    return Ok(0);
                }
            }
        }
        let rest = self.rest.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

/// A new file, with the hash of what is written to it.
struct Hashing {
    file: BufWriter<File>,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Hashing {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?), hasher: blake3::Hasher::new(), bytes: 0 })
    }

    fn finish(self, name: &str, rows: u64) -> io::Result<ManifestFile> {
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        let hash = self.hasher.finalize().to_hex().to_string();
        Ok(ManifestFile { name: name.to_owned(), bytes: self.bytes, rows, hash })
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn figures_csv(directory: &Path, snapshot: &Snapshot) -> Result<ManifestFile, DataError> {
    let mut file = Hashing::create(&directory.join(FIGURES))?;
    writeln!(file, "{}", figures::heading())?;
    let mut rows = 0;
    for row in figures::rows(snapshot) {
        writeln!(file, "{}", row.line())?;
        rows += 1;
    }
    Ok(file.finish(FIGURES, rows)?)
}

/// The same with types, for DuckDB, ClickHouse and Spark, which leave out groups by the name of the model.
fn figures_parquet(directory: &Path, snapshot: &Snapshot) -> Result<ManifestFile, DataError> {
    let file = Hashing::create(&directory.join(FIGURES_PARQUET))?;
    let by_model = Some(0);
    let mut table = Table::begin(file, "figures", &figures::COLUMNS, by_model).map_err(io::Error::other)?;
    let (mut all, mut count) = (figures::rows(snapshot), 0);
    loop {
        let rows: Vec<figures::Row> = all.by_ref().take(GROUP).collect();
        if rows.is_empty() {
            break;
        }
        count += rows.len() as u64;
        table.rows(&figures::columns(&rows)).map_err(io::Error::other)?;
    }
    Ok(table.finish().map_err(io::Error::other)?.finish(FIGURES_PARQUET, count)?)
}
