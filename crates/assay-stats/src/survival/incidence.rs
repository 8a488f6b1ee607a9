//! The share of units that failed of one cause by a time, where causes compete (Aalen and Johansen 1978).

use assay_core::estimate::Estimate;

use super::lifetime::{Lifetime, clopper_pearson, rows};

/// A variance below this is 0 but for rounding.
const NONE: f64 = 1e-12;
/// Method of [`Incidence::at`].
const METHOD: &str = "Aalen-Johansen, exact interval of as many units as its error is worth";

#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    time: f64,
    at_risk: f64,
    /// Of any cause.
    failed: f64,
    /// Of this one.
    own: f64,
    /// The share without a failure before this time.
    before: f64,
    incidence: f64,
    left: u32,
}

/// The cumulative incidence of one cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Incidence {
    steps: Vec<Step>,
    n: u32,
    known_to: f64,
}

impl Incidence {
    /// That of `cause`; `None` as for a curve.
    #[must_use]
    pub fn new(lifetimes: &[Lifetime], cause: usize) -> Option<Self> {
        let (mut before, mut incidence) = (1.0, 0.0);
        let mut steps = Vec::new();
        for row in rows(lifetimes)? {
            let of_cause = |life: &&Lifetime| life.time == row.time && life.cause == Some(cause);
            let own = lifetimes.iter().filter(of_cause).count() as f64;
            let (at_risk, failed) = (f64::from(row.at_risk), f64::from(row.failed));
            incidence += before * own / at_risk;
            let left = row.at_risk - row.failed - row.censored;
            steps.push(Step { time: row.time, at_risk, failed, own, before, incidence, left });
            before *= (at_risk - failed) / at_risk;
        }
        let n = u32::try_from(lifetimes.len()).ok()?;
        let last = steps.last().map_or(0.0, |step| step.time);
        Some(Self { steps, n, known_to: if before == 0.0 { f64::INFINITY } else { last } })
    }

    fn until(&self, time: f64) -> &[Step] {
        &self.steps[..self.steps.partition_point(|step| step.time <= time)]
    }

    /// The share that failed of the cause by a time.
    #[must_use]
    pub fn share(&self, time: f64) -> f64 {
        self.until(time).last().map_or(0.0, |step| step.incidence)
    }

    /// Its variance by the delta method (Marubini and Valsecchi 1995, section 10.3).
    #[must_use]
    pub fn variance(&self, time: f64) -> f64 {
        let share = self.share(time);
        let of = |step: &Step| {
            let Step { at_risk: y, failed: d, own, before, .. } = *step;
            let rest = share - step.incidence;
            let total = if d < y { rest * rest * d / (y * (y - d)) } else { 0.0 };
            total + before * before * own * (y - own) / y.powi(3) - 2.0 * rest * before * own / (y * y)
        };
        self.until(time).iter().map(of).sum::<f64>().max(0.0)
    }

    /// The share with the exact interval of a share among as many units as would have its variance (Korn and Graubard 1998), at
    /// most those whose fate is known; `None` beyond the last unit.
    #[must_use]
    pub fn at(&self, time: f64, level: f64) -> Option<Estimate> {
        if time > self.known_to {
            return None;
        }
        // Sums of shares are 1 but for rounding.
        let (share, variance) = (self.share(time).min(1.0), self.variance(time));
        let seen = self.until(time);
        let failed: f64 = seen.iter().map(|step| step.failed).sum();
        let known = failed + f64::from(seen.last().map_or(self.n, |step| step.left));
        let worth = if variance > NONE { (share * (1.0 - share) / variance).min(known) } else { known };
        let (low, high) = clopper_pearson(share * worth, worth, level);
        let (low, high) = (Some(low), Some(high));
        Some(Estimate { point: share, low, high, level: Some(level), n: self.n, method: METHOD.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Curve;
    use super::*;
    use crate::random::Generator;

    fn drawn(generator: &mut Generator, units: usize, cut: f64) -> Vec<Lifetime> {
        let draw = |_| {
            let life = generator.exponential();
            let cause = usize::from(generator.uniform() < 0.3);
            let end = if cut > 0.0 { generator.exponential() / cut } else { f64::INFINITY };
            if life <= end { Lifetime::failed(life, cause) } else { Lifetime::censored(end) }
        };
        (0..units).map(draw).collect()
    }

    #[test]
    fn causes_and_survivors_add_up_to_all() {
        let mut generator = Generator::new(5);
        for _ in 0..200 {
            let lives = drawn(&mut generator, 9, 0.5);
            let curve = Curve::new(&lives).unwrap();
            let of = |cause| Incidence::new(&lives, cause).unwrap();
            for time in [0.2, 0.7, 1.5] {
                let all = curve.survival(time) + of(0).share(time) + of(1).share(time);
                assert!((all - 1.0).abs() < 1e-12, "{all}");
            }
        }
    }

    #[test]
    fn of_one_cause_it_is_the_rest_of_the_curve() {
        let lives =
            [Lifetime::failed(1.0, 0), Lifetime::censored(2.0), Lifetime::failed(3.0, 0), Lifetime::censored(4.0)];
        let (curve, own) = (Curve::new(&lives).unwrap(), Incidence::new(&lives, 0).unwrap());
        for time in [1.0, 3.5] {
            assert!((own.share(time) + curve.survival(time) - 1.0).abs() < 1e-12);
            assert!((own.variance(time).sqrt() - curve.error(time)).abs() < 1e-12, "{time}");
        }
        assert_eq!(own.at(4.5, 0.95), None);
    }

    #[test]
    fn intervals_of_causes_hold() {
        let mut generator = Generator::new(6);
        let mut least = 1.0f64;
        for units in 3..=10 {
            for cut in [0.0, 0.3, 1.0] {
                for (cause, part) in [(0, 0.7), (1, 0.3)] {
                    for time in [0.3f64, 0.7, 1.5] {
                        let truth = part * (1.0 - (-time).exp());
                        let (mut held, mut known) = (0, 0);
                        for _ in 0..2000 {
                            let lives = drawn(&mut generator, units, cut);
                            let Some(seen) = Incidence::new(&lives, cause).unwrap().at(time, 0.95) else { continue };
                            known += 1;
                            held += u32::from(seen.low.unwrap() <= truth && truth <= seen.high.unwrap());
                        }
                        if known >= 200 {
                            least = least.min(f64::from(held) / f64::from(known));
                        }
                    }
                }
            }
        }
        println!("least coverage of a cause: {least}");
        assert!(least >= 0.94, "{least}");
    }
}
