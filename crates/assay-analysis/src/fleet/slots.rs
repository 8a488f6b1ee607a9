//! Slots: which were warm, and whether a slot has an effect of its own.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::medium::Mounted;
use assay_core::record::Record;
use serde::Serialize;

use super::loads::LoadRow;
use super::nodes::FleetRow;
use super::odd::{OddNode, OddNodes, ranked};
use super::run::Run;
use crate::identity::{identity, suite};
use crate::rank::{Notice, Remark, SlotWarning};

/// The results about slots.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slots {
    /// Slots that records name, each once.
    pub rows: Vec<SlotRow>,
    /// Whether slots have effects of their own.
    pub effect: Effect,
}

/// A slot in this run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotRow {
    /// Its name.
    pub slot: String,
    /// Numbers of the nodes that measured there.
    pub nodes: Vec<usize>,
    /// The largest temperature there, in °C; null where none was read.
    pub hottest_celsius: Option<f64>,
    /// Nodes that were slowed down.
    pub throttled: usize,
}

/// Whether places add something of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Units changed places, and the ranking tells them apart.
    #[serde(rename = "told")]
    Separated {
        /// Places that stand out.
        slots: Vec<SlotWarning>,
        /// The title of the load.
        title: String,
        /// The number of runs.
        runs: usize,
    },
    /// The effects of slots and units cannot be separated.
    #[serde(rename = "untold")]
    Inseparable {
        /// The reason.
        why: Inseparable,
        /// Numbers of two nodes whose units to swap.
        swap: Option<(usize, usize)>,
    },
}

/// Why the effects of slots and units cannot be separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Inseparable {
    /// Each unit was in one place.
    NoSwap,
    /// Units changed places, and not so that places connect.
    Confounded,
    /// Records say nothing of a place.
    Unknown,
}

/// Slots of a run; other runs of the same units count where units changed places.
pub(super) fn slots(run: &Run, others: &[Run], rows: &[FleetRow], loads: &[LoadRow], odd: &OddNodes) -> Slots {
    let mut by_slot: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(slot) = &row.slot {
            by_slot.entry(slot).or_default().push(at);
        }
    }
    let row = |(slot, nodes): (&str, Vec<usize>)| SlotRow {
        slot: slot.to_owned(),
        hottest_celsius: nodes.iter().filter_map(|at| rows[*at].hottest_celsius).max_by(f64::total_cmp),
        throttled: nodes.iter().filter(|at| rows[**at].throttled.is_some()).count(),
        nodes,
    };
    // There is nothing to take out of memory, and the root disk stays where it is.
    let fixed: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].mounted.is_some_and(Mounted::is_no_medium)).collect();
    let effect = effect(run, others).unwrap_or_else(|why| Effect::Inseparable { why, swap: swap(loads, odd, &fixed) });
    Slots { rows: by_slot.into_iter().map(row).collect(), effect }
}

fn effect(run: &Run, others: &[Run]) -> Result<Effect, Inseparable> {
    let unit = |record: &Record| {
        let of = identity(record);
        (of.model, of.unit)
    };
    let units: BTreeSet<(String, String)> = run.records().map(|(_, record)| unit(record)).collect();
    let suites: BTreeSet<String> = run.records().map(|(_, record)| suite(record)).collect();
    let mut records: Vec<&Record> = run.records().map(|(_, record)| record).collect();
    let mut runs = 1;
    for other in others {
        let own = other.records().map(|(_, record)| record);
        let same: Vec<&Record> = own.filter(|r| units.contains(&unit(r)) && suites.contains(&suite(r))).collect();
        runs += usize::from(!same.is_empty());
        records.extend(same);
    }
    let place = |record: &Record| (record.host.hostname.clone(), identity(record).slot);
    let mut places: BTreeMap<(String, String), BTreeSet<_>> = BTreeMap::new();
    for record in &records {
        places.entry(unit(record)).or_default().insert(place(record));
    }
    if places.values().flatten().all(|place| *place == (None, None)) {
        return Err(Inseparable::Unknown);
    }
    if places.values().all(|places| places.len() < 2) {
        return Err(Inseparable::NoSwap);
    }
    let ranked = ranked(&records).map_err(|_| Inseparable::Confounded)?;
    let primary = ranked.primary;
    let cannot = |remark: &Remark| match remark {
        Remark::Design(Notice::NoSwap) => Some(Inseparable::NoSwap),
        Remark::Design(Notice::SlotsConfounded) => Some(Inseparable::Confounded),
        Remark::Design(Notice::SlotsUnknown { .. }) => Some(Inseparable::Unknown),
        _ => None,
    };
    match primary.remarks.iter().find_map(cannot) {
        Some(why) => Err(why),
        None => Ok(Effect::Separated { slots: primary.slots, title: primary.title, runs }),
    }
}

/// The node that is furthest off and the one nearest to the median, under the load where it is so.
fn swap(loads: &[LoadRow], odd: &OddNodes, fixed: &[usize]) -> Option<(usize, usize)> {
    let off = |ratio: f64| ratio.ln().abs();
    let figures = |load: &LoadRow| {
        load.figures
            .iter()
            .enumerate()
            .filter(|(at, _)| !fixed.contains(at))
            .filter_map(|(at, figure)| Some((at, figure.as_ref()?.to_median)))
            .collect::<Vec<(usize, f64)>>()
    };
    let titled = |title: &str| loads.iter().find(|load| load.title == title);
    let movable = |all: &[OddNode]| all.iter().find(|odd| !fixed.contains(&odd.node)).cloned();
    let (load, suspect) = match movable(&odd.odd).or_else(|| movable(&odd.again)) {
        Some(odd) => (titled(&odd.at.first()?.title)?, odd.node),
        None => {
            let furthest = |load: &LoadRow| {
                figures(load)
                    .into_iter()
                    .max_by(|a, b| off(a.1).total_cmp(&off(b.1)))
                    .map(|(at, ratio)| (at, off(ratio)))
            };
            let all = loads.iter().filter_map(|load| Some((load, furthest(load)?)));
            let (load, (node, _)) = all.max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
            (load, node)
        }
    };
    let others = figures(load).into_iter().filter(|(at, _)| *at != suspect);
    let middle = others.min_by(|a, b| off(a.1).total_cmp(&off(b.1)))?.0;
    Some((suspect, middle))
}
