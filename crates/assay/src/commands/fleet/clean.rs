//! `assay fleet clean`

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::Cleaned;

use super::nodes::{ansible, via};
use super::view::AnswerCount;
use crate::cli::{FleetCleanArgs, ViaArg};
use crate::documents::fleet::{CleanDocument, CleanedNode};
use crate::failure::Failure;
use crate::{output, signals};

pub(super) fn clean(args: &FleetCleanArgs) -> Result<Exit, Failure> {
    if via(args.via, &args.inventory)? != ViaArg::Ansible {
        return Err(Failure::usage("only Ansible puts something on nodes, which clean removes: -i FILE"));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let ansible = ansible(&args.inventory, &control)?;
    let hosts = ansible.hosts()?;
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    let rows = assay_fleet::clean(&ansible, &hosts, args.records, &|node| count.done(node))?;
    drop(count);
    if args.json {
        output::print_json(&CleanDocument { nodes: rows.iter().map(document).collect() })?;
    } else {
        output::print(&rows.iter().map(line).collect::<String>())?;
    }
    Ok(if rows.iter().all(|row| row.refused.is_none()) { Exit::Good } else { Exit::Environment })
}

fn line(row: &Cleaned) -> String {
    let mut words = Vec::new();
    if !row.removed.is_empty() {
        words.push(format!("removed {}", row.removed.join(", ")));
    } else if row.refused.is_none() {
        words.push("nothing to remove".to_owned());
    }
    if !row.left.is_empty() {
        words.push(format!("assay did not make {} and left it", row.left.join(", ")));
    }
    if !row.kept.is_empty() {
        words.push(format!("records are kept in {} (--records removes them)", row.kept));
    }
    words.extend(row.refused.clone());
    format!("{}: {}\n", harmless(&row.node), words.join("; "))
}

fn document(row: &Cleaned) -> CleanedNode<'_> {
    CleanedNode {
        node: &row.node,
        removed: &row.removed,
        left: &row.left,
        kept: &row.kept,
        reason: row.refused.as_deref(),
    }
}
