//! Who watches a run on many nodes: people by a view, programs by events; and the file of the run, which is written anew after
//! each change.

use assay_core::units::counted;
use assay_fleet::{Audience, CoordinatorEvent, Fate, Ledger, RunEvent};

use super::ledgers;
use super::view::View;
use super::words::far_below;
use crate::cli::FleetRunArgs;
use crate::documents::fleet::FleetEvent;
use crate::failure::Failure;
use crate::output;

/// Most refused connections that are reported one by one.
const MOST_REFUSED: usize = 5;

/// Who watches.
pub(super) struct Watcher {
    run: String,
    /// Names and targets of the nodes under way.
    nodes: Vec<(String, String)>,
    view: View,
    /// Each thing that happens is a line on standard output.
    events: bool,
    /// Prints nothing for people.
    quiet: bool,
    /// Strangers that were turned away.
    refused: usize,
    /// The file of the run could not be written.
    unkept: bool,
}

impl Watcher {
    /// For these nodes of a run.
    pub(super) fn new(args: &FleetRunArgs, ledger: &Ledger, numbers: &[usize]) -> Self {
        let node = |number: &usize| {
            let entry = &ledger.nodes[*number];
            (entry.name.clone(), entry.target.clone())
        };
        let nodes: Vec<(String, String)> = numbers.iter().map(node).collect();
        Self {
            run: ledger.run.clone(),
            view: View::new(nodes.iter().map(|(name, _)| name.clone()), args.quiet || args.events),
            nodes,
            events: args.events,
            quiet: args.quiet,
            refused: 0,
            unkept: false,
        }
    }

    /// The run went on where its file could not be written; at the end that is an error.
    pub(super) fn end(self, ledger: &Ledger) -> Result<(), Failure> {
        if self.unkept { ledgers::keep(ledger) } else { Ok(()) }
    }

    /// A line on a node.
    fn say_of(&mut self, number: usize, words: &str) {
        let line = format!("{}: {words}", self.nodes[number].0);
        self.view.say(&line);
    }

    /// A reader that went away ends nothing.
    fn tell(&self, event: &FleetEvent<'_>) {
        if self.events {
            let _ = output::print_event(event);
        }
    }

    fn started(&mut self) {
        let nodes = self.nodes.len();
        self.view.say(&format!("run {} on {}", self.run, counted(nodes, "node")));
        self.tell(&FleetEvent::Started { run: &self.run, nodes });
    }

    fn told(&mut self, happening: &CoordinatorEvent) {
        if let Some(event) = FleetEvent::told(happening, |number| self.nodes[number].0.clone()) {
            self.tell(&event);
        }
        match happening {
            CoordinatorEvent::Joined(number) => self.view.joined(*number),
            CoordinatorEvent::Offered(number, mounted) => {
                if let Some(words) = assay_report::fleet::not_mounted(*mounted, &self.nodes[*number].1) {
                    self.say_of(*number, &words);
                }
            }
            CoordinatorEvent::Settled(_, below) => {
                for one in below {
                    self.say_of(one.node, &far_below(&one.loads));
                }
            }
            CoordinatorEvent::Goes(nodes, step, _) => {
                let who = match nodes.as_slice() {
                    [one] => self.nodes[*one].0.clone(),
                    many => format!("{} nodes", many.len()),
                };
                self.view.say_plainly(&format!(
                    "{who}: repeat {} of workload {}",
                    u64::from(step.round) + 1,
                    u64::from(step.workload) + 1
                ));
            }
            CoordinatorEvent::Refused(from, reason) => {
                self.refused += 1;
                if self.refused <= MOST_REFUSED {
                    self.view.say(&format!("{from} was turned away: {reason}"));
                }
            }
            CoordinatorEvent::Live(number, live) => self.view.live(*number, live.clone()),
            // The end of a node is reported once it is decided.
            CoordinatorEvent::Recorded(..)
            | CoordinatorEvent::NotTaken(..)
            | CoordinatorEvent::Late(_)
            | CoordinatorEvent::TooFew(_)
            | CoordinatorEvent::Left(..)
            | CoordinatorEvent::Ready(..)
            | CoordinatorEvent::Skipped(_) => {}
        }
    }

    fn over(&mut self, number: usize, fate: &Fate) {
        self.view.over(number, fate);
        self.tell(&FleetEvent::Over { node: &self.nodes[number].0, fate });
    }
}

impl Audience for Watcher {
    fn happened(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::OpenAddress(address) if !self.quiet => output::tell_wrapped(&format!(
                "no Unix socket could be made in the temporary directory; nodes meet at {address}, which other users of this \
                 machine can connect to"
            )),
            RunEvent::OpenAddress(_) => {}
            RunEvent::Started => self.started(),
            RunEvent::Coordinator(happening) => self.told(happening),
            RunEvent::ByPort(number) => self.say_of(
                *number,
                "its ssh server makes no Unix socket (AllowStreamLocalForwarding); the tunnel ends in a port of its \
                 loopback interface, which other users there can connect to",
            ),
            RunEvent::Over(number, fate) => self.over(*number, fate),
        }
    }

    fn changed(&mut self, ledger: &Ledger) {
        if let Err(failure) = ledgers::keep(ledger)
            && !std::mem::replace(&mut self.unkept, true)
        {
            self.view.say(&format!("warning: {}; the run goes on", failure.message()));
        }
    }

    fn tick(&mut self) {
        self.view.paint();
    }
}
