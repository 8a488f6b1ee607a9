//! The directory or device that is measured, opened once, and the test area on it: a file of assay's own, or a raw device that
//! the user named.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::finding::{AreaLimit, Finding};
use assay_core::medium::{Medium, MediumKind, Mounted};
use assay_core::suite::LayoutRule;
use assay_core::text::{harmless, shell};
use assay_core::units::{Bytes, MIB};
use assay_device::guard::{HeldDevice, RawPermit, check_raw};
use assay_device::owned::{Caching, Directory, OwnDir};
use assay_device::{DeviceError, Sysroot, TargetInfo, look_by_dev, swaps_on};
use assay_engine::{DirectSupport, RepeatTrouble, Target, direct_support_of};
use assay_original::ToolSubject;

use crate::budget::{Budget, workloads_bytes};
use crate::choose::Instrument;
use crate::error::RunError;
use crate::request::{RawMode, RunRequest};
use crate::scratch::{self, Scratch};
use crate::timeout::{NoAnswer, SLOW, no_thread, within};
use crate::{judge, system};

/// Less than this is no test.
pub(crate) const LEAST_AREA: u64 = MIB;
/// Left free on a file system, so that the test never fills it: a hundredth, at least this much.
const LEAST_SPARE: u64 = 8 * MIB;

/// What is read and written.
#[derive(Debug)]
pub(crate) struct Area {
    place: AreaPlace,
    /// Opened with direct I/O where that works.
    pub(crate) target: Arc<Target>,
    pub(crate) direct: DirectSupport,
}

/// Where more files of the area come from.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a session has one")]
enum AreaPlace {
    /// The directory of its own, and the test file in it as it was opened first.
    Directory {
        scratch: Scratch,
        first: File,
    },
    Written(RawPermit),
    Read(HeldDevice),
}

impl Area {
    /// A file in a directory of its own in `parent`.
    pub(crate) fn in_directory(parent: &Directory, id: &str, logical_block: Option<u32>) -> Result<Self, RunError> {
        let scratch = Scratch::create(parent, id)?;
        let first = scratch.create_data()?;
        let open = |caching| scratch.open_data(&first, caching);
        let (direct, opened) = direct_support_of(&first, logical_block, || Ok(open(Caching::Direct)?));
        let (file, is_direct) = match opened {
            Some(file) => (file, true),
            None => (open(Caching::Cached)?, false),
        };
        let target = Arc::new(Target::from_file(file, is_direct));
        Ok(Self { place: AreaPlace::Directory { scratch, first }, target, direct })
    }

    /// A raw device: to be written where the guards gave their permit, else only to be read. It is
    /// the device that was checked, whatever its path leads to by now.
    pub(crate) fn on_device(
        path: &Path,
        logical_block: Option<u32>,
        permit: Option<&RawPermit>,
    ) -> Result<Self, RunError> {
        let (place, (target, direct)) = match permit {
            Some(permit) => (AreaPlace::Written(permit.clone()), open_device(permit.held(), logical_block)?),
            None => {
                let held = HeldDevice::to_read(&Sysroot::real(), path)?;
                let opened = open_device(&held, logical_block)?;
                (AreaPlace::Read(held), opened)
            }
        };
        Ok(Self { place, target, direct })
    }

    pub(crate) fn scratch_path(&self) -> Option<&Path> {
        match &self.place {
            AreaPlace::Directory { scratch, .. } => Some(scratch.path()),
            AreaPlace::Written(_) | AreaPlace::Read(_) => None,
        }
    }

    pub(crate) fn alignment(&self) -> Option<u32> {
        match &self.direct {
            DirectSupport::Yes { alignment, .. } => Some(*alignment),
            DirectSupport::No { .. } => None,
        }
    }

    /// Reserves room where the file system can, so that the file is not scattered; no room for
    /// all of it is found out while writing.
    pub(crate) fn reserve(&self, bytes: u64, limit: Duration) {
        if self.scratch_path().is_some() {
            let target = Arc::clone(&self.target);
            let _ = within(limit, move || {
                let _ = system::reserve(target.file(), bytes);
            });
        }
    }

    /// Gives back what was reserved and not written.
    pub(crate) fn trim(&self, bytes: u64, limit: Duration) {
        if self.scratch_path().is_some() {
            let target = Arc::clone(&self.target);
            let _ = within(limit, move || {
                let _ = target.file().set_len(bytes);
            });
        }
    }

    /// What a tool works on that is no engine: a file of its own beside the test file, or the device, which it reads.
    pub(crate) fn subject(&self, target: &Target, limits: ToolSubject) -> ToolSubject {
        match &self.place {
            AreaPlace::Directory { scratch, .. } => ToolSubject {
                directory: Some(system::path_of_directory(scratch.directory())),
                files: scratch::FILES,
                data: scratch::DATA.to_owned(),
                room_bytes: room(scratch.directory()).unwrap_or(0),
                ..limits
            },
            AreaPlace::Written(_) | AreaPlace::Read(_) => {
                ToolSubject { directory: None, data: system::path_of(target.file()), room_bytes: 0, ..limits }
            }
        }
    }

    /// Makes the directory in which a tool works that names its files itself; says why, where it could not.
    pub(crate) fn prepare_for(&self, instrument: Instrument) -> Option<RepeatTrouble> {
        let Instrument::Tool(tool) = instrument else { return None };
        let needed = assay_original::needs_directory(tool);
        needed.then(|| self.files().err()).flatten().map(|error| RepeatTrouble::Setup(error.to_string()))
    }

    /// Removes what a tool made, where it left something. Where that fails, removing the directory says so.
    pub(crate) fn remove_original(&self) {
        if let AreaPlace::Directory { scratch, .. } = &self.place {
            let _ = scratch.remove_original();
        }
    }

    /// The same area through the page cache, for workloads that ask for it.
    pub(crate) fn cached(&self) -> Result<Arc<Target>, RunError> {
        let file = match &self.place {
            AreaPlace::Directory { scratch, first } => scratch.open_data(first, Caching::Cached)?,
            AreaPlace::Written(permit) => permit.held().reopen(Caching::Cached)?,
            AreaPlace::Read(held) => held.reopen(Caching::Cached)?,
        };
        Ok(Arc::new(Target::from_file(file, false)))
    }

    /// A directory for the files of a program, empty; none on a raw device.
    pub(crate) fn files(&self) -> Result<Option<OwnDir>, RunError> {
        match &self.place {
            AreaPlace::Directory { scratch, .. } => Ok(Some(scratch.files()?)),
            AreaPlace::Written(_) | AreaPlace::Read(_) => Ok(None),
        }
    }

    /// Removes the test file; says why, where it could not within `limit`. The device, if it was
    /// one, keeps what was written.
    pub(crate) fn clean_up(self, limit: Duration) -> Result<(), String> {
        let scratch = self.scratch_path().map(Path::to_owned);
        let Self { target, place, .. } = self;
        let removed = within(limit, move || {
            drop(target);
            match place {
                AreaPlace::Directory { scratch, first } => {
                    // Windows removes a directory after the last file in it is closed.
                    drop(first);
                    scratch.remove()
                }
                AreaPlace::Written(_) | AreaPlace::Read(_) => Ok(()),
            }
        });
        match removed {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(NoAnswer::Late) => Err(format!("no answer within {}", assay_core::units::span(limit))),
            // What was to be done was dropped here, and the directory of the run removes itself then.
            Err(NoAnswer::NoThread(_)) if scratch.is_none_or(|path| path.symlink_metadata().is_err()) => Ok(()),
            Err(NoAnswer::NoThread(error)) => Err(no_thread(&error)),
        }
    }
}

/// With direct I/O where that works.
fn open_device(device: &HeldDevice, logical_block: Option<u32>) -> Result<(Arc<Target>, DirectSupport), DeviceError> {
    let plain = device.reopen(Caching::Cached)?;
    let (direct, opened) = direct_support_of(&plain, logical_block, || {
        device.reopen(Caching::Direct).map_err(|error| match error {
            DeviceError::Unreadable { source, .. } => source,
            error => io::Error::other(error),
        })
    });
    let target = match opened {
        Some(file) => Target::from_file(file, true),
        None => Target::from_file(plain, false),
    };
    Ok((Arc::new(target), direct))
}

/// Bytes that a test in `directory` may use.
pub(crate) fn room(directory: &Directory) -> Result<u64, RunError> {
    let space = directory.space()?;
    let (free, all) = (space.free_bytes, space.bytes);
    let (usable, spare) = shares(free, all);
    if usable < LEAST_AREA {
        return Err(RunError::NoSpace {
            path: harmless(&directory.path().to_string_lossy()),
            free: Bytes(free).to_string(),
            needed: Bytes(spare + LEAST_AREA).to_string(),
            held: scratch::held_in(directory).map_or_else(String::new, |words| format!("; {words}")),
        });
    }
    Ok(usable)
}

/// What a test may use of the `free` bytes of a file system of `all` bytes, and what it leaves.
fn shares(free: u64, all: u64) -> (u64, u64) {
    let spare = (all / 100).clamp(LEAST_SPARE.min(all / 8), 1 << 30);
    let usable = free.saturating_sub(spare);
    (usable, spare)
}

/// Largest multiple of a round number that fits: MiB, else 64 KiB, else 4 KiB.
pub(crate) fn rounded(bytes: u64) -> u64 {
    [MIB, 64 << 10, 4 << 10].into_iter().find(|unit| bytes >= *unit).map_or(0, |unit| bytes / unit * unit)
}

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
        _ if is_unmounted(&seen.medium) => vec![Finding::NothingMounted],
        _ => Vec::new(),
    };
    // The host of a virtual machine is another machine in this: its page cache stands between the disk and the medium.
    if seen.medium.is_remote() || kind == MediumKind::Virtio {
        findings.push(Finding::ServerCache { medium: kind });
    }
    if swaps_on(sysroot, &seen.leaves) {
        findings.push(Finding::SwapOnMedium);
    }
    findings.extend(judge::meter(sysroot, seen).err());
    findings
}

/// Directories in which media get mounted: by hand, and by desktops, which have one for each user.
const MOUNTS: [&str; 3] = ["/mnt", "/media", "/run/media"];

/// Whether a card was meant, and is not there: an empty directory where media get mounted, in the file system that holds all of
/// them. One on a medium that is mounted there is a directory like others.
#[must_use]
pub fn is_unmounted(medium: &Medium) -> bool {
    nothing_mounted(medium, is_empty)
}

fn nothing_mounted(medium: &Medium, is_empty: impl Fn(&Path) -> bool) -> bool {
    let above = matches!(medium.mounted(), Mounted::Root | Mounted::Above);
    let among = |path: &str| MOUNTS.iter().any(|place| Path::new(path).starts_with(place));
    let place = MOUNTS.contains(&medium.path.as_str());
    let holds_all = medium.mount_point.as_deref().is_some_and(|point| !among(point));
    above && holds_all && among(&medium.path) && !place && is_empty(Path::new(&medium.path))
}

/// Whether a directory holds nothing but what runs make.
fn is_empty(directory: &Path) -> bool {
    let made = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".assay"))
    };
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.all(made))
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
    system::may_make_in(path).map_err(|error| match error.kind() {
        // The directory is that of the system, and not of the user.
        std::io::ErrorKind::PermissionDenied if is_unmounted(&seen.medium) => RunError::Unmounted(shown),
        _ => RunError::io(path, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_round() {
        assert_eq!(rounded(300_000), 262_144);
        assert_eq!(rounded(5 * MIB + 7), 5 * MIB);
        assert_eq!(rounded(9000), 8192);
        assert_eq!(rounded(100), 0);
    }

    #[test]
    fn a_hundredth_of_the_file_system_stays_free() {
        const GIB: u64 = 1 << 30;
        for (free, all, spare) in [
            (50 * GIB, 50 * GIB, GIB / 2),
            (900 * GIB, 1000 * GIB, GIB),
            (100 * MIB, 400 * MIB, 8 * MIB),
            (10 * MIB, 16 * MIB, 2 * MIB),
        ] {
            assert_eq!(shares(free, all), (free - spare, spare), "{free} of {all}");
        }
        assert_eq!(shares(3 * MIB, 400 * MIB), (0, 8 * MIB), "less is free than has to stay free");
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::open(dir.path()).unwrap();
        assert!(room(&directory).unwrap() < directory.space().unwrap().free_bytes);
    }

    #[test]
    fn a_card_that_is_not_mounted_is_known_by_its_empty_directory() {
        let on = |path: &str, mount_point: &str| Medium {
            mount_point: Some(mount_point.to_owned()),
            kind: MediumKind::Virtio,
            ..Medium::unknown(path)
        };
        let empty = |medium: &Medium| nothing_mounted(medium, |_| true);
        assert!(empty(&on("/mnt/card", "/")));
        assert!(empty(&on("/media/me/CARD", "/")));
        assert!(!empty(&on("/mnt/card", "/mnt/card")), "it is mounted");
        assert!(!empty(&on("/mnt/card/new", "/mnt/card")), "a directory on a card");
        assert!(!empty(&on("/mnt/new", "/mnt")), "a directory on what is mounted at /mnt");
        assert!(!empty(&on("/home/me/new", "/")), "no place for media");
        assert!(!empty(&on("/mnt", "/")), "the place itself is empty where there is nothing to mount");
        assert!(!nothing_mounted(&on("/mnt/data", "/"), |_| false), "it holds files");
    }

    #[test]
    fn what_runs_make_leaves_a_directory_empty() {
        let directory = tempfile::tempdir().unwrap();
        assert!(is_empty(directory.path()));
        std::fs::create_dir(directory.path().join(".assay-0yk")).unwrap();
        assert!(is_empty(directory.path()));
        std::fs::write(directory.path().join("photo"), "").unwrap();
        assert!(!is_empty(directory.path()));
    }
}
