//! `assay fleet check`

mod by_ansible;
mod by_ssh;
mod differs;
mod row;
mod table;

use assay_core::exit::Exit;
use assay_core::medium::{Medium, Mounted};
use assay_engine::Control;

use super::ansible::via;
use crate::cli::{FleetCheckArgs, ViaArg};
use crate::documents::fleet::{CheckedNode, ClockDocument, FleetCheckDocument};
use crate::failure::Failure;
use crate::{output, signals};
use row::Row;

pub(super) fn check(args: &FleetCheckArgs) -> Result<Exit, Failure> {
    let control = Control::default();
    let via = via(args.via, &args.inventory)?;
    signals::stop_on_signals(&control)?;
    let mut rows = match via {
        ViaArg::Ansible => by_ansible::rows(args, &control)?,
        ViaArg::Ssh | ViaArg::Local => by_ssh::rows(args, via, &control)?,
        ViaArg::Slurm => {
            return Err(Failure::usage("check goes by ssh, local or ansible; nodes of Slurm are reached by ssh, too"));
        }
    };
    for row in rows.iter_mut().filter(|row| row.reason.is_none()) {
        row.reason = refusal(row);
    }
    if args.json {
        let (fit, no_medium) = (rows.iter().filter(|row| fits(row, &rows)).count(), astray(&rows).count());
        let nodes = rows.iter().map(|row| document(row, &rows)).collect();
        output::print_json(&FleetCheckDocument { nodes, fit, no_medium })?;
    } else {
        output::print(&table::text(&rows, &output::stdout_style()))?;
    }
    Ok(if rows.iter().all(|row| fits(row, &rows)) { Exit::Good } else { Exit::No })
}

/// Whether a target is the root disk or memory, where a card was most likely meant.
fn is_no_medium(row: &Row) -> bool {
    row.reason.is_none() && row.medium.as_ref().is_some_and(|medium| medium.mounted().is_no_medium())
}

/// Nodes that could be measured but whose target is no medium.
fn astray(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| is_no_medium(row))
}

/// Whether a node can be measured with the others: the report leaves one out whose target is no medium, where more than half of the
/// nodes have one that is mounted there. Where all are like that, it is what was meant.
fn fits(row: &Row, rows: &[Row]) -> bool {
    let there = |row: &&Row| row.medium.as_ref().is_some_and(|medium| medium.mounted() == Mounted::There);
    let able: Vec<&Row> = rows.iter().filter(|row| row.reason.is_none()).collect();
    let most_are_mounted = 2 * able.iter().filter(|row| there(row)).count() > able.len();
    row.reason.is_none() && !(most_are_mounted && is_no_medium(row))
}

/// What the node itself does not see.
fn refusal(row: &Row) -> Option<String> {
    let own = concat!("assay ", env!("CARGO_PKG_VERSION"));
    if row.version != own {
        return Some(format!(
            "{} is there, and {own} here",
            if row.version.is_empty() { "no assay" } else { &row.version }
        ));
    }
    (row.planned_write_bytes.is_none() || row.budget_ns.is_none()).then(|| "its answer cannot be read".to_owned())
}

fn document<'a>(row: &'a Row, rows: &[Row]) -> CheckedNode<'a> {
    CheckedNode {
        node: &row.node,
        target: &row.target,
        unit: &row.unit,
        slot: &row.slot,
        reached: row.reached,
        machine: &row.machine,
        bits: row.bits,
        version: &row.version,
        medium: row.medium.as_ref(),
        mounted: row.medium.as_ref().map(Medium::mounted),
        free_bytes: row.free_bytes,
        clock: row.clock.map(|clock| ClockDocument { offset_ns: clock.offset_ns, bound_ns: clock.bound_ns }),
        planned_write_bytes: row.planned_write_bytes,
        budget_ns: row.budget_ns,
        fits: fits(row, rows),
        no_medium: is_no_medium(row),
        reason: row.reason.as_deref(),
    }
}
