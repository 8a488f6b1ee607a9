//! `assay rank`

use std::collections::BTreeSet;

use assay_analysis::rank::{Ask, RankReport, rank as ranked};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_pictures::Drawing;
use assay_report::{Document, Style, ranking};
use assay_store::Store;
use serde_json::Value;

use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::RankArgs;
use crate::failure::Failure;
use crate::{answer, state};

/// More readers than this wait for the disk.
const MOST_READERS: usize = 8;

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let target = Target::new(&args.file, WITH_PICTURE)?;
    let records = target.redacted(load(args)?)?;
    let ask = Ask {
        primary: args.load.clone(),
        quantity: args.metric,
        ceiling: args.ceiling,
        alpha: args.alpha,
        delta: args.margin,
        borrow: args.borrow,
        seed: args.seed,
        composite: args.composite,
    };
    let records: Vec<&Record> = records.iter().collect();
    let report = ranked(&records, &ask).map_err(|error| Failure::usage(harmless(&error.to_string())))?;
    let ranked = Ranked { report, all: args.all };
    target.deliver(&ranked, args.json)?;
    Ok(if ranked.report.primary.refusal.is_some() { Exit::No } else { Exit::Good })
}

struct Ranked {
    report: RankReport,
    all: bool,
}

impl Answer for Ranked {
    fn text(&self, style: &Style) -> String {
        ranking::text(&self.report, self.all, style)
    }

    fn json(&self) -> Result<Value, Failure> {
        answer::json(serde_json::to_value(&self.report))
    }

    fn document(&self) -> Document {
        ranking::document(&self.report)
    }

    fn picture(&self) -> Option<Drawing> {
        ranking::picture(&self.report, &self.report.primary)
    }
}

/// Records that the queries name, each once. Of 200 000 repeats the documents alone would fill the
/// memory, so each is let go before the next is read, and what a ranking does not look at with it.
fn load(args: &RankArgs) -> Result<Vec<Record>, Failure> {
    let latencies = args.metric.is_some_and(|metric| metric.percentile().is_some());
    let mut records: Vec<Record> = Vec::new();
    let mut known = BTreeSet::new();
    for query in &args.queries {
        if query.starts_with(assay_analysis::PREFIX) {
            let named = state::find_all(std::slice::from_ref(query))?;
            records.extend(named.into_iter().filter(|record| known.insert(record.id.clone())));
            continue;
        }
        let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
        let ids: Vec<String> =
            state::resolve(&store, query)?.into_iter().filter(|id| known.insert(id.clone())).collect();
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
    let read_part = &read_part;
    std::thread::scope(|scope| {
        let begin = |ids| (ids, std::thread::Builder::new().spawn_scoped(scope, move || read_part(ids)));
        let readers: Vec<_> = ids.chunks(part).map(begin).collect();
        let mut records = Vec::with_capacity(ids.len());
        for (ids, reader) in readers {
            let part = match reader {
                Ok(reader) => reader.join().map_err(|_| Failure::environment("a reader of the store ended early"))?,
                // Where the system makes no thread this one reads.
                Err(_) => read_part(ids),
            };
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
