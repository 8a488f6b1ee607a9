//! The system calls of fio and of assay by the same job file: sizes, mix, alignment, syncs, depth and places agree.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use assay_lab::Lab;

use crate::common::{Place, is_installed};

/// A read or a write of a thread.
#[derive(Debug, Clone, Copy)]
struct Call {
    write: bool,
    bytes: u64,
    offset: u64,
}

/// What the threads of a job did.
#[derive(Debug)]
struct Calls {
    calls: Vec<Call>,
    threads: usize,
    syncs: usize,
}

impl Calls {
    fn share(&self, of: impl Fn(&Call) -> bool) -> f64 {
        self.calls.iter().filter(|call| of(call)).count() as f64 / self.calls.len() as f64
    }

    /// What all offsets are multiples of.
    fn alignment(&self) -> u64 {
        fn gcd(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { gcd(b, a % b) }
        }
        self.calls.iter().fold(0, |unit, call| gcd(call.offset, unit))
    }

    /// Kinds and sizes with their shares.
    fn sizes(&self) -> BTreeMap<(bool, u64), f64> {
        let each = 1.0 / self.calls.len() as f64;
        let mut sizes = BTreeMap::new();
        self.calls.iter().for_each(|call| *sizes.entry((call.write, call.bytes)).or_default() += each);
        sizes
    }

    /// Steps from one place to the next of a single thread, those that go around left out.
    fn steps(&self) -> Vec<i64> {
        let offset = |call: &Call| i64::try_from(call.offset).unwrap();
        let mut steps: Vec<i64> = self.calls.windows(2).map(|two| offset(&two[1]) - offset(&two[0])).collect();
        steps.sort_unstable();
        let mut counted: Vec<i64> = Vec::new();
        for same in steps.chunk_by(|a, b| a == b) {
            if same.len() * 20 > steps.len() {
                counted.push(same[0]);
            }
        }
        counted
    }
}

/// The calls on the file whose path ends like this, in what strace wrote with `-f -y -s 0`. Threads with few calls, and those
/// that end before the busiest one begins, only look at the medium, or write it out.
fn calls(trace: &str, is_file: impl Fn(&str) -> bool) -> Calls {
    let mut threads: BTreeMap<&str, (Vec<Call>, usize)> = BTreeMap::new();
    // The first and the last line with a call.
    let mut times: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut begun: BTreeMap<&str, String> = BTreeMap::new();
    for (number, line) in trace.lines().enumerate() {
        let Some((thread, line)) = line.split_once(char::is_whitespace) else { continue };
        let mut line = line.trim_start().to_owned();
        if let Some((first, _)) = line.split_once(" <unfinished") {
            begun.insert(thread, first.to_owned());
            continue;
        }
        if line.starts_with("<...") {
            let rest = line.split_once("resumed>").map_or("", |(_, rest)| rest);
            line = begun.remove(thread).unwrap_or_default() + rest;
        }
        let name = line.split('(').next().unwrap_or_default();
        let Some(path) = line.split_once('<').and_then(|(_, rest)| rest.split('>').next()) else { continue };
        if !is_file(path) {
            continue;
        }
        let known = threads.entry(thread).or_default();
        match name {
            "fsync" | "fdatasync" => known.1 += 1,
            "pread64" | "pwrite64" => {
                let Some((arguments, _)) = line.rsplit_once(')') else { continue };
                let mut numbers = arguments.rsplit(", ").map(str::trim);
                let mut next = || numbers.next().and_then(|text| text.parse().ok());
                let (Some(offset), Some(bytes)) = (next(), next()) else { continue };
                known.0.push(Call { write: name == "pwrite64", bytes, offset });
                times.entry(thread).or_insert((number, number)).1 = number;
            }
            _ => {}
        }
    }
    let most = threads.values().map(|(calls, _)| calls.len()).max().unwrap_or(0);
    let busiest = threads.iter().find(|(_, (calls, _))| calls.len() == most).map(|(thread, _)| *thread);
    let begins = busiest.and_then(|thread| times.get(thread)).map_or(0, |(first, _)| *first);
    let is_busy = |thread: &str, calls: &[Call]| {
        calls.len() * 10 > most && times.get(thread).is_some_and(|(_, last)| *last >= begins)
    };
    let busy: Vec<(Vec<Call>, usize)> =
        threads.into_iter().filter(|(thread, (calls, _))| is_busy(thread, calls)).map(|(_, found)| found).collect();
    Calls {
        threads: busy.len(),
        syncs: busy.iter().map(|(_, syncs)| syncs).sum(),
        calls: busy.into_iter().flat_map(|(calls, _)| calls).collect(),
    }
}

fn traced(command: &Command, trace: &Path) -> String {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-e", "trace=pread64,pwrite64,fsync,fdatasync", "-o"]).arg(trace);
    strace.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        value.map(|value| strace.env(name, value));
    }
    let output = strace.current_dir(command.get_current_dir().unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(trace).unwrap()
}

/// The calls of both programs by a job file with 8 MiB a file, each for `seconds`.
fn both(job: &str, seconds: u32) -> [Calls; 2] {
    let dir = Place::new();
    let text = format!("[global]\nrandrepeat=0\nsize=8m\nruntime={seconds}\ntime_based\ndirect=1\n[j]\n{job}");
    // By what it holds it is a job file, not by its name.
    dir.file("job.ini", text);
    let mut fio = Command::new("fio");
    fio.args(["--output=out", "../job.ini"]).current_dir(dir.path().join("medium"));
    let theirs = traced(&fio, &dir.path().join("fio.trace"));
    for file in std::fs::read_dir(dir.path().join("medium")).unwrap() {
        std::fs::remove_file(file.unwrap().path()).unwrap();
    }
    let assay = dir.inside(&["--engine", "sync", "--suite", "../job.ini"]);
    let ours = traced(&assay, &dir.path().join("assay.trace"));
    let medium = |path: &str| path.contains("/medium/");
    let theirs = calls(&theirs, medium);
    // The area is written by a thread of its own before anything else, in pieces of 16 KiB and more.
    let writer = ours.lines().find(|line| line.contains("pwrite64(")).and_then(|line| line.split(' ').next());
    let of_writer = |line: &&str| writer.is_some_and(|writer| line.starts_with(&format!("{writer} ")));
    let rest: String = ours.lines().filter(|line| !of_writer(line)).map(|line| format!("{line}\n")).collect();
    [theirs, calls(&rest, medium)]
}

/// Compares the calls of both programs. Each has to do at least a hundred operations, so that a share is within a tenth, and
/// every job has to run. A busy machine gets more time.
fn agree(job: &str, threads: usize) -> [Calls; 2] {
    let enough = |both: &[Calls; 2]| both.iter().all(|calls| calls.calls.len() > 100);
    let whole = |both: &[Calls; 2]| enough(both) && both.iter().all(|calls| calls.threads == threads);
    let mut last = None;
    for seconds in [1, 4, 16, 60] {
        let calls = both(job, seconds);
        let done = whole(&calls);
        last = Some(calls);
        if done {
            break;
        }
    }
    let [theirs, ours] = last.filter(enough).expect(job);
    assert_eq!(theirs.alignment(), ours.alignment(), "{job}: places");
    assert_eq!((theirs.threads, ours.threads), (threads, threads), "{job}: depth");
    let (of_theirs, of_ours) = (theirs.sizes(), ours.sizes());
    assert_eq!(of_theirs.keys().collect::<Vec<_>>(), of_ours.keys().collect::<Vec<_>>(), "{job}");
    for (kind, share) in &of_theirs {
        assert!((share - of_ours[kind]).abs() < 0.2, "{job}: {kind:?} {share} {}", of_ours[kind]);
    }
    [theirs, ours]
}

fn has_both(test: &str) -> bool {
    is_installed("fio", test) && is_installed("strace", test)
}

#[test]
fn random_loads_have_the_same_sizes_mix_places_and_syncs() {
    if !has_both("random_loads_have_the_same_sizes_mix_places_and_syncs") {
        return;
    }
    let _lab = Lab::share();
    agree("rw=randrw\nbs=4k,16k\nrwmixread=70\nfilename=x\nnumjobs=3\n", 3);
    agree("rw=randread\nbssplit=512/30:4k/70\nba=8k\nnorandommap\n", 1);
    agree("rw=randwrite\nbssplit=512/40:4k/60\nba=4k\nnorandommap\nrandom_distribution=zoned:50/25:50/75\n", 1);
    let [theirs, ours] = agree("rw=randwrite\nbs=8k\nfsync=4\n", 1);
    for calls in [&theirs, &ours] {
        let every = calls.calls.len() as f64 / calls.syncs as f64;
        assert!((3.5..4.5).contains(&every), "{every}");
    }
    let [theirs, ours] = agree("rw=randread\nbs=4k\nnorandommap\nrandom_distribution=zoned:70/25:30/75\n", 1);
    for calls in [&theirs, &ours] {
        let share = calls.share(|call| call.offset < 2 << 20);
        assert!((0.6..0.8).contains(&share), "{share}");
    }
    for calls in agree("rw=randread\nbs=4k\nfilename=x\noffset=4m\nsize=2m\n", 1) {
        let inside = calls.share(|call| (4 << 20..6 << 20).contains(&call.offset));
        assert!(inside > 0.999, "{inside}");
    }
}

#[test]
fn streams_have_the_same_steps() {
    if !has_both("streams_have_the_same_steps") {
        return;
    }
    let _lab = Lab::share();
    for job in [
        "rw=read\nbs=16k\n",
        "rw=write:112k\nbs=16k\n",
        "rw=read:-8k\nbs=4k\n",
        "rw=read\nbs=64k\nzonemode=strided\nzonesize=128k\nzoneskip=256k\n",
    ] {
        let [theirs, ours] = agree(job, 1);
        assert_eq!(theirs.steps(), ours.steps(), "{job}");
    }
    // Reads and writes of a mix are a stream each.
    let [theirs, ours] = agree("rw=rw\nbs=4k\nrwmixread=50\n", 1);
    for calls in [theirs, ours] {
        let of = |write: bool| Calls {
            calls: calls.calls.iter().filter(|call| call.write == write).copied().collect(),
            threads: 1,
            syncs: 0,
        };
        assert_eq!((of(false).steps(), of(true).steps()), (vec![4096], vec![4096]));
    }
}
