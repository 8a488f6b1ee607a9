//! A run that begins with those of other nodes.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use assay_analysis::result_of;
use assay_core::event::{Event, EventKind};
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::{
    Appointment, Asked, Criteria, Joining, LONGEST_NAME, LiveLine, Node, NodeClock, NodeKey, NotKept, RecordClaim, Way,
    check_name, is_misplaced, mark_misplaced,
};
use assay_runner::Rendezvous;
use assay_store::{Keeper, RunState, Store};
use jiff::Timestamp;

use crate::cli::{TogetherArgs, own_build};
use crate::ending::Failure;
use crate::progress::Progress;
use crate::recorder::{Saved, keep_finished};
use crate::{output, state};

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
