//! How many units of each of two groups, watched how long, the permutation test tells apart.

use std::collections::BTreeMap;

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::lifetime::Lifetime;
use super::log_rank::{Member, log_rank};
use crate::random::Generator;

/// More units of each group are not practical.
pub const MOST_UNITS: u32 = 200;
/// Campaigns that are drawn for one number of units: one standard error of 80 % is 2 %.
const CAMPAIGNS: u32 = 400;
/// Of more units of each group the statistic has the distribution of large samples.
const FEW: u32 = 30;
/// Assignments for one number of failures.
const ASSIGNMENTS: usize = 1999;

/// What would separate two groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Separation {
    /// Units of each group.
    pub units: u32,
    /// The chance that the test finds the difference.
    pub chance: f64,
}

/// Fewest draws beyond the critical statistic.
const RESOLVED: f64 = 20.0;

/// The statistic from which on groups of `units` with `failures` failures in all differ: units that did not fail are
/// watched equally long, so that the test depends on the order of failures alone.
fn critical(units: u32, failures: usize, alpha: f64, generator: &mut Generator) -> f64 {
    // Draws do not resolve the chances of many pairs and of high levels.
    if units > FEW || alpha * (ASSIGNMENTS as f64) < RESOLVED {
        return ChiSquared::new(1.0).map_or(f64::INFINITY, |chi| chi.inverse_cdf(1.0 - alpha));
    }
    let all = 2 * units as usize;
    let mut second: Vec<bool> = (0..all).map(|unit| unit >= units as usize).collect();
    let mut seen: Vec<f64> = Vec::with_capacity(ASSIGNMENTS);
    for _ in 0..ASSIGNMENTS {
        generator.shuffle(&mut second);
        seen.push(statistic(&second, failures));
    }
    seen.sort_by(f64::total_cmp);
    // The statistic has to be among the largest `alpha` of them: as large ones included.
    let most = (alpha * ASSIGNMENTS as f64) as usize;
    let first = seen[ASSIGNMENTS - most];
    // Where more assignments than that are equal, only larger ones will do.
    let equal_before = seen[ASSIGNMENTS - most - 1] >= first * (1.0 - 1e-9);
    if equal_before { first * (1.0 + 1e-9) } else { first * (1.0 - 1e-9) }
}

/// Of units in the order of their ends, the failures first.
fn statistic(second: &[bool], failures: usize) -> f64 {
    let life = |at: usize| {
        if at < failures { Lifetime::failed(at as f64, 0) } else { Lifetime::censored(failures as f64) }
    };
    let members: Vec<Member> =
        second.iter().enumerate().map(|(at, second)| Member { life: life(at), second: *second, stratum: 0 }).collect();
    log_rank(&members).chi_squared()
}

/// The chance that the test finds the difference with `units` of each group.
fn chance(units: u32, ratio: f64, failing: f64, alpha: f64) -> f64 {
    let mut generator = Generator::new(u64::from(units));
    let mut critical_of: BTreeMap<usize, f64> = BTreeMap::new();
    // At equal age the second group fails `ratio` times as often, so any clock may be used on which the first is exponential.
    let end = if failing >= 1.0 { f64::INFINITY } else { -(1.0 - failing).ln() };
    let mut found = 0;
    for _ in 0..CAMPAIGNS {
        let mut lives: Vec<(f64, bool)> = Vec::with_capacity(2 * units as usize);
        for second in [false, true] {
            let hazard = if second { ratio } else { 1.0 };
            lives.extend((0..units).map(|_| ((generator.exponential() / hazard).min(end), second)));
        }
        lives.sort_by(|a, b| a.0.total_cmp(&b.0));
        let failures = lives.iter().filter(|(life, _)| *life < end).count();
        let second: Vec<bool> = lives.iter().map(|(_, second)| *second).collect();
        let own = &mut Generator::new(u64::from(units) * 1000 + failures as u64);
        let needed = *critical_of.entry(failures).or_insert_with(|| critical(units, failures, alpha, own));
        found += u32::from(failures > 0 && statistic(&second, failures) >= needed);
    }
    f64::from(found) / f64::from(CAMPAIGNS)
}

/// The fewest units of each group with which the test finds the difference with chance `wanted`, if the second fails `ratio`
/// times as often at equal age, each watched until a share `failing` of the first group has failed. `None` beyond [`MOST_UNITS`].
#[must_use]
pub fn separation(ratio: f64, failing: f64, alpha: f64, wanted: f64) -> Option<Separation> {
    let log = ratio.ln().abs();
    if !(log.is_finite() && log > 1e-6 && failing > 0.0 && failing <= 1.0 && wanted < 1.0 && alpha > 0.0) {
        return None;
    }
    // Schoenfeld (1981) has the number of failures for many units; the search begins near it.
    let z = |p: f64| Normal::standard().inverse_cdf(p);
    let failures = 4.0 * ((z(1.0 - alpha / 2.0) + z(wanted)) / log).powi(2);
    let share = (failing + 1.0 - (1.0 - failing).powf(ratio)) / 2.0;
    let near = failures / share / 2.0;
    if near > 1.5 * f64::from(MOST_UNITS) {
        return None;
    }
    // Fewer than four of each can never differ at 5 %.
    let mut units = ((near * 0.7) as u32).clamp(2, MOST_UNITS);
    while units > 2 && chance(units, ratio, failing, alpha) >= wanted {
        units -= (units / 8).max(1);
    }
    while units <= MOST_UNITS {
        let found = chance(units, ratio, failing, alpha);
        if found >= wanted {
            return Some(Separation { units, chance: found });
        }
        units += (units / 12).max(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::permuted;
    use super::*;
    use crate::power::POWER;

    /// At 5 %, with the chance that other commands use.
    fn usual(ratio: f64, failing: f64) -> Option<Separation> {
        separation(ratio, failing, 0.05, POWER)
    }

    #[test]
    fn the_number_finds_the_difference_as_often_as_stated() {
        for (ratio, failing) in [(8.0, 1.0), (4.0, 0.6)] {
            let needed = usual(ratio, failing).unwrap();
            let mut generator = Generator::new(99);
            let end = if failing >= 1.0 { f64::INFINITY } else { -(1.0f64 - failing).ln() };
            let mut found = 0;
            let campaigns = 300;
            for campaign in 0..campaigns {
                let mut members = Vec::new();
                for second in [false, true] {
                    for _ in 0..needed.units {
                        let life = generator.exponential() / if second { ratio } else { 1.0 };
                        let life = if life < end { Lifetime::failed(life, 0) } else { Lifetime::censored(end) };
                        members.push(Member { life, second, stratum: 0 });
                    }
                }
                found += u32::from(permuted(&members, campaign).p <= 0.05);
            }
            let share = f64::from(found) / f64::from(campaigns as u32);
            println!("ratio {ratio}, failing {failing}: {needed:?}, found {share}");
            // One standard error of 80 % over 300 is 2.3 %, and of the number's own chance 2 %.
            assert!(share >= 0.72, "{ratio} {failing}: {needed:?} {share}");
        }
    }

    #[test]
    fn smaller_differences_and_shorter_tests_take_more_units() {
        let units = |ratio, failing| usual(ratio, failing).unwrap().units;
        assert!(units(8.0, 1.0) >= 4, "three of each can never differ at 5 %");
        assert!(units(8.0, 1.0) < units(4.0, 1.0) && units(4.0, 1.0) < units(4.0, 0.3));
        assert_eq!(usual(1.0, 1.0), None);
        assert_eq!(usual(1.05, 1.0), None);
    }

    #[test]
    fn a_small_chance_of_error_takes_more_units() {
        let units = |alpha| separation(4.0, 1.0, alpha, POWER).unwrap().units;
        assert!(units(0.0001) > units(0.01), "{} {}", units(0.0001), units(0.01));
    }
}
