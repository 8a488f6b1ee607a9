//! Work for a joule, where power is known.

use assay_core::estimate::Estimate;
use assay_core::outcome::Outcome;
use assay_core::record::{Measurement, Repeat, Sensor};
use assay_core::sensor::SensorKind;
use assay_stats::geometric_like;

/// Which power counts: what the user measures, then what the board measures, then the processor
/// alone. Values read by eye say nothing of a moment.
const ORDER: [&str; 3] = ["command", "hwmon", "rapl"];

/// Fills in the work for a joule from the mean power in each repeat.
pub(crate) fn efficiency(measurement: &mut Measurement, sensors: &[Sensor]) {
    let power = ORDER.iter().find_map(|source| {
        sensors.iter().find(|s| s.source == *source && s.kind == SensorKind::Power.name() && !s.samples.is_empty())
    });
    // The power of a workload among others at the same time is not known.
    let Some(power) = power.filter(|_| measurement.workload.together.is_none()) else { return };
    let work = |rate: &dyn Fn(&Repeat) -> f64| -> Option<Box<Estimate>> {
        let completed = measurement.repeats.iter().filter(|r| r.outcome == Outcome::Completed);
        let values: Vec<f64> = completed.filter_map(|r| Some(rate(r) / watts(power, r)?)).collect();
        let mut estimate = geometric_like(&values, measurement.iops.as_ref())?;
        estimate.method = format!("mean power of {} over each repeat; {}", power.name, estimate.method);
        Some(estimate.into())
    };
    let (bytes, operations) = (work(&|r| r.bytes_per_second), work(&|r| r.iops));
    (measurement.bytes_per_joule, measurement.operations_per_joule) = (bytes, operations);
}

/// Mean power while the repeat ran.
fn watts(power: &Sensor, repeat: &Repeat) -> Option<f64> {
    let first = repeat.samples.first()?;
    let window = first.t_ns.saturating_sub(first.interval_ns)..=repeat.samples.last()?.t_ns;
    let within: Vec<f64> = power.samples.iter().filter(|(t, _)| window.contains(t)).map(|(_, watts)| *watts).collect();
    let mean = within.iter().sum::<f64>() / within.len() as f64;
    (mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shape::tests::measurement;

    const SECOND: u64 = 1_000_000_000;

    fn sensor(name: &str, source: &str, watts: &[f64]) -> Sensor {
        let mut sensor = SensorKind::Power.series(name, source);
        sensor.samples = watts.iter().enumerate().map(|(i, w)| (i as u64 * SECOND, *w)).collect();
        sensor
    }

    #[test]
    fn work_for_a_joule_by_hand() {
        let mut m = measurement(&[&[1000.0, 1000.0]]);
        // The repeat and its warm-up take the seconds 0 to 3; what is after them does not count.
        let sensors = [sensor("package-0", "rapl", &[50.0; 9]), sensor("plug", "command", &[2.0, 2.0, 3.0, 3.0, 99.0])];
        efficiency(&mut m, &sensors);
        let operations = m.operations_per_joule.unwrap();
        assert!((operations.point - 400.0).abs() < 1e-9, "{operations:?}");
        assert!(operations.method.contains("plug"), "{operations:?}");
        assert!((m.bytes_per_joule.unwrap().point - 400.0 * 4096.0).abs() < 1e-6);
    }

    #[test]
    fn without_power_in_the_repeat_there_is_none() {
        let mut m = measurement(&[&[1000.0]]);
        efficiency(&mut m, &[]);
        efficiency(&mut m, &[sensor("plug", "note", &[3.0; 3])]);
        let mut late = sensor("plug", "command", &[3.0]);
        late.samples[0].0 = 50 * SECOND;
        efficiency(&mut m, &[late, sensor("board", "hwmon", &[])]);
        assert_eq!((m.bytes_per_joule, m.operations_per_joule), (None, None));
    }
}
