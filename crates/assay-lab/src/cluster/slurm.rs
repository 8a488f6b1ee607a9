//! Slurm on the control machine of a cluster: a controller, and daemons that act as nodes.

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{Cluster, Space};
use crate::host::{Missing, need};
use crate::limited::LimitedCard;

/// All nodes are idle within this time, even 28 of them beside compilers on two processors.
const THERE_WITHIN: Duration = Duration::from_secs(90);
/// Ports of the daemons; they exist only in the network of the control machine.
const CONTROLLER_PORT: u16 = 6817;
const FIRST_PORT: u16 = 6900;

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
        let deadline = Instant::now() + THERE_WITHIN;
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
    let last = FIRST_PORT + u16::try_from(nodes).unwrap_or(u16::MAX - FIRST_PORT);
    let first = FIRST_PORT + 1;
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
