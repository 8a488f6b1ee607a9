//! fio as an engine, as a peer, and its job files on the command line.

use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_core::outcome::Outcome;
use assay_lab::Lab;
use rustix::process::{Pid, Signal, kill_process};

use crate::common::known::record_of;
use crate::common::{Place, is_installed};

const SUITE: &str = "name = \"pair\"\nversion = 1\npurpose = \"A test\"\nbudget = \"60s\"\nmax_write = \"64MiB\"\nrepeats = 2\nspan = \"4MiB\"\n\
    [[workload]]\nname = \"rr\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 4\nduration = \"500ms\"\n\
    [[workload]]\nname = \"ws\"\nop = \"write\"\npattern = \"random\"\nblock = \"4KiB\"\nsync = \"fdatasync\"\nduration = \"500ms\"\n";

fn has_fio(test: &str) -> bool {
    is_installed("fio", test)
}

fn place() -> Place {
    let place = Place::new();
    place.file("pair.toml", SUITE);
    place
}

#[test]
fn fio_as_the_engine_makes_a_record_like_any_other() {
    if !has_fio("fio_as_the_engine_makes_a_record_like_any_other") {
        return;
    }
    let _lab = Lab::share();
    let dir = place();
    let output = dir.inside(&["--json", "--engine", "fio", "--suite", "../pair.toml"]).output().unwrap();
    let record = record_of(&output);
    assert_eq!(record.outcome, Outcome::Completed);
    assert!(record.tool.engine == "fio" && record.tool.engine_reason.contains("fio-3"), "{:?}", record.tool);
    for m in &record.measurements {
        let name = &m.workload.name;
        assert_eq!((m.engine.as_str(), m.repeats.len()), ("fio", 2), "{name}");
        assert!(m.iops.as_ref().is_some_and(|e| e.point > 0.0) && m.latency_ns.p99.is_some(), "{name}");
        // Little's law: fio's latency and fio's rate.
        let (mean, iops) = (m.latency_ns.mean.as_ref().unwrap().point, m.iops.as_ref().unwrap().point);
        let law = mean * iops / 1e9 / m.in_flight.unwrap();
        assert!((0.8..1.25).contains(&law), "{name}: {law}");
    }
    dir.assert_clean();
}

#[test]
fn a_cross_check_gives_a_ratio_for_each_workload() {
    if !has_fio("a_cross_check_gives_a_ratio_for_each_workload") {
        return;
    }
    let _lab = Lab::share();
    let dir = place();
    let output = dir.inside(&["--json", "--crosscheck", "fio", "--suite", "../pair.toml"]).output().unwrap();
    let record = record_of(&output);
    assert_eq!(record.crosscheck.len(), 2, "{:?}", record.crosscheck);
    for (check, m) in record.crosscheck.iter().zip(&record.measurements) {
        assert_eq!((check.workload.as_str(), check.peer.as_str()), (m.workload.name.as_str(), "fio"));
        assert_eq!(check.trouble, None);
        assert_ne!(m.engine, "fio", "the measurement is assay's own");
        assert_eq!(check.pairs.iter().map(|p| p.peer_first).collect::<Vec<_>>(), [false, true]);
        let ours: Vec<f64> = check.pairs.iter().map(|p| p.ours.iops).collect();
        assert_eq!(ours, m.repeats.iter().map(|r| r.iops).collect::<Vec<_>>());
        let ratio = check.ratio.as_ref().unwrap();
        let product: f64 = check.pairs.iter().map(|p| p.ours.iops / p.theirs.iops).product();
        assert!((ratio.point / product.sqrt() - 1.0).abs() < 1e-9 && ratio.n == 2, "{ratio:?}");
    }
    assert!(
        record.settings().unwrap().written_bytes <= record.settings().unwrap().max_write_bytes,
        "both share one limit"
    );
    let card = String::from_utf8_lossy(&output.stderr);
    assert!(card.contains("assay over fio"), "{card}");
    dir.assert_clean();
}

#[test]
fn a_job_file_is_run_or_refused_with_its_line() {
    let _lab = Lab::share();
    let dir = place();
    let job = "[global]\nsize=4m\ndirect=1\nruntime=200ms\ntime_based\n[r]\nrw=randread\nbs=4k\n";
    std::fs::write(dir.path().join("job.fio"), job).unwrap();
    for arguments in [["--json", "../job.fio"].as_slice(), &["--json", "--suite", "../job.fio", "."]] {
        let record = record_of(&dir.inside(arguments).output().unwrap());
        assert_eq!((record.suite.name.as_str(), record.measurements.len()), ("job", 1));
        assert_eq!(record.measurements[0].workload.block_bytes, 4096);
    }
    std::fs::write(dir.path().join("job.fio"), format!("{job}zonemode=zbd\n")).unwrap();
    let output = dir.inside(&["../job.fio"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("job.fio:9: option `zonemode` does not map") && words.lines().count() == 1, "{words}");
    dir.assert_clean();
}

#[test]
fn a_job_file_is_run_where_it_says() {
    let _lab = Lab::share();
    let dir = place();
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let job = |place: &str| {
        let text = format!("[global]\nsize=4m\nbs=4k\nruntime=300ms\ntime_based\n{place}\n[a]\nrw=randread\n");
        std::fs::write(dir.path().join("job.fio"), text).unwrap();
    };
    let measured = |arguments: &[&str]| {
        let path = record_of(&dir.inside(arguments).output().unwrap()).medium.path;
        std::fs::canonicalize(path).unwrap()
    };
    for place in ["directory=../other".to_owned(), format!("filename={}/x", other.display())] {
        job(&place);
        for arguments in [["--json", "../job.fio"].as_slice(), &["--json", "--suite", "../job.fio"]] {
            assert_eq!(measured(arguments), std::fs::canonicalize(&other).unwrap(), "{place}");
        }
    }
    let named = ["--json", "--suite", "../job.fio", "../medium"];
    assert_eq!(
        measured(&named),
        std::fs::canonicalize(dir.path().join("medium")).unwrap(),
        "the command line goes first"
    );
    assert!(std::fs::read_dir(&other).unwrap().next().is_none(), "the file of filename= is not made");
    // A device needs --raw, as on the command line; what is not there is refused, and nothing else is measured.
    for (place, code, words) in
        [("directory=/no/such", 2, "/no/such"), ("filename=/dev/no-such-device", 2, "no-such-device")]
    {
        job(place);
        let output = dir.inside(&["../job.fio"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words) && said.lines().count() == 1, "{said}");
    }
    dir.assert_clean();
}

#[test]
fn without_fio_one_line_says_so() {
    let dir = place();
    for arguments in [["--engine", "fio"], ["--crosscheck", "fio"]] {
        let output = dir.inside(&arguments).env("PATH", dir.path()).output().unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}");
        assert!(words.contains("fio is not installed") && words.lines().count() == 1, "{words}");
    }
    let output = dir.inside(&["--engine", "fio", "--crosscheck", "fio"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Process ids of the children of `parent`.
fn children(parent: u32) -> Vec<u32> {
    let path = format!("/proc/{parent}/task/{parent}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// Starts a long run by fio and waits until fio itself is there.
fn while_fio_runs(dir: &Place, signal: Signal) -> Option<i32> {
    let suite = SUITE.replace("500ms", "50s").replace("12s", "500s");
    dir.file("long.toml", suite);
    let mut child = dir
        .inside(&["--engine", "fio", "--suite", "../long.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_fio = |id: &u32| std::fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|c| c.trim() == "fio");
    let start = Instant::now();
    let fio = loop {
        assert!(start.elapsed() < Duration::from_secs(60), "fio never came");
        // The process that was started waits for the one that measures.
        let workers = children(child.id());
        if let Some(id) = workers.into_iter().flat_map(children).find(is_fio) {
            break id;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), signal).unwrap();
    let status = child.wait().unwrap();
    let start = Instant::now();
    while is_fio(&fio) {
        assert!(start.elapsed() < Duration::from_secs(30), "fio lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
    status.code()
}

#[test]
fn an_interrupt_ends_fio_too_and_nothing_is_left() {
    if !has_fio("an_interrupt_ends_fio_too_and_nothing_is_left") {
        return;
    }
    let _lab = Lab::share();
    let dir = place();
    assert_eq!(while_fio_runs(&dir, Signal::INT), Some(130));
    dir.assert_clean();
}

#[test]
fn fio_does_not_outlive_a_killed_assay() {
    if !has_fio("fio_does_not_outlive_a_killed_assay") {
        return;
    }
    let _lab = Lab::share();
    let dir = place();
    assert_eq!(while_fio_runs(&dir, Signal::KILL), None);
}
