//! A run before its start: the request, checked by itself and then against the medium.

use assay_core::cpus::Cpus;
use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::priority::{Priority, PriorityClass};
use assay_core::record::{Record, Settings, SuiteRef, Tool};
use assay_core::suite::{SuiteWorkload, leaders, members};
use assay_core::units::{Bytes, nanoseconds, span};
use assay_device::{Sysroot, TargetInfo, available_memory};
use assay_engine::{
    Availability, DirectSupport, EngineKind, PINS, PRIORITIES, buffer_bytes, probe, probe_poll, probe_priority,
    processors, wall_clock,
};

use crate::area::{Access, Area, area_bytes, is_device, known_findings};
use crate::budget::least_budget;
use crate::choose::{EngineChoice, Engines, OwnEngine, Peer};
use crate::error::RunError;
use crate::request::RunRequest;
use crate::timeout::{NoAnswer, no_thread, within};

/// A run whose request was checked against the medium; nothing was written yet. Its `execute` is in `session/run.rs`.
#[derive(Debug)]
pub struct PreparedRun {
    pub(crate) request: RunRequest,
    pub(crate) seen: TargetInfo,
    pub(crate) draft: Draft,
    pub(crate) engines: Engines,
    /// Most bytes of the test area.
    pub(crate) area_bytes: u64,
    /// Findings that are known before the start.
    pub(crate) findings: Vec<Finding>,
    pub(crate) access: Access,
    pub(crate) sysroot: Sysroot,
}

impl PreparedRun {
    /// Looks at the medium, checks that the request can be done there, and removes what killed
    /// runs left.
    ///
    /// # Errors
    /// [`RunError`] in one line, with the remedy.
    pub fn prepare(mut request: RunRequest) -> Result<Self, RunError> {
        let sysroot = Sysroot::real();
        // A record says where it was made, not `.`; a device keeps the name it was given.
        if let Ok(full) = std::fs::canonicalize(&request.path)
            && full.is_dir()
        {
            request.path = full;
        }
        let is_device = is_device(&request)?;
        let mut seen = assay_device::look(&sysroot, &request.path)?;
        let engines = Engines::new(request.engine, &request.suite)?;
        refuse_impossible(&request, &sysroot)?;
        refuse_unpolled(&request, &seen, &sysroot)?;
        let notes = std::mem::take(&mut request.translated);
        let mut findings = Vec::from_iter((!notes.is_empty()).then_some(Finding::JobFileDiffers { notes }));
        let (access, available) = if is_device {
            Access::to_device(&request, &sysroot, &mut seen, &mut findings)?
        } else {
            Access::to_directory(&request, &seen, &mut findings)?
        };
        request.suite =
            request.suite.settled(available).map_err(|why| RunError::Share { why, path: request.shown() })?;
        let area_bytes = area_bytes(&request, available, &mut findings)?;
        findings.extend(known_findings(&sysroot, &seen));
        let settings = settings(&request, is_device, area_bytes);
        let draft = match &request.resume {
            Some(resumption) => {
                resumption.check(&seen.medium, &request.path)?;
                resumption.begin(&settings)
            }
            None => {
                let tool = Tool::assay(&request.version, engines.name(), &engines.reason());
                let tool = Tool { commit: request.commit.clone(), ..tool };
                let suite = SuiteRef::new(&request.suite.name, request.suite.version);
                Draft::begin(&request.id, &wall_clock(), tool, suite, seen.medium.clone())
                    .on_host(assay_device::host(&sysroot))
                    .labelled(request.labels.clone())
                    .with_settings(settings)
            }
        };
        Ok(Self { request, seen, draft, engines, area_bytes, findings, access, sysroot })
    }

    /// The record as it is before anything was measured.
    #[must_use]
    pub fn record(&self) -> &Record {
        self.draft.record()
    }

    /// Most bytes of the test area.
    #[must_use]
    pub fn area_bytes(&self) -> u64 {
        self.area_bytes
    }
}

/// What the request sets.
fn settings(request: &RunRequest, is_device: bool, area_bytes: u64) -> Settings {
    let suite = &request.suite;
    Settings {
        budget_ns: nanoseconds(suite.budget),
        max_write_bytes: suite.max_write.0,
        planned_write_bytes: match (suite.writes() || (suite.programs_write() && !is_device), is_device) {
            (true, _) => suite.max_write.0,
            (false, true) => 0,
            (false, false) => area_bytes,
        },
        seed: request.seed,
        repeats: suite.most_repeats(),
        confidence: request.confidence,
        enough: suite.enough,
        hang_after_ns: Some(nanoseconds(request.hang_after)),
        suite_text: suite.to_text(),
        raw_device: is_device,
        crosscheck: request.engine.crosscheck().map(|peer| peer.name().to_owned()),
        ..Settings::default()
    }
}

/// Refuses what cannot be done on any medium: too little time, or buffers that memory does not hold.
pub(crate) fn refuse_impossible(request: &RunRequest, sysroot: &Sysroot) -> Result<(), RunError> {
    refuse_too_short(request)?;
    if request.engine == EngineChoice::Peer(Peer::Fio) {
        refuse_for_fio(&request.suite.workloads)?;
    }
    refuse_manner(request)?;
    refuse_priorities(request)?;
    refuse_too_large(&request.suite.workloads, available_memory(sysroot))
}

/// Refuses workloads that fio does in another way.
fn refuse_for_fio(workloads: &[SuiteWorkload]) -> Result<(), RunError> {
    if let Some(open) = workloads.iter().find(|w| w.rate.is_some()) {
        return Err(RunError::OpenLoopByFio(open.name.clone()));
    }
    if let Some(special) = workloads.iter().find(|w| w.group.is_some() || w.think.is_some()) {
        return Err(RunError::TogetherByFio(special.name.clone()));
    }
    if let Some(refined) = workloads.iter().find(|w| !w.refined.is_empty()) {
        return Err(RunError::RefinedByFio(refined.name.clone()));
    }
    Ok(())
}

/// Refuses a budget in which some workloads would have no repeat. What is left of an interrupted run's is not
/// refused.
fn refuse_too_short(request: &RunRequest) -> Result<(), RunError> {
    let sides = if request.engine.crosscheck().is_some() { 2 } else { 1 };
    let repeats = sides * u32::try_from(leaders(&request.suite.workloads).len()).unwrap_or(u32::MAX / 2);
    let least = least_budget(repeats);
    if request.resume.is_some() || request.suite.budget >= least {
        return Ok(());
    }
    let budget = span(request.suite.budget);
    Err(RunError::Budget { budget, repeats, least: format!("{}s", least.as_secs()) })
}

// Whether the buffers of a suite fit into memory, which is asked before anything is written: they
// are touched before the timed part begins, and a host without memory ends programs at will.

/// Refuses workloads whose buffers need more than `available` bytes; `None` where that is unknown.
fn refuse_too_large(workloads: &[SuiteWorkload], available: Option<u64>) -> Result<(), RunError> {
    let Some(available) = available else { return Ok(()) };
    for leader in leaders(workloads) {
        let group = &workloads[members(workloads, leader)];
        let slots = |w: &SuiteWorkload| u64::from(w.jobs.max(1)).saturating_mul(u64::from(w.queue_depth.max(1)));
        let buffers = |w: &SuiteWorkload| buffer_bytes(slots(w), w.largest());
        let needed = group.iter().map(buffers).fold(0, u64::saturating_add);
        if needed > available {
            return Err(RunError::Memory {
                workload: workloads[leader].name.clone(),
                needed: Bytes(needed).to_string(),
                available: Bytes(available).to_string(),
            });
        }
    }
    Ok(())
}

// Processors for the threads of a workload and polled completions, where they were asked for: whether this host and this
// medium have them is known before anything is written.

/// Refuses processors that this process may not use, and instruments that cannot do what was asked for.
fn refuse_manner(request: &RunRequest) -> Result<(), RunError> {
    let reference = request.engine.includes(Peer::Reference);
    let pinned = request.suite.workloads.iter().filter(|w| !w.cpus.is_empty());
    let allowed = processors();
    for workload in pinned {
        if reference {
            return Err(RunError::CpusByReference(workload.name.clone()));
        }
        refuse_missing(workload, &allowed)?;
    }
    let polls = matches!(
        request.engine,
        EngineChoice::Null
            | EngineChoice::Own { engine: OwnEngine::Auto | OwnEngine::Uring | OwnEngine::Iocp, crosscheck: None }
    );
    match polled(request) {
        Some(workload) if !polls => Err(RunError::PolledByOthers(workload.name.clone())),
        _ => Ok(()),
    }
}

fn refuse_missing(workload: &SuiteWorkload, allowed: &[u32]) -> Result<(), RunError> {
    let known = !allowed.is_empty() || !PINS;
    let missing = workload.cpus.numbers().iter().find(|cpu| known && !allowed.contains(cpu));
    let allowed = if PINS { Cpus::from_numbers(allowed).to_string() } else { "none on this system".to_owned() };
    missing.map_or(Ok(()), |missing| Err(RunError::Cpu { cpu: *missing, allowed }))
}

/// The first workload whose completions are to be polled for; none where nothing reaches a medium.
fn polled(request: &RunRequest) -> Option<&SuiteWorkload> {
    let null = request.engine == EngineChoice::Null;
    request.suite.workloads.iter().find(|w| w.poll && !null)
}

/// Refuses to poll where the kernel says already that a device has no queues for it.
pub(crate) fn refuse_unpolled(request: &RunRequest, seen: &TargetInfo, sysroot: &Sysroot) -> Result<(), RunError> {
    if polled(request).is_none() {
        return Ok(());
    }
    if let Availability::No(reason) = probe(EngineKind::Uring) {
        return Err(RunError::Poll { path: request.shown(), reason });
    }
    // Kernel documentation, ABI/stable/sysfs-block: 1 where polling is enabled, which takes queues of the driver.
    let without = |device: &&String| {
        let file = sysroot.path(&format!("/sys/block/{device}/queue/io_poll"));
        std::fs::read_to_string(file).is_ok_and(|text| text.trim() == "0")
    };
    match seen.devices.iter().find(without) {
        Some(device) => {
            let reason = format!("{device} has no queues to poll (/sys/block/{device}/queue/io_poll is 0)");
            Err(RunError::Poll { path: request.shown(), reason })
        }
        None => Ok(()),
    }
}

/// Polls for a first read, which the device and the file system on it have to be able to.
pub(crate) fn try_out(request: &RunRequest, area: &Area) -> Result<(), RunError> {
    if polled(request).is_none() {
        return Ok(());
    }
    let refused = |reason| RunError::Poll { path: request.shown(), reason };
    if let DirectSupport::No { reason } = &area.direct {
        return Err(refused(format!("it takes direct I/O, and {reason}")));
    }
    let (target, bytes) = (area.target.clone(), area.alignment().unwrap_or(4096));
    match within(request.hang_after, move || probe_poll(&target, bytes)) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(reason)) => Err(refused(reason)),
        Err(NoAnswer::Late) => Err(refused("a first read was not answered".to_owned())),
        Err(NoAnswer::NoThread(error)) => Err(refused(no_thread(&error))),
    }
}

// Priorities of operations, where they were asked for: whether this system and this user have them is known before
// anything is written.

/// Refuses priorities that this system does not have or does not let this process have, and instruments that cannot give
/// them to a share of the operations.
fn refuse_priorities(request: &RunRequest) -> Result<(), RunError> {
    if request.engine == EngineChoice::Null {
        return Ok(());
    }
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
        if let EngineChoice::Own { engine, .. } = request.engine
            && !workload.priorities.shares.is_empty()
        {
            if !matches!(engine, OwnEngine::Auto | OwnEngine::Uring) {
                return Err(RunError::SharesByOthers(workload.name.clone()));
            }
            if let Availability::No(reason) = probe(EngineKind::Uring) {
                return refused("priority_shares".to_owned(), reason, "write priority, which all engines have");
            }
        }
        for priority in workload.priorities.all() {
            if let Err(reason) = probe_priority(priority) {
                return refused(format!("priority {priority}"), reason, priority_mend(priority));
            }
        }
    }
    Ok(())
}

/// What helps where a priority cannot be had.
fn priority_mend(priority: Priority) -> &'static str {
    match priority.class {
        PriorityClass::Realtime => "run as root, or with CAP_SYS_NICE, or use another class",
        PriorityClass::BestEffort | PriorityClass::Idle => "leave out priority and priority_shares",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::suite::Suite;

    #[test]
    fn buffers_of_all_jobs_count_and_only_what_does_not_fit_is_refused() {
        let text = "name = \"many\"\nversion = 1\npurpose = \"A test\"\nbudget = \"1s\"\nmax_write = \"1MiB\"\nrepeats = 1\n\
                    span = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\nblock = \"64KiB\"\n\
                    queue_depth = 1024\njobs = 256\nduration = \"1s\"\n";
        let workloads = Suite::parse(text, "test").unwrap().workloads;
        let needed = 16 << 30;
        assert!(refuse_too_large(&workloads, Some(needed)).is_ok());
        assert!(refuse_too_large(&workloads, None).is_ok());
        let error = refuse_too_large(&workloads, Some(needed - 1)).unwrap_err().to_string();
        assert!(error.contains("`w` needs 16 GiB") && error.contains("queue_depth"), "{error}");
        let mut both = [workloads[0].clone(), workloads[0].clone()];
        both.iter_mut().for_each(|w| w.group = Some("g".to_owned()));
        let error = refuse_too_large(&both, Some(2 * needed - 1)).unwrap_err().to_string();
        assert!(error.contains("needs 32 GiB"), "at the same time: {error}");
    }
}
