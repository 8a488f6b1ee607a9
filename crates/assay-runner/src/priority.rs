//! Priorities of operations, where they were asked for: whether this system and this user have them is known before
//! anything is written.

use assay_core::priority::{Priority, PriorityClass};
use assay_engine::{Availability, EngineKind, PRIORITIES, probe, probe_priority};

use crate::choose::EngineWish;
use crate::error::RunError;
use crate::request::Request;

/// Refuses priorities that this system does not have or does not let this process have, and instruments that cannot give
/// them to a share of the operations.
pub(crate) fn refuse(request: &Request) -> Result<(), RunError> {
    if request.engine == EngineWish::Only(EngineKind::Null) {
        return Ok(());
    }
    let own = matches!(request.engine, EngineWish::Auto | EngineWish::Only(_));
    for workload in request.suite.workloads.iter().filter(|w| !w.priorities.is_empty()) {
        let refused = |priority: String, reason: String, mend| {
            let workload = workload.name.clone();
            Err(RunError::Priority { workload, priority, reason, mend })
        };
        let leave_out = "leave out priority and priority_shares";
        if !PRIORITIES {
            let what = workload.priorities.to_string();
            return refused(what, "priorities of operations are a part of Linux".to_owned(), leave_out);
        }
        if own && !workload.priorities.shares.is_empty() {
            if matches!(request.engine, EngineWish::Only(kind) if kind != EngineKind::Uring) {
                return Err(RunError::SharesByOthers(workload.name.clone()));
            }
            if let Availability::No(reason) = probe(EngineKind::Uring) {
                return refused("priority_shares".to_owned(), reason, "write priority, which all engines have");
            }
        }
        for priority in workload.priorities.all() {
            if let Err(reason) = probe_priority(priority) {
                return refused(format!("priority {priority}"), reason, mend(priority));
            }
        }
    }
    Ok(())
}

/// What helps where a priority cannot be had.
fn mend(priority: Priority) -> &'static str {
    match priority.class {
        PriorityClass::Realtime => "run as root, or with CAP_SYS_NICE, or use another class",
        PriorityClass::BestEffort | PriorityClass::Idle => "leave out priority and priority_shares",
    }
}
