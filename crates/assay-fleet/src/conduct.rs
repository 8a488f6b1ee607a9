//! A run from its start to its end: nodes are started and followed, and what became of each is written down.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::record::Record;
use assay_engine::Control;

use crate::accept::{Accepted, Home, RecordClaim, Way};
use crate::coordinator::{Coordinator, Expected, Keep};
use crate::error::FleetError;
use crate::event_queue::{CoordinatorEvent, CoordinatorEvents};
use crate::key::RunKey;
use crate::launch::{FarEnd, Launch, Launched, Launcher, NodeEnd, NodeGroup, NodePlace, Tunnel};
use crate::ledger::{Fate, Ledger, NodeEntry};
use crate::meeting::{MeetingRules, Mode};
use crate::message::Build;
use crate::system;
use crate::transport::Endpoint;

/// How often it is looked for launchers that ended.
const TICK: Duration = Duration::from_millis(100);
/// How long a launcher whose node is done may take to end.
const ENDING: Duration = Duration::from_secs(10);
/// The same of Ansible.
const TIDYING: Duration = Duration::from_secs(60);

/// How a run is conducted.
#[derive(Debug)]
pub struct Conduct {
    /// Where nodes find this machine, where the user says so.
    pub listen: Option<SocketAddr>,
    /// How long nodes may take until they are ready.
    pub ready_within: Duration,
    /// How many nodes have to be ready at least; none for more than half of them.
    pub quorum: Option<u32>,
    /// The program that nodes must have.
    pub build: Build,
    /// How nodes get their suite.
    pub suite: SuiteHandover,
    /// Where records come.
    pub home: Home,
}

/// Something that happens in a run. Nodes are numbered as they were given to [`conduct`].
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// There is no private socket: the coordinator listens at an address that other users of this machine can connect to.
    OpenAddress(SocketAddr),
    /// Nodes are started.
    Started,
    /// The coordinator tells something.
    Coordinator(&'a CoordinatorEvent),
    /// A node is started once more, as its ssh server makes no socket: the tunnel ends in a port there.
    ByPort(usize),
    /// A node has ended. The first that is known of it stands, unless it is only that the node was late.
    Over(usize, &'a Fate),
}

/// Receives the events of a run, and saves its state.
pub trait Audience {
    /// Something happened.
    fn happened(&mut self, event: &RunEvent<'_>);

    /// The ledger has changed.
    fn changed(&mut self, ledger: &Ledger);

    /// Some time has passed.
    fn tick(&mut self);
}

/// Has these nodes of a run measure, and follows them to their end; their records, by their numbers in the run.
///
/// # Errors
/// Where nothing could be begun.
pub fn conduct(
    how: Conduct,
    ledger: &mut Ledger,
    nodes: Vec<usize>,
    audience: &mut dyn Audience,
    control: &Control,
) -> Result<BTreeMap<usize, Record>, FleetError> {
    Participants::begin(how, ledger, nodes, audience)?.follow(control)
}

/// Nodes under way.
struct Participants<'a> {
    ledger: &'a mut Ledger,
    /// Index in the ledger of each node, by its number at the coordinator.
    numbers: Vec<usize>,
    coordinator: Coordinator,
    coordinator_events: CoordinatorEvents,
    start: Start,
    /// Launchers at work, each with the numbers of its nodes.
    launched: Vec<(Vec<usize>, Launched)>,
    joined: Vec<bool>,
    records: Arc<Mutex<BTreeMap<usize, Record>>>,
    audience: &'a mut dyn Audience,
    /// When launchers were last looked at.
    looked: Instant,
}

impl<'a> Participants<'a> {
    fn begin(
        how: Conduct,
        ledger: &'a mut Ledger,
        numbers: Vec<usize>,
        audience: &'a mut dyn Audience,
    ) -> Result<Self, FleetError> {
        let launcher = Launcher::of_run(ledger)?;
        let mode = ledger.at_a_time.map_or(Mode::Simultaneous, Mode::Staggered);
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut rules = MeetingRules { ready_within: how.ready_within, ..MeetingRules::new(mode, count) };
        rules.quorum = how.quorum.unwrap_or(rules.quorum);
        allow_descriptors(numbers.len())?;
        let key = RunKey::new().map_err(FleetError::NoRandom)?;
        let nodes = numbers.iter().map(|n| (ledger.nodes[*n].name.clone(), ledger.nodes[*n].attempts)).collect();
        let expected = Expected {
            run: ledger.run.clone(),
            key: key.clone(),
            build: how.build,
            nodes,
            rules,
            settled: ledger.settled.clone(),
        };
        let records = Arc::default();
        let keep = keep(&expected, how.home, Arc::clone(&records));
        let (coordinator, coordinator_events) = listen(how.listen, launcher, expected, keep, audience)?;
        let endpoint = coordinator.endpoint().clone();
        let start = Start { launcher, key, endpoint, suite: how.suite, by_port: BTreeSet::new() };
        let all: Vec<usize> = (0..numbers.len()).collect();
        let mut launched = Vec::new();
        for NodeGroup { places, launched: begun } in start.start(ledger, &numbers, &all)? {
            match begun {
                Ok(process) => launched.push((places, process)),
                Err(error) => {
                    let end = start.failed(&error, &ledger.program);
                    for number in places {
                        ledger.nodes[numbers[number]].fate = Some(Fate::before(&end, ""));
                        coordinator.give_up(number);
                    }
                }
            }
        }
        let (joined, looked) = (vec![false; numbers.len()], Instant::now());
        Ok(Self {
            ledger,
            numbers,
            coordinator,
            coordinator_events,
            start,
            launched,
            joined,
            records,
            audience,
            looked,
        })
    }

    /// Follows the run to its end.
    fn follow(mut self, control: &Control) -> Result<BTreeMap<usize, Record>, FleetError> {
        self.audience.happened(&RunEvent::Started);
        while self.numbers.iter().any(|node| self.ledger.nodes[*node].fate.is_none()) {
            match self.coordinator_events.recv_timeout(TICK) {
                _ if control.stopped() => self.interrupt(),
                Ok(happening) => self.happened(happening),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_for_ends();
            self.audience.tick();
        }
        // Ansible removes on each node what it put there for a task.
        let ansible = self.ledger.inventory.is_some();
        self.wait_for_launchers(if ansible { TIDYING } else { ENDING });
        self.looked = Instant::now().checked_sub(TICK).unwrap_or(self.looked);
        self.look_for_ends();
        self.launched.iter_mut().for_each(|(_, launched)| launched.ask_to_end());
        self.wait_for_launchers(ENDING);
        Ok(std::mem::take(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Ends all nodes. Later messages of theirs are ignored.
    fn interrupt(&mut self) {
        self.coordinator.end("the run was interrupted");
        for node in self.numbers.clone() {
            self.ledger.nodes[node].fate.get_or_insert(Fate::Interrupted);
        }
        self.audience.changed(self.ledger);
    }

    fn wait_for_launchers(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end && self.launched.iter_mut().any(|(_, launched)| launched.ended().is_none()) {
            std::thread::sleep(TICK);
        }
    }

    fn happened(&mut self, happening: CoordinatorEvent) {
        self.audience.happened(&RunEvent::Coordinator(&happening));
        match happening {
            CoordinatorEvent::Joined(number) => self.joined[number] = true,
            CoordinatorEvent::Settled(settled, _) => {
                self.ledger.settled = Some(settled);
                self.audience.changed(self.ledger);
            }
            CoordinatorEvent::Recorded(number, id) => {
                let fate = match self.records.lock().unwrap_or_else(PoisonError::into_inner).get(&number) {
                    Some(record) => Fate::of_record(record),
                    None => Fate::Recorded { id },
                };
                self.decide(number, fate);
            }
            CoordinatorEvent::NotTaken(number, reason) => self.decide(number, Fate::NotTaken { reason }),
            CoordinatorEvent::Late(number) => self.decide(number, Fate::Late),
            CoordinatorEvent::TooFew(_) => {
                for number in 0..self.numbers.len() {
                    self.decide(number, Fate::TooFew);
                }
            }
            CoordinatorEvent::Left(number, reason) => {
                let said = self.last_line(number);
                let reason = if said.is_empty() { reason } else { format!("{reason}; it said last: {said}") };
                self.decide(number, Fate::Lost { reason });
            }
            CoordinatorEvent::Offered(..)
            | CoordinatorEvent::Ready(..)
            | CoordinatorEvent::Goes(..)
            | CoordinatorEvent::Live(..)
            | CoordinatorEvent::Refused(..)
            | CoordinatorEvent::Skipped(_) => {}
        }
    }

    /// The first that is known of a node stands, unless it is only that the node was late.
    fn decide(&mut self, number: usize, fate: Fate) {
        let node = self.numbers[number];
        if self.ledger.nodes[node].fate.as_ref().is_none_or(|known| fate.explains(known)) {
            self.audience.happened(&RunEvent::Over(number, &fate));
            self.ledger.nodes[node].fate = Some(fate);
            self.audience.changed(self.ledger);
        }
    }

    /// A launcher that ended before its node came.
    fn look_for_ends(&mut self) {
        if self.looked.elapsed() < TICK {
            return;
        }
        self.looked = Instant::now();
        let (mut over, mut again) = (Vec::new(), Vec::new());
        for (numbers, launched) in &mut self.launched {
            for (place, number) in numbers.iter().enumerate().filter(|(_, number)| !self.joined[**number]) {
                let undecided = matches!(self.ledger.nodes[self.numbers[*number]].fate, None | Some(Fate::Late));
                let Some(end) = undecided.then(|| launched.node_ended(place)).flatten() else { continue };
                if launched.makes_no_socket(place) && !self.start.by_port.contains(number) {
                    again.push(*number);
                } else {
                    over.push((*number, Fate::before(&end, &launched.last_line(place))));
                }
            }
        }
        over.extend(again.into_iter().filter_map(|number| Some((number, self.start_by_port(number)?))));
        for (number, fate) in over {
            self.coordinator.give_up(number);
            self.decide(number, fate);
        }
    }

    /// Starts a node once more, whose side makes no socket for the tunnel: by a port there. What became of it, where that fails.
    fn start_by_port(&mut self, number: usize) -> Option<Fate> {
        self.audience.happened(&RunEvent::ByPort(number));
        self.start.by_port.insert(number);
        self.launched.retain(|(numbers, _)| numbers != &[number]);
        let failed = |error: &std::io::Error| Fate::before(&self.start.failed(error, &self.ledger.program), "");
        match self.start.start(self.ledger, &self.numbers, &[number]).map(|mut groups| groups.pop()) {
            Ok(Some(NodeGroup { places, launched: Ok(process) })) => self.launched.push((places, process)),
            Ok(Some(NodeGroup { launched: Err(error), .. })) => return Some(failed(&error)),
            Ok(None) => return Some(failed(&std::io::ErrorKind::NotFound.into())),
            Err(error) => return Some(failed(&std::io::Error::other(error.to_string()))),
        }
        None
    }

    /// The last line that is known of a node.
    fn last_line(&self, number: usize) -> String {
        let find = |(numbers, launched): &(Vec<usize>, Launched)| {
            numbers.iter().position(|own| *own == number).map(|place| launched.last_line(place))
        };
        self.launched.iter().find_map(find).unwrap_or_default()
    }
}

/// Takes records that nodes hand over into the store of this machine.
fn keep(expected: &Expected, home: Home, records: Arc<Mutex<BTreeMap<usize, Record>>>) -> Keep {
    let nodes = expected.nodes.clone();
    Box::new(move |number, document| {
        let (name, attempt) = &nodes[number];
        let claim = RecordClaim { node: name, way: Way::HandedOver { attempt: *attempt } };
        let record = home.accept(&claim, document).map(Accepted::record)?;
        let id = record.id.clone();
        records.lock().unwrap_or_else(PoisonError::into_inner).insert(number, record);
        Ok(id)
    })
}

/// Listens where the user says; otherwise where no other user of this machine comes, as far as nodes come through it.
fn listen(
    wanted: Option<SocketAddr>,
    launcher: Launcher,
    expected: Expected,
    keep: Keep,
    audience: &mut dyn Audience,
) -> Result<(Coordinator, CoordinatorEvents), FleetError> {
    let failed = |address: String| move |error| FleetError::Listen { address, error };
    if let Some(address) = wanted.or_else(|| listens(launcher)) {
        return Coordinator::listen(address, expected, keep).map_err(failed(address.to_string()));
    }
    let listening = Coordinator::listen_here(expected, keep).map_err(failed("127.0.0.1".to_owned()))?;
    if let Endpoint::Address(address) = listening.0.endpoint() {
        audience.happened(&RunEvent::OpenAddress(*address));
    }
    Ok(listening)
}

// How nodes are started: their command line, their suite, and where they find the coordinator.

/// Arguments of `assay run` on all nodes. Those of a single node follow.
#[must_use]
pub fn node_arguments(ledger: &Ledger) -> Vec<String> {
    let mut arguments = vec!["run".to_owned(), "--quiet".to_owned()];
    arguments.extend(ledger.arguments.iter().cloned());
    if let Some(rotation) = &ledger.rotation {
        let (plan, round) = (format!("plan={}", rotation.plan), format!("round={}", rotation.round));
        arguments.extend(["--label", &plan, "--label", &round].map(str::to_owned));
    }
    arguments.extend(["--label", &format!("fleet={}", ledger.run), "--fleet-run", &ledger.run].map(str::to_owned));
    arguments
}

/// The suite of a turn of a plan, as nodes get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SuiteHandover {
    /// It is named by the other arguments.
    Named,
    /// It is a file of this machine.
    File(PathBuf),
    /// Its text is handed over.
    Text(String),
}

impl SuiteHandover {
    /// The arguments that name it.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Self::Named => Vec::new(),
            Self::File(path) => vec!["--suite".to_owned(), path.to_string_lossy().into_owned()],
            Self::Text(_) => ["--suite", "-"].map(str::to_owned).to_vec(),
        }
    }

    /// What it reads.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Named | Self::File(_) => None,
        }
    }
}

/// How nodes are started, also once more.
pub(super) struct Start {
    pub(super) launcher: Launcher,
    pub(super) key: RunKey,
    pub(super) endpoint: Endpoint,
    pub(super) suite: SuiteHandover,
    /// Nodes whose tunnel ends in a port there.
    pub(super) by_port: BTreeSet<usize>,
}

impl Start {
    /// Starts `some` of the nodes; groups have their numbers.
    pub(super) fn start(
        &self,
        ledger: &Ledger,
        numbers: &[usize],
        some: &[usize],
    ) -> Result<Vec<NodeGroup>, FleetError> {
        let places: Result<Vec<NodePlace>, FleetError> =
            some.iter().map(|number| self.place(ledger, numbers, *number)).collect();
        let launch = Launch {
            run: &ledger.run,
            program: &ledger.program,
            arguments: [node_arguments(ledger), self.suite.words()].concat(),
            suite: self.suite.text(),
            key: &self.key,
            places: places?,
            inventory: ledger.inventory.as_ref(),
        };
        let groups = self.launcher.start(&launch).into_iter();
        let numbered =
            |group: NodeGroup| NodeGroup { places: group.places.iter().map(|at| some[*at]).collect(), ..group };
        Ok(groups.map(numbered).collect())
    }

    /// Where a node is, and where it finds the coordinator.
    fn place(&self, ledger: &Ledger, numbers: &[usize], number: usize) -> Result<NodePlace, FleetError> {
        let NodeEntry { name, target, cell, .. } = &ledger.nodes[numbers[number]];
        let port = || FarEnd::Port(remote_port(&ledger.run, number));
        let far = match &ledger.inventory {
            // A task may run as another user than the one who logs in, or through a connection that was there before.
            Some(inventory) => inventory.routes.get(name).is_some_and(|route| route.ssh).then(port),
            None if self.launcher != Launcher::Ssh => None,
            None if self.by_port.contains(&number) => Some(port()),
            None => Some(FarEnd::socket().map_err(FleetError::NoRandom)?),
        };
        let (rendezvous, tunnel) = joined_at(far, &self.endpoint);
        Ok(NodePlace { node: name.clone(), target: target.clone(), rendezvous, tunnel, cell: cell.clone() })
    }

    /// What a node came to that could not be started.
    pub(super) fn failed(&self, error: &std::io::Error, program: &str) -> NodeEnd {
        let words = match self.launcher {
            Launcher::Local => format!("{program}: {error}"),
            Launcher::Ssh => format!("ssh: {error}"),
            Launcher::Slurm | Launcher::Ansible => error.to_string(),
        };
        // What a shell would say of a program that it does not find.
        let code = (error.kind() == std::io::ErrorKind::NotFound).then_some(127);
        NodeEnd { words, code, reached: self.launcher == Launcher::Local }
    }
}

// How nodes reach the coordinator: where it listens, through which tunnel, and by how many open files.

/// The port at the far end of a tunnel: one for each node, because two nodes may be one host, and this machine another.
pub(crate) fn remote_port(run: &str, number: usize) -> u16 {
    // Above those that servers have, below those that clients are given (32768 on Linux).
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    let seed = run.bytes().fold(7u32, |seed, byte| seed.wrapping_mul(31).wrapping_add(u32::from(byte)));
    let port = FIRST + seed.wrapping_add(u32::try_from(number).unwrap_or(0)) % COUNT;
    u16::try_from(port).unwrap_or(u16::MAX)
}

/// Where a node finds the coordinator, and through which tunnel; `far` is the end that a node has there that ssh reaches.
pub(super) fn joined_at(far: Option<FarEnd>, endpoint: &Endpoint) -> (String, Option<Tunnel>) {
    match (endpoint, far) {
        (Endpoint::Address(address), _) if address.ip().is_unspecified() => {
            (format!("{}:{}", assay_device::host_name(), address.port()), None)
        }
        // What listens for others is reached without a tunnel.
        (Endpoint::Address(address), _) if !address.ip().is_loopback() => (address.to_string(), None),
        (endpoint, Some(far)) => (far.rendezvous(), Some(Tunnel { far, near: endpoint.clone() })),
        (endpoint, None) => (endpoint.to_string(), None),
    }
}

/// Where to listen if nothing is said: nodes of Slurm have no tunnel. None for those that come through this machine.
pub(super) fn listens(launcher: Launcher) -> Option<SocketAddr> {
    match launcher {
        Launcher::Local | Launcher::Ssh | Launcher::Ansible => None,
        Launcher::Slurm => Some(([0, 0, 0, 0], 0).into()),
    }
}

// Open files for many nodes.

/// A connection has two, and a launcher of a node a pipe to it and one from it.
const DESCRIPTORS_PER_NODE: u64 = 4;
/// What the program itself needs, generously.
const OWN_DESCRIPTORS: u64 = 128;

/// Raises the soft limit as far as the nodes need: it is 1,024 on most systems.
pub(super) fn allow_descriptors(nodes: usize) -> Result<(), FleetError> {
    let wanted = OWN_DESCRIPTORS + DESCRIPTORS_PER_NODE * nodes as u64;
    let Err(most) = system::allow_open_files(wanted) else { return Ok(()) };
    Err(FleetError::OpenFiles { nodes, wanted, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_nodes_share_a_far_port() {
        let mut ports: Vec<u16> = (0..1000).map(|number| remote_port("0ycb7vf5h0", number)).collect();
        ports.sort_unstable();
        ports.dedup();
        assert!(ports.len() == 1000 && ports[0] >= 20_000 && ports[999] < 32_000, "{ports:?}");
    }

    #[test]
    fn a_tunnel_is_for_what_listens_here_alone() {
        let at = |address: &str| Endpoint::Address(address.parse().unwrap());
        let (here, open) = (at("127.0.0.1:5000"), at("10.0.0.1:5000"));
        let far = || Some(FarEnd::Port(20_001));
        let tunnel = Some(Tunnel { far: FarEnd::Port(20_001), near: here.clone() });
        assert_eq!(joined_at(far(), &here), ("127.0.0.1:20001".to_owned(), tunnel));
        assert_eq!(joined_at(far(), &open), ("10.0.0.1:5000".to_owned(), None));
        assert_eq!(joined_at(None, &here), ("127.0.0.1:5000".to_owned(), None));
        let (any, _) = joined_at(None, &at("0.0.0.0:5000"));
        assert!(any.ends_with(":5000") && !any.starts_with("0.0.0.0"), "{any}");
        let private = Endpoint::Socket("/tmp/x/meet".into());
        assert_eq!(joined_at(None, &private), ("/tmp/x/meet".to_owned(), None));
        let (there, tunnel) = joined_at(Some(FarEnd::Socket("/tmp/a.sock".to_owned())), &private);
        assert_eq!((there.as_str(), tunnel.unwrap().near), ("/tmp/a.sock", private));
    }

    #[cfg(not(windows))]
    #[test]
    fn more_than_the_system_gives_is_refused_in_a_line() {
        allow_descriptors(1).unwrap();
        use rustix::process::{Resource, getrlimit};
        let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX - 1);
        if let Ok(nodes) = usize::try_from(hard / DESCRIPTORS_PER_NODE) {
            let refused = allow_descriptors(nodes).unwrap_err();
            assert!(refused.to_string().contains("open files"), "{refused}");
        }
    }
}
