//! Plans, their cost and their files.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_unit_meets_a_new_slot_in_each_round_and_no_slot_is_taken_twice() {
    let plan = planned(FIVE, "7", 3);
    assert_eq!((plan.cells().len(), plan.waves()), (45, 3));
    let met: BTreeSet<_> = plan.cells().iter().map(|c| (&c.model, &c.unit, &c.slot)).collect();
    let taken: BTreeSet<_> = plan.cells().iter().map(|c| (c.round, c.wave, &c.slot)).collect();
    let measured: BTreeSet<_> = plan.cells().iter().map(|c| (c.round, &c.model, &c.unit)).collect();
    assert_eq!((met.len(), taken.len(), measured.len()), (45, 45, 45));
}

#[test]
fn the_same_request_gives_the_same_plan_and_another_seed_another() {
    assert_eq!(planned(FIVE, "7", 3), planned(FIVE, "7", 3));
    let with = |seed| request(FIVE, "7", 3, |r| ExperimentPlan::new(&Request { seed: Some(seed), ..r }).unwrap());
    assert_eq!(with(1).hash(), with(1).hash());
    assert_ne!(with(1).cells(), with(2).cells());
    assert_ne!(planned(FIVE, "7", 3).seed(), planned(FIVE, "7", 2).seed());
}

#[test]
fn units_stay_where_they_are_asked_to() {
    let plan = request("A=1,2;B=1", "4", 6, |r| ExperimentPlan::new(&Request { moves: Moves::Never, ..r }).unwrap());
    let places: BTreeSet<_> = plan.cells().iter().map(|c| (&c.model, &c.unit, &c.slot)).collect();
    assert_eq!(places.len(), 3);
    let outlook = outlook(&plan, 0.1).unwrap();
    let moves: Vec<_> = outlook.rounds.iter().map(|round| round.moves).collect();
    assert_eq!(moves, [3, 0, 0, 0, 0, 0]);
    assert!(!outlook.units_told_from_slots);
    assert_eq!(outlook.models_of_one_unit, ["B"]);
    assert!(outlook.resolution.is_empty(), "one unit tells nothing of a model");
}

#[test]
fn reads_come_before_writes_in_every_session() {
    let plan = planned("A=1,2", "2", 2);
    assert_eq!(plan.orders(), [["read", "write"]]);
    assert!(!plan.in_its_own_order(), "the suite writes first");
    let names: Vec<_> = plan.session(1).unwrap().workloads.into_iter().map(|w| w.name).collect();
    assert_eq!(names, ["read", "write"]);
    assert!(plan.session(0).is_none() && plan.session(2).is_none());
    assert_eq!(plan.session_file(1), "tiny-order-1.toml");
}

#[test]
fn cost_and_resolution_are_those_of_the_suite_and_the_units() {
    let plan = planned(FIVE, "7", 3);
    let found = outlook(&plan, 0.1).unwrap();
    // 1.5 minutes of suite and 2 of rest; 15 units need 3 waves on 7 slots; one minute a hand.
    assert!((found.rounds[0].clock_minutes - (3.0 * 3.5 + 15.0)).abs() < 1e-9, "{found:?}");
    assert!((found.total.clock_minutes - 3.0 * 25.5).abs() < 1e-9);
    assert!((found.total.device_minutes - 45.0 * 3.5).abs() < 1e-9);
    assert_eq!((found.total.sessions, found.total.moves), (45, 45));
    assert_eq!(found.total.written_bytes, 45 << 30);
    assert_eq!(found.written_per_unit_bytes, 3 << 30);
    // Tukey's honest significant difference for 5 models with 3 units: 31, 14 and 50 percent.
    let percent: Vec<_> = found.resolution.iter().map(|r| ((r.smallest_ratio - 1.0) * 100.0).round()).collect();
    assert_eq!(percent, [31.0, 14.0, 50.0]);
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(outlook(&plan, bad).is_err());
    }
}

#[test]
fn what_cannot_be_planned_is_refused_in_one_line() {
    let refused = |units: &str, slots: &str, rounds, handling_minutes| {
        request(units, slots, rounds, |r| ExperimentPlan::new(&Request { handling_minutes, ..r }))
            .unwrap_err()
            .to_string()
    };
    let units: Vec<String> = (0..300).map(|unit| unit.to_string()).collect();
    let units = format!("A={}", units.join(","));
    for (text, words) in [
        (refused("A=1,2", "2", 3, 1.0), "--rounds: 3 rounds need 3 slots"),
        (refused("A=1,2", "2", 0, 1.0), "0 rounds"),
        (refused("A=1,2", "2", 101, 1.0), "101 rounds"),
        (refused(&units, "400", 100, 1.0), "30000 sessions"),
        (refused("A=1,2", "2", 2, -1.0), "-1 minutes"),
        (refused("A=1,2", "2", 2, f64::NAN), "NaN minutes"),
    ] {
        assert!(text.contains(words) && !text.contains('\n'), "{text}");
    }
}

#[test]
fn a_file_is_read_back_as_it_was_written() {
    for plan in [planned(FIVE, "7", 3), planned("it's \"x\" \\=1", "left,right", 1)] {
        let text = plan.to_text();
        assert_eq!(read_plan(&text, "p.toml").unwrap(), plan, "{text}");
        let noted = text.replacen("\n[[model]]", "\n# a note of a person\n[[model]]", 1);
        assert_eq!(read_plan(&noted, "p.toml").unwrap(), plan);
    }
}

#[test]
fn a_changed_or_newer_or_broken_file_is_refused_with_its_line() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let text = plan.to_text();
    for (from, to, place, words) in [
        ("rounds = 2", "rounds = 3", "p.toml:5", "changed after it was made"),
        // Each round is one line of the hashed text. Hashing this many lines would never end.
        ("rounds = 2", "rounds = 9223372036854775807", "p.toml:5", "changed after it was made"),
        ("slot = \"1\"", "slot = \"2\"", "p.toml:5", "changed after it was made"),
        ("seed = ", "seed = 1", "p.toml:5", "changed after it was made"),
        ("budget = ", "# budget = ", "p.toml", "missing field `budget`"),
        ("version = 1\nhash", "version = 2\nnews = 3\nhash", "p.toml:4", "version 2, this assay knows 1"),
        ("assay-plan", "shopping", "p.toml:3", "is not a plan"),
        ("seed = ", "sed = ", "p.toml:7", "sed"),
        ("name = \"A\"", "name = \"A,B\"", "p.toml:5", "holds a comma"),
        ("[[model]]", "[[model", "p.toml:14", ""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let error = read_plan(&broken, "p.toml").unwrap_err();
        assert!(error.place.starts_with(place), "{from}: {error}");
        assert!(error.message.contains(words) && !error.to_string().contains('\n'), "{from}: {error}");
    }
    assert!(read_plan("", "p.toml").is_err());
    assert!(read_plan("name = 3", "p.toml").is_err());
}

#[test]
fn a_hash_that_fits_does_not_make_a_bad_plan_sound() {
    let plan = planned("A=1,2;B=1,2", "4", 2);
    let spoiled = |spoil: fn(&mut ExperimentPlan)| {
        let mut plan = plan.clone();
        spoil(&mut plan);
        read_plan(&plan.to_text(), "p.toml").unwrap_err().to_string()
    };
    for (error, words) in [
        (spoiled(|p| p.cells[0].slot = p.cells[1].slot.clone()), "planned"),
        (spoiled(|p| p.cells[0].slot = "9".to_owned()), "in no slot of it"),
        (spoiled(|p| p.cells[0].unit = "\n\u{1b}[2J".to_owned()), "unit `\u{fffd}\u{fffd}[2J` of"),
        (spoiled(|p| p.cells[0].order = 7), "no order of workloads"),
        (spoiled(|p| p.cells[0].wave = 0), "no wave"),
        (spoiled(|p| p.waves = 1 << 60), "do not fit the cells"),
        (spoiled(|p| p.orders[0] = vec!["read".to_owned()]), "does not hold the workloads"),
        (spoiled(|p| p.handling_minutes = -1.0), "-1 minutes"),
        (spoiled(|p| p.suite.source = "\u{1b}[2J".to_owned()), "cannot be shown"),
    ] {
        assert!(error.contains(words) && !error.contains('\n'), "{words}: {error}");
    }
}
