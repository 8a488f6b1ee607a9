//! Checks the identity of a medium against the unit that a plan expects in a place.

use super::experiment_plan::Cell;
use super::turns::Turn;

/// A medium that was seen in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenMedium {
    /// When.
    pub turn: Turn,
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
    pub fn of(cell: &Cell, identity: &str) -> Self {
        let (model, unit) = (cell.model.clone(), cell.unit.clone());
        Self { turn: cell.turn(), model, unit, identity: identity.to_owned() }
    }

    fn is_of(&self, cell: &Cell) -> bool {
        self.model == cell.model && self.unit == cell.unit
    }
}

/// Why a medium with this `identity` is not the unit of `cell`, from the media `seen` in other turns and this one;
/// `None` where nothing contradicts it. An identity that two units had in one turn identifies neither: it belongs to a
/// reader or of a disk below them.
#[must_use]
pub fn misplaced(seen: &[SeenMedium], cell: &Cell, identity: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::super::tests::planned;
    use super::*;

    #[test]
    fn a_medium_that_stayed_or_went_elsewhere_is_told_by_its_identity() {
        let plan = planned("A=1,2,3", "a,b,c", 3);
        let cell = |round: usize, unit: &str| plan.cells().iter().find(|c| c.round == round && c.unit == unit).unwrap();
        let seen: Vec<SeenMedium> =
            ["1", "2", "3"].into_iter().map(|unit| SeenMedium::of(cell(1, unit), &format!("0x{unit}"))).collect();
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
            ["1", "2", "3"].into_iter().map(|unit| SeenMedium::of(cell(1, unit), "reader")).collect();
        assert_eq!(misplaced(&seen, cell(2, "1"), "reader"), None);
        assert_eq!(misplaced(&seen, cell(2, "1"), "0x1"), None, "the reader's own is not that of the unit");
        // Two nodes say the same in the turn that begins.
        seen = vec![
            SeenMedium::of(cell(1, "1"), "x"),
            SeenMedium::of(cell(2, "1"), "x"),
            SeenMedium::of(cell(2, "2"), "x"),
        ];
        assert_eq!(misplaced(&seen, cell(2, "2"), "x"), None);
    }
}
