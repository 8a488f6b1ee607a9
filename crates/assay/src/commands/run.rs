//! `assay run`, with its dry run, its cross-check with fio, its resumption, and repeats for a confidence.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_analysis::nearest;
use assay_core::exit::Exit;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::Record;
use assay_core::suite::{Analysis, Suite, SuiteWorkload};
use assay_core::text::harmless;
use assay_core::units::{Bytes, figures, nanoseconds, span};
use assay_core::workload::Sync;
use assay_engine::Control;
use assay_fio::Wish;
use assay_report::ReportFormat;
use assay_runner::{
    EngineChoice, MOST_REPEATS, OwnEngine, Peer, PreparedRun, RawMode, Removal, Resumption, RunRequest, SourceTree,
    longest_repeat, longest_time, remove_abandoned, remove_left,
};
use assay_store::{SqliteStore, Store, new_id};

use super::finished::{FORMATS, OutputOptions, store_page_and_show};
use crate::cli::{EngineArg, PeerArg, RunArgs, own_build};
use crate::documents::{DryRunDocument, DryRunStep, SuiteName};
use crate::ending::Failure;
use crate::leftovers::{self, LeftoverAction};
use crate::node::{self, NodeStore, Together};
use crate::output::{self, shown};
use crate::progress::{Lines, Live, Machine, Progress, Silent, place_of};
use crate::recorder::Recorder;
use crate::suites::LONGEST_BUDGET;
use crate::{ending, files, signals, state, suites};

pub(super) fn run(args: RunArgs) -> Result<Exit, Failure> {
    let target = args.target.clone();
    signals::in_child(|| work(args), move || remove_what_was_left(&target))
}

/// Removes test files of a run that was killed, and says how many bytes.
fn remove_what_was_left(target: &Path) -> Vec<String> {
    match remove_left(target) {
        Ok(Removal { removed, .. }) if removed.directories > 0 => {
            vec![format!("removed what it left in {}: {} of test files", output::shown(target), Bytes(removed.bytes))]
        }
        _ => leftovers::leftover_lines(target, LeftoverAction::Looks),
    }
}

fn work(args: RunArgs) -> Result<Exit, Failure> {
    // Everything that can be wrong is found before the first byte is written.
    let mut args = settle_peer(args)?;
    if let Some(path) = &args.output {
        files::refuse_stdout(path)?;
        ReportFormat::from_path(path, FORMATS).map_err(|e| Failure::usage(e.to_string()))?;
        files::check_writable(path)?;
    }
    if !args.no_save {
        state::refuse_homeless()?;
    }
    leftovers::refuse_pending(&args.target)?;
    let (resume, locked) = interrupted(&args)?;
    let before = resume.as_ref().map(|resumption| resumption.record().clone());
    let request = request(&mut args, resume)?;
    if !args.quiet {
        tell_misspelt(args.labels.iter().map(|(key, _)| key.as_str()));
        leftovers::leftover_lines(&args.target, LeftoverAction::Runs)
            .iter()
            .for_each(|line| output::tell_wrapped(&harmless(line)));
    }
    let suite = args.dry_run.then(|| request.suite.clone());
    if args.dry_run {
        // Of a run its record says it.
        tell_notes(&args, &request.translated);
    }
    let prepared = PreparedRun::prepare(request)?;
    if let Some(suite) = suite {
        show_plan(&prepared, &suite, args.json)?;
        return Ok(Exit::Good);
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    // What a node measures is on its way to the coordinator.
    let mut own = match args.together.rendezvous {
        Some(_) if !args.no_save => Some(NodeStore::new()?),
        _ => None,
    };
    let mut keeper = match (args.no_save, &own, locked) {
        (true, ..) => None,
        (false, Some(own), _) => Some(own.keeper()?),
        (false, None, true) => Some(state::keeper_at_any_rate()?),
        (false, None, false) => Some(state::keeper()?),
    };

    let mut together = Together::join(&args.together, &control)?;
    if let Some(id) = together.hand_over_earlier(args.no_save) {
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
    let handed_over = together.deliver(&mut record, keeper.as_mut());
    if let Some(mut own) = own.take() {
        // Its page would stay there; it can be made of the record.
        keeper = None;
        if handed_over {
            own.is_handed_over();
        }
    }
    let exit = ending::of_run(&record);
    let options = OutputOptions { output: args.output.as_deref(), json: args.json, events: args.events };
    store_page_and_show(record, saved, exit, keeper, &options)
}

/// The interrupted run to resume, if that was asked for, and whether the store is locked; closes the records of
/// killed runs. The store is not made: that is certain to be needed only when there will be a record.
fn interrupted(args: &RunArgs) -> Result<(Option<Box<Resumption>>, bool), Failure> {
    if !args.no_save {
        node::recover();
    }
    let (mut existing, locked) = if args.no_save { (None, false) } else { state::before_a_run(args.resume.is_some())? };
    let traces = match &mut existing {
        Some(store) => show_abandoned(store)?,
        None => Traces::new(),
    };
    Ok((find_run(args, existing.as_ref(), &traces)?, locked))
}

/// What is to be measured where and how, by the command line or by the run to resume.
fn request(args: &mut RunArgs, resume: Option<Box<Resumption>>) -> Result<RunRequest, Failure> {
    let (suite, translated) = match &resume {
        Some(resumption) => {
            args.target = resumed_target(args, resumption);
            (resumption.suite(), Vec::new())
        }
        None => suite(args)?,
    };
    let before = resume.as_ref().map(|resumption| resumption.record());
    let source_tree = source_tree(args, &suite)?;
    let peer = match (args.crosscheck, before) {
        (Some(PeerArg::Fio), _) => Some(Peer::Fio),
        (Some(PeerArg::Reference), _) => Some(Peer::Reference),
        (None, before) => before.and_then(|record| Peer::named(record.settings()?.crosscheck.as_deref()?)),
    };
    let build = own_build();
    Ok(RunRequest {
        path: args.target.clone(),
        suite,
        translated,
        id: before.map_or_else(new_id, |record| record.id.clone()),
        version: build.version,
        commit: build.commit,
        engine: engine(args.engine, peer)?,
        raw: raw_mode(args)?,
        labels: args.labels.iter().cloned().collect(),
        seed: before.and_then(Record::settings).map_or_else(seed, |settings| settings.seed),
        confidence: before.and_then(Record::settings).map_or(args.confidence, |settings| settings.confidence),
        hang_after: args.hang_after,
        sensors: args.sensors.clone(),
        notes: args.notes.clone(),
        source_tree,
        resume,
    })
}

/// What runs the workloads. A cross-check needs an engine of assay's own on the other side.
fn engine(engine: EngineArg, crosscheck: Option<Peer>) -> Result<EngineChoice, Failure> {
    let own = |engine| Ok(EngineChoice::Own { engine, crosscheck });
    let alone = |choice| match crosscheck {
        None => Ok(choice),
        Some(_) => Err(Failure::usage(
            "--crosscheck compares assay's own engines with another tool; use --engine auto, uring or sync",
        )),
    };
    match engine {
        EngineArg::Auto => own(OwnEngine::Auto),
        EngineArg::Uring => own(OwnEngine::Uring),
        EngineArg::Iocp => own(OwnEngine::Iocp),
        EngineArg::Sync => own(OwnEngine::Sync),
        EngineArg::Fio => alone(EngineChoice::Peer(Peer::Fio)),
        EngineArg::Reference => alone(EngineChoice::Peer(Peer::Reference)),
        EngineArg::Null => alone(EngineChoice::Null),
    }
}

/// The suite with what the command line changes in it, and how it differs from the job file that it was read from.
pub(super) fn suite(args: &RunArgs) -> Result<(Suite, Vec<String>), Failure> {
    let wish = Wish { size: args.size, at: Some(args.target.clone()) };
    let (_, mut suite, notes) = suites::wished(&args.suite, &wish)?;
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
    apply_confidence(args, &mut suite)?;
    in_the_manner(args, &mut suite)?;
    Ok((suite, notes))
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
fn source_tree(args: &RunArgs, suite: &Suite) -> Result<Arc<SourceTree>, Failure> {
    let Some(path) = &args.source_tree else { return Ok(Arc::new(SourceTree::generated())) };
    if !suite.programs.iter().any(|program| program.does.needs_tree()) {
        let words = format!("suite {} has no program that works on a source tree; leave --source-tree out", suite.name);
        return Err(Failure::usage(words));
    }
    let tree = SourceTree::open(path);
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
        output::tell_wrapped(&format!(
            "run {id} was killed; {repeats} kept (assay show {id}, or assay run --resume={id}){files}"
        ));
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

/// A seed that no other run has; it is stored with the record.
fn seed() -> u64 {
    let mut bytes = [0u8; 8];
    match assay_device::random(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes) >> 11, // 53 bits: exact in every JSON reader
        Err(_) => u64::from(std::process::id()),
    }
}

// `assay run --confidence`: a suite whose repeats last as long as they must.

/// Changes the suite for the confidence asked for, if any was, and says what it takes at most.
pub(super) fn apply_confidence(args: &RunArgs, suite: &mut Suite) -> Result<(), Failure> {
    let Some(wish) = args.confidence else { return Ok(()) };
    if let Some(soak) = suite.workloads.iter().find(|w| w.analysis == Analysis::Soak) {
        return Err(Failure::usage(format!(
            "--confidence is not for soaks like `{}`, which have a fixed length; leave it out",
            soak.name
        )));
    }
    if let Some(workload) = suite.workloads.iter().find(|w| w.group.is_some()) {
        return Err(Failure::usage(format!(
            "--confidence is not for workloads that run at the same time, like `{}`, whose rules differ; set --repeats",
            workload.name
        )));
    }
    suite.repeats = MOST_REPEATS;
    let within = if args.budget.is_none() {
        suite.budget = longest_time(suite).min(LONGEST_BUDGET);
        format!("at most {}, usually far less (--budget sets a limit)", span(suite.budget))
    } else {
        span(suite.budget)
    };
    let writes = if suite.writes() { format!(" and {} of writes", Bytes(suite.max_write.0)) } else { String::new() };
    if !args.quiet {
        output::tell_wrapped(&format!(
            "measures until ±{} % is reached; takes {within}{writes}",
            figures(wish * 100.0)
        ));
    }
    Ok(())
}

// `assay run --dry-run`: what would be run, how long and with how many bytes.

/// Shows the plan of a run that was checked against the medium.
pub(super) fn show_plan(prepared: &PreparedRun, suite: &Suite, as_json: bool) -> Result<(), Failure> {
    let record = prepared.record();
    let Some(settings) = record.settings() else { return Ok(()) };
    let each: Vec<_> = suite.workloads.iter().map(|w| longest_repeat(suite, w)).collect();
    if as_json {
        let step = |name: &str, title: String, longest| DryRunStep {
            name: name.to_owned(),
            title,
            repeats: suite.repeats,
            longest_ns: nanoseconds(longest),
        };
        let workloads = suite.workloads.iter().zip(&each).map(|(w, longest)| step(&w.name, plan_title(w), *longest));
        let programs = suite.programs.iter().map(|p| step(&p.name, p.does.to_string(), p.duration));
        return output::print_json(&DryRunDocument {
            dry_run: true,
            suite: SuiteName { name: suite.name.clone(), version: suite.version },
            medium: record.medium.title(),
            budget_ns: settings.budget_ns,
            enough: suite.enough,
            planned_write_bytes: settings.planned_write_bytes,
            area_bytes: prepared.area_bytes(),
            workloads: workloads.collect(),
            programs: programs.collect(),
        });
    }
    let mut lines = vec![format!(
        "suite {}, version {}, on {}{}: at most {}, at most {} written",
        suite.name,
        suite.version,
        record.title(),
        place_of(&record.medium),
        span(suite.budget),
        Bytes(settings.planned_write_bytes)
    )];
    let workloads = suite.workloads.iter().zip(each).map(|(w, longest)| (plan_title(w), longest));
    let programs = suite.programs.iter().map(|p| (p.does.to_string(), p.duration));
    let all: Vec<_> = workloads.chain(programs).collect();
    let widest = all.iter().map(|(words, _)| words.chars().count()).max().unwrap_or(0);
    for (words, longest) in all {
        let gap = " ".repeat(widest - words.chars().count());
        lines.push(match suite.enough {
            None => format!("{words}{gap}  {} × at most {}", suite.repeats, span(longest)),
            Some(enough) => {
                let share = (enough * 1000.0).round() / 10.0;
                format!("{words}{gap}  until known to {share} %, at most {}", span(longest * suite.repeats))
            }
        });
    }
    lines.push(
        "Nothing was written. A slow medium gets fewer repeats and shallower queues; the record says so.".to_owned(),
    );
    let width = output::stdout_style().width;
    let lines: Vec<String> = lines.iter().map(|line| output::wrapped(line, width)).collect();
    output::print(&lines.join("\n"))
}

/// The load as people say it; a rate as the suite has it.
fn plan_title(w: &SuiteWorkload) -> String {
    let cached = if w.direct || w.sync != Sync::End { "" } else { ", cached" };
    let group = w.group.as_ref().map_or_else(String::new, |group| format!(", at once in group {group}"));
    format!("{}{group}{cached}", w.title())
}

// fio on the command line of `assay run`: job files as suites, and the cross-check.

/// `assay run job.fio` measures the current directory by that job file.
pub(super) fn settle_peer(mut args: RunArgs) -> Result<RunArgs, Failure> {
    if suites::is_job_file(&args.target) && args.target.is_file() {
        let file = args.target.to_string_lossy().into_owned();
        if args.suite != suites::DEFAULT {
            return Err(Failure::usage(format!(
                "{} is a fio job file, and --suite names another suite; name the directory to measure in, or leave out --suite",
                shown(&args.target)
            )));
        }
        args.suite = file;
        args.target = PathBuf::from(".");
    }
    if suites::is_job_file(Path::new(&args.suite)) && args.resume.is_none() {
        settle_peer_place(&mut args)?;
    }
    Ok(args)
}

/// A job file is run where it says. A directory or device on the command line overrides that, with a note.
fn settle_peer_place(args: &mut RunArgs) -> Result<(), Failure> {
    let here = args.target == Path::new(".");
    let wish = Wish { size: args.size, at: (!here).then(|| args.target.clone()) };
    let read = suites::job_file(&args.suite, &wish)?;
    let file = output::shown(Path::new(&args.suite));
    if here && !read.others.is_empty() {
        let all: Vec<String> = read.place.iter().chain(&read.others).map(|place| shown(place.path())).collect();
        return Err(Failure::usage(format!(
            "{file}: its jobs are on {}, and a run measures one medium; name it, like assay run --suite {file} {}",
            all.join(", "),
            all[0]
        )));
    }
    let Some(place) = &read.place else { return Ok(()) };
    let named = place.path();
    if here {
        if !args.quiet {
            output::tell_wrapped(&format!("{file}: measures {}, as the file says", shown(named)));
        }
        args.target = named.to_owned();
    } else if !args.quiet && args.target != named {
        let target = shown(&args.target);
        output::tell_wrapped(&format!("{file}: measures {target}, as the command line says, not {}", shown(named)));
    }
    Ok(())
}

/// The labels that say which model, piece, place and price it is, and what power it takes.
const LABELS_WITH_MEANING: [&str; 5] = ["model", "unit", "slot", "price", "power"];

/// Reports each label that looks misspelt, with the one that was probably meant. Any name is allowed, so nothing is refused.
fn tell_misspelt<'k>(keys: impl Iterator<Item = &'k str>) {
    for (key, meant) in keys.filter_map(|key| Some((key, meant_label(key)?))) {
        output::tell_wrapped(&format!(
            "label {key} has no meaning to assay; if {meant} was meant: assay label last {key}= {meant}=VALUE"
        ));
    }
}

/// The label with a meaning that another one is most like.
fn meant_label(key: &str) -> Option<&'static str> {
    nearest(key, LABELS_WITH_MEANING).filter(|known| *known != key)
}

/// What is different from how fio would run a job file.
fn tell_notes(args: &RunArgs, notes: &[String]) {
    if !args.quiet {
        for note in notes {
            output::tell_wrapped(&format!("{}: {note}", args.suite));
        }
    }
}

// `assay run --resume`: which run, and as what.

/// Directories that killed runs left on their media and that were found there, by the run.
pub(super) type Traces = BTreeMap<String, PathBuf>;

/// The run to resume, if that is asked for: the one named, else the newest that was interrupted.
pub(super) fn find_run(
    args: &RunArgs,
    store: Option<&SqliteStore>,
    traces: &Traces,
) -> Result<Option<Box<Resumption>>, Failure> {
    let Some(wish) = &args.resume else { return Ok(None) };
    let none =
        || Failure::usage("no run in the store was interrupted, so there is nothing to resume; leave out --resume");
    let store = store.ok_or_else(none)?;
    let id = match wish.as_str() {
        "" => {
            let cut = |outcome: &Outcome| {
                use RunFailure as F;
                matches!(outcome, Outcome::Failed { failure: F::Interrupted | F::Abandoned | F::Host, .. })
            };
            let mut cut_short = store.list("all")?.into_iter().rev().filter(|record| cut(&record.outcome));
            // A check that was interrupted is no run, and stands in the same list.
            loop {
                let id = cut_short.next().ok_or_else(none)?.id;
                if store.load(&id)?.record.verification.is_none() {
                    break id;
                }
            }
        }
        query => match store.resolve(query)?.as_slice() {
            [id] => id.clone(),
            ids => {
                return Err(Failure::usage(format!("--resume={} names {} runs; name one", harmless(query), ids.len())));
            }
        },
    };
    let resumption =
        Resumption::from_record(store.load(&id)?.record)?.with_trace(traces.get(&id).map(PathBuf::as_path));
    let record = resumption.record();
    if !args.quiet {
        output::tell_wrapped(&format!(
            "resumes run {id}: suite {}, interrupted after {}",
            harmless(&record.suite.name),
            span(Duration::from_nanos(record.settings().map_or(0, |settings| settings.elapsed_ns)))
        ));
    }
    Ok(Some(Box::new(resumption)))
}

/// Where: as before, unless another place is named.
pub(super) fn resumed_target(args: &RunArgs, resumption: &Resumption) -> PathBuf {
    match &resumption.record().medium.path {
        path if args.target == Path::new(".") && !path.is_empty() => PathBuf::from(path),
        _ => args.target.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_label_is_known_by_the_one_that_was_meant() {
        for (key, known) in [("unti", "unit"), ("Unit", "unit"), ("modle", "model"), ("slots", "slot")] {
            assert_eq!(meant_label(key), Some(known), "{key}");
        }
        for key in ["unit", "price", "power", "build", "round", "plan", "node", "site", "x"] {
            assert_eq!(meant_label(key), None, "{key}");
        }
    }
}
