//! Failures as data: classes that speed does not make up for, and how little few units say about
//! the share that fails.

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

/// How the work on a unit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Done.
    Done,
    /// Done, but the rate never settled: the value counts.
    Unsteady,
    /// Not finished in time: the rate so far counts, so this is not a failure.
    Capped,
    /// No completion for too long.
    Hung,
    /// The device reported an error.
    IoError,
    /// The medium turned read-only.
    ReadOnly,
    /// The medium disappeared.
    Gone,
    /// The data read differs from the data written, or part of the capacity is missing.
    Corrupt,
    /// Power, bus or host failed, not the medium: to be run again.
    AbortedByHost,
}

/// What comes before speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// No unit failed.
    #[default]
    Sound,
    /// Some units failed: a slow medium is better than a burnt one.
    Failing,
    /// A unit lost or invented data: disqualified at any speed.
    Corrupt,
}

impl Class {
    /// The class of a model whose units ended so. Runs aborted by the host do not count;
    /// `None` where nothing else is left.
    #[must_use]
    pub fn of(endings: &[Ending]) -> Option<Self> {
        endings
            .iter()
            .filter_map(|ending| match ending {
                Ending::Done | Ending::Unsteady | Ending::Capped => Some(Self::Sound),
                Ending::Hung | Ending::IoError | Ending::ReadOnly | Ending::Gone => Some(Self::Failing),
                Ending::Corrupt => Some(Self::Corrupt),
                Ending::AbortedByHost => None,
            })
            .max()
    }
}

/// A share of units with its interval, between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Events over trials.
    pub point: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Two-sided interval of a share under Jeffreys's prior, Beta(1/2, 1/2), with the ends at 0 and 1
/// where no or all trials were events (Brown, Cai and DasGupta 2001, section 4.3).
/// `None` for no trial, more events than trials, or a level outside 0 to 1.
#[must_use]
pub fn jeffreys(events: u64, trials: u64, level: f64) -> Option<Share> {
    let tail = (level > 0.0 && level < 1.0).then_some((1.0 - level) / 2.0)?;
    let others = trials.checked_sub(events).filter(|_| trials > 0)?;
    let (k, rest) = (events as f64, others as f64);
    let posterior = Beta::new(k + 0.5, rest + 0.5).ok()?;
    Some(Share {
        point: k / trials as f64,
        low: if events == 0 { 0.0 } else { posterior.inverse_cdf(tail) },
        high: if others == 0 { 1.0 } else { posterior.inverse_cdf(1.0 - tail) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} against {b}");
    }

    #[test]
    fn classes_come_before_speed() {
        use Ending::*;
        assert_eq!(Class::of(&[Done, Capped, Unsteady]), Some(Class::Sound));
        assert_eq!(Class::of(&[Done, ReadOnly]), Some(Class::Failing));
        assert_eq!(Class::of(&[Gone, Corrupt]), Some(Class::Corrupt));
        assert_eq!(Class::of(&[Done, AbortedByHost]), Some(Class::Sound));
        assert_eq!(Class::of(&[AbortedByHost]), None);
        assert!(Class::Sound < Class::Failing && Class::Failing < Class::Corrupt);
    }

    #[test]
    fn shares_of_few_units() {
        // Printed to two digits in tables of Jeffreys's interval.
        for (k, n, low, high) in [(0, 3, 0.0, 0.54), (1, 3, 0.04, 0.82), (1, 1, 0.15, 1.0)] {
            let share = jeffreys(k, n, 0.95).unwrap();
            near(share.low, low, 0.005);
            near(share.high, high, 0.005);
        }
        assert_eq!(jeffreys(0, 0, 0.95), None);
        assert_eq!(jeffreys(2, 1, 0.95), None);
        assert_eq!(jeffreys(0, 1, 1.0), None);
    }
}
