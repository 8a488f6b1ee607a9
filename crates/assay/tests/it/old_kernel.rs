//! Old kernels, as strace makes one of this: calls that came after Linux 3.17 are answered as one that does not have them.

use std::process::Command;

use assay_lab::{Missing, skip};

use crate::common::{Place, is_installed, run, tiny_at_leisure};
use serde_json::Value;

/// What the program, the standard library or the C library tries and can do without (versions: man-pages syscalls(2)):
/// memfd_create 3.17, execveat 3.19, membarrier 4.3, mlock2 4.4, copy_file_range 4.5, preadv2 and pwritev2 4.6, statx 4.11,
/// rseq 4.18, io_uring 5.1, pidfd_open and clone3 5.3, openat2 5.6, faccessat2 5.8, close_range 5.9.
const NEWER: &str = "memfd_create,execveat,membarrier,mlock2,copy_file_range,preadv2,pwritev2,statx,rseq,io_uring_setup,\
                     pidfd_open,clone3,openat2,faccessat2,close_range";

/// `assay` with these arguments on such a kernel.
fn on_an_old_kernel(place: &Place, arguments: &[&str]) -> Command {
    let assay = place.assay(arguments);
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "calls", "-e", &format!("inject={NEWER}:error=ENOSYS")]);
    command.arg(assay.get_program()).args(assay.get_args());
    place.at_home(&mut command);
    command
}

/// Whether strace may trace here and refuse calls; containers often forbid it.
fn can_refuse(test: &str) -> bool {
    if !is_installed("strace", test) {
        return false;
    }
    let mut tried = Command::new("strace");
    tried.args(["-f", "-o", "/dev/null", "-e", "inject=statx:error=ENOSYS", "true"]);
    let may = tried.output().is_ok_and(|output| output.status.success());
    if !may {
        skip(test, &Missing("strace may not trace here".to_owned()));
    }
    may
}

/// That it was refused something, or nothing was tested.
#[track_caller]
fn assert_refused(place: &Place, call: &str) {
    let calls = std::fs::read_to_string(place.path().join("calls")).unwrap();
    let refused = calls.lines().any(|line| line.contains(call) && line.contains("(INJECTED)"));
    assert!(refused, "{call} was not asked for");
}

#[test]
fn a_kernel_without_io_uring_and_statx_measures_by_what_it_has_and_says_so() {
    const TEST: &str = "a_kernel_without_io_uring_and_statx_measures_by_what_it_has_and_says_so";
    if !can_refuse(TEST) {
        return;
    }
    let place = Place::new();
    place.file("tiny.toml", tiny_at_leisure());
    let done = run(on_an_old_kernel(&place, &["run", "--json", "--suite", "tiny.toml", "medium"]));
    let record: Value = serde_json::from_str(&done.measures().stdout).unwrap();
    assert_refused(&place, "io_uring_setup");
    assert_refused(&place, "statx");
    assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
    assert_eq!(record["tool"]["engine"], "sync");
    assert!(record["tool"]["engine_reason"].as_str().unwrap().contains("no io_uring"), "{}", record["tool"]);
    let source = &record["settings"]["direct_source"];
    assert!(!source.as_str().unwrap().contains("statx"), "{source}");
    place.assert_clean();
}

#[test]
fn a_check_on_such_a_kernel_finds_a_genuine_medium_genuine() {
    const TEST: &str = "a_check_on_such_a_kernel_finds_a_genuine_medium_genuine";
    if !can_refuse(TEST) {
        return;
    }
    let place = Place::new();
    let done = run(on_an_old_kernel(&place, &["verify", "--json", "--bytes", "8MiB", "medium"]));
    let record: Value = serde_json::from_str(&done.succeeds().stdout).unwrap();
    assert_refused(&place, "statx");
    assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
    place.assert_clean();
}
