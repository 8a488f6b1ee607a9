//! A medium in each node or a share of a volume: the arithmetic of published clusters.

use assay_stats::decide::{About, Posterior, Refusal};

use crate::advise::link::{ETHERNET, Link};
use crate::advise::nas_judge::{Local, decide};
use crate::advise::nas_share::{Even, Limit, MeasuredTerms, Nas, break_even, share};
use crate::advise::{AdviseError, NasVerdict, Need};

/// 28 nodes on one gigabit, all active.
fn gigabit(wire: Link) -> Nas {
    Nas {
        wire,
        node_wire: None,
        volume_iops: None,
        answer_seconds: None,
        block_bytes: 4096,
        queue_depth: 1,
        nodes: 28,
        random: false,
        active_share: 1.0,
        measured: None,
    }
}

fn local(bytes_per_second: Posterior) -> Local {
    Local { bytes_per_second, block_bytes: 4096, queue_depth: 1 }
}

#[test]
fn shares_of_a_gigabit() {
    let megabytes = |nas: &Nas| share(nas).unwrap().bytes_per_second / 1e6;
    assert!((megabytes(&gigabit(Link::Payload(125e6))) - 4.464_285_7).abs() < 1e-6);
    assert!((megabytes(&gigabit(Link::Line(125e6))) - 4.203).abs() < 5e-4);
    // The best a published iSCSI volume gave: 71.46 MB/s.
    assert!((megabytes(&gigabit(Link::Payload(71.46e6))) - 2.552).abs() < 5e-4);
    assert!((ETHERNET - 0.9415).abs() < 5e-5);
}

#[test]
fn the_term_that_limits_is_named() {
    // A disk of 130 random reads per second, not the wire.
    let disk = Nas { volume_iops: Some(130.0), ..gigabit(Link::Line(125e6)) };
    let found = share(&disk).unwrap();
    assert!((found.bytes_per_second / 1e6 - 0.019).abs() < 5e-5, "{found:?}");
    assert_eq!((found.limit, found.terms.len()), (Limit::Volume, 2));
    assert_eq!(share(&gigabit(Link::Line(125e6))).unwrap().limit, Limit::Wire);
    // One request at a time and 2 ms for an answer: 2.048 MB/s.
    let far = Nas { answer_seconds: Some(2e-3), ..gigabit(Link::Line(125e6)) };
    assert_eq!(share(&far).unwrap().limit, Limit::Latency);
    assert!((share(&far).unwrap().bytes_per_second - 2.048e6).abs() < 1e-3);
    let thin = Nas { node_wire: Some(Link::Payload(1e6)), ..far };
    assert_eq!(share(&thin).unwrap().limit, Limit::NodeWire);
    // A tenth of the nodes active: 2.8 share the wire.
    let idle = Nas { active_share: 0.1, ..gigabit(Link::Payload(125e6)) };
    assert!((share(&idle).unwrap().bytes_per_second - 125e6 / 2.8).abs() < 1.0);
    // Less than one node active on average: the one that is gets all.
    let alone = Nas { active_share: 0.01, ..idle };
    assert!((share(&alone).unwrap().bytes_per_second - 125e6).abs() < 1.0);
}

#[test]
fn break_even_of_published_cards() {
    let wire = gigabit(Link::Payload(125e6));
    for (rate, nodes) in [(4.929e6, 25.36), (3.9e6, 32.05), (7368.67 * 1024.0, 16.57), (11.704e6, 10.68)] {
        let Even::Nodes(found) = break_even(&wire, rate).unwrap() else { panic!("no break-even") };
        assert!((found - nodes).abs() < 0.005, "{rate}: {found}");
    }
    let disk = Nas { volume_iops: Some(130.0), ..wire };
    assert_eq!(break_even(&disk, 4.929e6).unwrap(), Even::Always);
    let far = Nas { answer_seconds: Some(2e-3), ..wire };
    assert_eq!(break_even(&far, 4.929e6).unwrap(), Even::Always);
}

#[test]
fn the_slowest_published_card_passes_the_margin_and_one_run_does_not_tell() {
    let nas = gigabit(Link::Payload(125e6));
    let card = local(Posterior::point(4.929e6).unwrap());
    let found = decide(&card, &nas, About::Mean, 0.10, 1).unwrap();
    assert!((found.ratio - 1.104).abs() < 5e-4, "{}", found.ratio);
    assert_eq!((found.verdict, found.probability), (NasVerdict::CannotTell(Need::Repeats), None));
}

#[test]
fn clear_cases_are_decided_and_close_ones_are_not() {
    let nas = gigabit(Link::Payload(125e6));
    let verdict = |megabytes: f64, units: f64, mean: f64| {
        let rate = Posterior::moderated((megabytes * 1e6).ln(), mean, Some(units), 6.0).unwrap();
        decide(&local(rate), &nas, About::NextUnit, 0.10, 1).unwrap().verdict
    };
    assert_eq!(verdict(7.0, 0.01, 0.003), NasVerdict::Local);
    assert_eq!(verdict(3.0, 0.01, 0.003), NasVerdict::Nas);
    // The threshold is 4.911 MB/s. 5.2 is half a deviation of 10 % above: units differ by more.
    assert_eq!(verdict(5.2, 0.01, 0.001), NasVerdict::CannotTell(Need::UnitsDiffer));
    // One deviation and a bit below: one card in nine would still pass, too many for a "no".
    assert_eq!(verdict(4.35, 0.01, 0.000_1), NasVerdict::CannotTell(Need::UnitsDiffer));
    // Units alike, the mean poorly known: measuring helps.
    assert_eq!(verdict(5.2, 0.0004, 0.01), NasVerdict::CannotTell(Need::MoreMeasurements));
}

#[test]
fn the_probability_is_that_of_students_t() {
    // Mean 2.353 standard errors above the limit with 3 degrees of freedom: 0.95 one-sided.
    let nas = gigabit(Link::Payload(125e6));
    let limit = (125e6 / 28.0f64).ln();
    let rate = Posterior::moderated(limit + 2.353 * 0.1, 0.01, None, 3.0).unwrap();
    let p = decide(&local(rate), &nas, About::Mean, 0.0, 4).unwrap().probability.unwrap();
    // Three standard errors of a share of 20 000 draws: 0.0046.
    assert!((p - 0.95).abs() < 0.0046, "{p}");
    assert_eq!(decide(&local(rate), &nas, About::NextUnit, 0.0, 4), Err(AdviseError::Refused(Refusal::OneUnit)));
}

#[test]
fn unlike_workloads_and_bad_numbers_are_refused() {
    let nas = gigabit(Link::Payload(125e6));
    let card = local(Posterior::moderated(5e6f64.ln(), 1e-4, None, 1.0).unwrap());
    let large = Local { block_bytes: 131_072, ..card };
    let refusal = decide(&large, &nas, About::Mean, 0.1, 1).unwrap_err();
    assert_eq!(refusal.to_string(), "both sides need the same block size: 131072 is compared with 4096");
    assert!(decide(&Local { queue_depth: 4, ..card }, &nas, About::Mean, 0.1, 1).is_err());
    assert!(decide(&card, &nas, About::Mean, f64::NAN, 1).is_err());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(share(&gigabit(Link::Line(bad))).is_err());
        assert!(share(&Nas { volume_iops: Some(bad), ..nas }).is_err());
        assert!(share(&Nas { answer_seconds: Some(bad), ..nas }).is_err());
        assert!(share(&Nas { active_share: bad, ..nas }).is_err());
        assert!(break_even(&nas, bad).is_err());
    }
    assert!(share(&Nas { nodes: 0, ..nas }).is_err());
    assert!(share(&Nas { block_bytes: 0, volume_iops: Some(1.0), ..nas }).is_err());
}

proptest::proptest! {
    #[test]
    fn the_share_falls_below_the_medium_exactly_at_break_even(
        rate in 1e5f64..2e8, iops in 50.0f64..1e6, nodes in 1u32..200, active in 0.05f64..1.0,
    ) {
        let nas = Nas { volume_iops: Some(iops), active_share: active, nodes, ..gigabit(Link::Line(125e6)) };
        let slower = share(&nas).unwrap().bytes_per_second < rate * (1.0 - 1e-9);
        let faster = share(&nas).unwrap().bytes_per_second > rate * (1.0 + 1e-9);
        match break_even(&nas, rate).unwrap() {
            Even::Always => proptest::prop_assert!(slower || !faster),
            Even::Nodes(even) if f64::from(nodes) > even => proptest::prop_assert!(!faster, "{even}"),
            Even::Nodes(even) => proptest::prop_assert!(!slower, "{even}"),
        }
    }
}

/// Near the limit, by one day of the volume: the variance of days makes the answer undecided. Far from the limit it
/// stays decided.
#[test]
fn a_volume_that_was_measured_may_be_another_on_another_day() {
    let exact = Posterior::moderated(5.0e6f64.ln(), 1e-6, None, 20.0).unwrap();
    let local = Local { bytes_per_second: exact, block_bytes: 4096, queue_depth: 1 };
    let decided = |payload: f64, error: Option<f64>| {
        let measured =
            error.map(|error| MeasuredTerms { wire: true, volume: false, answer: false, error, degrees: 3.0 });
        let nas = Nas { measured, ..gigabit(Link::Payload(payload)) };
        decide(&local, &nas, About::Mean, 0.1, 7).unwrap()
    };
    // 5 MB/s over 4.5 of 28 nodes is 1 % beyond the margin.
    let near = 28.0 * 4.5e6;
    assert_eq!(decided(near, None).verdict, NasVerdict::Local);
    let found = decided(near, Some(0.037 * 0.037));
    assert_eq!(found.verdict, NasVerdict::CannotTell(Need::VolumeDays));
    // t(3) at 0.01005 / 0.037 = 0.272: 0.599.
    assert!((found.probability.unwrap() - 0.599).abs() < 0.01, "{:?}", found.probability);
    assert_eq!(decided(near / 2.0, Some(0.037 * 0.037)).verdict, NasVerdict::Local);
    assert_eq!(decided(near * 2.0, Some(0.037 * 0.037)).verdict, NasVerdict::Nas);
}
