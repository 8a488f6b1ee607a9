//! Reads a document from elsewhere, or says where in it the first error is. Nothing is kept here.

use assay_core::estimate::Estimate;
use assay_core::histogram::StoredHistogram;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat, SCHEMA, SCHEMA_MAJOR, schema_major};
use assay_core::text::quoted;
use assay_report::unredacted;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::strict::{self, Misplaced, pointer_of, pointer_part};

/// Largest document in bytes.
pub const LARGEST: usize = 4 << 20;
/// Longest text in it in bytes.
const LONGEST_TEXT: usize = 256 << 10;
/// How far a clock may be ahead of this one.
const AHEAD: SignedDuration = SignedDuration::from_mins(10);
/// Digits of the identity of a record.
const ID_DIGITS: usize = 10;

/// What is wrong with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is no record.
    Malformed,
    /// It is of a version that this server does not read.
    Schema,
    /// It holds what identifies a unit, a machine or a person, or a field that this server does not know.
    NotRedacted,
    /// A number is one that no run has.
    OutOfRange,
    /// It was made later than now.
    Future,
    /// It was sent to the address of another one.
    WrongId,
    /// It, or a text in it, is too long.
    TooLarge,
}

impl Fault {
    /// Its name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Schema => "schema",
            Self::NotRedacted => "not_redacted",
            Self::OutOfRange => "out_of_range",
            Self::Future => "future",
            Self::WrongId => "wrong_id",
            Self::TooLarge => "too_large",
        }
    }
}

/// Why a document is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What is wrong.
    pub fault: Fault,
    /// The same in a line, with the mend.
    pub message: String,
    /// JSON pointer (RFC 6901) of the place; it is empty where the document as a whole is wrong.
    pub pointer: String,
}

impl Refusal {
    /// A refusal with its place.
    pub(crate) fn at(fault: Fault, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), pointer: pointer.into() }
    }

    /// The same, of what is a part of something. Places are named from the inside: what is good costs nothing.
    fn within(self, name: &str) -> Self {
        let pointer = pointer_part(name) + &self.pointer;
        Self { pointer, ..self }
    }
}

/// A document that can be kept.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Its record.
    pub record: Record,
    /// BLAKE3 of its bytes, in hexadecimal digits.
    pub hash: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Whether a text can be the identity of a record here: it is a part of addresses.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
}

/// Reads the document that was sent for a record. `now` is the time of this server.
///
/// # Errors
/// [`Refusal`] has the first error.
pub fn read(id: &str, bytes: Vec<u8>, now: Timestamp) -> Result<Submission, Refusal> {
    if bytes.len() > LARGEST {
        return Err(too_large());
    }
    let record = record_of(id, &bytes, now)?;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    Ok(Submission { record, hash, bytes })
}

/// The refusal of a document that is too large.
#[must_use]
pub fn too_large() -> Refusal {
    Refusal::at(Fault::TooLarge, "", format!("the document is larger than {LARGEST} bytes; submit a shorter run"))
}

fn record_of(id: &str, bytes: &[u8], now: Timestamp) -> Result<Record, Refusal> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Refusal::at(Fault::Malformed, "", "the body is no text in UTF-8"))?;
    let value = strict::read(text).map_err(|Misplaced { pointer, message }| {
        Refusal::at(Fault::Malformed, pointer, format!("the body is no JSON that has one meaning: {message}"))
    })?;
    texts(&value)?;
    version(&value)?;
    let record = typed(text)?;
    if !is_id(&record.id) || record.id != id {
        let message = format!("the document is of record {}, and the address names {}", quoted(&record.id), quoted(id));
        return Err(Refusal::at(Fault::WrongId, "/id", message));
    }
    if record.outcome == Outcome::Running {
        return Err(Refusal::at(Fault::Malformed, "/outcome", "the run is not over; submit it when it is"));
    }
    dates(&record, now)?;
    in_range(&record)?;
    if let Some(pointer) = unredacted(&value) {
        let message =
            "this is not redacted, or this server does not know the field; `assay submit` redacts what it sends";
        return Err(Refusal::at(Fault::NotRedacted, pointer, message));
    }
    Ok(record)
}

/// Refuses texts that are too long, and those that a database cannot hold.
fn texts(value: &Value) -> Result<(), Refusal> {
    match value {
        Value::String(text) => one_text(text),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(at, item)| texts(item).map_err(|found| found.within(&at.to_string()))),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            one_text(name)?;
            texts(value).map_err(|found| found.within(name))
        }),
        _ => Ok(()),
    }
}

fn one_text(text: &str) -> Result<(), Refusal> {
    if text.len() > LONGEST_TEXT {
        return Err(Refusal::at(Fault::TooLarge, "", format!("this text is longer than {LONGEST_TEXT} bytes")));
    }
    if text.contains('\0') {
        return Err(Refusal::at(Fault::Malformed, "", "this text holds the character U+0000"));
    }
    Ok(())
}

/// The version comes first: this reader cannot judge the other content of a newer one.
fn version(value: &Value) -> Result<(), Refusal> {
    let refused = |message: String| Err(Refusal::at(Fault::Schema, "/schema", message));
    let Some(version) = value.get("schema").and_then(Value::as_str) else {
        return refused("there is no version of the record format".to_owned());
    };
    let minor = |version: &str| version.split_once('.').and_then(|(_, minor)| minor.parse::<u32>().ok());
    if schema_major(version) == Some(SCHEMA_MAJOR) && minor(version) <= minor(SCHEMA) {
        return Ok(());
    }
    refused(format!(
        "the record format {} is not read here; this server reads versions up to {SCHEMA}",
        quoted(version)
    ))
}

fn typed(text: &str) -> Result<Record, Refusal> {
    // Tracking the place takes ten times as long, and most documents are good.
    Record::from_json(text).or_else(|_| {
        serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(|error| {
            let pointer = pointer_of(error.path());
            Refusal::at(Fault::Malformed, pointer, format!("this is not valid in a record: {}", error.inner()))
        })
    })
}

fn dates(record: &Record, now: Timestamp) -> Result<(), Refusal> {
    let check = |pointer: String, text: &str| {
        let Ok(time) = text.parse::<Timestamp>() else {
            return Err(Refusal::at(Fault::Malformed, pointer, "this is no time as of RFC 3339"));
        };
        if time > now.saturating_add(AHEAD).unwrap_or(now) {
            let message = "this time has not come yet; set the clock of the computer that measured";
            return Err(Refusal::at(Fault::Future, pointer, message));
        }
        Ok(())
    };
    let unknown = record.is_printed() && record.created.is_empty();
    if !unknown {
        check("/created".to_owned(), &record.created)?;
    }
    for (m, measurement) in record.measurements.iter().enumerate() {
        for (r, repeat) in measurement.repeats.iter().enumerate().filter(|(_, repeat)| !repeat.started.is_empty()) {
            check(format!("/measurements/{m}/repeats/{r}/started"), &repeat.started)?;
        }
    }
    Ok(())
}

// Numbers that no run has: below zero, or so large that sums of them are none.

/// Operations or bytes per second: faster than any memory.
const FASTEST: f64 = 1e14;
/// Bytes, operations: beyond any medium and any run.
const MOST: u64 = 1 << 60;
/// Nanoseconds of a year.
const LONGEST_NS: u64 = 366 * 86_400 * 1_000_000_000;
/// Operations in flight.
const DEEPEST: f64 = 1e7;

/// Refuses a record with such a number.
///
/// # Errors
/// [`Refusal`] names the first.
fn in_range(record: &Record) -> Result<(), Refusal> {
    at_most("capacity_bytes", record.medium.capacity_bytes.unwrap_or(0), MOST)
        .map_err(|found| found.within("medium"))?;
    if let Some(settings) = record.settings() {
        let settings = [
            ("span_bytes", settings.span_bytes, MOST),
            ("written_bytes", settings.written_bytes, MOST),
            ("read_bytes", settings.read_bytes, MOST),
            ("elapsed_ns", settings.elapsed_ns, LONGEST_NS),
        ];
        let all = settings.into_iter().try_for_each(|(name, number, most)| at_most(name, number, most));
        all.map_err(|found| found.within("settings"))?;
    }
    if let Some(bus) = &record.medium.bus {
        let of_bus = rate("ceiling_bytes_per_second", bus.ceiling_bytes_per_second)
            .and_then(|()| rate("reachable_bytes_per_second", bus.reachable_bytes_per_second));
        of_bus.map_err(|found| found.within("bus").within("medium"))?;
    }
    each("measurements", &record.measurements, of_measurement)
}

/// What a check finds first in a list.
fn each<T>(name: &str, items: &[T], check: impl Fn(&T) -> Result<(), Refusal>) -> Result<(), Refusal> {
    let found = items.iter().enumerate().find_map(|(at, item)| check(item).err().map(|found| (at, found)));
    found.map_or(Ok(()), |(at, found)| Err(found.within(&at.to_string()).within(name)))
}

fn of_measurement(measurement: &Measurement) -> Result<(), Refusal> {
    let workload = &measurement.workload;
    for (name, number) in [("block_bytes", workload.block_bytes), ("span_bytes", workload.span_bytes)] {
        at_most(name, number, MOST).map_err(|found| found.within("workload"))?;
    }
    estimate("iops", measurement.iops.as_ref(), FASTEST)?;
    estimate("bytes_per_second", measurement.bytes_per_second.as_ref(), FASTEST)?;
    estimate("durable_bytes_per_second", measurement.durable_bytes_per_second.as_ref(), FASTEST)?;
    let latency = &measurement.latency_ns;
    let percentiles = [
        ("mean", &latency.mean),
        ("p50", &latency.p50),
        ("p90", &latency.p90),
        ("p99", &latency.p99),
        ("p99_9", &latency.p99_9),
        ("max", &latency.max),
    ];
    for (name, of) in percentiles {
        estimate(name, of.as_deref(), LONGEST_NS as f64).map_err(|found| found.within("latency_ns"))?;
    }
    each("repeats", &measurement.repeats, of_repeat)
}

fn of_repeat(repeat: &Repeat) -> Result<(), Refusal> {
    let counts = [("operations", repeat.operations), ("bytes", repeat.bytes), ("issued_bytes", repeat.issued_bytes)];
    for (name, number) in counts {
        at_most(name, number, MOST)?;
    }
    let times = [
        ("elapsed_ns", repeat.elapsed_ns),
        ("first_done_ns", repeat.first_done_ns),
        ("last_done_ns", repeat.last_done_ns),
    ];
    for (name, number) in times {
        at_most(name, number, LONGEST_NS)?;
    }
    rate("iops", Some(repeat.iops))?;
    rate("bytes_per_second", Some(repeat.bytes_per_second))?;
    rate("durable_bytes_per_second", repeat.durable_bytes_per_second)?;
    within("in_flight", repeat.in_flight, DEEPEST)?;
    within("proof_ratio", repeat.proof_ratio.unwrap_or(0.0), DEEPEST)?;
    of_histogram(&repeat.histogram).map_err(|found| found.within("histogram"))?;
    each("samples", &repeat.samples, |sample| {
        at_most("operations", sample.operations, MOST >> 20)?;
        at_most("bytes", sample.bytes, MOST >> 8)?;
        at_most("interval_ns", sample.interval_ns, LONGEST_NS)?;
        at_most("t_ns", sample.t_ns, LONGEST_NS)
    })
}

fn of_histogram(histogram: &StoredHistogram) -> Result<(), Refusal> {
    at_most("max_ns", histogram.max_ns, LONGEST_NS)?;
    each("counts", &histogram.counts, |(_, count)| at_most("1", *count, MOST))?;
    let total = histogram.counts.iter().fold(0u64, |total, (_, count)| total.saturating_add(*count));
    at_most("counts", total, MOST)
}

fn estimate(name: &str, estimate: Option<&Estimate>, most: f64) -> Result<(), Refusal> {
    let Some(Estimate { point, low, high, .. }) = estimate else { return Ok(()) };
    let parts = within("point", *point, most)
        .and_then(|()| within("low", low.unwrap_or(0.0), most))
        // The end of an interval of few repeats may be far out.
        .and_then(|()| within("high", high.unwrap_or(0.0), f64::MAX));
    parts.map_err(|found| found.within(name))
}

fn rate(name: &str, value: Option<f64>) -> Result<(), Refusal> {
    within(name, value.unwrap_or(0.0), FASTEST)
}

fn within(name: &str, value: f64, most: f64) -> Result<(), Refusal> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(Refusal::at(Fault::OutOfRange, pointer_part(name), format!("{value} is not between 0 and {most:e}")))
}

fn at_most(name: &str, value: u64, most: u64) -> Result<(), Refusal> {
    if value <= most {
        return Ok(());
    }
    Err(Refusal::at(Fault::OutOfRange, pointer_part(name), format!("{value} is above {most}")))
}
