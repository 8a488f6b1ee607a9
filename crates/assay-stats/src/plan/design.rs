//! A plan of rounds, waves and slots: its constraints, its cost, sessions of units, and exchanges of units.

use std::fmt;

use crate::days::{Day, RunOfDay};
use crate::decide::InputRefusal;
use crate::decide::bounds::{at_least, not_negative, positive};
use crate::interval::{LEVEL, student_t};
use crate::random::Generator;
use crate::rank::{FitValue, slots_testable};
use crate::variation::RunVariance;

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
pub struct SessionPlan {
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

impl SessionPlan {
    /// Checks that each unit is measured once a round, that no unit is in a wrong slot (twice in the same one, or away
    /// from its fixed one), and that no slot is double booked. Where units move for two rounds or more, it also checks
    /// that units and slots hang together.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), PlanFault> {
        at_least("slots", 1, self.slots)?;
        if let Some(stray) = self.meetings.iter().find(|m| !self.holds(m)) {
            return Err(PlanFault::WrongSlot { unit: stray.unit });
        }
        let mut taken = vec![false; self.rounds * self.waves * self.slots];
        let mut met = vec![0usize; self.models.len() * self.slots];
        for m in &self.meetings {
            let cell = (m.round * self.waves + m.wave) * self.slots + m.slot;
            if std::mem::replace(&mut taken[cell], true) {
                return Err(PlanFault::DoubleBooking { round: m.round, wave: m.wave, slot: m.slot });
            }
            met[m.unit * self.slots + m.slot] += 1;
        }
        let expected = if self.mode == Mode::Stay { self.rounds } else { 1 };
        for (unit, row) in met.chunks(self.slots).enumerate() {
            if row.iter().sum::<usize>() != self.rounds || row.iter().any(|n| *n != 0 && *n != expected) {
                return Err(PlanFault::WrongSlot { unit });
            }
        }
        if self.mode == Mode::Move && self.rounds > 1 && !self.connected() {
            return Err(PlanFault::NotConnected);
        }
        Ok(())
    }

    /// Whether units and the slots they meet hang together (union and find). Without that, effects of slots cannot be
    /// estimated; with it they may still be those of rounds ([`Self::slots_testable`]). One round never does for two units.
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

    /// Whether the plan can show which slots differ. Each used slot has to be comparable with each other one, apart from units
    /// and rounds, and at least one degree of freedom has to remain for the variance.
    #[must_use]
    pub fn slots_testable(&self) -> bool {
        let names: Vec<String> = (0..self.models.len().max(self.slots)).map(|at| at.to_string()).collect();
        let value = |m: &Meeting| FitValue {
            model: "".into(),
            unit: names[m.unit].as_str().into(),
            slot: Some(names[m.slot].as_str().into()),
            wave: u32::try_from(m.round).ok(),
            day: None,
            order: None,
            weight: 1.0,
            value: 1.0,
        };
        let values: Vec<FitValue<'_>> = self.meetings.iter().filter(|m| self.holds(m)).map(value).collect();
        slots_testable(&values)
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

// Randomised cyclic Latin rectangle: each unit meets a new slot in each round.
//
// Units are cut into waves of as many as there are slots; in each round every position moves on
// by one step for all, so that no two units meet (John and Williams, "Cyclic and Computer
// Generated Designs", 1995). The first step has no divisor in common with the number of slots,
// which ties all units together. With fewer units than slots, positions may still move on so that slots are rounds shifted by
// units; such a draw does not count where another one tells slots apart.

/// Number of plans to draw. Plans with testable slots win over others; among equals the plan with the least crowding wins.
const DRAWS: usize = 200;

/// A plan for units of the given models. The same arguments give the same plan on every platform.
///
/// # Errors
/// No unit, slot or round; more rounds than slots where units move; no plan among 200 in which units and slots hang
/// together.
pub fn plan(models: &[usize], slots: usize, rounds: usize, mode: Mode, seed: u64) -> Result<SessionPlan, PlanFault> {
    at_least("units", 1, models.len())?;
    at_least("slots", 1, slots)?;
    at_least("rounds", 1, rounds)?;
    if mode == Mode::Move && rounds > slots {
        return Err(PlanFault::MoreRoundsThanSlots { rounds, slots });
    }
    let mut generator = Generator::new(seed);
    let mut best: Option<((bool, usize), SessionPlan)> = None;
    let mut fault = PlanFault::NotConnected;
    for _ in 0..DRAWS {
        let drawn = draw(models, slots, rounds, mode, &mut generator);
        if let Err(found) = drawn.check() {
            fault = found;
            continue;
        }
        let crowding = drawn.crowding();
        let least = best.as_ref().map(|(least, _)| *least);
        // The check is slow. Skip it for a plan that would not win even with testable slots.
        if least.is_some_and(|least| least <= (false, crowding)) {
            continue;
        }
        let testable = mode == Mode::Move && drawn.slots_testable();
        let key = (!testable, crowding);
        if least.is_none_or(|least| key < least) {
            best = Some((key, drawn));
        }
    }
    best.map(|(_, plan)| plan).ok_or(fault)
}

fn draw(models: &[usize], slots: usize, rounds: usize, mode: Mode, generator: &mut Generator) -> SessionPlan {
    let order = interleaved(models, generator);
    let waves = models.len().div_ceil(slots);
    let mut names: Vec<usize> = (0..slots).collect();
    generator.shuffle(&mut names);
    let steps = if mode == Mode::Move { steps(slots, rounds, generator) } else { vec![0; rounds] };
    let mut meetings = Vec::with_capacity(models.len() * rounds);
    for (round, step) in steps.iter().enumerate() {
        for (position, unit) in order.iter().enumerate() {
            let wave = (position / slots + round) % waves;
            meetings.push(Meeting { round, wave, slot: names[(position % slots + step) % slots], unit: *unit });
        }
    }
    meetings.sort_unstable();
    SessionPlan { mode, models: models.to_vec(), slots, rounds, waves, meetings }
}

/// Units in an order that spreads models: again and again one random unit of each model that has
/// some left, the models in random order.
fn interleaved(models: &[usize], generator: &mut Generator) -> Vec<usize> {
    let mut names = models.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut groups: Vec<Vec<usize>> =
        names.iter().map(|name| (0..models.len()).filter(|unit| models[*unit] == *name).collect()).collect();
    groups.iter_mut().for_each(|group| generator.shuffle(group));
    let mut order = Vec::with_capacity(models.len());
    while order.len() < models.len() {
        generator.shuffle(&mut groups);
        order.extend(groups.iter_mut().filter_map(Vec::pop));
    }
    order
}

/// How far positions move on in each round, all different: 0, then one without common divisor.
fn steps(slots: usize, rounds: usize, generator: &mut Generator) -> Vec<usize> {
    let mut rest: Vec<usize> = (1..slots).collect();
    generator.shuffle(&mut rest);
    if let Some(first) = rest.iter().position(|step| divisor(*step, slots) == 1) {
        rest.swap(0, first);
    }
    std::iter::once(0).chain(rest).take(rounds).collect()
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}

// What a plan takes: minutes and bytes.

/// Pause between workloads, in minutes.
const IDLE_AFTER_READ: f64 = 0.5;
/// Pause after one that writes, in minutes: the medium tidies up.
const IDLE_AFTER_WRITE: f64 = 2.0;

/// One workload of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedLoad {
    /// Minutes of one repeat.
    pub minutes: f64,
    /// Bytes that one repeat writes; zero for one that only reads.
    pub written_bytes: u64,
    /// Repeats in a session.
    pub repeats: u32,
}

/// What a plan takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Sessions: one unit in one slot.
    pub sessions: usize,
    /// Minutes of one session.
    pub session_minutes: f64,
    /// Minutes that media are busy, all together.
    pub device_minutes: f64,
    /// Minutes on the clock: units of a wave run at the same time.
    pub clock_minutes: f64,
    /// Bytes written to each unit over all rounds.
    pub written_per_unit: u64,
    /// Bytes written to all units.
    pub written_bytes: u64,
}

/// The cost of `plan` with `fixed_minutes` per session (mounting, booting, conditioning).
///
/// # Errors
/// Minutes that are negative or not finite.
pub fn cost(plan: &SessionPlan, loads: &[PlannedLoad], fixed_minutes: f64) -> Result<Cost, PlanFault> {
    let mut session_minutes = not_negative("the minutes of a session", fixed_minutes)?;
    let mut written_once = 0u64;
    for load in loads {
        let idle = if load.written_bytes > 0 { IDLE_AFTER_WRITE } else { IDLE_AFTER_READ };
        session_minutes += f64::from(load.repeats) * (not_negative("the minutes of a repeat", load.minutes)? + idle);
        written_once = written_once.saturating_add(load.written_bytes.saturating_mul(load.repeats.into()));
    }
    let sessions = plan.meetings.len();
    Ok(Cost {
        sessions,
        session_minutes,
        device_minutes: session_minutes * sessions as f64,
        clock_minutes: session_minutes * (plan.rounds * plan.waves) as f64,
        written_per_unit: written_once.saturating_mul(plan.rounds as u64),
        written_bytes: written_once.saturating_mul(sessions as u64),
    })
}

// Why there is no plan or answer.

/// Why a plan cannot be made.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanFault {
    /// A value, or a number of values, that is not valid.
    Input(InputRefusal),
    /// More rounds than slots: a unit would be in a slot twice.
    MoreRoundsThanSlots {
        /// Rounds asked for.
        rounds: usize,
        /// Slots there are.
        slots: usize,
    },
    /// A unit meets a slot twice, or not the slot it stays in.
    WrongSlot {
        /// Its index.
        unit: usize,
    },
    /// Two units are in one slot at the same time.
    DoubleBooking {
        /// Round, counted from 0.
        round: usize,
        /// Wave, counted from 0.
        wave: usize,
        /// Slot.
        slot: usize,
    },
    /// Units and slots fall into unconnected parts, so that their effects cannot be separated.
    NotConnected,
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(refusal) => refusal.fmt(f),
            Self::MoreRoundsThanSlots { rounds, slots } => write!(
                f,
                "{rounds} rounds need as many slots for each unit to meet a new one, there are {slots}: ask for fewer \
                 rounds or let cards stay in their slots"
            ),
            Self::WrongSlot { unit } => write!(f, "unit {unit} is planned for a wrong slot"),
            Self::DoubleBooking { round, wave, slot } => {
                write!(f, "slot {slot} is planned twice in round {round}, wave {wave}")
            }
            Self::NotConnected => write!(
                f,
                "units and slots cannot be separated: groups of units share no slot; use more units or more rounds"
            ),
        }
    }
}

impl std::error::Error for PlanFault {}

impl From<InputRefusal> for PlanFault {
    fn from(refusal: InputRefusal) -> Self {
        Self::Input(refusal)
    }
}

// The order of workloads in the session of one unit.

/// A workload, as far as its place depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedLoad {
    /// It writes.
    pub writes: bool,
    /// Block size in bytes.
    pub block_bytes: u64,
}

/// Indexes of `workloads` in the order in which unit `unit` (its index) meets them in `round`.
///
/// All reads come before all writes, which leave the medium in another state. Reads follow rows of
/// Williams' design, in which each follows each other one equally often over the units (Williams
/// 1949); an odd number of reads takes its rows forwards and backwards. Writes go from small to
/// large blocks, starting at another one each time.
#[must_use]
pub fn session(workloads: &[PlacedLoad], unit: usize, round: usize) -> Vec<usize> {
    let (mut writes, reads): (Vec<usize>, Vec<usize>) = (0..workloads.len()).partition(|i| workloads[*i].writes);
    writes.sort_by_key(|i| workloads[*i].block_bytes);
    let turn = unit + round;
    let mut order: Vec<usize> = williams(reads.len(), turn).into_iter().map(|i| reads[i]).collect();
    if !writes.is_empty() {
        let start = turn % writes.len();
        writes.rotate_left(start);
    }
    order.append(&mut writes);
    order
}

/// Row `turn` of the design for `t` treatments: 0, 1, t-1, 2, t-2, … plus the row, modulo t.
fn williams(t: usize, turn: usize) -> Vec<usize> {
    if t == 0 {
        return Vec::new();
    }
    let mut row: Vec<usize> =
        (0..t).map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (t - place / 2) % t }).collect();
    row.iter_mut().for_each(|treatment| *treatment = (*treatment + turn) % t);
    if t % 2 == 1 && (turn / t) % 2 == 1 {
        row.reverse();
    }
    row
}

// Whether a unit or its slot is to blame: it changes places with a good one.

/// An effect counts from this ratio on.
const LEAST_EFFECT: f64 = 1.15;

/// Sessions of two units in two slots, one in each at least, with the repeats of each: rates, or other positive values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap<'a> {
    /// The suspect in its own slot.
    pub suspect_home: &'a [Vec<f64>],
    /// The suspect in the slot of the other one.
    pub suspect_away: &'a [Vec<f64>],
    /// The other unit in the suspect's slot.
    pub other_away: &'a [Vec<f64>],
    /// The other unit in its own slot.
    pub other_home: &'a [Vec<f64>],
}

/// A difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwapDifference {
    /// Suspect over other unit, or suspect's slot over the other slot.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// It is significant and more than 15 %.
    pub real: bool,
}

/// The effects of unit and slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Culprit {
    /// Suspect against the other unit.
    pub unit: SwapDifference,
    /// Suspect's slot against the other slot.
    pub slot: SwapDifference,
    /// Degrees of freedom between sessions behind both; 0 where there is one in each place.
    pub degrees: u32,
}

/// Separates unit from slot: each effect is half the difference of sums of two cells of mean logarithms (2 by 2
/// crossover).
///
/// Sessions differ by more than their repeats, so the error is that of sessions, with the prior of days
/// ([`RunVariance`]). Where each place has one session, an effect also has to exceed the third contrast of the four
/// cells, which contains only error, by t with its single degree of freedom.
///
/// # Errors
/// Fewer than two repeats in a place, a session without any, values that are not positive and finite.
pub fn swap(cells: &Swap<'_>) -> Result<Culprit, PlanFault> {
    let all = [cells.suspect_home, cells.suspect_away, cells.other_away, cells.other_home];
    let (mut means, mut weights) = ([0.0; 4], 0.0);
    for (mean, sessions) in means.iter_mut().zip(all) {
        at_least("repeats in each place", 2, sessions.iter().map(Vec::len).sum())?;
        for session in sessions {
            at_least("repeats of a session", 1, session.len())?;
            for value in session {
                *mean += positive("a repeat", *value)?.ln() / (session.len() * sessions.len()) as f64;
            }
        }
        weights += 0.25 / sessions.len() as f64;
    }
    // Units were moved between two sessions in a place, even on one day: each session counts separately.
    let alone = |session| Day { name: None, runs: vec![RunOfDay::undated(session)] };
    let days = RunVariance::of_days(all.map(|sessions| sessions.iter().map(|session| alone(session)).collect()));
    let [home, away, other_away, other_home] = means;
    let idle = ((home + other_home) - (away + other_away)) / 2.0;
    let alone = if days.measured() == 0 { student_t(LEVEL, 1).unwrap_or(f64::INFINITY) * idle.abs() } else { 0.0 };
    let half = days.half(LEVEL, weights).unwrap_or(f64::INFINITY).max(alone);
    let effect = |log: f64| SwapDifference {
        ratio: log.exp(),
        interval: ((log - half).exp(), (log + half).exp()),
        real: log.abs() > half && log.abs() > LEAST_EFFECT.ln(),
    };
    Ok(Culprit {
        unit: effect(((home + away) - (other_away + other_home)) / 2.0),
        slot: effect(((home + other_away) - (away + other_home)) / 2.0),
        degrees: days.measured(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_row_is_that_of_williams() {
        assert_eq!(williams(4, 0), [0, 1, 3, 2]);
        assert_eq!(williams(6, 0), [0, 1, 5, 2, 4, 3]);
        assert_eq!(williams(1, 5), [0]);
        assert!(williams(0, 3).is_empty());
    }

    #[test]
    fn each_read_follows_each_other_one_equally_often() {
        for (t, rows, times) in [(2, 2, 1), (4, 4, 1), (6, 6, 1), (3, 6, 2), (5, 10, 2)] {
            let mut follows = vec![vec![0; t]; t];
            for turn in 0..rows {
                let row = williams(t, turn);
                row.windows(2).for_each(|pair| follows[pair[0]][pair[1]] += 1);
            }
            for (a, row) in follows.iter().enumerate() {
                for (b, count) in row.iter().enumerate() {
                    assert_eq!(*count, if a == b { 0 } else { times }, "{t}: {b} after {a}");
                }
            }
        }
    }

    #[test]
    fn reads_come_first_and_writes_start_elsewhere_each_time() {
        let read = |block_bytes| PlacedLoad { writes: false, block_bytes };
        let write = |block_bytes| PlacedLoad { writes: true, block_bytes };
        let all = [write(131_072), read(4096), write(4096), read(131_072), write(16_384)];
        assert_eq!(session(&all, 0, 0), [1, 3, 2, 4, 0]);
        assert_eq!(session(&all, 1, 0), [3, 1, 4, 0, 2]);
        assert_eq!(session(&all, 1, 0), session(&all, 0, 1));
        assert!(session(&[], 3, 1).is_empty());
        assert_eq!(session(&[write(4096)], 3, 1), [0]);
    }
}
