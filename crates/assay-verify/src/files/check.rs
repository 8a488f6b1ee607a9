//! The check from beginning to end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::outcome::{Failure, Outcome};
use assay_core::units::capacity;
use assay_core::verification::{Method, Pass, Verification};
use assay_device::owned::OwnDir;
use assay_engine::Control;

use super::crowd::crowd_out;
use super::error::VerifyError;
use super::format::FILE_BYTES;
use super::listing::file_name;
use super::medium::{Folder, Mounted};
use super::pass::{self, Ended, Halt, Moment, Save, extent};
use super::place::{Place, failure_of, held, remove_all, remove_files};
use super::plan::{Plan, Settings};
use super::pool::Pool;
use super::progress::{Progress, nanoseconds};
use super::state::{STATE, State};
use super::tally::Tally;
use super::verdict::{Scope, judge};

/// What a check came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What was found.
    pub verification: Verification,
    /// How it ended.
    pub outcome: Outcome,
    /// Where files are left, for `--resume`, `--keep` or since the medium failed.
    pub left: Option<PathBuf>,
    /// Bytes that the medium refused to write.
    pub refused_bytes: u64,
}

/// Checks what `plan` says. `progress` hears several times a second how far it is.
///
/// A medium that fails gives a [`Checked`] with that outcome. The files are removed at the end,
/// unless they are to be kept or the check was stopped and can be resumed.
///
/// # Errors
/// Where it cannot begin.
pub fn check(
    plan: &Plan,
    settings: &Settings,
    control: &Control,
    progress: &mut dyn FnMut(Progress),
) -> Result<Checked, VerifyError> {
    let start = Instant::now();
    let place = if settings.only_read { None } else { Some(Place::take(&plan.handle)?) };
    let io = |source| VerifyError::io(&plan.directory, source);
    let mut state = match &place {
        Some(place) if settings.resume => {
            let state = held(place.own())?.state.filter(|state| state.area_bytes == plan.area_bytes);
            state.ok_or_else(|| VerifyError::NothingToResume(plan.target.clone()))?
        }
        Some(place) => {
            remove_files(place.own())?;
            let state = State::new(plan.area_bytes);
            state.save(place.own())?;
            state
        }
        None => State { written_bytes: u64::MAX, ..State::new(plan.area_bytes) },
    };
    let sample = match plan.files.first() {
        Some((number, _)) if settings.only_read => file_name(*number),
        // The state lies on the same file system.
        _ => STATE.to_owned(),
    };
    let folder = match &place {
        Some(place) => Folder::Own(Arc::clone(place.own())),
        None => Folder::Any(Arc::clone(&plan.handle)),
    };
    let (direct, read_back) = folder.how(&sample, settings.direct)?;
    let pool = Pool::new(Arc::new(Mounted::new(folder, direct)), settings.hang_after, control).map_err(io)?;
    let own = place.as_ref().map(Place::own);
    let mut work = Work { plan, settings, pool: &pool, own, state: &mut state };

    let written = work.write(progress);
    let (tally, read, crowded_bytes) = work.read(written.as_ref(), progress);
    let written_bytes = written.as_ref().map_or(0, |ended| ended.pass.bytes) + crowded_bytes;
    let halt = match (&written, &read) {
        (Some(Ended { halt: Some(halt), .. }), _) if !matches!(halt, Halt::Full) => Some(halt),
        (_, Some(Ended { halt, .. })) => halt.as_ref(),
        _ => None,
    };
    let outcome = outcome(halt, written.as_ref(), start, written_bytes);
    let left = finish(settings, &pool, &mut state, place.as_ref(), halt);

    let checked = tally.counts.total() * assay_core::verification::SECTOR_BYTES;
    let ended = match (halt, &outcome) {
        (Some(Halt::FirstError), _) => "it ended at the first error, as asked".to_owned(),
        (_, Outcome::Failed { failure, .. }) => format!("the check ended early: {}", failure.title()),
        _ => String::new(),
    };
    // A file system that was full early has no more to check.
    let short = written.as_ref().is_some_and(|ended| matches!(ended.halt, Some(Halt::Full)));
    let whole_bytes = if short { checked } else { plan.whole_bytes };
    let scope = Scope { whole_bytes, complete: checked >= whole_bytes, ended };
    let judged = judge(&tally, &scope);
    let refused_bytes = written.as_ref().map_or(0, |ended| ended.lost_bytes);
    let verification = Verification {
        method: Method::Full,
        verdict: judged.verdict,
        sentence: judged.sentence,
        kind: judged.kind,
        announced_bytes: plan.whole_bytes,
        real_bytes: judged.real_bytes,
        real_low_bytes: None,
        real_high_bytes: None,
        holds: Vec::new(),
        checked_bytes: checked,
        written_bytes,
        counts: tally.counts,
        first_error: tally.first.clone(),
        map: tally.map(),
        write: written.map(|ended| ended.pass).filter(moved),
        read: read.map(|ended| ended.pass).filter(moved),
        read_back,
        cache_bytes: None,
        reach: None,
    };
    Ok(Checked { verification, outcome, left, refused_bytes })
}

fn moved(pass: &Pass) -> bool {
    pass.bytes > 0
}

struct Work<'a> {
    plan: &'a Plan,
    settings: &'a Settings,
    pool: &'a Pool,
    /// The directory of assay's own, where the check is not only to read.
    own: Option<&'a Arc<OwnDir>>,
    state: &'a mut State,
}

impl Work<'_> {
    /// `None` where nothing is to be written.
    fn write(&mut self, progress: &mut dyn FnMut(Progress)) -> Option<Ended> {
        let own = self.own.filter(|_| self.state.written_bytes < self.plan.area_bytes)?;
        let Self { plan, settings, pool, state, .. } = self;
        let (from, mut timer) = (state.written_bytes, Timer::new(settings.save_every));
        let ended = pass::write(pool, &plan.files, from, settings.until_first_error, progress, &mut |upto, moment| {
            state.written_bytes = upto;
            timer.is_due(moment).then(|| save(own, state))
        });
        if matches!(ended.halt, Some(Halt::Full)) {
            state.area_bytes = ended.upto;
        }
        Some(ended)
    }

    /// Reads what was written; `None` where reading makes no sense any more. The last are bytes
    /// that were written to read it.
    fn read(&mut self, written: Option<&Ended>, progress: &mut dyn FnMut(Progress)) -> (Tally, Option<Ended>, u64) {
        let Self { plan, settings, pool, state, own } = self;
        let upto = match written.and_then(|ended| ended.halt.as_ref().map(|halt| (halt, ended.upto))) {
            None => u64::MAX,
            Some((Halt::Full, upto)) => upto,
            // What is durable can be read though it turned read-only, or the file system failed, as
            // it does where later laps of a fake lie on its tables.
            Some((Halt::Failed(error), upto)) if failure_of(error) != Failure::Disappeared => upto,
            Some((Halt::FirstError, upto)) => upto,
            Some(_) => 0,
        };
        let files = shortened(&plan.files, upto);
        let resumed = state.read.take();
        let (from, mut tally) = resumed.unwrap_or_else(|| (0, Tally::new(extent(&plan.files))));
        if files.is_empty() {
            return (tally, None, 0);
        }
        let mut timer = Timer::new(settings.save_every);
        let mut saved = |upto, tally: &Tally, moment| {
            own.filter(|_| timer.is_due(moment)).map(|own| {
                state.read = Some((upto, tally.clone()));
                save(own, state)
            })
        };
        let first = settings.until_first_error;
        let mut ended = pass::read(pool, &files, from, first, &mut tally, progress, &mut saved);
        let whole = own.is_some() && written.is_none_or(|ended| matches!(ended.halt, None | Some(Halt::Full)));
        if !whole || ended.halt.is_some() {
            return (tally, Some(ended), 0);
        }
        let crowded = crowd_out(pool, &files, &mut tally, progress).unwrap_or_else(|halt| {
            ended.halt = Some(halt);
            0
        });
        (tally, Some(ended), crowded)
    }
}

/// Files that end where the area ends at `upto`.
fn shortened(files: &[(u64, u64)], upto: u64) -> Vec<(u64, u64)> {
    let left = |number: u64| upto.saturating_sub((number - 1).saturating_mul(FILE_BYTES));
    files.iter().map(|(number, bytes)| (*number, left(*number).min(*bytes))).filter(|(_, bytes)| *bytes > 0).collect()
}

/// When progress is saved.
struct Timer {
    every: Duration,
    last: Instant,
}

impl Timer {
    fn new(every: Duration) -> Self {
        Self { every, last: Instant::now() }
    }

    fn is_due(&mut self, moment: Moment) -> bool {
        let due = moment == Moment::End || self.last.elapsed() >= self.every;
        if due {
            self.last = Instant::now();
        }
        due
    }
}

/// What saves the state on the medium. That it cannot be saved costs a resumption, and no check.
fn save(own: &Arc<OwnDir>, state: &State) -> Save {
    let (state, own) = (state.clone(), Arc::clone(own));
    Box::new(move || {
        let _ = state.save(&own);
        Ok(())
    })
}

fn outcome(halt: Option<&Halt>, written: Option<&Ended>, start: Instant, written_bytes: u64) -> Outcome {
    let (failure, detail) = match halt {
        None | Some(Halt::FirstError | Halt::Full) => return Outcome::Completed,
        Some(Halt::Stopped) => (Failure::Interrupted, String::new()),
        Some(Halt::Hung) => (Failure::Hung, "no answer from the medium".to_owned()),
        Some(Halt::Failed(error)) => (failure_of(error), error.to_string()),
    };
    let writing = written.is_some_and(|ended| ended.halt.is_some());
    let workload = Some(if writing { "write" } else { "read" }.to_owned());
    Outcome::Failed { failure, detail, workload, elapsed_ns: nanoseconds(start.elapsed()), written_bytes }
}

/// Removes the files, or says where they are left.
fn finish(
    settings: &Settings,
    pool: &Pool,
    state: &mut State,
    place: Option<&Place>,
    halt: Option<&Halt>,
) -> Option<PathBuf> {
    let place = place?;
    let directory = place.path().to_owned();
    match halt {
        Some(Halt::Stopped | Halt::Hung) => return Some(directory),
        None | Some(Halt::FirstError | Halt::Full) if settings.keep => {
            state.kept = true;
            let _ = pool.run(save(place.own(), state));
            return Some(directory);
        }
        _ => {}
    }
    let own = Arc::clone(place.own());
    match pool.run(move || Ok(remove_all(&own)?)) {
        Ok(Ok(())) => None,
        _ => Some(directory),
    }
}

impl Plan {
    /// One line for people: what will be written and read, and what is left free.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (write, read) = (capacity(self.write_bytes), capacity(self.read_bytes));
        if self.write_bytes == 0 {
            return format!("reads {read}, writes nothing");
        }
        if self.write_bytes < self.area_bytes {
            return format!("goes on: writes the last {write}, reads {read}");
        }
        format!("writes {write} of {} free, reads {read}, leaves {} free", capacity(self.free_bytes), {
            capacity(self.free_bytes.saturating_sub(self.write_bytes))
        })
    }
}
