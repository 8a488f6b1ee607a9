//! The limits of a central volume, from records of it.

use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::workload::{Op, Pattern};
use assay_stats::variation::{PRIOR_DEGREES, PRIOR_DEVIATION};
use serde::Serialize;

use super::evidence::{AdviseError, EvidenceFigure, Subject, UnitValues, durable, figure, of_one, one_subject};
use crate::admission::admit;
use crate::exclusion::Reason;
use crate::identity::days_of_one;
use crate::overlap::{Common, common_starts};
use crate::quantity::value;
use crate::reading::measurement;
use crate::{Excluded, Load, Mark, Quantity, loads};

/// Measurements of the volume that bear on one load: by one client, by several nodes at once, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VolumeFigures {
    /// The rate of one client alone under the same load, in bytes per second.
    pub alone: Option<EvidenceFigure>,
    /// Operations per second under the deepest load of the same kind and block size with at least eight operations in
    /// flight. One client measured it, so it is a lower bound of the volume.
    pub deepest: Option<EvidenceFigure>,
    /// The best rate that one client had under any load in that direction, in bytes per second.
    pub best: Option<EvidenceFigure>,
    /// The rates of nodes that measured the volume at once.
    pub together: Option<VolumeTogether>,
}

impl VolumeFigures {
    /// Squared error of the logarithm of a figure over many days, the largest of all figures, and its degrees of
    /// freedom. For a figure without repeats, the assumed variance of days.
    pub(super) fn error(&self) -> (f64, f64) {
        let together = self.together.as_ref().map(|together| &together.share);
        let all = [self.alone.as_ref(), self.deepest.as_ref(), self.best.as_ref(), together];
        let errors =
            all.into_iter().flatten().map(|f| f.posterior.error().unwrap_or((PRIOR_DEVIATION.powi(2), PRIOR_DEGREES)));
        errors.fold((0.0, PRIOR_DEGREES), |most, error| if error.0 > most.0 { error } else { most })
    }
}

/// The rate of each of several nodes that measure the volume at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VolumeTogether {
    /// Number of nodes.
    pub nodes: u32,
    /// Repeats of these runs that are left out, because not all nodes made them at the same time or because another
    /// number of nodes did.
    pub left_out: usize,
    /// The share of one node, in bytes per second.
    pub share: EvidenceFigure,
}

impl VolumeTogether {
    /// The sum over all nodes, in bytes per second. With more nodes the volume gives at least this sum.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.share.value * f64::from(self.nodes)
    }
}

/// With at least this many operations in flight, a client measures the volume and not the round trip.
const DEEP: u64 = 8;

/// Records of the volume, by how it was measured.
pub(super) struct Measured {
    /// By one client.
    alone: Vec<Observation>,
    /// By nodes at once.
    at_once: Vec<Observation>,
}

impl Measured {
    /// Sorts records. Records of nodes that took turns are left out: they show neither the rate of one node alone nor
    /// that of all nodes at once.
    pub(super) fn from_records(records: &[Observation], excluded: &mut Vec<Excluded>) -> Self {
        let mut measured = Self { alone: Vec::new(), at_once: Vec::new() };
        for record in records {
            match record.cluster.as_deref().filter(|part| part.nodes > 1 && part.at_a_time > 1) {
                None => measured.alone.push(record.clone()),
                Some(part) if part.at_a_time < part.nodes => {
                    excluded.push(Excluded::new(record, None, Reason::InTurns));
                }
                Some(part) if part.lost.is_some() => excluded.push(Excluded::new(record, None, Reason::OutOfStep)),
                Some(_) => measured.at_once.push(record.clone()),
            }
        }
        measured
    }

    pub(super) fn volume<'a>(&'a self, excluded: &mut Vec<Excluded>) -> Result<Option<Volume<'a>>, AdviseError> {
        let mut of = |records: &'a Vec<Observation>| match &records[..] {
            [] => Ok(None),
            records => match one_subject(records, "the NAS", excluded) {
                Ok(subject) => Ok(Some(subject)),
                // The other records may be enough, and these are listed as left out.
                Err(AdviseError::NothingLeft { .. }) => Ok(None),
                Err(error) => Err(error),
            },
        };
        let (alone, at_once) = (of(&self.alone)?, of(&self.at_once)?);
        let mut models: Vec<String> = [&alone, &at_once].into_iter().flatten().map(|s| s.model.clone()).collect();
        models.dedup();
        match &models[..] {
            [] => Ok(None),
            [model] => Ok(Some(Volume { model: model.clone(), alone, at_once })),
            many => Err(AdviseError::ManyModels { what: "the NAS", models: many.join(", ") }),
        }
    }
}

/// The volume, as measured by one client and by nodes at once.
pub(super) struct Volume<'a> {
    pub(super) model: String,
    alone: Option<Subject<'a>>,
    at_once: Option<Subject<'a>>,
}

impl Volume<'_> {
    /// The smallest area in bytes that was read under one of these loads, 0 where a record does not state it; `None`
    /// where no load reads.
    pub(super) fn read_bytes(&self, loads: &[Load]) -> Option<u64> {
        let records = [&self.alone, &self.at_once].into_iter().flatten().flat_map(|subject| &subject.records);
        let reads = loads.iter().filter(|load| load.op() != Op::Write);
        let all = records.flat_map(|record| reads.clone().filter_map(|load| measurement(record, load)));
        all.map(|measurement| measurement.workload.span_bytes).min()
    }

    /// Whether all its figures under this load are durable.
    pub(super) fn durable(&self, load: &Load) -> bool {
        let both = [&self.alone, &self.at_once].into_iter().flatten();
        let mut measured = both.filter(|s| loads(s.records.iter().copied()).contains(load));
        measured.all(|subject| durable(&subject.records, load))
    }

    /// `None` where the volume was not measured under this load. If several numbers of nodes measured it at once, the
    /// number nearest to `active` counts.
    pub(super) fn figures(
        &self,
        load: &Load,
        quantity: Quantity,
        active: f64,
        excluded: &mut Vec<Excluded>,
    ) -> Result<Option<VolumeFigures>, AdviseError> {
        let mut found = match &self.alone {
            Some(subject) => by_one(subject, load, quantity, excluded)?,
            None => VolumeFigures::default(),
        };
        if let Some(subject) = &self.at_once {
            found.together = together(subject, load, quantity, active, excluded)?;
        }
        Ok(Some(found).filter(|found| found.alone.is_some() || found.together.is_some()))
    }
}

/// The measurements by the nodes of one run under a load.
struct AtOnce<'a> {
    run: &'a str,
    day: Option<String>,
    each: Vec<&'a ObservedMeasurement>,
    marks: Vec<Mark>,
    records: Vec<&'a Observation>,
}

/// The mean over `nodes` nodes of one run, one value for each repeat that all of them made at the same time.
struct Got {
    nodes: u32,
    values: Vec<f64>,
}

impl<'a> AtOnce<'a> {
    /// The admitted records under a load, by run.
    fn under_load(subject: &Subject<'a>, load: &Load, quantity: Quantity) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for record in &subject.records {
            let (Some(part), (Some(reading), _)) = (record.cluster.as_deref(), admit(record, load, quantity)) else {
                continue;
            };
            let at = runs.iter().position(|run| run.run == part.run).unwrap_or_else(|| {
                let (each, marks, records) = (Vec::new(), Vec::new(), Vec::new());
                runs.push(Self { run: &part.run, day: None, each, marks, records });
                runs.len() - 1
            });
            runs[at].each.push(reading.measurement);
            runs[at].marks.extend(reading.marks);
            runs[at].records.push(record);
        }
        let days = days_of_one(runs.iter().filter_map(|run| run.records.first().copied()));
        runs.iter_mut().zip(days).for_each(|(run, day)| run.day = day);
        runs
    }

    /// The means over all nodes that began together, by the number of nodes, and the number of repeats without a mean.
    /// A repeat has none if some of the nodes failed or are not among the records, or if they did not measure at the
    /// same time.
    fn got(&self, quantity: Quantity) -> Result<(Vec<Got>, usize), Reason> {
        let starts = common_starts(self.each.iter().copied().enumerate(), |repeat| value(repeat, quantity));
        let mut got: Vec<Got> = Vec::new();
        let mut left_out = 0;
        for common in &starts {
            let Some(nodes) = common.whole().filter(|_| common.overlaps()) else {
                left_out += 1;
                continue;
            };
            let mean = common.sum() / f64::from(nodes);
            match got.iter_mut().find(|got| got.nodes == nodes) {
                Some(known) => known.values.push(mean),
                None => got.push(Got { nodes, values: vec![mean] }),
            }
        }
        let began = starts.iter().map(Common::nodes).max().unwrap_or(0);
        let lacks = starts.iter().all(|common| common.whole().is_none());
        match got.is_empty() {
            false => Ok((got, left_out)),
            true if lacks && began > 0 => Err(Reason::Partners { known: self.each.len(), began }),
            true => Err(Reason::NotAtOnce),
        }
    }
}

/// The share of a node, over the runs whose number of nodes is nearest to `active`. All values of a run belong to one
/// day.
fn together(
    subject: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    active: f64,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<VolumeTogether>, AdviseError> {
    let mut runs: Vec<(AtOnce<'_>, Vec<Got>, usize)> = Vec::new();
    for run in AtOnce::under_load(subject, load, quantity) {
        match run.got(quantity) {
            Ok((got, left_out)) => runs.push((run, got, left_out)),
            Err(why) => excluded.extend(run.records.into_iter().map(|r| Excluded::new(r, Some(load), why.clone()))),
        }
    }
    let distance = |nodes: u32| (f64::from(nodes) / active).ln().abs();
    let numbers = runs.iter().flat_map(|(_, got, _)| got.iter().map(|got| got.nodes));
    let Some(nodes) = numbers.min_by(|a, b| distance(*a).total_cmp(&distance(*b))) else { return Ok(None) };
    let mut unit = UnitValues { unit: subject.model.clone(), runs: Vec::new(), days: Vec::new(), marks: Vec::new() };
    let mut left_out = 0;
    for (run, got, without) in runs {
        let others: usize = got.iter().filter(|got| got.nodes != nodes).map(|got| got.values.len()).sum();
        let other = got.first().map_or(0, |got| got.nodes);
        match got.into_iter().find(|got| got.nodes == nodes) {
            Some(got) => {
                unit.runs.push(got.values);
                unit.days.push(run.day);
                unit.marks.extend(run.marks);
                left_out += without + others;
            }
            None => {
                let reason = Reason::OtherNodes { nodes: other, counted: nodes };
                excluded.extend(run.records.into_iter().map(|r| Excluded::new(r, Some(load), reason.clone())));
            }
        }
    }
    Ok(Some(VolumeTogether { nodes, left_out, share: of_one(&unit, load, quantity)? }))
}

/// The figures that one client measured.
fn by_one(
    volume: &Subject<'_>,
    load: &Load,
    quantity: Quantity,
    excluded: &mut Vec<Excluded>,
) -> Result<VolumeFigures, AdviseError> {
    let Some(alone) = figure(volume, load, quantity, excluded)? else { return Ok(VolumeFigures::default()) };
    let all = loads(volume.records.iter().copied());
    let mut best = alone.clone();
    let mut deepest: Option<(u64, EvidenceFigure)> = None;
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

/// Whether distribution, block sizes and concurrent workloads are the same.
fn same_kind(a: &Load, b: &Load) -> bool {
    (&a.spread, &a.blocks, &a.beside) == (&b.spread, &b.blocks, &b.beside)
}

/// Whether a load is mixed: its reads and writes do not share a direction of the wire.
pub(super) fn mixed(load: &Load) -> bool {
    load.op() == Op::Mixed
}
