//! What takes no part, in few lines.

use assay_core::text::{clean, statement};
use std::collections::BTreeMap;

use assay_analysis::Excluded;
use assay_analysis::compare::{Comparison, Side};

use super::listed::listed;
use super::names::{self, letter};

/// One line for each group and reason: `B: not measured at this depth, but at QD1: random read 4 KiB, QD32`.
pub(super) fn left_out(c: &Comparison) -> Vec<String> {
    // Loads by group, reason and records, in the order they come.
    let mut loads: BTreeMap<(usize, String, String), Vec<&str>> = BTreeMap::new();
    let group = |e: &Excluded| c.group_of(e).unwrap_or(0);
    let load = |e: &'_ Excluded| -> String { e.load.clone().unwrap_or_default() };
    for e in &c.excluded {
        let records = loads.entry((group(e), e.reason.to_string(), load(e))).or_default();
        if !records.contains(&e.record.as_str()) {
            records.push(&e.record);
        }
    }
    let mut lines: BTreeMap<(usize, String, Vec<&str>), Vec<String>> = BTreeMap::new();
    for e in &c.excluded {
        let key = (group(e), e.reason.to_string(), load(e));
        if let Some(records) = loads.remove(&key) {
            lines.entry((key.0, key.1, records)).or_default().push(key.2);
        }
    }
    // Groups that lack the same for the same reason share a line.
    let mut shared: Vec<(Vec<String>, String)> = Vec::new();
    for ((group, reason, records), loads) in lines {
        let all = c.groups.get(group).map_or(0, |info| info.records.len());
        let mut whose = letter(c, group);
        if all > 1 && records.len() < all {
            let ids: Vec<String> = records.iter().map(|id| clean(id)).collect();
            whose.push_str(&format!(" ({})", ids.join(", ")));
        }
        let what = format!("{}: {}", statement(&reason), clean_all(&loads));
        match shared.iter_mut().find(|(_, known)| *known == what) {
            Some((groups, _)) => groups.push(whose),
            None => shared.push((vec![whose], what)),
        }
    }
    shared.into_iter().map(|(groups, what)| format!("{}: {what}", groups.join(", "))).collect()
}

fn clean_all(loads: &[String]) -> String {
    let all: Vec<String> = loads.iter().map(|load| clean(load)).collect();
    all.join("; ")
}

/// What the statements are about, for each group that has a figure of the primary load.
pub(super) fn about(c: &Comparison) -> Option<String> {
    let load = c.primary()?;
    let any_day = |group| load.pairs.iter().any(|p| (p.first == group || p.second == group) && p.days.is_some());
    // Groups that are judged alike share a part.
    let mut alike: Vec<([&str; 2], Vec<&Side>)> = Vec::new();
    for side in &load.sides {
        let judged = names::judged(side.basis, any_day(side.group));
        match alike.iter_mut().find(|(known, _)| *known == judged) {
            Some((_, sides)) => sides.push(side),
            None => alike.push((judged, vec![side])),
        }
    }
    let part = |(judged, sides): ([&str; 2], Vec<&Side>)| {
        let letters: Vec<String> = sides.iter().map(|side| letter(c, side.group)).collect();
        let [one, many] = judged;
        let judged = if sides.len() > 1 { format!("are judged {many}") } else { format!("is judged {one}") };
        format!("{} {judged}, over {}", listed(&letters), names::values(&sides))
    };
    let each: Vec<String> = alike.into_iter().map(part).collect();
    Some(each.join("; "))
}
