//! Reading what rested after its last cycle: nothing is written to the medium.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::endurance::Endurance;
use assay_core::exit::Exit;
use assay_core::retention::Age;
use assay_core::units::Bytes;
use assay_endure::{
    Attached, Entry, Log, NoRest, PAGE_BYTES, Recognised, RestReadBegun, SLICES, State, Step, Trouble, Way, Wear,
    recognise, unit_on,
};
use assay_engine::Control;
use jiff::Timestamp;

use super::session::{Neighbour, Neighbours};
use super::{known_log, log_failure, show, target, watched, words};
use crate::cli::EndureArgs;
use crate::ending::Failure;
use crate::output::{shown, tell_wrapped};
use crate::signals;
use crate::state::DataDirectory;

/// Refuses a rest whose end no clock can tell.
pub(super) fn check_clock() -> Result<(), Failure> {
    let checked = Age::at(now(), 0, 0).map(drop);
    checked.map_err(|why| Failure::environment(format!("--retain: {why}")))
}

/// Whether `--resume` means media that rest: these are only read, when their rest is over.
pub(super) fn wanted(args: &EndureArgs, logs: &DataDirectory) -> Result<bool, Failure> {
    if !args.resume || args.until.is_some() || args.retain.is_some() {
        return Ok(false);
    }
    let states: Vec<Option<State>> = args.targets.iter().map(|path| resting(path, args, logs)).collect();
    let place =
        |rests: bool| states.iter().position(|state| state.is_some() == rests).map(|at| shown(&args.targets[at]));
    if let (Some(rests), Some(worn)) = (place(true), place(false)) {
        return Err(Failure::usage(format!(
            "{rests} rests and {worn} does not: resume them in two commands; nothing was touched"
        )));
    }
    for (path, state) in args.targets.iter().zip(&states) {
        let Some((state, until)) = state.as_ref().and_then(|state| Some((state, state.rests_until()?))) else {
            continue;
        };
        state.may_read_rested(now()).map_err(|why| refusal(path, why))?;
        if state.rest_age(now()).is_none() {
            return Err(Failure::environment(format!(
                "{}: no clock tells how long it has rested; --read-back reads it now, --until wears it on",
                shown(path)
            )));
        }
        if now() < until {
            return Err(Failure::usage(format!(
                "{}: it rests until {}, {} more; --read-back reads it now, --until wears it on",
                shown(path),
                words::moment(until),
                assay_report::days(until - now())
            )));
        }
    }
    Ok(place(true).is_some())
}

/// The test of a medium that rests; `None` where it does not, or cannot be read: what follows says why.
fn resting(path: &Path, args: &EndureArgs, logs: &DataDirectory) -> Option<State> {
    let (mut medium, _) = target::at_rest(path, args.hang_after).ok()?;
    let log = logs.path(&format!("{:016x}.log", unit_on(&mut medium)?));
    let state = Log::look(&log).ok()?;
    (state.rested_cycle().is_some() && state.rests_until().is_some()).then_some(state)
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_second()).unwrap_or(0)
}

/// A medium at rest, opened.
struct Resting {
    path: PathBuf,
    wear: Wear<Attached, Log>,
    way: Way,
    document: PathBuf,
    number: usize,
    neighbours: Neighbours,
    stop: Control,
}

/// What a reading came to.
struct Came {
    test: Endurance,
    trouble: Option<Trouble>,
}

/// Reads all targets.
pub(super) fn read(args: &EndureArgs, logs: &DataDirectory) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let neighbours: Neighbours = Arc::new(Mutex::new(Vec::new()));
    // All are looked at before one is read.
    let mut all = Vec::new();
    for (number, path) in args.targets.iter().enumerate() {
        let (medium, log, state, way) = found(path, args, logs)?;
        state.may_read_rested(now()).map_err(|why| refusal(path, why))?;
        let document = log.path().with_extension("json");
        if !args.quiet {
            let area = Bytes(state.layout().pages * PAGE_BYTES);
            tell_wrapped(&format!("{}: reads {area}, writes nothing", shown(path)));
        }
        neighbours.lock().unwrap_or_else(PoisonError::into_inner).push(Neighbour::default());
        let (neighbours, stop) = (Arc::clone(&neighbours), control.clone());
        let wear = Wear::new(medium, log, state);
        all.push(Resting { path: path.clone(), wear, way, document, number, neighbours, stop });
    }
    let threads = all.into_iter().map(|resting| move || resting.read()).collect();
    let came = watched(args, threads, &neighbours)?;
    let (tests, troubles): (Vec<Endurance>, Vec<Option<Trouble>>) =
        came.into_iter().map(|came| (came.test, came.trouble)).unzip();
    show(args, &tests)?;
    let lost = tests.iter().filter_map(|test| test.rest_reads.last()).any(|read| read.lost_sectors > 0);
    Ok(match (control.stopped(), troubles.iter().any(Option::is_some), lost) {
        (true, ..) => Exit::Interrupted,
        (_, _, true) => Exit::Damaged,
        (_, true, _) => Exit::CannotTell,
        _ => Exit::Good,
    })
}

fn refusal(path: &Path, why: NoRest) -> Failure {
    let line = format!("{}: {why}", shown(path));
    match why {
        NoRest::Clock(_) => Failure::environment(line),
        NoRest::NotWhole | NoRest::TooMany => Failure::usage(line),
    }
}

/// The medium and the test that wrote it.
fn found(path: &Path, args: &EndureArgs, logs: &DataDirectory) -> Result<(Attached, Log, State, Way), Failure> {
    let (mut medium, way) = target::at_rest(path, args.hang_after)?;
    let Some(unit) = unit_on(&mut medium) else {
        return Err(Failure::usage(format!(
            "{}: nothing on it is of a test of endurance: it lost all, or it is another medium",
            shown(path)
        )));
    };
    let (log, state) = Log::open(&known_log(path, &format!("{unit:016x}"), logs)?).map_err(log_failure)?;
    match recognise(&mut medium, &state) {
        Recognised::Ours => Ok((medium, log, state, way)),
        Recognised::NothingYet | Recognised::Unreadable | Recognised::Other(_) | Recognised::Foreign => {
            let id = &state.begun().id;
            Err(Failure::usage(format!("{}: it is not the medium of test {id}; nothing was read", shown(path))))
        }
    }
}

impl Resting {
    fn read(mut self) -> Result<Came, Failure> {
        let begun = RestReadBegun { at: now(), path: shown(&self.path), way: self.way.clone() };
        self.wear.note(&Entry::RestRead(begun)).map_err(log_failure)?;
        let mut trouble = None;
        for index in 0..SLICES {
            let (stop, neighbours, number) = (self.stop.clone(), Arc::clone(&self.neighbours), self.number);
            let share = index as f64 / SLICES as f64 * 100.0;
            let line = format!("{}  reading {share:.0} %", shown(&self.path));
            let step = self.wear.read_rested(index, &mut |_| {
                if let Some(own) = neighbours.lock().unwrap_or_else(PoisonError::into_inner).get_mut(number) {
                    own.line.clone_from(&line);
                }
                !stop.stopped()
            });
            match step.map_err(log_failure)? {
                Step::Done(_) => {}
                Step::Trouble(seen) => {
                    trouble = Some(seen);
                    tell_wrapped(&format!(
                        "{}: {}; what was read until then is kept. Attach it anew, or in another reader, and read it again",
                        shown(&self.path),
                        words::trouble(seen)
                    ));
                    break;
                }
                Step::Stopped | Step::Ended(_) => break,
            }
        }
        let test = self.wear.state().document(Timestamp::now().to_string());
        crate::files::write_whole(&self.document, serde_json::to_vec_pretty(&test).unwrap_or_default())?;
        Ok(Came { test, trouble })
    }
}
