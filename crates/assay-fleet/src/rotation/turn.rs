//! A run as a turn of a plan.

use assay_analysis::plan::{ExperimentPlan, Turn};

use crate::error::FleetError;
use crate::ledger::{Ledger, NodeEntry, RotationPlace};

/// The turn that a run is.
#[must_use]
pub fn turn_of(ledger: &Ledger) -> Turn {
    let (round, wave) = ledger.rotation.as_ref().map_or((1, 1), |rotation| (rotation.round, rotation.wave));
    Turn { round, wave }
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

#[cfg(test)]
mod tests {
    use super::*;

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
