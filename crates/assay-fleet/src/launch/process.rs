//! A launcher at work, and what it says of its nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_engine::{Signal, lead_a_group};

use crate::ansible::PrivateDirectory;
use crate::system::end;

/// A process that starts one or several nodes.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    output: Arc<Mutex<LauncherOutput>>,
    /// Whether the processes that it started also get our signals.
    whole_group: bool,
    /// Whether it is for one node, so that its exit code is that of the node.
    single: bool,
    /// The threads that read its output.
    readers: Vec<JoinHandle<()>>,
    /// When its end was first noticed.
    seen: Option<Instant>,
    /// Files that it reads, gone with it.
    files: Option<PrivateDirectory>,
}

/// On what a launcher speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventSource {
    /// Standard error, in lines for people. What a `single` node says on standard output counts where it says nothing else: a
    /// forced command of sshd(8) and nologin(8) do.
    Errors {
        /// Whether the process is for one node.
        single: bool,
    },
    /// Standard output, in lines for programs. Of standard error, only error messages count.
    Output,
}

/// Longest time after its end for reading its last words. A process that it left behind may hold the pipe for ever.
const READ: Duration = Duration::from_secs(1);
/// What ssh(1) says where the other side makes no Unix socket for a tunnel.
pub(crate) const NO_SOCKET: &str = "remote port forwarding failed for listen path";
/// The exit code of ssh(1) when it does not reach the node.
const NOT_REACHED: i32 = 255;
/// Longest line for programs, in bytes.
const MOST_EVENT: usize = 1 << 20;

impl Launched {
    /// A process that starts one node, whose lines are those of the node.
    pub(super) fn one(command: Command, input: &str) -> std::io::Result<Self> {
        let reader: OutputReader = Box::new(|line| OutputEvent::Plain(line.to_owned()));
        let mut started = Self::read(command, input, EventSource::Errors { single: true }, reader)?;
        started.single = true;
        Ok(started)
    }

    /// Runs the command with `input`, and reads its standard error.
    pub(super) fn several(command: Command, input: &str, reader: OutputReader) -> std::io::Result<Self> {
        Self::read(command, input, EventSource::Errors { single: false }, reader)
    }

    /// Runs the command with `input`, and reads its output.
    pub(super) fn read(
        mut command: Command,
        input: &str,
        source: EventSource,
        mut reader: OutputReader,
    ) -> std::io::Result<Self> {
        // Ctrl-C is for the coordinator, which informs the nodes. A launcher that died of it would leave them
        // measuring.
        lead_a_group(&mut command);
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        let speaks = source != EventSource::Errors { single: false };
        command.stdout(if speaks { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // It may take more than a pipe holds, and a launcher that ended already is noticed by its end.
            let input = input.to_owned();
            std::thread::Builder::new().spawn(move || stdin.write_all(input.as_bytes()))?;
        }
        let output = Arc::new(Mutex::new(LauncherOutput::default()));
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take_if(|_| source != EventSource::Output) {
            let aside: OutputReader = Box::new(|line| OutputEvent::Aside(line.to_owned()));
            readers.push(follow(stdout, MOST_LINE, Arc::clone(&output), aside)?);
        }
        if let Some(stdout) = child.stdout.take() {
            readers.push(follow(stdout, MOST_EVENT, Arc::clone(&output), reader)?);
            reader = Box::new(|line| {
                let error = line.strip_prefix("ERROR! ").or_else(|| line.strip_prefix("[ERROR]: "));
                error.map_or(OutputEvent::Nothing, |line| OutputEvent::Plain(line.to_owned()))
            });
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(follow(stderr, MOST_LINE, Arc::clone(&output), reader)?);
        }
        let whole_group = source == EventSource::Output;
        Ok(Self { child, output, whole_group, single: false, readers, seen: None, files: None })
    }

    /// Keeps files as long as the process.
    pub(super) fn keep(&mut self, files: PrivateDirectory) {
        self.files = Some(files);
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Whether all was read that it said, or the time for that is over.
    fn is_read(&mut self) -> bool {
        let seen = *self.seen.get_or_insert_with(Instant::now);
        self.readers.iter().all(JoinHandle::is_finished) || seen.elapsed() > READ
    }

    /// What a node came to, by its number among those of this process, if it ended; a process that ended is judged when its last
    /// line is known.
    pub fn node_ended(&mut self, place: usize) -> Option<NodeEnd> {
        let event = lock(&self.output).ended(place);
        event.or_else(|| {
            let status = self.ended()?;
            if !self.is_read() {
                return None;
            }
            let reached = self.single && status.code() != Some(NOT_REACHED);
            let aside = lock(&self.output).aside.clone();
            let words = if self.single { end_words(status.code(), &aside) } else { format!("it ended with {status}") };
            Some(NodeEnd { words, code: status.code(), reached })
        })
    }

    /// Asks it to end in good order.
    pub fn ask_to_end(&mut self) {
        if self.ended().is_none() {
            end(&self.child, self.whole_group, Signal::TERM);
        }
    }

    /// Whether ssh(1) ended since the other side makes no Unix socket for its tunnel: its sshd_config(5) forbids it, it is no
    /// OpenSSH, or it cannot write there.
    #[must_use]
    pub fn makes_no_socket(&self, place: usize) -> bool {
        self.last_line(place).contains(NO_SOCKET)
    }

    /// The last line from a node, by its number among those of this process; empty where there is none.
    #[must_use]
    pub fn last_line(&self, place: usize) -> String {
        lock(&self.output).last_line(place)
    }
}

impl Drop for Launched {
    /// None is left behind.
    fn drop(&mut self) {
        if self.ended().is_none() {
            if self.whole_group {
                end(&self.child, true, Signal::KILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        drop(self.files.take());
    }
}

fn follow(
    from: impl std::io::Read + Send + 'static,
    most: usize,
    output: Arc<Mutex<LauncherOutput>>,
    mut reader: OutputReader,
) -> std::io::Result<JoinHandle<()>> {
    let work = move || {
        output_lines(from, most, |line| {
            let event = reader(line);
            lock(&output).take(event);
        });
    };
    std::thread::Builder::new().spawn(work)
}

fn lock(output: &Mutex<LauncherOutput>) -> MutexGuard<'_, LauncherOutput> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

// What a launcher says: for each of its nodes the last line, and whether it ended.

/// No line for people is longer than this; the rest of it is left out.
pub(super) const MOST_LINE: usize = 512;
/// Of no more nodes is something kept: a launcher starts fewer.
const MOST_NODES: usize = 100_000;

/// How a node ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEnd {
    /// How it ended, as text.
    pub words: String,
    /// The exit code of the program there, or of the launcher; `None` where a signal ended it, or where it is unknown.
    pub code: Option<i32>,
    /// Whether the node was reached.
    pub reached: bool,
}

/// How a program ended that said nothing as an error, with what it `said` otherwise.
pub(crate) fn end_words(code: Option<i32>, said: &str) -> String {
    match (code, said) {
        (None, _) => "it was killed".to_owned(),
        (_, "") => without_a_word(code),
        (Some(code), said) => format!("it ended with exit code {code}, and said: {said}"),
    }
}

/// How a program ended that said nothing.
pub(super) fn without_a_word(code: Option<i32>) -> String {
    match code {
        Some(code @ (0 | 1)) => format!(
            "it ended with exit code {code} without a word: a forced command or the login shell may run something else there"
        ),
        Some(code) => format!("it ended with exit code {code} without a word"),
        None => "it was killed".to_owned(),
    }
}

/// Something that a line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OutputEvent {
    /// A node said something.
    Said(usize, String),
    /// A node ended.
    Ended(usize, NodeEnd),
    /// The launcher itself said something.
    Plain(String),
    /// The node printed something on standard output.
    Aside(String),
    /// A node said who it is.
    Known(usize),
    /// Nothing that is kept.
    Nothing,
}

/// How lines are understood.
pub(super) type OutputReader = Box<dyn FnMut(&str) -> OutputEvent + Send>;

/// The output so far.
#[derive(Debug, Default)]
pub(super) struct LauncherOutput {
    /// The last line of the launcher itself.
    plain: String,
    /// The last line of its standard output.
    aside: String,
    /// Nodes that said who they are: what the launcher says after that may be about another one.
    known: BTreeSet<usize>,
    said: BTreeMap<usize, String>,
    ended: BTreeMap<usize, NodeEnd>,
}

impl LauncherOutput {
    /// The last that a node said, or else the launcher.
    pub(super) fn last_line(&self, place: usize) -> String {
        match self.said.get(&place) {
            Some(line) => line.clone(),
            None if self.known.contains(&place) => String::new(),
            None => self.plain.clone(),
        }
    }

    /// What a node that ended came to.
    pub(super) fn ended(&self, place: usize) -> Option<NodeEnd> {
        self.ended.get(&place).cloned()
    }

    pub(super) fn take(&mut self, event: OutputEvent) {
        match event {
            OutputEvent::Said(place, line) if self.said.len() < MOST_NODES => {
                self.said.insert(place, line);
            }
            OutputEvent::Ended(place, end) if self.ended.len() < MOST_NODES => {
                // Its own end says more than the last words of the launcher, which may be about another node.
                self.known.insert(place);
                self.ended.insert(place, end);
            }
            OutputEvent::Plain(line) => self.plain = line,
            OutputEvent::Aside(line) => self.aside = line,
            OutputEvent::Known(place) if self.known.len() < MOST_NODES => {
                self.known.insert(place);
            }
            OutputEvent::Said(..) | OutputEvent::Ended(..) | OutputEvent::Known(_) | OutputEvent::Nothing => {}
        }
    }
}

/// Calls `each` with every line of `source` that is not empty, cut where it is longer than `most`.
pub(super) fn output_lines(mut source: impl Read, most: usize, mut each: impl FnMut(&str)) {
    let (mut line, mut bytes) = (Vec::new(), [0u8; 4096]);
    let mut whole = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line);
        if !text.trim().is_empty() {
            each(text.trim());
        }
        line.clear();
    };
    while let Ok(count @ 1..) = source.read(&mut bytes) {
        for byte in &bytes[..count] {
            match byte {
                b'\n' | b'\r' => whole(&mut line),
                _ if line.len() < most => line.push(*byte),
                _ => {}
            }
        }
    }
    whole(&mut line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn end_of(launched: &mut Launched) -> NodeEnd {
        for _ in 0..500 {
            if let Some(end) = launched.node_ended(0) {
                return end;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not in time");
    }

    /// The last line may come after the end: from a process that holds the pipe, here for longer or shorter than is waited.
    #[test]
    fn the_end_is_judged_by_the_last_line_within_a_second() {
        let mut launched = Launched::one(shell("(sleep 0.4; echo exec format error >&2) & exit 126"), "").unwrap();
        end_of(&mut launched);
        assert_eq!(launched.last_line(0), "exec format error");
        let mut launched = Launched::one(shell("sleep 3 & exit 126"), "").unwrap();
        let begun = Instant::now();
        end_of(&mut launched);
        assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
    }

    #[test]
    fn what_a_node_says_last_is_kept_and_no_process_stays() {
        let script = "read -r key; echo first >&2; yes x | head -c 100000 >&2; echo; echo last $key >&2; exit 3";
        let mut launched = Launched::one(shell(script), "KEY\n").unwrap();
        let status = loop {
            match launched.ended() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(3));
        let end = end_of(&mut launched);
        assert_eq!(launched.last_line(0), "last KEY", "it is judged when all is read");
        assert_eq!((end.words.as_str(), end.code, end.reached), (without_a_word(Some(3)).as_str(), Some(3), true));
        let mut lost = Launched::one(shell("exit 255"), "").unwrap();
        assert!(!end_of(&mut lost).reached, "ssh did not come there");
        let launched = Launched::one(shell("exec sleep 1000"), "").unwrap();
        let process = format!("/proc/{}", launched.child.id());
        drop(launched);
        assert!(!std::path::Path::new(&process).exists());
        assert!(Launched::one(Command::new("/nowhere/assay"), "").is_err());
    }

    /// As a forced command of sshd(8) and nologin(8) do.
    #[test]
    fn what_is_said_where_no_errors_are_told_counts_where_nothing_else_is_said() {
        let mut launched = Launched::one(shell("echo This account is closed.; exit 1"), "").unwrap();
        assert_eq!(end_of(&mut launched).words, "it ended with exit code 1, and said: This account is closed.");
        assert_eq!(launched.last_line(0), "");
        let mut silent = Launched::one(shell("exit 1"), "").unwrap();
        assert!(end_of(&mut silent).words.contains("without a word: a forced command"));
    }

    #[test]
    fn input_that_nobody_reads_keeps_nobody_waiting() {
        let mut launched = Launched::one(shell("exit 0"), &"x".repeat(1 << 20)).unwrap();
        while launched.ended().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn lines_of_any_length_and_end_are_told_apart() {
        let long = "y".repeat(100_000);
        let text = format!("first\n\n  second \r{long}\nlast");
        let mut seen = Vec::new();
        output_lines(text.as_bytes(), MOST_LINE, |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["first", "second", &long[..MOST_LINE], "last"]);
    }

    #[test]
    fn a_node_that_said_nothing_has_the_words_of_its_launcher() {
        let mut output = LauncherOutput::default();
        output.take(OutputEvent::Plain("no such partition".to_owned()));
        output.take(OutputEvent::Said(1, "disk full".to_owned()));
        let end = NodeEnd { words: "it ended with exit code 4".to_owned(), code: Some(4), reached: true };
        output.take(OutputEvent::Ended(1, end.clone()));
        assert_eq!((output.last_line(0).as_str(), output.last_line(1).as_str()), ("no such partition", "disk full"));
        output.take(OutputEvent::Known(2));
        output.take(OutputEvent::Plain("task 1 exited with exit code 4".to_owned()));
        assert_eq!(output.last_line(2), "", "that is about another one");
        assert_eq!((output.ended(0), output.ended(1)), (None, Some(end)));
    }
}
