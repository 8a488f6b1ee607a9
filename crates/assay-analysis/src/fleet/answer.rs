//! The whole report, as data. Names are as records have them: make them harmless before they are shown.

use assay_core::record::Record;
use serde::Serialize;

use super::against::{Against, against, reference};
use super::loads::{LoadRow, load_row};
use super::nodes::{self, FleetRow};
use super::odd::{OddNodes, odd, owners, ranked};
use super::run::Run;
use super::slots::{Slots, slots};
use super::standing::{BelowNode, far_below, set_apart};
use super::starts::{Starts, starts};
use crate::Excluded;
use crate::exclusion::{Reason, excluded_whole};
use crate::reading::loads;

/// What a run on many nodes says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetReport {
    /// Identity of the run.
    pub run: String,
    /// How nodes measured; null where nothing says it.
    pub mode: Option<String>,
    /// Nodes, in the order of the run.
    pub nodes: Vec<FleetRow>,
    /// By load.
    pub loads: Vec<LoadRow>,
    /// Nodes that are odd.
    pub odd: OddNodes,
    /// Nodes that are far below the others under a load that all were to run.
    pub far_below: Vec<BelowNode>,
    /// How well they began together; null where they did not.
    pub starts: Option<Starts>,
    /// The same nodes with fewer at a time; null where no such run is known.
    pub against: Option<Against>,
    /// Slots.
    pub slots: Slots,
    /// Numbers of nodes that name the same unit.
    pub same_unit: Vec<Vec<usize>>,
    /// Records of earlier attempts, which are left out.
    pub repeated: usize,
    /// Records that name no unit, for which the node stands: whether cards were moved between runs is not known of them.
    pub unnamed: usize,
    /// What decides nothing, and why.
    pub excluded: Vec<Excluded>,
}

impl FleetReport {
    /// Nodes that miss nothing.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.nodes.iter().filter(|node| node.complete).count()
    }
}

/// Reports a run. `others` are runs of the same units, the newest first; `named` is the reference that the user chose,
/// and without one it is the newest of them in which fewer nodes measured at a time, where `compared` allows it.
#[must_use]
pub fn report(run: &Run, others: &[Run], named: Option<&Run>, compared: bool) -> FleetReport {
    let apart = set_apart(run);
    let counted = run.without(&apart.iter().map(|(node, _)| *node).collect::<Vec<_>>());
    let counted: &Run = &counted;
    let records: Vec<&Record> = counted.records().map(|(_, record)| record).collect();
    let mut excluded = Vec::new();
    let mut found: Vec<LoadRow> = Vec::new();
    let all = loads(records.iter().copied());
    for load in &all {
        let (row, left_out) = load_row(counted, load);
        found.extend(row);
        excluded.extend(left_out);
    }
    let ranked = if records.is_empty() { Err("no node has a record".to_owned()) } else { ranked(&records) };
    let odd: OddNodes = odd(counted, ranked.as_ref().map_err(Clone::clone));
    let mut rows: Vec<FleetRow> = run.nodes.iter().map(nodes::node_row).collect();
    for one in &odd.odd {
        rows[one.node].odd = true;
        for at in &one.at {
            let load = found.iter_mut().find(|load| load.title == at.title);
            if let Some(figure) = load.and_then(|load| load.figures[one.node].as_mut()) {
                figure.odd = true;
            }
        }
    }
    let known = named.or_else(|| reference(counted, others).filter(|_| compared));
    FleetReport {
        run: run.name.clone(),
        mode: run.mode.clone(),
        slots: slots(counted, others, &rows, &found, &odd),
        starts: starts(records.iter().copied()),
        against: known.map(|other| against(counted, other, &all)),
        same_unit: owners(run).into_values().filter(|nodes| nodes.len() > 1).collect(),
        repeated: run.repeated,
        unnamed: run.unnamed,
        far_below: far_below(run, &found),
        excluded: gathered(&records, excluded).into_iter().chain(left_out_whole(run, apart)).collect(),
        nodes: rows,
        loads: found,
        odd,
    }
}

/// Records that are not put together with those of the others.
fn left_out_whole(run: &Run, apart: Vec<(usize, Reason)>) -> impl Iterator<Item = Excluded> {
    let of = |(node, reason): (usize, Reason)| Some(Excluded::new(run.nodes[node].record.as_ref()?, None, reason));
    apart.into_iter().filter_map(of)
}

/// Reports reasons about a whole record once, and not under each load.
fn gathered(records: &[&Record], by_load: Vec<Excluded>) -> Vec<Excluded> {
    let whole: Vec<Excluded> =
        records.iter().filter_map(|record| Some(Excluded::new(record, None, excluded_whole(record)?))).collect();
    let rest = by_load.into_iter().filter(|one| !whole.iter().any(|known| known.record == one.record));
    let rest: Vec<Excluded> = rest.collect();
    whole.into_iter().chain(rest).collect()
}
