//! `assay endure`: wear until death, one thread a medium.

mod map;
mod rest;
mod session;
mod target;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay_core::endurance::{Endurance, LifeEnd, WearLoad};
use assay_core::exit::Exit;
use assay_core::text::{harmless, quoted};
use assay_core::units::counted;
use assay_device::StorageBelow;
use assay_endure::{Begin, Entry, JournalError, Log, PAGE_BYTES, Recognised, Shows, State, recognise, written_since};
use assay_engine::Control;
use jiff::Timestamp;

use crate::cli::{EndureArgs, Until, WearArg};
use crate::documents::EndureDocument;
use crate::ending::Failure;
use crate::output::{self, shown};
use crate::progress::Status;
use crate::state::DataDirectory;
use crate::{ending, signals};
use session::{Beginning, Limits, Neighbour, Neighbours, Session};
use target::{LOGS, Opened, Opening};

pub(super) use target::left_in;

pub(super) fn endure(args: EndureArgs) -> Result<Exit, Failure> {
    if args.status {
        return status(&args);
    }
    crate::state::refuse_homeless()?;
    // Like a run: a thread that waits for a hung medium cannot be ended.
    signals::in_child(|| work(&args), Vec::new)
}

/// Refuses targets that are one medium, and a control that is on the medium of a target, whatever they are called.
fn apart(args: &EndureArgs) -> Result<(), Failure> {
    let place = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let below = |path: &Path| (shown(path), place(path), target::below(path));
    type Below = (StorageBelow, StorageBelow);
    // Two files on one disk are two media; a file on a medium is that medium.
    let disk = |(own, carriers): &Below, (other, others): &Below| {
        let shared = own.shared(other).or_else(|| own.shared(others)).or_else(|| carriers.shared(other));
        shared.map(|disk| format!(" ({disk})"))
    };
    let one = |(_, path, below): &(String, PathBuf, Below), (_, named, other): &(String, PathBuf, Below)| {
        if path == named { Some(String::new()) } else { disk(below, other) }
    };
    let targets: Vec<_> = args.targets.iter().map(|path| below(path)).collect();
    for (at, target) in targets.iter().enumerate() {
        let Some((before, by)) = targets[..at].iter().find_map(|before| Some((&before.0, one(before, target)?))) else {
            continue;
        };
        let path = &target.0;
        return Err(Failure::usage(if by.is_empty() {
            format!("{path} is named twice; nothing was touched")
        } else {
            format!("{before} and {path} are on one medium{by}; wear one of them; nothing was touched")
        }));
    }
    let Some(control) = args.control.as_deref().map(below) else { return Ok(()) };
    match targets.iter().find_map(|target| Some((&target.0, one(target, &control)?))) {
        Some((path, by)) => Err(Failure::usage(format!(
            "--control {} is the medium of the target {path}{by}; name another medium in the same reader; nothing was touched",
            control.0
        ))),
        None => Ok(()),
    }
}

fn work(args: &EndureArgs) -> Result<Exit, Failure> {
    for named in &args.overwrite {
        if !args.targets.contains(named) {
            return Err(Failure::usage(format!(
                "--overwrite {} does not name a target; nothing was touched",
                shown(named)
            )));
        }
    }
    if let Some(Until::Date(date)) = args.until
        && date <= Timestamp::now()
    {
        return Err(Failure::usage("--until names a date that has passed; name a later one; nothing was touched"));
    }
    apart(args)?;
    if let Some(control) = args.control.as_deref().filter(|control| !target::control(control, args.hang_after).0) {
        return Err(Failure::usage(format!(
            "--control {} cannot be read, or is no device; nothing was touched",
            shown(control)
        )));
    }
    if args.file.output.is_some() {
        return Err(Failure::usage("-o draws the map of a test: --status ID -o map.svg"));
    }
    let logs = DataDirectory::made(LOGS)?;
    let mut read = if args.resume { rest::logs_of(args, &logs) } else { Vec::new() };
    if args.read_back || rest::wanted(args, &read)? {
        return rest::read(args, &logs, read);
    }
    if args.retain.is_some() {
        rest::check_clock()?;
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let neighbours: Neighbours = Arc::new(Mutex::new(Vec::new()));
    let (mut beginnings, mut titles, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
    // All are opened before one is begun: a refusal leaves no test.
    let open = |path: &PathBuf| {
        let opening = Opening::new(args, path);
        opening.open().map(|opened| (opening, opened))
    };
    let opened: Vec<(Opening, Opened)> = args.targets.iter().map(open).collect::<Result<_, _>>()?;
    for (number, opened) in opened.into_iter().enumerate() {
        let medium = opened.1.seen.medium.title();
        let log = read.get_mut(number).and_then(Option::take);
        let beginning =
            if args.resume { resumed(&beginnings, opened, &logs, log)? } else { begun(args, number, opened, &logs)? };
        beginnings.push(beginning);
        titles.push(medium);
    }
    for (beginning, medium) in beginnings.into_iter().zip(titles) {
        if !args.quiet {
            let path = &beginning.opening.path;
            let is_limited = args.until.is_some() || args.retain.is_some();
            let (state, log) = (&beginning.state, beginning.log.path());
            output::tell_wrapped(&words::announcement(path, &medium, state, log, is_limited));
        }
        neighbours.lock().unwrap_or_else(PoisonError::into_inner).push(Neighbour::default());
        let limits = Limits { until: args.until, retain: args.retain, wait: args.wait };
        sessions.push(Session::new(beginning, (limits, args.control.clone()), &control, &neighbours)?);
    }
    let threads = sessions.into_iter().map(|session| move || session.run()).collect();
    let tests = watched(args, threads, &neighbours)?;
    finish(args, tests, control.stopped())
}

fn one_test_twice(id: &str, one: &Path, other: &Path) -> Failure {
    let (one, other) = (shown(one), shown(other));
    Failure::usage(format!(
        "{one} and {other} both hold what test {id} wrote: one is a copy; attach and name only one; nothing was written"
    ))
}

/// A new test.
fn begun(
    args: &EndureArgs,
    number: usize,
    (opening, opened): (Opening, Opened),
    logs: &DataDirectory,
) -> Result<Beginning, Failure> {
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
        capacity_bytes: medium.capacity_bytes.unwrap_or(opened.area),
        pages: opened.area / PAGE_BYTES,
        load: match args.workload {
            WearArg::Whole => WearLoad::Whole,
            WearArg::RandomSync => WearLoad::RandomSync { block_bytes: PAGE_BYTES as u32 },
        },
        labels,
    };
    let file = logs.path(&format!("{id}.log"));
    let log = Log::create(&file, &Entry::Begin(begin.clone())).map_err(|error| log_failure(&file, &error))?;
    let Some(state) = State::begin(begin) else {
        return Err(Failure::usage(format!("{}: too small to wear", shown(&opening.path))));
    };
    Ok(Beginning { number, opening, opened, log, state, over_other: false })
}

/// The test whose stamps are on the medium; of one that is no longer read, the test of the same unit. Its log was read already
/// where its medium could be.
fn resumed(
    before: &[Beginning],
    (opening, mut opened): (Opening, Opened),
    logs: &DataDirectory,
    read: Option<(Log, State)>,
) -> Result<Beginning, Failure> {
    let path = shown(&opening.path);
    let id = match target::unit_of(&mut opened.medium) {
        Some(unit) => format!("{unit:016x}"),
        None => of_the_same_unit(&opened, logs)?.ok_or_else(|| {
            Failure::usage(format!(
                "{path}: nothing on it is of a test of endurance; without --resume a new one begins"
            ))
        })?,
    };
    if let Some(other) = before.iter().find(|other| other.state.begun().id == id) {
        return Err(one_test_twice(&id, &other.opening.path, &opening.path));
    }
    let (log, state) = match read.filter(|(_, state)| state.begun().id == id) {
        Some(read) => read,
        None => opened_log(&target::known_log(&opening.path, &id, logs.root())?)?,
    };
    if let LifeEnd::Died { .. } = state.end() {
        return Err(Failure::usage(format!("{path}: test {id} is over: {}", words::end(state.end()))));
    }
    match recognise(&mut opened.medium, &state) {
        Recognised::Ours | Recognised::NothingYet | Recognised::Unreadable => {}
        Recognised::Other(_) | Recognised::Foreign => {
            return Err(Failure::usage(format!("{path}: it is not the medium of test {id}; nothing was written")));
        }
    }
    let over_other = match written_since(&mut opened.medium, &state, Shows::Every) {
        Some(other) if !opening.named => {
            return Err(Failure::usage(format!(
                "{path}: {}; nothing was written; a new test begins without --resume; if this one may go on, with what was \
                 written since counted as failed, add --overwrite {path}",
                words::foreign(other)
            )));
        }
        other => other.is_some(),
    };
    Ok(Beginning { number: before.len(), opening, opened, log, state, over_other })
}

/// The only unfinished test of a medium with this serial number and size.
fn of_the_same_unit(opened: &Opened, logs: &DataDirectory) -> Result<Option<String>, Failure> {
    let Some(unit) = opened.seen.medium.unit.as_ref() else { return Ok(None) };
    let same = |test: &Endurance| test.unit.as_ref() == Some(unit) && !matches!(test.end, LifeEnd::Died { .. });
    let (tests, _) = known(logs, &names(logs)?);
    let mut tests: Vec<_> = tests.into_iter().filter(same).map(|test| test.id).collect();
    Ok(tests.pop().filter(|_| tests.is_empty()))
}

/// The tests by these logs, in the order of their beginnings, and how many logs cannot be read: these are named.
fn known(logs: &DataDirectory, names: &[String]) -> (Vec<Endurance>, usize) {
    let (mut tests, mut unread) = (Vec::new(), 0);
    for log in names.iter().map(|name| logs.path(name)) {
        match by_log(&log, &mut |_| {}) {
            Ok(test) => tests.push(test),
            Err(error) => {
                unread += 1;
                output::tell_wrapped(&log_error(&log, &error));
            }
        }
    }
    tests.sort_by(|one, other| one.started.cmp(&other.started));
    (tests, unread)
}

/// The names of all logs.
fn names(logs: &DataDirectory) -> Result<Vec<String>, Failure> {
    let mut names = logs.names()?;
    names.retain(|name| name.ends_with(".log"));
    Ok(names)
}

/// The test of a log, whose entries are shown to `each`.
fn by_log(log: &Path, each: &mut dyn FnMut(&Entry)) -> Result<Endurance, JournalError> {
    let state = Log::look_at_each(log, each)?;
    let updated = std::fs::metadata(log).and_then(|meta| meta.modified()).ok();
    let updated = updated.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_else(Timestamp::now);
    Ok(state.document(updated.to_string()))
}

fn status(args: &EndureArgs) -> Result<Exit, Failure> {
    let logs = DataDirectory::existing(LOGS)?;
    // A log may take a while to read: only those that were named are.
    let mut ids = logs.as_ref().map_or_else(|| Ok(Vec::new()), names)?;
    for named in &args.targets {
        let named = named.to_string_lossy();
        if !ids.iter().any(|id| id.starts_with(&*named)) {
            return Err(Failure::usage(format!("no test of endurance has an id that begins with {}", quoted(&named))));
        }
    }
    let wanted = |id: &String| args.targets.iter().any(|named| id.starts_with(&*named.to_string_lossy()));
    ids.retain(|id| args.targets.is_empty() || wanted(id));
    match (&args.file.output, &ids[..], logs) {
        (None, ids, logs) => {
            let (tests, unread) = logs.map_or_else(Default::default, |logs| known(&logs, ids));
            if unread == 0 || !tests.is_empty() || args.json {
                show(args, &tests)?;
            }
            return Ok(if unread == 0 { Exit::Good } else { Exit::CannotTell });
        }
        (Some(_), [id], Some(logs)) => map::draw(args, &logs.path(id))?,
        (Some(_), ids, _) => {
            let count = counted(ids.len(), "test");
            return Err(Failure::usage(format!(
                "-o draws the map of one test, and this is {count}; name one by its id"
            )));
        }
    }
    Ok(Exit::Good)
}

fn show(args: &EndureArgs, tests: &[Endurance]) -> Result<(), Failure> {
    if args.json {
        return output::print_json(&EndureDocument { tests: tests.to_vec() });
    }
    if tests.is_empty() {
        return output::print("no test of endurance was begun: assay endure --help");
    }
    tests.iter().try_for_each(|test| output::print_wrapped(&words::summary(test)))
}

/// Runs all tests, and shows how far they are.
fn watched<T: Send + 'static>(
    args: &EndureArgs,
    sessions: Vec<impl FnOnce() -> Result<T, Failure> + Send + 'static>,
    neighbours: &Neighbours,
) -> Result<Vec<T>, Failure> {
    let mut threads = Vec::new();
    for session in sessions {
        let thread = std::thread::Builder::new().name("endure".to_owned()).spawn(session);
        threads.push(thread.map_err(|error| Failure::environment(format!("no thread: {error}")))?);
    }
    let mut status = Status::new(args.quiet);
    while threads.iter().any(|thread| !thread.is_finished()) {
        std::thread::sleep(Duration::from_millis(50));
        status.show(|| {
            let all = neighbours.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().map(|own| own.line.as_str()).collect::<Vec<_>>().join("  |  ")
        });
    }
    drop(status);
    let mut tests = Vec::new();
    let mut first = None;
    for thread in threads {
        match thread.join() {
            Ok(Ok(test)) => tests.push(test),
            Ok(Err(failure)) => first = first.or(Some(failure)),
            Err(_) => first = first.or_else(|| Some(Failure::environment("a test ended by a fault of assay"))),
        }
    }
    // What the others came to is in their logs.
    first.map_or(Ok(tests), Err)
}

fn finish(args: &EndureArgs, tests: Vec<Endurance>, stopped: bool) -> Result<Exit, Failure> {
    let exit = ending::of_endurance(&tests);
    // A medium that holds no slice cannot be recognised.
    let is_empty = |test: &Endurance| !args.resume && test.end == LifeEnd::Running && test.written_bytes == 0;
    let (empty, kept): (Vec<_>, Vec<_>) =
        tests.into_iter().zip(&args.targets).partition(|(test, _)| stopped && is_empty(test));
    for (test, path) in empty {
        forget(&test, path)?;
        if !args.quiet {
            let path = shown(path);
            output::tell_wrapped(&format!(
                "{path}: stopped before its first slice was written; the same command begins anew"
            ));
        }
    }
    let (tests, paths): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
    if args.json || !tests.is_empty() {
        show(args, &tests)?;
    }
    for (test, path) in tests.iter().zip(paths) {
        if test.rest.is_some() && !args.quiet {
            output::tell_wrapped(&words::rests(test, path));
            continue;
        }
        let over = matches!(test.end, LifeEnd::Died { .. });
        if over && path.is_dir() {
            target::remove(path);
        }
        if stopped && test.end == LifeEnd::Running && !args.quiet {
            output::tell_wrapped(&format!("continue with: assay endure --resume {}", output::operand(path)));
        } else if !over && path.is_dir() && !args.quiet {
            output::tell_wrapped(&format!(
                "its file stays in {}, so that --resume can continue the test",
                shown(&path.join(target::DIRECTORY))
            ));
        }
    }
    Ok(exit)
}

/// Removes the log of a test that wrote no whole slice, and the file of a directory.
fn forget(test: &Endurance, path: &Path) -> Result<(), Failure> {
    let logs = DataDirectory::made(LOGS)?;
    for ending in ["log", "json"] {
        let file = logs.path(&format!("{}.{ending}", test.id));
        std::fs::remove_file(&file)
            .map_err(|error| Failure::environment(format!("{}: {}", shown(&file), harmless(&error.to_string()))))?;
    }
    if path.is_dir() {
        target::remove(path);
    }
    Ok(())
}

/// Opens a log to go on with it.
fn opened_log(file: &Path) -> Result<(Log, State), Failure> {
    Log::open(file).map_err(|error| log_failure(file, &error))
}

fn log_failure(log: &Path, error: &JournalError) -> Failure {
    Failure::environment(log_error(log, error))
}

/// What is wrong with a log, with its path.
fn log_error(log: &Path, error: &JournalError) -> String {
    match error {
        JournalError::Io { .. } => harmless(&error.to_string()),
        _ => format!("{}: {error}", shown(log)),
    }
}
