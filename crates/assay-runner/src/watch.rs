//! What is looked at while a run goes on, once a second, beside the I/O itself.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::{Receiver, channel};

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::record::Sensor;
use assay_core::sensor::{SensorCommand, SensorKind, SensorNote};
use assay_core::units::nanoseconds;
use assay_device::{Sensors, Sysroot};
use assay_engine::LiveSample;

use crate::budget::Budget;
use crate::emit::Emitter;
use crate::sensors::{Command, Machine, SensorMessage};
use crate::timeout::no_thread;

/// Sensors of the medium and the host, and those of the user.
pub(crate) struct Watch {
    /// What can be told of, in the order of its numbers; without samples.
    series: Vec<Sensor>,
    /// Highest values of the first of them, where known.
    most: Vec<Option<f64>>,
    messages: Receiver<SensorMessage>,
    hottest: Cell<Option<f64>>,
    findings: RefCell<Vec<Finding>>,
    _machine: Option<Machine>,
    _commands: Vec<Command>,
}

impl Watch {
    /// Finds the sensors of the medium's disks and of the machine, and begins to read them and
    /// to run the commands.
    pub(crate) fn start(sysroot: &Sysroot, disks: &[String], commands: &[SensorCommand]) -> Self {
        let (tell, messages) = channel();
        let sensors = Sensors::find(sysroot, disks);
        let mut series: Vec<Sensor> =
            sensors.readings().iter().map(|reading| reading.kind.series(&reading.name, reading.source)).collect();
        let most = sensors.readings().iter().map(|reading| reading.most).collect();
        let machine = (!sensors.is_empty()).then(|| Machine::start(sensors, 0, tell.clone()));
        let (machine, findings) = match machine.transpose() {
            Ok(machine) => (machine, Vec::new()),
            Err(error) => {
                let sensor = "of the host and the drives".to_owned();
                (None, vec![Finding::SensorDropped { sensor, reason: no_thread(&error) }])
            }
        };
        let mut running = Vec::new();
        for command in commands {
            running.push(Command::start(command.clone(), series.len(), tell.clone()));
            series.push(command.kind.series(&command.name, "command"));
        }
        Self {
            series,
            most,
            messages,
            hottest: Cell::new(None),
            findings: RefCell::new(findings),
            _machine: machine,
            _commands: running,
        }
    }

    /// Takes over what was read since the last time.
    pub(crate) fn collect(&self, sensors: &mut Vec<Sensor>, emitter: &Emitter<'_>) {
        let now = emitter.elapsed_ns();
        let mut hottest: Option<f64> = None;
        for message in self.messages.try_iter() {
            match message {
                SensorMessage::Value { series, at, value } => {
                    let Some(series) = self.series.get(series) else { continue };
                    if series.kind == SensorKind::Temperature.name() {
                        hottest = Some(hottest.map_or(value, |h| h.max(value)));
                    }
                    let sample = (now.saturating_sub(nanoseconds(at.elapsed())), value);
                    match sensors.iter_mut().find(|s| s.name == series.name && s.source == series.source) {
                        Some(sensor) => sensor.samples.push(sample),
                        None => sensors.push(Sensor { samples: vec![sample], ..series.clone() }),
                    }
                }
                SensorMessage::Dropped { series, reason } => {
                    let sensor = self.series.get(series).map(|s| s.name.clone()).unwrap_or_default();
                    self.findings.borrow_mut().push(Finding::SensorDropped { sensor, reason });
                }
            }
        }
        if hottest.is_some() {
            self.hottest.set(hottest);
        }
    }

    /// Takes over what was read, and tells everybody of the interval.
    pub(crate) fn sample(
        &self,
        sample: &LiveSample,
        workload: &str,
        sensors: &mut Vec<Sensor>,
        budget: &Budget,
        emitter: &mut Emitter<'_>,
    ) {
        self.collect(sensors, emitter);
        let seconds = (sample.interval_ns.max(1)) as f64 / 1e9;
        emitter.emit(EventKind::Sample {
            workload: workload.to_owned(),
            interval_ns: sample.interval_ns,
            iops: sample.operations as f64 / seconds,
            bytes_per_second: sample.bytes as f64 / seconds,
            p99_ns: sample.p99_ns,
            temperature_celsius: self.hottest.get(),
            left_ns: nanoseconds(budget.left()),
        });
    }

    /// What is to be said of the sensors at the end.
    pub(crate) fn findings(&self, sensors: &[Sensor], governor: Option<&str>) -> Vec<Finding> {
        let mut findings = self.findings.take();
        let clocks = self.series.iter().zip(&self.most).filter_map(|(series, most)| {
            let sensor = sensors.iter().find(|s| s.name == series.name && s.source == series.source)?;
            (series.kind == SensorKind::Frequency.name()).then_some((sensor.samples.as_slice(), (*most)?))
        });
        findings.extend(low_clock(clocks, governor));
        findings
    }
}

/// A clock below this share of its maximum is low.
const LOW: f64 = 0.95;
/// A note is made of more than this share of low readings.
const OFTEN: f64 = 0.1;

/// Low clocks are what governors want while a program waits for I/O: a note, not a doubt.
fn low_clock<'a>(clocks: impl Iterator<Item = (&'a [(u64, f64)], f64)>, governor: Option<&str>) -> Option<Finding> {
    let shares: Vec<f64> =
        clocks.flat_map(|(samples, most)| samples.iter().map(move |(_, hertz)| hertz / most)).collect();
    let low = shares.iter().filter(|share| **share < LOW).count();
    let often = low as f64 > shares.len() as f64 * OFTEN;
    let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let governor = governor.unwrap_or_default().to_owned();
    (often && share < LOW).then_some(Finding::LowClock { share, governor })
}

/// What was read by eye, at the start of the run.
pub(crate) fn note_down(notes: &[SensorNote], sensors: &mut Vec<Sensor>) {
    for note in notes {
        let series = note.kind.series(&note.name, "note");
        match sensors.iter_mut().find(|s| s.name == series.name && s.kind == series.kind && s.source == series.source) {
            Some(sensor) => sensor.samples.push((0, note.value)),
            None => sensors.push(Sensor { samples: vec![(0, note.value)], ..series }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_clocks_are_noted_where_they_are_frequent() {
        let at = |hertz: f64| (0..20).map(|t| (t, hertz)).collect::<Vec<_>>();
        let (full, half) = (at(1.5e9), at(0.75e9));
        let of = |clocks: &[&[(u64, f64)]]| low_clock(clocks.iter().map(|c| (*c, 1.5e9)), Some("ondemand"));
        assert_eq!(of(&[&full]), None);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[&full, &half]), Some(Finding::LowClock { share: 0.75, governor: "ondemand".into() }));
        let mut once = full.clone();
        once[3].1 = 0.6e9;
        assert_eq!(of(&[&once]), None, "one reading of twenty");
    }

    #[test]
    fn the_hottest_reading_is_told_until_there_is_another() {
        let (tell, messages) = channel();
        let kinds = [(SensorKind::Temperature, "sda"), (SensorKind::Temperature, "cpu"), (SensorKind::Power, "plug")];
        let watch = Watch {
            series: kinds.map(|(kind, name)| kind.series(name, "hwmon")).to_vec(),
            most: Vec::new(),
            messages,
            hottest: Cell::new(None),
            findings: RefCell::default(),
            _machine: None,
            _commands: Vec::new(),
        };
        let mut listener = crate::samples::Listener::default();
        let emitter = Emitter::new(&mut listener, std::time::Duration::ZERO);
        let mut sensors = Vec::new();
        let mut hottest = |readings: &[(usize, f64)]| {
            for (series, value) in readings {
                let at = std::time::Instant::now();
                tell.send(SensorMessage::Value { series: *series, at, value: *value }).unwrap();
            }
            watch.collect(&mut sensors, &emitter);
            watch.hottest.get()
        };
        assert_eq!(hottest(&[(2, 90.0)]), None, "watts");
        assert_eq!(hottest(&[(0, 41.0), (1, 55.0), (0, 42.0)]), Some(55.0));
        assert_eq!(hottest(&[]), Some(55.0));
        assert_eq!(hottest(&[(1, 50.0)]), Some(50.0));
        let seen: Vec<_> = sensors.iter().map(|s| (s.name.as_str(), s.samples.len())).collect();
        assert_eq!(seen, [("plug", 1), ("sda", 2), ("cpu", 2)]);
    }

    #[test]
    fn notes_of_one_name_are_one_series() {
        let note = |text: &str| SensorNote::parse(text).unwrap();
        let mut sensors = Vec::new();
        note_down(&[note("temperature=46C"), note("temperature=47.5C"), note("plug=3W")], &mut sensors);
        assert_eq!(sensors.len(), 2);
        assert_eq!((sensors[0].kind.as_str(), sensors[0].unit.as_str()), ("temperature", "°C"));
        assert_eq!((sensors[0].source.as_str(), sensors[0].samples.as_slice()), ("note", &[(0, 46.0), (0, 47.5)][..]));
    }
}
