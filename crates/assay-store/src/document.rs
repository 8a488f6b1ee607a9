//! The document of a record: read, judged, and the columns drawn from it.

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Record, SCHEMA_MAJOR, schema_major};
use assay_core::text::quoted;
use jiff::Timestamp;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::id::is_id;
use crate::owner::{Owner, OwnerState};

/// Largest document taken from elsewhere: a week of one-second samples and three sensors is half of it.
pub(crate) const LARGEST: usize = 256 << 20;

/// Refuses what is too large to be a record.
pub(crate) fn bounded(json: &str) -> Result<(), StoreError> {
    if json.len() > LARGEST {
        let reason = format!("larger than {}", assay_core::units::Bytes(LARGEST as u64));
        return Err(StoreError::NotARecord { reason });
    }
    Ok(())
}

/// Whether a text is JSON at all.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The field of a document that every version has.
#[derive(Deserialize)]
struct Versioned {
    schema: String,
}

/// Reads a document of this or a newer minor version.
///
/// # Errors
/// [`StoreError::NotARecord`] or [`StoreError::NewerRecord`].
pub fn read(json: &str) -> Result<Record, StoreError> {
    let no = |reason: String| StoreError::NotARecord { reason };
    // The version first: what else a newer major version holds is not for this reader to judge.
    let version = match serde_json::from_str::<Versioned>(json) {
        Ok(Versioned { schema }) => schema,
        Err(error) if error.is_data() && is_json(json) => {
            return Err(no("there is no field `schema` with a version".to_owned()));
        }
        Err(error) => return Err(no(format!("no JSON: {error}"))),
    };
    match schema_major(&version) {
        Some(SCHEMA_MAJOR) => {}
        Some(newer) if newer > SCHEMA_MAJOR => {
            return Err(StoreError::NewerRecord { found: version, known: SCHEMA_MAJOR });
        }
        _ => return Err(no(format!("{} is no version of the record format", quoted(&version)))),
    }
    Record::from_json(json).map_err(|error| no(error.to_string()))
}

/// How far a record is, to tell the newer of two states of one run: its time, and whether it is over.
pub(crate) fn progress(record: &Record) -> (u64, bool) {
    (record.settings.elapsed_ns, record.outcome != Outcome::Running)
}

/// What is kept of a record beside its document, to find and list it.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) created_us: i64,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) outcome: String,
    pub(crate) verdict: String,
}

impl Columns {
    /// Draws them from a record whose id and time are sound.
    pub(crate) fn of(record: &Record) -> Result<Self, StoreError> {
        let no = |reason: String| StoreError::NotARecord { reason };
        if !is_id(&record.id) {
            return Err(no(format!(
                "its id {:?} is not made of letters, digits, - and _",
                record.id.chars().take(80).collect::<String>()
            )));
        }
        Ok(Self {
            created_us: created_us(record).map_err(no)?,
            title: record.medium.title(),
            kind: name(&record.medium.kind).map_err(no)?,
            outcome: to_json(&record.outcome).map_err(no)?,
            verdict: name(&record.validity.verdict).map_err(no)?,
        })
    }

    /// All that the store draws from the record, to see whether it has changed.
    pub(crate) fn head(&self, record: &Record) -> Value {
        serde_json::json!([
            self.created_us,
            self.title,
            self.kind,
            self.outcome,
            self.verdict,
            record.created,
            record.labels,
            record.medium.model,
            record.medium.unit,
            record.host.hostname,
            record.host.slot,
            record.suite.name,
        ])
    }
}

/// When a record was made, in microseconds since 1970. Of an imported one that may be unknown: it is then older than all
/// others.
fn created_us(record: &Record) -> Result<i64, String> {
    if record.created.is_empty() && record.source.is_some() {
        return Ok(0);
    }
    let created: Timestamp = record.created.parse().map_err(|_| {
        format!("`created` is no RFC 3339 time: {:?}", record.created.chars().take(80).collect::<String>())
    })?;
    Ok(created.as_microsecond())
}

/// `thing` as JSON text.
pub(crate) fn to_json<T: Serialize>(thing: &T) -> Result<String, String> {
    serde_json::to_string(thing).map_err(|error| error.to_string())
}

/// The name under which a variant is stored.
pub(crate) fn name<T: Serialize>(variant: &T) -> Result<String, String> {
    match serde_json::to_value(variant) {
        Ok(Value::String(name)) => Ok(name),
        Ok(other) => Err(format!("{other} is no name")),
        Err(error) => Err(error.to_string()),
    }
}

/// The variant with a stored name.
pub(crate) fn variant<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

/// A stored outcome; one of a newer version is at least no success.
pub(crate) fn outcome(json: &str) -> Outcome {
    serde_json::from_str(json).unwrap_or_else(|_| Outcome::Failed {
        failure: RunFailure::Other,
        detail: "an outcome of a newer version of assay".to_owned(),
        workload: None,
        elapsed_ns: 0,
        written_bytes: 0,
    })
}

/// How a run ended of which only the last saved record is left.
pub(crate) fn abandoned(record: &Record, owner: &Owner, life: OwnerState) -> Outcome {
    let last_sample =
        record.measurements.iter().flat_map(|m| &m.repeats).flat_map(|r| &r.samples).map(|s| s.t_ns).max();
    Outcome::Failed {
        failure: RunFailure::Abandoned,
        detail: match life {
            OwnerState::Rebooted => "the host was started anew since".to_owned(),
            OwnerState::Dead | OwnerState::Alive | OwnerState::Elsewhere => format!("process {} is gone", owner.pid),
        },
        workload: None,
        elapsed_ns: record.settings.elapsed_ns.max(last_sample.unwrap_or(0)),
        written_bytes: record.settings.written_bytes,
    }
}
