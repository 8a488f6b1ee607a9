//! The speed of reading by the age of the data: two readings of the same parts, one directly after writing.

use assay_core::estimate::Estimate;
use assay_core::retention::{SameWay, SpeedByAge, SpeedSign};

use crate::interval::{LEVEL, middle};

/// The share of the first speed below which a reading is slower. Two readings of the same medium in the same reader differ by
/// a few percent; a controller that reads fading cells several times takes at least twice as long for these.
const HELD: f64 = 0.9;

/// A part in two readings: its bytes, and the nanoseconds of the first and of the later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoReadings {
    /// Bytes of the part.
    pub bytes: u64,
    /// Time of the reading directly after writing.
    pub first_ns: u64,
    /// Time of the later reading.
    pub later_ns: u64,
}

/// The speed of the later reading beside the first; `None` without a part that took time in both.
#[must_use]
pub fn speed_by_age(parts: &[TwoReadings], same: SameWay) -> Option<SpeedByAge> {
    let timed = |part: &&TwoReadings| part.bytes > 0 && part.first_ns > 0 && part.later_ns > 0;
    let parts: Vec<&TwoReadings> = parts.iter().filter(timed).collect();
    let ratios: Vec<f64> = parts.iter().map(|part| part.first_ns as f64 / part.later_ns as f64).collect();
    let middle = middle(&ratios, LEVEL)?;
    let sum = |of: fn(&TwoReadings) -> u64| parts.iter().map(|part| of(part) as f64).sum::<f64>();
    let (bytes, first, later) = (sum(|part| part.bytes), sum(|part| part.first_ns), sum(|part| part.later_ns));
    let ratio = Estimate {
        low: middle.interval.map(|(low, _)| low),
        high: middle.interval.map(|(_, high)| high),
        level: middle.interval.map(|_| LEVEL),
        ..Estimate::bare(
            middle.median,
            u32::try_from(ratios.len()).unwrap_or(u32::MAX),
            "median over parts, order statistics",
        )
    };
    let sign = match middle.interval {
        Some((low, _)) if low >= HELD => SpeedSign::AsBefore,
        Some((_, high)) if high < HELD && same.is_known() => SpeedSign::Slower,
        Some((_, high)) if high < HELD => SpeedSign::SlowerElsewhere,
        _ => SpeedSign::CannotTell,
    };
    Some(SpeedByAge {
        bytes_per_second: bytes / later * 1e9,
        first_bytes_per_second: bytes / first * 1e9,
        ratio,
        same,
        sign,
    })
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const SAME: SameWay = SameWay { host: Some(true), reader: Some(true), bus: Some(true) };

    /// Parts of 8 MiB that are read with this share of the first speed.
    fn parts(ratio: f64, spread: f64, count: usize, seed: u64) -> Vec<TwoReadings> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = Normal::new(0.0, spread).unwrap();
        let mut time = |ns: f64| (ns * normal.sample(&mut rng).exp()) as u64;
        (0..count).map(|_| TwoReadings { bytes: 8 << 20, first_ns: time(1e8), later_ns: time(1e8 / ratio) }).collect()
    }

    fn sign(parts: &[TwoReadings], same: SameWay) -> SpeedSign {
        speed_by_age(parts, same).unwrap().sign
    }

    #[test]
    fn a_fall_is_a_sign_only_where_the_way_is_the_same() {
        let fell = parts(0.6, 0.05, 16, 1);
        assert_eq!(sign(&fell, SAME), SpeedSign::Slower);
        for same in [
            SameWay { reader: Some(false), ..SAME },
            SameWay { bus: None, ..SAME },
            SameWay { host: Some(false), ..SAME },
        ] {
            assert_eq!(sign(&fell, same), SpeedSign::SlowerElsewhere);
        }
        assert_eq!(sign(&parts(1.0, 0.03, 16, 2), SAME), SpeedSign::AsBefore);
        assert_eq!(sign(&parts(0.9, 0.05, 16, 3), SAME), SpeedSign::CannotTell);
        assert_eq!(sign(&parts(0.5, 0.0, 3, 4), SAME), SpeedSign::CannotTell, "three parts have no interval");
        assert_eq!(speed_by_age(&[TwoReadings { bytes: 1, first_ns: 0, later_ns: 5 }], SAME), None);
        assert_eq!(speed_by_age(&[], SAME), None);
    }

    /// What did not slow down is called slower in fewer than the stated 2.5 % of readings, and the interval holds the truth.
    #[test]
    fn how_often_it_is_wrong() {
        let (mut slower, mut held, all) = (0, 0, 2000);
        for seed in 0..all {
            slower += u32::from(sign(&parts(0.9, 0.1, 16, seed), SAME) == SpeedSign::Slower);
            let ratio = speed_by_age(&parts(0.8, 0.1, 16, seed + all), SAME).unwrap().ratio;
            held += u32::from(ratio.low.unwrap() <= 0.8 && 0.8 <= ratio.high.unwrap());
        }
        assert!(f64::from(slower) <= 0.025 * all as f64, "{slower} of {all}");
        assert!(f64::from(held) >= 0.95 * all as f64, "{held} of {all}");
    }

    /// One part that a cache answers, or that hangs, moves nothing.
    #[test]
    fn single_parts_do_not_decide() {
        let mut mixed = parts(1.0, 0.02, 16, 5);
        mixed[3].later_ns *= 50;
        mixed[9].later_ns /= 50;
        assert_eq!(sign(&mixed, SAME), SpeedSign::AsBefore);
        let speed = speed_by_age(&mixed, SAME).unwrap();
        assert!(
            speed.bytes_per_second < 0.5 * speed.first_bytes_per_second,
            "the whole reading took longer: {speed:?}"
        );
    }
}
