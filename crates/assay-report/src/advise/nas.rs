//! Local flash or NAS.

use std::collections::BTreeSet;

use assay_analysis::advise::{Even, Link, NasAdvice, NasModel, NasRow, NasVerdict, Need, Term, VolumeTogether, WhatIf};
use assay_analysis::{ASSUMED_DAYS, Load, Quantity};
use assay_core::text::{capitalised, clean};
use assay_core::units::{Bytes, counted, figures, multiple, probability, rate};

use super::parts::{
    FIGURE, ONE_VALUE, Parts, exact_cells, figure_cells, figure_text, left_out_items, marks_text, percent,
};
use crate::document::{Answered, Column, Data, left, number, right};
use crate::headline::MB;

/// Local media against a share of the NAS.
#[must_use]
pub fn nas(advice: &NasAdvice) -> Answered {
    let sentence = sentence(advice);
    let mut parts = Parts::default();
    match &advice.deciding {
        Some(load) => deciding_table(&mut parts, advice, load),
        None => advice.models.iter().for_each(|model| table(&mut parts, model)),
    }
    behind(&mut parts, advice);
    left_out_items(&mut parts, &advice.excluded);
    parts.answered("nas", "Local flash or NAS".to_owned(), sentence, data(advice), advice)
}

fn rows(advice: &NasAdvice) -> impl Iterator<Item = &NasRow> {
    advice.models.iter().flat_map(|m| &m.rows)
}

/// The rows that are shown.
fn shown(advice: &NasAdvice) -> impl Iterator<Item = &NasRow> {
    rows(advice).filter(|row| advice.deciding.as_ref().is_none_or(|load| row.load == *load))
}

fn sentence(advice: &NasAdvice) -> String {
    let who = match &advice.models[..] {
        [one] => clean(&one.model),
        many => format!("each of {} models", many.len()),
    };
    let total = rows(advice).count();
    let with = |verdict: NasVerdict| rows(advice).filter(|r| r.verdict == verdict).count();
    let (local, nas) = (with(NasVerdict::Local), with(NasVerdict::Nas));
    let things = if advice.models.len() == 1 { "loads" } else { "pairs of model and load" };
    let loads = if total == 1 { "the one load".to_owned() } else { format!("all {total} {things}") };
    let nodes = advice.nodes;
    let known = || rows(advice).filter_map(|r| r.probability);
    if local == total {
        let least = known().fold(1.0, f64::min);
        return format!(
            "Local flash: {who} gives each of {nodes} nodes over {} more than its share of the NAS, in {loads} \
             (probability {}).",
            percent(advice.margin),
            bound(least, '>', "or more")
        );
    }
    if nas == total {
        let most = known().fold(0.0, f64::max);
        return format!(
            "NAS: {who} does not give each of {nodes} nodes {} more than its share of the NAS, in {loads} \
             (probability that it does: {}).",
            percent(advice.margin),
            bound(most, '<', "or less")
        );
    }
    let unknown = total - local - nas;
    let needs = |need| with(NasVerdict::CannotTell(need));
    if unknown < total {
        let because = |need, why: &str| match needs(need) {
            0 => String::new(),
            n => format!(" ({n} because {why})"),
        };
        let volume = because(Need::Volume, "the random IOPS of the volume are unknown: --nas-iops, or measure them")
            + &because(Need::Bus, &format!("{}: --what-if bus=RATE, or measure on a faster one", held(advice)))
            + &because(Need::BestOf, "the best of several runs is more than the medium does: measure it");
        let decided = match (local, nas) {
            (_, 0) => format!("Local flash wins in {local} of {total} {things}"),
            (0, _) => format!("The NAS wins in {nas} of {total} {things}"),
            _ => format!("It depends on the load: local flash wins in {local} of {total} {things}, the NAS in {nas}"),
        };
        let unknown = match unknown {
            0 => String::new(),
            1 => format!("; the other is undecided{volume}; {}", by_estimate(advice)),
            n => format!("; the other {n} are undecided{volume}; {}", by_estimate(advice)),
        };
        return format!("{decided}{unknown}.");
    }
    let why = if needs(Need::Repeats) == total {
        format!("{ONE_VALUE}, as the difference is too small to be decided by one")
    } else {
        let mut parts = Vec::new();
        let held = format!("are open because {} (--what-if bus=RATE, or measure on a faster one)", held(advice));
        for (need, words) in [
            (Need::Bus, held.as_str()),
            (Need::BestOf, "have only the best of several runs, more than the medium does on average (measure it)"),
            (Need::Repeats, "have one value without an interval, too near to the share (measure with 3 repeats)"),
            (Need::MoreMeasurements, "have too wide an interval (measure more units or repeats)"),
            (
                Need::VolumeDays,
                "differ from the share by no more than the day-to-day variation of the NAS (measure it on other days)",
            ),
            (Need::UnitsDiffer, "differ more from unit to unit than from the share"),
            (
                Need::Volume,
                "are slower than their share of the link, which the NAS may not reach (--nas-iops, or measure it)",
            ),
        ] {
            if needs(need) > 0 {
                parts.push(format!("{} of {total} {things} {words}", needs(need)));
            }
        }
        parts.join(", ")
    };
    format!("Cannot tell: {why}; {}.", by_estimate(advice))
}

/// `the bus SDR25 holds the local medium, which may do more`
fn held(advice: &NasAdvice) -> String {
    let bus = rows(advice).filter(|row| row.verdict == NasVerdict::CannotTell(Need::Bus));
    let mut modes: Vec<String> =
        bus.filter_map(|row| row.held_by.as_deref()).map(clean).filter(|m| !m.is_empty()).collect();
    modes.sort();
    modes.dedup();
    let named = if modes.is_empty() { String::new() } else { format!(" {}", modes.join(" and ")) };
    format!("the bus{named} holds the local medium, which may do more")
}

/// A probability as a bound: `95 % or more`, and `>99 %`, which is one by itself.
fn bound(p: f64, sign: char, words: &str) -> String {
    let text = probability(p);
    if text.starts_with(sign) { text } else { format!("{text} {words}") }
}

/// What the estimates say where the intervals do not decide, and how large the difference looks: `by the estimates, local
/// flash is faster in 4 of them, by a factor of 1.2 to 3.5`.
fn by_estimate(advice: &NasAdvice) -> String {
    let open = || rows(advice).filter(|r| matches!(r.verdict, NasVerdict::CannotTell(_)));
    let faster: Vec<f64> = open().map(|r| r.ratio).filter(|ratio| *ratio > 1.0).collect();
    let slower: Vec<f64> = open().map(|r| r.ratio).filter(|ratio| *ratio <= 1.0).map(f64::recip).collect();
    let all = faster.len() + slower.len();
    // What the volume itself gives is not known: the link bounds it from above.
    let bounded = open().any(|r| r.ratio <= 1.0 && r.verdict == NasVerdict::CannotTell(Need::Volume));
    let (is, of_most) = if bounded { ("may be", "at most ") } else { ("is", "") };
    let local = |of: &str| format!("local flash is faster{of}, by a factor of {}", factors(&faster));
    let nas = |of: &str| format!("the NAS {is} faster{of}, by a factor of {of_most}{}", factors(&slower));
    let of = match (faster.len(), all) {
        (0, 1) => nas(""),
        (1, 1) => local(""),
        (0, _) => nas(&format!(" in all {all} of them")),
        (some, _) if some == all => local(&format!(" in all {all} of them")),
        (some, _) => format!("{}, and {}", local(&format!(" in {some} of them")), nas(&format!(" in {}", all - some))),
    };
    format!("by the estimates, {of}")
}

/// `1.2 to 3.5`.
fn factors(all: &[f64]) -> String {
    let least = multiple(all.iter().copied().fold(f64::INFINITY, f64::min));
    let most = multiple(all.iter().copied().fold(0.0, f64::max));
    if least == most { least } else { format!("{least} to {most}") }
}

fn table(parts: &mut Parts, model: &NasModel) {
    let units = counted(model.units, "unit");
    let mut headings: Vec<String> = Vec::new();
    for row in &model.rows {
        if !headings.contains(&heading(row)) {
            headings.push(heading(row));
        }
    }
    let groups = headings.into_iter().map(|title| {
        let lines = model.rows.iter().filter(|r| heading(r) == title).map(line).collect();
        (title, lines)
    });
    parts.groups(format!("{}, {units}", clean(&model.model)), columns(""), groups.collect());
}

fn columns(first: &str) -> Vec<Column> {
    let figures = ["MB/s", "95 %", "of", "NAS share", "limited by", "even at", "chance", "answer"].map(right);
    std::iter::once(left(first)).chain(figures).collect()
}

/// The models under the load that decides.
fn deciding_table(parts: &mut Parts, advice: &NasAdvice, load: &Load) {
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut without: Vec<String> = Vec::new();
    for model in &advice.models {
        match model.rows.iter().find(|row| row.load == *load) {
            Some(row) => {
                lines.push(std::iter::once(clean(&model.model)).chain(line(row).into_iter().skip(1)).collect())
            }
            None => without.push(clean(&model.model)),
        }
    }
    parts.heading(&capitalised(&load.title()));
    parts.table(columns("model"), lines);
    if !without.is_empty() {
        parts.item("not in it", &format!("{}: not measured under this load", without.join(", ")));
    }
    let loads: BTreeSet<&Load> = rows(advice).map(|row| &row.load).collect();
    parts.item("loads", &format!("this one decides by default; --all shows all {}, --load another", loads.len()));
}

/// The title of the load, without its block size.
fn heading(row: &NasRow) -> String {
    let size = format!(" {}", Bytes(row.load.block_bytes));
    clean(&row.title.replacen(&size, "", 1))
}

fn line(row: &NasRow) -> Vec<String> {
    let [value, range, n] = figure_cells(&row.local);
    vec![
        Bytes(row.load.block_bytes).to_string(),
        value,
        range,
        n,
        figures(row.share_bytes_per_second / MB),
        term(row.limit).to_owned(),
        match row.break_even {
            Even::Nodes(nodes) => figures(nodes),
            Even::Always => "<1".to_owned(),
        },
        row.probability.map_or_else(|| "–".to_owned(), probability),
        match row.verdict {
            NasVerdict::CannotTell(Need::Volume) => LINK_ONLY.to_owned(),
            NasVerdict::CannotTell(Need::BestOf) => BEST_OF.to_owned(),
            verdict => answer(verdict).to_owned(),
        },
    ]
}

/// Marks a row whose figure is the best of several runs, which cannot win.
const BEST_OF: &str = "best of runs";
/// Marks a row in which nothing but the link is known of the volume.
const LINK_ONLY: &str = "link only";

fn term(term: Term) -> &'static str {
    match term {
        Term::Wire => "link",
        Term::BestRate => "best rate",
        Term::Volume => "volume",
        Term::Alone => "alone",
        Term::Together => "together",
        Term::Answer => "answer",
        Term::NodeWire => "node link",
    }
}

/// A row for each model and load.
fn data(advice: &NasAdvice) -> Data {
    let mut columns = vec!["model", "units", "load", "block_bytes"];
    columns.extend(FIGURE);
    columns.extend(["share_bytes_per_second", "share_ends_at", "even_at_nodes", "probability", "answer"]);
    let row = |model: &NasModel, row: &NasRow| {
        let head = [&model.model, &model.units.to_string(), &row.title, &row.load.block_bytes.to_string()];
        let nodes = match row.break_even {
            Even::Nodes(nodes) => number(Some(nodes)),
            Even::Always => "0".to_owned(),
        };
        let tail = [
            number(Some(row.share_bytes_per_second)),
            term(row.limit).to_owned(),
            nodes,
            number(row.probability),
            answer(row.verdict).to_owned(),
        ];
        head.map(String::clone).into_iter().chain(exact_cells(&row.local)).chain(tail).collect()
    };
    let rows = advice.models.iter().flat_map(|model| model.rows.iter().map(move |r| row(model, r))).collect();
    Data { columns, rows }
}

fn answer(verdict: NasVerdict) -> &'static str {
    match verdict {
        NasVerdict::Local => "local",
        NasVerdict::Nas => "NAS",
        NasVerdict::CannotTell(_) => "cannot tell",
    }
}

/// `; measured by 7 nodes at once, 2 repeats left out that not all made at the same time`.
fn at_once(together: &VolumeTogether) -> String {
    let left_out = match together.left_out {
        0 => String::new(),
        1 => ", one repeat left out because not all nodes overlapped".to_owned(),
        n => format!(", {n} repeats left out because not all nodes overlapped"),
    };
    format!("; measured by {} nodes at once{left_out}", together.nodes)
}

/// What limits the share, in words.
const LIMITS: [(Term, &str); 7] = [
    (Term::Wire, "the link, divided by the active nodes"),
    (Term::BestRate, "the best rate that one client measured, divided by the active nodes; the volume may give more"),
    (Term::Volume, "the operations per second of the volume, divided by the active nodes"),
    (Term::Alone, "what a single client gets under that load"),
    (Term::Together, "the total of nodes that measured at the same time, divided by the active nodes"),
    (Term::Answer, "the response time: requests in flight / time * block size"),
    (Term::NodeWire, "the link of the node"),
];

fn behind(parts: &mut Parts, advice: &NasAdvice) {
    let nodes = advice.nodes;
    parts.item("nodes", &format!("{nodes}, {} active at the same time", percent(advice.active_share)));
    let payload = rate(advice.link.payload());
    match advice.link {
        Link::Line(line) => {
            let text = format!("{}, {payload} after protocol (TCP over Ethernet: 1448 of 1538 bytes)", rate(line));
            parts.item("link", &text);
        }
        Link::Payload(_) => parts.item("link", &format!("{payload} of payload")),
    }
    let of_line = advice.line_share.map(|share| format!("{} of the line, ", rate(share))).unwrap_or_default();
    parts.item("each node", &format!("{of_line}{} of its payload", rate(advice.payload_share)));
    if let Some(iops) = advice.volume_iops {
        let text = format!("{} IOPS as given, for random loads; it does not limit sequential ones", figures(iops));
        parts.item("volume", &text);
    }
    if let Some(volume) = &advice.volume {
        let of = rows(advice).find_map(|r| r.volume.as_ref());
        let best =
            of.and_then(|v| v.best.as_ref()).map(|best| format!("; best rate of one client {}", figure_text(best)));
        let together = of.and_then(|v| v.together.as_ref()).map(at_once);
        let assumed = assay_core::units::percent(ASSUMED_DAYS, 1);
        let days = format!("day-to-day variation of {assumed} assumed where it was measured on one day only");
        let known = [best, together].into_iter().flatten().collect::<String>();
        parts.item("NAS", &format!("{}{known}; {days}", clean(volume)));
    }
    if let Some(span) = advice.volume_read_bytes {
        let area = if span > 0 { format!("over {}", Bytes(span)) } else { "over an area of unknown size".to_owned() };
        let text = format!("the NAS was read {area}; what the server caches of it in memory is read without its disks");
        parts.item("cache", &text);
    }
    parts.item("NAS share", "what each active node gets, MB/s: the lowest known limit, which \"limited by\" names:");
    for (which, words) in LIMITS {
        if shown(advice).any(|r| r.limit == which) {
            parts.item(&format!("limited by {}", term(which)), words);
        }
    }
    what_if(parts, advice);
    parts.item("even at", "number of nodes at which both are equal, by the estimates; with more, local is faster");
    if shown(advice).any(|r| r.break_even == Even::Always) {
        parts.item("<1", "even a single node gets less than local gives");
    }
    if shown(advice).any(|r| r.verdict == NasVerdict::CannotTell(Need::Volume)) {
        let text = "cannot tell: slower than its share of the link, but the random IOPS of the volume are unknown and may be less: \
                    --nas-iops, or measure them";
        parts.item(LINK_ONLY, text);
    }
    let about = match (shown(advice).any(|r| r.next_unit), shown(advice).any(|r| !r.next_unit)) {
        (true, false) => "for the next unit of the model",
        (false, true) => "for the unit measured; others are unknown",
        _ => "for the next unit where several units were measured, otherwise for the one measured",
    };
    let margin = percent(advice.margin);
    let few = shown(advice).any(|r| r.next_unit && r.local.n < 3);
    let single = shown(advice).any(|r| r.local.n == 1 && r.probability.is_some());
    let assumed = match (few, single) {
        (true, _) => "; with fewer than three units, 15 % variation between units is assumed",
        (false, true) => "; of one value, a variation of 15 % is assumed, as units of a model have",
        (false, false) => "",
    };
    parts.item(
        "chance",
        &format!("probability that local is faster than the share by more than {margin}, {about}{assumed}"),
    );
    if shown(advice).any(|r| r.local.quantity == Quantity::DurableBytesPerSecond) {
        parts.item("writes", "durable: including the final sync, where both sides have it");
    }
    let mut seen: Vec<String> = Vec::new();
    for row in shown(advice) {
        let said = marks_text(&row.local.marks);
        if !said.is_empty() && !seen.contains(&said) {
            let many = shown(advice).filter(|r| marks_text(&r.local.marks) == said).count();
            parts.item("note", &format!("{said}: {many} of {} rows", shown(advice).count()));
            seen.push(said);
        }
    }
    if let Some(row) = shown(advice).find(|r| r.local.interval.is_some()) {
        parts.item("95 %", &format!("interval of the mean: {}", row.local.method));
    }
}

/// What another bus would change, with what that assumes.
fn what_if(parts: &mut Parts, advice: &NasAdvice) {
    let Some(bus) = advice.what_if_bus else { return };
    let bus = rate(bus);
    let at_the_bus: Vec<(&NasRow, &WhatIf)> = rows(advice).filter_map(|r| Some((r, r.what_if.as_ref()?))).collect();
    if at_the_bus.is_empty() {
        parts.item(
            "what if",
            &format!("no load was limited by a bus below {bus}: a faster bus alone would change nothing"),
        );
        return;
    }
    let assumed = "assuming that nothing else changes; host or medium may be the next limit";
    parts.item("what if", &format!("with a bus of {bus} for the local media; {assumed}:"));
    for (row, WhatIf { bytes_per_second: (low, high), break_even, verdict }) in at_the_bus {
        let even = break_even.map_or_else(
            || "even one node gets less".to_owned(),
            |(most, least)| format!("even at {} to {} nodes", figures(least), figures(most)),
        );
        let answer = match verdict {
            Some(verdict) if *verdict == row.verdict => format!("still {}", answer(*verdict)),
            Some(verdict) => answer(*verdict).to_owned(),
            None => "cannot tell which".to_owned(),
        };
        let title = clean(&row.title);
        parts.item("", &format!("{title}: {} to {}, {even}: {answer}", figures(low / MB), rate(*high)));
    }
}

#[cfg(test)]
mod tests {
    use assay_analysis::advise::NasQuestion;

    use super::*;
    use crate::document::Document;

    fn asked(published: &str, load: Option<&str>) -> Document {
        let records = assay_analysis::published(published).unwrap();
        let question =
            NasQuestion { load: load.map(str::to_owned), all: true, ..NasQuestion::for_nodes(28, Link::Line(125e6)) };
        nas(&assay_analysis::advise::nas(&records, &[], &question).unwrap()).document
    }

    #[test]
    fn the_headline_says_what_is_decided_and_what_the_estimates_say_of_the_rest() {
        assert_eq!(
            asked("sandisk-ultra-a1", None).finding,
            "Local flash wins in 6 of 12 loads; the other 6 are undecided; by the estimates, local flash is faster in 4 of them, by a \
             factor of 1.23 to 2.58, and the NAS is faster in 2, by a factor of 1.34 to 3.48."
        );
    }

    #[test]
    fn by_default_the_load_that_decides_is_shown_with_a_row_for_each_model() {
        let records = assay_analysis::published("").unwrap();
        let ask = |all| NasQuestion { all, ..NasQuestion::for_nodes(28, Link::Line(125e6)) };
        let of = |all| {
            let found = assay_analysis::advise::nas(&records, &[], &ask(all)).unwrap();
            nas(&found).document.text(&crate::Style::default())
        };
        let (short, long) = (of(false), of(true));
        assert!(short.lines().count() < 80 && long.lines().count() > 200, "{short}");
        assert!(short.contains("Random read 4 KiB, 4 jobs") && short.contains("--all shows all "), "{short}");
        assert!(long.matches("link only").count() > 20, "{long}");
        assert_eq!(short.split("\n\n").next(), long.split("\n\n").next(), "the answer is about all loads");
    }

    #[test]
    fn a_load_heads_its_rows_and_rates_are_in_megabytes() {
        let text = asked("samsung-evo-plus-64gb/ca", Some("random read 4 KiB, 4 jobs")).text(&crate::Style::default());
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let head =
            lines.iter().position(|line| line.join(" ") == "random read, 4 jobs").unwrap_or_else(|| panic!("{text}"));
        assert_eq!(lines[head - 1][0], "MB/s", "{text}");
        // 4929 KiB/s.
        assert_eq!(lines[head + 1][..3], ["4", "KiB", "5.05"], "{text}");
    }
}
