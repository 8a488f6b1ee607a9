//! Counter values.

use std::ops::Sub;

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
