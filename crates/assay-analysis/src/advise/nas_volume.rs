//! What records of a central volume say of its limits.

use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};

use super::error::AdviseError;
use super::evidence::{Subject, one_subject};
use super::figure::{Figure, durable, figure};
use super::nas_types::{Together, VolumeFigures};
use crate::reason::Reason;
use crate::{Excluded, Load, Quantity, loads};

/// From this many operations in flight on, a client measures the volume and not the round trip.
const DEEP: u64 = 8;

/// Records of the volume, by who measured it.
pub(super) struct Measured {
    /// By one client.
    alone: Vec<Record>,
    /// By so many nodes at once, the most that there are.
    together: Option<(u32, Vec<Record>)>,
}

impl Measured {
    /// Sorts records. Those of nodes that took turns tell neither what one gets alone nor what all get at once.
    pub(super) fn of(records: &[Record], excluded: &mut Vec<Excluded>) -> Self {
        let most = records.iter().filter_map(at_once).max().filter(|nodes| *nodes > 1);
        let mut measured = Self { alone: Vec::new(), together: most.map(|nodes| (nodes, Vec::new())) };
        for record in records {
            match (at_once(record), &mut measured.together) {
                (Some(1), _) => measured.alone.push(record.clone()),
                (Some(nodes), Some((most, together))) if nodes == *most => together.push(record.clone()),
                (Some(nodes), Some((most, _))) => {
                    excluded.push(Excluded::new(record, None, Reason::FewerAtOnce { nodes, most: *most }));
                }
                (None | Some(_), _) => excluded.push(Excluded::new(record, None, Reason::InTurns)),
            }
        }
        measured
    }

    pub(super) fn volume<'a>(&'a self, excluded: &mut Vec<Excluded>) -> Result<Option<Volume<'a>>, AdviseError> {
        let mut of = |records: &'a Vec<Record>| match &records[..] {
            [] => Ok(None),
            records => one_subject(records, "the NAS", excluded).map(Some),
        };
        let alone = of(&self.alone)?;
        let together = match &self.together {
            Some((nodes, records)) => of(records)?.map(|subject| (*nodes, subject)),
            None => None,
        };
        let both = [alone.as_ref(), together.as_ref().map(|(_, subject)| subject)];
        let mut models: Vec<String> = both.into_iter().flatten().map(|subject| subject.model.clone()).collect();
        models.dedup();
        match &models[..] {
            [] => Ok(None),
            [model] => Ok(Some(Volume { model: model.clone(), alone, together })),
            many => Err(AdviseError::ManyModels { what: "the NAS", models: many.join(", ") }),
        }
    }
}

/// How many nodes measured at once: 1 for a run by itself, `None` where they took turns some at a time.
fn at_once(record: &Record) -> Option<u32> {
    let Some(part) = record.cluster.as_deref().filter(|part| part.nodes > 1 && part.at_a_time > 1) else {
        return Some(1);
    };
    if part.at_a_time < part.nodes {
        return None;
    }
    // Some may not have come.
    let starts = record.measurements.iter().flat_map(|m| &m.repeats).filter_map(|r| r.common_start.as_deref());
    Some(starts.map(|start| start.nodes).min().unwrap_or(part.nodes))
}

/// The volume, as one client measured it and as nodes did at once.
pub(super) struct Volume<'a> {
    pub(super) model: String,
    alone: Option<Subject<'a>>,
    together: Option<(u32, Subject<'a>)>,
}

impl Volume<'_> {
    /// Whether all its figures under this load are durable.
    pub(super) fn durable(&self, load: &Load) -> bool {
        let both = [self.alone.as_ref(), self.together.as_ref().map(|(_, subject)| subject)];
        let mut measured = both.into_iter().flatten().filter(|s| loads(s.records.iter().copied()).contains(load));
        measured.all(|subject| durable(&subject.records, load))
    }

    /// `None` where the volume was not measured under this load.
    pub(super) fn figures(
        &self,
        load: &Load,
        quantity: Quantity,
        excluded: &mut Vec<Excluded>,
    ) -> Result<Option<VolumeFigures>, AdviseError> {
        let mut found = match &self.alone {
            Some(subject) => by_one(subject, load, quantity, excluded)?,
            None => VolumeFigures::default(),
        };
        if let Some((nodes, subject)) = &self.together {
            let share = figure(subject, load, quantity, excluded)?;
            found.together = share.map(|share| Together { nodes: *nodes, share });
        }
        Ok(Some(found).filter(|found| found.alone.is_some() || found.together.is_some()))
    }
}

/// What one client says of the volume.
fn by_one(
    volume: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Result<VolumeFigures, AdviseError> {
    let Some(alone) = figure(volume, load, quantity, excluded)? else { return Ok(VolumeFigures::default()) };
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
    Ok(VolumeFigures { alone: Some(alone), deepest: deepest.map(|(_, f)| f), best: Some(best), together: None })
}

/// Whether blocks of the same sizes are spread alike, and the same goes on beside them.
fn same_kind(a: &Load, b: &Load) -> bool {
    (&a.spread, &a.blocks, &a.beside) == (&b.spread, &b.blocks, &b.beside)
}

/// Reads and writes of a mixed load do not share a direction of the wire.
pub(super) fn mixed(load: &Load) -> bool {
    load.op() == Op::Mixed
}
