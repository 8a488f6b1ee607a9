//! What programs ask of the system: the same names for each.

#[cfg(not(windows))]
pub(crate) use self::linux::*;
#[cfg(windows)]
pub(crate) use self::windows::*;

#[cfg(not(windows))]
mod linux {
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
}

#[cfg(windows)]
mod windows {
    use std::time::Duration;

    use windows_sys::Win32::Foundation::{ERROR_DISK_FULL, ERROR_IO_DEVICE, ERROR_WRITE_PROTECT, FILETIME};
    use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

    /// Numbers of errors (winerror.h): no room, nothing may be written, the medium failed.
    pub(crate) const FULL: i32 = ERROR_DISK_FULL.cast_signed();
    pub(crate) const READ_ONLY: i32 = ERROR_WRITE_PROTECT.cast_signed();
    pub(crate) const FAILED: i32 = ERROR_IO_DEVICE.cast_signed();

    /// Processor time of this process so far.
    pub(crate) fn processor_time() -> Duration {
        let [mut began, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
        // SAFETY: the structures are this function's own; the handle stands for this process and needs no closing.
        unsafe { GetProcessTimes(GetCurrentProcess(), &raw mut began, &raw mut ended, &raw mut kernel, &raw mut user) };
        let ticks = |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
        Duration::from_nanos(ticks(kernel).saturating_add(ticks(user)).saturating_mul(100))
    }
}
