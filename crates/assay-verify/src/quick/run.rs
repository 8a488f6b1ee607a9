//! Two runs of pages, at the lowest and at the highest free addresses. They evict stamps from caches, and overwrite
//! stamps where addresses wrap around.

use std::ops::Range;

use super::stamp::STAMP;
use crate::sys::Extent;

const PAGE: u64 = STAMP as u64;
/// Names of pages of a run have this bit, which names of places do not have.
const NAMES: u64 = 1 << 63;

/// One end of the free space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

/// A page of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Page {
    /// Number of the file.
    pub(crate) file: usize,
    /// Byte offset in it.
    pub(crate) offset: u64,
}

/// The space of one file.
pub(crate) struct Space<'a> {
    pub(crate) bytes: u64,
    /// Byte offset of its stamp, which no run touches.
    pub(crate) stamp: u64,
    /// Whether any part of it can be written before the parts in front of it.
    pub(crate) anywhere: bool,
    /// Where it lies on the device, if known.
    pub(crate) extents: Option<&'a [Extent]>,
}

/// The pages of both runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pages: Vec<Page>,
    /// The first pages in this number form the low run.
    low: usize,
}

impl Runs {
    /// Runs of `bytes` in total over these files. If addresses are unknown, files are assumed to lie in their order.
    pub(crate) fn over(spaces: &[Space<'_>], bytes: u64) -> Self {
        let mut parts: Vec<(u64, usize, Range<u64>)> = Vec::new();
        for (file, space) in spaces.iter().enumerate() {
            let (stamp, bytes) = (space.stamp, space.bytes / PAGE * PAGE);
            for free in [0..stamp, stamp + PAGE..bytes.max(stamp + PAGE)] {
                let whole = [Extent { offset: 0, address: bytes * file as u64, bytes }];
                for extent in space.extents.unwrap_or(&whole) {
                    let from = free.start.max(extent.offset).next_multiple_of(PAGE);
                    let to = free.end.min(extent.offset + extent.bytes) / PAGE * PAGE;
                    if from < to {
                        parts.push((extent.address + from - extent.offset, file, from..to));
                    }
                }
            }
        }
        parts.sort_unstable_by_key(|(address, ..)| *address);
        let half = bytes / 2 / PAGE * PAGE;
        let all: u64 = parts.iter().map(|(.., part)| part.end - part.start).sum();
        let half = half.min(all / 2 / PAGE * PAGE);
        let low = taken(parts.iter(), half, |part, bytes| part.start..part.start + bytes);
        let high = taken(parts.iter().rev(), half, |part, bytes| part.end - bytes..part.end);
        let pages = |mut parts: Vec<(usize, Range<u64>)>| {
            // A file that must be written from its start is; other files are written anywhere.
            for (file, part) in &mut parts {
                if !spaces[*file].anywhere {
                    *part = PAGE..PAGE + (part.end - part.start);
                }
            }
            let each =
                parts.into_iter().flat_map(|(file, part)| part.step_by(STAMP).map(move |offset| Page { file, offset }));
            let mut pages: Vec<Page> = each.collect();
            pages.sort_unstable();
            pages.dedup();
            pages
        };
        let (low, high) = (pages(low), pages(high));
        let high: Vec<Page> = high.into_iter().filter(|page| low.binary_search(page).is_err()).collect();
        Self { low: low.len(), pages: low.into_iter().chain(high).collect() }
    }

    /// All pages, those of the low run first.
    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    /// The indexes of the pages of one run.
    pub(crate) fn range(&self, end: End) -> Range<usize> {
        match end {
            End::Low => 0..self.low,
            End::High => self.low..self.pages.len(),
        }
    }

    /// Total bytes of both runs.
    pub(crate) fn bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE
    }

    /// The name of a page by its number.
    pub(crate) fn name(number: usize) -> u64 {
        NAMES | number as u64
    }

    /// The number of the page with this name; `None` if it is the name of a place.
    pub(crate) fn number(name: u64) -> Option<usize> {
        (name & NAMES != 0).then(|| usize::try_from(name & !NAMES).unwrap_or(usize::MAX))
    }
}

/// The first of `parts` with `bytes` in total; `cut` shortens the last one.
fn taken<'a>(
    parts: impl Iterator<Item = &'a (u64, usize, Range<u64>)>,
    bytes: u64,
    cut: impl Fn(&Range<u64>, u64) -> Range<u64>,
) -> Vec<(usize, Range<u64>)> {
    let mut left = bytes;
    let mut found = Vec::new();
    for (_, file, part) in parts {
        if left == 0 {
            break;
        }
        let length = (part.end - part.start).min(left);
        found.push((*file, cut(part, length)));
        left -= length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(runs: &Runs, end: End) -> Vec<(usize, u64)> {
        runs.pages()[runs.range(end)].iter().map(|page| (page.file, page.offset / PAGE)).collect()
    }

    /// The last file lies at the lowest address, the first at the highest.
    #[test]
    fn runs_lie_at_both_ends_and_on_no_stamp() {
        let extents: Vec<[Extent; 1]> =
            (0..4).map(|file| [Extent { offset: 0, address: (10 - file) << 20, bytes: 4 * PAGE }]).collect();
        let space = |extents| Space { bytes: 4 * PAGE, stamp: PAGE, anywhere: true, extents: Some(extents) };
        let spaces: Vec<Space<'_>> = extents.iter().map(|extents| space(extents.as_slice())).collect();
        let runs = Runs::over(&spaces, 8 * PAGE);
        assert_eq!(offsets(&runs, End::Low), [(2, 0), (3, 0), (3, 2), (3, 3)]);
        assert_eq!(offsets(&runs, End::High), [(0, 0), (0, 2), (0, 3), (1, 3)]);
        assert_eq!(runs.bytes(), 8 * PAGE);
    }

    #[test]
    fn without_addresses_the_order_of_files_is_taken_and_files_are_written_from_their_start() {
        let spaces: Vec<Space<'_>> =
            (0..4).map(|_| Space { bytes: 4 * PAGE, stamp: 0, anywhere: false, extents: None }).collect();
        let runs = Runs::over(&spaces, 4 * PAGE);
        assert_eq!(offsets(&runs, End::Low), [(0, 1), (0, 2)]);
        assert_eq!(offsets(&runs, End::High), [(3, 1), (3, 2)]);
        let names: Vec<u64> = (0..runs.pages().len()).map(Runs::name).collect();
        assert!(names.iter().enumerate().all(|(number, name)| Runs::number(*name) == Some(number)));
        assert_eq!(Runs::number(7), None);
    }
}
