//! Addresses that share a memory cell, and the period after which addresses wrap around.

use super::super::device::Device;
use super::super::stamp::{Origin, SeenStamp};
use super::eviction::LosingSector;
use super::periods::{STRIPE, evenly_spaced, prime_powers};
use super::stages::{ATTEMPTS, LossKind, Repeat, Search};
use super::stamped::{End, PAGE_OF_CACHE, SectorRange};

/// Pairs that are tested.
const PAIRS: usize = 6;
/// Rounds in which two places are written alternately.
const TURNS: usize = 6;
/// Laps that are searched for a position of the period where the medium does not err.
const LAPS: u64 = 4;
/// Sectors that are compared in sequence: more than a stripe, so that a stripe ends within them.
const ORDERED: u64 = STRIPE / 4 * 5;
/// Positions behind the real part of a period that are tested.
const BEHIND: u64 = 7;
/// Pairs directly below a known one that must share cells, while the pairs farther below have cells of their own.
const LEAST_BELOW: usize = 3;

impl<D: Device> Search<'_, '_, D> {
    /// Reads which stamp each of these sectors carries. Another place is read before each, so that no data of these
    /// sectors are left on the bus.
    pub(super) fn origins_at(&mut self, sectors: &[u64]) -> Result<Vec<Option<Origin>>, End> {
        let flush = self.flush_place_beside(sectors);
        let mut all = Vec::with_capacity(sectors.len());
        for sector in sectors {
            if let Some(flush) = flush {
                self.device.check(flush)?;
            }
            let bears = self.device.origin_at(*sector)?;
            all.push(bears.filter(|origin| origin.generation == self.device.generation()));
        }
        Ok(all)
    }

    /// A known-good page outside the sectors under test. What it leaves on the bus is of another round.
    fn flush_place_beside(&self, looked: &[u64]) -> Option<SectorRange> {
        let holds = |place: &SectorRange| {
            place
                .numbers()
                .all(|s| self.device.findings.get(&s).is_some_and(|seen| seen.keeps()) && !looked.contains(&s))
        };
        let pages =
            self.samples.iter().filter(|place| place.sectors >= 8).map(|place| SectorRange { sectors: 8, ..*place });
        pages.into_iter().find(holds)
    }

    /// Writes places in descending order and evicts them from caches. No write continues another one, so none goes to a
    /// cache for sequential writes.
    pub(super) fn write_in_falling_order(&mut self, places: &[SectorRange]) -> Result<(), End> {
        let mut falling = places.to_vec();
        falling.sort_unstable();
        falling.dedup();
        self.device.save(&falling)?;
        for place in falling.iter().rev() {
            self.device.write(*place)?;
        }
        self.eviction.evict(self.device, &falling)
    }

    /// Which of `others` share a cell with `base`. All are written, and those that read the same as `base` share its
    /// cell, whichever address was written last.
    pub(crate) fn same_cells(&mut self, base: u64, others: &[u64]) -> Result<Vec<bool>, End> {
        if self.through.is_some() {
            return others.iter().map(|other| self.agree(base, *other)).collect();
        }
        self.device.begin_round();
        let places: Vec<SectorRange> =
            std::iter::once(&base).chain(others).map(|at| self.device.place(*at, 1)).collect();
        self.write_in_falling_order(&places)?;
        let mut all = vec![base];
        all.extend(others);
        let bears = self.origins_at(&all)?;
        let (first, rest) = bears.split_first().map_or((None, &[][..]), |(first, rest)| (*first, rest));
        Ok(rest.iter().map(|other| first.is_some() && *other == first).collect())
    }

    /// Like [`Self::same_cells`], for pairs that are independent of each other.
    pub(super) fn same_pairs(&mut self, pairs: &[(u64, u64)]) -> Result<Vec<bool>, End> {
        if self.through.is_some() {
            return pairs.iter().map(|(one, other)| self.agree(*one, *other)).collect();
        }
        self.device.begin_round();
        let all: Vec<u64> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let places: Vec<SectorRange> = all.iter().map(|at| self.device.place(*at, 1)).collect();
        self.write_in_falling_order(&places)?;
        let bears = self.origins_at(&all)?;
        Ok(bears.chunks_exact(2).map(|pair| pair[0].is_some() && pair[0] == pair[1]).collect())
    }

    /// Searches pairs of addresses, where one carried the stamp of the other, for two that share a cell. Derives the
    /// whole structure from them.
    pub(crate) fn repeat(&mut self, pairs: &[(u64, u64)]) -> Result<Option<Repeat>, End> {
        let mut distances: Vec<u64> = Vec::new();
        self.eviction.blind = true;
        // Beside the end of the device there may be no room for a stripe.
        let sectors = self.device.sectors();
        let roomy = |pair: &(u64, u64)| pair.0.max(pair.1) + 2 * STRIPE <= sectors;
        let (roomy, others): (Vec<_>, Vec<_>) = pairs.iter().copied().partition(roomy);
        for (a, b) in roomy.into_iter().chain(others) {
            if distances.len() >= PAIRS {
                break;
            }
            let (low, high) = (a.min(b), a.max(b));
            if distances.contains(&(high - low)) || low == high {
                continue;
            }
            distances.push(high - low);
            let (losing_sectors, hidden) = (std::mem::take(&mut self.eviction.losing_sectors), self.eviction.hidden);
            if losing_sectors.is_empty() {
                self.eviction.losing_sectors = self.pair_losers(low, high);
            } else {
                self.eviction.losing_sectors = losing_sectors.clone();
            }
            if self.same_cells(high, &[low])?[0] && self.takes_turns(low, high)? {
                self.shared = true;
                // Evicting a large cache for each of many tests would write more than a probe may.
                if self.eviction.is_large()
                    && let Some(repeat) = self.repeat_through(low, high)?
                {
                    return Ok(Some(repeat));
                }
                return self.structure(low, high).map(Some);
            }
            // If the pair shares no cell, canaries that never die prove nothing about a cache.
            (self.eviction.losing_sectors, self.eviction.hidden) = (losing_sectors, hidden);
            if let Some(repeat) = self.repeat_through(low, high)? {
                self.shared = true;
                return Ok(Some(repeat));
            }
        }
        self.eviction.blind = false;
        Ok(None)
    }

    /// Whether both places show whichever of them was written last. A place that shows the other's data, but does not
    /// write there, does not share its cell.
    pub(super) fn takes_turns(&mut self, low: u64, high: u64) -> Result<bool, End> {
        let mut wrote = [false; 2];
        for turn in 0..TURNS {
            self.device.begin_round();
            let places = if turn % 2 == 0 { [low, high] } else { [high, low] }.map(|at| self.device.place(at, 1));
            self.device.save(&places)?;
            for place in places {
                self.device.write(place)?;
            }
            self.eviction.evict(self.device, &places)?;
            let shown = self.origins_at(&[low, high])?;
            if let [Some(one), Some(other)] = shown[..]
                && one == other
            {
                // A third address of the same cell may have been written since.
                wrote[0] |= one.sector != high;
                wrote[1] |= one.sector != low;
            }
            if wrote == [true; 2] {
                return Ok(true);
            }
            // A cache may write back in any order.
            if turn == 1 && !self.eviction.is_random() {
                break;
            }
        }
        Ok(false)
    }

    /// Canaries that lose because another address overwrites them: known pairs, and pairs beside the one under test.
    fn pair_losers(&self, low: u64, high: u64) -> Vec<LosingSector> {
        let (unit, sectors) = (self.device.unit(), self.device.sectors());
        let met = self.pairs.iter().filter(|(a, b)| a.abs_diff(*b) != high - low).take(64);
        let mut losing_sectors: Vec<LosingSector> = met.map(|(a, b)| LosingSector { at: *a, by: Some(*b) }).collect();
        if losing_sectors.len() < 8 {
            let step = unit.max(8);
            let beside = (1..=16).map(|index| index * step).filter(|shift| high + shift + unit <= sectors);
            losing_sectors.extend(beside.map(|shift| LosingSector { at: low + shift, by: Some(high + shift) }));
        }
        losing_sectors
    }

    pub(super) fn structure(&mut self, low: u64, high: u64) -> Result<Repeat, End> {
        let period = high - low;
        let vague = Repeat { protected: 0, period, real: period, exact: false, straight: true };
        self.structure_by_order(low, high, vague).inspect_err(|_| {
            // This much is known even if the search ends early.
            self.loss_kind = LossKind::Repeats(vague);
        })
    }

    fn structure_by_order(&mut self, low: u64, high: u64, vague: Repeat) -> Result<Repeat, End> {
        let (found, stands) = self.straight(low, high)?.unwrap_or((vague, false));
        if stands || self.through.is_some() {
            return Ok(found);
        }
        // Some blocks of a stripe keep their order by chance, and may lead to a wrong period.
        Ok(self.striped(low, high)?.unwrap_or(found))
    }

    /// The structure if each period leads to the cells in the same order, and whether it was confirmed.
    fn straight(&mut self, low: u64, high: u64) -> Result<Option<(Repeat, bool)>, End> {
        let mut found = None;
        for _ in 0..ATTEMPTS {
            // With `through` the distance was divided once before, since each part uses up an address that was never
            // touched.
            let period = if self.through.is_some() { high - low } else { self.divide(low, high)? };
            if !self.confirms(period, low, high)? {
                break;
            }
            let protected = self.protected(period, low)?;
            let real = self.real_of(protected, period, 1)?;
            let exact = !self.ends_in_errors(protected, period, real);
            let repeat = Repeat { protected, period, real, exact, straight: true };
            if self.stands(&repeat)? {
                return Ok(Some((repeat, true)));
            }
            found = Some((Repeat { exact: false, ..repeat }, false));
            self.eviction.doubt();
        }
        Ok(found)
    }

    /// The smallest part of their distance at which addresses share the cell of these two.
    pub(super) fn divide(&mut self, low: u64, high: u64) -> Result<u64, End> {
        let distance = high - low;
        let powers = prime_powers(distance);
        let parts = powers.iter().map(|(_, power)| distance / power);
        let same: Vec<bool> = if self.through.is_some() {
            parts.map(|part| self.is_part(low, distance, part)).collect::<Result<_, _>>()?
        } else {
            self.same_cells(high, &parts.map(|part| high - part).collect::<Vec<u64>>())?
        };
        let mut largest = std::collections::BTreeMap::new();
        for ((prime, power), _) in powers.into_iter().zip(same).filter(|(_, same)| *same) {
            let known = largest.entry(prime).or_insert(1);
            *known = power.max(*known);
        }
        Ok(largest.values().fold(distance, |period, power| period / power))
    }

    /// Tests a structure at sectors that it was not found with. Sectors one period apart must share a cell, and sectors
    /// a part of the period apart must not. The protected part and the real one must end where the structure says.
    fn stands(&mut self, repeat: &Repeat) -> Result<bool, End> {
        let Repeat { protected, period, real, .. } = *repeat;
        let top = self.device.sectors() / self.device.unit() * self.device.unit();
        let mut pairs: Vec<(u64, u64, bool)> = Vec::new();
        let room = real.min(top.saturating_sub(protected + period));
        let mut insides = vec![0, room / 5 * 2, room / 3 * 2];
        // With `through` this was tested when the real part was searched, and used up an address that was never
        // touched.
        insides.extend(Some(room.saturating_sub(1)).filter(|_| self.through.is_none()));
        for inside in insides {
            pairs.push((protected + inside, protected + inside + period, true));
        }
        let begin = protected + real / 7;
        let parts = prime_powers(period).into_iter().filter(|(prime, power)| prime == power);
        pairs.extend(parts.map(|(prime, _)| (begin, begin + period / prime, false)));
        if let Some(below) = protected.checked_sub(1) {
            pairs.push((below, below + period, false));
        }
        // A block is one place: its sectors cannot be distinguished.
        let unit = self.device.unit();
        pairs.retain(|(low, high, _)| high + unit <= top && low / unit != high / unit);
        let all: Vec<(u64, u64)> = pairs.iter().map(|pair| (pair.0, pair.1)).collect();
        let shared = self.same_pairs(&all)?;
        let errs = |pair: &(u64, u64, bool)| self.device.is_bad(pair.0) || self.device.is_bad(pair.1);
        if pairs.iter().zip(shared).any(|(pair, same)| pair.2 != same && !errs(pair)) {
            return Ok(false);
        }
        Ok(self.ends(repeat, 1)? && self.keeps_the_order(repeat)?)
    }

    /// Whether a stretch longer than a stripe shows, one period behind, the order in which it was written. Blocks that
    /// are dealt out may be rotated by only a few, so that single places do not show it.
    fn keeps_the_order(&mut self, repeat: &Repeat) -> Result<bool, End> {
        let Repeat { protected, period, real, .. } = *repeat;
        let room = real.min(self.device.sectors().saturating_sub(protected + period));
        let length = room.min(ORDERED).min(period);
        if self.through.is_some() || length < PAGE_OF_CACHE {
            return Ok(true);
        }
        let written = self.device.place(protected + (room - length) / 2, length);
        self.write_backwards(written)?;
        // A period need not be a whole number of blocks.
        let from = written.at + period;
        let behind = self.device.place(from, written.sectors);
        // Whichever was written last: writes that evict caches may land in the same cells.
        let (here, there) = (self.device.origins(written)?, self.device.origins(behind)?);
        let there = there.into_iter().skip((from - behind.at) as usize);
        let inside = |at: u64| (protected..protected + real).contains(&at);
        let mut both = written.numbers().zip(here.into_iter().zip(there)).filter(|(at, _)| inside(*at));
        Ok(!both.any(|(_, (here, there))| here.is_some() && there.is_some() && here != there))
    }

    /// Whether a period holds data up to its stated end.
    pub(super) fn ends(&mut self, repeat: &Repeat, stripe: u64) -> Result<bool, End> {
        let Repeat { protected, period, real, .. } = *repeat;
        if real == period || real == 0 {
            return Ok(real > 0);
        }
        let structure = (protected, period, stripe);
        if !self.held_inside(structure, &[real - 1])?[0] || self.held_from(structure, &[real])?[0] {
            return Ok(false);
        }
        // Nothing behind the end may hold data, else the end is only a hole.
        let end = period.min(self.device.sectors().saturating_sub(protected));
        let last = self.steps().map_while(|step| end.checked_sub(step)).take_while(|inside| *inside > real);
        let behind: Vec<u64> = evenly_spaced(real, end, BEHIND).into_iter().chain(last).collect();
        Ok(behind.is_empty() || self.held_inside(structure, &behind)?.iter().all(|held| !held))
    }

    /// Whether pairs at this distance share a cell elsewhere too.
    fn confirms(&mut self, period: u64, low: u64, high: u64) -> Result<bool, End> {
        let (unit, sectors) = (self.device.unit(), self.device.sectors());
        let top = sectors - sectors % unit;
        // From the pair upwards every address leads to these cells too. With almost no room above, the addresses are
        // neighbours and prove no more than the pair. Then addresses below it are tested: they lead there unless they
        // are protected.
        let room = top.saturating_sub(low + period + unit);
        let part = |of: u64, part: u64| (of / 5 * part).max(part).min(of);
        let pairs: Vec<(u64, u64)> = (1..=5)
            .map(|index| if room < 2 * STRIPE { low - part(low, index) } else { low + part(room, index) })
            .filter(|at| *at != low && at + period < top)
            .map(|at| (at, at + period))
            .collect();
        let shared = self.same_pairs(&pairs)?;
        // A chain drops what is written to a part of its period.
        let known = shared.iter().filter(|same| **same).count();
        let mut lost = 0;
        for ((at, _), _) in pairs.iter().zip(&shared).filter(|(_, same)| !**same) {
            let place = self.device.place(*at, 1);
            lost += usize::from(
                self.device.check(place)?.iter().any(|seen| *seen == SeenStamp::Lost || *seen == SeenStamp::Before),
            );
        }
        if known > 0 && (known + lost) * 2 >= pairs.len() {
            return Ok(true);
        }
        // If almost nothing of a period holds, the same place is tested in later laps.
        let laps: Vec<(u64, u64)> = (0..=4)
            .map(|lap| (low + lap * period, low + (lap + 1) * period))
            .filter(|pair| pair.1 + unit <= top && *pair != (low, high))
            .collect();
        if !laps.is_empty() && self.same_pairs(&laps)?.iter().all(|same| *same) {
            return Ok(true);
        }
        // If less than two laps lie behind a protected part, pairs are tested from there downwards.
        let below = (STRIPE.ilog2()..64).map_while(|power| low.checked_sub(1 << power));
        let below: Vec<(u64, u64)> = below.map(|at| (at, at + period)).filter(|pair| pair.1 < top).collect();
        let same = self.same_pairs(&below)?;
        let known = same.iter().take_while(|same| **same).count();
        Ok(known >= LEAST_BELOW && same[known..].iter().all(|same| !same))
    }

    /// The lowest address that shares its cell with another.
    fn protected(&mut self, period: u64, low: u64) -> Result<u64, End> {
        if self.same_laps(period, &[0])?[0] {
            return Ok(0);
        }
        // First in steps of a period, which stay in the same cell; then within one period.
        let (mut above, mut below) = (low, None);
        let steps = low / period;
        let (mut good, mut bad) = (0, steps + 1);
        while bad - good > 1 {
            let width = bad - good;
            let probes: Vec<u64> = evenly_spaced(good, bad, 16.min(width));
            let others: Vec<u64> = probes.iter().map(|steps| low.saturating_sub(steps * period)).collect();
            let base = low + period;
            let known: Vec<bool> = if probes.is_empty() { Vec::new() } else { self.same_cells(base, &others)? };
            let valid = |steps: &u64| steps * period <= low;
            for (steps, same) in probes.iter().zip(known) {
                if same && valid(steps) {
                    good = good.max(*steps);
                } else {
                    bad = bad.min(*steps);
                }
            }
            if bad <= good {
                break;
            }
            let whole = probes.is_empty();
            if whole {
                break;
            }
        }
        above -= good * period;
        if let Some(lower) = above.checked_sub(period) {
            below = Some(lower);
        }
        // `above` shares a cell, `below` does not.
        let mut floor = below.map_or(0, |below| below + 1);
        while floor < above {
            let probes = evenly_spaced(floor.saturating_sub(1), above, self.probes());
            let probes: Vec<u64> = if probes.is_empty() { vec![floor] } else { probes };
            let shared = self.same_laps(period, &probes)?;
            for (at, same) in probes.iter().zip(shared) {
                if same {
                    above = above.min(*at);
                } else if *at < above {
                    floor = floor.max(at + 1);
                }
            }
        }
        Ok(above)
    }

    /// Distances from the end of a part that are tested. With `through`, all sectors in one page of a cache show the
    /// same.
    pub(super) fn steps(&self) -> impl Iterator<Item = u64> + use<D> {
        let least = if self.through.is_some() { PAGE_OF_CACHE } else { 1 };
        std::iter::once(1).chain((1..40).map(|power| 1 << power).filter(move |step| *step >= least))
    }

    /// How many places between two are tested in a round. With `through` it is one: each reading uses up an address
    /// that was never touched, and there are only as many of these as laps.
    pub(super) fn probes(&self) -> u64 {
        if self.through.is_some() { 1 } else { 24 }
    }

    /// Which of these addresses share a cell with the address one period behind. Where the medium errs there, an
    /// address some periods behind is used.
    fn same_laps(&mut self, period: u64, starts: &[u64]) -> Result<Vec<bool>, End> {
        let mut same = vec![false; starts.len()];
        let mut left: Vec<usize> = (0..starts.len()).collect();
        for lap in 1..=LAPS {
            let behind = |index: &usize| self.lap_at((starts[*index], period, 1), 0, lap);
            let (indexes, pairs): (Vec<usize>, Vec<(u64, u64)>) =
                left.iter().filter_map(|index| Some((*index, (starts[*index], behind(index)?)))).unzip();
            if pairs.is_empty() {
                break;
            }
            for (index, shared) in indexes.iter().zip(self.same_pairs(&pairs)?) {
                same[*index] = shared;
            }
            let errs = |pair: &(u64, u64)| self.device.is_bad(pair.1) && !self.device.is_bad(pair.0);
            left = indexes.into_iter().zip(pairs).filter(|(_, pair)| errs(pair)).map(|(index, _)| index).collect();
        }
        Ok(same)
    }

    /// How much of a period holds data, in sectors, where blocks are dealt out within stripes of `stripe` sectors.
    pub(super) fn real_of(&mut self, protected: u64, period: u64, stripe: u64) -> Result<u64, End> {
        let sectors = self.device.sectors();
        // Positions that were seen to drop what is written, from all findings so far.
        let mut dropped: Vec<u64> = Vec::new();
        for (sector, seen) in &self.first {
            let foreign_kin = match seen {
                SeenStamp::Foreign(origin) => {
                    origin.sector >= protected && origin.sector.abs_diff(*sector).is_multiple_of(period)
                }
                _ => false,
            };
            if *sector >= protected && seen.is_silent_loss() && !foreign_kin {
                dropped.push((sector - protected) % period);
            }
        }
        let ends: Vec<u64> = self
            .steps()
            .take_while(|step| *step <= period)
            .map(|step| period - step)
            .filter(|inside| protected + inside < sectors)
            .collect();
        let mut least_dropped = None;
        let mut most_held = 0;
        for (inside, held) in ends.iter().zip(self.held_from((protected, period, stripe), &ends)?) {
            if held {
                most_held = most_held.max(*inside + 1);
            } else {
                least_dropped = Some(least_dropped.unwrap_or(period).min(*inside));
            }
        }
        if let Some(first) = dropped.iter().min().copied() {
            // Tested again, since it may have been overwritten.
            if !self.held_from((protected, period, stripe), &[first])?[0] {
                least_dropped = Some(least_dropped.unwrap_or(period).min(first));
            }
        }
        let Some(mut high) = least_dropped else { return Ok(period) };
        let mut low = if most_held <= high { most_held } else { 0 };
        while low < high {
            let probes = evenly_spaced(low.saturating_sub(1), high, self.probes());
            let probes: Vec<u64> = if probes.is_empty() { vec![low] } else { probes };
            for (inside, held) in probes.iter().zip(self.held_from((protected, period, stripe), &probes)?) {
                if held && *inside < high {
                    low = low.max(inside + 1);
                } else if !held {
                    high = high.min(*inside);
                }
            }
        }
        Ok(high)
    }

    /// Whether positions of the first period hold data, or the blocks behind them do: a single bad cell is not the end.
    fn held_from(&mut self, structure: (u64, u64, u64), inside: &[u64]) -> Result<Vec<bool>, End> {
        let (protected, period, _) = structure;
        let (unit, sectors) = (self.device.unit(), self.device.sectors());
        let mut held = self.held_inside(structure, inside)?;
        let behind = |inside: &u64| Some(inside + unit).filter(|next| *next < period && protected + next < sectors);
        let lost: Vec<usize> = (0..inside.len()).filter(|index| !held[*index]).collect();
        let (lost, next): (Vec<usize>, Vec<u64>) =
            lost.into_iter().filter_map(|index| Some((index, behind(&inside[index])?))).unzip();
        if !next.is_empty() {
            for (index, next) in lost.into_iter().zip(self.held_inside(structure, &next)?) {
                held[index] = next;
            }
        }
        Ok(held)
    }

    /// Whether positions of a period hold data: they carry a stamp of their own cell, or of one in the same stripe.
    /// Where the medium errs in one lap, the same position in another lap decides.
    fn held_inside(&mut self, structure: (u64, u64, u64), inside: &[u64]) -> Result<Vec<bool>, End> {
        let mut held = vec![false; inside.len()];
        let mut left: Vec<usize> = (0..inside.len()).collect();
        for lap in 0..LAPS {
            let within = |index: &usize| self.lap_at(structure, inside[*index], lap);
            let (indexes, at): (Vec<usize>, Vec<u64>) = left.iter().filter_map(|i| Some((*i, within(i)?))).unzip();
            if at.is_empty() {
                break;
            }
            for (index, holds) in indexes.iter().zip(self.held_at(structure, &at)?) {
                held[*index] = holds;
            }
            left =
                indexes.into_iter().zip(at).filter(|(_, at)| self.device.is_bad(*at)).map(|(index, _)| index).collect();
        }
        Ok(held)
    }

    /// The sector of a position of the period in one of its laps; `None` behind the end of the device.
    fn lap_at(&self, (protected, period, _): (u64, u64, u64), inside: u64, lap: u64) -> Option<u64> {
        let unit = self.device.unit();
        let at = protected + inside + lap * period;
        (at < self.device.sectors() / unit * unit).then_some(at)
    }

    fn held_at(&mut self, (protected, period, stripe): (u64, u64, u64), at: &[u64]) -> Result<Vec<bool>, End> {
        if self.through.is_some() {
            let top = self.device.sectors() / self.device.unit() * self.device.unit();
            let lap = |at: u64| if at + period < top { Some(at + period) } else { at.checked_sub(period) };
            let lap = |at: u64| lap(at).filter(|other| *other >= protected);
            return at.iter().map(|at| lap(*at).map_or(Ok(false), |other| self.agree(*at, other))).collect();
        }
        self.device.begin_round();
        let places: Vec<SectorRange> = at.iter().map(|at| self.device.place(*at, 1)).collect();
        self.write_in_falling_order(&places)?;
        let bears = self.origins_at(at)?;
        let cell = |at: u64| at.checked_sub(protected).map(|behind| behind % period / stripe);
        let one_cell = |at: u64, origin: Origin| cell(at) == cell(origin.sector);
        Ok(at.iter().zip(bears).map(|(at, bears)| bears.is_some_and(|origin| one_cell(*at, origin))).collect())
    }

    /// Whether the protected part or the real one ends beside sectors with errors, so that its true end may lie among
    /// them.
    fn ends_in_errors(&self, protected: u64, period: u64, real: u64) -> bool {
        let below = protected.checked_sub(1).is_some_and(|below| {
            let mut laps = (1..=LAPS).filter_map(|lap| self.lap_at((below, period, 1), 0, lap));
            self.device.is_bad(below) || laps.all(|at| self.device.is_bad(at))
        });
        let mut laps = (0..LAPS).filter_map(|lap| self.lap_at((protected, period, 1), real, lap));
        below || (real < period && laps.all(|at| self.device.is_bad(at)))
    }
}
