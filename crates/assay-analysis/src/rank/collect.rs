//! Collects the measurements of units under loads from records.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::finding::Finding;
use assay_core::record::{Measurement, Record};

use super::bridged_days::{Dated, days_as_rounds};
use crate::admission::admit;
use crate::bus::rates;
use crate::connected::computer;
use crate::exclusion::Excluded;
use crate::host_days::HostDays;
use crate::identity::{Identity, identity};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, loads, reading};
use crate::resolution::resolution;

/// A record and whose it is.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) record: &'a Record,
    pub(super) identity: Identity,
    pub(super) wave: Option<u32>,
    /// Its day and host.
    day: Option<String>,
}

impl Entry<'_> {
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
    pub(super) entries: Vec<Entry<'a>>,
    /// Places of the entries that have a load.
    pub(super) loads: BTreeMap<Load, Vec<usize>>,
}

/// One record under one load.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) record: &'a Record,
    pub(super) measurement: &'a Measurement,
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
    pub(super) fn new(records: &[&'a Record]) -> Self {
        let days = HostDays::of(records.iter().copied());
        let entry =
            |record: &&'a Record| Entry { record, identity: identity(record), wave: None, day: days.name(record) };
        let mut entries: Vec<Entry<'_>> = records.iter().map(entry).collect();
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
            let days = days_as_rounds(&entries.iter().map(Entry::dated).collect::<Vec<_>>());
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
    pub(super) fn gather(&self, load: &Load, quantity: Quantity) -> (Vec<Session<'_>>, Vec<Excluded>) {
        let (mut sessions, mut excluded) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            let leave_out = |reason| excluded.push(Excluded::new(entry.record, Some(load), reason));
            let (reading, reasons) = admit(entry.record, load, quantity);
            reasons.into_iter().for_each(leave_out);
            let Some(reading) = reading else { continue };
            let measurement = reading.measurement;
            sessions.push(Session {
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

/// Of several hosts each is a place of its own: slot 1 of two hosts is two slots, and a host without slots is one.
fn tell_hosts_apart(entries: &mut [Entry<'_>]) {
    let hosts: BTreeSet<&str> = entries.iter().filter_map(|e| e.record.host.hostname.as_deref()).collect();
    if hosts.len() < 2 {
        return;
    }
    for entry in entries {
        let slot = &mut entry.identity.slot;
        *slot = match (&entry.record.host.hostname, slot.take()) {
            (Some(host), Some(slot)) => Some(format!("{host} {slot}")),
            (Some(host), None) => Some(host.clone()),
            (None, slot) => slot,
        };
    }
}
