//! A launcher at work.

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_engine::{Signal, lead_a_group};

use super::launcher_output::{LauncherOutput, MOST_LINE, NodeEnd, OutputEvent, Reader, lines};
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
pub(super) enum Source {
    /// Standard error, in lines for people.
    Errors,
    /// Standard output, in lines for programs. Of standard error, only error messages count.
    Output,
}

/// Longest time after its end for reading its last words. A process that it left behind may hold the pipe for ever.
const READ: Duration = Duration::from_secs(1);
/// The exit code of ssh(1) when it does not reach the node.
const NOT_REACHED: i32 = 255;
/// Longest line for programs, in bytes.
const MOST_EVENT: usize = 1 << 20;

impl Launched {
    /// A process that starts one node, whose lines are those of the node.
    pub(super) fn one(command: Command, input: &str) -> std::io::Result<Self> {
        let mut started = Self::several(command, input, Box::new(|line| OutputEvent::Plain(line.to_owned())))?;
        started.single = true;
        Ok(started)
    }

    /// Runs the command with `input`, and reads its standard error.
    pub(super) fn several(command: Command, input: &str, reader: Reader) -> std::io::Result<Self> {
        Self::read(command, input, Source::Errors, reader)
    }

    /// Runs the command with `input`, and reads its output.
    pub(super) fn read(mut command: Command, input: &str, source: Source, mut reader: Reader) -> std::io::Result<Self> {
        // Ctrl-C is for the coordinator, which informs the nodes. A launcher that died of it would leave them
        // measuring.
        lead_a_group(&mut command);
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(if source == Source::Output { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // It may take more than a pipe holds, and a launcher that ended already is noticed by its end.
            let input = input.to_owned();
            std::thread::Builder::new().spawn(move || stdin.write_all(input.as_bytes()))?;
        }
        let output = Arc::new(Mutex::new(LauncherOutput::default()));
        let mut readers = Vec::new();
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
        let whole_group = source == Source::Output;
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
            Some(NodeEnd { words: format!("it ended with {status}"), code: status.code(), reached })
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
        self.last_line(place).contains("remote port forwarding failed for listen path")
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
    mut reader: Reader,
) -> std::io::Result<JoinHandle<()>> {
    let work = move || {
        lines(from, most, |line| {
            let event = reader(line);
            lock(&output).take(event);
        });
    };
    std::thread::Builder::new().spawn(work)
}

fn lock(output: &Mutex<LauncherOutput>) -> MutexGuard<'_, LauncherOutput> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
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
        assert_eq!((end.words.as_str(), end.code, end.reached), ("it ended with exit status: 3", Some(3), true));
        let mut lost = Launched::one(shell("exit 255"), "").unwrap();
        assert!(!end_of(&mut lost).reached, "ssh did not come there");
        let launched = Launched::one(shell("exec sleep 1000"), "").unwrap();
        let process = format!("/proc/{}", launched.child.id());
        drop(launched);
        assert!(!std::path::Path::new(&process).exists());
        assert!(Launched::one(Command::new("/nowhere/assay"), "").is_err());
    }

    #[test]
    fn input_that_nobody_reads_keeps_nobody_waiting() {
        let mut launched = Launched::one(shell("exit 0"), &"x".repeat(1 << 20)).unwrap();
        while launched.ended().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
