//! Searches for any loss.

use rand_core::Rng;

use super::super::device::{Device, ProbeFault};
use super::super::plan::{ASKED_AGAIN, LEAST_VERIFIED, MET, PARTS, READINGS, TEETH, WIDE, WITNESSES, shifts};
use super::super::stamp::SeenStamp;
use super::eviction::without;
use super::map::State;
use super::periods::evenly_spaced;
use super::stages::{LossKind, Search};
use super::stamped::{End, Glance, SectorRange, StampedDevice};

/// Length in sectors of the comb that meets a window of addresses behind a protected part: 64 MiB.
const NEAR: u64 = (64 << 20) / 512;
/// Each single read is shifted by a random distance of at most the step divided by this.
const SHIFTED: u64 = 8;

impl<D: Device> Search<'_, '_, D> {
    /// Whether anything was lost.
    pub(crate) fn discover(&mut self) -> Result<bool, End> {
        self.device.begin_round();
        let small = power_of_two_places(self.device);
        let wide = stratified_places(self.device, &small, self.run);
        self.samples = without_repetition([small, wide].concat());
        let samples = self.samples.clone();
        // Before anything else, as it may drive what is saved out of a cache that spares the cells.
        let witnesses = self.witnesses(&samples)?;
        self.device.expected = (samples.len() + self.verified(&samples).len()) as u64;
        self.device.save(&samples)?;
        self.same_medium(&witnesses)?;
        let written = self.first_writes(&samples)?;
        if self.loss_kind != LossKind::None {
            return Ok(true);
        }
        for place in &samples[written..] {
            self.device.write(*place)?;
        }
        self.device.settle()?;
        if self.all_back()? {
            return Ok(true);
        }
        let lost = self.write_run_between(&samples)?;
        if lost || self.all_back()? {
            return Ok(true);
        }
        self.push_through(&samples)?;
        Ok(self.comb()? || self.read_on(&samples)? || self.lost_untouched(&witnesses)? || self.erred_elsewhere())
    }

    /// Writes most of the run once more. To take this, a cache that holds back the latest writes must give up the end
    /// of the run. The cache is no larger than the run, so it then holds nothing of the part that is written again. At
    /// least [`MET`] of the run has therefore reached the memory when the run is searched for elsewhere.
    fn push_through(&mut self, samples: &[SectorRange]) -> Result<(), End> {
        self.device.begin_round();
        let (share, of) = MET;
        let end = self.run.at + self.run.sectors / of * share;
        for stretch in self.clear_run(samples).into_iter().filter(|stretch| stretch.at < end) {
            self.device.write(stretch)?;
        }
        self.device.settle()
    }

    /// Reads back the run, all of it if it is short, and the samples again after each part of it. What is read in
    /// between evicts the samples from a cache that is filled by reading and spares the cells.
    fn read_on(&mut self, samples: &[SectorRange]) -> Result<bool, End> {
        let verified = self.verified(samples);
        let each = verified.len().div_ceil(READINGS - 2).max(1);
        let mut parts = verified.chunks(each);
        let mut lost = false;
        for _ in 2..READINGS {
            for place in parts.next().unwrap_or_default() {
                lost |= self.is_lost(*place)?;
            }
            if lost {
                continue;
            }
            let mut worn = false;
            for place in samples {
                let page = SectorRange { sectors: place.sectors.min(8), ..*place };
                worn |= self.is_lost(page)?;
            }
            if worn {
                self.loss_kind = LossKind::Decays;
                return Ok(true);
            }
        }
        Ok(lost)
    }

    fn is_lost(&mut self, place: SectorRange) -> Result<bool, End> {
        Ok(self.device.check(place)?.iter().any(|seen| *seen != SeenStamp::Holds))
    }

    /// Reads all samples back. Returns whether any was lost, or shows the data of another place.
    pub(super) fn all_back(&mut self) -> Result<bool, End> {
        let mut lost = !self.device.foreign_stamps.is_empty();
        for place in self.samples.clone() {
            lost |= self.is_lost(place)?;
        }
        Ok(lost)
    }

    /// Writes a run between the samples, and tests on the way whether one of them is already lost.
    fn write_run_between(&mut self, samples: &[SectorRange]) -> Result<bool, End> {
        self.device.begin_round();
        let clear = self.clear_run(samples);
        let watched: Vec<SectorRange> =
            samples.iter().take(12).chain(samples.iter().skip(samples.len() / 2).take(4)).copied().collect();
        let (mut written, mut next) = (0, (1 << 20) / 512);
        for stretch in clear {
            self.device.save(&[stretch])?;
            self.device.write(stretch)?;
            written += stretch.sectors;
            self.run_sectors = written;
            if written >= next {
                next = written * 2;
                self.device.settle()?;
                let mut lost = false;
                for place in &watched {
                    lost |= self.is_lost(*place)?;
                }
                if lost {
                    return self.all_back();
                }
            }
        }
        self.device.settle()?;
        Ok(false)
    }

    /// The run without the samples in it, in parts of at most 1 MiB.
    fn clear_run(&self, samples: &[SectorRange]) -> Vec<SectorRange> {
        let mut clear = samples.to_vec();
        clear.sort_unstable();
        let rows = without(self.run, &clear);
        rows.into_iter()
            .flat_map(|row| {
                let large = (1 << 20) / 512;
                (row.at..row.end())
                    .step_by(large as usize)
                    .map(move |at| SectorRange { at, sectors: large.min(row.end() - at) })
            })
            .collect()
    }

    /// The parts of the run that are read back: all of a short one, else [`LEAST_VERIFIED`] all over it.
    fn verified(&self, samples: &[SectorRange]) -> Vec<SectorRange> {
        let (mut passed, mut taken) = (0, 0);
        let is_due = |part: &SectorRange| {
            passed += part.sectors;
            let due = taken * self.run.sectors < passed * LEAST_VERIFIED;
            taken += if due { part.sectors } else { 0 };
            due
        };
        self.clear_run(samples).into_iter().filter(is_due).collect()
    }

    /// Single reads below the run, at distances shorter than the run. One of them meets the run wherever addresses wrap
    /// around, even if caches hold the rest of it back.
    fn comb(&mut self) -> Result<bool, End> {
        let (share, of) = MET;
        let step = (self.run.sectors / of * share).max(self.device.unit());
        let mut teeth: Vec<u64> = Vec::new();
        let below = self.run.at;
        let all = below / step;
        let near = (NEAR / step + 1).min(all);
        // The lower half contains an image of the run, whatever the period is.
        let from = if all <= TEETH { 1 } else { all / 2 };
        teeth.extend((1..=near).chain(from.max(near + 1)..=all).map(|index| below - index * step));
        // On interleaved chips only every other unit shows the run, so each tooth is read at several random places.
        let shifts = shifts(teeth.len() as u64);
        let all = teeth.into_iter().flat_map(|at| (0..shifts).map(move |_| at));
        for at in all {
            let at = at + self.device.random.next_u64() % (step / SHIFTED).max(1);
            if self.device.was_written(at) {
                continue;
            }
            if let Some(origin) = self.device.origin_at(at)?
                && origin.sector != at
            {
                self.pairs.push((at, origin.sector));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

// Which places a probe samples first.

/// Single blocks near the end and the start at distances that are powers of two, and both sides of each quarter. They
/// meet losses at the end even if these are small, and periods that are powers of two at once.
pub(crate) fn power_of_two_places<D: Device>(device: &mut StampedDevice<'_, D>) -> Vec<SectorRange> {
    let (sectors, unit) = (device.sectors(), device.unit());
    let last = (sectors / unit - 1) * unit;
    let mut places = vec![device.place(last, 1), device.place(0, 1)];
    // A small part that holds, away from both ends, is most likely in the middle.
    for part in [2, 3, 1] {
        let at = sectors * part / 4;
        // The upper one first: a write that continues another goes to a cache for sequential writes.
        places.extend([at, at - 1].map(|at| device.place(at, 1)));
    }
    // Beside the very start, which holds partition tables and file system headers.
    let base = unit.min(last);
    let steps = (0..64).map(|power| unit << power).take_while(|step| *step < sectors);
    for step in steps {
        places.extend(last.checked_sub(step).map(|at| device.place(at, 1)));
        if base + step < sectors {
            places.push(device.place(base + step, 1));
        }
    }
    places.push(device.place(base, 1));
    without_repetition(places)
}

/// A place at random in each of [`PARTS`] equal parts, in random order.
pub(crate) fn stratified_places<D: Device>(
    device: &mut StampedDevice<'_, D>,
    clear: &[SectorRange],
    run: SectorRange,
) -> Vec<SectorRange> {
    let (sectors, unit) = (device.sectors(), device.unit());
    let parts = PARTS.min(sectors / (4 * unit)).max(1);
    let width = sectors / parts;
    // Later samples evict earlier ones, but write no more than the run does.
    let wide = WIDE.min(width / 2).min(run.sectors / parts).max(unit) / unit * unit;
    let mut places = Vec::new();
    for part in 0..parts {
        let room = width.saturating_sub(wide).max(1);
        // In whole blocks, so that the place does not become wider.
        let at = (part * width + device.random.next_u64() % room) / unit * unit;
        let place = device.place(at, wide);
        if place.sectors > 0 && !clear.iter().any(|other| other.meets(place)) {
            places.push(place);
        }
    }
    // Fisher-Yates shuffle: neither order of address nor order of time may hide the other.
    for index in (1..places.len()).rev() {
        let other = (device.random.next_u64() % (index as u64 + 1)) as usize;
        places.swap(index, other);
    }
    places
}

/// Without repetition, in the order given.
pub(crate) fn without_repetition(places: Vec<SectorRange>) -> Vec<SectorRange> {
    let mut kept: Vec<SectorRange> = Vec::new();
    for place in places {
        if place.sectors > 0 && !kept.iter().any(|other| other.meets(place)) {
            kept.push(place);
        }
    }
    kept
}

// Places that are only read. If they change, writes to other addresses took their memory.

/// An error may take seconds: no further places are read after this many.
const ERRORS: usize = 3;
/// Most places with errors that become samples.
const ERRED: usize = 64;
/// Before the first write, at most this part of the places, as a divisor, may show other content.
const ONE_IN_CHANGED: usize = 4;
/// Wear changes at most this part of the bits of a sector, as a divisor.
const WORN: u32 = 16;

/// Content of one of these places before anything was written.
pub(super) struct Witness {
    at: u64,
    content: Vec<u8>,
}

impl<D: Device> Search<'_, '_, D> {
    /// Reads one place in each part of the device. Nothing is written to it before it is read again.
    pub(super) fn witnesses(&mut self, samples: &[SectorRange]) -> Result<Vec<Witness>, End> {
        let width = self.device.sectors() / WITNESSES;
        let (mut all, mut errors) = (Vec::new(), 0);
        for part in 0..WITNESSES {
            let at = part * width + self.device.random.next_u64() % width.max(1);
            let block = self.device.place(at, 1);
            if block.sectors == 0 || block.meets(self.run) || samples.iter().any(|sample| block.meets(*sample)) {
                continue;
            }
            match self.device.glance(block)? {
                Some(seen) => all.push(Witness { at: block.at, content: seen.content }),
                None => errors += 1,
            }
            if errors >= ERRORS {
                break;
            }
        }
        Ok(all)
    }

    /// Whether the medium is still the one that these places belong to, before anything is written: another card may
    /// have been there while places were saved. A place without memory shows what crossed the bus, which is known
    /// content.
    ///
    /// # Errors
    /// [`ProbeFault::Exchanged`] if most of these places show content that was not read anywhere.
    pub(super) fn same_medium(&mut self, witnesses: &[Witness]) -> Result<(), End> {
        let step = witnesses.len().div_ceil(ASKED_AGAIN as usize).max(1);
        let (mut changed, mut asked) = (0, 0);
        for witness in witnesses.iter().step_by(step) {
            let seen = self.glance_again(witness)?;
            (asked, changed) = (asked + 1, changed + usize::from(seen.is_some_and(|seen| !seen.is_known)));
        }
        if changed * ONE_IN_CHANGED > asked { Err(End::Fault(ProbeFault::Exchanged)) } else { Ok(()) }
    }

    /// Whether any of these places lost its data, although nothing was sent there and everything sent elsewhere still
    /// holds. Each is read twice, as single readings may be wrong. The samples are read in between: on another medium
    /// they carry no stamps.
    pub(super) fn lost_untouched(&mut self, witnesses: &[Witness]) -> Result<bool, End> {
        let mut lost = 0;
        let mut changed: Vec<(&Witness, Vec<u8>)> = Vec::new();
        for witness in witnesses {
            if let Some(seen) = self.glance_again(witness)? {
                changed.push((witness, seen.content));
            }
        }
        if changed.is_empty() {
            return Ok(false);
        }
        if self.all_back()? {
            return Ok(true);
        }
        for (witness, content) in changed {
            lost += usize::from(self.glance_again(witness)?.is_some_and(|again| again.content == content));
        }
        if lost == 0 || self.all_back()? {
            return Ok(lost > 0);
        }
        self.loss_kind = LossKind::TakesMemory { lost, of: witnesses.len() };
        Ok(true)
    }

    /// Whether the medium erred outside the samples, while all samples hold. Some of the places that erred become samples.
    pub(super) fn erred_elsewhere(&mut self) -> bool {
        let bad: Vec<SectorRange> = self.device.bad_sectors().map(|at| self.device.place(at, 1)).collect();
        let step = bad.len().div_ceil(ERRED).max(1);
        for place in bad.iter().step_by(step) {
            if self.samples.iter().all(|sample| !sample.meets(*place)) {
                self.samples.push(*place);
            }
        }
        !bad.is_empty()
    }

    /// Content of a place, if it differs from before. A few wrong bits are wear, not other data.
    fn glance_again(&mut self, witness: &Witness) -> Result<Option<Glance>, End> {
        let block = self.device.place(witness.at, 1);
        if self.device.was_written(witness.at) {
            return Ok(None);
        }
        let Some(seen) = self.device.glance(block)? else { return Ok(None) };
        let differing: u32 =
            witness.content.iter().zip(&seen.content).map(|(one, other)| (one ^ other).count_ones()).sum();
        Ok((differing > seen.content.len() as u32 * 8 / WORN).then_some(seen))
    }
}

// Finds the parts that hold, to the sector.

/// Rounds of narrowing: each divides by at least two.
const ROUNDS: usize = 48;
/// Places of a round.
const PLACES: u64 = 40;
/// With more changes of state, the losses are scattered damage and not parts.
const MOST_CHANGES: usize = 96;
/// With more edges than this, none is tested again, and the size is an interval.
const MOST_EDGES: usize = 12;
/// Places inside of a part that are tested.
const INSIDE: u64 = 5;
/// How often an edge may turn out to be elsewhere.
const DOUBTS: usize = 4;
/// Starts of parts that are determined to find the period of a chain.
const STARTS: usize = 3;

impl<D: Device> Search<'_, '_, D> {
    /// Takes over the results of the samples: the changes of state within each.
    pub(crate) fn map_samples(&mut self) {
        let all: Vec<(u64, State)> =
            self.first.iter().map(|(sector, seen)| (*sector, State::of_finding(*seen))).collect();
        self.map.exact = true;
        // Wide samples are spread over all; single ones are dense at both ends.
        let wide =
            self.samples.iter().filter(|place| place.sectors > self.device.unit()).flat_map(|place| place.numbers());
        let states = wide.filter_map(|at| all.binary_search_by_key(&at, |(at, _)| *at).ok()).map(|index| all[index].1);
        self.map.sampled = states.fold((0, 0), |(keeps, loses), state| match state {
            State::Keeps => (keeps + 1, loses),
            State::Loses => (keeps, loses + 1),
            State::Errs => (keeps, loses),
        });
        for run in all.chunk_by(|(a, s), (b, t)| a + 1 == *b && s == t) {
            for (sector, state) in run.first().into_iter().chain(run.last()) {
                self.map.set(*sector, *state);
            }
        }
    }

    /// Finds each change of state to the sector, and tests both sides of it once more. This detects sectors that a
    /// cache still showed, or that were read too often.
    pub(crate) fn narrow(&mut self) -> Result<(), End> {
        if self.map.edges().len() > MOST_CHANGES {
            self.map.exact = false;
            self.map.unsteady = !self.parts_stand()?;
            return Ok(());
        }
        let mut doubts = 0;
        for _ in 0..ROUNDS {
            let gaps = self.map.gaps();
            if gaps.len() > MOST_CHANGES {
                break;
            }
            if !gaps.is_empty() {
                self.test_between(&gaps)?;
            } else if doubts == DOUBTS {
                self.map.unsteady = true;
                break;
            } else if self.edges_stand()? && self.parts_stand()? {
                self.map.exact = !self.eviction.hidden;
                return Ok(());
            } else {
                doubts += 1;
            }
            if self.eviction.hidden {
                break;
            }
        }
        self.map.exact = false;
        if !self.eviction.hidden && !self.map.unsteady {
            self.map.unsteady = !self.parts_stand()?;
        }
        Ok(())
    }

    /// Finds to the sector where some of the parts that hold begin, and says where.
    pub(crate) fn some_starts(&mut self) -> Result<Vec<u64>, End> {
        let mut wanted = self.map.open_starts();
        wanted.truncate(STARTS);
        for _ in 0..ROUNDS {
            let inside = |gap: &(u64, u64)| wanted.iter().any(|open| open.0 <= gap.0 && gap.1 <= open.1);
            let gaps: Vec<(u64, u64)> = self.map.open_starts().into_iter().filter(inside).collect();
            if gaps.is_empty() || self.eviction.hidden {
                break;
            }
            self.test_between(&gaps)?;
        }
        let mut starts = self.map.starts(self.device.sectors());
        starts.truncate(STARTS + 1);
        Ok(starts)
    }

    /// Tests places in the gaps where the state changes.
    fn test_between(&mut self, gaps: &[(u64, u64)]) -> Result<(), End> {
        let each = (PLACES / gaps.len() as u64).max(1);
        let at: Vec<u64> = gaps.iter().flat_map(|(low, high)| evenly_spaced(*low, *high, each)).collect();
        self.test(&at).map(|_| ())
    }

    /// Tests both sides of each edge again, each side in a round of its own. Returns false if one of them has another
    /// state than before.
    fn edges_stand(&mut self) -> Result<bool, End> {
        let edges = self.map.edges();
        if edges.len() > MOST_EDGES {
            return Ok(true);
        }
        let below = self.test(&edges.iter().map(|edge| edge.0).collect::<Vec<_>>())?;
        let above = self.test(&edges.iter().map(|edge| edge.1).collect::<Vec<_>>())?;
        Ok(below && above)
    }

    /// Tests places inside of parts that hold. Returns false if one is lost, or most err: the parts do not hold
    /// throughout, or memory is given to what is written first.
    fn parts_stand(&mut self) -> Result<bool, End> {
        let parts = self.map.parts(self.device.sectors());
        let keeps = parts.iter().filter(|part| part.2 == State::Keeps).take(MOST_EDGES);
        let inside: Vec<u64> = keeps.flat_map(|part| evenly_spaced(part.0, part.1 - 1, INSIDE)).collect();
        self.test(&inside)?;
        let count = |state| inside.iter().filter(|at| self.map.known.get(at) == Some(&state)).count();
        let (lost, errs) = (count(State::Loses), count(State::Errs));
        // A device may drop or refuse writes for which it has no memory left.
        let used_up = inside.len() as u64 >= INSIDE && (lost + errs) * 4 >= inside.len() * 3;
        self.map.used_up |= used_up;
        // Places that were tested later say nothing about the parts.
        self.map.unsteady |= used_up && errs > 0;
        Ok(lost == 0 && !used_up)
    }

    /// Tests all places that are known to hold once more. Returns whether any still does.
    pub(crate) fn any_keeps(&mut self) -> Result<bool, End> {
        let keeps = |(at, state): (&u64, &State)| (*state == State::Keeps).then_some(*at);
        let held: Vec<u64> = self.map.known.iter().filter_map(keeps).collect();
        if !self.test(&held)? {
            (self.map.exact, self.map.unsteady) = (false, true);
        }
        // Data that another place overwrote were stored too.
        let stored = |at: &u64| matches!(self.device.findings.get(at), Some(SeenStamp::Foreign(_)));
        Ok(held.iter().any(|at| self.map.known.get(at) == Some(&State::Keeps) || stored(at)))
    }

    /// Writes these sectors. Returns whether all of them have the state that was known.
    fn test(&mut self, sectors: &[u64]) -> Result<bool, End> {
        let mut places: Vec<SectorRange> = sectors.iter().map(|at| self.device.place(*at, 1)).collect();
        places.sort_unstable();
        places.dedup();
        self.device.begin_round();
        self.device.save(&places)?;
        for place in places.iter().rev() {
            self.device.write(*place)?;
        }
        self.eviction.evict(self.device, &places)?;
        let mut stands = true;
        if self.eviction.hidden {
            return Ok(stands);
        }
        for place in &places {
            let seen = self.device.check(*place)?;
            for (sector, seen) in place.numbers().zip(seen) {
                let state = State::of_finding(seen);
                stands &= self.map.known.insert(sector, state).is_none_or(|known| known == state);
            }
        }
        Ok(stands)
    }
}
