//! The priorities of fio and of assay by the same job file: those of threads by their system calls, and those of single
//! operations as the block layer of the kernel sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_engine::{Availability, EngineKind, probe};
use assay_lab::{Lab, Missing, skip};

use crate::common::{Place, is_installed, is_root};

/// Both programs, ready to run a job file with 8 MiB a file.
fn both(job: &str) -> (Place, [Command; 2]) {
    let dir = Place::new();
    dir.file("job.ini", format!("[global]\nrandrepeat=0\nsize=8m\nruntime=1\ntime_based\ndirect=1\n[j]\n{job}"));
    let mut fio = Command::new("fio");
    fio.args(["--output=../out", "--directory=.", "../job.ini"]).current_dir(dir.path().join("medium"));
    let assay = dir.inside(&["--suite", "../job.ini"]);
    (dir, [fio, assay])
}

/// What a command asked ioprio_set(2) for, as strace writes it into a file of each thread: in one file, the calls of two
/// threads are cut by each other.
fn asked(command: &Command, traces: &Path) -> BTreeSet<String> {
    fs::create_dir(traces).unwrap();
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-e", "trace=ioprio_set", "-o"]).arg(traces.join("of"));
    strace.arg(command.get_program()).args(command.get_args()).current_dir(command.get_current_dir().unwrap());
    for (name, value) in command.get_envs() {
        value.map(|value| strace.env(name, value));
    }
    let output = strace.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(traces).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let lines: Vec<String> = files.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let calls = lines.iter().filter_map(|line| line.split_once("ioprio_set(").map(|(_, call)| call));
    calls.filter(|call| call.ends_with("= 0")).map(str::to_owned).collect()
}

#[test]
fn threads_have_the_same_priorities() {
    let test = "threads_have_the_same_priorities";
    if !is_installed("fio", test) || !is_installed("strace", test) {
        return;
    }
    let _lab = Lab::share();
    for job in ["rw=randread\nprioclass=3\nprio=2\n", "rw=randread\nprio=6\n", "rw=randwrite\nprioclass=2\nnumjobs=2\n"]
    {
        let (dir, [fio, assay]) = both(job);
        let theirs = asked(&fio, &dir.path().join("of fio"));
        let ours = asked(&assay, &dir.path().join("of assay"));
        assert_eq!((theirs.len(), &theirs), (1, &ours), "{job}");
    }
}

/// An own instance of the kernel's trace, with what is issued to devices.
struct Trace {
    instance: PathBuf,
    /// Where the file system is mounted, if that was for this test.
    mounted: Option<tempfile::TempDir>,
}

impl Trace {
    fn begin() -> Result<Self, Missing> {
        let lacks = |what: &str| Missing(what.to_owned());
        if !is_root() {
            return Err(lacks("needs root"));
        }
        let (mut root, mut mounted) = (PathBuf::from("/sys/kernel/tracing"), None);
        if !root.join("instances").exists() {
            let directory = tempfile::tempdir().map_err(|error| Missing(error.to_string()))?;
            let mount = Command::new("mount").args(["-t", "tracefs", "none"]).arg(directory.path()).output();
            if !mount.is_ok_and(|mount| mount.status.success()) {
                return Err(lacks("needs tracefs"));
            }
            root = directory.path().to_owned();
            mounted = Some(directory);
        }
        let instance = root.join("instances").join(format!("assay-test-{}", std::process::id()));
        let trace = Self { instance, mounted };
        fs::create_dir(&trace.instance).map_err(|error| Missing(format!("needs an instance of the trace: {error}")))?;
        let event = trace.instance.join("events/block/block_rq_issue");
        // Since Linux 6.9.
        if !fs::read_to_string(event.join("format")).is_ok_and(|format| format.contains("REC->ioprio")) {
            return Err(lacks("needs block_rq_issue with priorities (Linux 6.9)"));
        }
        fs::write(trace.instance.join("buffer_size_kb"), "16384").unwrap();
        fs::write(event.join("enable"), "1").unwrap();
        Ok(trace)
    }

    /// Reads and writes of this many bytes that a program issued, by their priorities among these.
    fn counted(&self, program: &str, bytes: &str, priorities: &[&str]) -> BTreeMap<(char, String), f64> {
        let text = fs::read_to_string(self.instance.join("trace")).unwrap();
        let mut counted = BTreeMap::new();
        // `block_rq_issue: 254,0 RS 4096 () 299051504 + 8 be,0,4 [fio]`
        for line in text.lines().filter_map(|line| line.split_once("block_rq_issue: ").map(|(_, rest)| rest)) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, kind, size, .., priority, by] = fields[..] else { continue };
            if by == format!("[{program}]") && size == bytes && priorities.contains(&priority) {
                let way = kind.chars().next().unwrap_or(' ');
                *counted.entry((way, priority.to_owned())).or_default() += 1.0;
            }
        }
        counted
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.instance);
        if let Some(mounted) = &self.mounted {
            let _ = Command::new("umount").arg(mounted.path()).status();
        }
    }
}

/// The shares that were asked for reach the kernel, in its block layer: of fio as of assay.
#[test]
fn single_operations_have_the_same_priorities() {
    let test = "single_operations_have_the_same_priorities";
    if !is_installed("fio", test) {
        return;
    }
    let _lab = match Lab::share() {
        Ok(lab) => lab,
        Err(missing) => return skip(test, &missing),
    };
    if let Availability::No(reason) = probe(EngineKind::Uring) {
        return skip(test, &Missing(reason));
    }
    // Levels that nothing else on this host has.
    let job = "rw=randrw\nbs=4k\nioengine=libaio\niodepth=4\nprioclass=2\nprio=3\n\
               cmdprio_percentage=60,20\ncmdprio_class=2\ncmdprio=1\n";
    let (_dir, commands) = both(job);
    for (program, mut command) in ["fio", "assay"].into_iter().zip(commands) {
        let trace = match Trace::begin() {
            Ok(trace) => trace,
            Err(missing) => return skip(test, &missing),
        };
        let output = command.output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
        let counted = trace.counted(program, "4096", &["be,0,1", "be,0,3"]);
        if counted.is_empty() && program == "fio" {
            return skip(test, &Missing("needs a directory on a block device".to_owned()));
        }
        for (way, share) in [('R', 0.6), ('W', 0.2)] {
            let of = |priority: &str| counted.get(&(way, priority.to_owned())).copied().unwrap_or(0.0);
            let (first, rest) = (of("be,0,1"), of("be,0,3"));
            assert!(first + rest > 50.0, "{program}: {counted:?}");
            // Five standard errors of a share, at most.
            let error = 5.0 * 0.5 / (first + rest).sqrt();
            assert!((first / (first + rest) - share).abs() < error, "{program}: {way} {counted:?}");
        }
    }
}
