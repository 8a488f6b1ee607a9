//! Whether a specimen meets the thresholds of the performance classes of SD cards.
//!
//! The thresholds are in [`assay_core::classes`]. The test procedure of the SD Association is not
//! public, so a pass says "threshold met under our conditions", not "conformant".

use assay_core::classes::{CLASSES, Class};

use super::bounds::{Bounds, bounds};
use super::refusal::{Refusal, all_positive};

/// What a class asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Sustained sequential write in bytes per second.
    SequentialWrite,
    /// Random reads of 4 KiB per second, over all jobs.
    RandomRead,
    /// Random writes of 4 KiB per second, over all jobs.
    RandomWrite,
}

/// Repeats on one specimen; empty where a quantity was not measured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Runs<'a> {
    /// Sustained sequential write in bytes per second.
    pub sequential_write: &'a [f64],
    /// Random reads of 4 KiB per second, over all jobs.
    pub random_read: &'a [f64],
    /// Random writes of 4 KiB per second, over all jobs.
    pub random_write: &'a [f64],
}

/// What the host can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// It uses the card's command queue and cache, which A2 rests on (SD 6.0).
    pub command_queueing: bool,
}

/// Answer about a quantity or a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Met, with 95 % confidence.
    Pass,
    /// Not met, with 95 % confidence.
    Fail,
    /// The repeats do not tell, or there are fewer than three.
    Indeterminate,
    /// Not measured.
    NotMeasured,
    /// The class needs what this host does not do.
    NotTestable,
}

/// One quantity of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Which one.
    pub quantity: Quantity,
    /// What the class asks for.
    pub threshold: f64,
    /// What was measured.
    pub bounds: Option<Bounds>,
    /// The answer.
    pub status: Status,
}

/// One class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassVerdict {
    /// Name as printed on cards.
    pub class: &'static str,
    /// The answer: all parts have to pass, one that fails is enough to fail. Each part is tested
    /// at the full level (intersection-union test, Berger 1982).
    pub status: Status,
    /// The quantities behind it.
    pub parts: Vec<Part>,
}

/// Tests a specimen against one class.
///
/// # Errors
/// A value that is not positive and finite.
pub fn class(class: &Class, runs: &Runs<'_>, host: Host) -> Result<ClassVerdict, Refusal> {
    let mut parts = vec![part(Quantity::SequentialWrite, class.sequential_write, runs.sequential_write)?];
    if let Some((read, write)) = class.random {
        parts.push(part(Quantity::RandomRead, read, runs.random_read)?);
        parts.push(part(Quantity::RandomWrite, write, runs.random_write)?);
    }
    let any = |status| parts.iter().any(|p| p.status == status);
    let status = if class.name == "A2" && !host.command_queueing {
        Status::NotTestable
    } else {
        [Status::Fail, Status::NotMeasured, Status::Indeterminate].into_iter().find(|s| any(*s)).unwrap_or(Status::Pass)
    };
    Ok(ClassVerdict { class: class.name, status, parts })
}

/// Tests a specimen against all classes.
///
/// # Errors
/// A value that is not positive and finite.
pub fn classes(runs: &Runs<'_>, host: Host) -> Result<Vec<ClassVerdict>, Refusal> {
    CLASSES.iter().map(|c| class(c, runs, host)).collect()
}

fn part(quantity: Quantity, threshold: f64, values: &[f64]) -> Result<Part, Refusal> {
    if values.is_empty() {
        return Ok(Part { quantity, threshold, bounds: None, status: Status::NotMeasured });
    }
    let bounds = bounds(values)?;
    let status = match bounds.interval {
        Some((low, _)) if low >= threshold => Status::Pass,
        Some((_, high)) if high < threshold => Status::Fail,
        _ => Status::Indeterminate,
    };
    Ok(Part { quantity, threshold, bounds: Some(bounds), status })
}

/// Operations per second of all jobs together: thresholds are about the card, not about a job.
///
/// # Errors
/// No job, or a value that is not positive and finite.
pub fn total_of_jobs(jobs: &[f64]) -> Result<f64, Refusal> {
    Ok(all_positive("jobs", jobs)?.iter().sum())
}
