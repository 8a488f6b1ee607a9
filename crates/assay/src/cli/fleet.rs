//! Arguments of `assay fleet`, and how nodes are reached.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::values;
use super::watch::{WatchHowArgs, WatchRunArgs, name};

pub(crate) const EXAMPLES: &str = "\
Examples:
  assay fleet run node1 node2 node3 --target /mnt/card
  assay fleet check -i cards.ini --binaries bin
  assay fleet run -i cards.ini --binaries bin
  assay fleet run --resume 7k2m9
  assay fleet list
  assay fleet report                    what the newest run says";

const RUN_EXAMPLES: &str = "\
Examples:
  assay fleet run node1 node2 node3 --target /mnt/card
                                        by ssh, all at once
  assay fleet run 'node[01-28]=/mnt/card' -- --suite quick
                                        node01 to node28
  assay fleet run node1=/mnt/a node2=/mnt/b --alone
                                        one after the other
  assay fleet run --via local a=/mnt/a b=/mnt/b -- --suite quick --budget 60s
                                        cards in two slots of this machine
  assay fleet run -i cards.ini --binaries bin -- --suite quick
                                        the hosts of an inventory of Ansible
  assay fleet run --resume 7k2m9        nodes that are missing, once more
  assay fleet run --rotate plan.toml node1 node2 node3
                                        a round of a plan; the units are moved
  assay fleet report 7k2m9              odd nodes, total throughput
  assay rank fleet=7k2m9                which model is best";

const REPORT_EXAMPLES: &str = "\
Examples:
  assay fleet report                    the newest run
  assay fleet report 7k2m9 -o run.html  a page with pictures
  assay fleet report 7k2m9 --against 3x9qc
                                        against the same nodes one at a time
  assay fleet report records/           what the Ansible collection collected";

#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Ask nodes what they are, and whether a suite would fit
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<FleetCheckArgs>),
    /// Measure on many nodes at once, and bring the records here
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<FleetRunArgs>),
    /// Fetch the records of a run that are still on the nodes
    #[command(after_help = COLLECT_EXAMPLES)]
    Collect(Box<FleetCollectArgs>),
    /// Remove from nodes what killed runs left, and what Ansible put there
    #[command(after_help = CLEAN_EXAMPLES)]
    Clean(Box<FleetCleanArgs>),
    /// Watch the media of all nodes each night
    Watch(FleetWatchArgs),
    /// List runs on clusters, and what became of each node
    List(FleetListArgs),
    /// Report odd nodes, total throughput, and loss from running at once
    #[command(after_help = REPORT_EXAMPLES)]
    Report(FleetReportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetRunArgs {
    /// Node as NAME or NAME=TARGET, also node[01-28]=TARGET; with ssh the name is the host
    #[arg(value_name = "NODE", required_unless_present_any = ["resume", "inventory"], conflicts_with = "inventory")]
    pub(crate) nodes: Vec<String>,

    /// How nodes are reached; by default ssh, and ansible with an inventory
    #[arg(long, value_enum)]
    pub(crate) via: Option<ViaArg>,

    #[command(flatten)]
    pub(crate) inventory: InventoryArgs,

    /// Directory with static programs for the nodes: assay-aarch64, assay-armv7l, …; or the inventory's assay_binaries. Without
    /// one, nodes like this machine get this program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "inventory")]
    pub(crate) binaries: Option<PathBuf>,

    /// What is measured on nodes that name no target of their own
    #[arg(long, value_name = "PATH", default_value = ".", conflicts_with = "inventory")]
    pub(crate) target: String,

    /// One node at a time, to compare runs at once with
    #[arg(long, conflicts_with = "staggered")]
    pub(crate) alone: bool,

    /// N nodes at a time
    #[arg(long, value_name = "N", value_parser = values::count(1..=100_000))]
    pub(crate) staggered: Option<u32>,

    /// Measure a round of this plan on the nodes, which are its slots; then list the units to move
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub(crate) rotate: Option<PathBuf>,

    /// The program assay on the nodes; with --via local this one
    #[arg(long, value_name = "PATH", conflicts_with = "inventory")]
    pub(crate) program: Option<String>,

    /// Address that nodes connect to; by default a Unix socket, which ssh nodes reach through their tunnel; with Slurm a port on all
    /// addresses of this host
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// Time in which nodes have to be ready for the first repeat
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = values::ready_within)]
    pub(crate) ready_within: Duration,

    /// Start when at least N nodes are ready in time; by default more than half
    #[arg(long, value_name = "N", value_parser = values::count(0..=u32::MAX))]
    pub(crate) quorum: Option<u32>,

    /// Repeat nodes whose record is missing, in this run or by default in the last one; with a plan whose round is complete, begin
    /// the next round
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last",
          conflicts_with_all = ["nodes", "via", "target", "alone", "staggered", "program", "arguments", "inventory",
                                "rotate"])]
    pub(crate) resume: Option<String>,

    /// Print one JSON document
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,

    /// Print events as JSON lines while it runs
    #[arg(long)]
    pub(crate) events: bool,

    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Further arguments for assay run on each node, like --suite quick
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("output", |arg| arg.help(super::analysis::WITH_PICTURE)))]
pub(crate) struct FleetReportArgs {
    /// Run as fleet list shows it, last, a label fleet=RUN, or a directory of records; by default the newest run
    #[arg(value_name = "RUN", value_hint = ValueHint::Other)]
    pub(crate) run: Option<String>,

    /// Run of the same nodes to compare with, or none; by default the newest that measured fewer nodes at a time
    #[arg(long, value_name = "RUN|none")]
    pub(crate) against: Option<String>,

    /// Show everything in full: all tables with all figures, also of more than 12 nodes
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) file: super::FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

// How nodes are reached, and arguments of the commands of `assay fleet` that go through Ansible, and of those that only look.

pub(crate) const CHECK_EXAMPLES: &str = "\
Examples:
  assay fleet check -i cards.ini --binaries bin
                                        by Ansible, which brings the program
  assay fleet check node1=/mnt/a node2=/mnt/b -- --suite quick
                                        by ssh, with assay on the nodes

Exit code 1: a node cannot be measured; a line says which and why.";

pub(crate) const COLLECT_EXAMPLES: &str = "\
Examples:
  assay fleet collect 7k2m9             what nodes did not send
  assay fleet collect monday -i cards.ini
                                        a run of the playbook assay.fleet.run";

pub(crate) const CLEAN_EXAMPLES: &str = "\
Examples:
  assay fleet clean 'node[01-28]=/mnt/card'
                                        what killed runs left, by ssh
  assay fleet clean -i cards.ini        also what Ansible put there, but records
  assay fleet clean -i cards.ini --records
                                        also the records";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViaArg {
    /// By the ssh of the system, with keys and no password; nodes reach the coordinator through its tunnel
    Ssh,
    /// By srun of Slurm: nodes by its names; they connect to this machine
    Slurm,
    /// By ansible-playbook with an inventory: it puts the program on each node
    Ansible,
    /// As processes of this machine
    Local,
}

#[derive(Debug, Args)]
pub(crate) struct InventoryArgs {
    /// Inventory of Ansible: a file (INI, YAML), a directory or a program that prints one
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub(crate) inventory: Vec<PathBuf>,

    /// Only these hosts of the inventory: a pattern of Ansible
    #[arg(short, long, value_name = "PATTERN", requires = "inventory")]
    pub(crate) limit: Option<String>,

    /// Connections at a time; default: one for each node, but 28 at most with check and clean
    #[arg(long, value_name = "N", requires = "inventory", value_parser = values::count(1..=10_000))]
    pub(crate) forks: Option<u32>,
}

/// The nodes, and how they are reached.
#[derive(Debug, Args)]
pub(crate) struct ReachArgs {
    /// Node as NAME or NAME=TARGET, also node[01-28]=TARGET; with ssh the name is the host
    #[arg(value_name = "NODE", required_unless_present = "inventory", conflicts_with = "inventory")]
    pub(crate) nodes: Vec<String>,

    /// How nodes are reached; by default ssh, and ansible with an inventory
    #[arg(long, value_enum)]
    pub(crate) via: Option<ViaArg>,

    /// What is measured on nodes that name no target of their own
    #[arg(long, value_name = "PATH", default_value = ".", conflicts_with = "inventory")]
    pub(crate) target: String,

    /// The program assay on the nodes; with --via local this one
    #[arg(long, value_name = "PATH", conflicts_with = "inventory")]
    pub(crate) program: Option<String>,

    /// Address that nodes connect to; by default a Unix socket, which ssh nodes reach through their tunnel; with Slurm a port on all
    /// addresses of this host
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) inventory: InventoryArgs,

    /// Directory with static programs for the nodes: assay-aarch64, assay-armv7l, …; or the inventory's assay_binaries. Without
    /// one, nodes like this machine get this program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "inventory")]
    pub(crate) binaries: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCheckArgs {
    #[command(flatten)]
    pub(crate) reach: ReachArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Further arguments for assay run on each node, like --suite quick
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCollectArgs {
    /// The run: as assay fleet list shows it, or the assay_run of the playbook
    #[arg(value_name = "RUN")]
    pub(crate) run: String,

    /// Nodes to ask; by default those of the run
    #[arg(value_name = "NODE", conflicts_with = "inventory")]
    pub(crate) nodes: Vec<String>,

    /// How nodes are reached; by default as in the run
    #[arg(long, value_enum)]
    pub(crate) via: Option<ViaArg>,

    /// The program assay on the nodes; by default as in the run
    #[arg(long, value_name = "PATH", conflicts_with = "inventory")]
    pub(crate) program: Option<String>,

    #[command(flatten)]
    pub(crate) inventory: InventoryArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCleanArgs {
    /// Node as NAME or NAME=TARGET, also node[01-28]=TARGET; with ssh the name is the host
    #[arg(value_name = "NODE", required_unless_present = "inventory", conflicts_with = "inventory")]
    pub(crate) nodes: Vec<String>,

    /// How nodes are reached; by default ssh, and ansible with an inventory
    #[arg(long, value_enum)]
    pub(crate) via: Option<ViaArg>,

    /// What is measured on nodes that name no target of their own
    #[arg(long, value_name = "PATH", default_value = ".", conflicts_with = "inventory")]
    pub(crate) target: String,

    /// The program assay on the nodes; with --via local this one
    #[arg(long, value_name = "PATH", conflicts_with = "inventory")]
    pub(crate) program: Option<String>,

    #[command(flatten)]
    pub(crate) inventory: InventoryArgs,

    /// Also remove the records on the nodes; the store of this machine stays as it is
    #[arg(long)]
    pub(crate) records: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

// The watch of a cluster.

const FLEET_ADD_EXAMPLES: &str = "\
Examples:
  assay fleet watch add 'node[01-28]=/mnt/card' --named rig
  assay fleet watch add -i cards.ini --binaries bin --notify 'ntfy publish rig'
  assay fleet watch add --via local a=/mnt/a b=/mnt/b --print";
const FLEET_RUN_EXAMPLES: &str = "\
Examples:
  assay fleet watch run rig
  assay watch status rig-node07";
const FLEET_REMOVE_EXAMPLES: &str = "\
Examples:
  assay fleet watch remove rig";
#[derive(Debug, Args)]
pub(crate) struct FleetWatchArgs {
    #[command(subcommand)]
    pub(crate) command: FleetWatchCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetWatchCommand {
    /// Watch the media of all nodes: measure them at once each night, by a timer on this machine
    #[command(after_help = FLEET_ADD_EXAMPLES)]
    Add(Box<FleetWatchAddArgs>),
    /// Measure a night of all nodes now, and say what changed
    #[command(after_help = FLEET_RUN_EXAMPLES)]
    Run(WatchRunArgs),
    /// End the watch of all nodes: removes its timer and their levels, and keeps their records
    #[command(after_help = FLEET_REMOVE_EXAMPLES)]
    Remove {
        /// Name of the watched cluster
        #[arg(value_name = "WATCH")]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct FleetWatchAddArgs {
    #[command(flatten)]
    pub(crate) reach: ReachArgs,

    /// Name of the watch; the medium of a node is watched as WATCH-NODE
    #[arg(long = "named", value_name = "WATCH", value_parser = name, default_value = "fleet")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) how: WatchHowArgs,
}
