//! Periods of controllers that deal out the blocks of a stripe in another order each lap.

use std::collections::BTreeMap;

use super::super::contract::Device;
use super::super::stamp::Origin;
use super::loss_kind::Repeat;
use super::numbers::prime_powers;
use super::stages::{ATTEMPTS, Search};
use super::stamped::{End, SectorRange};

/// Sectors of a stripe: 1 MiB.
pub(super) const STRIPE: u64 = (1 << 20) / 512;
/// Sectors that are written, and those that are read elsewhere: what is written and read up to a stripe beside
/// it holds two whole stripes in a row.
const SPAN: u64 = 4 * STRIPE;
/// Sectors that are met in both places at least: a stripe and a half.
const ENOUGH: usize = 3 * STRIPE as usize / 2;
/// Laps between two addresses of which the one is the first of the device, and the other one of the last.
const LAPS: u64 = 4;
/// One write: a cache for writes in sequence takes none of these.
const PIECE: u64 = 64;

/// Sectors by the stamp that they bear: its sector and its round.
type Stands = BTreeMap<(u64, u32), u64>;

impl<D: Device> Search<'_, '_, D> {
    /// The period, where two addresses are one cell, and others at their distance are not.
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

    /// Writes around the one, and reads around the other. A multiple of the period is how far equal stripes
    /// are apart; the least one is found by its prime powers.
    fn stripe_period(&mut self, low: u64, high: u64) -> Result<Option<u64>, End> {
        // Below the pair, where the device ends above it.
        let above = (high + SPAN / 2).saturating_sub(self.device.sectors());
        let start = low.saturating_sub(SPAN / 2 + above);
        let mut shifted = self.shifted(start, high - (low - start))?;
        // Where it begins below it, too, the laps before lie a part of that distance apart, but for a stripe.
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
            // One place tells of most that they are none.
            let middle = self.device.origin_at(elsewhere.at + elsewhere.sectors / 2)?;
            let known = middle.is_some_and(|origin| stands.contains_key(&(origin.sector, origin.generation)));
            if known && self.shift(&stands, elsewhere)? == Some(expected) {
                let known = largest.entry(prime).or_insert(1);
                *known = power.max(*known);
            }
        }
        Ok(Some(largest.values().fold(distance, |period, power| period / power)))
    }

    /// Writes from `start` on, and looks from `behind` on: both places, what stands in the one, and how far equal stripes
    /// of them are apart.
    fn shifted(&mut self, start: u64, behind: u64) -> Result<Option<(SectorRange, SectorRange, Stands, u64)>, End> {
        let written = self.write_span(start)?;
        let stands = self.stands_in(written)?;
        let looked = self.span(written.end().max(behind));
        Ok(self.shift(&stands, looked)?.map(|distance| (written, looked, stands, distance)))
    }

    /// Whether the first lap begins at the first address, and the second a period behind it.
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

    /// Which sector of a place bears which stamp; whoever wrote there last.
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

    /// Writes a place in a round of its own, the last piece first, and drives it out of caches.
    pub(super) fn write_backwards(&mut self, written: SectorRange) -> Result<(), End> {
        self.device.begin_round();
        self.device.save(&[written])?;
        let starts: Vec<u64> = written.numbers().step_by(PIECE as usize).collect();
        for at in starts.into_iter().rev() {
            self.device.write(SectorRange { at, sectors: PIECE.min(written.end() - at) })?;
        }
        self.eviction.evict(self.device, &[written])
    }

    /// How far what `stands` in one place lies below the place where it is `looked` for. Where a stripe ends,
    /// all that is met before stands below all that is met behind. `None` where such ends do not agree.
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
        // Where all lies at one distance, a stripe may end anywhere.
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

/// Whether with a stripe's end at `index`, where `end` stands, each sector is in the stripe in which it was `met`.
fn fits(mut met: impl Iterator<Item = (u64, u64)>, index: u64, end: u64) -> bool {
    let stripe = |at: u64, end: u64| (at + (1 << 50) - end) / STRIPE;
    met.all(|(at, sector)| stripe(at, index) == stripe(sector, end))
}
