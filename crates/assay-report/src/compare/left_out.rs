//! What is left out of a comparison, in few lines.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::Excluded;
use assay_analysis::compare::{Comparison, Side};
use assay_core::text::clean;

use super::listed::listed;
use super::names::{self, letter};
use crate::left_out;

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
            format!(" ({})", left_out::listed(&ids, ", ", Some("--json")))
        } else {
            String::new()
        };
        format!("{}{of}", letter(c, group))
    };
    let names: BTreeMap<_, String> = records.iter().map(|(key, some)| (key, called(key.0, some))).collect();
    // One entry represents all records of a group with the same reason.
    let mut told = BTreeSet::new();
    let firsts = c.excluded.iter().filter(|e| told.insert(key(c, e)));
    left_out::lines(firsts, |e| names.get(&key(c, e)).cloned().unwrap_or_default(), None)
}

/// The subject of the statements, for each group that has a figure of the primary load.
pub(super) fn about(c: &Comparison) -> Option<String> {
    let load = c.primary()?;
    let any_day = |group| load.pairs.iter().any(|p| (p.first == group || p.second == group) && p.days.is_some());
    // Groups with the same subject share a part.
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
