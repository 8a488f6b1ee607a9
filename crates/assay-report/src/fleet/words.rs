//! What is said of a run in sentences.

use assay_analysis::Excluded;
use assay_analysis::fleet::{FleetReport, Odd, OddAt};
use assay_core::text::{clean, statement};
use assay_core::units::{figures, fixed, trimmed};
use std::collections::BTreeMap;

/// Names in a sentence; more are counted.
const NAMED: usize = 5;

/// `1 node`, `28 nodes`.
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The name of a node.
pub(super) fn node(report: &FleetReport, at: usize) -> String {
    report.nodes.get(at).map_or_else(String::new, |row| clean(&row.node))
}

/// Names of nodes: `node1, node2 and 3 more`.
pub(super) fn nodes(report: &FleetReport, all: &[usize]) -> String {
    let named: Vec<String> = all.iter().take(NAMED).map(|at| node(report, *at)).collect();
    let more = all.len() - named.len();
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// `x0.28`.
pub(super) fn times(ratio: f64) -> String {
    if ratio < 9.995 { format!("x{}", fixed(ratio, 2)) } else { format!("x{}", figures(ratio)) }
}

/// `x0.28 (0.25–0.31)`.
pub(super) fn ratio(point: f64, low: Option<f64>, high: Option<f64>) -> String {
    match low.zip(high) {
        Some((low, high)) => format!("{} ({}–{})", times(point), fixed(low, 2), fixed(high, 2)),
        None => times(point),
    }
}

/// The finding: who recorded, who is odd, and how often that is said of equal nodes.
pub(super) fn finding(report: &FleetReport) -> String {
    let all = report.nodes.len();
    let recorded = format!("{} of {} recorded", report.complete(), count(all, "node"));
    if report.loads.is_empty() {
        return format!("{recorded}; there is no figure that counts.");
    }
    format!("{recorded}; {}.", odd(report))
}

fn odd(report: &FleetReport) -> String {
    let found = &report.odd;
    let error = format!(
        "one of {} equal nodes would be named in {} % of such runs",
        found.tested,
        trimmed(found.alpha * 100.0, 1)
    );
    if let Some(refusal) = &found.refusal {
        return format!("odd nodes could not be looked for: {}", statement(refusal));
    }
    match found.odd.as_slice() {
        [] if found.tested == 0 => too_few(report),
        [] => format!("none is odd ({error})"),
        [one] => format!("{} is odd: {}; {error}", node(report, one.node), off(one)),
        several => {
            let each = several.iter().take(NAMED).map(|one| format!("{} ({})", node(report, one.node), off(one)));
            let more = several.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} are odd: {}{more}; {error}", count(several.len(), "node"), each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// So many nodes of one model are enough.
const ENOUGH: usize = 4;

fn too_few(report: &FleetReport) -> String {
    let differs =
        report.odd.untested.iter().take(NAMED).map(|one| format!("{} ({})", node(report, one.node), off(one)));
    let differs: Vec<String> = differs.collect();
    let but = if differs.is_empty() {
        String::new()
    } else {
        let differ = if differs.len() == 1 { "differs" } else { "differ" };
        format!("; {} {differ} from the others, which agree", differs.join(", "))
    };
    // Four nodes are there: their media do not tell that they are of one model, or are of several.
    let mend = if report.nodes.len() >= ENOUGH { "; --label model=NAME tells it of media that do not" } else { "" };
    format!("too few to name an odd node, which takes four of one model{mend}{but}")
}

/// `random write 4 KiB at x0.28 of the others (0.25–0.31), and 2 more loads`.
fn off(odd: &Odd) -> String {
    let Some(first) = odd.at.first() else { return String::new() };
    let more = odd.at.len() - 1;
    let more = if more > 0 { format!(", and so under {}", count(more, "more load")) } else { String::new() };
    format!("{}{more}", at(first))
}

fn at(at: &OddAt) -> String {
    let interval = at.low.zip(at.high).map(|(l, h)| format!(" ({}–{})", fixed(l, 2), fixed(h, 2))).unwrap_or_default();
    format!("{} at {} of the others{interval}", clean(&at.title), times(at.ratio))
}

/// Facts under the finding.
pub(super) fn facts(report: &FleetReport) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut say = |label: &str, words: String| facts.push((label.to_owned(), words));
    let mode = report.mode.as_deref().map(|mode| format!(", {}", clean(mode))).unwrap_or_default();
    say("run", format!("{}{mode}", clean(&report.run)));
    if let Some(starts) = &report.starts {
        say(
            "start",
            format!(
                "{} began within {} ms of the moment planned (p95), by clocks known within {} ms",
                count(starts.n, "repeat"),
                figures(starts.p95_late_ns as f64 / 1e6),
                figures(starts.bound_ns as f64 / 1e6)
            ),
        );
    }
    let missing: Vec<usize> = (0..report.nodes.len()).filter(|at| !report.nodes[*at].complete).collect();
    for at in missing.iter().take(NAMED) {
        say("not recorded", format!("{}: {}", node(report, *at), statement(&report.nodes[*at].outcome)));
    }
    if missing.len() > NAMED {
        say("not recorded", nodes(report, &missing[NAMED..]));
    }
    let throttled: Vec<usize> = (0..report.nodes.len()).filter(|at| report.nodes[*at].throttled.is_some()).collect();
    if !throttled.is_empty() {
        say("throttled", format!("{}: figures under heat are those of the cooling", nodes(report, &throttled)));
    }
    for odd in report.odd.odd.iter().skip(NAMED) {
        say("odd, too", format!("{} ({})", node(report, odd.node), off(odd)));
    }
    for (model, title, ratio) in &report.odd.disagree {
        let words = format!("units differ by {} under {}, and none can be named", times(*ratio), clean(title));
        say("differ", format!("{}: {words}", clean(model)));
    }
    for same in &report.same_unit {
        say("same unit", format!("{} name the same unit, and count as one", nodes(report, same)));
    }
    if report.odd.tested > 0 {
        for odd in &report.odd.untested {
            say(
                "not tested",
                format!("{} differs from the others, which agree ({})", node(report, odd.node), off(odd)),
            );
        }
    }
    if report.unnamed > 0 {
        let who = if report.unnamed == 1 { "record names" } else { "records name" };
        let words = "no unit: the node stands for it, and a card that was moved is not noticed";
        say("unit", format!("{} {who} {words} (--label unit=…)", report.unnamed));
    }
    if report.repeated > 0 {
        say("attempts", format!("{} of earlier attempts left out", count(report.repeated, "record")));
    }
    facts
}

/// What decides nothing, a line a reason.
pub(super) fn excluded(report: &FleetReport) -> Vec<(String, String)> {
    let name = |one: &Excluded| {
        let of = report.nodes.iter().find(|row| row.record.as_ref() == Some(&one.record));
        let load = one.load.as_ref().map(|load| format!(" ({})", clean(load))).unwrap_or_default();
        format!("{}{load}", of.map_or_else(|| clean(&one.record), |row| clean(&row.node)))
    };
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in &report.excluded {
        reasons.entry(one.reason.to_string()).or_default().push(name(one));
    }
    let line = |(reason, names): (String, Vec<String>)| {
        let more = names.len().saturating_sub(NAMED);
        let shown = names[..names.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        ("left out".to_owned(), format!("{shown}{more}: {}", statement(&reason)))
    };
    reasons.into_iter().map(line).collect()
}
