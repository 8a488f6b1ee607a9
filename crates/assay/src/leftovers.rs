//! What killed runs and checks left: files on a medium, told with the command that removes them, and journals of probes.

use std::path::{Path, PathBuf};

use assay_core::units::{Bytes, counted};
use assay_device::guard::HeldDevice;
use assay_device::{Sysroot, look};
use assay_verify::files;
use assay_verify::probe::{JournalIdentity, Pending, ReadDevice, Restoration, Stands, Traces};

use super::state::DataDirectory;
use crate::documents::{self, LeftDocument, PendingDocument, ProbedDocument};
use crate::ending::Failure;
use crate::output::{self, operand, shown};
use crate::{state, system};

/// What a command is about to do with what was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftoverAction {
    /// Nothing: it tells all that is there.
    Looks,
    /// A run removes what runs left by itself.
    Runs,
    /// A check says by itself where it may not begin.
    Checks,
    /// A check resumes what a check left, or reads it.
    GoesOn,
}

/// Something that was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// Test files of killed runs, each in a directory of its own.
    Runs {
        directories: u32,
        bytes: u64,
        /// Whether there are more.
        more: bool,
    },
    /// The directory of a check.
    Check(files::LeftCheck),
    /// What has the name of a check's directory and is not assay's, or cannot be looked at, and why.
    Strange(String),
}

impl Left {
    /// As `assay info --json` tells it: `docs/json.md` describes the fields.
    pub(crate) fn document(&self) -> LeftDocument {
        match self {
            Self::Runs { directories, bytes, .. } => {
                LeftDocument::Run { state: "killed", directories: *directories, bytes: *bytes }
            }
            Self::Check(left) => LeftDocument::Check {
                state: match (left.alive, left.kept) {
                    (true, _) => "alive",
                    (false, true) => "kept",
                    (false, false) => "killed",
                },
                path: documents::path(&left.path),
                bytes: left.bytes,
                resumable: left.resumable,
            },
            Self::Strange(reason) => LeftDocument::Unknown { reason: reason.clone() },
        }
    }

    /// One line about the directory `target`.
    fn line(&self, target: &Path) -> String {
        let remove = format!("assay verify --remove {}", operand(target));
        match self {
            Self::Runs { directories, bytes, more: true } => {
                format!("more than {directories} killed runs left more than {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Runs { directories: 1, bytes, .. } => {
                format!("a killed run left {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Runs { directories, bytes, .. } => {
                format!("{directories} killed runs left {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Check(left) if left.alive => format!("{}: a check is at work there", shown(&left.path)),
            Self::Check(left) => {
                // A check reserves the space of a file before it writes it.
                let why = if left.kept { "what a check kept takes" } else { "what an interrupted check left takes" };
                let resume = if left.resumable { " (or resume it with --resume)" } else { "" };
                format!("{why} {} in {}: {remove}{resume}", Bytes(left.bytes), shown(&left.path))
            }
            Self::Strange(reason) => reason.clone(),
        }
    }
}

/// What was removed of what killed runs and checks left in a directory, and what was not, in words.
#[derive(Debug, Default)]
pub(crate) struct RemovedLeft {
    /// What was removed.
    pub(crate) removed: Vec<String>,
    /// What stays, and why.
    pub(crate) left: Vec<String>,
    /// Why not all was removed that could be.
    pub(crate) refused: Option<String>,
}

impl RemovedLeft {
    /// Whether there was nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.removed.is_empty() && self.left.is_empty() && self.refused.is_none()
    }
}

/// At most this many leftovers are named one by one.
const TOLD: usize = 20;

/// Removes what killed runs and checks left in the directory `target`, and nothing else.
pub(crate) fn remove(target: &Path) -> Result<RemovedLeft, Failure> {
    let mut found = RemovedLeft::default();
    let runs = assay_runner::remove_left(target)?;
    let removed = runs.removed;
    if removed.directories > 0 {
        let of = if removed.directories == 1 {
            "the test files of a run that was killed".to_owned()
        } else {
            format!("the test files of {} runs that were killed", removed.directories)
        };
        found.removed.push(format!("{of}, {}", Bytes(removed.bytes)));
    }
    let check = files::remove(target)?;
    found.removed.extend(check.map(|left| format!("{}, {}", shown(&left.path), Bytes(left.bytes))));
    let (refused, strange): (Vec<_>, Vec<_>) = runs.stays.iter().partition(|why| why.kind().is_some());
    found.left.extend(strange.iter().take(TOLD).map(ToString::to_string));
    if strange.len() > TOLD {
        found.left.push(format!("{} more of that kind", strange.len() - TOLD));
    }
    if removed.alive > 0 {
        found.left.push(format!("{}: a run is still measuring there", shown(target)));
    }
    if let Some(why) = refused.first() {
        let runs = counted(refused.len(), "killed run");
        found.refused = Some(format!("the test files of {runs} cannot be removed: {why}"));
    } else if removed.more {
        found.refused = Some(format!(
            "{} has more directories like those of runs than are looked at; run this again",
            shown(target)
        ));
    }
    Ok(found)
}

/// What was left in the directory `target`; nothing where it is no directory. Nothing is written.
pub(crate) fn found_leftovers(target: &Path, does: LeftoverAction) -> Vec<Left> {
    let mut found = Vec::new();
    if !target.is_dir() {
        return found;
    }
    let runs = assay_runner::left_behind(target);
    if runs.directories > 0 && does != LeftoverAction::Runs {
        found.push(Left::Runs { directories: runs.directories, bytes: runs.bytes, more: runs.more });
    }
    if does == LeftoverAction::GoesOn {
        return found;
    }
    match files::left(target) {
        Ok(left) => found.extend(left.map(Left::Check)),
        Err(error) if does == LeftoverAction::Looks => found.push(Left::Strange(error.to_string())),
        Err(_) => {}
    }
    found
}

/// One line for each thing that was left in the directory `target`.
pub(crate) fn leftover_lines(target: &Path, does: LeftoverAction) -> Vec<String> {
    found_leftovers(target, does).iter().map(|left| left.line(target)).collect()
}

// Journals of probes: where they lie, and whether a device still needs one.
//
// The directory `journals` of the data directory holds those for which no other place was named, and for the
// others a file `NAME.elsewhere` that holds their path.

const DIRECTORY: &str = "journals";
const JOURNAL: &str = "journal";
const ELSEWHERE: &str = "elsewhere";
/// Longest path that a pointer may hold: PATH_MAX (linux/limits.h).
const LONGEST_DEVICE_NAME: u64 = 4096;

fn journals_directory() -> Result<PathBuf, Failure> {
    Ok(state::directory()?.join(DIRECTORY))
}

/// A name for the journal of a probe of `device`, with the time for people. Of two probes in a second the ids differ.
fn journal_name(device: &Path) -> String {
    let name = device.to_string_lossy().trim_start_matches('/').replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("{name}-{}-{}", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"), assay_store::new_id())
}

/// Where the journal of a probe of `device` goes. It is found again there, or, where `elsewhere` names
/// another place, through a pointer.
pub(crate) fn new_journal_place(device: &Path, elsewhere: Option<&Path>) -> Result<PathBuf, Failure> {
    let fail = |path: &Path, e: std::io::Error| Failure::environment(format!("{}: {e}", shown(path)));
    let name = journal_name(device);
    match elsewhere {
        None => Ok(DataDirectory::made(DIRECTORY)?.path(&format!("{name}.{JOURNAL}"))),
        Some(path) => {
            let path = std::path::absolute(path).map_err(|e| fail(path, e))?;
            // The probe need not fail where only the pointer cannot be made.
            if let Ok(pointers) = DataDirectory::made(DIRECTORY) {
                let _ = pointers.write(&format!("{name}.{ELSEWHERE}"), assay_store::bytes_of(&path));
            }
            Ok(path)
        }
    }
}

/// Removes the pointers to a journal that is gone.
pub(crate) fn forget_journal(journal: &Path) {
    let (Ok(directory), Ok(journal)) = (journals_directory(), std::path::absolute(journal)) else { return };
    if std::fs::symlink_metadata(&journal).is_ok() {
        return;
    }
    for pointer in journal_files(&directory, ELSEWHERE) {
        if led_to_journal(&pointer).as_ref() == Some(&journal) {
            let _ = std::fs::remove_file(pointer);
        }
    }
}

fn journal_files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == extension));
    let mut files: Vec<PathBuf> = paths.collect();
    files.sort();
    files
}

fn led_to_journal(pointer: &Path) -> Option<PathBuf> {
    let file = std::fs::symlink_metadata(pointer).ok()?;
    if !file.is_file() || file.len() > LONGEST_DEVICE_NAME {
        return None;
    }
    Some(assay_store::path_of(std::fs::read(pointer).ok()?))
}

/// Every journal that is known and there.
fn all_journals() -> Vec<PathBuf> {
    let Ok(directory) = journals_directory() else { return Vec::new() };
    let mut all = journal_files(&directory, JOURNAL);
    all.extend(journal_files(&directory, ELSEWHERE).iter().filter_map(|pointer| led_to_journal(pointer)));
    all.retain(|path| path.is_file());
    all
}

/// Journals whose blocks stand on the medium under `target`, whatever it was called when it was probed and however large
/// it was, with the device to put them back to: the disk, or the partition that was probed. A device that this user may
/// not read is left out.
pub(crate) fn pending_on(target: &Path) -> Vec<(Pending, PathBuf)> {
    let journals = all_journals();
    if journals.is_empty() {
        return Vec::new();
    }
    let mut devices = readable_under(target);
    confirm(&journals, &mut devices);
    // One that cannot be read says nothing about this device.
    let traces = journals.iter().filter_map(|journal| Traces::from_journal(journal).ok());
    traces
        .filter_map(|traces| {
            let (_, device) = where_it_stands(&traces, &mut devices)?;
            Some((traces.pending().clone(), device))
        })
        .collect()
}

/// Removes the journals of these devices whose content was put back completely, if the devices were attached anew since and still
/// read as before.
fn confirm(journals: &[PathBuf], devices: &mut [(PathBuf, ReadDevice)]) {
    for (device, open) in devices {
        let Ok(held) = HeldDevice::to_read(&Sysroot::real(), device) else { continue };
        let (bytes, name) = (held.bytes(), device.to_string_lossy().into_owned());
        let serial = look(&Sysroot::real(), device).ok().and_then(|target| target.medium.unit);
        let identity = JournalIdentity { bytes, name, serial, attachment: held.attachment() };
        for journal in journals {
            if Restoration::new(journal, &identity).confirm(open).unwrap_or(false) {
                forget_journal(journal);
                output::tell(&format!(
                    "{} still reads as before after it was attached anew: the journal of its quick probe, {}, is removed",
                    shown(device),
                    shown(journal)
                ));
            }
        }
    }
}

/// The other device of the disk of `device` on which the blocks of `journal` stand at their places, where they do not on
/// `device`: the partition that was probed, where the disk was named, or the other way round.
pub(crate) fn belongs_to_another(journal: &Path, device: &Path) -> Option<PathBuf> {
    let traces = Traces::from_journal(journal).ok()?;
    let mut devices = readable_under(device);
    match where_it_stands(&traces, &mut devices)? {
        (Stands::AtItsPlace, found) if !is_same(&found, device) => Some(found),
        _ => None,
    }
}

/// The device of a path, its disk and the partitions of that, as far as this user may read them.
fn readable_under(target: &Path) -> Vec<(PathBuf, ReadDevice)> {
    let devices = system::devices_under(target).into_iter();
    devices.filter_map(|device| ReadDevice::open(&device).ok().map(|open| (device, open))).collect()
}

/// The first device on which the blocks stand at their places, else the first on which they stand at all.
fn where_it_stands(traces: &Traces, devices: &mut [(PathBuf, ReadDevice)]) -> Option<(Stands, PathBuf)> {
    let mut best: Option<(Stands, PathBuf)> = None;
    for (device, open) in devices {
        let stands = traces.on(open);
        if stands > best.as_ref().map(|(stands, _)| *stands) {
            best = stands.map(|stands| (stands, device.clone()));
        }
        if stands == Some(Stands::AtItsPlace) {
            break;
        }
    }
    best
}

fn is_same(device: &Path, named: &Path) -> bool {
    system::devices_under(named).first().is_some_and(|first| first == device)
}

/// Refuses to measure or check what an earlier probe has not put back.
pub(crate) fn refuse_pending(target: &Path) -> Result<(), Failure> {
    match pending_on(target).first() {
        None => Ok(()),
        Some((pending, device)) => {
            Err(Failure::environment(format!("{}: {}", shown(target), pending_words(pending, device, target))))
        }
    }
}

/// What stands on the device below `target`, and the command that mends it.
pub(crate) fn pending_words(pending: &Pending, device: &Path, target: &Path) -> String {
    let when = i64::try_from(pending.created).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    let when = when.map_or_else(String::new, |when| format!(" of {}", when.strftime("%Y-%m-%d %H:%M UTC")));
    let place = if is_same(device, target) { String::new() } else { format!(" on {}", shown(device)) };
    format!(
        "holds blocks of a quick probe{when}{place} that was cut off; put back the original contents: {}",
        restore_command(&pending.journal, device)
    )
}

/// The same as `assay info --json` tells it: `docs/json.md` describes the fields.
pub(crate) fn restore_document(pending: &Pending, device: &Path) -> PendingDocument {
    let probed = &pending.device;
    PendingDocument {
        journal: documents::path(&pending.journal),
        device: documents::path(device),
        created_seconds: pending.created,
        places: pending.places,
        probed: ProbedDocument { name: probed.name.clone(), bytes: probed.bytes, serial: probed.serial.clone() },
    }
}

/// The command that puts back.
pub(crate) fn restore_command(journal: &Path, device: &Path) -> String {
    format!("assay verify --restore {} {}", operand(journal), operand(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_probes_of_a_device_in_a_second_have_journals_of_their_own() {
        let names = [journal_name(Path::new("/dev/sdx")), journal_name(Path::new("/dev/sdx"))];
        assert!(names[0] != names[1] && names.iter().all(|name| name.starts_with("dev-sdx-")), "{names:?}");
    }
}
