//! Whether the compared figures were measured with computers that a common unit connects.
//!
//! A small board and a PC differ by 20 to 200 % at 4 KiB. If all units of one model were measured with one computer and
//! all units of another model with the other, no number of units separates the models from the computers. One unit that
//! was measured with both computers does.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::record::Record;

/// The kind of computer a record was made with: its board and processor. `None` where the record does not say; most
/// published and imported records do not. The kernel is left out: an update between two days would turn one computer
/// into two, and its effect is a few percent, while another board changes figures by a factor.
pub(crate) fn computer(record: &Record) -> Option<String> {
    let host = &record.host;
    let cpu = host.cpu.as_deref().filter(|cpu| !cpu.is_empty())?;
    Some(format!("{} {cpu}", host.board.as_deref().unwrap_or_default()))
}

/// One figure: its group, its unit, and its computer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a, G> {
    pub(crate) group: G,
    pub(crate) unit: (&'a str, &'a str),
    pub(crate) computer: Option<&'a str>,
}

/// Pairs of groups that were measured with different kinds of computers, with no chain of common units between those
/// kinds. Each pair is listed in both orders. A group with a figure of an unknown computer is in no pair.
pub(crate) fn apart<G: Ord + Copy>(seen: &[Seen<'_, G>]) -> BTreeSet<(G, G)> {
    let mut kinds: Vec<&str> = seen.iter().filter_map(|one| one.computer).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() < 2 {
        return BTreeSet::new();
    }
    let mut part: Vec<usize> = (0..kinds.len()).collect();
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in seen {
        let Some(kind) = one.computer.and_then(|computer| kinds.binary_search(&computer).ok()) else { continue };
        let before = *first.entry(one.unit).or_insert(kind);
        let (from, to) = (part[kind], part[before]);
        part.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
    }
    let mut parts: BTreeMap<G, Option<BTreeSet<usize>>> = BTreeMap::new();
    for one in seen {
        let kind = one.computer.and_then(|computer| kinds.binary_search(&computer).ok());
        let of = parts.entry(one.group).or_insert_with(|| Some(BTreeSet::new()));
        *of = of.take().zip(kind).map(|(mut known, kind)| {
            known.insert(part[kind]);
            known
        });
    }
    let known: Vec<(G, &BTreeSet<usize>)> =
        parts.iter().filter_map(|(group, of)| Some((*group, of.as_ref()?))).collect();
    let pairs = known.iter().flat_map(|a| known.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a.1.is_disjoint(b.1)).map(|(a, b)| (a.0, b.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_on_both_computers_connects_them() {
        let seen = |group: usize, unit: &'static str, computer: Option<&'static str>| Seen {
            group,
            unit: ("m", unit),
            computer,
        };
        let mut all = vec![seen(0, "1", Some("pi")), seen(0, "2", Some("pi")), seen(1, "3", Some("pc"))];
        assert_eq!(apart(&all), BTreeSet::from([(0, 1), (1, 0)]));
        all.push(seen(2, "1", Some("pc")));
        assert_eq!(apart(&all), BTreeSet::new(), "unit 1 was on both");
        assert_eq!(apart(&[seen(0, "1", Some("pi")), seen(1, "2", None)]), BTreeSet::new());
        let both = [seen(0, "1", Some("pi")), seen(0, "2", Some("pc")), seen(1, "3", Some("pc"))];
        assert_eq!(apart(&both), BTreeSet::new(), "the spread between the units of the first holds the computers");
    }
}
