//! All changes of the store: short transactions that take the write lock at once, so that two processes wait for each
//! other instead of failing halfway. A rehearsal says what saving would change, and saves nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, named_params, params};

use super::open::SqliteStore;
use super::parts::{self, Growth, drop_observation, put_observation};
use crate::document::{self, Columns, Owner, OwnerState};
use crate::error::{self, StoreError};
use crate::spool::{Files, Spool, SpoolEntry};
use crate::store::{Abandoned, Change, RunState, Saved, Store, Stored};
use crate::system;

impl SqliteStore {
    /// Every change is synced before it counts as done. So a power cut loses at most the running repeat, and the kernel
    /// has no pages left to write back during the next repeat, when the store may be on the medium under test.
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        // This comes first: such a store is read from a copy, which is also read-only.
        super::files::must_have_one_name(&self.file)?;
        if self.read_only {
            return Err(StoreError::ReadOnly { path: self.file.clone() });
        }
        // Otherwise SQLite would continue writing to a file that can no longer be found.
        if !super::files::inode(&self.file)?.is_same(&self.inode) {
            return Err(StoreError::Moved { path: self.file.clone() });
        }
        let file = &self.file;
        let explain = |error| crate::error::database(file, error);
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explain)?;
        // SQLite syncs the name of its log only if it created the log itself. Another process may have created it, and
        // commits to a file without a durable name are lost.
        if !self.names_synced {
            let dir = file.parent().unwrap_or(Path::new(""));
            super::files::sync_directory(dir).map_err(|error| crate::error::system("write", dir, error))?;
            self.names_synced = true;
        }
        Ok(tx)
    }

    pub(super) fn save_record(&mut self, record: &Record, run: RunState<'_>) -> Result<(), StoreError> {
        let columns = Columns::from_record(record)?;
        let file = self.file.clone();
        // If anything fails from here on, the next save writes everything.
        let growth = self.growth.take();
        let tx = self.begin()?;
        let written = match run {
            RunState::Running { owner, scratch } => grow(&tx, growth, record, &columns, owner, scratch).map(Some),
            RunState::Finished => finish(&tx, record, &columns).map(|()| None),
        };
        let growth = written.and_then(|growth| tx.commit().map(|()| growth));
        self.growth = growth.map_err(|error| crate::error::database(&file, error))?;
        Ok(())
    }

    /// Makes the next save of this record write everything.
    pub(super) fn forget_growth(&mut self, id: &str) {
        self.growth = self.growth.take().filter(|growth| growth.id != id);
    }

    pub(super) fn save_texts(&mut self, all: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        let file = self.file.clone();
        let explain = |error| crate::error::database(&file, error);
        let tx = self.begin()?;
        let mut saved = Vec::with_capacity(all.len());
        for json in all {
            saved.push(match document::receive_with_columns(json) {
                Ok((record, columns)) => save_text(&tx, json.trim(), &record, &columns).map_err(explain)?,
                Err(error) => Err(error),
            });
        }
        tx.commit().map_err(explain)?;
        Ok(saved)
    }

    pub(super) fn relabel_records(
        &mut self,
        ids: &[String],
        labels: &BTreeMap<String, Option<String>>,
    ) -> Result<Vec<String>, StoreError> {
        let file = self.file.clone();
        let explain = |error| crate::error::database(&file, error);
        ids.iter().for_each(|id| self.forget_growth(id));
        let tx = self.begin()?;
        let mut changed = Vec::new();
        for id in ids {
            refuse_running(&tx, id, &explain)?;
            let unknown = || StoreError::UnknownId { query: id.clone() };
            let there = there(&tx, id).map_err(explain)?.ok_or_else(unknown)?;
            let before = there.json.ok_or_else(unknown)?;
            let record = document::read(&before).map_err(|error| StoreError::Unreadable {
                id: id.clone(),
                path: file.clone(),
                reason: error.to_string(),
            })?;
            let mut new = record.labels.clone();
            for (key, value) in labels {
                match value {
                    Some(value) => drop(new.insert(key.clone(), value.clone())),
                    None => drop(new.remove(key)),
                }
            }
            if new == record.labels {
                continue;
            }
            // Numbers stay as they were written, and so do fields of a newer version.
            let text = document::to_json(&new).map_err(|error| StoreError::NotARecord { reason: error.to_string() })?;
            let json: String = tx
                .query_row("SELECT json_set(?1, '$.labels', json(?2))", [&before, &text], |row| row.get(0))
                .map_err(explain)?;
            let (record, columns) = document::receive_with_columns(&json)?;
            let number = put(&tx, &record, &columns, &json).map_err(explain)?;
            put_observation(&tx, number, &record).map_err(explain)?;
            changed.push(id.clone());
        }
        tx.commit().map_err(explain)?;
        Ok(changed)
    }

    pub(super) fn delete(&mut self, id: &str) -> Result<(), StoreError> {
        let file = self.file.clone();
        let explain = |error| crate::error::database(&file, error);
        let tx = self.begin()?;
        refuse_running(&tx, id, &explain)?;
        let number: Option<i64> = tx
            .query_row("DELETE FROM record WHERE id = ?1 RETURNING number", [id], |row| row.get(0))
            .optional()
            .map_err(explain)?;
        let number = number.ok_or_else(|| StoreError::UnknownId { query: id.to_owned() })?;
        parts::drop_parts(&tx, number).map_err(explain)?;
        tx.commit().map_err(explain)
    }

    /// Runs in progress or killed, by the id of the record: what is known of the process that makes it.
    ///
    /// # Errors
    /// The store's own.
    pub fn lives(&self) -> Result<BTreeMap<String, OwnerState>, StoreError> {
        let runs = runs(&self.conn, None).map_err(|error| self.explain(error))?;
        Ok(runs.into_iter().map(|run| (run.id, run.owner.life())).collect())
    }

    pub(super) fn close_abandoned(&mut self) -> Result<Vec<Abandoned>, StoreError> {
        // Tested without the write lock first: usually there is nothing to do.
        let running = runs(&self.conn, None).map_err(|error| self.explain(error))?;
        if self.read_only || running.iter().all(|run| run.owner.alive()) {
            return Ok(Vec::new());
        }
        let file = self.file.clone();
        let explain = |error| crate::error::database(&file, error);
        let tx = self.begin()?;
        let mut closed = Vec::new();
        for run in runs(&tx, None).map_err(explain)? {
            let life = run.owner.life();
            if matches!(life, OwnerState::Alive | OwnerState::Elsewhere) {
                continue;
            }
            // A document of a newer version is left for that version to close.
            let Some(json) = parts::document(&tx, run.number).map_err(explain)? else { continue };
            let Ok(mut record) = document::read(&json) else { continue };
            put_document(&tx, run.number, &json).map_err(explain)?;
            if record.outcome == Outcome::Running {
                record.outcome = document::abandoned(&record, &run.owner, life);
                close(&tx, run.number, &record.outcome).map_err(explain)?;
            }
            put_observation(&tx, run.number, &record).map_err(explain)?;
            drop_run(&tx, run.number).map_err(explain)?;
            closed.push(Abandoned { id: run.id, scratch: run.scratch, record });
        }
        tx.commit().map_err(explain)?;
        Ok(closed)
    }
}

/// Refuses a record that a running process of this host makes.
fn refuse_running(
    tx: &Transaction<'_>,
    id: &str,
    explain: &impl Fn(rusqlite::Error) -> StoreError,
) -> Result<(), StoreError> {
    let running = runs(tx, Some(id)).map_err(explain)?;
    match running.iter().find(|run| run.owner.life() == OwnerState::Alive) {
        Some(run) => Err(StoreError::StillRunning { id: id.to_owned(), pid: run.owner.pid }),
        None => Ok(()),
    }
}

/// Whether a document equals the stored one, except for labels that were added to the latter since.
fn was_labelled(stored: &str, json: &str) -> bool {
    let parts = |json: &str| {
        let mut document: serde_json::Value = serde_json::from_str(json).ok()?;
        let labels = document.as_object_mut()?.remove("labels")?;
        Some((document, labels.as_object()?.clone()))
    };
    parts(stored).zip(parts(json)).is_some_and(|((stored, has), (other, given))| {
        stored == other && given.iter().all(|(key, value)| has.get(key) == Some(value))
    })
}

/// What a document from elsewhere changes, beside the one with its id; `None` where they contradict each other.
pub(super) fn change_by(there: Option<&There>, json: &str) -> Option<Change> {
    match there {
        None => Some(Change::Added),
        Some(there) if there.json.as_deref() == Some(json) => Some(Change::Unchanged),
        Some(there) if there.json.as_deref().is_some_and(|stored| was_labelled(stored, json)) => {
            Some(Change::Unchanged)
        }
        Some(there) if there.copied_while_running() => Some(Change::Replaced),
        Some(_) => None,
    }
}

fn save_text(
    tx: &Transaction<'_>,
    json: &str,
    record: &Record,
    columns: &Columns,
) -> rusqlite::Result<Result<Saved, StoreError>> {
    let Some(change) = change_by(there(tx, &record.id)?.as_ref(), json) else {
        return Ok(Err(StoreError::Conflict { id: record.id.clone() }));
    };
    if change != Change::Unchanged {
        let number = put(tx, record, columns, json)?;
        put_observation(tx, number, record)?;
    }
    Ok(Ok(Saved { id: record.id.clone(), change }))
}

/// Saves a running record: only the new data, if the rest is as it was saved before.
fn grow(
    tx: &Transaction<'_>,
    growth: Option<Growth>,
    record: &Record,
    columns: &Columns,
    owner: &Owner,
    scratch: Option<&Path>,
) -> rusqlite::Result<Growth> {
    let head = columns.head(record);
    let run = (owner.clone(), scratch.map(Path::to_owned));
    let rest = json(&parts::rest(record))?;
    if let Some(mut growth) = growth
        && growth.head == head
        && growth.run == run
        && growth.fits(tx, record)?
        && tx
            .prepare_cached("UPDATE document SET json = ?2 WHERE record = ?1")?
            .execute(params![growth.number, rest])?
            == 1
    {
        growth.append(tx, record)?;
        return Ok(growth);
    }
    let number = put(tx, record, columns, &rest)?;
    drop_observation(tx, number)?;
    put_run(tx, number, owner, scratch)?;
    let mut growth = Growth::new(&record.id, number, head, run);
    growth.append(tx, record)?;
    Ok(growth)
}

fn finish(tx: &Transaction<'_>, record: &Record, columns: &Columns) -> rusqlite::Result<()> {
    let number = put(tx, record, columns, &json(record)?)?;
    put_observation(tx, number, record)?;
    drop_run(tx, number)
}

fn json(record: &Record) -> rusqlite::Result<String> {
    document::to_json(record).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// Writes a complete document in place of its parts.
fn put_document(tx: &Transaction<'_>, number: i64, json: &str) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO document (record, json) VALUES (?1, ?2) ON CONFLICT (record) DO UPDATE SET json = excluded.json",
    )?
    .execute(params![number, json])?;
    parts::drop_parts(tx, number)
}

/// Writes a record's rows and returns its number.
pub(super) fn put(tx: &Transaction<'_>, record: &Record, columns: &Columns, json: &str) -> rusqlite::Result<i64> {
    let number = tx
        .prepare_cached(
            "INSERT INTO record (id, created, created_us, title, kind, product, unit, host, slot, suite, outcome, verdict)
             VALUES (:id, :created, :created_us, :title, :kind, :product, :unit, :host, :slot, :suite, :outcome, :verdict)
             ON CONFLICT (id) DO UPDATE SET
                 created = excluded.created, created_us = excluded.created_us, title = excluded.title,
                 kind = excluded.kind, product = excluded.product, unit = excluded.unit, host = excluded.host,
                 slot = excluded.slot, suite = excluded.suite, outcome = excluded.outcome, verdict = excluded.verdict
             RETURNING number",
        )?
        .query_row(
            named_params! {
                ":id": record.id,
                ":created": record.created,
                ":created_us": columns.created_us,
                ":title": columns.title,
                ":kind": columns.kind,
                ":product": record.medium.model,
                ":unit": record.medium.unit,
                ":host": record.host.hostname,
                ":slot": record.host.slot,
                ":suite": record.suite.name,
                ":outcome": columns.outcome,
                ":verdict": columns.verdict,
            },
            |row| row.get(0),
        )?;
    put_document(tx, number, json)?;
    tx.prepare_cached("DELETE FROM label WHERE record = ?1")?.execute([number])?;
    let mut insert = tx.prepare_cached("INSERT INTO label (record, key, value) VALUES (?1, ?2, ?3)")?;
    for (key, value) in &record.labels {
        insert.execute(params![number, key, value])?;
    }
    Ok(number)
}

pub(super) fn put_run(
    tx: &Transaction<'_>,
    number: i64,
    owner: &Owner,
    scratch: Option<&Path>,
) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO run (record, pid, start_time, boot_id, host, pid_namespace, scratch)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        number,
        owner.pid,
        owner.start_time.cast_signed(),
        owner.boot_id,
        owner.host,
        owner.pid_namespace,
        scratch.map(system::bytes_of),
    ])?;
    Ok(())
}

pub(super) fn drop_run(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM run WHERE record = ?1")?.execute([number])?;
    Ok(())
}

/// Closes a record. Only the outcome changes, so fields of a newer version and all digits of numbers stay as they were
/// written.
fn close(tx: &Transaction<'_>, number: i64, outcome: &Outcome) -> rusqlite::Result<()> {
    let outcome = document::to_json(outcome).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.execute(
        "UPDATE document SET json = json_set(json, '$.outcome', json(?2)) WHERE record = ?1",
        params![number, outcome],
    )?;
    tx.execute("UPDATE record SET outcome = ?2 WHERE number = ?1", params![number, outcome])?;
    Ok(())
}

/// What is stored under an id.
pub(super) struct There {
    pub(super) json: Option<String>,
    pub(super) outcome: String,
    pub(super) owned: bool,
}

impl There {
    fn copied_while_running(&self) -> bool {
        !self.owned && document::outcome(&self.outcome) == Outcome::Running
    }
}

pub(super) fn there(conn: &Connection, id: &str) -> rusqlite::Result<Option<There>> {
    let row = conn
        .query_row(
            "SELECT number, outcome, EXISTS (SELECT 1 FROM run WHERE run.record = number) FROM record WHERE id = ?1",
            [id],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let Some((number, outcome, owned)) = row else { return Ok(None) };
    Ok(Some(There { json: parts::document(conn, number)?, outcome, owned }))
}

/// A run in progress, or one that was killed.
struct RunningRow {
    number: i64,
    id: String,
    owner: Owner,
    scratch: Option<PathBuf>,
}

fn runs(conn: &Connection, id: Option<&str>) -> rusqlite::Result<Vec<RunningRow>> {
    conn.prepare_cached(
        "SELECT number, id, pid, start_time, boot_id, run.host, pid_namespace, scratch
         FROM run JOIN record ON number = run.record
         WHERE ?1 IS NULL OR id = ?1 ORDER BY created_us, number",
    )?
    .query_map([id], run_of)?
    .collect()
}

fn run_of(row: &Row<'_>) -> rusqlite::Result<RunningRow> {
    Ok(RunningRow {
        number: row.get(0)?,
        id: row.get(1)?,
        owner: Owner {
            pid: row.get(2)?,
            start_time: row.get::<_, i64>(3)?.cast_unsigned(),
            boot_id: row.get(4)?,
            host: row.get(5)?,
            pid_namespace: row.get(6)?,
        },
        scratch: row.get::<_, Option<Vec<u8>>>(7)?.map(system::path_of),
    })
}

// Takes the files of the spool into the store.

/// What was taken in from a spool, and what was left.
#[derive(Debug, Default)]
pub struct Intake {
    /// Records that the store now has in a newer state than before.
    pub taken: Vec<String>,
    /// Files that remain in the spool.
    pub left: Vec<LeftFile>,
}

/// A file that remains in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// Its name within the spool.
    pub name: String,
    /// The reason.
    pub reason: String,
}

impl SqliteStore {
    /// Takes in every record of the spool that is newer than the store's own, and removes the files whose content is
    /// durable in the store. Repeating this, or being killed during it, does no harm.
    ///
    /// # Errors
    /// The store's own, or the spool cannot be listed. No file is removed unless the store has its content.
    pub fn take_in<F: Files>(&mut self, spool: &mut Spool<F>) -> Result<Intake, StoreError> {
        let mut intake = Intake::default();
        for name in spool.waiting()? {
            match spool.read(&name) {
                Ok(entry) => match self.take(&entry)? {
                    Ok(newer) => {
                        if newer && !intake.taken.contains(&entry.record.id) {
                            intake.taken.push(entry.record.id.clone());
                        }
                        spool.taken(&name)?;
                    }
                    Err(reason) => intake.left.push(LeftFile { name, reason: reason.to_owned() }),
                },
                // Another command was faster.
                Err(_) if !spool.waiting()?.contains(&name) => {}
                Err(reason) => intake.left.push(LeftFile { name, reason }),
            }
        }
        Ok(intake)
    }

    /// Whether the entry was newer than the state in the store; the reason if it is of another run.
    fn take(&mut self, entry: &SpoolEntry) -> Result<Result<bool, &'static str>, StoreError> {
        let columns = Columns::from_record(&entry.record)?;
        let file = self.file.clone();
        let explain = |error| crate::error::database(&file, error);
        self.forget_growth(&entry.record.id);
        let tx = self.begin()?;
        let there: Option<i64> = tx
            .query_row("SELECT number FROM record WHERE id = ?1", [&entry.record.id], |row| row.get(0))
            .optional()
            .map_err(explain)?;
        if let Some(number) = there {
            // A stored document that cannot be read does not prevent taking in the other.
            let json = super::parts::document(&tx, number).map_err(explain)?;
            if let Some(stored) = json.and_then(|json| document::read(&json).ok()) {
                let seed = |record: &Record| record.settings().map(|settings| settings.seed);
                if (&stored.created, seed(&stored)) != (&entry.record.created, seed(&entry.record)) {
                    return Ok(Err("the store has another run under the same id"));
                }
                if document::progress(&stored) >= document::progress(&entry.record) {
                    return Ok(Ok(false));
                }
            }
        }
        let number = put(&tx, &entry.record, &columns, &entry.document).map_err(explain)?;
        match entry.run() {
            RunState::Running { owner, scratch } => {
                drop_observation(&tx, number).map_err(explain)?;
                put_run(&tx, number, owner, scratch).map_err(explain)?;
            }
            RunState::Finished => {
                put_observation(&tx, number, &entry.record).map_err(explain)?;
                drop_run(&tx, number).map_err(explain)?;
            }
        }
        tx.commit().map_err(explain)?;
        Ok(Ok(true))
    }
}

/// Says of documents from elsewhere what a store would make of them. The store stays as it is: what would be saved is kept in
/// a file without a name, which SQLite removes.
#[derive(Debug)]
pub struct Rehearsal {
    store: Option<SqliteStore>,
    saved: Connection,
}

impl Rehearsal {
    /// Begins with what the store holds; without one, with nothing.
    ///
    /// # Errors
    /// [`StoreError::Database`] where there is no place for a file.
    pub fn beside(store: Option<SqliteStore>) -> Result<Self, StoreError> {
        // An empty name is a file of its own (<https://www.sqlite.org/inmemorydb.html#temp_db>).
        let saved = Connection::open("").map_err(explain_file)?;
        saved
            .execute_batch(
                "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;
                 CREATE TABLE saved (id TEXT PRIMARY KEY, outcome TEXT NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;",
            )
            .map_err(explain_file)?;
        Ok(Self { store, saved })
    }

    /// What [`Store::save_documents`] would return, after those that were given before.
    ///
    /// # Errors
    /// As there.
    pub fn save_documents(&mut self, json: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        json.iter().map(|json| self.save_document(json.trim())).collect()
    }

    fn save_document(&mut self, json: &str) -> Result<Result<Saved, StoreError>, StoreError> {
        let (record, columns) = match document::receive_with_columns(json) {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        let before = match self.saved(&record.id)? {
            Some((outcome, json)) => Some(There { json: Some(json), outcome, owned: false }),
            None => self.stored(&record.id)?,
        };
        let Some(change) = change_by(before.as_ref(), json) else {
            return Ok(Err(StoreError::Conflict { id: record.id }));
        };
        if change != Change::Unchanged {
            self.saved
                .prepare_cached("INSERT OR REPLACE INTO saved VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![record.id, columns.outcome, json]))
                .map_err(explain_file)?;
        }
        Ok(Ok(Saved { id: record.id, change }))
    }

    /// The record with exactly this id.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load(&self, id: &str) -> Result<Stored, StoreError> {
        match (self.saved(id)?, &self.store) {
            (Some((_, document)), _) => Ok(Stored { record: document::read(&document)?, document }),
            (None, Some(store)) => store.load(id),
            (None, None) => Err(StoreError::UnknownId { query: id.to_owned() }),
        }
    }

    /// Outcome and document of what would have been saved.
    fn saved(&self, id: &str) -> Result<Option<(String, String)>, StoreError> {
        self.saved
            .prepare_cached("SELECT outcome, json FROM saved WHERE id = ?1")
            .and_then(|mut query| query.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional())
            .map_err(explain_file)
    }

    fn stored(&self, id: &str) -> Result<Option<There>, StoreError> {
        let Some(store) = &self.store else { return Ok(None) };
        there(&store.conn, id).map_err(|error| store.explain(error))
    }
}

fn explain_file(error: rusqlite::Error) -> StoreError {
    error::database(Path::new("a temporary file"), error)
}
