//! Bounds of a mean and limits of a model, on published measurements.

use assay_stats::decide::{bounds, tolerance, tolerance_factor};

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
fn tolerance_factors_match_the_tables() {
    for (n, k) in [(2, 20.581), (3, 6.155), (4, 4.162), (5, 3.407), (6, 3.006), (10, 2.355), (50, 1.646)] {
        let found = tolerance_factor(n, 0.90, 0.95).unwrap();
        assert!((found - k).abs() < 6e-4, "{n}: {found}");
    }
    // Other contents and confidences of the same tables.
    assert!((tolerance_factor(10, 0.95, 0.95).unwrap() - 2.911).abs() < 6e-4);
    assert!((tolerance_factor(10, 0.99, 0.99).unwrap() - 5.074).abs() < 6e-4);
    // Two units show almost nothing about the variance: k of 0.999 is about 50 times that of 0.95, because t with one
    // degree of freedom has tails like 1 / t.
    let far = tolerance_factor(2, 0.90, 0.999).unwrap() / tolerance_factor(2, 0.90, 0.95).unwrap();
    assert!((far / 50.0 - 1.0).abs() < 0.02, "{far}");
    assert!(tolerance_factor(2, 0.10, 0.000_5).unwrap() < -100.0);
    assert!(tolerance_factor(1, 0.9, 0.95).is_err());
    for bad in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(tolerance_factor(3, bad, 0.95).is_err() && tolerance_factor(3, 0.9, bad).is_err(), "{bad}");
    }
}

#[test]
fn limits_of_the_units_of_a_model() {
    // Three units, deviation of logarithms 0.02: the limit lies 6.155 * 0.02 below the mean.
    let units = [1800.0 * (-0.02f64).exp(), 1800.0, 1800.0 * 0.02f64.exp()];
    let found = tolerance(&units, 0.90).unwrap().unwrap();
    assert!((found.lower - 1800.0 * (-0.1231f64).exp()).abs() < 0.1, "{found:?}");
    assert!(found.lower < found.upper && found.upper < 2500.0, "{found:?}");
    assert_eq!(tolerance(&[9000.0], 0.90), Ok(None));
    assert!(tolerance(&[], 0.9).is_err() && tolerance(&[1.0, f64::NAN], 0.9).is_err());
}

#[test]
fn bad_repeats_are_refused() {
    for bad in [0.0, -5.0, f64::NAN, f64::INFINITY] {
        let values = [1600.0, bad, 1700.0];
        assert!(bounds(&values).is_err(), "{bad}");
    }
    assert!(bounds(&[]).is_err());
}
