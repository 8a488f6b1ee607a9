//! A campaign tells right answers from wrong ones, and restored data from lost ones.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::collections::BTreeSet;
use std::sync::Mutex;

use assay_core::verification::FakeKind;
use assay_lab::campaign::{Campaign, CheckResult, Judgement, Report, Size};
use assay_lab::media::{Class, Failure, FoundVerdict, MediumSpec, ModelMedium, Reach, Trigger, Truth, population};
use assay_verify::probe::Device;

const SEEDS: u64 = 300;

fn any(check: impl Fn(&mut ModelMedium, u64) -> CheckResult + Sync) -> Report {
    Campaign::over(population::any, 0..SEEDS).run(check)
}

/// A check that knows the truth.
fn oracle(medium: &mut ModelMedium, _seed: u64) -> CheckResult {
    let truth = Truth::about_medium(medium.spec());
    CheckResult {
        kind: truth.kinds.first().copied(),
        real_bytes: truth.real_bytes.last().map(|real| *real..=*real),
        ..CheckResult::from_verdict(truth.right[0], Reach::least())
    }
}

#[test]
fn who_knows_the_truth_is_right_about_everything() {
    let report = any(oracle);
    assert_eq!(report.cases.len() as u64, SEEDS);
    assert!(report.cases.iter().all(|case| case.judgement == Judgement::Right));
    assert!(report.cases.iter().all(|case| case.kind_is_right != Some(false)));
    assert!(report.cases.iter().all(|case| case.size.is_none_or(|size| size == Size::Exact)));
    assert_eq!(report.harmed().count() + report.lost().count() + report.false_alarms().count(), 0);
}

#[test]
fn who_says_the_same_of_all_is_wrong_where_that_is_not_so() {
    let everything = Reach { cache_bytes: u64::MAX, read_cache_bytes: u64::MAX, pool_bytes: u64::MAX, share: 0.0 };
    let trusting = any(|_, _| CheckResult::from_verdict(FoundVerdict::Genuine, everything));
    for case in &trusting.cases {
        let expected = match case.truth.class {
            Class::Genuine => Judgement::Right,
            // They never reached the failure or the end of their pool.
            Class::Failing | Class::Thin | Class::Compressing if case.truth.needs.len() == 1 => Judgement::BeyondReach,
            _ => Judgement::Wrong,
        };
        assert_eq!(case.judgement, expected, "{case:?}");
    }
    // A check with the least reach is still wrong about faults that every check notices.
    let humble = any(|_, _| CheckResult::from_verdict(FoundVerdict::Genuine, Reach::least()));
    let wrong: BTreeSet<Class> = humble.wrong().map(|case| case.truth.class).collect();
    assert!(wrong.contains(&Class::Limbo) && wrong.contains(&Class::Damaged));
    assert!(humble.wrong().count() < trusting.wrong().count());

    let suspicious = any(|_, _| CheckResult::from_verdict(FoundVerdict::Fake, everything));
    let genuine = suspicious.cases.iter().filter(|case| case.truth.class == Class::Genuine).count();
    assert!(genuine > 50 && suspicious.false_alarms().count() == genuine);
    assert!(suspicious.cases.iter().all(|case| case.size.is_none_or(|size| size == Size::Unstated)));
}

#[test]
fn sizes_and_kinds_are_judged_where_a_fake_is_told() {
    let fake = |_: u64| MediumSpec::limbo(1 << 30, 61 << 20);
    for (said, size) in [
        (61 << 20..=61 << 20, Size::Exact),
        (60 << 20..=62 << 20, Size::Inside),
        (62 << 20..=63 << 20, Size::Outside),
        ((61 << 20) + 512..=(61 << 20) + 512, Size::Outside),
    ] {
        let report = Campaign::over(fake, 0..1).run(|_, _| CheckResult {
            kind: Some(FakeKind::Chain),
            real_bytes: Some(said.clone()),
            ..CheckResult::from_verdict(FoundVerdict::Fake, Reach::least())
        });
        assert_eq!((report.cases[0].size, report.cases[0].kind_is_right), (Some(size), Some(false)));
    }
}

#[test]
fn data_that_are_not_put_back_are_seen() {
    let write = |medium: &mut ModelMedium, restores: bool, journal_kept: bool| {
        let block = medium.block_bytes() as usize;
        let mut saved = vec![0; block];
        if medium.read_at(0, &mut saved).is_ok() && medium.write_at(0, &vec![7; block]).is_ok() && restores {
            let _ = medium.write_at(0, &saved);
        }
        CheckResult { journal_kept, ..CheckResult::from_verdict(FoundVerdict::Undecided, Reach::least()) }
    };
    let genuine = |check: &(dyn Fn(&mut ModelMedium) -> CheckResult + Sync)| {
        Campaign::over(population::genuine, 0..SEEDS).run(|medium, _| check(medium))
    };
    let careful = genuine(&|medium| write(medium, true, false));
    assert_eq!((careful.harmed().count(), careful.lost().count()), (0, 0));
    let careless = genuine(&|medium| write(medium, false, false));
    assert_eq!((careless.harmed().count(), careless.lost().count()), (SEEDS as usize, SEEDS as usize));
    let saving = genuine(&|medium| write(medium, false, true));
    assert_eq!((saving.harmed().count(), saving.lost().count()), (SEEDS as usize, 0));
}

#[test]
fn only_after_a_failure_nothing_can_be_put_back() {
    let failing =
        |_: u64| MediumSpec::genuine(1 << 30).that_fails(Trigger::AtTouch(1 << 20..2 << 20), Failure::ReadOnly);
    let harmed = |touches: bool| {
        let report = Campaign::over(failing, 0..1).run(|medium, _| {
            medium.write_at(0, &[7; 512]).unwrap();
            if touches {
                medium.read_at(1 << 20, &mut [0; 512]).unwrap();
            }
            CheckResult::from_verdict(FoundVerdict::Undecided, Reach::least())
        });
        (report.harmed().count(), report.lost().count())
    };
    assert_eq!((harmed(false), harmed(true)), ((1, 1), (0, 1)));
}

#[test]
fn a_panic_is_a_wrong_answer_and_a_refusal_is_none() {
    let report = Campaign::over(population::genuine, 0..2).run(|_, seed| match seed {
        0 => panic!("as it is told to"),
        _ => CheckResult::refused(),
    });
    assert_eq!(report.cases[0].judgement, Judgement::Wrong);
    assert!(matches!(&report.cases[0].result, Err(message) if message == "as it is told to"));
    assert_eq!(report.cases[1].judgement, Judgement::Refused);
}

#[test]
fn every_seed_is_judged_once_and_alike() {
    let seen = Mutex::new(Vec::new());
    let run = || {
        any(|medium, seed| {
            seen.lock().unwrap().push(seed);
            let mut buffer = vec![0; 65_536.min(medium.bytes() as usize)];
            let _ = medium.read_at(0, &mut buffer);
            CheckResult {
                said_read_bytes: Some(0),
                ..CheckResult::from_verdict(
                    if buffer[100] < 128 { FoundVerdict::Fake } else { FoundVerdict::Genuine },
                    Reach::least(),
                )
            }
        })
    };
    let (first, second) = (run().to_string(), run().to_string());
    assert_eq!(first, second);
    assert!(first.contains("more traffic than stated: 300"), "{first}");
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..SEEDS).flat_map(|seed| [seed, seed]).collect::<Vec<_>>());
}

#[test]
fn what_was_done_to_a_medium_before_is_what_the_owner_has() {
    let campaign = Campaign::over(|_| MediumSpec::genuine(1 << 30), 0..1);
    let report = campaign.run_on_used(
        |medium, _| medium.write_at(0, &[7; 512]).unwrap(),
        |medium, _| {
            let mut sector = [0; 512];
            medium.read_at(0, &mut sector).unwrap();
            CheckResult::from_verdict(
                if sector == [7; 512] { FoundVerdict::Genuine } else { FoundVerdict::Damaged },
                Reach::least(),
            )
        },
    );
    let case = &report.cases[0];
    assert_eq!((case.judgement, case.changed_sectors, case.traffic.writes), (Judgement::Right, 0, 0));
}
