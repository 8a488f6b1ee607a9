//! Why work on nodes was not begun, or ended before its end.

use std::io;
use std::path::PathBuf;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::launch::NodeEnd;
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

// Why a node did not begin, from how its launcher ended and the last words of the node.

/// Why a node that was reached, or refused to be, did not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeCause {
    /// It does not let this user in.
    Denied,
    /// Its host key is not the one that is known of it, or none is known.
    HostKey,
    /// Its ssh server allows no tunnel, through which it would reach the coordinator.
    NoTunnel,
    /// There is no such program.
    NoProgram,
    /// The program is one for another architecture.
    Architecture,
    /// The program has another version.
    Version,
    /// The target does not exist.
    NoTarget,
    /// There is too little space.
    NoSpace,
    /// The target is in use.
    InUse,
    /// Something else.
    Other,
}

/// What ssh(1) says where it is not let in.
const DENIED: &[&str] =
    &["Permission denied (", "Too many authentication failures", "No supported authentication methods"];
/// What ssh(1) says last where it does not trust the host key.
const HOST_KEY: &[&str] = &["Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED"];
/// What ssh(1) says where the other side does not listen for a tunnel.
const NO_TUNNEL: &str = "remote port forwarding failed";
/// What the kernel, shells and the collection say of a program for another machine. A shell without a word for it takes the
/// program for a script, and its first word for a command.
const ARCHITECTURE: &[&str] =
    &["xec format error", "cannot execute binary file", "\u{7f}ELF", "the program does not run on", "no program for "];
/// Messages of a node that has another version than the coordinator, or does not know an argument.
const VERSION: &[&str] = &["the node has assay ", "unexpected argument", "unrecognized subcommand", "invalid value "];
const NO_TARGET: &[&str] = &["no such file or directory", "not a directory", "assay_target is not set"];
const NO_SPACE: &[&str] = &[" free; assay needs at least ", "o space left on device", "isk quota exceeded"];
const IN_USE: &[&str] = &[": in use ("];
/// Exit codes of a POSIX shell: for a command that it cannot execute, and for one that it does not find.
const NOT_EXECUTABLE: i32 = 126;
const NOT_FOUND: i32 = 127;

impl NodeCause {
    /// The cause, from the last words that were `said`; `None` where the node was not reached at all.
    #[must_use]
    pub fn from_end(end: &NodeEnd, said: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|words| said.contains(words));
        if !end.reached {
            let no_tunnel = has(&[NO_TUNNEL]).then_some(Self::NoTunnel);
            let host_key = has(HOST_KEY).then_some(Self::HostKey);
            return has(DENIED).then_some(Self::Denied).or(host_key).or(no_tunnel);
        }
        let shell = matches!(end.code, Some(NOT_EXECUTABLE | NOT_FOUND));
        // A shell that reads a program as a script stumbles over its first bytes.
        let script = end.code == Some(2) && said.contains("yntax error");
        let known = [
            (has(ARCHITECTURE) || script, Self::Architecture),
            (shell, Self::NoProgram),
            (has(VERSION), Self::Version),
            (has(IN_USE), Self::InUse),
            (has(NO_SPACE), Self::NoSpace),
            (has(NO_TARGET), Self::NoTarget),
        ];
        Some(known.into_iter().find(|(holds, _)| *holds).map_or(Self::Other, |(_, cause)| cause))
    }
}

/// Longest reason in characters.
const LONGEST_REASON: usize = 300;

/// What a node, or a program that speaks of one, gives as a reason: one line, not too long.
pub(crate) fn bounded_reason(text: &str) -> String {
    let line = harmless(text.trim().trim_start_matches("assay: "));
    if line.chars().count() <= LONGEST_REASON {
        line
    } else {
        line.chars().take(LONGEST_REASON).collect::<String>() + " …"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(reached: bool, code: Option<i32>, said: &str) -> Option<NodeCause> {
        NodeCause::from_end(&NodeEnd { words: String::new(), code, reached }, said)
    }

    #[test]
    fn who_is_not_reached_is_told_from_who_does_not_let_in() {
        for said in [
            "ssh: connect to host n1 port 22: No route to host",
            "ssh: Could not resolve hostname nowhere: Name or service not known",
            "Connection timed out",
            "Slurm says it is down*",
            "",
        ] {
            assert_eq!(of(false, Some(255), said), None, "{said}");
        }
        for said in [
            "root@n1: Permission denied (publickey,password).",
            "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
        ] {
            assert_eq!(of(false, Some(255), said), Some(NodeCause::Denied), "{said}");
        }
        assert_eq!(of(false, Some(255), "Host key verification failed."), Some(NodeCause::HostKey));
        let tunnel = "Error: remote port forwarding failed for listen port 22001";
        assert_eq!(of(false, Some(255), tunnel), Some(NodeCause::NoTunnel), "it was reached");
    }

    #[test]
    fn each_reason_has_its_cause() {
        for (code, said, cause) in [
            (127, "sh: 1: exec: assay: not found", NodeCause::NoProgram),
            (127, "sh: line 1: exec: /no/assay: cannot execute: No such file or directory", NodeCause::NoProgram),
            (126, "sh: 1: exec: /opt/assay: Permission denied", NodeCause::NoProgram),
            (126, "sh: line 1: /opt/assay: cannot execute binary file: Exec format error", NodeCause::Architecture),
            (127, "/opt/assay: 1: \u{7f}ELF\u{2}: not found", NodeCause::Architecture),
            (2, "/opt/assay: 2: Syntax error: word unexpected", NodeCause::Architecture),
            (1, "no program for riscv64 with 64-bit programs in bin", NodeCause::Architecture),
            (
                4,
                "assay: this node cannot take part in run r: the node has assay 0.1.0, the coordinator 0.2.0; x",
                NodeCause::Version,
            ),
            (2, "error: unexpected argument '--fleet-run' found", NodeCause::Version),
            (2, "assay: /mnt/card: no such file or directory; give a directory", NodeCause::NoTarget),
            (4, "assay: /m has 8 KiB free; assay needs at least 1 MiB: free some space", NodeCause::NoSpace),
            (4, "assay: /m: No space left on device (os error 28)", NodeCause::NoSpace),
            (2, "assay: /dev/sda: in use (mounted at /); unmount it", NodeCause::InUse),
            (2, "assay: something else", NodeCause::Other),
        ] {
            assert_eq!(of(true, Some(code), said), Some(cause), "{said}");
        }
        assert_eq!(of(true, None, "it was killed"), Some(NodeCause::Other));
    }
}
