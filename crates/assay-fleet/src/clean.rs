//! Removes what the collection put on nodes.

use serde_json::{Map, Value, json};

use crate::cause::bounded_reason;
use crate::error::FleetError;
use crate::inventory::{Ansible, InventoryNode};

/// What was removed from a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The node.
    pub node: String,
    /// Paths that were removed.
    pub removed: Vec<String>,
    /// Paths that assay did not make and left.
    pub left: Vec<String>,
    /// Directory with records that were kept; empty where there is none.
    pub kept: String,
    /// Why it was not cleaned, as the node or Ansible says it.
    pub refused: Option<String>,
}

/// Cleans the hosts of an inventory; with `records`, removes their records too. Calls `answered` with the name of each node that
/// answered or failed.
///
/// # Errors
/// Where the playbook does not come to its end.
pub fn clean(
    ansible: &Ansible,
    hosts: &[InventoryNode],
    records: bool,
    answered: &dyn Fn(&str),
) -> Result<Vec<Cleaned>, FleetError> {
    let mut all: Vec<Cleaned> =
        hosts.iter().map(|host| Cleaned { node: host.name.clone(), ..Cleaned::default() }).collect();
    let variables = Map::from_iter([("assay_remove_records".to_owned(), json!(records))]);
    ansible.play("clean", hosts, variables, &mut |event| {
        let Some(one) = all.iter_mut().find(|one| one.node == event.node) else { return };
        if let Some(fact) = event.facts.get("node_removed") {
            let paths = |name: &str| -> Vec<String> {
                let paths = fact[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                paths.map(bounded_reason).collect()
            };
            (one.removed, one.left) = (paths("removed"), paths("left"));
            one.kept = bounded_reason(fact["kept"].as_str().unwrap_or_default());
        }
        if event.facts.contains_key("node_removed") || event.end().is_some() {
            answered(&event.node);
        }
        if let Some(end) = event.end() {
            one.refused.get_or_insert_with(|| bounded_reason(end));
        }
    })?;
    Ok(all)
}
