//! The turns of a plan, and what a person moves between two of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::experiment_plan::{Cell, ExperimentPlan};

/// Units that are measured together: a wave of a round. Both are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turn {
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
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = self.cells().iter().map(Cell::turn).collect();
        turns.sort_unstable();
        turns.dedup();
        turns
    }

    /// The cells of a turn.
    pub fn cells_of(&self, turn: Turn) -> impl Iterator<Item = &Cell> {
        self.cells().iter().filter(move |cell| cell.turn() == turn)
    }

    /// The moves for the turn `to` after the turn `from`, by slots. Without `from` all units are inserted. Units that
    /// are removed come first, so that their slots are free.
    #[must_use]
    pub fn moves_between(&self, from: Option<Turn>, to: Turn) -> Vec<Move> {
        type Unit<'a> = (&'a str, &'a str);
        let places = |turn: Turn| -> BTreeMap<Unit<'_>, &str> {
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
    pub fn order_of(&self, turn: Turn) -> Option<usize> {
        self.cells_of(turn).next().map(|cell| cell.order)
    }
}

impl Cell {
    /// When it is measured.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn { round: self.round, wave: self.wave }
    }
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
        assert_eq!((turns[0], turns[5]), (Turn { round: 1, wave: 1 }, Turn { round: 3, wave: 2 }));
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
        let aside = plan.moves_between(Some(Turn { round: 1, wave: 1 }), Turn { round: 1, wave: 2 });
        assert!(aside[0].to.is_none() && aside.last().unwrap().from.is_none(), "{aside:?}");
    }
}
