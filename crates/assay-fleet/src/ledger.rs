//! The state of a run on a cluster, node by node. It is saved after each change, so that the run can be resumed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_analysis::plan::MOST_INVALID;
use assay_analysis::{Achieved, NoResult, result_of, why_invalid};
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_engine::wall_clock;
use assay_store::new_id;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::NodeCause;
use crate::error::bounded_reason;
use crate::launch::NodeEnd;
use crate::meeting::Mode;
use crate::settle::Settled;

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ledger {
    /// Version of this document.
    pub version: u32,
    /// Identity of the run.
    pub run: String,
    /// When it was begun, RFC 3339, UTC.
    pub created: String,
    /// How nodes are started: `local`, `ssh`, `slurm` or `ansible`.
    pub via: String,
    /// How they measure: `simultaneous`, `staggered` or `alone`.
    pub mode: String,
    /// How many measure at a time at most; none for all.
    pub at_a_time: Option<u32>,
    /// The program on the nodes.
    pub program: String,
    /// Further arguments of the program.
    pub arguments: Vec<String>,
    /// Further input of Ansible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inventory: Option<Inventory>,
    /// For an experiment plan, the turn of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// The loads that all nodes run; absent before they are settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    /// Each node.
    pub nodes: Vec<NodeEntry>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeEntry {
    /// Its name.
    pub name: String,
    /// The target.
    pub target: String,
    /// For an experiment plan, the unit that is expected there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<NodeUnit>,
    /// For an experiment plan, the identity that the medium reported before it was measured: CID or serial number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<String>,
    /// Attempts so far.
    pub attempts: u32,
    /// How many attempts before the last one gave an invalid record.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid_before: u32,
    /// How the last one ended; none where it did not.
    pub fate: Option<Fate>,
}

/// How an attempt of a node ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// Its record is here.
    Recorded {
        /// Identity of the record.
        id: String,
    },
    /// Its medium failed, which is a result: the record is here.
    MediumFailed {
        /// Identity of the record.
        id: String,
        /// How it failed.
        reason: String,
    },
    /// Its record is here, and not complete.
    Incomplete {
        /// Identity of the record.
        id: String,
        /// Why.
        reason: String,
    },
    /// Its record is here and invalid, so that the node is measured again.
    Invalid {
        /// Identity of the record.
        id: String,
        /// Why.
        reason: String,
    },
    /// It never answered.
    Unreachable {
        /// What the launcher said.
        reason: String,
    },
    /// It was reached, and did not begin; or it did not let this user in.
    NotBegun {
        /// Why.
        cause: NodeCause,
        /// The last words of the node.
        reason: String,
    },
    /// It was not ready in time.
    Late,
    /// Too few others were ready.
    TooFew,
    /// It was lost on the way.
    Lost {
        /// When it was lost, and the symptoms.
        reason: String,
    },
    /// Its record was not taken.
    NotTaken {
        /// Why.
        reason: String,
    },
    /// The run was interrupted before.
    Interrupted,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// There is a result of each node.
    Whole,
    /// There is a result of each node, and a medium failed.
    MediumFailed,
    /// There are nodes without a result, and the run was interrupted.
    Interrupted,
    /// There are nodes without a result, as their records are invalid.
    Invalid,
    /// There are nodes without a result.
    Missing,
}

impl Fate {
    /// Whether there is a result. A medium that failed is a result, too.
    #[must_use]
    pub fn is_result(&self) -> bool {
        matches!(self, Self::Recorded { .. } | Self::MediumFailed { .. })
    }

    /// That of a node that ended before it joined.
    #[must_use]
    pub fn before(end: &NodeEnd, said: &str) -> Self {
        let reason = bounded_reason(if said.is_empty() { &end.words } else { said });
        match NodeCause::from_end(end, &reason) {
            Some(cause) => Self::NotBegun { cause, reason },
            None => Self::Unreachable { reason },
        }
    }

    /// That of a node whose record was accepted: it ended as its record did.
    #[must_use]
    pub fn of_record(record: &Record) -> Self {
        let (id, reason) = (record.id.clone(), record.outcome.sentence());
        let record = &Observation::from(record);
        match result_of(record) {
            Ok(Achieved::Measured) => Self::Recorded { id },
            Ok(Achieved::MediumFailed(_)) => Self::MediumFailed { id, reason },
            Err(NoResult::Invalid) => Self::Invalid { id, reason: why_invalid(record) },
            Err(NoResult::Running | NoResult::Unfinished(_)) => Self::Incomplete { id, reason },
        }
    }

    /// Whether its record is here and invalid.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Invalid { .. })
    }

    /// Whether it says more than an earlier one of the same attempt: why a node was not ready.
    #[must_use]
    pub fn explains(&self, earlier: &Self) -> bool {
        matches!(earlier, Self::Late) && matches!(self, Self::NotBegun { .. } | Self::Unreachable { .. })
    }

    /// The record that is here.
    #[must_use]
    pub fn record(&self) -> Option<&str> {
        match self {
            Self::Recorded { id }
            | Self::MediumFailed { id, .. }
            | Self::Incomplete { id, .. }
            | Self::Invalid { id, .. } => Some(id),
            _ => None,
        }
    }
}

impl NodeEntry {
    /// A node that was not begun.
    #[must_use]
    pub fn new(name: &str, target: &str) -> Self {
        Self {
            name: name.to_owned(),
            target: target.to_owned(),
            cell: None,
            medium: None,
            attempts: 0,
            invalid_before: 0,
            fate: None,
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Ledger {
    /// Version that this program writes: 2 has turns of a plan.
    pub const VERSION: u32 = 2;

    /// A run that begins now, whose nodes are started `via` a launcher of this name.
    #[must_use]
    pub fn begun(via: &str, mode: Mode, program: String, arguments: Vec<String>, nodes: Vec<NodeEntry>) -> Self {
        Self {
            version: Self::VERSION,
            run: new_id(),
            created: wall_clock(),
            via: via.to_owned(),
            mode: mode.name().to_owned(),
            at_a_time: match mode {
                Mode::Simultaneous => None,
                Mode::Staggered(most) => Some(most),
            },
            program,
            arguments,
            inventory: None,
            rotation: None,
            settled: None,
            nodes,
        }
    }

    /// Takes what the file of the run has now. What media were asked here is newer than that.
    pub fn renew(&mut self, now: Self) {
        let asked = std::mem::replace(self, now).nodes;
        for entry in &mut self.nodes {
            let known = asked.iter().find(|known| known.name == entry.name);
            entry.medium = known.and_then(|known| known.medium.clone()).or_else(|| entry.medium.take());
        }
    }

    /// Begins the next attempt of the nodes whose record is missing.
    pub fn begin_attempt(&mut self) {
        for number in self.missing() {
            let node = &mut self.nodes[number];
            node.invalid_before += u32::from(node.fate.as_ref().is_some_and(Fate::is_invalid));
            (node.attempts, node.fate) = (node.attempts + 1, None);
        }
    }

    /// Numbers of the nodes without a result: their record is missing, not complete, or invalid.
    #[must_use]
    pub fn missing(&self) -> Vec<usize> {
        let done = |entry: &NodeEntry| entry.fate.as_ref().is_some_and(Fate::is_result);
        (0..self.nodes.len()).filter(|node| !done(&self.nodes[*node])).collect()
    }

    /// Numbers of the nodes of a turn of a plan that were invalid so often that the turn goes on without them.
    #[must_use]
    pub fn given_up(&self) -> Vec<usize> {
        let most = u32::try_from(MOST_INVALID).unwrap_or(u32::MAX);
        let again = |entry: &NodeEntry| {
            entry.fate.as_ref().is_some_and(Fate::is_invalid) && entry.invalid_before.saturating_add(1) >= most
        };
        (0..self.nodes.len()).filter(|node| self.rotation.is_some() && again(&self.nodes[*node])).collect()
    }

    /// Whether a turn of a plan waits for nodes that are measured again.
    #[must_use]
    pub fn holds_turn(&self) -> bool {
        let given_up = self.given_up();
        self.missing().iter().any(|node| !given_up.contains(node))
    }

    /// How many of them have an invalid record.
    #[must_use]
    pub fn invalid(&self) -> usize {
        self.nodes.iter().filter(|entry| entry.fate.as_ref().is_some_and(Fate::is_invalid)).count()
    }

    /// How the run ended.
    #[must_use]
    pub fn end(&self) -> RunEnd {
        let any = |is: fn(&Fate) -> bool| self.nodes.iter().any(|entry| entry.fate.as_ref().is_some_and(is));
        let missing = self.missing();
        let invalid = self.invalid();
        match missing.is_empty() {
            true if any(|fate| matches!(fate, Fate::MediumFailed { .. })) => RunEnd::MediumFailed,
            true => RunEnd::Whole,
            false if any(|fate| *fate == Fate::Interrupted) => RunEnd::Interrupted,
            false if invalid == missing.len() => RunEnd::Invalid,
            false => RunEnd::Missing,
        }
    }

    /// Parses the JSON text.
    ///
    /// # Errors
    /// Where the text is invalid, or of a newer version.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let ledger: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if ledger.version > Self::VERSION {
            return Err(format!("version {} is newer than this program", ledger.version));
        }
        Ok(ledger)
    }

    /// The JSON text.
    ///
    /// # Errors
    /// No error is known.
    pub fn to_json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self).map_err(|error| error.to_string())
    }
}

// The inventory and the variables that Ansible gets for a run.

/// Inventory and variables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inventory {
    /// Inventories, from the root.
    pub files: Vec<PathBuf>,
    /// Pattern of hosts; none for all.
    pub limit: Option<String>,
    /// Variables of the role beside those of the run, like `assay_binaries`.
    pub variables: Map<String, Value>,
    /// How nodes are reached, as the inventory has it now.
    #[serde(skip)]
    pub routes: BTreeMap<String, Route>,
}

/// How a node is reached.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Route {
    /// By ssh, through which the coordinator can be reached.
    pub ssh: bool,
    /// Further arguments for ssh, from the inventory.
    pub ssh_extra_args: String,
    /// The slot that the inventory names; empty where it names none.
    pub slot: String,
}

// Runs that are turns of an experiment plan: between two of them a person moves units from slot to slot.

/// The turn of an experiment plan that a run is. Round and wave are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rotation {
    /// Label of the plan.
    pub plan: String,
    /// Round.
    pub round: usize,
    /// Wave of the round.
    pub wave: usize,
    /// All nodes with their slots. A node may have no unit in a turn.
    pub places: Vec<RotationPlace>,
}

/// A node as a place for units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotationPlace {
    /// The node.
    pub node: String,
    /// The target.
    pub target: String,
    /// The slot of the plan.
    pub slot: String,
}

/// The unit that a node has in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NodeUnit {
    /// Model of the unit.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Where it is.
    pub slot: String,
}

impl NodeUnit {
    /// As labels of its record.
    #[must_use]
    pub fn labels(&self) -> [(&'static str, &str); 3] {
        [("model", &self.model), ("unit", &self.unit), ("slot", &self.slot)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_as_its_nodes_did() {
        let id = || "a".to_owned();
        let failed = || Fate::MediumFailed { id: id(), reason: String::new() };
        let end = |fates: &[Fate]| {
            let node = |fate: &Fate| NodeEntry { fate: Some(fate.clone()), ..NodeEntry::new("n", "/m") };
            let nodes = fates.iter().map(node).collect();
            Ledger::begun("ssh", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes).end()
        };
        assert_eq!(end(&[Fate::Recorded { id: id() }]), RunEnd::Whole);
        assert_eq!(end(&[Fate::Recorded { id: id() }, failed()]), RunEnd::MediumFailed);
        assert_eq!(end(&[failed(), Fate::Late]), RunEnd::Missing);
        assert_eq!(end(&[Fate::Late, Fate::Interrupted, failed()]), RunEnd::Interrupted);
        let invalid = || Fate::Invalid { id: id(), reason: String::new() };
        assert_eq!(end(&[Fate::Recorded { id: id() }, failed(), invalid()]), RunEnd::Invalid);
        assert_eq!(end(&[Fate::Late, invalid()]), RunEnd::Missing);
        assert_eq!(end(&[Fate::Incomplete { id: id(), reason: String::new() }]), RunEnd::Missing);
    }

    /// As the plan counts it.
    #[test]
    fn a_node_whose_record_is_invalid_is_measured_again() {
        let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
        record.outcome = assay_core::outcome::Outcome::Completed;
        assert!(Fate::of_record(&record).is_result());
        record.validity.verdict = assay_core::finding::ValidityVerdict::Invalid;
        let fate = Fate::of_record(&record);
        assert!(fate.is_invalid() && !fate.is_result() && fate.record() == Some(&record.id), "{fate:?}");
    }

    #[test]
    fn a_turn_goes_on_without_what_was_invalid_twice() {
        let fate = || Some(Fate::Invalid { id: "a".to_owned(), reason: "others used the device".to_owned() });
        let entry = NodeEntry { fate: fate(), attempts: 1, ..NodeEntry::new("n1", "/m") };
        let places = Rotation { plan: "p".to_owned(), round: 1, wave: 1, places: Vec::new() };
        let mut ledger = Ledger::begun("local", Mode::Staggered(1), "assay".to_owned(), Vec::new(), vec![entry]);
        ledger.rotation = Some(places);
        assert!(ledger.holds_turn() && ledger.given_up().is_empty());
        ledger.begin_attempt();
        ledger.nodes[0].fate = Some(Fate::Late);
        assert!(ledger.holds_turn(), "once invalid, and once not there");
        ledger.begin_attempt();
        ledger.nodes[0].fate = fate();
        assert_eq!(ledger.given_up(), [0]);
        assert!(!ledger.holds_turn());
        // Of a run that is no turn of a plan everything is repeated.
        ledger.rotation = None;
        assert!(ledger.given_up().is_empty() && ledger.holds_turn());
    }

    #[test]
    fn an_attempt_is_begun_of_what_is_missing_and_media_that_were_asked_stay() {
        let done = NodeEntry { fate: Some(Fate::Recorded { id: "a".to_owned() }), ..NodeEntry::new("done", "/m") };
        let late = NodeEntry { fate: Some(Fate::Late), attempts: 1, ..NodeEntry::new("late", "/m") };
        let program = "assay".to_owned();
        let mut ledger = Ledger::begun("ssh", Mode::Staggered(1), program, Vec::new(), vec![done, late]);
        assert_eq!((ledger.mode.as_str(), ledger.at_a_time), ("alone", Some(1)));
        let mut now = ledger.clone();
        now.nodes[0].medium = Some("old".to_owned());
        now.nodes[1].medium = Some("old".to_owned());
        ledger.nodes[1].medium = Some("new".to_owned());
        ledger.renew(now);
        assert_eq!(ledger.nodes.iter().map(|n| n.medium.as_deref()).collect::<Vec<_>>(), [Some("old"), Some("new")]);
        ledger.begin_attempt();
        assert_eq!((ledger.nodes[0].attempts, ledger.nodes[1].attempts), (0, 2));
        assert!(ledger.nodes[0].fate.is_some() && ledger.nodes[1].fate.is_none());
    }
}
