//! Which sectors hold.

use std::collections::BTreeMap;

use super::super::stamp::SeenStamp;

/// The state of a sector in the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Keeps,
    Loses,
    Errs,
}

impl State {
    pub(super) fn of_finding(seen: SeenStamp) -> Self {
        match seen {
            seen if seen.keeps() => Self::Keeps,
            SeenStamp::Unreadable => Self::Errs,
            _ => Self::Loses,
        }
    }
}

/// This many losing spots between parts that hold are damage and not parts of a fake.
const SPOTS: usize = 5;
/// With [`SPOTS`] spots or more, less than this share of all samples is lost; with fewer, less than [`FEW_LOST`].
const MOST_LOST: f64 = 0.42;
const FEW_LOST: f64 = 0.2;

/// Sectors whose state is known. Between two of them the state changes at most once.
#[derive(Debug, Default)]
pub(crate) struct Map {
    pub(super) known: BTreeMap<u64, State>,
    /// Sectors of the samples that hold, and that lose.
    pub(crate) sampled: (u64, u64),
    /// Whether every change of state was found to the sector.
    pub(crate) exact: bool,
    /// Places that were tested again had another state each time.
    pub(crate) unsteady: bool,
    /// Most places inside of parts that hold, which were written last, were lost: there was no memory left for them.
    pub(crate) used_up: bool,
}

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

    /// The last sector of a run and the first one of the next, if the size depends on which of the sectors between
    /// belong to which run. It does not between lost sectors and errors, unless a part that holds follows.
    pub(super) fn edges(&self) -> Vec<(u64, u64)> {
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
    pub(super) fn gaps(&self) -> Vec<(u64, u64)> {
        self.edges().into_iter().filter(|(low, high)| high - low > 1).collect()
    }

    /// Starts of parts that hold behind lost sectors, if they are not known to the sector.
    pub(super) fn open_starts(&self) -> Vec<(u64, u64)> {
        let is = |sector: &u64, state| self.known.get(sector) == Some(&state);
        self.gaps().into_iter().filter(|(low, high)| is(low, State::Loses) && is(high, State::Keeps)).collect()
    }

    /// First sectors of parts that hold, at the start of the device or behind lost sectors. Behind errors the same
    /// memory continues.
    pub(super) fn starts(&self, sectors: u64) -> Vec<u64> {
        let parts = self.parts(sectors);
        let lost_before = |index: usize| index == 0 || parts[index - 1].2 == State::Loses;
        let starts = parts.iter().enumerate().filter(|(index, part)| part.2 == State::Keeps && lost_before(*index));
        starts.map(|(_, part)| part.0).collect()
    }

    /// Sectors that hold, the least and the most, and how often parts that hold begin or end. Errors between two parts
    /// that hold are one part with them. Errors with lost sectors alone beside them are lost. All others may be either.
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
                    // The middle, if the edge is not known better.
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

    /// Whether losses are spots between parts that hold, which are far more. In a fake, memory ends somewhere.
    pub(crate) fn has_bad_spots(&self) -> bool {
        let runs = self.runs();
        let lost = || runs.iter().filter(|run| run.2 == State::Loses).map(|run| run.1 - run.0 + 1);
        // If most of the loss is one part, memory ends there.
        if lost().max().unwrap_or(0) * 2 > lost().sum::<u64>() {
            return false;
        }
        let is = |run: Option<&(u64, u64, State)>, state| run.is_some_and(|run| run.2 == state);
        let spots = runs.windows(3).filter(|run| is(run.get(1), State::Loses) && is(run.first(), State::Keeps));
        let spots = spots.filter(|run| is(run.get(2), State::Keeps)).count();
        let (keeps, loses) = (self.sampled.0 as f64, self.sampled.1 as f64);
        let share = loses / (keeps + loses).max(1.0);
        (spots >= SPOTS && share < MOST_LOST) || (spots >= 2 && share < FEW_LOST)
    }

    /// Whether single sectors are lost between two that hold. Such sectors may lie at the very edge of a part too.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `Map::kept` of parts of ten sectors.
    fn kept(states: &[State]) -> (u64, u64, usize) {
        let mut map = Map::default();
        for (part, state) in (0..).zip(states) {
            map.set(part * 10, *state);
            map.set(part * 10 + 9, *state);
        }
        map.kept(states.len() as u64 * 10)
    }

    /// Errors at the end of the device were counted as sectors that may hold, although all before them is lost.
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
