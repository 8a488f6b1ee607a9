//! A medium in each node, or a share of one central volume.

use std::collections::BTreeSet;

use assay_core::observation::Observation;
use assay_core::workload::Pattern;
use assay_stats::decide::About;
use serde::Serialize;

use super::evidence::{
    AdviseError, EvidenceFigure, Subject, durable, figure, name_missing, nothing_left, some_subjects,
};
use super::nas_share::{Even, Limit, Link, Local, MeasuredTerms, Nas, NasVerdict, Need, decide, share};
use super::nas_volume::{Measured, Volume, VolumeFigures, mixed};
use crate::deciding::{by_model, deciding_load, loads_named};
use crate::{Excluded, Load, Mark, Quantity, Reason, loads};

/// A question about a central volume.
#[derive(Debug, Clone, PartialEq)]
pub struct NasQuestion {
    /// Number of nodes.
    pub nodes: u32,
    /// The wire at the volume.
    pub link: Link,
    /// The wire at each node.
    pub node_link: Option<Link>,
    /// Share of the nodes active at the same time.
    pub active_share: f64,
    /// Random operations per second of the volume.
    pub volume_iops: Option<f64>,
    /// Latency of the volume, in seconds.
    pub answer_seconds: Option<f64>,
    /// The lead that local media need, as a share.
    pub margin: f64,
    /// Only loads that match these words.
    pub load: Option<String>,
    /// Show all loads, and not only the one that decides.
    pub all: bool,
    /// A hypothetical rate of the bus of the local media, in bytes per second.
    pub what_if_bus: Option<f64>,
}

impl NasQuestion {
    /// A question about `nodes` nodes behind a wire with the defaults: all nodes active at once, no further facts about
    /// the volume, every load, and a margin of 10 % for local media.
    #[must_use]
    pub fn for_nodes(nodes: u32, link: Link) -> Self {
        Self {
            nodes,
            link,
            node_link: None,
            active_share: 1.0,
            volume_iops: None,
            answer_seconds: None,
            margin: 0.1,
            load: None,
            all: false,
            what_if_bus: None,
        }
    }
}

/// The estimate for a load that ended at the bus, if the bus were faster and nothing else changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// The smallest rate, which was measured, and the largest rate, which is that of the bus, in bytes per second.
    pub bytes_per_second: (f64, f64),
    /// Number of nodes at which local media and share are equal: at most, and at least; `None` where one node already
    /// gets less.
    pub break_even: Option<(f64, f64)>,
    /// The answer, where it is the same for the least and the most.
    pub verdict: Option<NasVerdict>,
}

/// What limits a node's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// The wire at the volume.
    Wire,
    /// The best rate measured of the volume, which is less than the wire.
    BestRate,
    /// The operations per second of the volume.
    Volume,
    /// The rate of a single node that uses the volume alone.
    Alone,
    /// The sum over several nodes that measured the volume at once.
    Together,
    /// The latency of the volume.
    Answer,
    /// The wire at the node.
    NodeWire,
}

/// One term of a share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShareTerms {
    /// The term.
    pub term: Term,
    /// The rate that it leaves to an active node, in bytes per second.
    pub bytes_per_second: f64,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasRow {
    /// The load.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// The rate of the medium, in bytes per second.
    pub local: EvidenceFigure,
    /// The rate that the volume leaves to one active node, in bytes per second.
    pub share_bytes_per_second: f64,
    /// The term that limits the share.
    pub limit: Term,
    /// All known terms of the share.
    pub terms: Vec<ShareTerms>,
    /// Measurements of the volume.
    pub volume: Option<VolumeFigures>,
    /// Number of nodes at which both are equal, by the estimates.
    pub break_even: Even,
    /// Local over share, by the estimates.
    pub ratio: f64,
    /// Probability that local is faster by more than the margin; `None` without an interval.
    pub probability: Option<f64>,
    /// Whether the answer is about the next unit of the model; else it is about the unit that was measured.
    pub next_unit: bool,
    /// The answer.
    pub verdict: NasVerdict,
    /// The mode of the bus that held the local medium, so that the medium may be faster; an empty string where the mode
    /// is unknown; null where no bus held it.
    pub held_by: Option<String>,
    /// The estimate for another bus, where one was given and the load ended at the bus.
    pub what_if: Option<WhatIf>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasModel {
    /// Its name.
    pub model: String,
    /// Units with records that count.
    pub units: usize,
    /// Its loads.
    pub rows: Vec<NasRow>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NasAdvice {
    /// Number of nodes.
    pub nodes: u32,
    /// Share of them active at once.
    pub active_share: f64,
    /// The lead that local media need.
    pub margin: f64,
    /// The hypothetical rate of the bus of the local media.
    pub what_if_bus: Option<f64>,
    /// The wire at the volume.
    pub link: Link,
    /// Share of one node by the line rate, in bytes per second; `None` where only a payload is known.
    pub line_share: Option<f64>,
    /// Share of one node by the payload rate, in bytes per second.
    pub payload_share: f64,
    /// Operations per second of the volume, as the user gave them.
    pub volume_iops: Option<f64>,
    /// Model of the volume, where records of it were given.
    pub volume: Option<String>,
    /// The smallest area of the volume in bytes that was read under a load that is judged. 0 where a record does not
    /// state its area; `None` where none was read.
    pub volume_read_bytes: Option<u64>,
    /// Each model of local media.
    pub models: Vec<NasModel>,
    /// The load to show; `None` where all are shown.
    #[serde(skip)]
    pub deciding: Option<Load>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

/// Any fixed number: the same records give the same answer.
const SEED: u64 = 28;

/// Judges local media against a share of a volume, load by load.
///
/// # Errors
/// No record or load is left, no node, quantities that are not above zero.
pub fn nas(local: &[Observation], volume: &[Observation], question: &NasQuestion) -> Result<NasAdvice, AdviseError> {
    let mut excluded = Vec::new();
    let subjects = some_subjects(local, "local media", &mut excluded)?;
    let measured = Measured::from_records(volume, &mut excluded);
    let volume = match measured.volume(&mut excluded)? {
        None if !volume.is_empty() => return Err(nothing_left("the NAS", &excluded)),
        found => found,
    };
    // Checks nodes, shares and wires, independent of the loads.
    let plain = shape(question, &Load::from_workload(&first_workload(&subjects, &excluded)?), question.link);
    let payload_share = share(&Nas { node_wire: None, answer_seconds: None, volume_iops: None, ..plain })?;
    let mut models = Vec::new();
    for subject in &subjects {
        let wanted = match &question.load {
            Some(asked) => loads_named(local, asked)?,
            None => loads(subject.records.iter().copied()),
        };
        let mut rows = Vec::new();
        for load in &wanted {
            rows.extend(nas_row(subject, volume.as_ref(), load, question, &mut excluded)?);
        }
        let judged = |r: &Observation| loads([r]).iter().any(|l| wanted.contains(l));
        name_missing(subject, judged, None, &mut excluded);
        if !rows.is_empty() {
            models.push(NasModel { model: subject.model.clone(), units: subject.units - subject.failed, rows });
        }
    }
    if models.is_empty() {
        return Err(nothing_left("a known load", &excluded));
    }
    let judged: Vec<Load> = models.iter().flat_map(|m: &NasModel| &m.rows).map(|row| row.load.clone()).collect();
    let chosen = question.load.is_none() && !question.all;
    let deciding = chosen.then(|| deciding_load(&by_model(local), None, Some(&judged)).ok()).flatten();
    let volume_read_bytes = volume.as_ref().and_then(|volume| volume.read_bytes(&judged));
    let line_share = match question.link {
        Link::Line(rate) => Some(rate / question.link.payload() * payload_share.bytes_per_second),
        Link::Payload(_) => None,
    };
    Ok(NasAdvice {
        nodes: question.nodes,
        active_share: question.active_share,
        margin: question.margin,
        what_if_bus: question.what_if_bus,
        link: question.link,
        line_share,
        payload_share: payload_share.bytes_per_second,
        volume_iops: question.volume_iops,
        volume: volume.map(|v| v.model),
        volume_read_bytes,
        models,
        deciding,
        excluded,
    })
}

fn first_workload(
    subjects: &[Subject<'_>],
    excluded: &[Excluded],
) -> Result<assay_core::workload::Workload, AdviseError> {
    let mut all = subjects.iter().flat_map(|s| &s.records).flat_map(|r| &r.measurements);
    all.next().map(|m| (*m.workload).clone()).ok_or_else(|| nothing_left("a known load", excluded))
}

fn shape(question: &NasQuestion, load: &Load, wire: Link) -> Nas {
    Nas {
        wire,
        node_wire: question.node_link,
        // Neighbouring blocks of a stream come with one movement of the heads: the number of
        // random operations says nothing about them.
        volume_iops: question.volume_iops.filter(|_| load.pattern() == Some(Pattern::Random)),
        random: load.pattern() == Some(Pattern::Random),
        answer_seconds: question.answer_seconds,
        block_bytes: load.block_bytes,
        queue_depth: load.queue_depth.saturating_mul(load.jobs),
        nodes: question.nodes,
        active_share: question.active_share,
        measured: None,
    }
}

fn nas_row(
    subject: &Subject<'_>,
    volume: Option<&Volume<'_>>,
    load: &Load,
    question: &NasQuestion,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<NasRow>, AdviseError> {
    let leave_out = |excluded: &mut Vec<Excluded>, reason| {
        if let Some(record) = subject.records.iter().find(|r| loads([**r]).contains(load)) {
            excluded.push(Excluded::new(record, Some(load), reason));
        }
    };
    if mixed(load) {
        leave_out(excluded, Reason::Mixed);
        return Ok(None);
    }
    // What a share makes of a load depends on the size of its blocks.
    if load.block_bytes == 0 {
        leave_out(excluded, Reason::LoadNotTold);
        return Ok(None);
    }
    let both_durable = durable(&subject.records, load) && volume.is_none_or(|v| v.durable(load));
    let quantity = if both_durable { Quantity::DurableBytesPerSecond } else { Quantity::BytesPerSecond };
    let Some(local) = figure(subject, load, quantity, excluded)? else { return Ok(None) };
    let measured = match volume {
        None => None,
        Some(volume) => match volume.figures(load, quantity, active(question), excluded)? {
            None => {
                leave_out(excluded, Reason::NotOnVolume);
                return Ok(None);
            }
            found => found,
        },
    };
    let measured = measured.as_ref();
    let limits = Limits::from_question(question, load, measured, Sum::Stated);
    let nas = &limits.nas;
    let about = local.about();
    let single = local.single()?;
    let bytes_per_second = single.map_or_else(|| local.next_unit(), Ok)?;
    let of = Local { bytes_per_second, block_bytes: load.block_bytes, queue_depth: nas.queue_depth };
    let mut found = decide(&of, nas, about, question.margin, SEED)?;
    // Of another number of nodes than measured the volume, what they get in sum is known by bounds alone.
    for sum in [Sum::Least, Sum::Most] {
        let bound =
            decide(&of, &Limits::from_question(question, load, measured, sum).nas, about, question.margin, SEED)?;
        if measured.is_some_and(|m| m.together.is_some()) && bound.verdict != found.verdict {
            let decided = matches!(found.verdict, NasVerdict::Local | NasVerdict::Nas);
            found.verdict = if decided { NasVerdict::CannotTell(Need::Volume) } else { found.verdict };
        }
    }
    let held = local.marks.contains(&Mark::BusLimited) || subject.at_ceiling(load, quantity);
    let by_figures = found.verdict;
    found.verdict = one_way(by_figures, single.is_some(), local.marks.contains(&Mark::BestOf), held);
    // One value gives a chance only where it decides: how its repeats vary is assumed.
    let decides = matches!(found.verdict, NasVerdict::Local | NasVerdict::Nas);
    found.probability = found.probability.filter(|_| single.is_none() || decides);
    let terms = found.share.terms.iter();
    let terms = terms.map(|(l, rate)| ShareTerms { term: limits.term(*l), bytes_per_second: *rate }).collect();
    let break_even = found.break_even;
    let share = found.share.bytes_per_second;
    let what_if = question.what_if_bus.and_then(|bus| {
        (held && local.value < bus)
            .then(|| what_if(local.value, bus, break_even, by_figures, share * (1.0 + question.margin)))
    });
    let held_by = if held { Some(held_by(subject, load)) } else { None };
    Ok(Some(NasRow {
        what_if,
        held_by,
        load: load.clone(),
        title: load.title(),
        share_bytes_per_second: share,
        limit: limits.term(found.share.limit),
        terms,
        volume: measured.cloned(),
        break_even,
        ratio: found.ratio,
        probability: found.probability,
        next_unit: about == About::NextUnit,
        verdict: found.verdict,
        local,
    }))
}

/// Limits a verdict where figures are one-sided bounds. The best of several runs is an upper bound, so it can lose but not
/// win. A figure that was limited by its bus is a lower bound, so it can win but not lose. One value decides where it lies
/// as far from the share as units of a model differ at most; nearer to it, repeats have to show how they vary.
fn one_way(verdict: NasVerdict, single: bool, best_of: bool, held: bool) -> NasVerdict {
    match verdict {
        NasVerdict::Nas if held => NasVerdict::CannotTell(Need::Bus),
        NasVerdict::Local if best_of => NasVerdict::CannotTell(Need::BestOf),
        NasVerdict::CannotTell(need) if single && need != Need::Volume => NasVerdict::CannotTell(Need::Repeats),
        other => other,
    }
}

/// The mode of the bus that held a medium under a load, where its records tell one.
fn held_by(subject: &Subject<'_>, load: &Load) -> String {
    let with_load = subject.records.iter().filter(|record| loads([**record]).contains(load));
    let modes = with_load.filter_map(|record| record.medium.bus.as_ref()).map(|bus| bus.mode.clone());
    let modes: BTreeSet<String> = modes.filter(|mode| !mode.is_empty()).collect();
    modes.into_iter().collect::<Vec<_>>().join(", ")
}

/// A medium that ended at the bus is at least as fast as it was, and no faster than the bus that it would get.
fn what_if(value: f64, bus: f64, even: Even, verdict: NasVerdict, enough: f64) -> WhatIf {
    let verdict = match verdict {
        NasVerdict::Local => Some(NasVerdict::Local),
        NasVerdict::Nas if bus <= enough => Some(NasVerdict::Nas),
        _ => None,
    };
    let break_even = match even {
        Even::Nodes(nodes) => Some((nodes, nodes * value / bus)),
        Even::Always => None,
    };
    WhatIf { bytes_per_second: (value, bus), break_even, verdict }
}

/// Nodes that are active at the same time.
fn active(question: &NasQuestion) -> f64 {
    (f64::from(question.nodes) * question.active_share).max(1.0)
}

/// Which sum over the active nodes is meant, where another number of nodes measured the volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sum {
    /// The stated sum: that of the nodes that measured at once, or of one client if that was more.
    Stated,
    /// A lower bound: more nodes get at least this sum; of fewer nodes, each gets at least its share among more.
    Least,
    /// An upper bound: more nodes may get the rate of the wire; fewer get at most the sum of more.
    Most,
}

/// The limits of a node's share, and the term that each comes from.
struct Limits {
    nas: Nas,
    wire: Term,
    volume: Term,
    latency: Term,
}

impl Limits {
    /// From the question, and from the measurements of the volume where they give less.
    fn from_question(question: &NasQuestion, load: &Load, measured: Option<&VolumeFigures>, sum: Sum) -> Self {
        let nas = shape(question, load, question.link);
        let mut limits = Self { nas, wire: Term::Wire, volume: Term::Volume, latency: Term::Answer };
        let Some(measured) = measured else { return limits };
        let nas = &mut limits.nas;
        let (error, degrees) = measured.error();
        let given = nas.volume_iops.is_some();
        let mut of_volume = MeasuredTerms { wire: false, volume: !given, answer: false, error, degrees };
        let known = total(measured, active(question), sum);
        if let Some((rate, term)) = known.filter(|(rate, _)| *rate < question.link.payload()) {
            nas.wire = Link::Payload(rate);
            limits.wire = term;
            of_volume.wire = true;
        }
        let block = load.block_bytes as f64;
        if measured.together.is_some() && nas.random && !given {
            // Without an upper bound of its own the wire is it.
            nas.volume_iops = Some(known.map_or(question.link.payload(), |(rate, _)| rate) / block);
            limits.volume = known.map_or(Term::Wire, |(_, term)| term);
        }
        let Some(alone) = &measured.alone else {
            nas.measured = Some(of_volume);
            return limits;
        };
        // One client measured both: the volume gives at least the greater of them.
        let alone = alone.value;
        nas.volume_iops = nas.volume_iops.or(measured.deepest.as_ref().map(|f| f.value.max(alone / block)));
        let in_flight = f64::from(nas.queue_depth) * block;
        let seconds = in_flight / alone;
        if nas.answer_seconds.is_none_or(|given| seconds > given) {
            nas.answer_seconds = Some(seconds);
            limits.latency = Term::Alone;
            of_volume.answer = true;
        }
        nas.measured = Some(of_volume);
        limits
    }

    fn term(&self, limit: Limit) -> Term {
        match limit {
            Limit::Wire => self.wire,
            Limit::Volume => self.volume,
            Limit::Latency => self.latency,
            Limit::NodeWire => Term::NodeWire,
        }
    }
}

/// What all active nodes get from the volume together, in bytes per second; `None` where only the wire bounds it.
fn total(measured: &VolumeFigures, active: f64, sum: Sum) -> Option<(f64, Term)> {
    let by_one = measured.best.as_ref().map(|best| (best.value, Term::BestRate));
    let Some(together) = &measured.together else { return by_one };
    let (nodes, got) = (f64::from(together.nodes), together.sum());
    let same = (active / nodes - 1.0).abs() < 0.01;
    if same || active < nodes {
        let least = (together.share.value * active).max(by_one.map_or(0.0, |(rate, _)| rate)).min(got);
        return Some((if !same && sum == Sum::Least { least } else { got }, Term::Together));
    }
    match sum {
        Sum::Most => None,
        // More nodes get at least what fewer got, or one alone.
        Sum::Stated | Sum::Least => by_one.filter(|(rate, _)| *rate > got).or(Some((got, Term::Together))),
    }
}
