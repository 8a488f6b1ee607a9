//! Address maps: they assign a memory cell to an address.
//!
//! All lengths are in sectors of 512 bytes. A map without a state is a function of the address, of the side (reading or
//! writing) and of the operation. Maps that allocate memory on demand are in [`super::pools`]. [`super::truths`] says
//! what each map really holds.

use super::caches::PoolSpec;
use super::numbers::{hash, variant};

/// The page that serves all addresses without memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PageAt {
    /// The first page of the memory.
    First,
    /// Its last page.
    Last,
    /// A page that has no address of its own.
    Spare,
}

/// The side of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Side {
    /// The host reads.
    Read,
    /// The host writes.
    Write,
}

/// Inputs of a map or a fault besides the address.
#[derive(Debug, Clone, Copy, Default)]
pub struct Op {
    /// The number of the operation, from 1.
    pub number: u64,
    /// Number of its sectors.
    pub sectors: u64,
    /// The virtual time in nanoseconds.
    pub now: u64,
    /// Bytes that the host wrote before it.
    pub written: u64,
}

/// An address map. Addresses *beyond* are those from `real` on, a *block* has `unit` sectors, and a `seed` determines
/// all random choices.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are named as the comment above and each variant say")]
pub enum Map {
    /// Every address has its own cell.
    Genuine,
    /// Limbo: writes beyond are dropped.
    /// `real`: sectors that hold.
    Limbo { real: u64 },
    /// Wrap-around: addresses wrap around after `period`.
    /// `period`: sectors of the memory.
    Wrap { period: u64 },
    /// Chain: addresses wrap around after `period`. The first `real` sectors of each lap hold data, and the rest is
    /// dropped.
    /// `period`: sectors of a lap; `real`: sectors of it that hold.
    Chain { period: u64, real: u64 },
    /// A part with its own cells, then a window that all further addresses share.
    /// `protected`: sectors with cells of their own; `window`: sectors of the window.
    Window { protected: u64, window: u64 },
    /// Two windows behind a protected part: one up to `split`, one from there on.
    /// `protected`: sectors with cells of their own; `first`: sectors of the window below `split`; `split`: the address
    /// at which the second window begins; `second`: sectors of the second window.
    TwoWindows { protected: u64, first: u64, split: u64, second: u64 },
    /// Both ends hold, the middle is dropped.
    /// `head`: sectors that hold at the start; `tail`: sectors that hold at the end.
    Ends { head: u64, tail: u64 },
    /// Only a part in the middle holds.
    /// `from`: its first sector; `to`: the first sector behind it.
    Middle { from: u64, to: u64 },
    /// Only the end holds.
    /// `real`: sectors that hold.
    Tail { real: u64 },
    /// A bank in the middle is missing.
    /// `from`: its first sector; `to`: the first sector behind it.
    MissingBank { from: u64, to: u64 },
    /// Wrap-around where the blocks of each lap except the first are rotated by a random number of blocks.
    /// `period`: sectors of a lap, a multiple of `unit`.
    Rotated { period: u64, unit: u64, seed: u64 },
    /// Wrap-around where the block number is XORed with a random number in each lap except the first.
    /// `period`: sectors of a lap, a power of two times `unit`.
    Scrambled { period: u64, unit: u64, seed: u64 },
    /// Wrap-around where the bits of the block number are reversed in odd laps.
    /// `period`: sectors of a lap, a power of two times `unit`.
    BitReversed { period: u64, unit: u64 },
    /// Wrap-around where odd laps run backwards, block by block.
    /// `period`: sectors of a lap, a multiple of `unit`.
    Reversed { period: u64, unit: u64 },
    /// Wrap-around with laps of four lengths. The first lap is the whole memory.
    /// `real`: sectors of the memory.
    Uneven { real: u64, seed: u64 },
    /// Wrap-around where the first address beyond is not the first cell.
    /// `real`: sectors of the memory; `offset`: the cell of the first address beyond.
    WrapOffset { real: u64, offset: u64 },
    /// The start (boot sectors and tables) and the last part have their own cells, the middle is a window.
    /// `head`: sectors with cells of their own at the start; `tail`: sectors with cells of their own at the end;
    /// `window`: sectors of the window between.
    WrapEnds { head: u64, tail: u64, window: u64 },
    /// `k` neighbouring blocks share a memory block. `k`: blocks that share one.
    Neighbours { k: u64, unit: u64 },
    /// One block in `k` has memory, the others are dropped.
    /// `k`: one in how many.
    EveryKth { k: u64, unit: u64 },
    /// The last block of each `every` is worn out and drops writes.
    /// `every`: one in how many is missing.
    Worn { every: u64, unit: u64 },
    /// Each block has a random cell, so several share one and some cells are never used.
    /// `cells`: cells, of `unit` sectors.
    Hashed { cells: u64, unit: u64, seed: u64 },
    /// A random share of the blocks has memory, all over the medium.
    /// `permille`: how many of 1000 blocks hold.
    Scattered { permille: u64, unit: u64, seed: u64 },
    /// Blocks alternate between two chips, and the chip of the odd blocks is too small. `small`: blocks of the small
    /// chip; `wraps`: whether addresses beyond the small chip wrap around or are dropped.
    Interleaved { unit: u64, small: u64, wraps: bool },
    /// Writes beyond wrap around; reads beyond return the void.
    /// `real`: sectors of the memory.
    WriteWrap { real: u64 },
    /// Writes beyond are dropped; reads beyond wrap around.
    /// `real`: sectors of the memory.
    ReadWrap { real: u64 },
    /// All addresses beyond share one page.
    /// `real`: sectors with cells of their own; `page`: which page.
    OnePage { real: u64, page: PageAt, unit: u64 },
    /// An address line is stuck.
    /// `bit`: the bit of the sector number; `high`: stuck at one, so that the other addresses have no cell where the
    /// result is beyond the memory.
    LineStuck { bit: u32, high: bool },
    /// Two address lines are exchanged, for reading and for writing: every address has its own cell, in another place.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesExchanged { a: u32, b: u32 },
    /// Two address lines are exchanged for reading only: reads return data written for another address.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesCrossed { a: u32, b: u32 },
    /// Two address lines are shorted: both are zero where they differ.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesShorted { a: u32, b: u32 },
    /// Beyond, small operations wrap around, and large ones are dropped.
    /// `real`: sectors of the memory; `large`: the least sectors of a large operation.
    BySize { real: u64, large: u64 },
    /// Beyond, odd operations wrap around, and even ones are dropped.
    /// `real`: sectors of the memory.
    ByParity { real: u64 },
    /// Memory is allocated on demand: see [`PoolSpec`].
    Pool(PoolSpec),
}

/// A block's address, and the sector within it.
fn split(at: u64, unit: u64) -> (u64, u64) {
    let unit = unit.max(1);
    (at / unit, at % unit)
}

/// Exchanges two bits of an address. Returns the address itself if the result would be beyond `n`.
fn exchange(at: u64, a: u32, b: u32, n: u64) -> u64 {
    let differ = ((at >> a) ^ (at >> b)) & 1;
    let other = at ^ (differ << a) ^ (differ << b);
    if other < n { other } else { at }
}

impl Map {
    /// The cell of an address of a medium of `n` sectors; `None` if it has none. Pools are not functions of the
    /// address: for them the result is the address itself.
    pub fn cell(&self, n: u64, at: u64, side: Side, op: &Op) -> Option<u64> {
        use Map::*;
        let own = |there: bool| there.then_some(at);
        match *self {
            Genuine | Pool(_) => Some(at),
            Limbo { real } => own(at < real),
            Wrap { period } => Some(at % period),
            Chain { period, real } => Some(at % period).filter(|c| *c < real),
            Window { protected, window } => {
                Some(if at < protected { at } else { protected + (at - protected) % window })
            }
            TwoWindows { protected, first, split, second } => Some(match at {
                _ if at < protected => at,
                _ if at < split => protected + (at - protected) % first,
                _ => protected + first + (at - split) % second,
            }),
            Ends { head, tail } => own(at < head || at >= n - tail),
            Middle { from, to } => own(at >= from && at < to),
            Tail { real } => own(at >= n - real),
            MissingBank { from, to } => own(at < from || at >= to),
            Rotated { .. } | Scrambled { .. } | BitReversed { .. } | Reversed { .. } | Uneven { .. } => {
                Some(self.lapped(at))
            }
            WrapOffset { real, offset } => Some(if at < real { at } else { (at - real + offset) % real }),
            WrapEnds { head, tail, window } => {
                Some(if at < head || at >= n - tail { at } else { head + (at - head) % window })
            }
            Neighbours { k, unit } => {
                let (block, rest) = split(at, unit);
                Some(block / k * unit + rest)
            }
            EveryKth { k, unit } => own((at / unit).is_multiple_of(k)),
            Worn { every, unit } => own(at / unit % every != every - 1),
            Hashed { cells, unit, seed } => {
                let (block, rest) = split(at, unit);
                Some(hash(seed, block) % cells * unit + rest)
            }
            Scattered { permille, unit, seed } => own(hash(seed, at / unit) % 1000 < permille),
            Interleaved { unit, small, wraps } => {
                let (block, rest) = split(at, unit);
                let index = block / 2;
                match () {
                    _ if block % 2 == 0 || index < small => Some(at),
                    _ if wraps && small > 0 => Some((index % small * 2 + 1) * unit + rest),
                    _ => None,
                }
            }
            WriteWrap { real } => match side {
                Side::Write => Some(at % real),
                Side::Read => own(at < real),
            },
            ReadWrap { real } => match side {
                Side::Write => own(at < real),
                Side::Read => Some(at % real),
            },
            OnePage { real, page, unit } if at >= real => {
                let base = match page {
                    PageAt::First => 0,
                    PageAt::Last => real - unit,
                    PageAt::Spare => n.next_multiple_of(unit),
                };
                Some(base + at % unit)
            }
            OnePage { .. } => Some(at),
            LineStuck { .. } | LinesExchanged { .. } | LinesCrossed { .. } | LinesShorted { .. } => {
                self.wired(n, at, side)
            }
            BySize { real, large } => match at < real || op.sectors < large {
                true => Some(at % real),
                false => None,
            },
            ByParity { real } => match at < real || op.number % 2 == 1 {
                true => Some(at % real),
                false => None,
            },
        }
    }

    /// The cell under maps whose laps have their own order or length.
    fn lapped(&self, at: u64) -> u64 {
        use Map::*;
        match *self {
            Rotated { period, unit, seed } => {
                let (lap, within) = (at / period, at % period);
                let (block, rest) = split(within, unit);
                let blocks = period / unit;
                let by = if lap == 0 { 0 } else { hash(seed, lap) % blocks };
                (block + by) % blocks * unit + rest
            }
            Scrambled { period, unit, seed } => {
                let (lap, within) = (at / period, at % period);
                let (block, rest) = split(within, unit);
                let by = if lap == 0 { 0 } else { hash(seed, lap) & (period / unit - 1) };
                (block ^ by) * unit + rest
            }
            BitReversed { period, unit } => {
                let (lap, within) = (at / period, at % period);
                let (block, rest) = split(within, unit);
                let bits = (period / unit).trailing_zeros();
                let odd = lap % 2 == 1 && bits > 0;
                if odd { (block.reverse_bits() >> (64 - bits)) * unit + rest } else { within }
            }
            Reversed { period, unit } => {
                let (lap, within) = (at / period, at % period);
                let (block, rest) = split(within, unit);
                if lap % 2 == 1 { (period / unit - 1 - block) * unit + rest } else { within }
            }
            Uneven { real, seed } => {
                let lengths = uneven(real, seed);
                let mut within = at % lengths.iter().sum::<u64>();
                for length in lengths {
                    if within < length {
                        break;
                    }
                    within -= length;
                }
                within
            }
            _ => at,
        }
    }

    /// The cell under maps with faulty address lines.
    fn wired(&self, n: u64, at: u64, side: Side) -> Option<u64> {
        use Map::*;
        match *self {
            LineStuck { bit, high } => {
                let line = 1 << bit;
                Some(if high { at | line } else { at & !line }).filter(|c| *c < n)
            }
            LinesExchanged { a, b } => Some(exchange(at, a, b, n)),
            LinesCrossed { a, b } => Some(if side == Side::Read { exchange(at, a, b, n) } else { at }),
            LinesShorted { a, b } => {
                let differ = ((at >> a) ^ (at >> b)) & 1;
                Some(if differ == 1 { at & !(1 << a) & !(1 << b) } else { at })
            }
            _ => Some(at),
        }
    }

    /// Whether the result depends on the operation, so that two calls may differ.
    pub fn is_fickle(&self) -> bool {
        matches!(self, Self::BySize { .. } | Self::ByParity { .. })
    }

    /// Whether a write may change a cell that no read of its address shows, so that a program cannot save the old
    /// content.
    pub fn is_asymmetric(&self) -> bool {
        self.is_fickle() || matches!(self, Self::WriteWrap { .. } | Self::LinesCrossed { .. })
    }

    /// A short name for tables: the name of the variant, or of the pool's rule.
    pub fn name(&self) -> String {
        match self {
            Self::Pool(pool) => format!("Pool{}", variant(&pool.rule)),
            _ => variant(self),
        }
    }
}

/// The four lengths of the laps of [`Map::Uneven`].
fn uneven(real: u64, seed: u64) -> [u64; 4] {
    let grain = if real.is_multiple_of(8) { 8 } else { 1 };
    let other = |i| real - hash(seed, i) % (real / 2).max(1) / grain * grain;
    [real, other(1), other(2), other(3)]
}
