//! What another program moves, as the kernel counts it: `ri_diskio_bytesread` and `ri_diskio_byteswritten` of
//! `proc_pid_rusage` (libproc.h, sys/resource.h).

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    process: Option<i32>,
}

impl Meter {
    pub(crate) fn of(process: u32) -> Self {
        Self { process: i32::try_from(process).ok() }
    }

    /// Bytes moved so far, read and written; `None` once the process is gone, or where it is not told.
    pub(crate) fn read(&self) -> Option<u64> {
        // SAFETY: a structure of numbers and bytes, for which zeros are values.
        let mut usage: libc::rusage_info_v2 = unsafe { std::mem::zeroed() };
        // SAFETY: the structure of this flavour, which is written for the time of the call.
        let status = unsafe { libc::proc_pid_rusage(self.process?, libc::RUSAGE_INFO_V2, (&raw mut usage).cast()) };
        (status == 0).then(|| usage.ri_diskio_bytesread.saturating_add(usage.ri_diskio_byteswritten))
    }
}
