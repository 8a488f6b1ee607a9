//! The kinds of stores, and the store of a seed.

use super::store::{Plot, Store};
use super::{behaviour, imports, schedules};

/// The name of a kind, and the function that fills an empty store.
type Kind = (&'static str, fn(&mut Plot));

/// The kinds of stores, each with its function.
const TOLD: [Kind; 24] = [
    ("five runs of an afternoon, units", schedules::afternoon_of_two_units),
    ("five runs of an afternoon, models", schedules::afternoon_of_models),
    ("an evening across midnight", schedules::across_midnight),
    ("a model a day", schedules::model_a_day),
    ("a unit a day", schedules::unit_a_day),
    ("one run a day", schedules::one_run_a_day),
    ("working days with gaps", schedules::working_days),
    ("days alike, autocorrelated", schedules::days_alike),
    ("a model a computer", schedules::model_a_computer),
    ("a model a computer, one unit on both", schedules::bridged),
    ("shared computers", schedules::shared),
    ("the same units at two computers", schedules::same_units),
    ("best of five beside runs", imports::best_beside_runs),
    ("best of five, all", imports::best_of_all),
    ("single figures", imports::single_figures),
    ("no model named", imports::nameless),
    ("whole MB/s", imports::whole),
    ("labels against serial numbers", imports::labels_and_serials),
    ("copies", imports::copies),
    ("drift and warm-up", behaviour::drift),
    ("erratic models", behaviour::erratic),
    ("odd units", behaviour::odd),
    ("writes that order differently", behaviour::writes),
    ("all at once", behaviour::all_at_once),
];

/// Number of kinds of stores. The kind of a seed is its remainder by this number: seed 0 is of the first kind.
pub const KINDS: u64 = TOLD.len() as u64;

/// The store of a seed.
#[must_use]
pub fn draw(seed: u64) -> Store {
    let (kind, tell) = TOLD[(seed % KINDS) as usize];
    let mut plot = Plot::new(seed);
    tell(&mut plot);
    plot.close(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_store_again() {
        for seed in 0..2 * KINDS {
            let (one, two) = (draw(seed), draw(seed));
            assert!(!one.files.is_empty() && !one.models.is_empty(), "{}", one.kind);
            assert!(one.files.iter().zip(&two.files).all(|(one, two)| one.text == two.text), "{}", one.kind);
        }
    }

    #[test]
    fn other_rounds_of_a_kind_are_other_stores() {
        let (one, two) = (draw(1), draw(1 + KINDS));
        assert_eq!(one.kind, two.kind);
        assert_ne!(one.files[0].text, two.files[0].text);
    }
}
