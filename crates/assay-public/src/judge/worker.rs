//! Judges what waits, on a thread of its own, and again after a start: a judgement that was not written was not made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_core::record::Record;

use super::others::judge;
use crate::database::{Database, DatabaseError};
use crate::states::{Code, Reason, Standing, State};
use crate::store::{Kept, document, in_state, settle};

/// Documents that are judged before the next look at what waits.
const AT_ONCE: i64 = 64;
/// How often it looks without being called, and how long it waits after the database failed.
const LOOK: Duration = Duration::from_secs(2);

/// Judges what waits.
#[derive(Debug)]
pub struct Judge {
    call: Option<SyncSender<()>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Judge {
    /// Starts the thread. `judged` is called after each round that judged something; `trouble` has the last failure.
    #[must_use]
    pub fn start(
        database: Arc<Database>,
        trouble: Arc<RwLock<Option<String>>>,
        judged: impl Fn(usize) + Send + 'static,
    ) -> Self {
        let (call, called) = sync_channel(1);
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let thread = std::thread::spawn(move || rounds(&database, &called, &ended, &trouble, &judged));
        Self { call: Some(call), ends, thread: Some(thread) }
    }

    /// Something waits.
    pub fn call(&self) -> impl Fn() + Send + use<> {
        let call = self.call.clone();
        move || {
            // Where a call waits already, it will see this one, too.
            let _ = call.as_ref().map(|call| call.try_send(()));
        }
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.call()();
        self.call = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn rounds(
    database: &Database,
    called: &Receiver<()>,
    ends: &AtomicBool,
    trouble: &RwLock<Option<String>>,
    judged: &dyn Fn(usize),
) {
    while !ends.load(Ordering::Relaxed) {
        let done = judge_waiting(database, AT_ONCE);
        let found = done.as_ref().err().map(ToString::to_string);
        *trouble.write().unwrap_or_else(PoisonError::into_inner) = found;
        match done {
            Ok(count @ 1..) => judged(count),
            _ => match called.recv_timeout(LOOK) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            },
        }
    }
}

/// Judges the oldest that wait; how many.
///
/// # Errors
/// [`DatabaseError`].
pub fn judge_waiting(database: &Database, most: i64) -> Result<usize, DatabaseError> {
    let waiting = database.with(|connection| in_state(connection, State::Received, most))?;
    for there in &waiting {
        let text = database.with(|connection| document(connection, &there.id))?;
        let record = text.as_deref().map(record_of);
        database.write(|connection| match &record {
            Some(Ok(record)) => {
                let (standing, derived) = judge(connection, there, record)?;
                settle(connection, there, &standing, Some(&derived))
            }
            // It was read when it came: a later version of this program reads it no more, or the medium failed.
            _ => settle(connection, there, &unreadable(), None),
        })?;
    }
    Ok(waiting.len())
}

/// What a judgement of this version of the program would be.
///
/// # Errors
/// [`DatabaseError`].
pub fn rejudge(database: &Database, there: &Kept) -> Result<Standing, DatabaseError> {
    let text = database.with(|connection| document(connection, &there.id))?;
    match text.as_deref().map(record_of) {
        Some(Ok(record)) => database.with(|connection| Ok(judge(connection, there, &record)?.0)),
        _ => Ok(unreadable()),
    }
}

fn unreadable() -> Standing {
    Standing { state: State::Held, reasons: vec![Reason::new(Code::Impossible, "the document cannot be read")] }
}

fn record_of(bytes: &[u8]) -> Result<Record, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    Record::from_json(text).map_err(|error| error.to_string())
}
