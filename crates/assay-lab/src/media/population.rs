//! Media drawn by seed: genuine ones, fakes and failing ones. The same seed gives the same medium.
//!
//! The weights are estimates, not sales figures: dropped writes, periods that are powers of two and small caches are
//! common, and everything else that a controller can do occurs.

use std::ops::Range;

use super::address::{LineFault, Misaddress, Operations};
use super::content::{InitialContent, Pattern};
use super::decay::{BadCells, Decay, DroppedRead, Flips, Retention, StuckBits};
use super::failure::{Failure, FailurePlan, Hang, Timing, Trigger};
use super::layout::{BlockRule, Blocks, Layout, Order};
use super::pool::{Accounting, Pool, WhenFull};
use super::spec::{Cache, CachedWrites, Eviction, MediumSpec, WritePolicy};
use crate::dice::Dice;

const SECTOR: u64 = 512;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sizes of fakes and of failing media.
const SIZES: Range<u64> = 64 * MIB..(2 << 40) + 1;
/// Linux waits 30 s for a SCSI disk (`/sys/block/*/device/timeout`).
const TIMEOUT_NS: u64 = 30_000_000_000;

/// Any medium: 30 % genuine, 50 % fakes, 20 % failing.
#[must_use]
pub fn any(seed: u64) -> MediumSpec {
    match Dice::new(seed).below(10) {
        0..3 => genuine(seed),
        3..8 => fake(seed),
        _ => failing(seed),
    }
}

/// A medium that holds all data: of any size from 1.5 KiB to 2 TiB, with or without caches of any policy, with any
/// initial content, fast or slow.
#[must_use]
pub fn genuine(seed: u64) -> MediumSpec {
    let mut draw = Draw::new(seed, 1);
    let size = if draw.0.chance(0.05) { draw.0.log_within(3 * SECTOR..SIZES.start) } else { draw.size() };
    draw.spec(size)
}

/// A medium that announces more than it has; in 15 % of all cases with a second fault.
#[must_use]
pub fn fake(seed: u64) -> MediumSpec {
    let mut draw = Draw::new(seed, 2);
    let size = draw.size();
    let mut spec = draw.spec(size);
    let size = spec.announced_bytes;
    spec.dropped = draw.dropped();
    let real = draw.real(size);
    match draw.0.below(100) {
        0..35 => spec.layout = Layout::first(real),
        35..60 => spec.layout = Layout::wraparound(real),
        60..65 => spec.layout = Layout::wraparound(draw.real(size).max(MIB).min(size / 2 / MIB * MIB)).shuffled(),
        65..73 => spec.layout = Layout::chain(real, draw.real(real)),
        73..83 => {
            let window = draw.0.log_within(4 * KIB..64 * MIB).min(size / 4);
            let protected = draw.real(size).min(size - 2 * window.next_multiple_of(SECTOR));
            spec.layout = Layout::window(whole(protected), whole(window));
        }
        83..90 => spec.layout = draw.elsewhere(size, real),
        90..98 => spec = draw.pooled(spec, real),
        _ => {
            let bit = draw.0.within(3..(size / SECTOR).ilog2().into()) as u32;
            let fault = LineFault::Ignored;
            spec.misaddress = Some(Misaddress::Line { bit, fault, range: 0..size, on: Operations::Both });
        }
    }
    if draw.0.chance(0.15) { draw.damaged(spec) } else { spec }
}

/// A medium of the announced size that loses data or stops working.
#[must_use]
pub fn failing(seed: u64) -> MediumSpec {
    let mut draw = Draw::new(seed, 3);
    let size = draw.size();
    let spec = draw.spec(size);
    match draw.0.below(10) {
        0..5 => draw.fails(spec),
        5..9 => draw.damaged(spec),
        _ => {
            let spec = draw.damaged(spec);
            draw.fails(spec)
        }
    }
}

/// A fake whose addresses lead to its memory in a way that no division of a distance finds: laps in another order,
/// cells shared by neighbours, an end with its own cells, or reads and writes that lead elsewhere.
#[must_use]
pub fn strange_fake(seed: u64) -> MediumSpec {
    let mut draw = Draw::new(seed, 4);
    let size = draw.0.log_within(8 * MIB..(4 << 40)) / 4096 * 4096;
    let mut spec = draw.spec(size);
    if draw.0.chance(0.6) {
        spec.caches = Vec::new();
    }
    let size = spec.announced_bytes;
    spec.dropped = draw.dropped();
    // The announced size is at least a lap and a half.
    let real = draw.real(size).min(size / 3 * 2 / 4096 * 4096).max(256 * KIB);
    let block = draw.0.pick(&[4 * KIB, 64 * KIB, MIB]).min(real / 4 / 4096 * 4096).max(4 * KIB);
    let group = draw.0.within(2..9);
    match draw.0.below(11) {
        0 => spec.layout = Layout::wraparound(real).in_order(Order::Turned(block)),
        1 => spec.layout = Layout::wraparound(real).in_order(Order::Xored(block)),
        2 => spec.layout = Layout::wraparound(real).in_order(Order::Reversed),
        3 => spec.layout = Layout::wraparound(real).in_order(Order::Random(block)),
        4 => spec.layout = Layout::last_page(real),
        5 => spec.layout = Layout::Blocks(Blocks { block_bytes: block, group, rule: BlockRule::Shared }),
        6 => spec.layout = Layout::Blocks(Blocks { block_bytes: block, group, rule: BlockRule::FirstHolds }),
        7 => {
            let protected = draw.0.log_within(64 * KIB..size / 4) / 4096 * 4096;
            let window = real.min((size - protected) / 3) / 4096 * 4096;
            spec.layout = Layout::window(protected, window.max(4096)).with_tail(size, whole(MIB.min(size / 16)));
        }
        8 => spec.layout = Layout::holds([0..real / 2 / 4096 * 4096, size - whole(MIB.min(size / 16))..size]),
        9 => {
            spec.layout = Layout::first(real);
            spec.misaddress = Some(Misaddress::Wrap { period_bytes: real, on: Operations::Reads });
        }
        _ => {
            spec.layout = Layout::first(real);
            spec.misaddress = Some(Misaddress::Wrap { period_bytes: real, on: Operations::Writes });
            spec.dropped = draw.0.pick(&[DroppedRead::Zeros, DroppedRead::Ones, DroppedRead::Noise]);
        }
    }
    spec
}

/// An unreliable medium of the announced size: it drops or exchanges writes now and then, or has bad blocks at regular
/// distances.
#[must_use]
pub fn unreliable(seed: u64) -> MediumSpec {
    let mut draw = Draw::new(seed, 5);
    let size = draw.size();
    let mut spec = draw.spec(size);
    if draw.0.chance(0.6) {
        spec.caches = Vec::new();
    }
    spec.dropped = draw.dropped();
    match draw.0.below(3) {
        0 => spec.slips.drops_one_in = draw.0.log_within(100..20_000),
        1 => spec.slips.swaps_one_in = draw.0.log_within(100..3000),
        _ => {
            let block_bytes = draw.0.pick(&[4 * KIB, 64 * KIB, MIB]).max(u64::from(spec.block_bytes));
            let group = draw.0.within(3..14);
            spec.layout = Layout::Blocks(Blocks { block_bytes, group, rule: BlockRule::LastLoses });
        }
    }
    spec
}

/// Rounds down to whole sectors.
fn whole(bytes: u64) -> u64 {
    (bytes / SECTOR * SECTOR).max(SECTOR)
}

/// Draws the parameters of a medium.
struct Draw(Dice);

impl Draw {
    fn new(seed: u64, population: u64) -> Self {
        Self(Dice::new(seed.wrapping_mul(4).wrapping_add(population)))
    }

    /// Parameters common to all media.
    fn spec(&mut self, size: u64) -> MediumSpec {
        let block_bytes = self.0.weighted(&[(85, 512), (15, 4096)]);
        let block = u64::from(block_bytes);
        let size = (size / block * block).max((3 * SECTOR).next_multiple_of(block));
        let mut spec = MediumSpec { block_bytes, ..MediumSpec::genuine(size) };
        spec.seed = self.0.below(u64::MAX);
        spec.caches = self.caches();
        spec.before = InitialContent::full_of(self.pattern());
        spec.timing = self.0.weighted(&[(60, Timing::card()), (15, Timing::slow_card()), (25, Timing::ssd())]);
        if self.0.chance(0.1) {
            let slow = self.range(size, 0.01, 0.5);
            spec.timing.slow.push((slow, self.0.within(2..100) as u32));
        }
        spec
    }

    /// Half of all sizes are typical of labels: powers of two and whole decimal gigabytes. The others are arbitrary
    /// numbers of sectors.
    fn size(&mut self) -> u64 {
        let any = self.0.log_within(SIZES);
        let size = match self.0.below(4) {
            0 => 1 << any.ilog2(),
            1 if any > GIB => whole(any / 1_000_000_000 * 1_000_000_000),
            _ => whole(any),
        };
        size.max(SIZES.start)
    }

    fn pattern(&mut self) -> Pattern {
        self.0.weighted(&[
            (35, Pattern::Noise),
            (15, Pattern::Zeros),
            (10, Pattern::Ones),
            (10, Pattern::Stamps),
            (5, Pattern::Sequence),
            (25, Pattern::Mixture),
        ])
    }

    fn dropped(&mut self) -> DroppedRead {
        self.0.weighted(&[
            (35, DroppedRead::Zeros),
            (15, DroppedRead::Ones),
            (8, DroppedRead::Random),
            (10, DroppedRead::Noise),
            (15, DroppedRead::Stale),
            (9, DroppedRead::LastOnBus),
            (8, DroppedRead::Elsewhere),
        ])
    }

    /// The real size of a fake of `size`, less than `size`: a power of two, whole MiB, any number of sectors, nearly
    /// everything, or next to nothing.
    fn real(&mut self, size: u64) -> u64 {
        let most = size - SECTOR;
        let power = 1 << self.0.log_within(MIB.min(size / 2)..most).ilog2();
        let any = self.0.log_within((size / 200).max(SECTOR)..most);
        let nearly = size - self.0.within(size / 1000..size / 10);
        let real = match self.0.below(100) {
            0..40 => power,
            40..65 => any / MIB * MIB,
            65..85 => any,
            85..95 => nearly,
            _ => self.0.log_within(SECTOR..(64 * MIB).min(most)),
        };
        whole(real.min(most))
    }

    fn elsewhere(&mut self, size: u64, real: u64) -> Layout {
        match self.0.below(4) {
            0 => Layout::last(size, real),
            1 => Layout::middle(size, real),
            2 => Layout::both_ends(size, real.max(2 * SECTOR)),
            _ => {
                let pieces = self.0.within(2..20);
                let part = size / pieces;
                Layout::holds((0..pieces).map(|piece| {
                    let start = piece * part + self.0.below(part / 2);
                    let length = self.0.within(SECTOR..part / 2);
                    whole(start)..whole(start) + whole(length)
                }))
            }
        }
    }

    fn pooled(&mut self, spec: MediumSpec, real: u64) -> MediumSpec {
        let unit_bytes = self.0.pick(&[4 * KIB, 64 * KIB, MIB, 4 * MIB]);
        let zeros_are_free = self.0.chance(0.5);
        let units = Accounting::Units { unit_bytes, zeros_are_free };
        let accounting = self.0.weighted(&[(75, units), (25, Accounting::Compressed)]);
        let when_full = self.0.weighted(&[(75, WhenFull::Drops), (25, WhenFull::Errs)]);
        let bytes = real.max(2 * unit_bytes);
        let used_bytes = whole(self.0.below(bytes - unit_bytes));
        let before = InitialContent { used_bytes, ..spec.before };
        MediumSpec { pool: Some(Pool { bytes, accounting, when_full }), before, ..spec }
    }

    /// No cache in 45 % of all cases, one, or one for random writes and one for sequential ones.
    fn caches(&mut self) -> Vec<Cache> {
        match self.0.below(100) {
            0..45 => Vec::new(),
            45..85 => vec![self.cache(CachedWrites::All, 4 * KIB..128 * MIB)],
            _ => vec![
                self.cache(CachedWrites::Random, 4 * KIB..4 * MIB),
                self.cache(CachedWrites::Sequential, 64 * KIB..64 * MIB),
            ],
        }
    }

    fn cache(&mut self, takes: CachedWrites, sizes: Range<u64>) -> Cache {
        let eviction = self.0.weighted(&[
            (45, Eviction::LeastRecentlyWritten),
            (20, Eviction::LeastRecentlyUsed),
            (10, Eviction::LeastRecentlyUsedFilledByReads),
            (15, Eviction::FirstIn),
            (10, Eviction::Random),
        ]);
        let back = WritePolicy::Back { ignores_flush: self.0.chance(0.5) };
        let write_policy = self.0.weighted(&[(70, WritePolicy::Through), (30, back)]);
        let page_bytes = self.0.weighted(&[(10, 512), (60, 4096), (20, 16_384), (10, 65_536)]);
        let bytes = (self.0.log_within(sizes) / u64::from(page_bytes)).max(1) * u64::from(page_bytes);
        Cache { bytes, page_bytes, eviction, takes, write_policy }
    }

    /// A range of whole sectors at any place, or at the very end in one case of five. Its length lies between the
    /// shares `least` and `most` of `size`.
    fn range(&mut self, size: u64, least: f64, most: f64) -> Range<u64> {
        let low = (size as f64 * least) as u64;
        let high = (size as f64 * most) as u64;
        let length = whole(self.0.log_within(low.max(SECTOR)..high.max(2 * SECTOR))).min(size);
        let start = match self.0.below(5) {
            0 => size - length,
            _ => whole(self.0.below(size - length + SECTOR)).min(size - length),
        };
        start..start + length
    }

    fn damaged(&mut self, spec: MediumSpec) -> MediumSpec {
        let size = spec.announced_bytes;
        let on = self.0.pick(&[Operations::Reads, Operations::Writes, Operations::Both]);
        match self.0.below(100) {
            0..35 => {
                let ranges = self.0.within(1..5);
                (0..ranges).fold(spec, |spec, _| {
                    let range = self.range(size, 0.0001, 0.2);
                    spec.with_errors(range, on)
                })
            }
            35..60 => {
                let rate = 10f64.powf(-1.0 - 5.0 * self.0.unit());
                let bad = self.0.pick(&[BadCells::StuckByte, BadCells::Noise]);
                let none = Flips::none();
                let flips = match self.0.below(4) {
                    0 => Flips { per_write: rate, ..none },
                    1 => Flips { per_read: rate, ..none },
                    2 => Flips { bad_density: rate, bad, ..none },
                    _ => {
                        let range = self.range(size, 0.01, 1.0);
                        let byte = self.0.below(SECTOR) as usize;
                        let bits = 1 << self.0.below(8);
                        Flips { stuck: Some(StuckBits { byte, bits, high: self.0.chance(0.5), range }), ..none }
                    }
                };
                MediumSpec { flips, ..spec }
            }
            60..80 => {
                let on = self.0.pick(&[Operations::Reads, Operations::Writes]);
                let distance = self.0.log_within(1..MIB / SECTOR).cast_signed();
                let by_sectors = if self.0.chance(0.5) { distance } else { -distance };
                let bit = self.0.within(0..(size / SECTOR).ilog2().into()) as u32;
                let range = self.range(size, 0.05, 1.0);
                let misaddress = match self.0.below(2) {
                    0 => Misaddress::Shift { from_bytes: whole(self.0.below(size / 4 * 3)), by_sectors, on },
                    _ => Misaddress::Line { bit, fault: LineFault::Inverted, range, on },
                };
                // A fake with a faulty address line keeps that fault.
                MediumSpec { misaddress: spec.misaddress.clone().or(Some(misaddress)), ..spec }
            }
            _ => {
                let reads = Retention::Reads(self.0.within(1..5) as u32);
                let written = Retention::WrittenBytes(self.0.log_within(64 * KIB..256 * MIB));
                let retention = self.0.pick(&[reads, written]);
                let range = self.range(size, 0.05, 1.0);
                MediumSpec { decay: Some(Decay { retention, range }), ..spec }
            }
        }
    }

    fn fails(&mut self, spec: MediumSpec) -> MediumSpec {
        let size = spec.announced_bytes;
        let trigger = match self.0.below(10) {
            0..6 => Trigger::AfterWritten(whole(self.0.log_within(MIB..256 * MIB))),
            6..8 => Trigger::AfterOperations(self.0.log_within(1..20_000)),
            _ => Trigger::AtTouch(self.range(size, 0.001, 0.1)),
        };
        let shrunk = whole(self.0.below(size));
        let failure = self.0.weighted(&[
            (25, Failure::ReadOnly),
            (15, Failure::WriteErrors),
            (10, Failure::AllErrors),
            (20, Failure::DropsWrites),
            (10, Failure::Hangs(Hang::TimesOut(TIMEOUT_NS))),
            (15, Failure::Gone),
            (5, Failure::Shrinks(shrunk)),
        ]);
        MediumSpec { failure: Some(FailurePlan { trigger, failure }), ..spec }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::truth::{Class, FoundVerdict, Truth};
    use super::*;

    #[test]
    fn every_seed_gives_a_medium_of_its_population() {
        let mut classes: BTreeMap<Class, u32> = BTreeMap::new();
        for seed in 0..5000 {
            let more = [("fake", strange_fake(seed)), ("unreliable", unreliable(seed))];
            let all = [("genuine", genuine(seed)), ("fake", fake(seed)), ("failing", failing(seed))];
            for (name, spec) in all.into_iter().chain(more) {
                let built = spec.build();
                assert!(built.is_ok(), "{name} {seed}: {} {spec:?}", built.unwrap_err());
                let truth = Truth::about_medium(&spec);
                let fits = match name {
                    "genuine" => truth.right == [FoundVerdict::Genuine],
                    "fake" => truth.right.contains(&FoundVerdict::Fake),
                    _ => !truth.right.contains(&FoundVerdict::Genuine),
                };
                assert!(fits, "{name} {seed}: {truth:?} {spec:?}");
                *classes.entry(truth.class).or_default() += 1;
            }
        }
        // No class is so rare that a campaign of a few hundred media misses it.
        assert!(classes.len() == 12 && classes.values().all(|count| *count > 50), "{classes:?}");
        assert_eq!(fake(7), fake(7));
    }

    #[test]
    fn what_a_fake_holds_is_a_power_of_two_whole_mebibytes_or_anything() {
        let reals: Vec<u64> = (0..2000).map(|seed| Draw::new(seed, 2).real(32 << 30)).collect();
        let share = |of: &dyn Fn(&&u64) -> bool| reals.iter().filter(of).count() as f64 / 2000.0;
        let (powers, mebibytes) = (share(&|real| real.is_power_of_two()), share(&|real| real.is_multiple_of(MIB)));
        assert!((0.35..0.45).contains(&powers) && (0.6..0.7).contains(&mebibytes), "{powers} {mebibytes}");
    }
}
