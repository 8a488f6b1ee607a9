//! What to start on which node, and the command lines for that.

use assay_core::text::posix_word;

use super::process::Launched;
use crate::key::{RunKey, nonce};
use crate::ledger::{Inventory, NodeUnit};
use crate::transport::Endpoint;

/// What to start: the same program on each node.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Identity of the run.
    pub run: &'a str,
    /// The program there.
    pub program: &'a str,
    /// Its arguments, the same on all nodes.
    pub arguments: Vec<String>,
    /// A suite for the nodes. They read it from standard input; Ansible copies a file.
    pub suite: Option<&'a str>,
    /// Key of the run. Each node gets only its own derived key.
    pub key: &'a RunKey,
    /// The nodes.
    pub places: Vec<NodePlace>,
    /// Further input of Ansible.
    pub inventory: Option<&'a Inventory>,
}

/// A node to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodePlace {
    /// Its name, and with ssh and Slurm the host.
    pub node: String,
    /// The target.
    pub target: String,
    /// Where it finds the coordinator: `HOST:PORT`, or the path of a Unix socket.
    pub rendezvous: String,
    /// The tunnel to the coordinator, if there is one.
    pub tunnel: Option<Tunnel>,
    /// Of an experiment plan, the unit that is there.
    pub cell: Option<NodeUnit>,
}

/// A tunnel of ssh(1) from a node to the coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunnel {
    /// On the node.
    pub far: FarEnd,
    /// On this machine.
    pub near: Endpoint,
}

/// The end of a tunnel on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FarEnd {
    /// A Unix socket, which sshd(8) makes for the user who logged in alone (`StreamLocalBindMask` of sshd_config(5)).
    Socket(String),
    /// A port of the loopback interface, which all users of the node can connect to.
    Port(u16),
}

impl FarEnd {
    /// A socket with an unpredictable path.
    ///
    /// # Errors
    /// Where the kernel has no random numbers.
    pub fn socket() -> std::io::Result<Self> {
        Ok(Self::Socket(format!("/tmp/assay-{}.sock", &nonce()?[..20])))
    }

    /// Where a node finds it.
    #[must_use]
    pub fn rendezvous(&self) -> String {
        match self {
            Self::Socket(path) => path.clone(),
            Self::Port(port) => format!("127.0.0.1:{port}"),
        }
    }
}

impl Tunnel {
    /// As the option `-R` of ssh(1) has it.
    pub(crate) fn specification(&self) -> String {
        format!("{}:{}", self.far.rendezvous(), self.near)
    }
}

/// Nodes that one process starts.
#[derive(Debug)]
pub struct NodeGroup {
    /// Their numbers among the places.
    pub places: Vec<usize>,
    /// The process, or why it could not be started.
    pub launched: std::io::Result<Launched>,
}

// Command lines.

/// The arguments of the program on a node. The common arguments come first, so that they cannot override those of the
/// node.
pub(super) fn command_arguments(launch: &Launch<'_>, place: &NodePlace) -> Vec<String> {
    let mut arguments = launch.arguments.clone();
    arguments.extend(["--label".to_owned(), format!("node={}", place.node)]);
    for (key, value) in place.cell.iter().flat_map(|cell| cell.labels()) {
        arguments.extend(["--label".to_owned(), format!("{key}={value}")]);
    }
    arguments.extend(["--rendezvous", &place.rendezvous, "--node", &place.node].map(str::to_owned));
    arguments.extend(["--", &place.target].map(str::to_owned));
    arguments
}

/// Quotes words for a POSIX shell.
pub(super) fn shell_command<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(posix_word).collect::<Vec<_>>().join(" ")
}
