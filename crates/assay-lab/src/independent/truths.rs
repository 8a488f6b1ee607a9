//! Truths: the real content of each map, and the right words about it.
//!
//! The truth follows from the parameters alone. `tests/truths.rs` compares it with a small medium where every address
//! is written and read.
//!
//! Choices where the documents are silent or can be read in two ways:
//!
//! - *Real size* is how many sectors hold different data at once. A window behind a protected part may be counted or
//!   not (`verify.md` says so); an owner expects the same of two windows.
//! - The documents do not classify a permutation of addresses that is the same for reading and writing. No host can
//!   see it, so a medium with exchanged lines is genuine.
//! - "A part that loses all that is sent there, with good parts beside it, is a fake's or a failing address line's":
//!   so a missing bank, missing blocks and scattered ones may be called fake or damaged. Both ends, the middle and the
//!   tail have rows in the catalogue that say fake, and the campaign's table counts damaged as wrong for them. This model
//!   does so, too, but as arguable.
//! - Memory that is exhausted and lacks a twentieth or more "has to be called a fake". Where the newest data are kept, or
//!   everything beyond is lost at once, the documents are silent: damaged is arguable.
//! - A loss of less than a twentieth may be called damage where memory is exhausted. The documents do not say so of
//!   other maps, but count limbos and wrap-arounds that are called damaged as right: damaged is right for those here.
//!   other maps, but count limbos and wrap-arounds that are called damaged as right: damaged is right for those here.

use super::caches::PoolRule;
use super::maps::{Map, PageAt};
use super::numbers::{SECTOR, Void, hash};

/// The words of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Word {
    /// Every tested place holds data.
    Genuine,
    /// The medium announces more than it holds.
    Fake,
    /// Wrong bits, errors in places, data that do not last or land elsewhere.
    Damaged,
    /// The medium failed during the test.
    Failed,
    /// Interrupted before anything was found.
    Undecided,
    /// Not probed at all.
    Refused,
}

/// How a fake loses writes beyond its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Writes are dropped.
    Limbo,
    /// Addresses wrap around.
    WrapAround,
    /// Addresses wrap around, and a part of each lap is dropped.
    Chain,
    /// Not known.
    Unknown,
}

/// The real size of a medium, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub enum Size {
    /// Each of these may be stated as exact.
    Exact(Vec<u64>),
    /// The size lies between these, both included.
    Within(u64, u64),
    /// The medium has no size in this sense.
    None,
}

/// Whether the owner's data can be restored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keeps {
    /// A careful program can restore everything.
    All,
    /// The saved data came from other cells: nothing can be restored by address, but the journal must be kept.
    JournalOnly,
    /// Each write takes memory from the owner's data elsewhere.
    NotEvicted,
}

/// Whether a loss is within the reach that the documents state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// At least 2 % of the places are lost, or some at an end.
    Stated,
    /// Within the documents to the letter, but no sample of reasonable size is sure to find it.
    Letter,
    /// Only after the memory is exhausted, or the behaviour has begun: the medium counts the losses.
    Evidence,
    /// The documents say that it is not found.
    Beyond,
}

/// The truth about a map, or about a medium.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Name for tables.
    pub name: String,
    /// Verdicts that are right.
    pub right: Vec<Word>,
    /// Verdicts that are arguable.
    pub arguable: Vec<Word>,
    /// The real size.
    pub size: Size,
    /// The kind, if there is one word for it.
    pub kind: Option<Kind>,
    /// Bytes that are announced and missing.
    pub lost: u64,
    /// Whether the first or the last sector lacks its own cell.
    pub at_end: bool,
    /// Whether the loss is within the stated reach.
    pub reach: Reach,
    /// Whether the owner's data can be restored.
    pub keeps: Keeps,
}

/// Sectors of 768 GiB.
const LARGE: u64 = 768 << 21;

impl Truth {
    /// Changes the truth by the rule of a pool.
    fn of_pool(&mut self, rule: &PoolRule) {
        self.reach = Reach::Evidence;
        match rule {
            PoolRule::Newest | PoolRule::Lru => {
                self.keeps = Keeps::NotEvicted;
                self.arguable.push(Word::Damaged);
            }
            PoolRule::Turning { .. } => self.arguable.push(Word::Damaged),
            PoolRule::FirstComeErrs => self.right.extend([Word::Damaged, Word::Failed]),
            _ => {}
        }
        match rule {
            PoolRule::Turning { .. } => self.arguable.push(Word::Failed),
            _ => self.right.push(Word::Failed),
        }
    }
}

impl Map {
    /// The truth about a medium of `n` sectors with this map and no fault.
    pub fn truth(&self, n: u64, void: &Void) -> Truth {
        use Map::*;
        let held = self.held(n);
        let lost = match held {
            Held::Exactly(s) => n.saturating_sub(s),
            Held::Between(low, high) => n.saturating_sub(low.midpoint(high)),
        };
        let size = match held {
            Held::Exactly(s) => Size::Exact(vec![s * SECTOR]),
            Held::Between(low, high) => Size::Within(low * SECTOR, high * SECTOR),
        };
        let small = lost * 20 < n;
        let mut truth = Truth {
            name: self.name(),
            right: vec![Word::Fake],
            arguable: vec![],
            size,
            kind: None,
            lost: lost * SECTOR,
            at_end: self.loses_an_end(n),
            reach: Reach::Stated,
            keeps: Keeps::All,
        };
        if small || *void == Void::Error {
            truth.right.push(Word::Damaged);
        }
        let cleanly = !matches!(void, Void::Mirror(_) | Void::Error);
        match self {
            Genuine | LinesExchanged { .. } => truth.right = vec![Word::Genuine],
            Limbo { .. } if cleanly => truth.kind = Some(Kind::Limbo),
            Tail { .. } | Middle { .. } | Ends { .. } => truth.arguable = vec![Word::Damaged],
            Wrap { .. } | Window { .. } | WrapOffset { .. } => truth.kind = Some(Kind::WrapAround),
            Chain { .. } if cleanly => truth.kind = Some(Kind::Chain),
            Neighbours { .. }
            | EveryKth { .. }
            | Worn { .. }
            | Scattered { .. }
            | Interleaved { .. }
            | MissingBank { .. }
            | LineStuck { .. }
            | LinesShorted { .. } => truth.right.push(Word::Damaged),
            Hashed { .. } => {
                truth.right.push(Word::Damaged);
                truth.reach = Reach::Letter;
            }
            // Data that read differently each time may be taken for damage.
            BySize { .. } | ByParity { .. } => truth.arguable = vec![Word::Damaged, Word::Failed],
            LinesCrossed { .. } => {
                truth.right = vec![Word::Damaged, Word::Failed];
                truth.arguable = vec![Word::Fake];
                truth.size = Size::None;
                truth.keeps = Keeps::JournalOnly;
                truth.lost = n * SECTOR / 2;
                truth.at_end = false;
            }
            Pool(pool) => truth.of_pool(&pool.rule),
            _ => {}
        }
        if let Size::Exact(all) = &mut truth.size {
            all.extend(self.without_windows(n).iter().map(|s| s * SECTOR));
        }
        if *void == Void::Error && lost > 0 && self.drops() {
            truth.size = Size::Within((n - lost) * SECTOR, n * SECTOR);
        }
        if truth.reach == Reach::Stated && lost > 0 && lost * 50 < n && !truth.at_end {
            truth.reach = Reach::Beyond;
        }
        if self.is_hidden_by_its_order(n, lost) {
            truth.reach = Reach::Beyond;
        }
        if lost * 50 > n * 49 && truth.right.contains(&Word::Fake) {
            truth.right.push(Word::Failed);
        }
        truth
    }

    /// Whether the loss is one that the documents list as not found. One is an end of less than 2 % that leads to other
    /// places, which no sample needs to meet. On a device of more than 768 GiB single reads cover one half; there the
    /// documents also list rotated laps, a second window, and alternating units.
    fn is_hidden_by_its_order(&self, n: u64, lost: u64) -> bool {
        match *self {
            Map::WrapOffset { .. } => lost * 50 < n,
            Map::Interleaved { wraps, .. } => wraps && n > LARGE,
            Map::Rotated { .. } | Map::TwoWindows { .. } => n > LARGE,
            _ => false,
        }
    }

    /// The sizes that may be stated instead of the real size, where a window or a page is not counted.
    fn without_windows(&self, n: u64) -> Vec<u64> {
        match *self {
            Map::Window { protected, .. } => vec![protected],
            Map::TwoWindows { protected, first, split, second } => {
                vec![protected, protected + first.min(split - protected), protected + second.min(n - split)]
            }
            Map::WrapEnds { head, tail, .. } => vec![head + tail],
            Map::OnePage { real, page: PageAt::Spare, .. } => vec![real],
            Map::OnePage { real, unit, .. } => vec![real - unit],
            _ => vec![],
        }
    }

    /// Whether writes to an address without a cell are dropped, and reads return a void.
    fn drops(&self) -> bool {
        use Map::*;
        matches!(
            self,
            Limbo { .. }
                | Chain { .. }
                | Ends { .. }
                | Middle { .. }
                | Tail { .. }
                | MissingBank { .. }
                | EveryKth { .. }
                | Worn { .. }
                | Scattered { .. }
                | Interleaved { wraps: false, .. }
                | WriteWrap { .. }
                | LineStuck { high: true, .. }
                | BySize { .. }
                | ByParity { .. }
                | Pool(_)
        )
    }

    /// Whether the first or the last address loses its data or shares its cell.
    fn loses_an_end(&self, n: u64) -> bool {
        use Map::*;
        match *self {
            Genuine
            | LinesExchanged { .. }
            | LinesCrossed { .. }
            | Ends { .. }
            | MissingBank { .. }
            | Scattered { .. }
            | Hashed { .. }
            | Pool(_) => false,
            WrapEnds { .. } | LinesShorted { .. } => false,
            TwoWindows { split, second, .. } => n - split > second,
            Worn { every, unit } => (n / unit).is_multiple_of(every),
            EveryKth { k, unit } => k > 1 && (n / unit) % k != 1,
            Interleaved { unit, small, .. } => (n / unit).is_multiple_of(2) && small < n / unit / 2,
            _ => self.held(n) != Held::Exactly(n),
        }
    }

    /// How many sectors hold different data at once.
    pub fn held(&self, n: u64) -> Held {
        use Map::*;
        let exactly = |s: u64| Held::Exactly(s.min(n));
        match *self {
            Genuine | LinesExchanged { .. } | LinesCrossed { .. } => Held::Exactly(n),
            Limbo { real }
            | Tail { real }
            | Uneven { real, .. }
            | WriteWrap { real }
            | ReadWrap { real }
            | BySize { real, .. }
            | ByParity { real } => exactly(real),
            WrapOffset { real, .. } => exactly(real),
            Wrap { period } | Rotated { period, .. } | Scrambled { period, .. } | BitReversed { period, .. } => {
                exactly(period)
            }
            Reversed { period, .. } => exactly(period),
            Chain { real, .. } => exactly(real),
            Window { protected, window } => exactly(protected + window),
            TwoWindows { protected, first, split, second } => {
                exactly(protected + first.min(split - protected) + second.min(n - split))
            }
            Ends { head, tail } => exactly(head + tail),
            Middle { from, to } => exactly(to - from),
            MissingBank { from, to } => exactly(n - (to - from)),
            WrapEnds { head, tail, window } => exactly(head + tail + window),
            OnePage { real, page, unit } => exactly(real + if page == PageAt::Spare { unit.min(n - real) } else { 0 }),
            Neighbours { k, unit } => exactly((n / unit).div_ceil(k) * unit),
            EveryKth { k, unit } => exactly((n / unit).div_ceil(k) * unit),
            Worn { every, unit } => exactly(n - n / unit / every * unit),
            Interleaved { unit, small, .. } => exactly((n / unit).div_ceil(2) * unit + small.min(n / unit / 2) * unit),
            LineStuck { bit, high } => {
                let (line, pair) = (1u64 << bit, 2u64 << bit);
                let clear = n / pair * line + (n % pair).min(line);
                exactly(if high { n - clear } else { clear })
            }
            LinesShorted { .. } if n.is_power_of_two() => exactly(n / 2),
            LinesShorted { .. } => Held::Between(n / 4, n),
            Hashed { cells, unit, seed } => {
                let blocks = n / unit;
                if blocks > 1 << 17 {
                    let expected = cells as f64 * (1.0 - (-(blocks as f64) / cells as f64).exp());
                    return Held::Between((expected * 0.99) as u64 * unit, (expected * 1.01) as u64 * unit);
                }
                let mut used: Vec<u64> = (0..blocks).map(|b| hash(seed, b) % cells).collect();
                used.sort_unstable();
                used.dedup();
                exactly(used.len() as u64 * unit)
            }
            Scattered { permille, unit, seed } => {
                let blocks = n / unit;
                if blocks > 1 << 17 {
                    return Held::Between(n / 1000 * permille / 100 * 98, n / 1000 * permille / 100 * 102 + 1);
                }
                exactly((0..blocks).filter(|b| hash(seed, *b) % 1000 < permille).count() as u64 * unit)
            }
            Pool(ref pool) => match pool.rule {
                PoolRule::Turning { real } => exactly(real),
                _ => exactly(pool.units * pool.unit),
            },
        }
    }
}

/// The number of sectors that hold different data at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// Exactly this number.
    Exactly(u64),
    /// Between these numbers: it was not counted.
    Between(u64, u64),
}
