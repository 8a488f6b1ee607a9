//! Which rate the slots let through, and who says so.

use std::collections::BTreeMap;

use assay_core::workload::Op;
use assay_stats::rank::{Ceiling, measured_ceiling};
use serde::Serialize;

use super::collect::{Catalogue, Session};
use crate::bus::{held_by_bus, reach};

/// Blocks below this are limited by operations and not by a bus; their rates show no ceiling.
const LEAST_BLOCK: u64 = 64 << 10;

/// Who says what the ceiling is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CeilingSource {
    /// The user.
    Asked,
    /// The bus of each record.
    Records,
    /// The best values of at least three models, which agree within 3 %.
    Measured,
}

/// The ceiling of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsedCeiling {
    /// Who says so.
    pub source: CeilingSource,
    /// Bytes per second: the lowest, where records differ.
    pub bytes_per_second: f64,
    /// The highest, where records differ.
    pub highest_bytes_per_second: f64,
}

impl UsedCeiling {
    /// The least rate that counts as held by it.
    #[must_use]
    pub fn held_from(&self) -> f64 {
        Ceiling::new(self.bytes_per_second).map_or(self.bytes_per_second, Ceiling::threshold)
    }
}

/// Ceilings of all records.
#[derive(Debug)]
pub(super) struct Ceilings {
    asked: Option<Ceiling>,
    measured: BTreeMap<u8, Ceiling>,
}

fn direction(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Mixed => 1,
        Op::Write => 2,
    }
}

impl Ceilings {
    pub(super) fn new(asked: Option<f64>, catalogue: &Catalogue<'_>) -> Self {
        let asked = asked.and_then(Ceiling::new);
        let known = catalogue.entries.iter().any(|e| reach(e.record).is_some());
        let mut measured = BTreeMap::new();
        if asked.is_none() && !known {
            let mut rates: BTreeMap<u8, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
            for (load, at) in catalogue.loads.iter().filter(|(load, _)| load.block_bytes >= LEAST_BLOCK) {
                for entry in at.iter().map(|&at| &catalogue.entries[at]) {
                    let models = rates.entry(direction(load.op())).or_default();
                    models.entry(&entry.identity.model).or_default().extend(entry.rates(load));
                }
            }
            for (direction, models) in rates {
                let values: Vec<Vec<f64>> = models.into_values().collect();
                measured.extend(measured_ceiling(&values).map(|ceiling| (direction, ceiling)));
            }
        }
        Self { asked, measured }
    }

    fn of(&self, session: &Session<'_>, op: Op) -> Option<(Ceiling, CeilingSource)> {
        let asked = self.asked.map(|c| (c, CeilingSource::Asked));
        let record = || reach(session.record).map(|c| (c, CeilingSource::Records));
        let measured = || self.measured.get(&direction(op)).map(|c| (*c, CeilingSource::Measured));
        asked.or_else(record).or_else(measured)
    }

    /// The ceiling of these sessions; `None` where none is known.
    pub(super) fn used(&self, sessions: &[Session<'_>], op: Op) -> Option<UsedCeiling> {
        let mut all = sessions.iter().filter_map(|s| self.of(s, op));
        let (first, source) = all.next()?;
        let (low, high) = all.fold((first.rate(), first.rate()), |(low, high), (ceiling, _)| {
            (low.min(ceiling.rate()), high.max(ceiling.rate()))
        });
        Some(UsedCeiling { source, bytes_per_second: low, highest_bytes_per_second: high })
    }

    /// Whether half of the repeats of the session, or more, are held.
    pub(super) fn holds(&self, session: &Session<'_>, op: Op) -> bool {
        // Where the user names a ceiling, that counts instead.
        let known = self.asked.is_none() && held_by_bus(session.record, session.measurement);
        known || self.of(session, op).is_some_and(|(ceiling, _)| ceiling.holds_unit(&session.rates))
    }
}
