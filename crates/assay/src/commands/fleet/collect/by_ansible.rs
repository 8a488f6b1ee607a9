//! Records by the playbook `collect`, which writes them into a directory of this command.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use assay_engine::Control;
use assay_fleet::{Ledger, MAX_RECORD};
use serde_json::{Map, Value, json};

use super::row::Row;
use crate::cli::{FleetCollectArgs, InventoryArgs};
use crate::commands::fleet::ansible::{Ansible, reason};
use crate::commands::fleet::count::Count;
use crate::commands::fleet::home::{Home, is_id};
use crate::failure::Failure;
use crate::input;

pub(super) fn rows(
    args: &FleetCollectArgs,
    ledger: Option<&Ledger>,
    run: &str,
    home: &Home,
    control: &Control,
) -> Result<Vec<Row>, Failure> {
    let kept = ledger.and_then(|ledger| ledger.inventory.as_ref()).filter(|_| args.inventory.inventory.is_empty());
    let ansible = match kept {
        Some(kept) => Ansible::new(&InventoryArgs::of(kept), control)?,
        None => Ansible::new(&args.inventory, control)?,
    };
    let hosts = ansible.hosts()?;
    let before = home.ids();
    let records = ansible.directory().path().join("records");
    let variables = Map::from_iter([
        ("assay_run".to_owned(), json!(run)),
        ("assay_records".to_owned(), json!(records.to_string_lossy())),
        ("assay_have".to_owned(), json!(before)),
    ]);
    let mut rows: Vec<Row> = hosts.iter().map(|host| Row { node: host.name.clone(), ..Row::default() }).collect();
    let mut brought: Vec<BTreeSet<String>> = vec![BTreeSet::new(); rows.len()];
    let count = Count::of(hosts.iter().map(|host| host.name.as_str()));
    ansible.play("collect", &hosts, variables, &mut |event| {
        let Some(at) = rows.iter().position(|row| row.node == event.node) else { return };
        if let Some(fact) = event.facts.get("node_collected") {
            let ids = |name: &str| -> BTreeSet<String> {
                let list = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                list.filter(|id| is_id(id)).map(str::to_owned).collect()
            };
            brought[at] = ids("brought");
            rows[at].here = ids("records").intersection(&before).cloned().collect();
        }
        if event.facts.contains_key("node_collected") || event.end().is_some() {
            count.done(&event.node);
        }
        if let Some(end) = event.end() {
            rows[at].reason.get_or_insert_with(|| reason(end));
        }
    })?;
    drop(count);
    for (row, ids) in rows.iter_mut().zip(brought) {
        for id in ids {
            match read(&records, &format!("{}-{id}.json", file_name(&row.node))) {
                Ok(document) => row.take(home, &id, &document),
                Err(why) => row.refused.push((id, why)),
            }
        }
    }
    Ok(rows)
}

/// The name of a node in the name of a file, as the role writes it.
fn file_name(node: &str) -> String {
    node.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn read(records: &Path, name: &str) -> Result<Vec<u8>, String> {
    let mut document = Vec::new();
    let file = input::open_below(records, Path::new(name)).map_err(|error| error.to_string())?;
    file.take(MAX_RECORD).read_to_end(&mut document).map_err(|error| error.to_string())?;
    if document.len() as u64 == MAX_RECORD { Err("it is longer than any record".to_owned()) } else { Ok(document) }
}
