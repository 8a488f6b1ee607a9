//! The engine of completion ports against real files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use assay_core::direction::Direction;
use assay_core::outcome::RunFailure;
use assay_core::workload::{Op, Pattern, Workload};
use windows_sys::Win32::Foundation::{ERROR_DISK_FULL, INVALID_HANDLE_VALUE, STATUS_DISK_FULL, STATUS_END_OF_FILE};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_OVERLAPPED, PIPE_ACCESS_DUPLEX};
use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_TYPE_BYTE, PeekNamedPipe};

use super::iocp::{Iocp, result};
use crate::buffer::Pool;
use crate::contract::{Engine, Io, Submit};
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
        let io = Io { slot, direction, priority: 0, offset: u64::from(slot) * u64::from(BLOCK), bytes: BLOCK };
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

/// Both ends of a pipe. The first does not block (`FILE_FLAG_OVERLAPPED`).
fn pipe(name: &str) -> (File, File) {
    let path = format!(r"\\.\pipe\assay-{name}-{}", std::process::id());
    let wide: Vec<u16> = path.encode_utf16().chain([0]).collect();
    let how = PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED;
    // SAFETY: the name ends with a zero, and the handle that comes back is owned here alone.
    let handle = unsafe { CreateNamedPipeW(wide.as_ptr(), how, PIPE_TYPE_BYTE, 1, 65536, 65536, 0, std::ptr::null()) };
    assert_ne!(handle, INVALID_HANDLE_VALUE, "{}", std::io::Error::last_os_error());
    // SAFETY: a handle that was just opened, and is owned here alone.
    let ours = unsafe { File::from_raw_handle(handle) };
    (ours, File::options().read(true).write(true).open(path).unwrap())
}

/// Bytes that can be read from a pipe.
fn waiting(pipe: &File) -> u32 {
    let (mut bytes, none) = (0, std::ptr::null_mut());
    // SAFETY: the handle is open, and the number is written for the time of the call.
    let done = unsafe {
        PeekNamedPipe(pipe.as_raw_handle(), none, 0, std::ptr::null_mut(), &raw mut bytes, std::ptr::null_mut())
    };
    assert_ne!(done, 0, "{}", std::io::Error::last_os_error());
    bytes
}

/// By wine operations on files end at once, and so none would be in flight; reads of a pipe wait for somebody who writes.
#[test]
fn operations_in_flight_are_cancelled_and_waited_for_where_an_engine_is_dropped() {
    const TEST: &str = "operations_in_flight_are_cancelled_and_waited_for_where_an_engine_is_dropped";
    let (ours, mut theirs) = pipe("dropped");
    // While it is open, no read ends merely as the engine closes its handle.
    let kept = ours.try_clone().unwrap();
    let (sender, dropped) = channel();
    let thread = std::thread::spawn(move || {
        let mut engine = Iocp::over(ours, Pool::new(8, BLOCK as usize).unwrap(), 8).unwrap();
        for slot in 0..8 {
            let begun = engine.submit(Io { slot, direction: Direction::Read, priority: 0, offset: 0, bytes: BLOCK });
            assert!(matches!(begun, Submit::Queued), "slot {slot}");
        }
        let mut ended = Vec::new();
        engine.reap_within(0, &mut |completion| ended.push(completion.result)).unwrap();
        if !ended.is_empty() {
            println!("SKIP: {TEST}: no read of a pipe stays in flight here: {ended:?}");
            return;
        }
        // One is answered, so that those in flight are known to be reads of this pipe.
        theirs.write_all(&[7; 100]).unwrap();
        engine.reap(1, &mut |completion| ended.push(completion.result)).unwrap();
        assert_eq!(ended, [100]);
        drop(engine);
        sender.send(()).unwrap();
        // No read is left that would take this, into memory that was given back.
        theirs.write_all(&[8; 300]).unwrap();
        assert_eq!(waiting(&kept), 300);
    });
    let answer = dropped.recv_timeout(Duration::from_secs(60));
    assert_ne!(answer, Err(RecvTimeoutError::Timeout), "the engine waits for operations that nobody cancelled");
    thread.join().unwrap();
}

#[test]
fn errors_are_those_of_the_system() {
    assert_eq!(result(STATUS_DISK_FULL, 0), -(ERROR_DISK_FULL as i32));
    assert_eq!(RunFailure::from_errno(ERROR_DISK_FULL as i32), RunFailure::OutOfSpace);
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
