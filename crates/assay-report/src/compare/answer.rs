//! The sentences about a pair, and the whole answer.

use assay_analysis::Mark;
use assay_analysis::compare::{Comparison, LoadComparison, Note, Pair, PairVerdict, Question, Side, Why};
use assay_core::units::trimmed;

use super::change::{change, interval};
use super::names::{group, letter, of};
use crate::line::Paint;
use crate::needed::needed;
use crate::verdict::capitalised;

/// The verdict in a word.
pub(super) fn word(verdict: PairVerdict) -> &'static str {
    match verdict {
        PairVerdict::Better | PairVerdict::Worse => "different",
        PairVerdict::Same => "same",
        PairVerdict::BusTie => "tie at the bus ceiling",
        PairVerdict::CannotTell(_) => "cannot tell",
    }
}

pub(super) fn paint(verdict: PairVerdict) -> Paint {
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
        .filter_map(|(at, name)| Some((side(load, at)?, name)))
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
    let sides = [pair.first, pair.second].into_iter().filter_map(|at| side(load, at));
    let fewest = sides.min_by_key(|side| side.values.len());
    format!("more {} would decide", fewest.map_or("values", |side| of(side.basis)))
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

pub(super) fn side(load: &LoadComparison, group: usize) -> Option<&Side> {
    load.sides.iter().find(|side| side.group == group)
}

/// The whole answer as text.
pub(crate) fn finding(c: &Comparison) -> String {
    overall(c).0
}

/// The whole answer, about the primary load, with how it is meant.
pub(super) fn overall(c: &Comparison) -> (String, Paint) {
    let Some(load) = c.primary() else {
        let mut text = "Nothing to compare: no load was measured in two of these groups.".to_owned();
        if c.notes.iter().any(|note| matches!(note, Note::Published { groups } if groups.len() < c.groups.len())) {
            text.push_str(" The loads of most published figures are those of assay run --suite blocks.");
        }
        return (text, Paint::Care);
    };
    let latency = if load.quantity.more_is_better() { String::new() } else { format!(", {}", load.quantity.title()) };
    let head = format!("{}{latency}", capitalised(&load.title));
    if let ([pair], [first, second]) = (&load.pairs[..], &c.groups[..]) {
        let mut names = (group(first), group(second));
        if names.0 == names.1 {
            names = (first.letter.to_string(), second.letter.to_string());
        } else {
            names = (format!("{} ({})", first.letter, names.0), format!("{} ({})", second.letter, names.1));
        }
        let said = sentence(c, load, pair, (&names.0, &names.1));
        return (format!("{head}: {} – {said}.", word(pair.verdict)), paint(pair.verdict));
    }
    let reference = load.pairs.first().map_or(0, |pair| pair.first);
    let names = names(c);
    let name = |at: usize| names.get(at).cloned().unwrap_or_default();
    let mut each: Vec<String> = Vec::new();
    // Groups with the same verdict are named together where there are many groups.
    let mut together: Vec<(&str, Vec<String>)> = Vec::new();
    for pair in load.pairs.iter().filter(|pair| pair.first == reference) {
        let second = name(pair.second);
        match pair.verdict {
            PairVerdict::Better | PairVerdict::Worse => {
                each.push(format!("{second} {}", change(pair, load.quantity, &letter(c, reference))));
            }
            other if c.groups.len() <= FEW => each.push(format!("{second}: {}", word(other))),
            other => match together.iter_mut().find(|(said, _)| *said == word(other)) {
                Some((_, names)) => names.push(second),
                None => together.push((word(other), vec![second])),
            },
        }
    }
    each.extend(together.into_iter().map(|(said, names)| format!("{}: {said}", names.join(", "))));
    let tone = load.pairs.first().map_or(Paint::Care, |pair| paint(pair.verdict));
    (format!("{head}, against {}: {}.", name(reference), each.join("; ")), tone)
}

/// Groups by letter and name; by letter alone where names are equal, or many.
fn names(c: &Comparison) -> Vec<String> {
    let all: Vec<String> = c.groups.iter().map(group).collect();
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
pub(super) fn said<'a>(c: &Comparison, load: &'a LoadComparison) -> impl Iterator<Item = &'a Pair> {
    let reference = load.pairs.first().map_or(0, |pair| pair.first);
    let all = load.primary && c.groups.len() <= FEW;
    load.pairs.iter().filter(move |pair| all || pair.first == reference)
}
