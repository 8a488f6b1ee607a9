//! By what nodes are started.

use super::what::{Group, Launch};
use super::{ansible, local, slurm, ssh};

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
