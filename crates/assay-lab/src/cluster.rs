//! A cluster on one machine: nodes that ssh reaches, each in its own namespaces.

mod node;

pub use node::{Node, NodePlan, Space};

use std::fmt::Write as _;
use std::fs::{create_dir_all, write};
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use self::node::{CONTROL, Keys, SERVER};
use crate::host::{Missing, need, run};
use crate::limited::LimitedCard;

// The machines of a cluster: nodes, a control machine, and a server; and their inventory for Ansible.

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
fn write_inventory(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<PathBuf, Missing> {
    let path = directory.join("inventory.ini");
    std::fs::write(&path, inventory_text(nodes, keys)).map_err(|e| Missing(format!("{}: {e}", path.display())))?;
    Ok(path)
}

/// Writes `ssh_config`, and a program `bin/ssh` that reads it instead of the user's own.
fn write_ssh(directory: &Path, nodes: &[Node], keys: &Keys) -> Result<(), Missing> {
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

// Slurm on the control machine of a cluster: a controller, and daemons that act as nodes.

/// All nodes are idle within this time, even 28 of them beside compilers on two processors.
const SLURM_WITHIN: Duration = Duration::from_secs(90);
/// Ports of the daemons; they exist only in the network of the control machine.
const CONTROLLER_PORT: u16 = 6817;
const SLURM_PORT: u16 = 6900;

/// A controller and nodes `s1`, `s2`, …. All are processes of one machine, without accounts and without munge.
#[derive(Debug)]
pub struct Slurm<'a> {
    space: &'a Space,
    configuration: PathBuf,
    /// The controller, then the nodes.
    daemons: Vec<Child>,
}

impl<'a> Slurm<'a> {
    /// Starts Slurm and waits until all nodes are idle.
    ///
    /// # Errors
    /// [`Missing`] if Slurm is not installed.
    ///
    /// # Panics
    /// If the daemons of Slurm are installed and do not run.
    pub fn new(cluster: &'a Cluster, nodes: usize) -> Result<Self, Missing> {
        Self::started(cluster, nodes, |_, daemon| daemon)
    }

    /// A node on each card. The limits of the card apply to all processes of the node.
    ///
    /// # Errors
    /// [`Missing`] if Slurm is not installed, or if the kernel refuses a second mount.
    ///
    /// # Panics
    /// If the daemons of Slurm are installed and do not run.
    pub fn on(cluster: &'a Cluster, cards: &[LimitedCard]) -> Result<Self, Missing> {
        for card in cards {
            // The control machine released the mounts from outside.
            let mounted = cluster.control().command("mount").args([card.device().path(), card.path()]).status();
            if !mounted.is_ok_and(|status| status.success()) {
                return Err(Missing(format!("{} cannot be mounted on the control machine", card.path().display())));
            }
        }
        Self::started(cluster, cards.len(), |node, daemon| cards[node].limited(&daemon))
    }

    fn started(
        cluster: &'a Cluster,
        nodes: usize,
        daemon: impl Fn(usize, Command) -> Command,
    ) -> Result<Self, Missing> {
        need(&["slurmctld", "slurmd", "srun", "sinfo", "scontrol"])?;
        let directory = cluster.directory().join("slurm");
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", directory.display()));
        create_dir_all(directory.join("state")).map_err(fail)?;
        let configuration = directory.join("slurm.conf");
        write(&configuration, text(&directory, nodes)).map_err(fail)?;
        let mut slurm = Self { space: cluster.control(), configuration, daemons: Vec::new() };
        slurm.begin(slurm.daemon(&["slurmctld", "-D"]))?;
        for node in 0..nodes {
            let name = format!("s{}", node + 1);
            slurm.begin(daemon(node, slurm.daemon(&["slurmd", "-D", "-N", &name])))?;
        }
        let deadline = Instant::now() + SLURM_WITHIN;
        while slurm.idle() < nodes {
            assert!(Instant::now() < deadline, "{} of {nodes} nodes of Slurm are idle", slurm.idle());
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(slurm)
    }

    /// A command on the machine that submits jobs.
    #[must_use]
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.space.command(program);
        command.env("SLURM_CONF", &self.configuration);
        command
    }

    /// Ends the daemon of the node `number`, counted from 1, and tells the controller, which would notice only after a
    /// minute.
    ///
    /// # Panics
    /// If the controller does not answer.
    pub fn lose(&mut self, number: usize) {
        end(&mut self.daemons[number]);
        let name = format!("NodeName=s{number}");
        let updated = self.command("scontrol").args(["update", &name, "State=DOWN", "Reason=test"]).status();
        assert!(updated.is_ok_and(|status| status.success()), "scontrol update {name} failed");
    }

    fn daemon(&self, words: &[&str]) -> Command {
        let mut command = self.command(words[0]);
        command.args(&words[1..]);
        command
    }

    fn begin(&mut self, mut daemon: Command) -> Result<(), Missing> {
        daemon.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = daemon.get_program().display().to_string();
        self.daemons.push(daemon.spawn().map_err(|e| Missing(format!("{name}: {e}")))?);
        Ok(())
    }

    fn idle(&self) -> usize {
        let output = self.command("sinfo").args(["--Node", "--noheader", "--format", "%t"]).output();
        let count = |text: &[u8]| String::from_utf8_lossy(text).lines().filter(|state| state.trim() == "idle").count();
        output.map_or(0, |output| count(&output.stdout))
    }
}

impl Drop for Slurm<'_> {
    fn drop(&mut self) {
        // Processes that the daemons started end with the machine.
        self.daemons.iter_mut().for_each(end);
    }
}

fn end(daemon: &mut Child) {
    let _ = daemon.kill();
    let _ = daemon.wait();
}

/// slurm.conf(5). For daemons with their own names on one host, see "Multiple slurmd" in Slurm's guide for programmers.
fn text(directory: &Path, nodes: usize) -> String {
    let directory = directory.display();
    let last = SLURM_PORT + u16::try_from(nodes).unwrap_or(u16::MAX - SLURM_PORT);
    let first = SLURM_PORT + 1;
    format!(
        "ClusterName=lab\nSlurmctldHost=control(127.0.0.1)\nSlurmctldPort={CONTROLLER_PORT}\n\
         AuthType=auth/none\nCredType=cred/none\nSlurmUser=root\nSlurmdUser=root\nMpiDefault=none\n\
         ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
         SchedulerType=sched/builtin\nSelectType=select/cons_tres\nReturnToService=2\nKillWait=10\nSlurmdTimeout=60\n\
         StateSaveLocation={directory}/state\nSlurmdSpoolDir={directory}/%n\n\
         SlurmctldPidFile={directory}/controller.pid\nSlurmdPidFile={directory}/%n.pid\n\
         SlurmctldLogFile={directory}/controller.log\nSlurmdLogFile={directory}/%n.log\n\
         NodeName=s[1-{nodes}] NodeHostname=control NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    )
}

// A central volume: each node has a part of it as a block device over the network, behind the server's link.

/// First port of the server; each node has its own port.
const VOLUME_PORT: usize = 10_810;

/// Script that mounts a part on a node: NBD as a file, that file as a loop device that bypasses the page cache, and
/// ext4 on it. `$1` is the directory, `$2` the address of the part and `$3` its bytes.
const MOUNT: &str = r#"
mkdir -p "$1/nbd" "$1/nas"
: > "$1/nbd/disk"
nbdfuse "$1/nbd/disk" "$2" &
tries=0
until [ "$(stat -c %s "$1/nbd/disk" 2> /dev/null)" = "$3" ]; do
    tries=$((tries + 1))
    [ $tries -lt 300 ]
    sleep 0.1
done
device=$(losetup --find --show --direct-io=on "$1/nbd/disk")
mkfs.ext4 -q -O ^has_journal -E lazy_itable_init=0 "$device"
mount "$device" "$1/nas"
losetup --detach "$device"
echo mounted
wait
"#;

/// nbdkit on the server, a part in memory for each node, and the mounts on the nodes.
#[derive(Debug)]
pub struct Volume<'a> {
    cluster: &'a Cluster,
    processes: Vec<Child>,
}

impl<'a> Volume<'a> {
    /// Gives each node a part of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] without a server in the cluster, without nbdkit or without nbdfuse.
    pub fn new(cluster: &'a Cluster, bytes: u64) -> Result<Self, Missing> {
        need(&["nbdkit", "nbdfuse", "losetup", "mkfs.ext4"])?;
        let server = cluster.server().ok_or_else(|| Missing("needs a cluster with a server".to_owned()))?;
        let mut volume = Self { cluster, processes: Vec::new() };
        let fail = |e: std::io::Error| Missing(format!("volume: {e}"));
        let quiet = Stdio::null;
        for at in 0..cluster.nodes().len() {
            let mut nbdkit = server.command("nbdkit");
            let port = (VOLUME_PORT + at).to_string();
            nbdkit.args(["--foreground", "--exit-with-parent", "--port", &port, "memory", &bytes.to_string()]);
            volume.processes.push(nbdkit.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map_err(fail)?);
        }
        let mut mounting = Vec::new();
        for (at, node) in cluster.nodes().iter().enumerate() {
            let mut command = node.command("sh");
            let address = format!("nbd://{}:{}", cluster.server_address(), VOLUME_PORT + at);
            command.args(["-euc", MOUNT, "mount"]).arg(directory(node)).arg(address).arg(bytes.to_string());
            let mut child = command.stdin(quiet()).stdout(Stdio::piped()).stderr(quiet()).spawn().map_err(fail)?;
            mounting.extend(child.stdout.take());
            volume.processes.push(child);
        }
        for (node, said) in cluster.nodes().iter().zip(mounting) {
            let mut line = String::new();
            BufReader::new(said).read_line(&mut line).map_err(fail)?;
            if line.trim() != "mounted" {
                return Err(Missing(format!("{} could not mount its part of the volume", node.name())));
            }
        }
        Ok(volume)
    }

    /// The mount point of the part on a node.
    #[must_use]
    pub fn path(&self, node: &Node) -> PathBuf {
        directory(node).join("nas")
    }
}

fn directory(node: &Node) -> PathBuf {
    node.temporary().join("volume")
}

impl Drop for Volume<'_> {
    fn drop(&mut self) {
        for node in self.cluster.nodes() {
            let _ = node.command("umount").arg(directory(node).join("nas")).stderr(Stdio::null()).status();
        }
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
