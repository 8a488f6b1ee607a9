//! The map of a test, cell by cycle, from its log.

use std::collections::BTreeMap;

use assay_core::endurance::{Endurance, FailureKind};
use assay_core::text::clean;
use assay_endure::{CELLS, Entry, Log};
use assay_pictures::{Drawing, WearChange, WearMap};
use assay_report::{Document, ReportFormat, Style, wear};
use serde_json::Value;

use super::log_failure;
use crate::answer::{Answer, Target};
use crate::cli::EndureArgs;
use crate::ending::Failure;
use crate::output;
use crate::state::DataDirectory;

const FORMATS: &[ReportFormat] = &[ReportFormat::Html, ReportFormat::Svg, ReportFormat::Png];
/// Steps of time that are kept of each cell: more than the picture has columns.
const STEPS: u64 = 512;

/// Draws the map of a test into the file of `-o`.
pub(super) fn draw(args: &EndureArgs, test: &Endurance, logs: &DataDirectory) -> Result<(), Failure> {
    let target = Target::new(&args.file, FORMATS)?;
    let mut test = test.clone();
    // A file may be shared: the id tells tests apart, and is no serial number.
    if !args.file.identities {
        test.unit = None;
        test.labels.clear();
    }
    let map = over_time(&test, logs)?;
    target.deliver(&Mapped { test, map }, false)
}

/// What each cell held over time. Of a cell one change a step is kept: the one with the most sectors, and the last.
fn over_time(test: &Endurance, logs: &DataDirectory) -> Result<WearMap, Failure> {
    // A slice of the cycle under way may have been read.
    let cycles = test.cycles + 1;
    let mut kept: BTreeMap<(u64, u64), (WearChange, WearChange)> = BTreeMap::new();
    let mut reached = test.cycles;
    Log::look_at_each(&logs.path(&format!("{}.log", test.id)), &mut |entry| {
        let Entry::Read(read) = entry else { return };
        for changed in read.changes.iter().filter(|changed| changed.cell < CELLS) {
            let failing = &changed.counts[..FailureKind::ALL.len()];
            let (kind, _) = failing.iter().enumerate().max_by_key(|(_, count)| **count).unwrap_or((0, &0));
            let sectors = failing.iter().map(|count| u64::from(*count)).sum();
            let change = WearChange { cycle: read.task.cycle, cell: changed.cell, kind, sectors };
            let step = u128::from(change.cycle) * u128::from(STEPS) / u128::from(cycles.max(STEPS));
            let (most, last) = kept.entry((changed.cell, step as u64)).or_insert((change, change));
            if sectors > most.sectors {
                *most = change;
            }
            *last = change;
        }
        reached = reached.max(read.task.cycle);
    })
    .map_err(log_failure)?;
    let name = test.model.as_deref().map(clean).filter(|name| !name.is_empty());
    let id = test.id.get(..8).unwrap_or(&test.id);
    let both = |(most, last): (WearChange, WearChange)| [Some(most), Some(last).filter(|last| *last != most)];
    Ok(WearMap {
        unit: name.map_or_else(|| id.to_owned(), |name| format!("{name} {id}")),
        cells: CELLS,
        cycles: reached,
        kinds: FailureKind::ALL.map(|kind| kind.title().to_owned()).into(),
        changes: kept.into_values().flat_map(both).flatten().collect(),
    })
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
