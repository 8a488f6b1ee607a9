//! The final test of a size that was found to the sector. All parts said to hold must hold at once, and all addresses
//! said to lead elsewhere must lead there all over the device. If either fails, the size is an interval.

use std::collections::BTreeSet;

use rand_core::Rng;

use super::super::device::Device;
use super::super::stamp::{Origin, SeenStamp};
use super::map::State;
use super::periods::{COUNTED, STRIPE, evenly_spaced};
use super::stages::{LossKind, Repeat, Search};
use super::stamped::{End, SectorRange};

/// Single places that are written all over the parts said to hold.
const PLACES: u64 = 96;
/// Sectors on the inner side of each end of a part. All of them are written.
const BESIDE: u64 = 32;
/// Ends of parts that are tested.
const ENDS: usize = 16;
/// Stretches of the part said to hold that are written sequentially. Each is the run divided by [`STRETCH_OF_RUN`].
const STRETCHES: u64 = 8;
const STRETCH_OF_RUN: u64 = 16;
/// Sectors of one write of a stretch.
const PIECE: u64 = 64;
/// Reads that search for a stretch elsewhere are its length divided by this apart: perhaps only a part of it shows.
const CLOSER: u64 = 8;
/// Most single reads that search for a stretch elsewhere.
const TEETH: u64 = 16_384;
/// The same for the row that is written at the end of the device. A genuine device of 2 TiB gets as many.
const LAP_TEETH: u64 = 40_000;
/// Sectors of one write of that row.
const ROW: u64 = (1 << 20) / 512;
/// Pairs all over the device that are said to share a cell.
const PAIRS: u64 = 32;
/// Stripes in random laps that are compared with those of the first one.
const STRIPES: u64 = 6;
/// Two stripes are the same if at most this part of their stamps, as a divisor, is in only one of them: bad cells.
const FEW: usize = 8;
/// Addresses in the laps below that are tested for data sent behind them.
const BELOW: u64 = 6;
/// Up to this many lost sectors are bad cells and not the end of a part, if all sectors beside them hold.
const PITS: usize = 4;
/// At most one tested sector in this many is a bad cell, and one bad cell in [`AMID`] lies between two others.
const PITTED: u64 = 8;
const AMID: usize = 32;

/// What a test of all that is said to hold came to.
enum AtOnce {
    /// All of it holds.
    All,
    /// All but sectors within this many of the end of the part said to hold.
    ButTheEnd(u64),
    /// Some of it does not.
    Not,
}

impl<D: Device> Search<'_, '_, D> {
    /// Tests a size that is known to the sector. If it is not confirmed, it becomes an interval, from what was shown to
    /// hold at once.
    pub(super) fn prove(&mut self) -> Result<(), End> {
        match self.loss_kind.clone() {
            LossKind::Repeats(repeat) if repeat.exact => self.prove_repeat(repeat),
            LossKind::WritesRepeat { period, exact: true } => {
                if !matches!(self.hold_at_once(&[SectorRange { at: 0, sectors: period }], false, 0)?, AtOnce::All) {
                    self.loss_kind = LossKind::WritesRepeat { period, exact: false };
                }
                Ok(())
            }
            LossKind::Parts if self.map.exact && !self.eviction.hidden => {
                let parts = self.map.parts(self.device.sectors()).into_iter();
                let keeps: Vec<SectorRange> = parts
                    .filter(|part| part.2 == State::Keeps)
                    .map(|(at, end, _)| SectorRange { at, sectors: end - at })
                    .collect();
                if !keeps.is_empty() && matches!(self.hold_at_once(&keeps, false, 0)?, AtOnce::Not) {
                    self.map.exact = false;
                    self.map.unsteady = true;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn prove_repeat(&mut self, repeat: Repeat) -> Result<(), End> {
        if self.eviction.hidden {
            return Ok(());
        }
        let claimed = repeat.protected + repeat.real;
        let (unit, sectors) = (self.device.unit(), self.device.sectors());
        let top = sectors / unit * unit;
        self.undetermined = false;
        let tail = self.own_tail(&repeat)?;
        self.tail = tail.map(|(from, _)| from);
        if let Some((from, below)) = tail.filter(|(from, below)| from - below > unit) {
            // Too few conclusive addresses are left to find where it begins.
            self.between = Some((claimed + top - from, claimed + top - below));
        }
        let mut parts = vec![SectorRange { at: 0, sectors: claimed.min(top) }];
        parts.extend(self.tail.map(|at| SectorRange { at, sectors: top - at }));
        // Data that a cache hides, and nothing evicts, show only at addresses that were never touched.
        let stands =
            match if self.through.is_some() { AtOnce::All } else { self.hold_at_once(&parts, true, repeat.protected)? }
            {
                AtOnce::All => {
                    !self.shows_what_is_dropped(&repeat)
                        && self.shares_everywhere(&repeat)?
                        && self.shares_in_stripes(&repeat)?
                        && self.shares_below(&repeat)?
                        && !self.laps_contradict(&repeat)?
                }
                AtOnce::ButTheEnd(sectors) => {
                    let tail = self.tail.map_or(0, |at| top - at);
                    self.between = Some((claimed - sectors.min(claimed) + tail, claimed + tail));
                    return Ok(());
                }
                AtOnce::Not => false,
            };
        if !stands {
            self.loss_kind = LossKind::Repeats(Repeat { exact: false, ..repeat });
            self.tail = None;
        }
        Ok(())
    }

    /// Writes places all over these parts, all of both sides of their ends, and sequential stretches. Tests whether all
    /// of them hold, and the stretches show nowhere else in the parts. What ends at `protected` counts as a part of its
    /// own.
    fn hold_at_once(&mut self, parts: &[SectorRange], repeats: bool, protected: u64) -> Result<AtOnce, End> {
        let Some(largest) = parts.iter().copied().max_by_key(|part| part.sectors) else { return Ok(AtOnce::All) };
        let mut stretches = self.rows_at_ends(parts, protected);
        for stretch in self.stretches_in(largest) {
            if stretches.iter().all(|row| !row.meets(stretch)) {
                stretches.push(stretch);
            }
        }
        let mut places = self.places_in(parts);
        places.retain(|place| stretches.iter().all(|stretch| !place.meets(*stretch)));
        for stretch in &stretches {
            places.extend(stretch.parts(PIECE));
        }
        places.sort_unstable();
        places.dedup();
        self.device.begin_round();
        self.write_in_falling_order(&places)?;
        let (mut lost, mut sent, mut held) = (Vec::new(), Vec::new(), 0);
        for place in &places {
            let seen = self.device.check(*place)?;
            for (at, seen) in
                place.numbers().zip(seen).filter(|(at, _)| parts.iter().any(|part| part.numbers().contains(at)))
            {
                match seen {
                    // Writes that evict caches may land in the same cells.
                    SeenStamp::Foreign(origin)
                        if repeats && !parts.iter().any(|part| part.numbers().contains(&origin.sector)) => {}
                    SeenStamp::Foreign(origin) => {
                        lost.push(at);
                        sent.push(origin.sector);
                    }
                    seen if seen.is_silent_loss() => lost.push(at),
                    SeenStamp::Unreadable => {}
                    _ => held += 1,
                }
            }
        }
        self.at_once = self.at_once.max(held);
        let end = parts.first().map_or(0, |part| part.end());
        if let Some(first) = lost.iter().min().copied() {
            // Both sectors of two that share a cell.
            let beside = |at: &u64| *at + BESIDE >= end && *at < end;
            if !sent.is_empty() && lost.iter().chain(&sent).all(beside) {
                return Ok(AtOnce::ButTheEnd(end - first + 1));
            }
            if !sent.is_empty() || !self.are_pits(&lost, held + lost.len() as u64, parts)? {
                return Ok(AtOnce::Not);
            }
        }
        Ok(if self.shows_elsewhere(&stretches, parts)? { AtOnce::Not } else { AtOnce::All })
    }

    /// A stretch at either end of each part. If a part is a window of addresses that wrap around, its end is its start.
    fn rows_at_ends(&mut self, parts: &[SectorRange], protected: u64) -> Vec<SectorRange> {
        let unit = self.device.unit();
        let split = |part: &SectorRange| match part.numbers().contains(&protected) && protected > part.at {
            true => vec![(part.at, protected), (protected, part.end())],
            false => vec![(part.at, part.end())],
        };
        let mut rows: Vec<SectorRange> = Vec::new();
        for (start, end) in parts.iter().take(ENDS).flat_map(split) {
            let sectors = ((end - start) / 4).min(self.run.sectors / STRETCH_OF_RUN) / unit * unit;
            for at in [start.next_multiple_of(unit), (end - sectors) / unit * unit] {
                let row = self.device.place(at, sectors);
                if sectors > 0 && row.end() <= end && rows.iter().all(|other| !row.meets(*other)) {
                    rows.push(row);
                }
            }
        }
        rows
    }

    /// Stretches all over a part that do not overlap.
    fn stretches_in(&mut self, part: SectorRange) -> Vec<SectorRange> {
        let unit = self.device.unit();
        let width = part.sectors / STRETCHES;
        let sectors = (width / 2).min(self.run.sectors / STRETCH_OF_RUN).max(1);
        let mut all = Vec::new();
        for index in 0..STRETCHES {
            let at = part.at + index * width + self.device.random.next_u64() % (width - sectors.min(width)).max(1);
            let place = self.device.place(at.next_multiple_of(unit), sectors / unit * unit);
            if place.sectors > 0 && place.end() <= part.end() && all.iter().all(|other| !place.meets(*other)) {
                all.push(place);
            }
        }
        all
    }

    /// Single places all over these parts, and all of the inner sides of their ends.
    fn places_in(&mut self, parts: &[SectorRange]) -> Vec<SectorRange> {
        let all: u64 = parts.iter().map(|part| part.sectors).sum();
        let mut sectors: Vec<u64> = Vec::new();
        for part in parts {
            let count = (u128::from(PLACES) * u128::from(part.sectors) / u128::from(all.max(1))).max(1) as u64;
            let width = (part.sectors / count).max(1);
            let at = |index: u64, random: u64| part.at + (index * width + random % width).min(part.sectors - 1);
            sectors.extend((0..count).map(|index| at(index, self.device.random.next_u64())));
        }
        for part in parts.iter().take(ENDS) {
            let beside = BESIDE.min(part.sectors);
            sectors.extend(part.at..part.at + beside);
            sectors.extend(part.end() - beside..part.end());
            // If all addresses behind the end lead to one page or unit, the claimed end may be one page or unit too far.
            let units = (0..64).map(|power| 1 << power).take_while(|unit| *unit < part.sectors);
            sectors.extend(units.flat_map(|unit| [part.at + unit, part.end() - unit]));
        }
        sectors.sort_unstable();
        sectors.dedup();
        let mut places: Vec<SectorRange> = sectors.into_iter().map(|at| self.device.place(at, 1)).collect();
        places.dedup();
        places.retain(|place| !place.numbers().any(|at| self.device.is_bad(at)));
        places
    }

    /// Whether the blocks beside each of these lost sectors hold, where `tested` sectors were tested: then they are bad
    /// cells and not a part that loses. If many are lost, some may lie beside others, but none at an end of the part
    /// said to hold.
    fn are_pits(&mut self, lost: &[u64], tested: u64, parts: &[SectorRange]) -> Result<bool, End> {
        let unit = self.device.unit();
        let mut blocks: Vec<u64> = lost.iter().map(|at| at / unit).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let many = blocks.len() > PITS;
        let at_an_end = |block: &u64| {
            parts.iter().any(|part| part.at / unit == *block || part.end().saturating_sub(1) / unit == *block)
        };
        if many && (blocks.len() as u64 * unit * PITTED > tested || blocks.iter().any(at_an_end)) {
            return Ok(false);
        }
        let sides = |block: u64| [block.checked_sub(1), Some(block + 1)].into_iter().flatten();
        let mut beside: Vec<SectorRange> =
            blocks.iter().flat_map(|block| sides(*block)).map(|block| self.device.place(block * unit, 1)).collect();
        beside.retain(|place| place.sectors > 0);
        self.device.begin_round();
        self.write_in_falling_order(&beside)?;
        let mut losing = BTreeSet::new();
        for place in &beside {
            if self.device.check(*place)?.iter().any(|seen| seen.is_silent_loss()) {
                losing.insert(place.at / unit);
            }
        }
        let amid = blocks.iter().filter(|block| sides(**block).all(|side| losing.contains(&side))).count();
        Ok(losing.is_empty() || (many && amid <= blocks.len() / AMID))
    }

    /// Whether single reads, at distances shorter than a stretch, meet a stretch elsewhere in these parts.
    fn shows_elsewhere(&mut self, stretches: &[SectorRange], parts: &[SectorRange]) -> Result<bool, End> {
        let all: u64 = parts.iter().map(|part| part.sectors).sum();
        let length = stretches.iter().map(|stretch| stretch.sectors).min().unwrap_or(0);
        let step = (length / CLOSER).max(all / TEETH).max(self.device.unit());
        let inside = |at: u64| stretches.iter().any(|stretch| stretch.numbers().contains(&at));
        let now = self.device.generation();
        for part in parts {
            let mut at = part.at + self.device.random.next_u64() % step;
            while at < part.end() {
                if !inside(at)
                    && let Some(origin) = self.device.origin_at(at)?
                    && origin.sector != at
                    && origin.generation == now
                    && inside(origin.sector)
                {
                    return Ok(true);
                }
                at += step;
            }
        }
        Ok(false)
    }

    /// Whether data sent to addresses that are said to drop them were seen elsewhere: then these addresses have cells.
    fn shows_what_is_dropped(&self, repeat: &Repeat) -> bool {
        let drops = |sent: u64| sent >= repeat.protected && (sent - repeat.protected) % repeat.period >= repeat.real;
        // A few may be bad cells.
        let seen = self.pairs.iter().filter(|(shown, sent)| drops(*sent) && drops(*shown)).count();
        self.device.bus.is_none() && seen > PITS
    }

    /// Whether addresses all over the device share a cell with the address that their period gives.
    fn shares_everywhere(&mut self, repeat: &Repeat) -> Result<bool, End> {
        let (unit, top) = (self.device.unit(), self.tail.unwrap_or(self.device.sectors()));
        let (start, end) = (repeat.protected + repeat.period, top / unit * unit);
        if !repeat.straight || start >= end || self.through.is_some() {
            return Ok(true);
        }
        let width = ((end - start) / PAIRS).max(1);
        let mut pairs: Vec<(u64, u64)> = Vec::new();
        for index in 0..PAIRS.min((end - start) / unit) {
            let at = start + index * width + self.device.random.next_u64() % width;
            // A chain drops the rest of each period.
            let inside = (at - repeat.protected) % repeat.period;
            let at = at - inside + inside % repeat.real.max(1);
            let cell = repeat.protected + (at - repeat.protected) % repeat.period;
            let near = |one: u64, other: u64| one / unit == other / unit;
            // Any number of addresses may share a cell. Addresses of one block cannot be distinguished.
            let free = pairs.iter().all(|pair| (pair.0 == cell || !near(pair.0, cell)) && !near(pair.1, at));
            if at + unit <= end && at >= start && !near(cell, at) && free {
                pairs.push((cell, at));
            }
        }
        let same = self.same_pairs(&pairs)?;
        let errs = |pair: &(u64, u64)| self.device.is_bad(pair.0) || self.device.is_bad(pair.1);
        let wrong: Vec<(u64, u64)> =
            pairs.iter().zip(same).filter(|(pair, same)| !same && !errs(pair)).map(|(pair, _)| *pair).collect();
        if wrong.is_empty() {
            return Ok(true);
        }
        // A bad cell may be among them.
        let beside: Vec<(u64, u64)> = wrong
            .iter()
            .map(|(cell, at)| (cell + unit, at + unit))
            .filter(|(cell, at)| at + unit <= end && (cell - repeat.protected) % repeat.period < repeat.real)
            .collect();
        let few = wrong.len() <= PITS / 2 && beside.len() == wrong.len();
        Ok(few && self.same_pairs(&beside)?.iter().all(|same| *same))
    }

    /// Whether stripes of random laps show the same stamps as those of the first lap, in any order.
    fn shares_in_stripes(&mut self, repeat: &Repeat) -> Result<bool, End> {
        let stripes = repeat.real.min(repeat.period) / STRIPE;
        let laps = self.device.sectors() / repeat.period.max(1);
        if repeat.straight || self.through.is_some() || stripes == 0 || laps < 2 {
            return Ok(true);
        }
        let mut pairs: Vec<(SectorRange, SectorRange)> = Vec::new();
        for _ in 0..STRIPES {
            let first = self.device.random.next_u64() % stripes * STRIPE;
            let lap = 1 + self.device.random.next_u64() % (laps - 1);
            let pair = [first, lap * repeat.period + first].map(|at| self.device.place(at, STRIPE));
            if pairs.iter().all(|(one, other)| pair.iter().all(|place| !place.meets(*one) && !place.meets(*other))) {
                pairs.push((pair[0], pair[1]));
            }
        }
        let written: Vec<SectorRange> = pairs.iter().flat_map(|(_, behind)| behind.parts(PIECE)).collect();
        self.device.begin_round();
        self.write_in_falling_order(&written)?;
        for (first, behind) in pairs {
            let shown = [self.device.origins(first)?, self.device.origins(behind)?];
            let [one, other]: [BTreeSet<Origin>; 2] = shown.map(|stamps| stamps.into_iter().flatten().collect());
            if one.symmetric_difference(&other).count() * FEW > one.len() + other.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// With `through`: whether addresses below the one from which on all were known to lead to the same cells show what
    /// is sent behind it.
    fn shares_below(&mut self, repeat: &Repeat) -> Result<bool, End> {
        let Some((_, base)) = self.through else { return Ok(true) };
        let (unit, end) = (self.device.unit(), self.tail.unwrap_or(self.device.sectors()));
        let laps = base.saturating_sub(repeat.protected) / repeat.period;
        for _ in 0..BELOW.min(laps) {
            let inside = self.device.random.next_u64() % repeat.real.max(1);
            let low = repeat.protected + inside + self.device.random.next_u64() % laps * repeat.period;
            let room = end.saturating_sub(base + 2 * repeat.period) / repeat.period;
            let high = low + (laps + 1 + self.device.random.next_u64() % room.max(1)) * repeat.period;
            if high + unit <= end && self.tells(low, high) && !self.shows_at(high, low)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds where a part at the very end begins that has cells of its own, behind addresses that wrap around. Returns
    /// an address in it and one below it, which are neighbours if that could be determined.
    fn own_tail(&mut self, repeat: &Repeat) -> Result<Option<(u64, u64)>, End> {
        let unit = self.device.unit();
        let top = self.device.sectors() / unit * unit;
        let start = (repeat.protected + repeat.period).next_multiple_of(unit);
        let Some(last) = top.checked_sub(unit).filter(|last| repeat.straight && *last > start) else { return Ok(None) };
        if !self.are_own(repeat, &[last])?[0] {
            return Ok(None);
        }
        // The nearest address below that is not in it, in doubling steps.
        let steps = self.steps().map(|step| step.next_multiple_of(unit)).map_while(|step| last.checked_sub(step));
        let mut probes: Vec<u64> = steps.filter(|at| *at >= start).collect();
        probes.dedup();
        let own = self.are_own(repeat, &probes)?;
        let known = own.iter().take_while(|own| **own).count();
        let mut own_from = if known == 0 { last } else { probes[known - 1] };
        let mut below = probes.get(known).copied().unwrap_or(start.saturating_sub(unit));
        while own_from - below > unit {
            let (low, high) = (below / unit, own_from / unit);
            let each = self.probes();
            let between: Vec<u64> = evenly_spaced(low, high, each).into_iter().map(|block| block * unit).collect();
            let known = self.undetermined;
            let own = self.are_own(repeat, &between)?;
            if between.is_empty() || self.undetermined != known {
                break;
            }
            for (at, own) in between.iter().zip(own) {
                if own && *at < own_from && *at > below {
                    own_from = *at;
                    break;
                }
                below = below.max(*at);
            }
        }
        Ok(Some((own_from, below)))
    }

    /// Which of these addresses hold what is sent there, while the cell that they are said to share holds something
    /// else.
    fn are_own(&mut self, repeat: &Repeat, addresses: &[u64]) -> Result<Vec<bool>, End> {
        let cell = |at: u64| repeat.protected + (at - repeat.protected) % repeat.period;
        if self.through.is_some() {
            return addresses.iter().map(|at| self.is_own_through(*at, cell(*at), repeat)).collect();
        }
        let all: Vec<u64> = addresses.iter().flat_map(|at| [*at, cell(*at)]).collect();
        let places: Vec<SectorRange> = all.iter().map(|at| self.device.place(*at, 1)).collect();
        self.device.begin_round();
        self.write_in_falling_order(&places)?;
        let shown = self.origins_at(&all)?;
        let own = |pair: &[Option<Origin>], at: u64| {
            let [Some(here), Some(there)] = pair else { return false };
            here.sector == at && there.sector != at
        };
        Ok(shown.chunks_exact(2).zip(addresses).map(|(pair, at)| own(pair, *at)).collect())
    }

    /// The same where a cache shows what was written: an address of that cell that was never touched does not show it.
    fn is_own_through(&mut self, at: u64, cell: u64, repeat: &Repeat) -> Result<bool, End> {
        if cell - repeat.protected >= repeat.real {
            return Ok(false);
        }
        match self.lap_that_tells(at, cell) {
            Some(shown) => Ok(!self.shows_at(at, shown)?),
            None => {
                self.undetermined = true;
                Ok(false)
            }
        }
    }

    /// Whether single reads below the end of the part said to hold, at distances shorter than the row, show the row
    /// where it does not belong. Laps that lead to the cells in another order keep rows together.
    fn laps_contradict(&mut self, repeat: &Repeat) -> Result<bool, End> {
        // Counted cells lie in any order.
        if !repeat.straight && repeat.real <= COUNTED {
            return Ok(false);
        }
        let (unit, claimed) = (self.device.unit(), repeat.protected + repeat.real);
        let top = self.device.sectors() / unit * unit;
        let length = self.run.sectors.max(claimed / LAP_TEETH).min(top / 8).max(unit) / unit * unit;
        let row = SectorRange { at: top - length, sectors: length };
        self.device.begin_round();
        let starts: Vec<u64> = row.numbers().step_by(ROW as usize).collect();
        for at in starts {
            let part = self.device.place(at, ROW.min(row.end() - at));
            self.device.save(&[part])?;
            self.device.write(part)?;
        }
        self.device.settle()?;
        if self.through.is_none() {
            self.eviction.evict(self.device, &[row])?;
        }
        let (step, claimed) = ((row.sectors / 8 * 7).max(1), claimed.min(row.at));
        let (now, mut at) = (self.device.generation(), self.device.random.next_u64() % step);
        while at < claimed {
            if self.through.is_none() || self.device.is_fresh(at) {
                let shown = self.device.origin_at(at)?.filter(|origin| origin.generation == now && origin.sector != at);
                // A part at the end shows nowhere else.
                let own = |at: u64| self.tail.is_some_and(|tail| at >= tail);
                let wrong = |at: u64, sent: u64| own(sent) || !repeat.may_be_one(at, sent, STRIPE);
                if shown.is_some_and(|origin| row.numbers().contains(&origin.sector) && wrong(at, origin.sector)) {
                    return Ok(true);
                }
            }
            at += step;
        }
        Ok(false)
    }
}
