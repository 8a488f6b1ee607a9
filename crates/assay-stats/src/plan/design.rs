//! A plan of rounds, waves and slots, and its constraints.

use super::fault::Fault;
use crate::decide::refusal::at_least;

/// Whether units move between slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each unit is in a new slot in each round: the effects of units and slots can be separated.
    Move,
    /// Each unit stays in a slot drawn once. Models can still be compared, because the draw spreads slots over them. A
    /// single unit cannot be separated from its slot, so none may be called bad.
    Stay,
}

/// One unit in one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Meeting {
    /// Round, counted from 0.
    pub round: usize,
    /// Wave of the round: its units start together.
    pub wave: usize,
    /// Slot.
    pub slot: usize,
    /// Index of the unit.
    pub unit: usize,
}

/// When and where each unit is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Whether units move between rounds.
    pub mode: Mode,
    /// Model of each unit.
    pub models: Vec<usize>,
    /// Slots.
    pub slots: usize,
    /// Rounds.
    pub rounds: usize,
    /// Waves of each round.
    pub waves: usize,
    /// Sorted by round, wave and slot.
    pub meetings: Vec<Meeting>,
}

impl Plan {
    /// Checks that each unit is measured once a round, that no unit is in a wrong slot (twice in the same one, or away
    /// from its fixed one), and that no slot is double booked. Where units move for two rounds or more, it also checks
    /// that unit effects and slot effects can be separated.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), Fault> {
        at_least("slots", 1, self.slots)?;
        if let Some(stray) = self.meetings.iter().find(|m| !self.holds(m)) {
            return Err(Fault::WrongSlot { unit: stray.unit });
        }
        let mut taken = vec![false; self.rounds * self.waves * self.slots];
        let mut met = vec![0usize; self.models.len() * self.slots];
        for m in &self.meetings {
            let cell = (m.round * self.waves + m.wave) * self.slots + m.slot;
            if std::mem::replace(&mut taken[cell], true) {
                return Err(Fault::DoubleBooking { round: m.round, wave: m.wave, slot: m.slot });
            }
            met[m.unit * self.slots + m.slot] += 1;
        }
        let expected = if self.mode == Mode::Stay { self.rounds } else { 1 };
        for (unit, row) in met.chunks(self.slots).enumerate() {
            if row.iter().sum::<usize>() != self.rounds || row.iter().any(|n| *n != 0 && *n != expected) {
                return Err(Fault::WrongSlot { unit });
            }
        }
        if self.mode == Mode::Move && self.rounds > 1 && !self.connected() {
            return Err(Fault::NotConnected);
        }
        Ok(())
    }

    /// Whether units and the slots they meet hang together (union and find), which makes effects
    /// of slots estimable. One round never does for two units.
    #[must_use]
    pub fn connected(&self) -> bool {
        let units = self.models.len();
        let mut parent: Vec<usize> = (0..units + self.slots).collect();
        for m in self.meetings.iter().filter(|m| self.holds(m)) {
            let (a, b) = (root(&mut parent, m.unit), root(&mut parent, units + m.slot));
            parent[a] = b;
        }
        let first = if units > 0 { root(&mut parent, 0) } else { 0 };
        (0..units).all(|unit| root(&mut parent, unit) == first)
    }

    /// The most meetings of one model with one slot.
    #[must_use]
    pub fn crowding(&self) -> usize {
        let models = self.models.iter().max().map_or(0, |m| m + 1);
        let mut counts = vec![0usize; models * self.slots];
        let held = self.meetings.iter().filter(|m| self.holds(m));
        held.for_each(|m| counts[self.models[m.unit] * self.slots + m.slot] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    /// Whether a meeting names a unit, slot, round and wave that there are.
    fn holds(&self, m: &Meeting) -> bool {
        m.unit < self.models.len() && m.slot < self.slots && m.round < self.rounds && m.wave < self.waves
    }
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}
