//! What `assay plan` and `assay fleet` print with `--json` and `--events`.

use assay_analysis::fleet::Starts;
use assay_analysis::plan::{ExperimentPlan, ModelUnits, Move, Moves, Outlook, PlanStatus, PlanTurn, ScheduledUnit};
use assay_core::medium::{Medium, Mounted};
use assay_fleet::{CoordinatorEvent, Fate, Ledger, Live, NotCounted, NotCountedLoad, Settled};
use serde::Serialize;

/// `assay plan new`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NewPlanDocument<'a> {
    /// The plan.
    #[serde(flatten)]
    pub(crate) plan: PlanDocument<'a>,
    /// File that holds it; null where none was named.
    pub(crate) file: Option<String>,
    /// The plan as a file would hold it, where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// `assay plan show`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlanDocument<'a> {
    /// Its label, as records name it.
    plan: String,
    /// Hash of its content.
    hash: String,
    /// Seed of its order.
    seed: u32,
    /// Rounds.
    rounds: usize,
    /// Waves of each round: more than one where there are more units than slots.
    waves: usize,
    /// When units change their slots.
    moves: Moves,
    /// Slots.
    slots: &'a [String],
    /// Models with their units.
    models: &'a [ModelUnits],
    /// Minutes that a person takes to move a unit.
    handling_minutes: f64,
    /// The suite.
    suite: PlanSuite<'a>,
    /// Orders of the suite's loads.
    orders: &'a [Vec<String>],
    /// What is measured where and when.
    cells: Vec<PlanCell<'a>>,
    /// What the plan can find; null where that was not asked for.
    outlook: Option<&'a Outlook>,
}

/// The suite of a plan.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PlanSuite<'a> {
    /// Name.
    name: &'a str,
    /// Version.
    version: u32,
    /// Where it was read.
    source: &'a str,
    /// Hash of its text.
    hash: &'a str,
}

/// A cell of a plan.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlanCell<'a> {
    /// The cell.
    #[serde(flatten)]
    pub(crate) cell: &'a ScheduledUnit,
    /// Words of the command that measures it; of `plan show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<Vec<String>>,
}

impl<'a> PlanDocument<'a> {
    /// Describes a plan with these of its cells.
    pub(crate) fn new(plan: &'a ExperimentPlan, cells: Vec<PlanCell<'a>>, outlook: Option<&'a Outlook>) -> Self {
        let suite = plan.suite();
        Self {
            plan: plan.label(),
            hash: plan.hash(),
            seed: plan.seed(),
            rounds: plan.rounds(),
            waves: plan.waves(),
            moves: plan.moves(),
            slots: plan.slots(),
            models: plan.models(),
            handling_minutes: plan.handling_minutes(),
            suite: PlanSuite {
                name: &suite.suite.name,
                version: suite.suite.version,
                source: &suite.source,
                hash: &suite.hash,
            },
            orders: plan.orders(),
            cells,
            outlook,
        }
    }
}

/// `assay plan suites`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlanSuitesDocument {
    /// Label of the plan.
    pub(crate) plan: String,
    /// Files that were written; none where all cells run the suite unchanged.
    pub(crate) files: Vec<String>,
}

/// `assay plan status`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PlanStatusDocument<'a> {
    /// The cells and what is wrong with records.
    #[serde(flatten)]
    pub(crate) status: &'a PlanStatus,
    /// Whether every cell has a result.
    pub(crate) complete: bool,
    /// Cells without a result.
    pub(crate) missing: usize,
}

/// `assay fleet run`; with `--events` its last line, which has `event` beside.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FleetRunDocument<'a> {
    /// The run.
    run: &'a Ledger,
    /// How well nodes began together; null where they did not, or no clock was compared.
    starts: Option<Starts>,
    /// Of `--rotate`.
    #[serde(flatten)]
    rotation: RotationNews,
}

/// What a person has to know of a rotation.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RotationNews {
    /// The turn that comes next, with what is moved before it; null where the plan is done, and absent where there is no news.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<Option<NextTurn>>,
    /// Nodes with another medium than the plan wants there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) misplaced: Option<Vec<NodeReason>>,
}

/// A turn that comes next.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NextTurn {
    /// The turn.
    pub(crate) turn: PlanTurn,
    /// What is moved before it.
    pub(crate) moves: Vec<Move>,
}

/// A node and a reason.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NodeReason {
    /// Name of the node.
    pub(crate) node: String,
    /// The reason.
    pub(crate) reason: String,
}

impl<'a> FleetRunDocument<'a> {
    /// What a run came to.
    pub(crate) fn new(run: &'a Ledger, starts: Option<Starts>, rotation: RotationNews) -> Self {
        Self { run, starts, rotation }
    }
}

/// A line of `assay fleet run --events`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum FleetEvent<'a> {
    /// Nodes are started.
    Started {
        /// Identity of the run.
        run: &'a str,
        /// How many nodes.
        nodes: usize,
    },
    /// A node takes part.
    Joined {
        /// Its name.
        node: String,
    },
    /// A node said what it can do.
    Offered {
        /// Its name.
        node: String,
        /// Where its target lies.
        mounted: Mounted,
    },
    /// The loads of all nodes are settled.
    Settled {
        /// The loads.
        settled: Settled,
        /// Nodes that were not counted.
        not_counted: Vec<NotCountedNode>,
    },
    /// A node is ready for a repeat.
    Ready {
        /// Its name.
        node: String,
        /// Stage of the run.
        stage: u32,
        /// The repeat, from 1.
        repeat: u64,
        /// The load, from 1.
        workload: u64,
    },
    /// Nodes begin a repeat.
    Goes {
        /// Their names.
        nodes: Vec<String>,
        /// Stage of the run.
        stage: u32,
        /// The repeat, from 1.
        repeat: u64,
        /// The load, from 1.
        workload: u64,
        /// When, by the coordinator's clock, in nanoseconds.
        planned_ns: i64,
    },
    /// What a node does; once a second.
    Live {
        /// Its name.
        node: String,
        /// What it does.
        live: Live,
    },
    /// Somebody was turned away.
    Refused {
        /// From which address.
        from: String,
        /// Why.
        reason: String,
    },
    /// Events were left out, since too many waited.
    Skipped {
        /// How many.
        count: u64,
    },
    /// A node has ended.
    Over {
        /// Its name.
        node: &'a str,
        /// How.
        fate: &'a Fate,
    },
    /// The run has ended, or waits for a person.
    Ended(FleetRunDocument<'a>),
}

/// A node that was not counted when the loads of all were settled.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotCountedNode {
    /// Its name.
    node: String,
    /// Its loads.
    loads: Vec<NotCountedLoadRow>,
}

/// A load under which a node was not counted.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct NotCountedLoadRow {
    /// The load, from 1.
    workload: usize,
    /// Its rate as a share of the typical one; null where it has none.
    to_typical: Option<f64>,
}

impl FleetEvent<'static> {
    /// What the coordinator tells, if it is an event for programs: how nodes end is [`Self::Over`].
    pub(crate) fn told(happening: &CoordinatorEvent, name: impl Fn(usize) -> String) -> Option<Self> {
        Some(match happening {
            CoordinatorEvent::Joined(node) => Self::Joined { node: name(*node) },
            CoordinatorEvent::Offered(node, mounted) => Self::Offered { node: name(*node), mounted: *mounted },
            CoordinatorEvent::Settled(settled, left_out) => {
                let load =
                    |one: &NotCountedLoad| NotCountedLoadRow { workload: one.workload + 1, to_typical: one.to_typical };
                let node = |one: &NotCounted| NotCountedNode {
                    node: name(one.node),
                    loads: one.loads.iter().map(load).collect(),
                };
                Self::Settled { settled: settled.clone(), not_counted: left_out.iter().map(node).collect() }
            }
            CoordinatorEvent::Ready(node, step) => Self::Ready {
                node: name(*node),
                stage: step.stage,
                repeat: u64::from(step.round) + 1,
                workload: u64::from(step.workload) + 1,
            },
            CoordinatorEvent::Goes(nodes, step, at_ns) => Self::Goes {
                nodes: nodes.iter().map(|node| name(*node)).collect(),
                stage: step.stage,
                repeat: u64::from(step.round) + 1,
                workload: u64::from(step.workload) + 1,
                planned_ns: *at_ns,
            },
            CoordinatorEvent::Live(node, live) => Self::Live { node: name(*node), live: live.clone() },
            CoordinatorEvent::Refused(from, reason) => Self::Refused { from: from.clone(), reason: reason.clone() },
            CoordinatorEvent::Skipped(count) => Self::Skipped { count: *count },
            CoordinatorEvent::Late(_)
            | CoordinatorEvent::TooFew(_)
            | CoordinatorEvent::Recorded(..)
            | CoordinatorEvent::NotTaken(..)
            | CoordinatorEvent::Left(..) => return None,
        })
    }
}

/// `assay fleet list`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FleetListDocument {
    /// The runs.
    pub(crate) runs: Vec<Ledger>,
}

/// `assay fleet check`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FleetCheckDocument<'a> {
    /// The nodes.
    pub(crate) nodes: Vec<CheckedNode<'a>>,
    /// How many of them can be measured.
    pub(crate) fit: usize,
    /// How many of them have a target that is the root disk or memory.
    pub(crate) no_medium: usize,
    /// Names of nodes that would measure the same disk of one host, in a list for each disk.
    pub(crate) same_disk: Vec<Vec<&'a str>>,
}

/// A node of `assay fleet check`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CheckedNode<'a> {
    /// Its name.
    pub(crate) node: &'a str,
    /// What would be measured.
    pub(crate) target: &'a str,
    /// Label of the unit; empty where it has none.
    pub(crate) unit: &'a str,
    /// Label of the slot; empty where it has none.
    pub(crate) slot: &'a str,
    /// Whether the node answered.
    pub(crate) reached: bool,
    /// Machine, as `uname -m` names it.
    pub(crate) machine: &'a str,
    /// Bits of its programs; 0 where not known.
    pub(crate) bits: u32,
    /// Version of assay there; empty where it is missing.
    pub(crate) version: &'a str,
    /// Commit of its source; empty where it is not known.
    pub(crate) commit: &'a str,
    /// The medium.
    pub(crate) medium: Option<&'a Medium>,
    /// Where the target lies.
    pub(crate) mounted: Option<Mounted>,
    /// Free bytes.
    pub(crate) free_bytes: Option<u64>,
    /// The node's time of day minus the one here.
    pub(crate) clock: Option<ClockDocument>,
    /// Most bytes that the run would write.
    pub(crate) planned_write_bytes: Option<u64>,
    /// Longest time that the suite measures in nanoseconds; null where not known.
    pub(crate) budget_ns: Option<u64>,
    /// Longest time of the run in nanoseconds, with what passes before common starts; null where not known.
    pub(crate) run_ns: Option<u64>,
    /// Whether it can be measured with the others.
    pub(crate) fits: bool,
    /// Whether the target is the root disk or memory.
    pub(crate) no_medium: bool,
    /// Why it cannot be measured.
    pub(crate) reason: Option<&'a str>,
}

/// A clock compared with the one here.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ClockDocument {
    /// Difference in nanoseconds.
    pub(crate) offset_ns: i64,
    /// The difference is off by this much at most, in nanoseconds.
    pub(crate) bound_ns: u64,
}

/// `assay fleet collect`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CollectDocument<'a> {
    /// Identity of the run.
    pub(crate) run: &'a str,
    /// The nodes.
    pub(crate) nodes: Vec<CollectedNode<'a>>,
}

/// A node of `assay fleet collect`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CollectedNode<'a> {
    /// Its name.
    pub(crate) node: &'a str,
    /// Ids of records that were taken.
    pub(crate) taken: &'a [String],
    /// Ids of records that were here before.
    pub(crate) here: &'a [String],
    /// Records that were not taken.
    pub(crate) refused: Vec<RefusedRecord<'a>>,
    /// Why there is none, or not all.
    pub(crate) reason: Option<&'a str>,
}

/// A record that was not taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RefusedRecord<'a> {
    /// Its id.
    pub(crate) id: &'a str,
    /// Why.
    pub(crate) reason: &'a str,
}

/// `assay fleet clean`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CleanDocument<'a> {
    /// The nodes.
    pub(crate) nodes: Vec<CleanedNode<'a>>,
}

/// A node of `assay fleet clean`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CleanedNode<'a> {
    /// Its name.
    pub(crate) node: &'a str,
    /// What was removed: paths, or words.
    pub(crate) removed: &'a [String],
    /// What stays: paths that assay did not make, or words.
    pub(crate) left: &'a [String],
    /// Directory with records that were kept; empty where there is none.
    pub(crate) kept: &'a str,
    /// Why it was not cleaned.
    pub(crate) reason: Option<&'a str>,
}
