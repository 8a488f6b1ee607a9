//! After how many bytes the addresses start again.

use super::contract::Device;
use super::plan::{PERIODS, UNIT_BLOCKS};
use super::round::{Canary, Search, below};
use super::session::{End, Phase};
use super::stamp::Seen;

impl<D: Device> Search<'_, '_, D> {
    /// The period in blocks, from two blocks that are the same memory. It divides their distance,
    /// and whatever the later laps do within a unit, it is a whole number of units.
    pub(crate) fn period(&mut self, pair: (u64, u64)) -> Result<Option<u64>, End> {
        self.session.phase = Phase::FindingPeriod;
        let (low, high) = (pair.0.min(pair.1), pair.0.max(pair.1));
        let distance = high / UNIT_BLOCKS - low / UNIT_BLOCKS;
        if distance == 0 {
            return Ok(None);
        }
        let mut candidates = divisors(distance);
        candidates.truncate(PERIODS as usize);
        let mut period = None;
        // The run of an eviction may cover the alias of one base, not of all.
        for unit in [low / UNIT_BLOCKS, 0, low / UNIT_BLOCKS / 2, 1, low / UNIT_BLOCKS / 3] {
            let Some(found) = self.smallest(unit, &candidates)? else { continue };
            // What was written elsewhere may have covered the nearest once, hardly twice.
            if let Some(before) = period {
                return Ok(Some(common(before, found) * UNIT_BLOCKS));
            }
            period = Some(found);
        }
        period.map(|period| Some(period * UNIT_BLOCKS)).ok_or(End::Hidden)
    }

    /// The smallest of the `candidates`, in units, whose block fell onto the unit. The nearest is
    /// written last, so that nothing covers it.
    fn smallest(&mut self, unit: u64, candidates: &[u64]) -> Result<Option<u64>, End> {
        let taken: Vec<u64> = self.canary.iter().flat_map(|canary| canary.writes.clone()).collect();
        let mut base = unit * UNIT_BLOCKS + 1 + below(&mut self.session.random, UNIT_BLOCKS - 1);
        while taken.contains(&base) || base == self.base {
            base = unit * UNIT_BLOCKS + 1 + below(&mut self.session.random, UNIT_BLOCKS - 1);
        }
        let block = |period: &u64| base + period * UNIT_BLOCKS;
        let mut points = vec![base];
        points.extend(candidates.iter().rev().map(block).filter(|block| *block < self.session.blocks()));
        self.write_and_evict(&points)?;
        let strangers = self.session.strangers(unit * UNIT_BLOCKS, UNIT_BLOCKS)?;
        // What the run wrote once more came after the nearer ones.
        let covered = self.evictor.covered();
        let fell = |period: &&u64| {
            !covered.contains(&block(period)) && strangers.iter().any(|(_, origin)| *origin == block(period))
        };
        Ok(candidates.iter().find(fell).copied())
    }

    /// Looks for a pair of blocks that are the same memory, where places beyond the first loss
    /// hold: a run in the middle of the longest stretch of these, and a comb below it.
    pub(crate) fn suspect(&mut self, results: &[(u64, Seen)]) -> Result<Option<(u64, u64)>, End> {
        self.session.phase = Phase::FindingPeriod;
        let Some(first_lost) = results.iter().position(|(_, seen)| !seen.holds()) else { return Ok(None) };
        let stretches = results[first_lost..].chunk_by(|a, b| a.1.holds() == b.1.holds());
        let longest = stretches.filter(|part| part[0].1.holds()).max_by_key(|part| part.len());
        let Some(longest) = longest else { return Ok(None) };
        let middle = (longest[0].0 + longest[longest.len() - 1].0) / 2 / UNIT_BLOCKS;
        let reach = self.evictor.reach();
        let units = (reach.end - reach.start) / UNIT_BLOCKS;
        let start = middle.saturating_sub(units / 2).min(self.arena / UNIT_BLOCKS - units) * UNIT_BLOCKS;
        self.session.generation += 1;
        self.session.stamp_run(start, units)?;
        self.session.settle()?;
        let pair = self.comb(start)?;
        if let Some((at, other)) = pair {
            self.canary = Some(Canary { writes: vec![at, other], look: at });
            self.spare_canary();
        }
        Ok(pair)
    }
}

/// Greatest common divisor (Euclid).
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// All divisors, ascending.
fn divisors(number: u64) -> Vec<u64> {
    let mut small = Vec::new();
    let mut large = Vec::new();
    let mut divisor = 1;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            small.push(divisor);
            if divisor != number / divisor {
                large.push(number / divisor);
            }
        }
        divisor += 1;
    }
    small.extend(large.into_iter().rev());
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_complete_and_in_order() {
        assert_eq!((common(352, 32), common(12, 18), common(7, 7)), (32, 6, 7));
        assert_eq!(divisors(1), [1]);
        assert_eq!(divisors(12), [1, 2, 3, 4, 6, 12]);
        assert_eq!(divisors(49), [1, 7, 49]);
        // 1441440 has the most divisors of all numbers up to 2^21 - the limit of the plan.
        let most = divisors(1_441_440);
        assert_eq!(most.len() as u64, PERIODS);
        assert!(most.is_sorted());
    }
}
