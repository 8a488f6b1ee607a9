//! Transfers of a block device as the kernel counts them.

use std::ops::Sub;

use self::source::Source;
use crate::error::DeviceError;
use crate::files::Sysroot;

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

/// Totals since the devices appeared, summed over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Bytes read from the devices.
    pub read_bytes: u64,
    /// Bytes written to the devices.
    pub written_bytes: u64,
    /// Read requests completed, after merging.
    pub read_ops: u64,
    /// Write requests completed, after merging.
    pub write_ops: u64,
    /// Flush requests completed; 0 before kernel 5.5.
    pub flush_ops: u64,
    /// Time during which the devices had work, in milliseconds.
    pub busy_ms: u64,
    /// Requests issued but not completed: a level, not a total.
    pub in_flight: u64,
}

impl Sub for Counters {
    type Output = Self;

    /// The difference since `earlier`. Totals wrap or restart when a device is replaced, so a smaller later total
    /// counts as zero; `in_flight` keeps the later level.
    fn sub(self, earlier: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
            read_ops: self.read_ops.saturating_sub(earlier.read_ops),
            write_ops: self.write_ops.saturating_sub(earlier.write_ops),
            flush_ops: self.flush_ops.saturating_sub(earlier.flush_ops),
            busy_ms: self.busy_ms.saturating_sub(earlier.busy_ms),
            in_flight: self.in_flight,
        }
    }
}

/// A line of numbers in sysfs (kernel Documentation/block/stat.rst; the sectors there are always 512 bytes).
#[cfg(not(windows))]
mod source {
    use std::fs::File;

    use super::Counters;
    use crate::block::{Node, SECTOR};
    use crate::error::{DeviceError, shown};
    use crate::files::Sysroot;
    use crate::system;

    /// The counters of one device, open.
    #[derive(Debug)]
    pub(super) struct Source {
        path: String,
        file: File,
    }

    impl Source {
        pub(super) fn open(sysroot: &Sysroot, name: &str) -> Result<Self, DeviceError> {
            let path = match Node::by_name(sysroot, name) {
                Some(node) => node.dir.join("stat"),
                None => sysroot.path("/sys/class/block").join(name).join("stat"),
            };
            let file = File::open(&path).map_err(|error| DeviceError::from_io(&path, error))?;
            Ok(Self { path: shown(&path), file })
        }

        pub(super) fn read(&self) -> Result<Counters, DeviceError> {
            let mut buffer = [0u8; 512];
            let unreadable = |source| DeviceError::Unreadable { path: self.path.clone(), source };
            let length = system::read_at(&self.file, &mut buffer, 0).map_err(unreadable)?;
            let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default());
            parse(&text).ok_or_else(|| unreadable(std::io::ErrorKind::InvalidData.into()))
        }
    }

    /// Fields: reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, busy ms, queue ms;
    /// discards ×4 (4.18); flushes, ms (5.5).
    fn parse(text: &str) -> Option<Counters> {
        let fields: Vec<u64> = text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        let field = |index: usize| fields.get(index).copied();
        Some(Counters {
            read_bytes: field(2)?.wrapping_mul(SECTOR),
            written_bytes: field(6)?.wrapping_mul(SECTOR),
            read_ops: field(0)?,
            write_ops: field(4)?,
            flush_ops: field(15).unwrap_or(0),
            busy_ms: field(9)?,
            in_flight: field(8)?,
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn old_and_new_stat_lines_are_read() {
            let new =
                parse("  56705 10670 5900794 16314 31669 18465 3535152 10751 2 10300 27871 1 2 3 4 4395 155").unwrap();
            assert_eq!(new.read_bytes, 5_900_794 * 512);
            assert_eq!(new.written_bytes, 3_535_152 * 512);
            assert_eq!(
                (new.read_ops, new.write_ops, new.in_flight, new.busy_ms, new.flush_ops),
                (56705, 31669, 2, 10300, 4395)
            );
            assert_eq!(parse("1 0 8 1 2 0 16 3 0 4 5").unwrap().flush_ops, 0);
            assert_eq!(parse("1 0 8"), None);
            assert_eq!(parse("all wrong"), None);
        }
    }
}

/// Counters of a disk's driver, if it has any (`IOCTL_DISK_PERFORMANCE`).
#[cfg(windows)]
mod source {
    use std::fs::File;
    use std::path::Path;

    use super::Counters;
    use crate::error::DeviceError;
    use crate::files::Sysroot;
    use crate::system;

    /// A disk, open for queries.
    #[derive(Debug)]
    pub(super) struct Source {
        name: String,
        drive: File,
    }

    impl Source {
        pub(super) fn open(_sysroot: &Sysroot, name: &str) -> Result<Self, DeviceError> {
            let drive = system::drive(name).map_err(|error| DeviceError::from_io(Path::new(name), error))?;
            let source = Self { name: name.to_owned(), drive };
            // Windows counts from the first query on, and may refuse it.
            source.read().map(|_| source)
        }

        pub(super) fn read(&self) -> Result<Counters, DeviceError> {
            let unreadable = |source| DeviceError::Unreadable { path: self.name.clone(), source };
            system::counters(&self.drive).map_err(unreadable)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_never_goes_below_zero() {
        let small = Counters { read_bytes: 5, ..Counters::default() };
        let large = Counters { read_bytes: 9, in_flight: 3, ..Counters::default() };
        assert_eq!((large - small).read_bytes, 4);
        assert_eq!((small - large).read_bytes, 0);
        assert_eq!((large - small).in_flight, 3);
    }
}
