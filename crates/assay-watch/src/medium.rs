//! What the figures of a medium show together: whether it has rare nights, and how alike successive nights are.

use crate::noise::Noise;
use crate::step::{LASTING, LEAST_NOISE};

/// A medium has no rare nights where these bring less than this share of the variance, as a mean over its figures, and the figures
/// together have this number of nights. Normal nights show 0.00 to 0.04, shocks of Student's distribution with three degrees 0.08
/// to 0.4.
const NO_RARE_NIGHTS: (f64, usize) = (0.045, 400);
/// The least number of figures for a common correlation.
const LEAST_FIGURES: usize = 4;
/// The least mean correlation for that. Nights of 0.3, the assumed value, are seldom above it by chance.
const LEAST_ALIKE: f64 = 0.4;
/// Figures differ in their correlation where its variance between them is more than this many times that of their errors: eight
/// figures that do not differ are above it in one medium of twenty.
const BY_CHANCE: f64 = 2.0;

/// What the figures of a medium show together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Medium {
    /// Their number.
    pub(crate) figures: usize,
    /// Whether its figures have no rare nights: see [`NO_RARE_NIGHTS`].
    pub(crate) no_rare_nights: bool,
    /// Of the figures as they are.
    pub(crate) own: Together,
    /// Of the figures without what they share.
    pub(crate) apart: Together,
}

impl Medium {
    /// From the noise of each figure: as it is, and without what it shares with other loads.
    pub(crate) fn of(noises: &[(Noise, Noise)]) -> Self {
        let (most, least) = NO_RARE_NIGHTS;
        let figures = noises.len();
        let tails = noises.iter().map(|(own, apart)| own.tails.max(apart.tails)).sum::<f64>();
        let nights = noises.iter().map(|(own, _)| own.nights).sum::<usize>();
        let own: Vec<Noise> = noises.iter().map(|(own, _)| *own).collect();
        let apart: Vec<Noise> = noises.iter().map(|(_, apart)| *apart).collect();
        Self {
            figures,
            no_rare_nights: nights >= least && tails < most * figures as f64,
            own: Together::of(&own),
            apart: Together::of(&apart),
        }
    }
}

/// The correlation and the tails that figures of a medium share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Together {
    correlation: f64,
    tails: f64,
    /// The share of its distance from the mean correlation that a figure keeps; 1 where nothing is estimated together.
    kept: f64,
}

impl Together {
    /// Each figure by itself.
    pub(crate) const NOTHING: Self = Self { correlation: 0.0, tails: 0.0, kept: 1.0 };

    /// An estimate from few nights is uncertain: some figures get too low a correlation by chance, and these cause false alarms.
    /// So each estimate moves towards the mean of all figures, by the share of their variance that chance explains.
    fn of(noises: &[Noise]) -> Self {
        let known: Vec<&Noise> = noises.iter().filter(|noise| noise.nights >= LEAST_NOISE).collect();
        let k = known.len() as f64;
        if known.len() < LEAST_FIGURES {
            return Self::NOTHING;
        }
        let mean = |of: &dyn Fn(&Noise) -> f64| known.iter().map(|noise| of(noise)).sum::<f64>() / k;
        let correlation = mean(&|noise| noise.correlation);
        if correlation <= LEAST_ALIKE {
            return Self::NOTHING;
        }
        // Bartlett 1946.
        let of_error = mean(&|noise| (1.0 - noise.correlation.powi(2)) / noise.nights as f64);
        let seen = mean(&|noise| (noise.correlation - correlation).powi(2)) * k / (k - 1.0);
        let kept = if seen > 0.0 { (1.0 - BY_CHANCE * of_error / seen).max(0.0) } else { 0.0 };
        Self { correlation, tails: mean(&|noise| noise.tails), kept }
    }

    /// The noise of a figure, with the correlation and the tails that it shares.
    pub(crate) fn noise(&self, own: &Noise) -> Noise {
        let correlation = self.correlation + self.kept * (own.correlation - self.correlation);
        Noise { correlation, tails: own.tails.max(self.tails), ..*own }
    }

    /// Whether the common correlation says that an excursion lasts: see [`LASTING`].
    pub(crate) fn lasts(&self) -> bool {
        self.correlation > LASTING
    }
}

#[cfg(test)]
mod tests {
    use assay_stats::random::Generator;

    use super::*;
    use crate::night::Kind;

    fn noise(correlation: f64, tails: f64) -> Noise {
        Noise { correlation, tails, nights: 100, ..Noise::assumed(Kind::Rate) }
    }

    /// Estimates of 100 nights have an error of √((1 − φ²) / 100).
    #[test]
    fn figures_that_are_equally_alike_tell_their_correlation_together() {
        let mut random = Generator::new(3);
        let (mut alone, mut together) = (0.0, 0.0);
        for _ in 0..200 {
            let noises: Vec<Noise> = (0..8).map(|_| noise(0.6 + 0.08 * random.normal(), 0.0)).collect();
            let medium = Together::of(&noises);
            for one in &noises {
                alone += (one.correlation - 0.6).powi(2);
                together += (medium.noise(one).correlation - 0.6).powi(2);
            }
        }
        assert!(together < 0.4 * alone, "{together} {alone}");
    }

    #[test]
    fn a_figure_that_is_less_alike_than_all_others_stays_so() {
        let mut noises = vec![noise(0.78, 0.0), noise(0.8, 0.0), noise(0.82, 0.0), noise(0.8, 0.0), noise(0.8, 0.0)];
        noises.push(noise(0.1, 0.0));
        let found = Together::of(&noises).noise(&noises[5]).correlation;
        assert!((0.1..0.2).contains(&found), "{found}");
    }

    #[test]
    fn few_figures_and_nights_that_are_not_alike_tell_nothing_together() {
        for noises in [vec![noise(0.6, 0.1); 3], vec![noise(0.39, 0.1); 8], Vec::new()] {
            assert_eq!(Together::of(&noises), Together::NOTHING);
            assert!(!Together::NOTHING.lasts());
        }
        let few = Noise { nights: LEAST_NOISE - 1, ..noise(0.6, 0.1) };
        assert_eq!(Together::of(&[few; 8]), Together::NOTHING);
        assert_eq!(Together::NOTHING.noise(&noise(0.4, 0.1)), noise(0.4, 0.1));
    }

    #[test]
    fn a_figure_without_rare_nights_has_those_of_its_medium() {
        let noises = [noise(0.6, 0.0), noise(0.6, 0.2), noise(0.6, 0.1), noise(0.6, 0.1)];
        let together = Together::of(&noises);
        let tails: Vec<f64> = noises.iter().map(|one| together.noise(one).tails).collect();
        assert!(tails.iter().zip([0.1, 0.2, 0.1, 0.1]).all(|(one, other)| (one - other).abs() < 1e-12), "{tails:?}");
    }
}
