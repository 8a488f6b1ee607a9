//! Evicts caches of the medium by writing elsewhere.

use super::super::device::Device;
use super::super::plan::LOSSY;
use super::super::stamp::SeenStamp;
use super::stamped::{End, PAGE_OF_CACHE, SectorRange, StampedDevice};

/// Bytes of a sector.
const SECTOR: u64 = 512;
/// A write of more than this goes past the few KiB that media keep for random writes (f3, issue 50).
const SMALL: u64 = (32 << 10) / SECTOR;
/// One write of a run.
const LARGE: u64 = (1 << 20) / SECTOR;
/// This much is evicted by small writes, since media may have a separate cache for these: 8 KiB was seen. More small
/// writes take too long on cards.
const MOST_SMALL: u64 = (8 << 20) / SECTOR;

/// Places that are written to evict what was written before: a ring, written in turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    pub(crate) area: SectorRange,
    next: u64,
}

impl Ring {
    pub(crate) fn new(area: SectorRange) -> Self {
        Self { area, next: 0 }
    }

    /// Writes `small` sectors in small parts in descending order, then `large` sectors sequentially. Leaves alone the
    /// ranges in `clear`, which is sorted. Returns false if the medium errs instead.
    pub(super) fn write_elsewhere<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        small: u64,
        large: u64,
        clear: &[SectorRange],
    ) -> Result<bool, End> {
        for (sectors, part) in [(small, SMALL), (large, LARGE)] {
            let mut left = sectors;
            while left > 0 {
                // Half of a part need not be a whole number of blocks.
                let stretch = self.take(LARGE.min(left.max(SMALL)).next_multiple_of(device.unit()));
                if stretch.sectors == 0 {
                    return Ok(true);
                }
                let free = without(stretch, clear);
                device.save(&free)?;
                // From its end to its start: no write begins where the last one ended.
                for row in free.iter().rev() {
                    let starts: Vec<u64> = (row.at..row.end()).step_by(part as usize).collect();
                    for at in starts.into_iter().rev() {
                        device.write(SectorRange { at, sectors: part.min(row.end() - at) })?;
                    }
                }
                if !free.is_empty() && free.iter().all(|row| device.is_bad(row.at)) {
                    return Ok(false);
                }
                left = left.saturating_sub(stretch.sectors);
            }
        }
        Ok(true)
    }

    /// Sectors until the ring starts over.
    fn left(&self) -> u64 {
        if self.is_full() { self.area.sectors } else { self.area.sectors - self.next }
    }

    fn is_full(&self) -> bool {
        self.next >= self.area.sectors
    }

    fn take(&mut self, sectors: u64) -> SectorRange {
        if self.is_full() {
            self.next = 0;
        }
        let at = self.area.at + self.next;
        let sectors = sectors.min(self.area.end() - at);
        self.next += sectors;
        SectorRange { at, sectors }
    }
}

/// The parts of `stretch` that lie outside of all ranges in `clear`, which is sorted.
pub(crate) fn without(stretch: SectorRange, clear: &[SectorRange]) -> Vec<SectorRange> {
    let from = clear.partition_point(|place| place.end() <= stretch.at);
    let mut rows = Vec::new();
    let mut at = stretch.at;
    for place in clear[from..].iter().take_while(|place| place.at < stretch.end()) {
        if place.at > at {
            rows.push(SectorRange { at, sectors: place.at - at });
        }
        at = at.max(place.end());
    }
    if at < stretch.end() {
        rows.push(SectorRange { at, sectors: stretch.end() - at });
    }
    rows
}

/// A sector that loses its data: by itself, or as soon as another one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LosingSector {
    pub(crate) at: u64,
    pub(crate) by: Option<u64>,
}

/// What is known about the caches.
#[derive(Debug)]
pub(crate) struct Eviction {
    pub(crate) losing_sectors: Vec<LosingSector>,
    next_losing_sector: usize,
    rings: Vec<Ring>,
    /// Ring that is written.
    next_ring: usize,
    /// Number of rings that are written in turn: a ring that is shorter than a cache stays in it.
    in_turn: usize,
    /// Whether to evict without a known canary, by writing as much as before any result was accepted.
    pub(crate) blind: bool,
    /// Places that must not be overwritten.
    pub(crate) keep: Vec<SectorRange>,
    /// The most sectors that were written elsewhere until all canaries were dead.
    usual: u64,
    /// Sectors after which half of the canaries were dead.
    half: u64,
    /// The largest cache that is still evicted, in sectors.
    limit: u64,
    /// Whether canaries of the same age died at different times: the cache replaces at random.
    mixed: bool,
    /// Canaries outlived the limit.
    pub(crate) hidden: bool,
}

/// Canaries of a round. The probability that random replacement kills all of them between one check and the next, and
/// none before, is 0.5^16.
const CANARIES: usize = 8;
/// With random replacement, this many times the sectors that killed half of the canaries are written. A page survives
/// with a probability of 2^-12 or less, since checks are a factor of two apart.
const HALVES: u64 = 12;
/// After this many times that amount, a cache holds no page that it held before.
const OUTLIVED: u64 = 24;

impl Eviction {
    /// Evicts caches of `usually` sectors, and of several times as many where losses are known.
    pub(crate) fn new(usually: u64, rings: Vec<Ring>) -> Self {
        let length = rings.first().map_or(1, |ring| ring.area.sectors).max(1);
        let in_turn = (usually * LOSSY).div_ceil(length).clamp(1, rings.len().max(1) as u64) as usize;
        Self {
            in_turn,
            losing_sectors: Vec::new(),
            next_losing_sector: 0,
            rings,
            next_ring: 0,
            blind: false,
            keep: Vec::new(),
            usual: 0,
            half: 0,
            limit: usually * LOSSY,
            mixed: false,
            hidden: false,
        }
    }

    /// Size of a cache that was met, in bytes.
    pub(crate) fn cache_bytes(&self) -> Option<u64> {
        (self.usual > 0).then_some(self.usual * SECTOR)
    }

    /// Evicts what was written before in this round. Canaries are written last, at places that are known to lose. When
    /// they are dead, everything older is out of the caches too. Without such a place nothing is done, unless `blind`
    /// is set.
    pub(crate) fn evict<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        tests: &[SectorRange],
    ) -> Result<(), End> {
        self.evict_by(device, tests, self.blind)
    }

    /// The same, and without a known canary as much is written as before any result was accepted.
    pub(crate) fn evict_all_the_same<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        tests: &[SectorRange],
    ) -> Result<(), End> {
        self.evict_by(device, tests, true)
    }

    fn evict_by<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        tests: &[SectorRange],
        blind: bool,
    ) -> Result<(), End> {
        device.settle()?;
        let canaries = self.choose(device, tests);
        if canaries.is_empty() && !blind {
            return Ok(());
        }
        if canaries.is_empty() {
            // As much as before any result was accepted.
            let mut clear = [tests, &self.keep].concat();
            clear.sort_unstable();
            self.write_elsewhere(device, self.usual.max(self.limit / LOSSY), &clear)?;
            return device.settle();
        }
        let places = write_canaries(device, &canaries)?;
        let mut clear = [tests, &places, &self.keep].concat();
        clear.sort_unstable();
        if let Some((total, half)) = self.outlive(device, &canaries, &clear)? {
            self.usual = self.usual.max(total);
            // Later rounds begin with more, and learn nothing from it.
            self.half = if self.half == 0 { half } else { self.half };
            let enough = if self.mixed { self.half * HALVES } else { total + (total * 7).min((4 << 20) / SECTOR) };
            self.write_elsewhere(device, enough.saturating_sub(total), &clear)?;
        }
        device.settle()
    }

    /// Writes elsewhere until all canaries are dead. Returns how many sectors that took, and how many until half of
    /// them were dead. `None` if no write was needed, or if some are alive at the end.
    fn outlive<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        canaries: &[LosingSector],
        clear: &[SectorRange],
    ) -> Result<Option<(u64, u64)>, End> {
        let (mut total, mut half) = (0, None);
        let mut step = self.usual;
        loop {
            if step > 0 {
                self.write_elsewhere(device, step, clear)?;
                total += step;
            }
            let mut alive = Vec::new();
            for canary in canaries {
                let place = device.place(canary.at, 1);
                let seen = device.check(place)?;
                // A cache changes no bits, so bad cells hold this sector. Some writes leave less in bad cells than
                // others.
                if seen.iter().any(|seen| matches!(seen, SeenStamp::Changed | SeenStamp::Worn)) {
                    self.losing_sectors.retain(|losing| losing != canary);
                } else if seen.get((canary.at - place.at) as usize) == Some(&SeenStamp::Holds) {
                    // In a block with one bad sector, the other sectors hold for ever.
                    alive.push(*canary);
                }
            }
            if half.is_none() && alive.len() * 2 <= canaries.len() {
                half = Some(total);
            }
            // Alive long after the others died: these hold. They had been overwritten when they were taken for lost.
            let hold = half.is_some_and(|half| total >= (half * OUTLIVED).max((1 << 20) / SECTOR));
            if alive.is_empty() || hold {
                self.losing_sectors.retain(|losing| !alive.contains(losing));
                return Ok(half.filter(|_| total > 0).map(|half| (total, half)));
            }
            self.mixed |= alive.len() < canaries.len() && total > 0;
            // In some caches a check renews the canary. Only what is written between two checks evicts it there.
            if step >= self.limit {
                // A pair that shares no cell proves nothing about a cache.
                if canaries.iter().all(|canary| canary.by.is_some()) {
                    self.losing_sectors.retain(|losing| !canaries.contains(losing));
                } else {
                    self.hidden = true;
                }
                return Ok(None);
            }
            step = total.clamp(self.limit.min(128), self.limit);
        }
    }

    /// Writes elsewhere as much as is ever written against a cache, where no losing place is known.
    pub(crate) fn evict_most<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        clear: &[SectorRange],
    ) -> Result<(), End> {
        device.settle()?;
        self.write_elsewhere(device, self.limit, clear)?;
        device.settle()
    }

    /// Writes this many sectors elsewhere, at most as many as are ever written against a cache.
    pub(crate) fn write_against<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        sectors: u64,
        clear: &[SectorRange],
    ) -> Result<(), End> {
        self.write_elsewhere(device, sectors.min(self.limit), clear)?;
        device.settle()
    }

    /// The most sectors that are ever written against a cache.
    pub(crate) fn most(&self) -> u64 {
        self.limit
    }

    /// Notes that a result was not confirmed: from now on more is written.
    pub(crate) fn doubt(&mut self) {
        if self.blind && self.losing_sectors.is_empty() {
            // This much is written without any canary.
            self.usual = self.usual.max(self.limit / LOSSY);
        }
        self.usual = (self.usual * 2).clamp(self.limit.min((1 << 20) / SECTOR), self.limit);
        self.half *= 2;
    }

    /// Whether a cache was found that is larger than what is evicted where no loss is known.
    pub(crate) fn is_large(&self) -> bool {
        self.usual > self.limit / LOSSY
    }

    /// Whether a cache may give up any page next.
    pub(crate) fn is_random(&self) -> bool {
        self.mixed
    }

    fn write_elsewhere<D: Device>(
        &mut self,
        device: &mut StampedDevice<'_, D>,
        sectors: u64,
        clear: &[SectorRange],
    ) -> Result<(), End> {
        let (mut small, mut left, mut erred) = (sectors.min(MOST_SMALL), sectors, 0);
        while left > 0 && erred < self.rings.len() {
            let ring = &mut self.rings[self.next_ring];
            let part = if self.in_turn > 1 { left.min(ring.left()) } else { left };
            let part_small = small.min(part);
            if !ring.write_elsewhere(device, part_small, part - part_small, clear)? {
                erred += 1;
                self.next_ring = (self.next_ring + 1) % self.rings.len();
                continue;
            }
            (small, left) = (small - part_small, left - part);
            if self.in_turn > 1 && ring.is_full() {
                self.next_ring = (self.next_ring + 1) % self.in_turn;
            }
        }
        Ok(())
    }

    /// Takes the next canaries in turn. A canary inside of a ring shares cache pages with what is written there, and
    /// stays in the cache. Such canaries are taken only if there are not enough others.
    fn choose<D: Device>(&mut self, device: &StampedDevice<'_, D>, tests: &[SectorRange]) -> Vec<LosingSector> {
        let away = |losing: &LosingSector, rings: &[Ring]| {
            [Some(losing.at), losing.by].into_iter().flatten().all(|at| {
                rings.iter().all(|ring| at + PAGE_OF_CACHE <= ring.area.at || at >= ring.area.end() + PAGE_OF_CACHE)
            })
        };
        let chosen = self.choose_from(device, tests, away);
        if chosen.len() == CANARIES { chosen } else { self.choose_from(device, tests, |_, _| true) }
    }

    fn choose_from<D: Device>(
        &mut self,
        device: &StampedDevice<'_, D>,
        tests: &[SectorRange],
        suits: impl Fn(&LosingSector, &[Ring]) -> bool,
    ) -> Vec<LosingSector> {
        let mut chosen: Vec<LosingSector> = Vec::new();
        for _ in 0..self.losing_sectors.len() {
            let losing = self.losing_sectors[self.next_losing_sector % self.losing_sectors.len()];
            self.next_losing_sector += 1;
            let places = [Some(losing.at), losing.by].into_iter().flatten().map(|at| device.place(at, 1));
            let free = places.clone().all(|place| !tests.iter().any(|test| test.meets(place)));
            let other = chosen.iter().all(|one| device.place(one.at, 1) != device.place(losing.at, 1));
            if free && other && !device.is_bad(losing.at) && suits(&losing, &self.rings) {
                chosen.push(losing);
            }
            if chosen.len() == CANARIES {
                break;
            }
        }
        chosen
    }
}

/// Writes canaries in descending order, and after them the sectors that overwrite them. Returns their places.
fn write_canaries<D: Device>(
    device: &mut StampedDevice<'_, D>,
    canaries: &[LosingSector],
) -> Result<Vec<SectorRange>, End> {
    let at = canaries.iter().map(|losing| losing.at);
    let by = canaries.iter().filter_map(|losing| losing.by);
    let mut by: Vec<SectorRange> = by.map(|at| device.place(at, 1)).collect();
    let mut at: Vec<SectorRange> = at.map(|at| device.place(at, 1)).filter(|place| !by.contains(place)).collect();
    device.save(&[&at[..], &by].concat())?;
    for places in [&mut at, &mut by] {
        places.sort_unstable();
        for place in places.iter().rev() {
            device.write(*place)?;
        }
    }
    device.settle()?;
    Ok([at, by].concat())
}
