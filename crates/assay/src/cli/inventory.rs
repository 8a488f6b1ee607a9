//! How nodes are reached, and arguments of the commands of `assay fleet` that go through Ansible, and of those that only look.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

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
  assay fleet clean -i cards.ini        all but the records
  assay fleet clean -i cards.ini --records
                                        also the records";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViaArg {
    /// By the ssh of the system, with keys and no password; nodes reach the coordinator through its tunnel
    Ssh,
    /// By srun of Slurm: nodes by its names, also as node[01-28]; they connect to this machine
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

    /// Connections at a time; by default one for each node, up to 28; run has one for each
    #[arg(long, value_name = "N", requires = "inventory", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) forks: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCheckArgs {
    /// Node as NAME or NAME=TARGET; with ssh the name is the host
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

    /// Directory with static programs for the nodes: assay-aarch64, assay-armv7l, …; or the inventory's assay_binaries
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "inventory")]
    pub(crate) binaries: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Further arguments for assay run on each node, like --suite quick
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetCollectArgs {
    /// The run: as assay fleet list has it, or the assay_run of the playbook
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
    /// How nodes are reached: ansible, which put something there
    #[arg(long, value_enum)]
    pub(crate) via: Option<ViaArg>,

    #[command(flatten)]
    pub(crate) inventory: InventoryArgs,

    /// Also remove the records on the nodes; records in the store of this machine stay
    #[arg(long)]
    pub(crate) records: bool,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl InventoryArgs {
    /// As a run was begun with.
    pub(crate) fn of(kept: &assay_fleet::Inventory) -> Self {
        Self { inventory: kept.files.clone(), limit: kept.limit.clone(), forks: None }
    }
}
