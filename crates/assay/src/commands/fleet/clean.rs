//! `assay fleet clean`

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_engine::Control;
use assay_fleet::bounded_reason;
use serde_json::{Map, Value, json};

use super::ansible::{ansible, via};
use super::view::AnswerCount;
use crate::cli::{FleetCleanArgs, ViaArg};
use crate::documents::fleet::{CleanDocument, CleanedNode};
use crate::failure::Failure;
use crate::{output, signals};

/// What became of a node.
#[derive(Debug, Default)]
struct Row {
    node: String,
    removed: Vec<String>,
    left: Vec<String>,
    kept: String,
    reason: Option<String>,
}

pub(super) fn clean(args: &FleetCleanArgs) -> Result<Exit, Failure> {
    if via(args.via, &args.inventory)? != ViaArg::Ansible {
        return Err(Failure::usage("only Ansible puts something on nodes, which clean removes: -i FILE"));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let ansible = ansible(&args.inventory, &control)?;
    let hosts = ansible.hosts()?;
    let mut rows: Vec<Row> = hosts.iter().map(|host| Row { node: host.name.clone(), ..Row::default() }).collect();
    let variables = Map::from_iter([("assay_remove_records".to_owned(), json!(args.records))]);
    let count = AnswerCount::of(hosts.iter().map(|host| host.name.as_str()));
    ansible.play("clean", &hosts, variables, &mut |event| {
        let Some(row) = rows.iter_mut().find(|row| row.node == event.node) else { return };
        if let Some(fact) = event.facts.get("node_removed") {
            let paths = |name: &str| -> Vec<String> {
                let paths = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                paths.map(bounded_reason).collect()
            };
            (row.removed, row.left) = (paths("removed"), paths("left"));
            row.kept = bounded_reason(fact["kept"].as_str().unwrap_or_default());
        }
        if event.facts.contains_key("node_removed") || event.end().is_some() {
            count.done(&event.node);
        }
        if let Some(end) = event.end() {
            row.reason.get_or_insert_with(|| bounded_reason(end));
        }
    })?;
    drop(count);
    if args.json {
        output::print_json(&CleanDocument { nodes: rows.iter().map(document).collect() })?;
    } else {
        output::print(&rows.iter().map(line).collect::<String>())?;
    }
    Ok(if rows.iter().all(|row| row.reason.is_none()) { Exit::Good } else { Exit::Environment })
}

fn line(row: &Row) -> String {
    let mut words = Vec::new();
    if !row.removed.is_empty() {
        words.push(format!("removed {}", row.removed.join(", ")));
    } else if row.reason.is_none() {
        words.push("nothing to remove".to_owned());
    }
    if !row.left.is_empty() {
        words.push(format!("assay did not make {} and left it", row.left.join(", ")));
    }
    if !row.kept.is_empty() {
        words.push(format!("records are kept in {} (--records removes them)", row.kept));
    }
    words.extend(row.reason.clone());
    format!("{}: {}\n", harmless(&row.node), words.join("; "))
}

fn document(row: &Row) -> CleanedNode<'_> {
    CleanedNode {
        node: &row.node,
        removed: &row.removed,
        left: &row.left,
        kept: &row.kept,
        reason: row.reason.as_deref(),
    }
}
