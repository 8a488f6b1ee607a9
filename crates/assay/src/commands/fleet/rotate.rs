//! `assay fleet run --rotate`: the turns of an experiment plan, one after the other. Between two of them a person moves units.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use assay_analysis::plan::{ExperimentPlan, Move, PlanTurn, read_plan};
use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::{Fate, FleetError, Guard, Ledger, Rotation, RotationProgress, check_plan_words, places_of, turn_of};

use super::ledgers;
use super::measured::{begun, measured, tell_run};
use crate::cli::FleetRunArgs;
use crate::commands::plan::status_of;
use crate::documents::fleet::{NextTurn, NodeReason, RotationNews};
use crate::ending::Failure;
use crate::{ending, output, state, system};

/// The first turn of a plan.
pub(super) fn begin(args: &FleetRunArgs, file: &Path, control: &Control) -> Result<Exit, Failure> {
    let plan = crate::commands::plan::read(file)?;
    check_plan_words(&args.arguments)?;
    let _lock = ledgers::lock_plan(&plan.label())?;
    if let Some(known) = RotationProgress::from_runs(&plan, ledgers::all()?).turns().first() {
        return Err(Failure::usage(format!(
            "run {0} measures this plan already: assay fleet run --resume {0} goes on with it",
            known.run
        )));
    }
    let ledger = begun(args, control)?;
    let places = places_of(&plan, &ledger)?;
    for idle in ledger.nodes.iter().filter(|node| !places.iter().any(|place| place.node == node.name)) {
        output::tell_wrapped(&format!("{} is in no slot of the plan, and is not measured", idle.name));
    }
    let first = plan.turns().first().copied().unwrap_or(PlanTurn { round: 1, wave: 1 });
    ledgers::keep_plan(&plan.label(), &plan.to_text())?;
    let base = Ledger {
        rotation: Some(Rotation { plan: plan.label(), round: first.round, wave: first.wave, places }),
        ..ledger
    };
    let mut whole = Whole { args, plan, control, person: Operator::new(args) };
    if whole.confirms(&base, None, first)? {
        let next = whole.begin(&base, first)?;
        whole.follow(next)
    } else {
        Ok(Exit::Waiting)
    }
}

/// Goes on with the plan that a run is a turn of.
pub(super) fn go_on(args: &FleetRunArgs, ledger: &Ledger, control: &Control) -> Result<Exit, Failure> {
    let Some(rotation) = &ledger.rotation else { return Err(FleetError::NoTurn.into()) };
    // Held while a person is waited for, too.
    let _lock = ledgers::lock_plan(&rotation.plan)?;
    let plan = begun_plan(&rotation.plan)?;
    let last = RotationProgress::from_runs(&plan, ledgers::all()?).turns().last().unwrap_or(ledger).clone();
    let mut whole = Whole { args, plan, control, person: Operator::new(args) };
    if last.holds_turn() {
        return whole.follow(last);
    }
    match whole.next(&last)? {
        None => whole.ends(&last, &BTreeMap::new()),
        Some(turn) if whole.confirms(&last, Some(turn_of(&last)), turn)? => {
            let next = whole.begin(&last, turn)?;
            whole.follow(next)
        }
        Some(_) => Ok(Exit::Waiting),
    }
}

/// What judges the records of a run; none where it is no turn of a plan.
pub(super) fn guard(ledger: &Ledger) -> Result<Option<Guard>, Failure> {
    let Some(rotation) = &ledger.rotation else { return Ok(None) };
    let plan = begun_plan(&rotation.plan)?;
    let store = state::existing()?;
    Ok(Some(RotationProgress::from_runs(&plan, ledgers::all()?).guard(ledger, store.as_ref())))
}

/// The plan of this label.
fn begun_plan(label: &str) -> Result<ExperimentPlan, Failure> {
    let (text, file) = ledgers::plan(label)?;
    Ok(read_plan(&text, &output::shown(&file))?)
}

/// A plan that is carried out.
struct Whole<'a> {
    args: &'a FleetRunArgs,
    plan: ExperimentPlan,
    control: &'a Control,
    person: Operator,
}

impl Whole<'_> {
    /// Turns one after the other, until a person is needed who is not there.
    fn follow(&mut self, mut ledger: Ledger) -> Result<Exit, Failure> {
        loop {
            if !self.media_are_there(&mut ledger)? {
                return Ok(Exit::Waiting);
            }
            // A turn that was begun before is in its file.
            let resumed = ledger.nodes.iter().any(|node| node.attempts > 0);
            let guard = self.progress()?.guard(&ledger, state::existing()?.as_ref());
            let (done, records) = measured(self.args, ledger, resumed, Some(guard), self.control)?;
            ledger = done;
            if ledger.holds_turn() {
                tell_run(self.args, &ledger, &records, RotationNews::default())?;
                return Ok(ending::of_nodes(ledger.end()));
            }
            tell_given_up(&ledger);
            let Some(next) = self.next(&ledger)? else { return self.ends(&ledger, &records) };
            let moves = self.moves(Some(turn_of(&ledger)), next)?;
            let news = NextTurn { turn: next, moves: moves.clone() };
            tell_run(self.args, &ledger, &records, RotationNews { next: Some(Some(news)), misplaced: None })?;
            let from = turn_of(&ledger);
            self.person.shows(&text(&self.plan, &places(&ledger), Some(from), next, &moves))?;
            if !self.person.confirms(&ledger.run, self.control)? {
                return if self.control.stopped() { Ok(Exit::Interrupted) } else { Ok(Exit::Waiting) };
            }
            ledger = self.begin(&ledger, next)?;
        }
    }

    /// Whether the moves before a turn were made: on a terminal they are listed, and somebody says so; elsewhere the command
    /// itself says so.
    fn confirms(&mut self, ledger: &Ledger, from: Option<PlanTurn>, to: PlanTurn) -> Result<bool, Failure> {
        if !self.person.asks() {
            return Ok(true);
        }
        let moves = self.moves(from, to)?;
        self.person.shows(&text(&self.plan, &places(ledger), from, to, &moves))?;
        self.person.confirms(if from.is_some() { &ledger.run } else { "" }, self.control)
    }

    /// How far the plan is carried out.
    fn progress(&self) -> Result<RotationProgress<'_>, Failure> {
        Ok(RotationProgress::from_runs(&self.plan, ledgers::all()?))
    }

    /// The run of a turn after this one; its suite is written.
    fn begin(&self, before: &Ledger, turn: PlanTurn) -> Result<Ledger, Failure> {
        self.progress()?.begin(before, turn, ledgers::keep_suite)
    }

    fn moves(&self, from: Option<PlanTurn>, to: PlanTurn) -> Result<Vec<Move>, Failure> {
        Ok(self.progress()?.moves(from, to))
    }

    /// The turn after that of a run, in which something can be measured.
    fn next(&self, ledger: &Ledger) -> Result<Option<PlanTurn>, Failure> {
        Ok(self.progress()?.next(ledger))
    }

    /// Whether no medium says that it is another one than the plan wants in its place.
    fn media_are_there(&mut self, ledger: &mut Ledger) -> Result<bool, Failure> {
        loop {
            let store = state::existing()?;
            let wrong = self.progress()?.misplaced(ledger, store.as_ref(), self.control)?;
            if wrong.is_empty() {
                return Ok(true);
            }
            if self.args.json || self.args.events {
                let misplaced = wrong.into_iter().map(|(node, reason)| NodeReason { node, reason }).collect();
                let news = RotationNews { next: None, misplaced: Some(misplaced) };
                tell_run(self.args, ledger, &BTreeMap::new(), news)?;
                return Ok(false);
            }
            let lines: Vec<String> = wrong.iter().map(|(node, reason)| format!("{node}: {reason}")).collect();
            let title =
                format!("Not moved as round {} of the plan requires; nothing is measured.", turn_of(ledger).round);
            self.person.shows(&format!(
                "{title}\n{}\n{}",
                lines.join("\n"),
                self.restore_command(turn_of(ledger).round)
            ))?;
            let run = self.progress()?.turns().last().map_or_else(String::new, |last| last.run.clone());
            if !self.person.confirms(&run, self.control)? {
                return Ok(false);
            }
        }
    }

    /// What can be done where the units are right in this round, and were wrong in the one before.
    fn restore_command(&self, round: usize) -> String {
        let before = round.saturating_sub(1);
        if before == 0 {
            return String::new();
        }
        let words = format!(
            "If the units are in the right slots now, round {before} had them wrong: assay rm 'plan={} round={before}' removes its records, by \
             which this round is judged.",
            self.plan.label()
        );
        output::wrapped(&words, 80) + "\n"
    }

    /// The end of the plan.
    fn ends(&self, ledger: &Ledger, records: &BTreeMap<usize, assay_core::record::Record>) -> Result<Exit, Failure> {
        tell_run(self.args, ledger, records, RotationNews { next: Some(None), misplaced: None })?;
        let label = self.plan.label();
        let turns = self.plan.turns().len();
        let what = if turns == self.plan.rounds() { "rounds" } else { "turns" };
        let status = status_of(&self.plan)?;
        let (cells, missing) = (status.cells.len(), status.missing() + status.given_up());
        let words = if missing == 0 {
            format!("All {turns} {what} of the plan are measured: assay rank plan={label}\n")
        } else {
            let measured = cells - missing;
            format!(
                "All {turns} {what} of the plan are over, and {measured} of {cells} cells have a result: assay plan status {} names the others\n",
                output::shown(&ledgers::plan(&label)?.1)
            )
        };
        self.person.shows(&(output::wrapped(words.trim_end(), 80) + "\n"))?;
        Ok(if self.progress()?.has_failed() { Exit::Medium } else { ending::of_answer(status.complete()) })
    }
}

/// Names the nodes without which a turn goes on.
fn tell_given_up(ledger: &Ledger) {
    for number in ledger.given_up() {
        let entry = &ledger.nodes[number];
        let why = match &entry.fate {
            Some(Fate::Invalid { reason, .. }) => format!(" ({reason})"),
            _ => String::new(),
        };
        output::tell_wrapped(&harmless(&format!(
            "{}: its record is invalid in the second attempt, too{why}; the plan goes on without this cell",
            entry.name
        )));
    }
}

fn places(ledger: &Ledger) -> BTreeMap<&str, &str> {
    let places = ledger.rotation.iter().flat_map(|rotation| &rotation.places);
    places.map(|place| (place.slot.as_str(), place.node.as_str())).collect()
}

// What a person does between two turns, and whether it was done.

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
