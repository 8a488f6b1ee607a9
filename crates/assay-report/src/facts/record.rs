//! The facts about a run: what was measured, where and with which program, and its results other than figures.

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use assay_core::text::{clean, statement};

use super::fact::Fact;
use super::fact::Rank::{Card, Page};
use super::of_medium;
use super::words::{effort, host, machine, manner, run};
use crate::advise::judge;
use crate::line::Paint;
use crate::{at_once, load_curve, over_days, scores, sensors};

/// What was measured, where and with which program.
pub(crate) fn about(record: &Record) -> Vec<Fact> {
    let mut facts = of_medium(&record.medium);
    let own = [
        Fact::new(Card, "host", host(&record.host)),
        Fact::new(Page, "machine", machine(&record.host)),
        Fact::new(Card, "run", run(record)),
        Fact::new(Card, "manner", manner(record)),
        Fact::new(Page, "record", clean(&record.id)),
    ];
    facts.extend(own.into_iter().flatten());
    let labels = record.labels.iter();
    facts.extend(labels.filter_map(|(name, value)| Fact::new(Page, &format!("label {}", clean(name)), clean(value))));
    facts
}

/// The results other than figures.
pub(crate) fn results(record: &Record) -> Vec<Fact> {
    let source = record.source.as_ref().map(|s| clean(&format!("{} from {}", s.format, s.file)));
    let first = [
        Fact::new(Card, "classes", judge(record).sentence().map(|s| clean(&s))),
        Fact::new(Card, "over days", over_days::sentence(record)),
        Fact::new(Card, "imported", source),
    ];
    let last = [
        Fact::new(Card, "per watt", sensors::per_watt(record)),
        Fact::new(Card, "noted", sensors::noted(record)),
        Fact::new(Card, "effort", effort(record)),
        outcome(record),
    ];
    let scores = scores::lines(record).into_iter().map(|line| Fact::new(Card, "score", line));
    let knees = load_curve::lines(record).into_iter().map(|line| Fact::new(Card, "knee", line));
    let beside = at_once::lines(record).into_iter().map(|line| Fact::new(Card, "at once", line));
    first.into_iter().chain(scores).chain(knees).chain(beside).chain(last).flatten().collect()
}

fn outcome(record: &Record) -> Option<Fact> {
    if record.outcome == Outcome::Completed {
        return None;
    }
    let paint = if record.outcome.medium_failed() { Paint::Bad } else { Paint::Care };
    Some(Fact { paint, ..Fact::new(Card, "outcome", statement(&record.outcome.sentence()))? })
}
