//! What happens in a run on many nodes, for machines: a JSON object a line.

use assay_fleet::{CoordinatorEvent, FarBelow, Fate};
use serde_json::{Value, json};

/// Nodes are started.
pub(super) fn started(run: &str, nodes: usize) -> Value {
    json!({ "event": "started", "run": run, "nodes": nodes })
}

/// How a node ended; the fate is that of the run's file.
pub(super) fn over(node: &str, fate: &Fate) -> Value {
    json!({ "event": "over", "node": node, "fate": fate })
}

/// An event, if it is one: how nodes end is told by [`over`].
pub(super) fn of(happening: &CoordinatorEvent, name: impl Fn(usize) -> String) -> Option<Value> {
    Some(match happening {
        CoordinatorEvent::Joined(node) => json!({ "event": "joined", "node": name(*node) }),
        CoordinatorEvent::Offered(node, mounted) => {
            json!({ "event": "offered", "node": name(*node), "mounted": mounted })
        }
        CoordinatorEvent::Settled(settled, below) => {
            let load =
                |(at, to_typical): &(usize, Option<f64>)| json!({ "workload": at + 1, "to_typical": to_typical });
            let node = |one: &FarBelow| json!({ "node": name(one.node), "loads": one.loads.iter().map(load).collect::<Vec<_>>() });
            json!({ "event": "settled", "settled": settled, "far_below": below.iter().map(node).collect::<Vec<_>>() })
        }
        CoordinatorEvent::Ready(node, step) => json!({
            "event": "ready",
            "node": name(*node),
            "stage": step.stage,
            "repeat": u64::from(step.round) + 1,
            "workload": u64::from(step.workload) + 1,
        }),
        CoordinatorEvent::Goes(nodes, step, at_ns) => json!({
            "event": "goes",
            "nodes": nodes.iter().map(|node| name(*node)).collect::<Vec<_>>(),
            "stage": step.stage,
            "repeat": u64::from(step.round) + 1,
            "workload": u64::from(step.workload) + 1,
            "planned_ns": at_ns,
        }),
        CoordinatorEvent::Live(node, live) => json!({ "event": "live", "node": name(*node), "live": live }),
        CoordinatorEvent::Refused(from, reason) => json!({ "event": "refused", "from": from, "reason": reason }),
        CoordinatorEvent::Skipped(count) => json!({ "event": "skipped", "count": count }),
        CoordinatorEvent::Late(_)
        | CoordinatorEvent::TooFew(_)
        | CoordinatorEvent::Recorded(..)
        | CoordinatorEvent::NotTaken(..)
        | CoordinatorEvent::Left(..) => return None,
    })
}
