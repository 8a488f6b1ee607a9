//! Records of nodes: brought here, each once, and taken into the store of this machine, or found there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::cluster::ClusterPart;
use assay_core::outcome::Outcome;
use assay_core::record::{Record, SuiteRef, Tool};
use assay_core::suite::Suite;
use assay_core::text::clean;
use assay_fleet::{Expected, Fate, Keep, Launcher, Ledger, NotKept};
use assay_store::{Keeper, RunState, Store, StoreError, Stored};

use super::ledgers;
use super::nodes::{node_arguments, run_args};
use crate::commands::run;
use crate::failure::Failure;
use crate::recorder::{Saved, keep_finished};
use crate::{state, suites, together};

/// Why the record of a node is not that of what was to be there.
pub(super) type Guard = Box<dyn Fn(&str, &Record) -> Result<(), String> + Send + Sync>;

/// What nodes were asked to measure, as far as it is known here.
pub(super) struct AskedRun {
    version: String,
    suite: Option<AskedSuite>,
}

/// A suite whose text this machine has.
struct AskedSuite {
    name: String,
    version: u32,
    /// As it is to be in records; none where variables of an inventory may change it for a node.
    text: Option<String>,
}

impl AskedRun {
    /// What the nodes of a run are asked for. A suite is known that the program has itself, or that is handed to them; of a
    /// file on the nodes its name alone is known.
    pub(super) fn of(ledger: &Ledger, launcher: Launcher) -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), suite: asked_suite(ledger, launcher) }
    }

    /// Refuses a record of something else: of another program, or by another suite.
    fn check(&self, record: &Record) -> Result<(), String> {
        let Tool { name, version, .. } = &record.tool;
        if record.is_printed() || name != "assay" || *version != self.version {
            let other = if record.is_printed() {
                "another tool, and was imported".to_owned()
            } else {
                format!("{name} {version}")
            };
            return Err(format!("it is of {}, and assay {} was asked for", clean(&other), self.version));
        }
        let Some(suite) = &self.suite else { return Ok(()) };
        let SuiteRef { name, version } = &record.suite;
        if (name, *version) != (&suite.name, suite.version) {
            let (is, asked) = (clean(name), clean(&suite.name));
            return Err(format!(
                "it is by suite {is} version {version}, and {asked} version {} was asked for",
                suite.version
            ));
        }
        if suite.text.as_ref().is_some_and(|text| *text != record.settings.suite_text) {
            return Err(format!("it is by a suite {} that differs from the one that was asked for", clean(name)));
        }
        Ok(())
    }
}

fn asked_suite(ledger: &Ledger, launcher: Launcher) -> Option<AskedSuite> {
    let suite = match (&ledger.inventory, &ledger.rotation) {
        (None, _) => return asked_by(&node_arguments(ledger), ledger, launcher),
        (Some(_), Some(_)) => ledgers::suite_text(&ledger.run).ok().and_then(|text| Suite::parse(&text, "").ok())?,
        // Without a word on the command line, the inventory names it.
        (Some(inventory), None) => {
            let named = inventory.variables.get("assay_suite")?.as_str()?;
            suites::checked(named).ok()?.1
        }
    };
    Some(AskedSuite { name: suite.name, version: suite.version, text: None })
}

/// The suite that `assay run` takes by these arguments.
fn asked_by(arguments: &[String], ledger: &Ledger, launcher: Launcher) -> Option<AskedSuite> {
    let mut arguments = arguments.to_vec();
    if ledger.rotation.is_some() {
        arguments.extend(["--suite".to_owned(), ledgers::suite(&ledger.run).ok()?.to_str()?.to_owned()]);
    }
    // A job file that is named as the target is the suite.
    if ledger.nodes.iter().any(|entry| suites::is_job_file(Path::new(&entry.target))) {
        return None;
    }
    let args = run_args(&arguments)?;
    let is_here = ledger.rotation.is_some() || launcher == Launcher::Local || suites::is_built_in(&args.suite);
    let suite = is_here.then(|| run::suite(&args).ok()).flatten()?;
    // A share of a medium is another size on each.
    let text = (!suite.has_shares()).then(|| suite.to_text());
    Some(AskedSuite { text, name: suite.name, version: suite.version })
}

/// Takes records into the store of this machine.
pub(super) fn keep(
    expected: &Expected,
    asked: AskedRun,
    keeper: Keeper,
    records: Arc<Mutex<BTreeMap<usize, Record>>>,
    guard: Option<Guard>,
) -> Keep {
    let (run, nodes) = (expected.run.clone(), expected.nodes.clone());
    let keeper = Mutex::new(keeper);
    Box::new(move |number, document| {
        let text = std::str::from_utf8(document).map_err(|_| "it is not text".to_owned())?;
        let record = Record::from_json(text).map_err(|error| format!("it is not a record: {error}"))?;
        let (name, attempt) = &nodes[number];
        // What an earlier attempt left on the node is handed over by a later one.
        let part = record.cluster.as_deref().filter(|c| c.run == run && c.node == *name && c.attempt <= *attempt);
        let Some(part) = part else { return Err("it is a record of something else".to_owned().into()) };
        let own = |c: &ClusterPart| (&c.run, &c.node, c.attempt) == (&part.run, &part.node, part.attempt);
        if record.outcome == Outcome::Running {
            return Err("it is not finished".to_owned().into());
        }
        asked.check(&record)?;
        guard.as_ref().map_or(Ok(()), |guard| guard(name, &record)).map_err(NotKept::Misplaced)?;
        let id = record.id.clone();
        let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
        let there = match keeper.store().map(|store| store.load(&id)) {
            Some(Ok(stored)) => Some(stored.record),
            None | Some(Err(StoreError::UnknownId { .. })) => None,
            Some(Err(error)) => return Err(error.to_string().into()),
        };
        // A node that shares this store may have left what it had before the end: that has no part in a cluster yet.
        let label = |there: &Record, name: &str, value: &str| there.labels.get(name).is_some_and(|said| said == value);
        let begun = |there: &Record| {
            there.outcome == Outcome::Running && label(there, "fleet", &run) && label(there, "node", name)
        };
        let same = |there: &Record| {
            let part = there.cluster.as_ref();
            part.map_or_else(|| begun(there), |c| own(c))
        };
        if !(label(&record, "fleet", &run) && label(&record, "node", name)) {
            return Err("its labels are those of something else".to_owned().into());
        }
        if there.is_some_and(|there| !same(&there)) {
            return Err(format!("another record here is called {id}").into());
        }
        match keep_finished(&mut keeper, &record) {
            Saved::Yes | Saved::Later(_) => {}
            Saved::No(reason) => return Err(reason.into()),
        }
        records.lock().unwrap_or_else(PoisonError::into_inner).insert(number, record);
        Ok(id)
    })
}

/// Takes records that are here already: a node of this machine may have finished after its coordinator was killed.
/// Those that the guard refuses are marked.
pub(super) fn adopt(ledger: &mut Ledger, guard: Option<&Guard>) -> Result<(), Failure> {
    let Some(mut store) = state::existing()? else { return Ok(()) };
    let ids = store.resolve(&format!("fleet={}", ledger.run)).unwrap_or_default();
    for id in ids {
        let Ok(Stored { mut record, .. }) = store.load(&id) else { continue };
        let Some(part) = record.cluster.as_deref().filter(|part| part.run == ledger.run && part.lost.is_none()) else {
            continue;
        };
        if guard.is_some_and(|guard| guard(&part.node, &record).is_err()) {
            if record.outcome != Outcome::Running && !together::is_misplaced(&record) {
                together::mark_misplaced(&mut record);
                store.save(&record, RunState::Finished)?;
            }
            continue;
        }
        if let Some(entry) = ledger.nodes.iter_mut().find(|entry| entry.name == part.node)
            && record.outcome == Outcome::Completed
        {
            entry.fate = Some(Fate::Recorded { id });
        }
    }
    ledgers::keep(ledger)
}

// Records that are brought here: each once, by run, node and attempt.

/// What became of a record that was brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchResult {
    /// It is in the store now.
    Taken,
    /// It was there before.
    Here,
}

/// The store of this machine, and what it has of a run.
pub(super) struct Home {
    run: String,
    guard: Option<Guard>,
    inner: Mutex<HomeState>,
}

struct HomeState {
    keeper: Keeper,
    /// Identifiers of the records of the run.
    ids: BTreeSet<String>,
    /// The same by node and attempt, where there was a coordinator.
    attempts: BTreeMap<(String, u32), String>,
}

impl Home {
    pub(super) fn of(run: &str, guard: Option<Guard>) -> Result<Self, Failure> {
        let mut keeper = state::keeper()?;
        let mut attempts = BTreeMap::new();
        let mut ids = BTreeSet::new();
        if let Some(store) = keeper.store() {
            let found = match store.resolve(&format!("fleet={run}")) {
                Err(StoreError::NoMatch { .. }) => Vec::new(),
                found => found?,
            };
            for id in found {
                let record = store.load(&id)?.record;
                if let Some(part) = record.cluster.filter(|part| part.run == run) {
                    attempts.insert((part.node, part.attempt), id.clone());
                }
                ids.insert(id);
            }
        }
        Ok(Self { run: run.to_owned(), guard, inner: Mutex::new(HomeState { keeper, ids, attempts }) })
    }

    /// What judges whether a medium is the one that was to be there.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    /// Identifiers of what is here.
    pub(super) fn ids(&self) -> BTreeSet<String> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).ids.clone()
    }

    /// Takes what a node is said to have measured in the run.
    pub(super) fn take(&self, node: &str, id: &str, document: &[u8]) -> Result<FetchResult, String> {
        let text = std::str::from_utf8(document).map_err(|_| "it is not text".to_owned())?;
        let record = Record::from_json(text).map_err(|error| format!("it is not a record: {error}"))?;
        if record.id != id || !self.is_of(node, &record) {
            return Err("it is a record of something else".to_owned());
        }
        if record.outcome == Outcome::Running {
            return Err("it is not finished".to_owned());
        }
        self.guard.as_ref().map_or(Ok(()), |guard| guard(node, &record))?;
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let attempt = record.cluster.as_ref().map(|part| (part.node.clone(), part.attempt));
        if let Some(other) =
            attempt.as_ref().and_then(|attempt| inner.attempts.get(attempt)).filter(|other| *other != id)
        {
            return Err(format!("{other} is here of the same attempt"));
        }
        if let Some(there) = inner.keeper.store().and_then(|store| store.load(id).ok()) {
            let same = self.is_of(node, &there.record) && there.record.cluster == record.cluster;
            return if same { Ok(FetchResult::Here) } else { Err(format!("another record here is called {id}")) };
        }
        match keep_finished(&mut inner.keeper, &record) {
            Saved::Yes | Saved::Later(_) => {}
            Saved::No(reason) => return Err(reason),
        }
        inner.ids.insert(id.to_owned());
        attempt.map(|attempt| inner.attempts.insert(attempt, id.to_owned()));
        Ok(FetchResult::Taken)
    }

    fn is_of(&self, node: &str, record: &Record) -> bool {
        let label = |name: &str| record.labels.get(name).map(String::as_str);
        match &record.cluster {
            Some(part) => part.run == self.run && part.node == node,
            // Each of them began by itself.
            None => label("fleet") == Some(&self.run) && label("node") == Some(node),
        }
    }
}

/// Whether it can be the identifier of a record, as names of files and arguments are made of it.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use assay_fleet::Entry;

    use super::*;

    fn ledger(via: Launcher, arguments: &[&str]) -> Ledger {
        Ledger {
            version: Ledger::VERSION,
            run: "r".to_owned(),
            created: String::new(),
            via: via.name().to_owned(),
            mode: "simultaneous".to_owned(),
            at_a_time: None,
            program: "assay".to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            inventory: None,
            rotation: None,
            settled: None,
            nodes: vec![Entry::new("n1", "/mnt")],
        }
    }

    /// What a node hands over that ran the suite.
    fn record(suite: &str, change: impl FnOnce(&mut Suite)) -> Record {
        let mut record = assay_analysis::published("sandisk-ultra-a1/1").unwrap().remove(0);
        let (_, mut suite) = suites::checked(suite).unwrap();
        change(&mut suite);
        record.source = None;
        record.tool = Tool::assay(env!("CARGO_PKG_VERSION"), "sync", "");
        record.suite = SuiteRef::new(&suite.name, suite.version);
        record.settings.suite_text = suite.to_text();
        record
    }

    /// As `assay run` has it beside other nodes.
    fn in_step(suite: &mut Suite) {
        suite.enough = None;
    }

    /// Threat 4.1: a hostile node hands over what it likes.
    #[test]
    fn a_record_is_of_the_suite_and_the_program_that_were_asked_for() {
        let asked = AskedRun::of(&ledger(Launcher::Ssh, &["--suite", "smoke"]), Launcher::Ssh);
        asked.check(&record("smoke", in_step)).unwrap();
        let refused = |record: &Record, words: &str| {
            let reason = asked.check(record).unwrap_err();
            assert!(reason.contains(words), "{reason}");
        };
        refused(&record("quick", in_step), "by suite quick");
        refused(&record("smoke", |suite| (suite.enough, suite.version) = (None, 99)), "version 99");
        refused(&record("smoke", |suite| (suite.enough, suite.repeats) = (None, 7)), "differs from the one");
        let mut older = record("smoke", in_step);
        older.tool.version = "0.0.1".to_owned();
        refused(&older, "assay 0.0.1");
        let mut imported = record("smoke", in_step);
        imported.source = assay_analysis::published("sandisk-ultra-a1/1").unwrap().remove(0).source;
        refused(&imported, "imported");
        let mut other = record("smoke", in_step);
        other.tool.name = "dd".to_owned();
        refused(&other, "dd");
    }

    #[test]
    fn what_the_command_line_changes_in_a_suite_is_asked_for_too() {
        let words = ["--suite", "smoke", "--repeats", "2", "--label", "model=X"];
        let asked = AskedRun::of(&ledger(Launcher::Local, &words), Launcher::Local);
        asked.check(&record("smoke", |suite| (suite.enough, suite.repeats) = (None, 2))).unwrap();
        assert!(asked.check(&record("smoke", in_step)).is_err());
        let asked = AskedRun::of(&ledger(Launcher::Ssh, &[]), Launcher::Ssh);
        asked.check(&record("quick", in_step)).unwrap();
        assert!(asked.check(&record("smoke", in_step)).is_err());
    }

    /// A file on the nodes is not known here; nor is the target that is a job file.
    #[test]
    fn a_suite_that_is_not_known_here_is_not_compared() {
        let asked = AskedRun::of(&ledger(Launcher::Ssh, &["--suite", "/there/own.toml"]), Launcher::Ssh);
        asked.check(&record("smoke", in_step)).unwrap();
        let mut job = ledger(Launcher::Local, &[]);
        job.nodes = vec![Entry::new("a", "own.fio")];
        AskedRun::of(&job, Launcher::Local).check(&record("smoke", in_step)).unwrap();
    }
}
