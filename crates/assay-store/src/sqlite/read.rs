//! All read access, and the implementation of the trait.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use assay_core::finding::ValidityVerdict;
use assay_core::medium::MediumKind;
use assay_core::record::Record;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::open::SqliteStore;
use super::parts;
use crate::document;
use crate::document::{as_meant, is_id};
use crate::error::StoreError;
use crate::matcher::{self, Misspelt};
use assay_core::observation::Observation;

use crate::observation::{self, ObservationDetail, StoredTexts, Workloads};
use crate::query::{Condition, Query};
use crate::store::{Abandoned, RunState, Saved, Store, Stored, Summary};

impl Store for SqliteStore {
    fn location(&self) -> String {
        self.file.display().to_string()
    }

    fn read_only(&self) -> bool {
        self.read_only
    }

    fn save(&mut self, record: &Record, run: RunState<'_>) -> Result<(), StoreError> {
        self.save_record(record, run)
    }

    fn save_documents(&mut self, json: &[&str]) -> Result<Vec<Result<Saved, StoreError>>, StoreError> {
        self.save_texts(json)
    }

    fn load(&self, id: &str) -> Result<Stored, StoreError> {
        self.load_whole(id)
    }

    fn resolve(&self, query: &str) -> Result<Vec<String>, StoreError> {
        self.matching(query, &Query::parse(query)?)
    }

    fn observations(&self, query: &str, detail: ObservationDetail) -> Result<Vec<Observation>, StoreError> {
        self.observed(query, detail)
    }

    fn list(&self, query: &str) -> Result<Vec<Summary>, StoreError> {
        let parsed = Query::parse(query)?;
        // One view of the store for both tables.
        let view = self.conn.unchecked_transaction().map_err(|error| self.explain(error))?;
        let filter = match &parsed {
            Query::All => Filter::all(),
            Query::Where(conditions) => Filter::from_conditions(conditions),
            Query::Last(_) | Query::Id(_) => {
                let mut ids = self.ids(query, &parsed)?;
                Filter { sql: "WHERE id = ?1".to_owned(), values: ids.pop().map(Value::Text).into_iter().collect() }
            }
        };
        let summaries = self.summaries(&filter).map_err(|error| self.explain(error))?;
        drop(view);
        Ok(summaries)
    }

    fn relabel(
        &mut self,
        ids: &[String],
        labels: &BTreeMap<String, Option<String>>,
    ) -> Result<Vec<String>, StoreError> {
        self.relabel_records(ids, labels)
    }

    fn remove(&mut self, id: &str) -> Result<(), StoreError> {
        self.delete(id)
    }

    fn abandoned(&mut self) -> Result<Vec<Abandoned>, StoreError> {
        self.close_abandoned()
    }

    fn identity_key(&mut self) -> Result<[u8; 32], StoreError> {
        self.conn
            .query_row("SELECT value FROM secret WHERE name = 'identity'", [], |row| row.get(0))
            .optional()
            .map_err(|error| self.explain(error))?
            .ok_or_else(|| StoreError::Damaged { path: self.file.clone(), detail: "its key is gone".to_owned() })
    }
}

/// Selects rows of `record`.
struct Filter {
    sql: String,
    values: Vec<Value>,
}

impl Filter {
    fn all() -> Self {
        Self { sql: String::new(), values: Vec::new() }
    }

    fn from_conditions(conditions: &[Condition<'_>]) -> Self {
        let mut values = Vec::new();
        let all: Vec<String> = conditions.iter().map(|condition| matcher::sql(condition, &mut values)).collect();
        Self { sql: format!("WHERE {}", all.join(" AND ")), values: values.into_iter().map(Value::Text).collect() }
    }
}

impl SqliteStore {
    /// The record with exactly this id, and its document.
    /// Serial numbers and CIDs of all media, each once.
    ///
    /// # Errors
    /// The store's own.
    pub fn units(&self) -> Result<Vec<String>, StoreError> {
        units(&self.conn).map_err(|error| self.explain(error))
    }

    pub(super) fn load_whole(&self, id: &str) -> Result<Stored, StoreError> {
        let document = self
            .document(id)
            .map_err(|error| self.explain(error))?
            .ok_or_else(|| StoreError::UnknownId { query: id.to_owned() })?;
        match document::read(&document) {
            Ok(record) => Ok(Stored { record, document }),
            // Only JSON is ever saved, so a text that is no JSON was damaged later.
            Err(_) if !document::is_json(&document) => Err(StoreError::Damaged {
                path: self.file.clone(),
                detail: format!("the document of record {id} is broken"),
            }),
            Err(error) => Err(StoreError::Unreadable {
                id: id.to_owned(),
                path: self.file.clone(),
                reason: match error {
                    StoreError::NotARecord { reason } => reason,
                    other => other.to_string(),
                },
            }),
        }
    }

    /// Ids of the records that a query names; at least one, unless it is the query for all.
    pub(super) fn matching(&self, text: &str, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        let ids = self.ids(text, query)?;
        if ids.is_empty() && *query != Query::All {
            return Err(StoreError::NoMatch { query: text.to_owned() });
        }
        Ok(ids)
    }

    /// A key or value of a query that no record of the store has, if a record has a similar one.
    ///
    /// # Errors
    /// [`StoreError::BadQuery`], or the store's own.
    pub fn misspelt(&self, query: &str) -> Result<Option<Misspelt>, StoreError> {
        let Query::Where(conditions) = Query::parse(query)? else { return Ok(None) };
        let texts = |sql: &str, values: Vec<Value>| Ok(self.select_texts(sql, values)?.into_iter());
        let values = |condition: &Condition<'_>| {
            let (columns, label) = matcher::sql_of_values(condition);
            let mut all = BTreeSet::new();
            for sql in columns {
                all.extend(texts(&sql, Vec::new())?);
            }
            if let Some(key) = label {
                all.extend(texts("SELECT DISTINCT value FROM label WHERE key = ?", vec![Value::Text(key.to_owned())])?);
            }
            Ok(all)
        };
        let keys = || Ok(texts("SELECT DISTINCT key FROM label", Vec::new())?.collect());
        matcher::misspelt(&conditions, values, keys)
    }

    fn document(&self, id: &str) -> rusqlite::Result<Option<String>> {
        // One view of the store for the document and its parts, unless the caller already has one.
        let view = self.conn.is_autocommit().then(|| self.conn.unchecked_transaction()).transpose()?;
        let number: Option<i64> = self
            .conn
            .prepare_cached("SELECT number FROM record WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let document = number.map_or(Ok(None), |number| parts::document(&self.conn, number));
        drop(view);
        document
    }

    fn ids(&self, text: &str, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        match query {
            Query::All => self.select_texts("SELECT id FROM record ORDER BY created_us, number", Vec::new()),
            Query::Where(conditions) => {
                let Filter { sql, values } = Filter::from_conditions(conditions);
                self.select_texts(&format!("SELECT id FROM record {sql} ORDER BY created_us, number"), values)
            }
            Query::Last(back) => {
                let found = self.select_texts(
                    "SELECT id FROM record ORDER BY created_us DESC, number DESC LIMIT 1 OFFSET ?1",
                    vec![Value::Integer(i64::from(*back))],
                )?;
                if found.is_empty() {
                    let held = self.count()?;
                    return Err(StoreError::NotSoMany { query: text.to_owned(), held });
                }
                Ok(found)
            }
            Query::Id(typed) => match self.starting_with(typed)? {
                found if !found.is_empty() => one(text, found),
                _ => match self.starting_with(&as_meant(typed))? {
                    found if !found.is_empty() => one(text, found),
                    _ => Err(StoreError::UnknownId { query: text.to_owned() }),
                },
            },
        }
    }

    /// The record with this id, otherwise those whose ids begin with it.
    fn starting_with(&self, start: &str) -> Result<Vec<String>, StoreError> {
        if !is_id(start) {
            return Ok(Vec::new());
        }
        let exact = self.select_texts("SELECT id FROM record WHERE id = ?1", vec![Value::Text(start.to_owned())])?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        // Ids are ASCII, so everything that begins with it sorts below the same with DEL after it.
        self.select_texts(
            "SELECT id FROM record WHERE id > ?1 AND id < ?2 ORDER BY created_us, number",
            vec![Value::Text(start.to_owned()), Value::Text(format!("{start}\u{7f}"))],
        )
    }

    fn select_texts(&self, sql: &str, values: Vec<Value>) -> Result<Vec<String>, StoreError> {
        self.conn
            .prepare_cached(sql)
            .and_then(|mut select| select.query_map(params_from_iter(values), |row| row.get(0))?.collect())
            .map_err(|error| self.explain(error))
    }

    fn count(&self) -> Result<u64, StoreError> {
        self.conn
            .query_row("SELECT count(*) FROM record", [], |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)
            .map_err(|error| self.explain(error))
    }

    fn summaries(&self, filter: &Filter) -> rusqlite::Result<Vec<Summary>> {
        let mut labels: HashMap<i64, BTreeMap<String, String>> = HashMap::new();
        let mut select = self.conn.prepare_cached(&match filter.sql.as_str() {
            "" => "SELECT record, key, value FROM label".to_owned(),
            sql => format!("SELECT record, key, value FROM label WHERE record IN (SELECT number FROM record {sql})"),
        })?;
        let mut rows = select.query(params_from_iter(&filter.values))?;
        while let Some(row) = rows.next()? {
            labels.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
        }
        self.conn
            .prepare_cached(&format!(
                "SELECT number, id, created, title, kind, unit, host, slot, suite, outcome, verdict
                 FROM record {} ORDER BY created_us, number",
                filter.sql
            ))?
            .query_map(params_from_iter(&filter.values), |row| summary(row, &mut labels))?
            .collect()
    }
}

fn units(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = conn.prepare_cached("SELECT DISTINCT unit FROM record WHERE unit IS NOT NULL")?;
    select.query_map([], |row| row.get(0))?.collect()
}

fn one(text: &str, mut found: Vec<String>) -> Result<Vec<String>, StoreError> {
    if found.len() > 1 {
        return Err(StoreError::Ambiguous { query: text.to_owned(), candidates: found });
    }
    found.truncate(1);
    Ok(found)
}

fn summary(row: &Row<'_>, labels: &mut HashMap<i64, BTreeMap<String, String>>) -> rusqlite::Result<Summary> {
    let number: i64 = row.get(0)?;
    Ok(Summary {
        id: row.get(1)?,
        created: row.get(2)?,
        title: row.get(3)?,
        kind: document::variant(&row.get::<_, String>(4)?).unwrap_or(MediumKind::Unknown),
        unit: row.get(5)?,
        host: row.get(6)?,
        slot: row.get(7)?,
        suite: row.get(8)?,
        outcome: document::outcome(&row.get::<_, String>(9)?),
        // An unknown verdict of a newer version: not reliable, but not to be discarded.
        verdict: document::variant(&row.get::<_, String>(10)?).unwrap_or(ValidityVerdict::Suspect),
        labels: labels.remove(&number).unwrap_or_default(),
    })
}

// Reads observations instead of their documents.

/// Records per batch: one thread reads their texts, another one parses them.
const BATCH: usize = 64;

/// Some observations, and where to put their records.
struct Batch<'a> {
    texts: Vec<Option<StoredTexts>>,
    places: &'a mut [Option<Observation>],
}

impl Batch<'_> {
    fn parse(self, detail: ObservationDetail) {
        let mut known = Workloads::default();
        for (texts, place) in self.texts.into_iter().zip(self.places) {
            *place = texts.and_then(|texts| texts.observation(detail, &mut known));
        }
    }
}

impl SqliteStore {
    /// The observations of the records that a query names, oldest first, from one view of the store.
    pub(super) fn observed(&self, text: &str, detail: ObservationDetail) -> Result<Vec<Observation>, StoreError> {
        let query = Query::parse(text)?;
        let view = self.conn.unchecked_transaction().map_err(|error| self.explain(error))?;
        let ids = self.matching(text, &query)?;
        let mut found: Vec<Option<Observation>> = Vec::new();
        found.resize_with(ids.len(), || None);
        self.parse(&ids, detail, &mut found).map_err(|error| self.explain(error))?;
        for (id, found) in ids.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            *found = Some(self.unobserved(id, detail)?);
        }
        drop(view);
        // All are present. `flatten` would need a second list of the same size.
        Ok(found.into_iter().map_while(|found| found).collect())
    }

    /// A record of a run in progress, or of another version, from its document.
    fn unobserved(&self, id: &str, detail: ObservationDetail) -> Result<Observation, StoreError> {
        let whole = self.load_whole(id)?.record;
        // Values that cannot be written as JSON, like a rate that is no number, cannot be read from it either.
        Ok(observation::observed(&whole, detail).unwrap_or_else(|_| Observation::from(&whole)))
    }

    /// Puts the record of each observation into its place. Parsing takes most of the time, so threads parse what this
    /// thread, which owns the store, reads.
    fn parse(
        &self,
        ids: &[String],
        detail: ObservationDetail,
        places: &mut [Option<Observation>],
    ) -> rusqlite::Result<()> {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(ids.len() / BATCH);
        // Only a few batches are read in advance.
        let (send, receive) = mpsc::sync_channel::<Batch<'_>>(threads);
        let receive = &Mutex::new(receive);
        // The sender ends with the closure that owns it, and the threads end with the sender.
        thread::scope(move |scope| {
            let next = move || receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let work = move || {
                while let Ok(batch) = next() {
                    batch.parse(detail);
                }
            };
            let made = (0..threads).filter(|_| thread::Builder::new().spawn_scoped(scope, work).is_ok()).count();
            for (ids, places) in ids.chunks(BATCH).zip(places.chunks_mut(BATCH)) {
                let texts = ids.iter().map(|id| self.texts(id, detail)).collect::<rusqlite::Result<_>>()?;
                let batch = Batch { texts, places };
                if made == 0 {
                    batch.parse(detail);
                } else if send.send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn texts(&self, id: &str, detail: ObservationDetail) -> rusqlite::Result<Option<StoredTexts>> {
        let mut select = self.conn.prepare_cached(
            "SELECT head, repeats, latencies FROM observation
             WHERE observation.record = (SELECT number FROM record WHERE id = ?1)",
        )?;
        // A column is read only if it is needed: the latencies are long.
        let read = |row: &Row<'_>| {
            let text = |of, column: usize| if detail >= of { row.get(column) } else { Ok(String::new()) };
            Ok(StoredTexts {
                head: row.get(0)?,
                repeats: text(ObservationDetail::Repeats, 1)?,
                latencies: text(ObservationDetail::Latencies, 2)?,
            })
        };
        select.query_row([id], read).optional()
    }
}
