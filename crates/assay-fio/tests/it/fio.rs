//! fio itself, on a file in a temporary directory.

use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::suite::Suite;
use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};
use assay_engine::{Control, LiveSample, RepeatReport, RepeatSpec, RepeatTrouble, Target, fill_unique};
use assay_fio::{Fio, job_file, run_repeat};

fn fio(test: &str) -> Option<Fio> {
    Fio::find().inspect_err(|why| eprintln!("SKIP: {test}: {why}")).ok()
}

fn target(directory: &Path, bytes: usize, direct: bool) -> Arc<Target> {
    let path = directory.join("data: odd, [name]");
    let mut data = vec![0; bytes];
    fill_unique(&mut data, 7, 0);
    std::fs::write(&path, &data).unwrap();
    Arc::new(Target::existing(&path, direct, true).or_else(|_| Target::existing(&path, false, true)).unwrap())
}

fn workload(op: Op, pattern: Pattern, target: &Target) -> Workload {
    Workload {
        read_percent: (op == Op::Mixed).then_some(70),
        queue_depth: 4,
        jobs: 2,
        span_bytes: 8 << 20,
        direct: target.direct(),
        stop: Stop { ramp_ns: 100_000_000, duration_ns: 400_000_000, max_bytes: None },
        ..Workload::new("w", op, pattern, 4096)
    }
}

fn spec(workload: Workload, target: &Arc<Target>) -> RepeatSpec {
    RepeatSpec {
        workload,
        target: Some(Arc::clone(target)),
        seed: 1,
        repeat: 0,
        repeats: 1,
        hang_after: Duration::from_secs(30),
        sample_every: Duration::from_millis(100),
        wait_for: None,
        begin_at_ns: None,
    }
}

fn run(fio: &Fio, workload: Workload, target: &Arc<Target>) -> RepeatReport {
    run_repeat(Some(fio), &spec(workload, target), &Control::default(), &mut |_| ControlFlow::Continue(()))
}

/// Whether fio measures by now, which on a busy machine begins late: it moved bytes in eight intervals, or ten seconds
/// went by where the kernel counts none (tmpfs).
fn measures(sample: &LiveSample, moved: &mut u32, start: Instant) -> bool {
    *moved += u32::from(sample.bytes > 0);
    *moved >= 8 || start.elapsed() > Duration::from_secs(10)
}

#[test]
fn every_kind_of_workload_gives_figures_that_agree_with_each_other() {
    let Some(fio) = fio("every_kind_of_workload_gives_figures_that_agree_with_each_other") else { return };
    let directory = tempfile::tempdir().unwrap();
    let target = target(directory.path(), 8 << 20, true);
    for (op, pattern, sync) in [
        (Op::Read, Pattern::Random, Sync::End),
        (Op::Read, Pattern::Sequential, Sync::End),
        (Op::Write, Pattern::Sequential, Sync::End),
        (Op::Mixed, Pattern::Random, Sync::End),
        (Op::Write, Pattern::Random, Sync::Fsync),
    ] {
        let w = Workload { sync, ..workload(op, pattern, &target) };
        let title = w.title();
        let report = run(&fio, w.clone(), &target);
        assert_eq!(report.trouble, None, "{title}");
        assert!(report.operations > 0 && report.iops > 0.0, "{title}: {report:?}");
        let rate = report.bytes_per_second / report.iops;
        assert!((rate / 4096.0 - 1.0).abs() < 0.02, "{title}: {rate} bytes an operation");
        assert!(report.histogram.quantile(0.99) >= report.histogram.quantile(0.5), "{title}");
        assert!(report.in_flight > 0.1 && report.in_flight <= 8.0, "{title}: {}", report.in_flight);
        assert!(report.read_bytes + report.written_bytes >= report.bytes, "{title}: the warm-up counts as issued");
        assert_eq!(report.durable_bytes_per_second.is_some(), op != Op::Read, "{title}");
        assert_eq!((report.read_bytes > 0, report.written_bytes > 0), (op != Op::Write, op != Op::Read), "{title}");
        // Its end is late on a busy machine.
        let window = report.window_ns as f64 / 4e8;
        assert!((0.4..5.0).contains(&window), "{title}: {} ns", report.window_ns);
    }
}

#[test]
fn a_limit_of_bytes_is_kept_warm_up_included() {
    let Some(fio) = fio("a_limit_of_bytes_is_kept_warm_up_included") else { return };
    let directory = tempfile::tempdir().unwrap();
    let target = target(directory.path(), 8 << 20, true);
    let mut w = workload(Op::Write, Pattern::Random, &target);
    w.stop.max_bytes = Some(1 << 20);
    w.stop.duration_ns = 20_000_000_000;
    let report = run(&fio, w, &target);
    assert_eq!(report.trouble, None);
    assert!(report.written_bytes > 1 << 18 && report.written_bytes <= 1 << 20, "{}", report.written_bytes);
}

#[test]
fn an_interrupt_ends_fio_soon_and_keeps_what_it_counted() {
    let Some(fio) = fio("an_interrupt_ends_fio_soon_and_keeps_what_it_counted") else { return };
    let directory = tempfile::tempdir().unwrap();
    let target = target(directory.path(), 8 << 20, true);
    let mut w = workload(Op::Read, Pattern::Random, &target);
    w.stop.duration_ns = 120_000_000_000;
    let control = Control::default();
    let stopper = control.clone();
    let mut moved = 0;
    let start = Instant::now();
    let report = run_repeat(Some(&fio), &spec(w, &target), &control, &mut |sample| {
        if measures(sample, &mut moved, start) {
            stopper.stop();
        }
        ControlFlow::Continue(())
    });
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(report.trouble, None, "an interrupt is no trouble of the medium");
    assert!(report.operations > 0, "{report:?}");
}

#[test]
fn whoever_has_seen_enough_ends_the_repeat() {
    let Some(fio) = fio("whoever_has_seen_enough_ends_the_repeat") else { return };
    let directory = tempfile::tempdir().unwrap();
    let target = target(directory.path(), 8 << 20, true);
    let mut w = workload(Op::Read, Pattern::Random, &target);
    w.stop.duration_ns = 120_000_000_000;
    let mut moved = 0;
    let start = Instant::now();
    let report = run_repeat(Some(&fio), &spec(w, &target), &Control::default(), &mut |sample| {
        if measures(sample, &mut moved, start) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(report.trouble.is_none() && report.operations > 0, "{report:?}");
}

#[test]
fn fios_own_words_say_what_is_wrong() {
    let Some(fio) = fio("fios_own_words_say_what_is_wrong") else { return };
    let directory = tempfile::tempdir().unwrap();
    let target = target(directory.path(), 8 << 20, false);
    // Direct I/O of 512-byte-aligned lengths is possible on hardly any file system at 100 bytes.
    let w = Workload { block_bytes: 100, direct: true, ..workload(Op::Read, Pattern::Random, &target) };
    match run(&fio, w, &target).trouble {
        Some(RepeatTrouble::Peer(words)) => assert!(words.starts_with("fio-") && !words.contains('\n'), "{words}"),
        Some(RepeatTrouble::Io { errno, .. }) => assert_ne!(errno, 0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_exported_suite_runs_under_fio_unchanged() {
    if fio("an_exported_suite_runs_under_fio_unchanged").is_none() {
        return;
    }
    let path = format!("{}/../../suites/quick.toml", env!("CARGO_MANIFEST_DIR"));
    let mut suite = Suite::parse(&std::fs::read_to_string(&path).unwrap(), &path).unwrap();
    // Only for speed: sizes and times are no part of the format.
    suite.repeats = 1;
    suite.span.0 = 16 << 20;
    suite.budget = Duration::from_secs(1);
    suite.workloads.iter_mut().for_each(|w| w.duration = Some(Duration::from_millis(100)));
    suite.workloads[0].jobs = 2;
    let text = job_file(&suite).replace("ramp_time=500ms", "ramp_time=10ms");
    let directory = tempfile::tempdir().unwrap();
    let on_tmpfs = Target::create(&directory.path().join("probe"), true).is_err();
    let text = if on_tmpfs { text.replace("direct=1", "direct=0") } else { text };
    std::fs::write(directory.path().join("quick.fio"), &text).unwrap();
    let output =
        Command::new("fio").args(["--output-format=json", "quick.fio"]).current_dir(directory.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && err.is_empty(), "{err}");
    for w in &suite.workloads {
        assert!(out.contains(&format!("\"jobname\" : \"{}-1\"", w.name)), "{}: {out}", w.name);
    }
}
