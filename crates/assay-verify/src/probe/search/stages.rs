//! The stages of a probe: it searches for any loss, and if it finds one, for its kind.

use super::super::device::{Device, ProbeFault};
use super::super::plan::ProbeSettings;
use super::super::stamp::SeenStamp;
use super::eviction::{Eviction, LosingSector, Ring};
use super::map::Map;
use super::stamped::{BusFlush, End, ProbePhase, SectorRange, StampedDevice};

/// State of a probe.
pub(crate) struct Search<'s, 'a, D> {
    pub(crate) device: &'s mut StampedDevice<'a, D>,
    pub(crate) eviction: Eviction,
    /// Single places all over the device, in the order in which they were written.
    pub(crate) samples: Vec<SectorRange>,
    /// The range that was written sequentially to evict caches.
    pub(crate) run: SectorRange,
    /// The first finding of each sector of the samples.
    pub(crate) first: Vec<(u64, SeenStamp)>,
    /// Pairs of addresses where one carried the stamp of the other.
    pub(crate) pairs: Vec<(u64, u64)>,
    /// Whether addresses are known to share cells.
    pub(crate) shared: bool,
    /// Set where single reads of addresses that were never touched show which ones share cells: the period, or a
    /// multiple of it, and an address from which on all share cells.
    pub(crate) through: Option<(u64, u64)>,
    /// Start of a part at the end that has cells of its own, although addresses before it wrap around.
    pub(crate) tail: Option<u64>,
    /// Sectors that hold, the least and the most, if a test of all that was found left that open.
    pub(crate) between: Option<(u64, u64)>,
    /// Sectors that were shown to hold at once, in total and among the samples.
    pub(crate) at_once: u64,
    pub(crate) sampled_at_once: u64,
    /// Whether the first writes met a cache that is evicted by writes to the start of the device.
    pub(crate) small_cache: bool,
    /// Both addresses of a tested pair were already accessed, and so were all others of the same cell.
    pub(crate) undetermined: bool,
    pub(crate) map: Map,
    pub(crate) loss_kind: LossKind,
    /// Sectors written elsewhere before everything was read back, where nothing was lost.
    pub(crate) run_sectors: u64,
}

/// Sectors of a page of 4 KiB.
const PAGE: u64 = 8;
/// Places with stamps of others that are read again, to detect data left on the bus.
const SHOWN: usize = 12;
/// If this many places are lost and not one holds, the device keeps nothing.
pub(super) const LEAST_LOSING_SECTORS: usize = 16;
/// Attempts to find a structure.
pub(super) const ATTEMPTS: usize = 3;
/// Losing places that are kept as canaries.
const LOSING_SECTORS: usize = 256;

impl<'s, 'a, D: Device> Search<'s, 'a, D> {
    pub(crate) fn new(device: &'s mut StampedDevice<'a, D>, settings: &ProbeSettings) -> Self {
        let (sectors, unit) = (device.sectors(), device.unit());
        let most = (settings.run_bytes(sectors * 512) / 512).max(unit) / unit * unit;
        // From the first loss on, as much is written as eviction takes, within reason.
        let reach = settings.most_evicting_bytes(sectors * 512) / 512;
        // In a small device, several rings together must be as long as a cache.
        let seventh = (sectors / 7).max(1);
        let reach = reach / reach.div_ceil(seventh).clamp(1, 4) / unit * unit;
        let ring = |start: u64| Ring::new(SectorRange { at: start / unit * unit, sectors: reach.max(unit) });
        // One ring may lie where the medium errs.
        let rings = [6, 4, 2, 5].map(|part| ring(sectors / 7 * part)).to_vec();
        Self {
            eviction: Eviction::new(most, rings),
            run: SectorRange { at: sectors / unit * unit - most, sectors: most },
            device,
            samples: Vec::new(),
            first: Vec::new(),
            pairs: Vec::new(),
            shared: false,
            through: None,
            tail: None,
            between: None,
            at_once: 0,
            sampled_at_once: 0,
            small_cache: false,
            undetermined: false,
            map: Map::default(),
            loss_kind: LossKind::None,
            run_sectors: 0,
        }
    }

    /// Searches until it is known what the device is, and tests the result.
    pub(crate) fn work(&mut self) -> Result<(), End> {
        self.find()?;
        self.prove()
    }

    /// Searches until it is known what the device is.
    fn find(&mut self) -> Result<(), End> {
        self.device.phase = ProbePhase::Discovering;
        if !self.discover()? {
            return Ok(());
        }
        if matches!(
            self.loss_kind,
            LossKind::WritesRepeat { .. } | LossKind::Misaddressed(_) | LossKind::TakesMemory { .. }
        ) {
            // Any further write may destroy data that were never saved.
            self.first = self.device.findings.iter().map(|(sector, seen)| (*sector, *seen)).collect();
            self.map_samples();
            return Ok(());
        }
        self.take_evidence();
        if self.shows_the_bus()? {
            for place in self.samples.clone() {
                self.device.check(place)?;
            }
            self.take_evidence();
        }
        self.loss_kind = LossKind::Parts;
        let silent = self.first.iter().any(|(_, seen)| seen.is_silent_loss()) || !self.pairs.is_empty();
        if !silent {
            return self.find_where_it_errs();
        }
        if self.device.bus.is_none()
            && let Some(loss_kind) = self.retest()?
        {
            self.loss_kind = loss_kind;
            self.map_samples();
            return Ok(());
        }
        self.look_again()?;
        if self.keeps_next_to_nothing()
            && let Some(loss_kind) = self.newest()?
        {
            self.loss_kind = loss_kind;
            return Ok(());
        }
        if !self.eviction.hidden && self.pairs.is_empty() && self.is_scattered() {
            self.loss_kind = LossKind::Scattered;
        }
        // A loss is certain, whatever a cache shows of the places that were written later.
        if self.eviction.losing_sectors.len() > 8 && self.keeps_nothing() {
            // Data that land elsewhere are not lost.
            let distance = self.landing_distance()?;
            let distance = if distance.is_some() { distance } else { self.landing_distance_of_a_small_part()? };
            if let Some(distance) = distance {
                self.loss_kind = LossKind::Misaddressed(distance);
                self.map_samples();
                return Ok(());
            }
            self.loss_kind = LossKind::Stopped;
            return Err(End::Fault(ProbeFault::DropsWrites));
        }
        if let Some(loss_kind) = self.still_stores()? {
            self.loss_kind = loss_kind;
            self.map_samples();
            return if loss_kind_fails(&self.loss_kind) { Err(End::Fault(ProbeFault::DropsWrites)) } else { Ok(()) };
        }
        self.find_where_it_loses()
    }

    /// For losses: finds whether addresses wrap around or operations land elsewhere, and otherwise which parts hold.
    fn find_where_it_loses(&mut self) -> Result<(), End> {
        self.device.phase = ProbePhase::FindingPeriod;
        if self.starts_again(&self.pairs.clone())? {
            return Ok(());
        }
        if self.loss_kind != LossKind::Scattered {
            let distance = self.misdirected_distance()?;
            let distance = if distance.is_some() { distance } else { self.landing_distance()? };
            if let Some(distance) = distance {
                self.loss_kind = LossKind::Misaddressed(distance);
                self.map_samples();
                return Ok(());
            }
            if self.starts_again(&self.pairs.clone())? {
                return Ok(());
            }
        }
        self.device.phase = ProbePhase::Mapping;
        self.map_samples();
        if self.loss_kind != LossKind::Parts {
            return Ok(());
        }
        if self.eviction.losing_sectors.is_empty() {
            // Addresses that show other data do not share a cell with them, so they lose.
            self.watch(self.lost(|seen| seen.is_silent_loss()));
        }
        // Parts that hold may be the same memory: a chain, if no two samples met.
        let starts = self.some_starts()?;
        let pairs: Vec<(u64, u64)> = starts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        if !self.eviction.hidden && self.starts_again(&pairs)? {
            return Ok(());
        }
        self.narrow()?;
        if self.drops_everything()? || self.stopped_since()? {
            self.loss_kind = LossKind::Stopped;
            return Err(End::Fault(ProbeFault::DropsWrites));
        }
        Ok(())
    }

    /// For errors and wrong bits without losses: finds where they are.
    fn find_where_it_errs(&mut self) -> Result<(), End> {
        self.device.phase = ProbePhase::Mapping;
        self.map_samples();
        // Memory that is used up refuses new places, and takes writes to places that already have memory.
        if self.device.refuses_some() && (self.refuses_nearly_all() || self.still_stores()? == Some(LossKind::Thin)) {
            self.loss_kind = LossKind::Thin;
            return Ok(());
        }
        self.narrow()?;
        if !self.device.findings.values().any(|seen| seen.is_silent_loss()) {
            return Ok(());
        }
        // All that was written first held, but not what was written to locate the errors.
        self.map.unsteady = true;
        if let Some(loss_kind) = self.still_stores()? {
            self.loss_kind = loss_kind;
            return if loss_kind_fails(&self.loss_kind) { Err(End::Fault(ProbeFault::DropsWrites)) } else { Ok(()) };
        }
        Ok(())
    }

    /// Whether these pairs lead to a period. A buffer of the controller looks like a period of one page, if a cache
    /// shows the rest. In that case some places keep their data, although everything that was written since went over
    /// them.
    fn starts_again(&mut self, pairs: &[(u64, u64)]) -> Result<bool, End> {
        let Some(repeat) = self.repeat(pairs)? else { return Ok(false) };
        if repeat.period <= PAGE && self.is_the_bus(&repeat)? {
            (self.eviction.blind, self.shared) = (false, false);
            for place in self.samples.clone() {
                self.device.check(place)?;
            }
            self.take_evidence();
            return Ok(false);
        }
        self.loss_kind = LossKind::Repeats(repeat);
        Ok(true)
    }

    /// Whether what repeats is a buffer of the controller, which is no larger than a page. One is already known, or
    /// places behind the protected part keep their data.
    fn is_the_bus(&mut self, repeat: &Repeat) -> Result<bool, End> {
        if self.device.bus.is_some() {
            return Ok(true);
        }
        let shown = match self.shown_behind(repeat.protected)? {
            Some(page) => Some(page),
            None => self.lasting(repeat.protected)?.map(|place| self.page(place)),
        };
        self.device.bus = shown.map(BusFlush::Read);
        Ok(shown.is_some())
    }

    /// A page below `end` that shows at an address behind `end` which was never written, if the page was read last. No
    /// memory behind `end` holds it, if that part has cells of its own.
    fn shown_behind(&mut self, end: u64) -> Result<Option<SectorRange>, End> {
        let held = |place: &&SectorRange| place.end() <= end && self.held_whole(place);
        let pages: Vec<SectorRange> =
            self.samples.iter().filter(held).take(SHOWN).map(|place| self.page(*place)).collect();
        let beside = self.samples.iter().filter(|place| place.at >= end).map(|place| place.end() + PAGE);
        let beside: Vec<u64> =
            beside.filter(|at| *at < self.device.sectors() && !self.device.was_written(*at)).take(SHOWN).collect();
        for (page, at) in pages.into_iter().zip(beside.into_iter().cycle()) {
            self.device.check(page)?;
            if self.device.origin_at(at)?.is_some_and(|origin| page.numbers().contains(&origin.sector)) {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    /// Whether all of a place was last seen to hold, and the place contains a whole page wherever it begins.
    fn held_whole(&self, place: &SectorRange) -> bool {
        let seen = |sector| self.device.findings.get(&sector).is_some_and(|seen| *seen == SeenStamp::Holds);
        place.sectors >= 2 * PAGE && place.numbers().all(seen)
    }

    /// Whether places with stamps of others show whatever was written just before: then they show what is left in a
    /// buffer of the controller.
    fn shows_the_bus(&mut self) -> Result<bool, End> {
        let wide = |place: &&SectorRange| place.sectors >= 16;
        let flushes: Vec<SectorRange> =
            self.samples.iter().filter(wide).take(2).map(|place| self.page(*place)).collect();
        let [one, other] = flushes[..] else { return Ok(false) };
        let foreign = |(sector, seen): &(u64, SeenStamp)| matches!(seen, SeenStamp::Foreign(_)).then_some(*sector);
        let foreign: Vec<u64> = self.first.iter().filter_map(foreign).collect();
        // From the whole device: a cache that is filled by reading shows some samples as they were read before.
        let step = foreign.len().div_ceil(SHOWN).max(1);
        let foreign: Vec<u64> = foreign.into_iter().step_by(step).collect();
        let (mut changing, mut apart) = (0, 0);
        // Each is read once: a cache that reading fills shows the same again.
        for (sector, flush) in foreign.iter().zip([one, other].into_iter().cycle()) {
            self.device.begin_round();
            self.device.write(flush)?;
            let Some(origin) = self.device.origin_at(*sector)? else { continue };
            changing += usize::from(flush.numbers().contains(&origin.sector));
            apart = divisor(apart, origin.sector.abs_diff(*sector));
        }
        // If all of them are whole periods away, the writes overwrote a window of almost no memory. A buffer has a
        // position for each sector of a page.
        if changing * 2 <= foreign.len() || apart > PAGE {
            return Ok(false);
        }
        self.device.bus = Some(match self.lasting(0)? {
            Some(place) => BusFlush::Read(self.page(place)),
            None => {
                // They are written so often that a cache may show them at any check.
                self.samples.retain(|place| !place.meets(one) && !place.meets(other));
                [one, other].into_iter().for_each(|place| self.device.forget(place));
                BusFlush::Write(one, other)
            }
        });
        Ok(true)
    }

    /// The first whole page of a place.
    fn page(&self, place: SectorRange) -> SectorRange {
        self.device.place(place.at.next_multiple_of(PAGE), PAGE)
    }

    /// A place behind `from` that still holds after caches were evicted. Each reading would renew a place that only a
    /// cache shows.
    fn lasting(&mut self, from: u64) -> Result<Option<SectorRange>, End> {
        let held = |place: &&SectorRange| place.at >= from && self.held_whole(place);
        let held: Vec<SectorRange> = self.samples.iter().filter(held).copied().collect();
        if held.is_empty() {
            return Ok(None);
        }
        let mut clear = held.clone();
        clear.sort_unstable();
        self.device.begin_round();
        self.eviction.evict_most(self.device, &clear)?;
        for place in held {
            if self.device.check(place)?.iter().all(|seen| *seen == SeenStamp::Holds) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Reads the samples again after caches are known to be evicted: a cache may have shown those that held.
    fn look_again(&mut self) -> Result<(), End> {
        self.device.begin_round();
        self.eviction.keep = self.samples.clone();
        self.eviction.evict(self.device, &[])?;
        self.eviction.keep.clear();
        let mut held = 0;
        for place in self.samples.clone() {
            held += self.device.check(place)?.iter().filter(|seen| **seen == SeenStamp::Holds).count() as u64;
        }
        self.sampled_at_once = held;
        self.take_evidence();
        Ok(())
    }

    /// Derives evidence from the samples: canaries, and pairs of addresses.
    fn take_evidence(&mut self) {
        if self.device.bus.is_some() {
            self.pairs.clear();
            self.device.foreign_stamps.clear();
        }
        self.first = self.device.findings.iter().map(|(sector, seen)| (*sector, *seen)).collect();
        for (sector, seen) in &self.first {
            if let SeenStamp::Foreign(origin) = seen {
                self.pairs.push((*sector, origin.sector));
            }
        }
        for (sector, origin) in &self.device.foreign_stamps {
            if *sector != origin.sector {
                self.pairs.push((*sector, origin.sector));
            }
        }
        // Pairs of consecutive sectors at one distance prove no more than one of them.
        self.pairs.sort_unstable();
        self.pairs.dedup_by_key(|(a, b)| (a.abs_diff(*b), *a < *b, *a / 64));
        let lost = |seen: &SeenStamp| seen.is_silent_loss() && !matches!(seen, SeenStamp::Foreign(_));
        let is_lost = |at: &u64| self.device.findings.get(at).is_some_and(lost);
        let samples: Vec<u64> = self.samples.iter().flat_map(|place| place.numbers()).filter(is_lost).collect();
        // If no sample is lost, the lost sectors of the run are used.
        self.watch(if samples.is_empty() { self.lost(lost) } else { samples });
    }

    /// Sectors whose first finding is of this sort.
    fn lost(&self, sort: impl Fn(&SeenStamp) -> bool) -> Vec<u64> {
        self.first.iter().filter(|(_, seen)| sort(seen)).map(|(sector, _)| *sector).collect()
    }

    /// Takes losing places as canaries, one of each page.
    fn watch(&mut self, mut lost: Vec<u64>) {
        let page = self.device.unit().max(PAGE);
        lost.dedup_by_key(|at| *at / page);
        let step = (lost.len() / LOSING_SECTORS).max(1);
        self.eviction.losing_sectors =
            lost.into_iter().step_by(step).map(|at| LosingSector { at, by: None }).take(LOSING_SECTORS).collect();
        // Neighbours are evicted together, so canaries are taken from the whole device.
        let count = self.eviction.losing_sectors.len();
        if count > 8 {
            let stride = (count / 4).max(1);
            let mut spread = Vec::with_capacity(count);
            for start in 0..stride {
                spread.extend(self.eviction.losing_sectors.iter().skip(start).step_by(stride).copied());
            }
            self.eviction.losing_sectors = spread;
        }
    }

    /// Whether nothing is kept anywhere, except for the latest writes, which a cache may show.
    fn keeps_nothing(&self) -> bool {
        // Data that show anywhere are stored, even if they landed beside the first sector of their place.
        let lost = |place: &SectorRange| {
            place.numbers().all(|sector| {
                let seen = self.device.findings.get(&sector);
                seen.is_some_and(|seen| matches!(seen, SeenStamp::Before | SeenStamp::Older | SeenStamp::Unreadable))
            })
        };
        let last = self.samples.iter().rposition(lost);
        last.is_some_and(|last| last >= LEAST_LOSING_SECTORS && self.samples[..=last].iter().all(lost))
    }

    /// Bytes that were shown to hold at once, at least a sector.
    pub(crate) fn shown_at_once(&self) -> u64 {
        // Where a cache shows what was written, the samples prove nothing.
        let shown = self.eviction.hidden || self.eviction.losing_sectors.is_empty() || self.through.is_some();
        let samples = if shown { 0 } else { self.sampled_at_once };
        samples.max(self.at_once).max(1) * assay_core::verification::SECTOR_BYTES
    }

    /// Whether five in six of the samples can be read but refuse writes, and some hold.
    fn refuses_nearly_all(&self) -> bool {
        let refused = self.samples.iter().filter(|place| self.device.is_refused(place.at)).count();
        let keeps = |place: &&SectorRange| self.device.findings.get(&place.at).is_some_and(|seen| seen.keeps());
        refused * 6 >= self.samples.len() * 5 && self.samples.iter().any(|place| keeps(&place))
    }

    /// Whether none of the samples holds, or next to none.
    fn keeps_next_to_nothing(&self) -> bool {
        let keeps = |place: &&SectorRange| {
            place.numbers().any(|sector| self.device.findings.get(&sector).is_some_and(|seen| seen.keeps()))
        };
        self.samples.len() >= LEAST_LOSING_SECTORS
            && self.samples.iter().filter(keeps).count() * 50 <= self.samples.len()
    }

    /// Whether sectors are wrong here and there, with good ones between.
    fn is_scattered(&self) -> bool {
        let (mut torn, mut whole, mut holds, mut loses) = (0, 0, 0, 0);
        for place in &self.samples {
            let kept: Vec<bool> = place
                .numbers()
                .filter_map(|sector| self.device.findings.get(&sector))
                .filter(|seen| !matches!(seen, SeenStamp::Foreign(_) | SeenStamp::Unreadable))
                .map(|seen| seen.keeps())
                .collect();
            holds += kept.iter().filter(|kept| **kept).count();
            loses += kept.iter().filter(|kept| !**kept).count();
            let turns = kept.windows(2).filter(|pair| pair[0] != pair[1]).count();
            if turns >= 2 {
                torn += 1;
            } else if kept.first() == Some(&false) && turns == 0 && kept.len() > 1 {
                whole += 1;
            }
        }
        torn > 0 && whole == 0 && loses < holds
    }
}

/// The greatest number that divides both (Euclid); 0 is divided by every number.
pub(super) fn divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { divisor(other, one % other) }
}

fn loss_kind_fails(loss_kind: &LossKind) -> bool {
    *loss_kind == LossKind::Stopped
}

// Kinds of losses.

/// What the losses of a device are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LossKind {
    /// There are none.
    None,
    /// Addresses wrap around.
    Repeats(Repeat),
    /// Only writes wrap around, after `period` sectors.
    WritesRepeat {
        /// The period in sectors. Only this much holds.
        period: u64,
        /// Whether it is known to the sector.
        exact: bool,
    },
    /// Some parts hold, others do not.
    Parts,
    /// Memory is given to what is written first, until it is used up.
    Thin,
    /// Every write from some moment on was dropped.
    Stopped,
    /// Operations land elsewhere; the distance in sectors.
    Misaddressed(i64),
    /// Single sectors are wrong, here and there.
    Scattered,
    /// What was written is lost after a while.
    Decays,
    /// Writes are dropped or exchanged now and then. Places that lost keep what is written again.
    Unreliable,
    /// All that was written held, and places that were only read lost their data meanwhile.
    TakesMemory {
        /// Number of places that changed.
        lost: usize,
        /// Places that were only read.
        of: usize,
    },
    /// All that was tested held, but this many places read differently than before, after they were restored.
    NotPutBack(usize),
    /// Each write replaces the oldest data, wherever it is sent. The amount of new data that is kept, in sectors.
    Newest {
        /// This much was kept.
        least: u64,
        /// This much was not kept.
        most: u64,
    },
}

/// How addresses wrap around, in sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// Addresses below this have cells of their own.
    pub(crate) protected: u64,
    /// Sectors behind the protected part after which addresses wrap around.
    pub(crate) period: u64,
    /// Sectors from the start of each period that hold data.
    pub(crate) real: u64,
    /// Whether all of this is exact to the sector.
    pub(crate) exact: bool,
    /// Whether each period leads to the cells in the same order.
    pub(crate) straight: bool,
}

impl Repeat {
    /// The first address of the cell that `sector` leads to.
    fn cell(&self, sector: u64) -> u64 {
        sector.checked_sub(self.protected).map_or(sector, |behind| self.protected + behind % self.period)
    }

    /// Whether two addresses may share a cell, where blocks are dealt out within at most `stripe` sectors.
    pub(crate) fn may_be_one(&self, one: u64, other: u64, stripe: u64) -> bool {
        let stripe = if self.straight { 1 } else { stripe };
        self.cell(one) / stripe == self.cell(other) / stripe
    }

    /// Whether a sector shows the data of another because both share a cell. An address without memory may show
    /// anything.
    pub(crate) fn explains(&self, shown: u64, sent: u64) -> bool {
        let holds_all = self.straight && self.real == self.period;
        !holds_all || self.cell(shown) == self.cell(sent)
    }
}
