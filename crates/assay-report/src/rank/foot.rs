//! What a ranking rests on.

use assay_analysis::Mark;
use assay_analysis::rank::{
    CompositeKind, CompositeRanking, CompositeRow, LoadRanking, ModelRow, Notice, OddUnitDeviation, RankRemark,
    RankReport, SlotWarning, UnitGroups, Unresolved,
};
use assay_core::text::{capitalised, clean};
use assay_core::units::{capacity, counted, figures, fixed, trimmed};

use super::words;
use crate::caveats::{self, ADJUSTED};
use crate::change::{change, difference};
use crate::document::{Block, Cell, Table, TableRow, left, right};
use crate::headline::{interval, percent};
use crate::terminal::{Page, Paint, shorten};

/// Pairs of a label and a text.
pub(super) fn basis_lines(report: &RankReport, ranking: &LoadRanking, all: bool) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(text) = resolution(ranking) {
        lines.push(("resolves", text));
    }
    lines.extend(next_units(report, ranking, all).map(|text| ("next unit", text)));
    let basis = &ranking.basis;
    let known = |n: usize, what: &str| if n == 0 { format!("{what}s unknown") } else { counted(n, what) };
    lines.push((
        "basis",
        format!(
            "{}, {}, {}, {}, {}; standard deviation: units {}, repeats {}",
            counted(basis.records, "record"),
            counted(basis.units, "unit"),
            counted(basis.runs, "repeat"),
            known(basis.rounds, "round"),
            known(basis.slots, "slot"),
            deviation(ranking.unit_deviation),
            deviation(ranking.run_deviation)
        ),
    ));
    lines.push(("ceiling", words::ceiling(ranking.ceiling.as_ref())));
    lines.push(("method", method_text(report, ranking)));
    let published = ranking.models.iter().flat_map(|m| &m.marks).filter(|(mark, _)| *mark == Mark::Published);
    let published: usize = published.map(|(_, records)| records).sum();
    if published > 0 {
        lines.push((
            "note",
            match basis.records {
                all if all == published => "published figures without repeats".to_owned(),
                all => format!("published figures without repeats: {published} of {}", counted(all, "record")),
            },
        ));
    }
    lines.extend(remark_texts(&ranking.remarks).into_iter().map(|text| ("note", text)));
    let left_out = match all {
        true => caveats::left_out_of_one_load(&ranking.excluded, None),
        false => caveats::left_out_in_numbers(&ranking.excluded, "--all"),
    };
    lines.extend(left_out.into_iter().map(|line| (caveats::LEFT_OUT, line)));
    lines
}

fn deviation(deviation: Option<f64>) -> String {
    deviation.map_or_else(|| "unknown".to_owned(), |d| format!("{} %", fixed(words::cv(d), 1)))
}

/// What these units could have distinguished.
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
    let helps = if by_repeats { "more units and repeats help" } else { "more units help, more repeats hardly" };
    Some(format!(
        "{} per model can show a difference of {closer}; {helps}",
        counted(ranking.least_units as usize, "unit")
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

fn method_text(report: &RankReport, ranking: &LoadRanking) -> String {
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

fn design_text(notice: Notice) -> String {
    match notice {
        Notice::SlotsUnknown { runs } => {
            format!(
                "{} without a slot label: a slow slot looks like a slow unit; add --label slot=…",
                counted(runs, "repeat")
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
            "{} of models measured on different days, which are assumed to differ by 3.7 %: measure a unit of each on the same \
             day",
            counted(pairs, "pair")
        ),
        Notice::NotSettled => "effects of slots and rounds are rough estimates".to_owned(),
    }
}

/// A line for each remark. If slots were not adjusted for, the figures are adjusted for rounds only, and the line says so.
fn remark_texts(remarks: &[RankRemark]) -> Vec<String> {
    let left_alone = |remark: &RankRemark| {
        matches!(remark, RankRemark::Design(Notice::NoSwap | Notice::SlotsUnknown { .. } | Notice::SlotsConfounded))
    };
    let by_rounds = remarks.iter().any(left_alone);
    let adjusted = remarks.iter().any(|remark| matches!(remark, RankRemark::Adjusted { .. }));
    let text = |remark: &RankRemark| match remark {
        RankRemark::Adjusted { units } if by_rounds => {
            format!(
                "figures of {} are adjusted for round, not for slot; --json has them as measured",
                counted(*units, "unit")
            )
        }
        RankRemark::Design(Notice::SlotsConfounded) if adjusted => "slots and rounds cannot be separated".to_owned(),
        other => remark_text(other),
    };
    remarks.iter().map(text).collect()
}

fn remark_text(remark: &RankRemark) -> String {
    match remark {
        RankRemark::Design(notice) => design_text(*notice),
        RankRemark::NamelessUnit { model, records } => {
            format!(
                "{} of {} name no unit and count as one; add --label unit=…",
                counted(*records, "record"),
                clean(model)
            )
        }
        RankRemark::SeveralMedia { unit, least_bytes, most_bytes } => format!(
            "records of {} are of media of {} to {}, so not of one unit: correct their labels (assay label), or remove them \
             (assay rm)",
            clean(unit),
            capacity(*least_bytes),
            capacity(*most_bytes)
        ),
        RankRemark::Adjusted { units } => {
            format!("figures of {} are {ADJUSTED}; --json has them as measured", counted(*units, "unit"))
        }
        RankRemark::Acknowledged { lacking } => format!(
            "by the acknowledged rate, as {} no durable rate",
            if *lacking == 1 { "1 record has".to_owned() } else { format!("{lacking} records have") }
        ),
        RankRemark::TooFewRounds => {
            "which slots differ cannot be tested: another round is needed to see by how much figures vary".to_owned()
        }
        RankRemark::NotTold { what } => {
            let each = what.iter().map(|(what, records)| format!("{} ({})", clean(what), counted(*records, "record")));
            format!("not recorded, and possibly different: {}", each.collect::<Vec<_>>().join(", "))
        }
        RankRemark::Manners { of } => {
            let each = of.iter().map(|(words, records)| format!("{} ({})", clean(words), counted(*records, "record")));
            format!("run with different settings, which may change figures: {}", each.collect::<Vec<_>>().join("; "))
        }
        RankRemark::Suites { suites } => {
            format!("from several suites: {}", suites.iter().map(|s| clean(s)).collect::<Vec<_>>().join(", "))
        }
    }
}

// Units and slots that stand out.

/// Lines about the units and slots of a load.
pub(super) fn odd_lines(ranking: &LoadRanking) -> Vec<String> {
    let mut lines: Vec<String> = ranking.odd.iter().map(|odd| odd_unit(odd, words::direction(ranking))).collect();
    lines.extend(ranking.slots.iter().map(odd_slot));
    lines
}

fn odd_unit(odd: &Unresolved, direction: &str) -> String {
    let model = clean(&odd.model);
    let culprit = if odd.slot_known { "" } else { ", as it may be the slot" };
    let depends = if odd.ranking_depends { "; the ranking depends on this unit" } else { "" };
    let swap = format!("; swap slots to check{culprit}{depends}");
    if let Some(groups) = &odd.groups {
        let again = if odd.again { "; measure again: one group was measured once, on disturbed hosts" } else { "" };
        return format!(
            "{model}: its {} units form two groups in {direction}: {} are at {} against the other {} ({}){again}; if they are \
             two kinds under one name, label them as two models (assay label)",
            odd.of,
            groups.low.len(),
            change(odd.ratio, None),
            groups.high.len(),
            some_units(groups)
        );
    }
    match (&odd.unit, odd.tested) {
        (Some(unit), _) if odd.again => {
            format!(
                "{model}: measure unit {} of {} again: it differs from the others in {direction} by {}, by one repeat while its \
                 host was disturbed{depends}",
                clean(unit),
                odd.of,
                change(odd.ratio, None)
            )
        }
        (Some(unit), _) => {
            let by = change(odd.ratio, None);
            format!("{model}: unit {} of {} differs from the others in {direction} by {by}{swap}", clean(unit), odd.of)
        }
        (None, true) => {
            format!(
                "{model}: its units disagree by {}; none can be named{}{swap}",
                difference(odd.ratio),
                more_units(odd)
            )
        }
        (None, false) if odd.heavy_tails => format!(
            "{model}: its units differ by {}, as those of a model with heavy tails do; whether one is odd cannot be told",
            difference(odd.ratio)
        ),
        (None, false) => format!(
            "{model}: its units differ by {}; too few units of other models to test it{}",
            difference(odd.ratio),
            more_units(odd)
        ),
    }
}

/// Units that are named; more are counted.
const NAMED: usize = 8;

/// The units of the smaller group.
fn some_units(groups: &UnitGroups) -> String {
    let (which, some) =
        if groups.low.len() <= groups.high.len() { ("lower", &groups.low) } else { ("higher", &groups.high) };
    let mut names: Vec<String> = some.iter().take(NAMED).map(|unit| clean(unit)).collect();
    if some.len() > NAMED {
        names.push(format!("{} more", some.len() - NAMED));
    }
    format!("the {which} ones: {}", names.join(", "))
}

/// How many units would name the odd one.
fn more_units(odd: &Unresolved) -> String {
    let of = |n: u32| format!("; {n} units of the model would show which one deviates by as much (chance 80 %)");
    odd.needed.map(of).unwrap_or_default()
}

fn odd_slot(slot: &SlotWarning) -> String {
    format!(
        "slot {} differs from the median slot by {}; slots differ: chance alone brings that about in {}; leave it out or repair \
         it; the figures are already adjusted",
        clean(&slot.slot),
        change(slot.ratio, None),
        caveats::cases(slot.p_value)
    )
}

/// A line for each unit that deviates under any load. A unit that deviates under the deciding load alone has no line here: that
/// load already names it.
pub(super) fn over_loads(report: &RankReport) -> Vec<String> {
    let there = |d: &OddUnitDeviation| {
        let same = |odd: &Unresolved| odd.model == d.model && odd.unit.as_ref() == Some(&d.unit);
        d.loads == 1
            && d.direction == words::direction(&report.primary)
            && report.primary.odd.iter().any(|odd| same(odd) && (odd.ratio < 1.0) == (d.ratio < 1.0))
    };
    report.deviations.iter().filter(|d| !there(d)).map(odd_deviation).collect()
}

/// Odd units as a label and a sentence each. The label is the load, or empty for a sentence about all loads. Units that differ
/// without a test that shows it have no sentence.
pub(crate) fn odd_units(report: &RankReport) -> Vec<(String, String)> {
    let primary = &report.primary;
    let shown = primary.odd.iter().filter(|odd| odd.unit.is_some() || odd.tested);
    let of_load = shown.map(|odd| (capitalised(&clean(&primary.title)), odd_unit(odd, words::direction(primary))));
    of_load.chain(over_loads(report).into_iter().map(|line| (String::new(), line))).collect()
}

fn odd_deviation(d: &OddUnitDeviation) -> String {
    let not = if d.not_in.is_empty() {
        String::new()
    } else {
        format!("; its {} are like those of the others", d.not_in.join(" and "))
    };
    let mend = if d.again {
        "measure it again, as it was measured once while its host was disturbed"
    } else {
        "swap slots to check"
    };
    format!(
        "{}: unit {} of {} differs from the others in {} by {}, under {} of {}{not}; {mend}",
        clean(&d.model),
        clean(&d.unit),
        d.of,
        d.direction,
        change(d.ratio, (d.loads > 1).then_some((d.least, d.most))),
        d.loads,
        counted(d.of_loads, "load")
    )
}

// One number from several loads.

/// Column where the figures of a row begin.
const FIGURES: usize = 38;

pub(super) fn composite_text(page: &mut Page, composite: &CompositeRanking) {
    page.text(Paint::Bold, 0, &format!("Composite: {}", composite_name(composite)));
    if let Some(refusal) = &composite.refusal {
        page.text(Paint::Care, 2, &clean(&refusal.to_string()));
    }
    if !composite.models.is_empty() {
        page.text(Paint::Plain, 2, &composite_verdict(composite));
        let mut head = page.line();
        head.to(2).push(Paint::Dim, "model").right(Paint::Dim, "value", FIGURES + 8);
        head.right(Paint::Dim, "ranks", FIGURES + 16).to(FIGURES + 18).push(Paint::Dim, "share of weights by rank");
        page.add(head);
    }
    for row in &composite.models {
        let mut line = page.line();
        line.to(2).push(Paint::Plain, &shorten(&clean(&row.model), FIGURES - 3));
        line.right(Paint::Plain, &figures(row.value), FIGURES + 8);
        line.right(Paint::Plain, &words::ranks(row.ranks), FIGURES + 16);
        let shares: Vec<String> = row.acceptability.iter().take(4).map(|s| format!("{s:.3}")).collect();
        line.to(FIGURES + 18).push(Paint::Plain, &shares.join(" "));
        page.add(line);
    }
    for pair in composite.models.windows(2).filter(|pair| pair[0].tied_with_next) {
        let text = format!("TIE {{{}, {}}}: the weights decide", clean(&pair[0].model), clean(&pair[1].model));
        page.text(Paint::Plain, 2, &text);
    }
    composite_foot(composite).iter().for_each(|line| page.text(Paint::Dim, 2, line));
}

/// The same for a document.
pub(super) fn composite_blocks(composite: &CompositeRanking) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(format!("Composite: {}", composite_name(composite)))];
    blocks.extend(composite.refusal.iter().map(|refusal| Block::Text(clean(&refusal.to_string()))));
    let row = |row: &CompositeRow| -> TableRow {
        let shares: Vec<String> = row.acceptability.iter().map(|share| format!("{share:.3}")).collect();
        let ranks = words::ranks(row.ranks);
        [Cell::from(clean(&row.model)), figures(row.value).into(), ranks.into(), shares.join(" ").into()].into()
    };
    if !composite.models.is_empty() {
        blocks.push(Block::Text(composite_verdict(composite)));
        blocks.push(Block::Table(Table {
            caption: String::new(),
            columns: vec![left("model"), right("value"), right("ranks"), left("share of weights by rank")],
            rows: composite.models.iter().map(row).collect(),
        }));
    }
    blocks.push(Block::Items(composite_foot(composite).into_iter().map(|line| (String::new(), line)).collect()));
    blocks
}

fn composite_name(composite: &CompositeRanking) -> &'static str {
    match composite.kind {
        CompositeKind::Pibenchmarks => "PiBenchmarks score",
        CompositeKind::Index => "index, the first is 1",
    }
}

/// What has to be known with it.
fn composite_foot(composite: &CompositeRanking) -> Vec<String> {
    let mut lines = vec![
        "The weights are arbitrary (10 000 random ones were tried), and values of different hosts cannot be compared. \
         There is no interval: the figures are taken as exact."
            .to_owned(),
        format!("parts: {}", composite.parts.join("; ")),
    ];
    if !composite.incomplete.is_empty() {
        let left: Vec<String> = composite.incomplete.iter().map(|m| clean(m)).collect();
        lines.push(format!("left out, lacking a part: {}", left.join(", ")));
    }
    lines
}

fn composite_verdict(composite: &CompositeRanking) -> String {
    let first = composite.models.iter().map(|m| m.acceptability.first().copied().unwrap_or(0.0)).fold(0.0, f64::max);
    match &composite.winner {
        Some(winner) => format!("{} is first under {} of the weights", clean(winner), percent(first)),
        None => {
            let near = composite.models.iter().filter_map(|m| m.first_near_published).reduce(f64::max);
            let near = near.map(|p| format!(", near the published weights {}", percent(p))).unwrap_or_default();
            format!("COMPOSITE weight-dependent: one is first under at most {} of the weights{near}", percent(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_analysis::published;
    use assay_analysis::rank::{RankOptions, rank};

    use super::*;

    #[test]
    fn figures_are_not_called_both_adjusted_and_not() {
        let adjusted = RankRemark::Adjusted { units: 4 };
        let confounded = RankRemark::Design(Notice::SlotsConfounded);
        assert_eq!(
            remark_texts(&[adjusted.clone(), confounded.clone()]),
            [
                "figures of 4 units are adjusted for round, not for slot; --json has them as measured",
                "slots and rounds cannot be separated"
            ]
        );
        assert_eq!(
            remark_texts(&[confounded]),
            ["slots and rounds cannot be separated; figures were not adjusted for slots"]
        );
        assert!(remark_texts(&[adjusted])[0].contains(ADJUSTED));
    }

    #[test]
    fn a_slot_is_off_the_median_slot_and_chance_is_that_of_all_slots() {
        let text = |p_value| odd_slot(&SlotWarning { slot: "node3".to_owned(), ratio: 0.8, p_value });
        let rare = text(0.0003);
        assert!(rare.starts_with("slot node3 differs from the median slot by "), "{rare}");
        assert!(rare.contains("slots differ: chance alone brings that about in less than 0.1 % of cases"), "{rare}");
        assert!(text(0.004).contains("in 0.4 % of cases"));
    }

    /// The text names a unit that is odd under one of many loads, as JSON does.
    #[test]
    fn a_unit_that_is_odd_under_one_load_is_told_once() {
        let cards = ["sandisk-ultra-a1", "samsung-evo-plus-64gb", "sandisk-extreme-a2"];
        let records: Vec<_> = cards.into_iter().flat_map(|card| published(card).unwrap()).collect();
        let all: Vec<_> = records.iter().collect();
        let by = |load: &str| {
            let mut report =
                rank(&all, &RankOptions { primary: Some(load.to_owned()), ..RankOptions::default() }).unwrap();
            let one = &mut report.deviations[0];
            (one.loads, one.of_loads, one.least, one.most) = (1, 4, one.ratio, one.ratio);
            report
        };
        let elsewhere = by("random read 4 KiB, 4 jobs");
        let lines = over_loads(&elsewhere);
        assert!(lines.len() == 1 && lines[0].contains(", under 1 of 4 loads; its reads are like"), "{lines:?}");
        assert!(!lines[0].contains(" … "), "one load has no range: {lines:?}");
        let told = odd_units(&elsewhere);
        assert!(told.contains(&(String::new(), lines[0].clone())), "{told:?}");
        assert!(told.iter().all(|(_, line)| !line.contains("too few units")), "no test shows it: {told:?}");
        let here = by("random write 32 KiB, 4 jobs");
        assert!(!over_loads(&here).iter().any(|line| line.contains("SanDisk Ultra A1")), "{:?}", here.primary.odd);
        let told = odd_units(&here);
        let odd =
            told.iter().find(|(_, line)| line.contains("unit 3 (published) of 3 differs from the others in writes by"));
        assert!(odd.is_some_and(|(load, _)| load.starts_with("Random write 32 KiB")), "{told:?}");
    }
}
