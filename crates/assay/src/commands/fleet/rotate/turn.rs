//! A turn of a plan as a run on many nodes.

use assay_analysis::plan::{Cell, ExperimentPlan, Move, Turn};
use assay_core::suite::Suite;
use assay_core::text::harmless;
use assay_engine::wall_clock;
use assay_fleet::{Entry, Fate, Ledger, Rotation, RotationPlace, Settled};
use assay_store::new_id;
use serde_json::json;

use crate::commands::fleet::ledgers;
use crate::failure::Failure;

/// A unit that failed.
pub(super) struct Failed {
    model: String,
    unit: String,
    turn: Turn,
}

/// The turn that a run is.
pub(super) fn of(ledger: &Ledger) -> Turn {
    let (round, wave) = ledger.rotation.as_ref().map_or((1, 1), |rotation| (rotation.round, rotation.wave));
    Turn { round, wave }
}

/// The runs of a plan, in the order of its turns.
pub(super) fn ledgers_of_plan(plan: &str) -> Result<Vec<Ledger>, Failure> {
    let mut all = ledgers::all()?;
    all.retain(|ledger| ledger.rotation.as_ref().is_some_and(|rotation| rotation.plan == plan));
    all.sort_by_key(of);
    Ok(all)
}

/// Units that failed: they are not measured again.
pub(super) fn failed(plan: &str) -> Result<Vec<Failed>, Failure> {
    let mut all = Vec::new();
    for ledger in ledgers_of_plan(plan)? {
        let failed = ledger.nodes.iter().filter(|entry| matches!(entry.fate, Some(Fate::MediumFailed { .. })));
        for cell in failed.filter_map(|entry| entry.cell.as_ref()) {
            all.push(Failed { model: cell.model.clone(), unit: cell.unit.clone(), turn: of(&ledger) });
        }
    }
    Ok(all)
}

/// Whether a cell is that of one of these units.
pub(super) fn is_of(cell: &Cell, units: &[Failed]) -> bool {
    units.iter().any(|one| one.model == cell.model && one.unit == cell.unit)
}

/// What is moved before a turn. A unit that failed is taken out where it was, and goes nowhere.
pub(super) fn moves(plan: &ExperimentPlan, from: Option<Turn>, to: Turn, failed: &[Failed]) -> Vec<Move> {
    let mut moves = plan.moves_between(from, to);
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

/// Refuses what the plan says of each session.
pub(super) fn check_words(words: &[String]) -> Result<(), Failure> {
    let own = |word: &str| ["model=", "unit=", "slot=", "round=", "plan="].iter().any(|key| word.starts_with(key));
    let mut before = "";
    for word in words {
        let label = word.strip_prefix("--label=").or((before == "--label").then_some(word.as_str()));
        if word == "--suite" || word.starts_with("--suite=") {
            return Err(Failure::usage("the plan names the suite; leave --suite out"));
        }
        if label.is_some_and(own) {
            return Err(Failure::usage(format!(
                "the plan names model, unit, slot and round; leave {} out",
                harmless(word)
            )));
        }
        before = word;
    }
    Ok(())
}

/// The nodes as slots of the plan: by the slot of the inventory, or else by their names.
pub(super) fn places(plan: &ExperimentPlan, ledger: &Ledger) -> Result<Vec<RotationPlace>, Failure> {
    let slot_of = |entry: &Entry| {
        let route = ledger.inventory.as_ref().and_then(|inventory| inventory.routes.get(&entry.name));
        route.map(|route| route.slot.clone()).filter(|slot| !slot.is_empty()).unwrap_or_else(|| entry.name.clone())
    };
    let mut places = Vec::new();
    for slot in plan.slots() {
        let mut nodes = ledger.nodes.iter().filter(|entry| slot_of(entry).eq_ignore_ascii_case(slot));
        let Some(entry) = nodes.next() else {
            return Err(Failure::usage(format!(
                "the plan has slot {}, and no node is called so{}; its slots are {}",
                harmless(slot),
                if ledger.inventory.is_some() { " or has it as assay_slot" } else { "" },
                harmless(&plan.slots().join(", "))
            )));
        };
        if let Some(other) = nodes.next() {
            return Err(Failure::usage(format!("{} and {} are both slot {}", entry.name, other.name, harmless(slot))));
        }
        let (node, target) = (entry.name.clone(), entry.target.clone());
        places.push(RotationPlace { node, target, slot: slot.clone() });
    }
    Ok(places)
}

/// The run of a turn, which is begun as the one before it, without the units that failed. Its suite is written.
pub(super) fn next(plan: &ExperimentPlan, before: &Ledger, turn: Turn, failed: &[Failed]) -> Result<Ledger, Failure> {
    let Some(rotation) = &before.rotation else { return Err(Failure::usage("the run is no turn of a plan")) };
    let entry = |cell: &Cell| {
        let place = rotation.places.iter().find(|place| place.slot == cell.slot)?;
        let (model, unit, slot) = (cell.model.clone(), cell.unit.clone(), cell.slot.clone());
        Some(Entry { cell: Some(assay_fleet::Cell { model, unit, slot }), ..Entry::new(&place.node, &place.target) })
    };
    let suite_of = |turn: Turn| plan.order_of(turn).and_then(|order| plan.session(order));
    let no_order = || Failure::usage("the plan has no order for this round");
    let suite = suite_of(turn).ok_or_else(no_order)?;
    let settled = before.settled.as_ref().zip(suite_of(of(before)));
    let mut ledger = Ledger {
        settled: settled.and_then(|(settled, earlier)| in_order(settled, &earlier, &suite)),
        run: new_id(),
        created: wall_clock(),
        rotation: Some(Rotation { round: turn.round, wave: turn.wave, ..rotation.clone() }),
        nodes: plan.cells_of(turn).filter(|cell| !is_of(cell, failed)).filter_map(entry).collect(),
        ..before.clone()
    };
    let file = ledgers::keep_suite(&ledger.run, &suite.to_text())?;
    if let Some(inventory) = &mut ledger.inventory {
        // Of their own, as the inventory may have options, too.
        let (plan, round) = (format!("plan={}", rotation.plan), format!("round={}", turn.round));
        let labels = ["--label", &plan, "--label", &round];
        inventory.variables.insert("assay_plan_options".to_owned(), json!(labels));
        inventory.variables.insert("assay_suite".to_owned(), json!(file.to_string_lossy()));
    }
    Ok(ledger)
}

/// The loads of an earlier round for one that has them in another order; `None` where it has others.
fn in_order(settled: &Settled, earlier: &Suite, now: &Suite) -> Option<Settled> {
    let at = |name: &str| earlier.workloads.iter().position(|workload| workload.name == name);
    let loads: Option<Vec<_>> =
        now.workloads.iter().map(|workload| settled.loads.get(at(&workload.name)?).copied()).collect();
    Some(Settled { loads: loads?, ..settled.clone() })
}
