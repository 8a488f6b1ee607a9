//! The sentences about a pair, and the whole answer.

use assay_analysis::compare::{Comparison, GroupInfo, LoadComparison, Note, Pair, PairVerdict, Question, Side, Why};
use assay_analysis::{Mark, Quantity};
use assay_core::record::Record;
use assay_core::text::clean;
use assay_core::units::{fixed, multiples, times, trimmed};

use super::names::{basis_name, group_letter, group_name};
use crate::caveats::needed;
use crate::facts;
use crate::terminal::Paint;
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

/// The sentence about a pair after the verdict: `B is 5.1 % faster than A (4.2 … 6.0 %)`.
pub(super) fn sentence(c: &Comparison, load: &LoadComparison, pair: &Pair, names: (&str, &str)) -> String {
    let (first, second) = names;
    let is = if load.quantity.more_is_better() {
        format!("{second} is {}", change(pair, load.quantity, first))
    } else {
        // Higher and lower apply to the latency, not to the medium.
        let than = format!("that of {first}");
        format!("{} of {second} is {}", load.quantity.title(), change(pair, load.quantity, &than))
    };
    let sides: Vec<(&Side, &str)> = [(pair.first, first), (pair.second, second)]
        .into_iter()
        .filter_map(|(at, name)| Some((winning_side(load, at)?, name)))
        .collect();
    let those = |holds: &dyn Fn(&Side) -> bool| {
        let names: Vec<&str> = sides.iter().filter(|(side, _)| holds(side)).map(|(_, name)| *name).collect();
        format!("{} {}", names.join(" and "), if names.len() > 1 { "are" } else { "is" })
    };
    let marked = |mark: Mark| those(&|side: &Side| side.marks.contains(&mark));
    match pair.verdict {
        PairVerdict::Better | PairVerdict::Worse => format!("{is}{}", models(pair)),
        PairVerdict::Same => {
            let real = if pair.significant { "; the difference is real but within the margin" } else { "" };
            format!("{is}, within ±{} %{real}{}", trimmed(c.margin * 100.0, 2), models(pair))
        }
        PairVerdict::BusTie => format!("{is}; both are limited by the bus, so the media are not compared"),
        PairVerdict::CannotTell(why) => match why {
            Why::SingleValue => {
                let single: Vec<&str> =
                    sides.iter().filter(|(side, _)| side.values.len() < 2).map(|(_, name)| *name).collect();
                let has = if single.len() > 1 { "have one value each" } else { "has one value" };
                format!("{is}, without an interval: {} {has}", single.join(" and "))
            }
            Why::NoSpread => format!("{is}, without an interval: equal values look like copies, not repeats"),
            Why::Wide
                if pair.needed.is_none() && pair.days.is_none() && pair.question == Question::UnitAgainstOthers =>
            {
                format!("{is}; the others differ from each other by as much")
            }
            Why::Wide => format!("{is}; {}", would_tell(load, pair)),
            Why::Days => format!("{is}; {}", days(c, load, pair)),
            Why::OneUnit => {
                let single: Vec<&str> =
                    sides.iter().filter(|(side, _)| is_one_unit(side)).map(|(_, name)| *name).collect();
                let of = if single.len() > 1 { "are one unit each" } else { "is one unit" };
                let tell = pair.needed.as_ref().map_or_else(|| "further units would decide".to_owned(), needed);
                format!("{is}; {} {of}, and units of a model may differ as much: {tell}", single.join(" and "))
            }
            Why::BusHides => {
                format!("{is}, but {} limited by the bus, and the medium may be faster", marked(Mark::BusLimited))
            }
            Why::OwnDays => format!(
                "{is}; each was measured on days of its own, which may change all of its units as much: measure both on \
                 the same days, or each unit on another"
            ),
            Why::UnknownMedia => format!(
                "{is}, but nobody knows whether the records of a group are of several media or of one: import them with \
                 --label model=… --label unit=…"
            ),
            Why::OtherComputer => {
                format!("{is}, but {first} was measured on another computer: measure one unit on both")
            }
            Why::BestOf => format!(
                "{is}, but {} the best of several runs and the other is not: figures made in the same way would decide",
                marked(Mark::BestOf)
            ),
            Why::Invalid => format!("{is} by these figures, but {} invalid", marked(Mark::Invalid)),
            Why::Incomplete => {
                let ended = |side: &Side| side.marks.iter().any(|m| matches!(m, Mark::Failed | Mark::Unfinished));
                format!("{is} by these figures, but {} from a run that did not finish", those(&ended))
            }
            Why::Fake => format!("{is}, but {} not genuine and cannot win", marked(Mark::Fake)),
        },
    }
}

/// What two units say of their models, beside what they say of themselves.
fn models(pair: &Pair) -> &'static str {
    match pair.models {
        None => "",
        Some((low, high)) if low > 1.0 || high < 1.0 => "; so do their models, as units hardly differ by as much",
        Some(_) => "; whether their models differ, one unit of each cannot tell",
    }
}

/// What would narrow the interval of a pair.
pub(super) fn would_tell(load: &LoadComparison, pair: &Pair) -> String {
    if let Some(tell) = &pair.needed {
        return needed(tell);
    }
    if pair.series.decides().is_some() {
        return "more runs would decide".to_owned();
    }
    // More of what the interval does not rest on would tell nothing.
    if pair.days.is_some() {
        return "runs on other days would decide".to_owned();
    }
    if pair.question == Question::SameUnits {
        return "more units, or more runs of these, would decide".to_owned();
    }
    let sides = [pair.first, pair.second].into_iter().filter_map(|at| winning_side(load, at));
    let fewest = sides.min_by_key(|side| side.values.len());
    format!("more {} would decide", fewest.map_or("values", |side| basis_name(side.basis)))
}

/// What a day may change, beside what the runs say.
fn days(c: &Comparison, load: &LoadComparison, pair: &Pair) -> String {
    let runs = match pair.runs {
        Some(runs) if runs.differ == Some(true) => {
            format!("these runs differ ({}), but a unit", interval(runs.low, runs.high, load.quantity))
        }
        _ => format!("these runs are the same within ±{} %, but a unit", trimmed(c.margin * 100.0, 2)),
    };
    let tell = pair.needed.as_ref().map_or_else(|| "runs on other days would decide".to_owned(), needed);
    format!("{runs} may change as much from day to day: {tell}")
}

fn is_one_unit(side: &Side) -> bool {
    side.runs.windows(2).all(|two| two[0].unit == two[1].unit)
}

pub(super) fn winning_side(load: &LoadComparison, group: usize) -> Option<&Side> {
    load.sides.iter().find(|side| side.group == group)
}

/// The whole answer as text that stands by itself, on groups of one record each. Letters name nothing there: records of
/// one medium are named by their times.
pub(crate) fn finding(c: &Comparison, records: &[Record]) -> String {
    let runs = |group: &GroupInfo| {
        let of = |record: &&Record| group.records.contains(&record.id);
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
    said_of(c, &named.unwrap_or_else(|| names(c))).0
}

/// The whole answer, about the primary load, with how it is meant.
pub(super) fn overall(c: &Comparison) -> (String, Paint) {
    said_of(c, &names(c))
}

/// The same with these names of the groups.
fn said_of(c: &Comparison, names: &[String]) -> (String, Paint) {
    let Some(load) = c.primary() else {
        let mut text = "Nothing to compare: no load was measured in two of these groups.".to_owned();
        if c.notes.iter().any(|note| matches!(note, Note::Published { groups } if groups.len() < c.groups.len())) {
            text.push_str(" The loads of most published figures are those of assay run --suite blocks.");
        }
        return (text, Paint::Care);
    };
    let latency = if load.quantity.more_is_better() { String::new() } else { format!(", {}", load.quantity.title()) };
    let head = format!("{}{latency}", capitalised(&load.title));
    if let ([pair], [first, second]) = (&load.pairs[..], names) {
        let said = sentence(c, load, pair, (first, second));
        return (format!("{head}: {} – {said}.", verdict_word(pair.verdict)), verdict_paint(pair.verdict));
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
                each.push(format!("{second} {}", change(pair, load.quantity, &group_letter(c, reference))));
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

/// Ratios from a half to the double are shown in percent, others as multiples.
const PERCENT: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// The words for more, for less, and for multiples of a quantity.
fn change_words(quantity: Quantity) -> [&'static str; 3] {
    if quantity.more_is_better() { ["faster", "slower", "as fast"] } else { ["higher", "lower", "as high"] }
}

/// An interval wider than this factor is useless.
const USELESS: f64 = 100.0;

/// Whether an interval is so wide that its ends are useless.
fn is_useless(low: f64, high: f64) -> bool {
    high / low > USELESS
}

/// `5.1 % faster than A (4.2 … 6.0 %)`; without parentheses where there is no interval.
pub(super) fn change(pair: &Pair, quantity: Quantity, than: &str) -> String {
    let [more, less, as_much] = change_words(quantity);
    let interval = pair.low.zip(pair.high);
    let useless = interval.is_some_and(|(low, high)| is_useless(low, high));
    let ends = interval.filter(|_| !useless).map_or([pair.ratio; 2], |(low, high)| [low, high]);
    let interval = interval.filter(|_| !useless);
    let least = if pair.at_least { "at least " } else { "" };
    if !ends.iter().chain([&pair.ratio]).all(|r| PERCENT.contains(r)) {
        let ends = interval.map_or_else(|| no_interval(useless), |(l, h)| format!(" ({})", multiples(l, h)));
        return format!("{least}{} {as_much} as {than}{ends}", times(pair.ratio));
    }
    let sign = if pair.ratio < 1.0 { -1.0 } else { 1.0 };
    let word = if pair.ratio < 1.0 { less } else { more };
    let size = |ratio: f64| sign * (ratio - 1.0);
    let ends = interval.map_or_else(
        || no_interval(useless),
        |(low, high)| {
            let (low, high) = if sign < 0.0 { (size(high), size(low)) } else { (size(low), size(high)) };
            if low < 0.0 {
                // On both sides of equality: each end says its direction.
                let other = if pair.ratio < 1.0 { more } else { less };
                format!(" ({} % {other} … {} % {word})", percent(-low), percent(high))
            } else {
                format!(" ({} … {} %)", percent(low), percent(high))
            }
        },
    );
    format!("{least}{} % {word} than {than}{ends}", percent(size(pair.ratio)))
}

/// What stands in place of an interval.
fn no_interval(useless: bool) -> String {
    if useless { " (no useful interval)".to_owned() } else { String::new() }
}

/// How far a medium may change from day to day, and what two runs did, as an interval: `3.4 … 14.2 %`.
pub(super) fn interval(low: f64, high: f64, quantity: Quantity) -> String {
    let [more, less, _] = change_words(quantity);
    match (low >= 1.0, high <= 1.0) {
        _ if !PERCENT.contains(&low) || !PERCENT.contains(&high) => {
            format!("{} times", multiples(low, high))
        }
        (true, _) => format!("{} … {} % {more}", percent(low - 1.0), percent(high - 1.0)),
        (_, true) => format!("{} … {} % {less}", percent(1.0 - high), percent(1.0 - low)),
        _ => format!("{} % {less} … {} % {more}", percent(1.0 - low), percent(high - 1.0)),
    }
}

/// A share in percent with as many digits as people compare.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = fixed(percent, if percent.abs() >= 0.095 || percent == 0.0 { 1 } else { 2 });
    // A value that is rounded to zero has no sign.
    if text.trim_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use assay_analysis::compare::{PairVerdict, Question, SeriesUse};

    use super::*;

    fn pair(ratio: f64, low: Option<f64>, high: Option<f64>) -> Pair {
        Pair {
            first: 0,
            second: 1,
            question: Question::Runs,
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
    fn ratios_in_words() {
        let say = |ratio, low, high, quantity| change(&pair(ratio, Some(low), Some(high)), quantity, "A");
        assert_eq!(say(1.051, 1.042, 1.06, Quantity::Iops), "5.1 % faster than A (4.2 … 6.0 %)");
        assert_eq!(say(0.95, 0.94, 0.96, Quantity::Iops), "5.0 % slower than A (4.0 … 6.0 %)");
        assert_eq!(say(0.95, 0.90, 1.02, Quantity::P50Ns), "5.0 % lower than A (2.0 % higher … 10.0 % lower)");
        assert_eq!(say(3.0, 2.5, 3.6, Quantity::Iops), "3.00 times as fast as A (2.50–3.60)");
        assert_eq!(say(0.3, 0.2, 0.4, Quantity::P99Ns), "0.30 times as high as A (0.20–0.40)");
        assert_eq!(change(&pair(1.7, None, None), Quantity::Iops, "A"), "70.0 % faster than A");
        assert_eq!(say(1.0002, 1.0001, 1.0003, Quantity::Iops), "0.02 % faster than A (0.01 … 0.03 %)");
        let least = Pair { at_least: true, ..pair(1.1, Some(1.05), Some(1.15)) };
        assert_eq!(change(&least, Quantity::Iops, "A"), "at least 10.0 % faster than A (5.0 … 15.0 %)");
        assert_eq!(percent(-0.000_001), "0.00");
        assert_eq!(interval(1.034, 1.142, Quantity::Iops), "3.4 … 14.2 % faster");
        assert_eq!(interval(0.9, 0.95, Quantity::P99Ns), "5.0 … 10.0 % lower");
        assert_eq!(interval(0.99, 1.02, Quantity::Iops), "1.0 % slower … 2.0 % faster");
        assert_eq!(interval(0.2, 1.02, Quantity::Iops), "0.20–1.02 times");
    }
}
