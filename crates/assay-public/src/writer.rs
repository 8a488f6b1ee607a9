//! One thread writes what is submitted: all that came while it was at work go into one transaction, which is synced once.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::database::{Database, DatabaseError};
use crate::store::{Incoming, Submitted, submit};

/// Submissions that wait; more are told to come back.
const WAITING: usize = 256;
/// Submissions in one transaction.
const TOGETHER: usize = 64;

/// Why a submission was not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Too many wait.
    #[error("too many submissions wait")]
    Full,
    /// The database failed, or the server ends. Whether it was kept is not known: sending it again tells.
    #[error("{0}")]
    Database(String),
}

struct Job {
    incoming: Incoming,
    answer: oneshot::Sender<Result<Submitted, WriteError>>,
}

/// Keeps what is submitted.
#[derive(Debug)]
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread. `kept` is called after each transaction that kept something new.
    #[must_use]
    pub fn start(database: Arc<Database>, kept: impl Fn(usize) + Send + 'static) -> Self {
        let (jobs, waiting) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || write(&database, &waiting, &kept));
        Self { jobs: Some(jobs), thread: Some(thread) }
    }

    /// Keeps a document. When this returns, it survives a loss of power.
    ///
    /// # Errors
    /// [`WriteError`].
    pub async fn keep(&self, incoming: Incoming) -> Result<Submitted, WriteError> {
        let (answer, answered) = oneshot::channel();
        let ended = || WriteError::Database("the server ends".to_owned());
        match self.jobs.as_ref().ok_or_else(ended)?.try_send(Job { incoming, answer }) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(ended())),
            Err(TrySendError::Full(_)) => Err(WriteError::Full),
            Err(TrySendError::Disconnected(_)) => Err(ended()),
        }
    }
}

impl Drop for Writer {
    /// Writes what waits.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(database: &Database, waiting: &Receiver<Job>, kept: &dyn Fn(usize)) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        jobs.extend(std::iter::from_fn(|| waiting.try_recv().ok()).take(TOGETHER - 1));
        let written = database.write(|connection| {
            jobs.iter().map(|job| submit(connection, &job.incoming)).collect::<Result<Vec<Submitted>, DatabaseError>>()
        });
        match written {
            Ok(all) => {
                let new = all.iter().filter(|one| matches!(one, Submitted::New(_))).count();
                for (job, one) in jobs.into_iter().zip(all) {
                    // A client that went away asks again.
                    let _ = job.answer.send(Ok(one));
                }
                if new > 0 {
                    kept(new);
                }
            }
            Err(error) => {
                let error = WriteError::Database(error.to_string());
                jobs.into_iter().for_each(|job| drop(job.answer.send(Err(error.clone()))));
            }
        }
    }
}
