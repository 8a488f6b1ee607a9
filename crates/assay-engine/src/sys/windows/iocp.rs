//! I/O completion ports: one port a job, with a handle of its own to the file and an `OVERLAPPED` for each slot.
//!
//! Windows has no call that submits several operations, and no call that waits for several of them: each operation costs a
//! call, and a wait takes whatever is there.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::NonNull;

use assay_core::direction::Direction;
use assay_core::workload::Workload;
use windows_sys::Win32::Foundation::{
    ERROR_HANDLE_EOF, ERROR_IO_PENDING, GetLastError, INVALID_HANDLE_VALUE, STATUS_END_OF_FILE, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{FILE_FLAG_OVERLAPPED, ReadFile, WriteFile};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0,
    OVERLAPPED_ENTRY,
};
use windows_sys::Win32::System::Threading::INFINITE;

use super::files::{of_status, reopen};
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
