//! `assay rank`

use std::collections::BTreeSet;
use std::path::Path;

use assay_analysis::Quantity;
use assay_analysis::rank::{Ask, RankReport, rank as ranked};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_report::ranking;
use assay_store::{Store, StoreError};

use crate::cli::RankArgs;
use crate::failure::Failure;
use crate::{output, state};

/// How a file is written.
type Writer = fn(&RankReport) -> String;

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let writer = args.output.as_deref().map(writer).transpose()?;
    let mut records = load(args)?;
    if writer.is_some() {
        // A file may be shared.
        let redactor = state::redactor(state::existing()?.as_mut(), false)?;
        records = records.iter().map(|record| redactor.record(record)).collect();
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
        state::write_whole(path, writer(&report))?;
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
        Some("md") => Ok(ranking::markdown),
        Some("html") => Ok(ranking::html),
        Some("csv") => Ok(ranking::csv),
        _ => Err(Failure::usage("a ranking is written as .md, .html or .csv; name such a file, or use --json")),
    }
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
        for id in ids.into_iter().filter(|id| known.insert(id.clone())) {
            let mut record = store.load(&id)?.record;
            lighten(&mut record, latencies);
            records.push(record);
        }
    }
    Ok(records)
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
