//! Monotonic time.

use std::sync::OnceLock;

use windows_sys::Win32::System::Performance::{QueryPerformanceCounter, QueryPerformanceFrequency};

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
