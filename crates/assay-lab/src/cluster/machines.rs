//! The machines of a cluster: nodes, a control machine, and a server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::keys::Keys;
use super::node::{Node, NodePlan};
use super::space::Space;
use super::{address, inventory, network};
use crate::command::{Missing, need};

/// Most nodes of a cluster, the size of the cluster in the articles. Each has its own address.
const MOST_NODES: usize = 28;

/// Nodes answer within this time, even on a host with two processors that starts 28 of them and compiles at the same
/// time.
const THERE_WITHIN: Duration = Duration::from_secs(60);

/// The parts of a cluster.
#[derive(Debug, Default)]
pub struct ClusterPlan<'a> {
    /// The nodes, at most 28.
    pub nodes: Vec<NodePlan<'a>>,
    /// Bits per second of the link to a server; `None` means no server.
    pub uplink: Option<u64>,
}

impl ClusterPlan<'_> {
    /// A cluster of `nodes` nodes called `n1`, `n2`, …, each with a directory as its medium.
    #[must_use]
    pub fn of(nodes: usize) -> Self {
        Self { nodes: (1..=nodes).map(|number| NodePlan::new(&format!("n{number}"))).collect(), uplink: None }
    }
}

/// Nodes on a bridge, the control machine that the bridge belongs to, and a server behind a shaped link.
///
/// Nothing of the cluster is visible outside. Networks, processes and mounts lie in namespaces without a file name,
/// which end with the first process in each. That process waits for the end of a pipe. The pipe ends when this value is
/// dropped, or when the program that holds it ends for any reason. Make cards before the cluster and drop them after
/// it, since the namespaces of a node hold their mounts.
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Node>,
    server: Option<Space>,
    control: Space,
    keys: Keys,
    inventory: PathBuf,
    directory: tempfile::TempDir,
}

impl Cluster {
    /// Makes a cluster and waits until each node answers.
    ///
    /// # Errors
    /// [`Missing`] without root, a tool, or a kernel that supports it.
    pub fn new(plan: &ClusterPlan<'_>) -> Result<Self, Missing> {
        need(&["ip", "tc", "sshd", "ssh", "ssh-keygen", "unshare", "nsenter"])?;
        if plan.nodes.len() > MOST_NODES {
            return Err(Missing(format!("a cluster has at most {MOST_NODES} nodes")));
        }
        let fail = |e: std::io::Error| Missing(format!("temporary directory: {e}"));
        // The path of an ssh socket must fit into 108 bytes.
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir().map_err(fail)?;
        let keys = Keys::generate(directory.path())?;
        let deadline = Instant::now() + THERE_WITHIN;

        // Start all of them before waiting for any.
        let mut control = Space::control(directory.path())?;
        let nodes: Result<Vec<_>, _> =
            plan.nodes.iter().zip(0..).map(|(node, at)| Node::begin(node, at, &keys)).collect();
        let mut nodes = nodes?;
        let mut server = plan.uplink.map(|_| Space::server(directory.path())).transpose()?;
        for space in std::iter::once(&mut control).chain(nodes.iter_mut().map(Node::space_mut)).chain(&mut server) {
            space.expect("here", deadline)?;
        }
        network::connect(&control, &nodes, server.as_ref().zip(plan.uplink))?;
        for space in nodes.iter_mut().map(Node::space_mut).chain(&mut server) {
            space.tell_linked()?;
        }
        for space in nodes.iter_mut().map(Node::space_mut).chain(&mut server) {
            space.expect("ready", deadline)?;
        }
        if let Some((server, bits)) = server.as_ref().zip(plan.uplink) {
            network::shape_server(server, bits)?;
        }
        let inventory = inventory::write(directory.path(), &nodes, &keys)?;
        inventory::write_ssh(directory.path(), &nodes, &keys)?;
        Ok(Self { nodes, server, control, keys, inventory, directory })
    }

    /// The nodes, as planned.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The machine from which nodes are reached. Nodes reach it at [`Self::control_address`].
    #[must_use]
    pub fn control(&self) -> &Space {
        &self.control
    }

    /// Address of the control machine.
    #[must_use]
    pub fn control_address(&self) -> &'static str {
        address::CONTROL
    }

    /// The server behind the shaped link, at [`Self::server_address`].
    #[must_use]
    pub fn server(&self) -> Option<&Space> {
        self.server.as_ref()
    }

    /// Address of the server.
    #[must_use]
    pub fn server_address(&self) -> &'static str {
        address::SERVER
    }

    /// Inventory of the nodes for Ansible, an INI file.
    #[must_use]
    pub fn inventory(&self) -> &Path {
        &self.inventory
    }

    /// Directory with the files of the cluster; removed with it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A command on the control machine. Its ssh knows the nodes by name.
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.control.command(program);
        let mut path = self.directory().join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.env("PATH", path);
        command
    }

    /// An ssh command on the control machine that runs `script` on a node.
    #[must_use]
    pub fn ssh(&self, node: &Node, script: &str) -> Command {
        let mut command = self.control.command("ssh");
        command.args(self.keys.options()).arg("-i").arg(self.keys.private());
        command.arg(format!("root@{}", node.address())).arg(script);
        command
    }
}
