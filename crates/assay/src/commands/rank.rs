//! `assay rank`

use assay_analysis::rank::{RankOptions, RankReport, rank as ranked};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_pictures::Drawing;
use assay_report::{Document, Style, rank};
use assay_store::Detail;
use serde_json::Value;

use crate::answer::{Answer, Target, WITH_PICTURE};
use crate::cli::RankArgs;
use crate::failure::Failure;
use crate::{output, queries};

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(&args.file, WITH_PICTURE)?;
    // Of many records the histograms alone would fill the memory.
    let latencies = args.metric.is_some_and(|metric| metric.percentile().is_some());
    let detail = if latencies { Detail::Latencies } else { Detail::Repeats };
    let mut records = target.redacted(queries::find_all(&args.queries, detail)?)?;
    target.settle(&mut records);
    let ask = RankOptions {
        primary: args.load.clone(),
        quantity: args.metric,
        ceiling: args.ceiling,
        alpha: args.alpha(),
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
        rank::text(&self.report, self.all, style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&self.report)
    }

    fn document(&self) -> Document {
        rank::document(&self.report)
    }

    fn picture(&self) -> Option<Drawing> {
        rank::picture(&self.report, &self.report.primary)
    }
}
