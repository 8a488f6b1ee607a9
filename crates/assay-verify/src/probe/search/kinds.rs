//! What kind of loss it is: whether the medium works at all, and whether operations land elsewhere.

use assay_core::verification::SECTOR_BYTES;

use super::super::device::Device;
use super::super::stamp::SeenStamp;
use super::discover::without_repetition;
use super::map::State;
use super::stages::{LEAST_LOSING_SECTORS, LossKind, Search};
use super::stamped::{End, SectorRange};

/// Places that are written once more.
const PROBED_AGAIN: usize = 6;
/// Fresh places between those that hold.
const FRESH: usize = 8;
/// Memory is called used up if the probability that the first samples are held by chance is below this.
const BY_CHANCE: f64 = 0.01;
/// The same where only the order of writing shows it, and the least number of samples that are lost then.
const BY_CHANCE_ALONE: f64 = 1e-5;
const LEAST_LOST_ALONE: usize = 8;
/// Least number of fresh places that are lost where memory is called used up: one or two may lie where the medium is
/// bad.
const LEAST_LOST: usize = 3;
/// If more than one place in this many still shows its data after eviction, a cache is not the reason.
const ONE_IN_SHOWN: usize = 4;
/// Lost places at the other state of an address line that are tested.
const EXCHANGED: usize = 4;
/// This many sectors on either side of a lost one are written, so that operations that land beside it show.
const BESIDE: u64 = (1 << 20) / 512;
/// Sectors of a page of 4 KiB: all of them show the same.
const PAGE: u64 = 8;

impl<D: Device> Search<'_, '_, D> {
    /// Whether places that held still take what is written, and whether fresh ones between them do. Finds a medium that
    /// stopped storing, or whose memory is used up; `None` where it is neither.
    pub(crate) fn still_stores(&mut self) -> Result<Option<LossKind>, End> {
        let mut held: Vec<SectorRange> = self
            .samples
            .iter()
            .filter(|place| place.numbers().all(|sector| self.device.findings.get(&sector) == Some(&SeenStamp::Holds)))
            .copied()
            .collect();
        if held.len() < 4 {
            return Ok(None);
        }
        held.sort_unstable();
        let unit = self.device.unit();
        let again: Vec<SectorRange> = (0..PROBED_AGAIN.min(held.len()))
            .map(|index| {
                held[index * (held.len() - 1) / (PROBED_AGAIN - 1).max(1).min(held.len() - 1).max(1) % held.len()]
            })
            .map(|place| SectorRange { sectors: place.sectors.min(unit.max(8)), ..place })
            .collect();
        let again = without_repetition(again);
        let mut pairs: Vec<&[SectorRange]> = held.windows(2).rev().collect();
        if self.device.refuses_some() {
            // Close to a place with memory, all of the same allocation unit has memory.
            pairs.sort_by_key(|pair| std::cmp::Reverse(pair[1].at - pair[0].end()));
        }
        let mut fresh: Vec<SectorRange> = pairs
            .into_iter()
            .filter(|pair| pair[1].at - pair[0].end() > 64 * unit)
            .map(|pair| self.device.place(pair[0].end() + (pair[1].at - pair[0].end()) / 2, 1))
            .filter(|place| !self.device.was_written(place.at))
            .collect();
        let step = if self.device.refuses_some() { 1 } else { (fresh.len() / (2 * FRESH)).max(1) };
        fresh = fresh.into_iter().step_by(step).take(FRESH).collect();
        let tests = [again.clone(), fresh.clone()].concat();
        self.device.begin_round();
        self.device.save(&tests)?;
        for place in tests.iter().rev() {
            self.device.write(*place)?;
        }
        // If only the run lost data, no canaries are known. Caches are evicted all the same.
        self.eviction.evict_all_the_same(self.device, &tests)?;
        let places = again;
        let again: Vec<bool> = self.stored(&places)?.iter().map(|place| place.iter().all(|stored| *stored)).collect();
        // A place that is read but refuses writes may have no memory.
        let answers = |place: &SectorRange| !self.device.is_bad(place.at) || self.device.is_refused(place.at);
        let fresh: Vec<SectorRange> = fresh.into_iter().filter(answers).collect();
        // Memory is given to whole blocks: if part of a block is stored, the block has memory, and the rest of it is
        // bad.
        let fresh: Vec<bool> = self.stored(&fresh)?.iter().map(|place| place.contains(&true)).collect();
        let count = |places: &[bool], stored: bool| places.iter().filter(|place| **place == stored).count();
        if count(&again, true) * 2 < again.len() && again.len() >= 3 {
            // A device that takes nothing any more still shows what it held. A single cell behind all addresses does
            // not.
            return Ok(self.are_as_before(&places).then_some(LossKind::Stopped));
        }
        let lost = count(&fresh, false);
        if fresh.len() < 4 || count(&again, false) > 0 {
            return Ok(None);
        }
        // Places in random order, where what holds does not depend on the address.
        let wide = self.held(|place| place.sectors > unit);
        let used_up = (lost * 4 >= fresh.len() * 3 && took_the_first(&self.held(|_| true), BY_CHANCE))
            || (count(&wide, false) >= LEAST_LOST_ALONE && took_the_first(&wide, BY_CHANCE_ALONE))
            || (lost >= LEAST_LOST && took_the_first(&[wide, fresh].concat(), BY_CHANCE));
        Ok(used_up.then_some(LossKind::Thin))
    }

    /// Whether the few places that seemed to hold were shown by a cache with random replacement. Tested again with more
    /// writing against it, none of them holds, and all others show what was there before.
    pub(crate) fn drops_everything(&mut self) -> Result<bool, End> {
        let [keeps, loses, errs] = [State::Keeps, State::Loses, State::Errs].map(|state| self.map.count(state));
        let dropped = |seen: &SeenStamp| matches!(seen, SeenStamp::Before | SeenStamp::Older) || !seen.is_silent_loss();
        if self.eviction.hidden
            || !self.pairs.is_empty()
            || errs > 0
            || loses < LEAST_LOSING_SECTORS.max(keeps * ONE_IN_SHOWN)
            || !self.first.iter().all(|(_, seen)| dropped(seen))
        {
            return Ok(false);
        }
        self.eviction.doubt();
        Ok(!self.any_keeps()?)
    }

    /// Whether places that held take nothing any more, after a result was not confirmed. All of them still show what
    /// was written there first, which memory that loses its data does not do.
    pub(crate) fn stopped_since(&mut self) -> Result<bool, End> {
        if self.eviction.hidden || !self.map.unsteady {
            return Ok(false);
        }
        let held = |sector: u64| {
            let known = self.first.binary_search_by_key(&sector, |(at, _)| *at);
            known.is_ok_and(|index| self.first[index].1 == SeenStamp::Holds)
        };
        let held: Vec<SectorRange> = self.samples.iter().copied().filter(|place| place.numbers().all(held)).collect();
        let step = held.len().div_ceil(PROBED_AGAIN).max(1);
        let unit = self.device.unit();
        let again: Vec<SectorRange> =
            held.into_iter().step_by(step).map(|place| SectorRange { sectors: unit, ..place }).collect();
        if again.len() < LEAST_LOST {
            return Ok(false);
        }
        self.device.begin_round();
        self.write_in_falling_order(&again)?;
        for place in again {
            if self.device.check(place)?.iter().any(|seen| *seen != SeenStamp::Older) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Which sectors of these places stored what was written last. A sector that another place overwrote was stored.
    fn stored(&mut self, places: &[SectorRange]) -> Result<Vec<Vec<bool>>, End> {
        let stored = |place: &SectorRange| {
            let seen = self.device.check(*place)?;
            Ok(seen.iter().map(|seen| seen.keeps() || matches!(seen, SeenStamp::Foreign(_))).collect())
        };
        places.iter().map(stored).collect()
    }

    /// Whether at least one of these places was last seen with what was there earlier, or could not be read.
    fn are_as_before(&self, places: &[SectorRange]) -> bool {
        let old = |sector| {
            matches!(
                self.device.findings.get(&sector),
                Some(SeenStamp::Older | SeenStamp::Before | SeenStamp::Unreadable)
            )
        };
        places.iter().any(|place| place.numbers().any(old))
    }

    /// Which samples of a sort are held, in the order in which they were written. Samples with errors say nothing about
    /// memory.
    fn held(&self, sort: impl Fn(&SectorRange) -> bool) -> Vec<bool> {
        let holds = |place: &SectorRange| {
            let seen = |sector| self.device.findings.get(&sector).is_some_and(|seen| seen.keeps());
            place.numbers().any(seen)
        };
        let answers = |place: &SectorRange| {
            place.numbers().any(|sector| !self.device.is_bad(sector) || self.device.is_refused(sector))
        };
        self.samples.iter().filter(|place| sort(place) && answers(place)).map(holds).collect()
    }

    /// Writes around a lost place, and where one address line leads, and tests whether the place carries the stamp of
    /// one of these. Returns the distance if operations land beside their target.
    pub(crate) fn landing_distance(&mut self) -> Result<Option<i64>, End> {
        let lost = |foreign: bool| {
            let such = |seen: &SeenStamp| seen.is_silent_loss() && matches!(seen, SeenStamp::Foreign(_)) == foreign;
            self.first.iter().filter(|(_, seen)| such(seen)).map(|(sector, _)| *sector).collect::<Vec<u64>>()
        };
        // Data that land next to their place are seen where all of it was written.
        let Some(lost) = [false, true].map(lost).into_iter().find(|lost| !lost.is_empty()) else { return Ok(None) };
        for part in [1, 3] {
            let at = lost[(lost.len() - 1) * part / 4];
            if let Some(distance) = self.landing_distance_at(at)? {
                return Ok(Some(distance));
            }
        }
        Ok(None)
    }

    /// The same where a small part that holds is most likely: at either end, or in the middle.
    pub(crate) fn landing_distance_of_a_small_part(&mut self) -> Result<Option<i64>, End> {
        let last = self.device.sectors() - self.device.unit();
        for at in [last, last / 2, 0] {
            if let Some(distance) = self.landing_distance_at(at)? {
                return Ok(Some(distance));
            }
        }
        Ok(None)
    }

    fn landing_distance_at(&mut self, at: u64) -> Result<Option<i64>, End> {
        let sectors = self.device.sectors();
        let start = at.saturating_sub(BESIDE);
        let around = self.device.place(start, (at + BESIDE).min(sectors) - start);
        let looked = self.device.place(at, 8);
        let partners: Vec<SectorRange> = (0..63)
            .map(|bit| at ^ (1 << bit))
            .filter(|other| *other < sectors)
            .map(|other| self.device.place(other, 1))
            .filter(|place| !place.meets(around))
            .collect();
        // In small parts, so that all of it goes to the same cache as canaries.
        let parts =
            (around.at..around.end()).step_by(64).map(|at| SectorRange { at, sectors: 64.min(around.end() - at) });
        let places = without_repetition(partners.iter().copied().chain(parts).collect());
        self.device.begin_round();
        self.device.save(&places)?;
        // The partners first: data that are sent here and land there are seen there.
        let (there, here): (Vec<SectorRange>, Vec<SectorRange>) = places.iter().partition(|place| !place.meets(around));
        for place in there.iter().rev().chain(here.iter().rev()) {
            self.device.write(*place)?;
        }
        self.eviction.evict(self.device, &places)?;
        if let Some(flush) = self.flush_place() {
            self.device.check(flush)?;
        }
        // If data that cross the bus show in the next read, pages are read one by one, each after a known page.
        let step = if self.device.bus.is_some() { looked.sectors.max(1) } else { around.sectors };
        let mut all = Vec::with_capacity(around.sectors as usize);
        for at in (around.at..around.end()).step_by(step as usize) {
            all.extend(self.device.check(SectorRange { at, sectors: step.min(around.end() - at) })?);
        }
        let mut distances: Vec<i64> = Vec::new();
        for (sector, seen) in around.numbers().zip(&all) {
            if let SeenStamp::Foreign(origin) = seen {
                distances.push(origin.sector.cast_signed() - sector.cast_signed());
            }
        }
        let own = all[(looked.at - around.at) as usize];
        let SeenStamp::Foreign(origin) = own else { return self.landed_in(&there, around) };
        let distance = origin.sector.cast_signed() - looked.at.cast_signed();
        let same = distances.iter().filter(|other| **other == distance).count();
        if self.are_one(looked.at, origin.sector)? {
            return Ok(self.exchanges(looked.at, origin.sector)?.then_some(distance));
        }
        let beside = distance.unsigned_abs() <= BESIDE && same * 4 >= distances.len() && same > 4;
        let swapped = distance.unsigned_abs().is_power_of_two() && {
            let seen = self.device.check(self.device.place(origin.sector, 1))?;
            seen.first().is_some_and(|seen| !seen.keeps())
        };
        Ok((beside || swapped).then_some(distance))
    }

    /// Whether places at which one address line is 0 are read where it is 1, and others the other way round: a line
    /// that fails in reading does this. Both then show the same, as two addresses of one cell do, but data sent to
    /// `one` show at neither. An address without memory may read as another place too, but then only as a lower one or
    /// only as a higher one.
    fn exchanges(&mut self, one: u64, other: u64) -> Result<bool, End> {
        let line = one ^ other;
        if !line.is_power_of_two() || self.takes_turns(one.min(other), one.max(other))? {
            return Ok(false);
        }
        let lost: Vec<u64> = self.first.iter().filter(|(_, seen)| seen.is_silent_loss()).map(|(at, _)| *at).collect();
        let sectors = self.device.sectors();
        let partner = |at: &u64| at ^ line < sectors;
        let higher = |at: &u64| at & line == one & line;
        let opposite = |at: &u64| !higher(at) && partner(at) && lost.binary_search(&(at ^ line)).is_err();
        let alike = |at: &u64| higher(at) && partner(at) && at / PAGE != one / PAGE;
        let alike: Vec<u64> = lost.iter().copied().filter(alike).collect();
        let opposite: Vec<u64> = lost.iter().copied().filter(opposite).collect();
        // An address without memory may read as any place that holds. Then others show that place, or another one.
        Ok(self.any_shows_partner(&opposite, line)? && (alike.is_empty() || self.any_shows_partner(&alike, line)?))
    }

    /// Whether any of some of these places shows what was sent to the other state of an address line.
    fn any_shows_partner(&mut self, shown: &[u64], line: u64) -> Result<bool, End> {
        let step = shown.len().div_ceil(EXCHANGED).max(1);
        let pairs: Vec<(u64, u64)> = shown.iter().step_by(step).map(|at| (*at, at ^ line)).collect();
        let (shown, sent): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
        let places: Vec<SectorRange> = shown.iter().chain(&sent).map(|at| self.device.place(*at, 1)).collect();
        self.device.begin_round();
        self.write_in_falling_order(&places)?;
        let shows = self.origins_at(&shown)?;
        Ok(shows.iter().zip(sent).any(|(shows, sent)| shows.is_some_and(|origin| origin.sector == sent)))
    }

    /// Whether one of these places shows what was sent to `around` without sharing a cell with it. Returns the
    /// distance.
    fn landed_in(&mut self, partners: &[SectorRange], around: SectorRange) -> Result<Option<i64>, End> {
        let now = self.device.generation();
        for partner in partners {
            let Some(origin) = self.device.origin_at(partner.at)? else { continue };
            let sent_here = origin.generation == now && around.numbers().contains(&origin.sector);
            if !sent_here || !(origin.sector ^ partner.at).is_power_of_two() {
                continue;
            }
            let shared = self.are_one(partner.at, origin.sector)?;
            return Ok((!shared).then(|| origin.sector.cast_signed() - partner.at.cast_signed()));
        }
        Ok(None)
    }

    /// Whether two sectors share a cell: they then agree, whichever was written last. Notes them as a pair.
    fn are_one(&mut self, one: u64, other: u64) -> Result<bool, End> {
        let shared = self.same_cells(one, &[other])?[0] && self.same_cells(other, &[one])?[0];
        if shared {
            self.pairs.insert(0, (one.min(other), one.max(other)));
        }
        Ok(shared)
    }

    fn flush_place(&self) -> Option<SectorRange> {
        self.samples.iter().find(|place| place.sectors >= 8).map(|place| SectorRange { sectors: 8, ..*place })
    }
}

/// Whether the places that were written first are `held`, and are too many to be explained by the share that is held of
/// the later ones: memory was given to the first. If the address decides what holds, as in a chain, the order of
/// writing proves nothing for places in address order, but proves it for places in random order.
fn took_the_first(held: &[bool], by_chance: f64) -> bool {
    let first = held.iter().take_while(|held| **held).count();
    let after = held.get(first + 1..).unwrap_or_default();
    let share = after.iter().filter(|held| **held).count() as f64 / after.len().max(1) as f64;
    first > 0 && share.powi(i32::try_from(first).unwrap_or(i32::MAX)) < by_chance
}

// Losing places are written again. A fake loses the same places again, as soon as its caches are evicted. A medium
// that drops or exchanges writes now and then keeps the data this time, and one whose cells do not last loses them by
// being read.

/// Losing places that are written again, at most.
const RETESTED: usize = 32;
/// Readings of places that held after caches were evicted.
const READINGS: usize = 6;
/// If one place in this many loses again, the loss is permanent: of writes that are dropped now and then, few are
/// dropped twice.
const ONE_IN_LOST_AGAIN: usize = 4;
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
        if self.lose_again(some)? * ONE_IN_LOST_AGAIN >= some.len() {
            return Ok(None);
        }
        for _ in 1..READINGS {
            if self.lose_again(some)? * 2 > some.len() {
                return Ok(Some(LossKind::Decays));
            }
        }
        if self.lose_again(&at_once)? * ONE_IN_LOST_AGAIN >= at_once.len() {
            return Ok(None);
        }
        // As much as is ever written against a cache: a cache that still shows these places has never shown a loss
        // before.
        self.eviction.evict_most(self.device, &clear)?;
        let again = self.lose_again(&lost)?;
        Ok((again * ONE_IN_LOST_AGAIN < lost.len()).then_some(LossKind::Unreliable))
    }

    /// Sectors that lost their data without an error, from the whole device.
    fn some_lost(&self) -> Vec<Lost> {
        let sort = |(at, seen): &(u64, SeenStamp)| match seen {
            SeenStamp::Foreign(origin) => Some(Lost { at: *at, shown: Some(origin.sector) }),
            seen if seen.is_silent_loss() => Some(Lost { at: *at, shown: None }),
            _ => None,
        };
        let mut all: Vec<Lost> =
            self.first.iter().filter_map(sort).filter(|lost| !self.device.is_bad(lost.at)).collect();
        // One sector of each page is enough, since all of them say the same.
        let page = self.device.unit().max(8);
        all.dedup_by_key(|lost| lost.at / page);
        let step = all.len().div_ceil(RETESTED).max(1);
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
