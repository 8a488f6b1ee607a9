//! Nodes under way: started, followed to their end, and what became of each written down.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{
    Coordinator, CoordinatorEvent, Entry, Expected, Fate, Group, Key, Launch, Launched, Launcher, Ledger, Mode,
    NodeEnd, Place, Rules,
};

use super::node_arguments::{arguments, handed, joined_at, listens, remote_port};
use super::records::{Guard, keep};
use super::view::View;
use super::{events, ledgers};
use crate::cli::FleetRunArgs;
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
    coordinator_events: Receiver<CoordinatorEvent>,
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
        super::descriptors::allow(numbers.len())?;
        let key = Key::new().map_err(|error| Failure::environment(format!("no random numbers: {error}")))?;
        let nodes = numbers.iter().map(|n| (ledger.nodes[*n].name.clone(), ledger.nodes[*n].attempts)).collect();
        let expected = Expected {
            run: ledger.run.clone(),
            key: key.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            nodes,
            rules,
        };
        let records = Arc::default();
        let keep = keep(&expected, state::keeper()?, Arc::clone(&records), guard);
        let listen = args.listen.unwrap_or_else(|| listens(launcher));
        let (coordinator, coordinator_events) = Coordinator::listen(listen, expected, keep)
            .map_err(|error| Failure::environment(format!("{listen}: {error}; --listen names another address")))?;
        let address = coordinator.address();
        let places = places(ledger, launcher, &numbers, address);
        let suite = handed(ledger, launcher)?;
        let launch = Launch {
            run: &ledger.run,
            program: &ledger.program,
            arguments: [arguments(ledger), suite.words()].concat(),
            suite: suite.text(),
            key: &key,
            port: address.port(),
            places,
            inventory: ledger.inventory.as_ref(),
        };
        let groups = launcher.start(&launch);
        let mut launched = Vec::new();
        for Group { places, launched: begun } in groups {
            match begun {
                Ok(process) => launched.push((places, process)),
                Err(error) => {
                    let words = match launcher {
                        Launcher::Local => format!("{}: {error}", ledger.program),
                        Launcher::Ssh => format!("ssh: {error}"),
                        Launcher::Slurm | Launcher::Ansible => error.to_string(),
                    };
                    // What a shell would say of a program that it does not find.
                    let code = (error.kind() == std::io::ErrorKind::NotFound).then_some(127);
                    let end = NodeEnd { words, code, reached: launcher == Launcher::Local };
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
            self.tell(&events::started(&self.ledger.run, self.numbers.len()));
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
    fn tell(&self, event: &serde_json::Value) {
        let _ = output::print(&assay_core::text::json(&event.to_string()));
    }

    fn happened(&mut self, happening: CoordinatorEvent) {
        if self.events
            && let Some(event) = events::of(&happening, |number| self.name(number))
        {
            self.tell(&event);
        }
        match happening {
            CoordinatorEvent::Joined(number) => {
                self.joined[number] = true;
                self.view.joined(number);
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
            CoordinatorEvent::Ready(..) => {}
        }
    }

    /// How a record ended is how its node did.
    fn recorded(&mut self, number: usize, id: String) {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let fate = match records.get(&number).map(|record| &record.outcome) {
            Some(outcome @ Outcome::Failed { .. }) if outcome.medium_failed() => {
                Fate::MediumFailed { id, reason: outcome.sentence() }
            }
            Some(outcome @ Outcome::Failed { .. }) => Fate::Incomplete { id, reason: outcome.sentence() },
            _ => Fate::Recorded { id },
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
                self.tell(&events::over(&self.name(number), &fate));
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
        let mut over = Vec::new();
        for (numbers, launched) in &mut self.launched {
            for (place, number) in numbers.iter().enumerate().filter(|(_, number)| !self.joined[**number]) {
                let undecided = self.ledger.nodes[self.numbers[*number]].fate.is_none();
                if let Some(end) = undecided.then(|| launched.node_ended(place)).flatten() {
                    over.push((*number, Fate::before(&end, &launched.last_line(place))));
                }
            }
        }
        for (number, fate) in over {
            self.coordinator.give_up(number);
            self.decide(number, fate);
        }
    }

    /// The last line that is known of a node.
    fn last_line(&self, number: usize) -> String {
        let find = |(numbers, launched): &(Vec<usize>, Launched)| {
            numbers.iter().position(|own| *own == number).map(|place| launched.last_line(place))
        };
        self.launched.iter().find_map(find).unwrap_or_default()
    }
}

/// Where the nodes of these numbers are, and where they find the coordinator.
fn places(ledger: &Ledger, launcher: Launcher, numbers: &[usize], address: SocketAddr) -> Vec<Place> {
    let place = |(number, node): (usize, &usize)| {
        let Entry { name, target, cell, .. } = &ledger.nodes[*node];
        let by_ssh = match &ledger.inventory {
            Some(inventory) => inventory.routes.get(name).is_some_and(|route| route.ssh),
            None => launcher == Launcher::Ssh,
        };
        let (rendezvous, remote_port) = joined_at(by_ssh, remote_port(&ledger.run, number), address);
        Place { node: name.clone(), target: target.clone(), rendezvous, remote_port, cell: cell.clone() }
    };
    numbers.iter().enumerate().map(place).collect()
}
