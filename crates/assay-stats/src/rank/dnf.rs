//! Failures as data: classes that speed does not make up for, and how little few units say about
//! the rate of failing.

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Discrete, Hypergeometric};

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
    /// What was read is not what was written, or the capacity is not there.
    Corrupt,
    /// Power, bus or host: not the medium's doing, to be run again.
    AbortedByHost,
}

/// What comes before speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Class {
    /// No unit failed.
    #[default]
    Sound,
    /// Some units failed: a slow medium is better than a burnt one.
    Failing,
    /// A unit lost or invented data: disqualified whatever its speed.
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
    interval(events, trials, level, (0.5, 0.5), (0.5, 0.5))
}

/// Two-sided exact interval of a share: Clopper and Pearson (1934). Its coverage is never below `level`.
/// `None` as for [`jeffreys`].
#[must_use]
pub fn clopper_pearson(events: u64, trials: u64, level: f64) -> Option<Share> {
    interval(events, trials, level, (0.0, 1.0), (1.0, 0.0))
}

/// Quantiles of beta distributions with `(a, b)` added to events and other trials, for each end.
fn interval(events: u64, trials: u64, level: f64, low: (f64, f64), high: (f64, f64)) -> Option<Share> {
    let tail = tail(level)?;
    let others = trials.checked_sub(events).filter(|_| trials > 0)?;
    let (k, rest) = (events as f64, others as f64);
    let quantile = |(a, b): (f64, f64), p: f64| Some(beta(k + a, rest + b)?.inverse_cdf(p));
    Some(Share {
        point: k / trials as f64,
        low: if events == 0 { 0.0 } else { quantile(low, tail)? },
        high: if others == 0 { 1.0 } else { quantile(high, 1.0 - tail)? },
    })
}

fn beta(a: f64, b: f64) -> Option<Beta> {
    Beta::new(a, b).ok()
}

fn tail(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then_some((1.0 - level) / 2.0)
}

/// Failures per hour with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Events over exposure.
    pub per_hour: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Constant rate of failing, from events within `hours` of exposure over all units: the exact
/// interval of a Poisson mean (Garwood 1936). `None` for an exposure that is not positive and
/// finite, or a level outside 0 to 1.
#[must_use]
pub fn rate(events: u64, hours: f64, level: f64) -> Option<Rate> {
    let tail = tail(level)?;
    let low = if events == 0 { 0.0 } else { gamma_end(events, tail, hours)? };
    Some(Rate { per_hour: events as f64 / hours, low, high: gamma_end(events + 1, 1.0 - tail, hours)? })
}

/// One-sided upper bound of the rate per hour at `level`. `None` as for [`rate`].
#[must_use]
pub fn rate_upper(events: u64, hours: f64, level: f64) -> Option<f64> {
    tail(level)?;
    gamma_end(events + 1, level, hours)
}

fn gamma_end(events: u64, p: f64, hours: f64) -> Option<f64> {
    let usable = hours > 0.0 && hours.is_finite();
    let chi = ChiSquared::new(2.0 * events as f64).ok().filter(|_| usable)?;
    Some(chi.inverse_cdf(p) / (2.0 * hours))
}

/// Fisher's exact test of equal shares, two-sided by the sum of all tables that are no more likely:
/// `a` events of `of_a` against `b` of `of_b`. `None` for more events than trials or no trial.
#[must_use]
pub fn fisher_two_sided(a: u64, of_a: u64, b: u64, of_b: u64) -> Option<f64> {
    if a > of_a || b > of_b || of_a == 0 || of_b == 0 {
        return None;
    }
    let table = Hypergeometric::new(of_a.checked_add(of_b)?, a + b, of_a).ok()?;
    let seen = table.pmf(a);
    // Tables as likely as the seen one differ from it by rounding only.
    let as_likely = |p: &f64| *p <= seen * (1.0 + 1e-7);
    let sum: f64 = ((a + b).saturating_sub(of_b)..=of_a.min(a + b)).map(|k| table.pmf(k)).filter(as_likely).sum();
    Some(sum.min(1.0))
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
        // Closed forms: 1 - (alpha/2)^(1/n) for no event; mirrored for all.
        let none = clopper_pearson(0, 5, 0.95).unwrap();
        near(none.high, 1.0 - 0.025f64.powf(0.2), 1e-9);
        let all = clopper_pearson(5, 5, 0.95).unwrap();
        near(all.low, 0.025f64.powf(0.2), 1e-9);
        // 1 of 10: 0.0025 to 0.4450 in any table.
        let one = clopper_pearson(1, 10, 0.95).unwrap();
        near(one.low, 0.002_53, 5e-6);
        near(one.high, 0.445_02, 5e-6);
        assert_eq!(jeffreys(0, 0, 0.95), None);
        assert_eq!(jeffreys(2, 1, 0.95), None);
        assert_eq!(jeffreys(0, 1, 1.0), None);
    }

    #[test]
    fn rates_of_failing() {
        let one = rate(1, 48.0, 0.95).unwrap();
        near(one.per_hour, 0.0208, 5e-5);
        near(one.low, 0.000_53, 5e-6);
        near(one.high, 0.116, 5e-4);
        near(rate_upper(0, 45.0, 0.95).unwrap(), 0.0666, 5e-5);
        assert_eq!(rate(0, 10.0, 0.95).unwrap().low, 0.0);
        assert_eq!(rate(1, 0.0, 0.95), None);
        assert_eq!(rate_upper(0, f64::NAN, 0.95), None);
    }

    #[test]
    fn fisher_needs_four_of_four() {
        for (a, of_a, b, of_b, p) in
            [(1, 1, 0, 3, 0.25), (3, 3, 0, 3, 0.10), (4, 4, 0, 4, 1.0 / 35.0), (1, 3, 1, 3, 1.0)]
        {
            near(fisher_two_sided(a, of_a, b, of_b).unwrap(), p, 1e-9);
        }
        assert_eq!(fisher_two_sided(2, 1, 0, 3), None);
        assert_eq!(fisher_two_sided(0, 0, 0, 3), None);
    }
}
