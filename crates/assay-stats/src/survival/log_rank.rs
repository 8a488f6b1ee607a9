//! Whether two groups last equally long: the log-rank test (Mantel 1966), by permutation.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::lifetime::Lifetime;
use crate::random::Generator;

/// All assignments are tried where there are no more of them; else that many less one are drawn.
const ALL_UP_TO: u128 = 20_000;

/// A unit of one of two groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    /// How long it was seen.
    pub life: Lifetime,
    /// Whether it is of the second group.
    pub second: bool,
    /// Units are compared with those of the same stratum alone: a site, a lot.
    pub stratum: usize,
}

/// Failures of the second group against those to expect if both were equal.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LogRank {
    /// Failures of the second group.
    pub observed: f64,
    /// Those to expect.
    pub expected: f64,
    /// Variance of the difference.
    pub variance: f64,
}

impl LogRank {
    /// The statistic.
    #[must_use]
    pub fn chi_squared(&self) -> f64 {
        let difference = self.observed - self.expected;
        if self.variance > 0.0 { difference * difference / self.variance } else { 0.0 }
    }

    /// The probability of a larger one under equality, where units are many.
    #[must_use]
    pub fn p_of_many(&self) -> f64 {
        ChiSquared::new(1.0).map_or(f64::NAN, |chi| chi.sf(self.chi_squared()))
    }

    /// How often the second group fails for each failure of the first, at equal age (Peto's one-step value): what a plan may assume,
    /// and no finding, as with few units no interval of it holds. `None` where no failure compares the two.
    #[must_use]
    pub fn assumed_ratio(&self) -> Option<f64> {
        (self.variance > 0.0).then(|| ((self.observed - self.expected) / self.variance).exp())
    }

    fn plus(self, other: Self) -> Self {
        Self {
            observed: self.observed + other.observed,
            expected: self.expected + other.expected,
            variance: self.variance + other.variance,
        }
    }
}

/// The result of trying other assignments of units to groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permuted {
    /// Share of assignments whose statistic is as large as that seen.
    pub p: f64,
    /// The smallest that any outcome of these units could have.
    pub least_p: f64,
    /// Assignments.
    pub assignments: u32,
    /// Whether these are all there are.
    pub all: bool,
}

/// A stratum, prepared: times in descending order with who is there.
struct Stratum {
    /// Units by descending time: index, whether it failed, and whether the next one has another time.
    order: Vec<(usize, bool, bool)>,
    second: Vec<bool>,
}

impl Stratum {
    fn all(members: &[Member]) -> Vec<Self> {
        let mut names: Vec<usize> = members.iter().map(|member| member.stratum).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| Self::new(members.iter().filter(|member| member.stratum == name))).collect()
    }

    fn new<'a>(members: impl Iterator<Item = &'a Member>) -> Self {
        let own: Vec<&Member> = members.collect();
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|a, b| own[*b].life.time.total_cmp(&own[*a].life.time));
        let last = |at: usize| order.get(at + 1).is_none_or(|next| own[*next].life.time != own[order[at]].life.time);
        let order = order.iter().enumerate().map(|(at, i)| (*i, own[*i].life.cause.is_some(), last(at))).collect();
        Self { order, second: own.iter().map(|member| member.second).collect() }
    }

    /// The sums where the units of `second` are the second group.
    fn sums(&self, second: &[bool]) -> LogRank {
        let mut sums = LogRank::default();
        let (mut at_risk, mut of_second, mut failed, mut own) = (0.0, 0.0, 0.0, 0.0);
        for (unit, fails, last) in &self.order {
            let is_second = f64::from(u8::from(second[*unit]));
            at_risk += 1.0;
            of_second += is_second;
            if *fails {
                failed += 1.0;
                own += is_second;
            }
            if *last {
                if failed > 0.0 {
                    let share = of_second / at_risk;
                    sums.observed += own;
                    sums.expected += failed * share;
                    if at_risk > 1.0 {
                        sums.variance += failed * share * (1.0 - share) * (at_risk - failed) / (at_risk - 1.0);
                    }
                }
                (failed, own) = (0.0, 0.0);
            }
        }
        sums
    }

    fn of_second(&self) -> usize {
        self.second.iter().filter(|second| **second).count()
    }

    /// The sums of every assignment with as many units in the second group.
    fn every(&self) -> Vec<LogRank> {
        let (n, k) = (self.second.len(), self.of_second());
        let mut chosen: Vec<usize> = (0..k).collect();
        let mut all = Vec::new();
        loop {
            let mut second = vec![false; n];
            chosen.iter().for_each(|unit| second[*unit] = true);
            all.push(self.sums(&second));
            // The next combination in order.
            let Some(at) = (0..k).rev().find(|at| chosen[*at] < n - k + at) else { return all };
            chosen[at] += 1;
            for next in at + 1..k {
                chosen[next] = chosen[next - 1] + 1;
            }
        }
    }
}

/// The test of large samples.
#[must_use]
pub fn log_rank(members: &[Member]) -> LogRank {
    Stratum::all(members).iter().map(|stratum| stratum.sums(&stratum.second)).fold(LogRank::default(), LogRank::plus)
}

/// How many ways there are to choose `k` of `n`; more than [`ALL_UP_TO`] may be any such number.
fn ways(n: usize, k: usize) -> u128 {
    let step =
        |ways: u128, at: usize| (ways.saturating_mul((n - at) as u128) / (at as u128 + 1)).min(u128::from(u64::MAX));
    (0..k.min(n - k)).fold(1, step)
}

/// The test by permutation of units within their stratum. It is exact where units of both groups are watched equally long.
#[must_use]
pub fn permuted(members: &[Member], seed: u64) -> Permuted {
    let strata = Stratum::all(members);
    let seen = log_rank(members).chi_squared();
    // Sums of floats in another order differ in their last digits.
    let as_large = |sums: LogRank, than: f64| sums.chi_squared() >= than * (1.0 - 1e-9);
    let all = strata.iter().map(|own| ways(own.second.len(), own.of_second())).fold(1u128, u128::saturating_mul);
    if all <= ALL_UP_TO {
        let mut sums = vec![LogRank::default()];
        for stratum in &strata {
            let every = stratum.every();
            sums = sums.iter().flat_map(|sum| every.iter().map(|own| sum.plus(*own))).collect();
        }
        let count = |than: f64| sums.iter().filter(|sum| as_large(**sum, than)).count() as f64 / sums.len() as f64;
        let largest = sums.iter().map(LogRank::chi_squared).fold(0.0, f64::max);
        return Permuted { p: count(seen), least_p: count(largest), assignments: sums.len() as u32, all: true };
    }
    let mut generator = Generator::new(seed);
    let draws = ALL_UP_TO as u32 - 1;
    let mut larger = 1u32;
    for _ in 0..draws {
        let mut sum = LogRank::default();
        for stratum in &strata {
            let mut second = stratum.second.clone();
            generator.shuffle(&mut second);
            sum = sum.plus(stratum.sums(&second));
        }
        larger += u32::from(as_large(sum, seen));
    }
    let of = f64::from(draws + 1);
    Permuted { p: f64::from(larger) / of, least_p: 1.0 / of, assignments: draws + 1, all: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(second: bool, lives: &[f64]) -> Vec<Member> {
        lives.iter().map(|time| Member { life: Lifetime::failed(*time, 0), second, stratum: 0 }).collect()
    }

    /// Three against three, all of one group first: the most extreme of 20 assignments, with its mirror.
    #[test]
    fn small_groups_by_hand() {
        let members = [group(false, &[4.0, 5.0, 6.0]), group(true, &[1.0, 2.0, 3.0])].concat();
        let found = permuted(&members, 1);
        assert!(found.all && found.assignments == 20);
        assert!((found.p - 0.1).abs() < 1e-12 && found.least_p >= 0.05, "{found:?}");
        let four = [group(false, &[5.0, 6.0, 7.0, 8.0]), group(true, &[1.0, 2.0, 3.0, 4.0])].concat();
        let found = permuted(&four, 1);
        assert!((found.p - 2.0 / 70.0).abs() < 1e-12, "{found:?}");
        // Of the second group 3 failed where 0.5, 0.4 and 0.25 were to be expected.
        let sums = log_rank(&members);
        assert!((sums.observed, sums.expected) == (3.0, 0.5 + 0.4 + 0.25), "{sums:?}");
        assert!(sums.assumed_ratio().unwrap() > 1.0);
    }

    #[test]
    fn strata_keep_sites_apart() {
        let at = |stratum: usize, members: Vec<Member>| members.into_iter().map(move |m| Member { stratum, ..m });
        let first = at(0, [group(false, &[10.0, 11.0]), group(true, &[20.0, 21.0])].concat());
        let second = at(1, [group(false, &[1.0, 2.0]), group(true, &[3.0, 4.0])].concat());
        let members: Vec<Member> = first.chain(second).collect();
        let found = permuted(&members, 1);
        assert_eq!(found.assignments, 36);
        assert!(found.p < 0.12, "{found:?}");
    }

    #[test]
    fn units_without_a_failure_separate_nothing() {
        let censored = |second| Member { life: Lifetime::censored(5.0), second, stratum: 0 };
        let members = [censored(false), censored(false), censored(true), censored(true)];
        let found = permuted(&members, 1);
        assert_eq!((found.p, found.least_p), (1.0, 1.0));
        assert_eq!(log_rank(&members).assumed_ratio(), None);
    }

    /// How often equal groups seem to differ at 5 %: also where one of them is watched less long, and where many units are drawn
    /// instead of all.
    #[test]
    fn equal_groups_are_told_apart_in_one_of_twenty() {
        let mut generator = Generator::new(8);
        for (units, cuts) in [(4, [0.0, 0.0]), (6, [0.3, 0.3]), (6, [0.0, 1.0]), (8, [0.2, 1.5])] {
            let mut wrong = 0;
            let campaigns = 2000;
            for campaign in 0..campaigns {
                let mut members = Vec::new();
                for second in [false, true] {
                    for _ in 0..units {
                        let life = generator.exponential();
                        let cut = cuts[usize::from(second)];
                        let end = if cut > 0.0 { generator.exponential() / cut } else { f64::INFINITY };
                        let life = if life <= end { Lifetime::failed(life, 0) } else { Lifetime::censored(end) };
                        members.push(Member { life, second, stratum: 0 });
                    }
                }
                wrong += usize::from(permuted(&members, campaign).p <= 0.05);
            }
            let share = wrong as f64 / campaigns as f64;
            println!("{units} units, cut {cuts:?}: {share}");
            assert!(share <= 0.065, "{units} {cuts:?}: {share}");
        }
    }
}
