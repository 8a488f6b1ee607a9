//! Commands on records of the store: `assay list`, `show`, `label`, `rm` and `export`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_analysis::aggregate::{Aggregate, aggregate};
use assay_analysis::percentile;
use assay_core::exit::Exit;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::outcome::Outcome;
use assay_core::text;
use assay_core::text::{clean, harmless};
use assay_core::units::counted;
use assay_report::{Document, Life, Lives, Style};
use assay_store::{ObservationDetail, OwnerState, SqliteStore, Store, Stored, Summary};
use serde_json::Value;

use super::finished::resumes;
use crate::answer::{Answer, Target, WITHOUT_PICTURE};
use crate::cli::{AggregateArg, ExportArgs, LabelArgs, ListArgs, RmArgs, ShowArgs};
use crate::documents::{
    self, ExportDocument, LabelBefore, LabelDocument, LatencyPercentile, LoadPercentiles, RecordPercentiles,
    RemovedRecords,
};
use crate::ending::Failure;
use crate::state::{DataDirectory, REPORTS};
use crate::{output, queries, state};

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITHOUT_PICTURE)?;
    if let Some(how) = args.aggregate {
        return aggregated(args, how, &target);
    }
    let records = queries::listed(&args.queries)?;
    if records.is_empty() {
        output::tell(queries::nothing(&args.queries)?);
        if !args.json {
            return Ok(Exit::Good);
        }
    }
    let lives = lives(&records)?;
    target.deliver(&Listed(target.redacted(records)?, lives), args.json)?;
    Ok(Exit::Good)
}

/// One figure over all runs of each medium.
fn aggregated(args: &ListArgs, how: AggregateArg, target: &Target) -> Result<Exit, Failure> {
    let how = match how {
        AggregateArg::Mean => Aggregate::Mean,
        AggregateArg::Trimmed => Aggregate::Trimmed,
        AggregateArg::Best => Aggregate::Best,
    };
    let records = queries::find_all(&args.queries, ObservationDetail::Latencies)?;
    let (rows, left_out) = aggregate(&target.redacted(records)?, how);
    if let (true, Some(first)) = (rows.is_empty(), left_out.first()) {
        let all = match left_out.len() {
            1 => String::new(),
            several => format!("all {several} records are left out: "),
        };
        return Err(Failure::usage(format!("{all}{} {}", first.record, first.reason)));
    }
    target.deliver(&assay_report::aggregates(&rows, &left_out, how), args.json)?;
    Ok(Exit::Good)
}

struct Listed(Vec<Observation>, Lives);

/// What is known of the processes that make records which are not finished.
fn lives(records: &[Observation]) -> Result<Lives, Failure> {
    if records.iter().all(|record| record.outcome != Outcome::Running) {
        return Ok(Lives::new());
    }
    all_lives()
}

/// The same of all records of the store that are being made.
pub(super) fn all_lives() -> Result<Lives, Failure> {
    let life = |state: OwnerState| match state {
        OwnerState::Alive => Life::Running,
        OwnerState::Dead | OwnerState::Rebooted => Life::Killed,
        OwnerState::Elsewhere => Life::Elsewhere,
    };
    let all = state::at_hand()?.map_or_else(|| Ok(BTreeMap::new()), |store| store.lives())?;
    Ok(all.into_iter().map(|(id, state)| (id, life(state))).collect())
}

impl Answer for Listed {
    fn text(&self, style: &Style) -> String {
        assay_report::list(&self.0, &self.1, style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&assay_report::listed(&self.0, &self.1))
    }

    fn document(&self) -> Document {
        assay_report::list_document(&self.0, &self.1)
    }
}

// `assay show`

/// Percentiles of the latency in place of the cards.
fn percentiles(found: &[Stored], args: &ShowArgs) -> Result<Exit, Failure> {
    let shares = &args.percentiles;
    if !args.json {
        for (number, stored) in found.iter().enumerate() {
            let observation = Observation::from(&stored.record);
            if number > 0 {
                output::print("")?;
            }
            if found.len() > 1 {
                output::print(&assay_report::percentile_heading(&observation))?;
            }
            output::print(&assay_report::percentile_lines(&observation, shares))?;
        }
        return Ok(Exit::Good);
    }
    let of = |m: &ObservedMeasurement| {
        let all = shares.iter().map(|share| LatencyPercentile { share: *share, latency_ns: percentile(m, *share) });
        LoadPercentiles { workload: m.workload.name.clone(), percentiles: all.collect() }
    };
    let record = |stored: &Stored| RecordPercentiles {
        record: stored.record.id.clone(),
        workloads: Observation::from(&stored.record).measurements.iter().map(of).collect(),
    };
    output::print_json(&found.iter().map(record).collect::<Vec<_>>())?;
    Ok(Exit::Good)
}

pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let found = queries::find(&args.queries)?;
    if !args.percentiles.is_empty() {
        return percentiles(&found, args);
    }
    if args.json {
        let documents: Vec<&str> = found.iter().map(|s| s.document.trim_end()).collect();
        match documents.as_slice() {
            [one] => output::print(&text::json(one))?,
            several => output::print(&text::json(&format!("[{}]", several.join(",\n"))))?,
        }
        return Ok(Exit::Good);
    }
    for (number, stored) in found.iter().enumerate() {
        if number > 0 {
            output::print("")?;
        }
        output::print(&assay_report::card(&stored.record, &output::stdout_style()))?;
        if let Some(line) = resumes(&stored.record).filter(|_| is_stored(&stored.record.id)) {
            output::print(&line)?;
        }
        if stored.record.outcome == Outcome::Running {
            let life = all_lives()?.remove(&stored.record.id);
            life.map_or(Ok(()), |life| output::print(&format!("now       {}", life_words(life))))?;
        }
    }
    Ok(Exit::Good)
}

/// What is known of the process that makes a record: the record itself cannot tell.
fn life_words(life: Life) -> &'static str {
    match life {
        Life::Running => "the run is still under way, in a process of this host",
        Life::Killed => "the run was killed; the next run closes its record",
        Life::Elsewhere => "another host or container makes it, which is not seen from here",
    }
}

/// Whether a record is in the store here, and not only in a file that was named.
fn is_stored(id: &str) -> bool {
    state::at_hand().is_ok_and(|store| store.is_some_and(|store| store.load(id).is_ok()))
}

// `assay label`

pub(super) fn label(args: &LabelArgs) -> Result<Exit, Failure> {
    let Some(mut store) = state::existing()? else {
        return Err(Failure::usage(state::EMPTY));
    };
    let mut labels: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (key, value) in &args.labels {
        if labels.insert(key.clone(), value.clone()).is_some_and(|other| other != *value) {
            return Err(Failure::usage(format!("label {} is given twice, with different values", clean(key))));
        }
    }
    let ids = queries::resolve(&store, std::slice::from_ref(&args.query))?;
    let wanted: BTreeSet<&String> = ids.iter().collect();
    let found: Vec<Summary> = store.list("all")?.into_iter().filter(|summary| wanted.contains(&summary.id)).collect();
    let before = before(&found, &labels);
    let changed: Vec<String> = if args.dry_run {
        let differs = |summary: &&Summary| labels.iter().any(|(key, new)| summary.labels.get(key) != new.as_ref());
        found.iter().filter(differs).map(|summary| summary.id.clone()).collect()
    } else {
        store.relabel(&ids, &labels)?
    };
    if args.json {
        output::print_json(&LabelDocument { dry_run: args.dry_run, records: ids, changed, labels, before })?;
    } else {
        let word = |count: usize| if count == 1 { "record" } else { "records" };
        let same = match ids.len() - changed.len() {
            0 => String::new(),
            same => format!("; {same} {} needed no change", word(same)),
        };
        let these =
            if changed.is_empty() { String::new() } else { format!(": {}", named(&summaries(&store, &changed)?)) };
        let would = if args.dry_run { "would change" } else { "changed" };
        output::tell_wrapped(&format!("{would} {} {}{same}{these}", changed.len(), word(changed.len())));
        for (key, values) in &before {
            output::tell_wrapped(&overwritten(key, values, labels.get(key).and_then(Option::as_deref)));
        }
    }
    Ok(Exit::Good)
}

/// Values of a label that are named one by one.
const VALUES: usize = 10;

/// What labels are now of the records in which they change.
fn before(found: &[Summary], labels: &BTreeMap<String, Option<String>>) -> BTreeMap<String, Vec<LabelBefore>> {
    let mut all: BTreeMap<String, Vec<LabelBefore>> = BTreeMap::new();
    for (key, new) in labels {
        for summary in found {
            let own = summary.labels.get(key);
            if own == new.as_ref() {
                continue;
            }
            let value = own.or_else(|| (key == "model").then_some(&summary.title));
            let values = all.entry(key.clone()).or_default();
            match values.iter_mut().find(|known| known.value.as_ref() == value) {
                Some(known) => known.records += 1,
                None => values.push(LabelBefore { value: value.cloned(), records: 1 }),
            }
        }
    }
    all
}

/// `model: SanDisk Ultra (3), Samsung EVO Plus (3) → Ultra A1`.
fn overwritten(key: &str, values: &[LabelBefore], new: Option<&str>) -> String {
    let one = |before: &LabelBefore| {
        format!("{} ({})", before.value.as_deref().map_or_else(|| "none".to_owned(), clean), before.records)
    };
    let mut words: Vec<String> = values.iter().take(VALUES).map(one).collect();
    if values.len() > VALUES {
        words.push(format!("{} more", values.len() - VALUES));
    }
    format!("{}: {} → {}", clean(key), words.join(", "), new.map_or_else(|| "none".to_owned(), clean))
}

/// Records that are named one by one in a line.
const NAMED: usize = 20;

/// Summaries of records by their ids.
fn summaries(store: &SqliteStore, ids: &[String]) -> Result<Vec<Summary>, Failure> {
    let mut all = Vec::new();
    for id in ids.iter().take(NAMED + 1) {
        all.extend(store.list(id)?);
    }
    Ok(all)
}

/// Which records they are: `last` is the newest by the time of measuring, and what was imported last may be older.
fn named(all: &[Summary]) -> String {
    let one = |summary: &Summary| {
        let when = summary.created.get(..10).map_or_else(String::new, |day| format!(" of {}", clean(day)));
        format!("{} ({}{when})", clean(&summary.id), clean(summary.model()))
    };
    let mut words: Vec<String> = all.iter().take(NAMED).map(one).collect();
    if all.len() > NAMED {
        words.push("…".to_owned());
    }
    words.join(", ")
}

// `assay rm`

pub(super) fn rm(args: &RmArgs) -> Result<Exit, Failure> {
    let Some(mut store) = state::existing()? else {
        return Err(Failure::usage("the store is empty; there is nothing to remove"));
    };
    // All of them are looked up before the first is removed: a typing error removes nothing.
    if queries::divided(&args.queries)?.into_iter().any(|query| ["", "all"].contains(&query.trim())) {
        return Err(Failure::usage("rm does not take `all`; name the records, or remove the store's file"));
    }
    let ids = queries::resolve(&store, &args.queries)?;
    // A star in a value may name everything: `suite=*`.
    if args.queries.iter().any(|query| query.contains('*')) && ids.len() > 1 && ids.len() == store.list("all")?.len() {
        return Err(Failure::usage("these queries name every record; name the records, or remove the store's file"));
    }
    let summaries = summaries(&store, &ids)?;
    let asked = queries::divided(&args.queries)?.len();
    let mut questions = output::Questions::new(args.json || args.dry_run);
    if ids.len() > asked && questions.asks() {
        let question = format!("Remove {}: {}? (y/N)", counted(ids.len(), "record"), named(&summaries));
        if !questions
            .ask(&harmless(&question))
            .is_some_and(|answer| ["y", "yes"].contains(&answer.to_lowercase().as_str()))
        {
            return Err(Failure::usage("nothing was removed"));
        }
    }
    let reports = DataDirectory::existing(REPORTS).ok().flatten();
    for id in ids.iter().filter(|_| !args.dry_run) {
        store.remove(id)?;
        let _ = reports.as_ref().map(|reports| reports.remove(&format!("{id}.html")));
    }
    if args.json {
        output::print_json(&RemovedRecords { dry_run: args.dry_run, removed: ids })?;
    } else {
        let word = if args.dry_run { "would remove" } else { "removed" };
        output::tell_wrapped(&format!("{word} {}: {}", counted(ids.len(), "record"), named(&summaries)));
    }
    Ok(Exit::Good)
}

// `assay export`

/// Records that are written in one transaction: of long soaks, some hundred megabytes.
const AT_ONCE: usize = 50;

pub(super) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let shown = output::shown(&args.store);
    if !is_free(&args.store)? {
        return Err(Failure::usage(format!("{shown} is not empty; name a directory that is not there yet")));
    }
    let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
    let ids = queries::resolve(&store, &args.queries)?;
    let redactor = state::redactor(args.identities)?;
    let mut copy = SqliteStore::open(&args.store)?;
    for some in ids.chunks(AT_ONCE) {
        let mut documents = Vec::with_capacity(some.len());
        for id in some {
            let stored = store.load(id)?;
            documents.push(if args.identities {
                stored.document
            } else {
                state::redacted(&stored.document, &redactor)?
            });
        }
        let texts: Vec<&str> = documents.iter().map(String::as_str).collect();
        for saved in copy.save_documents(&texts)? {
            saved?;
        }
    }
    if args.json {
        output::print_json(&ExportDocument { store: documents::path(&args.store), records: ids })?;
    } else {
        let records = if ids.len() == 1 { "record" } else { "records" };
        output::tell_wrapped(&format!(
            "wrote {} {records} to {shown}; read it with: assay import {}",
            ids.len(),
            output::operand(&args.store)
        ));
        if !queries::baseline_names()?.is_empty() {
            output::tell_wrapped("baselines stay here: set them there anew, with assay baseline set");
        }
    }
    Ok(Exit::Good)
}

/// Whether nothing would be lost there.
fn is_free(directory: &Path) -> Result<bool, Failure> {
    match directory.read_dir() {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::usage(format!("{} cannot be written: {error}", output::shown(directory)))),
    }
}
