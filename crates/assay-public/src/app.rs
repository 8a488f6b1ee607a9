//! What all answers share.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use assay_serve::Places;
use tokio::sync::Semaphore;

use crate::database::{Connection, Database, DatabaseError};
use crate::intake::LARGEST;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::questions::{Answered, NoAnswer, Question, Questions};
use crate::snapshot::Snapshots;
use crate::writer::Writer;

/// Documents on their way in, all together, in KiB: what they take of the memory is several times that.
pub(crate) const INCOMING_KIB: usize = 32 << 10;
/// Work on the database and on documents at once.
const AT_ONCE: usize = 6;

/// The niceness of background work: judging, snapshots and files.
const BEHIND: i32 = 5;

/// What all answers share.
pub(crate) struct App {
    pub(crate) database: Arc<Database>,
    pub(crate) writer: Writer,
    pub(crate) snapshots: Arc<Snapshots>,
    pub(crate) questions: Questions,
    /// Address of the server as the world knows it, without a slash at its end.
    pub(crate) site: String,
    pub(crate) proxies: Vec<IpAddr>,
    pub(crate) submissions: Limits,
    pub(crate) networks: Limits,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) places: Arc<Places>,
    pub(crate) incoming: Arc<Semaphore>,
    pub(crate) turns: Arc<Semaphore>,
    /// Where the files of the open data are.
    pub(crate) data: Option<PathBuf>,
    /// Why judging does not go on.
    pub(crate) trouble: Arc<RwLock<Option<String>>>,
    pub(crate) ends: Arc<AtomicBool>,
}

impl App {
    pub(crate) fn semaphores() -> (Arc<Semaphore>, Arc<Semaphore>) {
        const { assert!(INCOMING_KIB << 10 >= LARGEST) };
        (Arc::new(Semaphore::new(INCOMING_KIB)), Arc::new(Semaphore::new(AT_ONCE)))
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// Answers a ranking or a comparison.
    pub(crate) async fn ask(&self, question: &Question) -> Result<Arc<Answered>, NoAnswer> {
        self.questions.ask(question).await
    }

    /// Works on a thread on which waiting is allowed.
    ///
    /// # Errors
    /// [`DatabaseError::Away`] also where the work panicked.
    pub(crate) async fn on_a_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let ended = |_| DatabaseError::Away("the server ends".to_owned());
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| ended(()))?;
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&shared)
        });
        done.await.map_err(|_| DatabaseError::Away("this could not be answered".to_owned()))
    }

    /// Reads of the database on such a thread.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        what: impl FnOnce(&mut dyn Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.on_a_thread(move |app| app.database.with(what)).await?
    }

    /// Writes to it, in a transaction.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        what: impl FnOnce(&mut dyn Connection) -> Result<T, DatabaseError> + Send + 'static,
    ) -> Result<T, DatabaseError> {
        self.on_a_thread(move |app| app.database.write(what)).await?
    }
}

/// Lowers the priority of this thread, so that requests are answered before background work is done. Where the system forbids
/// it, the priority stays.
pub(crate) fn yields_to_answers() {
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), BEHIND);
}
