//! How long groups of units last, for people.

use assay_analysis::survive::{
    Axis, CauseShare, Grouping, Happening, LastSeen, LeftOut, Life, MOST_COMPARED, MOST_UNITS, Milestone, Needed, Pair,
    ShareAt, Silent, Survival, SurviveGroup, Verdict,
};
use assay_core::estimate::Estimate;
use assay_core::text::clean;
use assay_core::units::{counted, fixed, grouped, percent, probability, trimmed};
use assay_pictures::{Drawing, survival as drawing};

use crate::document::{Block, Cell, Data, Document, Table, TableRow, left, number, right};

/// Sentences on pairs of groups; further ones are in the JSON.
const SENTENCES: usize = 6;

/// The curves at stated times, what happened, and the comparison of groups.
#[must_use]
pub fn document(answer: &Survival) -> Document {
    let mut blocks: Vec<Block> = picture(answer).map(|drawing| Block::Picture(Box::new(drawing))).into_iter().collect();
    blocks.push(Block::Table(groups(answer)));
    if answer.groups.iter().any(|group| !group.causes.is_empty()) {
        blocks.push(Block::Table(causes(answer)));
    }
    blocks.extend(answer.pairs.iter().take(SENTENCES).flat_map(|pair| said(answer, pair)).map(Block::Text));
    blocks.extend(answer.groups.iter().flat_map(|group| of_group(answer, group)).map(Block::Text));
    blocks.push(Block::Items(items(answer)));
    let about = format!("Survival: {}, by {}", answer.milestone.title(), clean(answer.by.name()));
    Document { kind: "Survival", about, finding: finding(answer), blocks, data: data(answer) }
}

/// The curves, with the finding as title.
#[must_use]
pub fn picture(answer: &Survival) -> Option<Drawing> {
    drawing(answer, &finding(answer))
}

fn units_in(groups: &[SurviveGroup]) -> usize {
    groups.iter().map(|group| group.units as usize).sum()
}

/// What units do, after "half of them".
fn happens(milestone: Milestone) -> String {
    match milestone {
        Milestone::FirstError => "have had an error or died".to_owned(),
        Milestone::Death => "have died".to_owned(),
        share => format!("have lost {} of their sectors or died", share.name().replace('%', " %")),
    }
}

fn finding(answer: &Survival) -> String {
    match (&answer.pairs[..], &answer.groups[..]) {
        ([], [group]) => of_one(answer, group),
        ([], groups) => format!("{} of {}", counted(groups.len(), "curve"), counted(units_in(groups), "unit")),
        ([pair], _) => of_pair(answer, pair),
        (pairs, groups) => {
            let apart = pairs.iter().filter(|pair| pair.verdict != Verdict::CannotTell).count();
            format!(
                "{} of {} of {} differ in how long they last",
                apart,
                counted(pairs.len(), "pair"),
                counted(groups.len(), "group")
            )
        }
    }
}

fn of_one(answer: &Survival, group: &SurviveGroup) -> String {
    let (what, axis) = (happens(answer.milestone), answer.axis);
    let units = counted(group.units as usize, "unit");
    match group.median.point {
        Some(point) => {
            format!("Half of the units of {} {what} by {}", clean(&group.name), life(axis, point, &group.median))
        }
        None if group.failed == 0 => {
            format!("No failure among {units} of {}: {}", clean(&group.name), no_failure(answer, group))
        }
        None => format!(
            "{} of {units} of {} {what}, fewer than half: half do by no sooner than {} ({} %)",
            group.failed,
            clean(&group.name),
            axis.shown(group.median.low),
            trimmed(group.median.level * 100.0, 1)
        ),
    }
}

/// `3 100 cycles (95 %: 1 200 to 4 000 cycles, n=8)`.
fn life(axis: Axis, point: f64, median: &Life) -> String {
    let high = median.high.map_or_else(|| "no bound above".to_owned(), |high| axis.shown(high));
    let level = trimmed(median.level * 100.0, 1);
    format!("{} ({level} %: {} to {high}, n={})", axis.shown(point), axis.shown(median.low), median.n)
}

/// What no failure says, at the last stated time at which one was watched.
fn no_failure(answer: &Survival, group: &SurviveGroup) -> String {
    // The longest time for which half of the units were seen.
    let many = |share: &&ShareAt| share.watched > 0 && share.watched * 2 >= group.units;
    let last = group.shares.iter().rev().filter(many).find_map(|share| Some((share, share.failing_at_most?)));
    match last {
        Some((ShareAt { at, watched, .. }, most)) => format!(
            "no failure of {} in {}, so at most {} of such units fail until then ({} %, one-sided)",
            counted(*watched as usize, "unit"),
            answer.axis.shown(*at),
            percent(most, 0),
            trimmed(answer.level * 100.0, 1)
        ),
        None => "no failure, and none was watched for long enough to say anything".to_owned(),
    }
}

fn of_pair(answer: &Survival, pair: &Pair) -> String {
    let name = |at: usize| answer.groups.get(at).map(|group| clean(&group.name)).unwrap_or_default();
    let (first, second) = (name(pair.first), name(pair.second));
    match pair.verdict {
        Verdict::FirstLonger => format!("{first} lasts longer than {second} ({})", p(pair.p)),
        Verdict::SecondLonger => format!("{second} lasts longer than {first} ({})", p(pair.p)),
        Verdict::CannotTell => format!("Cannot tell whether {first} or {second} lasts longer ({})", p(pair.p)),
    }
}

fn p(p: f64) -> String {
    if p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {}", fixed(p, 3)) }
}

/// Why two groups do not differ, and what would show a difference.
fn said(answer: &Survival, pair: &Pair) -> Vec<String> {
    let mut lines = Vec::new();
    if answer.pairs.len() > 1 {
        lines.push(format!("{}.", of_pair(answer, pair)));
    }
    if pair.verdict != Verdict::CannotTell {
        return lines;
    }
    if answer.can_never_differ(pair) {
        lines.push(format!(
            "These units can never differ with {} %: no order of their failures gives less than {}.",
            trimmed(answer.level * 100.0, 1),
            p(pair.least_p)
        ));
    }
    let Some(ratio) = pair.assumed_ratio else {
        lines.push(match answer.by_site {
            true => "No failure compares the two within one site. Test units of both at the same sites.".to_owned(),
            false => "No failure compares the two. Watch their units for longer.".to_owned(),
        });
        return lines;
    };
    let name = |at: usize| answer.groups.get(at).map(|group| clean(&group.name)).unwrap_or_default();
    let (worse, times) = if ratio < 1.0 { (pair.first, 1.0 / ratio) } else { (pair.second, ratio) };
    let needed: Vec<String> = pair.needed.iter().map(|needed| units(answer, needed)).collect();
    if !needed.is_empty() {
        lines.push(format!(
            "If at equal age {} fails {} times as often, as it seems here, {} of 100 tests tell them apart with {}.",
            name(worse),
            trimmed(times, 1),
            trimmed(answer.chance * 100.0, 0),
            needed.join(", or with ")
        ));
    }
    lines
}

fn units(answer: &Survival, needed: &Needed) -> String {
    let until = match needed.until {
        Some(until) => format!("watched for {}", answer.axis.shown(until)),
        None => "watched until they fail".to_owned(),
    };
    match needed.found {
        Some(found) => format!("{} units of each {until}", found.units),
        None => format!("more than {MOST_UNITS} units of each {until}"),
    }
}

/// What a group does not tell, and what would let it; its distribution.
fn of_group(answer: &Survival, group: &SurviveGroup) -> Vec<String> {
    let mut lines = Vec::new();
    let name = clean(&group.name);
    if answer.groups.len() > 1 && group.failed == 0 {
        lines.push(format!("{name}: {}.", no_failure(answer, group)));
    }
    if let Some(fit) = &group.weibull {
        let of = |estimate: &Estimate| {
            let end = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |end| plain(answer.axis, end));
            format!("{} ({} to {})", answer.axis.shown(estimate.point), end(estimate.low), end(estimate.high))
        };
        let shape = &fit.shape;
        let ends = [shape.low, shape.high].map(|end| end.map_or_else(|| "?".to_owned(), |end| trimmed(end, 2)));
        lines.push(format!(
            "{name}, Weibull of {} failures of {}: shape {} ({} to {}), half by {}, a tenth by {}, all with {} % by profile likelihood.",
            group.failed,
            counted(group.units as usize, "unit"),
            trimmed(shape.point, 2),
            ends[0],
            ends[1],
            of(&fit.median),
            of(&fit.tenth),
            trimmed(answer.level * 100.0, 1)
        ));
    }
    lines
}

/// `75 % (35–97)`.
fn share(share: &ShareAt) -> Cell {
    let Some(estimate) = &share.share else { return Cell::with("–", "") };
    let digits = |share: f64| trimmed(share * 100.0, 0);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            Cell::with(percent(estimate.point, 0), format!("({}–{})", digits(low), digits(high)))
        }
        _ => Cell::with(percent(estimate.point, 0), ""),
    }
}

fn stated(answer: &Survival) -> Vec<String> {
    let shares = answer.groups.first().map(|group| &group.shares[..]).unwrap_or_default();
    shares.iter().map(|share| answer.axis.shown(share.at)).collect()
}

fn groups(answer: &Survival) -> Table {
    let level = trimmed(answer.level * 100.0, 1);
    let mut columns = vec![left(answer.by.name()), right("units"), right("failed"), right("censored")];
    columns.push(right(format!("half by ({level} %)")));
    columns.extend(stated(answer).into_iter().map(|at| right(format!("left at {at}"))));
    let row = |group: &SurviveGroup| {
        let of: Vec<String> =
            group.censored.iter().map(|one| format!("{} {}", one.units, last_seen(&one.seen))).collect();
        let censored: u32 = group.censored.iter().map(|one| one.units).sum();
        let small = if of.is_empty() { String::new() } else { format!("({})", of.join(", ")) };
        let high = group.median.high.map_or_else(|| "?".to_owned(), |high| plain(answer.axis, high));
        let point = group.median.point.map_or_else(|| "–".to_owned(), |point| plain(answer.axis, point));
        let mut cells: Vec<Cell> = vec![
            clean(&group.name).into(),
            group.units.to_string().into(),
            group.failed.to_string().into(),
            Cell::with(censored, small),
            Cell::with(point, format!("({}–{high})", plain(answer.axis, group.median.low))),
        ];
        cells.extend(group.shares.iter().map(share));
        TableRow::Cells(cells)
    };
    Table { caption: String::new(), columns, rows: answer.groups.iter().map(row).collect() }
}

/// Without the word for cycles, which the head of the column has.
fn plain(axis: Axis, value: f64) -> String {
    axis.shown(value).replace(" cycles", "")
}

/// What happened, in words.
fn happened(milestone: Milestone, happening: &Happening) -> String {
    match happening {
        Happening::Reached => milestone.title().to_owned(),
        Happening::Died { cause } => clean(cause),
        Happening::DiedBefore { cause } => format!("died before: {}", clean(cause)),
    }
}

fn last_seen(seen: &LastSeen) -> String {
    match seen {
        LastSeen::Running => "running".to_owned(),
        LastSeen::Censored { reason } => clean(reason),
    }
}

fn causes(answer: &Survival) -> Table {
    let mut columns = vec![left(answer.by.name()), left("what happened"), right("units")];
    columns.extend(stated(answer).into_iter().map(|at| right(format!("by {at}"))));
    let of = |group: &SurviveGroup, cause: &CauseShare| {
        let mut cells: Vec<Cell> = vec![
            clean(&group.name).into(),
            happened(answer.milestone, &cause.happened).into(),
            cause.units.to_string().into(),
        ];
        cells.extend(cause.shares.iter().map(share));
        TableRow::Cells(cells)
    };
    let rows = answer.groups.iter().flat_map(|group| group.causes.iter().map(move |cause| of(group, cause))).collect();
    Table { caption: "What happened".to_owned(), columns, rows }
}

fn items(answer: &Survival) -> Vec<(String, String)> {
    let mut items: Vec<(String, String)> = Vec::new();
    let mut add = |label: &str, text: String| items.push((label.to_owned(), text));
    let level = trimmed(answer.level * 100.0, 1);
    if let Some(group) = answer.groups.first() {
        add(
            "method",
            format!(
                "{}; causes by Aalen-Johansen; {level} % intervals for one time each, n is the number of units",
                group.course.method
            ),
        );
    }
    if let Some(pair) = answer.pairs.first() {
        let how = if pair.all_assignments { "all" } else { "drawn" };
        let sites = if answer.by_site { ", within sites" } else { "" };
        let several = if answer.pairs.len() > 1 { ", p by Holm" } else { "" };
        add(
            "method",
            format!(
                "log-rank by permutation, {} assignments ({how}){sites}{several}",
                grouped(i64::from(pair.assignments))
            ),
        );
    }
    if answer.late > 0 {
        let units = counted(answer.late as usize, "unit");
        add(
            "note",
            format!(
                "{units} reached it at an unknown time, and count at the latest possible: the curve may be too high"
            ),
        );
    }
    if answer.left_out.iter().any(|unit| unit.reason == Some(Silent::NotWatched)) {
        add(
            "note",
            "units that were not watched are left out; where they differ from the others, the curve is wrong"
                .to_owned(),
        );
    }
    if answer.without_site > 0 {
        let units = counted(answer.without_site as usize, "unit");
        add("note", format!("{units} without a site: units are not compared within their sites"));
    }
    if !answer.loads.is_empty() {
        let loads: Vec<String> = answer.loads.iter().map(|load| clean(load)).collect();
        add("note", format!("a group has units of several loads ({}); --by load separates them", loads.join(", ")));
    }
    if answer.groups.iter().any(|group| group.median.high.is_none()) {
        add("note", "? is no bound: that takes at least six units, or more failures".to_owned());
    }
    if answer.groups.iter().any(|group| group.shares.iter().any(|share| share.share.is_none())) {
        add("note", "– is beyond the last unit that was watched: nothing is known there".to_owned());
    }
    if answer.groups.iter().all(|group| group.weibull.is_none()) {
        add("note", format!("no distribution is fitted below {} failures of a group", Survival::weibull_from()));
    }
    if answer.groups.iter().any(|group| group.failed == 0) {
        let (units, level) = (answer.units_for_a_tenth(), probability(answer.level));
        add(
            "note",
            format!("to show that at most 10 % fail takes {units} units without a failure ({level}, one-sided)"),
        );
    }
    if answer.too_many {
        let most = MOST_COMPARED;
        add(
            "note",
            format!(
                "more than {most} groups are not compared, as small ones can never differ among many pairs; name the units of two"
            ),
        );
    }
    if answer.pairs.len() > SENTENCES {
        add("note", format!("{} more pairs are in --json", answer.pairs.len() - SENTENCES));
    }
    left_out(answer).into_iter().for_each(|line| add("left out", line));
    items
}

fn left_out(answer: &Survival) -> Vec<String> {
    let by = answer.by.name();
    let count = |why: Option<Silent>| answer.left_out.iter().filter(|LeftOut { reason, .. }| *reason == why).count();
    let group = match &answer.by {
        Grouping::All => String::new(),
        _ => format!("without {}", clean(by)),
    };
    let reasons = [
        (count(None), group),
        (count(Some(Silent::NotWatched)), format!("whose test did not watch for: {}", answer.milestone.title())),
        (count(Some(Silent::NoBytes)), "without bytes written".to_owned()),
    ];
    let some = reasons.into_iter().filter(|(units, _)| *units > 0);
    some.map(|(units, why)| format!("{} {why}", counted(units, "unit"))).collect()
}

/// A row for each figure.
fn data(answer: &Survival) -> Data {
    let columns = vec![
        "group",
        "milestone",
        "axis",
        "figure",
        "cause",
        "at",
        "point",
        "low",
        "high",
        "level",
        "units",
        "watched",
        "method",
    ];
    let mut rows = Vec::new();
    for group in &answer.groups {
        let row = |figure: &str,
                   cause: &str,
                   at: Option<f64>,
                   of: (Option<f64>, Option<f64>, Option<f64>),
                   watched: Option<u32>,
                   method: &str| {
            vec![
                group.name.clone(),
                answer.milestone.name().to_owned(),
                answer.axis.name().to_owned(),
                figure.to_owned(),
                cause.to_owned(),
                number(at),
                number(of.0),
                number(of.1),
                number(of.2),
                number(Some(answer.level)),
                group.units.to_string(),
                watched.map(|watched| watched.to_string()).unwrap_or_default(),
                method.to_owned(),
            ]
        };
        let median = &group.median;
        rows.push(row("median", "", None, (median.point, Some(median.low), median.high), None, &median.method));
        let causes = group
            .causes
            .iter()
            .flat_map(|cause| cause.shares.iter().map(move |share| ("failed", Some(&cause.happened), share)));
        for (figure, cause, share) in group.shares.iter().map(|share| ("left", None, share)).chain(causes) {
            let cause = &cause.map_or_else(String::new, |cause| happened(answer.milestone, cause));
            if let Some(estimate) = &share.share {
                let of = (Some(estimate.point), estimate.low, estimate.high);
                rows.push(row(figure, cause, Some(share.at), of, Some(share.watched), &estimate.method));
            }
        }
    }
    Data { columns, rows }
}

#[cfg(test)]
mod tests {
    use assay_analysis::survive::{SurviveOptions, read_lives, survive};

    use super::*;
    use crate::terminal::Style;

    fn answer(text: &str, milestone: Milestone) -> Survival {
        let options = SurviveOptions {
            milestone,
            axis: Axis::Cycles,
            by: Grouping::Model,
            at: Vec::new(),
            level: 0.95,
            chance: 0.8,
            seed: 0,
        };
        survive(&read_lives([("units.csv", text)]).unwrap(), &options).unwrap()
    }

    #[test]
    fn two_groups_of_three_say_what_would_tell_them_apart() {
        let text = "unit,model,cycles,end,cause\n1,A,3400,died,errors\n2,A,4100,running,\n3,A,3900,censored,reader\n\
            1,B,900,died,read_only\n2,B,1200,died,errors\n3,B,2000,died,vanished\n";
        insta::assert_snapshot!(document(&answer(text, Milestone::Death)).text(&Style::default()));
    }

    #[test]
    fn no_failure_is_a_bound() {
        let text = "unit,model,cycles,end\n1,A,1000,running\n2,A,1100,running\n3,A,1500,running\n";
        let said = "No failure among 3 units of A: no failure of 3 units in 1 000 cycles, so at most 63 % of such units fail until then \
            (95 %, one-sided)";
        assert_eq!(document(&answer(text, Milestone::Death)).finding, said);
        assert!(picture(&answer(text, Milestone::Death)).is_some());
    }

    #[test]
    fn csv_has_each_figure_with_its_interval() {
        let text =
            "unit,model,cycles,first_error,end,cause\n1,A,1000,400,running,\n2,A,1000,,died,hung\n3,A,900,,running,\n";
        let csv = document(&answer(text, Milestone::FirstError)).csv();
        assert!(csv.lines().any(|line| line.starts_with("A,first-error,cycles,median,,,")), "{csv}");
        assert!(csv.lines().any(|line| line.starts_with("A,first-error,cycles,failed,died before: hung,")), "{csv}");
    }
}
