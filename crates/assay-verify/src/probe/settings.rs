//! How thorough a probe is. The search and its plan both use these values.

const MIB: u64 = 1 << 20;

/// One place is tested in each of this many equal parts. A loss of 5 % of scattered places is missed with probability
/// 0.95^256 = 2e-6.
pub(super) const PARTS: u64 = 256;
/// Sectors of such a place: 32 KiB, which a cache with a separate area for random writes still takes as random.
pub(super) const WIDE: u64 = 64;
/// A comb of more teeth takes too long on a slow reader: at 1000 reads a second, a quarter of a minute.
pub(super) const TEETH: u64 = 16_384;
/// Most places that are read around one tooth; all of them together are at most half of [`TEETH`]. Six reads miss a stretch that
/// only every other unit shows with a probability of 0.5^6.
const SHIFTS: u64 = 6;
/// Number of times that a place is read: cells that do not last lose their data within a few readings.
pub(super) const READINGS: usize = 6;
/// Sectors of a run that are read back, if it is that long: 16 MiB.
pub(super) const LEAST_VERIFIED: u64 = (16 << 20) / 512;
/// Places that are only read, one in each of 192 equal parts. If one in 50 of such places loses its data, they miss that with a
/// probability of 0.98^192 = 2 %.
pub(super) const WITNESSES: u64 = 192;
/// Number of these places that are read again before anything is written: another card may have been there while places were saved.
pub(super) const ASKED_AGAIN: u64 = 64;
/// The start of the device that is saved before anything is written is as long as the run divided by this.
pub(super) const CAREFUL: u64 = 8;
/// Single reads find this share of the run, wherever it shows.
pub(super) const MET: (u64, u64) = (3, 4);
/// If losses are known, caches are evicted up to this many times the size that is evicted while none is known.
pub(super) const LOSSY: u64 = 4;

/// Places to read around each tooth, for a number of teeth.
pub(super) fn shifts(teeth: u64) -> u64 {
    (TEETH / 2 / teeth.max(1)).clamp(1, SHIFTS)
}

/// How thorough a probe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Largest cache that the probe still evicts, in bytes: this much is written sequentially to evict it. It is
    /// limited to an eighth of the device.
    pub cache_limit_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cache_limit_bytes: 64 * MIB }
    }
}

impl Settings {
    /// The usual setting for a device of `bytes`: 64 MiB, and from 1 TiB on, where the comb costs more, 30 MiB. A
    /// genuine device of 2 TiB in blocks of 512 bytes then costs at most 400 MB.
    #[must_use]
    pub fn usual(bytes: u64) -> Self {
        Self { cache_limit_bytes: if bytes < 1 << 40 { 64 * MIB } else { 30 * MIB } }
    }

    /// Largest cache that is evicted on a device of `bytes` once a loss is known, in bytes.
    #[must_use]
    pub fn most_evicting_bytes(&self, bytes: u64) -> u64 {
        (self.run_bytes(bytes) * LOSSY).min(bytes / 7 * 4)
    }

    /// Length of a run for a device of `bytes`, in bytes.
    pub(crate) fn run_bytes(&self, bytes: u64) -> u64 {
        self.cache_limit_bytes.min(bytes / 8)
    }
}
