//! Judges what waits, on a thread of its own, and again after a start: a judgement that was not written was not made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_core::record::Record;

use super::others::{Examined, examined, judge};
use crate::app::yields_to_answers;
use crate::database::{Database, DatabaseError};
use crate::derived::settle;
use crate::states::{Code, Reason, Standing, State};
use crate::store::{Kept, document, in_state};

/// Documents that are judged before the next look at what waits. Receipts wait while their judgements are written.
const AT_ONCE: i64 = 16;
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
        let thread = std::thread::spawn(move || {
            yields_to_answers();
            rounds(&database, &called, &ended, &trouble, &judged);
        });
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

/// Judges the oldest that wait; how many. Each is judged after those that came before it, in one transaction for all.
///
/// # Errors
/// [`DatabaseError`].
pub fn judge_waiting(database: &Database, most: i64) -> Result<usize, DatabaseError> {
    let waiting = database.with(|connection| in_state(connection, State::Received, most))?;
    let examined: Vec<(Kept, Option<Examined>)> = waiting
        .into_iter()
        .map(|there| {
            let examined = examined_of(database, &there)?;
            Ok((there, examined))
        })
        .collect::<Result<_, DatabaseError>>()?;
    if examined.is_empty() {
        return Ok(0);
    }
    database.write(|connection| {
        for (there, examined) in &examined {
            match examined {
                Some(examined) => {
                    let standing = judge(connection, there, examined)?;
                    settle(connection, there, &standing, Some(&examined.derived))?
                }
                // It was read when it came: a later version of this program reads it no more, or the medium failed.
                None => settle(connection, there, &unreadable(), None)?,
            };
        }
        Ok::<_, DatabaseError>(())
    })?;
    Ok(examined.len())
}

/// A document judged by itself; none where it cannot be read.
fn examined_of(database: &Database, there: &Kept) -> Result<Option<Examined>, DatabaseError> {
    let text = database.with(|connection| document(connection, &there.id))?;
    Ok(text.as_deref().and_then(|text| record_of(text).ok()).and_then(|record| examined(there, &record).ok()))
}

/// What a judgement of this version of the program would be.
///
/// # Errors
/// [`DatabaseError`].
pub fn rejudge(database: &Database, there: &Kept) -> Result<Standing, DatabaseError> {
    match examined_of(database, there)? {
        Some(examined) => database.with(|connection| judge(connection, there, &examined)),
        None => Ok(unreadable()),
    }
}

fn unreadable() -> Standing {
    Standing { state: State::Held, reasons: vec![Reason::new(Code::Impossible, "the document cannot be read")] }
}

fn record_of(bytes: &[u8]) -> Result<Record, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    Record::from_json(text).map_err(|error| error.to_string())
}
