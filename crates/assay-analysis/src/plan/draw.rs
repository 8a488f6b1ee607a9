//! From drawn meetings of numbers to cells with names.

use assay_core::workload::Op;
use assay_stats::plan::{Meeting, Plan, Workload};

use super::experiment_plan::{Cell, Moves, Request};

/// Drawn meetings with names, and the orders of workloads that they take.
pub(super) fn cells(request: &Request<'_>, units: &[(usize, &str)], drawn: &Plan) -> (Vec<Vec<String>>, Vec<Cell>) {
    let workloads: Vec<Workload> = request.suite.workloads.iter().map(placed).collect();
    let mut orders: Vec<Vec<String>> = Vec::new();
    let mut cell = |m: &Meeting| {
        let order: Vec<String> = assay_stats::plan::session(&workloads, m.unit, m.round)
            .into_iter()
            .map(|index| request.suite.workloads[index].name.clone())
            .collect();
        let number = orders.iter().position(|known| *known == order).unwrap_or_else(|| {
            orders.push(order);
            orders.len() - 1
        });
        let (model, unit) = units[m.unit];
        Cell {
            round: m.round + 1,
            wave: m.wave + 1,
            slot: request.slots.names()[m.slot].clone(),
            model: request.roster.models()[model].name.clone(),
            unit: unit.to_owned(),
            order: number + 1,
        }
    };
    let cells = drawn.meetings.iter().map(&mut cell).collect();
    (orders, cells)
}

fn placed(workload: &assay_core::suite::SuiteWorkload) -> Workload {
    Workload { writes: workload.op != Op::Read, block_bytes: workload.block.0 }
}

/// The request does not depend on the speed of units, so a seed from it is as good as any other.
pub(super) fn seed_of(request: &Request<'_>) -> u32 {
    let mut hasher = blake3::Hasher::new();
    for model in request.roster.models() {
        for text in std::iter::once(&model.name).chain(&model.units) {
            hasher.update(text.as_bytes()).update(&[0]);
        }
        hasher.update(&[1]);
    }
    for slot in request.slots.names() {
        hasher.update(slot.as_bytes()).update(&[0]);
    }
    hasher.update(&[u8::from(request.moves == Moves::Never)]);
    hasher.update(&(request.rounds as u64).to_le_bytes()).update(request.suite_text.as_bytes());
    let [a, b, c, d, ..] = *hasher.finalize().as_bytes();
    u32::from_le_bytes([a, b, c, d])
}
