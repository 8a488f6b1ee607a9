//! The host: its processors, its clock, who this process is, and priorities of operations. Affinity masks have the
//! processors of one group, 64 at most.

use std::sync::OnceLock;

use assay_core::priority::Priority;
use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, SetThreadAffinityMask,
};

/// Whether a thread can be kept on a processor.
pub const PINS: bool = true;

/// The processors that this process may use, by their numbers. Empty where the system does not tell.
#[must_use]
pub fn processors() -> Vec<u32> {
    let (mut own, mut all) = (0, 0);
    // SAFETY: it writes two numbers; the handle of this process needs no closing.
    let done = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &mut own, &mut all) };
    // Threads in several groups have no mask: it is 0.
    (0..usize::BITS).filter(|cpu| done != 0 && own >> cpu & 1 == 1).collect()
}

/// Keeps this thread on one processor from now on.
pub(crate) fn pin(processor: u32) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("a thread could not be kept on processor {processor}: {why}");
    let Some(mask) = 1usize.checked_shl(processor) else {
        return Err(failed(&"Windows has no more than 64 in a group"));
    };
    // SAFETY: numbers alone; the handle of this thread needs no closing.
    match unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) } {
        0 => Err(failed(&std::io::Error::last_os_error())),
        _ => Ok(()),
    }
}

// Priorities of operations: the priorities of Windows are others.

/// Whether operations can have a priority.
pub const PRIORITIES: bool = false;

/// Refuses.
pub(crate) fn prioritise(_: Priority) -> Result<(), String> {
    Err("priorities of operations are a part of Linux".to_owned())
}

// Monotonic time.

/// `QueryPerformanceCounter` in nanoseconds. It counts on through a sleep of the machine, and its unit is 100 ns where
/// its frequency is 10 MHz, as it is on most machines.
#[inline]
#[must_use]
pub fn monotonic() -> u64 {
    let mut count = 0;
    // SAFETY: it writes one number, and does not fail since Windows XP.
    unsafe { QueryPerformanceCounter(&mut count) };
    let (count, frequency) = (count as u64, frequency());
    (count / frequency).wrapping_mul(1_000_000_000).wrapping_add(count % frequency * 1_000_000_000 / frequency)
}

/// Counts a second; fixed while the machine runs.
#[inline]
fn frequency() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    *FREQUENCY.get_or_init(|| {
        let mut frequency = 0;
        // SAFETY: as above.
        unsafe { QueryPerformanceFrequency(&mut frequency) };
        (frequency as u64).max(1)
    })
}

// Who this process is.

/// There is no such user.
#[must_use]
pub fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_on_a_processor_that_is_there() {
        let all = processors();
        let last = *all.last().unwrap();
        assert_eq!(std::thread::spawn(move || pin(last)).join().unwrap(), Ok(()));
        assert!(std::thread::spawn(|| pin(64)).join().unwrap().unwrap_err().contains("processor 64"));
        let missing = (0..usize::BITS).find(|cpu| !all.contains(cpu));
        if let Some(missing) = missing {
            assert!(std::thread::spawn(move || pin(missing)).join().unwrap().is_err());
        }
    }
}
