//! By what nodes are started, and what is started.

use super::process::Launched;
use super::{ansible, local, slurm, ssh};
use crate::inventory::Inventory;
use crate::key::Key;
use crate::rotation::Cell;

/// By what nodes are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// As processes of this machine.
    Local,
    /// By the ssh of the system, a process for each node, through a tunnel to the coordinator.
    Ssh,
    /// By srun(1), one for all nodes.
    Slurm,
    /// By ansible-playbook(1), one for all nodes of an inventory.
    Ansible,
}

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
    pub far_port: Option<u16>,
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

impl Launcher {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Local, Self::Ssh, Self::Slurm, Self::Ansible];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
            Self::Slurm => "slurm",
            Self::Ansible => "ansible",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|launcher| launcher.name() == name)
    }

    /// Starts all nodes; each is in one group.
    #[must_use]
    pub fn start(self, launch: &Launch<'_>) -> Vec<Group> {
        match self {
            Self::Slurm => slurm::start(launch),
            Self::Ansible => ansible::start(launch),
            Self::Local | Self::Ssh => {
                let start = if self == Self::Local { local::start } else { ssh::start };
                let places = launch.places.iter().enumerate();
                places.map(|(number, place)| Group { places: vec![number], launched: start(launch, place) }).collect()
            }
        }
    }
}
