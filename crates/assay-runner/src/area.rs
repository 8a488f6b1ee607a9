//! The test area: a file of assay's own, or a raw device that the user named.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::text::harmless;
use assay_core::units::{Bytes, MIB};
use assay_device::guard::{HeldDevice, RawPermit};
use assay_device::owned::{Caching, Directory, OwnDir};
use assay_device::{DeviceError, Sysroot};
use assay_engine::{DirectSupport, RepeatTrouble, Target, direct_support_of};
use assay_original::ToolSubject;

use crate::choose::Instrument;
use crate::error::RunError;
use crate::scratch::{self, Scratch};
use crate::system;
use crate::timeout::{NoAnswer, no_thread, within};

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
}
