//! The inventory and the variables that Ansible gets for a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Inventory and variables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inventory {
    /// Inventories, from the root.
    pub files: Vec<PathBuf>,
    /// Pattern of hosts; none for all.
    pub limit: Option<String>,
    /// Variables of the role beside those of the run, like `assay_binaries`.
    pub variables: Map<String, Value>,
    /// How nodes are reached, as the inventory has it now.
    #[serde(skip)]
    pub routes: BTreeMap<String, Route>,
}

/// How a node is reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// By ssh, through which the coordinator can be reached.
    pub ssh: bool,
    /// Further arguments for ssh, from the inventory.
    pub ssh_extra_args: String,
    /// The slot that the inventory names; empty where it names none.
    pub slot: String,
}
