//! The document of a run in progress, in parts: new data are appended instead of writing everything again.
//!
//! A soak of a week takes a sample each second and is saved every ten seconds. Written completely each time, its
//! document would add up to terabytes. So samples, readings and finished repeats are in rows of their own, each with
//! the JSON pointer (RFC 6901) of the array that they belong to, and the document holds the rest. They are joined when
//! read, and written as one document when the run is over.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Record, Repeat, Sensor};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use serde_json::Value;

use crate::document;
use crate::document::{Owner, random};
use assay_core::observation::Observation;

use crate::observation::StoredTexts;

/// Parts of record n have the numbers from n << 32: one range of the table, and new ones at its end.
const ROOM: u32 = 32;

fn range(record: i64) -> (i64, i64) {
    (record << ROOM, (record << ROOM) | i64::from(u32::MAX))
}

/// State of a series at its last save; series only grow.
#[derive(Debug, Clone, PartialEq)]
struct Mark {
    count: usize,
    first: Value,
    last: Value,
}

impl Mark {
    /// The mark of the first `count` elements; `None` if there are fewer.
    fn of<T: Serialize>(elements: &[T], count: usize) -> Option<Self> {
        let value = |at: usize| elements.get(at).and_then(|element| serde_json::to_value(element).ok());
        match count {
            0 => Some(Self { count, first: Value::Null, last: Value::Null }),
            _ => Some(Self { count, first: value(0)?, last: value(count - 1)? }),
        }
    }
}

/// Identifies a finished repeat.
type Over = (String, u64, u64, usize);

/// State of a run in progress in the store.
#[derive(Debug)]
pub(super) struct Growth {
    pub(super) id: String,
    pub(super) number: i64,
    /// What the other tables were derived from. Apart from the parts, only the document changes.
    pub(super) head: Value,
    pub(super) run: (Owner, Option<PathBuf>),
    /// Number of the last part, 0 if there is none.
    last: i64,
    series: BTreeMap<String, Mark>,
    over: Vec<Vec<Over>>,
}

/// New elements of a series: its pointer, and the elements as a JSON array.
struct New {
    pointer: String,
    json: String,
}

impl Growth {
    pub(super) fn new(id: &str, number: i64, head: Value, run: (Owner, Option<PathBuf>)) -> Self {
        Self { id: id.to_owned(), number, head, run, last: 0, series: BTreeMap::new(), over: Vec::new() }
    }

    /// Whether the record continues the saved state, and no other process has changed the parts since.
    pub(super) fn fits(&self, conn: &Connection, record: &Record) -> rusqlite::Result<bool> {
        if self.id != record.id || self.over.len() > record.measurements.len() || last(conn, self.number)? != self.last
        {
            return Ok(false);
        }
        let all = series(record);
        let grown = self.series.iter().all(|(pointer, mark)| {
            all.iter().any(|one| one.pointer == *pointer && one.mark(mark.count).as_ref() == Some(mark))
                || self.ended(pointer, record)
        });
        let same = self.over.iter().zip(&record.measurements).all(|(before, m)| over(m).starts_with(before));
        Ok(grown && same)
    }

    /// Whether the series belongs to a repeat that has finished since.
    fn ended(&self, pointer: &str, record: &Record) -> bool {
        let measurement = |m: &usize| running(*m) == pointer;
        (0..record.measurements.len())
            .find(measurement)
            .is_some_and(|m| over(&record.measurements[m]).len() > self.over.get(m).map_or(0, Vec::len))
    }

    /// Appends the new elements.
    pub(super) fn append(&mut self, tx: &Transaction<'_>, record: &Record) -> rusqlite::Result<()> {
        let mut new = Vec::new();
        self.over.resize(record.measurements.len(), Vec::new());
        for (at, (before, measurement)) in self.over.iter_mut().zip(&record.measurements).enumerate() {
            let now = over(measurement);
            if now.len() > before.len() {
                // From now on its samples are stored with the repeat.
                self.series.remove(&running(at));
                let (from, to) = range(self.number);
                tx.prepare_cached("DELETE FROM part WHERE number BETWEEN ?1 AND ?2 AND series = ?3")?
                    .execute(params![from, to, running(at)])?;
                let repeats = &measurement.repeats[before.len()..now.len()];
                new.push(New { pointer: format!("/measurements/{at}/repeats"), json: json(&repeats)? });
                *before = now;
            }
        }
        for one in series(record) {
            let before = self.series.get(&one.pointer).map_or(0, |mark| mark.count);
            if one.elements.len() > before {
                new.push(New { pointer: one.pointer.clone(), json: one.elements.from(before).json()? });
                if let Some(mark) = one.mark(one.elements.len()) {
                    self.series.insert(one.pointer, mark);
                }
            }
        }
        let (from, _) = range(self.number);
        self.last = last(tx, self.number)?;
        for New { pointer, json } in new {
            self.last = self.last.max(from) + 1;
            tx.prepare_cached("INSERT INTO part (number, series, json) VALUES (?1, ?2, ?3)")?
                .execute(params![self.last, pointer, json])?;
        }
        Ok(())
    }
}

/// Pointer to the samples of the running repeat, which is the only repeat left in the document.
fn running(measurement: usize) -> String {
    format!("/measurements/{measurement}/repeats/0/samples")
}

/// Elements of a series of either kind.
enum Elements<'a> {
    Samples(&'a [assay_core::record::Sample]),
    Readings(&'a [(u64, f64)]),
}

impl Elements<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Samples(all) => all.len(),
            Self::Readings(all) => all.len(),
        }
    }

    fn from(&self, at: usize) -> Elements<'_> {
        match self {
            Self::Samples(all) => Elements::Samples(&all[at..]),
            Self::Readings(all) => Elements::Readings(&all[at..]),
        }
    }

    fn json(&self) -> rusqlite::Result<String> {
        match self {
            Self::Samples(all) => json(all),
            Self::Readings(all) => json(all),
        }
    }
}

fn json<T: Serialize>(thing: &T) -> rusqlite::Result<String> {
    document::to_json(thing).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

struct Series<'a> {
    pointer: String,
    elements: Elements<'a>,
}

impl Series<'_> {
    fn mark(&self, count: usize) -> Option<Mark> {
        match self.elements {
            Elements::Samples(all) => Mark::of(all, count),
            Elements::Readings(all) => Mark::of(all, count),
        }
    }
}

/// Series that grow every second: readings of each sensor, samples of each running repeat.
fn series(record: &Record) -> Vec<Series<'_>> {
    let sensors = record.sensors.iter().enumerate().map(|(at, sensor)| Series {
        pointer: format!("/sensors/{at}/samples"),
        elements: Elements::Readings(&sensor.samples),
    });
    let repeats = record.measurements.iter().enumerate().filter_map(|(at, measurement)| {
        let repeat = under_way(measurement)?;
        Some(Series { pointer: running(at), elements: Elements::Samples(&repeat.samples) })
    });
    sensors.chain(repeats).collect()
}

fn under_way(measurement: &Measurement) -> Option<&Repeat> {
    measurement.repeats.last().filter(|repeat| repeat.outcome == Outcome::Running)
}

fn over(measurement: &Measurement) -> Vec<Over> {
    let count = measurement.repeats.len() - usize::from(under_way(measurement).is_some());
    let tell = |r: &Repeat| (r.started.clone(), r.elapsed_ns, r.operations, r.samples.len());
    measurement.repeats[..count].iter().map(tell).collect()
}

/// The record without the data that are stored in parts. Every field is named, so that a new field cannot be forgotten.
pub(super) fn rest(record: &Record) -> Record {
    Record {
        schema: record.schema.clone(),
        id: record.id.clone(),
        created: record.created.clone(),
        tool: record.tool.clone(),
        host: record.host.clone(),
        medium: record.medium.clone(),
        labels: record.labels.clone(),
        suite: record.suite.clone(),
        origin: record.origin.clone(),
        measurements: record.measurements.iter().map(rest_of_measurement).collect(),
        scores: record.scores.clone(),
        sensors: record.sensors.iter().map(rest_of_sensor).collect(),
        crosscheck: record.crosscheck.clone(),
        verification: record.verification.clone(),
        cluster: record.cluster.clone(),
        outcome: record.outcome.clone(),
        validity: record.validity.clone(),
        warnings: record.warnings.clone(),
    }
}

fn rest_of_sensor(sensor: &Sensor) -> Sensor {
    let Sensor { name, kind, unit, source, samples: _ } = sensor;
    Sensor { name: name.clone(), kind: kind.clone(), unit: unit.clone(), source: source.clone(), samples: Vec::new() }
}

fn rest_of_measurement(measurement: &Measurement) -> Measurement {
    Measurement {
        workload: measurement.workload.clone(),
        requested: measurement.requested.clone(),
        engine: measurement.engine.clone(),
        repeats: under_way(measurement).map(rest_of_repeat).into_iter().collect(),
        iops: measurement.iops.clone(),
        bytes_per_second: measurement.bytes_per_second.clone(),
        durable_bytes_per_second: measurement.durable_bytes_per_second.clone(),
        latency_ns: measurement.latency_ns.clone(),
        service_ns: measurement.service_ns.clone(),
        proof_ratio: measurement.proof_ratio,
        in_flight: measurement.in_flight,
        batching: measurement.batching.clone(),
        bus_limited: measurement.bus_limited,
        instrument_limited: measurement.instrument_limited,
        soak: measurement.soak.clone(),
        bytes_per_joule: measurement.bytes_per_joule.clone(),
        operations_per_joule: measurement.operations_per_joule.clone(),
        warnings: measurement.warnings.clone(),
    }
}

fn rest_of_repeat(repeat: &Repeat) -> Repeat {
    Repeat {
        started: repeat.started.clone(),
        elapsed_ns: repeat.elapsed_ns,
        operations: repeat.operations,
        bytes: repeat.bytes,
        iops: repeat.iops,
        bytes_per_second: repeat.bytes_per_second,
        issued_bytes: repeat.issued_bytes,
        durable_bytes_per_second: repeat.durable_bytes_per_second,
        in_flight: repeat.in_flight,
        proof_ratio: repeat.proof_ratio,
        samples: Vec::new(),
        histogram: repeat.histogram.clone(),
        first_done_ns: repeat.first_done_ns,
        last_done_ns: repeat.last_done_ns,
        service_histogram: repeat.service_histogram.clone(),
        unserved: repeat.unserved,
        steady: repeat.steady.clone(),
        original: repeat.original.clone(),
        common_start: repeat.common_start.clone(),
        outcome: repeat.outcome.clone(),
    }
}

/// Number of the last part of a record, 0 if it has none.
fn last(conn: &Connection, record: i64) -> rusqlite::Result<i64> {
    let (from, to) = range(record);
    conn.prepare_cached("SELECT coalesce(max(number), 0) FROM part WHERE number BETWEEN ?1 AND ?2")?
        .query_row([from, to], |row| row.get(0))
}

/// Removes the parts of a record.
pub(super) fn drop_parts(tx: &Transaction<'_>, record: i64) -> rusqlite::Result<()> {
    let (from, to) = range(record);
    tx.prepare_cached("DELETE FROM part WHERE number BETWEEN ?1 AND ?2")?.execute([from, to])?;
    Ok(())
}

/// Upper bound in bytes for the joined document of a record. Must be called within a transaction.
pub(super) fn document_bytes(conn: &Connection, record: i64) -> rusqlite::Result<u64> {
    let (from, to) = range(record);
    let sum = |sql: &str, of: &[i64]| -> rusqlite::Result<u64> {
        conn.prepare_cached(sql)?
            .query_row(rusqlite::params_from_iter(of), |row| row.get::<_, f64>(0))
            .map(|sum| sum as u64)
    };
    let rest = sum("SELECT total(octet_length(json)) FROM document WHERE record = ?1", &[record])?;
    let parts = "SELECT total(octet_length(series) + octet_length(json)) FROM part WHERE number BETWEEN ?1 AND ?2";
    Ok(rest.saturating_add(sum(parts, &[from, to])?))
}

/// The joined document of a record. Must be called within a transaction.
pub(super) fn document(conn: &Connection, record: i64) -> rusqlite::Result<Option<String>> {
    let rest: Option<String> = conn
        .prepare_cached("SELECT json FROM document WHERE record = ?1")?
        .query_row([record], |row| row.get(0))
        .optional()?;
    let Some(rest) = rest else { return Ok(None) };
    let (from, to) = range(record);
    let mut select =
        conn.prepare_cached("SELECT series, json FROM part WHERE number BETWEEN ?1 AND ?2 ORDER BY number")?;
    let mut rows = select.query([from, to])?;
    let mut series: BTreeMap<String, String> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (pointer, json): (String, String) = (row.get(0)?, row.get(1)?);
        // `[a,b]` without its brackets.
        let elements = json.strip_prefix('[').and_then(|json| json.strip_suffix(']')).ok_or_else(broken)?;
        let text = series.entry(pointer).or_default();
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(elements);
    }
    if series.is_empty() {
        return Ok(Some(rest));
    }
    joined(&rest, series).map(Some).ok_or_else(broken)
}

/// Parts that do not match their document: not written by assay, or damaged.
fn broken() -> rusqlite::Error {
    let reason = "the parts of a document do not fit".into();
    rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, reason)
}

/// Inserts the elements of each series in front of those in the rest; `None` if the rest is not the one for which the
/// parts were written.
fn joined(rest: &str, series: BTreeMap<String, String>) -> Option<String> {
    let mut value: Value = serde_json::from_str(rest).ok()?;
    let mut chance = [0; 16];
    random(&mut chance).ok()?;
    let chance = u128::from_le_bytes(chance);
    // The longer pointer first: an element inserted in front of an array's others would shift them.
    let mark = format!("\"{chance:032x}-");
    let mut texts = Vec::new();
    for (pointer, text) in series.into_iter().rev() {
        let array = value.pointer_mut(&pointer)?.as_array_mut()?;
        array.insert(0, Value::String(format!("{}{}", &mark[1..], texts.len())));
        texts.push(text);
    }
    let template = document::to_json(&value).ok()?;
    // Replaces all marks in one pass, since there may be thousands.
    let mut places: Vec<(usize, usize, &str)> = template
        .match_indices(&mark)
        .map(|(at, _)| {
            let behind = template.get(at + mark.len()..)?;
            let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
            let text = texts.get(behind[..digits].parse::<usize>().ok()?)?;
            Some((at, at + mark.len() + digits + 1, text.as_str()))
        })
        .collect::<Option<_>>()?;
    if places.len() != texts.len() {
        return None;
    }
    places.sort_unstable_by_key(|(at, _, _)| *at);
    let mut whole = String::with_capacity(template.len() + texts.iter().map(String::len).sum::<usize>());
    let mut done = 0;
    for (at, end, text) in places {
        whole.push_str(&template[done..at]);
        whole.push_str(text);
        done = end;
    }
    whole.push_str(&template[done..]);
    Some(whole)
}

// Writes observations together with their documents.

/// Writes the observation of a record after its run is over.
pub(super) fn put_observation(tx: &Transaction<'_>, number: i64, record: &Record) -> rusqlite::Result<()> {
    let StoredTexts { head, repeats, latencies } = StoredTexts::of(&Observation::from(record))
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    tx.prepare_cached("INSERT OR REPLACE INTO observation (record, head, repeats, latencies) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![number, head, repeats, latencies])?;
    Ok(())
}

/// Removes the observation of a record that changes from now on; it is read from the document until its run is over.
pub(super) fn drop_observation(tx: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM observation WHERE record = ?1")?.execute([number])?;
    Ok(())
}

/// Writes missing observations. A document that this version cannot read gets none.
pub(super) fn observe_all(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut select = tx.prepare(
        "SELECT number FROM record
         WHERE number NOT IN (SELECT record FROM run) AND number NOT IN (SELECT record FROM observation)",
    )?;
    let numbers: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for number in numbers {
        let json = document(tx, number)?;
        if let Some(record) = json.and_then(|json| document::read(&json).ok()) {
            put_observation(tx, number, &record)?;
        }
    }
    Ok(())
}
