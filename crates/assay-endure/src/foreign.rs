//! Whether something else has written to a medium since its test did: the stamps that are left still name the test.

use std::io::{self, Read, Seek, SeekFrom};
use std::time::Instant;

use assay_core::endurance::FailureKind;
use assay_device::guard::signature;

use crate::layout::{PAGE_BYTES, PAGE_SECTORS, Phase, Task};
use crate::medium::Medium;
use crate::sentinel::PATIENCE;
use crate::stamp::{SECTOR, Stamp, mixed, without_stamp};
use crate::state::State;

/// Pages at the front, where what has no mark begins, too; and as many that are drawn from all of the area.
const PLACES: u64 = 64;
/// Pages in a row at the front with content of something else that are enough: places of a medium that fail by themselves are
/// rarely together.
const IN_A_ROW: u64 = 4;
/// Such pages among the drawn ones that are enough. A medium would have to turn a quarter of itself into lasting garbage at once.
const DRAWN: u64 = PLACES / 4;

/// What something else has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// The mark of a file system, a partition table or the like, by its name.
    Mark(&'static str),
    /// Pages of other content where the test had read what it wrote.
    Content,
}

/// What shows that something else has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// A mark on any page of the area, and content on pages that were written. In the first cycle both may be older than the
    /// test, on a medium that loses what is written.
    Every,
    /// A mark on any page of the area that is not this one, which was there before. Otherwise as [`Shows::Held`].
    Since(Option<&'static str>),
    /// A mark or content on pages that were read, and held what the test wrote.
    Held,
}

/// Where partitions begin that tools make: behind a track of 63 sectors, at 1 MiB, and at 4 MiB as on cards. Their tables may be lost.
const PARTITIONS: [u64; 4] = [0, 63 * SECTOR as u64, 1 << 20, 4 << 20];

/// What something else has written to the medium of a test.
pub fn written_since(medium: &mut dyn Medium, state: &State, shows: Shows) -> Option<Foreign> {
    let pages = state.layout().pages;
    let held = |page: u64| has_held(state, page);
    let written = |page: u64| held(page) || was_written(state, page);
    let anywhere = |page: u64| page < pages;
    let mark = match shows {
        Shows::Every => mark_on(medium, &anywhere),
        Shows::Since(before) => mark_on(medium, &anywhere)
            .filter(|mark| Some(*mark) != before)
            .or_else(|| mark_on(medium, &|page| page < pages && held(page))),
        Shows::Held => mark_on(medium, &|page| page < pages && held(page)),
    };
    let counts: &dyn Fn(u64) -> bool = if shows == Shows::Every { &written } else { &held };
    mark.map(Foreign::Mark).or_else(|| has_content(medium, state, counts).then_some(Foreign::Content))
}

/// The mark of a file system, a partition table or the like on pages that count, in what is no stamp: the words of a stamp are as
/// random numbers, among which a short mark comes up.
pub fn mark_on(medium: &mut dyn Medium, counts: &dyn Fn(u64) -> bool) -> Option<&'static str> {
    let (began, bytes) = (Instant::now(), medium.bytes());
    PARTITIONS.into_iter().filter(|start| *start < bytes).find_map(|start| {
        let page = vec![0; PAGE_BYTES as usize];
        signature(&mut Unstamped { medium, counts, start, at: 0, page, began })
    })
}

/// Whether a page was written in an earlier slice, and did not fail.
fn was_written(state: &State, page: u64) -> bool {
    state.layout().was_written(page, state.task())
        && state.failed().count(page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS) == 0
}

/// Whether a page held what was written when it was read last.
fn has_held(state: &State, page: u64) -> bool {
    let Task { cycle, phase, index } = state.task();
    let layout = state.layout();
    let was_read = cycle > 1
        || phase == Phase::Read
            && (0..index).any(|index| layout.slice(Task { cycle, phase, index }.slice(layout.unit)).contains(&page));
    was_read && state.failed().count(page * PAGE_SECTORS..(page + 1) * PAGE_SECTORS) == 0
}

/// Whether pages that count hold lasting content of something else.
fn has_content(medium: &mut dyn Medium, state: &State, counts: &dyn Fn(u64) -> bool) -> bool {
    let (layout, cycle) = (*state.layout(), state.task().cycle);
    let (began, mut in_a_row) = (Instant::now(), 0);
    for page in 0..PLACES.min(layout.pages) {
        in_a_row =
            if began.elapsed() < PATIENCE && counts(page) && lasts(medium, state, page) { in_a_row + 1 } else { 0 };
        if in_a_row == IN_A_ROW {
            return true;
        }
    }
    let drawn = (0..PLACES).map(|draw| mixed(!layout.unit ^ draw, cycle) % layout.pages);
    let in_time = drawn.take_while(|_| began.elapsed() < PATIENCE);
    in_time.filter(|page| counts(*page) && lasts(medium, state, *page)).count() as u64 >= DRAWN
}

/// Whether a page holds content of something else, and in two readings the same: garbage of a medium that fails may be another
/// each time.
fn lasts(medium: &mut dyn Medium, state: &State, page: u64) -> bool {
    let (layout, task) = (state.layout(), state.task());
    let mut read = || {
        let mut bytes = vec![0; PAGE_BYTES as usize];
        medium.read(page * PAGE_BYTES, &mut bytes).is_ok().then_some(bytes)
    };
    let round = layout.round_of(page, task).unwrap_or(task.cycle);
    let first = Stamp { unit: layout.unit, round, address: page * PAGE_SECTORS };
    read().is_some_and(|bytes| is_other(&bytes, first) && read().is_some_and(|again| again == bytes))
}

/// Whether no sector of a page holds a stamp, and one holds something else than zeros or ones. A page of one value is of a medium
/// that fails.
fn is_other(page: &[u8], first: Stamp) -> bool {
    let sectors = page.chunks_exact(SECTOR).zip(first.address..);
    let mut kinds = sectors.map(|(sector, address)| Stamp { address, ..first }.failure(sector));
    let mut other = false;
    kinds.all(|kind| {
        other |= kind == Some(FailureKind::Garbage);
        matches!(kind, Some(FailureKind::Garbage | FailureKind::Zeros | FailureKind::Ones))
    }) && other
        && page.iter().any(|byte| *byte != page[0])
}

/// A medium in which words of stamps, pages that do not count and what cannot be read are zeros.
struct Unstamped<'a> {
    medium: &'a mut dyn Medium,
    counts: &'a dyn Fn(u64) -> bool,
    start: u64,
    at: u64,
    page: Vec<u8>,
    began: Instant,
}

impl Read for Unstamped<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let place = self.start + self.at;
        let (number, skip) = (place / PAGE_BYTES, (place % PAGE_BYTES) as usize);
        let length = self.medium.bytes().saturating_sub(number * PAGE_BYTES).min(PAGE_BYTES) as usize;
        let taken = out.len().min(length.saturating_sub(skip));
        let page = &mut self.page[..length];
        let read = taken > 0 && (self.counts)(number) && self.began.elapsed() <= PATIENCE;
        if !read || self.medium.read(number * PAGE_BYTES, page).is_err() {
            page.fill(0);
        }
        page.chunks_exact_mut(SECTOR).for_each(without_stamp);
        out[..taken].copy_from_slice(&page[skip.min(length)..][..taken]);
        self.at += taken as u64;
        Ok(taken)
    }
}

impl Seek for Unstamped<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.medium.bytes().saturating_sub(self.start).checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
