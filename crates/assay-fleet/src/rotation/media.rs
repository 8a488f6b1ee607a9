//! Whether media are where the plan wants them: by what they say of themselves, and by records.

use std::time::Duration;

use assay_analysis::plan::{ExperimentPlan, ScheduledUnit, SeenMedium, misplaced};
use assay_core::record::Record;
use assay_engine::Control;
use assay_store::{SqliteStore, Store};
use serde_json::Value;

use super::progress::{RotationProgress, turn_of};
use crate::accept::Guard;
use crate::error::FleetError;
use crate::inventory::Ansible;
use crate::launch::Launcher;
use crate::ledger::{Fate, Ledger, NodeEntry};
use crate::remote::{RemoteNode, each_at_once};

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
