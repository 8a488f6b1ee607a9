//! What a check will do, known before it begins.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_core::units::Bytes;
use assay_device::owned::Directory;
use assay_device::{Sysroot, look};

use super::content::{Content, FileFormat};
use super::directory::{VerifyError, present};
use super::eviction;
use super::state::{DIRECTORY, LOCK, Lacking, State, Writer, files_of, h2w_names, numbered};
use crate::sys;

const MIB: u64 = 1 << 20;
/// The largest cache that is assumed: f3probe found caches of 96 and 128 MiB, most are below 8 MiB.
const CACHE: u64 = 64 * MIB;
/// Left free for the metadata of the files: 1/64, within these limits.
const RESERVE: std::ops::RangeInclusive<u64> = MIB..=16 * MIB;
/// Left free on a file system that the host itself uses: a hundredth of it, within these limits.
const SYSTEM_RESERVE: std::ops::RangeInclusive<u64> = 256 * MIB..=1 << 30;
/// Such a file system may be written without asking if at least this part of its free space, as a divisor, stays free.
const HARMLESS_PART: u64 = 2;

/// Settings of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSettings {
    /// Leave the files for another look.
    pub keep: bool,
    /// Format of the files.
    pub format: FileFormat,
    /// Size of the largest cache of the medium, in bytes, that cannot hide a loss.
    pub cache_bytes: u64,
    /// Also fill a file system that the host itself uses.
    pub fill_system: bool,
    /// The directory of the records: its file system is not filled either.
    pub store: Option<PathBuf>,
    /// Write nothing: read files that assay, f3 or H2testw left.
    pub only_read: bool,
    /// Read what an earlier check kept, for its age.
    pub read_back: bool,
    /// What a later reading has to know of this check.
    pub writer: Option<Writer>,
    /// Check no more than this many bytes.
    pub limit_bytes: Option<u64>,
    /// End at the first lost data.
    pub until_first_error: bool,
    /// Continue an interrupted check.
    pub resume: bool,
    /// A medium without an answer for this long counts as hung.
    pub hang_after: Duration,
    /// Bypass the page cache if the file system can.
    pub direct: bool,
    /// How often progress is made durable and saved. No more than that is repeated after the check was killed, or the
    /// power failed. Each file of 1 GiB is saved too, whatever this is.
    pub save_every: Duration,
}

impl Default for CheckSettings {
    fn default() -> Self {
        Self {
            keep: false,
            format: FileFormat::Salted,
            cache_bytes: CACHE,
            fill_system: false,
            store: None,
            only_read: false,
            read_back: false,
            writer: None,
            limit_bytes: None,
            until_first_error: false,
            resume: false,
            hang_after: Duration::from_secs(30),
            direct: true,
            save_every: Duration::from_secs(30),
        }
    }
}

/// What a check will do. Making a plan writes nothing.
#[derive(Debug, Clone)]
pub struct CheckPlan {
    /// The target, without symbolic links.
    pub target: PathBuf,
    /// The directory that holds the files: assay's own, or the one that is only read.
    pub directory: PathBuf,
    /// Free space before the check, in bytes. Files of an abandoned check count as free.
    pub free_bytes: u64,
    /// Free space that the check leaves, in bytes.
    pub reserve_bytes: u64,
    /// Most bytes that could be checked: the free space without the reserve, or the size of the files.
    pub whole_bytes: u64,
    /// What is checked, in bytes.
    pub area_bytes: u64,
    /// What this check writes, in bytes.
    pub write_bytes: u64,
    /// What this check reads, in bytes.
    pub read_bytes: u64,
    /// Most bytes of it that are written and read again, to evict the end from caches.
    pub again_bytes: u64,
    /// Size of the block device under the target, in bytes; `None` if it is unknown, or there is none.
    pub device_bytes: Option<u64>,
    /// Size of the file system, in bytes, as it reports.
    pub file_system_bytes: u64,
    /// Names of `*.h2w` in the target that are not assay's and are kept.
    pub foreign: Vec<String>,
    /// Numbers and sizes of the files.
    pub(crate) files: Vec<(u64, u64)>,
    /// The target, or the directory of the files if they are only read; opened once.
    pub(crate) handle: Arc<Directory>,
    /// What is known of files that an earlier check kept; `None` if nothing is only read, or they are of another tool.
    pub(crate) kept: Option<Kept>,
}

/// What is known of files that an earlier check kept.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    /// What was written to them.
    pub(crate) content: Content,
    /// What is no longer there.
    pub(crate) lacking: Lacking,
    /// The check that wrote them, and its host.
    writer: Option<(Writer, String)>,
}

impl CheckPlan {
    /// The check that wrote what is only read, and the name of its host; `None` where that is not known.
    #[must_use]
    pub fn written_by(&self) -> Option<&(Writer, String)> {
        self.kept.as_ref()?.writer.as_ref()
    }

    /// Makes a plan for the target.
    ///
    /// # Errors
    /// Where nothing can be checked, or checking is not allowed; see [`VerifyError`].
    pub fn new(target: &Path, settings: &CheckSettings) -> Result<Self, VerifyError> {
        let io = |source: io::Error| VerifyError::io(target, source);
        let target = std::fs::canonicalize(target).map_err(io)?;
        if !target.is_dir() {
            return Err(VerifyError::NotDirectory(target));
        }
        if let Some(limit) = settings.limit_bytes.filter(|limit| *limit < MIB) {
            return Err(VerifyError::Limit(limit));
        }
        if settings.only_read {
            return Self::read_only(target, settings);
        }
        let handle = Arc::new(Directory::open(&target)?);
        let device_bytes = sys::device_bytes(&handle);
        let fs = handle.space()?;
        if fs.read_only {
            return Err(VerifyError::ReadOnly(target));
        }
        sys::may_write(&target).map_err(|error| VerifyError::io(&target, error))?;
        let present = present(&handle)?.unwrap_or_default();
        let base = Self {
            directory: target.join(DIRECTORY),
            // What an abandoned check wrote counts as free, as it did when that began.
            free_bytes: fs.free_bytes.saturating_add(present.bytes),
            reserve_bytes: 0,
            whole_bytes: 0,
            area_bytes: 0,
            write_bytes: 0,
            read_bytes: 0,
            again_bytes: 0,
            device_bytes,
            file_system_bytes: fs.bytes,
            foreign: h2w_names(&handle),
            files: Vec::new(),
            kept: None,
            target,
            handle,
        };
        if settings.resume { base.resumed(present.state, settings) } else { base.anew(present.state, settings) }
    }

    /// The plan to go on from `state`.
    fn resumed(self, state: Option<State>, settings: &CheckSettings) -> Result<Self, VerifyError> {
        let state = match state {
            Some(state) if !state.kept && state.area_bytes > 0 => state,
            _ => return Err(VerifyError::NothingToResume(self.target)),
        };
        let area = state.area_bytes;
        let read = state.read.as_ref().map_or(0, |(upto, _)| *upto);
        Ok(Self {
            // A limit of the interrupted check holds: its part is not all of the free space. The file is on the medium, so
            // that its numbers are believed within bounds.
            whole_bytes: state.whole_bytes.min(self.file_system_bytes).max(area),
            area_bytes: area,
            write_bytes: area.saturating_sub(state.written_bytes),
            read_bytes: area.saturating_sub(read),
            again_bytes: again(area, settings),
            files: files_of(area),
            ..self
        })
    }

    /// The plan of a new check, where an earlier one left `state`.
    fn anew(self, state: Option<State>, settings: &CheckSettings) -> Result<Self, VerifyError> {
        if state.is_some_and(|state| state.kept) {
            return Err(VerifyError::Kept(self.directory));
        }
        let free_bytes = self.free_bytes;
        let system = carries(&self.target, settings.store.as_deref());
        let mut reserve_bytes = (free_bytes / 64).clamp(*RESERVE.start(), *RESERVE.end());
        if matches!(system, Some(Carried::Path(_))) {
            let all = self.file_system_bytes;
            reserve_bytes = reserve_bytes.max((all / 100).clamp(*SYSTEM_RESERVE.start(), *SYSTEM_RESERVE.end()));
        }
        let whole_bytes = free_bytes.saturating_sub(reserve_bytes) / MIB * MIB;
        // H2testw needs sizes in multiples of 1 MiB.
        let area = settings.limit_bytes.map_or(whole_bytes, |limit| whole_bytes.min(limit / MIB * MIB));
        if area == 0 {
            return Err(VerifyError::Full { path: self.target, free_bytes });
        }
        if let Some(carried) = system.filter(|_| !settings.fill_system && area > free_bytes / HARMLESS_PART) {
            return Err(match carried {
                Carried::Path(carried) => VerifyError::System { path: self.target, carried, write_bytes: area },
                Carried::Memory => VerifyError::Memory { path: self.target, write_bytes: area },
            });
        }
        Ok(Self {
            reserve_bytes,
            whole_bytes,
            area_bytes: area,
            write_bytes: area,
            read_bytes: area,
            again_bytes: again(area, settings),
            files: files_of(area),
            ..self
        })
    }

    /// One line for people: what is written, what is read, and what is left free.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (write, read) = (Bytes(self.write_bytes), Bytes(self.read_bytes.saturating_add(self.again_bytes)));
        let again = Bytes(self.again_bytes);
        match (self.write_bytes, self.again_bytes) {
            (0, 0) => return format!("reads {read}, writes nothing"),
            (0, _) => return format!("resumes: writes {again} again, reads {read}"),
            _ => {}
        }
        if self.write_bytes < self.area_bytes {
            return format!("resumes: writes the last {write} and {again} again, reads {read}");
        }
        let (free, left) = (Bytes(self.free_bytes), Bytes(self.free_bytes.saturating_sub(self.write_bytes)));
        format!("writes {write} of {free} free and {again} of that again, reads {read}, leaves {left} free")
    }

    /// Plans to read existing files: in assay's own directory, or else in the target itself.
    fn read_only(target: PathBuf, settings: &CheckSettings) -> Result<Self, VerifyError> {
        let outer = Directory::open(&target)?;
        let device_bytes = sys::device_bytes(&outer);
        let file_system_bytes = outer.space()?.bytes;
        // Anybody may read files that an earlier check kept.
        let own = outer.inside(DIRECTORY)?.map(|own| (numbered(&own), own)).filter(|(found, _)| !found.is_empty());
        let own_named = own.is_some() || target.file_name().is_some_and(|name| name == DIRECTORY);
        let state = match &own {
            Some((_, own)) => State::kept_in(own)?,
            None if own_named => State::kept_in(&outer)?,
            // In any other directory, a file of that name may be anything.
            None => State::kept_in(&outer).ok().flatten(),
        };
        if let Some((_, own)) = own.as_ref().filter(|_| state.as_ref().is_some_and(|state| !state.kept)) {
            let alive = outer.own(DIRECTORY).is_ok_and(|own| own.is_some_and(|own| own.is_locked(LOCK)));
            let path = own.path().to_owned();
            return Err(if alive { VerifyError::Busy(path) } else { VerifyError::Unfinished(path) });
        }
        let (found, handle, foreign) = match own {
            Some((found, own)) => (found, own, h2w_names(&outer)),
            None => (numbered(&outer), outer, Vec::new()),
        };
        let directory = handle.path().to_owned();
        let (found, whole) = match &state {
            Some(state) if !state.kept => return Err(VerifyError::Unfinished(directory)),
            Some(state) => (written_of(&found, state.written_bytes), state.area_bytes),
            None if own_named && !found.is_empty() => return Err(VerifyError::NoState(directory)),
            None => {
                let whole = found.iter().map(|(_, bytes)| bytes).sum();
                (found, whole)
            }
        };
        let kept = state.map(|state| Kept {
            lacking: state.lacks(&handle),
            content: state.content,
            writer: state.writer.map(|writer| (writer, state.host)),
        });
        if settings.read_back && kept.as_ref().is_none_or(|kept| kept.writer.is_none()) {
            return Err(VerifyError::NothingKept(target));
        }
        let mut left = settings.limit_bytes.unwrap_or(u64::MAX);
        let files: Vec<(u64, u64)> = found
            .into_iter()
            .map(|(number, bytes)| {
                let taken = bytes.min(left);
                left -= taken;
                (number, taken)
            })
            .filter(|(_, bytes)| *bytes > 0)
            .collect();
        let area_bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        if area_bytes == 0 {
            return Err(VerifyError::NothingToRead(target));
        }
        Ok(Self {
            target,
            directory,
            free_bytes: 0,
            reserve_bytes: 0,
            whole_bytes: whole,
            area_bytes,
            write_bytes: 0,
            read_bytes: area_bytes,
            again_bytes: 0,
            device_bytes,
            file_system_bytes,
            foreign,
            files,
            handle: Arc::new(handle),
            kept,
        })
    }
}

/// Those of the files `found` in which a check wrote, as far as it did.
fn written_of(found: &[(u64, u64)], written_bytes: u64) -> Vec<(u64, u64)> {
    let there = |number| found.iter().find(|(other, _)| *other == number).map_or(0, |(_, bytes)| *bytes);
    let written = files_of(written_bytes).into_iter();
    written.map(|(number, bytes)| (number, bytes.min(there(number)))).filter(|(_, bytes)| *bytes > 0).collect()
}

/// Bytes of an area that are written again: as much as its end, and twice as much in the format of f3, where the first
/// content is restored.
fn again(area: u64, settings: &CheckSettings) -> u64 {
    let end = area - eviction::boundary(area, settings.cache_bytes);
    if settings.format == FileFormat::F3 { end * 2 } else { end }
}

// File systems that the host itself uses: filling one stops more than the check.

/// What needs the space that a check would fill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Carried {
    /// A directory of the host, a swap file, or the directory where assay keeps its records.
    Path(PathBuf),
    /// Every program of the host: the space is memory.
    Memory,
}

/// What needs the space of the file system under `target`. `store` is where assay keeps its records. `None` if the host
/// needs nothing there.
pub(crate) fn carries(target: &Path, store: Option<&Path>) -> Option<Carried> {
    let path = carried_path(target, store).map(Carried::Path);
    let is_memory = || look(&Sysroot::real(), target).is_ok_and(|target| target.is_memory);
    path.or_else(|| is_memory().then_some(Carried::Memory))
}

/// What the host needs on the file system of a directory: its root, its programs, or the store; `None` of any other medium.
#[must_use]
pub fn carried_path(target: &Path, store: Option<&Path>) -> Option<PathBuf> {
    let here = sys::file_system(target)?;
    let all = sys::carriers().into_iter().chain(store.and_then(existing));
    all.into_iter().find(|path| sys::file_system(path).as_ref() == Some(&here))
}

/// The directory itself, or the nearest existing one above it.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.is_dir()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::content::FILE_BYTES;
    use super::*;

    #[test]
    fn an_area_is_files_of_a_gibibyte_and_a_last_one() {
        assert_eq!(files_of(2 * FILE_BYTES), [(1, FILE_BYTES), (2, FILE_BYTES)]);
        assert_eq!(files_of(FILE_BYTES + 3 * MIB), [(1, FILE_BYTES), (2, 3 * MIB)]);
        assert_eq!(files_of(MIB), [(1, MIB)]);
    }

    #[test]
    fn a_limit_and_the_reserve_are_kept() {
        let target = tempfile::tempdir().unwrap();
        let settings = CheckSettings { limit_bytes: Some(7 * MIB - 1), ..CheckSettings::default() };
        let plan = CheckPlan::new(target.path(), &settings).unwrap();
        assert_eq!(
            (plan.area_bytes, plan.write_bytes, plan.read_bytes),
            (6 * MIB, 6 * MIB, 6 * MIB),
            "no more than asked"
        );
        assert!(plan.whole_bytes + plan.reserve_bytes <= plan.free_bytes && plan.reserve_bytes >= MIB);
        assert_eq!(std::fs::read_dir(target.path()).unwrap().count(), 0, "a plan writes nothing");
        // In a small area, one half evicts the other half.
        assert_eq!(plan.again_bytes, 3 * MIB);
        let said = plan.sentence();
        assert!(
            said.starts_with("writes 6 MiB of ") && said.contains("and 3 MiB of that again, reads 9 MiB, "),
            "{said}"
        );
        let f3 = CheckPlan::new(target.path(), &CheckSettings { format: FileFormat::F3, ..settings }).unwrap();
        assert_eq!(f3.again_bytes, 6 * MIB);
        for limit in [0, 1, MIB - 1] {
            let settings = CheckSettings { limit_bytes: Some(limit), ..CheckSettings::default() };
            assert!(matches!(CheckPlan::new(target.path(), &settings), Err(VerifyError::Limit(_))), "{limit}");
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn the_file_systems_of_the_host_and_of_the_store_are_known() {
        assert_eq!(carries(Path::new("/"), None), Some(Carried::Path(PathBuf::from("/"))));
        let other = Path::new("/proc");
        assert_eq!(carries(other, None), None);
        let store = Path::new("/proc/no/such/store");
        assert_eq!(carries(other, Some(store)), Some(Carried::Path(PathBuf::from("/proc"))));
    }
}
