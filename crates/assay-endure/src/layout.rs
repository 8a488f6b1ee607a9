//! Slices, cells and the order in which they are written and read.

use std::ops::Range;

use assay_core::endurance::WearLoad;

use crate::stamp::mixed;

/// Parts of a cycle, each logged when it is done.
pub const SLICES: u64 = 16;
/// Cells of the map.
pub const CELLS: u64 = 4096;
const CELLS_OF_SLICE: u64 = CELLS / SLICES;
/// Slices, cells and random blocks begin at multiples of this.
pub const PAGE_BYTES: u64 = 4096;
/// Pages of a transfer: 1 MiB.
pub(crate) const CHUNK: u64 = 256;
/// Sectors of a page.
pub(crate) const PAGE_SECTORS: u64 = PAGE_BYTES / 512;

/// Writing or reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// All slices are written.
    Write,
    /// All slices are read.
    Read,
}

/// The next thing to do: one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The cycle, from 1 on.
    pub cycle: u64,
    /// Writing or reading.
    pub phase: Phase,
    /// How many slices of this phase are done.
    pub index: u64,
}

impl Task {
    /// The first one of all.
    pub(crate) const FIRST: Self = Self { cycle: 1, phase: Phase::Write, index: 0 };

    /// The one that follows.
    #[must_use]
    pub fn next(self) -> Self {
        match (self.phase, self.index + 1 < SLICES) {
            (_, true) => Self { index: self.index + 1, ..self },
            (Phase::Write, false) => Self { phase: Phase::Read, index: 0, ..self },
            (Phase::Read, false) => Self { cycle: self.cycle + 1, phase: Phase::Write, index: 0 },
        }
    }

    /// Its slice.
    #[must_use]
    pub fn slice(self, unit: u64) -> u64 {
        order(unit, self.cycle, self.phase)[self.index as usize]
    }
}

/// The order of the slices in a phase, by the number of the test. Reading has another order than writing.
#[must_use]
pub fn order(unit: u64, cycle: u64, phase: Phase) -> [u64; SLICES as usize] {
    let written = shuffled(mixed(unit, 2 * cycle));
    if phase == Phase::Write {
        return written;
    }
    let mut read = shuffled(mixed(unit, 2 * cycle + 1));
    if read == written {
        read.rotate_left(1);
    }
    read
}

/// Fisher and Yates, from the last place down; the remainder's bias of one in 2⁶⁰ does not matter.
fn shuffled(seed: u64) -> [u64; SLICES as usize] {
    let mut order = std::array::from_fn(|place| place as u64);
    for last in (1..SLICES).rev() {
        order.swap(last as usize, (mixed(seed, last) % (last + 1)) as usize);
    }
    order
}

/// The block at a place of the random order of a cycle: a Feistel network of four rounds over the next even power of two,
/// walked until it falls among the blocks, so that each block comes once.
#[must_use]
pub fn block_at(unit: u64, cycle: u64, place: u64, blocks: u64) -> u64 {
    let key = mixed(unit, cycle);
    walked(place, blocks, |bits, mask, mut left, mut right| {
        for round in 0..4 {
            (left, right) = (right, left ^ (mixed(key ^ round, right) & mask));
        }
        left << bits | right
    })
}

/// The place of a block in that order: the same steps back.
fn place_of_block(unit: u64, cycle: u64, block: u64, blocks: u64) -> u64 {
    let key = mixed(unit, cycle);
    walked(block, blocks, |bits, mask, mut left, mut right| {
        for round in (0..4).rev() {
            (left, right) = (right ^ (mixed(key ^ round, left) & mask), left);
        }
        left << bits | right
    })
}

/// Steps from a number below `blocks` on until another such number comes.
fn walked(from: u64, blocks: u64, step: impl Fn(u32, u64, u64, u64) -> u64) -> u64 {
    let bits = (64 - blocks.saturating_sub(1).leading_zeros()).max(2).div_ceil(2);
    let mask = (1u64 << bits) - 1;
    let mut value = from;
    loop {
        value = step(bits, mask, value >> bits, value & mask);
        if value < blocks {
            return value;
        }
    }
}

/// Where slices and cells begin and end on an area of whole pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Number of the test, by which the order is found.
    pub unit: u64,
    /// Pages of the area.
    pub pages: u64,
    /// What wears it.
    pub load: WearLoad,
}

impl Layout {
    /// Sectors of the area.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.pages * PAGE_SECTORS
    }

    /// Pages of a slice.
    #[must_use]
    pub fn slice(&self, slice: u64) -> Range<u64> {
        part(self.pages, SLICES, slice)
    }

    /// The cell of a page.
    #[must_use]
    pub fn cell_of(&self, page: u64) -> u64 {
        let slice = place(self.pages, SLICES, page);
        let pages = self.slice(slice);
        slice * CELLS_OF_SLICE + place(pages.end - pages.start, CELLS_OF_SLICE, page - pages.start)
    }

    /// Pages of a cell; a small area has empty ones.
    #[must_use]
    pub fn cell(&self, cell: u64) -> Range<u64> {
        let slice = self.slice(cell / CELLS_OF_SLICE);
        let pages = part(slice.end - slice.start, CELLS_OF_SLICE, cell % CELLS_OF_SLICE);
        slice.start + pages.start..slice.start + pages.end
    }

    /// Cells of a slice.
    #[must_use]
    pub fn cells_of(&self, slice: u64) -> Range<u64> {
        slice * CELLS_OF_SLICE..(slice + 1) * CELLS_OF_SLICE
    }

    /// The numbers of the pages of a slice of writing: their places in the order of random blocks, or themselves.
    pub(crate) fn numbers_of(&self, task: Task) -> Range<u64> {
        match self.load {
            WearLoad::RandomSync { .. } => part(self.pages, SLICES, task.index),
            WearLoad::Whole | WearLoad::Other => self.slice(task.slice(self.unit)),
        }
    }

    /// The page of such a number.
    pub(crate) fn page_of(&self, task: Task, number: u64) -> u64 {
        match self.load {
            WearLoad::RandomSync { .. } => block_at(self.unit, task.cycle, number, self.pages),
            WearLoad::Whole | WearLoad::Other => number,
        }
    }

    /// The pages of a slice of writing, in their order.
    pub(crate) fn written_by(&self, task: Task) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let layout = *self;
        self.numbers_of(task).map(move |number| layout.page_of(task, number))
    }

    /// Whether an earlier slice than that of `task` wrote a page, in its cycle or before.
    #[must_use]
    pub fn was_written(&self, page: u64, task: Task) -> bool {
        match (self.load, task.phase) {
            (WearLoad::RandomSync { .. }, Phase::Write) if task.cycle == 1 => {
                place(self.pages, SLICES, place_of_block(self.unit, 1, page, self.pages)) < task.index
            }
            _ => task.cycle > 1 || self.round_of(page, task).is_some_and(|round| round > 0),
        }
    }

    /// The cycle whose stamp a page holds when all tasks before `task` are done; 0 if it was not written yet. While
    /// the slice of `task` itself is written this is not known for its pages.
    #[must_use]
    pub fn round_of(&self, page: u64, task: Task) -> Option<u64> {
        if task.phase == Phase::Read {
            return Some(task.cycle);
        }
        let done = match self.load {
            WearLoad::RandomSync { .. } => return (task.index == 0).then(|| task.cycle - 1),
            WearLoad::Whole | WearLoad::Other => order(self.unit, task.cycle, Phase::Write),
        };
        let slice = place(self.pages, SLICES, page);
        let at = done.iter().position(|other| *other == slice).unwrap_or(0) as u64;
        match at.cmp(&task.index) {
            std::cmp::Ordering::Less => Some(task.cycle),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(task.cycle - 1),
        }
    }
}

/// The transfers of some pages.
pub(crate) fn chunks(pages: &Range<u64>) -> impl Iterator<Item = (u64, u64)> + use<> {
    let end = pages.end;
    pages.clone().step_by(CHUNK as usize).map(move |start| (start, (start + CHUNK).min(end)))
}

/// One of `parts` nearly equal parts of `whole`.
fn part(whole: u64, parts: u64, number: u64) -> Range<u64> {
    whole * number / parts..whole * (number + 1) / parts
}

/// The part in which `at` lies.
fn place(whole: u64, parts: u64, at: u64) -> u64 {
    ((at + 1) * parts - 1) / whole.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(pages: u64) -> Layout {
        Layout { unit: 5, pages, load: WearLoad::Whole }
    }

    #[test]
    fn slices_and_cells_cover_each_page_once() {
        for pages in [16, 17, 255, 4096, 5000, 70_001] {
            let layout = layout(pages);
            let mut next = 0;
            for cell in 0..CELLS {
                let range = layout.cell(cell);
                assert_eq!(range.start, next, "{pages} {cell}");
                next = range.end;
                for page in range {
                    assert_eq!(layout.cell_of(page), cell);
                    assert!(layout.slice(cell / 256).contains(&page));
                }
            }
            assert_eq!(next, pages);
        }
    }

    #[test]
    fn each_slice_comes_once_and_reading_has_another_order() {
        let mut orders = Vec::new();
        for cycle in 1..500 {
            let (written, read) = (order(9, cycle, Phase::Write), order(9, cycle, Phase::Read));
            assert_ne!(written, read);
            for mut order in [written, read] {
                orders.push(order);
                order.sort_unstable();
                assert_eq!(order, std::array::from_fn(|slice| slice as u64));
            }
        }
        orders.sort_unstable();
        orders.dedup();
        assert!(orders.len() > 990, "{}", orders.len());
    }

    #[test]
    fn each_block_comes_once_in_an_order_of_its_own() {
        for blocks in [1, 2, 3, 16, 1000, 4096] {
            let of = |cycle| (0..blocks).map(|place| block_at(3, cycle, place, blocks)).collect::<Vec<_>>();
            let mut all = of(1);
            assert!(blocks < 16 || all != of(2));
            for (place, block) in (0..).zip(&all) {
                assert_eq!(place_of_block(3, 1, *block, blocks), place);
            }
            all.sort_unstable();
            assert_eq!(all, (0..blocks).collect::<Vec<_>>());
        }
    }

    #[test]
    fn pages_that_were_written_are_those_of_the_slices_before() {
        for load in [WearLoad::Whole, WearLoad::RandomSync { block_bytes: 4096 }] {
            let layout = Layout { load, ..layout(1000) };
            let mut written = std::collections::BTreeSet::new();
            for index in 0..SLICES {
                let task = Task { cycle: 1, phase: Phase::Write, index };
                assert!(
                    (0..1000).all(|page| layout.was_written(page, task) == written.contains(&page)),
                    "{load:?} {index}"
                );
                written.extend(layout.written_by(task));
            }
            assert!((0..1000).all(|page| layout.was_written(page, Task { cycle: 1, phase: Phase::Read, index: 0 })));
            assert!((0..1000).all(|page| layout.was_written(page, Task { cycle: 2, phase: Phase::Write, index: 0 })));
        }
    }

    #[test]
    fn what_a_page_holds_is_known_between_slices() {
        let layout = layout(160);
        for index in 0..SLICES {
            let task = Task { cycle: 4, phase: Phase::Write, index };
            let order = order(5, 4, Phase::Write);
            for (at, slice) in order.iter().enumerate() {
                let page = layout.slice(*slice).start;
                let wanted = match (at as u64).cmp(&index) {
                    std::cmp::Ordering::Less => Some(4),
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Greater => Some(3),
                };
                assert_eq!(layout.round_of(page, task), wanted);
            }
        }
        assert_eq!(layout.round_of(0, Task { cycle: 4, phase: Phase::Read, index: 0 }), Some(4));
    }
}
