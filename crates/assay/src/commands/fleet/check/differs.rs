//! Which node's target is unlike those of the others.

use std::collections::BTreeMap;

use assay_core::medium::Medium;
use assay_core::text::harmless;
use assay_core::units::capacity;

use super::row::Row;

/// Cards of one size on their package differ by a few per cent in bytes.
const ALIKE: f64 = 1.25;

/// The node that differs most from the others in file system and size, in words; `None` where they are alike, or where fewer
/// than three say what they are.
pub(super) fn most_different(rows: &[Row]) -> Option<String> {
    let known: Vec<(&Row, &Medium)> = rows.iter().filter_map(|row| Some((row, row.medium.as_ref()?))).collect();
    if known.len() < 3 {
        return None;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    known.iter().for_each(|(_, medium)| *counts.entry(file_system(medium)).or_default() += 1);
    let (usual, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let mut sizes: Vec<u64> = known.iter().filter_map(|(_, medium)| medium.capacity_bytes).collect();
    sizes.sort_unstable();
    let size = sizes.get(sizes.len() / 2).copied();
    let distance = |medium: &Medium| {
        let sizes = medium.capacity_bytes.zip(size).filter(|(own, usual)| *own > 0 && *usual > 0);
        let ratio = sizes.map_or(0.0, |(own, usual)| (own as f64 / usual as f64).ln().abs());
        (file_system(medium) != usual, ratio)
    };
    let (row, medium) = known
        .into_iter()
        .max_by(|(_, a), (_, b)| distance(a).0.cmp(&distance(b).0).then(distance(a).1.total_cmp(&distance(b).1)))?;
    let (other, ratio) = distance(medium);
    let words = |name: &str, bytes: Option<u64>| {
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {}", capacity(bytes)));
        format!("{}{bytes}", harmless(name))
    };
    (other || ratio > ALIKE.ln()).then(|| {
        format!(
            "{} differs most from the others: {}; most have {}.",
            harmless(&row.node),
            words(file_system(medium), medium.capacity_bytes),
            words(usual, size)
        )
    })
}

fn file_system(medium: &Medium) -> &str {
    medium.filesystem.as_deref().unwrap_or("no file system")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(node: &str, filesystem: &str, bytes: u64) -> Row {
        let medium = Medium {
            filesystem: Some(filesystem.to_owned()),
            capacity_bytes: (bytes > 0).then_some(bytes),
            ..Medium::default()
        };
        Row { node: node.to_owned(), medium: Some(medium), ..Row::default() }
    }

    #[test]
    fn the_one_that_differs_most_is_named_with_what_most_have() {
        let mut rows: Vec<Row> = (0..6).map(|n| row(&format!("n{n}"), "ext4", 101_000_000 + n * 100_000)).collect();
        assert_eq!(most_different(&rows), None, "they are alike");
        rows.push(row("big", "ext4", 275_000_000_000));
        let words = most_different(&rows).unwrap();
        assert_eq!(words, "big differs most from the others: ext4, 275 GB; most have ext4, 101 MB.");
        rows.push(row("memory", "tmpfs", 0));
        let words = most_different(&rows).unwrap();
        assert_eq!(words, "memory differs most from the others: tmpfs; most have ext4, 101 MB.");
        assert_eq!(most_different(&rows[5..7]), None, "either of two may be the exception");
    }
}
