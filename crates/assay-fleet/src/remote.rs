//! A command on a node that ends by itself: by ssh(1), or here. Its output is bounded in length and in time.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use assay_core::text::posix_word;
use assay_engine::{Control, lead_a_group};

use super::tail::Tail;
use crate::conduct::remote_port;
use crate::error::FleetError;
use crate::launch::{FarEnd, Launcher, NO_SOCKET, Tunnel, end_words};
use crate::transport::Endpoint;

/// Interval for checking whether a command has ended.
const LOOK: Duration = Duration::from_millis(10);
/// How long the last words of a program that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Number of time exchanges with a node.
const EXCHANGES: usize = 8;
/// Longest duration of one exchange.
const EXCHANGE: Duration = Duration::from_secs(2);
/// Longest time for a node to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Longest line of a node's answer, in bytes.
const LINE: u64 = 4096;
/// The exit code of ssh(1) when it does not reach the node.
const NOT_REACHED: i32 = 255;

/// Prints the properties of the node, and then the time for each line of input. The fifth byte of an ELF file is 2 for 64 bits.
const LOOKS: &str = r#"
echo "machine=$(uname -m)"
if [ "$(head -c 5 /bin/sh | tail -c 1)" = "$(printf '\002')" ]; then echo bits=64; else echo bits=32; fi
df -Pk "$1" 2> /dev/null | while read -r source all _ blocks _; do
    case $all$blocks in *[!0-9]*) ;; *) printf 'free=%s\ntotal=%s\nsource=%s\n' $((blocks * 1024)) $((all * 1024)) "$source" ;; esac
done
echo ready
while read -r _; do date +%s.%N; done
"#;

/// Where a command is to run.
#[derive(Debug, Clone, Copy)]
pub struct RemoteNode<'a> {
    /// Here, or by ssh.
    pub launcher: Launcher,
    /// The node: with ssh the host.
    pub node: &'a str,
}

/// What a command said.
#[derive(Debug)]
pub struct CommandOutput {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error, the end of it.
    pub errors: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The node was not reached.
    #[error("{0}")]
    NotReached(String),
    /// The program could not be started, did not end, or said too much.
    #[error("{0}")]
    NoAnswer(String),
    /// The program ended in another way than well.
    #[error("{said}")]
    Ended {
        /// Its exit code; none where a signal ended it.
        code: Option<i32>,
        /// Its last words.
        said: String,
    },
}

/// What a node is, and how late or early its time of day.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeInfo {
    /// What `uname -m` says.
    pub machine: String,
    /// Width of what runs there.
    pub bits: u32,
    /// Free bytes at the target; none where there is no such directory.
    pub free_bytes: Option<u64>,
    /// The file system of the target; none where it is not known.
    pub volume: Option<RemoteVolume>,
    /// Its time of day, compared with the one here.
    pub clock: Option<DayClock>,
}

/// A file system as df(1) names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteVolume {
    /// What is mounted: a device, or what a server exports.
    pub source: String,
    /// All its bytes.
    pub bytes: u64,
}

/// The time of day on a node minus the one here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DayClock {
    /// In nanoseconds.
    pub offset_ns: i64,
    /// The offset is off by this much at most, in nanoseconds.
    pub bound_ns: u64,
}

impl CommandOutput {
    /// The last line of its standard error; otherwise how it ended, with the last line that it said.
    #[must_use]
    pub fn last_words(&self) -> String {
        let last = last_line(&self.errors);
        if last.is_empty() { end_words(self.code, &last_line(&String::from_utf8_lossy(&self.out))) } else { last }
    }
}

impl RemoteNode<'_> {
    fn command(&self, words: &[&str]) -> Command {
        self.command_through(None, words)
    }

    /// The same through a tunnel.
    fn command_through(&self, tunnel: Option<&Tunnel>, words: &[&str]) -> Command {
        let mut command = match self.launcher {
            Launcher::Ssh => {
                let script: Vec<String> = words.iter().map(|word| posix_word(word)).collect();
                let mut command = Command::new("ssh");
                // No user is present to enter a password.
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15"]);
                if let Some(tunnel) = tunnel {
                    command.args(["-o", "ExitOnForwardFailure=yes", "-R", &tunnel.specification()]);
                }
                command.args([
                    "--",
                    self.node,
                    &format!("exec sh -c {}", posix_word(&format!("exec {}", script.join(" ")))),
                ]);
                command
            }
            _ => {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]);
                command
            }
        };
        // A Ctrl-C is for this program.
        lead_a_group(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn begin(&self, mut command: Command) -> Result<(Ended, Tail), RemoteError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let fail = |error: std::io::Error| RemoteError::NoAnswer(format!("{program}: {error}"));
        let mut child = Ended(command.spawn().map_err(fail)?);
        let tail = Tail::default();
        if let Some(stderr) = child.0.stderr.take() {
            tail.follow(stderr).map_err(fail)?;
        }
        Ok((child, tail))
    }

    /// Runs a program there, which may say up to `most` bytes within the time.
    ///
    /// # Errors
    /// [`RemoteError`]
    pub fn call(&self, words: &[&str], most: u64, within: Duration) -> Result<CommandOutput, RemoteError> {
        self.wait_for(self.command(words), words[0], most, within)
    }

    /// Opens the tunnel through which a node reaches the coordinator in a run, as a run does it, and closes it again.
    ///
    /// # Errors
    /// [`RemoteError::NotReached`] where ssh or the server there does not allow it.
    pub fn try_tunnel(&self) -> Result<(), RemoteError> {
        if self.launcher != Launcher::Ssh {
            return Ok(());
        }
        let no_random = |error: std::io::Error| RemoteError::NoAnswer(error.to_string());
        match self.open_tunnel(FarEnd::socket().map_err(no_random)?) {
            Err(RemoteError::NotReached(said)) if said.contains(NO_SOCKET) => {
                self.open_tunnel(FarEnd::Port(remote_port(self.node, 0)))
            }
            opened => opened,
        }
    }

    fn open_tunnel(&self, far: FarEnd) -> Result<(), RemoteError> {
        // Nothing connects to it.
        let near = Endpoint::Address((std::net::Ipv4Addr::LOCALHOST, 1).into());
        // What sshd(8) leaves behind is removed.
        let path = if let FarEnd::Socket(path) = &far { path.clone() } else { String::new() };
        let words = ["rm", "-f", "--", &path];
        let command = self.command_through(Some(&Tunnel { far, near }), &words);
        self.wait_for(command, "rm", LINE, ANSWER).map(drop)
    }

    fn wait_for(
        &self,
        command: Command,
        program: &str,
        most: u64,
        within: Duration,
    ) -> Result<CommandOutput, RemoteError> {
        let (mut child, tail) = self.begin(command)?;
        let (sender, whole) = channel();
        if let Some(stdout) = child.0.stdout.take() {
            let read = move || {
                let mut out = Vec::new();
                let _ = stdout.take(most + 1).read_to_end(&mut out);
                let _ = sender.send(out);
            };
            std::thread::Builder::new().spawn(read).map_err(|error| RemoteError::NoAnswer(error.to_string()))?;
        }
        let late = || RemoteError::NoAnswer(format!("{program}: no answer within {} s", within.as_secs()));
        let end = Instant::now() + within;
        let out = whole.recv_timeout(within).map_err(|_| late())?;
        if out.len() as u64 > most {
            return Err(RemoteError::NoAnswer(format!("{program}: its answer is longer than {most} bytes")));
        }
        let code = loop {
            match child.0.try_wait() {
                Ok(Some(status)) => break status.code(),
                _ if Instant::now() > end => return Err(late()),
                _ => std::thread::sleep(LOOK),
            }
        };
        if self.launcher == Launcher::Ssh && code == Some(NOT_REACHED) {
            return Err(RemoteError::NotReached(self.why(&tail)));
        }
        let errors = if code == Some(0) { tail.text() } else { tail.last(LAST_WORDS) };
        Ok(CommandOutput { code, out, errors })
    }

    fn why(&self, tail: &Tail) -> String {
        Some(last_line(&tail.last(LAST_WORDS)))
            .filter(|last| !last.is_empty())
            .unwrap_or_else(|| format!("ssh does not reach {}", self.node))
    }

    /// Why a look did not come to its end; `heard` is the last line that was no answer.
    fn broken(&self, child: &mut Child, tail: &Tail, heard: &str) -> RemoteError {
        let end = Instant::now() + EXCHANGE;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                _ if Instant::now() > end => {
                    return RemoteError::NoAnswer(format!("sh: no answer within {} s", ANSWER.as_secs()));
                }
                _ => std::thread::sleep(LOOK),
            }
        };
        let reason = self.why(tail);
        if self.launcher == Launcher::Ssh && status.code() == Some(NOT_REACHED) {
            return RemoteError::NotReached(reason);
        }
        let last = last_line(&tail.text());
        let said = if last.is_empty() { end_words(status.code(), heard) } else { last };
        RemoteError::Ended { code: status.code(), said }
    }

    /// Asks a node for its properties and its time of day.
    ///
    /// # Errors
    /// [`RemoteError`]
    pub fn look(&self, target: &str) -> Result<NodeInfo, RemoteError> {
        let mut command = self.command(&["sh", "-c", LOOKS, "sh", target]);
        command.stdin(Stdio::piped());
        let (mut child, tail) = self.begin(command)?;
        let lines = lines(&mut child.0)?;
        let (mut look, mut heard, mut total_bytes) = (NodeInfo::default(), String::new(), None);
        let end = Instant::now() + ANSWER;
        loop {
            let Ok(line) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) else {
                return Err(self.broken(&mut child.0, &tail, &heard));
            };
            match line.split_once('=') {
                Some(("machine", machine)) => look.machine = machine.to_owned(),
                Some(("bits", bits)) => look.bits = bits.parse().unwrap_or(0),
                Some(("free", free)) => look.free_bytes = free.parse().ok(),
                Some(("total", bytes)) => total_bytes = bytes.parse().ok(),
                Some(("source", source)) => {
                    look.volume = total_bytes.map(|bytes| RemoteVolume { source: source.to_owned(), bytes });
                }
                _ if line == "ready" => break,
                _ if line.is_empty() => {}
                _ => heard = line,
            }
        }
        let mut found: Vec<DayClock> = Vec::new();
        if let Some(mut stdin) = child.0.stdin.take() {
            for _ in 0..EXCHANGES {
                let (day, begun) = (SystemTime::now(), Instant::now());
                let asked = stdin.write_all(b"\n").and_then(|()| stdin.flush());
                let Some(line) = asked.ok().and_then(|()| lines.recv_timeout(EXCHANGE).ok()) else { break };
                found.extend(compare(&line, day, begun.elapsed()));
            }
        }
        look.clock = found.into_iter().min_by_key(|clock| clock.bound_ns);
        Ok(look)
    }
}

/// The last line that has something in it; otherwise nothing.
fn last_line(text: &str) -> String {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// The offset of a node's clock, from a time of the node between two times here.
fn compare(line: &str, day: SystemTime, round_trip: Duration) -> Option<DayClock> {
    let (seconds, fraction) = line.trim().split_once('.')?;
    let seconds: i64 = seconds.parse().ok().filter(|seconds| (0..1 << 40).contains(seconds))?;
    // A date(1) without nanoseconds prints nothing for them, or repeats its format.
    let fine = fraction.len() == 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let (fraction, unknown) = if fine { (fraction.parse().ok()?, 0) } else { (500_000_000, 500_000_000) };
    let there = i128::from(seconds) * 1_000_000_000 + i128::from(fraction);
    let half = round_trip.as_nanos() / 2;
    let here = day.duration_since(UNIX_EPOCH).ok()?.as_nanos() + half;
    let offset_ns = i64::try_from(there - i128::try_from(here).ok()?).ok()?;
    Some(DayClock { offset_ns, bound_ns: u64::try_from(half).ok()? + unknown })
}

/// Its lines as they come; a longer one than any of ours ends them.
fn lines(child: &mut Child) -> Result<Receiver<String>, RemoteError> {
    let (sender, receiver) = sync_channel(16);
    if let Some(stdout) = child.stdout.take() {
        let read = move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            while let Ok(1..) = reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if line.last() != Some(&b'\n') || sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        };
        std::thread::Builder::new().spawn(read).map_err(|error| RemoteError::NoAnswer(error.to_string()))?;
    }
    Ok(receiver)
}

/// A process that is ended with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// Work on many nodes, some of them at a time.

/// Nodes that are asked at a time.
const AT_ONCE: usize = 28;

/// Does `work` for each, and gives what came of them in their order.
///
/// # Errors
/// [`FleetError::NoThread`], and [`FleetError::Interrupted`] where the user ends the work.
pub(crate) fn each_at_once<T: Sync, R: Send>(
    all: &[T],
    control: &Control,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, FleetError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..all.len().min(AT_ONCE) {
            let begun = std::thread::Builder::new().spawn_scoped(scope, || {
                while let Some((at, one)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, all.get(at)?)))
                    && !control.stopped()
                {
                    let result = work(one);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
            begun.map_err(FleetError::NoThread)?;
        }
        Ok::<(), FleetError>(())
    })?;
    if control.stopped() {
        return Err(FleetError::Interrupted);
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: RemoteNode<'_> = RemoteNode { launcher: Launcher::Local, node: "here" };

    #[test]
    fn a_look_says_what_this_machine_is_and_that_its_clock_agrees_with_itself() {
        let look = HERE.look("/").unwrap();
        assert!(look.volume.is_some_and(|volume| volume.bytes > 0 && !volume.source.is_empty()));
        assert!(look.machine == std::env::consts::ARCH && matches!(look.bits, 32 | 64) && look.free_bytes.is_some());
        let clock = look.clock.unwrap();
        assert!(clock.offset_ns.unsigned_abs() <= clock.bound_ns && clock.bound_ns < 1_000_000_000, "{clock:?}");
        assert_eq!(HERE.look("/nonexistent").unwrap().free_bytes, None);
    }

    #[test]
    fn a_coarse_clock_has_a_wider_bound_and_nonsense_none() {
        let day = UNIX_EPOCH + Duration::from_secs(1000);
        let trip = Duration::from_millis(2);
        let fine = compare("1003.250000000", day, trip).unwrap();
        assert_eq!((fine.offset_ns, fine.bound_ns), (3_249_000_000, 1_000_000));
        for coarse in ["1003.", "1003.%N", "1003.N"] {
            let coarse = compare(coarse, day, trip).unwrap();
            assert_eq!((coarse.offset_ns, coarse.bound_ns), (3_499_000_000, 501_000_000));
        }
        for bad in ["", "x", "nan.inf", "-5.0", "99999999999999999999.000000000", "1003"] {
            assert_eq!(compare(bad, day, trip), None, "{bad}");
        }
    }

    #[test]
    fn an_answer_is_bounded_in_length_and_time() {
        let said = HERE.call(&["sh", "-c", "echo out; echo err >&2; exit 3"], 100, Duration::from_secs(10)).unwrap();
        assert_eq!((said.code, said.out.as_slice()), (Some(3), &b"out\n"[..]));
        let long = HERE.call(&["sh", "-c", "yes"], 1000, Duration::from_secs(10)).unwrap_err();
        assert_eq!(long.to_string(), "sh: its answer is longer than 1000 bytes");
        let begun = Instant::now();
        let late = HERE.call(&["sleep", "100"], 10, Duration::from_secs(1)).unwrap_err();
        assert!(late.to_string() == "sleep: no answer within 1 s" && begun.elapsed() < Duration::from_secs(20));
        assert!(HERE.call(&["/nowhere/x"], 10, Duration::from_secs(1)).is_err());
    }

    #[test]
    fn a_look_at_a_node_that_says_nothing_more_ends_by_itself() {
        let (mut child, tail) = HERE.begin(HERE.command(&["sleep", "60"])).unwrap();
        let error = HERE.broken(&mut child.0, &tail, "");
        assert_eq!(error.to_string(), "sh: no answer within 30 s");
    }
}
