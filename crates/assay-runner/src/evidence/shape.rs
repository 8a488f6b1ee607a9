//! Whether repeats and seconds are alike.

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat};
use assay_stats::{drift, drift_along, two_speeds, uneven};

use crate::summary::replace_findings;

/// Fewer seconds of a repeat are not judged.
const LEAST_SECONDS: usize = 10;
const REPEATS: &str = "repeats";
const SECONDS: &str = "seconds";

/// Judges the shape of a measurement; replaces what was judged before.
pub(crate) fn judge_shape(measurement: &mut Measurement) {
    // How the rate changes is what a soak is for; it says so itself.
    if measurement.soak.is_some() {
        return;
    }
    let completed: Vec<&Repeat> = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed).collect();
    let repeats: Vec<f64> = completed.iter().map(|r| r.iops).collect();
    let ramp = measurement.workload.stop.ramp_ns;
    let seconds: Vec<Vec<f64>> =
        completed.iter().map(|r| rates(r, ramp)).filter(|rates| rates.len() >= LEAST_SECONDS).collect();

    // The gravest of the repeats, unless the repeats themselves say it.
    let over_all = || drift_along(&seconds).filter(|_| seconds.len() == repeats.len());
    let going = drift(&repeats).or_else(over_all).map(|change| (change, REPEATS)).or_else(|| {
        let all = seconds.iter().filter_map(|rates| drift(rates));
        all.max_by(|a, b| a.abs().total_cmp(&b.abs())).map(|change| (change, SECONDS))
    });
    let two = two_speeds(&repeats).map(|two| (two, REPEATS)).or_else(|| {
        let all = seconds.iter().filter_map(|rates| two_speeds(rates));
        all.min_by(|a, b| a.ratio.total_cmp(&b.ratio)).map(|two| (two, SECONDS))
    });
    let uneven = uneven(&repeats);

    let finding = going.map(|(change, over)| Finding::Drift { change, over: over.to_owned() });
    replace_findings(measurement, |f| matches!(f, Finding::Drift { .. }), finding);
    let finding = two.map(|(two, over)| Finding::TwoSpeeds {
        ratio: two.ratio,
        slow_share: two.slow_share,
        over: over.to_owned(),
    });
    replace_findings(measurement, |f| matches!(f, Finding::TwoSpeeds { .. }), finding);
    let finding = uneven.map(|ratio| Finding::UnevenRepeats { ratio });
    replace_findings(measurement, |f| matches!(f, Finding::UnevenRepeats { .. }), finding);
}

/// Operations per second of the full intervals after the warm-up.
fn rates(repeat: &Repeat, ramp_ns: u64) -> Vec<f64> {
    let Some(first) = repeat.samples.first() else { return Vec::new() };
    let measured = first.t_ns.saturating_sub(first.interval_ns).saturating_add(ramp_ns);
    let longest = repeat.samples.iter().map(|s| s.interval_ns).max().unwrap_or(0);
    let full = repeat.samples.iter().filter(|s| {
        s.interval_ns > 0 && s.interval_ns >= longest / 2 && s.t_ns.saturating_sub(s.interval_ns) >= measured
    });
    full.map(|s| s.operations as f64 / (s.interval_ns as f64 / 1e9)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use assay_core::record::Sample;
    use assay_core::workload::{Op, Pattern, Stop, Workload};

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A measurement with a repeat for each list of rates, one a second, after one of warm-up.
    pub(crate) fn measurement(repeats: &[&[f64]]) -> Measurement {
        let stop = Stop { ramp_ns: SECOND, duration_ns: 0, max_bytes: None };
        let workload = Workload { stop, ..Workload::new("w", Op::Read, Pattern::Random, 4096) };
        let mut m = Measurement::empty(workload, "sync");
        for (index, rates) in repeats.iter().enumerate() {
            let start = index as u64 * 100 * SECOND;
            let sample = |second: usize, rate: f64| Sample {
                t_ns: start + (second as u64 + 1) * SECOND,
                interval_ns: SECOND,
                operations: rate as u64,
                bytes: rate as u64 * 4096,
                p50_ns: None,
                p99_ns: None,
            };
            // The warm-up is not judged.
            let mut samples = vec![sample(0, 9e9)];
            samples.extend(rates.iter().enumerate().map(|(second, rate)| sample(second + 1, *rate)));
            let iops = rates.iter().sum::<f64>() / rates.len() as f64;
            m.repeats.push(Repeat {
                elapsed_ns: rates.len() as u64 * SECOND,
                operations: rates.iter().sum::<f64>() as u64,
                iops,
                bytes_per_second: iops * 4096.0,
                in_flight: 1.0,
                samples,
                ..Repeat::empty("", Outcome::Completed)
            });
        }
        m
    }

    fn kinds(repeats: &[&[f64]]) -> Vec<&'static str> {
        let mut m = measurement(repeats);
        judge_shape(&mut m);
        judge_shape(&mut m);
        m.warnings
            .iter()
            .map(|w| match &w.finding {
                Finding::Drift { over, .. } if over == REPEATS => "drift of repeats",
                Finding::Drift { .. } => "drift of seconds",
                Finding::TwoSpeeds { .. } => "two speeds",
                Finding::UnevenRepeats { .. } => "uneven",
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn steady_seconds_have_no_findings() {
        let steady: Vec<f64> = (0..30).map(|i| 1000.0 + f64::from(i % 5) * 7.0).collect();
        assert_eq!(kinds(&[&steady, &steady]), Vec::<&str>::new());
        assert_eq!(kinds(&[]), Vec::<&str>::new());
    }

    #[test]
    fn a_falling_rate_and_two_speeds_within_a_repeat_are_found() {
        let falling: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 10.0 + f64::from(i % 5) * 3.0).collect();
        assert_eq!(kinds(&[&falling]), ["drift of seconds"]);
        let two: Vec<f64> = (0..30).map(|i| if i / 3 % 2 == 0 { 1000.0 } else { 600.0 } + f64::from(i % 5)).collect();
        assert_eq!(kinds(&[&two]), ["two speeds"]);
    }

    /// Each repeat by itself changes by less than a tenth.
    #[test]
    fn three_repeats_that_get_slower_all_the_time_are_found() {
        let falling: Vec<f64> = (0..30).map(|i| 1000.0 - f64::from(i) * 6.0 + f64::from(i % 5) * 3.0).collect();
        let repeats: Vec<&[f64]> = falling.chunks(10).collect();
        assert_eq!(kinds(&repeats), ["drift of repeats"]);
        assert_eq!(kinds(&repeats[..1]), Vec::<&str>::new());
        // In another order it is chance.
        assert_eq!(kinds(&[repeats[1], repeats[2], repeats[0]]), Vec::<&str>::new());
    }

    #[test]
    fn ten_seconds_of_a_repeat_are_judged_and_nine_are_not() {
        let falling: Vec<f64> = (0..10).map(|i| 1000.0 - f64::from(i) * 30.0 + f64::from(i % 3)).collect();
        assert_eq!(kinds(&[&falling]), ["drift of seconds"]);
        assert_eq!(kinds(&[&falling[..9]]), Vec::<&str>::new());
    }

    #[test]
    fn repeats_that_differ_are_noted_and_those_that_go_one_way_found() {
        assert_eq!(kinds(&[&[100.0], &[140.0], &[101.0]]), ["uneven"]);
        let down = [100.0, 95.0, 90.0, 84.0, 80.0, 75.0, 69.0];
        let repeats: Vec<&[f64]> = down.iter().map(std::slice::from_ref).collect();
        assert_eq!(kinds(&repeats), ["drift of repeats"]);
    }
}
