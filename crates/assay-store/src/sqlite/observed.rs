//! Reads observations instead of their documents.

use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use assay_core::record::Record;
use rusqlite::{OptionalExtension, Row};

use super::open::SqliteStore;
use crate::error::StoreError;
use crate::observation::{self, Detail, Observation, Workloads};
use crate::query::Query;

/// Records per batch: one thread reads their texts, another one parses them.
const BATCH: usize = 64;

/// Some observations, and where to put their records.
struct Batch<'a> {
    texts: Vec<Option<Observation>>,
    places: &'a mut [Option<Record>],
}

impl Batch<'_> {
    fn parse(self, detail: Detail) {
        let mut known = Workloads::default();
        for (texts, place) in self.texts.into_iter().zip(self.places) {
            *place = texts.and_then(|texts| texts.record(detail, &mut known));
        }
    }
}

impl SqliteStore {
    /// The observations of the records that a query names, oldest first, from one view of the store.
    pub(super) fn observed(&self, text: &str, detail: Detail) -> Result<Vec<Record>, StoreError> {
        let query = Query::parse(text)?;
        let view = self.conn.unchecked_transaction().map_err(|error| self.explain(error))?;
        let ids = self.matching(text, &query)?;
        let mut found: Vec<Option<Record>> = Vec::new();
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
    fn unobserved(&self, id: &str, detail: Detail) -> Result<Record, StoreError> {
        let whole = self.load_whole(id)?.record;
        // Values that cannot be written as JSON, like a rate that is no number, cannot be read from it either.
        Ok(observation::observed(&whole, detail).unwrap_or(whole))
    }

    /// Puts the record of each observation into its place. Parsing takes most of the time, so threads parse what this
    /// thread, which owns the store, reads.
    fn parse(&self, ids: &[String], detail: Detail, places: &mut [Option<Record>]) -> rusqlite::Result<()> {
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

    fn texts(&self, id: &str, detail: Detail) -> rusqlite::Result<Option<Observation>> {
        let mut select = self.conn.prepare_cached(
            "SELECT head, repeats, latencies FROM observation
             WHERE observation.record = (SELECT number FROM record WHERE id = ?1)",
        )?;
        // A column is read only if it is needed: the latencies are long.
        let read = |row: &Row<'_>| {
            let text = |of, column: usize| if detail >= of { row.get(column) } else { Ok(String::new()) };
            Ok(Observation {
                head: row.get(0)?,
                repeats: text(Detail::Repeats, 1)?,
                latencies: text(Detail::Latencies, 2)?,
            })
        };
        select.query_row([id], read).optional()
    }
}
