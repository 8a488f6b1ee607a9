//! Error rates of the ranking where models are equal, and its run time.

use assay_stats::rank::{Entrant, ModelFit, ODD_ALPHA, Oddities, Options, Precedence, UnitFit, odd_units, rank};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Normal(Xoshiro256PlusPlus);

impl Normal {
    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Box and Muller (1958), one of the two.
    fn next(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }
}

fn normal(seed: u64) -> Normal {
    Normal(Xoshiro256PlusPlus::seed_from_u64(seed))
}

fn model(name: usize, values: &[f64]) -> ModelFit {
    let unit = |(at, ln): (usize, &f64)| UnitFit { name: format!("{at}"), ln: *ln, repeats: 3 };
    ModelFit::new(format!("{name:02}"), values.iter().enumerate().map(unit).collect())
}

/// Five equal models of three units, 10 % between units, 3 % between three repeats.
fn null_set(normal: &mut Normal) -> Vec<Vec<[f64; 3]>> {
    (0..5)
        .map(|_| {
            (0..3)
                .map(|_| {
                    let unit = 0.10 * normal.next();
                    [0; 3].map(|_| unit + 0.03 * normal.next())
                })
                .collect()
        })
        .collect()
}

fn any_order(entrants: &[Entrant], seed: u64) -> bool {
    let options = Options { draws: 999, seed, ..Options::default() };
    rank(entrants, &options).unwrap().pairs.iter().any(|p| p.verdict.is_first())
}

#[test]
fn equal_models_are_rarely_ordered_and_repeats_are_no_units() {
    let mut normal = normal(20_261_121);
    let (mut by_units, mut by_repeats) = (0, 0);
    let sets = 1000;
    for seed in 0..sets {
        let set = null_set(&mut normal);
        let units = set.iter().enumerate().map(|(k, units)| {
            let means: Vec<f64> = units.iter().map(|runs| runs.iter().sum::<f64>() / 3.0).collect();
            model(k, &means).entrant()
        });
        let repeats = set.iter().enumerate().map(|(k, units)| model(k, units.as_flattened()).entrant());
        by_units += i32::from(any_order(&units.collect::<Vec<_>>(), seed));
        by_repeats += i32::from(any_order(&repeats.collect::<Vec<_>>(), seed));
    }
    // One standard error at 5 % of 1000 sets is 0.7 %.
    let share = |count: i32| f64::from(count) / sets as f64;
    println!("false orders: {} by units, {} by repeats", share(by_units), share(by_repeats));
    assert!((0.025..=0.06).contains(&share(by_units)), "{}", share(by_units));
    assert!(share(by_repeats) > 0.45, "{}", share(by_repeats));
}

#[test]
fn equal_units_are_rarely_odd_and_half_speed_is_seen() {
    let mut normal = normal(7);
    let sets = 2000;
    let share = |count: i32| f64::from(count) / f64::from(sets);
    // Nearly always the units are reported to differ. The odd unit itself is named only where the other three agree
    // well, because an erratic model or one with heavy tails also has a unit that is far off.
    for (deviation, named) in [(0.10, 0.20), (0.05, 0.55), (0.03, 0.86)] {
        let (mut alarms, mut seen, mut told) = (0, 0, 0);
        for _ in 0..sets {
            let mut models: Vec<Vec<f64>> =
                (0..5).map(|_| (0..4).map(|_| deviation * normal.next()).collect()).collect();
            let odd = |models: &[Vec<f64>]| {
                let fits: Vec<ModelFit> = models.iter().enumerate().map(|(k, units)| model(k, units)).collect();
                odd_units(&fits, ODD_ALPHA)
            };
            alarms += i32::from(odd(&models) != Oddities { tested: 20, ..Oddities::default() });
            models[2][1] -= 2f64.ln();
            let found = odd(&models);
            let is_named = found.odd.iter().any(|o| o.model == "02" && o.unit == "1");
            seen += i32::from(is_named);
            told += i32::from(is_named || found.disagree.iter().any(|d| d.model == "02"));
        }
        println!("odd units of {deviation}: {} false, {} named, {} told", share(alarms), share(seen), share(told));
        assert!(share(alarms) <= 0.06, "{}", share(alarms));
        // One standard error is 1.1 % at most.
        assert!(share(seen) >= named && share(told) >= 0.94, "{} {}", share(seen), share(told));
    }
}

#[test]
fn forty_models_of_ten_units_rank_quickly() {
    let mut normal = normal(40);
    let entrants: Vec<Entrant> = (0..40)
        .map(|k| {
            let units: Vec<f64> = (0..10).map(|_| 0.02 * k as f64 + 0.10 * normal.next()).collect();
            Entrant { class: Precedence::Sound, ..model(k, &units).entrant() }
        })
        .collect();
    let start = std::time::Instant::now();
    let ranking = rank(&entrants, &Options::default()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(ranking.pairs.len(), 780);
    println!("40 models, 10 units: {seconds:.3} s");
    // 0.6 s without optimisation on two busy cores; much more would mean that every step draws anew.
    assert!(seconds < 6.0, "{seconds} s");
}
