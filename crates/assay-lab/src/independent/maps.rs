//! Address maps: which cell of the memory an address is.
//!
//! All lengths are in sectors of 512 bytes. A map without memory of its own is a function of the address, of the side
//! (reading or writing) and of the operation. Maps that give memory to what comes are in [`super::pools`].
//! [`super::truths`] says for each what it really holds.

use super::numbers::{hash, variant};
use super::pools::PoolSpec;

/// Which page serves all addresses that the memory lacks.
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

/// What a map or a fault may look at beside the address.
#[derive(Debug, Clone, Copy, Default)]
pub struct Op {
    /// The number of the operation, from 1.
    pub number: u64,
    /// How many sectors it has.
    pub sectors: u64,
    /// The virtual time in nanoseconds.
    pub now: u64,
    /// Bytes that the host wrote before it.
    pub written: u64,
}

/// An address map. An address *beyond* is one from `real` on, a *block* has `unit` sectors, and a `seed` decides what is
/// random.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are named as the comment above and each variant say")]
pub enum Map {
    /// Every address has a cell of its own.
    Genuine,
    /// Limbo: what is written beyond is dropped.
    /// `real`: sectors that hold.
    Limbo { real: u64 },
    /// Wrap-around: addresses start again.
    /// `period`: sectors of the memory.
    Wrap { period: u64 },
    /// Chain: addresses start again after `period`, of which `real` hold and the rest is dropped.
    /// `period`: sectors of a lap; `real`: sectors of it that hold.
    Chain { period: u64, real: u64 },
    /// A part with cells of its own, then a window that all further addresses share.
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
    /// Wrap-around in which the blocks of each lap but the first are rotated by a random number of blocks.
    /// `period`: sectors of a lap, a multiple of `unit`.
    Rotated { period: u64, unit: u64, seed: u64 },
    /// Wrap-around in which the number of the block is XORed with a random number in each lap but the first.
    /// `period`: sectors of a lap, a power of two times `unit`.
    Scrambled { period: u64, unit: u64, seed: u64 },
    /// Wrap-around in which the bits of the number of the block are reversed in odd laps.
    /// `period`: sectors of a lap, a power of two times `unit`.
    BitReversed { period: u64, unit: u64 },
    /// Wrap-around in which odd laps go backwards, block by block.
    /// `period`: sectors of a lap, a multiple of `unit`.
    Reversed { period: u64, unit: u64 },
    /// Wrap-around with laps of four lengths, the first of which is the whole memory.
    /// `real`: sectors of the memory.
    Uneven { real: u64, seed: u64 },
    /// Wrap-around in which the first address beyond is not the first cell.
    /// `real`: sectors of the memory; `offset`: the cell of the first address beyond.
    WrapOffset { real: u64, offset: u64 },
    /// Boot sectors and tables at the start and the last part have cells of their own, the middle is a window.
    /// `head`: sectors with cells of their own at the start; `tail`: sectors with cells of their own at the end;
    /// `window`: sectors of the window between.
    WrapEnds { head: u64, tail: u64, window: u64 },
    /// So many neighbouring blocks share one cell.
    /// `k`: how many.
    Neighbours { k: u64, unit: u64 },
    /// One block in `k` is there, the others are dropped.
    /// `k`: one in how many.
    EveryKth { k: u64, unit: u64 },
    /// The last block of each `every` is worn out and drops what it gets.
    /// `every`: one in how many is missing.
    Worn { every: u64, unit: u64 },
    /// Each block is sent to a random cell, so several share one and some cells are never used.
    /// `cells`: cells, of `unit` sectors.
    Hashed { cells: u64, unit: u64, seed: u64 },
    /// A random share of the blocks is there, all over the medium.
    /// `permille`: how many of 1000 blocks hold.
    Scattered { permille: u64, unit: u64, seed: u64 },
    /// Blocks alternate between two chips, and the odd one has less than it should.
    /// `small`: blocks of the small chip; `wraps`: whether the small chip starts again, or drops.
    Interleaved { unit: u64, small: u64, wraps: bool },
    /// Writes beyond start again from the beginning; reads beyond give what is read where nothing is.
    /// `real`: sectors of the memory.
    WriteWrap { real: u64 },
    /// Writes beyond are dropped; reads beyond start again from the beginning.
    /// `real`: sectors of the memory.
    ReadWrap { real: u64 },
    /// All addresses beyond are one page.
    /// `real`: sectors with cells of their own; `page`: which page.
    OnePage { real: u64, page: PageAt, unit: u64 },
    /// A line of the address is stuck.
    /// `bit`: the bit of the sector's number; `high`: stuck at one, so that the other addresses have no cell where that
    /// is beyond the memory.
    LineStuck { bit: u32, high: bool },
    /// Two lines are exchanged, for reading and for writing: every address has a cell of its own, in another place.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesExchanged { a: u32, b: u32 },
    /// Two lines are exchanged for reading only: what is read was written for another address.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesCrossed { a: u32, b: u32 },
    /// Two lines touch: both are zero where they differ.
    /// `a`: one bit of the sector's number; `b`: the other.
    LinesShorted { a: u32, b: u32 },
    /// Beyond, small operations start again from the beginning, and large ones are dropped.
    /// `real`: sectors of the memory; `large`: the least sectors of a large operation.
    BySize { real: u64, large: u64 },
    /// Beyond, odd operations start again from the beginning, and even ones are dropped.
    /// `real`: sectors of the memory.
    ByParity { real: u64 },
    /// Memory is given to what comes: see [`PoolSpec`].
    Pool(PoolSpec),
}

/// A block's address, and the sector within it.
fn split(at: u64, unit: u64) -> (u64, u64) {
    let unit = unit.max(1);
    (at / unit, at % unit)
}

/// Exchanges two bits of an address; the address itself where the result would be beyond `n`.
fn exchange(at: u64, a: u32, b: u32, n: u64) -> u64 {
    let differ = ((at >> a) ^ (at >> b)) & 1;
    let other = at ^ (differ << a) ^ (differ << b);
    if other < n { other } else { at }
}

impl Map {
    /// The cell of an address of a medium of `n` sectors; `None` where it has none. Pools are no functions of the
    /// address: they answer with the address.
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

    /// Where laps have an order, or a length, of their own.
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

    /// Where lines of the address fail.
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

    /// Whether the answer depends on the operation, so that asking twice may differ.
    pub fn is_fickle(&self) -> bool {
        matches!(self, Self::BySize { .. } | Self::ByParity { .. })
    }

    /// Whether a write may land where no reading of its address looks, so that a program cannot save what it overwrites.
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
