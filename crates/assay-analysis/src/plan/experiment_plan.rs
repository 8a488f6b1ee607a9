//! A plan: which unit is measured when and where, with which suite; its turns, and the media that have to be in place.

use std::collections::BTreeMap;

use assay_core::observation::Observation;
use assay_core::suite::Suite;
use assay_core::text::quoted;
use assay_stats::plan::{Mode, Swap, SwapDifference};
use serde::{Deserialize, Serialize};

use super::names::{PlanError, Roster, Slots};
use crate::identity::identity;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

/// Whether units change slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Moves {
    /// Each unit is in a new slot in each round. The effects of unit and slot can be separated.
    EachRound,
    /// Each unit stays in a slot drawn once, so none may be called bad.
    Never,
}

impl Moves {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::EachRound => Mode::Move,
            Self::Never => Mode::Stay,
        }
    }
}

/// What a plan is asked for.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    /// The models and units.
    pub roster: &'a Roster,
    /// The slots.
    pub slots: &'a Slots,
    /// How often each unit is measured.
    pub rounds: usize,
    /// Whether units change slots.
    pub moves: Moves,
    /// The suite for each unit in each round.
    pub suite: &'a Suite,
    /// The name of the suite on the command line.
    pub suite_source: &'a str,
    /// The text of its file.
    pub suite_text: &'a str,
    /// Minutes that one person takes to change one unit.
    pub handling_minutes: f64,
    /// Seed of the draw; by default one made from all of the above, so that the same request
    /// gives the same plan.
    pub seed: Option<u32>,
}

/// The suite of a plan, kept whole: a file or a newer version may have changed it since.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSuite {
    /// The name on the command line.
    pub source: String,
    /// BLAKE3 of the text of its file, in hexadecimal.
    pub hash: String,
    /// The suite.
    pub suite: Suite,
}

/// One unit in one slot. Round, wave and order are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScheduledUnit {
    /// Round.
    pub round: usize,
    /// Wave of the round: its units start together.
    pub wave: usize,
    /// Slot.
    pub slot: String,
    /// Model of the unit.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// Order of workloads.
    pub order: usize,
}

/// Which unit is measured when and where, with which suite. Only valid plans can be made or read.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentPlan {
    pub(super) seed: u32,
    pub(super) moves: Moves,
    pub(super) rounds: usize,
    pub(super) waves: usize,
    pub(super) handling_minutes: f64,
    pub(super) slots: Slots,
    pub(super) roster: Roster,
    pub(super) suite: PlannedSuite,
    pub(super) orders: Vec<Vec<String>>,
    pub(super) cells: Vec<ScheduledUnit>,
}

pub(super) fn check_handling(minutes: f64, place: &str) -> Result<(), PlanError> {
    if (0.0..=1440.0).contains(&minutes) {
        return Ok(());
    }
    Err(PlanError::new(place, format!("{minutes} minutes; give 0 to 1440 for changing one unit")))
}

// The turns of a plan, and what a person moves between two of them.

/// Units that are measured together: a wave of a round. Both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTurn {
    /// Round.
    pub round: usize,
    /// Wave of the round; one where there are as many slots as units.
    pub wave: usize,
}

/// What a person does with a unit before a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Move {
    /// Its model.
    pub model: String,
    /// The unit.
    pub unit: String,
    /// The slot that it leaves; none where it is in none.
    pub from: Option<String>,
    /// The slot that it goes to; none where it is put aside.
    pub to: Option<String>,
}

impl ExperimentPlan {
    /// All turns, in their order.
    #[must_use]
    pub fn turns(&self) -> Vec<PlanTurn> {
        let mut turns: Vec<PlanTurn> = self.cells().iter().map(ScheduledUnit::turn).collect();
        turns.sort_unstable();
        turns.dedup();
        turns
    }

    /// The cells of a turn.
    pub fn cells_of(&self, turn: PlanTurn) -> impl Iterator<Item = &ScheduledUnit> {
        self.cells().iter().filter(move |cell| cell.turn() == turn)
    }

    /// The moves for the turn `to` after the turn `from`, by slots. Without `from` all units are inserted. Units that
    /// are removed come first, so that their slots are free.
    #[must_use]
    pub fn moves_between(&self, from: Option<PlanTurn>, to: PlanTurn) -> Vec<Move> {
        type Unit<'a> = (&'a str, &'a str);
        let places = |turn: PlanTurn| -> BTreeMap<Unit<'_>, &str> {
            self.cells_of(turn).map(|cell| ((cell.model.as_str(), cell.unit.as_str()), cell.slot.as_str())).collect()
        };
        let (before, after) = (from.map(places).unwrap_or_default(), places(to));
        let order = |slot: &str| self.slots().iter().position(|known| known == slot);
        let made = |(model, unit): Unit<'_>, from: Option<&str>, to: Option<&str>| Move {
            model: model.to_owned(),
            unit: unit.to_owned(),
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
        };
        let aside = before.iter().filter(|(unit, _)| !after.contains_key(*unit));
        let mut aside: Vec<Move> = aside.map(|(unit, slot)| made(*unit, Some(slot), None)).collect();
        aside.sort_by_key(|one| one.from.as_deref().and_then(order));
        let put = after.iter().filter(|(unit, slot)| before.get(*unit) != Some(slot));
        let mut put: Vec<Move> = put.map(|(unit, slot)| made(*unit, before.get(unit).copied(), Some(slot))).collect();
        put.sort_by_key(|one| one.to.as_deref().and_then(order));
        aside.into_iter().chain(put).collect()
    }

    /// The order in which all units of a turn run the workloads, so that those that begin together run the same one: that of
    /// its first cell. Orders differ between rounds.
    #[must_use]
    pub fn order_of(&self, turn: PlanTurn) -> Option<usize> {
        self.cells_of(turn).next().map(|cell| cell.order)
    }
}

impl ScheduledUnit {
    /// When it is measured.
    #[must_use]
    pub fn turn(&self) -> PlanTurn {
        PlanTurn { round: self.round, wave: self.wave }
    }
}

// Checks the identity of a medium against the unit that a plan expects in a place.

/// A medium that was seen in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenMedium {
    /// When.
    pub turn: PlanTurn,
    /// The model that was expected there.
    pub model: String,
    /// The unit that was expected there.
    pub unit: String,
    /// The identity that the medium reports: CID or serial number.
    pub identity: String,
}

impl SeenMedium {
    /// Of a cell.
    #[must_use]
    pub fn in_cell(cell: &ScheduledUnit, identity: &str) -> Self {
        let (model, unit) = (cell.model.clone(), cell.unit.clone());
        Self { turn: cell.turn(), model, unit, identity: identity.to_owned() }
    }

    fn is_of(&self, cell: &ScheduledUnit) -> bool {
        self.model == cell.model && self.unit == cell.unit
    }
}

/// Why a medium with this `identity` is not the unit of `cell`, from the media `seen` in other turns and this one;
/// `None` where nothing contradicts it. An identity that two units had in one turn identifies neither: it belongs to a
/// reader or of a disk below them.
#[must_use]
pub fn misplaced(seen: &[SeenMedium], cell: &ScheduledUnit, identity: &str) -> Option<String> {
    let shared = |identity: &str| {
        let all: Vec<&SeenMedium> = seen.iter().filter(|one| one.identity == identity).collect();
        all.iter().any(|a| all.iter().any(|b| a.turn == b.turn && (&a.model, &a.unit) != (&b.model, &b.unit)))
    };
    if identity.is_empty() || shared(identity) {
        return None;
    }
    let before = || seen.iter().filter(|one| one.turn != cell.turn());
    let wanted = format!("unit {} of {} belongs here", cell.unit, cell.model);
    if let Some(other) = before().find(|one| one.identity == identity && !one.is_of(cell)) {
        return Some(format!(
            "the medium here, {identity}, was unit {} of {} in round {}; {wanted}",
            other.unit, other.model, other.turn.round
        ));
    }
    let known = before().find(|one| one.is_of(cell) && one.identity != identity && !shared(&one.identity))?;
    Some(format!(
        "{wanted}, which was {} in round {}, and the medium here is {identity}",
        known.identity, known.turn.round
    ))
}

// Whether a flagged unit or its slot is to blame: the measurements to make, and their result.

/// A unit and the slot it usually sits in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapPlace {
    /// Model.
    pub model: String,
    /// Unit.
    pub unit: String,
    /// Slot.
    pub slot: String,
}

/// The test that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapOptions {
    /// The flagged unit at home.
    pub suspect: SwapPlace,
    /// A good unit at home, best one of the same model.
    pub other: SwapPlace,
}

/// One session of the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapStep {
    /// 1: both at home; 2: places changed. Sessions of a step run at the same time.
    pub step: u32,
    /// The unit in the slot.
    #[serde(flatten)]
    pub place: SwapPlace,
    /// Repeats that there are; it takes two.
    pub repeats: usize,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapEffect {
    /// Suspect over other; below 1 it has less.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// It is significant and more than 15 %.
    pub real: bool,
}

/// The test and its result so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SwapTest {
    /// Title of the deciding load; null before anything is measured.
    pub load_title: Option<String>,
    /// The deciding figure.
    pub quantity: Option<Quantity>,
    /// What to measure, in this order.
    pub steps: Vec<SwapStep>,
    /// Suspect against the other unit; null until all is measured.
    pub unit: Option<SwapEffect>,
    /// The suspect's slot against the other slot; null until all is measured.
    pub slot: Option<SwapEffect>,
    /// Degrees of freedom between sessions behind both; 0 where there is one in each place.
    pub degrees: Option<u32>,
}

impl SwapPlace {
    /// Reads `MODEL=UNIT@SLOT`, as it stands on the command line after `place`.
    ///
    /// # Errors
    /// [`PlanError`] where a part is missing.
    pub fn parse(text: &str, place: &str) -> Result<Self, PlanError> {
        let parts = text.split_once('=').and_then(|(model, rest)| Some((model, rest.rsplit_once('@')?)));
        match parts.map(|(model, (unit, slot))| (model.trim(), unit.trim(), slot.trim())) {
            Some((model, unit, slot)) if !model.is_empty() && !unit.is_empty() && !slot.is_empty() => {
                Ok(Self { model: model.to_owned(), unit: unit.to_owned(), slot: slot.to_owned() })
            }
            _ => Err(PlanError::new(place, format!("{} is not a unit in a slot; write MODEL=UNIT@SLOT", quoted(text)))),
        }
    }
}

/// The order of the test and, where `records` hold all of it, its result.
///
/// # Errors
/// [`PlanError`]: one unit, or one slot, named twice; a figure where less is better; values that are not above zero.
pub fn swap_test(
    records: &[Observation],
    deciding: Option<(&Load, Quantity)>,
    options: &SwapOptions,
) -> Result<SwapTest, PlanError> {
    let (suspect, other) = (&options.suspect, &options.other);
    if (&suspect.model, &suspect.unit) == (&other.model, &other.unit) {
        return Err(PlanError::new("--other", "is the suspect itself; name another unit"));
    }
    if suspect.slot == other.slot {
        let message = format!("sits in slot {}, too; name a unit of another slot", other.slot);
        return Err(PlanError::new("--other", message));
    }
    let away = |unit: &SwapPlace, slot: &SwapPlace| SwapPlace { slot: slot.slot.clone(), ..unit.clone() };
    let places = [suspect.clone(), away(suspect, other), away(other, suspect), other.clone()];
    let cells = places
        .each_ref()
        .map(|place| deciding.map_or_else(Vec::new, |(load, quantity)| sessions(records, load, quantity, place)));
    let measured = cells.iter().all(|sessions| sessions.iter().map(Vec::len).sum::<usize>() >= 2);
    let found = if measured {
        let [suspect_home, suspect_away, other_away, other_home] = cells.each_ref().map(Vec::as_slice);
        let swap = Swap { suspect_home, suspect_away, other_away, other_home };
        Some(assay_stats::plan::swap(&swap).map_err(|fault| PlanError::new("swap", fault.to_string()))?)
    } else {
        None
    };
    let steps = [(1, 0), (1, 3), (2, 1), (2, 2)]
        .map(|(step, index): (u32, usize)| SwapStep {
            step,
            place: places[index].clone(),
            repeats: cells[index].iter().map(Vec::len).sum(),
        })
        .to_vec();
    let effect = |e: SwapDifference| SwapEffect { ratio: e.ratio, interval: e.interval, real: e.real };
    Ok(SwapTest {
        load_title: deciding.map(|(load, _)| load.title()),
        quantity: deciding.map(|(_, quantity)| quantity),
        steps,
        unit: found.map(|found| effect(found.unit)),
        slot: found.map(|found| effect(found.slot)),
        degrees: found.map(|found| found.degrees),
    })
}

/// The repeats of each session in a place.
fn sessions(records: &[Observation], load: &Load, quantity: Quantity, place: &SwapPlace) -> Vec<Vec<f64>> {
    let here = records.iter().filter(|record| {
        let identity = identity(record);
        identity.model == place.model && identity.unit == place.unit && identity.slot.as_ref() == Some(&place.slot)
    });
    here.filter_map(|record| reading(record, load, quantity)).filter(|r| r.counts()).map(|r| r.values).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::planned;
    use super::*;

    #[test]
    fn each_unit_is_put_where_the_plan_wants_it_and_nothing_else_is_touched() {
        let plan = planned("A=1,2,3;B=1,2", "a,b,c", 3);
        let turns = plan.turns();
        assert_eq!(turns.len(), 6, "three rounds of two waves");
        assert_eq!((turns[0], turns[5]), (PlanTurn { round: 1, wave: 1 }, PlanTurn { round: 3, wave: 2 }));
        let mut places: BTreeMap<(String, String), String> = BTreeMap::new();
        let mut last = None;
        for turn in turns {
            for one in plan.moves_between(last, turn) {
                let unit = (one.model, one.unit);
                assert_eq!(places.remove(&unit), one.from, "it leaves the place where it is");
                if let Some(slot) = one.to {
                    places.insert(unit, slot);
                }
            }
            let wanted: BTreeMap<_, _> =
                plan.cells_of(turn).map(|c| ((c.model.clone(), c.unit.clone()), c.slot.clone())).collect();
            assert_eq!(places, wanted, "{turn:?}");
            assert!(plan.order_of(turn).is_some());
            last = Some(turn);
        }
        assert!(plan.moves_between(last, last.unwrap()).is_empty());
        let aside = plan.moves_between(Some(PlanTurn { round: 1, wave: 1 }), PlanTurn { round: 1, wave: 2 });
        assert!(aside[0].to.is_none() && aside.last().unwrap().from.is_none(), "{aside:?}");
    }

    #[test]
    fn a_medium_that_stayed_or_went_elsewhere_is_told_by_its_identity() {
        let plan = planned("A=1,2,3", "a,b,c", 3);
        let cell = |round: usize, unit: &str| plan.cells().iter().find(|c| c.round == round && c.unit == unit).unwrap();
        let seen: Vec<SeenMedium> =
            ["1", "2", "3"].into_iter().map(|unit| SeenMedium::in_cell(cell(1, unit), &format!("0x{unit}"))).collect();
        assert_eq!(misplaced(&seen, cell(2, "1"), "0x1"), None);
        let stayed = misplaced(&seen, cell(2, "1"), "0x2").unwrap();
        assert_eq!(stayed, "the medium here, 0x2, was unit 2 of A in round 1; unit 1 of A belongs here");
        let strange = misplaced(&seen, cell(2, "1"), "0x9").unwrap();
        assert_eq!(strange, "unit 1 of A belongs here, which was 0x1 in round 1, and the medium here is 0x9");
        assert_eq!(misplaced(&seen, cell(2, "1"), ""), None, "it says nothing of itself");
        assert_eq!(misplaced(&seen, cell(1, "1"), "0x2"), None, "what is repeated in a turn is judged by other turns");
    }

    #[test]
    fn an_identity_of_several_units_tells_nothing() {
        let plan = planned("A=1,2,3", "a,b,c", 3);
        let cell = |round: usize, unit: &str| plan.cells().iter().find(|c| c.round == round && c.unit == unit).unwrap();
        let mut seen: Vec<SeenMedium> =
            ["1", "2", "3"].into_iter().map(|unit| SeenMedium::in_cell(cell(1, unit), "reader")).collect();
        assert_eq!(misplaced(&seen, cell(2, "1"), "reader"), None);
        assert_eq!(misplaced(&seen, cell(2, "1"), "0x1"), None, "the reader's own is not that of the unit");
        // Two nodes say the same in the turn that begins.
        seen = vec![
            SeenMedium::in_cell(cell(1, "1"), "x"),
            SeenMedium::in_cell(cell(2, "1"), "x"),
            SeenMedium::in_cell(cell(2, "2"), "x"),
        ];
        assert_eq!(misplaced(&seen, cell(2, "2"), "x"), None);
    }
}
