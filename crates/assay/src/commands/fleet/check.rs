//! `assay fleet check`

mod by_ansible;
mod by_ssh;
mod differs;
mod row;
mod table;

use assay_core::exit::Exit;
use assay_core::medium::Medium;
use assay_engine::Control;
use serde_json::{Value, json};

use super::ansible::via;
use crate::cli::{FleetCheckArgs, ViaArg};
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
        let fit = rows.iter().filter(|row| row.reason.is_none()).count();
        output::print_json(&json!({ "nodes": rows.iter().map(json).collect::<Vec<_>>(), "fit": fit }))?;
    } else {
        output::print(&table::text(&rows, &output::stdout_style()))?;
    }
    Ok(if rows.iter().all(|row| row.reason.is_none()) { Exit::Good } else { Exit::No })
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

fn json(row: &Row) -> Value {
    json!({
        "node": row.node, "target": row.target, "unit": row.unit, "slot": row.slot, "reached": row.reached,
        "machine": row.machine, "bits": row.bits, "version": row.version, "medium": row.medium,
        "mounted": row.medium.as_ref().map(Medium::mounted), "free_bytes": row.free_bytes,
        "clock": row.clock.map(|clock| json!({ "offset_ns": clock.offset_ns, "bound_ns": clock.bound_ns })),
        "planned_write_bytes": row.planned_write_bytes, "budget_ns": row.budget_ns,
        "fits": row.reason.is_none(), "reason": row.reason,
    })
}
