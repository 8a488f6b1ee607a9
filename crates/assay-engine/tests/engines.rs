//! The engines against real files of this machine.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::workload::{Op, Pattern, Stop, Workload};
use assay_engine::{
    ASYNCHRONOUS, Availability, Control, DirectSupport, EngineKind, LiveSample, RepeatSpec, RepeatTrouble, Target,
    direct_support, probe, probe_poll, run_repeat,
};

const MIB: u64 = 1 << 20;

fn workload(op: Op, pattern: Pattern, block: u64, depth: u32, jobs: u32) -> Workload {
    Workload {
        read_percent: (op == Op::Mixed).then_some(70),
        queue_depth: depth,
        jobs,
        span_bytes: 8 * MIB,
        stop: Stop { ramp_ns: 20_000_000, duration_ns: 150_000_000, max_bytes: None },
        ..Workload::new("t", op, pattern, block)
    }
}

/// Watches and lets it go on.
fn go_on(_: &LiveSample) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn spec(workload: Workload, target: Option<Arc<Target>>) -> RepeatSpec {
    RepeatSpec {
        workload,
        target,
        seed: 42,
        repeat: 0,
        repeats: 3,
        hang_after: Duration::from_secs(10),
        sample_every: Duration::from_millis(50),
        wait_for: None,
        begin_at_ns: None,
    }
}

/// A written-out file on the file system of the build directory, opened for direct I/O where it can.
fn file(dir: &Path) -> Arc<Target> {
    let path = dir.join("data");
    let mut content = vec![0u8; 8 * MIB as usize];
    assay_engine::fill_unique(&mut content, 9, 0);
    std::fs::write(&path, &content).unwrap();
    let direct = matches!(direct_support(&path, None), DirectSupport::Yes { .. });
    if !direct {
        eprintln!("SKIP: direct I/O is not possible in {}; cached I/O is tested", dir.display());
    }
    let target = Target::existing(&path, direct, true).unwrap();
    target.sync().unwrap();
    Arc::new(target)
}

fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn engines() -> Vec<EngineKind> {
    let mut engines = vec![EngineKind::Sync];
    let asynchronous = ASYNCHRONOUS;
    match probe(asynchronous) {
        Availability::Yes(_) => engines.push(asynchronous),
        Availability::No(reason) => eprintln!("SKIP: {asynchronous}: {reason}"),
    }
    engines
}

#[test]
fn every_engine_moves_bytes_and_its_figures_agree_with_each_other() {
    let dir = directory();
    let target = file(dir.path());
    for engine in engines() {
        for (op, pattern, block, depth, jobs) in [
            (Op::Read, Pattern::Random, 4096, 1, 1),
            (Op::Read, Pattern::Random, 4096, 8, 2),
            (Op::Write, Pattern::Random, 4096, 4, 1),
            (Op::Read, Pattern::Sequential, 128 * 1024, 4, 2),
            (Op::Mixed, Pattern::Random, 4096, 4, 1),
        ] {
            let w = workload(op, pattern, block, depth, jobs);
            let report = run_repeat(engine, &spec(w.clone(), Some(target.clone())), &Control::default(), &mut go_on);
            let what = format!("{engine} {}", w.title());
            assert_eq!(report.trouble, None, "{what}");
            assert!(report.operations > 0 && !report.whole, "{what}");
            assert_eq!(report.bytes, report.operations * block, "{what}");
            assert_eq!(report.histogram.total(), report.operations, "{what}");
            // Little's law as a run is judged by it: time spent by operations is time in flight, over the same
            // windows. Mean latency times rate is neither where the windows of the threads differ.
            let integral = report.window_ns as f64 * report.in_flight;
            let law = report.histogram.sum_ns() as f64 / integral;
            // An operation in flight at an edge of the window may have spent all of its time outside,
            // which shows where the disk of a busy host stalls.
            let longest = report.histogram.max().unwrap() as f64 * w.depth() as f64;
            let blur = longest / integral;
            assert!((law - 1.0).abs() < 0.1 + blur, "{what}: {law}, {blur}");
            assert!(report.in_flight <= w.depth() as f64 * 1.001, "{what}: {}", report.in_flight);
            let issued = report.read_bytes + report.written_bytes;
            assert!(issued >= report.bytes, "{what}");
            assert_eq!(report.durable_bytes_per_second.is_some(), op != Op::Read, "{what}");
            let sampled: u64 = report.samples.iter().map(|s| s.operations).sum();
            assert!(sampled * block <= issued && sampled > 0, "{what}: {sampled}");
            if op == Op::Mixed {
                let share = report.read_bytes as f64 / issued as f64;
                let error = (0.7f64 * 0.3 / (issued / block) as f64).sqrt();
                assert!((share - 0.7).abs() < 5.0 * error, "{what}: {share} read");
            }
        }
    }
}

#[test]
fn a_write_limit_is_kept_to_the_byte() {
    let dir = directory();
    let target = file(dir.path());
    for engine in engines() {
        let mut w = workload(Op::Write, Pattern::Sequential, 65_536, 4, 1);
        w.stop = Stop { ramp_ns: 0, duration_ns: 60_000_000_000, max_bytes: Some(2 * MIB) };
        let report = run_repeat(engine, &spec(w, Some(target.clone())), &Control::default(), &mut go_on);
        let depth_by_threads = if engine == EngineKind::Sync { 4 } else { 1 };
        assert!(report.written_bytes <= 2 * MIB, "{engine}: {}", report.written_bytes);
        assert!(report.written_bytes >= 2 * MIB - 65_536 * depth_by_threads, "{engine}: {}", report.written_bytes);
    }
}

#[test]
fn a_stop_ends_a_long_repeat_at_once_and_keeps_what_there_is() {
    let dir = directory();
    let target = file(dir.path());
    for engine in engines() {
        let mut w = workload(Op::Read, Pattern::Random, 4096, 4, 1);
        w.stop.duration_ns = 60_000_000_000;
        let control = Control::default();
        let other = control.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            other.stop();
        });
        let start = std::time::Instant::now();
        let report = run_repeat(engine, &spec(w, Some(target.clone())), &control, &mut go_on);
        assert!(start.elapsed() < Duration::from_secs(30), "{engine}");
        assert!(report.operations > 0, "{engine}");
    }
}

#[test]
fn whoever_watches_can_end_a_repeat_and_the_run_goes_on() {
    let dir = directory();
    let target = file(dir.path());
    for engine in engines() {
        let mut w = workload(Op::Read, Pattern::Random, 4096, 4, 1);
        w.stop.duration_ns = 60_000_000_000;
        let mut spec = spec(w, Some(target.clone()));
        spec.sample_every = Duration::from_millis(100);
        let control = Control::default();
        let mut seen = 0;
        let report = run_repeat(engine, &spec, &control, &mut |_| {
            seen += 1;
            // A second: the window may open as late as a quarter of one, at the end of a pause.
            if seen < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!((200_000_000..5_000_000_000).contains(&report.window_ns), "{engine}: {}", report.window_ns);
        assert!(report.operations > 0 && !report.whole && report.trouble.is_none(), "{engine}: {report:?}");
        assert!(!control.stopped(), "only this repeat was ended");
    }
}

#[test]
fn reading_past_the_end_is_an_error_with_its_place() {
    let dir = directory();
    let target = file(dir.path());
    for engine in engines() {
        let mut w = workload(Op::Read, Pattern::Sequential, MIB, 1, 1);
        w.span_bytes = 16 * MIB;
        let report = run_repeat(engine, &spec(w, Some(target.clone())), &Control::default(), &mut go_on);
        assert_eq!(report.trouble, Some(RepeatTrouble::Io { write: false, offset: 8 * MIB, errno: 0 }), "{engine}");
    }
}

#[test]
fn a_read_only_target_refuses_writes_as_an_io_error() {
    let dir = directory();
    drop(file(dir.path()));
    let target = Arc::new(Target::existing(&dir.path().join("data"), false, false).unwrap());
    let w = workload(Op::Write, Pattern::Random, 4096, 1, 1);
    let report = run_repeat(EngineKind::Sync, &spec(w, Some(target)), &Control::default(), &mut go_on);
    // EBADF; ERROR_ACCESS_DENIED.
    let number = if cfg!(windows) { 5 } else { 9 };
    assert!(
        matches!(report.trouble, Some(RepeatTrouble::Io { write: true, errno, .. }) if errno == number),
        "{:?}",
        report.trouble
    );
}

/// Block devices that can be opened here and whose queues can be polled.
fn polled_devices() -> Vec<Arc<Target>> {
    let all = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let polled = all.filter(|device| {
        std::fs::read_to_string(device.path().join("queue/io_poll")).is_ok_and(|text| text.trim() == "1")
    });
    let open =
        |device: std::fs::DirEntry| Target::existing(&Path::new("/dev").join(device.file_name()), true, false).ok();
    polled.filter_map(open).map(Arc::new).collect()
}

#[test]
fn completions_are_polled_for_where_a_device_has_queues_for_it() {
    let devices = polled_devices();
    if devices.is_empty() {
        eprintln!(
            "SKIP: completions_are_polled_for_where_a_device_has_queues_for_it: no device here has queues to poll"
        );
        return;
    }
    for target in devices {
        assert_eq!(probe_poll(&target, 4096), Ok(()));
        for (depth, wait_for) in [(1, Some(1)), (32, Some(1)), (32, Some(8))] {
            let load = Workload { poll: true, span_bytes: MIB, ..workload(Op::Read, Pattern::Random, 4096, depth, 1) };
            let spec = RepeatSpec { wait_for, ..spec(load, Some(target.clone())) };
            let report = run_repeat(EngineKind::Uring, &spec, &Control::default(), &mut go_on);
            assert!(report.trouble.is_none() && report.operations > 0, "QD{depth}: {report:?}");
        }
    }
}

/// The kernel says so of the first read, and nothing hangs or is taken for an error of the medium.
#[test]
fn where_completions_cannot_be_polled_for_a_first_read_tells() {
    let test = "where_completions_cannot_be_polled_for_a_first_read_tells";
    let dir = directory();
    let target = file(dir.path());
    if !target.direct() || !polled_devices().is_empty() || matches!(probe(EngineKind::Uring), Availability::No(_)) {
        eprintln!("SKIP: {test}: needs io_uring, direct I/O and no device whose queues can be polled");
        return;
    }
    let refused = probe_poll(&target, 4096).unwrap_err();
    assert!(refused.contains("no queue to poll"), "{refused}");
}

/// What a workload with these priorities comes to, by a thread that may not use the realtime class.
#[cfg(target_os = "linux")]
fn without_privileges(
    target: Arc<Target>,
    job: Option<&str>,
    shares: &str,
    engine: EngineKind,
) -> Option<RepeatTrouble> {
    use assay_core::priority::{Priorities, Priority};
    use assay_engine::probe_priority;
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let priorities = Priorities {
        job: job.map(|job| Priority::parse(job).unwrap()),
        shares: if shares.is_empty() { Vec::new() } else { Priorities::parse_shares(shares).unwrap() },
    };
    let load = Workload { priorities, ..workload(Op::Mixed, Pattern::Random, 4096, 4, 1) };
    let run = move || {
        let mut sets = capabilities(None).unwrap();
        sets.effective.remove(CapabilitySet::SYS_NICE | CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets).unwrap();
        assert!(probe_priority(Priority::parse("realtime").unwrap()).is_err());
        assert_eq!(probe_priority(Priority::parse("idle").unwrap()), Ok(()));
        run_repeat(engine, &spec(load, Some(target)), &Control::default(), &mut go_on)
    };
    let report = std::thread::spawn(run).join().unwrap();
    assert!(report.trouble.is_some() || report.operations > 0);
    report.trouble
}

/// The kernel refuses the realtime class to who may not use it, of a thread as of a single operation, which tells that the
/// priority reaches it with each of them.
#[cfg(target_os = "linux")]
#[test]
fn the_kernel_is_told_the_priorities_of_threads_and_of_single_operations() {
    let dir = directory();
    let target = file(dir.path());
    let run = |job, shares, engine| without_privileges(target.clone(), job, shares, engine);
    assert_eq!(run(Some("idle"), "", EngineKind::Sync), None);
    assert!(
        matches!(run(Some("realtime"), "", EngineKind::Sync), Some(RepeatTrouble::Setup(why)) if why.contains("priority"))
    );
    if matches!(probe(EngineKind::Uring), Availability::No(_)) {
        eprintln!(
            "SKIP: the_kernel_is_told_the_priorities_of_threads_and_of_single_operations: single operations need io_uring"
        );
        return;
    }
    assert_eq!(run(Some("best-effort/7"), "20 % idle, 30 % best-effort/1", EngineKind::Uring), None);
    let (eperm, uring) = (1, EngineKind::Uring);
    for (shares, write) in [("100 % of reads realtime", false), ("100 % of writes realtime/3", true)] {
        let trouble = run(None, shares, uring);
        assert!(
            matches!(trouble, Some(RepeatTrouble::Io { write: of, errno, .. }) if (of, errno) == (write, eperm)),
            "{shares}: {trouble:?}"
        );
    }
}
