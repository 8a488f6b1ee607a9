//! Addresses that are one cell, where a cache which is not driven out shows what was written: addresses that were
//! never written are in no cache of writes, and show what the memory holds.

use super::super::contract::Device;
use super::alias::Repeat;
use super::course::Search;
use super::desk::{End, Place};

/// Pairs at the same distance that are looked at, half of them in either direction.
const CONTROLS: usize = 4;
/// Laps in which an address is looked for that was never written.
const LAPS: u64 = 9;
/// Sectors of a page of a cache at most: 64 KiB.
const PAGE: u64 = (64 << 10) / 512;
/// Sectors from one of them to the next at least: no page of a cache holds two of them.
const APART: u64 = (1 << 20) / 512 + 8;

impl<D: Device> Search<'_, '_, D> {
    /// The structure of addresses that start again, where what is sent to the one of a pair shows at the other, in
    /// both directions, and at a third address. A line that fails in reading does so too, but for the third one; of
    /// what has no memory none shows what was sent there.
    pub(super) fn repeat_through(&mut self, low: u64, high: u64) -> Result<Option<Repeat>, End> {
        let Some((low, high)) = self.both_ways(low, high)? else { return Ok(None) };
        self.through = Some(high - low);
        self.untold = false;
        let period = self.divide(low, high)?;
        self.through = Some(period);
        if self.in_three_laps(low, period)? {
            let repeat = self.structure(low, high)?;
            // An address that was written or read before may show what is no more: then it tells nothing, and no part
            // is called protected or lost for that.
            if !self.untold && repeat.exact && repeat.protected == 0 && repeat.real == repeat.period {
                return Ok(Some(repeat));
            }
        }
        self.through = None;
        Ok(None)
    }

    /// A pair of addresses at the distance of these, where all that are looked at show what was sent to the other.
    fn both_ways(&mut self, low: u64, high: u64) -> Result<Option<(u64, u64)>, End> {
        let fresh = |start: &u64| self.is_fresh(*start) && self.is_fresh(start + (high - low));
        let starts: Vec<u64> = self.beside(low, high - low).into_iter().filter(fresh).take(CONTROLS).collect();
        if starts.len() < CONTROLS {
            return Ok(None);
        }
        let pairs: Vec<(u64, u64)> = starts.into_iter().map(|start| (start, start + (high - low))).collect();
        for (control, (low, high)) in pairs.iter().enumerate() {
            let (sent, shown) = if control < CONTROLS / 2 { (*high, *low) } else { (*low, *high) };
            if !self.shows_at(sent, shown)? {
                return Ok(None);
            }
        }
        Ok(pairs.first().copied())
    }

    /// Whether what is sent to an address in the middle of three shows at both others.
    fn in_three_laps(&mut self, low: u64, period: u64) -> Result<bool, End> {
        let fresh = |start: &u64| self.is_fresh(*start) && self.is_fresh(start + 2 * period);
        let mut starts = self.beside(low, 2 * period).into_iter().chain(self.beside(low % period, 2 * period));
        let Some(start) = starts.find(fresh) else { return Ok(false) };
        Ok(self.shows_at(start + period, start)? && self.shows_at(start + period, start + 2 * period)?)
    }

    /// Addresses near this one and ever farther, behind which the device goes on for so many sectors.
    fn beside(&self, low: u64, sectors: u64) -> Vec<u64> {
        let unit = self.desk.unit();
        let top = self.desk.sectors() / unit * unit;
        let shifts = (0..40).map(|power| (APART << power).next_multiple_of(unit)).take_while(|shift| *shift < top);
        let starts = shifts.flat_map(|shift| [low.checked_sub(shift), Some(low + shift)]);
        starts.flatten().filter(|start| start + sectors + unit <= top).collect()
    }

    /// Whether two addresses are one cell: the one that was not written shows what is sent to the other. Where both were
    /// written, one that is some periods behind tells.
    pub(super) fn agree(&mut self, one: u64, other: u64) -> Result<bool, End> {
        let (low, high) = (one.min(other), one.max(other));
        let top = self.desk.sectors() / self.desk.unit() * self.desk.unit();
        let period = self.through.filter(|period| *period == high - low);
        let laps = (2..=LAPS).filter_map(|lap| Some(low + lap * period?)).filter(|at| *at < top);
        let behind = std::iter::once(high).chain(laps).find(|at| self.is_fresh(*at));
        match behind {
            _ if self.is_fresh(low) => self.shows_at(high, low),
            Some(behind) => self.shows_at(low, behind),
            None => {
                self.untold = true;
                Ok(false)
            }
        }
    }

    /// Whether nothing was written in the largest page of a cache around a sector.
    fn is_fresh(&self, sector: u64) -> bool {
        let start = sector / PAGE * PAGE;
        !(start..start + PAGE).any(|sector| self.desk.was_written(sector))
    }

    /// Whether an address that was never written shows what is sent to another.
    fn shows_at(&mut self, sent: u64, shown: u64) -> Result<bool, End> {
        let place = self.desk.place(sent, 1);
        if place == self.desk.place(shown, 1) || !self.is_fresh(shown) {
            return Ok(false);
        }
        self.desk.begin_round();
        self.desk.save(&[place])?;
        self.desk.write(place)?;
        // Something else crosses the bus after it.
        let pages = self.samples.iter().filter(|sample| sample.sectors >= 8 && !sample.meets(place));
        if let Some(page) = pages.map(|sample| Place { sectors: 8, ..*sample }).next() {
            self.desk.write(page)?;
        }
        self.desk.settle()?;
        let now = self.desk.generation();
        Ok(self.desk.bears(shown)?.is_some_and(|origin| origin.sector == sent && origin.generation == now))
    }
}
