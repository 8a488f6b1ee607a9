//! Which loads stand in which table.

use std::collections::{BTreeMap, BTreeSet};

use assay_analysis::{Identity, Load, admit, identity, loads};
use assay_core::record::Record;
use assay_core::text::capitalised;
use assay_core::units::Bytes;
use assay_core::workload::Op;

use super::scope::Scope;

/// Columns of figures of a table: more are no longer read beside each other.
const MOST: usize = 6;

/// A column of a table: figures of some of the records under a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Place of its records among the scopes.
    pub(super) scope: usize,
    pub(super) load: Load,
    /// Over it, without the unit.
    pub(super) title: String,
}

/// A table before its cells are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
    /// Whether one medium alone has these loads.
    pub(super) alone: bool,
}

/// Media by loads: those of several media before those of one alone, reads before writes, no table wider than [`MOST`].
pub(super) fn by_loads(records: &[Record], all: &Scope<'_>, scope: usize, wanted: impl Fn(&Load) -> bool) -> Vec<Plan> {
    let mut holders: BTreeMap<Load, BTreeSet<Identity>> = BTreeMap::new();
    for record in records {
        for load in loads([record]).into_iter().filter(|load| wanted(load)) {
            let counts = admit(record, &load, all.quantity(&load)).0.is_some();
            let known = holders.entry(load).or_default();
            if counts {
                let Identity { model, unit, .. } = identity(record);
                known.insert(Identity { model, unit, slot: None, round: None });
            }
        }
    }
    let several = holders.values().flatten().collect::<BTreeSet<&Identity>>().len() > 1;
    let figured = holders.into_iter().filter(|(_, of)| !of.is_empty());
    let alike: Vec<(Load, bool)> = figured.map(|(load, of)| (load, several && of.len() < 2)).collect();
    let of = |op, alone| {
        let loads = alike.iter().filter(|(load, lonely)| load.op() == op && *lonely == alone);
        split(loads.map(|(load, _)| load.clone()).collect(), scope, alone)
    };
    let all = [false, true].into_iter().flat_map(|alone| [Op::Read, Op::Mixed, Op::Write].map(|op| of(op, alone)));
    all.flatten().collect()
}

/// Tables of loads of one operation: kinds of loads stay together.
fn split(loads: Vec<Load>, scope: usize, alone: bool) -> Vec<Plan> {
    let mut kinds: Vec<(String, Vec<Load>)> = Vec::new();
    for load in loads {
        let kind = kind(&load);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of)) => of.push(load),
            None => kinds.push((kind, vec![load])),
        }
    }
    let mut tables: Vec<Vec<Load>> = Vec::new();
    for (_, of) in kinds {
        match tables.last_mut() {
            Some(last) if last.len() + of.len() <= MOST => last.extend(of),
            _ => tables.extend(of.chunks(MOST).map(<[Load]>::to_vec)),
        }
    }
    tables.into_iter().map(|loads| plan(loads, scope, alone)).collect()
}

fn plan(loads: Vec<Load>, scope: usize, alone: bool) -> Plan {
    let mut kinds: Vec<String> = loads.iter().map(kind).collect();
    kinds.dedup();
    let one = kinds.len() == 1 && loads.len() > 1;
    let column = |load: Load| {
        let title = if one { block(&load) } else { capitalised(&load.title()) };
        Column { scope, load, title }
    };
    let title = match loads.first() {
        Some(_) if one => capitalised(&kinds.concat()),
        Some(load) => capitalised(match load.op() {
            Op::Read => "reads",
            Op::Write => "writes",
            Op::Mixed => "mixed work",
        }),
        None => String::new(),
    };
    Plan { title, columns: loads.into_iter().map(column).collect(), alone }
}

/// The size of its blocks.
pub(super) fn block(load: &Load) -> String {
    match load.block_bytes {
        _ if !load.blocks.is_empty() => load.blocks.clone(),
        0 => "unknown".to_owned(),
        bytes => Bytes(bytes).to_string(),
    }
}

/// The load without its block size.
pub(super) fn kind(load: &Load) -> String {
    let mut kind = load.clone();
    kind.block_bytes = 0;
    kind.title_of_sizes()
}

/// Media by computers: a table for each load.
pub(super) fn by_computers(scopes: &[Scope<'_>], crossed: &BTreeSet<Load>) -> Vec<Plan> {
    let tables = |load: &Load| {
        let has = |scope: &Scope<'_>| {
            !scope.host.is_empty() && scope.records.iter().any(|r| admit(r, load, scope.quantity(load)).0.is_some())
        };
        let column =
            |(at, scope): (usize, &Scope<'_>)| Column { scope: at, load: load.clone(), title: scope.host.clone() };
        let columns: Vec<Column> = scopes.iter().enumerate().filter(|(_, scope)| has(scope)).map(column).collect();
        let title = capitalised(&load.title());
        let table = |part: &[Column]| Plan { title: title.clone(), columns: part.to_vec(), alone: false };
        columns.chunks(MOST).map(table).collect::<Vec<_>>()
    };
    crossed.iter().flat_map(tables).collect()
}
