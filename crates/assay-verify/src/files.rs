//! The full check of a mounted medium: salted files, or files of f3 and H2testw, over all free space.
//!
//! Other files are not touched: the files lie in a directory of assay's own ([`DIRECTORY`]) in the target, and other
//! `*.h2w` files there are kept and named.
//!
//! Progress is made durable, and saved in that directory, every half a minute and after each file. A check that resumes
//! after a crash repeats no more than that.

mod content;
mod directory;
mod eviction;
mod medium;
// Their media are modelled by a crate that needs Linux.
#[cfg(test)]
#[cfg(not(windows))]
mod model_tests;
mod pass;
mod plan;
mod pool;
mod progress;
mod size;
mod state;
mod survey;
mod tally;
mod verdict;
mod work;

pub use content::{Content, FILE_BYTES, FileFormat, classify, fill, intact};
pub(crate) use directory::{HeldDirectory, failure_of, gone_error, remove_files};
pub use directory::{LeftCheck, VerifyError, left, remove};
pub(crate) use medium::{DriverLayer, Folder, Mounted};
pub(crate) use pass::StopReason;
pub use plan::{CheckPlan, CheckSettings, carried_path};
pub(crate) use pool::Pool;
pub use progress::{CheckPhase, CheckProgress};
pub use state::{DIRECTORY, Writer};
pub(crate) use state::{STATE, State, spread_name};
pub(crate) use survey::{Raw, Readable};
pub(crate) use tally::{ChunkFindings, Tally};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_core::units::nanoseconds;
use assay_core::verification::{
    Doubt, EarlyEnd, FirstError, MapCell, Method, Offsets, Pass, PassSpeed, SECTOR_BYTES, SectorClass, Verification,
};
use assay_engine::Control;

use self::directory::held;
use self::pass::start_of;
use self::size::{Map, Region, regions};
use self::state::{Lacking, file_name};
use self::survey::Seen;
use self::verdict::{Scope, judge};
use self::work::{Work, Worked, save};
use crate::aged;
use crate::probe::Salt;
use crate::sys;

// The check from beginning to end.

/// The result of a check.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What was found.
    pub verification: Verification,
    /// How it ended.
    pub outcome: Outcome,
    /// Where files are left: for `--resume`, for `--keep`, or because the medium failed.
    pub left: Option<PathBuf>,
    /// Whether `--resume` can continue the check.
    pub resumable: bool,
    /// Bytes that the medium refused to write.
    pub refused_bytes: u64,
    /// Bytes read in total, including those that were read again.
    pub read_bytes: u64,
}

/// Performs the check of `plan`. `progress` is called several times a second.
///
/// A medium that fails gives a [`Checked`] with that outcome. The files are removed at the end,
/// unless they are to be kept or the check was stopped and can be resumed.
///
/// # Errors
/// Where the check cannot begin.
pub fn check(
    plan: &CheckPlan,
    settings: &CheckSettings,
    control: &Control,
    progress: &mut dyn FnMut(CheckProgress),
) -> Result<Checked, VerifyError> {
    let start = control.now();
    let place = if settings.only_read { None } else { Some(HeldDirectory::take(&plan.handle)?) };
    let mut state = begun(plan, settings, place.as_ref())?;
    // What others did to the files between two sessions says nothing about the medium.
    let whole = place
        .as_ref()
        .filter(|_| settings.resume)
        .is_none_or(|place| state.lacks(place.own().directory()).is_nothing());
    let folder = match &place {
        Some(place) => Folder::Own(Arc::clone(place.own())),
        None => Folder::Any(Arc::clone(&plan.handle)),
    };
    let (direct, read_back) = folder.how(&sample(plan, settings), settings.direct)?;
    let driver_layer = DriverLayer::under(&plan.directory);
    let raw = Raw::under(&plan.directory).filter(|_| place.is_some());
    let pool = Pool::new(Arc::new(Mounted::new(folder, direct)), settings.hang_after, control).map_err(|error| {
        // What can be resumed stays.
        if let Some(place) = place.as_ref().filter(|_| !settings.resume) {
            let _ = place.removal()();
        }
        VerifyError::io(&plan.directory, error)
    })?;
    let own = place.as_ref().map(HeldDirectory::own);
    let work = Work { plan, settings, pool: &pool, driver_layer: &driver_layer, own, state: &mut state };
    let mut done = if whole { work.run(progress) } else { work.without_files() };
    let handle = Arc::clone(&plan.handle);
    if !matches!(done.stop_reason(), Some(StopReason::Stopped | StopReason::Hung | StopReason::Failed(_)))
        && let Err(stop_reason) = pool
            .run(move || sys::still_there(&handle))
            .map_err(StopReason::from)
            .and_then(|there| there.map_err(StopReason::Failed))
    {
        done.end(stop_reason);
    }
    let stop_reason = done.stop_reason();
    let outcome = outcome(stop_reason, &done, control.elapsed(&start));
    let mut scope = scope(plan, settings, &done, &outcome, driver_layer.doubt(direct.is_some()), &state);
    let seen = raw.and_then(|raw| seen(&raw, &pool, &state, &done, &scope));
    scope.repeats = seen.and_then(|seen| seen.repeats);
    // The device answers although its file system does not.
    let unread_bytes = (done.tally.counts.unreadable.saturating_mul(SECTOR_BYTES)).saturating_sub(scope.refused_bytes);
    scope.file_system_errs |= unread_bytes > 0 && seen.is_some_and(|seen| !seen.errs);
    let left = finish(settings, &pool, &mut state, place.as_ref(), stop_reason);
    let waits = matches!(stop_reason, Some(StopReason::Stopped | StopReason::Hung | StopReason::FilesMissing));
    let resumable = left.is_some() && waits;
    let judged = judge(&done.tally, &scope);
    let mut verification = Verification {
        ended: scope.ended,
        doubt: scope.doubt,
        refused_bytes: scope.refused_bytes,
        checked_bytes: done.tally.counts.total() * SECTOR_BYTES,
        written_bytes: done.written_bytes(),
        counts: done.tally.counts,
        first_error: done.tally.first.clone(),
        map: done.tally.map(),
        write: done.write.as_ref().map(|ended| ended.pass.clone()).filter(moved),
        read: done.read.as_ref().map(|ended| ended.pass.clone()).filter(moved),
        read_back,
        ..Verification::undecided(Method::Full)
    };
    judged.put(&mut verification);
    // Who reads files that were there before asks for them, and not for where they lie.
    if let Some(map) = scope.map.as_ref().filter(|_| !settings.only_read || settings.read_back) {
        by_address(&mut verification, &done.tally, map);
    }
    let (refused_bytes, read_bytes) = (scope.refused_bytes, pool.read_bytes());
    Ok(Checked { verification, outcome, left, resumable, refused_bytes, read_bytes })
}

/// The state that a check goes on from.
fn begun(plan: &CheckPlan, settings: &CheckSettings, place: Option<&HeldDirectory>) -> Result<State, VerifyError> {
    Ok(match place {
        Some(place) if settings.resume => {
            let state = held(place.own())?.state.filter(|state| state.area_bytes == plan.area_bytes);
            let state = state.ok_or_else(|| VerifyError::NothingToResume(plan.target.clone()))?;
            // What it wrote first is as old as the check that began.
            let began = state.writer.as_ref().map(|writer| writer.began);
            let writer =
                settings.writer.clone().map(|writer| Writer { began: began.unwrap_or(writer.began), ..writer });
            State { writer, ..state }
        }
        Some(place) => {
            remove_files(place.own())?;
            let content =
                Content::new(settings.format, Salt::random().map_err(|error| VerifyError::io(&plan.directory, error))?);
            let writer = settings.writer.clone();
            let state = State { content, writer, whole_bytes: plan.whole_bytes, ..State::new(plan.area_bytes) };
            state.save(place.own())?;
            state
        }
        // Files of assay state their content; those of f3 and H2testw have no state.
        None => {
            let content = plan.kept.as_ref().map_or_else(Content::f3, |kept| kept.content.clone());
            State { written_bytes: u64::MAX, content, ..State::new(plan.area_bytes) }
        }
    })
}

/// A file on the file system.
fn sample(plan: &CheckPlan, settings: &CheckSettings) -> String {
    match plan.files.first() {
        Some((number, _)) if settings.only_read => file_name(*number),
        _ => STATE.to_owned(),
    }
}

/// What the device itself shows, if something is lost.
fn seen(raw: &Raw, pool: &Pool, state: &State, done: &Worked, scope: &Scope) -> Option<Seen> {
    let silent = matches!(done.stop_reason(), Some(StopReason::Stopped | StopReason::Hung));
    if silent || !scope.unique || done.tally.counts.lost() == 0 {
        return None;
    }
    survey::see(&mut raw.by(pool), &state.content).ok()
}

fn moved(pass: &Pass) -> bool {
    pass.bytes > 0
}

/// What the verdict depends on besides the findings.
fn scope(
    plan: &CheckPlan,
    settings: &CheckSettings,
    done: &Worked,
    outcome: &Outcome,
    doubt: Option<Doubt>,
    state: &State,
) -> Scope {
    let checked = done.tally.counts.total() * SECTOR_BYTES;
    // A file system that was full early offers no more to check.
    let short = done.write.as_ref().is_some_and(|ended| matches!(ended.stop_reason, Some(StopReason::Full)));
    let whole_bytes = if short { checked } else { plan.whole_bytes };
    let ended = match (done.stop_reason(), outcome) {
        (Some(StopReason::FirstError), _) => Some(EarlyEnd::FirstError),
        (_, Outcome::Failed { failure, .. }) => Some(EarlyEnd::from(*failure)),
        _ => None,
    };
    let lacking = plan.kept.as_ref().map(|kept| &kept.lacking);
    let lacks = matches!(done.stop_reason(), Some(StopReason::FilesMissing))
        || lacking.is_some_and(|lacking| lacking.bytes > 0);
    let exchanged = lacking.is_some_and(|lacking| is_exchanged(lacking, &done.tally));
    Scope {
        whole_bytes,
        complete: checked >= whole_bytes,
        medium_bytes: plan.device_bytes.or(Some(plan.file_system_bytes).filter(|bytes| *bytes > 0)),
        device_is_known: plan.device_bytes.is_some(),
        map: done.map.clone(),
        repeats: None,
        rewritten: done.rewritten,
        retried: done.retried,
        file_system_errs: sys::has_checksums(&plan.directory),
        only_read: settings.only_read,
        unique: state.content.is_unique() && !settings.only_read,
        refused_bytes: state.refused.iter().map(|(start, end)| end - start).sum(),
        ended,
        doubt: if lacks || exchanged { Some(Doubt::FilesMissing) } else { doubt },
        exchanged,
    }
}

/// Whether anything is lost of files that the check that kept them did not make.
fn is_exchanged(lacking: &Lacking, tally: &Tally) -> bool {
    let of = |number: &u64| (start_of(*number), start_of(*number).saturating_add(FILE_BYTES));
    let within = |(start, end)| tally.lost.runs().iter().any(|run| run.start < end && run.end > start);
    lacking.replaced.iter().map(of).any(within)
}

fn outcome(stop_reason: Option<&StopReason>, done: &Worked, elapsed: Duration) -> Outcome {
    let Some((failure, detail)) = stop_reason.and_then(StopReason::failure) else { return Outcome::Completed };
    let writing = done.write.as_ref().is_some_and(|ended| ended.stop_reason.is_some());
    let workload = Some(if writing { "write" } else { "read" }.to_owned());
    let elapsed_ns = nanoseconds(elapsed);
    Outcome::Failed { failure, detail, workload, elapsed_ns, written_bytes: done.written_bytes() }
}

/// Removes the files, or says where they are left.
fn finish(
    settings: &CheckSettings,
    pool: &Pool,
    state: &mut State,
    place: Option<&HeldDirectory>,
    stop_reason: Option<&StopReason>,
) -> Option<PathBuf> {
    let place = place?;
    let directory = place.path().to_owned();
    match stop_reason {
        Some(StopReason::Stopped | StopReason::Hung | StopReason::FilesMissing) => return Some(directory),
        None | Some(StopReason::FirstError | StopReason::Full) if settings.keep => {
            state.kept = true;
            if let Some(writer) = &mut state.writer {
                writer.ended = aged::now();
            }
            let _ = pool.run(save(place.own(), state));
            return Some(directory);
        }
        _ => {}
    }
    match pool.run(place.removal()) {
        Ok(Ok(())) => None,
        _ => Some(directory),
    }
}

// Findings by device address in place of the order of the files, where the file system tells addresses.

/// Puts map, first error and speed of a check in the order of device addresses. They stay as they are where the address of
/// something that was tested is not known.
fn by_address(verification: &mut Verification, tally: &Tally, map: &Map) {
    let found = regions(tally, Some(map));
    let tested: u64 = tally.tested().iter().map(|(start, end)| end - start).sum();
    let passes = [&verification.write, &verification.read].map(|pass| pass.as_ref().map(|pass| placed(pass, map)));
    if found.iter().map(Region::bytes).sum::<u64>() != tested || passes.contains(&Some(None)) {
        return;
    }
    let [write, read] = passes.map(Option::flatten);
    (verification.write, verification.read) = (write, read);
    verification.map = cells(&found, map.device_bytes);
    verification.first_error = found.iter().find(|region| !region.is_good()).map(|region| first(region, tally, map));
    verification.offsets = Offsets::Device;
}

/// The first place of a lost region. What it holds is known where the findings kept that of this very place.
fn first(region: &Region, tally: &Tally, map: &Map) -> FirstError {
    let here = tally.aliases.iter().find(|alias| map.address(alias.at) == Some(region.start));
    let holds = here.filter(|_| region.class == SectorClass::Overwritten).and_then(|alias| map.address(alias.holds));
    FirstError { offset_bytes: region.start, class: region.class, holds_offset_bytes: holds }
}

/// A device of `device_bytes` in equal parts, with what was found in the regions.
fn cells(found: &[Region], device_bytes: u64) -> Vec<MapCell> {
    let mut cells = Tally::new(device_bytes).map();
    for region in found {
        let first = cells.partition_point(|cell| cell.offset_bytes + cell.bytes <= region.start);
        for cell in cells[first..].iter_mut().take_while(|cell| cell.offset_bytes < region.end) {
            let (from, to) = (region.start.max(cell.offset_bytes), region.end.min(cell.offset_bytes + cell.bytes));
            let sectors = (to - from).div_ceil(SECTOR_BYTES);
            let lost = region.lost_sectors(from, to).min(sectors);
            cell.counts.add(region.class, lost);
            cell.counts.add(SectorClass::Good, sectors - lost);
        }
    }
    cells
}

/// A pass with its parts by the address at which each begins; `None` where one of them has none.
fn placed(pass: &Pass, map: &Map) -> Option<Pass> {
    let part = |part: &PassSpeed| Some(PassSpeed { offset_bytes: map.address(part.offset_bytes)?, ..part.clone() });
    let mut speed = pass.speed.iter().map(part).collect::<Option<Vec<PassSpeed>>>()?;
    speed.sort_by_key(|part| part.offset_bytes);
    Some(Pass { speed, ..pass.clone() })
}

#[cfg(test)]
mod tests {
    use assay_core::verification::{Method, SectorCounts};

    use super::super::files::tally::ChunkFindings;
    use super::*;
    use crate::sys::Extent;

    const MIB: u64 = 1 << 20;

    /// An area of 8 MiB whose last MiB has the lowest address. The chunks `lost` lose their data.
    fn backwards(lost: &[u64], extents: u64) -> (Tally, Verification, Map) {
        let mut tally = Tally::new(8 * MIB);
        for chunk in 0..8 {
            let mut found = ChunkFindings::default();
            for sector in 0..2048 {
                let at = chunk * MIB + sector * SECTOR_BYTES;
                match lost.contains(&chunk) {
                    true => found.note(SectorClass::Overwritten, at, Some(at - MIB)),
                    false => found.note(SectorClass::Good, at, None),
                }
            }
            tally.add(chunk * MIB, &found);
        }
        let part = |at: u64| PassSpeed { offset_bytes: at * MIB, bytes: MIB, elapsed_ns: at + 1 };
        let pass = Pass { bytes: 8 * MIB, elapsed_ns: 36, speed: (0..8).map(part).collect() };
        let verification = Verification {
            counts: tally.counts,
            first_error: tally.first.clone(),
            map: tally.map(),
            write: None,
            read: Some(pass),
            ..Verification::undecided(Method::Full)
        };
        let extent = |chunk: u64| Extent { offset: chunk * MIB, address: (10 - chunk) * MIB, bytes: MIB };
        let map = Map::new((0..extents).map(extent).collect(), 16 * MIB).unwrap();
        (tally, verification, map)
    }

    #[test]
    fn the_lowest_address_comes_first_and_not_the_first_file() {
        let (tally, mut verification, map) = backwards(&[1, 2], 8);
        assert_eq!(verification.first_error.as_ref().unwrap().offset_bytes, MIB);
        by_address(&mut verification, &tally, &map);
        assert_eq!(verification.offsets, Offsets::Device);
        let first = verification.first_error.unwrap();
        assert_eq!((first.offset_bytes, first.class), (8 * MIB, SectorClass::Overwritten));
        assert_eq!(first.holds_offset_bytes, Some(9 * MIB), "where the file that it holds lies");
        let good_and_lost = |cell: &MapCell| (cell.counts.good, cell.counts.overwritten);
        let cells: Vec<(u64, u64)> = verification.map.iter().map(good_and_lost).collect();
        let (none, good, lost) = ((0, 0), (2048, 0), (0, 2048));
        let expected = [none, none, none, good, good, good, good, good, lost, lost, good, none, none, none, none, none];
        assert_eq!(cells, expected);
        let mut sum = SectorCounts::default();
        verification.map.iter().for_each(|cell| sum.merge(&cell.counts));
        assert_eq!(sum, verification.counts);
        let speed: Vec<(u64, u64)> =
            verification.read.unwrap().speed.iter().map(|part| (part.offset_bytes / MIB, part.elapsed_ns)).collect();
        assert_eq!(speed, [(3, 8), (4, 7), (5, 6), (6, 5), (7, 4), (8, 3), (9, 2), (10, 1)]);
    }

    #[test]
    fn what_has_no_address_leaves_all_in_the_order_of_the_files() {
        let (tally, mut verification, map) = backwards(&[1], 7);
        let before = verification.clone();
        by_address(&mut verification, &tally, &map);
        assert_eq!(verification, before);
    }
}
