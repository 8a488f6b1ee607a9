//! The sentences about a pair, the whole answer, and the names of groups, marks and figures.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::compare::{
    Comparison, GroupBasis, GroupFigure, GroupInfo, LoadComparison, Method, Note, Pair, PairQuestion, PairVerdict,
    WhyUnknown,
};
use assay_analysis::{Excluded, Mark, Quantity, Reason, unit_name};
use assay_core::observation::Observation;
use assay_core::text::clean;
use assay_core::units::{counted, figures, trimmed};

use crate::caveats::{self, needed_for};
use crate::change::{self, change};
use crate::facts;
use crate::terminal::{Paint, shorten};
use crate::verdict::capitalised;

/// The verdict in a word.
pub(super) fn verdict_word(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Better | PairVerdict::Worse => "different",
        PairVerdict::Same => "same",
        PairVerdict::BusTie => "tie at the bus ceiling",
        PairVerdict::CannotTell(_) => "cannot tell",
    }
}

pub(super) fn verdict_paint(verdict: PairVerdict) -> Paint {
    match verdict {
        PairVerdict::Better | PairVerdict::Worse | PairVerdict::Same => Paint::Bold,
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => Paint::Care,
    }
}

/// The sentence about a pair after the verdict: `B is faster than A: +5.1 % (+4.2 … +6.0 %)`.
pub(super) fn sentence(c: &Comparison, load: &LoadComparison, pair: &Pair, names: (&str, &str)) -> String {
    let (first, second) = names;
    let is = found(pair, load.quantity, names);
    let sides: Vec<(&GroupFigure, &str)> = [(pair.first, first), (pair.second, second)]
        .into_iter()
        .filter_map(|(at, name)| Some((winning_side(load, at)?, name)))
        .collect();
    let those = |holds: &dyn Fn(&GroupFigure) -> bool| {
        let names: Vec<&str> = sides.iter().filter(|(side, _)| holds(side)).map(|(_, name)| *name).collect();
        format!("{} {}", names.join(" and "), if names.len() > 1 { "are" } else { "is" })
    };
    let marked = |mark: Mark| those(&|side: &GroupFigure| side.marks.contains(&mark));
    match pair.verdict {
        PairVerdict::Better | PairVerdict::Worse => format!("{is}{}", models(pair)),
        PairVerdict::Same => {
            let real = if pair.significant { "; the difference is real but within the margin" } else { "" };
            format!("{is}, within ±{} %{real}{}", trimmed(c.margin * 100.0, 2), models(pair))
        }
        PairVerdict::BusTie => format!("{is}; both are limited by the bus, so the media are not compared"),
        PairVerdict::CannotTell(why) => match why {
            WhyUnknown::SingleValue => {
                format!("{is}; {}: more {} would decide", single_values(&sides), repeats(&sides))
            }
            WhyUnknown::NoSpread => format!("{is}, without an interval: equal values look like copies, not repeats"),
            WhyUnknown::Wide
                if pair.needed.is_none() && pair.days.is_none() && pair.question == PairQuestion::UnitAgainstOthers =>
            {
                format!("{is}; units of that model differ from each other by as much")
            }
            WhyUnknown::Wide => format!("{is}; {}", would_tell(load, pair)),
            WhyUnknown::Days => format!("{is}; {}", days(c, pair)),
            WhyUnknown::OneUnit => {
                // One value says too little of its own unit.
                if sides.iter().all(|(side, _)| side.values.len() < 2) {
                    return format!("{is}; {}: more {} would decide", single_values(&sides), repeats(&sides));
                }
                let single: Vec<&str> =
                    sides.iter().filter(|(side, _)| is_one_unit(side)).map(|(_, name)| *name).collect();
                let of = if single.len() > 1 { "are one unit each" } else { "is one unit" };
                let tell = pair.needed.as_ref().map_or_else(
                    || "measuring more units would decide".to_owned(),
                    |tell| needed_for(tell, Some(pair.ratio)),
                );
                format!("{is}; {} {of}, and units of a model may differ as much: {tell}", single.join(" and "))
            }
            WhyUnknown::BusHides => {
                format!("{is}, but {} limited by the bus, and the medium may be faster", marked(Mark::BusLimited))
            }
            WhyUnknown::OwnDays => format!(
                "{is}; each was measured on days of its own, which may change all of its units as much: measure both on \
                 the same days, or each unit on another"
            ),
            WhyUnknown::UnknownMedia => format!(
                "{is}, but it is not known whether the records of a group are of several media or of one: import them with \
                 --label model=… --label unit=…"
            ),
            WhyUnknown::OtherComputer => {
                format!("{is}, but {first} was measured on another computer: measure one unit on both")
            }
            WhyUnknown::BestOf => format!(
                "{is}, but {} the best of several runs and the other is not: figures made in the same way would decide",
                marked(Mark::BestOf)
            ),
            WhyUnknown::Invalid => format!("{is}, but {} invalid", marked(Mark::Invalid)),
            WhyUnknown::Incomplete => {
                let ended =
                    |side: &GroupFigure| side.marks.iter().any(|m| matches!(m, Mark::Failed | Mark::Unfinished));
                format!("{is}, but {} from a run that did not finish", those(&ended))
            }
            WhyUnknown::Fake => format!("{is}, but {} not genuine and cannot win", marked(Mark::Fake)),
        },
    }
}

/// What two units say of their models, beside what they say of themselves.
fn models(pair: &Pair) -> &'static str {
    match pair.models {
        None => "",
        Some((low, high)) if low > 1.0 || high < 1.0 => "; so do their models, as units hardly differ by as much",
        Some(_) => "; this is about these units: one of each does not tell whether their models differ",
    }
}

/// What would narrow the interval of a pair.
pub(super) fn would_tell(load: &LoadComparison, pair: &Pair) -> String {
    if let Some(tell) = &pair.needed {
        return needed_for(tell, Some(pair.ratio));
    }
    if pair.series.decides().is_some() {
        return "more runs would decide".to_owned();
    }
    // More of what the interval does not rest on would tell nothing.
    if pair.days.is_some() {
        return "runs on other days would decide".to_owned();
    }
    if pair.question == PairQuestion::SameUnits {
        return "more units, or more runs of these, would decide".to_owned();
    }
    let sides = [pair.first, pair.second].into_iter().filter_map(|at| winning_side(load, at));
    let fewest = sides.min_by_key(|side| side.values.len());
    format!("more {} would decide", fewest.map_or("values", |side| basis_name(side.basis)))
}

/// What a day may change, beside what the runs say.
fn days(c: &Comparison, pair: &Pair) -> String {
    let runs = match pair.runs {
        Some(runs) if runs.differ == Some(true) => {
            format!("these runs differ ({}), but a unit", interval(runs.low, runs.high))
        }
        _ => format!("these runs are the same within ±{} %, but a unit", trimmed(c.margin * 100.0, 2)),
    };
    let tell = pair
        .needed
        .as_ref()
        .map_or_else(|| "runs on other days would decide".to_owned(), |tell| needed_for(tell, Some(pair.ratio)));
    format!("{runs} may change as much from day to day: {tell}")
}

/// `A and B have one value each`, of the sides with one.
fn single_values(sides: &[(&GroupFigure, &str)]) -> String {
    let single: Vec<&str> = sides.iter().filter(|(side, _)| side.values.len() < 2).map(|(_, name)| *name).collect();
    format!("{} {}", single.join(" and "), if single.len() > 1 { "have one value each" } else { "has one value" })
}

/// What there are too few of where a side has one value.
fn repeats(sides: &[(&GroupFigure, &str)]) -> &'static str {
    sides.iter().find(|(side, _)| side.values.len() < 2).map_or("values", |(side, _)| basis_name(side.basis))
}

fn is_one_unit(side: &GroupFigure) -> bool {
    side.runs.windows(2).all(|two| two[0].unit == two[1].unit)
}

pub(super) fn winning_side(load: &LoadComparison, group: usize) -> Option<&GroupFigure> {
    load.sides.iter().find(|side| side.group == group)
}

/// The whole answer as text that stands by itself, and its title, on groups of one record each. Letters name nothing there: records of
/// one medium are named by their times.
pub(crate) fn finding(c: &Comparison, records: &[Observation]) -> (String, String) {
    let runs = |group: &GroupInfo| {
        let of = |record: &&Observation| group.records.contains(&record.id);
        let time = records.iter().find(of).map(|record| facts::when(&record.created)).unwrap_or_default();
        if time.is_empty() {
            format!("record {}", clean(&group.records.join(", ")))
        } else {
            format!("the run of {time}")
        }
    };
    let ids = |group: &GroupInfo| format!("record {}", clean(&group.records.join(", ")));
    let ways: [&dyn Fn(&GroupInfo) -> String; 3] = [&group_name, &runs, &ids];
    let distinct = |names: &Vec<String>| names.iter().enumerate().all(|(at, name)| !names[..at].contains(name));
    let named = ways.into_iter().map(|way| c.groups.iter().map(way).collect()).find(distinct);
    let named = named.unwrap_or_else(|| names(c));
    (said_of(c, &named).0, title_of(c, &named))
}

/// The answer in one line, without intervals and reasons, for titles.
pub(super) fn title(c: &Comparison) -> String {
    title_of(c, &names(c))
}

fn title_of(c: &Comparison, names: &[String]) -> String {
    let Some(load) = c.primary() else { return "Nothing to compare".to_owned() };
    let latency = if load.quantity.more_is_better() { String::new() } else { format!(", {}", load.quantity.title()) };
    let head = format!("{}{latency}", capitalised(&load.title));
    if let ([pair], [first, second]) = (&load.pairs[..], names) {
        let said = match pair.verdict {
            PairVerdict::Better | PairVerdict::Worse => {
                found(&Pair { low: None, high: None, ..*pair }, load.quantity, (first, second))
            }
            other => format!("{}, {first} and {second}", verdict_word(other)),
        };
        return format!("{head}: {said}");
    }
    let reference = load.pairs.first().map_or(0, |pair| pair.first);
    let [more, less] = change_words(load.quantity);
    let mut each: Vec<(&str, Vec<String>)> = Vec::new();
    for pair in load.pairs.iter().filter(|pair| pair.first == reference) {
        let word = match pair.verdict {
            PairVerdict::Better | PairVerdict::Worse if pair.ratio > 1.0 => more,
            PairVerdict::Better | PairVerdict::Worse => less,
            other => verdict_word(other),
        };
        let letter = c.groups.get(pair.second).map_or_else(String::new, |info| info.letter.to_string());
        match each.iter_mut().find(|(known, _)| *known == word) {
            Some((_, letters)) => letters.push(letter),
            None => each.push((word, vec![letter])),
        }
    }
    let each: Vec<String> = each.into_iter().map(|(word, letters)| format!("{} {word}", letters.join(", "))).collect();
    format!("{head}, against {}: {}", names.get(reference).map_or("", String::as_str), each.join("; "))
}

/// The whole answer, about the primary load, with how it is meant.
pub(super) fn overall(c: &Comparison) -> (String, Paint) {
    said_of(c, &names(c))
}

/// The same with these names of the groups.
fn said_of(c: &Comparison, names: &[String]) -> (String, Paint) {
    let Some(load) = c.primary() else {
        let mut text = "Nothing to compare: no load was measured in two of these groups.".to_owned();
        if c.excluded.iter().any(|left| matches!(left.reason, Reason::SmallArea { .. })) {
            text.push_str(" Small test areas are left out beside full ones: measure again with a larger --budget.");
        }
        if c.notes.iter().any(|note| matches!(note, Note::Published { groups } if groups.len() < c.groups.len())) {
            text.push_str(" The loads of most published figures are those of assay run --suite blocks.");
        }
        return (text, Paint::Care);
    };
    let latency = if load.quantity.more_is_better() { String::new() } else { format!(", {}", load.quantity.title()) };
    let head = format!("{}{latency}", capitalised(&load.title));
    if let ([pair], [first, second]) = (&load.pairs[..], names) {
        let said = sentence(c, load, pair, (first, second));
        let others = other_loads(c, pair, (first, second));
        return (format!("{head}: {} – {said}.{others}", verdict_word(pair.verdict)), verdict_paint(pair.verdict));
    }
    let reference = load.pairs.first().map_or(0, |pair| pair.first);
    let name = |at: usize| names.get(at).cloned().unwrap_or_default();
    let mut each: Vec<String> = Vec::new();
    // Groups with the same verdict are named together where there are many groups.
    let mut together: Vec<(&str, Vec<String>)> = Vec::new();
    for pair in load.pairs.iter().filter(|pair| pair.first == reference) {
        let second = name(pair.second);
        match pair.verdict {
            PairVerdict::Better | PairVerdict::Worse => {
                each.push(format!("{second} {}", difference(pair)));
            }
            other if c.groups.len() <= FEW => each.push(format!("{second}: {}", verdict_word(other))),
            other => match together.iter_mut().find(|(said, _)| *said == verdict_word(other)) {
                Some((_, names)) => names.push(second),
                None => together.push((verdict_word(other), vec![second])),
            },
        }
    }
    each.extend(together.into_iter().map(|(said, names)| format!("{}: {said}", names.join(", "))));
    let tone = load.pairs.first().map_or(Paint::Care, |pair| verdict_paint(pair.verdict));
    (format!("{head}, against {}: {}.", name(reference), each.join("; ")), tone)
}

/// How many other loads a sentence names.
const MOST_OTHERS: usize = 3;

/// Other loads that decide where the primary one does not, or that contradict it: ` Under other loads, each by itself, B
/// differs from A: random write 4 KiB −35 % (−47 … −20 %).`
fn other_loads(c: &Comparison, primary: &Pair, (first, second): (&str, &str)) -> String {
    let decided = |pair: &&Pair| matches!(pair.verdict, PairVerdict::Better | PairVerdict::Worse);
    let against = |pair: &&Pair| !decided(&primary) || pair.verdict != primary.verdict;
    let of = |load: &LoadComparison| load.pairs.first().filter(decided).filter(against).copied();
    let mut found: Vec<(&str, Pair)> =
        c.loads.iter().filter(|load| !load.primary).filter_map(|load| Some((load.title.as_str(), of(load)?))).collect();
    found.sort_by(|(_, a), (_, b)| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let more = found.len().saturating_sub(MOST_OTHERS);
    let mut each: Vec<String> =
        found.iter().take(MOST_OTHERS).map(|(title, pair)| format!("{} {}", clean(title), difference(pair))).collect();
    if more > 0 {
        each.push(format!("{more} more"));
    }
    match each.is_empty() {
        true => String::new(),
        false => format!(" Under other loads, each by itself, {second} differs from {first}: {}.", each.join("; ")),
    }
}

/// Groups by letter and name; by letter alone where names are equal, or many.
fn names(c: &Comparison) -> Vec<String> {
    let all: Vec<String> = c.groups.iter().map(group_name).collect();
    let distinct = all.iter().enumerate().all(|(at, name)| !all[..at].contains(name));
    let named = distinct && all.len() <= FEW;
    c.groups
        .iter()
        .zip(all)
        .map(|(g, name)| if named { format!("{} ({name})", g.letter) } else { g.letter.to_string() })
        .collect()
}

/// The largest number of groups for which a sentence names groups and includes the pairs without the reference. The
/// JSON document has all pairs.
const FEW: usize = 5;

/// All pairs if there are few groups, else those with the reference.
pub(super) fn said_of_loads<'a>(c: &Comparison, load: &'a LoadComparison) -> impl Iterator<Item = &'a Pair> {
    let reference = load.pairs.first().map_or(0, |pair| pair.first);
    let all = load.primary && c.groups.len() <= FEW;
    load.pairs.iter().filter(move |pair| all || pair.first == reference)
}

// A ratio with its interval as text.

/// The words for more, and for less of a quantity.
fn change_words(quantity: Quantity) -> [&'static str; 2] {
    if quantity.more_is_better() { ["faster", "slower"] } else { ["higher", "lower"] }
}

/// Shares below this are shown as no difference at all.
const EQUAL: f64 = 1e-9;

/// What was found of a pair, by the names of the first and the second: `B is faster than A: +5.1 % (+4.2 … +6.0 %)`,
/// `p99 latency of B is higher than that of A: …`.
pub(super) fn found(pair: &Pair, quantity: Quantity, (first, second): (&str, &str)) -> String {
    let [more, less] = change_words(quantity);
    // Higher and lower apply to the latency, not to the medium.
    let (subject, than) = if quantity.more_is_better() {
        (second.to_owned(), first.to_owned())
    } else {
        (format!("{} of {second}", quantity.title()), format!("that of {first}"))
    };
    let word = if (pair.ratio - 1.0).abs() < EQUAL {
        return format!("{subject} has the same figure as {than}{}", change::ends(pair.low.zip(pair.high), 1));
    } else if pair.ratio < 1.0 {
        less
    } else {
        more
    };
    // What is not decided is only what the figures look like.
    let verb = match pair.verdict {
        PairVerdict::Better | PairVerdict::Worse | PairVerdict::Same => "is",
        PairVerdict::BusTie | PairVerdict::CannotTell(_) => "looks",
    };
    format!("{subject} {verb} {word} than {than}: {}", difference(pair))
}

/// The difference of the second from the first: `−1 % (−21 … +24 %)`; without parentheses where there is no interval.
pub(super) fn difference(pair: &Pair) -> String {
    let least = if pair.at_least { "at least " } else { "" };
    format!("{least}{}", change(pair.ratio, pair.low.zip(pair.high)))
}

/// How much two runs differed, as an interval: `+3.4 … +14.2 %`.
fn interval(low: f64, high: f64) -> String {
    change::interval(low, high)
}

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

/// The name of a group in a list of all: what it is, behind its query where another group is of the same.
pub(super) fn group_title(c: &Comparison, info: &GroupInfo) -> String {
    let name = group_name(info);
    let of_name = c.groups.iter().filter(|other| group_name(other) == name).count();
    let of_query = c.groups.iter().filter(|other| other.query == info.query).count();
    if of_name > 1 && of_query == 1 && !info.query.is_empty() {
        return format!("{} · {name}", shorten(&clean(&info.query), LONGEST));
    }
    name
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
            0 => format!("; {assumed} % between days is assumed, as each unit was measured on one day"),
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
        text.push_str("; intervals are wider, because repeats ended as soon as they agreed");
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
        // What is in one group only is a unit.
        let named = if e.reason == Reason::OneGroup { &e.unit } else { &e.record };
        records.entry(key(c, e)).or_default().insert(named);
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

#[cfg(test)]
mod tests {
    use super::*;
    use assay_analysis::compare::{PairQuestion, PairVerdict, SeriesUse};

    fn pair(ratio: f64, low: Option<f64>, high: Option<f64>) -> Pair {
        Pair {
            first: 0,
            second: 1,
            question: PairQuestion::Runs,
            ratio,
            low,
            high,
            days: None,
            runs: None,
            series: SeriesUse::NotAsked,
            models: None,
            n: (3, 3),
            verdict: PairVerdict::Better,
            significant: true,
            at_least: false,
            needed: None,
        }
    }

    #[test]
    fn a_difference_has_one_form() {
        let say = |ratio, low, high| difference(&pair(ratio, Some(low), Some(high)));
        assert_eq!(say(1.051, 1.042, 1.06), "+5.1 % (+4.2 … +6.0 %)");
        assert_eq!(say(0.989, 0.79, 1.24), "−1 % (−21 … +24 %)");
        assert_eq!(say(0.9984, 0.8, 1.2), "−0.2 % (−20 … +20 %)", "a difference is not shown as none");
        assert_eq!(say(3.0, 2.5, 3.6), "+200 % (+150 … +260 %)");
        assert_eq!(say(42.0, 30.0, 60.0), "+4 100 % (+2 900 … +5 900 %)");
        assert_eq!(say(0.3, 0.2, 0.4), "−70 % (−80 … −60 %)");
        assert_eq!(say(1.0002, 1.0001, 1.0003), "+0.02 % (+0.01 … +0.03 %)");
        assert_eq!(say(1.5, 1.0, 1.9), "+50 % (0 … +90 %)");
        assert_eq!(say(2.5, 0.005, 900.0), "+150 % (no useful interval)");
        assert_eq!(difference(&pair(1.7, None, None)), "+70.0 %");
        let least = Pair { at_least: true, ..pair(1.1, Some(1.05), Some(1.15)) };
        assert_eq!(difference(&least), "at least +10.0 % (+5.0 … +15.0 %)");
        assert_eq!(interval(1.034, 1.142), "+3.4 … +14.2 %");
    }

    #[test]
    fn a_sentence_says_which_way() {
        let say = |ratio, low, high, quantity| found(&pair(ratio, Some(low), Some(high)), quantity, ("A", "B"));
        assert_eq!(say(1.051, 1.042, 1.06, Quantity::Iops), "B is faster than A: +5.1 % (+4.2 … +6.0 %)");
        assert_eq!(say(0.95, 0.94, 0.96, Quantity::Iops), "B is slower than A: −5.0 % (−6.0 … −4.0 %)");
        let p99 = say(0.3, 0.2, 0.4, Quantity::P99Ns);
        assert_eq!(p99, "p99 latency of B is lower than that of A: −70 % (−80 … −60 %)");
        assert_eq!(say(1.0, 0.97, 1.03, Quantity::Iops), "B has the same figure as A (−3.0 … +3.0 %)");
        assert_eq!(found(&pair(1.0, None, None), Quantity::Iops, ("A", "B")), "B has the same figure as A");
    }
}
