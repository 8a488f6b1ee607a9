//! What is looked at while a repeat runs, once a second, beside the I/O itself.

use assay_core::event::EventKind;
use assay_core::record::Sensor;
use assay_device::{Sysroot, Thermometer};
use assay_engine::LiveSample;

use crate::budget::Budget;
use crate::emit::Emitter;
use crate::measure::nanos;

/// Sensors of the medium and the host.
pub(crate) struct Watch {
    thermometer: Thermometer,
}

impl Watch {
    /// Finds the sensors of the medium's disks and of the machine.
    pub(crate) fn find(sysroot: &Sysroot, disks: &[String]) -> Self {
        Self { thermometer: Thermometer::find(sysroot, disks) }
    }

    /// Reads the sensors and tells everybody of the interval.
    pub(crate) fn sample(
        &self,
        sample: &LiveSample,
        workload: &str,
        sensors: &mut Vec<Sensor>,
        budget: &Budget,
        emitter: &mut Emitter<'_>,
    ) {
        let seconds = (sample.interval_ns.max(1)) as f64 / 1e9;
        let now = emitter.elapsed_ns();
        let mut hottest: Option<f64> = None;
        for (name, celsius) in self.thermometer.read() {
            hottest = Some(hottest.map_or(celsius, |h| h.max(celsius)));
            match sensors.iter_mut().find(|s| s.name == name) {
                Some(sensor) => sensor.samples.push((now, celsius)),
                None => sensors.push(Sensor { name, kind: "temperature".to_owned(), samples: vec![(now, celsius)] }),
            }
        }
        emitter.emit(EventKind::Sample {
            workload: workload.to_owned(),
            interval_ns: sample.interval_ns,
            iops: sample.operations as f64 / seconds,
            bytes_per_second: sample.bytes as f64 / seconds,
            p99_ns: sample.p99_ns,
            temperature_celsius: hottest,
            left_ns: nanos(budget.left()),
        });
    }
}
