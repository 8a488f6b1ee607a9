//! Processors for the threads of a workload and polled completions, where they were asked for: whether this host and this
//! medium have them is known before anything is written.

use assay_core::cpus::Cpus;
use assay_core::suite::SuiteWorkload;
use assay_device::{Sysroot, TargetInfo};
use assay_engine::{Availability, DirectSupport, EngineKind, PINS, probe, probe_poll, processors};

use crate::area::Area;
use crate::choose::{EngineWish, Peer};
use crate::error::RunError;
use crate::request::Request;
use crate::timeout::{NoAnswer, no_thread, within};

/// Refuses processors that this process may not use, and instruments that cannot do what was asked for.
pub(crate) fn refuse(request: &Request) -> Result<(), RunError> {
    let reference = request.engine == EngineWish::Reference || request.crosscheck == Some(Peer::Reference);
    let pinned = request.suite.workloads.iter().filter(|w| !w.cpus.is_empty());
    let allowed = processors();
    for workload in pinned {
        if reference {
            return Err(RunError::CpusByReference(workload.name.clone()));
        }
        refuse_missing(workload, &allowed)?;
    }
    let others = matches!(request.engine, EngineWish::Fio | EngineWish::Reference | EngineWish::Only(EngineKind::Sync));
    match polled(request) {
        Some(workload) if others || request.crosscheck.is_some() => {
            Err(RunError::PolledByOthers(workload.name.clone()))
        }
        _ => Ok(()),
    }
}

fn refuse_missing(workload: &SuiteWorkload, allowed: &[u32]) -> Result<(), RunError> {
    let known = !allowed.is_empty() || !PINS;
    let missing = workload.cpus.numbers().iter().find(|cpu| known && !allowed.contains(cpu));
    let allowed = if PINS { Cpus::of(allowed).to_string() } else { "none on this system".to_owned() };
    missing.map_or(Ok(()), |missing| Err(RunError::Cpu { cpu: *missing, allowed }))
}

/// The first workload whose completions are to be polled for; none where nothing reaches a medium.
fn polled(request: &Request) -> Option<&SuiteWorkload> {
    let null = request.engine == EngineWish::Only(EngineKind::Null);
    request.suite.workloads.iter().find(|w| w.poll && !null)
}

/// Refuses to poll where the kernel says already that a device has no queues for it.
pub(crate) fn refuse_unpolled(request: &Request, seen: &TargetInfo, sysroot: &Sysroot) -> Result<(), RunError> {
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
pub(crate) fn try_out(request: &Request, area: &Area) -> Result<(), RunError> {
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
