//! Each parameter of the model medium has its effect, as seen by plain reads and writes.

mod addresses;
mod caches;
mod cells;

use assay_lab::media::{
    Cache, Decay, DroppedRead, Eviction, InitialContent, Layout, MediumSpec, Misaddress, ModelMedium, Operations,
    Pattern, Retention, Timing, WritePolicy,
};
use assay_verify::probe::{Device, ProbeFault};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A medium with the operations common to all tests.
struct Card(ModelMedium);

impl Card {
    fn new(spec: &MediumSpec) -> Self {
        Self(spec.build().unwrap())
    }

    fn read(&mut self, offset: u64, bytes: u64) -> Vec<u8> {
        let mut buffer = vec![0xa5; bytes as usize];
        self.0.read_at(offset, &mut buffer).unwrap();
        buffer
    }

    fn sector(&mut self, offset: u64) -> Vec<u8> {
        self.read(offset, 512)
    }

    fn put(&mut self, offset: u64, data: &[u8]) {
        self.0.write_at(offset, data).unwrap();
    }

    /// Fills `bytes` from `offset` on with `value`.
    fn write(&mut self, offset: u64, bytes: u64, value: u8) {
        self.put(offset, &vec![value; bytes as usize]);
    }

    /// The byte that fills the sector at `offset`; `None` if its bytes differ.
    fn value(&mut self, offset: u64) -> Option<u8> {
        let sector = self.sector(offset);
        sector.iter().all(|byte| *byte == sector[0]).then_some(sector[0])
    }
}

// Sizes, the clock and the counters.

#[test]
fn any_size_in_whole_blocks_can_be_announced() {
    for bytes in [1536, 2048, 100 * MIB + 512, 2_003_828_736, 4 << 40] {
        let mut card = Card::new(&MediumSpec::genuine(bytes));
        assert_eq!(card.0.bytes(), bytes);
        card.write(bytes - 512, 512, 7);
        assert_eq!(card.value(bytes - 512), Some(7));
        assert_eq!(card.0.write_at(bytes, &[0; 512]), Err(ProbeFault::Medium));
    }
    for bytes in [0, 1024, 1537, (4 << 40) + 512] {
        assert!(MediumSpec::genuine(bytes).build().is_err(), "{bytes}");
    }
}

#[test]
fn large_blocks_are_read_and_written_whole() {
    let spec = MediumSpec { block_bytes: 4096, ..MediumSpec::genuine(64 * MIB) };
    let mut card = Card::new(&spec);
    assert_eq!(card.0.block_bytes(), 4096);
    assert_eq!(card.0.write_at(512, &[0; 4096]), Err(ProbeFault::Medium));
    assert_eq!(card.0.read_at(0, &mut [0; 512]), Err(ProbeFault::Medium));
    assert_eq!(card.0.read_at(4096, &mut [0; 8192]), Ok(()));
    assert_eq!(card.0.traffic().rejected, 2);
    assert!(MediumSpec { announced_bytes: 64 * MIB + 512, ..spec.clone() }.build().is_err());
    assert!(MediumSpec { block_bytes: 1024, ..spec }.build().is_err());
}

#[test]
fn traffic_is_counted() {
    let mut card = Card::new(&MediumSpec::genuine(64 * MIB));
    card.write(0, MIB, 1);
    card.write(MIB, 512, 1);
    card.read(0, 4096);
    card.0.sync().unwrap();
    let traffic = card.0.traffic();
    assert_eq!((traffic.writes, traffic.written_bytes), (2, MIB + 512));
    assert_eq!((traffic.reads, traffic.read_bytes, traffic.flushes), (1, 4096, 1));
}

#[test]
fn the_clock_says_what_operations_cost() {
    let timing = Timing {
        operation_ns: 1_000,
        random_read_ns: 20_000,
        random_write_ns: 300_000,
        flush_ns: 4_000_000,
        read_bytes_per_second: 1_000_000_000,
        write_bytes_per_second: 500_000_000,
        slow: vec![(32 * MIB..33 * MIB, 10)],
    };
    let mut card = Card::new(&MediumSpec { timing, ..MediumSpec::genuine(64 * MIB) });
    let mut cost = |act: &dyn Fn(&mut Card)| {
        let before = card.0.elapsed_ns();
        act(&mut card);
        card.0.elapsed_ns() - before
    };
    assert_eq!(cost(&|card| card.write(8 * MIB, 500_224, 0)), 301_000 + 1_000_448);
    assert_eq!(cost(&|card| card.write(8 * MIB + 500_224, 512, 0)), 1_000 + 1_024);
    assert_eq!(cost(&|card| drop(card.read(8 * MIB, 1024))), 21_000 + 1_024);
    assert_eq!(cost(&|card| drop(card.read(8 * MIB + 1024, 512))), 1_000 + 512);
    assert_eq!(cost(&|card| drop(card.read(33 * MIB - 512, 1024))), 10 * (21_000 + 1_024));
    assert_eq!(cost(&|card| card.0.sync().unwrap()), 4_000_000);
}

/// Processor time of this thread in seconds: other processes may use the processors, too.
fn spent() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[test]
fn sixty_thousand_operations_take_less_than_a_second() {
    // The operations of a probe of two tebibytes. Ten thousand probes should take minutes, not hours. The usual time is
    // a thirtieth of the bound.
    let mut times = (0..2).map(|_| {
        let mut card = Card::new(&MediumSpec::genuine(2 << 40));
        let (start, mut page) = (spent(), [7; 4096]);
        for step in 0..30_000u64 {
            let offset = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) % ((2 << 40) / 4096) * 4096;
            card.0.write_at(offset, &page).unwrap();
            card.0.read_at(offset, &mut page).unwrap();
        }
        spent() - start
    });
    // The first pass waits for memory from the kernel.
    let (first, second) = (times.next().unwrap(), times.next().unwrap());
    assert!(second < 1.0, "{first} s, {second} s");
}

// What the owner reads afterwards.

#[test]
fn a_change_is_seen_until_it_is_put_back() {
    let mut card = Card::new(&MediumSpec::genuine(GIB));
    let before = card.0.snapshot();
    let saved = card.read(5 * MIB, 4 * KIB);
    card.write(5 * MIB + 512, 512, 7);
    assert_eq!(card.0.changed_since(&before), [5 * MIB + 512]);
    card.put(5 * MIB, &saved);
    assert!(card.0.changed_since(&before).is_empty());
    // Reading changes nothing, and the counters exclude the comparison.
    let traffic = card.0.traffic();
    let _ = card.0.changed_since(&before);
    assert_eq!(card.0.traffic(), traffic);
}

#[test]
fn only_what_the_owner_can_see_counts() {
    // Dropped writes change nothing.
    let mut limbo = Card::new(&MediumSpec::limbo(GIB, 8 * MIB));
    let before = limbo.0.snapshot();
    limbo.write(100 * MIB, MIB, 7);
    assert!(limbo.0.changed_since(&before).is_empty());
    // A write to a later lap changes the first.
    let mut wrap = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(8 * MIB)));
    let before = wrap.0.snapshot();
    wrap.write(16 * MIB + 512, 512, 7);
    assert_eq!(wrap.0.changed_since(&before), [512]);
    // Where reads repeat the real part, its change is counted there, once.
    let mut elsewhere = Card::new(&MediumSpec::limbo(GIB, 8 * MIB).with_dropped(DroppedRead::Elsewhere));
    let before = elsewhere.0.snapshot();
    elsewhere.write(512, 512, 7);
    assert_eq!(elsewhere.0.changed_since(&before), [512]);
    // Data that cannot be read do not count.
    let mut bad = Card::new(&MediumSpec::genuine(GIB).with_errors(MIB..2 * MIB, Operations::Reads));
    let before = bad.0.snapshot();
    bad.write(MIB, 512, 7);
    assert!(bad.0.changed_since(&before).is_empty());
}

#[test]
fn a_shifted_write_is_seen_at_the_address_that_reads_it() {
    let misaddress = Some(Misaddress::Shift { from_bytes: 32 * MIB, by_sectors: -1, on: Operations::Reads });
    let mut card = Card::new(&MediumSpec { misaddress, ..MediumSpec::genuine(64 * MIB) });
    let before = card.0.snapshot();
    card.write(40 * MIB, 512, 7);
    assert_eq!(card.0.changed_since(&before), [40 * MIB + 512]);
    // No address reads the last cell.
    card.write(64 * MIB - 512, 512, 7);
    assert_eq!(card.0.changed_since(&before), [40 * MIB + 512]);
}

#[test]
fn what_a_cache_holds_back_is_counted() {
    // Two addresses share a cell: the content of the page evicted last remains.
    for (eviction, changed) in [(Eviction::FirstIn, vec![]), (Eviction::LeastRecentlyWritten, vec![0])] {
        let cache =
            Cache { write_policy: WritePolicy::Back { ignores_flush: true }, eviction, ..Cache::with_bytes(MIB) };
        let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(8 * MIB)).with_cache(cache));
        let before = card.0.snapshot();
        let saved = card.sector(0);
        card.write(8 * MIB, 512, 7);
        assert_eq!(card.0.changed_since(&before), [0]);
        card.put(0, &saved);
        assert!(card.0.changed_since(&before).is_empty());
        card.write(8 * MIB, 512, 8);
        assert_eq!(card.sector(0), saved);
        assert_eq!(card.0.changed_since(&before), changed, "{eviction:?}");
    }
}

#[test]
fn data_that_decay_are_missed() {
    let decay = Some(Decay { retention: Retention::Reads(2), range: 0..GIB });
    let mut card = Card::new(&MediumSpec { decay, ..MediumSpec::genuine(GIB) });
    let before = card.0.snapshot();
    card.read(8 * KIB, 512);
    assert!(card.0.changed_since(&before).is_empty());
    card.read(8 * KIB, 512);
    assert_eq!(card.0.changed_since(&before), (16..24).map(|sector| sector * 512).collect::<Vec<_>>());
}

#[test]
fn the_content_before_is_what_was_asked_for() {
    let card = |pattern| {
        let before = InitialContent { pattern, used_bytes: 32 * MIB };
        Card::new(&MediumSpec { before, ..MediumSpec::genuine(64 * MIB) })
    };
    assert_eq!((card(Pattern::Ones).value(MIB), card(Pattern::Ones).value(32 * MIB)), (Some(0xff), Some(0)));
    assert_eq!(card(Pattern::Zeros).value(MIB), Some(0));
    let sequence = card(Pattern::Sequence).sector(5 * MIB);
    assert_eq!(sequence[..8], (5 * MIB).to_le_bytes());
    assert_eq!(sequence[8..16], (5 * MIB * 4_294_967_311 + 17).to_le_bytes());
    let mut stamps = card(Pattern::Stamps);
    assert_eq!(stamps.sector(0)[..16], stamps.sector(9 * MIB)[..16]);
}

#[test]
fn the_same_seed_makes_the_same_medium() {
    let spec = |seed| MediumSpec { seed, ..MediumSpec::limbo(GIB, 8 * MIB).with_dropped(DroppedRead::Random) };
    let reads = |seed| {
        let mut card = Card::new(&spec(seed));
        (card.sector(0), card.sector(100 * MIB), card.sector(100 * MIB))
    };
    assert_eq!(reads(1), reads(1));
    assert_ne!(reads(1), reads(2));
}
