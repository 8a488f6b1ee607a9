//! Reading what rested after its last cycle: nothing is written to the medium.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use assay_core::endurance::Endurance;
use assay_core::exit::Exit;
use assay_core::retention::Age;
use assay_core::units::Bytes;
use assay_endure::{
    Attached, Entry, Foreign, JournalError, Log, NoRest, PAGE_BYTES, Recognised, RestReadBegun, SLICES, Shows, State,
    Step, Trouble, Way, Wear, recognise, unit_on, written_since,
};
use assay_engine::Control;
use jiff::Timestamp;

use super::session::{Neighbour, Neighbours};
use super::{log_failure, opened_log, show, target, watched, words};
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

/// The log of a test, held by this process, and its state.
type Read = Option<(Log, State)>;

/// The log of each target whose medium can be read and names its test; of the others, what follows says why. A long log takes a
/// while to read, so that each is read once.
pub(super) fn logs_of(args: &EndureArgs, logs: &DataDirectory) -> Vec<Read> {
    let log = |path: &PathBuf| {
        let (mut medium, _) = target::at_rest(path, args.hang_after).ok()?;
        let unit = unit_on(&mut medium)?;
        drop(medium);
        Log::open(&logs.path(&format!("{unit:016x}.log"))).ok()
    };
    args.targets.iter().map(log).collect()
}

/// Whether `--resume` means media that rest: these are only read, when their rest is over.
pub(super) fn wanted(args: &EndureArgs, read: &[Read]) -> Result<bool, Failure> {
    if !args.resume || args.until.is_some() || args.retain.is_some() {
        return Ok(false);
    }
    let rests = |state: &&State| state.rested_cycle().is_some() && state.rests_until().is_some();
    let states: Vec<Option<&State>> =
        read.iter().map(|read| read.as_ref().map(|(_, state)| state).filter(rests)).collect();
    let place =
        |rests: bool| states.iter().position(|state| state.is_some() == rests).map(|at| shown(&args.targets[at]));
    if let (Some(rests), Some(worn)) = (place(true), place(false)) {
        return Err(Failure::usage(format!(
            "{rests} rests and {worn} does not: resume them in two commands; nothing was touched"
        )));
    }
    for (path, state) in args.targets.iter().zip(&states) {
        let Some((state, until)) = state.and_then(|state| Some((state, state.rests_until()?))) else {
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

/// Reads all targets, whose logs may have been read already.
pub(super) fn read(args: &EndureArgs, logs: &DataDirectory, mut read: Vec<Read>) -> Result<Exit, Failure> {
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let neighbours: Neighbours = Arc::new(Mutex::new(Vec::new()));
    // All are looked at before one is read.
    let mut all = Vec::new();
    for (number, path) in args.targets.iter().enumerate() {
        let log = read.get_mut(number).and_then(Option::take);
        let (medium, log, state, way) = found(path, args, logs, log)?;
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
        NoRest::NotWhole | NoRest::Died | NoRest::TooMany => Failure::usage(line),
    }
}

/// The medium and the test that wrote it.
fn found(
    path: &Path,
    args: &EndureArgs,
    logs: &DataDirectory,
    read: Read,
) -> Result<(Attached, Log, State, Way), Failure> {
    let (mut medium, way) = target::at_rest(path, args.hang_after)?;
    let Some(unit) = unit_on(&mut medium) else {
        return Err(Failure::usage(format!(
            "{}: nothing on it is of a test of endurance: it lost all, or it is another medium",
            shown(path)
        )));
    };
    let id = format!("{unit:016x}");
    let (log, state) = match read.filter(|(_, state)| state.begun().id == id) {
        Some(read) => read,
        None => opened_log(&target::known_log(path, &id, logs.root())?)?,
    };
    match recognise(&mut medium, &state) {
        Recognised::Ours => {}
        Recognised::NothingYet | Recognised::Unreadable | Recognised::Other(_) | Recognised::Foreign => {
            return Err(Failure::usage(format!(
                "{}: it is not the medium of test {id}; nothing was read",
                shown(path)
            )));
        }
    }
    // What time does leaves no mark.
    if let Some(other @ Foreign::Mark(_)) = written_since(&mut medium, &state, Shows::Held) {
        return Err(Failure::usage(format!(
            "{}: {}, so that it shows nothing of its rest",
            shown(path),
            words::foreign(other)
        )));
    }
    Ok((medium, log, state, way))
}

impl Resting {
    fn read(mut self) -> Result<Came, Failure> {
        let begun = RestReadBegun { at: now(), path: shown(&self.path), way: self.way.clone() };
        let failed = |error: JournalError| log_failure(&self.document.with_extension("log"), &error);
        self.wear.note(&Entry::RestRead(begun)).map_err(failed)?;
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
            match step.map_err(failed)? {
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
