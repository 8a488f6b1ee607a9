//! Priorities of operations: kept in the record and shown, or refused in a line before anything is done.

use std::fs;
use std::process::Command;

use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_engine::{Availability, EngineKind, probe};
use assay_lab::{FilledDevice, Lab, Missing, skip};

use crate::common::{Place, as_nobody, is_installed, is_root, nobody_can_run, random, run, suite};

/// A suite of one workload of random reads, four in flight, with these lines.
fn place(more: &str) -> Place {
    let place = Place::new();
    let reads = random("r", "read", "300ms") + "queue_depth = 4\n" + more;
    place.file("priorities.toml", suite("t", "6s", 1, &[reads]));
    place
}

fn measured(place: &Place, arguments: &[&str]) -> Record {
    let mut command = place.assay(["run", "--json", "--suite", "priorities.toml"]);
    command.args(arguments);
    serde_json::from_str(&run(command).measures().stdout).unwrap()
}

fn has_io_uring(test: &str) -> bool {
    match probe(EngineKind::Uring) {
        Availability::Yes(_) => true,
        Availability::No(reason) => {
            skip(test, &Missing(reason));
            false
        }
    }
}

#[test]
fn priorities_are_a_part_of_the_load_and_all_faces_say_so() {
    if !has_io_uring("priorities_are_a_part_of_the_load_and_all_faces_say_so") {
        return;
    }
    let place = place("priority = \"idle\"\npriority_shares = \"20 % best-effort/7\"\n");
    let record = measured(&place, &["medium"]);
    let load = &record.measurements[0];
    assert_eq!((load.engine.as_str(), load.workload.priorities.all().count()), ("uring", 2));
    // A note says that the latencies of the two are one histogram.
    let together = load.warnings.iter().any(|warning| warning.finding == Finding::SeveralPriorities);
    assert!(together, "{:?}", load.warnings);
    let words = "priority idle, 20 % best-effort/7";
    let shown = run(place.assay(["show", "last"])).succeeds().stdout.clone();
    assert!(shown.contains(words) && shown.contains("all priorities together"), "{shown}");
    for file in ["card.html", "card.md"] {
        run(place.assay(["report", "-o", file])).succeeds();
        // On a page a number stays with its unit.
        let text = fs::read_to_string(place.path().join(file)).unwrap().replace('\u{a0}', " ");
        assert!(text.contains(words), "{file}");
    }
    // The same load without them is another one.
    place.file("priorities.toml", suite("t", "6s", 1, &[random("r", "read", "300ms") + "queue_depth = 4\n"]));
    let plain = measured(&place, &["medium"]);
    let compared = run(place.assay(["compare", &plain.id, &record.id]));
    assert!(!compared.stdout.contains("faster") && !compared.stdout.contains("same"), "{}", compared.stdout);
    place.assert_clean();
}

/// As root, on a device: reads when no other process uses it.
#[test]
fn a_device_is_read_with_idle_priority() {
    let test = "a_device_is_read_with_idle_priority";
    let place = place("priority = \"idle\"\n");
    if !is_root() {
        return skip(test, &Missing("needs root".to_owned()));
    }
    let _lab = match Lab::share() {
        Ok(lab) => lab,
        Err(missing) => return skip(test, &missing),
    };
    let device = match FilledDevice::new(32 << 20) {
        Ok(device) => device,
        Err(missing) => return skip(test, &missing),
    };
    let record = measured(&place, &["--raw", device.path().to_str().unwrap()]);
    let load = &record.measurements[0];
    assert_eq!(load.workload.title(), "random read 4 KiB, QD4, priority idle");
    assert!(load.repeats[0].operations > 0 && load.warnings.iter().all(|w| w.finding != Finding::SeveralPriorities));
}

/// It is the environment that lacks a right, and no medium that failed.
#[test]
fn the_realtime_class_is_refused_to_who_may_not_use_it() {
    let test = "the_realtime_class_is_refused_to_who_may_not_use_it";
    for lines in ["priority = \"realtime\"\n", "priority_shares = \"20 % realtime/3\"\n"] {
        let place = place(lines);
        if !nobody_can_run(test, &place) || (lines.contains("shares") && !has_io_uring(test)) {
            return;
        }
        let command = place.assay(["run", "--suite", "priorities.toml", "medium"]);
        run(as_nobody(command)).refuses(4, &["workload `r`", "priority realtime", "CAP_SYS_NICE"]).at_once();
        assert!(!place.store().exists());
        place.assert_clean();
    }
}

#[test]
fn shares_are_refused_where_no_engine_has_them() {
    let place = place("priority_shares = \"20 % idle\"\n");
    run(place.assay(["run", "--engine", "sync", "--suite", "priorities.toml", "medium"]))
        .refuses(2, &["workload `r`", "priority_shares", "io_uring", "--engine auto"])
        .at_once();
    // Nothing reaches a medium, and nothing has a priority.
    run(place.assay(["run", "--engine", "null", "--suite", "priorities.toml", "medium"])).measures();
    place.assert_clean();
}

/// fio gets the same priorities, as engine and as a peer, and takes what is exported.
#[test]
fn fio_runs_the_same_priorities() {
    let test = "fio_runs_the_same_priorities";
    if !is_installed("fio", test) || !has_io_uring(test) {
        return;
    }
    let place = place("priority = \"idle\"\npriority_shares = \"20 % best-effort/7\"\n");
    let record = measured(&place, &["--crosscheck", "fio", "medium"]);
    assert_eq!(record.crosscheck.len(), 1, "{:?}", record.crosscheck);
    let by_fio = measured(&place, &["--engine", "fio", "medium"]);
    assert_eq!(by_fio.measurements[0].workload.priorities, record.measurements[0].workload.priorities);
    let exported =
        run(place.assay(["suite", "export", "priorities.toml", "--format", "fio"])).succeeds().stdout.clone();
    assert!(exported.contains("prioclass=3\nprio=0\ncmdprio_percentage=20,20\n"), "{exported}");
    place.file("exported.ini", exported);
    let taken = Command::new("fio").args(["--parse-only", "exported.ini"]).current_dir(place.path()).output().unwrap();
    assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));
}
