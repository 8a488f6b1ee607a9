//! What is worn, opened: a raw device by its permit, or a file over the free space of a directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_core::text::harmless;
use assay_device::guard::{HeldDevice, check_raw};
use assay_device::owned::{Access, Caching, Directory, OwnedError};
use assay_device::{StorageBelow, Sysroot, TargetInfo, look, look_by_dev};
use assay_endure::{Attached, Fault, Log, Medium, PAGE_BYTES, Refused, SLICES, Way, has_begun, reserve, unit_on};
use assay_verify::files::{CheckPlan, CheckSettings, carried_path};

use crate::cli::EndureArgs;
use crate::ending::Failure;
use crate::output::shown;

/// Where logs are, in the data directory.
pub(super) const LOGS: &str = "endure";
/// The directory on a medium, and the file in it.
pub(super) const DIRECTORY: &str = ".assay-endure";
const FILE: &str = "wear";

/// How a target is opened.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) path: PathBuf,
    /// Whether the user named it once more.
    pub(super) named: bool,
    pub(super) part: Option<u64>,
    pub(super) resume: bool,
    pub(super) hang_after: Duration,
}

/// A target that is open.
pub(super) struct Opened {
    pub(super) medium: Attached,
    pub(super) seen: TargetInfo,
    /// Bytes that are worn.
    pub(super) area: u64,
    pub(super) reader: Option<String>,
    pub(super) attachment: Option<String>,
}

impl Opening {
    pub(super) fn new(args: &EndureArgs, path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            named: args.overwrite.iter().any(|named| named == path),
            part: args.part.map(|part| part.0),
            resume: args.resume,
            hang_after: args.hang_after,
        }
    }

    pub(super) fn open(&self) -> Result<Opened, Failure> {
        if is_device(&self.path)? { self.device() } else { self.directory() }
    }

    fn device(&self) -> Result<Opened, Failure> {
        // A test that is resumed is recognised by its stamps; only a new one needs the name.
        let ours = !self.named && self.resume && self.stamped()?;
        if !self.named && !self.resume {
            let path = shown(&self.path);
            return Err(Failure::usage(format!(
                "{path}: a test of endurance destroys what it holds and wears it out; add --overwrite {path} if that is meant"
            )));
        }
        let sysroot = Sysroot::real();
        let named = (self.named || ours).then(|| self.path.to_string_lossy().into_owned());
        let permit = check_raw(&sysroot, &self.path, named.as_deref())?;
        let seen = look_by_dev(&sysroot, &self.path, permit.held().seen());
        let file = permit.held().reopen(Caching::Direct)?;
        let bytes = permit.held().bytes();
        let (attachment, reader) =
            (permit.held().attachment(), assay_device::reader_of(&Sysroot::real(), permit.name()));
        let block = seen.logical_block_bytes.unwrap_or(512);
        let present = Box::new(move || permit.held().present());
        self.opened(file, bytes, block, present, (seen, reader, attachment))
    }

    /// Whether a test whose log is here wrote what is on the device. The permit then needs no name: what would be lost is its own.
    fn stamped(&self) -> Result<bool, Failure> {
        let path = shown(&self.path);
        let Some((mut medium, seen)) = to_read(&self.path, self.hang_after) else { return Ok(false) };
        let Some(unit) = unit_of(&mut medium) else {
            // Only a serial number tells what lost all.
            let lost = match seen.medium.unit {
                Some(_) => format!("; if it is the medium of a test and lost all, add --overwrite {path}"),
                None => String::new(),
            };
            return Err(Failure::usage(format!(
                "{path}: nothing on it is of a test of endurance{lost}; nothing was written"
            )));
        };
        let logs = crate::state::directory()?.join(LOGS);
        known_log(&self.path, &format!("{unit:016x}"), &logs).map(|_| true)
    }

    fn directory(&self) -> Result<Opened, Failure> {
        let fail = |error: OwnedError| Failure::environment(error.to_string());
        let seen = look(&Sysroot::real(), &self.path)?;
        let directory = Directory::open(&self.path).map_err(fail)?;
        let (file, bytes) = if self.resume {
            let Some(own) = directory.own(DIRECTORY).map_err(fail)? else {
                return Err(Failure::usage(format!("{}: no test of endurance is there to resume", shown(&self.path))));
            };
            let file = own.open_file(FILE, Access::ReadWrite, Caching::Direct).map_err(fail)?;
            let bytes = file.metadata().map_err(|error| self.failed(&error))?.len();
            (file, bytes)
        } else {
            let store = crate::state::directory().ok();
            if !self.named
                && let Some(carried) = carried_path(&self.path, store.as_deref())
            {
                let (path, carried) = (shown(&self.path), shown(&carried));
                return Err(Failure::usage(format!(
                    "{path}: the file system of {carried}, whose medium would wear out; mount the medium there, or add \
                     --overwrite {path} if that is meant"
                )));
            }
            // Named once more, it may be filled.
            let settings =
                CheckSettings { store, limit_bytes: self.part, fill_system: self.named, ..CheckSettings::default() };
            if directory.own(DIRECTORY).map_err(fail)?.is_some() {
                return Err(Failure::usage(format!(
                    "{}: a test of endurance is there; --resume continues it, and a new one needs its directory {DIRECTORY} \
                     removed",
                    shown(&self.path)
                )));
            }
            let bytes = CheckPlan::new(&self.path, &settings)?.area_bytes;
            let own = directory.make(DIRECTORY).map_err(fail)?;
            let file = own.create_file(FILE, Caching::Direct).map_err(fail)?;
            reserve(&file, bytes).map_err(|error| self.failed(&error))?;
            (file, bytes)
        };
        let reader = seen.leaves.first().and_then(|leaf| assay_device::reader_of(&Sysroot::real(), leaf));
        let path = self.path.clone();
        let present = Box::new(move || path.join(DIRECTORY).join(FILE).exists());
        let block = seen.logical_block_bytes.unwrap_or(PAGE_BYTES as u32);
        self.opened(file, bytes, block, present, (seen, reader, None))
    }

    fn opened(
        &self,
        file: File,
        bytes: u64,
        block: u32,
        present: Box<dyn Fn() -> bool + Send>,
        (seen, reader, attachment): (TargetInfo, Option<String>, Option<String>),
    ) -> Result<Opened, Failure> {
        if u64::from(block) > PAGE_BYTES {
            return Err(Failure::usage(format!("{}: its blocks of {block} bytes are too large", shown(&self.path))));
        }
        let area = self.part.map_or(bytes, |part| part.min(bytes)) / PAGE_BYTES * PAGE_BYTES;
        if area < SLICES * PAGE_BYTES {
            return Err(Failure::usage(format!("{}: less than 64 KiB is no area to wear", shown(&self.path))));
        }
        let medium =
            Attached::new(file, bytes, block, self.hang_after, present).map_err(|error| self.failed(&error))?;
        Ok(Opened { medium, seen, area, reader, attachment })
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::environment(format!("{}: {}", shown(&self.path), harmless(&error.to_string())))
    }
}

/// Removes the file of a directory whose test is over.
pub(super) fn remove(path: &Path) {
    let own = Directory::open(path).and_then(|directory| directory.own(DIRECTORY));
    if let Ok(Some(own)) = own
        && own.remove(FILE).is_ok()
    {
        // What is left is empty, and named by the next test.
        let _ = own.remove_self();
    }
}

/// The directory of a test on the medium under `path`.
pub(in crate::commands) fn left_in(path: &Path) -> Option<PathBuf> {
    Some(path.join(DIRECTORY)).filter(|own| own.is_dir())
}

/// Whether a target is a device; otherwise it is a directory.
fn is_device(path: &Path) -> Result<bool, Failure> {
    let shown = shown(path);
    match std::fs::metadata(path) {
        Ok(meta) if crate::system::is_device(&meta) => Ok(true),
        Ok(meta) if meta.is_dir() => Ok(false),
        Ok(meta) if !meta.is_file() => {
            Err(Failure::usage(format!("{shown} is no storage; name a block device, or a directory of the medium")))
        }
        Ok(_) => Err(Failure::usage(format!("{shown} is a file; name a device, or a directory of the medium"))),
        Err(error) => Err(Failure::usage(format!("{shown}: {error}; name a device, or a directory of the medium"))),
    }
}

/// The medium of a target or a control, and the storage that carries it; none where it cannot be told, and what is then done with
/// it says why.
pub(super) fn below(path: &Path) -> (StorageBelow, StorageBelow) {
    StorageBelow::medium_and_carriers(&Sysroot::real(), path).unwrap_or_default()
}

/// The way to a medium.
pub(super) fn way(seen: &TargetInfo, reader: Option<String>) -> Way {
    let bus = seen.medium.bus.as_ref().map(|bus| format!("{} {}", bus.kind, bus.mode));
    Way { host: Some(assay_device::host_name()), reader, bus }
}

/// Opens what rests for reading: a device, or the file of a directory.
pub(super) fn at_rest(path: &Path, hang_after: Duration) -> Result<(Attached, Way), Failure> {
    let sysroot = Sysroot::real();
    let failed = |error: &dyn std::fmt::Display| {
        Failure::environment(format!("{}: {}", shown(path), harmless(&error.to_string())))
    };
    let (file, bytes, seen, present): (File, u64, TargetInfo, Box<dyn Fn() -> bool + Send>) = if is_device(path)? {
        let held = HeldDevice::to_read(&sysroot, path)?;
        let seen = look_by_dev(&sysroot, path, held.seen());
        (held.reopen(Caching::Direct)?, held.bytes(), seen, Box::new(move || held.present()))
    } else {
        let seen = look(&sysroot, path)?;
        let directory = Directory::open(path).map_err(|error| failed(&error))?;
        let Some(own) = directory.own(DIRECTORY).map_err(|error| failed(&error))? else {
            return Err(Failure::usage(format!("{}: no test of endurance is there", shown(path))));
        };
        let file = own.open_file(FILE, Access::Read, Caching::Direct).map_err(|error| failed(&error))?;
        let bytes = file.metadata().map_err(|error| failed(&error))?.len();
        let there = path.join(DIRECTORY).join(FILE);
        (file, bytes, seen, Box::new(move || there.exists()))
    };
    let reader = seen.leaves.first().and_then(|leaf| assay_device::reader_of(&sysroot, leaf));
    let block = seen.logical_block_bytes.unwrap_or(PAGE_BYTES as u32);
    let way = way(&seen, reader);
    let medium = Attached::new(file, bytes, block, hang_after, present).map_err(|error| failed(&error))?;
    Ok((medium, way))
}

/// Opens a device for reading.
fn to_read(path: &Path, hang_after: Duration) -> Option<(Attached, TargetInfo)> {
    let sysroot = Sysroot::real();
    let held = HeldDevice::to_read(&sysroot, path).ok()?;
    let seen = look_by_dev(&sysroot, path, held.seen());
    let (file, bytes) = (held.reopen(Caching::Direct).ok()?, held.bytes());
    let block = seen.logical_block_bytes.unwrap_or(512);
    let medium = Attached::new(file, bytes, block, hang_after, Box::new(move || held.present())).ok()?;
    Some((medium, seen))
}

/// The log of the test that wrote a medium.
pub(super) fn known_log(path: &Path, id: &str, logs: &Path) -> Result<PathBuf, Failure> {
    let file = logs.join(format!("{id}.log"));
    if file.exists() {
        return Ok(file);
    }
    Err(Failure::usage(format!(
        "{}: it holds what test {id} wrote, whose log is not here ({}); copy it here from the machine of that test, or begin \
         a new one without --resume",
        shown(path),
        shown(&file)
    )))
}

/// Longest log of a test that is still in its first cycle.
const FIRST_CYCLE: u64 = 1 << 20;

/// The number of the test whose stamps are on a medium: those that are found anywhere, or the first blocks of a test whose log is
/// here.
pub(super) fn unit_of(medium: &mut dyn Medium) -> Option<u64> {
    if let Some(unit) = unit_on(medium) {
        return Some(unit);
    }
    let logs = std::fs::read_dir(crate::state::directory().ok()?.join(LOGS)).ok()?;
    let short = |path: &PathBuf| {
        path.extension().is_some_and(|ending| ending == "log")
            && std::fs::metadata(path).is_ok_and(|meta| meta.len() <= FIRST_CYCLE)
    };
    let begun = |path: PathBuf| {
        let state = Log::look(&path).ok()?;
        let layout = *state.layout();
        has_begun(medium, layout.unit, layout.pages).then_some(layout.unit)
    };
    logs.filter_map(|entry| Some(entry.ok()?.path())).filter(short).find_map(begun)
}

/// Stands for a medium that is not attached.
pub(super) struct Absent(pub(super) u64);

impl Medium for Absent {
    fn bytes(&self) -> u64 {
        self.0
    }
    fn read(&mut self, _offset: u64, _buffer: &mut [u8]) -> Result<(), Fault> {
        Err(Fault::Gone)
    }
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        Err(Refused { offset, bytes: data.len() as u64, fault: Fault::Gone })
    }
    fn sync(&mut self) -> Result<(), Refused> {
        Err(Refused { offset: 0, bytes: 0, fault: Fault::Gone })
    }
}

/// Whether a control medium can be read, and its reader.
pub(super) fn control(path: &Path, hang_after: Duration) -> (bool, Option<String>) {
    let Some((mut medium, seen)) = to_read(path, hang_after) else { return (false, None) };
    let reader = seen.leaves.first().and_then(|leaf| assay_device::reader_of(&Sysroot::real(), leaf));
    let mut page = vec![0; PAGE_BYTES as usize];
    let pages = medium.bytes() / PAGE_BYTES;
    let works = pages > 0 && [0, pages / 2, pages - 1].iter().any(|at| medium.read(at * PAGE_BYTES, &mut page).is_ok());
    (works, reader)
}
