//! Threads that read the sensors during a run, so that neither a drive that
//! hangs nor a slow command stops the clock of the samples.

use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use assay_core::sensor::{SensorCommand, first_number};
use assay_core::text::label;
use assay_device::Sensors;
use assay_engine::{Signal, end_with_this_process, lead_a_group};

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

// What is started here are programs of Unix.
#[cfg(not(windows))]
#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use assay_core::sensor::SensorKind;

    use super::*;

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
}
