//! Thresholds of the classes of SD cards, on published measurements.
#![allow(clippy::unwrap_used)]

use assay_core::classes::CLASSES;
use assay_stats::decide::{
    Claim, Host, Quantity, Runs, Status, bounds, class, classes, margin, model_claim, tolerance_factor, total_of_jobs,
    units_without_a_model,
};

const QUEUEING: Host = Host { command_queueing: true };
const PLAIN: Host = Host { command_queueing: false };

/// Five runs of iozone with 4 KiB records on a Raspberry Pi 4, in KiB/s.
const SD_READ: [f64; 5] = [7353.0, 7173.0, 7389.0, 7412.0, 7364.0];
const SD_WRITE: [f64; 5] = [3432.0, 3880.0, 3501.0, 3881.0, 3394.0];
const USB_READ: [f64; 5] = [11129.0, 11761.0, 11392.0, 11455.0, 11411.0];
const USB_WRITE: [f64; 5] = [10138.0, 10202.0, 11172.0, 11203.0, 11188.0];
const ISCSI_READ: [f64; 5] = [6198.0, 6217.0, 6032.0, 6304.0, 6116.0];
/// fio on the SSD of the same host, in IOPS: two speeds.
const SSD_READ: [f64; 5] = [16489.0, 24764.0, 24824.0, 24854.0, 16436.0];

fn iops(kibibytes: &[f64]) -> Vec<f64> {
    kibibytes.iter().map(|v| v / 4.0).collect()
}

fn status_of(name: &str, runs: &Runs<'_>, host: Host) -> Status {
    let wanted = CLASSES.iter().find(|c| c.name == name).unwrap();
    class(wanted, runs, host).unwrap().status
}

#[test]
fn one_sided_bounds_of_published_runs() {
    let near = |values: &[f64], point: f64, low: f64, high: Option<f64>| {
        let b = bounds(values).unwrap();
        let (l, h) = b.interval.unwrap();
        assert!((b.point - point).abs() < 0.06 && (l - low).abs() < 0.06, "{b:?}");
        assert!(high.is_none_or(|high| (h - high).abs() < 0.06), "{b:?}");
    };
    near(&iops(&SD_READ), 1834.4, 1811.7, Some(1857.4));
    near(&iops(&SD_WRITE), 902.8, 847.2, Some(962.0));
    near(&iops(&ISCSI_READ), 1543.2, 1518.7, Some(1568.1));
    near(&iops(&USB_READ), 2857.0, 2803.9, None);
    near(&iops(&USB_WRITE), 2692.2, 2561.3, None);
    near(&SSD_READ, 21057.9, 16996.4, None);
}

#[test]
fn classes_of_published_media() {
    let (read, write, sequential) = (iops(&SD_READ), iops(&SD_WRITE), [19.3e6, 19.7e6, 19.2e6, 19.0e6, 19.2e6]);
    let sd = Runs { sequential_write: &sequential, random_read: &read, random_write: &write };
    assert_eq!(status_of("A1", &sd, QUEUEING), Status::Pass);
    assert_eq!(status_of("A2", &sd, QUEUEING), Status::Fail);
    assert_eq!(status_of("A2", &sd, PLAIN), Status::NotTestable);
    let all = classes(&sd, QUEUEING).unwrap();
    let passed: Vec<_> = all.iter().filter(|v| v.status == Status::Pass).map(|v| v.class).collect();
    assert_eq!(passed, ["C2", "C4", "C6", "C10", "U1", "V6", "V10", "A1"]);
    assert_eq!(all.iter().filter(|v| v.status == Status::Fail).count(), 5);

    let (read, write) = (iops(&USB_READ), iops(&USB_WRITE));
    let usb = Runs { sequential_write: &sequential, random_read: &read, random_write: &write };
    let a2 = class(CLASSES.iter().find(|c| c.name == "A2").unwrap(), &usb, QUEUEING).unwrap();
    let of = |quantity| a2.parts.iter().find(|p| p.quantity == quantity).unwrap().status;
    assert_eq!(of(Quantity::RandomRead), Status::Fail);
    assert_eq!(of(Quantity::RandomWrite), Status::Pass);
    assert_eq!(a2.status, Status::Fail, "both have to pass");
    let iscsi = iops(&ISCSI_READ);
    let unwritten = Runs { random_read: &iscsi, ..Runs::default() };
    assert_eq!(status_of("A1", &unwritten, QUEUEING), Status::NotMeasured);
}

#[test]
fn a_spread_around_the_threshold_does_not_tell() {
    let runs = Runs { sequential_write: &[9.5e6, 10.5e6, 10.2e6], ..Runs::default() };
    assert_eq!(status_of("C10", &runs, QUEUEING), Status::Indeterminate);
    assert_eq!(status_of("C6", &runs, QUEUEING), Status::Pass);
    assert_eq!(status_of("U3", &runs, QUEUEING), Status::Fail);
}

#[test]
fn a_single_run_above_the_thresholds_is_no_pass() {
    // 6206 and 3977 KB/s: 3.4 % and 98.9 % above A1.
    let (read, write) = ([6206.0f64 / 4.0], [3977.0f64 / 4.0]);
    assert!((read[0] / 1500.0 - 1.034).abs() < 5e-4 && (write[0] / 500.0 - 1.989).abs() < 1e-3);
    let runs = Runs { sequential_write: &[20e6], random_read: &read, random_write: &write };
    let a1 = class(CLASSES.iter().find(|c| c.name == "A1").unwrap(), &runs, QUEUEING).unwrap();
    assert_eq!(a1.status, Status::Indeterminate);
    assert!(a1.parts.iter().all(|p| p.bounds.unwrap().interval.is_none()));
}

#[test]
fn jobs_are_added_before_they_are_compared() {
    // Four jobs on six cards; fio printed IOPS per job. Random write 4 KiB, KB/s of all jobs.
    let per_job =
        [(382.0, 6116.0), (308.0, 4929.0), (381.0, 6105.0), (408.0, 6536.0), (449.0, 7196.0), (433.0, 6933.0)];
    let met: Vec<bool> = per_job
        .iter()
        .map(|(job, kilobytes)| {
            let total = total_of_jobs(&[*job; 4]).unwrap();
            assert!((kilobytes / 4.0 - total).abs() < 4.0, "per job is cut to whole numbers");
            assert!(*job < 1500.0, "no single job reaches the threshold");
            total >= 1500.0
        })
        .collect();
    assert_eq!(met, [true, false, true, true, true, true]);
    for job in [112.0, 86.0, 90.0, 100.0, 107.0, 36.0] {
        assert!(total_of_jobs(&[job; 4]).unwrap() < 500.0, "no card writes like A1");
    }
    assert!(total_of_jobs(&[]).is_err() && total_of_jobs(&[100.0, 0.0]).is_err());
}

#[test]
fn published_cards_without_queueing_miss_a2() {
    // ThomasKaiser/Knowledge, "A1 and A2 rated SD cards": KiB/s of 4 KiB random read and write.
    for (kibibytes, expected) in
        [((10833.0, 3619.0), (2708, 905)), ((6679.0, 2389.0), (1670, 597)), ((5373.0, 2324.0), (1343, 581))]
    {
        let (read, write): (f64, f64) = (kibibytes.0 / 4.0, kibibytes.1 / 4.0);
        assert_eq!((read.round() as u32, write.round() as u32), expected);
        let figures = |v: f64| [v * 0.999, v, v * 1.001];
        let (reads, writes) = (figures(read), figures(write));
        let runs = Runs { sequential_write: &[30e6; 3], random_read: &reads, random_write: &writes };
        assert_eq!(status_of("A2", &runs, PLAIN), Status::NotTestable);
        assert_eq!(status_of("A2", &runs, QUEUEING), Status::Fail);
        assert_eq!(status_of("A1", &runs, PLAIN), if read >= 1500.0 { Status::Pass } else { Status::Fail });
    }
}

#[test]
fn margins_that_repeats_need() {
    let table = [(0.01, 1.7, 1.0), (0.02, 3.4, 1.9), (0.05, 8.8, 4.9), (0.10, 18.4, 10.0)];
    for (deviation, three, five) in table {
        assert!((margin(deviation, 3).unwrap() * 100.0 - three).abs() < 0.051, "{deviation}");
        assert!((margin(deviation, 5).unwrap() * 100.0 - five).abs() < 0.051, "{deviation}");
    }
    assert!(margin(0.05, 1).is_err() && margin(-0.1, 3).is_err() && margin(f64::NAN, 3).is_err());
}

#[test]
fn tolerance_factors_match_the_tables() {
    for (n, k) in [(2, 20.581), (3, 6.155), (4, 4.162), (5, 3.407), (6, 3.006), (10, 2.355), (50, 1.646)] {
        let found = tolerance_factor(n, 0.90, 0.95).unwrap();
        assert!((found - k).abs() < 6e-4, "{n}: {found}");
    }
    // Other contents and confidences of the same tables.
    assert!((tolerance_factor(10, 0.95, 0.95).unwrap() - 2.911).abs() < 6e-4);
    assert!((tolerance_factor(10, 0.99, 0.99).unwrap() - 5.074).abs() < 6e-4);
    // Of two units nearly nothing is known: k of 0.999 is about 50 times that of 0.95, as t with one
    // degree of freedom has tails like 1 / t.
    let far = tolerance_factor(2, 0.90, 0.999).unwrap() / tolerance_factor(2, 0.90, 0.95).unwrap();
    assert!((far / 50.0 - 1.0).abs() < 0.02, "{far}");
    assert!(tolerance_factor(2, 0.10, 0.000_5).unwrap() < -100.0);
    assert_eq!(units_without_a_model(0.90, 0.95).unwrap(), 29);
    assert_eq!(units_without_a_model(0.95, 0.95).unwrap(), 59);
    assert!(tolerance_factor(1, 0.9, 0.95).is_err());
    for bad in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(tolerance_factor(3, bad, 0.95).is_err() && tolerance_factor(3, 0.9, bad).is_err(), "{bad}");
        assert!(units_without_a_model(bad, 0.95).is_err(), "{bad}");
    }
}

#[test]
fn claims_about_a_model() {
    // Three units, deviation of logarithms 0.02: the limit lies 6.155 * 0.02 below the mean.
    let units = [1800.0 * (-0.02f64).exp(), 1800.0, 1800.0 * 0.02f64.exp()];
    let found = model_claim(&units, 1500.0, 0.90).unwrap();
    assert!((found.lower_limit.unwrap() - 1800.0 * (-0.1231f64).exp()).abs() < 0.1, "{found:?}");
    assert_eq!(found.claim, Claim::Pass);
    assert_eq!(model_claim(&units, 1700.0, 0.90).unwrap().claim, Claim::Indeterminate);
    assert_eq!(model_claim(&units, 2500.0, 0.90).unwrap().claim, Claim::Fail);
    assert_eq!(model_claim(&[9000.0], 1500.0, 0.90).unwrap().claim, Claim::OneUnit);
    assert!(model_claim(&[], 1500.0, 0.9).is_err() && model_claim(&[1.0, f64::NAN], 1500.0, 0.9).is_err());
    assert!(model_claim(&units, 0.0, 0.9).is_err());
}

#[test]
fn bad_repeats_are_refused() {
    for bad in [0.0, -5.0, f64::NAN, f64::INFINITY] {
        let values = [1600.0, bad, 1700.0];
        let runs = Runs { random_read: &values, ..Runs::default() };
        assert!(classes(&runs, QUEUEING).is_err(), "{bad}");
        assert!(bounds(&values).is_err());
    }
    assert!(bounds(&[]).is_err());
}
