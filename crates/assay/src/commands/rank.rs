//! `assay rank` and `assay advise`

use assay_analysis::advise::{self, AdviseError, CacheAdvice, CacheUse, CacheWord, LogWord, Question};
use assay_analysis::rank::{RankOptions, RankReport, rank as ranked};
use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_core::text::harmless;
use assay_pictures::Drawing;
use assay_report as report;
use assay_report::{Answered, Document, Style, rank};
use assay_store::ObservationDetail;
use serde_json::Value;

use crate::answer::{Answer, Target, WITH_PICTURE, WITHOUT_PICTURE, tell_chosen};
use crate::cli::{AdviseArgs, RankArgs};
use crate::ending::Failure;
use crate::{ending, output, queries};

pub(super) fn rank(args: &RankArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(&args.file, WITH_PICTURE)?;
    let ranked = rank_answer(args, &mut target)?;
    target.deliver(&ranked, args.json)?;
    Ok(ending::of_answer(ranked.report.primary.refusal.is_none()))
}

/// The answer, wherever it goes.
pub(super) fn rank_answer(args: &RankArgs, target: &mut Target) -> Result<Ranked, Failure> {
    // Of many records the histograms alone would fill the memory.
    let latencies = args.metric.is_some_and(|metric| metric.percentile().is_some());
    let detail = if latencies { ObservationDetail::Latencies } else { ObservationDetail::Repeats };
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
    let records: Vec<&Observation> = records.iter().collect();
    let report = ranked(&records, &ask).map_err(|error| Failure::usage(harmless(&error.to_string())))?;
    tell_chosen(args.load.as_deref(), records.iter().copied(), &report.primary.load);
    Ok(Ranked { report, all: args.all })
}

pub(super) struct Ranked {
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

// `assay advise`

impl From<AdviseError> for Failure {
    fn from(error: AdviseError) -> Self {
        Self::usage(error.to_string())
    }
}

pub(super) fn advise(args: &AdviseArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(args.file(), WITHOUT_PICTURE)?;
    let (answered, no) = advise_answer(args, &mut target)?;
    target.deliver(&answered, args.json())?;
    Ok(ending::of_answer(!no))
}

/// The answer, wherever it goes, and whether it is no.
pub(super) fn advise_answer(args: &AdviseArgs, target: &mut Target) -> Result<(Answered, bool), Failure> {
    let of = |queries: &[String]| queries::find_all(queries, ObservationDetail::Latencies);
    let mut parts = target.redacted_parts(vec![of(args.queries())?, of(args.other_queries())?])?;
    let (mut others, mut records) = (parts.pop().unwrap_or_default(), parts.pop().unwrap_or_default());
    target.settle(records.iter_mut().chain(&mut others));
    Ok(match args.question() {
        Question::Nas(question) => (report::advise::nas(&advise::nas(&records, &others, &question)?), false),
        Question::Cache(question) => {
            let found = advise::cache(&records, &others, &question)?;
            (report::advise::cache(&found), is_no(&found))
        }
        Question::Buy(question) => {
            let found = advise::buy(&records, &question)?;
            tell_chosen(question.load.as_deref(), &records, &found.load);
            (report::advise::buy(&found), false)
        }
        Question::Class(classes) => {
            let found = advise::class(&records, &classes)?;
            (report::advise::class(&found), found.is_no())
        }
    })
}

fn is_no(found: &CacheAdvice) -> bool {
    match found.use_as {
        CacheUse::L2arc => found.word == CacheWord::Harmful,
        CacheUse::Slog => found.log.as_ref().is_some_and(|log| log.word == LogWord::Refused),
    }
}
