//! I/O completion ports: one port a job, with a handle of its own to the file and an `OVERLAPPED` for each slot.
//!
//! Windows has no call that submits several operations, and no call that waits for several of them: each operation costs a
//! call, and a wait takes whatever is there.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::NonNull;

use assay_core::workload::{Direction, Workload};
use windows_sys::Win32::Foundation::{
    ERROR_HANDLE_EOF, ERROR_IO_PENDING, GetLastError, INVALID_HANDLE_VALUE, STATUS_END_OF_FILE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_OVERLAPPED, ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0,
    OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::Threading::INFINITE;

use super::system::{of_status, reopen};
use crate::buffer::Pool;
use crate::contract::{Availability, Capabilities, Completion, Engine, Io, Submit};
use crate::target::Target;

/// A wait may be longer than asked by a tick of the system's timer, 1/64 s where no program asked for finer ones. What is
/// left of a wait below this is spent awake.
const TICK_MS: u64 = 16;

/// Asks the system for a port.
pub(crate) fn probe() -> Availability {
    match port(None) {
        Ok(_) => Availability::Yes(Capabilities { asynchronous: true, ..Capabilities::default() }),
        Err(error) => Availability::No(format!("no I/O completion port: {error}")),
    }
}

/// Completions are not polled for.
pub(crate) fn probe_poll(_: &Target, _: u32) -> Result<(), String> {
    Err("completions are polled for by io_uring alone, which is a part of Linux".to_owned())
}

/// A new port, for the completions of a file where one is given.
fn port(file: Option<&File>) -> io::Result<OwnedHandle> {
    let file = file.map_or(INVALID_HANDLE_VALUE, AsRawHandle::as_raw_handle);
    // SAFETY: the file is open while it is borrowed, or there is none; the handle that comes back is owned here alone. One
    // thread takes completions.
    let port = unsafe { CreateIoCompletionPort(file, std::ptr::null_mut(), 0, 1) };
    if port.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a handle that was just made, and is owned here alone.
    Ok(unsafe { OwnedHandle::from_raw_handle(port) })
}

/// What the system keeps of each operation in flight. It is reached by pointers alone, since the system writes it.
struct Slots {
    first: NonNull<OVERLAPPED>,
    count: usize,
}

impl Slots {
    fn new(count: usize) -> Self {
        let slots: Box<[OVERLAPPED]> = vec![OVERLAPPED::default(); count.max(1)].into();
        let count = slots.len();
        // A box is never null.
        let first = NonNull::from(Box::leak(slots)).cast();
        Self { first, count }
    }

    fn at(&self, slot: u32) -> *mut OVERLAPPED {
        self.first.as_ptr().wrapping_add(slot as usize)
    }

    /// The slot that this is part of.
    fn number(&self, overlapped: *mut OVERLAPPED) -> Option<u32> {
        let bytes = overlapped.addr().checked_sub(self.first.as_ptr().addr())?;
        let slot = bytes / size_of::<OVERLAPPED>();
        u32::try_from(slot).ok().filter(|_| slot < self.count)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        let slots = std::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count);
        // SAFETY: `new` leaked a box of this address and length, and this runs once, when nothing is in flight.
        drop(unsafe { Box::from_raw(slots) });
    }
}

/// One port with its buffers, for one thread.
///
/// Pool and slots are dropped by hand: while operations are in flight the system may write to them.
pub(crate) struct Iocp {
    file: File,
    port: OwnedHandle,
    pool: ManuallyDrop<Pool>,
    slots: ManuallyDrop<Slots>,
    /// Whether the system has an operation on a slot.
    busy: Vec<bool>,
    in_flight: usize,
    entries: Vec<OVERLAPPED_ENTRY>,
}

impl Iocp {
    pub(crate) fn new(pool: Pool, target: &Target, depth: u32, _workload: &Workload) -> io::Result<Self> {
        Self::over(reopen(target.file(), target.direct(), FILE_FLAG_OVERLAPPED)?, pool, depth)
    }

    /// Works on a file that was opened with `FILE_FLAG_OVERLAPPED`.
    pub(crate) fn over(file: File, pool: Pool, depth: u32) -> io::Result<Self> {
        let (port, count) = (port(Some(&file))?, depth as usize);
        Ok(Self {
            file,
            port,
            pool: ManuallyDrop::new(pool),
            slots: ManuallyDrop::new(Slots::new(count)),
            busy: vec![false; count],
            in_flight: 0,
            entries: vec![OVERLAPPED_ENTRY::default(); count.max(1)],
        })
    }

    /// Waits for one completion, for a limited number of milliseconds, and takes all that are there.
    #[inline]
    fn take(&mut self, wait_ms: u32, done: &mut impl FnMut(Completion)) -> io::Result<usize> {
        let (mut count, port) = (0, self.port.as_raw_handle());
        let (entries, room) = (self.entries.as_mut_ptr(), self.entries.len() as u32);
        // SAFETY: the port is open, and no more entries are written than there is room for, before it returns.
        if unsafe { GetQueuedCompletionStatusEx(port, entries, room, &mut count, wait_ms, 0) } == 0 {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(WAIT_TIMEOUT as i32) { Ok(0) } else { Err(error) };
        }
        let mut seen = 0;
        for entry in &self.entries[..count as usize] {
            let Some(slot) = self.slots.number(entry.lpOverlapped) else { continue };
            // What failed at once was answered then, and is not told twice.
            if !std::mem::take(&mut self.busy[slot as usize]) {
                continue;
            }
            self.in_flight -= 1;
            seen += 1;
            // SAFETY: the operation is over, so that the system does not write it any more; `Internal` is its status.
            let status = unsafe { (*entry.lpOverlapped).Internal } as i32;
            done(Completion { slot, result: result(status, entry.dwNumberOfBytesTransferred) });
        }
        Ok(seen)
    }
}

/// Bytes, or the negative number of an error, of an operation that ended with a status of the kernel.
#[inline]
pub(crate) fn result(status: i32, bytes: u32) -> i32 {
    match status {
        0.. | STATUS_END_OF_FILE => bytes as i32,
        _ => -of_status(status).raw_os_error().unwrap_or(crate::sys::IO_ERROR),
    }
}

impl Engine for Iocp {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.pool.slot(slot as usize)
    }

    #[inline]
    fn submit(&mut self, io: Io) -> Submit {
        let (file, overlapped) = (self.file.as_raw_handle(), self.slots.at(io.slot));
        let buffer = self.pool.slot_ptr(io.slot as usize);
        let place = OVERLAPPED_0_0 { Offset: io.offset as u32, OffsetHigh: (io.offset >> 32) as u32 };
        let fresh = OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: place }, ..OVERLAPPED::default() };
        // SAFETY: a slot has one `OVERLAPPED` and one buffer, which this value keeps until nothing is in flight (`drop`).
        // The hot loop takes a slot again only when its completion was reaped, so that the system uses neither now, and
        // no reference to the buffer exists while it does. The file is open for as long as this value.
        let begun = unsafe {
            overlapped.write(fresh);
            match io.direction {
                Direction::Read => ReadFile(file, buffer, io.bytes, std::ptr::null_mut(), overlapped),
                Direction::Write => WriteFile(file, buffer, io.bytes, std::ptr::null_mut(), overlapped),
            }
        };
        if begun == 0 {
            // SAFETY: it reads a number of this thread.
            match unsafe { GetLastError() } {
                ERROR_IO_PENDING => {}
                ERROR_HANDLE_EOF => return Submit::Done(0),
                error => return Submit::Done(-(error as i32)),
            }
        }
        // What was done at once comes by the port, too.
        self.busy[io.slot as usize] = true;
        self.in_flight += 1;
        Submit::Queued
    }

    fn reap_within(&mut self, wait_ns: u64, done: &mut impl FnMut(Completion)) -> io::Result<()> {
        if self.in_flight > 0 {
            let wait_ms = (wait_ns / 1_000_000).saturating_sub(TICK_MS);
            self.take(u32::try_from(wait_ms).unwrap_or(INFINITE - 1), done)?;
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, done: &mut impl FnMut(Completion)) -> io::Result<()> {
        let least = min.min(self.in_flight);
        let mut seen = 0;
        while seen < least {
            seen += self.take(INFINITE, done)?;
        }
        Ok(())
    }
}

impl Drop for Iocp {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // SAFETY: the file is open; without an `OVERLAPPED`, all operations by this handle are cancelled.
            let _ = unsafe { CancelIoEx(self.file.as_raw_handle(), std::ptr::null()) };
        }
        // To give memory back that the system still writes would corrupt what comes there next. A thread that hangs here
        // is abandoned by the sampler together with its memory.
        while self.in_flight > 0 {
            if self.take(INFINITE, &mut |_| {}).is_err() {
                return; // leaks buffers and slots on purpose
            }
        }
        // SAFETY: neither is used again, this runs once, and nothing is in flight.
        unsafe {
            ManuallyDrop::drop(&mut self.slots);
            ManuallyDrop::drop(&mut self.pool);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io::Write as _;
    use std::os::windows::io::{AsRawHandle, FromRawHandle};
    use std::path::Path;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use assay_core::outcome::RunFailure;
    use assay_core::workload::Direction;
    use assay_core::workload::{Op, Pattern, Workload};
    use windows_sys::Win32::Foundation::{ERROR_DISK_FULL, INVALID_HANDLE_VALUE, STATUS_DISK_FULL, STATUS_END_OF_FILE};
    use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_OVERLAPPED, PIPE_ACCESS_DUPLEX};
    use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_TYPE_BYTE, PeekNamedPipe};

    use super::{Iocp, result};
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
        let handle =
            unsafe { CreateNamedPipeW(wide.as_ptr(), how, PIPE_TYPE_BYTE, 1, 65536, 65536, 0, std::ptr::null()) };
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
                let begun =
                    engine.submit(Io { slot, direction: Direction::Read, priority: 0, offset: 0, bytes: BLOCK });
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
        assert_ne!(answer, Err(RecvTimeoutError::Timeout), "the engine waits for operations that were not cancelled");
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
}
