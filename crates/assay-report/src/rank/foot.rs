//! What a ranking rests on.

use assay_analysis::Mark;
use assay_analysis::rank::{LoadRanking, ModelRow, Notice, RankReport, Remark};
use assay_core::text::clean;
use assay_core::units::{fixed, trimmed};

use super::words;
use crate::figure::interval;
use crate::left_out;

/// Pairs of a label and a text.
pub(super) fn lines(report: &RankReport, ranking: &LoadRanking, all: bool) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(text) = resolution(ranking) {
        lines.push(("resolves", text));
    }
    lines.extend(next_units(report, ranking, all).map(|text| ("next unit", text)));
    let basis = &ranking.basis;
    let known = |n: usize, what: &str| if n == 0 { format!("{what}s unknown") } else { words::count(n, what) };
    lines.push((
        "basis",
        format!(
            "{}, {}, {}, {}, {}; standard deviation: units {}, repeats {}",
            words::count(basis.records, "record"),
            words::count(basis.units, "unit"),
            words::count(basis.runs, "repeat"),
            known(basis.rounds, "round"),
            known(basis.slots, "slot"),
            deviation(ranking.unit_deviation),
            deviation(ranking.run_deviation)
        ),
    ));
    lines.push(("ceiling", words::ceiling(ranking.ceiling.as_ref())));
    lines.push(("method", method(report, ranking)));
    let published = ranking.models.iter().flat_map(|m| &m.marks).filter(|(mark, _)| *mark == Mark::Published);
    let published: usize = published.map(|(_, records)| records).sum();
    if published > 0 {
        lines.push((
            "note",
            format!("published without repeats: {published} of {}", words::count(basis.records, "record")),
        ));
    }
    lines.extend(ranking.remarks.iter().map(|r| ("note", remark(r))));
    let left_out = left_out::of_one_load(&ranking.excluded, (!all).then_some("--all"));
    lines.extend(left_out.into_iter().map(|line| (left_out::LABEL, line)));
    lines
}

fn deviation(deviation: Option<f64>) -> String {
    deviation.map_or_else(|| "unknown".to_owned(), |d| format!("{} %", fixed(words::cv(d), 1)))
}

/// What these units could have told apart.
pub(super) fn resolution(ranking: &LoadRanking) -> Option<String> {
    let ratio = ranking.smallest_ratio?;
    let percent = (ratio - 1.0) * 100.0;
    let closer = match percent {
        p if p < 10.0 => format!("{p:.1} %"),
        p if p < 200.0 => format!("{p:.0} %"),
        _ => format!("{}-fold", fixed(ratio, 1)),
    };
    // The repeats may differ more than the units do.
    let by_repeats = ranking.shares.as_ref().is_some_and(|shares| shares.run.is_some_and(|run| run > shares.unit));
    let helps = if by_repeats { "more units and repeats help" } else { "more units help, more repeats hardly do" };
    Some(format!(
        "with your {} units of a model you cannot separate models closer than {closer}; {helps}",
        ranking.least_units
    ))
}

/// Number of models whose prediction interval is shown.
const LISTED: usize = 4;

/// The prediction interval for a further unit of each model: a buyer gets another unit than the measured ones.
fn next_units(report: &RankReport, ranking: &LoadRanking, all: bool) -> Option<String> {
    let (unit, divisor) = words::unit(ranking);
    let of = |model: &ModelRow| {
        let (low, high) = model.further_unit?;
        Some(format!("{} {}", clean(&model.model), interval(low / divisor, high / divisor)))
    };
    let each: Vec<String> = ranking.models.iter().filter_map(of).collect();
    let listed = if all { each.len() } else { each.len().min(LISTED) };
    let more = if listed < each.len() { format!(", and {} more (--all)", each.len() - listed) } else { String::new() };
    let few = ranking.models.iter().any(|m| m.further_unit.is_some() && m.units.len() < 3);
    let assumed = if few { "; with fewer than three units, 15 % variation is assumed" } else { "" };
    let level = words::level(report.alpha);
    (!each.is_empty()).then(|| format!("{} {unit}{more} ({level}{assumed})", each[..listed].join(", ")))
}

fn method(report: &RankReport, ranking: &LoadRanking) -> String {
    let critical = ranking.critical.map_or_else(
        || "nothing was tested".to_owned(),
        |c| format!("critical |t| {} (df {})", fixed(c, 2), ranking.degrees),
    );
    let borrow = if report.borrow { "; single units borrow the variance of others" } else { "" };
    format!(
        "step-down bootstrap over units, moderated variances, {critical}, {} draws; level {}, margin {} %, seed \
         {}{borrow}",
        ranking.draws,
        words::level(report.alpha),
        trimmed(report.delta * 100.0, 2),
        report.seed
    )
}

fn design(notice: Notice) -> String {
    match notice {
        Notice::SlotsUnknown { runs } => {
            format!(
                "{} without a slot, so slots are part of the units; add --label slot=…",
                words::count(runs, "repeat")
            )
        }
        Notice::NoSwap => "no unit changed its slot: unit and slot cannot be separated (assay plan)".to_owned(),
        Notice::Parts { parts } => format!("slots fall into {parts} parts without a common unit"),
        Notice::SlotsConfounded => {
            "slots and rounds cannot be separated; figures were not adjusted for slots".to_owned()
        }
        Notice::NoRepeats => {
            "no unit has a second repeat: the variation between units includes that between repeats".to_owned()
        }
        Notice::OtherDays { pairs } => format!(
            "{} measured on different days, which are assumed to differ by 3.7 %: measure a unit of each on the same day",
            words::count(pairs, "pair of models").replace("pair of modelss", "pairs of models")
        ),
        Notice::NotSettled => "effects of slots and rounds are rough estimates".to_owned(),
    }
}

fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Design(notice) => design(*notice),
        Remark::NamelessUnit { model, records } => {
            format!(
                "{} of {} name no unit and count as one; add --label unit=…",
                words::count(*records, "record"),
                clean(model)
            )
        }
        Remark::Acknowledged { lacking } => format!(
            "by the acknowledged rate, as {} no durable rate",
            if *lacking == 1 { "1 record has".to_owned() } else { format!("{lacking} records have") }
        ),
        Remark::NotTold { what } => {
            let each =
                what.iter().map(|(what, records)| format!("{} ({})", clean(what), words::count(*records, "record")));
            format!("not recorded, and possibly different: {}", each.collect::<Vec<_>>().join(", "))
        }
        Remark::Manners { of } => {
            let each =
                of.iter().map(|(words, records)| format!("{} ({})", clean(words), words::count(*records, "record")));
            format!("run with different settings, which may change figures: {}", each.collect::<Vec<_>>().join("; "))
        }
        Remark::Suites { suites } => {
            format!("from several suites: {}", suites.iter().map(|s| clean(s)).collect::<Vec<_>>().join(", "))
        }
    }
}
