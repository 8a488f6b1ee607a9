//! Processors of jobs and polled completions: kept in the record and told, or refused in a line before anything is done.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::common::{Place, random, run, suite};
use assay_core::record::Record;
use assay_lab::{FilledDevice, Lab, Missing, skip};

/// The processors that this process may use, as the kernel lists them, and the first of them.
fn allowed() -> (String, u32) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
    let first = list.split([',', '-']).next().unwrap().parse().unwrap();
    (list, first)
}

#[test]
fn threads_run_on_the_processors_that_were_named_and_all_faces_say_so() {
    let place = Place::new();
    let (_, first) = allowed();
    let cpus = first.to_string();
    let record = place.measured_with(&["--cpus", &cpus, "--engine", "sync", "--budget", "30s"]);
    assert!(record.measurements.iter().all(|m| m.workload.cpus.numbers() == [first]), "{:?}", record.measurements);
    assert!(
        record.settings().unwrap().suite_text.contains(&format!("cpus = \"{first}\"")),
        "{}",
        record.settings().unwrap().suite_text
    );
    let words = format!("one processor a thread of {first}");
    assert!(run(place.assay(["show", "last"])).succeeds().stdout.contains(&words));
    for file in ["card.html", "card.md"] {
        run(place.assay(["report", "-o", file])).succeeds();
        assert!(fs::read_to_string(place.path().join(file)).unwrap().contains(&words), "{file}");
    }
    // A run beside it that was done as ever is compared with it, and what is different is named.
    let plain = place.measured_with(&["--engine", "sync", "--budget", "30s"]);
    assert!(plain.measurements.iter().all(|m| m.workload.cpus.is_empty()));
    let compared = run(place.assay(["compare", &plain.id, &record.id])).stdout;
    assert!(compared.replace('\n', " ").contains("different settings"), "{compared}");
}

#[test]
fn a_processor_that_this_process_may_not_use_is_refused() {
    let place = Place::new();
    let (list, _) = allowed();
    run(place.assay(["run", "--cpus", "8000", "--suite", "tiny.toml", "medium"]))
        .refuses(2, &["processor 8000", &list, "--cpus"])
        .at_once();
    run(place.assay(["run", "--cpus", "3-1", "medium"])).refuses(2, &["`3-1`", "0-3,7"]).at_once();
    place.assert_clean();
}

/// What the disk under a path says of queues that can be polled; `None` where it has no disk of its own.
fn io_poll(path: &Path) -> Option<bool> {
    let device = fs::metadata(path).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let node = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let disk = if node.join("partition").exists() { node.parent()?.to_owned() } else { node };
    Some(fs::read_to_string(disk.join("queue/io_poll")).ok()?.trim() == "1")
}

#[test]
fn completions_are_polled_for_where_that_was_asked_for_and_can_be() {
    let test = "completions_are_polled_for_where_that_was_asked_for_and_can_be";
    let place = Place::new();
    if io_poll(&place.medium()) != Some(true) {
        return skip(test, &Missing("needs a disk whose queues can be polled (queue/io_poll is 1)".to_owned()));
    }
    let record: Record = place.measured_with(&["--poll"]);
    assert!(record.measurements.iter().all(|m| m.workload.poll && m.engine == "uring"), "{:?}", record.measurements);
    assert!(run(place.assay(["show", "last"])).succeeds().stdout.contains("completions polled"));
}

#[test]
fn a_device_without_queues_to_poll_is_refused_before_anything_is_done() {
    let test = "a_device_without_queues_to_poll_is_refused_before_anything_is_done";
    let place = Place::new();
    let _lab = match Lab::share() {
        Ok(lab) => lab,
        Err(missing) => return skip(test, &missing),
    };
    let device = match FilledDevice::new(32 << 20) {
        Ok(device) => device,
        Err(missing) => return skip(test, &missing),
    };
    let path = device.path().to_str().unwrap();
    let name = path.rsplit('/').next().unwrap();
    run(place.assay(["run", "--raw", "--poll", "--suite", "read-only", path]))
        .refuses(
            4,
            &["completions cannot be polled for", path, &format!("/sys/block/{name}/queue/io_poll is 0"), "--poll"],
        )
        .at_once();
    // By the key of a suite as by the option.
    place.file("polled.toml", suite("t", "2s", 1, &[random("r", "read", "200ms") + "poll = true\n"]));
    run(place.assay(["run", "--raw", "--suite", "polled.toml", path])).refuses(4, &["io_poll is 0"]).at_once();
    assert!(!place.store().exists());
}

#[test]
fn what_cannot_poll_is_refused() {
    let place = Place::new();
    place.file("polled.toml", suite("t", "2s", 1, &[random("r", "read", "200ms") + "poll = true\n"]));
    run(place.assay(["run", "--engine", "sync", "--suite", "polled.toml", "medium"]))
        .refuses(2, &["workload `r`", "engine uring alone", "--poll"])
        .at_once();
    place.file("synced.toml", suite("t", "2s", 1, &[random("w", "write", "200ms") + "sync = \"fsync\"\n"]));
    run(place.assay(["run", "--poll", "--suite", "synced.toml", "medium"]))
        .refuses(2, &["no workload of direct I/O", "--poll"])
        .at_once();
    // Nothing reaches a medium, and nothing is polled for.
    run(place.assay(["run", "--engine", "null", "--suite", "polled.toml", "medium"])).measures();
    place.assert_clean();
}
