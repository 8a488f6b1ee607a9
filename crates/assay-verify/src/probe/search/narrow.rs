//! Finds the parts that hold, to the sector.

use super::super::device::Device;
use super::super::stamp::Seen;
use super::map::State;
use super::periods::evenly_spaced;
use super::stages::Search;
use super::stamped::{End, SectorRange};

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
        let stored = |at: &u64| matches!(self.device.findings.get(at), Some(Seen::Foreign(_)));
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
