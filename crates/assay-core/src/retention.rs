//! What time does to data: a medium is written, rests, and is read again.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;

/// How old data are, by the clock of the host that wrote them and that of the host that reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Age {
    /// Age of what was written last, when reading began, in seconds.
    pub low_seconds: u64,
    /// Age of what was written first, in seconds.
    pub high_seconds: u64,
}

/// A host whose clock is before 2026, in seconds since 1970, has not set it: this program is not older.
pub const CLOCK_SET: u64 = 1_767_225_600;

/// Why no age is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoAge {
    /// The clock of the host is not set.
    #[error("the clock of this host is before 2026, so that no age is known; set it")]
    ClockUnset,
    /// The clock of the host is behind the time at which the data were last seen.
    #[error("the clock of this host is {seconds} s behind what was noted before, so that no age is known; set it")]
    ClockBehind {
        /// By how much.
        seconds: u64,
    },
}

impl Age {
    /// The age of data that were written from `first` to `last`; `None` where the clock was not set then. All are seconds since
    /// 1970.
    ///
    /// # Errors
    /// Where the clock of this host cannot tell an age.
    pub fn at(now: u64, first: u64, last: u64) -> Result<Option<Self>, NoAge> {
        if now < CLOCK_SET {
            return Err(NoAge::ClockUnset);
        }
        let behind = |then: u64| NoAge::ClockBehind { seconds: then - now };
        let since = |then: u64| now.checked_sub(then).ok_or_else(|| behind(then));
        let age = Self { low_seconds: since(last)?, high_seconds: since(first)? };
        Ok((first.min(last) >= CLOCK_SET).then_some(age))
    }
}

/// Whether a later reading went the way of the first; null where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SameWay {
    /// On the same host, by its name.
    pub host: Option<bool>,
    /// In the same reader.
    pub reader: Option<bool>,
    /// In the same mode of the bus.
    pub bus: Option<bool>,
}

impl SameWay {
    /// Whether host, reader and bus are all known to be the same.
    #[must_use]
    pub fn is_known(self) -> bool {
        [self.host, self.reader, self.bus] == [Some(true); 3]
    }
}

/// What the speed of a later reading shows, beside that of the reading directly after writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SpeedSign {
    /// At least nine tenths of the first speed: the whole interval.
    AsBefore,
    /// Less than nine tenths, the whole interval, in the same reader and mode of the bus: a sign that data fade.
    Slower,
    /// As slow, and the host, the reader or the mode of the bus is another, or not known to be the same.
    SlowerElsewhere,
    /// The interval holds nine tenths, or there is none.
    CannotTell,
    /// Something this version has no name for.
    #[serde(other)]
    Other,
}

/// The speed of a later reading beside that of the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpeedByAge {
    /// Rate of the later reading in bytes per second.
    pub bytes_per_second: f64,
    /// Rate of the first reading, of the same parts.
    pub first_bytes_per_second: f64,
    /// Later rate by first rate: the median over parts. The interval covers the parts of these two readings, and nothing that
    /// makes a whole reading faster or slower.
    pub ratio: Estimate,
    /// Whether the way was the same.
    pub same: SameWay,
    /// What it shows.
    pub sign: SpeedSign,
}

/// What a check of a mounted medium says of data that an earlier check wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Retention {
    /// Id of the check that wrote them.
    pub by_check: String,
    /// How old they were when they were read: since the end of that check, and since its beginning. Null where the clock of its
    /// host was not set.
    pub age: Option<Age>,
    /// The speed beside that of the first reading; null where the record of that check is not in the store.
    pub speed: Option<SpeedByAge>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;

    #[test]
    fn an_age_is_known_only_where_both_clocks_can_be_right() {
        let now = CLOCK_SET + 100 * DAY;
        let age = Age { low_seconds: DAY, high_seconds: 3 * DAY };
        assert_eq!(Age::at(now, now - 3 * DAY, now - DAY), Ok(Some(age)));
        assert_eq!(Age::at(now, 0, now - DAY), Ok(None), "the clock was set while it was written");
        assert_eq!(Age::at(now, 5, 10), Ok(None));
        assert_eq!(Age::at(0, 5, 10), Err(NoAge::ClockUnset));
        assert_eq!(Age::at(now, now, now + 7), Err(NoAge::ClockBehind { seconds: 7 }));
        assert_eq!(Age::at(now, now + 7, now), Err(NoAge::ClockBehind { seconds: 7 }));
    }

    #[test]
    fn a_way_is_the_same_only_where_all_of_it_is_known() {
        let same = SameWay { host: Some(true), reader: Some(true), bus: Some(true) };
        assert!(same.is_known());
        assert!(
            ![SameWay { host: None, ..same }, SameWay { reader: Some(false), ..same }, SameWay { bus: None, ..same }]
                .iter()
                .any(|way| way.is_known())
        );
    }
}
