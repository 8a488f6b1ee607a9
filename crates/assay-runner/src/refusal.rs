//! What is refused of a request before a medium is looked at.

use assay_core::suite::leaders;
use assay_core::units::span;
use assay_device::{Sysroot, available_memory};

use crate::budget::least_budget;
use crate::choose::EngineWish;
use crate::error::RunError;
use crate::memory::refuse_too_large;
use crate::request::Request;
use crate::{manner, priority};

/// Refuses what cannot be done on any medium: too little time, or buffers that memory does not hold.
pub(crate) fn refuse_impossible(request: &Request, sysroot: &Sysroot) -> Result<(), RunError> {
    refuse_too_short(request)?;
    let open = request.suite.workloads.iter().find(|w| w.rate.is_some());
    if let (EngineWish::Fio, Some(open)) = (&request.engine, open) {
        return Err(RunError::OpenLoopByFio(open.name.clone()));
    }
    let special = request.suite.workloads.iter().find(|w| w.group.is_some() || w.think.is_some());
    if let (EngineWish::Fio, Some(special)) = (&request.engine, special) {
        return Err(RunError::TogetherByFio(special.name.clone()));
    }
    let refined = request.suite.workloads.iter().find(|w| !w.refined.is_empty());
    if let (EngineWish::Fio, Some(refined)) = (&request.engine, refined) {
        return Err(RunError::RefinedByFio(refined.name.clone()));
    }
    manner::refuse(request)?;
    priority::refuse(request)?;
    refuse_too_large(&request.suite.workloads, available_memory(sysroot))
}

/// Refuses a budget in which some workloads would have no repeat. What is left of an interrupted run's is not
/// refused.
fn refuse_too_short(request: &Request) -> Result<(), RunError> {
    let sides = if request.crosscheck.is_some() { 2 } else { 1 };
    let repeats = sides * u32::try_from(leaders(&request.suite.workloads).len()).unwrap_or(u32::MAX / 2);
    let least = least_budget(repeats);
    if request.resume.is_some() || request.suite.budget >= least {
        return Ok(());
    }
    let budget = span(request.suite.budget);
    Err(RunError::Budget { budget, repeats, least: format!("{}s", least.as_secs()) })
}
