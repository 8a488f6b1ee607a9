//! The quick check from beginning to end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_core::units::{Bytes, nanoseconds};
use assay_core::verification::{FakeKind, Method, Reach, SECTOR_BYTES, SectorClass, Verdict, Verification};
use assay_engine::Control;

use super::probe::{Probed, Spread, probe};
use super::spread::Files;
use super::stamp::STAMP;
use crate::files::{
    CheckPlan, Checked, DriverLayer, Folder, Found, HeldDirectory, Mounted, Pool, STATE, Settings, State, StopReason,
    Tally, VerifyError, remove_files,
};

/// How to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quick {
    /// No answer of the medium for this long is a hang.
    pub hang_after: Duration,
    /// Go past the page cache where the file system can.
    pub direct: bool,
    /// Set space aside on a file system that the host itself lives on, too.
    pub fill_system: bool,
    /// Where records are kept: space of its file system is not set aside either.
    pub store: Option<std::path::PathBuf>,
}

impl Default for Quick {
    fn default() -> Self {
        Self { hang_after: Duration::from_secs(30), direct: true, fill_system: false, store: None }
    }
}

/// Checks the medium under the directory `target`. `progress` hears how many operations of at most
/// how many are done.
///
/// # Errors
/// Where it cannot begin; a medium that fails gives a [`Checked`] with that outcome.
pub fn check(
    target: &Path,
    quick: &Quick,
    control: &Control,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checked, VerifyError> {
    let start = control.now();
    let (fill_system, store) = (quick.fill_system, quick.store.clone());
    let plan = CheckPlan::new(target, &Settings { fill_system, store, ..Settings::default() })?;
    let place = HeldDirectory::take(&plan.handle)?;
    let own = place.own();
    let io = |source| VerifyError::io(&plan.directory, source);
    remove_files(own)?;
    // No area: there is nothing to resume.
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
    let (mut written, mut places, mut set_aside) = (0, 0, true);
    let driver_layer = DriverLayer::of(&plan.directory);
    let ended =
        Files::make(&pool, &driver_layer, own, plan.area_bytes, direct.is_some(), salt).and_then(|mut files| {
            probed.classes = vec![None; files.places()];
            let ended = probe(&mut files, salt, &mut probed, progress);
            (written, places, set_aside) = (files.written, files.places(), files.set_aside);
            count(&files, &probed, &mut tally);
            ended
        });
    let handle = Arc::clone(&plan.handle);
    let ended = ended.and_then(|()| pool.run(move || crate::sys::still_there(&handle))?.map_err(StopReason::Failed));
    let outcome = outcome(ended.as_ref().err(), control.elapsed(&start), written);
    let removed = match ended {
        Err(StopReason::Hung) => None,
        _ => pool.run(place.removal()).ok().and_then(Result::ok),
    };
    let complete = ended.is_ok();
    probed.stopped |= outcome.medium_failed() && !probed.proved;
    let doubt = driver_layer.doubt(direct.is_some());
    let sure = complete && set_aside && doubt.is_none();
    let (verdict, kind) = judge(&probed, sure);
    let verification = Verification {
        verdict,
        sentence: sentence(verdict, kind, &plan, &probed, set_aside, doubt.as_deref(), &outcome),
        kind,
        announced_bytes: plan.whole_bytes,
        checked_bytes: tally.counts.total() * SECTOR_BYTES,
        written_bytes: written,
        counts: tally.counts,
        first_error: tally.first.clone(),
        map: tally.map(),
        read_back,
        // Each place is hit by a loss of a twentieth with that probability.
        reach: sure.then(|| Reach {
            tested_share: (tally.counts.total() * SECTOR_BYTES) as f64 / plan.whole_bytes.max(1) as f64,
            loss_share: 0.05,
            loss_found: 1.0 - 0.95f64.powi(i32::try_from(places).unwrap_or(i32::MAX)),
            caches_up_to_bytes: Some(super::spread::EVICTING_BYTES.min(plan.area_bytes / 8)),
            thin_excluded: false,
        }),
        ..Verification::undecided(Method::QuickMounted)
    };
    let left = removed.is_none().then(|| plan.directory.clone());
    Ok(Checked { verification, outcome, left, resumable: false, refused_bytes: 0, read_bytes: pool.read_bytes() })
}

/// Counts what became of each place that was read.
fn count(files: &Files, probed: &Probed, tally: &mut Tally) {
    for (place, class) in probed.classes.iter().enumerate() {
        if let Some((class, holds)) = class {
            let holds = holds.map(|other| files.offset(usize::try_from(other).unwrap_or(usize::MAX)));
            let mut found = Found::default();
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
    let kind = match (count(SectorClass::Overwritten), count(SectorClass::Corrupted)) {
        // No two stamps met in one cell; what else was written may have.
        (0, _) if probed.evicted => FakeKind::Unknown,
        (0, _) => FakeKind::Limbo,
        (_, 0) => FakeKind::Wraparound,
        _ => FakeKind::Chain,
    };
    if probed.stopped {
        return (Verdict::Failed, None);
    }
    match (probed.proved, lost + usize::from(probed.evicting_file_lost), complete) {
        (true, ..) => (Verdict::Fake, Some(kind)),
        (false, 0, true) => (Verdict::Genuine, None),
        (false, 0, false) => (Verdict::Undecided, None),
        _ => (Verdict::Damaged, None),
    }
}

fn sentence(
    verdict: Verdict,
    kind: Option<FakeKind>,
    plan: &CheckPlan,
    probed: &Probed,
    set_aside: bool,
    doubt: Option<&str>,
    outcome: &Outcome,
) -> String {
    let read = probed.classes.iter().flatten().count();
    let good = probed.classes.iter().flatten().filter(|(class, _)| *class == SectorClass::Good).count();
    let places = format!("{read} places across {}", Bytes(plan.area_bytes));
    let complete = matches!(outcome, Outcome::Completed);
    let mut text = match verdict {
        Verdict::Genuine => format!("genuine as far as a quick check can tell: {places} contain what was written"),
        Verdict::Fake => {
            let how = match kind {
                Some(FakeKind::Limbo) => "dropped",
                Some(FakeKind::Unknown) => "dropped or overwritten",
                _ => "overwritten by later data",
            };
            format!("fake: of {places} {} lost what was written, {how}", read - good)
        }
        Verdict::Failed if complete => {
            format!("failed while it was tested: of {places} those that held no longer accept writes")
        }
        Verdict::Failed => format!("failed while it was tested: {good} of {places} held what was written"),
        Verdict::Damaged if read == good => {
            format!("damaged: {places} hold what was written, but some of what was written beside them is missing")
        }
        Verdict::Damaged => format!("damaged: of {places} {} lost what was written", read - good),
        _ => "cannot tell".to_owned(),
    };
    if !set_aside {
        text.push_str("; this file system does not reserve space, so only a full check reaches all of it");
    }
    if let Some(doubt) = doubt.filter(|_| verdict == Verdict::Undecided) {
        text.push_str(&format!("; {doubt}"));
    }
    if let Outcome::Failed { failure, .. } = outcome {
        text.push_str(&format!("; the check ended early: {}", failure.title()));
    }
    text
}

fn outcome(stop_reason: Option<&StopReason>, elapsed: Duration, written_bytes: u64) -> Outcome {
    let Some((failure, detail)) = stop_reason.and_then(StopReason::failure) else { return Outcome::Completed };
    let workload = Some("quick".to_owned());
    Outcome::Failed { failure, detail, workload, elapsed_ns: nanoseconds(elapsed), written_bytes }
}
