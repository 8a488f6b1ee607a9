//! Power cuts, kills and file system errors below store, spool and keeper, by seed.
//!
//! Each case consists of one or two runs that save their growing records, while the store is locked from time to time,
//! commands take in spooled files, and calls fail. Then the power fails, or the process is killed, at chosen calls. The
//! next command opens what is left, and every record must exist in a state that is not older than the last acknowledged
//! one.
//!
//! `make campaign SEEDS=1300 ONLY=store` tests 10,000 faults; `SEEDS=7..8` repeats a single seed.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

#[path = "../common/mod.rs"]
mod common;
mod memory;
mod vfs;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::{Record, Sensor};
use assay_lab::SplitMix;
use assay_store::{Keeper, Kept, ObservationDetail, Owner, RunState, Spool, SqliteStore, Store};
use common::running;
use memory::Memory;
use world::{Fault, Refusal, World, enter, survivors};

/// Faults of each seed.
const FAULTS: usize = 8;
/// Seeds in the usual tests.
const USUAL: u64 = 40;

/// Kinds of file systems in statfs(2): on NFS the store keeps a journal, on ext4 a log.
const NFS: u64 = 0x6969;
const EXT4: u64 = 0xef53;

/// All states of a record that were saved, or should have been, by time.
#[derive(Default)]
struct Known {
    states: BTreeMap<u64, Record>,
    /// Length of the log at each acknowledgement, with the time of the state.
    acknowledged: Vec<(usize, u64)>,
}

struct Case {
    dir: tempfile::TempDir,
    world: Rc<RefCell<World>>,
    known: BTreeMap<String, Known>,
    dice: SplitMix,
    /// Whether it is on a file system that hosts share.
    shared: bool,
}

impl Case {
    fn log(&self) -> usize {
        self.world.borrow().log.len()
    }

    fn spool_path(&self) -> PathBuf {
        self.dir.path().join("spool")
    }

    fn open(&self) -> Option<SqliteStore> {
        let kind: fn(&Path) -> std::io::Result<u64> = if self.shared { |_| Ok(NFS) } else { |_| Ok(EXT4) };
        SqliteStore::open_on(self.dir.path(), Duration::ZERO, kind).ok()
    }

    /// Runs one process after the other; each has runs, some of them under a lock.
    fn work(&mut self) {
        let owner = Owner { start_time: 1, ..Owner::current() };
        let mut left = Memory::of(&self.spool_path(), &BTreeMap::new());
        for process in 0..2 {
            let mut spool = Spool::over(&self.spool_path(), left.clone());
            let mut store = self.open();
            if let Some(store) = &mut store {
                let _ = store.take_in(&mut spool);
                let _ = store.abandoned();
            }
            let mut keeper = Keeper::with(store, spool);
            let ids = [format!("aaaaaaaa{process}0"), format!("bbbbbbbb{process}0")];
            let mut records: Vec<Record> = ids.iter().map(|id| begun(id)).collect();
            let mut lock = None;
            for step in 0..4 + self.dice.index(8) {
                if self.dice.one_in(3) {
                    lock = match lock {
                        None => rusqlite::Connection::open(self.dir.path().join("assay.sqlite"))
                            .ok()
                            .filter(|other| other.execute_batch("BEGIN IMMEDIATE").is_ok()),
                        Some(_) => None,
                    };
                }
                let which = self.dice.index(2);
                let record = &mut records[which];
                grow(record, &mut self.dice);
                let finished = self.dice.one_in(10) && step > 3;
                record.outcome = if finished { Outcome::Completed } else { Outcome::Running };
                let run = if finished {
                    RunState::Finished
                } else {
                    RunState::Running { owner: &owner, scratch: Some(Path::new("/mnt/card/x")) }
                };
                let known = self.known.entry(record.id.clone()).or_default();
                known.states.insert(record.settings().unwrap().elapsed_ns, record.clone());
                let kept = keeper.keep(record, run, Duration::ZERO);
                let time = record.settings().unwrap().elapsed_ns;
                if !matches!(kept, Kept::Nowhere(..)) {
                    let at = self.log();
                    self.known.entry(ids[which].clone()).or_default().acknowledged.push((at, time));
                }
                if finished {
                    break;
                }
                if self.dice.one_in(6) {
                    // Another command takes in spooled files; the run does not notice.
                    let mut seen = Spool::over(&self.spool_path(), keeper.spool_files().clone());
                    if let Some(mut other) = self.open() {
                        let _ = other.take_in(&mut seen);
                    }
                    *keeper.spool_files() = seen.files().clone();
                }
            }
            drop(lock);
            left = keeper.spool_files().clone();
        }
    }

    /// Checks what the next command finds if `log` ended after its first `at` events.
    fn judge(&self, at: usize, cut: Option<u64>) {
        let world = self.world.borrow();
        let mut dice = cut.map(SplitMix::new);
        let all = survivors(&world.log[..at], dice.as_mut());
        let dir = tempfile::tempdir_in(place()).unwrap();
        for name in ["assay.sqlite", "assay.sqlite-wal", "assay.sqlite-journal"] {
            if let Some(content) = all.get(&self.dir.path().join(name)) {
                std::fs::write(dir.path().join(name), content).unwrap();
            }
        }
        let mut spool = Spool::over(&self.spool_path(), Memory::of(&self.spool_path(), &all));
        let mut store = SqliteStore::open(dir.path()).unwrap_or_else(|error| panic!("the next command: {error}"));
        let intake = store.take_in(&mut spool).unwrap();
        assert_eq!(intake.left, [], "whole files that cannot be taken in");
        let waiting = spool.files().names();
        assert!(waiting.iter().all(|name| name.ends_with(".part")), "still waiting: {waiting:?}");
        let list = store.list("").unwrap();
        for summary in &list {
            assert!(self.known.contains_key(&summary.id), "record {} was never saved", summary.id);
        }
        for (id, known) in &self.known {
            let acknowledged = known.acknowledged.iter().filter(|(end, _)| *end <= at).map(|(_, time)| *time).max();
            let there = list.iter().any(|summary| summary.id == *id);
            match acknowledged {
                None if !there => continue,
                Some(time) if !there => panic!("record {id} is lost; it was acknowledged at {time}"),
                _ => {}
            }
            let stored = store.load(id).unwrap().record;
            let time = stored.settings().unwrap().elapsed_ns;
            assert!(acknowledged.is_none_or(|known| time >= known), "record {id}: {time}, and had {acknowledged:?}");
            let saved = known.states.get(&time).unwrap_or_else(|| panic!("record {id} is in no state that was saved"));
            // A command may have closed it meanwhile.
            let expected = Record { outcome: stored.outcome.clone(), ..saved.clone() };
            assert_eq!(stored, expected, "record {id}");
            let observed = store.observations(id, ObservationDetail::Latencies).unwrap();
            assert_eq!(observed, [Observation::from(&stored)], "observation of record {id}");
        }
        store.abandoned().unwrap();
        assert!(store.list("").unwrap().iter().all(|summary| summary.outcome != Outcome::Running));
        let observed = store.observations("all", ObservationDetail::Estimates).unwrap();
        assert!(observed.len() == list.len() && observed.iter().all(|record| record.outcome != Outcome::Running));
    }
}

/// In memory if possible: the log is the medium.
fn place() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

fn begun(id: &str) -> Record {
    let mut record = running(id);
    record.sensors.push(Sensor {
        name: "cpu".to_owned(),
        kind: "temperature".to_owned(),
        unit: "°C".to_owned(),
        source: "hwmon".to_owned(),
        samples: Vec::new(),
    });
    record
}

fn grow(record: &mut Record, dice: &mut SplitMix) {
    record.change_settings(|settings| settings.elapsed_ns += 1 + dice.below(1000));
    for _ in 0..dice.index(400) {
        let now_ns = record.settings().unwrap().elapsed_ns;
        record.sensors[0].samples.push((now_ns, dice.below(100_000) as f64 / 1000.0));
    }
}

/// Tests the faults of one seed; panics with the violation.
fn seed(seed: u64) {
    let mut dice = SplitMix::new(seed);
    let fault = dice.one_in(2).then(|| {
        let refusal = if dice.one_in(2) { Refusal::Io } else { Refusal::NoSpace };
        Fault { from: dice.index(400), count: 1 + dice.index(40), refusal }
    });
    let mut case = worked(seed, fault);
    for number in 0..FAULTS {
        let at = 2 + case.dice.index(case.log() - 1);
        // Every fourth fault is a kill, which loses no written data.
        let cut = (number % 4 != 0).then(|| case.dice.number());
        case.judge(at, cut);
    }
}

/// Performs a seed's script with a given fault, or without one.
fn worked(seed: u64, fault: Option<Fault>) -> Case {
    let mut dice = SplitMix::new(seed);
    let shared = dice.one_in(3);
    let dir = tempfile::tempdir_in(place()).unwrap();
    let file = dir.path().join("assay.sqlite");
    // The store creates its file itself, before SQLite opens it, and syncs its name.
    let log = vec![world::Event::Create(file), world::Event::SyncNames(dir.path().to_owned())];
    let world = Rc::new(RefCell::new(World { log, fault, ..World::default() }));
    let mut case = Case { dir, world: Rc::clone(&world), known: BTreeMap::new(), dice, shared };
    enter(Some(world));
    let worked = catch_unwind(AssertUnwindSafe(|| case.work()));
    enter(None);
    worked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    case
}

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return 0..USUAL };
    match text.split_once("..") {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

#[test]
fn campaign_store_keeps_what_it_acknowledged() {
    vfs::install();
    let seeds = seeds();
    let failed: Vec<u64> =
        seeds.clone().filter(|number| catch_unwind(AssertUnwindSafe(|| seed(*number))).is_err()).collect();
    let faults = (seeds.end - seeds.start) * FAULTS as u64;
    println!("store: {faults} faults over {} seeds, {} seeds failed {failed:?}", seeds.end - seeds.start, failed.len());
    assert!(failed.is_empty(), "seeds {failed:?}");
}

/// Scripts with a log and with a rollback journal. Every call fails once, and permanently. The power fails or the
/// process is killed after that, and at every step of the script without errors.
#[test]
fn campaign_store_survives_a_fault_at_every_call() {
    vfs::install();
    // All of them in a campaign; one in `stride` in the usual tests.
    let stride = if std::env::var_os("ASSAY_CAMPAIGN_SEEDS").is_some() { 1 } else { 29 };
    let mut faults = 0;
    for (seed, shared) in [(7, true), (8, false)] {
        let plain = worked(seed, None);
        let (calls, events) = (plain.world.borrow().calls, plain.log());
        assert!(plain.shared == shared && calls > 100 && events > 100, "{calls} calls, {events} events");
        for at in (2..=events).step_by(stride) {
            faults += 2;
            plain.judge(at, None);
            plain.judge(at, Some(at as u64));
        }
        for from in (0..calls).step_by(stride) {
            faults += 8;
            for refusal in [Refusal::Io, Refusal::NoSpace] {
                for count in [1, usize::MAX / 2] {
                    let case = worked(seed, Some(Fault { from, count, refusal }));
                    case.judge(case.log(), None);
                    case.judge(case.log(), Some(from as u64));
                }
            }
        }
    }
    println!("store: {faults} faults at every call, 0 failed");
}
