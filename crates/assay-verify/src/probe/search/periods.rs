//! Periods that a pair of written addresses does not tell: of controllers that deal out the blocks of a stripe in another
//! order in each lap, of media whose caches are not evicted, and of very small memories.

use std::collections::{BTreeMap, BTreeSet};

use rand_core::Rng;

use super::super::device::Device;
use super::super::stamp::Origin;
use super::stages::{ATTEMPTS, Repeat, Search, divisor};
use super::stamped::{End, SectorRange};

/// Sectors of a stripe: 1 MiB.
pub(super) const STRIPE: u64 = (1 << 20) / 512;
/// Sectors that are written, and sectors that are read elsewhere. A range that is read up to a stripe beside its target
/// still contains two whole consecutive stripes.
const SPAN: u64 = 4 * STRIPE;
/// Least number of sectors that must be met in both places: a stripe and a half.
const ENOUGH: usize = 3 * STRIPE as usize / 2;
/// Most laps between two addresses, if one is in the first lap of the device and the other in one of the last.
const LAPS: u64 = 4;
/// Sectors of one write. A cache for sequential writes does not take such writes.
const PIECE: u64 = 64;

/// Maps each stamp (its sector and its round) to the sector that carries it.
type Stands = BTreeMap<(u64, u32), u64>;

impl<D: Device> Search<'_, '_, D> {
    /// The period, if two addresses share a cell and others at their distance do not.
    pub(super) fn striped(&mut self, low: u64, high: u64) -> Result<Option<Repeat>, End> {
        for _ in 0..ATTEMPTS {
            if let Some(period) = self.stripe_period(low, high)?
                && self.stripes_stand(period)?
            {
                let real = self.real_of(0, period, STRIPE)?;
                let repeat = Repeat { protected: 0, period, real, exact: true, straight: false };
                if self.ends(&repeat, STRIPE)? {
                    return Ok(Some(repeat));
                }
            }
            self.eviction.doubt();
        }
        self.counted()
    }

    /// Writes around one address and reads around the other. The distance between equal stripes is a multiple of the
    /// period; the period itself is found through its prime powers.
    fn stripe_period(&mut self, low: u64, high: u64) -> Result<Option<u64>, End> {
        // Starts lower if the device ends above the pair.
        let above = (high + SPAN / 2).saturating_sub(self.device.sectors());
        let start = low.saturating_sub(SPAN / 2 + above);
        let mut shifted = self.shifted(start, high - (low - start))?;
        // If the write begins below the pair, the laps before lie a part of that distance apart, to within a stripe.
        for laps in 1..=LAPS {
            let apart = (high - low) / laps;
            let room = self.device.sectors().saturating_sub(apart + SPAN);
            if shifted.is_none() && low < SPAN && room >= SPAN {
                shifted = self.shifted(room / 2, room / 2 + apart)?;
            }
        }
        let Some((written, looked, stands, distance)) = shifted else { return Ok(None) };
        let mut largest = BTreeMap::new();
        for (prime, power) in prime_powers(distance) {
            let part = distance / power;
            let above = self.span(looked.at + part);
            let (elsewhere, expected) = match looked.at.checked_sub(part).map(|at| self.span(at)) {
                Some(below) if !below.meets(written) => (below, distance - part),
                _ if above.sectors == looked.sectors => (above, distance + part),
                _ => continue,
            };
            // One place rules out most of them.
            let middle = self.device.origin_at(elsewhere.at + elsewhere.sectors / 2)?;
            let known = middle.is_some_and(|origin| stands.contains_key(&(origin.sector, origin.generation)));
            if known && self.shift(&stands, elsewhere)? == Some(expected) {
                let known = largest.entry(prime).or_insert(1);
                *known = power.max(*known);
            }
        }
        Ok(Some(largest.values().fold(distance, |period, power| period / power)))
    }

    /// Writes from `start` on and reads from `behind` on. Returns both places, the stamps in the first one, and the
    /// distance between equal stripes.
    fn shifted(&mut self, start: u64, behind: u64) -> Result<Option<(SectorRange, SectorRange, Stands, u64)>, End> {
        let written = self.write_span(start)?;
        let stands = self.stands_in(written)?;
        let looked = self.span(written.end().max(behind));
        Ok(self.shift(&stands, looked)?.map(|distance| (written, looked, stands, distance)))
    }

    /// Whether the first lap begins at the first address, and the second lap one period later.
    fn stripes_stand(&mut self, period: u64) -> Result<bool, End> {
        let written = self.write_span(0)?;
        let stands = self.stands_in(written)?;
        let looked = self.span(period);
        if written.meets(looked) || self.shift(&stands, looked)? != Some(period) {
            return Ok(false);
        }
        let first = SectorRange { sectors: STRIPE.min(looked.sectors), ..looked };
        let origins = self.device.origins(first)?;
        let at = |origin: &Origin| stands.get(&(origin.sector, origin.generation));
        // A period need not end with a block.
        let mut lap = first.numbers().zip(&origins).filter(|(sector, _)| *sector >= period);
        Ok(lap.all(|(_, origin)| origin.as_ref().and_then(at).is_some_and(|at| *at < STRIPE)))
    }

    /// Which sector of a place carries which stamp, whichever address was written last.
    fn stands_in(&mut self, place: SectorRange) -> Result<Stands, End> {
        let origins = self.device.origins(place)?;
        let stamps = origins.into_iter().zip(place.numbers());
        Ok(stamps.filter_map(|(origin, at)| origin.map(|o| ((o.sector, o.generation), at))).collect())
    }

    fn span(&self, at: u64) -> SectorRange {
        self.device.place(at.min(self.device.sectors() - 1), SPAN)
    }

    /// Writes from `at` on in a round of its own, the last piece first.
    fn write_span(&mut self, at: u64) -> Result<SectorRange, End> {
        let written = self.span(at);
        self.write_backwards(written)?;
        Ok(written)
    }

    /// Writes a place in a round of its own, the last piece first, and evicts it from caches.
    pub(super) fn write_backwards(&mut self, written: SectorRange) -> Result<(), End> {
        self.device.begin_round();
        self.device.save(&[written])?;
        let starts: Vec<u64> = written.numbers().step_by(PIECE as usize).collect();
        for at in starts.into_iter().rev() {
            self.device.write(SectorRange { at, sectors: PIECE.min(written.end() - at) })?;
        }
        self.eviction.evict(self.device, &[written])
    }

    /// The distance from the stamps in `stands` up to the place where they were read, `looked`. At the end of a stripe,
    /// all stamps found before it come from lower sectors than all stamps found behind it. `None` if such ends
    /// contradict each other.
    fn shift(&mut self, stands: &Stands, looked: SectorRange) -> Result<Option<u64>, End> {
        let origins = self.device.origins(looked)?;
        let seen: Vec<Option<u64>> = origins
            .into_iter()
            .map(|origin| origin.and_then(|o| stands.get(&(o.sector, o.generation)).copied()))
            .collect();
        let met = || (0u64..).zip(&seen).filter_map(|(at, sector)| sector.map(|sector| (at, sector)));
        if met().count() < ENOUGH {
            return Ok(None);
        }
        // If everything is at one distance, a stripe may end anywhere.
        let distance = |(at, sector): (u64, u64)| at.wrapping_sub(sector);
        let first = met().next().map(distance);
        let straight = first.filter(|first| met().all(|one| distance(one) == *first));
        let mut least = u64::MAX;
        let mut behind: Vec<u64> = seen
            .iter()
            .rev()
            .map(|sector| {
                least = sector.map_or(least, |sector| sector.min(least));
                least
            })
            .collect();
        behind.reverse();
        let (mut before, mut found) = (None, None);
        for (index, sector) in seen.iter().enumerate() {
            let ends = index > 0 && sector.is_some() && seen[index - 1].is_some();
            let fits = |at: u64, end: u64| straight == Some(at.wrapping_sub(end)) || fits(met(), at, end);
            if ends && before.is_some_and(|most: u64| most + 1 == behind[index]) && fits(index as u64, behind[index]) {
                let shift = looked.at + index as u64 - behind[index];
                if *found.get_or_insert(shift) != shift {
                    return Ok(None);
                }
            }
            before = before.max(*sector);
        }
        Ok(found)
    }
}

/// Whether each sector is in the stripe where it was `met`, if a stripe ends at `index`, where the stamp is of `end`.
fn fits(mut met: impl Iterator<Item = (u64, u64)>, index: u64, end: u64) -> bool {
    let stripe = |at: u64, end: u64| (at + (1 << 50) - end) / STRIPE;
    met.all(|(at, sector)| stripe(at, index) == stripe(sector, end))
}

// Finds addresses that share a cell when a cache that is not evicted shows what was written. Addresses that were never
// written are in no write cache, and show what the memory holds.

/// Pairs at the same distance that are tested, half of them in either direction.
const CONTROLS: usize = 4;
/// Laps next to a place that are searched for an address that was never touched, and laps farther away.
const NEAR_LAPS: u64 = 8;
const FAR_LAPS: u64 = 512;
/// Places that are searched for a third address.
const THIRDS: usize = 4;
/// Multiples of a part that are searched for an address that was never touched.
const MOST_TIMES: u64 = 1 << 14;
/// Least sectors from one of them to the next, so that no page of a cache holds two of them.
const APART: u64 = (1 << 20) / 512 + 8;
/// Sectors of a page of 4 KiB.
const PAGE: u64 = 8;

impl<D: Device> Search<'_, '_, D> {
    /// The structure of addresses that wrap around, if data sent to one address of a pair show at the other one, in
    /// both directions, and at a third address. A line that fails in reading does the same, except for the third
    /// address. An address without memory never shows what was sent to it.
    pub(super) fn repeat_through(&mut self, low: u64, high: u64) -> Result<Option<Repeat>, End> {
        // The two must not be in one page of a cache.
        let distance = (high - low) * APART.div_ceil(high - low);
        let Some((low, high)) = self.both_ways(low, distance)? else { return Ok(None) };
        self.through = Some((distance, low));
        self.undetermined = false;
        let period = self.divide(low, high)?;
        self.through = Some((period, low));
        if !self.undetermined && self.in_three_laps(low, period)? {
            let repeat = self.structure(low, low + period)?;
            // An address that was written or read before may show outdated data. Then it proves nothing, and no part is
            // called protected or lost because of it.
            if !self.undetermined && repeat.exact {
                return Ok(Some(repeat));
            }
        }
        self.through = None;
        Ok(None)
    }

    /// A pair of addresses at this distance, if all tested ones show what was sent to the other.
    fn both_ways(&mut self, low: u64, distance: u64) -> Result<Option<(u64, u64)>, End> {
        let fresh = |start: &u64| self.device.is_fresh(*start) && self.device.is_fresh(start + distance);
        let starts: Vec<u64> = self.beside(low, distance).into_iter().filter(fresh).take(CONTROLS).collect();
        if starts.len() < CONTROLS {
            return Ok(None);
        }
        let pairs: Vec<(u64, u64)> = starts.into_iter().map(|start| (start, start + distance)).collect();
        for (control, (low, high)) in pairs.iter().enumerate() {
            let (sent, shown) = if control < CONTROLS / 2 { (*high, *low) } else { (*low, *high) };
            if !self.shows_at(sent, shown)? {
                return Ok(None);
            }
        }
        Ok(pairs.first().copied())
    }

    /// Whether addresses also share a cell at a part of a distance at which they do. If so, they also do at each
    /// multiple of the part. A multiple by a number without a common factor with the distance proves it conversely.
    pub(super) fn is_part(&mut self, low: u64, distance: u64, part: u64) -> Result<bool, End> {
        let unit = self.device.unit();
        let room = (self.device.sectors() / unit * unit).saturating_sub(low + unit);
        let times = (1..=MOST_TIMES.min(room / part)).filter(|times| divisor(*times, distance) == 1);
        let mut tell = times.map(|times| low + times * part).filter(|at| self.tells(*at, low));
        match tell.next() {
            Some(at) => self.shows_at(low, at),
            None => {
                self.undetermined = true;
                Ok(false)
            }
        }
    }

    /// Whether data sent to the middle one of three addresses show at both others.
    fn in_three_laps(&mut self, low: u64, period: u64) -> Result<bool, End> {
        let apart = period * APART.div_ceil(period);
        let starts = self.beside(low, 2 * apart).into_iter().chain(self.beside(low % period, 2 * apart));
        let fresh = |start: &u64| self.device.is_fresh(*start) && self.device.is_fresh(start + 2 * apart);
        for start in starts.filter(fresh).take(THIRDS).collect::<Vec<u64>>() {
            // The first of them may lie in a part that has cells of its own.
            if self.shows_at(start + apart, start)? && self.shows_at(start + apart, start + 2 * apart)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Addresses near this one and ever farther away, with room for `sectors` more sectors behind them.
    fn beside(&self, low: u64, sectors: u64) -> Vec<u64> {
        let unit = self.device.unit();
        let top = self.device.sectors() / unit * unit;
        let shifts = (0..40).map(|power| (APART << power).next_multiple_of(unit)).take_while(|shift| *shift < top);
        let starts = shifts.flat_map(|shift| [low.checked_sub(shift), Some(low + shift)]);
        starts.flatten().filter(|start| start + sectors + unit <= top).collect()
    }

    /// Whether two addresses share a cell: an address that was never touched shows what is sent to the other.
    pub(super) fn agree(&mut self, one: u64, other: u64) -> Result<bool, End> {
        let (low, high) = (one.min(other), one.max(other));
        if self.tells(low, high) {
            return self.shows_at(high, low);
        }
        match self.lap_that_tells(low, high) {
            Some(behind) => self.shows_at(low, behind),
            None => {
                self.undetermined = true;
                Ok(false)
            }
        }
    }

    /// An address of the cell of `high` that was never touched: `high` itself or one some periods away. Below the base
    /// only addresses above `high` are used, since others there may have cells of their own.
    pub(super) fn lap_that_tells(&self, low: u64, high: u64) -> Option<u64> {
        let unit = self.device.unit();
        let top = self.device.sectors() / unit * unit;
        let laps = |(period, base): (u64, u64)| {
            let apart = APART.div_ceil(period);
            let all = (1..=NEAR_LAPS).chain((1..=FAR_LAPS).map(move |step| step * apart));
            let both = all.flat_map(move |laps| [Some(high + laps * period), high.checked_sub(laps * period)]);
            both.flatten().filter(move |at| *at > high || *at >= base)
        };
        let behind = std::iter::once(high).chain(self.through.into_iter().flat_map(laps));
        behind.filter(|at| *at < top).find(|at| self.tells(*at, low))
    }

    /// Whether `shown` can prove what is sent to `sent`: it was never touched, and sending does not touch it.
    pub(super) fn tells(&self, shown: u64, sent: u64) -> bool {
        self.device.is_fresh(shown) && !self.device.is_beside(shown, sent)
    }

    /// Whether an address that was never touched shows what is sent to another one.
    pub(super) fn shows_at(&mut self, sent: u64, shown: u64) -> Result<bool, End> {
        let place = self.device.place(sent, 1);
        if !self.tells(shown, sent) {
            return Ok(false);
        }
        self.device.begin_round();
        self.device.save(&[place])?;
        self.device.write(place)?;
        if let Some(page) = self.other_page(place) {
            self.device.write(page)?;
        }
        self.device.settle()?;
        let now = self.device.generation();
        let shows =
            self.device.origin_at(shown)?.is_some_and(|origin| origin.sector == sent && origin.generation == now);
        // An error proves nothing.
        self.undetermined |= self.device.is_bad(sent) || self.device.is_bad(shown);
        Ok(shows)
    }

    /// A page of a sample from another cell, which crosses the bus after a place was written.
    fn other_page(&self, place: SectorRange) -> Option<SectorRange> {
        let pages = self.samples.iter().filter(|sample| sample.sectors >= PAGE && !sample.meets(place));
        let pages = pages.map(|sample| SectorRange { sectors: PAGE, ..*sample });
        let apart = |page: &SectorRange| {
            let inside = |period: u64| (place.at % period + period - page.at % period) % period;
            self.through.is_none_or(|(period, _)| inside(period) >= PAGE && inside(period) + place.sectors <= period)
        };
        pages.clone().find(apart).or_else(|| pages.clone().next())
    }
}

// Memory so small that reading a few MiB anywhere meets all of its cells: they are counted.

/// Sectors that are written, and read in other places: 16 MiB. The memory has at most half as many cells.
pub(super) const COUNTED: u64 = (16 << 20) / 512;

impl<D: Device> Search<'_, '_, D> {
    /// The period of a device whose memory is so small that each of four stretches shows all of its cells, in any order. Each cell
    /// shows the stamp that was written to it last. The written stretch is one of the four: addresses in it with cells of their own
    /// would show further stamps.
    pub(super) fn counted(&mut self) -> Result<Option<Repeat>, End> {
        let length = COUNTED.min(self.device.sectors() / 4);
        let written = self.device.place(0, length);
        self.write_backwards(written)?;
        // At random, as lines of the address may be the same at all multiples of a large power of two.
        let quarter = self.device.sectors() / 4;
        let parts = [1, 2, 3].map(|part| {
            let beside = self.device.random.next_u64() % (quarter - length + 1);
            self.device.place(quarter * part + beside, length)
        });
        let few = |cells: &BTreeSet<Origin>| cells.len() as u64 * 2 <= length;
        let Some(cells) = self.stamps(parts[0])?.filter(few) else { return Ok(None) };
        for place in [parts[1], parts[2], written] {
            if self.stamps(place)?.as_ref() != Some(&cells) {
                return Ok(None);
            }
        }
        let real = cells.len() as u64;
        Ok(Some(Repeat { protected: 0, period: real, real, exact: true, straight: false }))
    }

    /// The stamps that a place shows; `None` where a sector shows none.
    fn stamps(&mut self, place: SectorRange) -> Result<Option<BTreeSet<Origin>>, End> {
        Ok(self.device.origins(place)?.into_iter().collect())
    }
}

// Numbers: evenly spaced ones, and prime factors.

/// At most `most` numbers between `low` and `high`, both excluded, evenly apart.
pub(crate) fn evenly_spaced(low: u64, high: u64, most: u64) -> Vec<u64> {
    let inside = high.saturating_sub(low + 1);
    let count = most.min(inside);
    (1..=count)
        .map(|index| low + (u128::from(inside + 1) * u128::from(index) / u128::from(count + 1)) as u64)
        .filter(|at| *at > low && *at < high)
        .collect()
}

/// Each power of each prime that divides `number`, with the prime.
pub(crate) fn prime_powers(number: u64) -> Vec<(u64, u64)> {
    let (mut rest, mut prime, mut found) = (number, 2, Vec::new());
    while prime * prime <= rest {
        let mut power = 1;
        while rest.is_multiple_of(prime) {
            rest /= prime;
            power *= prime;
            found.push((prime, power));
        }
        prime += 1;
    }
    if rest > 1 {
        found.push((rest, rest));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fall_into_prime_powers() {
        assert_eq!(prime_powers(360), [(2, 2), (2, 4), (2, 8), (3, 3), (3, 9), (5, 5)]);
        assert_eq!(prime_powers(1), []);
        assert_eq!(prime_powers(4_294_967_291), [(4_294_967_291, 4_294_967_291)]);
    }

    #[test]
    fn a_fan_lies_between() {
        assert_eq!(evenly_spaced(3, 4, 8), [0; 0]);
        assert_eq!(evenly_spaced(3, 6, 8), [4, 5]);
        assert_eq!(evenly_spaced(0, 100, 3), [25, 50, 75]);
    }
}
