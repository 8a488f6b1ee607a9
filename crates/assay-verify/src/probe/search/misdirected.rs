//! Operations that land elsewhere. The pairs of addresses that were found distinguish them from addresses that share a
//! cell.

use super::super::contract::Device;
use super::super::stamp::Origin;
use super::stages::Search;
use super::stamped::{End, SectorRange};

/// Pairs that are tested.
const PAIRS: usize = 8;
/// Operations land less than this many sectors beside their target, or at the other state of an address line, where
/// only the distance shows it.
const BESIDE: u64 = (1 << 20) / 512;
/// This many pairs at one distance, over a stretch more than [`STRETCH`] times as long, are not laps. Addresses in laps
/// show the last one that was written, whichever that is.
const ALIKE: usize = 4;
/// Samples at which more pairs are looked for.
const MORE: usize = 64;
const STRETCH: u64 = 16;

impl<D: Device> Search<'_, '_, D> {
    /// The distance between where data are read and where they were written, if a pair of addresses proves it: one
    /// address shows what was sent to the other, and the other does not. Two addresses of one cell show the same, and a
    /// place that shows as another one is read there too.
    pub(super) fn misdirected_distance(&mut self) -> Result<Option<i64>, End> {
        let step = self.pairs.len().div_ceil(PAIRS).max(1);
        let mut pairs: Vec<(u64, u64)> = self.pairs.iter().copied().step_by(step).filter(|(a, b)| a != b).collect();
        // What a cache gives up for the first reading may change what the second one shows, so both orders are tested.
        for shown_first in [true, false] {
            // Without a pair there is no reason to evict a cache.
            if pairs.is_empty() {
                break;
            }
            let misdirected = self.misdirected(&pairs, shown_first)?;
            pairs = pairs
                .into_iter()
                .zip(misdirected)
                .filter_map(|(pair, misdirected)| misdirected.then_some(pair))
                .collect();
        }
        if pairs.is_empty() {
            self.more_pairs()?;
        }
        Ok(pairs.first().map(distance).or_else(|| self.distance_of_all()))
    }

    /// Searches the whole device for pairs at the one distance of the known pairs, if a cache shows most of what was
    /// written. Then only places that were never written prove anything, and they are met only in the run, or by
    /// chance.
    fn more_pairs(&mut self) -> Result<(), End> {
        let Some(apart) = self.common_distance().filter(|apart| tells(*apart)) else { return Ok(()) };
        let step = self.samples.len().div_ceil(MORE).max(1);
        let below = |place: &SectorRange| place.at.checked_sub(apart);
        let above = |place: &SectorRange| Some(place.end() - 1 + apart);
        let beside = self.samples.iter().step_by(step).flat_map(|place| [below(place), above(place)]);
        for shown in beside.flatten().collect::<Vec<u64>>() {
            if shown >= self.device.sectors() || self.device.was_written(shown) {
                continue;
            }
            if let Some(origin) = self.device.origin_at(shown)?
                && origin.sector != shown
            {
                self.pairs.push((shown, origin.sector));
            }
        }
        Ok(())
    }

    /// The distance between the two addresses of each pair, in either direction, if it is the same for all pairs.
    fn common_distance(&self) -> Option<u64> {
        let apart = distance(self.pairs.first()?).unsigned_abs();
        self.pairs.iter().all(|pair| distance(pair).unsigned_abs() == apart).then_some(apart)
    }

    /// Which of these places show what was sent to their partners, while the partners do not.
    fn misdirected(&mut self, pairs: &[(u64, u64)], shown_first: bool) -> Result<Vec<bool>, End> {
        let (shown, sent): (Vec<u64>, Vec<u64>) = pairs.iter().copied().unzip();
        let mut places: Vec<SectorRange> = sent.iter().map(|at| self.device.place(*at, 1)).collect();
        places.sort_unstable();
        places.dedup();
        let mut clear: Vec<SectorRange> =
            shown.iter().map(|at| self.device.place(*at, 1)).chain(places.clone()).collect();
        clear.sort_unstable();
        self.device.begin_round();
        self.device.save(&places)?;
        for place in places.iter().rev() {
            self.device.write(*place)?;
        }
        self.eviction.evict_most(self.device, &clear)?;
        let (shown, stands) = if shown_first {
            let shown = self.origins_at(&shown)?;
            (shown, self.origins_at(&sent)?)
        } else {
            let stands = self.origins_at(&sent)?;
            (self.origins_at(&shown)?, stands)
        };
        let own = |sector: u64, bears: &Option<Origin>| bears.is_some_and(|origin| origin.sector == sector);
        let both = sent.iter().zip(shown.iter().zip(&stands));
        let bad = |sector: &u64| self.device.is_bad(*sector);
        Ok(both.map(|(sent, (shown, stands))| own(*sent, shown) && !own(*sent, stands) && !bad(sent)).collect())
    }

    /// The distance of all pairs, if it is the same for all, even in both directions, and they lie far apart. A cache
    /// that is larger than what was written against it hides where else the data are.
    fn distance_of_all(&self) -> Option<i64> {
        let first = distance(self.pairs.first()?);
        let (low, high) = (self.pairs.iter().map(|pair| pair.0).min()?, self.pairs.iter().map(|pair| pair.0).max()?);
        let apart = self.common_distance().filter(|apart| tells(*apart))?;
        (self.pairs.len() >= ALIKE && high - low > apart * STRETCH).then_some(first)
    }
}

/// Whether a distance alone may show that operations land elsewhere: they land slightly beside their target, or where
/// one address line leads.
fn tells(apart: u64) -> bool {
    (1..BESIDE).contains(&apart) || apart.is_power_of_two()
}

/// The distance from a place up to the address that its content was sent to.
fn distance((shown, sent): &(u64, u64)) -> i64 {
    sent.cast_signed() - shown.cast_signed()
}
