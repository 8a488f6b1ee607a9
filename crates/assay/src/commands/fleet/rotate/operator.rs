//! What a person does between two turns, and whether it was done.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use assay_analysis::plan::{ExperimentPlan, Move, PlanTurn};
use assay_core::text::harmless;
use assay_engine::Control;

use crate::cli::FleetRunArgs;
use crate::failure::Failure;
use crate::{output, system};

/// Between two looks at whether the user interrupts.
const TICK: Duration = Duration::from_millis(100);

/// Who moves units.
pub(super) struct Operator {
    asks: bool,
    /// Programs read what the command says.
    silent: bool,
}

impl Operator {
    pub(super) fn new(args: &FleetRunArgs) -> Self {
        let silent = args.json || args.events;
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { asks: terminal && !silent && !args.quiet, silent }
    }

    /// Whether somebody can be asked.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Shows a text of several lines.
    pub(super) fn shows(&self, text: &str) -> Result<(), Failure> {
        if self.silent { Ok(()) } else { output::print(text) }
    }

    /// Waits until the user confirms the moves. Without a terminal it returns `false` at once and prints the command that continues.
    pub(super) fn confirms(&mut self, run: &str, control: &Control) -> Result<bool, Failure> {
        let later = if run.is_empty() { String::new() } else { format!("assay fleet run --resume {run}") };
        if !self.asks {
            if !later.is_empty() {
                self.shows(&format!("When it is done: {later}\n"))?;
            }
            return Ok(false);
        }
        let later = if later.is_empty() { String::new() } else { format!(", and later {later}") };
        // What was typed while nothing was asked is no answer.
        system::forget_typed();
        output::tell_wrapped(&format!("Press Enter when it is done, or Ctrl-C{later}."));
        let _ = std::io::stderr().flush();
        let (sender, answer) = channel();
        let read = move || {
            let mut line = String::new();
            let _ = sender.send(std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0));
        };
        let begun = std::thread::Builder::new().spawn(read);
        begun.map_err(|error| Failure::environment(format!("no thread: {error}")))?;
        loop {
            match answer.recv_timeout(TICK) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
                Err(RecvTimeoutError::Timeout) if control.stopped() => {
                    return Err(Failure::interrupted("interrupted; what was measured is kept"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// The moves before a turn, a line each. `places` has the node of each slot.
pub(super) fn text(
    plan: &ExperimentPlan,
    places: &BTreeMap<&str, &str>,
    from: Option<PlanTurn>,
    to: PlanTurn,
    moves: &[Move],
) -> String {
    let wave = if plan.waves() > 1 { format!(", wave {} of {}", to.wave, plan.waves()) } else { String::new() };
    let head = format!("Round {} of {}{wave} of plan {}", to.round, plan.rounds(), plan.label());
    if moves.is_empty() {
        return format!("{head}: nothing is moved.\n");
    }
    let place = |slot: &str| match places.get(slot) {
        Some(node) if *node != slot => format!("{node} (slot {slot})"),
        _ => slot.to_owned(),
    };
    let names: Vec<String> = moves.iter().map(|one| format!("{} unit {}", one.model, one.unit)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let line = |(one, name): (&Move, &String)| {
        let what = match (&one.from, &one.to) {
            (Some(from), Some(to)) => format!("from {} to {}", place(from), place(to)),
            (Some(from), None) => format!("out of {}", place(from)),
            (None, Some(to)) => format!("into {}", place(to)),
            (None, None) => "stays out".to_owned(),
        };
        harmless(&format!("  [ ] {name:width$}  {what}")) + "\n"
    };
    let lines: String = moves.iter().zip(&names).map(line).collect();
    let done = if from.is_some() { "move" } else { "put" };
    format!("{head}: {done} before it begins\n{lines}")
}

#[cfg(test)]
mod tests {
    use assay_analysis::plan::{Moves, PlanRequest, Roster, Slots};

    use super::*;

    fn one(unit: &str, from: Option<&str>, to: Option<&str>) -> Move {
        let text = |slot: Option<&str>| slot.map(str::to_owned);
        Move { model: "EVO".to_owned(), unit: unit.to_owned(), from: text(from), to: text(to) }
    }

    #[test]
    fn each_move_is_a_line_to_tick_off() {
        let (text_of_suite, suite) = crate::suites::checked("smoke").unwrap();
        let request = PlanRequest {
            roster: &Roster::inline("EVO=1,10", "--units").unwrap(),
            slots: &Slots::parse("a,b", "--slots").unwrap(),
            rounds: 2,
            moves: Moves::EachRound,
            suite: &suite,
            suite_source: "smoke",
            suite_text: &text_of_suite,
            handling_minutes: 1.0,
            seed: None,
        };
        let plan = ExperimentPlan::new(&request).unwrap();
        let moves = [one("1", Some("a"), None), one("10", Some("b"), Some("a")), one("3\u{1b}", None, Some("b"))];
        let places = BTreeMap::from([("a", "node1"), ("b", "b")]);
        let now = PlanTurn { round: 1, wave: 1 };
        let said = text(&plan, &places, Some(now), PlanTurn { round: 2, ..now }, &moves);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], format!("Round 2 of 2 of plan {}: move before it begins", plan.label()));
        assert_eq!(lines[1], "  [ ] EVO unit 1   out of node1 (slot a)");
        assert_eq!(lines[2], "  [ ] EVO unit 10  from b to node1 (slot a)");
        assert!(lines[3].ends_with("into b") && !said.contains('\u{1b}'), "{said}");
        assert!(text(&plan, &places, None, now, &[]).contains("nothing is moved"));
    }
}
