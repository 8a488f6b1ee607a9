//! Plans of campaigns: when, where and how often each unit is measured.

use std::collections::HashSet;

use assay_stats::decide::InputRefusal;
use assay_stats::plan::{Mode, PlanFault, PlannedLoad, SessionPlan, Swap, cost, plan, swap};

/// `counts[k]` units of model k.
fn models(counts: &[usize]) -> Vec<usize> {
    counts.iter().enumerate().flat_map(|(model, n)| std::iter::repeat_n(model, *n)).collect()
}

#[test]
fn no_unit_meets_a_slot_twice_and_all_hang_together() {
    let configurations =
        [(models(&[3, 3, 3]), 7, 3), (models(&[3; 8]), 7, 3), (models(&[4, 2, 1]), 4, 4), (models(&[2, 2]), 12, 2)];
    for (models, slots, rounds) in configurations {
        for seed in 0..10 {
            let plan = plan(&models, slots, rounds, Mode::Move, seed).unwrap();
            let met: HashSet<_> = plan.meetings.iter().map(|m| (m.unit, m.slot)).collect();
            assert_eq!(met.len(), models.len() * rounds);
            let cells: HashSet<_> = plan.meetings.iter().map(|m| (m.round, m.wave, m.slot)).collect();
            assert_eq!(cells.len(), models.len() * rounds);
            for round in 0..rounds {
                let units: HashSet<_> = plan.meetings.iter().filter(|m| m.round == round).map(|m| m.unit).collect();
                assert_eq!(units.len(), models.len());
            }
            assert!(plan.connected() && plan.check().is_ok());
            assert_eq!(plan.waves, models.len().div_ceil(slots));
            assert!(plan.meetings.iter().all(|m| m.slot < slots && m.wave < plan.waves));
        }
    }
}

#[test]
fn one_round_does_not_tell_units_from_slots() {
    let plan = plan(&models(&[2, 2]), 4, 1, Mode::Move, 1).unwrap();
    assert!(!plan.connected() && plan.check().is_ok());
}

/// Rank of the matrix of the mean, units, slots and rounds, by elimination.
fn rank_of(plan: &SessionPlan) -> usize {
    let units = plan.models.len();
    let columns = 1 + units + plan.slots + plan.rounds;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for m in &plan.meetings {
        let mut row = vec![0.0; columns];
        for at in [0, 1 + m.unit, 1 + units + m.slot, 1 + units + plan.slots + m.round] {
            row[at] = 1.0;
        }
        rows.push(row);
    }
    let mut rank = 0;
    for column in 0..columns {
        let size = |at: &usize| rows[*at][column].abs();
        let Some(pivot) = (rank..rows.len()).max_by(|a, b| size(a).total_cmp(&size(b))) else { break };
        if size(&pivot) < 1e-9 {
            continue;
        }
        rows.swap(rank, pivot);
        let own = rows[rank].clone();
        for row in &mut rows[rank + 1..] {
            let share = row[column] / own[column];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= share * own);
        }
        rank += 1;
    }
    rank
}

/// With fewer units than slots, most draws leave slots that are units and rounds in sum.
#[test]
fn slots_are_separated_where_the_plan_says_so() {
    for (units, slots, rounds, testable) in [
        (8, 11, 3, true),
        (6, 12, 4, true),
        (6, 10, 3, true),
        (7, 12, 4, true),
        (5, 8, 3, true),
        (7, 10, 3, true),
        (7, 7, 3, true),
        (14, 7, 2, true),
        (8, 7, 2, true),
        // Twelve cells for as many effects, and two rounds that explain every figure.
        (4, 8, 3, false),
        (7, 7, 2, false),
        (6, 7, 2, false),
        (7, 7, 1, false),
    ] {
        for seed in 0..20 {
            let drawn = plan(&models(&[units - units / 2, units / 2]), slots, rounds, Mode::Move, seed).unwrap();
            let used: HashSet<_> = drawn.meetings.iter().map(|m| m.slot).collect();
            let effects = units + used.len() + rounds - 2;
            let separated = rank_of(&drawn) == effects && drawn.meetings.len() > effects;
            let shape = format!("{units} units, {slots} slots, {rounds} rounds, seed {seed}");
            assert_eq!((drawn.slots_testable(), separated), (testable, testable), "{shape}");
        }
    }
}

#[test]
fn models_are_spread_over_slots() {
    // 3 models of 3 units in 9 slots, 3 rounds: 9 meetings of each model, so once a slot at best.
    // The mean of single draws is above 2.
    for seed in 0..10 {
        assert!(plan(&models(&[3, 3, 3]), 9, 3, Mode::Move, seed).unwrap().crowding() <= 2, "{seed}");
    }
}

#[test]
fn cards_that_stay_keep_their_slot() {
    let plan = plan(&models(&[3, 3]), 6, 4, Mode::Stay, 5).unwrap();
    let met: HashSet<_> = plan.meetings.iter().map(|m| (m.unit, m.slot)).collect();
    assert_eq!((met.len(), plan.meetings.len()), (6, 24));
    assert!(!plan.connected());
    let slots = |seed| {
        let p = assay_stats::plan::plan(&models(&[3, 3]), 6, 1, Mode::Stay, seed).unwrap();
        p.meetings.iter().map(|m| m.unit).collect::<Vec<_>>()
    };
    assert!((0..10).map(slots).collect::<HashSet<_>>().len() > 5, "slots are drawn");
}

#[test]
fn the_seed_makes_the_plan() {
    let models = models(&[3, 3, 2]);
    let of = |seed| plan(&models, 4, 3, Mode::Move, seed).unwrap();
    assert_eq!(of(7), of(7));
    assert_ne!(of(7).meetings, of(8).meetings);
    // Fixed on purpose: a plan made on one machine is checked on another.
    let first: Vec<_> = of(7).meetings.iter().take(4).map(|m| m.unit).collect();
    assert_eq!(first, [5, 6, 0, 2]);
}

#[test]
fn a_plan_that_was_tampered_with_is_found() {
    let good = plan(&models(&[3, 3]), 3, 3, Mode::Move, 1).unwrap();
    let mut twice = good.clone();
    twice.meetings[1].slot = twice.meetings[0].slot;
    assert!(matches!(twice.check(), Err(PlanFault::DoubleBooking { round: 0, wave: 0, .. })));
    let mut missing = good.clone();
    missing.meetings.pop();
    assert!(matches!(missing.check(), Err(PlanFault::WrongSlot { .. })));
    let mut stray = good.clone();
    stray.meetings[0].slot = 99;
    assert!(matches!(stray.check(), Err(PlanFault::WrongSlot { .. })));
    let mut swapped = plan(&models(&[1, 1]), 2, 2, Mode::Move, 1).unwrap();
    for m in swapped.meetings.iter_mut().filter(|m| m.round == 1) {
        m.slot = 1 - m.slot;
    }
    assert!(matches!(swapped.check(), Err(PlanFault::WrongSlot { .. })), "the same slot in both rounds");
}

#[test]
fn impossible_plans_are_refused() {
    assert_eq!(
        plan(&[], 3, 1, Mode::Move, 1),
        Err(PlanFault::Input(InputRefusal::TooFew { what: "units", least: 1, given: 0 }))
    );
    assert!(plan(&[0], 0, 1, Mode::Move, 1).is_err() && plan(&[0], 1, 0, Mode::Move, 1).is_err());
    let fault = plan(&[0, 1], 2, 3, Mode::Move, 1).unwrap_err();
    assert_eq!(fault, PlanFault::MoreRoundsThanSlots { rounds: 3, slots: 2 });
    assert!(fault.to_string().contains("let cards stay"));
    assert!(plan(&[0, 1], 1, 3, Mode::Stay, 1).is_ok(), "one slot, units take turns");
}

#[test]
fn the_cost_of_a_plan() {
    // 24 units, 7 slots: 4 waves, 2 rounds. Two reads of 25 s, three writes of 4 min and 1 GB.
    let plan = plan(&models(&[3; 8]), 7, 2, Mode::Move, 1).unwrap();
    let loads = [
        PlannedLoad { minutes: 25.0 / 60.0, written_bytes: 0, repeats: 2 },
        PlannedLoad { minutes: 4.0, written_bytes: 1_000_000_000, repeats: 3 },
    ];
    let found = cost(&plan, &loads, 12.0).unwrap();
    let session = 12.0 + 2.0 * (25.0 / 60.0 + 0.5) + 3.0 * (4.0 + 2.0);
    assert!((found.session_minutes - session).abs() < 1e-9);
    assert_eq!(found.sessions, 48);
    assert!((found.device_minutes - 48.0 * session).abs() < 1e-6);
    assert!((found.clock_minutes - 8.0 * session).abs() < 1e-6);
    assert_eq!((found.written_per_unit, found.written_bytes), (6_000_000_000, 144_000_000_000));
    assert!(cost(&plan, &loads, f64::NAN).is_err());
    assert!(cost(&plan, &[PlannedLoad { minutes: -1.0, ..loads[0] }], 1.0).is_err());
}

#[test]
fn a_swap_tells_unit_from_slot() {
    // A unit at half speed in any slot, with 2 % noise.
    let noise = |v: f64| vec![vec![v * 0.99, v * 1.01, v], vec![v * 1.01, v * 1.02, v * 1.03]];
    let (slow, fast) = (noise(5.0), noise(10.0));
    let cells = Swap { suspect_home: &slow, suspect_away: &slow, other_away: &fast, other_home: &fast };
    let found = swap(&cells).unwrap();
    assert!(found.unit.real && !found.slot.real, "{found:?}");
    assert!((found.unit.ratio - 0.5).abs() < 1e-9 && (found.slot.ratio - 1.0).abs() < 1e-9);
    assert_eq!(found.degrees, 4);
    // A slot at half speed for any unit.
    let cells = Swap { suspect_home: &slow, suspect_away: &fast, other_away: &slow, other_home: &fast };
    let found = swap(&cells).unwrap();
    assert!(!found.unit.real && found.slot.real && (found.slot.ratio - 0.5).abs() < 1e-9, "{found:?}");
    // Both: a quarter in the bad slot.
    let quarter = noise(2.5);
    let cells = Swap { suspect_home: &quarter, suspect_away: &slow, other_away: &slow, other_home: &fast };
    let found = swap(&cells).unwrap();
    assert!(found.unit.real && found.slot.real, "{found:?}");
}

#[test]
fn a_swap_by_hand() {
    // One session in each place, two repeats 0.02 to either side: variance 0.0008, of a mean 0.0004.
    let cell = |mean: f64| vec![vec![(mean - 0.02f64).exp(), (mean + 0.02).exp()]];
    let (a, b) = (cell(-0.4), cell(0.0));
    let cells = Swap { suspect_home: &a, suspect_away: &a, other_away: &b, other_home: &b };
    let found = swap(&cells).unwrap();
    // Four cells weigh a quarter each; t of three degrees is 3.1824.
    let half = 3.1824 * (0.037f64.powi(2) + 0.0004).sqrt();
    assert!((found.unit.interval.0.ln() + 0.4 + half).abs() < 1e-4, "{found:?}");
    assert!((found.unit.interval.1.ln() + 0.4 - half).abs() < 1e-4, "{found:?}");
    assert_eq!(found.degrees, 0);
    // Significant, but only 14 %: too small to blame the unit.
    let c = vec![cell(-0.139).remove(0); 6];
    let d = vec![cell(0.0).remove(0); 6];
    let small = swap(&Swap { suspect_home: &c, suspect_away: &c, other_away: &d, other_home: &d }).unwrap();
    assert!(small.unit.interval.1 < 1.0 && !small.unit.real, "{small:?}");
    // Half the speed, with very different sessions.
    let wild = vec![vec![1.0, 1.01], vec![0.1, 0.101]];
    assert!(!swap(&Swap { suspect_home: &wild, suspect_away: &wild, ..cells }).unwrap().unit.real);
    // One session in each cell, with a single cell that deviates: the third contrast shows it, and neither unit nor
    // slot is blamed.
    let off = swap(&Swap { suspect_away: &b, ..cells }).unwrap();
    assert!(!off.unit.real && !off.slot.real, "{off:?}");
    assert!(
        swap(&Swap { suspect_home: &[], ..cells }).is_err()
            && swap(&Swap { suspect_home: &[vec![1.0]], ..cells }).is_err()
    );
}

#[test]
fn a_swap_needs_two_repeats_of_real_rates() {
    let two = [vec![1.0, 1.1]];
    let cells = Swap { suspect_home: &two, suspect_away: &two, other_away: &two, other_home: &two };
    assert!(swap(&Swap { other_home: &[vec![1.0]], ..cells }).is_err());
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(swap(&Swap { suspect_away: &[vec![1.0, bad]], ..cells }).is_err());
    }
}
