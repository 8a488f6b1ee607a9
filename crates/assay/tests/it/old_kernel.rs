//! Old kernels, as strace makes one of this: calls that came after Linux 3.17 are answered as one that does not have them.

use std::ffi::OsStr;
use std::process::Command;

use assay_lab::{Missing, skip};

use crate::common::{Place, is_installed, run, tiny_at_leisure};
use crate::foreign::foreign;
use serde_json::Value;

/// What the program, the standard library or the C library tries and can do without (versions: man-pages syscalls(2)):
/// memfd_create 3.17, execveat 3.19, membarrier 4.3, mlock2 4.4, copy_file_range 4.5, preadv2 and pwritev2 4.6, statx 4.11,
/// rseq 4.18, io_uring 5.1, pidfd_open and clone3 5.3, openat2 5.6, faccessat2 5.8, close_range 5.9.
const NEWER: &str = "memfd_create,execveat,membarrier,mlock2,copy_file_range,preadv2,pwritev2,statx,rseq,io_uring_setup,\
                     pidfd_open,clone3,openat2,faccessat2,close_range";

/// Those with times of 64 bits, which systems of 32 bits have since Linux 5.1 (kernel arch/x86/entry/syscalls/syscall_32.tbl, 403 to
/// 423).
const WIDE_TIMES: &str = "clock_gettime64,clock_settime64,clock_adjtime64,clock_getres_time64,clock_nanosleep_time64,\
                          timer_gettime64,timer_settime64,timerfd_gettime64,timerfd_settime64,utimensat_time64,\
                          pselect6_time64,ppoll_time64,io_pgetevents_time64,recvmmsg_time64,semtimedop_time64,\
                          rt_sigtimedwait_time64,futex_time64,sched_rr_get_interval_time64";

/// `assay` with these arguments on such a kernel.
fn on_an_old_kernel(place: &Place, arguments: &[&str]) -> Command {
    let assay = place.assay(arguments);
    refused(place, NEWER, assay.get_program(), arguments)
}

/// A program with these arguments on a kernel without `calls`.
fn refused(place: &Place, calls: &str, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "calls", "-e", &format!("inject={calls}:error=ENOSYS")]);
    command.arg(program).args(arguments);
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

/// Whether a program is one of 32 bits: EI_CLASS of its ELF header (System V ABI, chapter 4).
fn is_of_32_bits(program: &str) -> bool {
    std::fs::read(program).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF\x01"))
}

#[test]
fn a_foreign_program_of_32_bits_without_times_of_64_measures_and_checks() {
    const TEST: &str = "a_foreign_program_of_32_bits_without_times_of_64_measures_and_checks";
    let programs = foreign(TEST);
    if programs.is_empty() || !can_refuse(TEST) {
        return;
    }
    // Of a program under an emulator strace sees the calls of the emulator.
    let mut narrow = programs.iter().filter(|words| words.len() == 1 && is_of_32_bits(&words[0])).peekable();
    if narrow.peek().is_none() {
        return skip(
            TEST,
            &Missing("needs a program of 32 bits for this processor: make foreign TARGETS=i686".to_owned()),
        );
    }
    for program in narrow {
        let place = Place::new();
        place.file("tiny.toml", tiny_at_leisure());
        let calls = format!("{NEWER},{WIDE_TIMES}");
        let measure = ["run", "--json", "--suite", "tiny.toml", "medium"];
        let done = run(refused(&place, &calls, &program[0], &measure));
        let record: Value = serde_json::from_str(&done.measures().stdout).unwrap();
        // The clock is read without a call where the kernel maps its code (vDSO); docs/platforms.md has what was seen without.
        for call in ["futex_time64", "statx"] {
            assert_refused(&place, call);
        }
        assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
        let taken = record["settings"]["elapsed_ns"].as_u64().unwrap();
        assert!((500_000_000..60_000_000_000).contains(&taken), "the clock runs as ever: {taken} ns");
        let check = ["verify", "--json", "--bytes", "8MiB", "medium"];
        let done = run(refused(&place, &calls, &program[0], &check));
        let record: Value = serde_json::from_str(&done.succeeds().stdout).unwrap();
        assert_refused(&place, "futex_time64");
        assert_eq!(record["outcome"]["state"], "completed", "{}", record["outcome"]);
        place.assert_clean();
    }
}
