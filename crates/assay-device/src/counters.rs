//! Transfers of a block device as the kernel counts them.

#[cfg_attr(not(windows), path = "counters/linux.rs")]
#[cfg_attr(windows, path = "counters/windows.rs")]
mod source;
mod totals;

use self::source::Source;
pub use self::totals::Counters;
use crate::error::DeviceError;
use crate::sysroot::Sysroot;

/// Reads the counters of some devices through files that stay open, so that a reading costs one system call per device.
#[derive(Debug)]
pub struct ProofMeter {
    sources: Vec<Source>,
}

impl ProofMeter {
    /// Opens the counters of `devices` (kernel names, [`crate::TargetInfo::devices`]). Without devices, every reading
    /// is zero and proves nothing.
    ///
    /// # Errors
    /// Where a device does not exist or its counters cannot be opened.
    pub fn open(sysroot: &Sysroot, devices: &[String]) -> Result<Self, DeviceError> {
        let open = |name: &String| Source::open(sysroot, name);
        Ok(Self { sources: devices.iter().map(open).collect::<Result<_, DeviceError>>()? })
    }

    /// Whether there is nothing to read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The totals now.
    ///
    /// # Errors
    /// Where a device has gone.
    pub fn read(&self) -> Result<Counters, DeviceError> {
        let mut sum = Counters::default();
        for source in &self.sources {
            let one = source.read()?;
            sum.read_bytes = sum.read_bytes.wrapping_add(one.read_bytes);
            sum.written_bytes = sum.written_bytes.wrapping_add(one.written_bytes);
            sum.read_ops = sum.read_ops.wrapping_add(one.read_ops);
            sum.write_ops = sum.write_ops.wrapping_add(one.write_ops);
            sum.flush_ops = sum.flush_ops.wrapping_add(one.flush_ops);
            sum.busy_ms = sum.busy_ms.wrapping_add(one.busy_ms);
            sum.in_flight = sum.in_flight.wrapping_add(one.in_flight);
        }
        Ok(sum)
    }
}
