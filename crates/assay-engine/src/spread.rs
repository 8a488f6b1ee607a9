//! Random blocks, some more frequent than others.

use assay_core::distribution::Distribution;
use rand_distr::{Distribution as _, StandardNormal, StandardUniform, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::buffer::mix;

/// Draws numbers of blocks.
#[derive(Debug)]
pub(crate) enum Spread {
    /// By rank, the most frequent first; which block has which rank, a permutation says.
    Zipf { ranks: Zipf<f64>, places: Permutation },
    /// The same for the self-similar distribution: rank = blocks × u^power.
    Pareto { power: f64, blocks: u64, places: Permutation },
    /// Around the middle.
    Normal { middle: f64, deviation: f64, blocks: u64 },
    /// Each zone with the probability up to which it is drawn, its first block and how many it has.
    Zones(Vec<(f64, u64, u64)>),
}

impl Spread {
    /// Over `blocks` blocks, at least one; `None` where all blocks are equally frequent. The same `seed` makes
    /// the same blocks frequent in every thread.
    pub(crate) fn new(distribution: &Distribution, blocks: u64, seed: u64) -> Option<Self> {
        let blocks = blocks.max(1);
        let places = || Permutation::new(blocks, seed);
        match *distribution {
            Distribution::Uniform => None,
            Distribution::Zipf { theta } => {
                Some(Self::Zipf { ranks: Zipf::new(blocks as f64, theta).ok()?, places: places() })
            }
            // A share h of the blocks has a share 1 - h of the operations: u^power < h where u < 1 - h.
            Distribution::Pareto { h } => {
                Some(Self::Pareto { power: h.ln() / (1.0 - h).ln(), blocks, places: places() })
            }
            Distribution::Normal { deviation_percent } => Some(Self::Normal {
                middle: blocks as f64 / 2.0,
                deviation: blocks as f64 * deviation_percent / 100.0,
                blocks,
            }),
            Distribution::Hot { operations_percent, area_percent } => {
                Some(Self::zones(&[(operations_percent, area_percent)], blocks))
            }
            Distribution::Zones { ref zones } => {
                let zones: Vec<_> = zones.iter().map(|zone| (zone.operations_percent, zone.area_percent)).collect();
                Some(Self::zones(&zones, blocks))
            }
        }
    }

    /// Zones with their percent of the operations and of the blocks; what they leave is one more.
    fn zones(given: &[(f64, f64)], blocks: u64) -> Self {
        let mut zones = Vec::with_capacity(given.len() + 1);
        let (mut probability, mut area, mut first) = (0.0, 0.0, 0);
        for (operations_percent, area_percent) in given {
            probability += operations_percent / 100.0;
            area += area_percent / 100.0;
            let end = ((blocks as f64 * area).round() as u64).clamp((first + 1).min(blocks), blocks);
            if end > first {
                zones.push((probability, first, end - first));
                first = end;
            }
        }
        if first < blocks {
            zones.push((1.0, first, blocks - first));
        }
        Self::Zones(zones)
    }

    /// The next block, below the number of blocks.
    #[inline]
    pub(crate) fn next(&self, generator: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Zipf { ranks, places } => places.scattered(ranks.sample(generator) as u64 - 1),
            Self::Pareto { power, blocks, places } => {
                let rank = uniform(generator).powf(*power) * *blocks as f64;
                places.scattered((rank as u64).min(blocks - 1))
            }
            Self::Normal { middle, deviation, blocks } => loop {
                let deviate: f64 = StandardNormal.sample(generator);
                let at = middle + deviation * deviate;
                if at >= 0.0 && at < *blocks as f64 {
                    return at as u64;
                }
            },
            Self::Zones(zones) => {
                let draw = uniform(generator);
                let zone = zones.iter().find(|(probability, ..)| draw < *probability).or(zones.last());
                let (first, count) = zone.map_or((0, 1), |(_, first, count)| (*first, *count));
                first + ((uniform(generator) * count as f64) as u64).min(count - 1)
            }
        }
    }
}

/// Uniform in [0, 1) with 53 bits.
#[inline]
fn uniform(generator: &mut Xoshiro256PlusPlus) -> f64 {
    StandardUniform.sample(generator)
}

/// A permutation of the numbers below a count: steps that are invertible modulo the next power of two, repeated until
/// the result is below the count (cycle walking; less than two rounds on average).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permutation {
    count: u64,
    mask: u64,
    shift: u32,
    factors: [u64; 2],
    offset: u64,
}

impl Permutation {
    fn new(count: u64, seed: u64) -> Self {
        let mask = count.next_power_of_two() - 1;
        let bits = mask.count_ones();
        Self {
            count,
            mask,
            shift: (bits / 2).max(1),
            // Odd numbers have inverses modulo a power of two.
            factors: [mix(seed) | 1, mix(seed ^ 0x0f_f5e7) | 1],
            offset: mix(seed ^ 0xadd),
        }
    }

    #[inline]
    fn scattered(&self, number: u64) -> u64 {
        let mut at = number.min(self.count - 1);
        loop {
            at = at.wrapping_mul(self.factors[0]).wrapping_add(self.offset) & self.mask;
            at ^= at >> self.shift;
            at = at.wrapping_mul(self.factors[1]) & self.mask;
            at ^= at >> self.shift;
            if at < self.count {
                return at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    use super::*;

    const DRAWS: usize = 1_000_000;

    fn counts(text: &str, blocks: u64) -> Vec<u64> {
        let spread = Spread::new(&Distribution::parse(text).unwrap(), blocks, 5).unwrap();
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut counts = vec![0u64; blocks as usize];
        (0..DRAWS).for_each(|_| counts[spread.next(&mut generator) as usize] += 1);
        counts
    }

    /// Chi-square of the counts sorted by what is expected of their ranks, with its degrees of freedom.
    fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
        counts.iter().zip(expected).map(|(c, e)| (*c as f64 - e).powi(2) / e).sum()
    }

    /// Ranks are found again by the permutation itself, so that counts are compared with their own law.
    fn by_rank(counts: &[u64]) -> Vec<u64> {
        let places = Permutation::new(counts.len() as u64, 5);
        (0..counts.len() as u64).map(|rank| counts[places.scattered(rank) as usize]).collect()
    }

    /// A chi-square variable of k degrees has mean k and variance 2k: five standard deviations are allowed.
    fn agrees(chi: f64, degrees: usize) -> bool {
        chi < degrees as f64 + 5.0 * (2.0 * degrees as f64).sqrt()
    }

    #[test]
    fn zipf_follows_its_law() {
        for theta in [0.5, 0.9, 1.0, 1.2, 2.0] {
            let n = 500;
            let weights: Vec<f64> = (1..=n).map(|k| f64::from(k).powf(-theta)).collect();
            let sum: f64 = weights.iter().sum();
            let expected: Vec<f64> = weights.iter().map(|w| w / sum * DRAWS as f64).collect();
            let got = by_rank(&counts(&format!("zipf:{theta}"), n as u64));
            // Cells of few draws are left to the others: the approximation needs some in each.
            let cells = expected.iter().filter(|e| **e >= 10.0).count();
            let chi = chi_square(&got[..cells], &expected[..cells]);
            assert!(agrees(chi, cells), "theta {theta}: {chi} of {cells}");
        }
    }

    #[test]
    fn pareto_follows_its_law() {
        for h in [0.1, 0.2, 0.4] {
            let n = 200;
            let power = f64::ln(1.0 - h) / f64::ln(h);
            let below = |rank: f64| (rank / f64::from(n)).powf(power);
            let expected: Vec<f64> =
                (0..n).map(|k| (below(f64::from(k + 1)) - below(f64::from(k))) * DRAWS as f64).collect();
            let got = by_rank(&counts(&format!("pareto:{h}"), n as u64));
            let chi = chi_square(&got, &expected);
            assert!(agrees(chi, n as usize), "h {h}: {chi}");
            let hot = (f64::from(n) * h) as usize;
            let share = got[..hot].iter().sum::<u64>() as f64 / DRAWS as f64;
            assert!((share - (1.0 - h)).abs() < 0.003, "{h} of the blocks have {share}");
        }
    }

    /// Share of the draws that fell on the most frequent hundredth of the blocks that were drawn at all, in percent, of
    /// as many draws as there are blocks: what fio-genzipf prints in its first row.
    fn top(text: &str, blocks: u64) -> f64 {
        let spread = Spread::new(&Distribution::parse(text).unwrap(), blocks, 5).unwrap();
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(13);
        let mut counts = vec![0u64; blocks as usize];
        (0..blocks).for_each(|_| counts[spread.next(&mut generator) as usize] += 1);
        counts.retain(|count| *count > 0);
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        counts[..counts.len() / 100].iter().sum::<u64>() as f64 * 100.0 / blocks as f64
    }

    #[test]
    fn the_most_frequent_hundredth_is_as_frequent_as_with_fio() {
        for (kind, parameter) in
            [("zipf", "0.9"), ("zipf", "1.1"), ("zipf", "1.2"), ("pareto", "0.2"), ("pareto", "0.4")]
        {
            let fio = std::process::Command::new("fio-genzipf")
                .args(["-t", kind, "-i", parameter, "-g", "1", "-b", "4096", "-o", "100"])
                .output();
            let Ok(output) = fio else {
                println!(
                    "SKIP: the_most_frequent_hundredth_is_as_frequent_as_with_fio: fio-genzipf is not installed (package fio)"
                );
                return;
            };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let row = text.lines().find(|line| line.starts_with("Top")).expect("a first row");
            let theirs: f64 = row.split('%').nth(1).and_then(|cell| cell.trim().parse().ok()).expect("its share");
            let ours = top(&format!("{kind}:{parameter}"), 262_144);
            assert!((ours - theirs).abs() < 2.0, "{kind}:{parameter}: {ours} % here, {theirs} % with fio");
        }
    }

    #[test]
    fn normal_and_hot_go_where_they_say() {
        let around = counts("normal:10", 100);
        let share = |range: std::ops::Range<usize>| around[range].iter().sum::<u64>() as f64 / DRAWS as f64;
        // One and two standard deviations around the middle.
        assert!((share(40..60) - 0.6827).abs() < 0.003 && (share(30..70) - 0.9545).abs() < 0.003);
        let hot = counts("hot:80/20", 100);
        let first = hot[..20].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((first - 0.8).abs() < 0.003, "{first}");
        assert!(hot.iter().all(|count| *count > 0));
    }

    proptest! {
        #[test]
        fn a_permutation_leaves_nothing_out(count in 1u64..3000, seed: u64) {
            let places = Permutation::new(count, seed);
            let mut seen = vec![false; count as usize];
            for number in 0..count {
                let at = places.scattered(number) as usize;
                prop_assert!(!seen[at]);
                seen[at] = true;
            }
        }

        #[test]
        fn blocks_stay_inside(blocks in 1u64..50, seed: u64) {
            let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
            for text in ["zipf:1.1", "pareto:0.2", "normal:30", "hot:80/20", "hot:1/99"] {
                let spread = Spread::new(&Distribution::parse(text).unwrap(), blocks, seed).unwrap();
                for _ in 0..50 {
                    prop_assert!(spread.next(&mut generator) < blocks, "{}", text);
                }
            }
        }
    }
}
