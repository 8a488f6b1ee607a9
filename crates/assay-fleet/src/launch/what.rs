//! What is started, and where.

use super::process::Launched;
use crate::inventory::Inventory;
use crate::key::Key;
use crate::rotation::Cell;

/// What to start: the same program on each node.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Identity of the run.
    pub run: &'a str,
    /// The program there.
    pub program: &'a str,
    /// What it is told on all of them.
    pub arguments: Vec<String>,
    /// A suite that nodes are handed, who read it on their standard input; Ansible copies a file.
    pub suite: Option<&'a str>,
    /// Key of the run.
    pub key: &'a Key,
    /// Port of the coordinator on this machine.
    pub port: u16,
    /// The nodes.
    pub places: Vec<Place>,
    /// What Ansible is told besides.
    pub inventory: Option<&'a Inventory>,
}

/// A node to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name, and with ssh and Slurm the host.
    pub node: String,
    /// What is measured there.
    pub target: String,
    /// Where it finds the coordinator: `HOST:PORT`.
    pub rendezvous: String,
    /// With a tunnel, the port at its far end.
    pub remote_port: Option<u16>,
    /// Of an experiment plan, the unit that is there.
    pub cell: Option<Cell>,
}

/// Nodes that one process starts.
#[derive(Debug)]
pub struct Group {
    /// Their numbers among the places.
    pub places: Vec<usize>,
    /// The process, or why there is none.
    pub launched: std::io::Result<Launched>,
}
