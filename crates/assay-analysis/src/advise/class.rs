//! Which thresholds of the performance classes of SD cards a specimen meets, and a model.

use std::collections::BTreeSet;

use assay_core::classes::CLASSES;
use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};
use assay_stats::decide::{self, Host, Runs};
use serde::Serialize;

use super::class_model::{ModelClasses, model_classes};
use super::error::AdviseError;
use super::evidence::{Excluded, Subject, name_missing, nothing_left, some_subjects};
use super::figure::{UnitValues, durable, units};
use crate::{Load, Mark, Quantity, loads};

/// Block size that application performance classes are about (SD 5.1 and 6.0).
const CLASS_BLOCK: u64 = 4096;

/// What a class asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Sustained sequential write in bytes per second.
    SequentialWrite,
    /// Random reads of 4 KiB per second, over all jobs.
    RandomRead,
    /// Random writes of 4 KiB per second, over all jobs.
    RandomWrite,
}

impl From<decide::Quantity> for Kind {
    fn from(quantity: decide::Quantity) -> Self {
        match quantity {
            decide::Quantity::SequentialWrite => Self::SequentialWrite,
            decide::Quantity::RandomRead => Self::RandomRead,
            decide::Quantity::RandomWrite => Self::RandomWrite,
        }
    }
}

/// Answer about a quantity or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Threshold met under these conditions, with 95 % confidence.
    Pass,
    /// Not met, with 95 % confidence.
    Fail,
    /// The repeats do not tell, or there are fewer than three.
    Indeterminate,
    /// Not met here, but the bus ended it, not the medium.
    BusLimited,
    /// Not measured.
    NotMeasured,
    /// The class rests on a command queue and a cache that this host is not known to use.
    NotTestable,
}

/// One quantity of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassPart {
    /// Which one.
    pub kind: Kind,
    /// Load it was measured with.
    pub load: Load,
    /// The same in words.
    pub title: String,
    /// Geometric mean in bytes or operations per second.
    pub value: f64,
    /// With 95 % confidence at least and (another 95 %) at most; `None` for fewer than 3 repeats.
    pub bounds: Option<(f64, f64)>,
    /// Repeats.
    pub n: usize,
    /// What it has to be read with.
    pub marks: Vec<Mark>,
}

/// One class of one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassAnswer {
    /// Name as printed on cards.
    pub class: &'static str,
    /// Whether the medium claims it.
    pub claimed: bool,
    /// The answer.
    pub status: Status,
    /// The quantities behind it.
    pub tests: Vec<ClassTest>,
}

/// One quantity of a class.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassTest {
    /// Which one.
    pub kind: Kind,
    /// What the class asks for, in bytes or operations per second.
    pub threshold: f64,
    /// The answer.
    pub status: Status,
    /// Whether the estimate is below the threshold; `None` where it was not measured.
    pub below: Option<bool>,
}

/// One unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpecimenClasses {
    /// Its model.
    pub model: String,
    /// Its unit; empty where not known.
    pub unit: String,
    /// What was measured.
    pub figures: Vec<ClassPart>,
    /// The classes that were asked for.
    pub classes: Vec<ClassAnswer>,
}

/// The answer with the numbers behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassAdvice {
    /// Classes that were named; empty: all.
    pub asked: Vec<&'static str>,
    /// Each unit.
    pub specimens: Vec<SpecimenClasses>,
    /// Each model.
    pub models: Vec<ModelClasses>,
    /// What was left out.
    pub excluded: Vec<Excluded>,
}

impl ClassAdvice {
    /// Whether a class that was named, or else one that the medium claims, is not met.
    #[must_use]
    pub fn is_no(&self) -> bool {
        let mut all = self.specimens.iter().flat_map(|s| &s.classes);
        all.any(|c| c.status == Status::Fail && (c.claimed || !self.asked.is_empty()))
    }
}

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
        let measured = [Kind::SequentialWrite, Kind::RandomRead, Kind::RandomWrite]
            .map(|kind| measured(subject, kind, &mut excluded));
        let mut names: Vec<&str> = Vec::new();
        for unit in measured.iter().flatten().flat_map(|(_, _, units)| units) {
            if !names.contains(&unit.unit.as_str()) {
                names.push(&unit.unit);
            }
        }
        for unit in names {
            specimens.push(specimen(subject, unit, &measured, asked)?);
        }
        let judged = |r: &Record| measured.iter().flatten().any(|(_, load, _)| loads([r]).contains(load));
        name_missing(subject, judged, None, &mut missing);
        models.extend(model_classes(subject, &measured, asked)?);
    }
    if specimens.is_empty() {
        if excluded.is_empty() {
            return Err(AdviseError::NoSuchLoad {
                whose: "none of the records".to_owned(),
                load: "sequential write and no random 4 KiB, which classes are about".to_owned(),
                mend: "measure with suite quick".to_owned(),
            });
        }
        return Err(nothing_left("a quantity that classes are about", &excluded));
    }
    missing.retain(|m: &Excluded| excluded.iter().all(|e| e.record != m.record));
    excluded.extend(missing);
    Ok(ClassAdvice { asked: asked.to_vec(), specimens, models, excluded })
}

/// What was measured of a quantity: with which load, and the repeats of each unit.
pub(super) type Measured = Option<(Kind, Load, Vec<UnitValues>)>;

/// The largest blocks of sequential writes; of random 4 KiB the load with the most in flight, as
/// the thresholds are about what a card can do. One load for all units of a model.
fn measured(subject: &Subject<'_>, kind: Kind, excluded: &mut Vec<Excluded>) -> Measured {
    let mut all = loads(subject.records.iter().copied());
    all.retain(|l| {
        !l.synced
            && l.variant.is_empty()
            && match kind {
                Kind::SequentialWrite => (l.op(), l.pattern()) == (Op::Write, Pattern::Sequential),
                Kind::RandomRead => (l.op(), l.pattern(), l.block_bytes) == (Op::Read, Pattern::Random, CLASS_BLOCK),
                Kind::RandomWrite => (l.op(), l.pattern(), l.block_bytes) == (Op::Write, Pattern::Random, CLASS_BLOCK),
            }
    });
    all.sort_by_key(|l| std::cmp::Reverse((l.block_bytes, u64::from(l.queue_depth) * u64::from(l.jobs))));
    for load in all {
        let quantity = match kind {
            Kind::SequentialWrite if durable(&subject.records, &load) => Quantity::DurableBytesPerSecond,
            Kind::SequentialWrite => Quantity::BytesPerSecond,
            // Of all jobs together: thresholds are about the card, not about a job.
            Kind::RandomRead | Kind::RandomWrite => Quantity::Iops,
        };
        let found = units(&subject.records, &load, quantity, excluded);
        if !found.is_empty() {
            return Some((kind, load, found));
        }
    }
    None
}

fn specimen(
    subject: &Subject<'_>,
    unit: &str,
    measured: &[Measured; 3],
    asked: &[&'static str],
) -> Result<SpecimenClasses, AdviseError> {
    let mine = |at: usize| -> Option<(&Load, &UnitValues)> {
        let (_, load, units) = measured[at].as_ref()?;
        Some((load, units.iter().find(|u| u.unit == unit)?))
    };
    let values = |at: usize| mine(at).map_or(&[][..], |(_, u)| &u.values);
    let runs = Runs { sequential_write: values(0), random_read: values(1), random_write: values(2) };
    let records: Vec<&&Record> = subject.records.iter().filter(|r| crate::identity(r).unit == unit).collect();
    // What the kernel says of a card: the command queue is in use (A2 rests on it, SD 6.0).
    let command_queueing = records.iter().any(|r| r.medium.queue.get("cmdq_en").is_some_and(|v| v == "1"));
    let claims: BTreeSet<&str> = records.iter().flat_map(|r| &r.medium.claimed_classes).map(String::as_str).collect();
    let mut figures = Vec::new();
    for (at, kind) in [Kind::SequentialWrite, Kind::RandomRead, Kind::RandomWrite].into_iter().enumerate() {
        let Some((load, unit)) = mine(at) else { continue };
        let bounds = decide::bounds(&unit.values)?;
        let mut marks = unit.marks.clone();
        marks.sort();
        marks.dedup();
        figures.push(ClassPart {
            kind,
            load: load.clone(),
            title: load.title(),
            value: bounds.point,
            bounds: bounds.interval,
            n: bounds.n,
            marks,
        });
    }
    let limited = |kind: Kind| figures.iter().any(|f| f.kind == kind && f.marks.contains(&Mark::BusLimited));
    let mut classes = Vec::new();
    for found in decide::classes(&runs, Host { command_queueing })? {
        if !asked.is_empty() && !asked.contains(&found.class) {
            continue;
        }
        let tests: Vec<ClassTest> = found
            .parts
            .iter()
            .map(|part| {
                let kind = Kind::from(part.quantity);
                let status = match status(part.status) {
                    Status::Fail if limited(kind) => Status::BusLimited,
                    other => other,
                };
                let below = part.bounds.map(|b| b.point < part.threshold);
                ClassTest { kind, threshold: part.threshold, status, below }
            })
            .collect();
        let order = [Status::Fail, Status::BusLimited, Status::NotMeasured, Status::Indeterminate];
        let worst = order.into_iter().find(|s| tests.iter().any(|t| t.status == *s));
        let status = match found.status {
            decide::Status::NotTestable => Status::NotTestable,
            _ => worst.unwrap_or(Status::Pass),
        };
        classes.push(ClassAnswer { class: found.class, claimed: claims.contains(found.class), status, tests });
    }
    Ok(SpecimenClasses { model: subject.model.clone(), unit: unit.to_owned(), figures, classes })
}

fn status(status: decide::Status) -> Status {
    match status {
        decide::Status::Pass => Status::Pass,
        decide::Status::Fail => Status::Fail,
        decide::Status::Indeterminate => Status::Indeterminate,
        decide::Status::NotMeasured => Status::NotMeasured,
        decide::Status::NotTestable => Status::NotTestable,
    }
}

/// The class of this name, in any case.
#[must_use]
pub fn class_named(name: &str) -> Option<&'static str> {
    CLASSES.iter().map(|c| c.name).find(|known| known.eq_ignore_ascii_case(name))
}
