//! Records of nodes: what nodes were asked to measure, what a record has to be to belong to a run, and the one way into the
//! store of this machine, which accepts each record once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_analysis::result_of;
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Record, SuiteRef, Tool};
use assay_core::text::{clean, harmless};
use assay_store::{Keeper, Kept, RunState, SqliteStore, Store, StoreError, Stored, receive_document};

use crate::ledger::{Fate, Ledger};

/// What nodes were asked to measure, as far as it is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Version of the program.
    pub version: String,
    /// The suite; none where this machine does not have its text.
    pub suite: Option<AskedSuite>,
}

/// A suite whose text this machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedSuite {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// As it is to be in records; none where variables of an inventory may change it for a node.
    pub text: Option<String>,
}

impl Asked {
    /// Refuses a record of something else: of another program, or by another suite.
    ///
    /// # Errors
    /// [`RecordRefusal::Imported`], [`RecordRefusal::OtherProgram`], [`RecordRefusal::OtherSuite`] or [`RecordRefusal::ChangedSuite`].
    pub fn check(&self, record: &Record) -> Result<(), RecordRefusal> {
        let Tool { name, version, .. } = &record.tool;
        let Some(settings) = record.settings() else {
            return Err(RecordRefusal::Imported { asked: self.version.clone() });
        };
        if name != "assay" || *version != self.version {
            let (name, version) = (name.clone(), version.clone());
            return Err(RecordRefusal::OtherProgram { name, version, asked: self.version.clone() });
        }
        let Some(asked) = &self.suite else { return Ok(()) };
        let SuiteRef { name, version } = &record.suite;
        if (name, *version) != (&asked.name, asked.version) {
            let (name, version) = (name.clone(), *version);
            return Err(RecordRefusal::OtherSuite {
                name,
                version,
                asked: asked.name.clone(),
                asked_version: asked.version,
            });
        }
        if asked.text.as_ref().is_some_and(|text| *text != settings.suite_text) {
            return Err(RecordRefusal::ChangedSuite { name: name.clone() });
        }
        Ok(())
    }
}

/// Judges whether the record of a node is of the medium that was to be there: the reason where it is not.
pub type Guard = Box<dyn Fn(&str, &Record) -> Result<(), String> + Send + Sync>;

/// What all records of a run have to be.
pub struct Criteria {
    /// Identity of the run.
    pub run: String,
    /// What was asked for; none where that is not known, as of a run that another version of this program began.
    pub asked: Option<Asked>,
    /// What judges media; none where any will do.
    pub guard: Option<Guard>,
}

impl fmt::Debug for Criteria {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, asked, guard } = self;
        let guarded = guard.is_some();
        f.debug_struct("Criteria").field("run", run).field("asked", asked).field("guarded", &guarded).finish()
    }
}

/// Where a record comes from.
#[derive(Debug, Clone, Copy)]
pub struct RecordClaim<'a> {
    /// The node.
    pub node: &'a str,
    /// How it came.
    pub way: Way<'a>,
}

/// How a record came, and what is known of it by that.
#[derive(Debug, Clone, Copy)]
pub enum Way<'a> {
    /// The node handed it to the coordinator, in this attempt or an earlier one.
    HandedOver {
        /// The attempt that is under way.
        attempt: u32,
    },
    /// It was fetched from the node, or is here.
    Fetched {
        /// The identifier that was asked for.
        id: &'a str,
        /// Attempts of the node so far; none where that is not known.
        attempts: Option<u32>,
    },
}

impl Criteria {
    /// Refuses a record that is not what it is claimed to be, is not over, or is not what was asked for. A node may hand over what it
    /// had measured in an earlier attempt.
    ///
    /// # Errors
    /// [`RecordRefusal`] has the first reason.
    pub fn judge(&self, claim: &RecordClaim<'_>, record: &Record) -> Result<(), RecordRefusal> {
        let (named, attempts, coordinated) = match claim.way {
            Way::HandedOver { attempt } => (true, Some(attempt), true),
            Way::Fetched { id, attempts } => (record.id == id, attempts, false),
        };
        let own = match record.cluster.as_deref() {
            Some(part) => {
                let begun = attempts.is_none_or(|attempts| part.attempt <= attempts);
                part.run == self.run && part.node == claim.node && begun
            }
            // Of a node that began by itself, or was killed: its labels alone say of what it is.
            None => !coordinated && self.is_labelled(claim.node, record),
        };
        if !(named && own) {
            return Err(RecordRefusal::SomethingElse);
        }
        if record.outcome == Outcome::Running {
            return Err(RecordRefusal::Unfinished);
        }
        if let Some(asked) = &self.asked {
            asked.check(record)?;
        }
        if let Some(guard) = &self.guard {
            guard(claim.node, record).map_err(RecordRefusal::Misplaced)?;
        }
        if !self.is_labelled(claim.node, record) {
            return Err(RecordRefusal::Labels);
        }
        Ok(())
    }

    /// Whether the labels of a record are those of a node in this run.
    fn is_labelled(&self, node: &str, record: &Record) -> bool {
        let label = |name: &str| record.labels.get(name).map(String::as_str);
        label("fleet") == Some(&self.run) && label("node") == Some(node)
    }
}

// Why a record of a node is not accepted.

/// Why a record is not accepted. As text it goes to the node that sent it, and into the file of the run.
#[derive(Debug, thiserror::Error)]
pub enum RecordRefusal {
    /// It is not UTF-8.
    #[error("it is not text")]
    NotText,
    /// It is no record in a format that this program reads.
    #[error("{}", not_a_record(.0))]
    NotARecord(StoreError),
    /// It is of another run or node, of an attempt that was not begun, or has another identifier than the node says.
    #[error("it is a record of something else")]
    SomethingElse,
    /// Its labels name another run or node, or none.
    #[error("its labels are those of something else")]
    Labels,
    /// Its run is under way.
    #[error("it is not finished")]
    Unfinished,
    /// Another tool measured it.
    #[error("it is of another tool, and was imported, and assay {asked} was asked for")]
    Imported {
        /// Version of assay that was asked for.
        asked: String,
    },
    /// Another program, or another version, measured it.
    #[error("it is of {}, and assay {asked} was asked for", clean(&format!("{name} {version}")))]
    OtherProgram {
        /// Name of the program.
        name: String,
        /// Its version.
        version: String,
        /// Version of assay that was asked for.
        asked: String,
    },
    /// It is by another suite.
    #[error(
        "it is by suite {} version {version}, and {} version {asked_version} was asked for",
        clean(name),
        clean(asked)
    )]
    OtherSuite {
        /// Name of its suite.
        name: String,
        /// Version of its suite.
        version: u32,
        /// Name of the suite that was asked for.
        asked: String,
        /// Version of the suite that was asked for.
        asked_version: u32,
    },
    /// It is by a suite of the same name and version with another content.
    #[error("it is by a suite {} that differs from the one that was asked for", clean(name))]
    ChangedSuite {
        /// Name of the suite.
        name: String,
    },
    /// It is of another medium than the one that was to be there.
    #[error("{0}")]
    Misplaced(String),
    /// Another record is here of the same node and attempt.
    #[error("{id} is here of the same attempt")]
    SameAttempt {
        /// Identifier of the record that is here.
        id: String,
    },
    /// A record of something else is here under the same identifier.
    #[error("another record here is called {id}")]
    SameId {
        /// The identifier.
        id: String,
    },
    /// The store cannot tell what is here.
    #[error("{0}")]
    Store(StoreError),
    /// Neither store nor spool took it.
    #[error("{0}")]
    Nowhere(Box<Nowhere>),
}

/// Why a record could not be kept anywhere.
#[derive(Debug, thiserror::Error)]
#[error("{}", harmless(&format!(
    "{store}; nor can it be kept in {}: {spool}; --json or -o FILE.json write it elsewhere", place.display()
)))]
pub struct Nowhere {
    /// Why the store did not take it.
    pub store: StoreError,
    /// Why the spool did not.
    pub spool: StoreError,
    /// Where the spool is.
    pub place: PathBuf,
}

fn not_a_record(error: &StoreError) -> String {
    match error {
        StoreError::NotARecord { reason } => format!("it is not a record: {}", clean(reason)),
        newer => newer.to_string(),
    }
}

/// How long a save waits for other processes.
const BUSY: Duration = Duration::from_secs(5);

/// A record that was accepted.
#[derive(Debug)]
pub enum Accepted {
    /// It is in the store now, or in the spool on its way there.
    Taken(Record),
    /// It was here before.
    Here(Record),
}

impl Accepted {
    /// The record.
    #[must_use]
    pub fn record(self) -> Record {
        match self {
            Self::Taken(record) | Self::Here(record) => record,
        }
    }
}

/// The store of this machine, and what it has of a run.
#[derive(Debug)]
pub struct Home {
    criteria: Criteria,
    shelf: Mutex<Shelf>,
}

#[derive(Debug)]
struct Shelf {
    keeper: Keeper,
    /// Identifiers of the records of the run.
    ids: BTreeSet<String>,
    /// The same by node and attempt, where there was a coordinator.
    attempts: BTreeMap<(String, u32), String>,
}

impl Home {
    /// Finds out what is here of the run.
    ///
    /// # Errors
    /// [`StoreError`], where the store cannot be read.
    pub fn with_keeper(criteria: Criteria, mut keeper: Keeper) -> Result<Self, StoreError> {
        let (mut ids, mut attempts) = (BTreeSet::new(), BTreeMap::new());
        if let Some(store) = keeper.store() {
            let found = match store.resolve(&format!("fleet={}", criteria.run)) {
                Err(StoreError::NoMatch { .. }) => Vec::new(),
                found => found?,
            };
            for id in found {
                let record = store.load(&id)?.record;
                if let Some(part) = record.cluster.filter(|part| part.run == criteria.run) {
                    attempts.insert((part.node, part.attempt), id.clone());
                }
                ids.insert(id);
            }
        }
        Ok(Self { criteria, shelf: Mutex::new(Shelf { keeper, ids, attempts }) })
    }

    /// What records of the run have to be.
    #[must_use]
    pub fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// Identifiers of what is here.
    #[must_use]
    pub fn ids(&self) -> BTreeSet<String> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).ids.clone()
    }

    /// Accepts the record of a node, whichever way it came, or says why not. One that is here already stays as it is.
    ///
    /// # Errors
    /// [`RecordRefusal`] has the first reason.
    pub fn accept(&self, claim: &RecordClaim<'_>, document: &[u8]) -> Result<Accepted, RecordRefusal> {
        let text = std::str::from_utf8(document).map_err(|_| RecordRefusal::NotText)?;
        let record = receive_document(text).map_err(RecordRefusal::NotARecord)?;
        self.criteria.judge(claim, &record)?;
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let attempt = record.cluster.as_ref().map(|part| (part.node.clone(), part.attempt));
        let other = attempt.as_ref().and_then(|attempt| shelf.attempts.get(attempt)).filter(|id| **id != record.id);
        if let Some(id) = other {
            return Err(RecordRefusal::SameAttempt { id: id.clone() });
        }
        let there = match shelf.keeper.store().map(|store| store.load(&record.id)) {
            Some(Ok(stored)) => Some(stored.record),
            None | Some(Err(StoreError::UnknownId { .. })) => None,
            Some(Err(error)) => return Err(RecordRefusal::Store(error)),
        };
        match there {
            Some(there) if !self.is_same(claim.node, &there, &record) => {
                return Err(RecordRefusal::SameId { id: record.id });
            }
            Some(there) if there.outcome != Outcome::Running => return Ok(Accepted::Here(record)),
            _ => {}
        }
        if let Kept::Nowhere(store, spool) = shelf.keeper.keep(&record, RunState::Finished, BUSY) {
            let place = shelf.keeper.spool().to_owned();
            return Err(RecordRefusal::Nowhere(Box::new(Nowhere { store, spool, place })));
        }
        shelf.ids.insert(record.id.clone());
        if let Some(attempt) = attempt {
            shelf.attempts.insert(attempt, record.id.clone());
        }
        Ok(Accepted::Taken(record))
    }

    /// Whether what is here under the identifier of a record is that record. A node that shares this store may have left what it had
    /// before the end: that has no part in a cluster yet.
    fn is_same(&self, node: &str, there: &Record, record: &Record) -> bool {
        let attempt = |record: &Record| record.cluster.as_ref().map(|c| (c.run.clone(), c.node.clone(), c.attempt));
        match (attempt(there), attempt(record)) {
            (None, Some(_)) => there.outcome == Outcome::Running && self.criteria.is_labelled(node, there),
            (None, None) => self.criteria.is_labelled(node, there),
            (there, own) => there == own,
        }
    }
}

/// Whether it can be the identifier of a record, as names of files and arguments are made of it.
pub(crate) fn is_record_id(text: &str) -> bool {
    text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

#[cfg(test)]
mod samples {
    use assay_core::cluster::ClusterPart;
    use assay_core::outcome::Outcome;
    use assay_core::record::Record;

    /// What a node hands over.
    pub(crate) fn record(id: &str, node: &str, attempt: u32) -> Record {
        let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
        record.id = id.to_owned();
        record.outcome = Outcome::Completed;
        record.labels.extend([("fleet", "r"), ("node", node)].map(|(key, value)| (key.to_owned(), value.to_owned())));
        record.cluster = Some(Box::new(ClusterPart {
            run: "r".to_owned(),
            node: node.to_owned(),
            attempt,
            nodes: 2,
            mode: "simultaneous".to_owned(),
            at_a_time: 2,
            clock: None,
            lost: None,
            settled: None,
        }));
        record
    }
}

// Records that are here already, as results of a run.

/// The label of a record of another medium than the plan wants; it holds what the labels of the unit said.
const MISPLACED: &str = "misplaced";
/// Labels that name the unit of a record.
const UNIT_LABELS: [&str; 4] = ["plan", "model", "unit", "round"];

/// Removes the labels that name the unit of a record of another medium, so that it counts for no unit.
pub fn mark_misplaced(record: &mut Record) {
    let said = UNIT_LABELS.iter().filter_map(|key| Some(format!("{key}={}", record.labels.remove(*key)?)));
    let said = said.collect::<Vec<_>>().join(" ");
    record.labels.entry(MISPLACED.to_owned()).or_insert(said);
}

/// Whether [`mark_misplaced`] marked the record.
#[must_use]
pub fn is_misplaced(record: &Record) -> bool {
    record.labels.contains_key(MISPLACED)
}

/// Takes complete records that are here into the ledger of their run: a node of this machine may have finished after its coordinator
/// was killed. Those of another medium than the one that was to be there are marked.
///
/// # Errors
/// [`StoreError`], where one cannot be marked.
pub fn adopt(ledger: &mut Ledger, criteria: &Criteria, store: &mut SqliteStore) -> Result<(), StoreError> {
    for id in store.resolve(&format!("fleet={}", ledger.run)).unwrap_or_default() {
        let Ok(Stored { mut record, .. }) = store.load(&id) else { continue };
        let Some(part) = record.cluster.as_deref().filter(|part| part.lost.is_none()) else { continue };
        let Some(entry) = ledger.nodes.iter_mut().find(|entry| entry.name == part.node) else { continue };
        let way = Way::Fetched { id: &id, attempts: Some(entry.attempts) };
        match criteria.judge(&RecordClaim { node: &entry.name, way }, &record) {
            // An earlier attempt may be invalid.
            Ok(()) if result_of(&Observation::from(&record)).is_ok() => entry.fate = Some(Fate::of_record(&record)),
            Err(RecordRefusal::Misplaced(_)) if !is_misplaced(&record) => {
                mark_misplaced(&mut record);
                store.save(&record, RunState::Finished)?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::samples::record;
    use super::*;
    use crate::accept::Way;
    use crate::ledger::NodeEntry;
    use crate::meeting::Mode;
    use assay_store::Spool;

    fn home(directory: &std::path::Path) -> Home {
        let criteria = Criteria { run: "r".to_owned(), asked: None, guard: None };
        Home::with_keeper(criteria, Keeper::open(directory).unwrap()).unwrap()
    }

    fn accept(home: &Home, node: &str, way: Way<'_>, record: &Record) -> Result<Accepted, RecordRefusal> {
        home.accept(&RecordClaim { node, way }, record.to_json().unwrap().as_bytes())
    }

    const FIRST: Way<'_> = Way::HandedOver { attempt: 1 };

    fn fetched(id: &str) -> Way<'_> {
        Way::Fetched { id, attempts: None }
    }

    #[test]
    fn a_record_is_taken_once_whichever_way_it_comes() {
        let directory = tempfile::tempdir().unwrap();
        let own = record("a", "n1", 1);
        let first = home(directory.path());
        assert!(matches!(accept(&first, "n1", FIRST, &own), Ok(Accepted::Taken(_))));
        assert!(matches!(accept(&first, "n1", Way::HandedOver { attempt: 2 }, &own), Ok(Accepted::Here(_))));
        let later = home(directory.path());
        assert!(matches!(accept(&later, "n1", fetched("a"), &own), Ok(Accepted::Here(_))));
        for home in [&first, &later] {
            assert_eq!(home.ids(), BTreeSet::from(["a".to_owned()]));
            let again = record("b", "n1", 1);
            for way in [FIRST, fetched("b")] {
                assert!(matches!(accept(home, "n1", way, &again), Err(RecordRefusal::SameAttempt { id }) if id == "a"));
            }
        }
    }

    /// Threat 4.1: a hostile node hands over what it likes.
    #[test]
    fn a_record_of_something_else_is_refused_whichever_way_it_comes() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let refused = |change: &dyn Fn(&mut Record), wanted: fn(&RecordRefusal) -> bool| {
            let mut other = record("a", "n1", 1);
            change(&mut other);
            for way in [FIRST, Way::Fetched { id: "a", attempts: Some(1) }] {
                let refusal = accept(&home, "n1", way, &other).unwrap_err();
                assert!(wanted(&refusal), "{way:?}: {refusal:?}");
            }
        };
        let part = |record: &mut Record, change: fn(&mut assay_core::cluster::ClusterPart)| {
            record.cluster.iter_mut().for_each(|c| change(c))
        };
        refused(&|r| part(r, |c| c.run = "other".to_owned()), |r| matches!(r, RecordRefusal::SomethingElse));
        refused(&|r| part(r, |c| c.node = "n2".to_owned()), |r| matches!(r, RecordRefusal::SomethingElse));
        refused(&|r| part(r, |c| c.attempt = 2), |r| matches!(r, RecordRefusal::SomethingElse));
        refused(&|r| r.outcome = Outcome::Running, |r| matches!(r, RecordRefusal::Unfinished));
        refused(&|r| drop(r.labels.remove("fleet")), |r| matches!(r, RecordRefusal::Labels));
        refused(&|r| drop(r.labels.insert("node".to_owned(), "n2".to_owned())), |r| matches!(r, RecordRefusal::Labels));
        let own = record("a", "n1", 1);
        assert!(matches!(accept(&home, "n1", fetched("b"), &own), Err(RecordRefusal::SomethingElse)));
        let document = |bytes: &[u8]| home.accept(&RecordClaim { node: "n1", way: FIRST }, bytes).unwrap_err();
        assert!(matches!(document(b"\xff"), RecordRefusal::NotText));
        assert_eq!(document(b"{}").to_string(), "it is not a record: there is no field `schema` with a version");
        let mut unnamed = own.clone();
        unnamed.id = "../a".to_owned();
        let unnamed = document(unnamed.to_json().unwrap().as_bytes()).to_string();
        assert!(unnamed.contains("its id \"../a\" is not made of letters"), "{unnamed}");
        let newer = own.to_json().unwrap().replacen("\"schema\":\"", "\"schema\":\"9", 1);
        assert!(document(newer.as_bytes()).to_string().contains("use a newer assay"), "{}", document(newer.as_bytes()));
        assert!(home.ids().is_empty());
    }

    /// Nodes that began by themselves have no part in a cluster, but for a coordinator they do.
    #[test]
    fn a_node_that_began_by_itself_is_known_by_its_labels() {
        let directory = tempfile::tempdir().unwrap();
        let home = home(directory.path());
        let mut alone = record("a", "n1", 1);
        alone.cluster = None;
        assert!(matches!(accept(&home, "n1", FIRST, &alone), Err(RecordRefusal::SomethingElse)));
        assert!(matches!(accept(&home, "n2", fetched("a"), &alone), Err(RecordRefusal::SomethingElse)));
        assert!(matches!(accept(&home, "n1", fetched("a"), &alone), Ok(Accepted::Taken(_))));
        assert!(matches!(accept(&home, "n1", fetched("a"), &alone), Ok(Accepted::Here(_))));
        assert!(matches!(accept(&home, "n1", FIRST, &record("a", "n1", 1)), Err(RecordRefusal::SameId { .. })));
    }

    /// A node of this machine shares the store, where it left what it had before the end.
    #[test]
    fn what_a_node_left_before_the_end_is_replaced_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let own = record("a", "n1", 1);
        let mut begun = own.clone();
        (begun.outcome, begun.cluster) = (Outcome::Running, None);
        let mut keeper = Keeper::open(directory.path()).unwrap();
        keeper.keep(&begun, RunState::Finished, BUSY);
        begun.id = "c".to_owned();
        begun.labels.insert("node".to_owned(), "n2".to_owned());
        keeper.keep(&begun, RunState::Finished, BUSY);
        let home = home(directory.path());
        assert!(matches!(accept(&home, "n1", FIRST, &own), Ok(Accepted::Taken(_))));
        let other = record("c", "n1", 2);
        let way = Way::HandedOver { attempt: 2 };
        assert!(matches!(accept(&home, "n1", way, &other), Err(RecordRefusal::SameId { id }) if id == "c"));
    }

    #[test]
    fn another_medium_is_told_apart_from_other_refusals() {
        let directory = tempfile::tempdir().unwrap();
        let guard = Box::new(|node: &str, _: &Record| Err(format!("{node} has another card")));
        let criteria = Criteria { run: "r".to_owned(), asked: None, guard: Some(guard) };
        let home = Home::with_keeper(criteria, Keeper::open(directory.path()).unwrap()).unwrap();
        for way in [FIRST, fetched("a")] {
            let refusal = accept(&home, "n1", way, &record("a", "n1", 1)).unwrap_err();
            assert!(matches!(refusal, RecordRefusal::Misplaced(reason) if reason == "n1 has another card"));
        }
    }

    #[test]
    fn a_record_that_nothing_takes_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let nowhere = directory.path().join("file");
        std::fs::write(&nowhere, "").unwrap();
        let keeper = Keeper::with(None, Spool::in_directory(&nowhere));
        let home = Home::with_keeper(Criteria { run: "r".to_owned(), asked: None, guard: None }, keeper).unwrap();
        let refusal = accept(&home, "n1", FIRST, &record("a", "n1", 1)).unwrap_err();
        assert!(matches!(&refusal, RecordRefusal::Nowhere(why) if why.place.starts_with(&nowhere)), "{refusal:?}");
        assert!(home.ids().is_empty());
    }

    #[test]
    fn what_a_node_left_here_is_its_result_where_it_is_that_of_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(directory.path()).unwrap();
        let mut lost = record("lost", "d", 1);
        lost.cluster.iter_mut().for_each(|part| part.lost = Some("gone".to_owned()));
        let unit = |mut record: Record| {
            record.labels.insert("unit".to_owned(), "7".to_owned());
            record
        };
        let all = [record("good", "a", 1), record("early", "b", 2), unit(record("wrong", "c", 1)), lost];
        all.iter().for_each(|record| store.save(record, RunState::Finished).unwrap());
        let nodes = ["a", "b", "c", "d"].map(|name| NodeEntry { attempts: 1, ..NodeEntry::new(name, "/m") }).to_vec();
        let mut ledger = Ledger::begun("local", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes);
        ledger.run = "r".to_owned();
        let guard = |node: &str, _: &Record| if node == "c" { Err("another card".to_owned()) } else { Ok(()) };
        let criteria = Criteria { run: "r".to_owned(), asked: None, guard: Some(Box::new(guard)) };
        adopt(&mut ledger, &criteria, &mut store).unwrap();
        let here: Vec<_> = ledger.nodes.iter().map(|node| node.fate.as_ref().and_then(Fate::record)).collect();
        assert_eq!(here, [Some("good"), None, None, None]);
        let marked = store.load("wrong").unwrap().record;
        assert!(is_misplaced(&marked) && !marked.labels.contains_key("unit"));
        assert!(!is_misplaced(&store.load("good").unwrap().record));
    }
}
