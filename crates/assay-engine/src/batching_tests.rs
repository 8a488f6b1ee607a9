//! The choice against hosts whose speed by what is waited for is known.

use super::*;

const RAMP_NS: u64 = 500_000_000;

/// The choice of a job at QD32 where operations take `ns[0]` each when waited for one by one, and `ns[1]` when waited for
/// by several; `at_once` are seen in each wait for one.
fn choice(ns: [f64; 2], at_once: u64, known: Option<u32>) -> Batching {
    let mut chooser = Chooser::new(32, RAMP_NS, known);
    let live = Live::new();
    let mut totals = Totals::default();
    let (mut now, mut sum_ns) = (0.0f64, 0);
    while now < RAMP_NS as f64 {
        let seen = at_once.max(chooser.wait_for as u64);
        let each = ns[usize::from(chooser.wait_for > 1)];
        now += each * seen as f64;
        for _ in 0..seen {
            live.latency((each * 32.0) as u64);
            sum_ns += (each * 32.0) as u64;
        }
        totals.operations += seen;
        live.publish(totals, sum_ns);
        chooser.waited(now as u64, &totals, &live);
    }
    chooser.chosen()
}

#[test]
fn a_host_that_is_the_limit_waits_for_several() {
    let chosen = choice([4000.0, 3600.0], 1, None);
    assert_eq!(chosen.wait_for, 8);
    let trial = chosen.trial.unwrap();
    let gain = trial.by_several.rate() / trial.by_one.rate();
    assert!((gain - 4.0 / 3.6).abs() < 0.01, "{gain}");
    let p50 = |stretch: &Stretch| stretch.histogram.quantile(0.5).unwrap();
    assert!((p50(&trial.by_one) / 128_000.0 - 1.0).abs() < 0.01, "{}", p50(&trial.by_one));
    assert!((p50(&trial.by_several) / 115_200.0 - 1.0).abs() < 0.01, "{}", p50(&trial.by_several));
    assert_eq!(trial.by_several.histogram.total(), trial.by_several.operations);
}

#[test]
fn where_it_gains_nothing_one_is_waited_for_and_the_trial_is_told() {
    let chosen = choice([4000.0, 3990.0], 1, None);
    assert_eq!((chosen.wait_for, chosen.trial.is_some()), (1, true));
    assert_eq!(choice([3600.0, 4000.0], 1, None).wait_for, 1);
}

#[test]
fn nothing_is_tried_where_the_medium_is_the_limit_or_several_come_anyway_or_it_is_known() {
    let medium = choice([25_000.0, 10_000.0], 1, None);
    assert_eq!(medium, Batching { wait_for: 1, trial: None });
    let at_once = choice([400.0, 100.0], 32, None);
    assert_eq!(at_once, Batching { wait_for: 1, trial: None });
    assert_eq!(choice([4000.0, 3600.0], 1, Some(1)), Batching { wait_for: 1, trial: None });
    assert_eq!(choice([4000.0, 4000.0], 1, Some(8)), Batching { wait_for: 8, trial: None });
    assert_eq!(choice([4000.0, 4000.0], 1, Some(400)).wait_for, 8, "no more than the depth allows");
    let shallow = Chooser::new(7, RAMP_NS, None).chosen();
    assert_eq!(shallow, Batching { wait_for: 1, trial: None });
    let short = Chooser::new(32, 80_000_000, None).chosen();
    assert_eq!(short, Batching { wait_for: 1, trial: None });
}

#[test]
fn a_quarter_of_the_queue_is_waited_for_at_most() {
    let depths = [(1, 1), (4, 1), (7, 1), (8, 2), (16, 4), (32, 8), (100, 25)];
    for (depth, waited) in depths {
        assert_eq!(most(depth), waited, "{depth}");
    }
}

#[test]
fn jobs_tell_one_choice() {
    let stretch = |operations| Stretch { operations, elapsed_ns: 1000, histogram: Histogram::default() };
    let job = |wait_for, several| Batching {
        wait_for,
        trial: Some(Trial { several: 4, by_one: stretch(10), by_several: stretch(several) }),
    };
    let all = Batching::of_all([job(4, 12), job(1, 9), job(4, 13)].into_iter()).unwrap();
    let trial = all.trial.unwrap();
    assert_eq!((all.wait_for, trial.by_one.operations, trial.by_several.operations), (4, 30, 34));
    assert_eq!(trial.by_one.elapsed_ns, 3000);
    assert_eq!(Batching::of_all(std::iter::empty()), None);
}
