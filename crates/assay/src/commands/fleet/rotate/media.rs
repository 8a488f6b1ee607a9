//! Whether the media are where the plan wants them, as far as they say who they are.

use std::time::Duration;

use assay_analysis::plan::{Cell, ExperimentPlan, SeenMedium, misplaced as is_misplaced};
use assay_core::record::Record;
use assay_engine::Control;
use assay_fleet::{Entry, Fate, Launcher, Ledger, RemoteNode};
use assay_store::Store;
use serde_json::Value;

use super::turn;
use crate::cli::InventoryArgs;
use crate::commands::fleet::ansible::Ansible;
use crate::commands::fleet::at_once;
use crate::commands::fleet::records::Guard;
use crate::failure::Failure;
use crate::state;

/// Longest answer about a medium, in bytes.
const ANSWER: u64 = 1 << 20;
/// How long it may take.
const WITHIN: Duration = Duration::from_secs(60);

/// Nodes whose medium is not the one that the plan wants there, with the reason; what media say of themselves is kept. Slurm's
/// nodes are judged by their records alone, and those of Ansible in the first turn, before which nothing is known.
pub(super) fn misplaced(
    plan: &ExperimentPlan,
    ledger: &mut Ledger,
    control: &Control,
) -> Result<Vec<(String, String)>, Failure> {
    let now = turn::of(ledger);
    let mut seen: Vec<SeenMedium> = sightings(plan)?.into_iter().filter(|one| one.turn != now).collect();
    if seen.is_empty() && ledger.inventory.is_some() {
        return Ok(Vec::new());
    }
    let numbers = ledger.missing();
    let missing: Vec<&Entry> = numbers.iter().map(|node| &ledger.nodes[*node]).collect();
    let found = asked(ledger, &missing, control)?;
    for (number, identity) in numbers.iter().zip(&found) {
        ledger.nodes[*number].medium.clone_from(identity);
    }
    let ledger = &*ledger;
    let missing = numbers.iter().map(|node| &ledger.nodes[*node]);
    let here: Vec<(&Entry, &Cell, String)> = missing
        .zip(found)
        .filter_map(|(entry, identity)| Some((entry, cell(plan, ledger, entry)?, identity?)))
        .collect();
    seen.extend(here.iter().map(|(_, cell, identity)| SeenMedium::of(cell, identity)));
    let judged = here
        .iter()
        .filter_map(|(entry, cell, identity)| Some((entry.name.clone(), is_misplaced(&seen, cell, identity)?)));
    Ok(judged.collect())
}

/// Refuses the record of a medium that is another one.
pub(super) fn guard(plan: &ExperimentPlan, ledger: &Ledger) -> Result<Guard, Failure> {
    let now = turn::of(ledger);
    let seen: Vec<SeenMedium> = sightings(plan)?.into_iter().filter(|one| one.turn != now).collect();
    let cells: Vec<(String, Cell)> = ledger
        .nodes
        .iter()
        .filter_map(|entry| Some((entry.name.clone(), cell(plan, ledger, entry)?.clone())))
        .collect();
    Ok(Box::new(move |node, record: &Record| {
        let cell = cells.iter().find(|(name, _)| name == node).map(|(_, cell)| cell);
        let reason = cell.zip(record.medium.unit.as_deref()).and_then(|(cell, own)| is_misplaced(&seen, cell, own));
        reason.map_or(Ok(()), Err)
    }))
}

/// The cell of a node in the turn of its run.
fn cell<'a>(plan: &'a ExperimentPlan, ledger: &Ledger, entry: &Entry) -> Option<&'a Cell> {
    let own = entry.cell.as_ref()?;
    plan.cells_of(turn::of(ledger))
        .find(|cell| cell.slot == own.slot && cell.unit == own.unit && cell.model == own.model)
}

/// The identities of media in all turns that were measured, as far as their records are here.
fn sightings(plan: &ExperimentPlan) -> Result<Vec<SeenMedium>, Failure> {
    let Some(store) = state::existing()? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for ledger in turn::ledgers_of_plan(&plan.label())? {
        for entry in &ledger.nodes {
            let id = entry.fate.as_ref().filter(|fate| fate.is_result()).and_then(Fate::record);
            let Some((id, cell)) = id.zip(cell(plan, &ledger, entry)) else { continue };
            // A removed record was found wrong by the user.
            let Ok(stored) = store.load(id) else { continue };
            if let Some(identity) = entry.medium.clone().or(stored.record.medium.unit) {
                all.push(SeenMedium::of(cell, &identity));
            }
        }
    }
    Ok(all)
}

/// What the media in these nodes say of themselves now; none where a node or its medium says nothing.
fn asked(ledger: &Ledger, nodes: &[&Entry], control: &Control) -> Result<Vec<Option<String>>, Failure> {
    let launcher = match Launcher::of_name(&ledger.via) {
        Some(launcher @ (Launcher::Local | Launcher::Ssh)) => launcher,
        Some(Launcher::Ansible) => return by_ansible(ledger, nodes, control),
        Some(Launcher::Slurm) | None => return Ok(vec![None; nodes.len()]),
    };
    at_once::each(nodes, control, |entry| {
        let remote = RemoteNode { launcher, node: &entry.name };
        let said = remote.call(&[&ledger.program, "info", "--json", "--", &entry.target], ANSWER, WITHIN).ok()?;
        let said: Value = serde_json::from_slice(&said.out).ok()?;
        said["medium"]["unit"].as_str().map(str::to_owned)
    })
}

/// By the playbook `check`, whose events say what the medium of each node is.
fn by_ansible(ledger: &Ledger, nodes: &[&Entry], control: &Control) -> Result<Vec<Option<String>>, Failure> {
    let mut found = vec![None; nodes.len()];
    let Some(inventory) = &ledger.inventory else { return Ok(found) };
    let ansible = Ansible::new(&InventoryArgs::of(inventory), control)?;
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
