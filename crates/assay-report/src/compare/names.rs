//! Groups, marks and figures by name.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::compare::{
    Comparison, GroupBasis, GroupFigure, GroupInfo, LoadComparison, Method, Pair, PairQuestion,
};
use assay_analysis::{Excluded, Mark, Quantity, unit_name};
use assay_core::text::clean;
use assay_core::units::{counted, figures, trimmed};

use crate::caveats;
use crate::terminal::shorten;

/// Longest name of a group.
const LONGEST: usize = 44;

/// What a group is: a unit, or a model with the number of its units.
pub(super) fn group_name(info: &GroupInfo) -> String {
    let name = match (&info.units[..], &info.models[..]) {
        ([(model, unit)], _) if !unit.is_empty() => unit_name(&shorten(&clean(model), 30), &clean(unit)),
        ([(model, _)], _) => clean(model),
        (units, [model]) => format!("{}, {}", shorten(&clean(model), 30), counted(units.len(), "unit")),
        (units, models) => format!("{} models, {}", models.len(), counted(units.len(), "unit")),
    };
    shorten(&name, LONGEST)
}

/// The letter of a group.
pub(super) fn group_letter(c: &Comparison, group: usize) -> String {
    c.groups.get(group).map_or_else(|| "?".to_owned(), |info| info.letter.to_string())
}

/// Which records a group holds.
pub(super) fn group_records(info: &GroupInfo) -> String {
    match &info.records[..] {
        [one] => format!("record {}", shorten(&clean(one), 40)),
        many => format!("{} records", many.len()),
    }
}

/// `n=3 repeats`.
pub(super) fn values_counted(side: &GroupFigure) -> String {
    let n = side.values.len();
    let what = basis_name(side.basis);
    if n == 1 { "one value".to_owned() } else { format!("n={n} {what}") }
}

/// What the values are.
pub(super) fn basis_name(basis: GroupBasis) -> &'static str {
    match basis {
        GroupBasis::Repeats => "repeats",
        GroupBasis::Runs => "runs",
        GroupBasis::Days => "days",
        GroupBasis::Units => "units",
    }
}

/// What a statement on a group is about, for one and several groups; `any_day` where its interval includes day-to-day
/// variation.
pub(super) fn judged(basis: GroupBasis, any_day: bool) -> [&'static str; 2] {
    match basis {
        GroupBasis::Repeats if any_day => ["a unit on any day, by one run", "units on any day, by one run each"],
        GroupBasis::Repeats => ["one unit in one run", "one unit in one run each"],
        GroupBasis::Runs if any_day => ["a unit on any day, by one day", "units on any day, by one day each"],
        GroupBasis::Runs => ["a unit on that day", "units on those days"],
        GroupBasis::Days => ["a unit", "units"],
        GroupBasis::Units => ["a model", "models"],
    }
}

/// The numbers of values of groups that are judged alike: `3 and 2 units`, `3 repeats`, `one value`.
fn values_of_sides(sides: &[&GroupFigure]) -> String {
    let mut numbers: Vec<String> = sides.iter().map(|side| side.values.len().to_string()).collect();
    if numbers.windows(2).all(|two| two[0] == two[1]) {
        numbers.truncate(1);
    }
    let (what, many) = sides.first().map_or(("values", false), |side| (basis_name(side.basis), side.values.len() > 1));
    let each = if numbers.len() == 1 && sides.len() > 1 { " each" } else { "" };
    if numbers.len() == 1 && !many {
        return format!("one value{each}");
    }
    format!("{} {what}{each}", listed_names(&numbers))
}

/// The marks as text; empty for none.
pub(super) fn side_marks(side: &GroupFigure) -> String {
    let words: Vec<&str> = side.marks.iter().map(|mark| mark_word(*mark)).collect();
    words.join(", ")
}

/// Marks with the letters of the groups that have them, in order.
pub(super) fn marked_groups(c: &Comparison, load: &LoadComparison) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for side in load.sides.iter().filter(|side| !side.marks.is_empty()) {
        let (marks, letter) = (side_marks(side), group_letter(c, side.group));
        match all.iter_mut().find(|(known, _)| *known == marks) {
            Some((_, letters)) => letters.push_str(&format!(", {letter}")),
            None => all.push((marks, letter)),
        }
    }
    all
}

fn mark_word(mark: Mark) -> &'static str {
    match mark {
        Mark::BusLimited => "at the bus ceiling",
        Mark::InstrumentLimited => "limited by the instrument",
        Mark::BestOf => "the best of several runs",
        Mark::Suspect => "suspect",
        Mark::Invalid => "invalid",
        Mark::Fake => "not genuine",
        Mark::Failed => "from a medium that failed",
        Mark::Unfinished => "from a run that did not finish",
        Mark::Published => "published",
    }
}

/// What figures are, with their unit: `IOPS`, `MB/s`, `p99 latency, ms`.
pub(super) fn measured(quantity: Quantity, unit: &str) -> String {
    if quantity.unit().is_some() { unit.to_owned() } else { format!("{}, {unit}", quantity.title()) }
}

/// Whether a pair was compared by the values of its groups alone: not by what days may change, by its units each with
/// itself, or by how others differ.
fn by_welch(pair: &Pair) -> bool {
    let other =
        matches!(pair.question, PairQuestion::SameUnits | PairQuestion::UnitAgainstOthers | PairQuestion::Specimens);
    pair.days.is_none() && !other && pair.series.decides().is_none()
}

/// How it was computed.
pub(super) fn comparison_method(comparison: &Comparison) -> String {
    let uses = |method| comparison.loads.iter().any(|load| load.method == method);
    let mut ways = Vec::new();
    let of_two = || comparison.loads.iter().filter(|load| load.method == Method::Welch).flat_map(|load| &load.pairs);
    if of_two().any(by_welch) {
        ways.push("Welch's t on logarithms");
    }
    if !of_two().all(by_welch) {
        ways.push("Student's t on logarithms");
    }
    if uses(Method::Simultaneous) {
        ways.push("simultaneous intervals of all pairs on logarithms, variances shared in part");
    }
    if uses(Method::WelchBonferroni) {
        ways.push("Welch's t on logarithms with Bonferroni's correction for all pairs");
    }
    let days = comparison.primary().into_iter().chain(&comparison.loads).flat_map(|load| &load.pairs);
    let days = days.filter_map(|pair| pair.days).next();
    let mut text = format!(
        "{} % intervals: {}; same is an interval within ±{} %",
        trimmed(comparison.level * 100.0, 2),
        ways.join(", "),
        trimmed(comparison.margin * 100.0, 2)
    );
    if let Some(days) = days {
        let (assumed, counts) = days.prior;
        let assumed = trimmed(assumed * 100.0, 1);
        text.push_str(&match days.measured {
            0 => format!("; runs of a unit on other days: {assumed} % deviation assumed, as no unit has a second day"),
            n if counts == 0.0 => format!(
                "; runs of a unit on other days: {} % deviation, from {n} further days",
                trimmed(days.deviation * 100.0, 1)
            ),
            n => format!(
                "; runs of a unit on other days: {} % deviation, from {n} further days and {assumed} % assumed, which counts as \
                 {} more",
                trimmed(days.deviation * 100.0, 1),
                trimmed(counts, 0)
            ),
        });
    }
    if comparison.loads.iter().any(|load| load.adjusted) {
        text.push_str("; adjusted for slots and rounds, as assay rank does");
    }
    if comparison.loads.iter().any(|load| load.widened) {
        text.push_str("; widened because the repeats ended once enough was known");
    }
    text
}

/// The ends of an axis.
pub(super) fn axis_end(value: f64, unit: f64) -> String {
    figures(value / unit)
}

// Names in a sentence.

/// `A`, `A and B`, `A, B and C`.
pub(super) fn listed_names(names: &[String]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

// What is left out of a comparison, in few lines.

/// One line for each reason, with the letters of the groups. If only some records of a group are left out, these are
/// listed too.
pub(super) fn left_out(c: &Comparison) -> Vec<String> {
    fn key<'a>(c: &Comparison, e: &'a Excluded) -> (usize, String, Option<&'a str>) {
        (c.group_of(e).unwrap_or(0), e.reason.to_string(), e.load.as_deref())
    }
    let mut records: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for e in &c.excluded {
        records.entry(key(c, e)).or_default().insert(&e.record);
    }
    let called = |group: usize, some: &BTreeSet<&str>| {
        let all = c.groups.get(group).map_or(0, |group| group.records.len());
        let ids: Vec<String> = some.iter().map(|id| clean(id)).collect();
        let of = if all > 1 && ids.len() < all {
            format!(" ({})", caveats::listed_names(&ids, ", ", Some("--json")))
        } else {
            String::new()
        };
        format!("{}{of}", group_letter(c, group))
    };
    let names: BTreeMap<_, String> = records.iter().map(|(key, some)| (key, called(key.0, some))).collect();
    // One entry represents all records of a group with the same reason.
    let mut told = BTreeSet::new();
    let firsts = c.excluded.iter().filter(|e| told.insert(key(c, e)));
    caveats::left_out_lines(firsts, |e| names.get(&key(c, e)).cloned().unwrap_or_default(), None)
}

/// The subject of the statements, for each group that has a figure of the primary load.
pub(super) fn about_values(c: &Comparison) -> Option<String> {
    let load = c.primary()?;
    let any_day = |group| load.pairs.iter().any(|p| (p.first == group || p.second == group) && p.days.is_some());
    // Groups with the same subject share a part.
    let mut alike: Vec<([&str; 2], Vec<&GroupFigure>)> = Vec::new();
    for side in &load.sides {
        let judged = judged(side.basis, any_day(side.group));
        match alike.iter_mut().find(|(known, _)| *known == judged) {
            Some((_, sides)) => sides.push(side),
            None => alike.push((judged, vec![side])),
        }
    }
    let part = |(judged, sides): ([&str; 2], Vec<&GroupFigure>)| {
        let letters: Vec<String> = sides.iter().map(|side| group_letter(c, side.group)).collect();
        let [one, many] = judged;
        let judged = if sides.len() > 1 { many } else { one };
        format!("{}: {judged}, {}", listed_names(&letters), values_of_sides(&sides))
    };
    let each: Vec<String> = alike.into_iter().map(part).collect();
    Some(each.join("; "))
}
