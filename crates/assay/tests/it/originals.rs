//! The tools that workloads were taken from: as engines, beside assay's own, missing, and stopped.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_core::record::Record;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::originals::{suite, workload};

use crate::common::assert_empty;

const MIB: u64 = 1 << 20;

/// A directory on a real file system: the build's.
fn place(suite: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::create_dir(dir.path().join("medium")).unwrap();
    std::fs::write(dir.path().join("pair.toml"), suite).unwrap();
    dir
}

fn assay(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["run", "--no-save", "-q", "--suite", "../pair.toml"]).args(arguments);
    command.current_dir(dir.join("medium")).env("ASSAY_DATA", dir.join("store")).stdin(Stdio::null());
    crate::common::as_from_a_terminal(&mut command);
    command
}

fn record(output: &Output) -> Record {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn an_original_as_the_engine_makes_a_record_with_what_it_printed() {
    let more = "direct = false";
    let own = "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n".to_owned();
    let writes = workload("dd", "write", "sequential", "64KiB", more);
    let reads = workload("dd", "read", "sequential", "64KiB", more);
    let dir = place(&suite("30s", "4MiB", &[reads, writes, own]));
    let record = record(&assay(dir.path(), &["--json", "--engine", "reference"]).output().unwrap());
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.tool.engine == "reference" && record.tool.engine_reason.contains("dd "), "{:?}", record.tool);
    for (m, command) in record
        .measurements
        .iter()
        .zip(["dd if=data of=/dev/null bs=65536 count=64", "dd if=/dev/zero of=original bs=65536 count=64 conv=fsync"])
    {
        assert_eq!((m.engine.as_str(), m.repeats.len()), ("dd", 4), "{}", m.workload.name);
        for repeat in &m.repeats {
            let run = repeat.original.as_deref().unwrap();
            let text = run.text.as_deref().unwrap();
            assert_eq!((run.tool.as_str(), run.command.as_str()), ("dd", command));
            assert!(text.contains("64+0 records out"), "{text}");
            assert_eq!(repeat.bytes, 4 * MIB);
            // dd prints seconds to six digits.
            let (_, seconds) = text.split_once("copied, ").unwrap();
            let seconds: f64 = seconds.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(repeat.bytes_per_second, 4.0 * MIB as f64 / seconds, "{text}");
        }
        assert!(m.iops.is_some() && m.latency_ns.p99.is_none(), "{}", m.workload.name);
    }
    let own = &record.measurements[2];
    assert!(own.repeats.is_empty(), "it has no original");
    assert!(own.warnings.iter().any(|w| w.cause.contains("names no original")), "{:?}", own.warnings);
    assert_empty(&dir.path().join("medium"));
}

#[test]
fn a_missing_original_is_named_with_its_package() {
    let dir = place(&suite("30s", "4MiB", &[workload("iozone", "read", "random", "4KiB", "")]));
    for arguments in [["--engine", "reference"], ["--crosscheck", "reference"]] {
        let output = assay(dir.path(), &arguments).env("PATH", dir.path()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("its Debian package is iozone3") && words.lines().count() == 1, "{words}");
    }
    let refused = |arguments: &[&str], reason: &str| {
        let output = assay(dir.path(), arguments).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains(reason) && words.lines().count() == 1, "{words}");
    };
    refused(&["--engine", "reference", "--crosscheck", "reference"], "compares assay's own engines");
    let own = "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n";
    std::fs::write(dir.path().join("pair.toml"), suite("30s", "4MiB", &[own.to_owned()])).unwrap();
    refused(&["--engine", "reference"], "names no original of a workload");
    assert_empty(&dir.path().join("medium"));
}

/// A program in the place of ioping, which makes a file, starts another and waits.
const SLOW: &str = "#!/bin/sh\n[ \"$1\" = -v ] && { echo ioping 1.3; exit; }\n\
    echo mine > original\nsleep 1000 &\necho $! > \"$FAKE_PIPE\"\nwait\n";

#[test]
fn an_interrupt_ends_an_original_with_all_that_it_started() {
    let dir = place(&suite("100s", "4MiB", &[workload("ioping", "read", "random", "4KiB", "")]));
    let tools = dir.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("ioping"), SLOW).unwrap();
    std::fs::set_permissions(tools.join("ioping"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = dir.path().join("told");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut child = assay(dir.path(), &["--engine", "reference"])
        .env("PATH", path)
        .env("FAKE_PIPE", &told)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let wait = |what: &str, done: &dyn Fn() -> bool| {
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(90), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let sleeper = || std::fs::read_to_string(&told).ok().and_then(|text| text.trim().parse::<i32>().ok());
    wait("the tool was not run", &|| sleeper().is_some());
    let scratch = std::fs::read_dir(dir.path().join("medium")).unwrap().flatten().next().unwrap().path();
    assert_eq!(std::fs::read(scratch.join("original")).unwrap(), b"mine\n", "it works in assay's directory");
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let stat = format!("/proc/{}/stat", sleeper().unwrap());
    wait("what the tool started lives on", &|| {
        std::fs::read_to_string(&stat).map_or(true, |stat| !stat.contains("(sleep)") || stat.contains(") Z "))
    });
    assert_empty(&dir.path().join("medium"));
}
