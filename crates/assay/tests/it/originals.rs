//! The tools that workloads were taken from: as engines, beside assay's own, missing, and stopped.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_lab::Lab;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::known::record_of;
use crate::common::originals::{program, suite, workload};

use crate::common::{Place, Running, is_installed, run, scratch_directories};

const MIB: u64 = 1 << 20;

fn place(suite: &str) -> Place {
    let place = Place::new();
    place.file("pair.toml", suite);
    place
}

fn assay(dir: &Place, arguments: &[&str]) -> Command {
    let mut command = dir.inside(&["--suite", "../pair.toml"]);
    command.args(arguments);
    command
}

#[test]
fn an_original_as_the_engine_makes_a_record_with_what_it_printed() {
    let more = "direct = false";
    let own = "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n".to_owned();
    let writes = workload("dd", "write", "sequential", "64KiB", more);
    let reads = workload("dd", "read", "sequential", "64KiB", more);
    let dir = place(&suite("30s", "4MiB", &[reads, writes, own]));
    let record = record_of(&assay(&dir, &["--json", "--engine", "reference"]).output().unwrap());
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
    assert!(own.warnings.iter().any(|w| w.cause().contains("names no original")), "{:?}", own.warnings);
    dir.assert_clean();
}

#[test]
fn a_missing_original_is_named_with_its_package() {
    let dir = place(&suite("30s", "4MiB", &[workload("iozone", "read", "random", "4KiB", "")]));
    let sysbench = program("sysbench", "1s", "primes = { below = 2000, threads = 1 }");
    let own = "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n".to_owned();
    for (tool, package, workloads) in [
        ("iozone", "iozone3", vec![workload("iozone", "read", "random", "4KiB", "")]),
        ("f3write", "f3", vec![workload("f3", "read", "sequential", "2MiB", "direct = false")]),
        ("sysbench", "sysbench", vec![own.clone(), sysbench]),
    ] {
        dir.file("pair.toml", suite("30s", "4MiB", &workloads));
        for arguments in [["--engine", "reference"], ["--crosscheck", "reference"]] {
            let output = assay(&dir, &arguments).env("PATH", dir.path()).output().unwrap();
            let words = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(4), "{words}");
            let why = format!("{tool} is not installed (its Debian package is {package}");
            assert!(words.contains(&why) && words.lines().count() == 1, "{words}");
        }
    }
    let refused = |arguments: &[&str], reason: &str| {
        let output = assay(&dir, arguments).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(words.contains(reason) && words.lines().count() == 1, "{words}");
    };
    refused(&["--engine", "reference", "--crosscheck", "reference"], "compares assay's own engines");
    dir.file("pair.toml", suite("30s", "4MiB", &[own]));
    refused(&["--engine", "reference"], "names no original of a workload or a program");
    dir.assert_clean();
}

/// A program in the place of ioping, which makes a file, starts another and waits.
const SLOW: &str = "#!/bin/sh\n[ \"$1\" = -v ] && { echo ioping 1.3; exit; }\n\
    echo mine > original\nsleep 1000 &\necho $! > \"$FAKE_PIPE\"\nwait\n";

#[test]
fn an_interrupt_ends_an_original_with_all_that_it_started() {
    let dir = place(&suite("100s", "4MiB", &[workload("ioping", "read", "random", "4KiB", "")]));
    let tools = dir.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    // Written by another process: a program cannot be run while a process has it open for writing, and what other tests
    // start at the same moment has all that is open here for an instant.
    std::fs::write(dir.path().join("slow"), SLOW).unwrap();
    let made = Command::new("install").args(["-m755", "slow", "tools/ioping"]).current_dir(dir.path()).status();
    assert!(made.unwrap().success());
    let pid_file = dir.path().join("told");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut child = assay(&dir, &["--engine", "reference"])
        .env("PATH", path)
        .env("FAKE_PIPE", &pid_file)
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
    let sleeper = || std::fs::read_to_string(&pid_file).ok().and_then(|text| text.trim().parse::<i32>().ok());
    wait("the tool was not run", &|| sleeper().is_some());
    let scratch = std::fs::read_dir(dir.path().join("medium")).unwrap().flatten().next().unwrap().path();
    assert_eq!(std::fs::read(scratch.join("original")).unwrap(), b"mine\n", "it works in assay's directory");
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let stat = format!("/proc/{}/stat", sleeper().unwrap());
    wait("what the tool started lives on", &|| {
        std::fs::read_to_string(&stat).map_or(true, |stat| !stat.contains("(sleep)") || stat.contains(") Z "))
    });
    dir.assert_clean();
}

/// Programs with their originals, of which each takes less than a second or two, after a workload.
fn programs() -> String {
    let parts = [
        "[[workload]]\nname = \"own\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nduration = \"200ms\"\n"
            .to_owned(),
        program("sysbench", "1s", "primes = { below = 2000, threads = 1 }"),
        program("sysbench", "2s", "memory = { op = \"write\", block = \"64KiB\", total = \"64MiB\" }")
            .replace("name = \"sysbench\"", "name = \"memory\""),
        program("dd", "2s", "stream = { block = \"8KiB\", count = 100 }"),
        program(
            "postmark",
            "2s",
            "postmark = { transactions = 2000, files = 300, smallest = \"512B\", largest = \"9KiB\" }",
        ),
    ];
    suite("60s", "4MiB", &parts).replace("repeats = 4", "repeats = 2")
}

fn has_originals(test: &str) -> bool {
    ["sysbench", "postmark"].into_iter().all(|program| is_installed(program, test))
}

#[test]
fn the_originals_of_programs_make_scores_with_what_they_printed() {
    if !has_originals("the_originals_of_programs_make_scores_with_what_they_printed") {
        return;
    }
    let dir = place(&programs());
    let record = record_of(&assay(&dir, &["--json", "--engine", "reference"]).output().unwrap());
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.tool.engine_reason.contains("sysbench 1.") && record.tool.engine_reason.contains("postmark 1."));
    assert_eq!(record.scores.len(), 4, "{:?}", record.warnings);
    for (score, (tool, command, words, unit)) in record.scores.iter().zip([
        ("sysbench", "sysbench cpu --cpu-max-prime=2000 --threads=1 --time=1 run", "events per second", "events/s"),
        ("sysbench", "sysbench memory --memory-block-size=65536", "64.00 MiB transferred", "MiB/s"),
        ("dd", "dd if=/dev/zero of=original bs=8192 count=100 conv=fsync", "100+0 records out", "MB/s"),
        ("postmark", "postmark", "seconds of transactions", "transactions/s"),
    ]) {
        let run = score.program.as_deref().unwrap();
        assert_eq!((run.values.len(), run.originals.len(), score.unit.as_str()), (2, 2, unit), "{}", score.name);
        assert!(score.value.point > 0.0 && run.waiting_share.is_none(), "{run:?}");
        for original in &run.originals {
            assert_eq!(original.tool, tool);
            assert!(original.command.starts_with(command), "{}", original.command);
            assert!(original.text.as_deref().is_some_and(|text| text.contains(words)), "{original:?}");
        }
    }
    let input = record.scores[3].program.as_deref().unwrap().originals[0].input.as_deref().unwrap();
    assert!(input.starts_with("set size 512 9216\nset number 300\nset transactions 2000\n"), "{input}");
    dir.assert_clean();
}

#[test]
fn programs_are_compared_with_their_originals_in_turns() {
    if !has_originals("programs_are_compared_with_their_originals_in_turns") {
        return;
    }
    let dir = place(&programs());
    let output = assay(&dir, &["--json", "--crosscheck", "reference"]).output().unwrap();
    let record = record_of(&output);
    assert_eq!(record.outcome, Outcome::Completed);
    let of = |name: &str| record.crosscheck.iter().find(|check| check.workload == name).unwrap();
    assert_eq!(record.crosscheck.len(), 4, "the workload has no original: {:?}", record.crosscheck);
    // Blocks of 64 KiB for each MiB, and writes of 8 KiB for each MB.
    for (score, (name, operations)) in
        record.scores.iter().zip([("sysbench", 1.0), ("memory", 16.0), ("dd", 1e6 / 8192.0), ("postmark", 1.0)])
    {
        let (check, run) = (of(name), score.program.as_deref().unwrap());
        assert_eq!((run.program.as_str(), &check.trouble, run.originals.len()), (name, &None, 0));
        assert_eq!(check.pairs.iter().map(|pair| pair.peer_first).collect::<Vec<_>>(), [false, true], "{name}");
        for (pair, value) in check.pairs.iter().zip(&run.values) {
            assert!((pair.ours.iops / (value * operations) - 1.0).abs() < 1e-9, "{name}: the score is assay's own");
            assert!(pair.theirs.iops > 0.0 && pair.original.is_some(), "{name}");
        }
        let ratio = check.ratio.as_ref().unwrap();
        assert!(ratio.n == 2 && ratio.low.is_some() && ratio.high.is_some(), "{ratio:?}");
    }
    // PostMark's and dd's bytes, those of assay's own programs and of the test area.
    assert!(
        record.settings().unwrap().written_bytes > 4 * MIB + 4 * 819_200,
        "{}",
        record.settings().unwrap().written_bytes
    );
    let card = String::from_utf8_lossy(&output.stderr);
    assert!(card.contains("assay over the original"), "{card}");
    dir.assert_clean();
}

/// A run whose PostMark goes on for long.
fn while_postmark_runs(dir: &Place) -> Running {
    let does = "postmark = { transactions = 9000000, files = 30000, smallest = \"512B\", largest = \"9KiB\" }";
    let parts =
        [workload("dd", "read", "sequential", "64KiB", "duration = \"200ms\""), program("postmark", "100s", does)];
    // What may be written bounds the transactions.
    dir.file("pair.toml", suite("300s", "4MiB", &parts).replace("2GiB", "900GiB"));
    let mut command = assay(dir, &["--events", "--engine", "reference"]);
    command.stdout(Stdio::null());
    let running = Running::start(command);
    let start = Instant::now();
    // The first one that it makes; none is removed before all are there.
    let made = || {
        let scratch = std::fs::read_dir(dir.medium()).unwrap().flatten().next()?;
        std::fs::metadata(scratch.path().join("files/1")).ok()
    };
    while made().is_none() {
        assert!(start.elapsed() < Duration::from_secs(90), "PostMark made no files");
        std::thread::sleep(Duration::from_millis(20));
    }
    running
}

#[test]
fn what_an_original_made_is_gone_after_an_interrupt_and_after_a_kill() {
    if !is_installed("postmark", "what_an_original_made_is_gone_after_an_interrupt_and_after_a_kill") {
        return;
    }
    let dir = place("");
    let running = while_postmark_runs(&dir);
    running.signal(Signal::INT);
    assert_eq!(running.wait_for_end().code(), Some(130));
    dir.assert_clean();
    while_postmark_runs(&dir).kill();
    assert_eq!(scratch_directories(&dir.medium()), 1, "a kill leaves it");
    run(dir.assay(["run", "--no-save", "-q", "--suite", "tiny.toml", "medium"])).measures();
    dir.assert_clean();
}

#[test]
fn f3_writes_and_reads_files_of_its_own() {
    if !is_installed("f3write", "f3_writes_and_reads_files_of_its_own") {
        return;
    }
    let _lab = Lab::share();
    let parts = ["write", "read"].map(|op| workload("f3", op, "sequential", "2MiB", "direct = false"));
    let whole = |span: &str| suite("10min", span, &parts).replace("repeats = 4", "repeats = 1").replace("2GiB", "9GiB");
    let dir = place(&whole("1GiB"));
    let record = record_of(&assay(&dir, &["--json", "--engine", "reference"]).output().unwrap());
    for (m, command) in
        record.measurements.iter().zip(["f3write --end-at=1 .", "f3write --end-at=1 .; f3read --end-at=1 ."])
    {
        assert_eq!((m.engine.as_str(), m.repeats.len()), ("f3", 1), "{:?}", record.warnings);
        assert_eq!(m.repeats[0].original.as_deref().unwrap().command, command);
        assert_eq!(
            (m.repeats[0].bytes, m.repeats[0].durable_bytes_per_second.is_some()),
            (1 << 30, m.workload.writes())
        );
    }
    assert!(record.settings().unwrap().written_bytes >= 3 << 30, "{}", record.settings().unwrap().written_bytes);
    dir.assert_clean();
    dir.file("pair.toml", whole("512MiB"));
    let output = assay(&dir, &["--engine", "reference"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("its files have 1 GiB each"), "{words}");
    dir.assert_clean();
}
