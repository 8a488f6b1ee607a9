//! The document of a record: reads and validates it, and derives the store's columns.

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

/// Largest document that is accepted from elsewhere, in bytes. A week of one-second samples and three sensors is half of it.
pub const LARGEST: usize = 256 << 20;

/// Refuses a document that is too large for a record.
pub(crate) fn bounded(json: &str) -> Result<(), StoreError> {
    if json.len() > LARGEST {
        let reason = format!("larger than {}", assay_core::units::Bytes(LARGEST as u64));
        return Err(StoreError::NotARecord { reason });
    }
    Ok(())
}

/// Whether a text is valid JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The field that documents of every version have.
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
    // The version comes first: this reader cannot judge the other content of a newer major version.
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

/// Reads a document from elsewhere as a record that can be stored: it is not too large, is of a version that this reader knows, and has
/// a valid id and time.
///
/// # Errors
/// [`StoreError::NotARecord`] or [`StoreError::NewerRecord`].
pub fn receive(json: &str) -> Result<Record, StoreError> {
    receive_with_columns(json).map(|(record, _)| record)
}

/// The same with its columns.
pub(crate) fn receive_with_columns(json: &str) -> Result<(Record, Columns), StoreError> {
    bounded(json)?;
    let record = read(json.trim())?;
    let columns = Columns::from_record(&record)?;
    Ok((record, columns))
}

/// Progress of a record, to find the newer of two states of one run: its elapsed time, and whether it is over.
pub(crate) fn progress(record: &Record) -> (u64, bool) {
    (record.settings().map_or(0, |settings| settings.elapsed_ns), record.outcome != Outcome::Running)
}

/// Columns that are stored beside a record's document, to find and list it.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) created_us: i64,
    pub(crate) title: String,
    pub(crate) kind: String,
    pub(crate) outcome: String,
    pub(crate) verdict: String,
}

impl Columns {
    /// Derives them from a record with a valid id and time.
    pub(crate) fn from_record(record: &Record) -> Result<Self, StoreError> {
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

    /// Everything that the store derives from the record, to detect changes.
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

/// When a record was made, in microseconds since 1970. For an imported record it may be unknown; it then sorts before
/// all others.
fn created_us(record: &Record) -> Result<i64, String> {
    if record.created.is_empty() && record.is_printed() {
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

/// The stored name of a variant.
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

/// A stored outcome. An unknown one of a newer version counts as a failure.
pub(crate) fn outcome(json: &str) -> Outcome {
    serde_json::from_str(json).unwrap_or_else(|_| Outcome::Failed {
        failure: RunFailure::Other,
        detail: "an outcome of a newer version of assay".to_owned(),
        workload: None,
        elapsed_ns: 0,
        written_bytes: 0,
    })
}

/// The outcome of a run that left only its last saved record.
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
        elapsed_ns: record.settings().map_or(0, |settings| settings.elapsed_ns).max(last_sample.unwrap_or(0)),
        written_bytes: record.settings().map_or(0, |settings| settings.written_bytes),
    }
}
