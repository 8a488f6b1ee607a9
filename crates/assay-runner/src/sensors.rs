//! What is looked at while a run goes on: once a second beside the I/O itself, and the sensors by threads of their own, so
//! that neither a drive that hangs nor a slow command stops the clock of the samples.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::record::Sensor;
use assay_core::sensor::{SensorCommand, SensorKind, SensorNote, first_number};
use assay_core::text::label;
use assay_core::units::nanoseconds;
use assay_device::{Sensors, Sysroot};
use assay_engine::{LiveSample, Signal, end_with_this_process, lead_a_group};

use crate::budget::Budget;
use crate::emit::Emitter;
use crate::system::{Group, SHELL, shell, wait_for_end};
use crate::timeout::no_thread;

// What the threads that read sensors send.

/// Sensors are read once in this time.
const EVERY: Duration = Duration::from_secs(1);

/// Something about a series of values; series are numbered from 0.
#[derive(Debug)]
pub(crate) enum SensorMessage {
    /// It has a value.
    Value { series: usize, at: Instant, value: f64 },
    /// It has ended, and why.
    Dropped { series: usize, reason: String },
}

// A sensor that a command of the user reads.

/// More output than this is not read: the number stands at the beginning.
const MOST_OUTPUT: u64 = 4096;

/// The command under way, if one is.
#[derive(Debug, Default)]
struct Slot {
    group: Option<Group>,
    stopped: bool,
}

/// A thread that runs the command again and again, at most once a second; dropping this kills
/// what is under way.
#[derive(Debug)]
pub(crate) struct Command {
    slot: Arc<Mutex<Slot>>,
    _alive: Sender<()>,
}

impl Command {
    /// Starts it. If the system makes no thread for it, sends that as a message instead.
    pub(crate) fn start(command: SensorCommand, series: usize, tell: Sender<SensorMessage>) -> Self {
        let (alive, stopped) = channel();
        let slot: Arc<Mutex<Slot>> = Arc::default();
        let shared = Arc::clone(&slot);
        let untold = tell.clone();
        let begun = thread::Builder::new().spawn(move || {
            loop {
                let at = Instant::now();
                let message = match read_once(&command.command, &shared) {
                    Ok(None) => return,
                    Ok(Some(number)) => match command.scaled(number) {
                        Some(value) => SensorMessage::Value { series, at: Instant::now(), value },
                        None => SensorMessage::Dropped { series, reason: format!("{number:e} is too large") },
                    },
                    Err(reason) => SensorMessage::Dropped { series, reason },
                };
                let over = matches!(message, SensorMessage::Dropped { .. });
                if tell.send(message).is_err() || over {
                    return;
                }
                if stopped.recv_timeout(EVERY.saturating_sub(at.elapsed())) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        if let Err(error) = begun {
            let _ = untold.send(SensorMessage::Dropped { series, reason: no_thread(&error) });
        }
        Self { slot, _alive: alive }
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.stopped = true;
        if let Some(group) = &slot.group {
            group.kill();
        }
    }
}

/// Runs the command once; nothing where it was stopped.
fn read_once(line: &str, slot: &Mutex<Slot>) -> Result<Option<f64>, String> {
    let lock = || slot.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = {
        let mut slot = lock();
        if slot.stopped {
            return Ok(None);
        }
        let mut shell = shell(line);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // A group of its own: what the shell starts is killed with it, and Ctrl-C is ours.
        lead_a_group(&mut shell);
        // This thread waits for it below.
        end_with_this_process(&mut shell, Signal::TERM);
        let child = shell.spawn().map_err(|error| format!("{SHELL}: {error}"))?;
        slot.group = Some(Group::of(&child));
        child
    };
    let output = read_output(&mut child);
    // Its number must not be given to another process before the slot forgets it.
    wait_for_end(&child);
    let status = {
        let mut slot = lock();
        slot.group = None;
        let status = child.wait();
        if slot.stopped {
            return Ok(None);
        }
        status.map_err(|error| error.to_string())?
    };
    let cut = output.len() as u64 >= MOST_OUTPUT;
    if !status.success() && !cut {
        return Err(format!("the command failed ({status})"));
    }
    let text = String::from_utf8_lossy(&output);
    match first_number(&text) {
        Some((number, _)) => Ok(Some(number)),
        None => Err(match label(&text, 40) {
            Some(start) => format!("no number in its output `{start}`"),
            None => "the command printed nothing".to_owned(),
        }),
    }
}

/// The beginning of what it prints.
fn read_output(child: &mut Child) -> Vec<u8> {
    let mut output = Vec::new();
    if let Some(pipe) = child.stdout.take() {
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut output);
    }
    output
}

// The sensors that the kernel shows.

/// A thread that reads them; it ends when this is dropped. It is not waited for: it may be inside
/// a driver that waits for a drive.
#[derive(Debug)]
pub(crate) struct Machine {
    _alive: Sender<()>,
}

impl Machine {
    /// Begins to read; the first of the series is `first`.
    ///
    /// # Errors
    /// Where the system makes no thread for it.
    pub(crate) fn start(mut sensors: Sensors, first: usize, tell: Sender<SensorMessage>) -> io::Result<Self> {
        let (alive, stopped) = channel();
        thread::Builder::new().spawn(move || {
            loop {
                let at = Instant::now();
                for (index, reading) in sensors.read().iter().enumerate() {
                    if let Some(value) = reading.value
                        && tell.send(SensorMessage::Value { series: first + index, at, value }).is_err()
                    {
                        return;
                    }
                }
                if stopped.recv_timeout(EVERY.saturating_sub(at.elapsed())) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        })?;
        Ok(Self { _alive: alive })
    }
}

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

// What is started here are programs of Unix.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::sensor::SensorKind;
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    fn start(command: &str) -> (Command, Receiver<SensorMessage>) {
        let (tell, messages) = channel();
        let factor = 1.0;
        let command = SensorCommand { name: "s".into(), kind: SensorKind::Power, factor, command: command.into() };
        (Command::start(command, 0, tell), messages)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_command_gives_a_value_again_and_again() {
        let (_running, messages) = start("echo 'power: 3.5 W'");
        for _ in 0..2 {
            assert!(matches!(messages.recv_timeout(LONG), Ok(SensorMessage::Value { value: 3.5, .. })));
        }
    }

    #[test]
    fn a_command_that_fails_is_told_once_and_not_run_again() {
        for (command, words) in [
            ("exit 3", "exit status: 3"),
            ("echo warm", "no number in its output `warm`"),
            ("true", "printed nothing"),
            ("printf '\\033[J'", "`\u{fffd}[J`"),
        ] {
            let (_running, messages) = start(command);
            match messages.recv_timeout(LONG) {
                Ok(SensorMessage::Dropped { reason, .. }) => {
                    assert!(reason.contains(words), "{reason}")
                }
                other => panic!("{command}: {other:?}"),
            }
            assert!(messages.recv_timeout(LONG).is_err(), "{command}: the thread has ended");
        }
    }

    /// An infinite reading is null in the record, which then cannot be read.
    #[test]
    fn a_number_beyond_all_bounds_is_no_reading() {
        let (tell, messages) = channel();
        let _running = Command::start(SensorCommand::parse("s:GHz=echo 1e300").unwrap(), 0, tell);
        assert!(
            matches!(messages.recv_timeout(LONG), Ok(SensorMessage::Dropped { reason, .. }) if reason == "1e300 is too large")
        );
    }

    #[test]
    fn endless_output_is_cut() {
        let (_running, messages) = start("yes 7.5");
        assert!(matches!(messages.recv_timeout(LONG), Ok(SensorMessage::Value { value: 7.5, .. })));
    }

    #[test]
    fn what_is_under_way_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("pid");
        let (running, messages) =
            start(&format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", mark.display()));
        let begun = Instant::now();
        while !mark.exists() && begun.elapsed() < LONG {
            thread::sleep(Duration::from_millis(10));
        }
        let child = std::fs::read_to_string(&mark).unwrap().trim().to_owned();
        let proc = std::path::Path::new("/proc").join(child);
        let state = || std::fs::read_to_string(proc.join("stat")).ok();
        assert!(state().is_some());
        drop(running);
        assert!(messages.recv_timeout(LONG).is_err(), "a killed command is not a failed one");
        while state().is_some_and(|stat| !stat.contains(") Z ")) {
            assert!(begun.elapsed() < LONG, "it still runs");
            thread::sleep(Duration::from_millis(10));
        }
    }

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
