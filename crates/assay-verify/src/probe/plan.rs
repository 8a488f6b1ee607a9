//! Upper bounds for what a probe does, known beforehand.

const MIB: u64 = 1 << 20;

/// Smaller devices lack room even for a place at each end and one between.
pub const LEAST_BYTES: u64 = 64 << 10;

/// Bytes of the first places, which are read back again together with all places written after them.
const FIRST_BYTES: u64 = 64 << 10;
/// Everything saved is written back at most this many times: in two rounds, once more place by place if the device errs
/// at a flush, and in two further attempts.
const RESTORED: u64 = 5;

/// What a probe will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbePlan {
    /// Bytes written to a genuine device, restoring included.
    pub written_bytes: u64,
    /// Bytes read from a genuine device, restoring included.
    pub read_bytes: u64,
    /// Write operations on a genuine device.
    pub writes: u64,
    /// Read operations on a genuine device.
    pub reads: u64,
    /// Bytes written to any device at most, restoring included.
    pub most_written_bytes: u64,
    /// The part of them that the search may write; the rest is for restoring.
    pub(crate) most_search_bytes: u64,
    /// Most bytes of the journal on the other disk: never more than the content of the device and the overhead of the
    /// records.
    pub most_journal_bytes: u64,
}

/// What a probe of a device of `bytes` in blocks of `block_bytes` will do, within a few percent for a genuine one.
#[must_use]
pub fn plan(bytes: u64, block_bytes: u32, settings: &ProbeSettings) -> ProbePlan {
    let block = u64::from(block_bytes).max(512);
    let run = settings.run_bytes(bytes).max(block);
    // At both ends, and on both sides of each quarter.
    let singles = 2 * u64::from((bytes / block).max(1).ilog2()) + 3 + 6;
    let samples = (PARTS * WIDE * 512 + singles * block).min(run + singles * block);
    // The start, which is saved first and is written after the first places.
    let low = run / CAREFUL;
    let saved = run + samples + low;
    let teeth = teeth(run, bytes, block);
    // A few of the samples are read each time the amount written has doubled.
    let looks = 16 * u64::from((run / MIB).max(1).ilog2() + 1);
    let pages = READINGS as u64 - 2;
    let verified = run.min(LEAST_VERIFIED * 512);
    let places = PARTS + singles;
    let pieces = run.div_ceil(MIB);
    // A small place costs a record of its own and its part of a commit mark.
    let records = (places * 128).min(bytes / 512 * 128) + 4096;
    let (share, of) = MET;
    let most_journal_bytes = (5 * run + low + 64 * MIB).min(bytes) / 64 * 65 + records;
    let most_search_bytes = 40 * run + 1536 * MIB;
    ProbePlan {
        // Most of the run is written twice, and everything is restored in two rounds.
        written_bytes: 3 * saved + run / of * share,
        // Everything is saved, read before each round, and read back. Each write reads a block that was written before,
        // and one of its own place.
        read_bytes: 4 * saved
            + 2 * samples
            + 2 * (places + 2 * pieces) * block
            + 6 * FIRST_BYTES.min(samples / 4)
            + pages * PARTS * 4096.min(samples / PARTS)
            + looks * (WIDE * 512).min(samples / PARTS)
            + verified
            + (teeth + 2 * WITNESSES + ASKED_AGAIN) * block,
        writes: 3 * (places + pieces + low / MIB) + low / (64 << 10) + pieces * share / of,
        reads: (6 + pages) * places
            + 64 * 6
            + looks
            + 5 * pieces
            + 2 * (places + 2 * pieces)
            + teeth
            + 2 * WITNESSES
            + ASKED_AGAIN,
        most_written_bytes: most_search_bytes + RESTORED * most_journal_bytes,
        most_search_bytes,
        most_journal_bytes,
    }
}

/// Single reads below the run.
fn teeth(run: u64, bytes: u64, block: u64) -> u64 {
    let (share, of) = MET;
    let all = (bytes - run.min(bytes)) / (run / of * share).max(block);
    let teeth = if all <= TEETH { all } else { all - all / 2 };
    teeth * shifts(teeth)
}

// How thorough a probe is. The search and its plan both use these values.

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
pub struct ProbeSettings {
    /// Largest cache that the probe still evicts, in bytes: this much is written sequentially to evict it. It is
    /// limited to an eighth of the device.
    pub cache_limit_bytes: u64,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self { cache_limit_bytes: 64 * MIB }
    }
}

impl ProbeSettings {
    /// Divisor of the device's size that limits a run: at most an eighth.
    pub const RUN_SHARE: u64 = 8;

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
        self.cache_limit_bytes.min(bytes / Self::RUN_SHARE)
    }
}
