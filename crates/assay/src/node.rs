//! This program as a node of a run: how it begins with the other nodes, and its store meanwhile.
//!
//! The store is a directory of its own in the data directory. It is gone once the record was handed over; what was not handed
//! over goes to the user's store.

use std::fs::{File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_analysis::result_of;
use assay_core::event::{Event, EventKind};
use assay_core::observation::Observation;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_device::owned::Directory;
use assay_engine::Control;
use assay_fleet::{
    Appointment, Asked, Criteria, Joining, LONGEST_NAME, LiveLine, Node, NodeClock, NodeKey, NotKept, RecordClaim, Way,
    check_name, is_misplaced, mark_misplaced,
};
use assay_runner::{Rendezvous, remove_abandoned};
use assay_store::{Keeper, Kept, RunState, Spool, SqliteStore, Store, Summary, new_id, store_files};
use jiff::Timestamp;

use crate::cli::{TogetherArgs, own_build};
use crate::ending::Failure;
use crate::output;
use crate::progress::Progress;
use crate::recorder::{Saved, keep_finished};
use crate::state::{self, DataDirectory, REPORTS};
use crate::system::is_at;

/// Where the key is looked for that no file holds.
pub(crate) const KEY: &str = "ASSAY_FLEET_KEY";
/// Further away than this a start is a mistake.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// With whom a run begins.
pub(crate) enum Together {
    /// Without other nodes.
    Alone,
    /// At a time of day.
    At(Appointment),
    /// With the other nodes of a run on a cluster.
    Nodes(Box<Node>),
}

impl Together {
    /// Joins the others, where the arguments name any.
    pub(crate) fn join(args: &TogetherArgs, control: &Control) -> Result<Self, Failure> {
        if let Some(time) = args.start_at {
            return appointment(time).map(Self::At);
        }
        let (Some(address), Some(node), Some(run)) = (&args.rendezvous, &args.node, &args.fleet_run) else {
            return Ok(Self::Alone);
        };
        check_name("--node", node)?;
        check_name("--fleet-run", run)?;
        let joining = Joining {
            address: address.clone(),
            run: run.clone(),
            node: node.clone(),
            key: key(args)?,
            build: own_build(),
            clock: NodeClock::default(),
        };
        let node = Node::join(&joining, control).map_err(|error| {
            Failure::environment(harmless(&format!(
                "this node cannot take part in run {run}: {error}; nothing was measured"
            )))
        })?;
        Ok(Self::Nodes(Box::new(node)))
    }

    /// What the runner is to ask.
    pub(crate) fn rendezvous(&mut self) -> Option<&mut dyn Rendezvous> {
        match self {
            Self::Alone => None,
            Self::At(appointment) => Some(appointment),
            Self::Nodes(node) => Some(node.as_mut()),
        }
    }

    /// Has the coordinator told what is shown here.
    pub(crate) fn reported_by<'a>(&self, progress: Box<dyn Progress + 'a>) -> Box<dyn Progress + 'a> {
        match self {
            Self::Nodes(node) => Box::new(LiveReporter { live: node.live(), shown: progress, repeats: (0, 1) }),
            Self::Alone | Self::At(_) => progress,
        }
    }

    /// Hands over what an earlier attempt of this node came to, if that was complete and its coordinator did not take it; the
    /// identity of the record.
    /// One of another medium than the one that is to be there is marked, and the node measures.
    pub(crate) fn hand_over_earlier(&mut self, no_save: bool) -> Option<String> {
        let Self::Nodes(node) = self else { return None };
        let mut store = state::existing().ok().flatten().filter(|_| !no_save)?;
        let (run, name) = node.takes_part_in();
        // What another version measured is not what was asked for now.
        let asked = Some(Asked { version: env!("CARGO_PKG_VERSION").to_owned(), suite: None });
        let criteria = Criteria { run: run.to_owned(), asked, guard: None };
        let complete = |record: &Record| {
            let way = Way::Fetched { id: &record.id, attempts: None };
            let own = criteria.judge(&RecordClaim { node: name, way }, record).is_ok();
            let whole = record.cluster.as_deref().is_some_and(|part| part.lost.is_none());
            own && whole && result_of(&Observation::from(record)).is_ok() && !is_misplaced(record)
        };
        let ids = store.resolve(&format!("fleet={run} node={name}")).ok()?;
        let found = ids.iter().filter_map(|id| store.load(id).ok()).map(|stored| stored.record).filter(complete);
        for mut record in found.collect::<Vec<_>>() {
            let document = record.to_json().ok()?;
            let Err(why) = node.deliver_earlier(document.as_bytes()) else { return Some(record.id) };
            let words = format!("warning: the coordinator did not take record {} ({why})", record.id);
            output::tell_wrapped(&harmless(&words));
            if !matches!(why, NotKept::Misplaced(_)) {
                return Some(record.id);
            }
            mark_misplaced(&mut record);
            if let Err(error) = store.save(&record, RunState::Finished) {
                output::tell_wrapped(&harmless(&format!("warning: {error}; record {} is not marked", record.id)));
            }
        }
        None
    }

    /// Hands the record over, and says whether it is with the coordinator. Where that fails it is here alone, to be fetched.
    /// One of another medium than the one that is to be there is marked, and kept so.
    pub(crate) fn deliver(&mut self, record: &mut Record, keeper: Option<&mut Keeper>) -> bool {
        let Self::Nodes(node) = self else { return false };
        let document = record.to_json().map_err(|error| NotKept::Other(error.to_string()));
        let Err(why) = document.and_then(|document| node.deliver(document.as_bytes())) else { return true };
        let words =
            format!("warning: the coordinator did not take the record ({why}); assay show {} has it", record.id);
        output::tell_wrapped(&harmless(&words));
        if let (NotKept::Misplaced(_), Some(keeper)) = (why, keeper) {
            mark_misplaced(record);
            if let Saved::Later(reason) | Saved::No(reason) = keep_finished(keeper, record) {
                output::tell_wrapped(&format!("warning: {reason}"));
            }
        }
        false
    }
}

fn key(args: &TogetherArgs) -> Result<NodeKey, Failure> {
    let (text, place) = match &args.rendezvous_key {
        Some(path) => {
            let shown = output::shown(path);
            let mut text = String::new();
            let read = File::open(path).and_then(|file| file.take(1024).read_to_string(&mut text));
            read.map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
            (text, shown)
        }
        None => match std::env::var(KEY) {
            Ok(text) => (text, KEY.to_owned()),
            Err(_) => {
                return Err(Failure::usage(format!(
                    "--rendezvous needs the key of the node in {KEY}, or in a file named by --rendezvous-key"
                )));
            }
        },
    };
    NodeKey::from_hex(&text).ok_or_else(|| Failure::usage(format!("{place} holds no key: 64 hexadecimal digits")))
}

fn appointment(time: Timestamp) -> Result<Appointment, Failure> {
    let left = time.duration_since(Timestamp::now());
    match Duration::try_from(left) {
        Ok(left) if left <= LONGEST_WAIT => Ok(Appointment::after(left)),
        Ok(_) => Err(Failure::usage(format!("--start-at {time} is more than seven days away"))),
        Err(_) => Err(Failure::usage(format!("--start-at {time} is in the past"))),
    }
}

/// Keeps what the node tells the coordinator up to date.
struct LiveReporter<'a> {
    live: LiveLine,
    shown: Box<dyn Progress + 'a>,
    /// Done, and all of them.
    repeats: (u32, u32),
}

impl Progress for LiveReporter<'_> {
    fn event(&mut self, event: &Event) {
        self.shown.event(event);
        let name = |text: &str| text.chars().take(LONGEST_NAME).filter(|c| !c.is_control()).collect::<String>();
        match &event.event {
            EventKind::Phase { phase } => self.live.set(|live| live.doing = name(phase)),
            EventKind::RepeatStarted { workload, done, total, .. } => {
                self.repeats = (*done, (*total).max(1));
                let share = *done as f32 / self.repeats.1 as f32;
                self.live.set(|live| (live.doing, live.done) = (name(workload), share));
            }
            EventKind::Sample { bytes_per_second, p99_ns, temperature_celsius, workload, .. } => {
                self.live.set(|live| {
                    live.doing = name(workload);
                    live.bytes_per_second = Some(*bytes_per_second);
                    (live.p99_ns, live.celsius) = (*p99_ns, *temperature_celsius);
                })
            }
            EventKind::Progress { bytes_per_second, .. } => {
                self.live.set(|live| live.bytes_per_second = Some(*bytes_per_second));
            }
            EventKind::RepeatFinished { .. } => {
                self.live.set(|live| (live.bytes_per_second, live.p99_ns) = (None, None));
            }
            _ => {}
        }
    }

    fn tell(&mut self, line: &str) {
        self.shown.tell(line);
    }
}

/// Where these directories are, in the data directory.
const NODES: &str = "nodes";
/// A file in each that is locked while its run is under way.
const LOCK: &str = "lock";
/// The spool beside a store is empty when the store has taken it in.
const SPOOL: &str = "spool";
/// How long a save waits for other processes.
const BUSY: Duration = Duration::from_secs(5);
/// A command that looks for old directories may take the lock of a new one first, and removes it then.
const TRIES: u32 = 10;

/// The directory of a node under way.
pub(crate) struct NodeStore {
    name: String,
    path: PathBuf,
    /// Held while the run is under way.
    _lock: File,
    handed_over: bool,
}

impl NodeStore {
    /// Makes one.
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut refused = Failure::environment("no directory for the store of this node");
        for _ in 0..TRIES {
            let name = new_id();
            // The one above goes with the last one in it, even while this one is made.
            let made = DataDirectory::made(NODES).and_then(|nodes| {
                let lock = nodes.inside_or_made(&name)?.for_a_lock(LOCK)?;
                Ok((nodes.path(&name), lock))
            });
            let (path, lock) = match made {
                Ok(made) => made,
                Err(failure) => {
                    refused = failure;
                    continue;
                }
            };
            match lock.try_lock() {
                // On a file system without locks no other command can take the directory either.
                Ok(()) | Err(TryLockError::Error(_)) if is_at(&lock, &path.join(LOCK)) => {
                    return Ok(Self { path, name, _lock: lock, handed_over: false });
                }
                _ => {}
            }
        }
        Err(refused)
    }

    /// Its store, with the spool beside it.
    pub(crate) fn keeper(&self) -> Result<Keeper, Failure> {
        Ok(Keeper::open(&self.path)?)
    }

    /// The record is with the coordinator: none has to stay here.
    pub(crate) fn is_handed_over(&mut self) {
        self.handed_over = true;
    }
}

impl Drop for NodeStore {
    fn drop(&mut self) {
        let end = if self.handed_over { Ok(()) } else { move_records(&self.path) };
        if let Err(reason) = end.and_then(|()| remove(&self.name)) {
            output::tell_wrapped(&format!("warning: {}: {reason}", output::shown(&self.path)));
        }
    }
}

/// Takes what killed nodes left into the user's store, and removes their directories and the test files that they left on media;
/// what was removed, in words. Each run and each command on nodes begins so.
pub(crate) fn recover() -> Vec<String> {
    let mut removed = Vec::new();
    let Ok(Some(nodes)) = DataDirectory::existing(NODES) else { return removed };
    for name in nodes.names().unwrap_or_default() {
        let Ok(Some(own)) = nodes.inside(&name) else { continue };
        // A new directory gets its lock first. One without a store was left before anything was measured.
        let Ok(lock) = own.for_a_lock(LOCK) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        let path = nodes.path(&name);
        match move_records(&path).and_then(|()| remove(&name)) {
            Ok(()) => removed.push(format!("{}, the store of a node that was killed", output::shown(&path))),
            Err(reason) => output::tell_wrapped(&format!("warning: {}: {reason}", output::shown(&path))),
        }
    }
    removed
}

/// Takes the records of a node into the user's store.
fn move_records(path: &Path) -> Result<(), String> {
    let words = |error: assay_store::StoreError| error.to_string();
    let mut spool = Spool::in_directory(path);
    let store = match SqliteStore::open_existing(path).map_err(words)? {
        None if spool.waits() => Some(SqliteStore::open(path).map_err(words)?),
        store => store,
    };
    let Some(mut store) = store else { return Ok(()) };
    if spool.waits() {
        store.take_in(&mut spool).map_err(words)?;
    }
    for run in store.abandoned().map_err(words)? {
        let removed = run.scratch.as_deref().map(remove_abandoned).unwrap_or_default();
        let files = if removed.directories > 0 { "; its test file was removed" } else { "" };
        output::tell_wrapped(&format!("run {} of this node was killed{files}", harmless(&run.id)));
    }
    let all = store.list("all").map_err(words)?;
    if all.iter().any(|summary| summary.outcome == Outcome::Running) {
        return Err("a run of another host is under way there".to_owned());
    }
    if all.is_empty() {
        return Ok(());
    }
    let mut keeper = state::keeper().map_err(|failure| failure.message().to_owned())?;
    for summary in all {
        let record = store.load(&summary.id).map_err(words)?.record;
        if let Kept::Nowhere(error, _) = keeper.keep(&record, RunState::Finished, BUSY) {
            return Err(error.to_string());
        }
    }
    Ok(())
}

/// Removes the directory of a node, and those above it that became empty. Other files stay.
fn remove(name: &str) -> Result<(), String> {
    let words = |failure: Failure| failure.message().to_owned();
    let Some(nodes) = DataDirectory::existing(NODES).map_err(words)? else { return Ok(()) };
    let Some(own) = nodes.inside(name).map_err(words)? else { return Ok(()) };
    for file in store_files() {
        own.remove(&file).map_err(words)?;
    }
    // The lock is the last: who takes it finds nothing.
    let _ = std::fs::remove_dir(own.path(SPOOL));
    own.remove(LOCK).map_err(words)?;
    let path = nodes.path(name);
    std::fs::remove_dir(&path).map_err(|error| error.to_string())?;
    for above in path.ancestors().skip(1).take(2) {
        if std::fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

// What this machine keeps of runs on clusters that were begun on other machines.

/// Records in the user's store that this machine measured as the node of this name. `is_own` says of a run whether it was begun
/// here: its records were brought here to stay.
pub(crate) fn records_of(node: &str, is_own: &dyn Fn(&str) -> bool) -> Result<Vec<String>, Failure> {
    let Some(store) = state::existing()? else { return Ok(Vec::new()) };
    let host = assay_device::host_name();
    let is_left = |summary: &Summary| {
        let run = summary.labels.get("fleet");
        summary.host.as_deref() == Some(host.as_str())
            && summary.outcome != Outcome::Running
            && run.is_some_and(|run| !is_own(run))
    };
    let all = store.list(&format!("fleet=* node={node}"))?;
    Ok(all.into_iter().filter(is_left).map(|summary| summary.id).collect())
}

/// Removes records of the user's store; where it is empty after that and nothing else is kept beside it, also its files. What was
/// removed, in words.
pub(crate) fn remove_records(ids: &[String]) -> Result<Vec<String>, Failure> {
    let Some(mut store) = state::existing()?.filter(|_| !ids.is_empty()) else { return Ok(Vec::new()) };
    let reports = DataDirectory::existing(REPORTS)?;
    for id in ids {
        store.remove(id)?;
        reports.as_ref().map_or(Ok(false), |reports| reports.remove(&format!("{id}.html")))?;
    }
    let mut removed = vec![counted(ids.len(), "record")];
    let is_empty = store.list("all")?.is_empty();
    drop(store);
    let path = state::directory()?;
    if is_empty && is_bare(&path)? {
        let data = Directory::open(&path).map_err(|error| Failure::environment(error.to_string()))?;
        for file in store_files() {
            data.unlink(&file).map_err(|error| Failure::environment(error.to_string()))?;
        }
        for empty in [SPOOL, REPORTS] {
            let _ = std::fs::remove_dir(path.join(empty));
        }
        // A directory that the user made for something else has something else in it.
        let _ = std::fs::remove_dir(&path);
        removed.push(format!("{}, which had no other record", output::shown(&path)));
    }
    Ok(removed)
}

/// Whether nothing is in the data directory but a store and empty directories beside it.
fn is_bare(path: &Path) -> Result<bool, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::environment(format!("{} cannot be read: {error}", output::shown(path)));
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        let is_store = store_files().any(|file| name == *file);
        let is_empty = [SPOOL, REPORTS].iter().any(|own| name == **own)
            && std::fs::read_dir(path.join(&name)).is_ok_and(|mut entries| entries.next().is_none());
        if !is_store && !is_empty {
            return Ok(false);
        }
    }
    Ok(true)
}
