//! What is kept of a watched medium: its plan, and what its nights left. A pure value; who keeps it reads clock and files.

use assay_core::finding::ValidityVerdict;
use assay_core::outcome::Outcome;
use assay_core::record::Record;
use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::night::{Night, night_of};
use crate::watch::{Taken, Watch};

/// Version of the text of [`Kept`]. One of another version is made again from the records.
pub const KEPT_VERSION: u32 = 2;
/// Seconds of a day.
pub const DAY: i64 = 86_400;
/// Seconds after which a night that did not come is overdue.
const OVERDUE: i64 = 36 * 3600;
/// Second runs of a year that the budget has room for; each writes as much as a night.
const SECOND_RUNS: u64 = 12;
/// Nights of a year, with one more in a leap year.
const NIGHTS: u64 = 366;
/// Times that a medium can be written as a whole, where neither its maker nor its owner says it: that of simple cards.
pub const ASSUMED_CYCLES: u64 = 300;

/// What is watched, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Its name, in labels, in events, and in the name of its timer.
    pub name: String,
    /// The medium, as it calls itself.
    pub title: String,
    /// What tells this piece from another; none where it says nothing.
    pub unit: Option<String>,
    /// Directory on it, or the device.
    pub target: String,
    /// Whether the target is the device itself.
    pub raw: bool,
    /// Where it is measured.
    pub measured: Measured,
    /// Time of the night, as HH:MM.
    pub nightly: String,
    /// Suite by name or file.
    pub suite: String,
    /// Longest time of a night in seconds.
    pub budget_seconds: u64,
    /// Most bytes that a run writes.
    pub max_write_bytes: u64,
    /// Bytes that can be written in its life, as stated; none where they are assumed.
    pub endurance_bytes: Option<u64>,
    /// Its capacity.
    pub capacity_bytes: Option<u64>,
    /// Commands that receive each message.
    pub notify: Vec<String>,
    /// Addresses that messages are posted to.
    pub webhooks: Vec<String>,
    /// Addresses that messages are mailed to.
    pub mail: Vec<String>,
    /// MQTT broker that receives the figures, as HOST or HOST:PORT.
    pub mqtt: Option<String>,
    /// File for Prometheus.
    pub textfile: Option<String>,
}

/// Where a medium is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measured {
    /// By this machine.
    Here,
    /// By a node of a watched cluster.
    Node {
        /// Name of the cluster's watch, in the label of the records.
        fleet: String,
        /// Name of the node.
        node: String,
    },
}

impl Plan {
    /// Bytes that it may write in a year: each night, and some second runs.
    #[must_use]
    pub fn yearly_bytes(&self) -> u64 {
        self.max_write_bytes.saturating_mul(NIGHTS + SECOND_RUNS)
    }

    /// Its endurance in bytes, and whether that is stated.
    #[must_use]
    pub fn endurance(&self) -> Option<(u64, bool)> {
        let assumed = || self.capacity_bytes.map(|bytes| bytes.saturating_mul(ASSUMED_CYCLES));
        self.endurance_bytes.map(|bytes| (bytes, true)).or_else(|| assumed().map(|bytes| (bytes, false)))
    }
}

/// Why a night has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// The medium is not there.
    Absent,
    /// Another medium is in its place.
    Exchanged,
    /// Something else uses it.
    Busy,
    /// Another night of it is under way.
    UnderWay,
    /// The bytes of the year are used up.
    Budget,
    /// The run could not be made.
    Failed,
    /// The node, or too many of the others, was not ready in time.
    NotReady,
    /// The run was interrupted.
    Interrupted,
    /// The figures are invalid.
    Invalid,
    /// The night has its result already.
    Done,
}

/// A night without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    /// When, in seconds since 1970.
    pub at: i64,
    /// Why.
    pub reason: Skip,
    /// What another program or the system said; empty where it said nothing.
    pub detail: String,
}

/// What is kept of a watched medium.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// [`KEPT_VERSION`].
    pub version: u32,
    /// The plan.
    pub plan: Plan,
    /// What nights left.
    pub watch: Watch,
    /// When it was added, in seconds since 1970.
    added_at: i64,
    /// The last night, in seconds since 1970.
    pub last_at: Option<i64>,
    /// The last night that was skipped after it.
    pub skipped: Option<Skipped>,
    /// Bytes written, by night.
    spent: Vec<(i64, u64)>,
}

impl Kept {
    /// A new one, added at a time in seconds since 1970.
    #[must_use]
    pub fn new(plan: Plan, added_at: i64) -> Self {
        let watch = Watch::default();
        Self { version: KEPT_VERSION, plan, watch, added_at, last_at: None, skipped: None, spent: Vec::new() }
    }

    /// The number of the night at a time: as many days after the last night as its time is nearest to. So one that is late by
    /// hours is itself, and clocks that change by an hour change nothing. A time before the last night, but after the watch was
    /// added, is that of the next night: the clock was ahead in the last one. A clock before the watch was added is not set yet.
    #[must_use]
    pub fn day(&self, at: i64) -> i64 {
        match self.last_at.zip(self.watch.last_day()) {
            Some((last, day)) if at < last - DAY / 2 && at >= self.added_at => day + 1,
            _ => self.nearest_day(at),
        }
    }

    /// When the next night is due, in seconds since 1970.
    #[must_use]
    pub fn due(&self) -> Option<i64> {
        self.last_at.map(|last| last + DAY)
    }

    /// Whether the night at this time has its result.
    #[must_use]
    pub fn has(&self, at: i64) -> bool {
        self.watch.last_day().is_some_and(|last| self.day(at) <= last)
    }

    /// Whether a night is late.
    #[must_use]
    pub fn is_overdue(&self, now: i64) -> bool {
        now >= self.added_at && (now - self.last_at.unwrap_or(self.added_at)).abs() > OVERDUE
    }

    /// Bytes written in the year before a time.
    #[must_use]
    pub fn spent_bytes(&self, now: i64) -> u64 {
        let day = now.div_euclid(DAY);
        self.spent.iter().filter(|(of, _)| day - of < 365).map(|(_, bytes)| bytes).sum()
    }

    /// Whether another run fits into the budget of the year.
    #[must_use]
    pub fn fits(&self, now: i64) -> bool {
        self.spent_bytes(now).saturating_add(self.plan.max_write_bytes) <= self.plan.yearly_bytes()
    }

    /// Takes the record of a night, which began at `at`. `second` measures again where something is suspected.
    ///
    /// # Errors
    /// Why the record is no night; what it wrote counts all the same.
    pub fn take(
        &mut self,
        record: &Record,
        at: i64,
        second: &mut dyn FnMut() -> Option<Record>,
    ) -> Result<Taken, Skip> {
        self.spend(record, at);
        if self.has(at) {
            return Err(Skip::Done);
        }
        let day = self.day(at);
        if record.outcome.medium_failed() {
            self.last_at = Some(at);
            return Ok(self.watch.take_failure(day));
        }
        if record.outcome != Outcome::Completed {
            return Err(Skip::Failed);
        }
        if record.validity.verdict == ValidityVerdict::Invalid {
            return Err(Skip::Invalid);
        }
        let night = night_of(record, day);
        let mut written = 0;
        let mut again = || -> Option<Night> {
            let record = second()?;
            written += record.settings().map_or(0, |settings| settings.written_bytes);
            is_usable(&record).then(|| night_of(&record, day))
        };
        let taken = self.watch.take(&night, &mut again);
        self.watch.draw_trends();
        self.spent.push((at.div_euclid(DAY), written));
        self.last_at = Some(at);
        self.skipped = None;
        Ok(taken)
    }

    fn spend(&mut self, record: &Record, at: i64) {
        let day = at.div_euclid(DAY);
        self.spent.retain(|(of, bytes)| day - of < 366 && *bytes > 0);
        if let Some(settings) = record.settings() {
            self.spent.push((day, settings.written_bytes));
        }
    }

    /// The night of a record that began at a time, for a picture; none where it is no result.
    #[must_use]
    pub fn night_of(&self, record: &Record, at: i64) -> Option<Night> {
        is_usable(record).then(|| night_of(record, self.nearest_day(at)))
    }

    /// As many days after the last night as a time is nearest to.
    fn nearest_day(&self, at: i64) -> i64 {
        let last = self.last_at.zip(self.watch.last_day());
        last.map_or_else(|| at.div_euclid(DAY), |(last, day)| day + (at - last + DAY / 2).div_euclid(DAY))
    }

    /// The name of an event, for `ack`.
    #[must_use]
    pub fn event_name(&self, event: &Event) -> String {
        format!("{}/{}", self.plan.name, event.number)
    }
}

/// Whether the figures of a record count.
fn is_usable(record: &Record) -> bool {
    record.outcome == Outcome::Completed && record.validity.verdict != ValidityVerdict::Invalid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            name: "card".into(),
            title: "Card".into(),
            unit: None,
            target: "/mnt".into(),
            raw: false,
            measured: Measured::Here,
            nightly: "03:30".into(),
            suite: "quick".into(),
            budget_seconds: 60,
            max_write_bytes: 256 << 20,
            endurance_bytes: None,
            capacity_bytes: Some(32_000_000_000),
            notify: vec![],
            webhooks: vec![],
            mail: vec![],
            mqtt: None,
            textfile: None,
        }
    }

    #[test]
    fn a_night_that_is_late_is_itself() {
        let mut kept = Kept::new(plan(), 0);
        let first = 20_000 * DAY + 12_600;
        assert_eq!(kept.day(first), 20_000);
        let _ = kept.watch.take_failure(20_000);
        kept.last_at = Some(first);
        let hours = [3, 13, 24, 23, 35, 37].map(|hours| kept.day(first + hours * 3600));
        assert_eq!(hours, [20_000, 20_001, 20_001, 20_001, 20_001, 20_002]);
        assert!(kept.has(first + 3 * 3600) && !kept.has(first + 13 * 3600));
        assert_eq!(kept.due(), Some(first + DAY));
        assert!(kept.is_overdue(first + 37 * 3600) && !kept.is_overdue(first + 35 * 3600));
        assert!(Kept::new(plan(), first).is_overdue(first + 2 * DAY), "the first one did not come");
    }

    #[test]
    fn a_clock_that_was_ahead_ends_nothing() {
        let added = 20_000 * DAY;
        let mut kept = Kept::new(plan(), added);
        let _ = kept.watch.take_failure(20_000);
        // The last night's clock was two months ahead.
        kept.last_at = Some(added + 60 * DAY);
        let next = added + DAY;
        assert_eq!(kept.day(next), 20_001);
        assert!(!kept.has(next) && kept.is_overdue(next));
        // A clock that is not set yet is no night.
        assert!(kept.has(0) && !kept.is_overdue(0));
    }

    #[test]
    fn a_year_has_its_budget() {
        let mut kept = Kept::new(plan(), 0);
        assert_eq!(kept.plan.yearly_bytes(), 378 * (256 << 20));
        assert_eq!(kept.plan.endurance(), Some((9_600_000_000_000, false)));
        kept.spent = (0..377).map(|day| (day, 256 << 20)).collect();
        let now = 376 * DAY;
        assert!(kept.spent_bytes(now) == 365 * (256 << 20) && kept.fits(now));
        kept.spent.push((376, 13 * (256 << 20)));
        assert!(!kept.fits(now));
    }
}
