//! Why a node did not begin, from how its launcher ended and the last words of the node.

use assay_core::text::harmless;
use serde::{Deserialize, Serialize};

use crate::launch::NodeEnd;

/// Why a node that was reached, or refused to be, did not begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeCause {
    /// It does not let this user in, or its host key is another one.
    Denied,
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
const DENIED: &[&str] = &[
    "Permission denied (",
    "Host key verification failed",
    "REMOTE HOST IDENTIFICATION HAS CHANGED",
    "Too many authentication failures",
    "No supported authentication methods",
];
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
            return has(DENIED).then_some(Self::Denied).or(no_tunnel);
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
            "Host key verification failed.",
            "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures",
        ] {
            assert_eq!(of(false, Some(255), said), Some(NodeCause::Denied), "{said}");
        }
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
