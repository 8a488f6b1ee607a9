//! `assay fleet run`

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_engine::{Control, wall_clock};
use assay_fleet::{
    Coordinator, Entry, Expected, Fate, Happening, Keep, Key, Launched, Launcher, Ledger, Mode, Rules, Start,
};
use assay_store::{Keeper, new_id};
use serde_json::json;

use super::view::View;
use super::{books, outcome};
use crate::cli::{FleetRunArgs, ViaArg};
use crate::failure::Failure;
use crate::recorder::{Saved, keep_finished};
use crate::together::check_name;
use crate::{output, signals, state};

/// How often it is looked for launchers that ended.
const TICK: Duration = Duration::from_millis(100);
/// How long a launcher whose node is done may take to end.
const ENDING: Duration = Duration::from_secs(10);

pub(super) fn run(args: FleetRunArgs) -> Result<Exit, Failure> {
    let mut ledger = match &args.resume {
        Some(run) => books::find(run)?,
        None => begun(&args)?,
    };
    let missing = ledger.missing();
    if missing.is_empty() {
        return tell(&args, &ledger, &BTreeMap::new());
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    missing
        .iter()
        .for_each(|node| (ledger.nodes[*node].attempts, ledger.nodes[*node].fate) = next(&ledger.nodes[*node]));
    books::keep(&ledger)?;
    let records = Party::begin(&args, &mut ledger, missing)?.follow(&control)?;
    tell(&args, &ledger, &records)
}

fn next(entry: &Entry) -> (u32, Option<Fate>) {
    (entry.attempts + 1, None)
}

/// A new run by the command line.
fn begun(args: &FleetRunArgs) -> Result<Ledger, Failure> {
    let (mode, at_a_time) = match (args.alone, args.staggered) {
        (true, _) => (Mode::Staggered(1), Some(1)),
        (false, Some(most)) => (Mode::Staggered(most), Some(most)),
        (false, None) => (Mode::Simultaneous, None),
    };
    let mut nodes: Vec<Entry> = Vec::new();
    for node in &args.nodes {
        let (name, target) = node.split_once('=').unwrap_or((node, &args.target));
        check_name("node", name)?;
        if name.starts_with('-') || target.is_empty() {
            return Err(Failure::usage(format!("node {}: NAME or NAME=TARGET", harmless(node))));
        }
        if nodes.iter().any(|entry| entry.name == name) {
            return Err(Failure::usage(format!("node {name} is named twice")));
        }
        nodes.push(Entry { name: name.to_owned(), target: target.to_owned(), attempts: 0, fate: None });
    }
    let own = || {
        let path = std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
        path.into_os_string()
            .into_string()
            .map_err(|_| Failure::usage("the path of this program is no text; use --program"))
    };
    let (via, program) = match args.via {
        ViaArg::Local => (Launcher::Local, own()?),
        ViaArg::Ssh => (Launcher::Ssh, "assay".to_owned()),
    };
    Ok(Ledger {
        version: Ledger::VERSION,
        run: new_id(),
        created: wall_clock(),
        via: via.name().to_owned(),
        mode: mode.name().to_owned(),
        at_a_time,
        program: args.program.clone().unwrap_or(program),
        arguments: args.arguments.clone(),
        nodes,
    })
}

/// Nodes under way.
struct Party<'a> {
    ledger: &'a mut Ledger,
    /// The node of the ledger that each number of the coordinator stands for.
    numbers: Vec<usize>,
    coordinator: Coordinator,
    happenings: Receiver<Happening>,
    launched: Vec<Option<Launched>>,
    joined: Vec<bool>,
    records: Arc<Mutex<BTreeMap<usize, Record>>>,
    view: View,
}

impl<'a> Party<'a> {
    fn begin(args: &FleetRunArgs, ledger: &'a mut Ledger, numbers: Vec<usize>) -> Result<Self, Failure> {
        let launcher = if ledger.via == Launcher::Local.name() { Launcher::Local } else { Launcher::Ssh };
        let mode = ledger.at_a_time.map_or(Mode::Simultaneous, Mode::Staggered);
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut rules = Rules { ready_within: args.ready_within, ..Rules::new(mode, count) };
        // Of a resumed run most nodes are done.
        rules.quorum = args.quorum.unwrap_or(if args.resume.is_some() { 1 } else { rules.quorum });
        if rules.quorum > count {
            return Err(Failure::usage(format!("--quorum {} is more than the {count} nodes", rules.quorum)));
        }
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
        let keep = keep(&expected, state::keeper()?, Arc::clone(&records));
        let listen = args.listen.unwrap_or_else(|| ([127, 0, 0, 1], 0).into());
        let (coordinator, happenings) = Coordinator::listen(listen, expected, keep)
            .map_err(|error| Failure::environment(format!("{listen}: {error}; --listen names another address")))?;
        let address = coordinator.address();
        let mut launched = Vec::new();
        for (number, node) in numbers.iter().enumerate() {
            let entry = &ledger.nodes[*node];
            let start = Start {
                node: &entry.name,
                program: &ledger.program,
                arguments: arguments(ledger, entry, &address.to_string()),
                key: &key,
                port: address.port(),
            };
            let begun = launcher.start(&start);
            if let Err(error) = &begun {
                let reason = format!("{}: {error}", if launcher == Launcher::Ssh { "ssh" } else { &ledger.program });
                ledger.nodes[*node].fate = Some(Fate::Unreachable { reason });
                coordinator.give_up(number);
            }
            launched.push(begun.ok());
        }
        let joined = vec![false; numbers.len()];
        let names: Vec<String> = numbers.iter().map(|node| ledger.nodes[*node].name.clone()).collect();
        let view = View::new(names.into_iter(), args.quiet);
        Ok(Self { ledger, numbers, coordinator, happenings, launched, joined, records, view })
    }

    /// Follows the run to its end.
    fn follow(mut self, control: &Control) -> Result<BTreeMap<usize, Record>, Failure> {
        self.view.say(&format!("run {}: {} nodes are started", self.ledger.run, self.numbers.len()));
        while self.numbers.iter().any(|node| self.ledger.nodes[*node].fate.is_none()) {
            match self.happenings.recv_timeout(TICK) {
                Ok(happening) => self.happened(happening)?,
                Err(RecvTimeoutError::Timeout) => self.look_for_ends()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.view.paint();
            if control.stopped() {
                self.coordinator.end("the run was interrupted");
                for node in self.numbers.clone() {
                    self.ledger.nodes[node].fate.get_or_insert(Fate::Interrupted);
                }
                books::keep(self.ledger)?;
            }
        }
        let end = Instant::now() + ENDING;
        while Instant::now() < end && self.launched.iter_mut().flatten().any(|launched| launched.ended().is_none()) {
            std::thread::sleep(TICK);
        }
        Ok(std::mem::take(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn name(&self, number: usize) -> String {
        self.ledger.nodes[self.numbers[number]].name.clone()
    }

    fn happened(&mut self, happening: Happening) -> Result<(), Failure> {
        match happening {
            Happening::Joined(number) => {
                self.joined[number] = true;
                self.view.joined(number);
            }
            Happening::Goes(nodes, step, _) => {
                let who = if let [one] = nodes.as_slice() { self.name(*one) } else { format!("{} nodes", nodes.len()) };
                self.view.say_plainly(&format!("{who}: repeat {} of workload {}", step.round + 1, step.workload + 1));
            }
            Happening::Recorded(number, id) => self.decide(number, Fate::Recorded { id })?,
            Happening::NotTaken(number, reason) => self.decide(number, Fate::NotTaken { reason })?,
            Happening::Late(number) => self.decide(number, Fate::Late)?,
            Happening::TooFew(_) => {
                for number in 0..self.numbers.len() {
                    self.decide(number, Fate::TooFew)?;
                }
            }
            Happening::Left(number, reason) => {
                let said = self.launched[number].as_ref().map(Launched::last_line).unwrap_or_default();
                let reason = if said.is_empty() { reason } else { said };
                self.decide(number, Fate::Lost { reason })?;
            }
            Happening::Refused(from, reason) => self.view.say(&format!("{from} was turned away: {reason}")),
            Happening::Live(number, live) => self.view.live(number, live),
            Happening::Ready(..) => {}
        }
        Ok(())
    }

    /// The first that is known of a node stands.
    fn decide(&mut self, number: usize, fate: Fate) -> Result<(), Failure> {
        let node = self.numbers[number];
        if self.ledger.nodes[node].fate.is_none() {
            self.view.over(number, &fate);
            self.ledger.nodes[node].fate = Some(fate);
            books::keep(self.ledger)?;
        }
        Ok(())
    }

    /// A launcher that ended before its node came.
    fn look_for_ends(&mut self) -> Result<(), Failure> {
        for number in 0..self.launched.len() {
            let Some(launched) = &mut self.launched[number] else { continue };
            let Some(status) = launched.ended().filter(|_| !self.joined[number]) else { continue };
            let said = launched.last_line();
            let reason = if said.is_empty() { format!("it ended with {status}") } else { said };
            self.coordinator.give_up(number);
            self.decide(number, Fate::Unreachable { reason })?;
        }
        Ok(())
    }
}

/// What `assay run` is told on a node. What the user says comes before, so that it cannot take a node elsewhere.
fn arguments(ledger: &Ledger, entry: &Entry, address: &str) -> Vec<String> {
    let mut arguments = vec!["run".to_owned(), "--quiet".to_owned()];
    arguments.extend(ledger.arguments.iter().cloned());
    let own =
        ["--label", &format!("fleet={}", ledger.run), "--label", &format!("node={}", entry.name)].map(str::to_owned);
    arguments.extend(own);
    let join = ["--rendezvous", address, "--node", &entry.name, "--fleet-run", &ledger.run, "--", &entry.target];
    arguments.extend(join.map(str::to_owned));
    arguments
}

/// Takes records into the store of this machine.
fn keep(expected: &Expected, keeper: Keeper, records: Arc<Mutex<BTreeMap<usize, Record>>>) -> Keep {
    let (run, nodes) = (expected.run.clone(), expected.nodes.clone());
    let keeper = Mutex::new(keeper);
    Box::new(move |number, document| {
        let text = std::str::from_utf8(document).map_err(|_| "it is no text".to_owned())?;
        let record = Record::from_json(text).map_err(|error| format!("it is no record: {error}"))?;
        let (name, attempt) = &nodes[number];
        let own = record.cluster.as_ref().is_some_and(|c| c.run == run && c.node == *name && c.attempt == *attempt);
        if !own {
            return Err("it is a record of something else".to_owned());
        }
        let id = record.id.clone();
        match keep_finished(&mut keeper.lock().unwrap_or_else(PoisonError::into_inner), &record) {
            Saved::Yes | Saved::Later(_) => {}
            Saved::No(reason) => return Err(reason),
        }
        records.lock().unwrap_or_else(PoisonError::into_inner).insert(number, record);
        Ok(id)
    })
}

fn tell(args: &FleetRunArgs, ledger: &Ledger, records: &BTreeMap<usize, Record>) -> Result<Exit, Failure> {
    let starts = outcome::starts(records);
    if args.json {
        let starts = starts.map(|s| json!({ "n": s.n, "p95_late_ns": s.p95_late_ns, "bound_ns": s.bound_ns }));
        output::print_json(&json!({ "run": ledger, "starts": starts }))?;
    } else {
        output::print(&outcome::text(ledger, starts.as_ref()))?;
    }
    let interrupted = ledger.nodes.iter().any(|entry| entry.fate == Some(Fate::Interrupted));
    Ok(match (ledger.missing().is_empty(), interrupted) {
        (true, _) => Exit::Good,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Environment,
    })
}
