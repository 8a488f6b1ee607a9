//! `assay fleet run`

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_engine::{Control, wall_clock};
use assay_fleet::{Coordinator, Entry, Expected, Fate, Happening, Key, Launched, Launcher, Ledger, Mode, Rules, Start};
use assay_store::new_id;
use serde_json::json;

use super::records::{adopt, keep};
use super::told::{arguments, check_arguments, far_port, joined_at};
use super::view::View;
use super::{books, outcome};
use crate::cli::{FleetRunArgs, ViaArg};
use crate::failure::Failure;
use crate::together::check_name;
use crate::{output, signals, state};

/// How often it is looked for launchers that ended.
const TICK: Duration = Duration::from_millis(100);
/// No more strangers than this are told of.
const MOST_REFUSED: usize = 5;
/// How long a launcher whose node is done may take to end.
const ENDING: Duration = Duration::from_secs(10);

pub(super) fn run(args: FleetRunArgs) -> Result<Exit, Failure> {
    let mut ledger = match &args.resume {
        Some(run) => books::find(run)?,
        None => begun(&args)?,
    };
    let _lock = books::lock(&ledger.run)?;
    if args.resume.is_some() {
        // Another process may have had it meanwhile.
        ledger = books::find(&ledger.run)?;
        adopt(&mut ledger)?;
    }
    let missing = ledger.missing();
    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
    if let Some(quorum) = args.quorum.filter(|quorum| *quorum > count) {
        return Err(Failure::usage(format!("--quorum {quorum} is more than the {count} nodes")));
    }
    if let Some(entry) = ledger.nodes.first() {
        check_arguments(&arguments(&ledger, entry, "127.0.0.1:1"))?;
    }
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
    /// When launchers were last looked at.
    looked: Instant,
    /// Strangers that were turned away.
    refused: usize,
    /// The file of the run could not be written.
    unkept: bool,
}

impl<'a> Party<'a> {
    fn begin(args: &FleetRunArgs, ledger: &'a mut Ledger, numbers: Vec<usize>) -> Result<Self, Failure> {
        let launcher = if ledger.via == Launcher::Local.name() { Launcher::Local } else { Launcher::Ssh };
        let mode = ledger.at_a_time.map_or(Mode::Simultaneous, Mode::Staggered);
        let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut rules = Rules { ready_within: args.ready_within, ..Rules::new(mode, count) };
        // Of a resumed run most nodes are done.
        rules.quorum = args.quorum.unwrap_or(if args.resume.is_some() { 1 } else { rules.quorum });
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
            let far = far_port(&ledger.run, number);
            let start = Start {
                node: &entry.name,
                program: &ledger.program,
                arguments: arguments(ledger, entry, &joined_at(launcher, far, address)),
                key: &key,
                ports: (address.port(), far),
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
        let (looked, refused, unkept) = (Instant::now(), 0, false);
        Ok(Self { ledger, numbers, coordinator, happenings, launched, joined, records, view, looked, refused, unkept })
    }

    /// Follows the run to its end.
    fn follow(mut self, control: &Control) -> Result<BTreeMap<usize, Record>, Failure> {
        self.view.say(&format!("run {}: {} nodes are started", self.ledger.run, self.numbers.len()));
        while self.numbers.iter().any(|node| self.ledger.nodes[*node].fate.is_none()) {
            match self.happenings.recv_timeout(TICK) {
                _ if control.stopped() => self.interrupt(),
                Ok(happening) => self.happened(happening),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_for_ends();
            self.view.paint();
        }
        self.wait_for_launchers(ENDING);
        self.launched.iter_mut().flatten().for_each(Launched::ask_to_end);
        self.wait_for_launchers(ENDING);
        if self.unkept {
            books::keep(self.ledger)?;
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
        while Instant::now() < end && self.launched.iter_mut().flatten().any(|launched| launched.ended().is_none()) {
            std::thread::sleep(TICK);
        }
    }

    fn name(&self, number: usize) -> String {
        self.ledger.nodes[self.numbers[number]].name.clone()
    }

    fn happened(&mut self, happening: Happening) {
        match happening {
            Happening::Joined(number) => {
                self.joined[number] = true;
                self.view.joined(number);
            }
            Happening::Goes(nodes, step, _) => {
                let who = if let [one] = nodes.as_slice() { self.name(*one) } else { format!("{} nodes", nodes.len()) };
                self.view.say_plainly(&format!(
                    "{who}: repeat {} of workload {}",
                    u64::from(step.round) + 1,
                    u64::from(step.workload) + 1
                ));
            }
            Happening::Recorded(number, id) => self.recorded(number, id),
            Happening::NotTaken(number, reason) => self.decide(number, Fate::NotTaken { reason }),
            Happening::Late(number) => self.decide(number, Fate::Late),
            Happening::TooFew(_) => {
                for number in 0..self.numbers.len() {
                    self.decide(number, Fate::TooFew);
                }
            }
            Happening::Left(number, reason) => {
                let said = self.launched[number].as_ref().map(Launched::last_line).unwrap_or_default();
                let reason = if said.is_empty() { reason } else { said };
                self.decide(number, Fate::Lost { reason });
            }
            Happening::Refused(from, reason) => {
                self.refused += 1;
                if self.refused <= MOST_REFUSED {
                    self.view.say(&format!("{from} was turned away: {reason}"));
                }
            }
            Happening::Live(number, live) => self.view.live(number, live),
            Happening::Ready(..) => {}
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
            self.ledger.nodes[node].fate = Some(fate);
            self.keep();
        }
    }

    /// The run goes on where its file cannot be written; at the end that is an error.
    fn keep(&mut self) {
        if let Err(failure) = books::keep(self.ledger)
            && !std::mem::replace(&mut self.unkept, true)
        {
            self.view.say(&format!("warning: {}; the run goes on", failure.message()));
        }
    }

    /// A launcher that ended before its node came.
    fn look_for_ends(&mut self) {
        if std::mem::replace(&mut self.looked, Instant::now()).elapsed() < TICK {
            return;
        }
        for number in 0..self.launched.len() {
            let Some(launched) = &mut self.launched[number] else { continue };
            let Some(status) = launched.ended().filter(|_| !self.joined[number]) else { continue };
            let said = launched.last_line();
            let reason = if said.is_empty() { format!("it ended with {status}") } else { said };
            self.coordinator.give_up(number);
            self.decide(number, Fate::Unreachable { reason });
        }
    }
}

fn tell(args: &FleetRunArgs, ledger: &Ledger, records: &BTreeMap<usize, Record>) -> Result<Exit, Failure> {
    let starts = outcome::starts(records);
    if args.json {
        let starts = starts.map(|s| json!({ "n": s.n, "p95_late_ns": s.p95_late_ns, "bound_ns": s.bound_ns }));
        output::print_json(&json!({ "run": ledger, "starts": starts }))?;
    } else {
        output::print(&(output::wrapped(outcome::text(ledger, starts.as_ref()).trim_end(), 80) + "\n"))?;
    }
    let failed = ledger.nodes.iter().any(|entry| matches!(entry.fate, Some(Fate::MediumFailed { .. })));
    let interrupted = ledger.nodes.iter().any(|entry| entry.fate == Some(Fate::Interrupted));
    Ok(match (ledger.missing().is_empty(), interrupted) {
        (true, _) if failed => Exit::Medium,
        (true, _) => Exit::Good,
        (false, true) => Exit::Interrupted,
        (false, false) => Exit::Environment,
    })
}
