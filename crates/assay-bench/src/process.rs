//! Processes with what they cost, and runs of the binary under test.

use std::ffi::OsString;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Instant;

use assay_core::record::{Measurement, Record};

/// The output of a process, and the resources that it and its children used.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Processor time in user space, children that were waited for included, in seconds.
    pub(crate) user_seconds: f64,
    /// The same in the kernel.
    pub(crate) system_seconds: f64,
    /// From its start to its end, in seconds.
    pub(crate) wall_seconds: f64,
}

/// Runs the command to its end. Its output goes to files, because a pipe that is not read would block it.
pub(crate) fn finish(command: &mut Command) -> Finished {
    finish_watched(command, |_| ())
}

/// Runs the command to its end. `watch` is called with the process identity as soon as there is one.
#[allow(clippy::zombie_processes)] // `wait4` waits for it, and tells its usage too
pub(crate) fn finish_watched(command: &mut Command, watch: impl FnOnce(u32)) -> Finished {
    let (mut stdout, mut stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let start = Instant::now();
    let child = command.spawn().unwrap_or_else(|e| panic!("{}: {e}", command.get_program().to_string_lossy()));
    watch(child.id());
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let id = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: both pointers are to values that outlive the call; the child was not waited for yet.
    let waited = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
    let wall_seconds = start.elapsed().as_secs_f64();
    assert_eq!(waited, id, "wait4: {}", std::io::Error::last_os_error());
    let text = |file: &mut std::fs::File| {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Finished {
        stdout: text(&mut stdout),
        stderr: text(&mut stderr),
        user_seconds: seconds(usage.ru_utime),
        system_seconds: seconds(usage.ru_stime),
        wall_seconds,
    }
}

/// A process and all that descend from it, which are alive now.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(&parent) = all.get(next) {
        next += 1;
        for task in tasks(parent) {
            let children = std::fs::read_to_string(task.join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    all
}

/// Folders of the threads of a process; none where it is gone.
pub(crate) fn tasks(process: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"));
    entries.map(|all| all.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

// Runs of the binary under test.

/// The binary that users run, which `make bench` builds beside this one.
pub(crate) fn binary() -> &'static Path {
    static BINARY: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_exe().unwrap().with_file_name("assay"));
    &BINARY
}

/// What a load does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Read,
    Write,
}

/// Random reads of one thread, unless said otherwise: the load that both instruments get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) op: Op,
    /// Threads, or processes of fio.
    pub(crate) jobs: u32,
    /// Operations in flight.
    pub(crate) depth: u32,
    /// Size of an operation in KiB.
    pub(crate) block_kib: u32,
    /// Length in seconds, warm-up included.
    pub(crate) seconds: u32,
    /// Part of the device that is read, in MiB.
    pub(crate) span_mib: u64,
}

impl Load {
    /// Random 4 KiB reads of the first 256 MiB.
    pub(crate) const fn random_4k(depth: u32, seconds: u32) -> Self {
        Self { op: Op::Read, jobs: 1, depth, block_kib: 4, seconds, span_mib: 256 }
    }

    /// `random read 4 KiB QD32, 2 jobs`.
    pub(crate) fn title(self) -> String {
        let Self { op, jobs, depth, block_kib, .. } = self;
        let op = if op == Op::Read { "read" } else { "write" };
        let jobs = if jobs == 1 { String::new() } else { format!(", {jobs} jobs") };
        format!("random {op} {block_kib} KiB QD{depth}{jobs}")
    }

    /// The load as a suite of one workload, one repeat.
    fn suite(self) -> String {
        let Self { op, jobs, depth, block_kib, seconds, span_mib } = self;
        let op = if op == Op::Read { "read" } else { "write" };
        // The budget holds calibration and reserve beside the repeat.
        let budget = seconds + 10;
        format!(
            "name = \"bench\"\nversion = 1\npurpose = \"benchmark\"\nbudget = \"{budget}s\"\nmax_write = \"1TiB\"\n\
             repeats = 1\nspan = \"{span_mib}MiB\"\n[[workload]]\nname = \"w\"\nop = \"{op}\"\npattern = \"random\"\n\
             block = \"{block_kib}KiB\"\nqueue_depth = {depth}\njobs = {jobs}\nduration = \"{seconds}s\"\n"
        )
    }
}

/// A suite file, removed when dropped.
#[derive(Debug)]
pub(crate) struct SuiteFile {
    path: PathBuf,
    _directory: tempfile::TempDir,
}

impl SuiteFile {
    pub(crate) fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("suite.toml");
        std::fs::write(&path, text).unwrap();
        Self { path, _directory: directory }
    }

    /// Arguments that run it on `target` without a store and print the record.
    pub(crate) fn arguments(&self, target: &Path) -> Vec<OsString> {
        let fixed = ["run", "--json", "--no-save", "--suite"].map(OsString::from);
        fixed.into_iter().chain([self.path.clone().into_os_string(), target.as_os_str().to_owned()]).collect()
    }
}

/// One run of `load` on the bare device `target` with `engine`.
#[derive(Debug)]
pub(crate) struct AssayRun {
    suite: SuiteFile,
    target: PathBuf,
    engine: &'static str,
}

impl AssayRun {
    pub(crate) fn new(target: &Path, engine: &'static str, load: Load) -> Self {
        Self { suite: SuiteFile::new(&load.suite()), target: target.to_owned(), engine }
    }

    /// The command; a raw device is only read where the suite does not write, and is one of the lab's otherwise.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(binary());
        command.args(self.suite.arguments(&self.target)).args(["--engine", self.engine, "--raw"]);
        command.arg("--overwrite").arg(&self.target);
        command
    }

    pub(crate) fn finish(&self) -> (Measurement, Finished) {
        measurement(finish(&mut self.command()))
    }

    pub(crate) fn finish_watched(&self, watch: impl FnOnce(u32)) -> (Measurement, Finished) {
        measurement(finish_watched(&mut self.command(), watch))
    }
}

/// The record that a run printed.
pub(crate) fn record(finished: &Finished) -> Record {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|e| panic!("assay: {e}: {}", finished.stderr))
}

fn measurement(finished: Finished) -> (Measurement, Finished) {
    let mut record = record(&finished);
    assert_eq!(record.measurements.len(), 1, "{}", finished.stderr);
    assert_eq!(record.measurements[0].repeats.len(), 1, "{}", finished.stderr);
    (record.measurements.remove(0), finished)
}
