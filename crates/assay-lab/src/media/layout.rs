//! The addresses of a medium that have memory, and their cells.

use std::iter::once;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;
use assay_engine::mix;

/// The memory under the addresses; all sizes in bytes, in whole sectors of 512 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// These ranges hold data, each address in its own cell; the rest is dropped. Ascending and disjoint.
    Holds(Vec<Range<u64>>),
    /// The addresses wrap around.
    Repeats(Repeats),
    /// The rule depends on the number of the block.
    Blocks(Blocks),
}

/// A layout in which the number of a block decides what lies under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Size of a block in bytes.
    pub block_bytes: u64,
    /// Blocks in a group; groups are contiguous.
    pub group: u64,
    /// The rule for a group.
    pub rule: BlockRule,
}

/// The rule for a group of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockRule {
    /// Its first block holds data, the others are dropped.
    FirstHolds,
    /// Its last block is dropped, the others hold data.
    LastLoses,
    /// All its blocks share one block of memory.
    Shared,
}

/// A layout whose addresses wrap around.
///
/// Counterfeiters change only the announced size in the controller. The flash translation layer then drops high bits of
/// the block number (a period that is a power of two), or takes the remainder by its number of blocks (any period), or
/// has a table for the start of the file system and maps everything behind it to a few spare blocks (a protected part
/// and a window).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Bytes from the start of the addresses that have their own cells.
    pub protected_bytes: u64,
    /// Behind them, addresses wrap around after this many bytes.
    pub period_bytes: u64,
    /// This many bytes from the start of each period hold data; the rest of the period is dropped.
    pub real_bytes: u64,
    /// The order of the cells in later laps.
    pub order: Order,
    /// From this address on each address has its own cell again.
    pub tail_from_bytes: u64,
    /// Bytes of that part; 0 if there is none.
    pub tail_bytes: u64,
}

/// The order of the cells in a lap after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The same as in the first lap.
    Straight,
    /// The 4 KiB blocks of each whole MiB in another order for each lap.
    Shuffled,
    /// Blocks of this many bytes; each later lap begins at another block.
    Turned(u64),
    /// Blocks of this many bytes; the block number is XORed with another number for each lap.
    Xored(u64),
    /// The 4 KiB blocks of every second lap in reverse order.
    Reversed,
    /// Blocks of this many bytes; each block of a later lap lies on a random block.
    Random(u64),
    /// A sector has the same place within its page of 4 KiB as its address, wherever the period begins.
    PageOfAddress,
}

/// The memory under an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellPlace {
    /// This sector of the memory. Cells are numbered by the lowest address that leads to them.
    Cell(u64),
    /// No memory.
    Dropped,
}

/// This many sectors from an address on are contiguous, also in the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellRun {
    pub(super) place: CellPlace,
    pub(super) sectors: u64,
}

/// Sectors within which [`Order::Shuffled`] exchanges blocks.
const STRIPE_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;
const BLOCK_SECTORS: u64 = 4096 / SECTOR_BYTES;
const STRIPE_BLOCKS: u64 = STRIPE_SECTORS / BLOCK_SECTORS;

impl Layout {
    /// A layout of `bytes` that all hold data.
    #[must_use]
    pub fn whole(bytes: u64) -> Self {
        Self::first(bytes)
    }

    /// The first `real` bytes hold data: the most common fake.
    #[must_use]
    pub fn first(real: u64) -> Self {
        Self::holds(once(0..real))
    }

    /// The last `real` bytes of `announced` hold data.
    #[must_use]
    pub fn last(announced: u64, real: u64) -> Self {
        Self::holds(once(announced.saturating_sub(real)..announced))
    }

    /// `real` bytes in the middle of `announced` hold data.
    #[must_use]
    pub fn middle(announced: u64, real: u64) -> Self {
        let start = announced.saturating_sub(real) / 2 / SECTOR_BYTES * SECTOR_BYTES;
        Self::holds(once(start..start + real))
    }

    /// Half of `real` at each end of `announced` holds data: the start of the file system, and the last block, which
    /// simple checks read.
    #[must_use]
    pub fn both_ends(announced: u64, real: u64) -> Self {
        let half = real / 2 / SECTOR_BYTES * SECTOR_BYTES;
        Self::holds([0..half, announced.saturating_sub(half)..announced])
    }

    /// The given `ranges` hold data; empty ranges are ignored.
    #[must_use]
    pub fn holds(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self::Holds(ranges.into_iter().filter(|range| !range.is_empty()).collect())
    }

    /// Addresses wrap around after `period` bytes.
    #[must_use]
    pub fn wraparound(period: u64) -> Self {
        Self::chain(period, period)
    }

    /// Addresses wrap around after `period` bytes. The first `real` bytes of each period hold data.
    #[must_use]
    pub fn chain(period: u64, real: u64) -> Self {
        Self::Repeats(Repeats {
            protected_bytes: 0,
            period_bytes: period,
            real_bytes: real,
            order: Order::Straight,
            tail_from_bytes: 0,
            tail_bytes: 0,
        })
    }

    /// After `protected` bytes, all addresses share a window of `window` bytes.
    #[must_use]
    pub fn window(protected: u64, window: u64) -> Self {
        match Self::wraparound(window) {
            Self::Repeats(repeats) => Self::Repeats(Repeats { protected_bytes: protected, ..repeats }),
            other => other,
        }
    }

    /// The first `real` bytes have their own cells, and all addresses behind them share the last page of these.
    #[must_use]
    pub fn last_page(real: u64) -> Self {
        Self::window(real.saturating_sub(4096), 4096).in_order(Order::PageOfAddress)
    }

    /// The layout with the blocks of later laps in another order.
    #[must_use]
    pub fn shuffled(self) -> Self {
        self.in_order(Order::Shuffled)
    }

    /// The layout with later laps in this order.
    #[must_use]
    pub fn in_order(self, order: Order) -> Self {
        match self {
            Self::Repeats(repeats) => Self::Repeats(Repeats { order, ..repeats }),
            other => other,
        }
    }

    /// The layout for `announced` bytes, with the last `tail` bytes in their own cells.
    #[must_use]
    pub fn with_tail(self, announced: u64, tail: u64) -> Self {
        let tail_from_bytes = announced.saturating_sub(tail);
        match self {
            Self::Repeats(repeats) => Self::Repeats(Repeats { tail_from_bytes, tail_bytes: tail, ..repeats }),
            other => other,
        }
    }

    /// Byte ranges of `announced` addresses that hold data at the same time.
    #[must_use]
    pub fn reliable(&self, announced: u64) -> Vec<Range<u64>> {
        match self {
            Self::Holds(ranges) => ranges.clone(),
            Self::Repeats(Repeats { protected_bytes, real_bytes, tail_from_bytes, tail_bytes, .. }) => {
                let first = 0..(protected_bytes + real_bytes).min(announced);
                let tail = (*tail_from_bytes).max(first.end)..tail_from_bytes + tail_bytes;
                if tail.is_empty() { vec![first] } else { vec![first, tail] }
            }
            // There are too many parts to list them.
            Self::Blocks(_) => Vec::new(),
        }
    }

    /// Bytes of `announced` that hold data at the same time.
    #[must_use]
    pub fn real_bytes(&self, announced: u64) -> u64 {
        match self {
            Self::Blocks(blocks) => blocks.real_bytes(announced),
            _ => self.reliable(announced).iter().map(|range| range.end - range.start).sum(),
        }
    }

    /// Whether every address of `announced` bytes has its own cell.
    #[must_use]
    pub fn is_whole(&self, announced: u64) -> bool {
        if let Self::Blocks(blocks) = self {
            return blocks.real_bytes(announced) == announced;
        }
        self.reliable(announced).iter().map(|range| range.end - range.start).sum::<u64>() == announced
    }

    /// Returns an error if a medium of `announced` bytes cannot have this layout.
    pub(super) fn check(&self, announced: u64) -> Result<(), &'static str> {
        let whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
        match self {
            Self::Holds(ranges) => {
                let mut from = 0;
                for range in ranges {
                    if !whole(range.start) || !whole(range.end) {
                        return Err("ranges that hold data are whole sectors");
                    }
                    if range.start < from || range.is_empty() || range.end > announced {
                        return Err("ranges that hold data are ascending, disjoint and inside the announced size");
                    }
                    from = range.end;
                }
                Ok(())
            }
            Self::Blocks(Blocks { block_bytes, group, .. }) => {
                if *block_bytes == 0 || *group == 0 || !whole(*block_bytes) {
                    Err("a group is at least a block, and a block at least a sector")
                } else {
                    Ok(())
                }
            }
            Self::Repeats(Repeats {
                protected_bytes, period_bytes, real_bytes, tail_from_bytes, tail_bytes, ..
            }) => {
                let all = [protected_bytes, period_bytes, real_bytes, tail_from_bytes, tail_bytes];
                if !all.into_iter().all(|bytes| whole(*bytes)) {
                    Err("protected part, period and real part are whole sectors")
                } else if *period_bytes == 0 || real_bytes > period_bytes {
                    Err("a period is at least a sector, and its real part at most the period")
                } else {
                    Ok(())
                }
            }
        }
    }

    /// The place of `sector`, and for how many sectors it is contiguous.
    pub(super) fn locate(&self, sector: u64) -> CellRun {
        match self {
            Self::Holds(ranges) => holds(ranges, sector),
            Self::Repeats(repeats) => repeats.locate(sector),
            Self::Blocks(blocks) => blocks.locate(sector),
        }
    }

    /// The `nth` sector that holds data; `None` if there are fewer.
    pub(super) fn nth_cell(&self, nth: u64) -> Option<u64> {
        match self {
            Self::Holds(ranges) => {
                let mut left = nth;
                for range in ranges {
                    let sectors = (range.end - range.start) / SECTOR_BYTES;
                    match left.checked_sub(sectors) {
                        Some(rest) => left = rest,
                        None => return Some(range.start / SECTOR_BYTES + left),
                    }
                }
                None
            }
            Self::Repeats(Repeats { protected_bytes, real_bytes, tail_from_bytes, .. }) => {
                let first = (protected_bytes + real_bytes) / SECTOR_BYTES;
                let cell = if nth < first { nth } else { tail_from_bytes / SECTOR_BYTES + nth - first };
                (nth < self.cells()).then_some(cell)
            }
            // The first cells are those of the first groups.
            Self::Blocks(blocks) => Some(blocks.first_cell(nth)),
        }
    }

    /// Sectors that hold data.
    pub(super) fn cells(&self) -> u64 {
        match self {
            Self::Holds(ranges) => ranges.iter().map(|range| range.end - range.start).sum::<u64>() / SECTOR_BYTES,
            Self::Repeats(Repeats { protected_bytes, real_bytes, tail_bytes, .. }) => {
                (protected_bytes + real_bytes + tail_bytes) / SECTOR_BYTES
            }
            // This result of a single group is used for the data read at places without memory.
            Self::Blocks(blocks) => blocks.block_bytes / SECTOR_BYTES,
        }
    }
}

impl Blocks {
    fn real_bytes(&self, announced: u64) -> u64 {
        let group = self.block_bytes * self.group;
        let (groups, rest) = (announced / group, announced % group);
        match self.rule {
            BlockRule::FirstHolds | BlockRule::Shared => groups * self.block_bytes + rest.min(self.block_bytes),
            BlockRule::LastLoses => {
                announced - groups * self.block_bytes - rest.saturating_sub(group - self.block_bytes)
            }
        }
    }

    fn first_cell(&self, nth: u64) -> u64 {
        match self.rule {
            BlockRule::LastLoses if self.group == 1 => 0,
            _ => nth % (self.block_bytes / SECTOR_BYTES).max(1),
        }
    }

    fn locate(&self, sector: u64) -> CellRun {
        let sectors = self.block_bytes / SECTOR_BYTES;
        let (block, inside) = (sector / sectors, sector % sectors);
        let place = match self.rule {
            BlockRule::FirstHolds if block.is_multiple_of(self.group) => CellPlace::Cell(sector),
            BlockRule::LastLoses if block % self.group + 1 != self.group => CellPlace::Cell(sector),
            BlockRule::Shared => CellPlace::Cell(block / self.group * self.group * sectors + inside),
            BlockRule::FirstHolds | BlockRule::LastLoses => CellPlace::Dropped,
        };
        CellRun { place, sectors: sectors - inside }
    }
}

fn holds(ranges: &[Range<u64>], sector: u64) -> CellRun {
    let offset = sector * SECTOR_BYTES;
    let next = ranges.partition_point(|range| range.end <= offset);
    match ranges.get(next) {
        Some(range) if range.start <= offset => {
            CellRun { place: CellPlace::Cell(sector), sectors: (range.end - offset) / SECTOR_BYTES }
        }
        Some(range) => CellRun { place: CellPlace::Dropped, sectors: (range.start - offset) / SECTOR_BYTES },
        None => CellRun { place: CellPlace::Dropped, sectors: u64::MAX },
    }
}

impl Repeats {
    fn locate(&self, sector: u64) -> CellRun {
        let [protected, period, real, tail] =
            [self.protected_bytes, self.period_bytes, self.real_bytes, self.tail_from_bytes]
                .map(|bytes| bytes / SECTOR_BYTES);
        let tail = if self.tail_bytes == 0 { u64::MAX } else { tail };
        if sector >= tail {
            return CellRun { place: CellPlace::Cell(sector), sectors: u64::MAX };
        }
        let run = self.locate_before_tail(sector, protected, period, real);
        CellRun { sectors: run.sectors.min(tail - sector), ..run }
    }

    fn locate_before_tail(&self, sector: u64, protected: u64, period: u64, real: u64) -> CellRun {
        let Some(behind) = sector.checked_sub(protected) else {
            return CellRun { place: CellPlace::Cell(sector), sectors: protected - sector };
        };
        let (lap, inside) = (behind / period, behind % period);
        if inside >= real {
            return CellRun { place: CellPlace::Dropped, sectors: period - inside };
        }
        if lap == 0 {
            return CellRun { place: CellPlace::Cell(sector), sectors: real - inside };
        }
        let (block, cell) = match self.order {
            Order::Straight => return CellRun { place: CellPlace::Cell(protected + inside), sectors: real - inside },
            Order::PageOfAddress => {
                let cell = protected + sector % BLOCK_SECTORS % period;
                return CellRun { place: CellPlace::Cell(cell), sectors: 1 };
            }
            Order::Shuffled => return shuffled_run(lap, protected, inside, real),
            Order::Reversed if lap.is_multiple_of(2) => {
                return CellRun { place: CellPlace::Cell(protected + inside), sectors: real - inside };
            }
            Order::Reversed => (BLOCK_SECTORS, backwards as fn(u64, u64, u64) -> u64),
            Order::Turned(bytes) => (bytes / SECTOR_BYTES, turned as fn(u64, u64, u64) -> u64),
            Order::Xored(bytes) => (bytes / SECTOR_BYTES, xored as fn(u64, u64, u64) -> u64),
            Order::Random(bytes) => (bytes / SECTOR_BYTES, anywhere as fn(u64, u64, u64) -> u64),
        };
        let (at, within, blocks) = (inside / block.max(1), inside % block.max(1), real / block.max(1));
        // The rest at the end that is shorter than a block keeps its place.
        if at >= blocks {
            return CellRun { place: CellPlace::Cell(protected + inside), sectors: real - inside };
        }
        CellRun { place: CellPlace::Cell(protected + cell(lap, at, blocks) * block + within), sectors: block - within }
    }
}

fn shuffled_run(lap: u64, protected: u64, inside: u64, real: u64) -> CellRun {
    let stripe = inside / STRIPE_SECTORS * STRIPE_SECTORS;
    if stripe + STRIPE_SECTORS > real {
        return CellRun { place: CellPlace::Cell(protected + inside), sectors: real - inside };
    }
    let (block, within) = ((inside - stripe) / BLOCK_SECTORS, inside % BLOCK_SECTORS);
    let cell = protected + stripe + shuffled(lap, block) * BLOCK_SECTORS + within;
    CellRun { place: CellPlace::Cell(cell), sectors: BLOCK_SECTORS - within }
}

/// The place of a block in a lap that begins at another block.
fn turned(lap: u64, block: u64, blocks: u64) -> u64 {
    (block + mix(lap) % blocks) % blocks
}

/// The place of a block in a lap with XORed block numbers. A block whose result lies beyond the last block keeps its
/// place.
fn xored(lap: u64, block: u64, blocks: u64) -> u64 {
    let other = block ^ (mix(lap) % blocks.next_power_of_two());
    if other < blocks { other } else { block }
}

/// The place of a block in a lap in reverse order.
fn backwards(_: u64, block: u64, blocks: u64) -> u64 {
    blocks - 1 - block
}

/// A random block.
fn anywhere(lap: u64, block: u64, blocks: u64) -> u64 {
    mix(mix(lap) ^ block) % blocks
}

/// A permutation of the blocks of a stripe: an odd factor is invertible modulo a power of two.
fn shuffled(lap: u64, block: u64) -> u64 {
    let key = mix(lap);
    (block.wrapping_mul(key | 1).wrapping_add(key >> 32)) % STRIPE_BLOCKS
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn cell(layout: &Layout, offset: u64) -> Option<u64> {
        match layout.locate(offset / SECTOR_BYTES).place {
            CellPlace::Cell(cell) => Some(cell * SECTOR_BYTES),
            CellPlace::Dropped => None,
        }
    }

    #[test]
    fn ranges_hold_to_the_sector_wherever_they_lie() {
        for (layout, real) in [
            (Layout::first(2 * MIB), 0..2 * MIB),
            (Layout::last(8 * MIB, 2 * MIB), 6 * MIB..8 * MIB),
            (Layout::middle(8 * MIB, 2 * MIB), 3 * MIB..5 * MIB),
        ] {
            assert_eq!(layout.reliable(8 * MIB), std::slice::from_ref(&real));
            assert_eq!(
                (cell(&layout, real.start), cell(&layout, real.end - 512)),
                (Some(real.start), Some(real.end - 512))
            );
            assert_eq!(cell(&layout, real.end), None);
            assert_eq!(real.start.checked_sub(512).and_then(|before| cell(&layout, before)), None);
            assert!(!layout.is_whole(8 * MIB));
        }
        let ends = Layout::both_ends(8 * MIB, 2 * MIB);
        assert_eq!(ends.reliable(8 * MIB), [0..MIB, 7 * MIB..8 * MIB]);
        assert_eq!((ends.nth_cell(2047), ends.nth_cell(2048), ends.nth_cell(4096)), (Some(2047), Some(7 * 2048), None));
        assert!(Layout::whole(MIB).is_whole(MIB));
    }

    #[test]
    fn addresses_start_again() {
        let wrap = Layout::wraparound(3 * MIB + 512);
        assert_eq!((cell(&wrap, 3 * MIB), cell(&wrap, 3 * MIB + 512)), (Some(3 * MIB), Some(0)));
        assert_eq!(cell(&wrap, 7 * MIB), Some(MIB - 1024));
        let chain = Layout::chain(4 * MIB, MIB);
        assert_eq!(
            (cell(&chain, MIB - 512), cell(&chain, MIB), cell(&chain, 4 * MIB)),
            (Some(MIB - 512), None, Some(0))
        );
        let window = Layout::window(2 * MIB, 4096);
        assert_eq!((cell(&window, 2 * MIB - 512), cell(&window, 2 * MIB)), (Some(2 * MIB - 512), Some(2 * MIB)));
        assert_eq!((cell(&window, 2 * MIB + 4096), cell(&window, 5 * MIB + 512)), (Some(2 * MIB), Some(2 * MIB + 512)));
        assert_eq!(window.reliable(8 * MIB), once(0..2 * MIB + 4096).collect::<Vec<_>>());
        // Addresses never reach a period as long as themselves.
        assert!(Layout::wraparound(8 * MIB).is_whole(8 * MIB));
    }

    #[test]
    fn runs_follow_one_another_in_the_memory() {
        for layout in [
            Layout::both_ends(8 * MIB, 3 * MIB),
            Layout::wraparound(MIB + 1536),
            Layout::window(MIB, 8192),
            Layout::chain(2 * MIB, 513 * 512).shuffled(),
            Layout::wraparound(2 * MIB + 512).shuffled(),
            Layout::wraparound(2 * MIB + 512).in_order(Order::Turned(64 << 10)),
            Layout::wraparound(2 * MIB + 512).in_order(Order::Xored(4096)),
            Layout::window(MIB, MIB + 512).in_order(Order::Reversed).with_tail(8 * MIB, MIB),
            Layout::wraparound(2 * MIB).in_order(Order::Random(4096)),
            Layout::last_page(3 * MIB + 1536),
            Layout::Blocks(Blocks { block_bytes: 4096, group: 7, rule: BlockRule::LastLoses }),
            Layout::Blocks(Blocks { block_bytes: MIB, group: 3, rule: BlockRule::Shared }),
        ] {
            let mut sector = 0;
            while sector < 8 * MIB / SECTOR_BYTES {
                let run = layout.locate(sector);
                assert!(run.sectors > 0);
                for next in 1..run.sectors.min(5000) {
                    let expected = match run.place {
                        CellPlace::Cell(cell) => CellPlace::Cell(cell + next),
                        CellPlace::Dropped => CellPlace::Dropped,
                    };
                    assert_eq!(layout.locate(sector + next).place, expected, "{layout:?} at {sector} + {next}");
                }
                sector += run.sectors.min(5000);
            }
        }
    }

    #[test]
    fn a_shuffled_lap_is_a_permutation_of_the_first() {
        let layout = Layout::wraparound(2 * MIB + 8192).shuffled();
        for lap in 0..4 {
            let mut cells: Vec<u64> =
                (0..514).map(|block| cell(&layout, lap * (2 * MIB + 8192) + block * 4096).unwrap()).collect();
            assert_eq!(lap == 0, cells.is_sorted());
            cells.sort_unstable();
            assert!(cells.iter().enumerate().all(|(index, cell)| *cell == index as u64 * 4096));
        }
    }

    #[test]
    fn laps_in_another_order_are_permutations_of_the_first() {
        for order in [Order::Turned(4096), Order::Xored(4096), Order::Reversed] {
            let layout = Layout::wraparound(MIB).in_order(order);
            for lap in 0..4 {
                let mut cells: Vec<u64> =
                    (0..256).map(|block| cell(&layout, lap * MIB + block * 4096).unwrap()).collect();
                cells.sort_unstable();
                assert!(cells.iter().enumerate().all(|(index, cell)| *cell == index as u64 * 4096), "{order:?} {lap}");
            }
        }
        let page = Layout::last_page(MIB + 512);
        assert_eq!((cell(&page, MIB), cell(&page, MIB + 512)), (Some(MIB), Some(MIB - 4096 + 512 + 512)));
        assert_eq!((cell(&page, 3 * MIB), page.real_bytes(8 * MIB)), (Some(MIB - 4096 + 512), MIB + 512));
        let tail = Layout::window(MIB, MIB).with_tail(8 * MIB, MIB);
        assert_eq!((cell(&tail, 6 * MIB), cell(&tail, 7 * MIB)), (Some(MIB), Some(7 * MIB)));
        assert_eq!(tail.real_bytes(8 * MIB), 3 * MIB);
    }

    #[test]
    fn blocks_hold_lose_or_share_by_their_number() {
        let layout = |rule| Layout::Blocks(Blocks { block_bytes: 4096, group: 4, rule });
        let cells = |rule| (0..5).map(|block| cell(&layout(rule), block * 4096)).collect::<Vec<_>>();
        assert_eq!(cells(BlockRule::FirstHolds), [Some(0), None, None, None, Some(16_384)]);
        assert_eq!(cells(BlockRule::LastLoses), [Some(0), Some(4096), Some(8192), None, Some(16_384)]);
        assert_eq!(cells(BlockRule::Shared), [Some(0), Some(0), Some(0), Some(0), Some(16_384)]);
        for (rule, real) in [(BlockRule::FirstHolds, 8192), (BlockRule::LastLoses, 16_384), (BlockRule::Shared, 8192)] {
            assert_eq!(layout(rule).real_bytes(5 * 4096), real, "{rule:?}");
        }
    }

    #[test]
    fn impossible_layouts_are_refused() {
        for layout in [
            Layout::first(MIB + 1),
            Layout::first(9 * MIB),
            Layout::holds([MIB..2 * MIB, 0..MIB]),
            Layout::holds([0..2 * MIB, MIB..3 * MIB]),
            Layout::wraparound(0),
            Layout::wraparound(100),
            Layout::chain(MIB, 2 * MIB),
        ] {
            assert!(layout.check(8 * MIB).is_err(), "{layout:?}");
        }
        for layout in [Layout::holds([]), Layout::window(0, 512), Layout::chain(MIB, 0), Layout::wraparound(9 * MIB)] {
            assert_eq!(layout.check(8 * MIB), Ok(()), "{layout:?}");
        }
    }
}
