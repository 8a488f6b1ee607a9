//! Which thresholds of the performance classes of SD cards a specimen meets, and a model.
//!
//! The thresholds are in [`assay_core::medium`]. The test procedure of the SD Association is not
//! public, so a pass says "threshold met under our conditions", not "conformant".

use std::collections::BTreeSet;

use assay_core::medium::{CLASSES, Class, CommandQueue};
use assay_core::observation::Observation;
use assay_core::workload::{Op, Pattern};
use assay_stats::decide::{self, Tolerance, tolerance};
use assay_stats::variation::{RunVariance, specimens};
use serde::Serialize;

use super::evidence::{AdviseError, Subject, UnitValues, name_missing, nothing_left, some_subjects, units};
use crate::{Excluded, Load, Mark, Quantity, loads};

/// All quantities that classes ask for.
pub(super) const KINDS: [ClassKind; 3] = [ClassKind::SequentialWrite, ClassKind::RandomRead, ClassKind::RandomWrite];

/// What a class asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassKind {
    /// Sustained sequential write in bytes per second.
    SequentialWrite,
    /// Random reads of 4 KiB per second, over all jobs.
    RandomRead,
    /// Random writes of 4 KiB per second, over all jobs.
    RandomWrite,
}

/// Answer about a quantity or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClassStatus {
    /// Threshold met under these conditions, with 95 % confidence. A class: all of its parts are, each at that
    /// confidence (intersection-union test, Berger 1982).
    Pass,
    /// Not met, with 95 % confidence. A class: one of its parts is not, with a confidence of 95 % over all of them
    /// (Bonferroni).
    Fail,
    /// The repeats do not tell, or there are fewer than three.
    Indeterminate,
    /// Not met here, but the bus ended it, not the medium.
    BusLimited,
    /// Not measured.
    NotMeasured,
    /// See [`ClassAnswer::obstacle`].
    NotTestable,
}

/// Why a class cannot be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// A2 rests on a command queue and a cache (SD 6.0), which this host is not known to use.
    CommandQueue,
    /// Not a medium that can be bought: a virtual disk, memory or a network volume.
    Virtual,
}

/// One quantity of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassPart {
    /// Which one.
    pub kind: ClassKind,
    /// Load it was measured with.
    pub load: Load,
    /// The load as text.
    pub title: String,
    /// Geometric mean in bytes or operations per second.
    pub value: f64,
    /// With 95 % confidence at least and (another 95 %) at most; `None` for fewer than 3 repeats.
    pub bounds: Option<(f64, f64)>,
    /// Repeats.
    pub n: usize,
    /// Caveats.
    pub marks: Vec<Mark>,
}

/// One class of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAnswer {
    /// Name as printed on cards.
    pub class: &'static str,
    /// Whether the medium claims it.
    pub claimed: bool,
    /// The answer.
    pub status: ClassStatus,
    /// Why it is not testable; null where it is.
    pub obstacle: Option<Obstacle>,
    /// Which part is without a command queue, where that is the obstacle and is known.
    pub queue: Option<CommandQueue>,
    /// The quantities behind it.
    pub tests: Vec<ClassTest>,
}

/// One quantity of a class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassTest {
    /// Which one.
    pub kind: ClassKind,
    /// What the class asks for, in bytes or operations per second.
    pub threshold: f64,
    /// The answer.
    pub status: ClassStatus,
    /// Whether the estimate is below the threshold; `None` where it was not measured.
    pub below: Option<bool>,
}

/// One unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpecimenClasses {
    /// Its model.
    pub model: String,
    /// Its unit; empty where not known.
    pub unit: String,
    /// The measured figures.
    pub figures: Vec<ClassPart>,
    /// The requested classes.
    pub classes: Vec<ClassAnswer>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassAdvice {
    /// Classes that were named; empty: all.
    pub asked: Vec<&'static str>,
    /// Each unit.
    pub units: Vec<SpecimenClasses>,
    /// Each model.
    pub models: Vec<ModelClasses>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

impl ClassAdvice {
    /// Whether a class that was named, or else one that the medium claims, is not met.
    #[must_use]
    pub fn is_no(&self) -> bool {
        let mut all = self.units.iter().flat_map(|s| &s.classes);
        all.any(|c| c.status == ClassStatus::Fail && (c.claimed || !self.asked.is_empty()))
    }
}

/// In a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelWord {
    /// With 95 % confidence at least 90 % of the units pass.
    Pass,
    /// With 95 % confidence fewer do.
    Fail,
    /// The data do not tell, or no single unit passes or fails.
    Indeterminate,
    /// One unit says nothing about the model.
    OneUnit,
    /// Not measured.
    NotMeasured,
    /// Not testable for one of its units, so not for the model.
    NotTestable,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelPart {
    /// Which one.
    pub kind: ClassKind,
    /// What the class asks for.
    pub threshold: f64,
    /// The answer.
    pub word: ModelWord,
    /// What 90 % of the units exceed, with 95 % confidence; `None` where no unit has three repeats.
    pub lower_limit: Option<f64>,
    /// Units.
    pub n: usize,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelAnswer {
    /// Name as printed on cards.
    pub class: &'static str,
    /// The answer.
    pub word: ModelWord,
    /// The quantities behind it.
    pub parts: Vec<ModelPart>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelClasses {
    /// Its name.
    pub model: String,
    /// Units.
    pub units: usize,
    /// The share of the units that it is about.
    pub content: f64,
    /// The classes that were asked for.
    pub classes: Vec<ModelAnswer>,
}

/// What a class asks for, in bytes or operations per second.
pub(super) fn needs(class: &Class) -> Vec<(ClassKind, f64)> {
    let random = class.random.map(|(read, write)| [(ClassKind::RandomRead, read), (ClassKind::RandomWrite, write)]);
    std::iter::once((ClassKind::SequentialWrite, class.sequential_write)).chain(random.into_iter().flatten()).collect()
}

/// Block size that application performance classes are about (SD 5.1 and 6.0).
const CLASS_BLOCK: u64 = 4096;

/// Judges every unit, and every model over its units. `asked` names classes as [`CLASSES`] does;
/// none: all.
///
/// # Errors
/// No record is left, or none with a quantity that classes ask for.
pub fn class(records: &[Observation], asked: &[&'static str]) -> Result<ClassAdvice, AdviseError> {
    let mut excluded = Vec::new();
    let subjects = some_subjects(records, "media", &mut excluded)?;
    let (mut specimens, mut models, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for subject in &subjects {
        let measured = KINDS.map(|kind| measured(subject, kind, &mut excluded));
        let mut names: Vec<&str> = Vec::new();
        for (_, unit) in measured.iter().flatten() {
            if !names.contains(&unit.unit.as_str()) {
                names.push(&unit.unit);
            }
        }
        let units = names.into_iter().map(|unit| specimen(subject, unit, &measured, asked));
        let units = units.collect::<Result<Vec<_>, _>>()?;
        let judged = |r: &Observation| measured.iter().flatten().any(|(load, _)| loads([r]).contains(load));
        name_missing(subject, judged, None, &mut missing);
        models.extend(model_classes(subject, &measured, &units, asked)?);
        specimens.extend(units);
    }
    if specimens.is_empty() {
        if excluded.is_empty() {
            return Err(AdviseError::NoSuchLoad {
                whose: "what was named".to_owned(),
                load: "sequential write and no random 4 KiB, which classes are about".to_owned(),
                mend: "measure with suite quick".to_owned(),
            });
        }
        return Err(nothing_left("a figure that classes are about", &excluded));
    }
    missing.retain(|m: &Excluded| excluded.iter().all(|e| e.record != m.record));
    excluded.extend(missing);
    Ok(ClassAdvice { asked: asked.to_vec(), units: specimens, models, excluded })
}

/// The largest blocks of sequential writes; of random 4 KiB the load with the most in flight, as the thresholds are
/// about what a card can do. Each unit by the best of its own loads, so that others change nothing of its answer.
fn measured(subject: &Subject<'_>, kind: ClassKind, excluded: &mut Vec<Excluded>) -> Measured {
    let mut all = loads(subject.records.iter().copied());
    all.retain(|l| {
        !l.synced
            && l.is_plain()
            && match kind {
                ClassKind::SequentialWrite => (l.op(), l.pattern()) == (Op::Write, Some(Pattern::Sequential)),
                ClassKind::RandomRead => {
                    (l.op(), l.pattern(), l.block_bytes) == (Op::Read, Some(Pattern::Random), CLASS_BLOCK)
                }
                ClassKind::RandomWrite => {
                    (l.op(), l.pattern(), l.block_bytes) == (Op::Write, Some(Pattern::Random), CLASS_BLOCK)
                }
            }
    });
    all.sort_by_key(|l| std::cmp::Reverse((l.block_bytes, u64::from(l.queue_depth) * u64::from(l.jobs))));
    let mut found: Measured = Vec::new();
    for load in all {
        // Of all jobs together: thresholds are about the card, not about a job. Of writes the durable rate where it
        // is known.
        let quantities: &[Quantity] = match kind {
            ClassKind::SequentialWrite => &[Quantity::DurableBytesPerSecond, Quantity::BytesPerSecond],
            ClassKind::RandomRead | ClassKind::RandomWrite => &[Quantity::Iops],
        };
        for unit in quantities.iter().flat_map(|quantity| units(&subject.records, &load, *quantity, excluded)) {
            if found.iter().all(|(_, known)| known.unit != unit.unit) {
                found.push((load.clone(), unit));
            }
        }
    }
    found
}

/// The measurements of one unit.
struct Unit<'a> {
    figures: Vec<Judged>,
    records: Vec<&'a Observation>,
}

/// One quantity of a unit.
struct Judged {
    figure: ClassPart,
    /// Its upper bound by itself.
    high: Option<f64>,
    /// Its upper bound where three quantities are judged together: that all are met needs no correction, that any of
    /// them is missed does (Bonferroni).
    high_of_three: Option<f64>,
}

fn specimen(
    subject: &Subject<'_>,
    unit: &str,
    measured: &[Measured; 3],
    asked: &[&'static str],
) -> Result<SpecimenClasses, AdviseError> {
    let records = subject.records.iter().copied().filter(|r| crate::identity(r).unit == unit).collect();
    let of_unit = |(kind, all): (ClassKind, &'_ Measured)| {
        all.iter().find(|(_, of)| of.unit == unit).map(|(load, of)| judged(kind, load, of))
    };
    let figures = KINDS.into_iter().zip(measured).filter_map(of_unit).collect::<Result<_, _>>()?;
    let own = Unit { figures, records };
    let claims: BTreeSet<&str> =
        own.records.iter().flat_map(|r| &r.medium.claimed_classes).map(String::as_str).collect();
    let wanted = CLASSES.iter().filter(|c| asked.is_empty() || asked.contains(&c.name));
    let classes = wanted.map(|c| answer(c, &own, claims.contains(c.name))).collect();
    let figures = own.figures.into_iter().map(|judged| judged.figure).collect();
    Ok(SpecimenClasses { model: subject.model.clone(), unit: unit.to_owned(), figures, classes })
}

fn judged(kind: ClassKind, load: &Load, unit: &UnitValues) -> Result<Judged, AdviseError> {
    let values = unit.repeats();
    let bounds = decide::bounds(&values)?;
    // A card that meets a threshold does so on any day.
    let over = unit.over_days();
    let mean = over.map_or(bounds.point, |over| over.value());
    let at = |confidence| bounds.interval.and(over?.bounds(confidence));
    let interval = at(decide::CONFIDENCE);
    let strict = 1.0 - (1.0 - decide::CONFIDENCE) / 3.0;
    // A unit that is far below a threshold misses it even without repeats. The best of several runs is above the mean
    // of the unit, and the variance of its days is unknown; a single value may be off by as much as units of a model
    // differ.
    let best_of = unit.marks.contains(&Mark::BestOf);
    let half = |confidence| match best_of {
        true => RunVariance::of([]).bound(confidence, 1.0),
        false => specimens(2.0 * confidence - 1.0, 1, 0.0),
    };
    let at_most = |confidence| half(confidence).map(|half| mean * half.exp());
    let high_of = |confidence| at(confidence).map(|(_, high)| high).or_else(|| at_most(confidence));
    let (high, of_three) = (high_of(decide::CONFIDENCE), high_of(strict));
    let mut marks = unit.marks.clone();
    marks.sort();
    marks.dedup();
    let (title, load) = (load.title(), load.clone());
    let figure = ClassPart { kind, load, title, value: mean, bounds: interval, n: bounds.n, marks };
    Ok(Judged { figure, high, high_of_three: of_three })
}

fn answer(class: &Class, unit: &Unit<'_>, claimed: bool) -> ClassAnswer {
    let needs = needs(class);
    let tests: Vec<ClassTest> = needs.iter().map(|need| test(*need, needs.len() > 1, unit)).collect();
    let order = [ClassStatus::Fail, ClassStatus::BusLimited, ClassStatus::NotMeasured, ClassStatus::Indeterminate];
    let worst = order.into_iter().find(|s| tests.iter().any(|t| t.status == *s));
    let obstacle = obstacle(class, unit);
    let status = if obstacle.is_some() { ClassStatus::NotTestable } else { worst.unwrap_or(ClassStatus::Pass) };
    let known = || unit.records.iter().rev().find_map(|record| record.medium.command_queue);
    let queue = (obstacle == Some(Obstacle::CommandQueue)).then(known).flatten();
    ClassAnswer { class: class.name, claimed, status, obstacle, queue, tests }
}

fn obstacle(class: &Class, unit: &Unit<'_>) -> Option<Obstacle> {
    let queueing = |r: &&Observation| r.medium.command_queue == Some(CommandQueue::On);
    if unit.records.iter().any(|r| r.medium.kind.is_virtual()) {
        Some(Obstacle::Virtual)
    } else if class.name == "A2" && !unit.records.iter().any(queueing) {
        Some(Obstacle::CommandQueue)
    } else {
        None
    }
}

/// One quantity of a class, the only one or one of three.
fn test((kind, threshold): (ClassKind, f64), of_three: bool, unit: &Unit<'_>) -> ClassTest {
    let Some(Judged { figure, high, high_of_three }) = unit.figures.iter().find(|j| j.figure.kind == kind) else {
        return ClassTest { kind, threshold, status: ClassStatus::NotMeasured, below: None };
    };
    let low = figure.bounds.map(|(low, _)| low);
    let high = if of_three { *high_of_three } else { *high };
    let status = match (low, high) {
        // The best of several runs bounds the unit from above, as the bus does from below.
        (Some(low), _) if low >= threshold && figure.marks.contains(&Mark::BestOf) => ClassStatus::Indeterminate,
        (Some(low), _) if low >= threshold => ClassStatus::Pass,
        (_, Some(high)) if high < threshold && figure.marks.contains(&Mark::BusLimited) => ClassStatus::BusLimited,
        (_, Some(high)) if high < threshold => ClassStatus::Fail,
        _ => ClassStatus::Indeterminate,
    };
    ClassTest { kind, threshold, status, below: Some(figure.value < threshold) }
}

/// The class of this name, in any case.
#[must_use]
pub fn class_named(name: &str) -> Option<&'static str> {
    CLASSES.iter().map(|c| c.name).find(|known| known.eq_ignore_ascii_case(name))
}

// What the units of a model say of the next one: at least 90 % of them pass, with 95 % confidence. A model passes or
// fails only where one of its units does.

/// The measurements of a quantity: each unit, with the load that it is judged by.
pub(super) type Measured = Vec<(Load, UnitValues)>;

/// Share of the units that a statement about a model is about.
pub(super) const CONTENT: f64 = 0.90;

/// `None` where there are no measurements. `specimens` are the units of the model.
pub(super) fn model_classes(
    subject: &Subject<'_>,
    measured: &[Measured; 3],
    specimens: &[SpecimenClasses],
    asked: &[&'static str],
) -> Result<Option<ModelClasses>, AdviseError> {
    let means = |kind: ClassKind| -> Vec<f64> {
        let of = KINDS.iter().position(|k| *k == kind).map(|at| &measured[at]);
        of.into_iter().flatten().filter_map(|(_, unit)| unit.mean()).collect()
    };
    let judged = |class: &Class, kind: ClassKind, status: ClassStatus| {
        let of = specimens.iter().flat_map(|s| &s.classes).filter(|c| c.class == class.name);
        of.flat_map(|c| &c.tests).any(|test| (test.kind, test.status) == (kind, status))
    };
    let bounded = |kind: ClassKind| {
        let mut of = specimens.iter().flat_map(|s| &s.figures).filter(|figure| figure.kind == kind);
        of.any(|figure| figure.bounds.is_some())
    };
    let units = measured.iter().map(Vec::len).max().unwrap_or(0);
    if units == 0 {
        return Ok(None);
    }
    let wanted = CLASSES.iter().filter(|c| asked.is_empty() || asked.contains(&c.name));
    let testable = |class: &Class| {
        let mut of = specimens.iter().flat_map(|s| &s.classes).filter(|c| c.class == class.name);
        of.all(|c| c.obstacle.is_none())
    };
    let classes = wanted
        .map(|c| model_answer(c, testable(c), means, bounded, |kind, status| judged(c, kind, status)))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Some(ModelClasses { model: subject.model.clone(), units, content: CONTENT, classes }))
}

fn model_answer(
    class: &Class,
    testable: bool,
    means: impl Fn(ClassKind) -> Vec<f64>,
    bounded: impl Fn(ClassKind) -> bool,
    judged: impl Fn(ClassKind, ClassStatus) -> bool,
) -> Result<ModelAnswer, AdviseError> {
    let mut parts = Vec::new();
    for (kind, threshold) in needs(class) {
        let values = means(kind);
        if values.is_empty() {
            parts.push(ModelPart { kind, threshold, word: ModelWord::NotMeasured, lower_limit: None, n: 0 });
            continue;
        }
        let limits = tolerance(&values, CONTENT)?;
        let word = match word(limits, threshold) {
            // A model is not judged more certainly than its units.
            ModelWord::Pass if !judged(kind, ClassStatus::Pass) => ModelWord::Indeterminate,
            ModelWord::Fail if !judged(kind, ClassStatus::Fail) => ModelWord::Indeterminate,
            word => word,
        };
        let lower_limit = limits.map(|limits| limits.lower).filter(|_| bounded(kind));
        parts.push(ModelPart { kind, threshold, word, lower_limit, n: values.len() });
    }
    let order = [ModelWord::Fail, ModelWord::OneUnit, ModelWord::NotMeasured, ModelWord::Indeterminate];
    let worst = order.into_iter().find(|w| parts.iter().any(|p| p.word == *w));
    let word = if testable { worst.unwrap_or(ModelWord::Pass) } else { ModelWord::NotTestable };
    Ok(ModelAnswer { class: class.name, word, parts })
}

/// What limits of the units say about a threshold; `None` of one unit.
fn word(limits: Option<Tolerance>, threshold: f64) -> ModelWord {
    match limits {
        None => ModelWord::OneUnit,
        Some(limits) if limits.lower >= threshold => ModelWord::Pass,
        Some(limits) if limits.upper < threshold => ModelWord::Fail,
        Some(_) => ModelWord::Indeterminate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_about_a_model() {
        let units = [1800.0 * (-0.02f64).exp(), 1800.0, 1800.0 * 0.02f64.exp()];
        let claim = |units: &[f64], threshold| word(tolerance(units, CONTENT).unwrap(), threshold);
        assert_eq!(claim(&units, 1500.0), ModelWord::Pass);
        assert_eq!(claim(&units, 1700.0), ModelWord::Indeterminate);
        assert_eq!(claim(&units, 2500.0), ModelWord::Fail);
        assert_eq!(claim(&[9000.0], 1500.0), ModelWord::OneUnit);
    }
}
