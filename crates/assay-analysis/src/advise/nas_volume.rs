//! What records of a central volume say of its limits.

use assay_core::workload::{Op, Pattern};

use super::error::AdviseError;
use super::evidence::Subject;
use super::figure::{Figure, figure};
use super::nas_types::VolumeFigures;
use crate::{Excluded, Load, Quantity, loads};

/// From this many operations in flight on, a client measures the volume and not the round trip.
const DEEP: u64 = 8;

/// `None` where the volume was not measured under this load.
pub(super) fn volume_figures(
    volume: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<VolumeFigures>, AdviseError> {
    let Some(alone) = figure(volume, load, quantity, excluded)? else { return Ok(None) };
    let all = loads(volume.records.iter().copied());
    let mut best = alone.clone();
    let mut deepest: Option<(u64, Figure)> = None;
    for other in all.iter().filter(|l| l.op() == load.op() && l.offered.is_empty() && same_kind(l, load)) {
        if let Some(found) = figure(volume, other, quantity, excluded)?.filter(|f| f.value > best.value) {
            best = found;
        }
        let depth = u64::from(other.queue_depth) * u64::from(other.jobs);
        let like = other.pattern() == Some(Pattern::Random)
            && load.pattern() == Some(Pattern::Random)
            && other.block_bytes == load.block_bytes
            && other.synced == load.synced;
        if like && depth >= DEEP && deepest.as_ref().is_none_or(|(d, _)| depth > *d) {
            deepest = figure(volume, other, Quantity::Iops, excluded)?.map(|f| (depth, f)).or(deepest);
        }
    }
    Ok(Some(VolumeFigures { alone, deepest: deepest.map(|(_, f)| f), best }))
}

/// Whether blocks of the same sizes are spread alike, and the same goes on beside them.
fn same_kind(a: &Load, b: &Load) -> bool {
    (&a.spread, &a.blocks, &a.beside) == (&b.spread, &b.blocks, &b.beside)
}

/// Reads and writes of a mixed load do not share a direction of the wire.
pub(super) fn mixed(load: &Load) -> bool {
    load.op() == Op::Mixed
}
