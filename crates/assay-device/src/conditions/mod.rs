//! Conditions of the host during a measurement.

mod load;
mod log;
mod throttle;

pub use load::{HostLoad, LoadState};
pub use log::KernelLog;
pub use throttle::{Firmware, ThrottleState};

use crate::files;
use crate::files::Sysroot;

/// State of the host at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostState {
    /// Throttling of the processor.
    pub throttle: ThrottleState,
    /// Time that programs have used.
    pub load: LoadState,
    /// Pages swapped in and out since the start of the host.
    pub swapped_pages: u64,
}

impl HostState {
    /// Reads the state of the host; this reads one line for each process.
    #[must_use]
    pub fn read(sysroot: &Sysroot) -> Self {
        Self {
            throttle: ThrottleState::read(sysroot),
            load: LoadState::read(sysroot),
            swapped_pages: swapped(&files::text(&sysroot.path("/proc/vmstat")).unwrap_or_default()),
        }
    }
}

/// `pswpin` and `pswpout` (kernel mm/vmstat.c).
fn swapped(vmstat: &str) -> u64 {
    let value = |name: &str| {
        vmstat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    value("pswpin ").saturating_add(value("pswpout "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_pages_of_both_directions_are_added() {
        assert_eq!(swapped("nr_free 5\npswpin 12\npswpout 30\npswpin_x 9\n"), 42);
        assert_eq!(swapped(""), 0);
    }
}
