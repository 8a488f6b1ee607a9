//! The directory or device that is measured: what may be done there, opened once.

use std::path::Path;

use assay_core::finding::{AreaLimit, Finding};
use assay_core::medium::MediumKind;
use assay_core::suite::LayoutRule;
use assay_core::text::{harmless, shell};
use assay_core::units::Bytes;
use assay_device::guard::{RawPermit, check_raw};
use assay_device::owned::Directory;
use assay_device::{DeviceError, Sysroot, TargetInfo, look_by_dev, swaps_on};

use crate::area::{Area, LEAST_AREA, room, rounded};
use crate::budget::{Budget, workloads_bytes};
use crate::error::RunError;
use crate::request::{RawMode, RunRequest};
use crate::timeout::{NoAnswer, SLOW, within};
use crate::{proof, scratch, system};

/// A device of less holds no medium: a card reader without a card, a loop device without a file.
const LEAST_DEVICE: u64 = 4096;

/// What is measured, opened.
#[derive(Debug)]
pub(crate) enum Access {
    /// A directory, opened once.
    Directory(Directory),
    /// A raw device, with the permit of the guards where it is written.
    Device(Option<RawPermit>),
}

/// Whether the path of the request is a device; refuses what it may not be.
pub(crate) fn is_device(request: &RunRequest) -> Result<bool, RunError> {
    let meta = std::fs::metadata(&request.path);
    let is_device = meta.as_ref().is_ok_and(system::is_device);
    match (&meta, request.raw) {
        (Ok(m), _) if m.is_file() => Err(RunError::IsFile(request.shown())),
        (Ok(_), RawMode::Refused) if is_device => Err(RunError::RawWithoutFlag(request.shown())),
        (Ok(_), RawMode::Allowed | RawMode::Overwrite) if !is_device => Err(RunError::NotADevice(request.shown())),
        _ => Ok(is_device),
    }
}

impl Access {
    /// Opens the device of the request; `seen` becomes the one that is held, whatever the path led to before. Gives
    /// its bytes, too.
    pub(crate) fn to_device(
        request: &RunRequest,
        sysroot: &Sysroot,
        seen: &mut TargetInfo,
        findings: &mut Vec<Finding>,
    ) -> Result<(Self, u64), RunError> {
        let mut capacity = seen.medium.capacity_bytes.unwrap_or(0);
        let mut permit = None;
        if request.suite.writes() {
            let given = permit.insert(checked(sysroot, request)?);
            *seen = look_by_dev(sysroot, &request.path, given.held().seen());
            capacity = given.held().bytes();
        } else {
            findings.push(Finding::UnwrittenReads);
        }
        if capacity < LEAST_DEVICE {
            return Err(RunError::EmptyDevice { path: request.shown(), capacity: Bytes(capacity).to_string() });
        }
        Ok((Self::Device(permit), capacity))
    }

    /// Opens the directory of the request and removes what killed runs left there. Gives the bytes that a test may
    /// use, too.
    pub(crate) fn to_directory(
        request: &RunRequest,
        seen: &TargetInfo,
        findings: &mut Vec<Finding>,
    ) -> Result<(Self, u64), RunError> {
        writable(&request.path, seen)?;
        let opened = Directory::open(&request.path)?;
        let leftovers = scratch::clean(&opened);
        if leftovers.directories > 0 {
            findings.push(Finding::LeftoversRemoved { directories: leftovers.directories, bytes: leftovers.bytes });
        }
        if leftovers.alive > 0 {
            findings.push(Finding::AnotherRun);
        }
        let available = room(&opened)?;
        Ok((Self::Directory(opened), available))
    }

    /// The test area.
    pub(crate) fn area(&self, request: &RunRequest, logical_block: Option<u32>) -> Result<Area, RunError> {
        match self {
            Self::Directory(directory) => Area::in_directory(directory, &request.id, logical_block),
            Self::Device(permit) => Area::on_device(&request.path, logical_block, permit.as_ref()),
        }
    }
}

/// Most bytes of the test area, where `available` can be used; says why where that is less than the suite asks for.
pub(crate) fn area_bytes(request: &RunRequest, available: u64, findings: &mut Vec<Finding>) -> Result<u64, RunError> {
    let (suite, writes) = (&request.suite, request.suite.writes());
    let allowed = Budget::new(suite.budget, workloads_bytes(suite)).area_bytes(writes);
    if allowed < LEAST_AREA && request.resume.is_none() && !suite.layout.keeps_size() {
        return Err(RunError::WriteLimit {
            limit: suite.max_write.to_string(),
            needed: Bytes(LEAST_AREA * if writes { 4 } else { 1 } * if suite.programs_write() { 2 } else { 1 })
                .to_string(),
        });
    }
    if let Some(resumption) = &request.resume {
        resumption.refuse_smaller(available)?;
    }
    let asked = suite.span.0;
    if suite.layout.keeps_size() && request.resume.is_none() {
        return whole_area(request, asked, available);
    }
    let kept = request.resume.as_ref().and_then(|resumption| resumption.area_bytes());
    let used = kept.unwrap_or_else(|| asked.min(rounded(available.min(allowed))));
    if used < asked {
        let limit = if available < allowed { AreaLimit::FreeSpace } else { AreaLimit::WriteLimit };
        findings.push(Finding::SmallerSpan { asked_bytes: asked, used_bytes: used, limit });
    }
    Ok(used)
}

/// The size that was asked for, where there is room for it and it may be written.
fn whole_area(request: &RunRequest, asked: u64, available: u64) -> Result<u64, RunError> {
    let suite = &request.suite;
    if asked > available {
        let (asked, available) = (Bytes(asked).to_string(), Bytes(available).to_string());
        return Err(RunError::Size { asked, available, path: request.shown() });
    }
    let laid_out = !(suite.layout == LayoutRule::None && request.raw != RawMode::Refused);
    if laid_out && asked > suite.max_write.0 {
        return Err(RunError::WritesOfSize { limit: suite.max_write.to_string(), asked: Bytes(asked).to_string() });
    }
    Ok(asked)
}

/// What is known of the medium before anything is measured.
pub(crate) fn known_findings(sysroot: &Sysroot, seen: &TargetInfo) -> Vec<Finding> {
    let kind = seen.medium.kind;
    let mut findings = match kind {
        MediumKind::Overlay => vec![Finding::OverlayHidesMedium],
        kind if kind.is_memory() => vec![Finding::MemoryNotMedium { medium: kind }],
        _ => Vec::new(),
    };
    // The host of a virtual machine is another machine in this: its page cache stands between the disk and the medium.
    if seen.medium.is_remote() || kind == MediumKind::Virtio {
        findings.push(Finding::ServerCache { medium: kind });
    }
    if swaps_on(sysroot, &seen.leaves) {
        findings.push(Finding::SwapOnMedium);
    }
    findings.extend(proof::meter(sysroot, seen).err());
    findings
}

/// The permit to write to the raw device of the request. What it holds is read for that, so that
/// the medium may hang.
fn checked(sysroot: &Sysroot, request: &RunRequest) -> Result<RawPermit, RunError> {
    let named = (request.raw == RawMode::Overwrite).then(|| request.path.to_string_lossy().into_owned());
    let (its_sysroot, path) = (sysroot.clone(), request.path.clone());
    let limit = request.hang_after * SLOW;
    match within(limit, move || check_raw(&its_sysroot, &path, named.as_deref())) {
        Ok(permit) => Ok(permit?),
        Err(NoAnswer::Late) => {
            let words = format!("nothing was answered for {}", assay_core::units::span(limit));
            Err(DeviceError::Unreadable { path: request.shown(), source: std::io::Error::other(words) }.into())
        }
        Err(NoAnswer::NoThread(error)) => Err(RunError::NoThread(error)),
    }
}

/// Checks that a directory can be written in, before anything else is tried.
fn writable(path: &Path, seen: &TargetInfo) -> Result<(), RunError> {
    let shown = harmless(&path.to_string_lossy());
    if seen.read_only || system::is_read_only(path) {
        let mount = seen.medium.mount_point.clone().unwrap_or_else(|| shown.clone());
        let device = seen.medium.device.as_deref().map_or_else(|| "/dev/sdX".to_owned(), shell);
        return Err(RunError::ReadOnly { path: shown, mount: harmless(&mount), device });
    }
    system::may_make_in(path).map_err(|error| RunError::io(path, error))
}
