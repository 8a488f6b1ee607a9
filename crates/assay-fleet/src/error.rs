//! Why work on nodes was not begun, or ended before its end.

use std::io;
use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_store::StoreError;

use crate::message::LONGEST_NAME;

/// Why work on nodes was not begun, or ended before its end. Each message is one line.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    // What the user says of nodes.
    /// A name has other characters than protocols, tables and records take, or too many.
    #[error(
        "{what} {}: a name has up to {LONGEST_NAME} letters, digits and . _ - : @{}",
        harmless(name),
        if what == "node" { "; write NAME=TARGET, each an argument of its own, and node[01-28] for many" } else { "" }
    )]
    BadName {
        /// What is called so.
        what: String,
        /// The name.
        name: String,
    },
    /// A node is not named as `NAME` or `NAME=TARGET`.
    #[error("node {}: NAME or NAME=TARGET", harmless(.0))]
    BadNode(String),
    /// Brackets in the name of a node are not numbers.
    #[error("node {}: in brackets are numbers, as in node[01-28] or node[1,3-5]", harmless(.0))]
    BadRange(String),
    /// A node is named twice.
    #[error("node {0} is named twice")]
    TwiceNamed(String),
    /// Slurm does not understand an expression for nodes.
    #[error("{}", harmless(&.0.to_string()))]
    SlurmNames(io::Error),
    /// The path of this program, which nodes of this machine are to run, is not text.
    #[error("the path of this program is not text; use --program")]
    ProgramNotText,
    /// The path of this program is not known.
    #[error("this program: {0}")]
    ProgramUnknown(io::Error),

    /// No run is called so, or begins so.
    #[error("no run on a cluster is called {}; assay fleet list has them", harmless(.0))]
    UnknownRun(String),
    /// Several runs begin so.
    #[error("several runs begin with {}; assay fleet list has them", harmless(.0))]
    SeveralRuns(String),

    // The inventory.
    /// A file of the inventory cannot be found.
    #[error("inventory {}: {error}", shown(path))]
    InventoryMissing {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Ansible cannot read the inventory.
    #[error("inventory {inventory} cannot be read: {reason}")]
    InventoryUnread {
        /// Its files.
        inventory: String,
        /// What Ansible says.
        reason: String,
    },
    /// A host of the inventory cannot be used.
    #[error("inventory {inventory}: {node}: {reason}")]
    InventoryHost {
        /// Its files.
        inventory: String,
        /// The host.
        node: String,
        /// What Ansible says.
        reason: String,
    },
    /// The inventory has no host.
    #[error("inventory {0} names no host")]
    InventoryEmpty(String),
    /// The pattern of the user matches no host.
    #[error("--limit {} matches no host of inventory {inventory}", harmless(limit))]
    LimitMatchesNone {
        /// The pattern.
        limit: String,
        /// Files of the inventory.
        inventory: String,
    },
    /// The name of a host would be read as an option or as a file.
    #[error("host {0}: a name begins with a letter or a digit")]
    HostPrefix(String),
    /// Two hosts have the same unit.
    #[error("{first} and {second} have the same assay_unit, {}; each medium has its own", harmless(unit))]
    SameUnit {
        /// One host.
        first: String,
        /// The other.
        second: String,
        /// The unit.
        unit: String,
    },
    /// A host has no target.
    #[error("{0}: the inventory has no assay_target for it")]
    NoTarget(String),
    /// Fewer connections are allowed than nodes wait for each other.
    #[error("{0} nodes wait for each other and need --forks {0}")]
    TooFewForks(usize),
    /// A host is reached in a way that has no tunnel, and the coordinator listens on this machine alone.
    #[error("{0} is not reached by ssh: --listen ADDRESS:PORT names where nodes find this machine")]
    NoTunnel(String),
    /// A host of the run is no longer in its inventory.
    #[error("the inventory of this run no longer has a host {}", harmless(.0))]
    HostGone(String),
    /// The directory with programs for nodes cannot be used.
    #[error("--binaries {}: {error}", shown(path))]
    Binaries {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },

    // The plan.
    /// An argument names a suite, which is the plan's.
    #[error("the plan names the suite; leave --suite out")]
    PlanHasSuite,
    /// An argument has a label that is the plan's.
    #[error("the plan names model, unit, slot and round; leave {} out", harmless(.0))]
    PlanHasLabel(String),
    /// A slot of the plan has no node.
    #[error(
        "the plan has slot {}, and no node is called so{}; its slots are {}",
        harmless(slot),
        if *inventory { " or has it as assay_slot" } else { "" },
        harmless(&slots.join(", "))
    )]
    EmptySlot {
        /// The slot.
        slot: String,
        /// All slots of the plan.
        slots: Vec<String>,
        /// Whether an inventory can name slots.
        inventory: bool,
    },
    /// A slot of the plan has two nodes.
    #[error("{first} and {second} are both slot {}", harmless(slot))]
    SharedSlot {
        /// The slot.
        slot: String,
        /// One node.
        first: String,
        /// The other.
        second: String,
    },
    /// The run is no turn of a plan.
    #[error("the run is no turn of a plan")]
    NoTurn,
    /// The plan has no order of loads for a turn.
    #[error("the plan has no order for this round")]
    NoOrder,

    // This machine.
    /// The directory for playbooks and records cannot be made or written.
    #[error("temporary directory: {0}")]
    TemporaryDirectory(io::Error),
    /// Ansible is not here.
    #[error("there is no ansible-playbook; the package ansible-core has it")]
    NoAnsible,
    /// Ansible cannot be started.
    #[error("ansible-playbook: {0}")]
    AnsibleNotStarted(io::Error),
    /// A playbook did not come to its end.
    #[error("ansible-playbook: {0}")]
    Playbook(String),
    /// The run was begun in a way that this program does not know.
    #[error("nodes of this run are started by {}", harmless(.0))]
    UnknownLauncher(String),
    /// The kernel gives no random numbers.
    #[error("no random numbers: {0}")]
    NoRandom(io::Error),
    /// The coordinator cannot listen.
    #[error("{address}: {error}; --listen names another address")]
    Listen {
        /// Where it should.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// The system allows too few open files.
    #[error("{nodes} nodes need {wanted} open files, and the limit is {most}; ulimit -n or LimitNOFILE= raises it")]
    OpenFiles {
        /// How many nodes there are.
        nodes: usize,
        /// How many files they need.
        wanted: u64,
        /// How many the system allows.
        most: u64,
    },
    /// The system gives no thread.
    #[error("no thread: {0}")]
    NoThread(io::Error),
    /// The store of this machine fails.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// The user ended a play.
    #[error("interrupted; what was done on the nodes until then stays")]
    PlayInterrupted,
    /// The user ended the command.
    #[error("interrupted")]
    Interrupted,
}

impl FleetError {
    /// How a command ends by it.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::BadName { .. }
            | Self::BadNode(_)
            | Self::BadRange(_)
            | Self::TwiceNamed(_)
            | Self::SlurmNames(_)
            | Self::ProgramNotText
            | Self::UnknownRun(_)
            | Self::SeveralRuns(_)
            | Self::InventoryMissing { .. }
            | Self::InventoryUnread { .. }
            | Self::InventoryHost { .. }
            | Self::InventoryEmpty(_)
            | Self::LimitMatchesNone { .. }
            | Self::HostPrefix(_)
            | Self::SameUnit { .. }
            | Self::NoTarget(_)
            | Self::TooFewForks(_)
            | Self::NoTunnel(_)
            | Self::HostGone(_)
            | Self::Binaries { .. }
            | Self::PlanHasSuite
            | Self::PlanHasLabel(_)
            | Self::EmptySlot { .. }
            | Self::SharedSlot { .. }
            | Self::NoTurn
            | Self::NoOrder => Exit::Usage,
            Self::ProgramUnknown(_)
            | Self::TemporaryDirectory(_)
            | Self::NoAnsible
            | Self::AnsibleNotStarted(_)
            | Self::Playbook(_)
            | Self::UnknownLauncher(_)
            | Self::NoRandom(_)
            | Self::Listen { .. }
            | Self::OpenFiles { .. }
            | Self::NoThread(_) => Exit::Environment,
            Self::Store(error) => error.exit(),
            Self::PlayInterrupted | Self::Interrupted => Exit::Interrupted,
        }
    }
}

/// A path in a message.
pub(crate) fn shown(path: &std::path::Path) -> String {
    harmless(&path.to_string_lossy())
}
