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
            Seen::Holds | Seen::Changed => Self::Keeps,
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
}

/// Rounds of narrowing: each divides by at least two.
const ROUNDS: usize = 48;
/// Places of a round.
const PLACES: u64 = 40;
/// More changes of state are damage here and there, and not parts.
const MOST_CHANGES: usize = 96;

impl Map {
    pub(crate) fn set(&mut self, sector: u64, state: State) {
        self.known.insert(sector, state);
    }

    /// Neighbours of different state that are not adjacent.
    fn gaps(&self) -> Vec<(u64, u64)> {
        let pairs = self.known.iter().zip(self.known.iter().skip(1));
        pairs.filter(|((a, s), (b, t))| s != t && *b - *a > 1).map(|((a, _), (b, _))| (*a, *b)).collect()
    }

    pub(crate) fn changes(&self) -> usize {
        self.known.values().zip(self.known.values().skip(1)).filter(|(a, b)| a != b).count()
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

    /// Finds each change of state to the sector.
    pub(crate) fn narrow(&mut self) -> Result<(), End> {
        if self.map.changes() > MOST_CHANGES {
            self.map.exact = false;
            return Ok(());
        }
        for _ in 0..ROUNDS {
            let gaps = self.map.gaps();
            if gaps.is_empty() || gaps.len() > MOST_CHANGES {
                self.map.exact = gaps.is_empty();
                return Ok(());
            }
            let each = (PLACES / gaps.len() as u64).max(1);
            let at: Vec<u64> = gaps.iter().flat_map(|(low, high)| fan(*low, *high, each)).collect();
            let mut places: Vec<Place> = at.iter().map(|at| self.desk.place(*at, 1)).collect();
            places.dedup();
            self.desk.begin_round();
            self.desk.save(&places)?;
            for place in places.iter().rev() {
                self.desk.write(*place)?;
            }
            self.eviction.evict(self.desk, &places)?;
            if self.eviction.hidden {
                self.map.exact = false;
                return Ok(());
            }
            for place in &places {
                let seen = self.desk.check(*place)?;
                for (sector, seen) in place.numbers().zip(seen) {
                    self.map.set(sector, State::of(seen));
                }
            }
        }
        self.map.exact = self.map.gaps().is_empty();
        Ok(())
    }
}
