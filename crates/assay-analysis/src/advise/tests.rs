//! The arithmetic of advice, on published figures and by hand.

use assay_stats::decide::{About, InputRefusal, Posterior};

use crate::advise::cache_model::{Cache, LOW_FEED, Ram, Service, feed, fill_seconds, judge};
use crate::advise::nas_share::{ETHERNET, Even, Limit, Link, Local, MeasuredTerms, Nas, break_even, decide, share};
use crate::advise::purchase::{Candidate, Fleet, purchase};
use crate::advise::{AdviseError, CacheUnknown, CacheWarning, CacheWord, FrontStanding, NasVerdict, Need, cache};

// A USB stick as read cache of a hard disk: the figures of a published CrystalDiskMark run.

/// Random reads of 4 KiB at queue depth 1 in MB/s, and sequential write of the stick.
const DISK: f64 = 0.532e6 / 4096.0;
const STICK: f64 = 7.753e6 / 4096.0;
const STICK_WRITE: f64 = 6.687e6;

fn pair() -> Service {
    Service::new(DISK, STICK, 0.0, Ram::NONE).unwrap()
}

#[test]
fn service_times_and_the_table_of_speed_ups() {
    let pair = pair();
    assert!((pair.without_cache() * 1e3 - 7.699).abs() < 5e-4);
    assert!((pair.with_cache(1.0).unwrap() * 1e3 - 0.5283).abs() < 5e-5);
    let table = [
        (0.10, 1.103),
        (0.25, 1.304),
        (0.50, 1.872),
        (0.75, 3.317),
        (0.90, 6.182),
        (0.95, 8.681),
        (0.99, 12.832),
        (1.00, 14.573),
    ];
    for (hits, expected) in table {
        let found = pair.speed_up(hits).unwrap();
        assert!((found - expected).abs() < 6e-4, "{hits}: {found}");
    }
}

#[test]
fn hits_for_a_speed_up() {
    let pair = pair();
    assert!((pair.hits_for(2.0).unwrap().unwrap() - 0.5368).abs() < 5e-5);
    assert!((pair.hits_for(5.0).unwrap().unwrap() - 0.8589).abs() < 5e-5);
    assert_eq!(pair.hits_for(14.6).unwrap(), None);
    assert_eq!(pair.hits_for(0.5).unwrap(), None);
}

#[test]
fn the_default_feed_saturates_the_stick() {
    let share = |mebibytes: f64| feed(mebibytes * 1_048_576.0, None, STICK_WRITE).unwrap();
    assert!((share(8.0) - 1.254).abs() < 5e-4 && share(32.0) > 5.0);
    // Misses bring less than the limit.
    assert!((feed(8.0 * 1_048_576.0, Some(0.6687e6), STICK_WRITE).unwrap() - 0.1).abs() < 1e-9);
    // A quarter of its write rate fills 15 GB in 2.5 hours, the full rate in 37 minutes.
    let quarter = LOW_FEED * STICK_WRITE;
    assert!((quarter / 1e6 - 1.67).abs() < 5e-3);
    assert!((fill_seconds(15e9, quarter, STICK_WRITE).unwrap() / 3600.0 - 2.5).abs() < 0.05);
    assert!((fill_seconds(15e9, 8.4e6, STICK_WRITE).unwrap() / 60.0 - 37.0).abs() < 0.5);
}

#[test]
fn feeding_stretches_reads() {
    let fed = Service::new(DISK, STICK, 0.25, Ram::NONE).unwrap();
    assert!((fed.with_cache(1.0).unwrap() * 1e3 - 0.5283 / 0.75).abs() < 1e-3);
    assert!(Service::new(DISK, STICK, 1.0, Ram::NONE).is_err());
}

#[test]
fn headers_that_push_blocks_out_of_ram_can_make_it_slower() {
    let ram = Ram { without_cache: 0.9, with_cache: 0.6, seconds: 1e-6 };
    let found = Service::new(DISK, STICK, 0.0, ram).unwrap().speed_up(0.3).unwrap();
    // By hand: 0.1 * 7.699 ms against 0.4 * (0.7 * 7.699 + 0.3 * 0.528) ms.
    assert!((found - 0.7708 / 2.2198).abs() < 5e-4, "{found}");
}

fn planned(slow: Posterior, fast: Posterior, hits: f64, feed_share: f64) -> Cache {
    Cache {
        slow_iops: slow,
        cache_iops: fast,
        ram: Ram::NONE,
        hits,
        feed_share,
        sequential_write: STICK_WRITE,
        header_share: 0.05,
        sequential_ratio: Some(32.487 / 122.885),
        large_ratio: Some(32.48 / 28.331),
    }
}

/// What repeats of one unit say of it, and nothing of another one.
fn of_runs(values: &[f64]) -> Posterior {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v.ln()).sum::<f64>() / n;
    let variance = values.iter().map(|v| (v.ln() - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Posterior::moderated(mean, variance / n, None, n - 1.0).unwrap()
}

fn around(value: f64) -> Posterior {
    of_runs(&[value * 0.98, value, value * 1.02])
}

#[test]
fn verdicts() {
    let word = |cache: &Cache| judge(cache, 1).unwrap().word;
    let good = planned(around(DISK), around(STICK), 0.5, 0.2);
    let found = judge(&good, 1).unwrap();
    let (low, high) = found.interval.unwrap();
    assert_eq!(found.word, CacheWord::Good);
    assert!(low < found.speed_up.unwrap() && found.speed_up.unwrap() < high);
    assert_eq!(word(&Cache { hits: 0.05, ..good }), CacheWord::Marginal);
    assert_eq!(word(&Cache { feed_share: 0.4, ..good }), CacheWord::Marginal);
    assert_eq!(word(&Cache { header_share: 0.2, ..good }), CacheWord::Marginal);
    assert_eq!(word(&Cache { feed_share: 1.25, ..good }), CacheWord::Harmful);
    // Half as fast again by the estimates, with repeats all over the place.
    let wild = planned(around(DISK), of_runs(&[STICK / 9.0, STICK / 3.0, STICK]), 0.5, 0.0);
    let unsure = judge(&wild, 1).unwrap();
    assert_eq!(unsure.word, CacheWord::Marginal);
    assert!(unsure.speed_up.unwrap() > 1.5 && unsure.interval.unwrap().0 < 1.2, "{unsure:?}");
    assert_eq!(word(&planned(around(STICK), around(DISK), 0.5, 0.2)), CacheWord::Harmful);
    let single = judge(&planned(Posterior::point(DISK).unwrap(), around(STICK), 0.5, 0.2), 1).unwrap();
    assert_eq!((single.word, single.interval), (CacheWord::CannotTell(CacheUnknown::OneValue), None));
    assert!((single.speed_up.unwrap() - found.speed_up.unwrap()).abs() < 1e-3);
}

#[test]
fn warnings_carry_their_numbers() {
    let found = |cache: Cache| judge(&cache, 1).unwrap().warnings;
    let good = planned(around(DISK), around(STICK), 0.5, 0.2);
    let CacheWarning::SlowerInSequence { ratio } = found(good)[0] else { panic!("{:?}", found(good)) };
    assert!((ratio - 0.264).abs() < 5e-4);
    let CacheWarning::LargeBlocksGainLittle { ratio } = found(good)[1] else { panic!("{:?}", found(good)) };
    assert!((ratio - 1.146).abs() < 5e-4);
    let quiet = Cache { sequential_ratio: None, large_ratio: None, ..good };
    assert!(found(quiet).is_empty());
    let saturated = found(Cache { feed_share: 1.254, ..quiet });
    assert_eq!(saturated, [CacheWarning::FeedSaturates { share: 1.254, set_at_most: LOW_FEED * STICK_WRITE }]);
    assert!(matches!(found(Cache { feed_share: 0.3, ..quiet })[..], [CacheWarning::FeedSlowsReads { .. }]));
    assert_eq!(found(Cache { header_share: 0.469, ..quiet }), [CacheWarning::Headers { share: 0.469 }]);
}

#[test]
fn a_stick_is_no_log_device() {
    // Random writes of 4 KiB in MB/s: 0.021 of the stick, 0.917 of the disk.
    assert!((cache::log_rate_ratio(0.021e6 / 4096.0, 0.917e6 / 4096.0).unwrap() - 0.0229).abs() < 5e-5);
    assert!(cache::log_rate_ratio(1000.0, 224.0).unwrap() > 1.0);
}

#[test]
fn bad_numbers_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Service::new(bad, 1.0, 0.0, Ram::NONE).is_err());
        assert!(Service::new(1.0, bad, 0.0, Ram::NONE).is_err());
        assert!(feed(bad, None, 1.0).is_err() && feed(1.0, None, bad).is_err());
        assert!(fill_seconds(bad, 1.0, 1.0).is_err());
        assert!(cache::log_rate_ratio(bad, 1.0).is_err() && cache::log_rate_ratio(1.0, bad).is_err());
        assert!(pair().hits_for(bad).is_err());
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(pair().speed_up(bad).is_err());
        assert!(judge(&planned(around(DISK), around(STICK), bad, 0.1), 1).is_err());
    }
    assert!(judge(&planned(around(DISK), around(STICK), 0.5, f64::NAN), 1).is_err());
}

// A medium in each node or a share of a volume: the arithmetic of published clusters.

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
    assert_eq!(decide(&local(rate), &nas, About::NextUnit, 0.0, 4), Err(AdviseError::Refused(InputRefusal::OneUnit)));
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

// What to buy for a cluster.

const CLUSTER: Fleet = Fleet { nodes: 28, hours: 0.0, kilowatt_hour: 0.0 };

fn card(megabytes: f64, deviation: f64, price: f64) -> Candidate {
    let variance = deviation * deviation;
    let performance = Posterior::moderated(megabytes.ln(), variance / 3.0, Some(variance), 8.0).unwrap();
    Candidate { performance, price, watts: None, spare_share: 0.0 }
}

#[test]
fn the_cost_of_a_cluster() {
    // 28 cards of $25.
    assert_eq!(card(5.0, 0.1, 25.0).cost(&CLUSTER).unwrap(), (28, 700.0));
    // A spare for every tenth, rounded up, and 0.5 W for a year at 0.30 a kilowatt-hour.
    let year = Fleet { hours: 8760.0, kilowatt_hour: 0.30, ..CLUSTER };
    let (pieces, cost) = Candidate { spare_share: 0.1, watts: Some(0.5), ..card(5.0, 0.1, 25.0) }.cost(&year).unwrap();
    assert_eq!(pieces, 31);
    assert!((cost - (31.0 * 25.0 + 28.0 * 0.5 * 8.76 * 0.30)).abs() < 1e-9, "{cost}");
}

#[test]
fn a_dear_and_slow_card_is_off_the_front() {
    let cards = [card(5.0, 0.02, 25.0), card(4.0, 0.02, 30.0), card(9.0, 0.02, 60.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 1).unwrap();
    let standings: Vec<_> = found.offers.iter().map(|o| o.standing).collect();
    assert_eq!(standings, [FrontStanding::Certain, FrontStanding::Off, FrontStanding::Certain]);
    assert_eq!(found.fastest, Some(2));
    assert!(found.tested_enough);
    // ln(9/5) and ln(9/4), with certainty about the order.
    assert!((found.offers[0].regret.unwrap() - 1.8f64.ln()).abs() < 2e-3);
    assert!((found.offers[1].regret.unwrap() - 2.25f64.ln()).abs() < 2e-3);
}

#[test]
fn within_three_percent_the_cheaper_one_wins() {
    let cards = [card(5.00, 0.001, 20.0), card(5.10, 0.001, 25.0), card(5.20, 0.001, 25.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 1).unwrap();
    let standings: Vec<_> = found.offers.iter().map(|o| o.standing).collect();
    // 5.10 is 2 % faster than the cheaper one, 5.20 is 4 % faster.
    assert_eq!(standings, [FrontStanding::Certain, FrontStanding::Off, FrontStanding::Certain]);
    // The same price: 5.10 and 5.20 differ by 2 %, neither pushes the other off.
    let pair = purchase(&cards[1..], &CLUSTER, About::Mean, None, 1).unwrap();
    assert!(pair.offers.iter().all(|o| o.standing == FrontStanding::Certain));
}

#[test]
fn doubt_makes_members_and_more_testing_pays() {
    // The dearer one is on the front where it is drawn more than 3 % faster; its mean is 6 % so.
    let cards = [card(5.0, 0.1, 20.0), card(5.3, 0.1, 25.0)];
    let found = purchase(&cards, &CLUSTER, About::Mean, None, 3).unwrap();
    assert_eq!(found.offers[1].standing, FrontStanding::Member);
    assert!(found.offers[1].on_front.unwrap() < 0.8, "{:?}", found.offers[1]);
    assert_eq!(found.offers[0].on_front, Some(1.0), "nothing is cheaper");
    assert!(!found.tested_enough);
    let next = purchase(&cards, &CLUSTER, About::NextUnit, None, 3).unwrap();
    assert!(next.offers[1].regret.unwrap() > found.offers[1].regret.unwrap(), "a single card varies more");
}

#[test]
fn regret_of_two_equal_cards_is_that_of_the_normal_distribution() {
    // E max(a, b) - E a for two normal values of deviation s: s / sqrt(pi). 10 000 draws: the
    // standard error is below 0.6 s / 100.
    let normal =
        |price| Candidate { performance: Posterior::moderated(0.0, 0.01, None, 1e6).unwrap(), ..card(1.0, 0.1, price) };
    let found = purchase(&[normal(20.0), normal(20.0)], &CLUSTER, About::Mean, Some(1000.0), 5).unwrap();
    for offer in found.offers {
        assert!((offer.regret.unwrap() - 0.1 / std::f64::consts::PI.sqrt()).abs() < 0.0018, "{offer:?}");
        assert!((offer.regret_money.unwrap() - 1000.0 * offer.regret.unwrap()).abs() < 1e-6);
    }
}

#[test]
fn the_value_of_speed_decides_in_money() {
    let cards = [card(5.0, 0.001, 20.0), card(10.0, 0.001, 30.0)];
    let loss = |worth: f64, k: usize| {
        purchase(&cards, &CLUSTER, About::Mean, Some(worth), 1).unwrap().offers[k].regret_money.unwrap()
    };
    // Twice the speed costs 280 more for the cluster: worth it above 280 / ln 2 = 404.
    assert!(loss(300.0, 0) < 1.0 && loss(300.0, 1) > 50.0);
    assert!(loss(500.0, 1) < 1.0 && loss(500.0, 0) > 50.0);
}

#[test]
fn one_unit_takes_no_part_and_bad_input_is_refused() {
    let single = Candidate { performance: Posterior::point(50.0).unwrap(), ..card(1.0, 0.1, 5.0) };
    let found = purchase(&[card(5.0, 0.02, 25.0), single], &CLUSTER, About::Mean, None, 1).unwrap();
    assert_eq!((found.offers[1].standing, found.offers[1].on_front), (FrontStanding::CannotTell, None));
    assert_eq!(found.offers[0].standing, FrontStanding::Certain);
    assert!(!found.tested_enough, "an untested card may be better");
    assert!(purchase(&[], &CLUSTER, About::Mean, None, 1).is_err());
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(purchase(&[card(5.0, 0.1, bad)], &CLUSTER, About::Mean, None, 1).is_err());
    }
    assert!(purchase(&[card(5.0, 0.1, 5.0)], &Fleet { nodes: 0, ..CLUSTER }, About::Mean, None, 1).is_err());
    assert!(purchase(&[card(5.0, 0.1, 5.0)], &CLUSTER, About::Mean, Some(-1.0), 1).is_err());
}
