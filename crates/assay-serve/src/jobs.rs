//! Runs and checks that pages began: each is the program itself in a process of its own, with its events as JSON lines. A page
//! that is closed changes nothing about it; the record is in the store whatever becomes of the server.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::exit::Exit;
use assay_core::text::harmless;
use tokio::sync::watch;

/// Events that a job keeps; of more, samples go first.
const MOST_EVENTS: usize = 5000;
/// Lines of its messages that a job keeps.
const MOST_LINES: usize = 40;
/// Longest line that is read, in bytes: an event with a medium and its health is some kilobytes.
const LONGEST_LINE: u64 = 64 << 10;
/// Jobs that are listed; older ones that have ended go.
const MOST_JOBS: usize = 50;
/// How long jobs have to end and to clean up when the server ends.
const TO_END: Duration = Duration::from_secs(60);

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs.
    Running,
    /// It was asked to stop, and cleans up.
    Stopping,
    /// It has ended with this exit code; none where a signal ended it.
    Ended(Option<i32>),
}

/// A run or a check.
pub(crate) struct Job {
    /// Its number, from 1.
    pub(crate) id: usize,
    /// Words of the command.
    pub(crate) words: Vec<String>,
    /// What it measures, for people.
    pub(crate) target: String,
    inner: Mutex<Inner>,
    /// Wakes the watchers after each event.
    news: watch::Sender<()>,
}

struct Inner {
    events: VecDeque<(u64, Event)>,
    next: u64,
    messages: VecDeque<String>,
    state: State,
    record: Option<String>,
    child: Option<u32>,
}

/// All jobs of a server.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<List>);

#[derive(Default)]
struct List {
    jobs: Vec<Arc<Job>>,
    /// The server ends: nothing is started any more.
    closed: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Starts the program with these words.
    ///
    /// # Errors
    /// It cannot be started, or the server ends.
    pub(crate) fn start(&self, program: &Path, words: Vec<String>, target: String) -> std::io::Result<Arc<Job>> {
        let mut command = Command::new(program);
        command.args(&words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at the server's terminal reaches the server, which then stops its jobs once.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        // Locked until the job is in the list: a server that ends stops all that it started.
        let mut list = locked(&self.0);
        if list.closed {
            return Err(std::io::Error::other("the server ends"));
        }
        let mut child = command.spawn()?;
        let (output, messages) = (child.stdout.take(), child.stderr.take());
        let all = &mut list.jobs;
        let inner = Inner {
            events: VecDeque::new(),
            next: 0,
            messages: VecDeque::new(),
            state: State::Running,
            record: None,
            child: Some(child.id()),
        };
        let id = all.last().map_or(1, |job| job.id + 1);
        let job = Arc::new(Job { id, words, target, inner: Mutex::new(inner), news: watch::Sender::new(()) });
        all.push(Arc::clone(&job));
        while all.len() > MOST_JOBS {
            let Some(at) = all.iter().position(|job| matches!(job.state(), State::Ended(_))) else { break };
            all.remove(at);
        }
        drop(list);
        job.read(child, output, messages);
        Ok(job)
    }

    /// The newest first.
    pub(crate) fn all(&self) -> Vec<Arc<Job>> {
        locked(&self.0).jobs.iter().rev().cloned().collect()
    }

    pub(crate) fn find(&self, id: usize) -> Option<Arc<Job>> {
        locked(&self.0).jobs.iter().find(|job| job.id == id).cloned()
    }

    /// Stops all jobs, and waits until they have cleaned up.
    pub(crate) fn end(&self) {
        locked(&self.0).closed = true;
        let mut all = self.all();
        // What cannot be asked to end is not waited for.
        all.retain(|job| job.stop());
        let begun = Instant::now();
        while all.iter().any(|job| !matches!(job.state(), State::Ended(_))) && begun.elapsed() < TO_END {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Job {
    fn read(
        self: &Arc<Self>,
        child: Child,
        output: Option<impl Read + Send + 'static>,
        messages: Option<impl Read + Send + 'static>,
    ) {
        let of_messages = messages.map(|messages| {
            let job = Arc::clone(self);
            std::thread::spawn(move || lines(messages, |line| job.said(line)))
        });
        let job = Arc::clone(self);
        std::thread::spawn(move || {
            if let Some(output) = output {
                lines(output, |line| job.happened(line));
            }
            if let Some(thread) = of_messages {
                let _ = thread.join();
            }
            let mut child = child;
            wait_for_end(&child);
            // Its number is its own until it is waited for: from here on nothing is sent to it.
            locked(&job.inner).child = None;
            let status = child.wait().ok();
            let mut inner = locked(&job.inner);
            // One that had not come to listen ends by the signal itself, and has begun nothing.
            let stopped = inner.state == State::Stopping && status.is_some_and(was_asked_to_end);
            let code = if stopped { Some(Exit::Interrupted as i32) } else { status.and_then(|status| status.code()) };
            inner.state = State::Ended(code);
            drop(inner);
            job.news.send_replace(());
        });
    }

    fn said(&self, line: &str) {
        let line = harmless(line);
        let mut inner = locked(&self.inner);
        if inner.messages.len() == MOST_LINES {
            inner.messages.pop_front();
        }
        inner.messages.push_back(line);
        drop(inner);
        self.news.send_replace(());
    }

    fn happened(&self, line: &str) {
        let Ok(event) = serde_json::from_str::<Event>(line) else { return };
        let mut inner = locked(&self.inner);
        match &event.event {
            EventKind::Started { id, .. } | EventKind::Finished { id, .. } => inner.record = Some(id.clone()),
            _ => {}
        }
        if inner.events.len() == MOST_EVENTS {
            let passing = |event: &Event| matches!(event.event, EventKind::Sample { .. } | EventKind::Progress { .. });
            let oldest = inner.events.iter().position(|(_, event)| passing(event)).unwrap_or(0);
            inner.events.remove(oldest);
        }
        let number = inner.next;
        inner.next += 1;
        inner.events.push_back((number, event));
        drop(inner);
        self.news.send_replace(());
    }

    pub(crate) fn state(&self) -> State {
        locked(&self.inner).state
    }

    /// Id of the record, as soon as it is known.
    pub(crate) fn record(&self) -> Option<String> {
        locked(&self.inner).record.clone()
    }

    /// What the program said on standard error, the newest last.
    pub(crate) fn messages(&self) -> Vec<String> {
        locked(&self.inner).messages.iter().cloned().collect()
    }

    /// Events from this number on, with their numbers.
    pub(crate) fn events(&self, from: u64) -> Vec<(u64, Event)> {
        locked(&self.inner).events.iter().filter(|(number, _)| *number >= from).cloned().collect()
    }

    /// Wakes whenever something happened.
    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// The same as Ctrl-C: the run ends, removes its files, and keeps its record. Whether it is ending, or has ended.
    pub(crate) fn stop(&self) -> bool {
        let mut inner = locked(&self.inner);
        if let (State::Running, Some(child)) = (inner.state, inner.child)
            && interrupt(child)
        {
            inner.state = State::Stopping;
        }
        let stops = inner.state != State::Running;
        drop(inner);
        self.news.send_replace(());
        stops
    }
}

/// Asks it to end as Ctrl-C does. SIGINT may be ignored where the server was started in the background of a shell, and its children
/// inherit that. The process is a child that was not waited for, so its number is no other's.
#[cfg(unix)]
fn interrupt(child: u32) -> bool {
    let child = i32::try_from(child).ok().and_then(rustix::process::Pid::from_raw);
    child.is_some_and(|child| rustix::process::kill_process(child, rustix::process::Signal::TERM).is_ok())
}

/// Whether a process ended by the signal that asked it to.
#[cfg(unix)]
fn was_asked_to_end(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(rustix::process::Signal::TERM.as_raw())
}

/// Here none is asked.
#[cfg(not(unix))]
fn was_asked_to_end(_status: ExitStatus) -> bool {
    false
}

/// Waits until a process has ended, and leaves its number to it.
#[cfg(unix)]
fn wait_for_end(child: &Child) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let Some(child) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let look = || waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    while matches!(look(), Err(rustix::io::Errno::INTR)) {}
}

/// Here a process keeps its number as long as its handle is open.
#[cfg(not(unix))]
fn wait_for_end(_child: &Child) {}

/// Windows has no such signal for a process without a console of its own.
#[cfg(not(unix))]
fn interrupt(_child: u32) -> bool {
    false
}

/// Reads lines of bounded length; what is longer is left out.
fn lines(from: impl Read, mut each: impl FnMut(&str)) {
    let mut reader = BufReader::new(from);
    let (mut line, mut too_long) = (Vec::new(), false);
    loop {
        line.clear();
        let length = match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(length) => length as u64,
        };
        // The last line may have no end.
        let ends = line.ends_with(b"\n") || length < LONGEST_LINE;
        if ends && !too_long {
            each(String::from_utf8_lossy(&line).trim_end());
        }
        too_long = !ends;
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn wait(job: &Job) -> State {
        let begun = Instant::now();
        loop {
            match job.state() {
                ended @ State::Ended(_) => return ended,
                _ if begun.elapsed() > Duration::from_secs(60) => panic!("it does not end"),
                _ => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn shell(jobs: &Jobs, script: &str) -> Arc<Job> {
        jobs.start(Path::new("/bin/sh"), vec!["-c".to_owned(), script.to_owned()], String::new()).unwrap()
    }

    #[test]
    fn what_is_no_event_is_left_out_and_the_code_is_kept() {
        let event = r#"{"at":"","elapsed_ns":1,"event":{"kind":"phase","phase":"layout"}}"#;
        let jobs = Jobs::default();
        let job = shell(&jobs, &format!("echo no event; echo '{event}'; echo why >&2; exit 4"));
        assert_eq!(wait(&job), State::Ended(Some(4)));
        assert_eq!(job.events(0).len(), 1);
        assert!(job.events(1).is_empty());
        assert_eq!(job.messages(), ["why"]);
    }

    #[test]
    fn a_stopped_job_cleans_up() {
        let jobs = Jobs::default();
        let job = shell(&jobs, "trap 'echo cleaned >&2; exit 130' TERM; echo ready >&2; while :; do sleep 0.01; done");
        while job.messages().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        jobs.end();
        assert_eq!(job.state(), State::Ended(Some(130)));
        assert_eq!(job.messages(), ["ready", "cleaned"]);
        assert!(job.stop());
        assert_eq!(job.state(), State::Ended(Some(130)), "what has ended is not stopped");
        let more = jobs.start(Path::new("/bin/sh"), Vec::new(), String::new());
        assert!(more.is_err(), "a server that ends starts nothing");
    }

    #[test]
    fn one_that_is_stopped_before_it_listens_was_stopped_and_not_killed() {
        let jobs = Jobs::default();
        let job = shell(&jobs, "while :; do sleep 0.01; done");
        assert!(job.stop());
        assert_eq!(wait(&job), State::Ended(Some(Exit::Interrupted as i32)));
        let job = shell(&jobs, "kill -KILL $$");
        assert_eq!(wait(&job), State::Ended(None));
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut read = Vec::new();
        let long = [vec![b'x'; 3 << 20], b"end\nshort\nlast".to_vec()].concat();
        lines(long.as_slice(), |line| read.push(line.len()));
        assert_eq!(read, [5, 4], "no part of the long line, and two lines");
    }
}
