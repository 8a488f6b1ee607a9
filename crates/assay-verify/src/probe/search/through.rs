//! Addresses that are one cell, where a cache which is not driven out shows what was written: addresses that were
//! never written are in no cache of writes, and show what the memory holds.

use super::super::contract::Device;
use super::loss_kind::Repeat;
use super::stages::{Search, divisor};
use super::stamped::{End, SectorRange};

/// Pairs at the same distance that are looked at, half of them in either direction.
const CONTROLS: usize = 4;
/// Laps next to a place in which an address is looked for that was never touched, and those farther behind.
const LAPS: u64 = 8;
const FAR_LAPS: u64 = 512;
/// Places at which a third address is looked for.
const THIRDS: usize = 4;
/// Multiples of a part that are looked through for one whose address was never touched.
const MOST_TIMES: u64 = 1 << 14;
/// Sectors from one of them to the next at least: no page of a cache holds two of them.
const APART: u64 = (1 << 20) / 512 + 8;
/// Sectors of a page of 4 KiB.
const PAGE: u64 = 8;

impl<D: Device> Search<'_, '_, D> {
    /// The structure of addresses that start again, where what is sent to the one of a pair shows at the other, in
    /// both directions, and at a third address. A line that fails in reading does so too, but for the third one; of
    /// what has no memory none shows what was sent there.
    pub(super) fn repeat_through(&mut self, low: u64, high: u64) -> Result<Option<Repeat>, End> {
        // Not in one page of a cache.
        let distance = (high - low) * APART.div_ceil(high - low);
        let Some((low, high)) = self.both_ways(low, distance)? else { return Ok(None) };
        self.through = Some((distance, low));
        self.undetermined = false;
        let period = self.divide(low, high)?;
        self.through = Some((period, low));
        if !self.undetermined && self.in_three_laps(low, period)? {
            let repeat = self.structure(low, low + period)?;
            // An address that was written or read before may show what is no more: then it tells nothing, and no part
            // is called protected or lost for that.
            if !self.undetermined && repeat.exact {
                return Ok(Some(repeat));
            }
        }
        self.through = None;
        Ok(None)
    }

    /// A pair of addresses at this distance, where all that are looked at show what was sent to the other.
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

    /// Whether a part of a distance at which addresses are one cell is such a distance, too: so is then what it comes to
    /// so many times, and only then where that number has no factor in common with the distance.
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

    /// Whether what is sent to an address in the middle of three shows at both others.
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

    /// Addresses near this one and ever farther, behind which the device goes on for so many sectors.
    fn beside(&self, low: u64, sectors: u64) -> Vec<u64> {
        let unit = self.device.unit();
        let top = self.device.sectors() / unit * unit;
        let shifts = (0..40).map(|power| (APART << power).next_multiple_of(unit)).take_while(|shift| *shift < top);
        let starts = shifts.flat_map(|shift| [low.checked_sub(shift), Some(low + shift)]);
        starts.flatten().filter(|start| start + sectors + unit <= top).collect()
    }

    /// Whether two addresses are one cell: the one that was never touched shows what is sent to the other.
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

    /// An address that was never touched, of the cell of `high`: that one, or one some periods from it, below which none
    /// is that has a cell of its own.
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

    /// Whether one address tells of what is sent to another: it was never touched, nor is it by that.
    pub(super) fn tells(&self, shown: u64, sent: u64) -> bool {
        self.device.is_fresh(shown) && !self.device.is_beside(shown, sent)
    }

    /// Whether an address that was never touched shows what is sent to another.
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
        // What errs tells nothing.
        self.undetermined |= self.device.is_bad(sent) || self.device.is_bad(shown);
        Ok(shows)
    }

    /// A page of a sample that crosses the bus after a place was written, and is none of its cell.
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
