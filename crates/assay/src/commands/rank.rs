//! `assay rank`

use std::collections::BTreeSet;
use std::path::Path;

use assay_analysis::Quantity;
use assay_analysis::rank::{Ask, RankReport, rank as ranked};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_report::pictures::Drawing;
use assay_report::ranking;
use assay_store::{Store, StoreError};

use crate::cli::RankArgs;
use crate::failure::Failure;
use crate::{output, state};

/// More readers than this wait for the disk.
const MOST_READERS: usize = 8;

/// How a file is written.
type Writer = fn(&RankReport) -> Result<Vec<u8>, Failure>;

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let writer = args.output.as_deref().map(writer).transpose()?;
    let mut records = load(args)?;
    if writer.is_some() {
        // A file may be shared.
        let redactor = state::redactor(false)?;
        records = records.iter().map(|record| redactor.record(record)).collect::<Result<_, _>>()?;
    }
    let ask = Ask {
        primary: args.primary.clone(),
        quantity: args.metric,
        ceiling: args.ceiling,
        alpha: args.alpha,
        delta: args.delta,
        borrow: args.borrow,
        seed: args.seed,
        composite: args.composite,
    };
    let records: Vec<&Record> = records.iter().collect();
    let report = ranked(&records, &ask).map_err(|error| Failure::usage(harmless(&error.to_string())))?;
    if let (Some(path), Some(writer)) = (args.output.as_deref(), writer) {
        state::check_writable(path)?;
        state::write_whole(path, writer(&report)?)?;
        output::tell(&format!("wrote {}", output::shown(path)));
    }
    if args.json {
        let value = serde_json::to_value(&report).map_err(|e| Failure::environment(format!("JSON: {e}")))?;
        output::print_json(&value)?;
    } else if writer.is_none() {
        output::print(&ranking::text(&report, args.all, &output::stdout_style()))?;
    }
    Ok(if report.primary.refusal.is_some() { Exit::No } else { Exit::Good })
}

fn writer(path: &Path) -> Result<Writer, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("md") => Ok(|report| Ok(ranking::markdown(report).into_bytes())),
        Some("html") => Ok(|report| Ok(ranking::html(report).into_bytes())),
        Some("csv") => Ok(|report| Ok(ranking::csv(report).into_bytes())),
        Some("svg") => Ok(|report| Ok(drawing(report)?.svg().into_bytes())),
        Some("png") => Ok(|report| drawing(report)?.png(2.0).map_err(|e| Failure::environment(e.to_string()))),
        _ => Err(Failure::usage(
            "a ranking is written as .md, .html, .csv, .svg or .png; name such a file, or use --json",
        )),
    }
}

fn drawing(report: &RankReport) -> Result<Drawing, Failure> {
    ranking::picture(&report.primary, report.alpha)
        .ok_or_else(|| Failure::usage("no model has a figure of this load, so there is nothing to draw"))
}

/// Records that the queries name, each once. Of 200 000 repeats the documents alone would fill the
/// memory, so each is let go before the next is read, and what a ranking does not look at with it.
fn load(args: &RankArgs) -> Result<Vec<Record>, Failure> {
    let latencies = matches!(args.metric, Some(Quantity::P50Ns | Quantity::P99Ns));
    let mut records: Vec<Record> = Vec::new();
    let mut known = BTreeSet::new();
    for query in &args.queries {
        if query.starts_with(assay_analysis::PREFIX) {
            let named = state::find_all(std::slice::from_ref(query))?;
            records.extend(named.into_iter().filter(|record| known.insert(record.id.clone())));
            continue;
        }
        let empty = || Failure::usage(state::EMPTY);
        let store = state::existing()?.ok_or_else(empty)?;
        let ids = match store.resolve(query) {
            Err(StoreError::NotSoMany { held: 0, .. }) => return Err(empty()),
            Ok(ids) if ids.is_empty() => return Err(empty()),
            ids => ids?,
        };
        let ids: Vec<String> = ids.into_iter().filter(|id| known.insert(id.clone())).collect();
        records.extend(read(&ids, latencies)?);
    }
    state::mark_verified(&mut records)?;
    Ok(records)
}

/// Reads records, each processor its part: most of the time goes into their JSON.
fn read(ids: &[String], latencies: bool) -> Result<Vec<Record>, Failure> {
    let parts = std::thread::available_parallelism().map_or(1, |n| n.get()).min(MOST_READERS);
    let part = ids.len().div_ceil(parts).max(1);
    let read_part = |ids: &[String]| -> Result<Vec<Record>, Failure> {
        let Some(store) = state::existing()? else { return Ok(Vec::new()) };
        let one = |id: &String| {
            let mut record = store.load(id)?.record;
            lighten(&mut record, latencies);
            Ok(record)
        };
        ids.iter().map(one).collect()
    };
    std::thread::scope(|scope| {
        let readers: Vec<_> = ids.chunks(part).map(|ids| scope.spawn(|| read_part(ids))).collect();
        let mut records = Vec::with_capacity(ids.len());
        for reader in readers {
            let part = reader.join().map_err(|_| Failure::environment("a reader of the store ended early"))?;
            records.extend(part?);
        }
        Ok(records)
    })
}

fn lighten(record: &mut Record, latencies: bool) {
    record.sensors = Vec::new();
    for repeat in record.measurements.iter_mut().flat_map(|m| &mut m.repeats) {
        repeat.samples = Vec::new();
        if !latencies {
            repeat.histogram.counts = Vec::new();
        }
    }
}
