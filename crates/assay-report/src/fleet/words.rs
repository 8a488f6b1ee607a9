//! Sentences about a run.

use std::collections::BTreeMap;

use assay_analysis::fleet::{
    BelowAt, BelowNode, Beside, Doubt, FleetReport, FleetRow, NoSum, NodeGroups, OddAt, OddNode,
};
use assay_analysis::{Excluded, Reason};
use assay_core::medium::Mounted;
use assay_core::text::{clean, statement};
use assay_core::units::{figures, multiple, multiples, times, trimmed};

use crate::change::{change, difference};
use crate::headline::{in_words, unit};

/// Names in a sentence; more are counted.
const NAMED: usize = 5;

/// `1 node`, `28 nodes`.
pub(super) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// The name of a node.
pub(super) fn node_name(report: &FleetReport, at: usize) -> String {
    report.nodes.get(at).map_or_else(String::new, |row| clean(&row.node))
}

/// Names of nodes: `node1, node2 and 3 more`.
pub(super) fn node_names(report: &FleetReport, all: &[usize]) -> String {
    let named: Vec<String> = all.iter().take(NAMED).map(|at| node_name(report, *at)).collect();
    let more = all.len() - named.len();
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// A ratio beside a figure in a cell: `x0.28`.
pub(super) fn beside(ratio: f64) -> String {
    format!("x{}", multiple(ratio))
}

/// A ratio in a cell of its own: `0.28 (0.25–0.31)`.
pub(super) fn ratio(point: f64, low: Option<f64>, high: Option<f64>) -> String {
    match low.zip(high) {
        Some((low, high)) => format!("{} ({})", multiple(point), multiples(low, high)),
        None => multiple(point),
    }
}

/// The finding: how many nodes have records, which are odd, and the error probability of that.
pub(super) fn finding(report: &FleetReport) -> String {
    let all = report.nodes.len() + report.absent;
    let failed = media_failed(report).map(|words| format!("; {words}")).unwrap_or_default();
    let recorded = format!("{} of {} recorded{failed}", report.complete(), count(all, "node"));
    if report.loads.is_empty() {
        let why = if report.running { "still running: no figure counts so far" } else { "there is no valid figure" };
        return format!("{recorded}; {why}.");
    }
    let more = [node_groups(report), nodes_apart(report), loads_below(report), loads_unclear(report)]
        .into_iter()
        .flatten()
        .map(|words| format!("; {words}"));
    format!("{recorded}; {}{}.", odd_nodes(report), more.collect::<String>())
}

/// Nodes whose medium failed: nothing is read before that.
fn media_failed(report: &FleetReport) -> Option<String> {
    let failed = failed_nodes(report);
    let medium = if failed.len() == 1 { "medium" } else { "media" };
    (!failed.is_empty()).then(|| format!("the {medium} of {} failed", node_names(report, &failed)))
}

fn failed_nodes(report: &FleetReport) -> Vec<usize> {
    (0..report.nodes.len()).filter(|at| report.nodes[*at].medium_failed).collect()
}

/// Nodes that are far below the others under a load that all were to run, and that are not named under it already.
fn loads_below(report: &FleetReport) -> Option<String> {
    let known = |node: usize, title: &str| {
        let mut named = report.odd.odd.iter().chain(&report.odd.again);
        named.any(|odd| odd.node == node && odd.at.iter().any(|at| at.title == title))
    };
    let at = |at: &BelowAt| match at.to_median {
        Some(ratio) => format!("{} at {}", clean(&at.title), times(ratio)),
        None => format!("{}, not measured", clean(&at.title)),
    };
    let own = |one: &BelowNode| {
        let new: Vec<String> = one.at.iter().filter(|at| !known(one.node, &at.title)).map(at).collect();
        let first = new.first()?;
        let more = if new.len() > 1 { format!(", and {}", count(new.len() - 1, "more load")) } else { String::new() };
        Some(format!("{} ({first}{more})", node_name(report, one.node)))
    };
    let all: Vec<String> = report.far_below.iter().filter_map(own).collect();
    let shown = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let are = if all.len() == 1 { "is" } else { "are" };
    (!all.is_empty()).then(|| format!("{shown}{more} {are} far below the others"))
}

/// Nodes that were not measured under a load, without a sign that they are slower.
fn loads_unclear(report: &FleetReport) -> Option<String> {
    let own = |one: &BelowNode| {
        let at = one.at.first()?;
        let more =
            if one.at.len() > 1 { format!(" and {}", count(one.at.len() - 1, "more load")) } else { String::new() };
        let name = node_name(report, one.node);
        Some(format!(
            "{name} was not measured under {}{more}: no time was left for it, which does not say that it is slow",
            clean(&at.title)
        ))
    };
    let all: Vec<String> = report.unclear.iter().filter_map(own).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; {more} more likewise") } else { String::new() };
    (!all.is_empty()).then(|| all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ") + &more)
}

/// Nodes without a mounted medium at their target, if that excludes them from comparisons.
fn nodes_apart(report: &FleetReport) -> Option<String> {
    let of = |one: &Excluded| {
        let Reason::NotMounted { .. } = one.reason else { return None };
        report.nodes.iter().position(|row| row.record.as_ref() == Some(&one.record))
    };
    let all: Vec<usize> = report.excluded.iter().filter_map(of).collect();
    let named = |at: &usize| Some(format!("{} is {}", node_name(report, *at), node_place(report, *at)?));
    let shown: Vec<String> = all.iter().take(NAMED).filter_map(named).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more are likewise") } else { String::new() };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}

/// Where a node measured, if that is no mounted medium.
fn node_place(report: &FleetReport, at: usize) -> Option<String> {
    let row = report.nodes.get(at)?;
    not_mounted(row.mounted?, row.target.as_deref()?)
}

/// Nodes that form two groups: `the nodes form two groups under random write 4 KiB: 5 at 302 IOPS and 9 at 401 IOPS
/// (−25 %), and likewise under 2 more loads`.
fn node_groups(report: &FleetReport) -> Option<String> {
    let all = &report.odd.groups;
    let first = all.first()?;
    let (alike, others): (Vec<_>, Vec<_>) = all[1..].iter().partition(|two| is_same_split(first, two));
    let count_of = |these: &[&NodeGroups], words: &str| match these.len() {
        0 => String::new(),
        n => format!(", and {words} under {}", count(n, "more load")),
    };
    let more = count_of(&alike, "likewise") + &count_of(&others, "in other groups");
    let again = if first.again { ", by one repeat on disturbed hosts: measure again" } else { "" };
    let chance = trimmed(report.odd.groups_alpha * 100.0, 1);
    Some(format!(
        "the nodes form two groups under {}: {}{more}{again} (of equal nodes, that is seen by chance in {chance} % of runs)",
        clean(&first.title),
        group_figures(first)
    ))
}

/// Whether the same nodes are in one group, whichever is the faster one.
fn is_same_split(a: &NodeGroups, b: &NodeGroups) -> bool {
    let sorted = |nodes: &[usize]| {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes
    };
    let low = sorted(&a.low);
    low == sorted(&b.low) || low == sorted(&b.high)
}

/// `5 at 302 ±4 IOPS and 9 at 401 ±3 IOPS (−25 %)`.
fn group_figures(two: &NodeGroups) -> String {
    let (unit, divisor) = unit(two.quantity, two.high_figure.point);
    let figure = |estimate| in_words(estimate, divisor, unit);
    format!(
        "{} at {} and {} at {} ({})",
        two.low.len(),
        figure(&two.low_figure),
        two.high.len(),
        figure(&two.high_figure),
        change(two.ratio, None)
    )
}

/// Lines about two groups: who is in the smaller one, and what to look at.
fn group_lines(report: &FleetReport) -> Vec<String> {
    let line = |two: &NodeGroups| {
        let (which, some) = if two.low.len() <= two.high.len() { ("lower", &two.low) } else { ("higher", &two.high) };
        let mut some = some.clone();
        some.sort_unstable();
        let names: Vec<String> = some.iter().map(|at| node_name(report, *at)).collect();
        format!("{}: {}; the {which} ones are {}", clean(&two.title), group_figures(two), names.join(", "))
    };
    let mut lines: Vec<String> = report.odd.groups.iter().map(line).collect();
    if !lines.is_empty() {
        let what = "compare firmware, date of manufacture, slot, hub and host of the two; media of two kinds are labelled as \
                    two models (assay label)";
        lines.push(what.to_owned());
    }
    lines
}

fn odd_nodes(report: &FleetReport) -> String {
    let found = &report.odd;
    let error = format!(
        "of {} equal nodes, one would be named by chance in {} % of runs",
        found.tested,
        trimmed(found.alpha * 100.0, 1)
    );
    if let Some(refusal) = &found.refusal {
        return format!("odd nodes could not be determined: {}", statement(&refusal.to_string()));
    }
    match found.odd.as_slice() {
        [] if found.tested == 0 => too_few(report),
        [] if !found.again.is_empty() => {
            let each = found
                .again
                .iter()
                .take(NAMED)
                .map(|one| format!("{} ({})", node_name(report, one.node), nodes_off(one)));
            let more = found.again.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "none is odd for certain, but measure again {}{more}: one repeat, on a disturbed host",
                each.collect::<Vec<_>>().join(", ")
            )
        }
        [] => match found.disagree.iter().max_by(|a, b| a.2.total_cmp(&b.2)) {
            Some((model, title, ratio)) => format!(
                "no single node stands out, but units of {} differ by {} under {}",
                clean(model),
                difference(*ratio),
                clean(title)
            ),
            None if !found.groups.is_empty() => "no single node is odd".to_owned(),
            None => format!("none is odd ({error})"),
        },
        [one] => format!("{} is odd: {}; {error}", node_name(report, one.node), nodes_off(one)),
        several => {
            let each =
                several.iter().take(NAMED).map(|one| format!("{} ({})", node_name(report, one.node), nodes_off(one)));
            let more = several.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} are odd: {}{more}; {error}", count(several.len(), "node"), each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The number of nodes of one model that is enough to name an odd one.
const ENOUGH: usize = 4;

fn too_few(report: &FleetReport) -> String {
    // There are enough media, but several name one unit, or they do not report one common model.
    let measured =
        |row: &&FleetRow| row.record.is_some() && !row.medium_failed && !row.mounted.is_some_and(Mounted::is_no_medium);
    let mend = match report.nodes.iter().filter(measured).count() >= ENOUGH {
        true if !report.same_unit.is_empty() => "; nodes that name the same unit count as one (--label unit=NAME)",
        true => "; --label model=NAME sets the model of media that do not report it",
        false => "",
    };
    format!("too few media of one model to name an odd node: it takes four{mend}")
}

/// `random write 4 KiB −72 % (−75 … −69 %) against the others, and likewise under 2 more loads`.
fn nodes_off(odd: &OddNode) -> String {
    let Some(first) = odd.at.first() else { return String::new() };
    let more = odd.at.len() - 1;
    let more = if more > 0 { format!(", and likewise under {}", count(more, "more load")) } else { String::new() };
    format!("{}{more}", at(first))
}

fn at(at: &OddAt) -> String {
    format!("{} {} against the others", clean(&at.title), change(at.ratio, at.low.zip(at.high)))
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
                "{} began within {} ms of the planned time (p95), with a clock error of at most {} ms",
                count(starts.n, "repeat"),
                figures(starts.p95_late_ns as f64 / 1e6),
                figures(starts.bound_ns as f64 / 1e6)
            ),
        );
    }
    unfinished(report, &mut say);
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in 0..report.nodes.len() {
        if let Some(words) = node_place(report, at) {
            places.entry(words).or_default().push(at);
        }
    }
    for (words, all) in &places {
        say("not mounted", format!("{}: {words}", node_names(report, all)));
    }
    for (build, all) in builds(report) {
        say("build", format!("{}: {build}", node_names(report, &all)));
    }
    let throttled: Vec<usize> = (0..report.nodes.len()).filter(|at| report.nodes[*at].throttled.is_some()).collect();
    if !throttled.is_empty() {
        say("throttled", format!("{}: figures reflect cooling", node_names(report, &throttled)));
    }
    for doubt in report.suspect.iter().take(NAMED) {
        say("suspect", doubted(report, doubt));
    }
    if report.suspect.len() > NAMED {
        say("suspect", format!("{}; assay show has all", count(report.suspect.len() - NAMED, "more finding")));
    }
    for odd in report.odd.odd.iter().skip(NAMED) {
        say("odd, too", format!("{} ({})", node_name(report, odd.node), nodes_off(odd)));
    }
    let mut differ: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (model, title, ratio) in &report.odd.disagree {
        differ.entry(model).or_default().push(format!("{} under {}", difference(*ratio), clean(title)));
    }
    for (model, loads) in &differ {
        let words = format!("units differ by {}; no single one stands out", loads.join(", "));
        say("differ", format!("{}: {words}", clean(model)));
    }
    for line in group_lines(report) {
        say("two groups", line);
    }
    for same in &report.same_unit {
        say("same unit", format!("{} name the same unit, and count as one", node_names(report, same)));
    }
    for odd in &report.odd.again {
        let words = "in one repeat, on a disturbed host";
        say("measure again", format!("{} differs ({}), {words}", node_name(report, odd.node), nodes_off(odd)));
    }
    if report.unnamed > 0 {
        let who = if report.unnamed == 1 { "record names" } else { "records name" };
        let words = "no unit: the node counts as the unit, and a moved card is not noticed";
        say("unit", format!("{} {who} {words} (--label unit=…)", report.unnamed));
    }
    if report.repeated > 0 {
        say("attempts", format!("{} of earlier attempts left out", count(report.repeated, "record")));
    }
    facts
}

/// `node1 and node2 (random write 4 KiB): other programs used 40 to 60 % of all processors`.
fn doubted(report: &FleetReport, doubt: &Doubt) -> String {
    let nodes = match doubt.nodes.len() {
        all if all > NAMED && all == report.nodes.iter().filter(|row| row.record.is_some()).count() => {
            format!("all {all} nodes")
        }
        _ => node_names(report, &doubt.nodes),
    };
    let loads = match doubt.loads.as_slice() {
        [] => String::new(),
        [one] => format!(" ({})", clean(one)),
        several => format!(" ({})", count(several.len(), "load")),
    };
    format!("{nodes}{loads}: {}", statement(&doubt.cause))
}

/// Nodes whose medium failed, whose record is incomplete, or whose record is missing.
fn unfinished(report: &FleetReport, say: &mut impl FnMut(&str, String)) {
    for at in failed_nodes(report) {
        say("failed", format!("{}: {}", node_name(report, at), statement(&report.nodes[at].outcome)));
    }
    for (label, has_record) in [("not recorded", false), ("not complete", true)] {
        let is_missing = |row: &FleetRow| !row.complete && row.record.is_some() == has_record;
        let missing: Vec<usize> = (0..report.nodes.len()).filter(|at| is_missing(&report.nodes[*at])).collect();
        for at in missing.iter().take(NAMED) {
            say(label, format!("{}: {}", node_name(report, *at), statement(&report.nodes[*at].outcome)));
        }
        if missing.len() > NAMED {
            say(label, node_names(report, &missing[NAMED..]));
        }
    }
    if report.absent > 0 {
        let what = if report.absent == 1 {
            "it took part, and its record is"
        } else {
            "they took part, and their records are"
        };
        say("not here", format!("{}: {what} not here, or cannot be read", count(report.absent, "node")));
    }
}

/// The builds of the program that measured, where they differ: figures of two builds of one version may differ.
fn builds(report: &FleetReport) -> BTreeMap<String, Vec<usize>> {
    let mut all: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, row) in report.nodes.iter().enumerate() {
        let Some(version) = &row.version else { continue };
        let commit = row.commit.as_ref().map_or_else(String::new, |commit| format!(" of commit {}", clean(commit)));
        all.entry(format!("assay {}{commit}", clean(version))).or_default().push(at);
    }
    if all.len() > 1 { all } else { BTreeMap::new() }
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

/// `on the root disk, as nothing is mounted at /mnt/card`; `None` where a medium is mounted.
#[must_use]
pub fn not_mounted(mounted: Mounted, target: &str) -> Option<String> {
    match mounted {
        // The directory in which a node begins, as no other was named.
        Mounted::Root if target == "." => Some("on the root disk, as no target was named".to_owned()),
        Mounted::Root => Some(format!("on the root disk, as nothing is mounted at {}", clean(target))),
        Mounted::Memory => Some(format!("in memory, as no medium is mounted at {}", clean(target))),
        Mounted::There | Mounted::Above | Mounted::Unknown => None,
    }
}

// Which nodes are in no sum, and which loads have none.

/// Nodes that are left out of sums, a line each, and loads without a sum though nodes began together.
pub(super) fn apart_items(report: &FleetReport) -> Vec<(String, String)> {
    let mut outside: BTreeMap<usize, Vec<(&str, &Beside)>> = BTreeMap::new();
    let mut none = Vec::new();
    for load in &report.loads {
        for beside in load.together.iter().flat_map(|sum| &sum.beside) {
            outside.entry(beside.node).or_default().push((load.title.as_str(), beside));
        }
        if let Some(NoSum::Apart { largest, of, furthest }) = &load.no_sum {
            let who = furthest.as_ref().map(|one| format!("{} {}; ", node_name(report, one.node), off_items(one)));
            let words = match largest {
                0 | 1 => format!("no two of {of} worked at the same time"),
                _ => format!("{largest} of {of} worked at the same time"),
            };
            none.push(("no sum".to_owned(), format!("{}: {}{words}", clean(&load.title), who.unwrap_or_default())));
        }
    }
    let line = |(at, loads): (usize, Vec<(&str, &Beside)>)| {
        let (title, first) = loads.iter().max_by_key(|(_, beside)| beside.furthest_ns())?;
        let more = match loads.len() - 1 {
            0 => String::new(),
            more => format!(", and was apart under {}", count(more, "more load")),
        };
        let words = format!("{} {} under {}{more}", node_name(report, at), off_items(first), clean(title));
        Some(("not in the sum".to_owned(), words))
    };
    let beside: Vec<usize> = outside.keys().copied().collect();
    let idle = uncounted(report, &beside);
    let uncounted = (!idle.is_empty()).then(|| {
        let (have, figures) = if idle.len() == 1 { ("has", "its figures do") } else { ("have", "their figures do") };
        let words = format!("{} {have} a record, and {figures} not count", node_names(report, &idle));
        ("not in the sum".to_owned(), words)
    });
    outside.into_iter().filter_map(line).chain(uncounted).chain(none).collect()
}

/// Nodes with a record that are in no sum, although there are sums: what they did went on beside the others.
fn uncounted(report: &FleetReport, beside: &[usize]) -> Vec<usize> {
    let sums: Vec<_> = report.loads.iter().filter_map(|load| load.together.as_ref()).collect();
    let in_none = |at: &usize| sums.iter().all(|sum| sum.shares.get(*at).is_none_or(Option::is_none));
    let all = (0..report.nodes.len()).filter(|at| report.nodes[*at].record.is_some() && !beside.contains(at));
    if sums.is_empty() { Vec::new() } else { all.filter(in_none).collect() }
}

/// `ended 40 s after the others`.
fn off_items(beside: &Beside) -> String {
    let (verb, later_ns) = if beside.ended_later_ns.unsigned_abs() >= beside.began_later_ns.unsigned_abs() {
        ("ended", beside.ended_later_ns)
    } else {
        ("began", beside.began_later_ns)
    };
    let which = if later_ns < 0 { "before" } else { "after" };
    format!("{verb} {} s {which} the others", figures(later_ns.unsigned_abs() as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_medium_is_told() {
        let of = |mounted| not_mounted(mounted, "/mnt/card\u{1b}[2J");
        assert!(of(Mounted::Root).unwrap().starts_with("on the root disk, as nothing is mounted at /mnt/card"));
        assert!(!of(Mounted::Root).unwrap().contains('\u{1b}'));
        assert!(of(Mounted::Memory).unwrap().starts_with("in memory"));
        assert_eq!([Mounted::There, Mounted::Above, Mounted::Unknown].map(of), [None, None, None]);
        assert_eq!(not_mounted(Mounted::Root, ".").unwrap(), "on the root disk, as no target was named");
    }

    #[test]
    fn the_end_that_is_further_off_is_told() {
        let words = |began_later_ns, ended_later_ns| off_items(&Beside { node: 0, began_later_ns, ended_later_ns });
        assert_eq!(words(1_000_000, 40_000_000_000), "ended 40.0 s after the others");
        assert_eq!(words(0, -2_500_000_000), "ended 2.50 s before the others");
        assert_eq!(words(3_000_000_000, 2_000_000_000), "began 3.00 s after the others");
    }
}
