//! What programs ask of the system, on Linux.

use std::time::Duration;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// Numbers of errors (errno(3)): no room, nothing may be written, the medium failed.
pub(crate) const FULL: i32 = Errno::NOSPC.raw_os_error();
pub(crate) const READ_ONLY: i32 = Errno::ROFS.raw_os_error();
pub(crate) const FAILED: i32 = Errno::IO.raw_os_error();

/// Processor time of this process so far.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
