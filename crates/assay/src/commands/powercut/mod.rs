//! `assay powercut`: which acknowledged writes are there after a power cut.

mod home;
mod session;
mod target;
mod words;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay_core::exit::Exit;
use assay_endure::Medium;
use assay_engine::Control;
use assay_powercut::{Answer, BLOCK, Begin, Cannot, Keep, Ledger, Mode, PowerCuts, State, Target, unit_on};
use jiff::Timestamp;

use crate::cli::PowercutArgs;
use crate::documents::PowercutDocument;
use crate::ending::Failure;
use crate::output::{self, shown};
use crate::progress::Status;
use crate::{ending, signals};
use home::Home;
use session::Session;
use target::{Opened, Opening};

/// The largest area.
const MOST_BYTES: u64 = 4 << 30;

pub(super) fn powercut(args: PowercutArgs) -> Result<Exit, Failure> {
    if args.status {
        return status(&args);
    }
    if let Some(address) = args.listen {
        return home::listen(&args, address);
    }
    crate::state::refuse_homeless()?;
    // Like a run: a thread that waits for a hung medium cannot be ended.
    signals::in_child(|| work(&args), Vec::new)
}

fn work(args: &PowercutArgs) -> Result<Exit, Failure> {
    let Some(path) = &args.target else { return Err(Failure::usage("name a device or a directory")) };
    if let Some(named) = args.overwrite.as_ref().filter(|named| *named != path) {
        return Err(Failure::usage(format!("--overwrite {} is not the target; nothing was touched", shown(named))));
    }
    let home = Home::of(args)?;
    let stop = Control::default();
    signals::stop_on_signals(&stop)?;
    if args.check || args.resume {
        return known(args, path, &home, stop);
    }
    if args.size.0 > MOST_BYTES {
        return Err(Failure::usage("--size: the area is at most 4 GiB; the ledger knows each of its blocks"));
    }
    let opening = Opening::new(path, args.hang_after);
    home.apart_from(&opening)?;
    let opened = opening.begin(args.overwrite.is_some(), args.size.0)?;
    let (keep, state) = begun(args, &opening, &opened, &home)?;
    let ledger = Arc::new(Mutex::new(Ledger::new(keep, state)));
    let mut session = Session { args, opening, ledger, stop, status: Status::new(args.quiet) };
    let stopped = session.rounds(Some(opened))?;
    finish(&session, stopped)
}

/// A new test.
fn begun(
    args: &PowercutArgs,
    opening: &Opening,
    opened: &Opened,
    home: &Home,
) -> Result<(Box<dyn Keep>, State), Failure> {
    let mut random = [0; 8];
    assay_device::random(&mut random)
        .map_err(|error| Failure::environment(format!("no random numbers from the system: {error}")))?;
    let id = format!("{:016x}", u64::from_le_bytes(random));
    let labels: std::collections::BTreeMap<_, _> = args.labels.iter().cloned().collect();
    let named = |key: &str, known: &Option<String>| labels.get(key).cloned().or_else(|| known.clone());
    let medium = &opened.seen.medium;
    let begin = Begin {
        version: 1,
        id: id.clone(),
        started: Timestamp::now().to_string(),
        model: named("model", &medium.model),
        unit: named("unit", &medium.unit),
        capacity_bytes: medium.capacity_bytes.unwrap_or(opened.blocks * BLOCK),
        blocks: opened.blocks,
        target: opening.target,
        mount_point: medium.mount_point.clone().filter(|_| opening.target == Target::File),
        writers: u64::from(args.writers),
        modes: Mode::ALL.to_vec(),
        labels,
    };
    let state = State::begin(begin.clone()).ok_or_else(|| {
        Failure::usage(format!("{}: its area is too small for {} writers", shown(&opening.path), args.writers))
    })?;
    let (keep, place) = home.create(&begin)?;
    if !args.quiet {
        output::tell_wrapped(&format!("{}: test {id}, acknowledged writes in {place}", shown(&opening.path)));
    }
    Ok((keep, state))
}

/// A test that began before: it is checked, and goes on if that was asked for.
fn known(args: &PowercutArgs, path: &Path, home: &Home, stop: Control) -> Result<Exit, Failure> {
    let (keep, state) = home.open(&find(args, path, home)?)?;
    let opening = Opening { target: state.begun().target, ..Opening::new(path, args.hang_after) };
    let (unchecked, begin) = (state.is_unchecked(), state.begun().clone());
    let ledger = Arc::new(Mutex::new(Ledger::new(keep, state)));
    let mut session = Session { args, opening, ledger, stop, status: Status::new(args.quiet) };
    let mut stopped = false;
    if args.check || unchecked {
        let wait = if args.check { Duration::ZERO } else { args.wait };
        let Some(report) = session.check(wait)? else { return finish(&session, true) };
        // What something else has written is refused below, or may be written over.
        let other = Answer::CannotTell { reason: Cannot::WrittenSince };
        if !report.is_answered() && (args.check || report.answer != other) {
            let exit = finish(&session, false)?;
            // An earlier answer stands, and none is given now.
            return Ok(if exit == Exit::Good { Exit::CannotTell } else { exit });
        }
    }
    if args.resume {
        home.apart_from(&session.opening)?;
        let may_go = args.overwrite.is_some();
        if !may_go {
            session.opening.refuse_marked(&begin)?;
        }
        if !session.changed(may_go)? {
            return finish(&session, true);
        }
        stopped = session.rounds(None)?;
    }
    finish(&session, stopped)
}

/// The id of the test whose stamps are on the medium; of one that holds none, of the only test that waits for a check there.
fn find(args: &PowercutArgs, path: &Path, home: &Home) -> Result<String, Failure> {
    let mut looked = Opening::new(path, args.hang_after).look(None);
    let unit = looked.medium.as_mut().ok().and_then(|medium| unit_on(medium as &mut dyn Medium));
    if let Some(unit) = unit {
        let id = format!("{unit:016x}");
        if !home.has(&id) {
            return Err(Failure::usage(format!(
                "{}: it holds what test {id} wrote, whose ledger is not in {}; say where with --ledger",
                shown(path),
                home.name()
            )));
        }
        return Ok(id);
    }
    let known = home.known()?;
    let here = || known.iter().filter(|state| state.round().is_some_and(|round| round.path == shown(path)));
    let mut found: Vec<&State> = here().filter(|state| state.is_unchecked()).collect();
    if found.is_empty() && args.check {
        // Its file system may not be mounted: the last test there.
        let mounted = looked.seen.and_then(|seen| seen.medium.mount_point);
        let elsewhere = |begin: &Begin| begin.target == Target::File && begin.mount_point != mounted;
        found.extend(here().rfind(|state| elsewhere(state.begun())));
    }
    match found[..] {
        [state] => Ok(state.begun().id.clone()),
        _ if !path.exists() => Err(Failure::usage(format!("{}: no such device or directory", shown(path)))),
        _ => Err(Failure::usage(format!(
            "{}: nothing on it is of a test of power cuts; without --check and --resume a new one begins",
            shown(path)
        ))),
    }
}

fn status(args: &PowercutArgs) -> Result<Exit, Failure> {
    let tests = home::existing(args)?.map_or(Ok(Vec::new()), |home| home.known())?;
    let tests: Vec<PowerCuts> = tests.iter().map(State::document).collect();
    show(args, &tests)?;
    Ok(Exit::Good)
}

fn show(args: &PowercutArgs, tests: &[PowerCuts]) -> Result<(), Failure> {
    if args.json {
        return output::print_json(&PowercutDocument { tests: tests.to_vec() });
    }
    if tests.is_empty() {
        return output::print("no test of power cuts was begun: assay powercut --help");
    }
    tests.iter().try_for_each(|test| output::print(&words::summary(test)))
}

fn finish(session: &Session<'_>, stopped: bool) -> Result<Exit, Failure> {
    let document = session.ledger.lock().unwrap_or_else(PoisonError::into_inner).state().document();
    let args = session.args;
    show(args, std::slice::from_ref(&document))?;
    let path = &session.opening.path;
    if !args.quiet && (stopped || document.unchecked) {
        output::tell_wrapped(&format!("continue with: assay powercut --resume {}", output::operand(path)));
    } else if session.opening.target == Target::File && !args.check && !document.unchecked {
        // A test that gave answers to all cuts; the ledger stays.
        target::remove(path);
    }
    Ok(if stopped { Exit::Interrupted } else { ending::of_power_cuts(&document) })
}
