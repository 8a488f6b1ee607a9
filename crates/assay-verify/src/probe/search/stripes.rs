//! Periods of controllers that deal out the blocks of a stripe in another order in each lap.

use std::collections::BTreeMap;

use super::super::contract::Device;
use super::super::stamp::Origin;
use super::loss_kind::Repeat;
use super::numbers::prime_powers;
use super::stages::{ATTEMPTS, Search};
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
