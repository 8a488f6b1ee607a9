//! What is written and read, opened: a raw device by its permit, or a file of a directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_core::text::harmless;
use assay_device::guard::{HeldDevice, check_raw};
use assay_device::owned::{Access, Caching, Directory, OwnDir, OwnedError};
use assay_device::{StorageBelow, Sysroot, TargetInfo, look, look_by_dev};
use assay_endure::{Attached, Medium, mark_on, reserve};
use assay_powercut::{BLOCK, Begin, Cannot, FilePlace, FileSystem, GROUP, Place, Target, unit_on};
use assay_verify::files::{CheckPlan, CheckSettings};

use crate::ending::Failure;
use crate::output::shown;

/// The directory on a medium, and the file in it.
pub(super) const DIRECTORY: &str = ".assay-powercut";
const FILE: &str = "load";

/// How a target is opened.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    pub(super) path: PathBuf,
    pub(super) target: Target,
    pub(super) hang_after: Duration,
}

/// A target that can be written.
pub(super) struct Opened {
    /// For the fill.
    pub(super) medium: Attached,
    /// For the load.
    pub(super) place: Arc<dyn Place>,
    pub(super) seen: TargetInfo,
    /// Whole groups of blocks that it has.
    pub(super) blocks: u64,
}

/// A target after a cut.
pub(super) struct Looked {
    pub(super) medium: Result<Attached, Cannot>,
    pub(super) seen: Option<TargetInfo>,
    pub(super) file_system: Option<FileSystem>,
}

impl Opening {
    pub(super) fn new(path: &Path, hang_after: Duration) -> Self {
        let device = std::fs::metadata(path).is_ok_and(|meta| crate::system::is_device(&meta));
        let target = if device { Target::Device } else { Target::File };
        Self { path: path.to_owned(), target, hang_after }
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::environment(format!("{}: {}", shown(&self.path), harmless(&error.to_string())))
    }

    /// A new test of this size: a device that was named once more, or a file that is made.
    pub(super) fn begin(&self, named: bool, bytes: u64) -> Result<Opened, Failure> {
        if self.target == Target::Device {
            if !named {
                let path = shown(&self.path);
                return Err(Failure::usage(format!(
                    "{path}: a test of power cuts destroys what it holds; add --overwrite {path} if that is meant"
                )));
            }
            return self.device(bytes);
        }
        let seen = look(&Sysroot::real(), &self.path)?;
        if seen.is_memory {
            return Err(Failure::usage(format!(
                "{}: it lies in memory, which holds nothing without power; name a directory of a medium",
                shown(&self.path)
            )));
        }
        self.refuse_without_barriers(&seen)?;
        let fail = |error: OwnedError| Failure::environment(error.to_string());
        let directory = Directory::open(&self.path).map_err(fail)?;
        if directory.own(DIRECTORY).map_err(fail)?.is_some() {
            return Err(Failure::usage(format!(
                "{}: a test of power cuts is there; --resume continues it, and a new one needs its directory {DIRECTORY} \
                 removed",
                shown(&self.path)
            )));
        }
        let settings = CheckSettings {
            store: crate::state::directory().ok(),
            limit_bytes: Some(bytes),
            ..CheckSettings::default()
        };
        let bytes = CheckPlan::new(&self.path, &settings)?.area_bytes / (GROUP * BLOCK) * (GROUP * BLOCK);
        let own = directory.make(DIRECTORY).map_err(fail)?;
        let file = own.create_file(FILE, Caching::Direct).map_err(fail)?;
        reserve(&file, bytes).map_err(|error| self.failed(&error))?;
        // The names are older data, too.
        own.sync_all().map_err(|error| self.failed(&error))?;
        self.file(&own, seen)
    }

    /// The medium of a test, which has to hold its stamps.
    pub(super) fn go_on(&self, begin: &Begin, unit: u64) -> Result<Opened, Failure> {
        let mut opened = match self.target {
            Target::Device => self.device(begin.blocks * BLOCK)?,
            Target::File => {
                let seen = look(&Sysroot::real(), &self.path)?;
                self.refuse_without_barriers(&seen)?;
                let own = Directory::open(&self.path).and_then(|directory| directory.own(DIRECTORY));
                let own = own.map_err(|error| self.failed(&error))?;
                self.file(&own.ok_or_else(|| self.failed(&"the file of the test is not there"))?, seen)?
            }
        };
        if unit_on(&mut opened.medium) != Some(unit) {
            return Err(Failure::usage(format!(
                "{}: it does not hold what test {} wrote; nothing was written",
                shown(&self.path),
                begin.id
            )));
        }
        Ok(opened)
    }

    /// The mark of a file system or a partition table in the area of a device: the load of a test leaves none, so that it was
    /// made since, or came back. What is behind the area is not written.
    pub(super) fn mark(&self, medium: &mut dyn Medium, blocks: u64) -> Option<&'static str> {
        (self.target == Target::Device).then(|| mark_on(medium, &|block| block < blocks))?
    }

    /// Refuses a device with such a mark, or one that cannot be looked at.
    pub(super) fn refuse_marked(&self, begin: &Begin) -> Result<(), Failure> {
        if self.target != Target::Device {
            return Ok(());
        }
        let path = shown(&self.path);
        let mut medium = self
            .look(Some(begin))
            .medium
            .map_err(|reason| Failure::environment(format!("{path}: {}; nothing was written", reason.title())))?;
        let Some(mark) = self.mark(&mut medium, begin.blocks) else { return Ok(()) };
        Err(Failure::usage(format!(
            "{path}: it holds {mark}, which is not of the test; nothing was written; if that may be overwritten, add \
             --overwrite {path}"
        )))
    }

    fn device(&self, bytes: u64) -> Result<Opened, Failure> {
        let sysroot = Sysroot::real();
        let named = self.path.to_string_lossy().into_owned();
        let permit = check_raw(&sysroot, &self.path, Some(&named))?;
        let seen = look_by_dev(&sysroot, &self.path, permit.held().seen());
        let (one, other) = (permit.held().reopen(Caching::Direct)?, permit.held().reopen(Caching::Direct)?);
        let bytes = bytes.min(permit.held().bytes());
        self.opened(one, other, bytes, seen, move || permit.held().present())
    }

    fn file(&self, own: &OwnDir, seen: TargetInfo) -> Result<Opened, Failure> {
        let open = || own.open_file(FILE, Access::ReadWrite, Caching::Direct).map_err(|error| self.failed(&error));
        let (one, other) = (open()?, open()?);
        let bytes = one.metadata().map_err(|error| self.failed(&error))?.len();
        let path = self.path.join(DIRECTORY).join(FILE);
        self.opened(one, other, bytes, seen, move || path.exists())
    }

    fn opened(
        &self,
        one: File,
        other: File,
        bytes: u64,
        seen: TargetInfo,
        present: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Opened, Failure> {
        let block = seen.logical_block_bytes.unwrap_or(BLOCK as u32);
        if u64::from(block) > BLOCK {
            return Err(Failure::usage(format!("{}: its blocks of {block} bytes are too large", shown(&self.path))));
        }
        let blocks = bytes / BLOCK / GROUP * GROUP;
        if blocks < 4 * GROUP {
            return Err(Failure::usage(format!("{}: less than 256 KiB is no area for a load", shown(&self.path))));
        }
        let (present, again) = {
            let present = Arc::new(present);
            (Arc::clone(&present), present)
        };
        let medium = Attached::new(one, blocks * BLOCK, block, self.hang_after, Box::new(move || present()));
        let medium = medium.map_err(|error| self.failed(&error))?;
        Ok(Opened { medium, place: Arc::new(FilePlace::new(other, Box::new(move || again()))), seen, blocks })
    }

    /// Without barriers the file system itself promises nothing.
    fn refuse_without_barriers(&self, seen: &TargetInfo) -> Result<(), Failure> {
        let none = ["nobarrier", "barrier=0"];
        match seen.medium.mount_options.iter().find(|option| none.contains(&option.as_str())) {
            Some(option) => Err(Failure::usage(format!(
                "{}: it is mounted with {option}, so that the file system sends no flushes; mount it without",
                shown(&self.path)
            ))),
            None => Ok(()),
        }
    }

    /// Opens it to be read. `begin` is of the test that is expected there.
    pub(super) fn look(&self, begin: Option<&Begin>) -> Looked {
        match self.target {
            Target::Device => self.look_at_device(),
            Target::File => self.look_at_file(begin),
        }
    }

    fn look_at_device(&self) -> Looked {
        let sysroot = Sysroot::real();
        let opened =
            HeldDevice::to_read(&sysroot, &self.path).and_then(|held| Ok((held.reopen(Caching::Direct)?, held)));
        let Ok((file, held)) = opened else {
            return Looked { medium: Err(Cannot::Gone), seen: None, file_system: None };
        };
        let seen = look_by_dev(&sysroot, &self.path, held.seen());
        let (bytes, block) = (held.bytes(), seen.logical_block_bytes.unwrap_or(512));
        let medium = Attached::new(file, bytes, block, self.hang_after, Box::new(move || held.present()));
        Looked { medium: medium.map_err(|_| Cannot::Gone), seen: Some(seen), file_system: None }
    }

    fn look_at_file(&self, begin: Option<&Begin>) -> Looked {
        let seen = look(&Sysroot::real(), &self.path).ok();
        let info = seen.as_ref().map(|seen| &seen.medium);
        let mount_point = info.and_then(|medium| medium.mount_point.clone());
        let expected = begin.and_then(|begin| begin.mount_point.clone());
        let mounted = seen.is_some() && (begin.is_none() || mount_point == expected);
        let file = Directory::open(&self.path).and_then(|directory| directory.own(DIRECTORY));
        let file = file.ok().flatten().and_then(|own| own.open_file(FILE, Access::Read, Caching::Direct).ok());
        let bytes = file.as_ref().and_then(|file| Some(file.metadata().ok()?.len()));
        let file_system = FileSystem {
            kind: info.and_then(|medium| medium.filesystem.clone()),
            mounted,
            read_only: seen.as_ref().is_some_and(|seen| seen.read_only),
            errors: info.and_then(|medium| errors(medium.device.as_deref()?)),
            file_whole: bytes.is_some_and(|bytes| begin.is_none_or(|begin| bytes >= begin.blocks * BLOCK)),
        };
        let path = self.path.join(DIRECTORY).join(FILE);
        let block = seen.as_ref().and_then(|seen| seen.logical_block_bytes).unwrap_or(BLOCK as u32);
        let medium = match (file, bytes, mounted) {
            (_, _, false) => Err(Cannot::NotMounted),
            (Some(file), Some(bytes), true) => {
                let present = Box::new(move || path.exists());
                Attached::new(file, bytes, block, self.hang_after, present).map_err(|_| Cannot::Gone)
            }
            _ => Err(Cannot::NoFile),
        };
        Looked { medium, seen, file_system: Some(file_system) }
    }

    /// Refuses a directory for the ledger that is on the medium, or not shown to be elsewhere.
    pub(super) fn apart_from(&self, ledger: &Path) -> Result<(), Failure> {
        let root = Sysroot::real();
        let below = match self.target {
            Target::Device => StorageBelow::of_device(&root, &self.path)?,
            Target::File => StorageBelow::of_directory(&root, &self.path)?,
        };
        let home = StorageBelow::of_directory(&root, ledger)?;
        let why = match (below.shared(&home), home.unknown.as_ref().or(below.unknown.as_ref())) {
            (Some(disk), _) => format!("is on {disk}, the medium of the test"),
            (None, Some(why)) => format!("is not shown to be on another disk: {why}"),
            (None, None) => return Ok(()),
        };
        Err(Failure::usage(format!(
            "{} {}; give --ledger a directory on another disk; nothing was touched",
            shown(ledger),
            harmless(&why)
        )))
    }
}

/// Errors that ext4 counted in the life of a file system (kernel Documentation/ABI/testing/sysfs-fs-ext4).
fn errors(device: &str) -> Option<u64> {
    let name = std::fs::canonicalize(device).ok()?.file_name()?.to_owned();
    let path = Path::new("/sys/fs/ext4").join(name).join("errors_count");
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
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
