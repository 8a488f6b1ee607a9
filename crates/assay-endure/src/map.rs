//! The map over time: how many sectors of each cell failed in which way when it was last read.

use assay_core::endurance::FailureKind;

use crate::layout::CELLS;

/// Counts of a cell: a column for each kind of failure, in the order of [`FailureKind::ALL`], and one for sectors that had
/// failed before and held again.
pub const COLUMNS: usize = FailureKind::ALL.len() + 1;
/// The column of sectors that hold again.
pub(crate) const HEALED: usize = COLUMNS - 1;

/// The column of a kind.
pub(crate) fn column(kind: FailureKind) -> usize {
    FailureKind::ALL.iter().position(|other| *other == kind).unwrap_or(HEALED - 1)
}

/// The counts of all cells, as they were last logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    cells: Vec<[u32; COLUMNS]>,
}

/// A cell whose counts changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its number.
    pub cell: u64,
    /// Its counts from then on.
    pub counts: [u32; COLUMNS],
}

impl Default for Map {
    fn default() -> Self {
        Self { cells: vec![[0; COLUMNS]; CELLS as usize] }
    }
}

impl Map {
    /// The counts of a cell.
    #[must_use]
    pub fn cell(&self, cell: u64) -> [u32; COLUMNS] {
        self.cells.get(cell as usize).copied().unwrap_or_default()
    }

    /// What of `counts`, of consecutive cells from `first` on, differs from the map.
    #[must_use]
    pub fn changes(&self, first: u64, counts: &[[u32; COLUMNS]]) -> Vec<Changed> {
        let numbered = (first..).zip(counts);
        let differ = numbered.filter(|(cell, counts)| self.cell(*cell) != **counts);
        differ.map(|(cell, counts)| Changed { cell, counts: *counts }).collect()
    }

    /// Takes changes over.
    pub fn apply(&mut self, changes: &[Changed]) {
        for change in changes {
            if let Some(cell) = self.cells.get_mut(change.cell as usize) {
                *cell = change.counts;
            }
        }
    }
}
