//! Losing places are written again. A fake loses the same places again, as soon as its caches are evicted. A medium
//! that drops or exchanges writes now and then keeps the data this time, and one whose cells do not last loses them by
//! being read.

use assay_core::verification::SECTOR_BYTES;

use super::super::contract::Device;
use super::super::stamp::Seen;
use super::loss_kind::LossKind;
use super::stages::Search;
use super::stamped::{End, SectorRange};

/// Losing places that are written again, at most.
const AGAIN: usize = 32;
/// Readings of places that held after caches were evicted.
const READINGS: usize = 6;
/// If one place in this many loses again, the loss is permanent: of writes that are dropped now and then, few are
/// dropped twice.
const FEW: usize = 4;
/// Samples that are written to find how much of the latest data is kept.
const NEWEST: usize = 16;
/// A device that keeps nothing may be worn out, and show a cache of less than this: 8 MiB.
const LEAST_NEWEST: u64 = (8 << 20) / SECTOR_BYTES;

/// A sector that lost its data, and the sector whose data it showed, if any.
#[derive(Debug, Clone, Copy)]
struct Lost {
    at: u64,
    shown: Option<u64>,
}

impl<D: Device> Search<'_, '_, D> {
    /// Writes losing places again. Returns the kind of loss if they keep their data this time, or lose them by being
    /// read.
    pub(super) fn retest(&mut self) -> Result<Option<LossKind>, End> {
        let lost = self.some_lost();
        if lost.is_empty() {
            return Ok(None);
        }
        let written = self.device.moved.written_bytes / SECTOR_BYTES;
        self.write_again(&lost)?;
        // Every second place is first read after caches were evicted, so that reading has not worn it.
        let (unread, at_once): (Vec<_>, Vec<_>) = lost.iter().enumerate().partition(|(index, _)| index % 2 == 1);
        let [unread, at_once] =
            [unread, at_once].map(|some| some.into_iter().map(|(_, lost)| *lost).collect::<Vec<_>>());
        if self.lose_again(&at_once)? * 2 >= at_once.len() {
            return Ok(None);
        }
        let clear = self.places_of(&lost);
        self.eviction.write_against(self.device, written, &clear)?;
        let some = if unread.is_empty() { &at_once } else { &unread };
        if self.lose_again(some)? * FEW >= some.len() {
            return Ok(None);
        }
        for _ in 1..READINGS {
            if self.lose_again(some)? * 2 > some.len() {
                return Ok(Some(LossKind::Decays));
            }
        }
        if self.lose_again(&at_once)? * FEW >= at_once.len() {
            return Ok(None);
        }
        // As much as is ever written against a cache: a cache that still shows these places has never shown a loss
        // before.
        self.eviction.evict_most(self.device, &clear)?;
        let again = self.lose_again(&lost)?;
        Ok((again * FEW < lost.len()).then_some(LossKind::Unreliable))
    }

    /// Sectors that lost their data without an error, from the whole device.
    fn some_lost(&self) -> Vec<Lost> {
        let sort = |(at, seen): &(u64, Seen)| match seen {
            Seen::Foreign(origin) => Some(Lost { at: *at, shown: Some(origin.sector) }),
            seen if seen.is_silent_loss() => Some(Lost { at: *at, shown: None }),
            _ => None,
        };
        let mut all: Vec<Lost> =
            self.first.iter().filter_map(sort).filter(|lost| !self.device.is_bad(lost.at)).collect();
        // One sector of each page is enough, since all of them say the same.
        let page = self.device.unit().max(8);
        all.dedup_by_key(|lost| lost.at / page);
        let step = all.len().div_ceil(AGAIN).max(1);
        all.into_iter().step_by(step).collect()
    }

    fn places_of(&self, lost: &[Lost]) -> Vec<SectorRange> {
        let all = lost.iter().flat_map(|lost| [Some(lost.at), lost.shown]).flatten();
        let mut places: Vec<SectorRange> = all.map(|at| self.device.place(at, 1)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Writes these places in descending order, and after them the places whose data they showed.
    fn write_again(&mut self, lost: &[Lost]) -> Result<(), End> {
        self.device.begin_round();
        self.device.save(&self.places_of(lost))?;
        let unit = |at: u64| self.device.place(at, 1);
        let mut order: Vec<SectorRange> = lost.iter().rev().map(|lost| unit(lost.at)).collect();
        order.extend(lost.iter().rev().filter_map(|lost| lost.shown).map(unit));
        for place in order {
            self.device.write(place)?;
        }
        self.device.settle()
    }

    /// How many of these are lost again, without an error.
    fn lose_again(&mut self, lost: &[Lost]) -> Result<usize, End> {
        let mut again = 0;
        for lost in lost {
            // Two sectors of one cell show whichever was written last, and a cache may write them in any order.
            let mut gone = false;
            for at in [Some(lost.at), lost.shown].into_iter().flatten() {
                let place = self.device.place(at, 1);
                let seen = self.device.check(place)?;
                gone |= seen.get((at - place.at) as usize).is_some_and(|seen| seen.is_silent_loss());
            }
            again += usize::from(gone);
        }
        Ok(again)
    }

    /// How many sectors of the latest data are kept, the least and the most, if nothing else is kept: each write
    /// replaces the oldest data, wherever it is sent.
    pub(super) fn newest(&mut self) -> Result<Option<LossKind>, End> {
        let step = self.samples.len().div_ceil(NEWEST).max(1);
        let unit = self.device.unit();
        let keeps = |place: &SectorRange| self.device.findings.get(&place.at).is_some_and(|seen| seen.keeps());
        // All places that seemed to hold are included: if one of them does, it is all the memory there is.
        let chosen = self.samples.iter().enumerate().filter(|(index, place)| index % step == 0 || keeps(place));
        let places: Vec<SectorRange> = chosen.map(|(_, place)| SectorRange { sectors: unit, ..*place }).collect();
        let mut clear = self.samples.clone();
        clear.sort_unstable();
        self.device.begin_round();
        for place in &places {
            self.device.write(*place)?;
        }
        self.device.settle()?;
        let (mut total, mut survived, mut least, mut step) = (0, 0, 0, LEAST_NEWEST / 64);
        loop {
            let held = self.held_of(&places)?;
            if held == 0 {
                let most = total + unit * places.len() as u64;
                return Ok((survived >= LEAST_NEWEST).then_some(LossKind::Newest { least, most }));
            }
            if total == 0 && held * 4 < places.len() * 3 {
                return Ok(None);
            }
            if held == places.len() {
                // Reading may keep data in a cache. Then only what was written since the last check counts.
                (survived, least) = (total, total / 2);
            }
            if total >= self.eviction.most() {
                return Ok(None);
            }
            self.eviction.write_against(self.device, step, &clear)?;
            total += step;
            step = total;
        }
    }

    fn held_of(&mut self, places: &[SectorRange]) -> Result<usize, End> {
        let mut held = 0;
        for place in places {
            held += usize::from(self.device.check(*place)?.iter().all(|seen| seen.keeps()));
        }
        Ok(held)
    }
}
