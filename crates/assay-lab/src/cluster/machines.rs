//! The machines of a cluster: nodes, a control machine, and a server; and their inventory for Ansible.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::node::{Keys, Node, NodePlan};
use super::space::{CONTROL, SERVER, Space};
use crate::host::{Missing, need, run};

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
    pub fn with_nodes(nodes: usize) -> Self {
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
        connect(&control, &nodes, server.as_ref().zip(plan.uplink))?;
        for space in nodes.iter_mut().map(Node::space_mut).chain(&mut server) {
            space.tell_linked()?;
        }
        for space in nodes.iter_mut().map(Node::space_mut).chain(&mut server) {
            space.expect("ready", deadline)?;
        }
        if let Some((server, bits)) = server.as_ref().zip(plan.uplink) {
            shape_server(server, bits)?;
        }
        let inventory = write_inventory(directory.path(), &nodes, &keys)?;
        write_ssh(directory.path(), &nodes, &keys)?;
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
        CONTROL
    }

    /// The server behind the shaped link, at [`Self::server_address`].
    #[must_use]
    pub fn server(&self) -> Option<&Space> {
        self.server.as_ref()
    }

    /// Address of the server.
    #[must_use]
    pub fn server_address(&self) -> &'static str {
        SERVER
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

// The inventory of the cluster for Ansible.

/// Writes an INI file that states how each node is reached and what is measured there.
pub(super) fn write_inventory(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<PathBuf, Missing> {
    let path = directory.join("inventory.ini");
    std::fs::write(&path, inventory_text(nodes, keys)).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
    Ok(path)
}

/// Writes `ssh_config`, and a program `bin/ssh` that reads it instead of the user's own.
pub(super) fn write_ssh(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<(), Missing> {
    let fail = |e: std::io::Error| Missing(format!("{}: {e}", directory.display()));
    let mut text = String::new();
    for node in nodes {
        let _ = writeln!(text, "Host {}\n    HostName {}", node.name(), node.address());
    }
    let _ = write!(
        text,
        "Host *\n    User root\n    IdentityFile {}\n    UserKnownHostsFile {}\n    StrictHostKeyChecking yes\n",
        keys.private().display(),
        keys.known_hosts().display(),
    );
    let (config, programs) = (directory.join("ssh_config"), directory.join("bin"));
    std::fs::write(&config, text).map_err(fail)?;
    std::fs::create_dir(&programs).map_err(fail)?;
    let ssh = run("sh", &["-c", "command -v ssh"])?;
    let script = format!("#!/bin/sh\nexec {ssh} -F {} \"$@\"\n", config.display());
    let program = programs.join("ssh");
    std::fs::write(&program, script).map_err(fail)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).map_err(fail)
}

fn inventory_text(nodes: &[Node], keys: &Keys) -> String {
    let options: Vec<_> = keys.options().iter().map(|option| option.to_string_lossy().into_owned()).collect();
    let mut text = "[fleet]\n".to_owned();
    for (number, node) in (1..).zip(nodes) {
        let _ = writeln!(
            text,
            "{} ansible_host={} ansible_remote_tmp={} assay_target={} assay_unit=unit-{number} assay_slot=slot-{number}",
            node.name(),
            node.address(),
            node.temporary().join("ansible").display(),
            node.target().display(),
        );
    }
    let _ = write!(
        text,
        "\n[fleet:vars]\nansible_user=root\nansible_ssh_private_key_file={}\nansible_ssh_common_args='{}'\n",
        keys.private().display(),
        options.join(" "),
    );
    text
}

// The bridge and its links.

/// Makes the bridge on the control machine, and a link to each node and to the server. The link of the server is
/// limited to the bits per second in `server`.
fn connect(control: &Space, nodes: &[Node], server: Option<(&Space, u64)>) -> Result<(), Missing> {
    let mut lines = format!("link add name fleet type bridge\naddress add {CONTROL}/24 dev fleet\nlink set fleet up\n");
    let mut link = |name: &str, space: &Space| {
        let process = space.process();
        let _ = writeln!(lines, "link add name {name} type veth peer name eth0 netns {process}");
        let _ = writeln!(lines, "link set {name} master fleet up");
    };
    for (at, node) in nodes.iter().enumerate() {
        link(&format!("node{at}"), node.space());
    }
    if let Some((server, _)) = server {
        link("server", server);
    }
    batch(control, &lines)?;
    server.map_or(Ok(()), |(_, bits)| shape(control, "server", bits))
}

/// Shapes the server's own end of its link. The streams of the server share it by CUBIC, as on most servers. With BBR,
/// which may be the default of a host, many streams in a short queue starve each other for seconds.
fn shape_server(server: &Space, bits: u64) -> Result<(), Missing> {
    shape(server, "eth0", bits)?;
    let route = ["ip", "route", "change", "10.77.0.0/24", "dev", "eth0", "congctl", "cubic"];
    let network = network_of(server);
    let words: Vec<&str> = std::iter::once(network.as_str()).chain(route).collect();
    run("nsenter", &words).map(drop)
}

/// Limits a device to `bits` per second by a token bucket, as the port of a switch does: 957 of 1,000 Mbit/s reach a
/// TCP stream.
fn shape(space: &Space, device: &str, bits: u64) -> Result<(), Missing> {
    let (network, rate) = (network_of(space), format!("{bits}bit"));
    let words = [&network, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", &rate];
    let words: Vec<&str> = words.into_iter().chain(["burst", "256k", "latency", "50ms"]).collect();
    run("nsenter", &words).map(drop)
}

/// Runs lines of ip(8) in a network. Process numbers are those outside.
fn batch(space: &Space, lines: &str) -> Result<(), Missing> {
    let fail = |e: std::io::Error| Missing(format!("ip: {e}"));
    let mut ip = Command::new("nsenter")
        .args([&network_of(space), "ip", "-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    if let Some(mut input) = ip.stdin.take() {
        // What ip says about a line that it refuses is the better message.
        let _ = input.write_all(lines.as_bytes());
    }
    let output = ip.wait_with_output().map_err(fail)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Missing(format!("ip failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

fn network_of(space: &Space) -> String {
    format!("--net=/proc/{}/ns/net", space.process())
}
