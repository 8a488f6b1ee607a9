//! What the end-to-end tests share: a place of its own for each test, and the binary run in it.

#![allow(
    dead_code,
    unused_imports,
    missing_docs,
    clippy::unwrap_used,
    reason = "each test program uses its part, and fails by panicking"
)]

pub mod contract;
pub mod family;
pub mod known;
pub mod originals;
pub mod pages;
pub mod terminal;

pub use terminal::{AtTerminal, Terminal};

use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_lab::{Missing, skip};
use assay_store::{RunState, SqliteStore, Store};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The program under test.
pub const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// No test of these may take longer; what does, hangs.
const TIMEOUT: Duration = Duration::from_secs(300);
/// A user without rights: `nobody` on Debian.
pub const NOBODY: u32 = 65534;

/// Reads and writes, in a second and a half.
pub const TINY: &str = r#"
name = "tiny"
version = 1
purpose = "A test"
budget = "2s"
max_write = "32MiB"
repeats = 1
span = "4MiB"

[[workload]]
name = "seq-read"
op = "read"
pattern = "sequential"
block = "1MiB"
queue_depth = 4
duration = "200ms"

[[workload]]
name = "rand-read"
op = "read"
pattern = "random"
block = "4KiB"
duration = "200ms"

[[workload]]
name = "rand-write"
op = "write"
pattern = "random"
block = "4KiB"
duration = "200ms"
"#;

/// The same with time to spare, for nodes that share the processors of this machine: none leaves a repeat out.
pub fn tiny_at_leisure() -> String {
    TINY.replace("budget = \"2s\"", "budget = \"60s\"")
}

/// A suite over 4 MiB, with so many repeats of each workload.
pub fn suite(name: &str, budget: &str, repeats: u32, workloads: &[String]) -> String {
    format!(
        "name = \"{name}\"\nversion = 1\npurpose = \"A test\"\nbudget = \"{budget}\"\nmax_write = \"256MiB\"\n\
         repeats = {repeats}\nspan = \"4MiB\"\n{}",
        workloads.concat()
    )
}

/// A workload of such a suite: blocks of 4 KiB all over, for so long.
pub fn random(name: &str, op: &str, duration: &str) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\nop = \"{op}\"\npattern = \"random\"\nblock = \"4KiB\"\n\
         duration = \"{duration}\"\n"
    )
}

/// A directory with a medium to measure, a data directory and files; removed afterwards.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("t").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = Self { dir };
        std::fs::create_dir(place.medium()).unwrap();
        place.file("tiny.toml", TINY);
        place
    }

    /// One whose store holds these records, the last being the newest.
    pub fn with_records(records: &[Record]) -> Self {
        let place = Self::new();
        let mut store = SqliteStore::open(&place.data()).unwrap();
        for record in records {
            store.save(record, RunState::Finished).unwrap();
        }
        place
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The directory that is measured.
    pub fn medium(&self) -> PathBuf {
        self.path().join("medium")
    }

    /// The directory that `ASSAY_DATA` names.
    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn store(&self) -> PathBuf {
        self.data().join("assay.sqlite")
    }

    pub fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// `assay` with these arguments, run in the place.
    pub fn assay<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(ASSAY);
        command.args(arguments);
        self.at_home(&mut command);
        command
    }

    /// A run of the medium by a suite file, whose events are read.
    pub fn begin(&self, suite: &str, more: &[&str]) -> Running {
        let mut command = self.assay(["run", "--suite", suite, "--events", "medium"]);
        command.args(more);
        Running::start(command)
    }

    /// A run in the medium's directory, of which nothing is saved and little is said.
    pub fn inside(&self, arguments: &[&str]) -> Command {
        let mut command = self.assay(["run", "--no-save", "-q"]);
        command.args(arguments).current_dir(self.medium()).stdin(Stdio::null());
        command
    }

    /// A shell with the binary in `$ASSAY`, the place as its directory.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-euc", script]);
        self.at_home(&mut command);
        command
    }

    /// A shell that has mounts, or names of the host, of its own; needs root.
    pub fn apart(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--uts", "sh", "-euc", script]);
        self.at_home(&mut command);
        command
    }

    pub fn at_home(&self, command: &mut Command) {
        command
            .current_dir(self.path())
            .env("ASSAY", ASSAY)
            .env("ASSAY_DATA", self.data())
            .env("HOME", self.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("NO_COLOR")
            .env_remove("COLUMNS");
        as_from_a_terminal(command);
    }

    /// Measures the medium with a small suite and returns the record.
    pub fn measured(&self) -> Record {
        self.measured_with(&[] as &[&str])
    }

    pub fn measured_with<A: AsRef<OsStr>>(&self, more: &[A]) -> Record {
        let mut command = self.assay(["run", "--json", "--suite", "tiny.toml", "medium"]);
        command.args(more);
        serde_json::from_str(&run(command).measures().stdout).unwrap()
    }

    /// The only record in the store.
    pub fn only_record(&self) -> Record {
        let list = self.json(["list", "--json"]);
        assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
        serde_json::from_value(self.json(["show", "last", "--json"])).unwrap()
    }

    /// What a command with `--json` prints: one document and nothing else.
    pub fn json<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Value {
        let done = run(self.assay(arguments));
        done.measures();
        serde_json::from_str(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", done.stdout))
    }

    /// Nothing of a test is left on the medium.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_empty(&self.medium());
    }
}

/// Nothing is in the directory but what a new file system has.
#[track_caller]
pub fn assert_empty(directory: &Path) {
    let left: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "lost+found")
        .collect();
    assert!(left.is_empty(), "left behind in {}: {left:?}", directory.display());
}

/// What is told of a node, by a command about a run on many of them.
#[track_caller]
pub fn node<'a>(printed: &'a Value, name: &str) -> &'a Value {
    let nodes = printed["nodes"].as_array().or_else(|| printed["run"]["nodes"].as_array()).unwrap();
    nodes
        .iter()
        .find(|entry| entry["node"] == name || entry["name"] == name)
        .unwrap_or_else(|| panic!("{name}: {printed}"))
}

/// How a node ended.
#[track_caller]
pub fn fate<'a>(printed: &'a Value, name: &str) -> &'a Value {
    &node(printed, name)["fate"]
}

/// How a command ended.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub elapsed: Duration,
}

impl Done {
    fn new(output: &Output, elapsed: Duration) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.signal().is_none(), "ended by {:?}: {stderr}", output.status);
        assert!(!stderr.contains("panicked"), "{stderr}");
        Self { code: output.status.code(), stdout, stderr, elapsed }
    }

    /// It ended with `code`, nothing but the same as JSON on standard output, and one line on standard error that
    /// begins like all of them and holds these words.
    #[track_caller]
    pub fn refuses(&self, code: i32, words: &[&str]) -> &Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        let is_error = self.stdout.starts_with("{\n  \"error\": {") || self.stdout.starts_with("{\"error\":{");
        assert!(self.stdout.is_empty() || is_error, "on standard output: {}", self.stdout);
        assert!(self.stderr.starts_with("assay: "), "{}", self.stderr);
        assert!(self.stderr.ends_with('\n') && self.stderr.lines().count() == 1, "not one line: {:?}", self.stderr);
        assert_harmless(&self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing: {}", self.stderr);
        }
        self
    }

    /// It did not get as far as measuring, which it announces. Where much else runs, a start alone takes seconds, so that
    /// the time says only that it did not hang.
    #[track_caller]
    pub fn at_once(&self) -> &Self {
        assert!(!self.stderr.lines().any(|line| line.starts_with("measuring ")), "{}", self.stderr);
        assert!(self.elapsed < Duration::from_secs(60), "took {:?}", self.elapsed);
        self
    }

    /// It measured to the end. On a busy host the figures of such short runs may be judged
    /// invalid; they are not what these tests are about.
    #[track_caller]
    pub fn measures(&self) -> &Self {
        assert!(matches!(self.code, Some(0 | 1)), "{:?}: {}\n{}", self.code, self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

/// Nothing in the text can be obeyed by a terminal, and nothing hides in it.
#[track_caller]
pub fn assert_harmless(text: &str) {
    let bad = text.lines().find(|line| harmless(line) != *line);
    assert!(bad.is_none(), "{bad:?}");
}

/// Whether a program is on this host, where administrators' programs lie too; says that a test is skipped where not.
pub fn is_installed(program: &str, test: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').chain(["/usr/sbin", "/sbin"]).any(|dir| Path::new(dir).join(program).is_file());
    if !found {
        skip(test, &Missing(format!("needs {program}")));
    }
    found
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: Command) -> Done {
    let start = Instant::now();
    let shown = format!("{command:?}");
    let asked = contract::Asked::of(&command);
    let output = assert_cmd::Command::from_std(command).timeout(TIMEOUT).output().unwrap();
    let end = start.elapsed();
    assert!(end < TIMEOUT, "hangs: {shown}");
    let done = Done::new(&output, end);
    contract::check(&asked, done.code, &done.stdout);
    done
}

/// The same as another user.
pub fn as_nobody(mut command: Command) -> Command {
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says why a test did not run, unless the host has what it needs: root, and the right to make
/// namespaces.
pub fn can_be_apart(test: &str) -> bool {
    let able = is_root()
        && Command::new("unshare")
            .args(["--mount", "--uts", "true"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
    if !able {
        eprintln!("SKIP: {test}: needs root and unshare");
    }
    able
}

/// Says why a test did not run, unless another user can get at the binary and the place.
pub fn nobody_can_run(test: &str, place: &Place) -> bool {
    open_to_all(&place.medium());
    let mut command = as_nobody(Command::new("sh"));
    command.args(["-c", "cd \"$0\" && exec \"$1\" --version"]).arg(place.medium()).arg(ASSAY);
    let able = command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !able {
        eprintln!("SKIP: {test}: the build directory is closed to other users");
    }
    able
}

/// Lets everybody write in the directory, and get there from the place.
pub fn open_to_all(directory: &Path) {
    std::fs::set_permissions(directory, Permissions::from_mode(0o777)).unwrap();
    // It may belong to somebody else, who has to have opened it.
    let _ = std::fs::set_permissions(directory.parent().unwrap(), Permissions::from_mode(0o755));
}

/// Signals do what they do to a program that is started in a terminal, also where the tests themselves were
/// started by nohup(1), or in the background by a shell without job control.
pub fn as_from_a_terminal(command: &mut Command) {
    // SAFETY: between fork and exec the closure makes system calls that are async-signal-safe; it allocates
    // nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGTSTP] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// A run under way, whose events are read.
pub struct Running {
    child: Child,
    events: BufReader<ChildStdout>,
    start: Instant,
}

impl Running {
    /// Starts `assay run --events` with more arguments.
    pub fn start(mut command: Command) -> Self {
        // In a group of its own, which the test's process ties to the session: in an orphaned group, as of tests that
        // nohup(1) or a service manager started, the kernel discards SIGTSTP (setpgid(2)).
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap());
        Self { child, events, start: Instant::now() }
    }

    /// Reads events until the one that is waited for.
    #[track_caller]
    pub fn wait_for(&mut self, what: impl Fn(&EventKind) -> bool) -> EventKind {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.events.read_line(&mut line).unwrap() > 0, "ended before the event that was waited for");
            let event: Event = serde_json::from_str(&line).unwrap();
            if what(&event.event) {
                return event.event;
            }
            assert!(self.start.elapsed() < TIMEOUT, "hangs");
        }
    }

    /// Waits for a repeat of a workload.
    #[track_caller]
    pub fn wait_for_repeat(&mut self, name: &str, number: u32) {
        self.wait_for(
            |event| matches!(event, EventKind::RepeatStarted { workload, repeat, .. } if workload == name && *repeat == number),
        );
    }

    pub fn signal(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Waits for the end however it comes, for a run that a signal ends.
    pub fn wait_for_end(mut self) -> std::process::ExitStatus {
        self.child.wait().unwrap()
    }

    /// Stops and continues the process that works at the same moment, and not a moment later.
    pub fn signal_all(&self, signal: Signal) {
        self.signal(signal);
        for worker in self.workers() {
            send(worker, signal);
        }
    }

    /// The process that was started, which waits for the one that works.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processes that work for the one that was started.
    pub fn workers(&self) -> Vec<u32> {
        let id = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        children.split_whitespace().map(|child| child.parse().unwrap()).collect()
    }

    /// Kills it as the kernel does when memory runs out: nothing can be done about it.
    pub fn kill(mut self) {
        // They end with the one that waits for them, a moment later.
        let workers = self.workers();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        for worker in workers {
            let stat = format!("/proc/{worker}/stat");
            while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
                assert!(self.start.elapsed() < TIMEOUT, "{worker} outlives the process that waits for it");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Reads the remaining events and waits for the end.
    #[track_caller]
    pub fn end(self) -> Done {
        let start = self.start;
        Done::new(&self.output(), start.elapsed())
    }

    /// Waits until a signal ended it; which, and what it printed on standard error.
    pub fn end_by_signal(self) -> (Option<i32>, String) {
        let output = self.output();
        (output.status.signal(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn output(mut self) -> Output {
        let mut rest = Vec::new();
        while self.events.read_until(b'\n', &mut rest).unwrap() > 0 {
            assert!(self.start.elapsed() < TIMEOUT, "hangs");
        }
        let mut output = self.child.wait_with_output().unwrap();
        output.stdout = rest;
        output
    }
}

/// Sends a signal to one process.
pub fn send(process: u32, signal: Signal) {
    assert!(send_if_there(process, signal), "there is no process {process}");
}

/// Sends a signal to one process, which may have ended; whether it had not.
pub fn send_if_there(process: u32, signal: Signal) -> bool {
    match kill_process(Pid::from_raw(i32::try_from(process).unwrap()).unwrap(), signal) {
        Err(Errno::SRCH) => false,
        sent => {
            sent.unwrap();
            true
        }
    }
}

/// Directories of runs, under way or killed, on a medium.
pub fn scratch_directories(medium: &Path) -> usize {
    std::fs::read_dir(medium)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".assay-"))
        .count()
}
