//! Nodes under way: started, followed to their end, and what became of each written down.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::record::Record;
use assay_engine::Control;

use super::start::{Start, SuiteHandover, allow_descriptors, listens};
use crate::accept::{Accepted, Home, RecordClaim, Way};
use crate::coordinator::{Coordinator, Expected, Keep};
use crate::error::FleetError;
use crate::event_queue::{CoordinatorEvent, CoordinatorEvents};
use crate::key::RunKey;
use crate::launch::{Launched, Launcher, NodeGroup};
use crate::ledger::{Fate, Ledger};
use crate::meeting::{MeetingRules, Mode};
use crate::program::Build;
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
                let reason = if said.is_empty() { reason } else { said };
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
