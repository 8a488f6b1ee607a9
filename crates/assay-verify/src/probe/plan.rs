//! What a probe will do at most, said beforehand.

const MIB: u64 = 1 << 20;

/// Smaller devices have not even room for a place at each end and one between.
pub const LEAST_BYTES: u64 = 64 << 10;
/// How thorough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Largest cache that the probe still sees through, in bytes: so much is written in sequence
    /// to drive it out. More than an eighth of the device is never taken.
    pub cache_limit_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cache_limit_bytes: 64 * MIB }
    }
}

impl Settings {
    /// What is usual for a device of `bytes`: 64 MiB, and from 1 TiB on, where the comb costs more,
    /// 36 MiB, so that a genuine one costs at most 300 MB.
    #[must_use]
    pub fn usual(bytes: u64) -> Self {
        Self { cache_limit_bytes: if bytes < 1 << 40 { 64 * MIB } else { 36 * MIB } }
    }

    /// Length of a run for a device of `bytes`, in bytes.
    pub(crate) fn run_bytes(&self, bytes: u64) -> u64 {
        self.cache_limit_bytes.min(bytes / 8)
    }
}

/// What a probe will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Bytes written to a genuine device, restoring included.
    pub written_bytes: u64,
    /// Bytes read from a genuine device.
    pub read_bytes: u64,
    /// Bytes written to any device at most, restoring included.
    pub most_written_bytes: u64,
    /// Bytes of the journal, on the other disk, at most.
    pub most_journal_bytes: u64,
}

/// What a probe of a device of `bytes` will do.
#[must_use]
pub fn plan(bytes: u64, settings: &Settings) -> Plan {
    let run = settings.run_bytes(bytes);
    let places = (8 * MIB + 256 * 1024).min(bytes / 2);
    let most_journal_bytes = (5 * run + 64 * MIB).min(bytes) / 64 * 65 + 4096;
    Plan {
        written_bytes: 2 * (run + places),
        read_bytes: 3 * run + 12 * places,
        most_written_bytes: 40 * run + 1024 * MIB + most_journal_bytes,
        most_journal_bytes,
    }
}
