//! Nodes under way: started, followed to their end, and what became of each written down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::{counted, multiple};
use assay_engine::Control;
use assay_fleet::{
    Coordinator, CoordinatorEvent, CoordinatorEvents, Criteria, Endpoint, Entry, Expected, FarEnd, Fate, Group, Guard,
    Home, Keep, Launch, Launched, Launcher, Ledger, Mode, NodeEnd, Place, Rules, RunKey,
};

use super::ledgers;
use super::nodes::{SuiteHandover, handed_suite, joined_at, listens, node_arguments, remote_port};
use super::records::{asked, keep};
use super::view::View;
use crate::cli::FleetRunArgs;
use crate::documents::fleet::FleetEvent;
use crate::failure::Failure;
use crate::{output, state};

/// How often it is looked for launchers that ended.
const TICK: Duration = Duration::from_millis(100);
/// No more strangers than this are told of.
const MOST_REFUSED: usize = 5;
/// How long a launcher whose node is done may take to end.
const ENDING: Duration = Duration::from_secs(10);
/// The same of Ansible.
const TIDYING: Duration = Duration::from_secs(60);

/// Nodes under way.
pub(super) struct Participants<'a> {
    ledger: &'a mut Ledger,
    /// The node of the ledger that each number of the coordinator stands for.
    numbers: Vec<usize>,
    coordinator: Coordinator,
    coordinator_events: CoordinatorEvents,
    start: Start,
    /// Launchers at work, each with the numbers of its nodes.
    launched: Vec<(Vec<usize>, Launched)>,
    joined: Vec<bool>,
    records: Arc<Mutex<BTreeMap<usize, Record>>>,
    view: View,
    /// When launchers were last looked at.
    looked: Instant,
    /// Strangers that were turned away.
    refused: usize,
    /// The file of the run could not be written.
    unkept: bool,
    /// Each thing that happens is a line on standard output.
    events: bool,
}

impl<'a> Participants<'a> {
    pub(super) fn begin(
        args: &FleetRunArgs,
        ledger: &'a mut Ledger,
        numbers: Vec<usize>,
        resumed: bool,
        guard: Option<Guard>,
    ) -> Result<Self, Failure> {
        let launcher = Launcher::of_name(&ledger.via).ok_or_else(|| {
            Failure::environment(format!("nodes of this run are started by {}", harmless(&ledger.via)))
        })?;
        let mode = ledger.at_a_time.map_or(Mode::Simultaneous, Mode::Staggered);
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut rules = Rules { ready_within: args.ready_within, ..Rules::new(mode, count) };
        // Of a resumed run most nodes are done.
        rules.quorum = args.quorum.unwrap_or(if resumed { 1 } else { rules.quorum });
        super::nodes::allow_descriptors(numbers.len())?;
        let key = RunKey::new().map_err(|error| Failure::environment(format!("no random numbers: {error}")))?;
        let nodes = numbers.iter().map(|n| (ledger.nodes[*n].name.clone(), ledger.nodes[*n].attempts)).collect();
        let expected = Expected {
            run: ledger.run.clone(),
            key: key.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nodes,
            rules,
            settled: ledger.settled.clone(),
        };
        let records = Arc::default();
        let criteria = Criteria { run: ledger.run.clone(), asked: Some(asked(ledger, launcher)), guard };
        let keep = keep(&expected, Home::of(criteria, state::keeper()?)?, Arc::clone(&records));
        let (coordinator, coordinator_events) = listen(args, launcher, expected, keep)?;
        let suite = handed_suite(ledger, launcher)?;
        let start = Start { launcher, key, endpoint: coordinator.endpoint().clone(), suite, by_port: BTreeSet::new() };
        let all: Vec<usize> = (0..numbers.len()).collect();
        let mut launched = Vec::new();
        for Group { places, launched: begun } in start.start(ledger, &numbers, &all)? {
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
        let joined = vec![false; numbers.len()];
        let names: Vec<String> = numbers.iter().map(|node| ledger.nodes[*node].name.clone()).collect();
        let view = View::new(names.into_iter(), args.quiet || args.events);
        let (looked, refused, unkept) = (Instant::now(), 0, false);
        let events = args.events;
        Ok(Self {
            events,
            ledger,
            numbers,
            coordinator,
            coordinator_events,
            start,
            launched,
            joined,
            records,
            view,
            looked,
            refused,
            unkept,
        })
    }

    /// Follows the run to its end.
    pub(super) fn follow(mut self, control: &Control) -> Result<BTreeMap<usize, Record>, Failure> {
        let (nodes, are) = (self.numbers.len(), if self.numbers.len() == 1 { "is" } else { "are" });
        self.view.say(&format!("run {}: {} {are} started", self.ledger.run, counted(nodes, "node")));
        if self.events {
            self.tell(&FleetEvent::Started { run: &self.ledger.run, nodes: self.numbers.len() });
        }
        while self.numbers.iter().any(|node| self.ledger.nodes[*node].fate.is_none()) {
            match self.coordinator_events.recv_timeout(TICK) {
                _ if control.stopped() => self.interrupt(),
                Ok(happening) => self.happened(happening),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_for_ends();
            self.view.paint();
        }
        // Ansible removes on each node what it put there for a task.
        let ansible = self.ledger.inventory.is_some();
        self.wait_for_launchers(if ansible { TIDYING } else { ENDING });
        self.launched.iter_mut().for_each(|(_, launched)| launched.ask_to_end());
        self.wait_for_launchers(ENDING);
        if self.unkept {
            ledgers::keep(self.ledger)?;
        }
        Ok(std::mem::take(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Nodes are told to end, and what they say after that is no news.
    fn interrupt(&mut self) {
        self.coordinator.end("the run was interrupted");
        for node in self.numbers.clone() {
            self.ledger.nodes[node].fate.get_or_insert(Fate::Interrupted);
        }
        self.keep();
    }

    fn wait_for_launchers(&mut self, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end && self.launched.iter_mut().any(|(_, launched)| launched.ended().is_none()) {
            std::thread::sleep(TICK);
        }
    }

    fn name(&self, number: usize) -> String {
        self.ledger.nodes[self.numbers[number]].name.clone()
    }

    /// A reader that went away ends nothing.
    fn tell(&self, event: &FleetEvent<'_>) {
        let _ = output::print_event(event);
    }

    fn happened(&mut self, happening: CoordinatorEvent) {
        if self.events
            && let Some(event) = FleetEvent::told(&happening, |number| self.name(number))
        {
            self.tell(&event);
        }
        match happening {
            CoordinatorEvent::Joined(number) => {
                self.joined[number] = true;
                self.view.joined(number);
            }
            CoordinatorEvent::Offered(number, mounted) => {
                let target = &self.ledger.nodes[self.numbers[number]].target;
                if let Some(words) = assay_report::fleet::not_mounted(mounted, target) {
                    let line = format!("{}: {words}", self.name(number));
                    self.view.say(&line);
                }
            }
            CoordinatorEvent::Settled(settled, below) => {
                for one in &below {
                    let line = format!("{}: {}", self.name(one.node), far_below(&one.loads));
                    self.view.say(&line);
                }
                self.ledger.settled = Some(settled);
                self.keep();
            }
            CoordinatorEvent::Goes(nodes, step, _) => {
                let who = if let [one] = nodes.as_slice() { self.name(*one) } else { format!("{} nodes", nodes.len()) };
                self.view.say_plainly(&format!(
                    "{who}: repeat {} of workload {}",
                    u64::from(step.round) + 1,
                    u64::from(step.workload) + 1
                ));
            }
            CoordinatorEvent::Recorded(number, id) => self.recorded(number, id),
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
            CoordinatorEvent::Refused(from, reason) => {
                self.refused += 1;
                if self.refused <= MOST_REFUSED {
                    self.view.say(&format!("{from} was turned away: {reason}"));
                }
            }
            CoordinatorEvent::Live(number, live) => self.view.live(number, live),
            CoordinatorEvent::Ready(..) | CoordinatorEvent::Skipped(_) => {}
        }
    }

    /// How a record ended is how its node did.
    fn recorded(&mut self, number: usize, id: String) {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let fate = match records.get(&number) {
            Some(record) => Fate::of_record(id, &record.outcome),
            None => Fate::Recorded { id },
        };
        drop(records);
        self.decide(number, fate);
    }

    /// The first that is known of a node stands.
    fn decide(&mut self, number: usize, fate: Fate) {
        let node = self.numbers[number];
        if self.ledger.nodes[node].fate.is_none() {
            self.view.over(number, &fate);
            if self.events {
                self.tell(&FleetEvent::Over { node: &self.name(number), fate: &fate });
            }
            self.ledger.nodes[node].fate = Some(fate);
            self.keep();
        }
    }

    /// The run goes on where its file cannot be written; at the end that is an error.
    fn keep(&mut self) {
        if let Err(failure) = ledgers::keep(self.ledger)
            && !std::mem::replace(&mut self.unkept, true)
        {
            self.view.say(&format!("warning: {}; the run goes on", failure.message()));
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
                let undecided = self.ledger.nodes[self.numbers[*number]].fate.is_none();
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
        self.view.say(&format!(
            "{}: its ssh server makes no Unix socket (AllowStreamLocalForwarding); the tunnel ends in a port of its loopback \
             interface, which other users there can connect to",
            self.name(number)
        ));
        self.start.by_port.insert(number);
        self.launched.retain(|(numbers, _)| numbers != &[number]);
        let failed = |error: &std::io::Error| Fate::before(&self.start.failed(error, &self.ledger.program), "");
        match self.start.start(self.ledger, &self.numbers, &[number]).map(|mut groups| groups.pop()) {
            Ok(Some(Group { places, launched: Ok(process) })) => self.launched.push((places, process)),
            Ok(Some(Group { launched: Err(error), .. })) => return Some(failed(&error)),
            Ok(None) => return Some(failed(&std::io::ErrorKind::NotFound.into())),
            Err(failure) => return Some(failed(&std::io::Error::other(failure.message().to_owned()))),
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

/// The line about a node of another pace than the others: its workloads, each with its operations over theirs.
fn far_below(loads: &[(usize, Option<f64>)]) -> String {
    let ratio = |ratio: &Option<f64>| ratio.map_or_else(String::new, |ratio| format!(" ({} times)", multiple(ratio)));
    let each: Vec<String> = loads.iter().map(|(at, of)| format!("{}{}", at + 1, ratio(of))).collect();
    format!("by a first look far below the others under workload {}; it runs what they run", each.join(", "))
}

/// How nodes are started, also once more.
struct Start {
    launcher: Launcher,
    key: RunKey,
    endpoint: Endpoint,
    suite: SuiteHandover,
    /// Nodes whose tunnel ends in a port there.
    by_port: BTreeSet<usize>,
}

impl Start {
    /// Starts `some` of the nodes; groups have their numbers.
    fn start(&self, ledger: &Ledger, numbers: &[usize], some: &[usize]) -> Result<Vec<Group>, Failure> {
        let places: Result<Vec<Place>, Failure> =
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
        let numbered = |group: Group| Group { places: group.places.iter().map(|at| some[*at]).collect(), ..group };
        Ok(groups.map(numbered).collect())
    }

    /// Where a node is, and where it finds the coordinator.
    fn place(&self, ledger: &Ledger, numbers: &[usize], number: usize) -> Result<Place, Failure> {
        let Entry { name, target, cell, .. } = &ledger.nodes[numbers[number]];
        let port = || FarEnd::Port(remote_port(&ledger.run, number));
        let far = match &ledger.inventory {
            // A task may run as another user than the one who logs in, or through a connection that was there before.
            Some(inventory) => inventory.routes.get(name).is_some_and(|route| route.ssh).then(port),
            None if self.launcher != Launcher::Ssh => None,
            None if self.by_port.contains(&number) => Some(port()),
            None => {
                Some(FarEnd::socket().map_err(|error| Failure::environment(format!("no random numbers: {error}")))?)
            }
        };
        let (rendezvous, tunnel) = joined_at(far, &self.endpoint);
        Ok(Place { node: name.clone(), target: target.clone(), rendezvous, tunnel, cell: cell.clone() })
    }

    /// What a node came to that could not be started.
    fn failed(&self, error: &std::io::Error, program: &str) -> NodeEnd {
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

/// Listens where the command line says; otherwise where no other user of this machine comes, as far as nodes come through it.
fn listen(
    args: &FleetRunArgs,
    launcher: Launcher,
    expected: Expected,
    keep: Keep,
) -> Result<(Coordinator, CoordinatorEvents), Failure> {
    if let Some(address) = args.listen.or_else(|| listens(launcher)) {
        return Coordinator::listen(address, expected, keep)
            .map_err(|error| Failure::environment(format!("{address}: {error}; --listen names another address")));
    }
    let listening = Coordinator::listen_here(expected, keep)
        .map_err(|error| Failure::environment(format!("127.0.0.1: {error}; --listen names another address")))?;
    if let Endpoint::Address(address) = listening.0.endpoint()
        && !args.quiet
    {
        output::tell_wrapped(&format!(
            "no Unix socket could be made in the temporary directory; nodes meet at {address}, which other users of this \
             machine can connect to"
        ));
    }
    Ok(listening)
}
