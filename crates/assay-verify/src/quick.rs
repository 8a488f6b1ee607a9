//! The quick check of a mounted medium, without root: stamps spread over all free space.
//!
//! Space is set aside for many files that together take all free space, so that their blocks lie all over the medium.
//! One block of each is stamped and read back, in rounds that double, until something is lost or all are stamped. Then
//! runs of pages are written at both ends of the space. They evict the stamps from caches, and overwrite some where
//! addresses wrap around.

mod pages;
mod probe;
mod spread;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::units::nanoseconds;
use assay_core::verification::{
    EarlyEnd, FakeKind, Method, Places, Reach, Remark, SECTOR_BYTES, SectorClass, Verdict, Verification, Whole,
};
use assay_engine::Control;

use self::pages::{STAMP, Wraparounds};
use self::probe::{Probed, Spread, probe};
pub use self::spread::most_written;
use self::spread::{Files, Ground};
use crate::files::{
    CheckPlan, CheckSettings, Checked, ChunkFindings, DriverLayer, Folder, HeldDirectory, Mounted, Pool, Raw, STATE,
    State, StopReason, Tally, VerifyError, remove_files,
};

// The quick check from beginning to end.

/// Settings of a quick check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quick {
    /// A medium without an answer for this long counts as hung.
    pub hang_after: Duration,
    /// Bypass the page cache if the file system can.
    pub direct: bool,
    /// Also read the device past its file system, if this user may.
    pub past_file_system: bool,
    /// Also set space aside on a file system that the host itself uses.
    pub fill_system: bool,
    /// The directory of the records: space of its file system is not set aside either.
    pub store: Option<std::path::PathBuf>,
}

impl Default for Quick {
    fn default() -> Self {
        Self {
            hang_after: Duration::from_secs(30),
            direct: true,
            past_file_system: true,
            fill_system: false,
            store: None,
        }
    }
}

/// Checks the medium under the directory `target`. `progress` gets the number of operations done, and the most that
/// there will be.
///
/// # Errors
/// Where it cannot begin. A medium that fails gives a [`Checked`] with that outcome.
pub fn check(
    target: &Path,
    quick: &Quick,
    control: &Control,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checked, VerifyError> {
    let start = control.now();
    let (fill_system, store) = (quick.fill_system, quick.store.clone());
    let plan = CheckPlan::new(target, &CheckSettings { fill_system, store, ..CheckSettings::default() })?;
    let place = HeldDirectory::take(&plan.handle)?;
    let own = place.own();
    let io = |source| VerifyError::io(&plan.directory, source);
    remove_files(own)?;
    // Without an area, so there is nothing to resume.
    State::new(0).save(own)?;
    let folder = Folder::Own(Arc::clone(own));
    let (direct, read_back) = folder.how(STATE, quick.direct)?;
    let medium = Arc::new(Mounted::new(folder, direct));
    let pool = Pool::new(medium, quick.hang_after, control).map_err(|error| {
        let _ = place.removal()();
        io(error)
    })?;
    let mut salt = [0; 8];
    assay_device::random(&mut salt).map_err(io)?;
    let salt = u64::from_ne_bytes(salt);

    let mut probed = Probed::none(0);
    let mut tally = Tally::new(plan.area_bytes);
    let mut made = Made::default();
    let driver_layer = DriverLayer::under(&plan.directory);
    let raw = Raw::under(&plan.directory).filter(|_| quick.past_file_system);
    let ground = Ground {
        pool: &pool,
        driver_layer: &driver_layer,
        directory: own,
        raw: raw.as_ref(),
        direct: direct.is_some(),
    };
    let ended = Files::make(&ground, plan.area_bytes, salt).and_then(|mut files| {
        probed.classes = vec![None; files.places()];
        let mut ended = probe(&mut files, salt, &mut probed, progress);
        // A fake may end the check by damaging its file system.
        if matches!(ended, Err(StopReason::Failed(_))) && files.stands_twice().is_ok_and(|twice| twice) {
            (probed.shared, probed.proved, ended) = (true, true, Ok(()));
        }
        count(&files, &probed, &mut tally);
        made = Made::by_plan(&files, &plan);
        ended
    });
    let handle = Arc::clone(&plan.handle);
    let ended = ended.and_then(|()| pool.run(move || crate::sys::still_there(&handle))?.map_err(StopReason::Failed));
    let outcome = outcome(ended.as_ref().err(), control.elapsed(&start), made.written);
    let removed = match ended {
        Err(StopReason::Hung) => None,
        _ => pool.run(place.removal()).ok().and_then(Result::ok),
    };
    let complete = ended.is_ok();
    probed.stopped |= outcome.medium_failed() && !probed.proved;
    let doubt = driver_layer.doubt(direct.is_some());
    let sure = complete && made.set_aside && doubt.is_none();
    let (verdict, kind) = judge(&probed, sure);
    let remarks = remarks(verdict, &probed, &outcome, &made, crate::sys::has_checksums(&plan.directory));
    let ended = match &outcome {
        Outcome::Failed { failure, .. } => Some(EarlyEnd::from(*failure)),
        _ => None,
    };
    let verification = Verification {
        verdict,
        kind,
        ended,
        doubt,
        announced_bytes: plan.whole_bytes,
        area_bytes: Some(plan.area_bytes),
        checked_bytes: tally.counts.total() * SECTOR_BYTES,
        written_bytes: made.written,
        counts: tally.counts,
        places: Some(places(&probed)),
        first_error: tally.first.clone(),
        map: tally.map(),
        read_back,
        reach: sure.then(|| reach(&probed, &made, tally.counts.total() * SECTOR_BYTES, plan.whole_bytes)),
        remarks,
        ..Verification::undecided(Method::QuickMounted)
    };
    let left = removed.is_none().then(|| plan.directory.clone());
    Ok(Checked { verification, outcome, left, resumable: false, refused_bytes: 0, read_bytes: pool.read_bytes() })
}

/// Amounts that were made and written.
#[derive(Debug, Clone, Copy)]
struct Made {
    written: u64,
    run_bytes: u64,
    set_aside: bool,
    wraparounds: Wraparounds,
}

impl Default for Made {
    /// Nothing.
    fn default() -> Self {
        Self { written: 0, run_bytes: 0, set_aside: true, wraparounds: Wraparounds::NotExcluded }
    }
}

impl Made {
    fn by_plan(files: &Files<'_>, plan: &CheckPlan) -> Self {
        let wraparounds = files.known().zip(plan.device_bytes).map(|(known, bytes)| known.wraparounds(bytes));
        Self {
            written: files.written,
            run_bytes: files.run_bytes(),
            set_aside: files.set_aside,
            wraparounds: wraparounds.unwrap_or(Wraparounds::NotExcluded),
        }
    }
}

/// What the places that were read can show: a loss of a twentieth hits each of them with that probability.
fn reach(probed: &Probed, made: &Made, checked_bytes: u64, whole_bytes: u64) -> Reach {
    let read = probed.classes.iter().flatten().count();
    Reach {
        tested_share: checked_bytes as f64 / whole_bytes.max(1) as f64,
        loss_share: 0.05,
        loss_found: 1.0 - 0.95f64.powi(i32::try_from(read).unwrap_or(i32::MAX)),
        caches_up_to_bytes: Some(if probed.evicted { made.run_bytes } else { 0 }),
        thin_excluded: false,
        of: Whole::FreeSpace,
        wraparounds_from_share: match made.wraparounds {
            Wraparounds::FoundFrom(share) => Some(share),
            Wraparounds::Found | Wraparounds::NotExcluded => None,
        },
    }
}

/// The places that were read, and those that lost what was written.
fn places(probed: &Probed) -> Places {
    let count = |places: usize| places as u64;
    let read = probed.classes.iter().flatten();
    let lost = read.clone().filter(|(class, _)| *class != SectorClass::Good).count();
    Places { read: count(read.count()), lost: count(lost) }
}

/// Remarks beside the verdict.
fn remarks(verdict: Verdict, probed: &Probed, outcome: &Outcome, made: &Made, checksums: bool) -> Vec<Remark> {
    let unreadable = probed.classes.iter().flatten().any(|(class, _)| *class == SectorClass::Unreadable);
    // A file system reports errors if the medium errs, if its tables changed, and if checksums are wrong.
    let by_file_system = match outcome {
        Outcome::Failed { failure, .. } => matches!(failure, RunFailure::ReadOnly | RunFailure::IoError),
        _ => probed.erred || (checksums && unreadable),
    };
    let not_reserved = !made.set_aside && verdict != Verdict::Fake;
    let remark = match verdict {
        Verdict::Damaged | Verdict::Failed if by_file_system => Some(Remark::ProbeDecides),
        Verdict::Genuine if made.wraparounds != Wraparounds::Found => Some(Remark::WraparoundNotExcluded),
        _ => None,
    };
    not_reserved.then_some(Remark::SpaceNotReserved).into_iter().chain(remark).collect()
}

/// Counts the state of each place that was read.
fn count(files: &Files, probed: &Probed, tally: &mut Tally) {
    for (place, class) in probed.classes.iter().enumerate() {
        if let Some((class, holds)) = class {
            let holds = holds.and_then(|other| files.offset_of(other));
            let mut found = ChunkFindings::default();
            for sector in 0..STAMP as u64 / SECTOR_BYTES {
                found.note(*class, files.offset(place) + sector * SECTOR_BYTES, holds);
            }
            tally.add(files.offset(place), &found);
        }
    }
}

fn judge(probed: &Probed, complete: bool) -> (Verdict, Option<FakeKind>) {
    let count = |class| probed.classes.iter().flatten().filter(|(found, _)| *found == class).count();
    let lost = probed.classes.iter().flatten().filter(|(class, _)| *class != SectorClass::Good).count();
    let kind = match (probed.shared, count(SectorClass::Corrupted)) {
        // No two stamps share a cell; other data that was written may.
        (false, _) if probed.evicted => FakeKind::Unknown,
        (false, _) => FakeKind::Limbo,
        (true, 0) => FakeKind::Wraparound,
        (true, _) => FakeKind::Chain,
    };
    if probed.stopped {
        return (Verdict::Failed, None);
    }
    match (probed.proved, lost + probed.run_lost, complete) {
        (true, ..) => (Verdict::Fake, Some(kind)),
        (false, 0, true) => (Verdict::Genuine, None),
        (false, 0, false) => (Verdict::Undecided, None),
        _ => (Verdict::Damaged, None),
    }
}

fn outcome(stop_reason: Option<&StopReason>, elapsed: Duration, written_bytes: u64) -> Outcome {
    let Some((failure, detail)) = stop_reason.and_then(StopReason::failure) else { return Outcome::Completed };
    let workload = Some("quick".to_owned());
    Outcome::Failed { failure, detail, workload, elapsed_ns: nanoseconds(elapsed), written_bytes }
}
