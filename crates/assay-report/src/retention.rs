//! Words for data that lay for a while.

use std::time::Duration;

use assay_core::retention::{SpeedByAge, SpeedSign};
use assay_core::units::{counted, rate, span, trimmed};

/// A long time in days.
#[must_use]
pub fn days(seconds: u64) -> String {
    const DAY: u64 = 86_400;
    if seconds == 0 {
        return "less than 1 s".to_owned();
    }
    if seconds < 2 * DAY {
        return span(Duration::from_secs(seconds));
    }
    format!("{} d", trimmed(seconds as f64 / DAY as f64, 1))
}

/// The speed of a reading beside the first.
#[must_use]
pub fn speed_by_age(speed: &SpeedByAge) -> String {
    let (later, first) = (rate(speed.bytes_per_second), rate(speed.first_bytes_per_second));
    let ratio = &speed.ratio;
    let interval = match (ratio.low, ratio.high, ratio.level) {
        (Some(low), Some(high), Some(level)) => {
            format!(
                " ({} to {}, {} %, {} parts)",
                trimmed(low, 2),
                trimmed(high, 2),
                trimmed(level * 100.0, 0),
                ratio.n
            )
        }
        _ => format!(" ({}, too few for an interval)", counted(ratio.n as usize, "part")),
    };
    let sign = match speed.sign {
        SpeedSign::AsBefore => "as fast as before",
        SpeedSign::Slower => "slower in the same reader: a sign that data fade",
        SpeedSign::SlowerElsewhere => {
            "slower, and host, reader or bus mode are not known to be the same: nothing follows for the data"
        }
        SpeedSign::CannotTell | SpeedSign::Other => "whether it is slower cannot be told",
    };
    format!("read at {later}, first at {first}: {} times{interval}: {sign}", trimmed(ratio.point, 2))
}

#[cfg(test)]
mod tests {
    use assay_core::estimate::Estimate;
    use assay_core::retention::SameWay;

    use super::*;

    #[test]
    fn a_speed_is_told_with_its_interval_and_what_follows() {
        let ratio = Estimate { low: Some(0.61), high: Some(0.7), level: Some(0.95), ..Estimate::bare(0.65, 16, "") };
        let speed = SpeedByAge {
            bytes_per_second: 65e6,
            first_bytes_per_second: 1e8,
            ratio,
            same: SameWay::default(),
            sign: SpeedSign::SlowerElsewhere,
        };
        assert_eq!(
            speed_by_age(&speed),
            "read at 65.0 MB/s, first at 100 MB/s: 0.65 times (0.61 to 0.7, 95 %, 16 parts): slower, and host, reader or bus \
             mode are not known to be the same: nothing follows for the data"
        );
        assert_eq!([0, 5, 3600 * 47, 86_400 * 61 + 50_000].map(days), ["less than 1 s", "5 s", "47 h 0 min", "61.6 d"]);
    }
}
