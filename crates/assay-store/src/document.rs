//! The document of a record: reads and validates it, and derives the store's columns, the record's id and its owner, the
//! process that makes it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_core::outcome::{Outcome, RunFailure};
use assay_core::record::{Record, SCHEMA_MAJOR, schema_major};
use assay_core::text::{digit as digit_of, quoted};
use jiff::Timestamp;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StoreError;
use crate::system::{self, ProcessState};

pub(crate) use crate::system::random;

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

/// 2025-01-01 00:00 UTC in seconds since 1970: 25 bits of minutes from there last until 2088.
const EPOCH_SECONDS: u64 = 1_735_689_600;
/// Digits of time, and as many random digits: 2 × 25 bits.
const HALF: u32 = 5;
/// Longest id that is accepted from elsewhere.
const LONGEST: usize = 64;

/// A new id: five digits of the minute, five random digits.
#[must_use]
pub fn new_id() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut bytes = [0u8; 8];
    let chance = match random(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        // Only kernels before 3.17 get here; the hasher of the standard library is seeded randomly too.
        Err(_) => RandomState::new().hash_one((seconds, std::process::id())),
    };
    id_of(seconds, chance)
}

fn id_of(seconds: u64, chance: u64) -> String {
    // A board without a battery may have its clock in 1970: all such ids begin with 00000.
    let minutes = seconds.saturating_sub(EPOCH_SECONDS) / 60;
    let mut id = String::with_capacity(2 * HALF as usize);
    for part in [minutes, chance] {
        for digit in (0..HALF).rev() {
            id.push(digit_of(part >> (5 * digit)));
        }
    }
    id
}

/// Whether an id from elsewhere is safe to type, usable as a file name and distinct from a query: letters, digits, `-`
/// and `_`, not starting like a flag, and no keyword of queries.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !["all", "last"].contains(&text)
}

/// Corrects an id typed by hand: Crockford's base 32 reads i and l as 1, and o as 0.
pub(crate) fn as_meant(typed: &str) -> String {
    typed
        .chars()
        .map(|c| match c.to_ascii_lowercase() {
            'i' | 'l' => '1',
            'o' => '0',
            other => other,
        })
        .collect()
}

/// The process that makes a record, distinguished from any later process with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// Start time, in clock ticks since boot: field 22 of `/proc/PID/stat`, proc(5); on Windows in units of 100 ns
    /// since 1601. 0 if it cannot be read.
    pub start_time: u64,
    /// Boot of the host: `/proc/sys/kernel/random/boot_id`. Empty if unknown.
    pub boot_id: String,
    /// Name of the host, as a home directory can be shared between hosts.
    pub host: String,
    /// Name space of the process number: the link `/proc/self/ns/pid`, pid_namespaces(7), as a container has numbers of
    /// its own. Empty if unknown.
    pub pid_namespace: String,
}

/// Whether an owner still works on its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// The process is running.
    Alive,
    /// The process has certainly ended.
    Dead,
    /// The host was rebooted since, so the process has ended.
    Rebooted,
    /// On another host or in another container: unknown here.
    Elsewhere,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: match system::process(pid) {
                ProcessState::There(start_time) => start_time,
                ProcessState::Gone | ProcessState::Hidden => 0,
            },
            boot_id: system::boot_id(),
            host: system::host_name(),
            pid_namespace: system::process_numbers(),
        }
    }

    /// False only if the process has certainly ended.
    #[must_use]
    pub fn alive(&self) -> bool {
        matches!(self.life(), OwnerState::Alive | OwnerState::Elsewhere)
    }

    /// The state of the process, as far as it is known here.
    #[must_use]
    pub fn life(&self) -> OwnerState {
        self.life_seen_by(&Self::current())
    }

    fn life_seen_by(&self, here: &Self) -> OwnerState {
        let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
        if self.host != here.host {
            return OwnerState::Elsewhere;
        }
        if differ(&self.boot_id, &here.boot_id) {
            return OwnerState::Rebooted;
        }
        if differ(&self.pid_namespace, &here.pid_namespace) {
            return OwnerState::Elsewhere;
        }
        match system::process(self.pid) {
            ProcessState::Hidden => OwnerState::Alive,
            ProcessState::There(start_time) if self.start_time == 0 || start_time == self.start_time => {
                OwnerState::Alive
            }
            ProcessState::There(_) | ProcessState::Gone => OwnerState::Dead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ten_typeable_characters_and_differ() {
        let ids: std::collections::BTreeSet<String> = (0..1000).map(|_| new_id()).collect();
        assert!(ids.len() >= 999, "{} of 1000 differ", ids.len());
        for id in &ids {
            assert_eq!(id.len(), 10);
            assert!(id.bytes().all(assay_core::text::is_digit) && is_id(id), "{id}");
        }
    }

    #[test]
    fn later_ids_sort_later() {
        let ids: Vec<String> = [0, EPOCH_SECONDS + 60, EPOCH_SECONDS + 3600, 1_900_000_000, 3_700_000_000]
            .iter()
            .map(|seconds| id_of(*seconds, 7))
            .collect();
        assert!(ids.is_sorted(), "{ids:?}");
        assert_eq!(ids[0], "0000000007");
        assert_eq!(ids[1], "0000100007");
    }

    #[test]
    fn ids_from_elsewhere_are_harmless_or_refused() {
        for good in ["0y3kq7zz0a", "node7-0042", "A_1"] {
            assert!(is_id(good), "{good}");
        }
        let long = "a".repeat(65);
        for bad in
            ["", "-rf", "--help", "../x", "a b", "a'--", "a%", "a\0", "a\n", "ä", "all", "last", "a=b", "last~1", &long]
        {
            assert!(!is_id(bad), "{bad}");
        }
    }

    #[test]
    fn mistyped_letters_are_read_as_the_digits_they_look_like() {
        assert_eq!(as_meant("OIL7ab"), "0117ab");
    }

    // Windows has no boot id, no containers and no zombies.

    #[cfg(not(windows))]
    #[test]
    fn this_process_is_alive() {
        let me = Owner::current();
        assert_ne!(me.start_time, 0);
        assert_eq!(me.boot_id.len(), 36, "{}", me.boot_id);
        assert_eq!(me.life(), OwnerState::Alive);
    }

    #[test]
    fn a_reused_number_is_not_the_same_process() {
        let mut other = Owner::current();
        other.start_time += 1;
        assert_eq!(other.life(), OwnerState::Dead);
        assert!(!other.alive());
    }

    #[cfg(not(windows))]
    #[test]
    fn a_killed_child_is_dead_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ProcessState::There(start_time) = system::process(child.id()) else { panic!("the child is not there") };
        let owner = Owner { pid: child.id(), start_time, ..Owner::current() };
        assert_eq!(owner.life(), OwnerState::Alive);
        child.kill().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while owner.life() == OwnerState::Alive && std::time::Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(owner.life(), OwnerState::Dead, "as a zombie");
        child.wait().unwrap();
        assert_eq!(owner.life(), OwnerState::Dead, "waited for");
    }

    #[cfg(not(windows))]
    #[test]
    fn another_boot_is_dead_and_another_host_or_container_is_not_judged() {
        let here = Owner::current();
        let boot = Owner { boot_id: "00000000-0000-0000-0000-000000000000".to_owned(), ..here.clone() };
        assert_eq!(boot.life(), OwnerState::Rebooted);
        assert!(!boot.alive());
        let host = Owner { host: "other".to_owned(), ..boot };
        assert_eq!(host.life(), OwnerState::Elsewhere);
        let container = Owner { pid_namespace: "pid:[1]".to_owned(), pid: 999_999_999, ..here };
        assert_eq!(container.life(), OwnerState::Elsewhere);
        assert!(container.alive());
    }
}
