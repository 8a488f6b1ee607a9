//! The result of a ranking, as data. Names are as records have them: escape them before they are shown.

use std::collections::{BTreeMap, BTreeSet};

use assay_core::estimate::Estimate;
use assay_core::finding::ValidityVerdict;
use assay_core::observation::Observation;
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::verification::Verdict;
use assay_stats::rank::{
    self as stats, Better, Ending, Entrant, Fit, Medal, Notice, Precedence, Precision, RankRefusal, jeffreys,
};
use serde::Serialize;

use super::collect::{Catalogue, Ceilings, UsedCeiling};
use super::composite::{CompositeKind, CompositeRanking};
use crate::Excluded;
use crate::deciding::Needed;
use crate::load::Load;
use crate::quantity::{Quantity, displayed};
use crate::reading::Mark;

/// The ranking of all loads.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankReport {
    /// The load that decides. Its error of order is kept at alpha.
    pub primary: LoadRanking,
    /// All other loads. Each has its own alpha, so that some false order among them is likely.
    pub exploratory: Vec<LoadRanking>,
    /// A score over several loads, where asked for.
    pub composite: Option<CompositeRanking>,
    /// Units that deviate under several loads, by direction.
    pub deviations: Vec<OddUnitDeviation>,
    /// Records that were examined.
    pub records: usize,
    /// Whether the primary load was chosen by the program.
    pub primary_by_default: bool,
    /// Probability of any false order when all models are equal.
    pub alpha: f64,
    /// Differences up to this share do not matter.
    pub delta: f64,
    /// Seed of all random draws.
    pub seed: u64,
    /// Whether models of one unit borrow the variance of others.
    pub borrow: bool,
}

/// The models under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRanking {
    /// The load.
    pub load: Load,
    /// Its title.
    pub title: String,
    /// The figure.
    pub quantity: Quantity,
    /// Whether it is not the load that decides.
    pub exploratory: bool,
    /// Why models are not ordered; `None` where they are.
    #[serde(serialize_with = "displayed")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub refusal: Option<RankRefusal>,
    /// Ordered models first, the best one at the top; then models without an order.
    pub models: Vec<ModelRow>,
    /// All pairs of ordered models.
    pub pairs: Vec<PairRow>,
    /// Degrees of freedom between units.
    pub degrees: u32,
    /// Deviation of logarithms between units of a model, shared by all that are not at the ceiling.
    pub unit_deviation: Option<f64>,
    /// Critical value of |t|, of all pairs at once.
    pub critical: Option<f64>,
    /// Draws of the bootstrap.
    pub draws: usize,
    /// Fewer than four degrees of freedom.
    pub weak: bool,
    /// Smallest ratio of two models that could have been told apart with these units.
    pub smallest_ratio: Option<f64>,
    /// Units of the ordered model with the fewest units. `smallest_ratio` depends on it.
    pub least_units: u32,
    /// Number of units that would separate the models that share the first place, for the largest difference seen among
    /// them.
    pub needed: Option<Needed>,
    /// The components of variance; `None` where there is none.
    pub shares: Option<Shares>,
    /// Deviation of logarithms between repeats of one unit.
    pub run_deviation: Option<f64>,
    /// The ceiling, where one is known.
    pub ceiling: Option<UsedCeiling>,
    /// Units that deviate from the others of their model, and models whose units differ.
    pub odd: Vec<Unresolved>,
    /// Units that were tested for deviation.
    pub odd_tested: usize,
    /// Slots that deviate; by chance in 1 % of rankings, over all their loads.
    pub slots: Vec<SlotWarning>,
    /// Other caveats.
    pub remarks: Vec<RankRemark>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
    /// Records, units, repeats, slots and rounds that the figures rest on.
    pub basis: RankBasis,
}

/// The amount of data behind figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankBasis {
    /// Records.
    pub records: usize,
    /// Units.
    pub units: usize,
    /// Repeats.
    pub runs: usize,
    /// Rounds; 0 where records name none.
    pub rounds: usize,
    /// Slots; 0 where records name none.
    pub slots: usize,
}

/// The standing of a model in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RankStanding {
    /// In order.
    Ranked,
    /// In order, with the variance of others: this does not represent the model.
    Provisional,
    /// One unit: this does not represent the model.
    Specimen,
    /// Several units, but no order could be computed.
    Unordered,
    /// No figure under this load.
    NoFigure,
}

/// A model under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRow {
    /// Its name.
    pub model: String,
    /// Its standing.
    pub standing: RankStanding,
    /// Its layer, from 1; models that share it are not ordered. `None` where unordered.
    pub layer: Option<usize>,
    /// Medal of the layer.
    pub medal: Option<Medal>,
    /// Whether others share the layer.
    pub tied: bool,
    /// First and last possible rank, jointly for all models.
    pub ranks: Option<(usize, usize)>,
    /// Its figure over units.
    pub estimate: Option<Estimate>,
    /// Its figure divided by that of the model in the first place.
    pub to_first: Option<Ratio>,
    /// Limited by the bus: the figure is a lower bound.
    pub at_ceiling: bool,
    /// The units vary less than a quarter of what they do at the smallest block: a second sign of a
    /// ceiling.
    pub variance_compressed: bool,
    /// Whether units failed.
    pub class: Precedence,
    /// Units that failed; `None` where none was lost.
    pub failures: Option<FailureShare>,
    /// The records of these failures.
    pub failed: Vec<FailedRecord>,
    /// Variance of logarithms between units.
    pub unit_variance: Option<f64>,
    /// Prediction interval for a further unit of the model under the same conditions, at the level of the ranking. With
    /// fewer than three units the variance is assumed; null at the ceiling.
    pub further_unit: Option<(f64, f64)>,
    /// Its units.
    pub units: Vec<UnitRow>,
    /// Caveats of its figures, each with the number of records.
    pub marks: Vec<(Mark, usize)>,
}

/// A ratio with its simultaneous interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The ratio.
    pub point: f64,
    /// Lower end; `None` where it is unbounded or was not tested.
    pub low: Option<f64>,
    /// Upper end; `None` as for the lower end.
    pub high: Option<f64>,
}

/// A unit under one load.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnitRow {
    /// Its name; empty where the records give none.
    pub unit: String,
    /// Geometric mean of its repeats, without the effects of slots and rounds.
    pub value: f64,
    /// The same with these effects, as it was measured; null where there are none.
    pub measured: Option<f64>,
    /// Repeats.
    pub runs: u32,
    /// Deviation of the logarithms of its repeats within a record; `None` for single ones.
    pub run_deviation: Option<f64>,
    /// Limited by the bus.
    pub at_ceiling: bool,
    /// Several repeats never became steady.
    pub erratic: bool,
    /// The ratio of its two speeds, slower over faster, where its repeats fall into two speeds: no run was near the
    /// mean.
    pub two_speeds: Option<TwoSpeeds>,
}

/// Repeats of one record that fall into two speeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwoSpeeds {
    /// The record.
    pub record: String,
    /// The slower over the faster.
    pub ratio: f64,
    /// All repeats in their order.
    pub values: Vec<f64>,
}

/// Two models.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PairRow {
    /// The model with the better place.
    pub first: String,
    /// The other.
    pub second: String,
    /// First over second.
    pub ratio: Ratio,
    /// The verdict.
    pub verdict: Better,
}

/// Shares of the variance of one repeat of any model; they add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shares {
    /// Between models; `None` for one model.
    pub model: Option<f64>,
    /// Between units of a model; includes slots and repeats where those are `None`.
    pub unit: f64,
    /// Between slots; `None` where units did not change slots.
    pub slot: Option<f64>,
    /// Between repeats; `None` where each unit has one.
    pub run: Option<f64>,
}

/// Units of a model that differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unresolved {
    /// The model.
    pub model: String,
    /// The unit that deviates; `None` where no single unit can be named.
    pub unit: Option<String>,
    /// The unit over the mean of the others, or the largest unit over the smallest.
    pub ratio: f64,
    /// Units of the model.
    pub of: usize,
    /// Whether a test shows the deviation. Else the units differ, but are too few to test, and no unit is named.
    pub tested: bool,
    /// Whether a unit deviates more than nearly normal units do, but is not named because heavy tails explain as much.
    pub heavy_tails: bool,
    /// Whether the unit has to be measured again before it is called odd: it was measured once, and its host was disturbed.
    pub again: bool,
    /// Whether unit and slot could be told apart.
    pub slot_known: bool,
    /// Whether medals change without the unit.
    pub ranking_depends: bool,
    /// Units of the model with which a unit of this deviation would be named in 80 of 100 cases; `None` where it is
    /// named, and where no number is enough.
    pub needed: Option<u32>,
    /// The two groups that the units form; `None` where they form none. `ratio` is then that of the lower group to the
    /// higher one.
    pub groups: Option<UnitGroups>,
}

/// Two groups of the units of a model, each by names of units, those with the lowest values first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnitGroups {
    /// Units with the lower values.
    pub low: Vec<String>,
    /// Units with the higher values.
    pub high: Vec<String>,
}

/// A unit that deviates, over all loads of a direction.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddUnitDeviation {
    /// The model.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Units of the model.
    pub of: usize,
    /// `reads`, `writes` or `mixed work`.
    pub direction: &'static str,
    /// Loads under which it deviates in this sense.
    pub loads: usize,
    /// Loads of that direction with a figure of it.
    pub of_loads: usize,
    /// Geometric mean of its ratios to the others under these loads.
    pub ratio: f64,
    /// Smallest ratio.
    pub least: f64,
    /// Largest ratio.
    pub most: f64,
    /// Whether it has to be measured again: under each of these loads it was measured once, and its host was disturbed.
    pub again: bool,
    /// Directions in which it was also measured, but deviates under no load.
    pub not_in: Vec<&'static str>,
}

/// A slot that stands out; units have been adjusted for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SlotWarning {
    /// Its name.
    pub slot: String,
    /// Its values over those of the median slot.
    pub ratio: f64,
    /// Chance that slots without effects explain as much.
    pub p_value: f64,
}

/// What has to be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "remark", rename_all = "snake_case")]
pub enum RankRemark {
    /// Records name no unit and count as one.
    NamelessUnit {
        /// The model.
        model: String,
        /// How many records.
        records: usize,
    },
    /// Records of one unit say capacities that one medium cannot have.
    SeveralMedia {
        /// The model and the unit.
        unit: String,
        /// The smallest capacity.
        least_bytes: u64,
        /// The largest.
        most_bytes: u64,
    },
    /// Figures are not as measured: the effects of slots and rounds were taken out, and so those of computers.
    Adjusted {
        /// Units with such figures.
        units: usize,
    },
    /// Writes are ranked by the rate at which they were acknowledged, as some figures have no durable rate.
    Acknowledged {
        /// How many.
        lacking: usize,
    },
    /// Units were in too few slots for a test of slots: the effects of units, slots and rounds explain all values.
    TooFewRounds,
    /// Sources do not tell everything of the load.
    NotTold {
        /// The missing properties as text, each with the number of records.
        what: Vec<(String, usize)>,
    },
    /// Hosts executed the load in different ways.
    Manners {
        /// The ways as text, each with the number of records.
        of: Vec<(String, usize)>,
    },
    /// Records come from several suites.
    Suites {
        /// Their names.
        suites: Vec<String>,
    },
    /// What the design does not allow to tell.
    #[serde(untagged)]
    Design(Notice),
}

// The data that all loads of a ranking share: the options, and how the records of each unit ended.

/// The data that all loads of a ranking share. What is made of them for one load is in `level.rs` and `ranking.rs`.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(super) catalogue: Catalogue<'a>,
    pub(super) ceilings: Ceilings,
    pub(super) records: Records,
    pub(super) ask: RankOptions,
}

impl<'a> Setting<'a> {
    /// From records that name their models.
    pub(crate) fn new(named: &[&'a Observation], ask: &RankOptions) -> Self {
        let catalogue = Catalogue::new(named);
        let ceilings = Ceilings::new(ask.ceiling, &catalogue);
        let records = Records::new(&catalogue);
        Self { catalogue, ceilings, records, ask: ask.clone() }
    }
}

/// Units and models whose figures are bounds.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// By model and unit, whether the unit is at the ceiling, so that it may be faster.
    pub(super) units: BTreeMap<(String, String), bool>,
    /// Models with figures that are the best of several runs: on average they are slower.
    pub(super) flattered: BTreeSet<String>,
}

impl Held {
    pub(super) fn unit(&self, model: &str, unit: &str) -> bool {
        self.units.get(&(model.to_owned(), unit.to_owned())).copied().unwrap_or(false)
    }

    /// Whether at least half of the units are at the ceiling.
    pub(super) fn model(&self, model: &str) -> bool {
        let units = self.units.iter().filter(|((of, _), _)| of == model);
        let (held, of) = units.fold((0, 0), |(held, of), (_, is)| (held + usize::from(*is), of + 1));
        of > 0 && 2 * held >= of
    }

    /// Marks a model whose figures are bounds, for a ranking.
    pub(super) fn bounded(&self, entrant: Entrant) -> Entrant {
        Entrant { censored: self.model(&entrant.name), flattered: self.flattered.contains(&entrant.name), ..entrant }
    }

    /// How precisely the units of each model determine its mean. Models without such information are absent.
    pub(super) fn precisions(&self, fit: &Fit) -> BTreeMap<String, Precision> {
        let entrants: Vec<Entrant> = fit.entrants().into_iter().map(|entrant| self.bounded(entrant)).collect();
        let all = stats::precisions(&entrants, (stats::PRIOR_DEGREES, false), &fit.shared);
        entrants.into_iter().zip(all).filter_map(|(entrant, known)| Some((entrant.name, known?))).collect()
    }
}

/// The facts about a model in its records other than figures.
#[derive(Debug, Default)]
pub(super) struct ModelRecords {
    endings: Vec<Ending>,
    failed: Vec<FailedRecord>,
    units: BTreeSet<String>,
}

/// These facts for all models.
#[derive(Debug)]
pub(super) struct Records(pub(super) BTreeMap<String, ModelRecords>);

impl Records {
    pub(super) fn new(catalogue: &Catalogue<'_>) -> Self {
        let mut models: BTreeMap<String, ModelRecords> = BTreeMap::new();
        for entry in &catalogue.entries {
            let model = models.entry(entry.identity.model.clone()).or_default();
            let (ended, failed) = (ending(entry.record), failure(entry.record, &entry.identity.unit));
            // A run that the user or the host ended, or that did not reach the medium, shows no unit to be sound.
            let sound = ended == Some(Ending::Done) && entry.record.validity.verdict != ValidityVerdict::Invalid;
            if sound || failed.is_some() {
                model.units.insert(entry.identity.unit.clone());
            }
            model.endings.extend(ended);
            model.failed.extend(failed);
        }
        Self(models)
    }

    pub(super) fn class(&self, model: &str) -> stats::Precedence {
        self.0.get(model).and_then(|of| stats::Precedence::from_endings(&of.endings)).unwrap_or_default()
    }

    pub(super) fn failures(&self, model: &str, level: f64) -> (Option<FailureShare>, Vec<FailedRecord>) {
        let Some(of) = self.0.get(model).filter(|of| !of.failed.is_empty()) else { return (None, Vec::new()) };
        let failed: BTreeSet<&str> = of.failed.iter().map(|f| f.unit.as_str()).collect();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (FailureShare::new(count(failed.len()), count(of.units.len()), level), of.failed.clone())
    }
}

// How the records of a unit ended, as the ranking counts it.

/// A record whose medium failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedRecord {
    /// Its id.
    pub record: String,
    /// The unit.
    pub unit: String,
    /// What happened.
    pub failure: MediumFailure,
}

/// How a medium failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MediumFailure {
    /// A check found that it loses or invents data.
    Check {
        /// The verdict.
        verdict: Verdict,
    },
    /// It failed during a run.
    Run {
        /// How.
        failure: RunFailure,
        /// After this many nanoseconds of the run.
        elapsed_ns: u64,
    },
}

/// Units that failed, of all of a model, with Jeffreys's interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureShare {
    /// Units that failed.
    pub failed: u32,
    /// Units tried.
    pub of: u32,
    /// Lower end of the share of units that fail.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
}

impl FailureShare {
    pub(super) fn new(failed: u32, of: u32, level: f64) -> Option<Self> {
        let share = jeffreys(u64::from(failed), u64::from(of), level)?;
        Some(Self { failed, of, low: share.low, high: share.high, level })
    }
}

/// How a record ended: `None` while its run is under way.
pub(super) fn ending(record: &Observation) -> Option<Ending> {
    if bad_verdict(record).is_some() {
        return Some(Ending::Corrupt);
    }
    match &record.outcome {
        Outcome::Completed => Some(Ending::Done),
        Outcome::Running => None,
        Outcome::Failed { failure, .. } => Some(match failure {
            RunFailure::Hung => Ending::Hung,
            RunFailure::ReadOnly => Ending::ReadOnly,
            RunFailure::IoError | RunFailure::Other => Ending::IoError,
            RunFailure::Disappeared => Ending::Gone,
            RunFailure::OutOfSpace
            | RunFailure::Interrupted
            | RunFailure::Suspended
            | RunFailure::Abandoned
            | RunFailure::Host => Ending::AbortedByHost,
        }),
    }
}

/// The verdict of a check that proved loss of data.
fn bad_verdict(record: &Observation) -> Option<Verdict> {
    record.verification.as_ref().map(|verification| verification.verdict).filter(|verdict| verdict.is_bad())
}

/// The failure of a record, where the medium failed.
pub(super) fn failure(record: &Observation, unit: &str) -> Option<FailedRecord> {
    let failure = match (bad_verdict(record), &record.outcome) {
        (Some(verdict), _) => MediumFailure::Check { verdict },
        (None, Outcome::Failed { failure, elapsed_ns, .. }) if record.outcome.medium_failed() => {
            MediumFailure::Run { failure: *failure, elapsed_ns: *elapsed_ns }
        }
        _ => return None,
    };
    Some(FailedRecord { record: record.id.clone(), unit: unit.to_owned(), failure })
}

// The options of a ranking.

/// How to rank.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOptions {
    /// Words for the load that decides; `None`: the one of [`crate::deciding_load`].
    pub primary: Option<String>,
    /// The figure of it; `None`: what people read first of that load.
    pub quantity: Option<Quantity>,
    /// Rate in bytes per second that slots let through; `None`: as the records or the values say.
    pub ceiling: Option<f64>,
    /// Chance of any false order when all models are equal, between 0 and 1.
    pub alpha: f64,
    /// Differences up to this share do not matter: 0.03 is 3 %.
    pub delta: f64,
    /// Whether models of one unit take part, with the variance of the others.
    pub borrow: bool,
    /// Seed of everything drawn.
    pub seed: u64,
    /// A number made of several loads beside the ranking.
    pub composite: Option<CompositeKind>,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self {
            primary: None,
            quantity: None,
            ceiling: None,
            alpha: 0.05,
            delta: 0.03,
            borrow: false,
            seed: 0,
            composite: None,
        }
    }
}
