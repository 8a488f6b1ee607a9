//! A USB stick as read cache of a hard disk: the figures of a published CrystalDiskMark run.

use assay_stats::decide::Posterior;

use crate::advise::cache_judge::{Cache, judge};
use crate::advise::cache_log;
use crate::advise::cache_service::{LOW_FEED, Ram, Service, feed, fill_seconds};
use crate::advise::{CacheWarning, CacheWord, Why};

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
    assert_eq!((single.word, single.interval), (CacheWord::CannotTell(Why::OneValue), None));
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
    assert!((cache_log::ratio(0.021e6 / 4096.0, 0.917e6 / 4096.0).unwrap() - 0.0229).abs() < 5e-5);
    assert!(cache_log::ratio(1000.0, 224.0).unwrap() > 1.0);
}

#[test]
fn bad_numbers_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Service::new(bad, 1.0, 0.0, Ram::NONE).is_err());
        assert!(Service::new(1.0, bad, 0.0, Ram::NONE).is_err());
        assert!(feed(bad, None, 1.0).is_err() && feed(1.0, None, bad).is_err());
        assert!(fill_seconds(bad, 1.0, 1.0).is_err());
        assert!(cache_log::ratio(bad, 1.0).is_err() && cache_log::ratio(1.0, bad).is_err());
        assert!(pair().hits_for(bad).is_err());
    }
    for bad in [-0.1, 1.1, f64::NAN] {
        assert!(pair().speed_up(bad).is_err());
        assert!(judge(&planned(around(DISK), around(STICK), bad, 0.1), 1).is_err());
    }
    assert!(judge(&planned(around(DISK), around(STICK), 0.5, f64::NAN), 1).is_err());
}
