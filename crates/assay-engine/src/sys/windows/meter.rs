//! What another program moves, as the system counts it: `ReadTransferCount` and `WriteTransferCount` of
//! `GetProcessIoCounters`. They hold all that it reads and writes, pipes and cached files included.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};

use windows_sys::Win32::System::Threading::{
    GetProcessIoCounters, IO_COUNTERS, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION,
};

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    process: Option<OwnedHandle>,
}

impl Meter {
    pub(crate) fn of(process: u32) -> Self {
        // SAFETY: numbers alone; the handle that comes back is owned here alone.
        let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, process) };
        // SAFETY: a handle that was just opened, and is owned here alone.
        Self { process: (!handle.is_null()).then(|| unsafe { OwnedHandle::from_raw_handle(handle) }) }
    }

    /// Bytes read and written so far; `None` where the system does not tell.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut counts = IO_COUNTERS::default();
        // SAFETY: the handle is open for as long as `self` is, and it writes the structure.
        let done = unsafe { GetProcessIoCounters(self.process.as_ref()?.as_raw_handle(), &mut counts) };
        (done != 0).then(|| counts.ReadTransferCount.saturating_add(counts.WriteTransferCount))
    }
}
