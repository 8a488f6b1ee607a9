//! `assay fleet collect`

mod by_ansible;
mod by_ssh;
mod row;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::{Launcher, Ledger};

use super::home::{FetchResult, Home};
use super::ledgers;
use super::records::adopt;
use super::rotate;
use crate::cli::{FleetCollectArgs, ViaArg};
use crate::documents::fleet::{CollectDocument, CollectedNode, RefusedRecord};
use crate::failure::Failure;
use crate::together::check_name;
use crate::{output, signals};
use row::Row;

pub(super) fn collect(args: &FleetCollectArgs) -> Result<Exit, Failure> {
    check_name("run", &args.run)?;
    let named = !args.nodes.is_empty() || !args.inventory.inventory.is_empty();
    let found = match ledgers::find(&args.run) {
        Err(failure) if !named => return Err(failure),
        found => found.ok(),
    };
    let run = found.as_ref().map_or(&args.run, |ledger| &ledger.run).clone();
    let _lock = ledgers::lock(&run)?;
    let via = via(args, found.as_ref())?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let home = Home::of(&run, found.as_ref().map(rotate::guard).transpose()?.flatten())?;
    let rows = match via {
        ViaArg::Ansible => by_ansible::rows(args, found.as_ref(), &run, &home, &control)?,
        via => by_ssh::rows(args, via, found.as_ref(), &run, &home, &control)?,
    };
    if let Some(mut ledger) = found {
        adopt(&mut ledger, home.guard())?;
    }
    tell(args, &run, &rows)?;
    let whole = rows.iter().all(|row| row.reason.is_none() && row.refused.is_empty());
    Ok(if whole { Exit::Good } else { Exit::Environment })
}

/// As the user says, or else as the run was begun; nodes of Slurm are hosts, too.
fn via(args: &FleetCollectArgs, ledger: Option<&Ledger>) -> Result<ViaArg, Failure> {
    let of_run = match ledger.and_then(|ledger| Launcher::of_name(&ledger.via)) {
        Some(Launcher::Local) => ViaArg::Local,
        Some(Launcher::Ansible) => ViaArg::Ansible,
        Some(Launcher::Ssh | Launcher::Slurm) | None => ViaArg::Ssh,
    };
    let kept = ledger.is_some_and(|ledger| ledger.inventory.is_some());
    match (args.via, args.inventory.inventory.is_empty()) {
        (None | Some(ViaArg::Ansible), false) => Ok(ViaArg::Ansible),
        (Some(_), false) => Err(Failure::usage("an inventory is for --via ansible")),
        (Some(ViaArg::Ansible), true) if !kept => Err(Failure::usage("--via ansible needs an inventory: -i FILE")),
        (Some(ViaArg::Slurm), true) => Ok(ViaArg::Ssh),
        (Some(via), true) => Ok(via),
        (None, true) if !args.nodes.is_empty() && of_run == ViaArg::Ansible => Ok(ViaArg::Ssh),
        (None, true) => Ok(of_run),
    }
}

impl Row {
    /// Takes a record that came.
    fn take(&mut self, home: &Home, id: &str, document: &[u8]) {
        match home.take(&self.node, id, document) {
            Ok(FetchResult::Taken) => self.taken.push(id.to_owned()),
            Ok(FetchResult::Here) => self.here.push(id.to_owned()),
            Err(reason) => self.refused.push((id.to_owned(), harmless(&reason))),
        }
    }
}

fn tell(args: &FleetCollectArgs, run: &str, rows: &[Row]) -> Result<(), Failure> {
    if args.json {
        return output::print_json(&CollectDocument { run, nodes: rows.iter().map(document).collect() });
    }
    let width = rows.iter().map(|row| row.node.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut words = Vec::new();
        if !row.taken.is_empty() {
            words.push(format!("taken: {}", row.taken.join(" ")));
        }
        if !row.here.is_empty() {
            words.push(format!("here before: {}", row.here.join(" ")));
        }
        words.extend(row.refused.iter().map(|(id, reason)| format!("{id} not taken: {reason}")));
        words.extend(row.reason.clone());
        text += &format!("{:width$}  {}\n", row.node, words.join("; "));
    }
    let count = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (taken, here) = (count(|row| row.taken.len()), count(|row| row.here.len()));
    text +=
        &format!("\nrun {run}: {taken} {} taken, {here} here before.", if taken == 1 { "record" } else { "records" });
    output::print(&text)
}

fn document(row: &Row) -> CollectedNode<'_> {
    CollectedNode {
        node: &row.node,
        taken: &row.taken,
        here: &row.here,
        refused: row.refused.iter().map(|(id, reason)| RefusedRecord { id, reason }).collect(),
        reason: row.reason.as_deref(),
    }
}
