//! The engine of completion ports against real files.

use std::collections::BTreeMap;
use std::path::Path;

use assay_core::outcome::Failure;
use assay_core::workload::{Op, Pattern, Workload};
use windows_sys::Win32::Foundation::{ERROR_DISK_FULL, STATUS_DISK_FULL, STATUS_END_OF_FILE};

use super::iocp::{Iocp, result};
use crate::buffer::Pool;
use crate::contract::{Direction, Engine, Io, Submit};
use crate::target::{DirectSupport, Target, direct_support};

const BLOCK: u32 = 4096;

fn engine(target: &Target, depth: u32) -> Iocp {
    let pool = Pool::new(depth as usize, BLOCK as usize).unwrap();
    Iocp::new(pool, target, depth, &Workload::new("w", Op::Read, Pattern::Random, u64::from(BLOCK))).unwrap()
}

/// Begins one operation in each slot, at offsets one after the other, and waits for all; the results by slot.
fn all(engine: &mut Iocp, direction: Direction, depth: u32) -> BTreeMap<u32, i32> {
    let mut results = BTreeMap::new();
    for slot in 0..depth {
        let io = Io { slot, direction, offset: u64::from(slot) * u64::from(BLOCK), bytes: BLOCK };
        match engine.submit(io) {
            Submit::Queued => {}
            Submit::Done(result) => assert_eq!(results.insert(slot, result), None),
            Submit::Full => panic!("no room for slot {slot}"),
        }
    }
    let queued = depth as usize - results.len();
    let before = results.len();
    engine
        .reap(queued, &mut |completion| assert_eq!(results.insert(completion.slot, completion.result), None))
        .unwrap();
    assert_eq!(results.len() - before, queued);
    results
}

#[test]
fn what_was_written_past_the_cache_is_read_back() {
    for depth in [1, 32] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let target = Target::create(&path, true).unwrap();
        let mut writer = engine(&target, depth);
        (0..depth).for_each(|slot| writer.buffer(slot).fill(slot as u8 + 1));
        assert!(all(&mut writer, Direction::Write, depth).values().all(|bytes| *bytes == BLOCK as i32));
        drop(writer);
        target.sync().unwrap();
        let target = Target::existing(&path, true, false).unwrap();
        let mut reader = engine(&target, depth);
        assert!(all(&mut reader, Direction::Read, depth).values().all(|bytes| *bytes == BLOCK as i32));
        for slot in 0..depth {
            assert!(reader.buffer(slot).iter().all(|byte| *byte == slot as u8 + 1), "slot {slot} of {depth}");
        }
        // By a handle that may read alone.
        let refused = all(&mut reader, Direction::Write, 1)[&0];
        assert!(refused < 0, "{refused}");
    }
}

#[test]
fn a_read_at_the_end_is_short_and_one_behind_it_moves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    std::fs::write(&path, [7; BLOCK as usize + 512]).unwrap();
    let target = Target::existing(&path, false, false).unwrap();
    let results = all(&mut engine(&target, 3), Direction::Read, 3);
    assert_eq!(results.into_values().collect::<Vec<_>>(), [BLOCK as i32, 512, 0]);
}

#[test]
fn operations_in_flight_are_waited_for_where_an_engine_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::create(&directory.path().join("data"), true).unwrap();
    let mut engine = engine(&target, 8);
    for slot in 0..8 {
        engine.submit(Io { slot, direction: Direction::Write, offset: u64::from(slot * BLOCK), bytes: BLOCK });
    }
    drop(engine);
    target.sync().unwrap();
}

#[test]
fn errors_are_those_of_the_system() {
    assert_eq!(result(STATUS_DISK_FULL, 0), -(ERROR_DISK_FULL as i32));
    assert_eq!(Failure::from_errno(ERROR_DISK_FULL as i32), Failure::OutOfSpace);
    assert_eq!((result(STATUS_END_OF_FILE, 0), result(0, 4096)), (0, 4096));
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let words = Target::existing(&missing, true, false).unwrap_err().to_string();
    assert!(words.contains("missing: ") && words.contains("(os error 2)") && !words.contains('\n'), "{words}");
    assert!(Target::existing(Path::new(r"\\.\no-such-device"), false, false).is_err());
}

#[test]
fn sectors_are_the_alignment_of_direct_io() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    std::fs::write(&path, [0; 8192]).unwrap();
    match direct_support(&path, None) {
        DirectSupport::Yes { alignment, source } => {
            assert!([512, 4096].contains(&alignment), "{alignment} {source}");
        }
        DirectSupport::No { reason } => panic!("{reason}"),
    }
}
