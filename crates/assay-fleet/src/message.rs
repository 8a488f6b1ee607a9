//! What nodes and their coordinator say to each other, as JSON; and the build of the program that they name, since figures of
//! two builds of one version may differ.

use std::fmt;

use assay_core::cluster::{Look, SettledBy, Standing};
use assay_core::medium::Mounted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::system;

/// Version of this protocol; both sides must speak the same.
pub(crate) const PROTOCOL: u32 = 4;

/// Longest name of a node or a run, in characters: it stands in lines of this protocol.
pub const LONGEST_NAME: usize = 64;

/// What a node says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromNode {
    /// The first line of a connection.
    Hello {
        /// Of the protocol.
        protocol: u32,
        /// Version of the program.
        version: String,
        /// Commit of its source; empty where it is not known.
        commit: String,
        /// The run that it wants to take part in.
        run: String,
        /// Its name.
        node: String,
        /// A number used once.
        nonce: String,
    },
    /// That it holds its key.
    Proof {
        /// A keyed hash over the greeting, 64 hexadecimal digits.
        proof: String,
    },
    /// Asks what the coordinator's clock reads.
    Ping {
        /// Sent, by the node's clock, in nanoseconds.
        sent: i64,
    },
    /// How it can run a workload, by a first look; one for each, in the order of the suite.
    Able {
        /// Number of the workload.
        workload: u32,
        /// Block in bytes.
        block_bytes: u64,
        /// Queue depth of each job.
        queue_depth: u32,
        /// Jobs.
        jobs: u32,
        /// How long one operation takes; null where unknown.
        look: Option<Look>,
    },
    /// All workloads were offered; the loads of the run may be settled.
    Offer {
        /// Number of offered workloads.
        loads: u32,
        /// Test area in bytes.
        area_bytes: u64,
        /// Time of the suite, in milliseconds.
        budget_ms: u64,
        /// Where the target lies.
        mounted: Mounted,
    },
    /// Ready for a repeat.
    Ready {
        /// 0 of reads, 1 of writes.
        stage: u32,
        /// Number of the repeat.
        round: u32,
        /// Number of the workload.
        workload: u32,
    },
    /// Its current activity, at most once a second.
    Live(Live),
    /// The record follows in the next frames.
    Record {
        /// Length in bytes.
        bytes: u64,
        /// BLAKE3 hash of these bytes, 64 hexadecimal digits.
        hash: String,
    },
}

/// The current activity of a node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// The step of the run: `layout`, `wait`, or the name of a workload.
    pub doing: String,
    /// Share of the repeats that are done, 0 to 1.
    pub done: f32,
    /// Bytes per second of the last sample; null where none is measured.
    pub bytes_per_second: Option<f64>,
    /// 99th percentile of the latency of the last sample, in nanoseconds.
    pub p99_ns: Option<f64>,
    /// The highest temperature, in degrees Celsius.
    pub celsius: Option<f64>,
}

/// What the coordinator says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "says", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromCoordinator {
    /// That it holds the key of the node too.
    Challenge {
        /// A number used once.
        nonce: String,
        /// A keyed hash over the greeting, 64 hexadecimal digits.
        proof: String,
    },
    /// The node takes part.
    Welcome {
        /// Which attempt of this node it is, from 1.
        attempt: u32,
        /// Nodes expected.
        nodes: u32,
        /// How they work.
        mode: String,
        /// How many measure at a time at most.
        at_a_time: u32,
    },
    /// It does not, and why.
    Refused {
        /// As text.
        reason: String,
    },
    /// The record is of another medium than expected.
    Misplaced {
        /// As text.
        reason: String,
    },
    /// The answer to `Ping`.
    Pong {
        /// As in the request.
        sent: i64,
        /// Received, by the coordinator's clock, in nanoseconds.
        received: i64,
        /// Answered, by the coordinator's clock, in nanoseconds.
        answered: i64,
    },
    /// How all nodes run a workload; one for each, in the order of the suite.
    Load {
        /// Number of the workload.
        workload: u32,
        /// Block in bytes.
        block_bytes: u64,
        /// Queue depth of each job.
        queue_depth: u32,
        /// Jobs.
        jobs: u32,
        /// Operations of this node over those of the reference node; null where either is unknown.
        to_typical: Option<f64>,
        /// Where this node stands.
        standing: Standing,
    },
    /// The loads of all workloads were sent.
    Settled {
        /// Who settled them.
        by: SettledBy,
        /// Number of nodes that had reported their abilities.
        nodes: u32,
        /// Test area of all nodes in bytes.
        area_bytes: u64,
        /// Number of workloads that were sent.
        loads: u32,
    },
    /// Leave a repeat out: the others are past it.
    Skip {
        /// 0 of reads, 1 of writes.
        stage: u32,
        /// Number of the repeat.
        round: u32,
        /// Number of the workload.
        workload: u32,
    },
    /// Begin a repeat.
    Go {
        /// 0 of reads, 1 of writes.
        stage: u32,
        /// Number of the repeat.
        round: u32,
        /// Number of the workload.
        workload: u32,
        /// When, by the coordinator's clock, in nanoseconds.
        at: i64,
        /// Nodes that begin together.
        nodes: u32,
    },
    /// The record is kept.
    Kept {
        /// Its identity.
        id: String,
    },
}

/// A build of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// The commit of its source; none where it is not known.
    pub commit: Option<String>,
}

impl Build {
    /// The build that `--version` tells of: the version in the first line, and the commit in one of its own.
    #[must_use]
    pub fn from_words(said: &str) -> Option<Self> {
        let mut lines = said.lines().map(str::trim);
        let version = lines.next()?.strip_prefix("assay ")?.to_owned();
        let commit = lines.find_map(|line| line.strip_prefix("commit ")).map(str::trim);
        Some(Self { version, commit: commit.and_then(known_commit) })
    }

    /// Whether both are of one source, as far as that is known.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.version == other.version
            && self.commit.as_ref().zip(other.commit.as_ref()).is_none_or(|(own, other)| own == other)
    }

    /// Its version; with the commit, where that is what differs from the other.
    #[must_use]
    pub fn told_from(&self, other: &Self) -> String {
        match &self.commit {
            Some(commit) if self.version == other.version => format!("{} of commit {commit}", self.version),
            _ => self.version.clone(),
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "assay {}", self.version)?;
        self.commit.as_ref().map_or(Ok(()), |commit| write!(f, " of commit {commit}"))
    }
}

/// A commit as a build names it; none where it says that it is not known.
#[must_use]
pub fn known_commit(named: &str) -> Option<String> {
    Some(named).filter(|named| !named.is_empty() && *named != "unknown").map(str::to_owned)
}

/// The variables by which nodes like this machine get this program where no directory with programs is named.
pub(crate) fn own_program() -> Map<String, Value> {
    let Some(program) = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok()) else {
        return Map::new();
    };
    let machine = format!("{}-{}", system::machine(), usize::BITS);
    Map::from_iter([("assay_own_program".to_owned(), json!(program)), ("assay_own_machine".to_owned(), json!(machine))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_two_commits_differ_and_what_is_not_known_does_not() {
        let of = |text: &str| Build::from_words(text).unwrap();
        let own = of("assay 1.0\ncommit    abc, with changes\ntarget    x\n");
        assert_eq!((own.version.as_str(), own.commit.as_deref()), ("1.0", Some("abc, with changes")));
        let (other, unknown, older) =
            (of("assay 1.0\ncommit    def"), of("assay 1.0\ncommit unknown"), of("assay 0.9"));
        assert!(!own.is_same(&other) && own.is_same(&unknown) && other.is_same(&unknown) && !own.is_same(&older));
        assert_eq!([own.told_from(&other), older.told_from(&own)], ["1.0 of commit abc, with changes", "0.9"]);
        assert_eq!(Build::from_words("fio-3.33"), None);
    }
}
