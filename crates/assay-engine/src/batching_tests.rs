//! The choice against hosts whose speed by what is waited for is known.

use super::*;

const RAMP_NS: u64 = 500_000_000;

/// The choice of a job at QD32 where operations take `ns[0]` each when waited for one by one, and `ns[1]` when waited for
/// by several; `at_once` are seen in each wait for one.
fn choice(ns: [f64; 2], at_once: u64, known: Option<u32>) -> Batching {
    let mut chooser = Chooser::new(32, RAMP_NS, known, Votes::of(1));
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
    let shallow = Chooser::new(7, RAMP_NS, None, Votes::of(1)).chosen();
    assert_eq!(shallow, Batching { wait_for: 1, trial: None });
    let short = Chooser::new(32, 80_000_000, None, Votes::of(1)).chosen();
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
    assert_eq!((all.wait_for, trial.by_one.operations, trial.by_several.operations), (1, 30, 34));
    assert_eq!(trial.by_one.elapsed_ns, 3000);
    assert_eq!(Batching::of_all(std::iter::empty()), None);
}

/// A warm-up at the speed of several operations; its first `noise` stretches lie off by chance, with a stall of
/// `stall_ns` from a moment on.
fn warm(chooser: &mut Chooser, ratio: f64, noise: &[f64], stall: Option<(u64, u64)>) {
    let live = Live::new();
    let mut totals = Totals::default();
    let (mut now, mut operations) = (0.0f64, 0);
    let mut stall = stall;
    while now < RAMP_NS as f64 {
        let number = ((now - 250e6).max(0.0) / (250e6 / STRETCHES as f64)) as usize;
        let each = 4000.0 * noise.get(number).unwrap_or(&1.0) / if chooser.wait_for > 1 { ratio } else { 1.0 };
        now += each * chooser.wait_for as f64;
        if let Some((_, length)) = stall.filter(|(at, _)| now >= *at as f64) {
            now += length as f64;
            stall = None;
        }
        operations += chooser.wait_for as u64;
        totals.operations = operations;
        live.publish(totals, 0);
        if now < RAMP_NS as f64 {
            chooser.waited(now as u64, &totals, &live);
        }
    }
}

#[test]
fn a_gain_within_the_noise_of_the_stretches_is_none() {
    let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of(1));
    // Half of the pairs and 1.2 % over all, but by the noise of single stretches.
    let noise = [1.0, 0.85, 1.05, 1.0, 1.0, 1.02, 0.99, 1.0, 1.0, 0.92, 1.1, 1.0, 1.0, 1.03, 0.97, 1.0];
    warm(&mut chooser, 1.0, &noise, None);
    chooser.opens();
    assert_eq!(chooser.chosen().wait_for, 1);
    let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of(1));
    warm(&mut chooser, 1.05, &[1.0, 0.99, 1.0, 1.01, 1.0, 1.01, 0.99, 1.0], None);
    chooser.opens();
    assert_eq!(chooser.chosen().wait_for, 8);
}

/// A stall from within the trial to beyond the warm-up leaves no trial; one that skips stretches decides nothing.
#[test]
fn a_trial_that_was_cut_short_is_not_kept() {
    for (at, length) in [(290_000_000, 400_000_000), (300_000_000, 60_000_000)] {
        let mut chooser = Chooser::new(32, RAMP_NS, None, Votes::of(1));
        warm(&mut chooser, 1.2, &[], Some((at, length)));
        chooser.opens();
        assert_eq!(chooser.wait_for, 1, "{at} {length}");
        assert_eq!(chooser.chosen().wait_for, 1);
    }
}

#[test]
fn jobs_wait_for_several_only_where_all_of_them_gain_by_it() {
    let votes = Votes::of(2);
    let mut jobs = [1.2, 1.2].map(|ratio| (Chooser::new(32, RAMP_NS, None, votes.clone()), ratio));
    jobs.iter_mut().for_each(|(chooser, ratio)| warm(chooser, *ratio, &[], None));
    jobs.iter_mut().for_each(|(chooser, _)| chooser.opens());
    assert_eq!(jobs.map(|(chooser, _)| chooser.wait_for), [8, 8]);
    let votes = Votes::of(2);
    let mut jobs = [1.2, 0.9].map(|ratio| (Chooser::new(32, RAMP_NS, None, votes.clone()), ratio));
    jobs.iter_mut().for_each(|(chooser, ratio)| warm(chooser, *ratio, &[], None));
    jobs.iter_mut().for_each(|(chooser, _)| chooser.opens());
    assert_eq!(jobs.map(|(chooser, _)| chooser.chosen().wait_for), [1, 1]);
}
