//! Which addresses of a medium have memory under them, and which memory.

use std::iter::once;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;

use assay_engine::mix;

/// What lies under the addresses; all sizes in bytes, in whole sectors of 512 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// These ranges hold data, each address in a cell of its own; the rest is dropped. Ascending
    /// and disjoint.
    Holds(Vec<Range<u64>>),
    /// The addresses start again.
    Repeats(Repeats),
}

/// A layout whose addresses start again.
///
/// Controllers of counterfeits are patched in their announced size alone: the flash translation
/// layer then drops high bits of the block number (a period that is a power of two), or takes the
/// remainder by its number of blocks (any period), or has a table for the file system's head and
/// maps everything behind it to a few spare blocks (a protected part and a window).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Bytes from the start of the addresses that have cells of their own.
    pub protected_bytes: u64,
    /// Behind them, addresses start again after so many bytes.
    pub period_bytes: u64,
    /// So many bytes from the start of each period hold data; the rest of it is dropped.
    pub real_bytes: u64,
    /// How later laps lie on the cells.
    pub order: Order,
}

/// How a lap beyond the first lies on the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As the first.
    Straight,
    /// The 4 KiB blocks of each whole MiB in another order for each lap.
    Shuffled,
}

/// What is under an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// This sector of the memory. Cells are numbered by the lowest address that leads to them.
    Cell(u64),
    /// Nothing.
    Dropped,
}

/// So many sectors from an address on follow one another, also in the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) place: Place,
    pub(super) sectors: u64,
}

/// Within so many bytes [`Order::Shuffled`] exchanges blocks.
const STRIPE_SECTORS: u64 = (1 << 20) / SECTOR_BYTES;
const BLOCK_SECTORS: u64 = 4096 / SECTOR_BYTES;
const STRIPE_BLOCKS: u64 = STRIPE_SECTORS / BLOCK_SECTORS;

impl Layout {
    /// `bytes` that all hold data.
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

    /// Half of `real` at each end of `announced` holds data: the file system's head, and the last
    /// block, which simple checks read.
    #[must_use]
    pub fn both_ends(announced: u64, real: u64) -> Self {
        let half = real / 2 / SECTOR_BYTES * SECTOR_BYTES;
        Self::holds([0..half, announced.saturating_sub(half)..announced])
    }

    /// `ranges` hold data; empty ones are left out.
    #[must_use]
    pub fn holds(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self::Holds(ranges.into_iter().filter(|range| !range.is_empty()).collect())
    }

    /// Addresses start again after `period` bytes.
    #[must_use]
    pub fn wraparound(period: u64) -> Self {
        Self::chain(period, period)
    }

    /// Addresses start again after `period` bytes, of which the first `real` hold data.
    #[must_use]
    pub fn chain(period: u64, real: u64) -> Self {
        let order = Order::Straight;
        Self::Repeats(Repeats { protected_bytes: 0, period_bytes: period, real_bytes: real, order })
    }

    /// After `protected` bytes, all addresses lead into a window of `window` bytes.
    #[must_use]
    pub fn window(protected: u64, window: u64) -> Self {
        let order = Order::Straight;
        Self::Repeats(Repeats { protected_bytes: protected, period_bytes: window, real_bytes: window, order })
    }

    /// The same with the blocks of later laps in another order.
    #[must_use]
    pub fn shuffled(self) -> Self {
        match self {
            Self::Repeats(repeats) => Self::Repeats(Repeats { order: Order::Shuffled, ..repeats }),
            holds @ Self::Holds(_) => holds,
        }
    }

    /// Byte ranges of `announced` addresses that can be relied on at the same time.
    #[must_use]
    pub fn reliable(&self, announced: u64) -> Vec<Range<u64>> {
        match self {
            Self::Holds(ranges) => ranges.clone(),
            Self::Repeats(Repeats { protected_bytes, real_bytes, .. }) => {
                Self::first((protected_bytes + real_bytes).min(announced)).reliable(announced)
            }
        }
    }

    /// Whether every address of `announced` bytes has a cell of its own.
    #[must_use]
    pub fn is_whole(&self, announced: u64) -> bool {
        self.reliable(announced).iter().map(|range| range.end - range.start).sum::<u64>() == announced
    }

    /// Why a medium of `announced` bytes cannot be laid out like this.
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
            Self::Repeats(Repeats { protected_bytes, period_bytes, real_bytes, .. }) => {
                if ![protected_bytes, period_bytes, real_bytes].into_iter().all(|bytes| whole(*bytes)) {
                    Err("protected part, period and real part are whole sectors")
                } else if *period_bytes == 0 || real_bytes > period_bytes {
                    Err("a period is at least a sector, and its real part at most the period")
                } else {
                    Ok(())
                }
            }
        }
    }

    /// What is under sector `sector`, and how far that goes on.
    pub(super) fn locate(&self, sector: u64) -> Run {
        match self {
            Self::Holds(ranges) => holds(ranges, sector),
            Self::Repeats(repeats) => repeats.locate(sector),
        }
    }

    /// The `nth` sector that holds data; `None` where there are fewer.
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
            Self::Repeats(_) => (nth < self.cells()).then_some(nth),
        }
    }

    /// Sectors that hold data.
    pub(super) fn cells(&self) -> u64 {
        match self {
            Self::Holds(ranges) => ranges.iter().map(|range| range.end - range.start).sum::<u64>() / SECTOR_BYTES,
            Self::Repeats(Repeats { protected_bytes, real_bytes, .. }) => (protected_bytes + real_bytes) / SECTOR_BYTES,
        }
    }
}

fn holds(ranges: &[Range<u64>], sector: u64) -> Run {
    let offset = sector * SECTOR_BYTES;
    let next = ranges.partition_point(|range| range.end <= offset);
    match ranges.get(next) {
        Some(range) if range.start <= offset => {
            Run { place: Place::Cell(sector), sectors: (range.end - offset) / SECTOR_BYTES }
        }
        Some(range) => Run { place: Place::Dropped, sectors: (range.start - offset) / SECTOR_BYTES },
        None => Run { place: Place::Dropped, sectors: u64::MAX },
    }
}

impl Repeats {
    fn locate(&self, sector: u64) -> Run {
        let [protected, period, real] =
            [self.protected_bytes, self.period_bytes, self.real_bytes].map(|bytes| bytes / SECTOR_BYTES);
        let Some(behind) = sector.checked_sub(protected) else {
            return Run { place: Place::Cell(sector), sectors: protected - sector };
        };
        let (lap, inside) = (behind / period, behind % period);
        if inside >= real {
            return Run { place: Place::Dropped, sectors: period - inside };
        }
        let stripe = inside / STRIPE_SECTORS * STRIPE_SECTORS;
        if self.order == Order::Straight || lap == 0 || stripe + STRIPE_SECTORS > real {
            return Run { place: Place::Cell(protected + inside), sectors: real - inside };
        }
        let (block, within) = ((inside - stripe) / BLOCK_SECTORS, inside % BLOCK_SECTORS);
        let cell = protected + stripe + shuffled(lap, block) * BLOCK_SECTORS + within;
        Run { place: Place::Cell(cell), sectors: BLOCK_SECTORS - within }
    }
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
            Place::Cell(cell) => Some(cell * SECTOR_BYTES),
            Place::Dropped => None,
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
        // A period as long as the addresses is never met.
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
        ] {
            let mut sector = 0;
            while sector < 8 * MIB / SECTOR_BYTES {
                let run = layout.locate(sector);
                assert!(run.sectors > 0);
                for next in 1..run.sectors.min(5000) {
                    let expected = match run.place {
                        Place::Cell(cell) => Place::Cell(cell + next),
                        Place::Dropped => Place::Dropped,
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
