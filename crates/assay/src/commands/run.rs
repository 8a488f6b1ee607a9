//! `assay run`

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use assay_core::exit::Exit;
use assay_core::finding::ValidityVerdict;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::suite::{Suite, SuiteWorkload};
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_engine::{Control, EngineKind};
use assay_fio::Wish;
use assay_report::Format;
use assay_runner::{EngineWish, Peer, RawMode, Removal, Request, Resumption, Run, Tree, remove_abandoned, remove_left};
use assay_store::{Keeper, SqliteStore, Store, new_id};

use super::finished::{FORMATS, OutputOptions, conclude};
use super::resume::Traces;
use crate::cli::{EngineArg, PeerArg, RunArgs};
use crate::failure::Failure;
use crate::leftovers::{self, LeftoverAction};
use crate::progress::{Lines, Live, Machine, Progress, Silent};
use crate::recorder::Recorder;
use crate::together::Together;
use crate::{files, journals, output, signals, state, suites};

pub(super) fn run(args: RunArgs) -> Result<Exit, Failure> {
    let target = args.target.clone();
    crate::child::in_child(|| work(args), move || remove_what_was_left(&target))
}

/// Removes test files of a run that was killed, and says how many bytes.
fn remove_what_was_left(target: &Path) -> Vec<String> {
    match remove_left(target) {
        Ok(Removal { removed, .. }) if removed.directories > 0 => {
            vec![format!("removed what it left in {}: {} of test files", output::shown(target), Bytes(removed.bytes))]
        }
        _ => leftovers::lines(target, LeftoverAction::Looks),
    }
}

fn work(args: RunArgs) -> Result<Exit, Failure> {
    // Everything that can be wrong is found before the first byte is written.
    let mut args = super::peers::settle(args)?;
    if let Some(path) = &args.output {
        Format::from_path(path, FORMATS).map_err(|e| Failure::usage(e.to_string()))?;
        files::check_writable(path)?;
    }
    if !args.no_save {
        state::refuse_homeless()?;
    }
    journals::refuse_pending(&args.target)?;
    let (resume, locked) = interrupted(&args)?;
    let before = resume.as_ref().map(|resumption| resumption.record().clone());
    let request = request(&mut args, resume)?;
    if !args.quiet {
        leftovers::lines(&args.target, LeftoverAction::Runs)
            .iter()
            .for_each(|line| output::tell_wrapped(&harmless(line)));
    }
    let suite = args.dry_run.then(|| request.suite.clone());
    let prepared = Run::prepare(request)?;
    if let Some(suite) = suite {
        super::dry_run::show(prepared.record(), &suite, args.json)?;
        return Ok(Exit::Good);
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut keeper = match (args.no_save, locked) {
        (true, _) => None,
        (false, true) => Some(state::keeper_at_any_rate()?),
        (false, false) => Some(state::keeper()?),
    };

    let mut together = Together::join(&args.together, &control)?;
    if let Some(id) = together.hand_over_earlier(keeper.as_mut().and_then(Keeper::store)) {
        output::tell_wrapped(&format!("this node has measured in this run before: record {id} is handed over"));
        return Ok(Exit::Good);
    }
    let mut progress = together.reported_by(progress(&args));
    let mut recorder = Recorder::new(keeper.as_mut(), progress.as_mut());
    let first = prepared.record().clone();
    recorder.begin(&first)?;
    let mut record = prepared
        .execute(&control, &mut recorder, together.rendezvous())
        .inspect_err(|_| recorder.withdraw(&first, before.as_ref()))?;
    let saved = recorder.finish();
    drop(progress);
    together.deliver(&mut record, keeper.as_mut());
    let exit = exit(&record);
    let options = OutputOptions { output: args.output.as_deref(), json: args.json, events: args.events };
    conclude(record, saved, exit, keeper, &options)
}

/// The interrupted run to resume, if that was asked for, and whether the store is locked; closes the records of
/// killed runs. The store is not made: that is certain to be needed only when there will be a record.
fn interrupted(args: &RunArgs) -> Result<(Option<Box<Resumption>>, bool), Failure> {
    let (mut existing, locked) = if args.no_save { (None, false) } else { state::before_a_run(args.resume.is_some())? };
    let traces = match &mut existing {
        Some(store) => show_abandoned(store)?,
        None => Traces::new(),
    };
    Ok((super::resume::find(args, existing.as_ref(), &traces)?, locked))
}

/// What is to be measured where and how, by the command line or by the run to resume.
fn request(args: &mut RunArgs, resume: Option<Box<Resumption>>) -> Result<Request, Failure> {
    let suite = match &resume {
        Some(resumption) => {
            args.target = super::resume::target(args, resumption);
            resumption.suite()
        }
        None => suite(args)?,
    };
    let before = resume.as_ref().map(|resumption| resumption.record());
    let source_tree = source_tree(args, &suite)?;
    Ok(Request {
        path: args.target.clone(),
        suite,
        id: before.map_or_else(new_id, |record| record.id.clone()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: match args.engine {
            EngineArg::Auto => EngineWish::Auto,
            EngineArg::Uring => EngineWish::Only(EngineKind::Uring),
            EngineArg::Iocp => EngineWish::Only(EngineKind::Iocp),
            EngineArg::Sync => EngineWish::Only(EngineKind::Sync),
            EngineArg::Fio => EngineWish::Fio,
            EngineArg::Reference => EngineWish::Reference,
            EngineArg::Null => EngineWish::Only(EngineKind::Null),
        },
        raw: raw_mode(args)?,
        labels: args.labels.iter().cloned().collect(),
        seed: before.map_or_else(seed, |record| record.settings.seed),
        confidence: before.map_or(args.confidence, |record| record.settings.confidence),
        crosscheck: match (args.crosscheck, before) {
            (Some(PeerArg::Fio), _) => Some(Peer::Fio),
            (Some(PeerArg::Reference), _) => Some(Peer::Reference),
            (None, Some(before)) => peer_of(before),
            (None, None) => None,
        },
        hang_after: args.hang_after,
        sensors: args.sensors.clone(),
        notes: args.notes.clone(),
        source_tree,
        resume,
    })
}

/// By what an interrupted run was cross-checked. Records of older versions say that by the pairs alone.
fn peer_of(record: &Record) -> Option<Peer> {
    match &record.settings.crosscheck {
        Some(name) => Peer::named(name),
        None => (!record.crosscheck.is_empty()).then_some(Peer::Fio),
    }
}

/// The suite with what the command line changes in it.
pub(super) fn suite(args: &RunArgs) -> Result<Suite, Failure> {
    let wish = Wish { size: args.size, at: Some(args.target.clone()) };
    let (_, mut suite, notes) = suites::wished(&args.suite, &wish)?;
    super::peers::tell_notes(args, &notes);
    if let Some(repeats) = args.repeats {
        suite.repeats = repeats;
    }
    // A fixed number of repeats, another share, pairs, or a run in step with other nodes does not end sooner.
    if args.repeats.is_some()
        || args.together.rendezvous.is_some()
        || args.confidence.is_some()
        || args.crosscheck.is_some()
    {
        suite.enough = None;
    }
    if let Some(budget) = args.budget {
        suite.budget = budget;
    }
    if let Some(limit) = args.max_write {
        suite.max_write = limit;
    }
    super::confidence::apply(args, &mut suite)?;
    in_the_manner(args, &mut suite)?;
    Ok(suite)
}

/// Sets the processors and polled completions that the command line asks for.
fn in_the_manner(args: &RunArgs, suite: &mut Suite) -> Result<(), Failure> {
    if let Some(cpus) = &args.cpus {
        suite.workloads.iter_mut().for_each(|workload| workload.cpus = cpus.clone());
    }
    if !args.poll {
        return Ok(());
    }
    if !suite.workloads.iter().any(SuiteWorkload::can_poll) {
        return Err(Failure::usage(format!(
            "suite {} has no workload of direct I/O without a rate and without a sync after each write; leave --poll out",
            suite.name
        )));
    }
    suite.workloads.iter_mut().filter(|workload| workload.can_poll()).for_each(|workload| workload.poll = true);
    Ok(())
}

/// The source tree of programs: an archive of the user, or a generated one.
fn source_tree(args: &RunArgs, suite: &Suite) -> Result<Arc<Tree>, Failure> {
    let Some(path) = &args.source_tree else { return Ok(Arc::new(Tree::generated())) };
    if !suite.programs.iter().any(|program| program.does.needs_tree()) {
        let words = format!("suite {} has no program that works on a source tree; leave --source-tree out", suite.name);
        return Err(Failure::usage(words));
    }
    let tree = Tree::open(path);
    tree.map(Arc::new).map_err(|error| Failure::usage(format!("{}: {error}", harmless(&path.to_string_lossy()))))
}

fn raw_mode(args: &RunArgs) -> Result<RawMode, Failure> {
    match (&args.overwrite, args.raw) {
        (Some(named), _) if *named == args.target => Ok(RawMode::Overwrite),
        (Some(named), _) => Err(Failure::usage(format!(
            "--overwrite {} does not name the target {}; nothing was touched",
            named.display(),
            args.target.display()
        ))),
        (None, true) => Ok(RawMode::Allowed),
        (None, false) => Ok(RawMode::Refused),
    }
}

/// Closes the records of killed runs, removes their test files, and says so.
fn show_abandoned(store: &mut SqliteStore) -> Result<Traces, Failure> {
    let mut traces = Traces::new();
    for run in store.abandoned()? {
        let removed = run.scratch.as_deref().map(remove_abandoned).unwrap_or_default();
        let files = if removed.directories > 0 { ", its test file was removed" } else { "" };
        let kept: usize = run.record.measurements.iter().map(|m| m.repeats.len()).sum();
        let repeats = if kept == 1 { "1 repeat is".to_owned() } else { format!("{kept} repeats are") };
        let id = harmless(&run.id);
        output::tell_wrapped(&format!("run {id} was killed; {repeats} kept (assay show {id}){files}"));
        if let Some(scratch) = run.scratch.filter(|_| removed.directories > 0) {
            traces.insert(run.id, scratch);
        }
    }
    Ok(traces)
}

fn progress(args: &RunArgs) -> Box<dyn Progress> {
    if args.events {
        Box::new(Machine)
    } else if args.quiet {
        Box::new(Silent)
    } else if std::io::stderr().is_terminal() && output::can_repaint() {
        Box::new(Live::new(output::stderr_style().unicode))
    } else {
        Box::new(Lines::default())
    }
}

fn exit(record: &Record) -> Exit {
    match &record.outcome {
        Outcome::Failed { failure: RunFailure::Interrupted, .. } => Exit::Interrupted,
        Outcome::Failed { failure: RunFailure::OutOfSpace | RunFailure::Host, .. } => Exit::Environment,
        outcome if outcome.medium_failed() => Exit::Medium,
        _ if record.validity.verdict == ValidityVerdict::Invalid => Exit::No,
        _ => Exit::Good,
    }
}

/// A seed that no other run has; it is stored with the record.
fn seed() -> u64 {
    let mut bytes = [0u8; 8];
    match assay_device::random(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes) >> 11, // 53 bits: exact in every JSON reader
        Err(_) => u64::from(std::process::id()),
    }
}
