//! `assay fleet clean`: what runs left on nodes, and what Ansible put there.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_engine::Control;
use assay_fleet::{Cleaned, Launcher, NodeEntry, entries, program};

use super::ledgers;
use super::measured::{ansible, via};
use super::view::{AnswerCount, not_begun_words};
use crate::cli::{FleetCleanArgs, ViaArg};
use crate::documents::fleet::{CleanDocument, CleanedNode};
use crate::ending::Failure;
use crate::{leftovers, node, output, signals, state};

pub(super) fn clean(args: &FleetCleanArgs) -> Result<Exit, Failure> {
    let via = via(args.via, &args.inventory)?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let rows = match via {
        ViaArg::Ansible => by_ansible(args, &control)?,
        ViaArg::Ssh => by_ssh(args, &control)?,
        ViaArg::Local => here(args)?,
        ViaArg::Slurm => {
            return Err(Failure::usage("clean goes by ssh, local or ansible; nodes of Slurm are reached by ssh, too"));
        }
    };
    if args.json {
        output::print_json(&CleanDocument { nodes: rows.iter().map(clean_document).collect() })?;
    } else {
        output::print(&rows.iter().map(clean_line).collect::<String>())?;
    }
    Ok(if rows.iter().all(|row| row.refused.is_none()) { Exit::Good } else { Exit::Environment })
}

fn by_ansible(args: &FleetCleanArgs, control: &Control) -> Result<Vec<Cleaned>, Failure> {
    let ansible = ansible(&args.inventory, control)?;
    let hosts = ansible.hosts()?;
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    Ok(assay_fleet::clean(&ansible, &hosts, args.records, &|node| count.done(node))?)
}

fn by_ssh(args: &FleetCleanArgs, control: &Control) -> Result<Vec<Cleaned>, Failure> {
    let nodes = entries(&args.nodes, &args.target, Launcher::Ssh)?;
    let program = program(args.program.as_deref(), Launcher::Ssh)?;
    let count = AnswerCount::of(nodes.iter().map(|entry| entry.name.as_str()));
    Ok(assay_fleet::clean_by_ssh(&nodes, &program, args.records, control, &|node| count.done(node))?)
}

/// This machine as nodes: the other end of [`by_ssh`], and of runs by `--via local`.
fn here(args: &FleetCleanArgs) -> Result<Vec<Cleaned>, Failure> {
    let own: Vec<String> = ledgers::all()?.into_iter().map(|ledger| ledger.run).collect();
    let nodes = entries(&args.nodes, &args.target, Launcher::Local)?;
    let clean = |entry: &NodeEntry| {
        let mut row = Cleaned { node: entry.name.clone(), ..Cleaned::default() };
        if let Err(failure) = clean_here(&mut row, entry, &|run| own.iter().any(|name| name == run), args.records) {
            row.refused.get_or_insert_with(|| failure.message().to_owned());
        }
        row
    };
    Ok(nodes.iter().map(clean).collect())
}

fn clean_here(
    row: &mut Cleaned,
    entry: &NodeEntry,
    is_own: &dyn Fn(&str) -> bool,
    records: bool,
) -> Result<(), Failure> {
    let target = Path::new(&entry.target);
    let on_medium = leftovers::remove(target);
    // What is left in the home is removed although the medium is not there.
    row.removed.extend(node::recover());
    let kept = node::records_of(&entry.name, is_own)?;
    if records {
        row.removed.extend(node::remove_records(&kept)?);
    } else if !kept.is_empty() {
        row.kept = format!("{} in {}", counted(kept.len(), "record"), output::shown(&state::directory()?));
    }
    let on_medium = on_medium?;
    let of_target = |words: String| format!("{}: {words}", output::shown(target));
    row.removed.splice(0..0, on_medium.removed.into_iter().map(of_target));
    row.left = on_medium.left;
    row.refused = on_medium.refused;
    Ok(())
}

fn clean_line(row: &Cleaned) -> String {
    let mut words = Vec::new();
    if !row.removed.is_empty() {
        words.push(format!("removed {}", row.removed.join("; ")));
    } else if row.refused.is_none() {
        words.push("nothing to remove".to_owned());
    }
    if !row.left.is_empty() {
        words.push(format!("left {}", row.left.join("; ")));
    }
    if !row.kept.is_empty() {
        words.push(format!("records are kept: {} (--records removes them)", row.kept));
    }
    words.extend(row.refused.as_ref().map(|why| match row.cause {
        Some(cause) => not_begun_words(cause, why),
        None => why.clone(),
    }));
    format!("{}: {}\n", harmless(&row.node), words.join("; "))
}

fn clean_document(row: &Cleaned) -> CleanedNode<'_> {
    CleanedNode {
        node: &row.node,
        removed: &row.removed,
        left: &row.left,
        kept: &row.kept,
        reason: row.refused.as_deref(),
    }
}
