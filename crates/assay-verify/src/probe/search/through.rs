//! Finds addresses that share a cell when a cache that is not evicted shows what was written. Addresses that were never
//! written are in no write cache, and show what the memory holds.

use super::super::contract::Device;
use super::loss_kind::Repeat;
use super::stages::{Search, divisor};
use super::stamped::{End, SectorRange};

/// Pairs at the same distance that are tested, half of them in either direction.
const CONTROLS: usize = 4;
/// Laps next to a place that are searched for an address that was never touched, and laps farther away.
const LAPS: u64 = 8;
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
            let all = (1..=LAPS).chain((1..=FAR_LAPS).map(move |step| step * apart));
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
