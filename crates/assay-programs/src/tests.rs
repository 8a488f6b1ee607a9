//! Each program on a small size.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::program::{Program, Touch};
use assay_core::units::Bytes;
use assay_device::owned::Directory;
use assay_engine::Control;

use crate::work::{Trouble, Work};
use crate::{is_known, run};

/// A directory for files and what a program is given.
fn work(at: &tempfile::TempDir, time: Duration) -> Work {
    let place = Directory::open(at.path()).unwrap().make("files").unwrap();
    Work {
        place: Some(Arc::new(place)),
        control: Control::default(),
        beat: Arc::new(AtomicU64::new(0)),
        deadline: Instant::now() + time,
        seed: 7,
        counters: Box::new(|| None),
    }
}

fn small() -> Vec<(Program, &'static str)> {
    vec![
        (Program::Primes { below: 1000, threads: 2 }, "events/s"),
        (Program::Memory { op: Touch::Read, block: Bytes(4096), total: Bytes(1 << 20) }, "MiB/s"),
        (Program::Memory { op: Touch::Write, block: Bytes(4096), total: Bytes(1 << 20) }, "MiB/s"),
        (Program::Linpack { size: 20 }, "Mflop/s"),
        (Program::Stream { block: Bytes(8192), count: 50 }, "MB/s"),
    ]
}

#[test]
fn each_program_has_a_figure_and_leaves_nothing() {
    for (program, unit) in small() {
        let at = tempfile::tempdir().unwrap();
        let work = work(&at, Duration::from_millis(500));
        let done = run(&program, &work).unwrap();
        let figure = done.figures[0];
        assert!(figure.value > 0.0 && figure.value.is_finite() && figure.of.is_empty(), "{program}: {figure:?}");
        assert_eq!(figure.unit, unit, "{program}");
        assert!(done.timed.elapsed > Duration::ZERO && done.threads > 0 && work.beat.load(Ordering::Relaxed) > 0);
        assert_eq!(done.written_bytes > 0, program.writes(), "{program}");
        assert_eq!(std::fs::read_dir(at.path().join("files")).unwrap().count(), 0, "{program}");
    }
}

#[test]
fn each_program_ends_when_it_is_told_to_and_what_it_leaves_is_known() {
    for (program, _) in small() {
        let at = tempfile::tempdir().unwrap();
        let work = work(&at, Duration::from_secs(60));
        work.control.stop();
        assert!(matches!(run(&program, &work), Err(Trouble::Stopped)), "{program}");
        work.place.as_ref().unwrap().remove_tree(&is_known).unwrap();
        assert_eq!(std::fs::read_dir(at.path().join("files")).unwrap().count(), 0, "{program}");
    }
}

#[test]
fn without_a_directory_only_what_needs_no_files_runs() {
    for (program, _) in small() {
        let at = tempfile::tempdir().unwrap();
        let work = Work { place: None, ..work(&at, Duration::from_millis(100)) };
        assert_eq!(run(&program, &work).is_ok(), !program.writes(), "{program}");
    }
}
