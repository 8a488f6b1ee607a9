//! Collects the measurements of units under loads from records, with their days and the ceilings of their slots.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::finding::Finding;
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::workload::Op;
use assay_stats::rank::{SlotCeiling, measured_ceiling};
use serde::Serialize;

use crate::admission::admit;
use crate::exclusion::Excluded;
use crate::identity::{HostDays, Identity, computer, identity};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, held_by_bus, loads, rates, reach, reading, resolution};

/// A record and whose it is.
#[derive(Debug)]
pub(super) struct NamedRecord<'a> {
    pub(super) record: &'a Observation,
    pub(super) identity: Identity,
    pub(super) wave: Option<u32>,
    /// Its day and host.
    day: Option<String>,
}

impl NamedRecord<'_> {
    /// Rates of a load in bytes per second.
    pub(super) fn rates(&self, load: &Load) -> Vec<f64> {
        reading(self.record, load, Quantity::BytesPerSecond).filter(|r| r.counts()).map_or_else(Vec::new, |r| r.values)
    }

    fn dated(&self) -> Dated<'_> {
        Dated {
            host: self.record.host.hostname.as_deref(),
            model: &self.identity.model,
            unit: &self.identity.unit,
            day: self.day.as_deref(),
        }
    }
}

/// All records in a fixed order, and the loads of each.
#[derive(Debug)]
pub(super) struct Catalogue<'a> {
    pub(super) entries: Vec<NamedRecord<'a>>,
    /// Places of the entries that have a load.
    pub(super) loads: BTreeMap<Load, Vec<usize>>,
}

/// One record under one load.
#[derive(Debug)]
pub(super) struct UnitUnderLoad<'a> {
    pub(super) record: &'a Observation,
    pub(super) measurement: &'a ObservedMeasurement,
    pub(super) identity: &'a Identity,
    pub(super) wave: Option<u32>,
    /// Its day and host.
    pub(super) day: Option<String>,
    /// The kind of its computer.
    pub(super) computer: Option<String>,
    /// The figures, each positive and finite.
    pub(super) values: Vec<f64>,
    /// Bytes per second of the same repeats: what a ceiling is compared with.
    pub(super) rates: Vec<f64>,
    pub(super) marks: Vec<Mark>,
    /// Whether several repeats never became steady.
    pub(super) unsteady: bool,
    /// The step in which its figure was printed, as a share of it; 0 of none.
    pub(super) resolution: f64,
    /// Whether something else took from the host or the device.
    pub(super) disturbed: bool,
}

impl<'a> Catalogue<'a> {
    /// The result does not depend on the order of `records`.
    pub(super) fn new(records: &[&'a Observation]) -> Self {
        let days = HostDays::of(records.iter().copied());
        let entry = |record: &&'a Observation| NamedRecord {
            record,
            identity: identity(record),
            wave: None,
            day: days.name(record),
        };
        let mut entries: Vec<NamedRecord<'_>> = records.iter().map(entry).collect();
        entries.sort_by(|a, b| {
            (&a.identity, &a.record.created, &a.record.id).cmp(&(&b.identity, &b.record.created, &b.record.id))
        });
        tell_hosts_apart(&mut entries);
        let mut rounds: Vec<String> = entries.iter().filter_map(|e| e.identity.round.clone()).collect();
        rounds.sort_by(|a, b| (a.parse::<u64>().ok(), a).cmp(&(b.parse::<u64>().ok(), b)));
        rounds.dedup();
        for entry in &mut entries {
            let round = entry.identity.round.as_ref();
            let place = round.and_then(|round| rounds.iter().position(|other| other == round));
            entry.wave = place.and_then(|place| u32::try_from(place).ok());
        }
        if rounds.is_empty() {
            let days = days_as_rounds(&entries.iter().map(NamedRecord::dated).collect::<Vec<_>>());
            entries.iter_mut().zip(days).for_each(|(entry, day)| entry.wave = day);
        }
        let mut by_load: BTreeMap<Load, Vec<usize>> = BTreeMap::new();
        for (at, entry) in entries.iter().enumerate() {
            for load in loads([entry.record]) {
                by_load.entry(load).or_default().push(at);
            }
        }
        Self { entries, loads: by_load }
    }

    /// The measurements under a load, and the reasons for what is left out.
    pub(super) fn gather(&self, load: &Load, quantity: Quantity) -> (Vec<UnitUnderLoad<'_>>, Vec<Excluded>) {
        let (mut sessions, mut excluded) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            let leave_out = |reason| excluded.push(Excluded::new(entry.record, Some(load), reason));
            let (reading, reasons) = admit(entry.record, load, quantity);
            reasons.into_iter().for_each(leave_out);
            let Some(reading) = reading else { continue };
            let measurement = reading.measurement;
            sessions.push(UnitUnderLoad {
                record: entry.record,
                measurement,
                identity: &entry.identity,
                wave: entry.wave,
                day: entry.day.clone(),
                computer: computer(entry.record),
                values: reading.values,
                rates: rates(measurement),
                marks: reading.marks,
                resolution: resolution(entry.record, measurement),
                disturbed: entry
                    .record
                    .warnings
                    .iter()
                    .chain(&measurement.warnings)
                    .any(|w| is_disturbance(&w.finding)),
                unsteady: measurement
                    .warnings
                    .iter()
                    .any(|w| matches!(w.finding, Finding::Unsteady { repeats, .. } if repeats >= 2)),
            });
        }
        (sessions, excluded)
    }
}

/// Whether a finding means that something other than the medium took time from the measurement.
fn is_disturbance(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::LoadOfOthers { .. }
            | Finding::OthersUsedDevice { .. }
            | Finding::AnotherRun
            | Finding::Swapped { .. }
            | Finding::Suspended { .. }
            | Finding::Throttled { .. }
            | Finding::UnderVoltage { .. }
    )
}

/// Of several hosts each is a place of its own: slot 1 of two hosts is two slots, and a host without slots is one. A slot with
/// the name of its host, as where nodes are the slots of a plan, is that host.
fn tell_hosts_apart(entries: &mut [NamedRecord<'_>]) {
    let hosts: BTreeSet<&str> = entries.iter().filter_map(|e| e.record.host.hostname.as_deref()).collect();
    if hosts.len() < 2 {
        return;
    }
    for entry in entries {
        let slot = &mut entry.identity.slot;
        *slot = match (&entry.record.host.hostname, slot.take()) {
            (Some(host), Some(slot)) if slot == *host => Some(slot),
            (Some(host), Some(slot)) => Some(format!("{host} {slot}")),
            (Some(host), None) => Some(host.clone()),
            (None, slot) => slot,
        };
    }
}

// Separates the effect of days from that of models, where all units of one model were measured on Monday, all of another on
// Tuesday, and some units on both days: these units show the effect of the days, as a round of a plan does.

/// A model and one of its units.
type Unit<'a> = (&'a str, &'a str);

/// Models whose days differ by less than this share of their units have their days in common.
const UNLIKE: f64 = 0.25;

/// Where and when a record was measured, and which unit it is about.
pub(super) struct Dated<'a> {
    pub(super) host: Option<&'a str>,
    pub(super) model: &'a str,
    pub(super) unit: &'a str,
    /// Its day and host; `None` of a record without a date.
    pub(super) day: Option<&'a str>,
}

/// The round of each record: its day, if two models were measured on days of their own at one host and a unit was
/// measured on days of both. Otherwise days are not rounds: if models had the same days, the days affect both equally.
pub(super) fn days_as_rounds(records: &[Dated<'_>]) -> Vec<Option<u32>> {
    let hosts: BTreeSet<_> = records.iter().map(|record| record.host).collect();
    if hosts.len() > 1 || !are_bridged(records) {
        return vec![None; records.len()];
    }
    let days: BTreeSet<&str> = records.iter().filter_map(|record| record.day).collect();
    let places: BTreeMap<&str, u32> = days.into_iter().zip(0..).collect();
    records.iter().map(|record| places.get(record.day?).copied()).collect()
}

fn are_bridged(records: &[Dated<'_>]) -> bool {
    let mut days: BTreeMap<Unit<'_>, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        // The day of a run without a date is unknown.
        let Some(day) = record.day else { return false };
        days.entry((record.model, record.unit)).or_default().insert(day);
    }
    // The share of a model's units that was measured on each day, and their number.
    let mut own: BTreeMap<&str, BTreeMap<&str, (f64, usize)>> = BTreeMap::new();
    for ((model, _), of_unit) in &days {
        for day in of_unit {
            let (share, units) = own.entry(model).or_default().entry(day).or_default();
            (*share, *units) = (*share + 1.0 / of_unit.len() as f64, *units + 1);
        }
    }
    for of_model in own.values_mut() {
        let units: f64 = of_model.values().map(|(share, _)| share).sum();
        of_model.values_mut().for_each(|(share, _)| *share /= units);
    }
    let bridges: Vec<&BTreeSet<&str>> = days.values().filter(|of_unit| of_unit.len() > 1).collect();
    let models: Vec<&BTreeMap<&str, (f64, usize)>> = own.values().collect();
    models.iter().enumerate().any(|(at, a)| models[..at].iter().any(|b| leads(&bridges, a, b)))
}

/// Whether two models were largely measured on different days, with several units of each on one day, and a unit was
/// measured on a day that the first model has more of and on one that the second has more of.
fn leads(bridges: &[&BTreeSet<&str>], a: &BTreeMap<&str, (f64, usize)>, b: &BTreeMap<&str, (f64, usize)>) -> bool {
    let share = |of: &BTreeMap<&str, (f64, usize)>, day: &str| of.get(day).map_or(0.0, |(share, _)| *share);
    let more = |day: &&str| share(a, day) - share(b, day);
    let all: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let unlike = all.iter().map(|day| more(day).abs()).sum::<f64>() / 2.0 >= UNLIKE;
    let sitting = |of: &BTreeMap<&str, (f64, usize)>| of.values().any(|(_, units)| *units > 1);
    unlike
        && sitting(a)
        && sitting(b)
        && bridges.iter().any(|days| days.iter().any(|day| more(day) > 0.0) && days.iter().any(|day| more(day) < 0.0))
}

// Which rate the slots let through, and who says so.

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
        SlotCeiling::new(self.bytes_per_second).map_or(self.bytes_per_second, SlotCeiling::threshold)
    }
}

/// Ceilings of all records.
#[derive(Debug)]
pub(super) struct Ceilings {
    asked: Option<SlotCeiling>,
    measured: BTreeMap<u8, SlotCeiling>,
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
        let asked = asked.and_then(SlotCeiling::new);
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

    fn for_session(&self, session: &UnitUnderLoad<'_>, op: Op) -> Option<(SlotCeiling, CeilingSource)> {
        let asked = self.asked.map(|c| (c, CeilingSource::Asked));
        let record = || reach(session.record).map(|c| (c, CeilingSource::Records));
        let measured = || self.measured.get(&direction(op)).map(|c| (*c, CeilingSource::Measured));
        asked.or_else(record).or_else(measured)
    }

    /// The ceiling of these sessions; `None` where none is known.
    pub(super) fn used(&self, sessions: &[UnitUnderLoad<'_>], op: Op) -> Option<UsedCeiling> {
        let mut all = sessions.iter().filter_map(|s| self.for_session(s, op));
        let (first, source) = all.next()?;
        let (low, high) = all.fold((first.rate(), first.rate()), |(low, high), (ceiling, _)| {
            (low.min(ceiling.rate()), high.max(ceiling.rate()))
        });
        Some(UsedCeiling { source, bytes_per_second: low, highest_bytes_per_second: high })
    }

    /// Whether half of the repeats of the session, or more, are held.
    pub(super) fn holds(&self, session: &UnitUnderLoad<'_>, op: Op) -> bool {
        // Where the user names a ceiling, that counts instead.
        let known = self.asked.is_none() && held_by_bus(session.record, session.measurement);
        known || self.for_session(session, op).is_some_and(|(ceiling, _)| ceiling.holds_unit(&session.rates))
    }
}

#[cfg(test)]
mod tests {
    use assay_core::observation::{Observation, ObservedMeasurement, ObservedRepeat};
    use assay_core::outcome::Outcome;
    use assay_core::workload::{Op, Pattern, Workload};

    use crate::rank::{RankOptions, RankReport, rank};
    use crate::samples;

    /// A card on a day of January. The second of January is a fifth slower.
    fn card(model: &str, unit: u32, iops: f64, day: u32) -> Observation {
        let workload = Workload::new("w", Op::Read, Pattern::Random, 4096);
        let iops = iops * (1.0 + 0.003 * f64::from(unit * unit % 5)) * if day == 2 { 0.8 } else { 1.0 };
        let repeat = |iops: f64| ObservedRepeat { operations: 100, iops, ..ObservedRepeat::new(Outcome::Completed) };
        let repeats = [iops * 0.999, iops, iops * 1.002].map(repeat).to_vec();
        let measurement = ObservedMeasurement { repeats, ..ObservedMeasurement::new(workload) };
        let mut record = samples::record(&format!("{model}{unit}d{day}"), model, &unit.to_string(), vec![measurement]);
        record.created = format!("2026-01-{day:02}T10:00:{unit:02}Z");
        record
    }

    /// Six units of A on the first day, six of B on the second, and as many of A on both.
    fn ranked(b: f64, bridges: u32) -> RankReport {
        let mut records: Vec<Observation> =
            (0..6).flat_map(|unit| [card("A", unit, 1000.0, 1), card("B", unit, b, 2)]).collect();
        records.extend((0..bridges).map(|unit| card("A", unit, 1000.1, 2)));
        rank(&records.iter().collect::<Vec<_>>(), &RankOptions::default()).unwrap()
    }

    fn ratio(report: &RankReport) -> f64 {
        let pair = &report.primary.pairs[0];
        if pair.first == "A" { pair.ratio.point } else { 1.0 / pair.ratio.point }
    }

    #[test]
    fn units_on_both_days_tell_what_the_days_did() {
        // Without them the slow day is in the ratio.
        assert!((ratio(&ranked(1000.0, 0)) - 1.25).abs() < 0.02);
        for bridges in [1, 3, 6] {
            let report = ranked(1000.0, bridges);
            assert!((ratio(&report) - 1.0).abs() < 0.02, "{bridges}: {}", ratio(&report));
            assert_eq!(report.primary.basis.rounds, 0, "records name none");
        }
        let half = ranked(500.0, 3);
        assert!((ratio(&half) - 2.0).abs() < 0.05, "{}", ratio(&half));
    }
}
