//! Laws of the ranking: what must not change it.

use assay_stats::rank::{Better, FitValue, ModelRanking, Options, Sense, fit, rank};
use proptest::prelude::*;

/// Four models of three units; units rotate through six slots in two waves.
fn campaign(values: &[f64]) -> Vec<FitValue<'static>> {
    values
        .iter()
        .enumerate()
        .map(|(at, value)| {
            let (unit, wave) = (at % 12, at / 12);
            let mut o = FitValue::new(format!("m{}", unit / 3), format!("u{unit}"), *value);
            o.slot = Some(format!("s{}", (unit + wave) % 6).into());
            o.wave = u32::try_from(wave).ok();
            o
        })
        .collect()
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    // Four speeds with noise: some pairs are ordered, some are not.
    (prop::collection::vec(1.0f64..4.0, 4), prop::collection::vec(-0.15f64..0.15, 24))
        .prop_map(|(speed, noise)| (0..24).map(|at| (speed[at % 12 / 3] + noise[at]).exp()).collect())
}

fn ranked(observations: &[FitValue<'_>], options: &Options) -> ModelRanking {
    rank(&fit(observations).unwrap().entrants(), options).unwrap()
}

fn options() -> Options {
    Options { draws: 499, ..Options::default() }
}

/// Name, layer, rank set.
type Line = (String, usize, (usize, usize));

/// What people read: names in order, layers, rank sets, verdicts.
fn reading(ranking: &ModelRanking) -> (Vec<Line>, Vec<Better>) {
    let models = ranking.models.iter().map(|m| (m.name.clone(), m.layer, m.ranks)).collect();
    (models, ranking.pairs.iter().map(|p| p.verdict).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_records_changes_no_digit(values in values(), seed in 0u64..1000) {
        let straight = campaign(&values);
        let mut shuffled = straight.clone();
        let mut state = seed + 1;
        for last in (1..shuffled.len()).rev() {
            state = state * 48_271 % 2_147_483_647;
            shuffled.swap(last, state as usize % (last + 1));
        }
        let (a, b) = (fit(&straight).unwrap(), fit(&shuffled).unwrap());
        prop_assert_eq!(&a, &b);
        let mut entrants = b.entrants();
        entrants.reverse();
        prop_assert_eq!(rank(&a.entrants(), &options()).unwrap(), rank(&entrants, &options()).unwrap());
    }

    #[test]
    fn the_unit_changes_nothing(values in values(), factor in prop::sample::select(vec![1024.0, 1e-6, 8.0, 0.000_976_562_5])) {
        let straight = ranked(&campaign(&values), &options());
        let scaled = ranked(&campaign(&values.iter().map(|v| v * factor).collect::<Vec<_>>()), &options());
        prop_assert_eq!(reading(&straight), reading(&scaled));
        for (a, b) in straight.pairs.iter().zip(&scaled.pairs) {
            prop_assert!((a.ratio / b.ratio - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn seconds_per_operation_rank_as_operations_per_second(values in values()) {
        let rates = ranked(&campaign(&values), &options());
        let times: Vec<f64> = values.iter().map(|v| 1.0 / v).collect();
        let times = ranked(&campaign(&times), &Options { sense: Sense::LowerIsBetter, ..options() });
        prop_assert_eq!(reading(&rates), reading(&times));
        for (a, b) in rates.pairs.iter().zip(&times.pairs) {
            prop_assert!((a.ratio * b.ratio - 1.0).abs() < 1e-9);
            prop_assert!((a.low.unwrap() * b.high.unwrap() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_speed_of_slots_changes_nothing(values in values(), slots in prop::collection::vec(-0.5f64..0.5, 6)) {
        let straight = campaign(&values);
        let mut moved = straight.clone();
        for o in &mut moved {
            let slot: usize = o.slot.as_deref().unwrap()[1..].parse().unwrap();
            o.value *= slots[slot].exp();
        }
        let (a, b) = (fit(&straight).unwrap(), fit(&moved).unwrap());
        let mean = slots.iter().sum::<f64>() / 6.0;
        for (a, b) in a.models.iter().zip(&b.models) {
            prop_assert!((a.mean + mean - b.mean).abs() < 1e-9, "{} {}", a.mean, b.mean);
            prop_assert!((a.variance.unwrap() - b.variance.unwrap()).abs() < 1e-9);
        }
        let rank = |entrants: &[_]| reading(&rank(entrants, &options()).unwrap());
        prop_assert_eq!(rank(&a.entrants()), rank(&b.entrants()));
    }

    #[test]
    fn more_doubt_means_wider_rank_sets(values in values(), alphas in (0.01f64..0.5, 0.01f64..0.5)) {
        let (strict, loose) = (alphas.0.min(alphas.1), alphas.0.max(alphas.1));
        let strict = ranked(&campaign(&values), &Options { alpha: strict, ..options() });
        let loose = ranked(&campaign(&values), &Options { alpha: loose, ..options() });
        for (a, b) in strict.models.iter().zip(&loose.models) {
            prop_assert!(a.ranks.0 <= b.ranks.0 && b.ranks.1 <= a.ranks.1, "{a:?} {b:?}");
        }
    }
}
