//! Which thresholds of the performance classes of SD cards a specimen meets, and a model.
//!
//! The thresholds are in [`assay_core::classes`]. The test procedure of the SD Association is not
//! public, so a pass says "threshold met under our conditions", not "conformant".

use std::collections::BTreeSet;

use assay_core::classes::{CLASSES, Class};
use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};
use assay_stats::decide;
use assay_stats::variation::{RunVariance, specimens};

use super::class_model::{Measured, model_classes};
use super::class_types::{
    ClassAdvice, ClassAnswer, ClassPart, ClassTest, KINDS, Kind, Obstacle, SpecimenClasses, Status, needs,
};
use super::error::AdviseError;
use super::evidence::{Subject, name_missing, nothing_left, some_subjects};
use super::figure::{UnitValues, units};
use crate::{Excluded, Load, Mark, Quantity, loads};

/// Block size that application performance classes are about (SD 5.1 and 6.0).
const CLASS_BLOCK: u64 = 4096;

/// Judges every unit, and every model over its units. `asked` names classes as [`CLASSES`] does;
/// none: all.
///
/// # Errors
/// No record is left, or none with a quantity that classes ask for.
pub fn class(records: &[Record], asked: &[&'static str]) -> Result<ClassAdvice, AdviseError> {
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
        let judged = |r: &Record| measured.iter().flatten().any(|(load, _)| loads([r]).contains(load));
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
        return Err(nothing_left("a quantity that classes are about", &excluded));
    }
    missing.retain(|m: &Excluded| excluded.iter().all(|e| e.record != m.record));
    excluded.extend(missing);
    Ok(ClassAdvice { asked: asked.to_vec(), units: specimens, models, excluded })
}

/// The largest blocks of sequential writes; of random 4 KiB the load with the most in flight, as the thresholds are
/// about what a card can do. Each unit by the best of its own loads, so that others change nothing of its answer.
fn measured(subject: &Subject<'_>, kind: Kind, excluded: &mut Vec<Excluded>) -> Measured {
    let mut all = loads(subject.records.iter().copied());
    all.retain(|l| {
        !l.synced
            && l.is_plain()
            && match kind {
                Kind::SequentialWrite => (l.op(), l.pattern()) == (Op::Write, Some(Pattern::Sequential)),
                Kind::RandomRead => {
                    (l.op(), l.pattern(), l.block_bytes) == (Op::Read, Some(Pattern::Random), CLASS_BLOCK)
                }
                Kind::RandomWrite => {
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
            Kind::SequentialWrite => &[Quantity::DurableBytesPerSecond, Quantity::BytesPerSecond],
            Kind::RandomRead | Kind::RandomWrite => &[Quantity::Iops],
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
    records: Vec<&'a Record>,
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
    let of_unit = |(kind, all): (Kind, &'_ Measured)| {
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

fn judged(kind: Kind, load: &Load, unit: &UnitValues) -> Result<Judged, AdviseError> {
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
    let order = [Status::Fail, Status::BusLimited, Status::NotMeasured, Status::Indeterminate];
    let worst = order.into_iter().find(|s| tests.iter().any(|t| t.status == *s));
    let obstacle = obstacle(class, unit);
    let status = if obstacle.is_some() { Status::NotTestable } else { worst.unwrap_or(Status::Pass) };
    ClassAnswer { class: class.name, claimed, status, obstacle, tests }
}

fn obstacle(class: &Class, unit: &Unit<'_>) -> Option<Obstacle> {
    // What the kernel says of a card: the command queue is in use.
    let queueing = |r: &&Record| r.medium.queue.get("cmdq_en").is_some_and(|v| v == "1");
    if unit.records.iter().any(|r| r.medium.kind.is_virtual()) {
        Some(Obstacle::Virtual)
    } else if class.name == "A2" && !unit.records.iter().any(queueing) {
        Some(Obstacle::CommandQueue)
    } else {
        None
    }
}

/// One quantity of a class, the only one or one of three.
fn test((kind, threshold): (Kind, f64), of_three: bool, unit: &Unit<'_>) -> ClassTest {
    let Some(Judged { figure, high, high_of_three }) = unit.figures.iter().find(|j| j.figure.kind == kind) else {
        return ClassTest { kind, threshold, status: Status::NotMeasured, below: None };
    };
    let low = figure.bounds.map(|(low, _)| low);
    let high = if of_three { *high_of_three } else { *high };
    let status = match (low, high) {
        // The best of several runs bounds the unit from above, as the bus does from below.
        (Some(low), _) if low >= threshold && figure.marks.contains(&Mark::BestOf) => Status::Indeterminate,
        (Some(low), _) if low >= threshold => Status::Pass,
        (_, Some(high)) if high < threshold && figure.marks.contains(&Mark::BusLimited) => Status::BusLimited,
        (_, Some(high)) if high < threshold => Status::Fail,
        _ => Status::Indeterminate,
    };
    ClassTest { kind, threshold, status, below: Some(figure.value < threshold) }
}

/// The class of this name, in any case.
#[must_use]
pub fn class_named(name: &str) -> Option<&'static str> {
    CLASSES.iter().map(|c| c.name).find(|known| known.eq_ignore_ascii_case(name))
}
