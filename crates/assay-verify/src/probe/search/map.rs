//! What holds, to the sector.

use std::collections::BTreeMap;

use super::super::contract::Device;
use super::super::stamp::Seen;
use super::alias::fan;
use super::course::Search;
use super::desk::{End, Place};

/// What becomes of a sector, as far as the map is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Keeps,
    Loses,
    Errs,
}

impl State {
    fn of(seen: Seen) -> Self {
        match seen {
            seen if seen.keeps() => Self::Keeps,
            Seen::Unreadable => Self::Errs,
            _ => Self::Loses,
        }
    }
}

/// Sectors whose state is known, and between which it changes at most once.
#[derive(Debug, Default)]
pub(crate) struct Map {
    known: BTreeMap<u64, State>,
    /// Whether every change of state was found to the sector.
    pub(crate) exact: bool,
    /// Places that were tested again turned out to be otherwise each time.
    pub(crate) unsteady: bool,
    /// Most places inside of parts that hold, written only then, were lost: there was no memory left for them.
    pub(crate) used_up: bool,
}

/// Rounds of narrowing: each divides by at least two.
const ROUNDS: usize = 48;
/// Places of a round.
const PLACES: u64 = 40;
/// More changes of state are damage here and there, and not parts.
const MOST_CHANGES: usize = 96;
/// More edges than this are not tested again: the size is an interval then.
const MOST_EDGES: usize = 12;
/// Places inside of a part that are tested.
const INSIDE: u64 = 5;
/// So often an edge may turn out to be elsewhere.
const DOUBTS: usize = 4;
/// Starts of parts that are looked at, to find the period of a chain.
const STARTS: usize = 3;

impl Map {
    pub(crate) fn set(&mut self, sector: u64, state: State) {
        self.known.insert(sector, state);
    }

    /// Runs of known sectors of one state: first sector, last sector, state.
    fn runs(&self) -> Vec<(u64, u64, State)> {
        let mut runs: Vec<(u64, u64, State)> = Vec::new();
        for (sector, state) in &self.known {
            match runs.last_mut() {
                Some((_, last, known)) if known == state => *last = *sector,
                _ => runs.push((*sector, *sector, *state)),
            }
        }
        runs
    }

    /// Last sector of a run and first one of the next, where it matters for the size which sectors between
    /// belong to which: not between what is lost and what errs, but where something that holds follows.
    fn edges(&self) -> Vec<(u64, u64)> {
        let runs = self.runs();
        let keeps =
            |index: Option<usize>| index.and_then(|index| runs.get(index)).is_some_and(|run| run.2 == State::Keeps);
        let matters = |index: usize| match (runs[index].2, runs[index + 1].2) {
            (State::Loses, State::Errs) => keeps(Some(index + 2)),
            (State::Errs, State::Loses) => keeps(index.checked_sub(1)),
            _ => true,
        };
        let pairs = (0..runs.len().saturating_sub(1)).filter(|index| matters(*index));
        pairs.map(|index| (runs[index].1, runs[index + 1].0)).collect()
    }

    /// Edges that are not known to the sector.
    fn gaps(&self) -> Vec<(u64, u64)> {
        self.edges().into_iter().filter(|(low, high)| high - low > 1).collect()
    }

    /// Starts of parts that hold, but for the first one, that are not known to the sector.
    fn open_starts(&self) -> Vec<(u64, u64)> {
        let keeps = |sector: &u64| self.known.get(sector) == Some(&State::Keeps);
        self.gaps().into_iter().filter(|(_, high)| keeps(high)).collect()
    }

    /// Sectors that hold, from the least to the most, and how often parts that hold begin or end. What errs
    /// between two parts that hold is one part with them, and what errs beside what is lost alone is lost; else it
    /// may be either.
    pub(crate) fn kept(&self, sectors: u64) -> (u64, u64, usize) {
        let parts = self.parts(sectors);
        let state = |index: Option<usize>| index.and_then(|index| parts.get(index)).map(|part| part.2);
        let (mut least, mut most, mut inside) = (0, 0, Vec::new());
        for (index, (start, end, known)) in parts.iter().enumerate() {
            let beside = [state(index.checked_sub(1)), state(Some(index + 1))];
            let errs = *known == State::Errs;
            let lost = beside.iter().filter(|beside| **beside == Some(State::Loses)).count();
            let holds = *known == State::Keeps || (errs && lost == 0);
            least += if holds { end - start } else { 0 };
            most += if holds || (errs && beside.contains(&Some(State::Keeps))) { end - start } else { 0 };
            inside.push(holds);
        }
        (least, most, inside.windows(2).filter(|pair| pair[0] != pair[1]).count())
    }

    /// Parts of one state over `sectors`: first sector, end, state.
    pub(crate) fn parts(&self, sectors: u64) -> Vec<(u64, u64, State)> {
        let mut parts: Vec<(u64, u64, State)> = Vec::new();
        let mut last = 0;
        for (sector, state) in &self.known {
            match parts.last_mut() {
                Some((_, end, known)) if *known == *state => *end = sector + 1,
                Some((_, end, _)) => {
                    // The middle where it is not known better.
                    let edge = last + 1 + (sector - last - 1) / 2;
                    *end = edge;
                    parts.push((edge, sector + 1, *state));
                }
                None => parts.push((0, sector + 1, *state)),
            }
            last = *sector;
        }
        if let Some((_, end, _)) = parts.last_mut() {
            *end = sectors;
        }
        parts
    }

    /// Whether single sectors are lost between two that hold: such may lie at the very edge of a part, too.
    pub(crate) fn is_pitted(&self) -> bool {
        let known: Vec<(&u64, &State)> = self.known.iter().collect();
        let pit = |three: &[(&u64, &State)]| {
            let [(low, State::Keeps), (_, State::Loses), (high, State::Keeps)] = three else { return false };
            *high - *low == 2
        };
        known.windows(3).any(pit)
    }

    pub(crate) fn count(&self, state: State) -> usize {
        self.known.values().filter(|known| **known == state).count()
    }
}

impl<D: Device> Search<'_, '_, D> {
    /// Takes over what the samples came to: of each, the changes of state within it.
    pub(crate) fn map_samples(&mut self) {
        let all: Vec<(u64, State)> = self.first.iter().map(|(sector, seen)| (*sector, State::of(*seen))).collect();
        self.map.exact = true;
        for run in all.chunk_by(|(a, s), (b, t)| a + 1 == *b && s == t) {
            for (sector, state) in run.first().into_iter().chain(run.last()) {
                self.map.set(*sector, *state);
            }
        }
    }

    /// Finds each change of state to the sector, and tests what lies beside it once more: what a cache
    /// still showed, or was read too often, is found out.
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
        let parts = self.map.parts(self.desk.sectors());
        let starts = parts.iter().filter(|part| part.2 == State::Keeps).map(|part| part.0);
        Ok(starts.take(STARTS + 1).collect())
    }

    /// Tests places between those where the state changes.
    fn test_between(&mut self, gaps: &[(u64, u64)]) -> Result<(), End> {
        let each = (PLACES / gaps.len() as u64).max(1);
        let at: Vec<u64> = gaps.iter().flat_map(|(low, high)| fan(*low, *high, each)).collect();
        self.test(&at).map(|_| ())
    }

    /// Tests both sides of each edge again, each side in a round of its own. False where one of them is
    /// otherwise than it was.
    fn edges_stand(&mut self) -> Result<bool, End> {
        let edges = self.map.edges();
        if edges.len() > MOST_EDGES {
            return Ok(true);
        }
        let below = self.test(&edges.iter().map(|edge| edge.0).collect::<Vec<_>>())?;
        let above = self.test(&edges.iter().map(|edge| edge.1).collect::<Vec<_>>())?;
        Ok(below && above)
    }

    /// Tests places inside of parts that hold. False where one is lost: they do not hold throughout, or memory
    /// is given to what is written first.
    fn parts_stand(&mut self) -> Result<bool, End> {
        let parts = self.map.parts(self.desk.sectors());
        let keeps = parts.iter().filter(|part| part.2 == State::Keeps).take(MOST_EDGES);
        let inside: Vec<u64> = keeps.flat_map(|part| fan(part.0, part.1 - 1, INSIDE)).collect();
        self.test(&inside)?;
        let lost = inside.iter().filter(|at| self.map.known.get(at) == Some(&State::Loses)).count();
        self.map.used_up |= inside.len() as u64 >= INSIDE && lost * 4 >= inside.len() * 3;
        Ok(lost == 0)
    }

    /// Tests all places that are known to hold once more: whether any does.
    pub(crate) fn any_keeps(&mut self) -> Result<bool, End> {
        let keeps = |(at, state): (&u64, &State)| (*state == State::Keeps).then_some(*at);
        let held: Vec<u64> = self.map.known.iter().filter_map(keeps).collect();
        if !self.test(&held)? {
            (self.map.exact, self.map.unsteady) = (false, true);
        }
        // What another place overwrote was stored, too.
        let stored = |at: &u64| matches!(self.desk.findings.get(at), Some(Seen::Foreign(_)));
        Ok(held.iter().any(|at| self.map.known.get(at) == Some(&State::Keeps) || stored(at)))
    }

    /// Writes these sectors and says whether all of them are as they were known.
    fn test(&mut self, sectors: &[u64]) -> Result<bool, End> {
        let mut places: Vec<Place> = sectors.iter().map(|at| self.desk.place(*at, 1)).collect();
        places.sort_unstable();
        places.dedup();
        self.desk.begin_round();
        self.desk.save(&places)?;
        for place in places.iter().rev() {
            self.desk.write(*place)?;
        }
        self.eviction.evict(self.desk, &places)?;
        let mut stands = true;
        if self.eviction.hidden {
            return Ok(stands);
        }
        for place in &places {
            let seen = self.desk.check(*place)?;
            for (sector, seen) in place.numbers().zip(seen) {
                let state = State::of(seen);
                stands &= self.map.known.insert(sector, state).is_none_or(|known| known == state);
            }
        }
        Ok(stands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of ten sectors.
    fn kept(states: &[State]) -> (u64, u64, usize) {
        let mut map = Map::default();
        for (part, state) in (0..).zip(states) {
            map.set(part * 10, *state);
            map.set(part * 10 + 9, *state);
        }
        map.kept(states.len() as u64 * 10)
    }

    /// What errs at the end of the device was counted as what may hold, though all before it is lost.
    #[test]
    fn what_errs_may_hold_beside_what_holds_alone() {
        use State::{Errs, Keeps, Loses};
        assert_eq!(kept(&[Keeps, Loses, Errs]), (10, 10, 1));
        assert_eq!(kept(&[Keeps, Loses, Errs, Loses]), (10, 10, 1));
        assert_eq!(kept(&[Errs, Loses, Keeps]), (10, 10, 1));
        assert_eq!(kept(&[Keeps, Errs, Loses]), (10, 20, 1));
        assert_eq!(kept(&[Keeps, Errs, Keeps, Loses]), (30, 30, 1));
        assert_eq!(kept(&[Keeps, Loses, Keeps, Errs]), (30, 30, 2));
    }
}
