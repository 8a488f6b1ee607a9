//! What 32 bits do not hold: places beyond 4 GiB, of which one that was cut to them is another place of the same file; and
//! times after January 2038.
#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use assay_core::workload::{Op, Pattern, Stop, Workload};
use assay_engine::{
    Availability, Control, DirectSupport, EngineKind, RepeatReport, RepeatSpec, RepeatTrouble, Target, direct_support,
    probe, run_repeat,
};

const MIB: u64 = 1 << 20;
const GIB_4: u64 = 1 << 32;

/// A file of so many bytes, none of which was written; `None` where the file system refuses it.
fn sparse(test: &str, bytes: u64) -> Option<(tempfile::TempDir, File, Arc<Target>)> {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("data");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    if let Err(error) = file.set_len(bytes) {
        eprintln!("SKIP: {test}: no file of {bytes} bytes here: {error}");
        return None;
    }
    let direct = matches!(direct_support(&path, None), DirectSupport::Yes { .. });
    let target = Arc::new(Target::existing(&path, direct, true).unwrap());
    Some((directory, file, target))
}

/// One pass over the MiB that begins 4 GiB and 1 MiB behind the start.
fn pass(engine: EngineKind, op: Op, target: &Arc<Target>) -> RepeatReport {
    let spec = RepeatSpec {
        workload: Workload {
            span_bytes: MIB,
            offset_bytes: GIB_4 + MIB,
            stop: Stop { ramp_ns: 0, duration_ns: 60_000_000_000, max_bytes: Some(MIB) },
            ..Workload::new("far", op, Pattern::Sequential, 65_536)
        },
        target: Some(target.clone()),
        seed: 42,
        repeat: 0,
        repeats: 1,
        hang_after: Duration::from_secs(60),
        sample_every: Duration::from_millis(50),
        wait_for: None,
        begin_at_ns: None,
    };
    run_repeat(engine, &spec, &Control::default(), &mut |_| ControlFlow::Continue(()))
}

/// Whether a MiB of the file holds nothing but zeros.
fn is_empty(mut file: &File, at: u64) -> bool {
    let mut content = vec![1; MIB as usize];
    file.seek(SeekFrom::Start(at)).unwrap();
    file.read_exact(&mut content).unwrap();
    content.iter().all(|byte| *byte == 0)
}

fn engines() -> impl Iterator<Item = EngineKind> {
    let here = |engine: &EngineKind| *engine == EngineKind::Sync || matches!(probe(*engine), Availability::Yes(_));
    [EngineKind::Sync, assay_engine::ASYNCHRONOUS].into_iter().filter(here)
}

#[test]
fn what_is_written_beyond_4_gib_is_there_and_not_at_the_start() {
    for engine in engines() {
        let test = "what_is_written_beyond_4_gib_is_there_and_not_at_the_start";
        let Some((_directory, file, target)) = sparse(test, GIB_4 + 4 * MIB) else { return };
        let report = pass(engine, Op::Write, &target);
        assert_eq!(report.trouble, None, "{engine}");
        assert_eq!(report.written_bytes, MIB, "{engine}");
        target.sync().unwrap();
        assert!(!is_empty(&file, GIB_4 + MIB), "{engine}: nothing was written there");
        for at in [0, MIB, GIB_4, GIB_4 + 2 * MIB] {
            assert!(is_empty(&file, at), "{engine}: it was written at {at}");
        }
    }
}

#[test]
fn what_is_read_beyond_4_gib_is_not_the_start() {
    for engine in engines() {
        let test = "what_is_read_beyond_4_gib_is_not_the_start";
        let Some((_directory, file, target)) = sparse(test, GIB_4 + 2 * MIB) else { return };
        let report = pass(engine, Op::Read, &target);
        assert_eq!((report.trouble, report.read_bytes > 0), (None, true), "{engine}");
        // Where the file ends before them, only reads at the start would still be answered.
        file.set_len(GIB_4).unwrap();
        let report = pass(engine, Op::Read, &target);
        assert_eq!(report.trouble, Some(RepeatTrouble::Io { write: false, offset: GIB_4 + MIB, errno: 0 }), "{engine}");
    }
}

#[test]
fn a_file_of_the_year_2040_keeps_its_time() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = directory.path().join("late");
    let january_2040 = SystemTime::UNIX_EPOCH + Duration::from_secs(2_208_988_800);
    File::create(&path).unwrap().set_modified(january_2040).unwrap();
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    // File systems whose times have 32 bits put the last that they know in its place, as XFS without `bigtime` does.
    let last_of_32_bits = SystemTime::UNIX_EPOCH + Duration::from_secs(i32::MAX as u64);
    if modified == last_of_32_bits {
        eprintln!("SKIP: a_file_of_the_year_2040_keeps_its_time: this file system has times of 32 bits");
        return;
    }
    assert_eq!(modified, january_2040);
    assert!(modified.elapsed().is_err() || SystemTime::now() >= january_2040, "it is not in the past");
}
