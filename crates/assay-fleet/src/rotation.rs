//! Runs that are turns of an experiment plan: between two of them a person moves units from slot to slot.

use std::path::PathBuf;
use std::time::Duration;

use assay_analysis::plan::{ExperimentPlan, Move, PlanTurn, ScheduledUnit, SeenMedium, misplaced};
use assay_core::record::Record;
use assay_core::suite::Suite;
use assay_engine::{Control, wall_clock};
use assay_store::{SqliteStore, Store, new_id};
use serde_json::{Value, json};

use crate::accept::Guard;
use crate::error::FleetError;
use crate::inventory::Ansible;
use crate::launch::Launcher;
use crate::ledger::{Fate, Ledger, NodeEntry, Rotation, RotationPlace};
use crate::remote::{RemoteNode, each_at_once};
use crate::settle::Settled;

/// A plan, and its turns that were begun.
#[derive(Debug)]
pub struct RotationProgress<'a> {
    pub(super) plan: &'a ExperimentPlan,
    /// In their order.
    pub(super) turns: Vec<Ledger>,
}

/// A unit that failed.
struct Failed {
    model: String,
    unit: String,
    turn: PlanTurn,
}

impl<'a> RotationProgress<'a> {
    /// Of a plan, by all runs that are known.
    #[must_use]
    pub fn from_runs(plan: &'a ExperimentPlan, runs: Vec<Ledger>) -> Self {
        let (label, mut turns) = (plan.label(), runs);
        turns.retain(|ledger| ledger.rotation.as_ref().is_some_and(|rotation| rotation.plan == label));
        turns.sort_by_key(turn_of);
        Self { plan, turns }
    }

    /// The runs that are turns of the plan, in their order.
    #[must_use]
    pub fn turns(&self) -> &[Ledger] {
        &self.turns
    }

    /// Whether a unit failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.failed().is_empty()
    }

    /// Units that failed: they are not measured again.
    fn failed(&self) -> Vec<Failed> {
        let mut all = Vec::new();
        for ledger in &self.turns {
            let failed = ledger.nodes.iter().filter(|entry| matches!(entry.fate, Some(Fate::MediumFailed { .. })));
            for cell in failed.filter_map(|entry| entry.cell.as_ref()) {
                all.push(Failed { model: cell.model.clone(), unit: cell.unit.clone(), turn: turn_of(ledger) });
            }
        }
        all
    }

    /// The turn after that of a run, in which something can be measured.
    #[must_use]
    pub fn next(&self, ledger: &Ledger) -> Option<PlanTurn> {
        let (now, failed) = (turn_of(ledger), self.failed());
        let left = |turn: &PlanTurn| self.plan.cells_of(*turn).any(|cell| !is_of(cell, &failed));
        self.plan.turns().into_iter().filter(|turn| *turn > now).find(left)
    }

    /// What is moved before a turn. A unit that failed is taken out where it was, and goes nowhere.
    #[must_use]
    pub fn moves(&self, from: Option<PlanTurn>, to: PlanTurn) -> Vec<Move> {
        let failed = self.failed();
        let mut moves = self.plan.moves_between(from, to);
        for one in &mut moves {
            if let Some(known) = failed.iter().find(|known| known.model == one.model && known.unit == one.unit) {
                one.to = None;
                // Before later turns it is out already.
                one.from = one.from.take().filter(|_| from == Some(known.turn));
            }
        }
        moves.retain(|one| one.from.is_some() || one.to.is_some());
        // Places are made free first.
        moves.sort_by_key(|one| one.to.is_some());
        moves
    }

    /// The run of a turn, which is begun as the one before it, without the units that failed. `keeps` is given its identity and the
    /// text of its suite, and returns the file that has the text.
    ///
    /// # Errors
    /// Where the run before is no turn, or the plan has no such turn; and those of `keeps`.
    pub fn begin<E: From<FleetError>>(
        &self,
        before: &Ledger,
        turn: PlanTurn,
        keeps: impl FnOnce(&str, &str) -> Result<PathBuf, E>,
    ) -> Result<Ledger, E> {
        let Some(rotation) = &before.rotation else { return Err(FleetError::NoTurn.into()) };
        let entry = |cell: &ScheduledUnit| {
            let place = rotation.places.iter().find(|place| place.slot == cell.slot)?;
            let (model, unit, slot) = (cell.model.clone(), cell.unit.clone(), cell.slot.clone());
            let cell = crate::ledger::NodeUnit { model, unit, slot };
            Some(NodeEntry { cell: Some(cell), ..NodeEntry::new(&place.node, &place.target) })
        };
        let suite_of = |turn: PlanTurn| self.plan.order_of(turn).and_then(|order| self.plan.session(order));
        let suite = suite_of(turn).ok_or(FleetError::NoOrder)?;
        let settled = before.settled.as_ref().zip(suite_of(turn_of(before)));
        let failed = self.failed();
        let mut ledger = Ledger {
            settled: settled.and_then(|(settled, earlier)| in_order(settled, &earlier, &suite)),
            run: new_id(),
            created: wall_clock(),
            rotation: Some(Rotation { round: turn.round, wave: turn.wave, ..rotation.clone() }),
            nodes: self.plan.cells_of(turn).filter(|cell| !is_of(cell, &failed)).filter_map(entry).collect(),
            ..before.clone()
        };
        let file = keeps(&ledger.run, &suite.to_text())?;
        if let Some(inventory) = &mut ledger.inventory {
            // Of their own, as the inventory may have options, too.
            let (plan, round) = (format!("plan={}", rotation.plan), format!("round={}", turn.round));
            let labels = ["--label", &plan, "--label", &round];
            inventory.variables.insert("assay_plan_options".to_owned(), json!(labels));
            inventory.variables.insert("assay_suite".to_owned(), json!(file.to_string_lossy()));
        }
        Ok(ledger)
    }
}

/// Whether a cell is that of one of these units.
fn is_of(cell: &ScheduledUnit, units: &[Failed]) -> bool {
    units.iter().any(|one| one.model == cell.model && one.unit == cell.unit)
}

/// The loads of an earlier round for one that has them in another order; `None` where it has others.
fn in_order(settled: &Settled, earlier: &Suite, now: &Suite) -> Option<Settled> {
    let at = |name: &str| earlier.workloads.iter().position(|workload| workload.name == name);
    let loads: Option<Vec<_>> =
        now.workloads.iter().map(|workload| settled.loads.get(at(&workload.name)?).copied()).collect();
    Some(Settled { loads: loads?, ..settled.clone() })
}

// A run as a turn of a plan.

/// The turn that a run is.
#[must_use]
pub fn turn_of(ledger: &Ledger) -> PlanTurn {
    let (round, wave) = ledger.rotation.as_ref().map_or((1, 1), |rotation| (rotation.round, rotation.wave));
    PlanTurn { round, wave }
}

/// Refuses arguments of `assay run` that the plan has for each session.
///
/// # Errors
/// [`FleetError::PlanHasSuite`] or [`FleetError::PlanHasLabel`]
pub fn check_plan_words(words: &[String]) -> Result<(), FleetError> {
    let own = |word: &str| ["model=", "unit=", "slot=", "round=", "plan="].iter().any(|key| word.starts_with(key));
    let mut before = "";
    for word in words {
        let label = word.strip_prefix("--label=").or((before == "--label").then_some(word.as_str()));
        if word == "--suite" || word.starts_with("--suite=") {
            return Err(FleetError::PlanHasSuite);
        }
        if label.is_some_and(own) {
            return Err(FleetError::PlanHasLabel(word.clone()));
        }
        before = word;
    }
    Ok(())
}

/// The nodes as slots of the plan: by the slot of the inventory, or else by their names.
///
/// # Errors
/// Where a slot has no node, or two.
pub fn places_of(plan: &ExperimentPlan, ledger: &Ledger) -> Result<Vec<RotationPlace>, FleetError> {
    let slot_of = |entry: &NodeEntry| {
        let route = ledger.inventory.as_ref().and_then(|inventory| inventory.routes.get(&entry.name));
        route.map(|route| route.slot.clone()).filter(|slot| !slot.is_empty()).unwrap_or_else(|| entry.name.clone())
    };
    let mut places = Vec::new();
    for slot in plan.slots() {
        let mut nodes = ledger.nodes.iter().filter(|entry| slot_of(entry).eq_ignore_ascii_case(slot));
        let Some(entry) = nodes.next() else {
            let (slots, inventory) = (plan.slots().to_vec(), ledger.inventory.is_some());
            return Err(FleetError::EmptySlot { slot: slot.clone(), slots, inventory });
        };
        if let Some(other) = nodes.next() {
            let (first, second) = (entry.name.clone(), other.name.clone());
            return Err(FleetError::SharedSlot { slot: slot.clone(), first, second });
        }
        let (node, target) = (entry.name.clone(), entry.target.clone());
        places.push(RotationPlace { node, target, slot: slot.clone() });
    }
    Ok(places)
}

// Whether media are where the plan wants them: by what they say of themselves, and by records.

/// Longest answer about a medium, in bytes.
const ANSWER: u64 = 1 << 20;
/// How long it may take.
const WITHIN: Duration = Duration::from_secs(60);

impl RotationProgress<'_> {
    /// Nodes whose medium is not the one that the plan wants there, with the reason; what media say of themselves is kept in the
    /// ledger. Slurm's nodes are judged by their records alone, and those of Ansible in the first turn, before which nothing is known.
    ///
    /// # Errors
    /// Where nodes cannot be asked.
    pub fn misplaced(
        &self,
        ledger: &mut Ledger,
        store: Option<&SqliteStore>,
        control: &Control,
    ) -> Result<Vec<(String, String)>, FleetError> {
        let mut seen = self.seen_before(ledger, store);
        if seen.is_empty() && ledger.inventory.is_some() {
            return Ok(Vec::new());
        }
        let numbers = ledger.missing();
        let missing: Vec<&NodeEntry> = numbers.iter().map(|node| &ledger.nodes[*node]).collect();
        let found = asked(ledger, &missing, control)?;
        for (number, identity) in numbers.iter().zip(&found) {
            ledger.nodes[*number].medium.clone_from(identity);
        }
        let ledger = &*ledger;
        let missing = numbers.iter().map(|node| &ledger.nodes[*node]);
        let here: Vec<(&NodeEntry, &ScheduledUnit, String)> = missing
            .zip(found)
            .filter_map(|(entry, identity)| Some((entry, cell(self.plan, ledger, entry)?, identity?)))
            .collect();
        seen.extend(here.iter().map(|(_, cell, identity)| SeenMedium::in_cell(cell, identity)));
        let judged = here
            .iter()
            .filter_map(|(entry, cell, identity)| Some((entry.name.clone(), misplaced(&seen, cell, identity)?)));
        Ok(judged.collect())
    }

    /// Refuses the record of a medium that is another one than the plan wants there.
    #[must_use]
    pub fn guard(&self, ledger: &Ledger, store: Option<&SqliteStore>) -> Guard {
        let seen = self.seen_before(ledger, store);
        let cells: Vec<(String, ScheduledUnit)> = ledger
            .nodes
            .iter()
            .filter_map(|entry| Some((entry.name.clone(), cell(self.plan, ledger, entry)?.clone())))
            .collect();
        Box::new(move |node, record: &Record| {
            let cell = cells.iter().find(|(name, _)| name == node).map(|(_, cell)| cell);
            let reason = cell.zip(record.medium.unit.as_deref()).and_then(|(cell, own)| misplaced(&seen, cell, own));
            reason.map_or(Ok(()), Err)
        })
    }

    /// The identities of media in all other turns that were measured, as far as their records are here.
    fn seen_before(&self, now: &Ledger, store: Option<&SqliteStore>) -> Vec<SeenMedium> {
        let Some(store) = store else { return Vec::new() };
        let mut all = Vec::new();
        for ledger in self.turns.iter().filter(|ledger| turn_of(ledger) != turn_of(now)) {
            for entry in &ledger.nodes {
                let id = entry.fate.as_ref().filter(|fate| fate.is_result()).and_then(Fate::record);
                let Some((id, cell)) = id.zip(cell(self.plan, ledger, entry)) else { continue };
                // A removed record was found wrong by the user.
                let Ok(stored) = store.load(id) else { continue };
                if let Some(identity) = entry.medium.clone().or(stored.record.medium.unit) {
                    all.push(SeenMedium::in_cell(cell, &identity));
                }
            }
        }
        all
    }
}

/// The cell of a node in the turn of its run.
fn cell<'a>(plan: &'a ExperimentPlan, ledger: &Ledger, entry: &NodeEntry) -> Option<&'a ScheduledUnit> {
    let own = entry.cell.as_ref()?;
    plan.cells_of(turn_of(ledger))
        .find(|cell| cell.slot == own.slot && cell.unit == own.unit && cell.model == own.model)
}

/// What the media in these nodes say of themselves now; none where a node or its medium says nothing.
fn asked(ledger: &Ledger, nodes: &[&NodeEntry], control: &Control) -> Result<Vec<Option<String>>, FleetError> {
    let launcher = match Launcher::of_name(&ledger.via) {
        Some(launcher @ (Launcher::Local | Launcher::Ssh)) => launcher,
        Some(Launcher::Ansible) => return by_ansible(ledger, nodes, control),
        Some(Launcher::Slurm) | None => return Ok(vec![None; nodes.len()]),
    };
    each_at_once(nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let said = remote.call(&[&ledger.program, "info", "--json", "--", &entry.target], ANSWER, WITHIN).ok()?;
        let said: Value = serde_json::from_slice(&said.out).ok()?;
        said["medium"]["unit"].as_str().map(str::to_owned)
    })
}

/// By the playbook `check`, whose events say what the medium of each node is.
fn by_ansible(ledger: &Ledger, nodes: &[&NodeEntry], control: &Control) -> Result<Vec<Option<String>>, FleetError> {
    let mut found = vec![None; nodes.len()];
    let Some(inventory) = &ledger.inventory else { return Ok(found) };
    let ansible = Ansible::from_inventory(inventory, control)?;
    let hosts = ansible.hosts()?;
    let hosts: Vec<_> = hosts.into_iter().filter(|host| nodes.iter().any(|entry| entry.name == host.name)).collect();
    ansible.play("check", &hosts, inventory.variables.clone(), &mut |event| {
        let Some(at) = nodes.iter().position(|entry| entry.name == event.node) else { return };
        if let Some(report) = event.facts.get("node_report") {
            found[at] = report["medium"]["unit"].as_str().map(str::to_owned);
        }
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use assay_analysis::plan::{Moves, PlanRequest, Roster, Slots};

    use super::*;
    use crate::meeting::Mode;

    fn planned() -> ExperimentPlan {
        let text = include_str!("../../../suites/smoke.toml");
        let suite = Suite::parse(text, "smoke.toml").unwrap();
        let request = PlanRequest {
            roster: &Roster::inline("EVO=1,2", "--units").unwrap(),
            slots: &Slots::parse("a,b", "--slots").unwrap(),
            rounds: 2,
            moves: Moves::EachRound,
            suite: &suite,
            suite_source: "smoke",
            suite_text: text,
            handling_minutes: 1.0,
            seed: None,
        };
        ExperimentPlan::new(&request).unwrap()
    }

    fn begun(progress: &RotationProgress<'_>, before: &Ledger, turn: PlanTurn) -> Ledger {
        progress.begin(before, turn, |_, _| Ok::<_, FleetError>(PathBuf::from("/suite.toml"))).unwrap()
    }

    #[test]
    fn a_unit_that_failed_is_taken_out_and_not_measured_again() {
        let plan = planned();
        let (first, second) = (plan.turns()[0], plan.turns()[1]);
        let nodes = vec![NodeEntry::new("b", "/m"), NodeEntry::new("a", "/m"), NodeEntry::new("c", "/m")];
        let mut base = Ledger::begun("ssh", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes);
        let places = places_of(&plan, &base).unwrap();
        assert!(matches!(
            places_of(&plan, &Ledger { nodes: vec![NodeEntry::new("a", "/m")], ..base.clone() }),
            Err(FleetError::EmptySlot { slot, inventory: false, .. }) if slot == "b"
        ));
        let none = RotationProgress::from_runs(&plan, vec![base.clone()]);
        assert!(none.turns().is_empty(), "it is no turn");
        assert!(matches!(
            none.begin(&base, first, |_, _| Ok::<_, FleetError>(PathBuf::new())),
            Err(FleetError::NoTurn)
        ));
        base.rotation = Some(Rotation { plan: plan.label(), round: 1, wave: 1, places });
        let mut one = begun(&none, &base, first);
        assert_eq!((turn_of(&one), one.nodes.len()), (first, 2));
        one.nodes[0].fate = Some(Fate::MediumFailed { id: "x".to_owned(), reason: String::new() });
        one.nodes[1].fate = Some(Fate::Recorded { id: "y".to_owned() });
        let failed = one.nodes[0].cell.clone().unwrap();
        let progress = RotationProgress::from_runs(&plan, vec![one.clone()]);
        assert!(progress.has_failed());
        assert_eq!(progress.next(&one), Some(second));
        let moves = progress.moves(Some(first), second);
        let out = moves.iter().find(|one| one.unit == failed.unit).unwrap();
        assert_eq!((out.from.as_deref(), out.to.as_deref()), (Some(failed.slot.as_str()), None));
        let two = begun(&progress, &one, second);
        assert_eq!(two.nodes.len(), 1);
        assert_ne!(two.nodes[0].cell.as_ref().map(|cell| &cell.unit), Some(&failed.unit));
        assert_eq!(
            RotationProgress::from_runs(&plan, vec![two.clone(), one]).turns().last(),
            Some(&two),
            "in the order of turns"
        );
    }

    #[test]
    fn what_the_plan_says_of_each_session_is_refused() {
        let check = |text: &str| check_plan_words(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        check("--label rack=1 --budget 5s").unwrap();
        assert!(matches!(check("--suite quick"), Err(FleetError::PlanHasSuite)));
        assert!(matches!(check("--suite=quick"), Err(FleetError::PlanHasSuite)));
        assert!(matches!(check("--label unit=1"), Err(FleetError::PlanHasLabel(word)) if word == "unit=1"));
        assert!(matches!(check("--label=plan=x"), Err(FleetError::PlanHasLabel(_))));
    }
}
