//! The map of a test, cell by cycle, from its log.

use std::path::Path;

use assay_core::endurance::{Endurance, FailureKind};
use assay_core::text::clean;
use assay_endure::{CELLS, Changed, Entry};
use assay_pictures::{Drawing, WearChange, WearMap};
use assay_report::{Document, ReportFormat, Style, wear};
use serde_json::Value;

use super::{by_log, log_failure};
use crate::answer::{Answer, Target};
use crate::cli::EndureArgs;
use crate::ending::Failure;
use crate::output;

const FORMATS: &[ReportFormat] = &[ReportFormat::Html, ReportFormat::Svg, ReportFormat::Png];
/// Steps of time that are kept of each cell; at least half of them are in use, which is what the picture has columns.
const STEPS: usize = 640;

/// Draws the map of the test of a log into the file of `-o`.
pub(super) fn draw(args: &EndureArgs, log: &Path) -> Result<(), Failure> {
    let target = Target::new(&args.file, FORMATS)?;
    let mut cells = Cells::default();
    let mut test = by_log(log, &mut |entry| {
        if let Entry::Read(read) = entry {
            cells.take(read.task.cycle, &read.changes);
        }
    })
    .map_err(|error| log_failure(log, &error))?;
    target.redact_worn(&mut test);
    let name = test.model.as_deref().map(clean).filter(|name| !name.is_empty());
    let id = test.id.get(..8).unwrap_or(&test.id);
    let map = WearMap {
        unit: name.map_or_else(|| id.to_owned(), |name| format!("{name} {id}")),
        cells: CELLS,
        // A slice of the cycle under way may have been read.
        cycles: test.cycles.max(cells.reached),
        kinds: FailureKind::ALL.map(|kind| kind.title().to_owned()).into(),
        changes: cells.changes(),
    };
    target.deliver(&Mapped { test, map }, false)
}

/// What cells held over time. Of a cell and step two changes are kept: the one with the most sectors, and the last. Steps become
/// longer with the test, so that memory is bounded however long it is.
struct Cells {
    /// Cycles of a step.
    step: u64,
    reached: u64,
    kept: Vec<Vec<Kept>>,
}

#[derive(Clone, Copy)]
struct Kept {
    most: Held,
    last: Held,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Held {
    cycle: u32,
    sectors: u32,
    kind: u8,
}

impl Default for Cells {
    fn default() -> Self {
        Self { step: 1, reached: 0, kept: vec![Vec::new(); CELLS as usize] }
    }
}

impl Kept {
    /// The step that it is in.
    fn step(&self, cycles: u64) -> u64 {
        u64::from(self.last.cycle.saturating_sub(1)) / cycles
    }

    /// Takes what came later in the same step.
    fn add(&mut self, later: Self) {
        if later.most.sectors > self.most.sectors {
            self.most = later.most;
        }
        self.last = later.last;
    }
}

impl Cells {
    fn take(&mut self, cycle: u64, changes: &[Changed]) {
        self.reached = self.reached.max(cycle);
        // No log has as many cycles.
        let Ok(cycle) = u32::try_from(cycle) else { return };
        while u64::from(cycle.saturating_sub(1)) / self.step >= STEPS as u64 {
            self.step *= 2;
            let step = self.step;
            self.kept.iter_mut().for_each(|kept| {
                kept.dedup_by(|later, before| {
                    let same = later.step(step) == before.step(step);
                    if same {
                        before.add(*later);
                    }
                    same
                });
            });
        }
        for changed in changes {
            let failing = &changed.counts[..FailureKind::ALL.len()];
            let (kind, _) = failing.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
            let sectors = failing.iter().fold(0u32, |sum, count| sum.saturating_add(*count));
            let held = Held { cycle, sectors, kind: kind as u8 };
            let now = Kept { most: held, last: held };
            let Some(kept) = self.kept.get_mut(changed.cell as usize) else { continue };
            match kept.last_mut().filter(|before| before.step(self.step) == now.step(self.step)) {
                Some(before) => before.add(now),
                None => kept.push(now),
            }
        }
    }

    fn changes(self) -> Vec<WearChange> {
        let mut all = Vec::new();
        for (cell, kept) in self.kept.into_iter().enumerate() {
            for (at, Kept { most, last }) in kept.iter().enumerate() {
                // How a step ends is seen until the next change, which may be in the next step.
                let goes_on = kept.get(at + 1).is_none_or(|next| next.step(self.step) > kept[at].step(self.step) + 1);
                for held in [Some(*most), Some(*last).filter(|last| goes_on && last != most)].into_iter().flatten() {
                    all.push(WearChange {
                        cycle: u64::from(held.cycle),
                        cell: cell as u64,
                        kind: usize::from(held.kind),
                        sectors: u64::from(held.sectors),
                    });
                }
            }
        }
        all
    }
}

struct Mapped {
    test: Endurance,
    map: WearMap,
}

impl Answer for Mapped {
    fn text(&self, style: &Style) -> String {
        self.document().text(style)
    }

    fn json(&self) -> Result<Value, Failure> {
        output::json(&self.test)
    }

    fn document(&self) -> Document {
        wear::document(&self.test, &self.map)
    }

    fn picture(&self) -> Option<Drawing> {
        assay_pictures::wear_map(&self.map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(cell: u64, sectors: u32) -> Changed {
        let mut counts = [0; assay_endure::COLUMNS];
        counts[2] = sectors;
        Changed { cell, counts }
    }

    /// What is kept grows with neither cycles nor changes; the worst of a step stays, and how it ended.
    #[test]
    fn a_long_test_keeps_the_worst_and_the_last_of_each_step() {
        let mut cells = Cells::default();
        for cycle in 1..=10_000 {
            let worst = if cycle == 5_000 { 900 } else { 10 };
            cells.take(cycle, &[changed(7, worst), changed(4095, 1)]);
        }
        cells.take(10_001, &[changed(7, 0), changed(CELLS, 5)]);
        assert_eq!(cells.reached, 10_001);
        let steps = cells.kept[7].len();
        assert!((STEPS / 2..=STEPS).contains(&steps), "{steps}");
        let changes = cells.changes();
        assert!(changes.len() <= 2 * (STEPS + 1), "{}", changes.len());
        let of = |cell: u64| changes.iter().filter(move |change| change.cell == cell);
        assert_eq!(of(7).filter(|change| change.sectors == 900).map(|change| change.cycle).collect::<Vec<_>>(), [5000]);
        assert_eq!(of(7).next_back().map(|change| (change.cycle, change.sectors)), Some((10_001, 0)));
        assert_eq!(of(4095).map(|change| change.sectors).max(), Some(1));
        // A short test keeps all.
        let mut cells = Cells::default();
        (1..=300).for_each(|cycle| cells.take(cycle, &[changed(0, cycle as u32)]));
        assert_eq!(cells.changes().len(), 300);
    }
}
