//! The map of a unit under wear: which part of it failed in which cycle, and how.

use std::collections::BTreeMap;

use assay_core::units::{counted, grouped};

use crate::paint::{Anchor, Drawing, INK, MUTE, Stroke, VOID, looks};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH};

/// Cells over cycles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WearMap {
    /// Name of the unit.
    pub unit: String,
    /// Cells that the medium is divided into.
    pub cells: u64,
    /// Cycles completed.
    pub cycles: u64,
    /// Names of the kinds of failure.
    pub kinds: Vec<String>,
    /// What changed, in any order.
    pub changes: Vec<WearChange>,
}

/// What a cell held from a cycle on, of one kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WearChange {
    /// The cycle, from 1.
    pub cycle: u64,
    /// The cell, from 0.
    pub cell: u64,
    /// Place of the kind in [`WearMap::kinds`].
    pub kind: usize,
    /// Sectors of the cell.
    pub sectors: u64,
}

/// Rows and columns of the picture at most.
const ROWS: u64 = 128;
const COLUMNS: u64 = 320;

/// Draws the map; `None` of a unit without a cell or a cycle.
#[must_use]
pub fn wear_map(map: &WearMap) -> Option<Drawing> {
    if map.cells == 0 || map.cycles == 0 {
        return None;
    }
    let failed: std::collections::BTreeSet<u64> =
        map.changes.iter().filter(|change| change.sectors > 0).map(|change| change.cell).collect();
    let first = map.changes.iter().filter(|change| change.sectors > 0).map(|change| change.cycle).min();
    let title = match first {
        Some(cycle) => format!("{}: failed first in cycle {}", map.unit, shown(cycle)),
        None => format!("{}: no failure in {} cycles", map.unit, shown(map.cycles)),
    };
    let described = format!(
        "{} of {} cells failed at least once; the colour tells what most failed sectors of a field held",
        shown(failed.len() as u64),
        shown(map.cells)
    );
    let mut sheet = Sheet::new(WIDTH, &title, &described);
    let (rows, columns) = (map.cells.min(ROWS), map.cycles.min(COLUMNS));
    let (left, right) = (EDGE + 46.0, WIDTH - EDGE);
    let top = sheet.top + 18.0;
    let bottom = top + 320.0;
    sheet.drawing.rect(left, top, right - left, bottom - top, Some(VOID), None);
    let (wide, tall) = ((right - left) / columns as f64, (bottom - top) / rows as f64);
    let looks = looks(0..map.kinds.len());
    for (row, fields) in fields(map, rows, columns) {
        let y = top + tall * row as f64;
        // Neighbours of one kind are one piece.
        let mut from = 0;
        for run in fields.chunk_by(|a, b| a.map(|(kind, _)| kind) == b.map(|(kind, _)| kind)) {
            if let Some(look) = run[0].and_then(|(kind, _)| looks.get(kind)) {
                let x = left + wide * from as f64;
                sheet.drawing.rect(x, y, wide * run.len() as f64, tall, Some(look.ink), None);
            }
            from += run.len();
        }
    }
    sheet.drawing.text(EDGE, top - 12.0, LABEL, MUTE, Anchor::Start, "address");
    for quarter in 0..=4 {
        let y = top + (bottom - top) * f64::from(quarter) / 4.0;
        let label = format!("{} %", quarter * 25);
        sheet.drawing.text(left - 6.0, y + 4.0, LABEL, MUTE, Anchor::End, &label);
    }
    let across = Scale::new([map.cycles as f64 / 1.06], left, right);
    sheet.across(&across, bottom, bottom, "cycle", map.cycles.min(7) as usize);
    let (mut x, mut key) = (left, bottom + 48.0);
    let occurs = |kind: usize| map.changes.iter().any(|change| change.kind == kind && change.sectors > 0);
    for (_, (name, look)) in map.kinds.iter().zip(&looks).enumerate().filter(|(kind, _)| occurs(*kind)) {
        let width = 22.0 + crate::font::width(name, LABEL, false) + 14.0;
        if x > left && x + width > right {
            (x, key) = (left, key + 20.0);
        }
        sheet.drawing.rect(x, key - 10.0, 14.0, 12.0, Some(look.ink), Some(Stroke::thin(look.ink)));
        sheet.drawing.text(x + 20.0, key, LABEL, INK, Anchor::Start, name);
        x += width;
    }
    let of = |whole: u64, parts: u64, name| counted(whole.div_ceil(parts) as usize, name);
    let (cells, cycles) = (of(map.cells, rows, "cell"), of(map.cycles, columns, "cycle"));
    let field = format!("A field is {cells} by {cycles}.");
    let logical = "Addresses are logical: the medium decides where its memory holds them.".to_owned();
    Some(sheet.finish(key + 4.0, &[field, logical]))
}

fn shown(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// Kind and sectors of each field of the rows in which something failed.
fn fields(map: &WearMap, rows: u64, columns: u64) -> BTreeMap<u64, Vec<Option<(usize, u64)>>> {
    // What a cell held after each of its changes; the largest kind stands for all.
    let mut cells: BTreeMap<u64, BTreeMap<u64, (usize, u64)>> = BTreeMap::new();
    for change in map.changes.iter().filter(|change| change.cell < map.cells && change.cycle >= 1) {
        let held = cells.entry(change.cell).or_default().entry(change.cycle).or_insert((change.kind, change.sectors));
        if change.sectors > held.1 {
            *held = (change.kind, change.sectors);
        }
    }
    let column =
        |cycle: u64| ((u128::from(cycle.min(map.cycles) - 1) * u128::from(columns)) / u128::from(map.cycles)) as usize;
    let mut fields: BTreeMap<u64, Vec<Option<(usize, u64)>>> = BTreeMap::new();
    for (cell, held) in cells {
        let row = (u128::from(cell) * u128::from(rows) / u128::from(map.cells)) as u64;
        let row = fields.entry(row).or_insert_with(|| vec![None; columns as usize]);
        let ends = held.keys().skip(1).map(|cycle| column(*cycle)).chain([columns as usize]);
        for ((cycle, (kind, sectors)), end) in held.iter().zip(ends) {
            if *sectors == 0 {
                continue;
            }
            let from = column(*cycle);
            for field in &mut row[from..end.max(from + 1)] {
                if field.is_none_or(|(_, most)| most < *sectors) {
                    *field = Some((*kind, *sectors));
                }
            }
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(changes: &[(u64, u64, usize, u64)]) -> WearMap {
        let change = |(cycle, cell, kind, sectors): &(u64, u64, usize, u64)| WearChange {
            cycle: *cycle,
            cell: *cell,
            kind: *kind,
            sectors: *sectors,
        };
        let kinds = vec!["zeros".to_owned(), "unreadable".to_owned()];
        WearMap {
            unit: "A 1".to_owned(),
            cells: 4096,
            cycles: 1000,
            kinds,
            changes: changes.iter().map(change).collect(),
        }
    }

    #[test]
    fn a_cell_keeps_its_kind_until_it_changes_and_heals() {
        let fields = fields(&map(&[(1, 0, 0, 5), (501, 0, 1, 9), (751, 0, 1, 0), (1000, 4095, 0, 1)]), 128, 320);
        assert_eq!(fields.keys().copied().collect::<Vec<_>>(), [0, 127]);
        let kinds: Vec<Option<usize>> = [0, 159, 160, 239, 240].map(|at| fields[&0][at].map(|(kind, _)| kind)).into();
        assert_eq!(kinds, [Some(0), Some(0), Some(1), Some(1), None]);
        assert_eq!(fields[&127][319], Some((0, 1)));
        assert_eq!(fields[&127][318], None);
    }

    #[test]
    fn the_title_says_when_it_failed_first() {
        let drawn = |changes: &[(u64, u64, usize, u64)]| wear_map(&map(changes)).unwrap();
        assert_eq!(drawn(&[(291, 7, 1, 2), (300, 8, 1, 2)]).title(), "A 1: failed first in cycle 291");
        assert_eq!(drawn(&[]).title(), "A 1: no failure in 1 000 cycles");
        // The key names what occurs, however many kinds there are.
        let svg = drawn(&[(291, 7, 1, 2), (300, 7, 0, 0)]).svg();
        assert!(svg.contains("unreadable") && !svg.contains("zeros") && svg.contains("32 cells by 4 cycles"), "{svg}");
        let kinds: Vec<String> = (0..8).map(|kind| format!("a kind with a long name, {kind}")).collect();
        let changes = (0..8).map(|kind| WearChange { cycle: 1, cell: kind, kind: kind as usize, sectors: 1 }).collect();
        let svg = wear_map(&WearMap { kinds: kinds.clone(), changes, ..map(&[]) }).unwrap().svg();
        assert!(kinds.iter().all(|kind| svg.contains(kind)), "{svg}");
        assert_eq!(wear_map(&WearMap::default()), None);
    }
}
