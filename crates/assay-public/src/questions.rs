//! Rankings and comparisons: questions whose answers take longer than a page may. They are computed on threads of their own,
//! are kept, and cite the snapshot that they rest on. One that rests on an older snapshot is shown for some seconds while it is
//! computed anew; one that takes long is shown as it is, and computed anew in the background.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_analysis::compare::{By, CompareRequest, Comparison, compare, split};
use assay_analysis::rank::{RankOptions, RankReport, rank};
use assay_analysis::{Load, UnitNote, by_model, deciding_load, settle_units};
use assay_core::observation::Observation;
use axum::body::Bytes;
use serde::Serialize;
use tokio::sync::Notify;

use crate::classes;
use crate::database::{Database, DatabaseError};
use crate::derived::observations;
use crate::selection::{self, Filter, Values};
use crate::snapshot::{Snapshot, Snapshots};
use crate::store::Cited;

/// Answers that are kept; beyond, those that were not asked for the longest time are forgotten.
const KEPT: usize = 256;
/// Rankings of loads that are computed before anybody asks.
const BEFOREHAND: usize = 96;
/// Questions that wait.
const WAITING: usize = 64;
/// How long somebody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// An answer that took longer may be older than the newest snapshot.
const QUICK: Duration = Duration::from_millis(150);
/// How long an answer is renewed that is not asked for.
const WANTED: Duration = Duration::from_secs(3600);
/// Renewals take at most one part in so many of the time.
const REST: u32 = 3;
/// How long is waited after a failure before the next question.
const AFTER_FAILURE: Duration = Duration::from_millis(200);
/// Records of which the usual load is chosen.
const SAMPLED: usize = 300;
/// Records that are read at once.
const READ_AT_ONCE: usize = 200;
/// An answer that is younger is given while a newer one is computed.
const YOUNG: Duration = Duration::from_secs(4);
/// A new one is computed at most in this part of the time.
const PAUSES: u32 = 20;
/// Threads.
const WORKERS: usize = 2;
/// Models in a comparison.
pub const MOST_COMPARED: usize = 6;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Question {
    /// A ranking, as `assay rank --load` has it.
    Ranking {
        /// The class.
        class: String,
        /// Title of the load; empty for the usual one.
        load: String,
        /// Where it was measured.
        filter: Filter,
    },
    /// A comparison, as `assay compare --load` has it.
    Comparison {
        /// Models.
        models: Vec<String>,
        /// Words for the load; empty for the usual one.
        load: String,
    },
}

/// A ranking, and of how many models.
#[derive(Debug)]
pub struct Ranked {
    /// The ranking, or why there is none.
    pub report: Result<RankReport, String>,
    /// Models that take part.
    pub models: usize,
    /// Models of the class.
    pub of: usize,
    /// Titles of the loads of the class.
    pub loads: Vec<String>,
    /// What there is to filter by.
    pub values: Values,
    /// What names of its units contradict each other in.
    pub contradictions: Vec<UnitNote>,
}

/// A comparison, as `assay compare --json` has it.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// The comparison.
    pub comparison: Comparison,
    /// Whether every load has an answer.
    pub answered: bool,
    /// What names of its units contradict each other in.
    pub contradictions: Vec<UnitNote>,
}

/// What is answered.
#[derive(Debug)]
pub enum Answer {
    /// A ranking.
    Ranking(Box<Ranked>),
    /// A comparison, or why there is none.
    Comparison(Result<Box<Compared>, String>),
    /// A class, a load or a model is not here.
    Missing,
}

/// An answer, and what it rests on.
#[derive(Debug)]
pub struct Answered {
    /// The answer.
    pub answer: Answer,
    /// The snapshot.
    pub cited: Cited,
    /// As a page and as JSON, once they were asked for.
    pub(crate) page: OnceLock<Bytes>,
    pub(crate) json: OnceLock<Bytes>,
}

struct Kept {
    answered: Arc<Answered>,
    asked: Instant,
    made: Instant,
    took: Duration,
}

#[derive(Default)]
struct State {
    kept: HashMap<Question, Kept>,
    waiting: VecDeque<Question>,
    running: HashSet<Question>,
    /// A renewal runs.
    renewing: bool,
    /// No renewal before.
    rests: Option<Instant>,
    ends: bool,
}

struct Shared {
    snapshots: Arc<Snapshots>,
    database: Arc<Database>,
    state: Mutex<State>,
    called: Condvar,
    answered: Notify,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers questions.
pub struct Questions {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// Too many wait.
    Busy,
    /// It takes longer: it can be asked for again.
    Later,
}

impl Questions {
    /// Starts the threads.
    #[must_use]
    pub fn start(snapshots: Arc<Snapshots>, database: Arc<Database>) -> Self {
        let (state, called, answered) = (Mutex::default(), Condvar::new(), Notify::new());
        let shared = Arc::new(Shared { snapshots, database, state, called, answered });
        let worker = |_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || work(&shared))
        };
        Self { workers: (0..WORKERS).map(worker).collect(), shared }
    }

    /// The rankings that most visitors ask for first are computed before they do.
    pub fn wants_usual(&self) -> impl Fn() + Send + use<> {
        let shared = Arc::clone(&self.shared);
        move || {
            let newest = shared.snapshots.newest();
            let mut state = shared.state();
            for (class, _) in classes::ALL.iter().filter(|(class, _)| newest.loads.contains_key(class)) {
                let (class, load, filter) = ((*class).to_owned(), String::new(), Filter::default());
                let usual = Question::Ranking { class, load, filter };
                let known = state.kept.contains_key(&usual) || state.running.contains(&usual);
                if !known && !state.waiting.contains(&usual) {
                    state.waiting.push_back(usual);
                }
            }
            drop(state);
            shared.called.notify_all();
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub async fn ask(&self, question: &Question) -> Result<Arc<Answered>, NoAnswer> {
        let until = tokio::time::Instant::now() + PATIENCE;
        let least = self.shared.snapshots.newest().cited.number;
        loop {
            let answered = self.shared.answered.notified();
            tokio::pin!(answered);
            answered.as_mut().enable();
            if let Some(known) = self.known(question, least)? {
                return Ok(known);
            }
            if tokio::time::timeout_at(until, answered).await.is_err() {
                return Err(NoAnswer::Later);
            }
        }
    }

    /// What is known by now, of the snapshot with this number or a newer one; otherwise the question waits from now on.
    fn known(&self, question: &Question, least: i64) -> Result<Option<Arc<Answered>>, NoAnswer> {
        let mut state = self.shared.state();
        let known = state.kept.get_mut(question).map(|kept| {
            kept.asked = Instant::now();
            (Arc::clone(&kept.answered), kept.took, kept.made.elapsed())
        });
        let waits = state.running.contains(question) || state.waiting.contains(question);
        if let Some((answered, took, age)) = known {
            let is_new = answered.cited.number >= least;
            // What takes long is renewed by itself.
            if is_new || took > QUICK {
                return Ok(Some(answered));
            }
            if age < YOUNG {
                if !waits && age > took * PAUSES && state.waiting.len() < WAITING {
                    state.waiting.push_back(question.clone());
                    self.shared.called.notify_one();
                }
                return Ok(Some(answered));
            }
        }
        if !waits {
            if state.waiting.len() >= WAITING {
                return Err(NoAnswer::Busy);
            }
            state.waiting.push_back(question.clone());
            self.shared.called.notify_one();
        }
        Ok(None)
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.shared.state().ends = true;
        self.shared.called.notify_all();
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

/// A question to be answered, and whether it is answered anew.
fn next(shared: &Shared) -> Option<(Question, bool)> {
    let mut state = shared.state();
    loop {
        if state.ends {
            return None;
        }
        if let Some(question) = state.waiting.pop_front() {
            state.running.insert(question.clone());
            return Some((question, false));
        }
        if let Some(question) = to_renew(&state, &shared.snapshots.newest()) {
            (state.renewing, _) = (true, state.running.insert(question.clone()));
            return Some((question, true));
        }
        let waited = shared.called.wait_timeout(state, Duration::from_millis(250));
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// A ranking of a load that is not there yet, or an answer that rests on an older snapshot, the oldest first.
fn to_renew(state: &State, newest: &Snapshot) -> Option<Question> {
    let now = Instant::now();
    if state.renewing || state.rests.is_some_and(|until| now < until) {
        return None;
    }
    let missing = |question: &Question| !state.kept.contains_key(question) && !state.running.contains(question);
    if let Some(question) = of_loads(newest).find(missing) {
        return Some(question);
    }
    let is_stale = |(question, kept): &(&Question, &Kept)| {
        let wanted = is_usual(question) || now.duration_since(kept.asked) < WANTED;
        kept.answered.cited.number < newest.cited.number
            && wanted
            && kept.took > QUICK
            && !state.running.contains(*question)
    };
    let oldest = state.kept.iter().filter(is_stale).min_by_key(|(_, kept)| kept.answered.cited.number);
    oldest.map(|(question, _)| question.clone())
}

/// Rankings of the most frequent loads of each class: what the form offers is there before it is asked for.
fn of_loads(newest: &Snapshot) -> impl Iterator<Item = Question> {
    let mut all: Vec<(usize, &'static str, String)> = Vec::new();
    for (class, loads) in newest.loads.iter() {
        all.extend(loads.iter().map(|(load, count)| (*count, *class, load.to_string())));
    }
    all.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    all.into_iter().take(BEFOREHAND).map(|(_, class, load)| Question::Ranking {
        class: class.to_owned(),
        load,
        filter: Filter::default(),
    })
}

fn is_usual(question: &Question) -> bool {
    matches!(question, Question::Ranking { load, filter, .. } if load.is_empty() && *filter == Filter::default())
}

fn work(shared: &Shared) {
    while let Some((question, anew)) = next(shared) {
        let began = Instant::now();
        let newest = shared.snapshots.newest();
        // A failure of the database, or of a computation, leaves what was known; who waits asks again.
        let computed =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| answer(&newest, &shared.database, &question)));
        let took = began.elapsed();
        let mut state = shared.state();
        state.running.remove(&question);
        if anew {
            (state.renewing, state.rests) = (false, Some(Instant::now() + took * REST));
        }
        let failed = !matches!(computed, Ok(Ok(_)));
        if let Ok(Ok(answer)) = computed {
            let cited = newest.cited.clone();
            let answered = Answered { answer, cited, page: OnceLock::new(), json: OnceLock::new() };
            let asked = state.kept.get(&question).filter(|_| anew).map_or_else(Instant::now, |kept| kept.asked);
            state.kept.insert(question, Kept { answered: Arc::new(answered), asked, made: Instant::now(), took });
            forget(&mut state.kept);
        }
        drop(state);
        if failed {
            std::thread::sleep(AFTER_FAILURE);
        }
        shared.answered.notify_waiters();
    }
}

fn forget(kept: &mut HashMap<Question, Kept>) {
    while kept.len() > KEPT {
        let others = kept.iter().filter(|(question, _)| !is_usual(question));
        let Some(oldest) = others.min_by_key(|(_, kept)| kept.asked).map(|(question, _)| question.clone()) else {
            return;
        };
        kept.remove(&oldest);
    }
}

fn answer(snapshot: &Snapshot, database: &Database, question: &Question) -> Result<Answer, DatabaseError> {
    match question {
        Question::Ranking { class, load, filter } => {
            let load = Some(load.as_str()).filter(|load| !load.is_empty());
            ranking(snapshot, database, (class, load, filter))
        }
        Question::Comparison { models, load } => {
            let load = Some(load.as_str()).filter(|load| !load.is_empty());
            comparison(snapshot, database, models, load)
        }
    }
}

fn ranking(
    snapshot: &Snapshot,
    database: &Database,
    (class, load, filter): (&str, Option<&str>, &Filter),
) -> Result<Answer, DatabaseError> {
    let Some(loads) = snapshot.loads.get(class) else { return Ok(Answer::Missing) };
    if load.is_some_and(|load| !loads.contains_key(load)) {
        return Ok(Answer::Missing);
    }
    let usual = match load {
        Some(_) => None,
        None => usual_load(database, &selection::of_class(snapshot, class, None, filter).ids)?,
    };
    let load = load.or(usual.as_deref());
    let selected = selection::of_class(snapshot, class, load, filter);
    let mut observations = read(database, &selected.ids, load)?;
    let contradictions = settle_units(&mut observations);
    let ask = RankOptions { primary: load.map(str::to_owned), ..RankOptions::default() };
    let mut report = rank(&observations.iter().collect::<Vec<_>>(), &ask).map_err(|error| error.to_string());
    if let Ok(report) = &mut report {
        report.primary_by_default = usual.is_some();
    }
    Ok(Answer::Ranking(Box::new(Ranked {
        report,
        models: selected.models,
        of: selected.of,
        loads: loads.keys().map(|load| load.to_string()).collect(),
        values: selected.values,
        contradictions,
    })))
}

fn comparison(
    snapshot: &Snapshot,
    database: &Database,
    models: &[String],
    load: Option<&str>,
) -> Result<Answer, DatabaseError> {
    let mut named: Vec<Vec<Observation>> = Vec::new();
    for name in models {
        let Some(model) = snapshot.models.get(name.as_str()) else { return Ok(Answer::Missing) };
        named.push(read(database, &selection::of_model(&model.entries), None)?);
    }
    let request = CompareRequest { primary: load.map(str::to_owned), ..CompareRequest::default() };
    let contradictions = settle_units(named.iter_mut().flatten());
    let compared = compare(&split(&named, By::Model), &request)
        .map(|comparison| Box::new(Compared { answered: comparison.is_answered(), comparison, contradictions }));
    Ok(Answer::Comparison(compared.map_err(|error| error.to_string())))
}

/// The load that decides where none is named, as `assay rank` chooses it, among some of the records: that it is of one load
/// keeps a ranking of many models small.
fn usual_load(database: &Database, ids: &[String]) -> Result<Option<String>, DatabaseError> {
    let step = ids.len().div_ceil(SAMPLED).max(1);
    let some: Vec<String> = ids.iter().step_by(step).cloned().collect();
    let observations = read(database, &some, None)?;
    let decides = deciding_load(&by_model(&observations), None, None).ok();
    Ok(decides.map(|mut load| {
        load.variant.clear();
        load.title()
    }))
}

/// What rankings read of records, of one load or of all.
fn read(database: &Database, ids: &[String], load: Option<&str>) -> Result<Vec<Observation>, DatabaseError> {
    let mut all = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(READ_AT_ONCE) {
        let ids: Vec<&str> = chunk.iter().map(String::as_str).collect();
        for mut observation in database.with(|connection| observations(connection, &ids))? {
            if let Some(load) = load {
                observation.measurements.retain(|one| Load::from_workload(&one.workload).title() == load);
                observation.measurements.shrink_to_fit();
            }
            all.push(observation);
        }
    }
    Ok(all)
}
