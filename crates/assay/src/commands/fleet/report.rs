//! `assay fleet report`: the run that it is about, and other runs of the same units.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_analysis::fleet::{FleetReport, FleetRun, Node, report as reported};
use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_core::text::harmless;
use assay_fleet::{Fate, Ledger, run_named};
use assay_pictures::Drawing;
use assay_report::{Document, Style, fleet};
use assay_serve::FleetRunLine;
use assay_store::{ObservationDetail, SqliteStore, Store, StoreError, Summary};
use serde_json::Value;

use super::ledgers;
use super::view::fate_words;
use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::FleetReportArgs;
use crate::ending::Failure;
use crate::{imports, output, queries, state};

pub(super) fn report(args: &FleetReportArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITH_PICTURE)?;
    let answer = report_answer(args, &target)?;
    target.deliver(&answer, args.json)?;
    if target.is_file() && answer.report.loads.is_empty() {
        output::tell_wrapped(&no_figure(&answer.report));
    }
    if target.is_file() && answer.renamed {
        // Who looks for the odd node in the page does not know it by that name.
        output::tell_wrapped("nodes have short names there instead of their own; --identities keeps their own");
    }
    Ok(if answer.report.loads.is_empty() { Exit::No } else { Exit::Good })
}

/// The report, wherever it goes.
pub(in crate::commands) fn report_answer(args: &FleetReportArgs, target: &Target) -> Result<ReportAnswer, Failure> {
    let Gathered { mut run, mut others, named } = gathered(args.run.as_deref(), args.against.as_deref())?;
    let own: Vec<String> = run.nodes.iter().map(|node| node.name.clone()).collect();
    for run in others.iter_mut().chain([&mut run]) {
        target.redact_run(run)?;
    }
    let renamed = run.nodes.iter().map(|node| &node.name).ne(&own);
    let compared = args.against.as_deref() != Some("none");
    let reference = named.and_then(|at| others.get(at));
    Ok(ReportAnswer { report: reported(&run, &others, reference, compared), all: args.all, renamed })
}

/// Why no figure of a run counts, in one line.
fn no_figure(report: &FleetReport) -> String {
    if report.running {
        return harmless(&format!("run {} is still running: no figure counts so far", report.run));
    }
    let of_node = |record: &str| report.nodes.iter().find(|row| row.record.as_deref() == Some(record));
    let left_out = report.excluded.iter().find_map(|one| Some((&of_node(&one.record)?.node, one.reason.to_string())));
    let unmeasured = || report.nodes.iter().find(|row| !row.complete).map(|row| (&row.node, row.outcome.clone()));
    let why = left_out.or_else(unmeasured).map(|(node, why)| format!(": {node}: {why}"));
    harmless(&format!("no figure of run {} counts{}", report.run, why.unwrap_or_default()))
}

pub(in crate::commands) struct ReportAnswer {
    report: FleetReport,
    /// Whether a terminal shows each figure, too.
    all: bool,
    /// Whether nodes have other names than those of the run.
    renamed: bool,
}

impl Answer for ReportAnswer {
    fn text(&self, style: &Style) -> String {
        let whole = self.all || self.report.nodes.len() <= fleet::WHOLE;
        if whole { fleet::document(&self.report) } else { fleet::brief(&self.report) }.text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&self.report)
    }

    fn document(&self) -> Document {
        fleet::document(&self.report)
    }

    fn picture(&self) -> Option<Drawing> {
        (!self.report.loads.is_empty()).then(|| assay_pictures::nodes(&self.report))
    }
}

// The run that a report is about, and other runs of the same units: of ledgers, of the store, or of a directory.

/// The most other runs that the report reads: the newest that share a unit with this one. It reads all rounds of its plan beyond that.
const OTHERS: usize = 12;
const LABEL: &str = "fleet";

/// What is reported.
pub(super) struct Gathered {
    pub(super) run: FleetRun,
    /// The newest first.
    pub(super) others: Vec<FleetRun>,
    /// Which of the others the user named.
    pub(super) named: Option<usize>,
}

pub(super) fn gathered(run: Option<&str>, against: Option<&str>) -> Result<Gathered, Failure> {
    if let Some(directory) = run.filter(|run| imports::is_file(run)) {
        return of_files(directory, against);
    }
    // A directory of records may be named like a run: then the run is meant.
    match (of_store(run, against), run.filter(|run| imports::is_directory(run))) {
        (Err(_), Some(directory)) => of_files(directory, against),
        (gathered, _) => gathered,
    }
}

/// Runs by their records in a file or a directory; the newest is reported.
fn of_files(directory: &str, against: Option<&str>) -> Result<Gathered, Failure> {
    let mut runs: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    for stored in imports::of_query(directory)? {
        let record = Observation::from(&stored.record);
        runs.entry(run_of(&record).unwrap_or_else(|| directory.to_owned())).or_default().push(record);
    }
    for records in runs.values_mut() {
        queries::mark_verified(records)?;
    }
    let newest = |records: &[Observation]| records.iter().map(|record| record.created.clone()).max();
    let mut all: Vec<(Option<String>, FleetRun)> =
        runs.into_iter().map(|(name, records)| (newest(&records), FleetRun::of_records(&name, records))).collect();
    all.sort_by(|a, b| b.0.cmp(&a.0));
    let mut all = all.into_iter().map(|(_, run)| run);
    let run = all.next().ok_or_else(|| Failure::usage(format!("there is no record in {}", harmless(directory))))?;
    let others: Vec<FleetRun> = all.collect();
    let named = match against.filter(|against| *against != "none") {
        None => None,
        Some(wanted) => Some(run_named(others.iter().map(|run| run.name.as_str()), wanted)?),
    };
    Ok(Gathered { run, others, named })
}

/// The run that a record is of.
fn run_of(record: &Observation) -> Option<String> {
    record.cluster.as_ref().map(|part| part.run.clone()).or_else(|| record.labels.get(LABEL).cloned())
}

/// A run as it is known before its records are read.
struct Known {
    name: String,
    /// When it was begun.
    created: String,
    ledger: Option<Ledger>,
    summaries: Vec<Summary>,
}

/// The runs of ledgers and of the store, the newest first, as lines of a list.
pub(in crate::commands) fn run_lines() -> Result<Vec<FleetRunLine>, Failure> {
    let line = |known: Known| FleetRunLine {
        recorded: known
            .ledger
            .as_ref()
            .map_or(known.summaries.len(), |ledger| ledger.nodes.len() - ledger.missing().len()),
        nodes: known.ledger.as_ref().map_or(known.summaries.len(), |ledger| ledger.nodes.len()),
        stand: known.ledger.as_ref().map(stand).unwrap_or_default(),
        is_open: known.ledger.as_ref().is_some_and(is_open),
        name: known.name,
        created: known.created,
    };
    Ok(known(state::existing()?.as_ref())?.into_iter().map(line).collect())
}

/// Whether a run is under way. Of a coordinator that was killed some nodes stay without a fate.
fn is_open(ledger: &Ledger) -> bool {
    ledger.nodes.iter().any(|node| node.fate.is_none()) && ledgers::lock(&ledger.run).is_err()
}

/// What changes whenever a node begins, ends or is tried again.
fn stand(ledger: &Ledger) -> String {
    let recorded = ledger.nodes.len() - ledger.missing().len();
    let settled = ledger.nodes.iter().filter(|node| node.fate.is_some()).count();
    let attempts: u64 = ledger.nodes.iter().map(|node| u64::from(node.attempts)).sum();
    format!("{recorded}-{settled}-{attempts}")
}

/// The runs of ledgers and labels, the newest first.
fn known(store: Option<&SqliteStore>) -> Result<Vec<Known>, Failure> {
    let mut all: BTreeMap<String, Known> = BTreeMap::new();
    for ledger in ledgers::all()? {
        let known = Known {
            name: ledger.run.clone(),
            created: ledger.created.clone(),
            ledger: Some(ledger),
            summaries: Vec::new(),
        };
        all.insert(known.name.clone(), known);
    }
    let summaries = store.map_or_else(|| Ok(Vec::new()), |store| store.list("all"))?;
    for summary in summaries {
        let Some(name) = summary.labels.get(LABEL).filter(|name| !name.is_empty()).cloned() else { continue };
        let created = summary.created.clone();
        let new = || Known { name: name.clone(), created, ledger: None, summaries: Vec::new() };
        all.entry(name.clone()).or_insert_with(new).summaries.push(summary);
    }
    let mut all: Vec<Known> = all.into_values().collect();
    all.sort_by(|a, b| b.created.cmp(&a.created));
    Ok(all)
}

/// What names no run may be a directory with records, or was meant as one.
fn refuse_place(run: &str) -> Result<(), Failure> {
    let shown = output::shown(Path::new(run));
    match Path::new(run).is_dir() {
        true => Err(Failure::usage(format!(
            "no run on a cluster is called {shown}, which is a directory; write {shown}/ to read the records in it"
        ))),
        false if run.contains('/') => Err(Failure::usage(format!(
            "{shown}: no such file or directory; name a run, as assay fleet list has them, or a directory with records"
        ))),
        false => Ok(()),
    }
}

fn of_store(run: Option<&str>, against: Option<&str>) -> Result<Gathered, Failure> {
    let store = state::existing()?;
    let mut all = known(store.as_ref())?;
    if let Some(run) = run.filter(|run| all.iter().all(|known| !known.name.starts_with(*run))) {
        refuse_place(run)?;
    }
    if all.is_empty() {
        return Err(Failure::usage("no run on a cluster yet; assay fleet run begins one"));
    }
    let at = run.map_or(Ok(0), |wanted| run_named(all.iter().map(|known| known.name.as_str()), wanted))?;
    let known = all.remove(at);
    let (mut records, broken) = store.as_ref().map_or_else(|| Ok(Default::default()), |store| loaded(store, &known))?;
    queries::mark_verified(&mut records)?;
    let mut reported = of_known(&known, records, &broken);
    reported.running = known.ledger.as_ref().is_some_and(is_open);
    let wanted = against.filter(|against| *against != "none");
    let wanted = wanted.map(|wanted| run_named(all.iter().map(|known| known.name.as_str()), wanted)).transpose()?;
    let (mut others, mut place) = (Vec::new(), None);
    if let Some(store) = &store {
        let (own_units, own_plans) = (units(&known.summaries), plans(&known.summaries));
        for (at, other) in all.iter().enumerate() {
            let asked = wanted == Some(at);
            let of_plan = !own_plans.is_disjoint(&plans(&other.summaries));
            if asked || of_plan || others.len() < OTHERS && !own_units.is_disjoint(&units(&other.summaries)) {
                if asked {
                    place = Some(others.len());
                }
                others.push(of_known(other, observed(store, other)?, &BTreeSet::new()));
            }
        }
    }
    Ok(Gathered { run: reported, others, named: place })
}

/// The records of a run, and the ids of those that cannot be read. One that is broken takes no other with it.
fn loaded(store: &SqliteStore, known: &Known) -> Result<(Vec<Observation>, BTreeSet<String>), Failure> {
    let (mut records, mut broken) = (Vec::with_capacity(known.summaries.len()), BTreeSet::new());
    let mut last = None;
    for summary in &known.summaries {
        match store.load(&summary.id) {
            Ok(stored) => records.push(Observation::from(&stored.record)),
            Err(error @ (StoreError::Damaged { .. } | StoreError::Unreadable { .. })) => {
                broken.insert(summary.id.clone());
                last = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match last {
        Some(error) if records.is_empty() => return Err(error.into()),
        Some(_) => {
            let ids = broken.iter().cloned().collect::<Vec<_>>().join(", ");
            output::tell_wrapped(&format!("cannot be read in the store, and left out: {ids}"));
        }
        None => {}
    }
    Ok((records, broken))
}

/// The records of a run that can be read; the others are named, and count as missing.
fn readable<T>(known: &Known, read: impl Fn(&str) -> Result<T, StoreError>) -> Result<Vec<T>, Failure> {
    let ids: Vec<String> = known.summaries.iter().map(|summary| summary.id.clone()).collect();
    match queries::readable(&ids, read)? {
        (found, Some(error)) if found.is_empty() => Err(error.into()),
        (found, _) => Ok(found),
    }
}

/// What tells the units of a run apart: the suite, and the unit or what stands for it.
fn units(summaries: &[Summary]) -> BTreeSet<(String, String)> {
    let unit = |summary: &Summary| {
        let label = |key: &str| summary.labels.get(key).cloned();
        let unit = label("unit").or_else(|| summary.unit.clone()).or_else(|| label("node"));
        Some((summary.suite.clone(), unit?))
    };
    summaries.iter().filter_map(unit).collect()
}

/// The plans that a run carries out: one, or none.
fn plans(summaries: &[Summary]) -> BTreeSet<&str> {
    let named = summaries.iter().filter_map(|summary| summary.labels.get("plan"));
    named.map(String::as_str).filter(|plan| !plan.is_empty()).collect()
}

/// The records of another run, without what grows: the one that tells how it was run, whole.
fn observed(store: &SqliteStore, other: &Known) -> Result<Vec<Observation>, Failure> {
    let found = readable(other, |id| match store.observations(id, ObservationDetail::Latencies) {
        Err(StoreError::NoMatch { .. }) => Ok(Vec::new()),
        found => found,
    })?;
    let mut records: Vec<Observation> = found.into_iter().flatten().collect();
    if let Some(first) = records.first_mut() {
        first.cluster = store.load(&first.id)?.record.cluster;
    }
    queries::mark_verified(&mut records)?;
    Ok(records)
}

fn of_known(known: &Known, records: Vec<Observation>, broken: &BTreeSet<String>) -> FleetRun {
    let Some(ledger) = &known.ledger else { return FleetRun::of_records(&known.name, records) };
    let node = |entry: &assay_fleet::NodeEntry| {
        let words = entry.fate.as_ref().map_or_else(|| "not begun, or under way".to_owned(), fate_words);
        let again = if entry.attempts > 1 { format!(" (attempt {})", entry.attempts) } else { String::new() };
        let complete = entry.fate.as_ref().is_some_and(Fate::is_result);
        Node { name: entry.name.clone(), outcome: words + &again, complete, record: None }
    };
    let mut run = FleetRun {
        name: ledger.run.clone(),
        mode: Some(ledger.mode.clone()),
        at_a_time: ledger.at_a_time,
        running: false,
        nodes: ledger.nodes.iter().map(node).collect(),
        absent: 0,
        repeated: 0,
        unnamed: 0,
    };
    run.take(records);
    for (node, entry) in run.nodes.iter_mut().zip(&ledger.nodes) {
        if !node.complete || node.record.is_some() {
            continue;
        }
        let is_broken = entry.fate.as_ref().and_then(Fate::record).is_some_and(|id| broken.contains(id));
        node.outcome +=
            if is_broken { ", and its record cannot be read" } else { ", and its record is no longer here" };
        node.complete = false;
    }
    run
}

#[cfg(test)]
mod tests {
    use assay_fleet::{Mode, NodeEntry};

    use super::*;

    /// A node that was measured is not called recorded where its record cannot be shown, and the reason is printed.
    #[test]
    fn a_record_that_is_gone_and_one_that_is_broken_are_told_apart() {
        let node = |name: &str, fate| NodeEntry { fate: Some(fate), attempts: 1, ..NodeEntry::new(name, "/m") };
        let recorded = |id: &str| Fate::Recorded { id: id.to_owned() };
        let nodes = vec![node("n1", recorded("gone")), node("n2", recorded("broken")), node("n3", Fate::Late)];
        let ledger = Ledger::begun("local", Mode::Simultaneous, "assay".to_owned(), Vec::new(), nodes);
        let known = Known { name: "r".to_owned(), created: String::new(), ledger: Some(ledger), summaries: Vec::new() };
        let run = of_known(&known, Vec::new(), &BTreeSet::from(["broken".to_owned()]));
        let told: Vec<(&str, bool)> = run.nodes.iter().map(|node| (node.outcome.as_str(), node.complete)).collect();
        let [gone, broken] = ["recorded, and its record is no longer here", "recorded, and its record cannot be read"];
        assert_eq!(told, [(gone, false), (broken, false), ("not ready in time", false)]);
    }
}
