//! Each program on a small size.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_core::program::Program;
use assay_core::units::Bytes;
use assay_core::workload::Direction;
use assay_device::owned::Directory;
use assay_engine::Control;

use super::sysbench::events;
use crate::trouble::ProgramTrouble;
use crate::work::Work;
use crate::{Fitted, SourceTree, is_known, run};

/// A directory for files and what a program is given.
fn work(at: &tempfile::TempDir, time: Duration) -> Work {
    let place = Directory::open(at.path()).unwrap().make("files").unwrap();
    Work {
        place: Some(Arc::new(place)),
        control: Control::default(),
        beat: Arc::new(AtomicU64::new(0)),
        deadline: Instant::now() + time,
        seed: 7,
        tree: Arc::new(SourceTree::generated()),
        counters: Box::new(|| None),
    }
}

/// With a small source tree.
fn fitted(program: &Program) -> Fitted {
    Fitted { program: program.clone(), tree_bytes: 600_000 }
}

fn small() -> Vec<(Program, &'static str)> {
    vec![
        (Program::Primes { below: 1000, threads: 2 }, "events/s"),
        (Program::Memory { op: Direction::Read, block: Bytes(4096), total: Bytes(1 << 20) }, "MiB/s"),
        (Program::Memory { op: Direction::Write, block: Bytes(4096), total: Bytes(1 << 20) }, "MiB/s"),
        (Program::Linpack { size: 20 }, "Mflop/s"),
        (Program::Stream { block: Bytes(8192), count: 50 }, "MB/s"),
        (
            Program::Postmark { transactions: 200, files: 20, smallest: Bytes(500), largest: Bytes(9000) },
            "transactions/s",
        ),
        (Program::Compress { copies: 2 }, "MB/s"),
        (Program::Unpack {}, "MB/s"),
        (Program::Inserts { rows: 20 }, "inserts/s"),
    ]
}

#[test]
fn each_program_has_a_figure_and_leaves_nothing() {
    for (program, unit) in small() {
        // A busy machine may do nothing in the first time.
        let (at, work, done) = [2, 10, 60]
            .into_iter()
            .find_map(|seconds| {
                let at = tempfile::tempdir().unwrap();
                let work = work(&at, Duration::from_secs(seconds));
                match run(&fitted(&program), &work) {
                    Err(ProgramTrouble::LeftOut(_)) if seconds < 60 => None,
                    done => Some((at, work, done.unwrap_or_else(|trouble| panic!("{program}: {trouble:?}")))),
                }
            })
            .unwrap();
        let figure = done.figures[0];
        assert!(figure.value > 0.0 && figure.value.is_finite() && figure.of.is_empty(), "{program}: {figure:?}");
        assert_eq!(figure.unit, unit, "{program}");
        assert!(figure.timed.elapsed > Duration::ZERO && done.threads > 0 && work.beat.load(Ordering::Relaxed) > 0);
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
        assert!(matches!(run(&fitted(&program), &work), Err(ProgramTrouble::Stopped)), "{program}");
        work.place.as_ref().unwrap().remove_tree(&is_known).unwrap();
        assert_eq!(std::fs::read_dir(at.path().join("files")).unwrap().count(), 0, "{program}");
    }
}

#[test]
fn events_end_with_their_number_and_with_their_time() {
    let at = tempfile::tempdir().unwrap();
    let made = |seconds, most| {
        let (mut numbers, work) = (Vec::new(), Work { place: None, ..work(&at, Duration::from_secs(seconds)) });
        let done = events(most, &work, |number| numbers.push(number)).unwrap();
        assert_eq!(done, numbers.len() as u64);
        numbers
    };
    assert_eq!(made(60, 4), [0, 1, 2, 3]);
    std::fs::remove_dir(at.path().join("files")).unwrap();
    assert!(made(0, u64::MAX).is_empty());
}

#[test]
fn without_a_directory_only_what_needs_no_files_runs() {
    for (program, _) in small() {
        let at = tempfile::tempdir().unwrap();
        let work = Work { place: None, ..work(&at, Duration::from_millis(100)) };
        assert_eq!(run(&fitted(&program), &work).is_ok(), !program.writes(), "{program}");
    }
}

#[test]
fn a_tree_is_that_of_the_archive() {
    let at = tempfile::tempdir().unwrap();
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (path, bytes) in [("linux/Makefile", 3), ("linux/kernel/fork.c", 70_000), ("linux/kernel/exit.c", 0)] {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes);
        header.set_cksum();
        archive.append_data(&mut header, path, vec![b'x'; bytes as usize].as_slice()).unwrap();
    }
    let path = at.path().join("linux.tar.gz");
    std::fs::write(&path, archive.into_inner().unwrap().finish().unwrap()).unwrap();
    let tree = Arc::new(SourceTree::open(&path).unwrap());
    let work = Work { tree, ..work(&at, Duration::from_secs(20)) };
    let done = run(&fitted(&Program::Unpack {}), &work).unwrap();
    assert_eq!(done.tree.as_deref(), Some("the tree in linux.tar.gz, 3 files, 68.4 KiB"));
    assert_eq!(done.figures.iter().map(|figure| figure.of).collect::<Vec<_>>(), ["", "with a sync"]);
    assert!(done.figures[0].value >= done.figures[1].value);
    let part = Fitted { program: Program::Compress { copies: 1 }, tree_bytes: 100 };
    let done = run(&part, &work).unwrap();
    assert_eq!(done.tree.as_deref(), Some("the first part of the tree in linux.tar.gz, 1 file, 3 B"));
    assert_eq!(std::fs::read_dir(at.path().join("files")).unwrap().count(), 0);
}

#[test]
fn what_is_no_source_tree_is_refused() {
    let at = tempfile::tempdir().unwrap();
    let path = at.path().join("x.tar.xz");
    for content in [&b""[..], b"\xfd7zXZ\0broken", &[7; 2000]] {
        std::fs::write(&path, content).unwrap();
        assert!(SourceTree::open(&path).is_err(), "{content:?}");
    }
    assert!(SourceTree::open(at.path()).is_err(), "a directory");
}
