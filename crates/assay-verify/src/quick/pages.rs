//! The pages that a quick check writes: stamps all over the medium, and runs at both ends of the free space; and which
//! wrap-arounds they find.

use std::ops::Range;

use assay_core::verification::{SECTOR_BYTES, SectorClass};
use assay_engine::fill_unique;

use crate::files::{Pool, Raw, Readable, StopReason};
use crate::sys::Extent;

/// Size of a stamp in bytes: the page of most file systems and flash translation layers.
pub(crate) const STAMP: usize = 4096;
const SECTOR: usize = SECTOR_BYTES as usize;

/// Fills a page for `place`. `salt` is random, so that no controller can know it, and data of an earlier check are not
/// mistaken for it. Each sector states its owner, since addresses may wrap around within a page.
pub(crate) fn stamp(page: &mut [u8], salt: u64, place: u64) {
    fill_unique(page, salt, place);
    for (nth, sector) in page.chunks_mut(SECTOR).enumerate() {
        for (word, value) in sector.chunks_exact_mut(8).zip([salt, place, nth as u64]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

/// Class of the page of `place`, and the owner if any of it belongs to another place.
pub(crate) fn classify(page: &[u8], salt: u64, place: u64) -> (SectorClass, Option<u64>) {
    let mut expected = [0; STAMP];
    stamp(&mut expected, salt, place);
    if page == expected {
        return (SectorClass::Good, None);
    }
    let owners = page.chunks(SECTOR).filter_map(|sector| owner(sector, salt));
    match owners.map(|(owner, _)| owner).find(|owner| *owner != place) {
        Some(other) => (SectorClass::Overwritten, Some(other)),
        None => (SectorClass::Corrupted, None),
    }
}

/// Owner of a sector, and its index in the page; `None` if it is not of this check.
pub(crate) fn owner(sector: &[u8], salt: u64) -> Option<(u64, usize)> {
    let word = |nth: usize| Some(u64::from_le_bytes(*sector.get(nth * 8..)?.first_chunk()?));
    let (place, nth) = (word(1)?, usize::try_from(word(2)?).ok()?);
    if word(0)? != salt || nth >= STAMP / SECTOR {
        return None;
    }
    let mut expected = [0; STAMP];
    stamp(&mut expected, salt, place);
    (expected[nth * SECTOR..][..SECTOR] == *sector).then_some((place, nth))
}

// Two runs of pages, at the lowest and at the highest free addresses. They evict stamps from caches, and overwrite
// stamps where addresses wrap around.

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

// Wrap-arounds: writes and reads of a quick check are some distances apart and not others.

const MIB: u64 = 1 << 20;
/// Bytes of the device that are read at either end: twice the widest gap between stamps, within these limits.
const LOOKED: std::ops::RangeInclusive<u64> = 32 * MIB..=256 * MIB;
/// Bytes of one read.
const PIECE: u64 = MIB;
/// A wrap-around after less than this part of the device also shows at a multiple of its period. A device that lacks
/// less than a twentieth is not a fake that is searched for.
const PERIODS: (f64, f64) = (0.4, 0.95);

/// The wrap-arounds that would have been found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wraparounds {
    /// All that lack a twentieth or more.
    Found,
    /// Those that lack this share or more.
    FoundFrom(f64),
    /// Some are not excluded, or it is unknown.
    NotExcluded,
}

/// Byte addresses of what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    stamps: Vec<u64>,
    /// Starts and ends of the runs that were written.
    runs: Vec<(u64, u64)>,
    /// Bytes of the device that were read at either end.
    looked: u64,
}

impl Known {
    /// From stamps and pages of runs at these addresses.
    pub(crate) fn new(mut stamps: Vec<u64>, pages: &[u64]) -> Self {
        stamps.sort_unstable();
        let mut pages = pages.to_vec();
        pages.sort_unstable();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for page in pages {
            match runs.last_mut() {
                // A stamp lies between them.
                Some((_, end)) if page <= *end + PAGE => *end = page + PAGE,
                _ => runs.push((page, page + PAGE)),
            }
        }
        Self { stamps, runs, looked: 0 }
    }

    /// Sets the number of bytes that were read at either end of the device.
    pub(crate) fn and_looked(self, looked: u64) -> Self {
        Self { looked, ..self }
    }

    /// The wrap-arounds of a device of `bytes` that would have been found.
    pub(crate) fn wraparounds(&self, bytes: u64) -> Wraparounds {
        let part = |share: f64| (bytes as f64 * share) as u64;
        let (least, most) = (part(PERIODS.0), part(PERIODS.1));
        let mut upto = least;
        for (from, to) in self.distances(bytes) {
            if from > upto + PAGE {
                break;
            }
            upto = upto.max(to);
        }
        if upto + PAGE >= most {
            return Wraparounds::Found;
        }
        let lacks = 1.0 - upto as f64 / bytes as f64;
        // A threshold above half of the device is not worth stating.
        if lacks <= 0.5 { Wraparounds::FoundFrom(lacks) } else { Wraparounds::NotExcluded }
    }

    /// Distances between something written and something else written or read, as sorted starts and ends.
    fn distances(&self, bytes: u64) -> Vec<(u64, u64)> {
        let looked = [(0, self.looked), (bytes.saturating_sub(self.looked), bytes)];
        let looked = looked.iter().filter(|_| self.looked > 0);
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (start, end) in self.runs.iter().chain(looked) {
            for stamp in &self.stamps {
                if *stamp >= *end {
                    found.push((stamp - end, stamp - start));
                } else if stamp < start {
                    found.push((start - stamp, end - stamp));
                } else {
                    found.push((0, (stamp - start).max(end - stamp)));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

/// Reads both ends of the device for stamps that were written elsewhere. Returns how much was read at either end, and
/// the stamps that were found at another address than their own: place, and address of its first sector there.
///
/// # Errors
/// Where the medium does not answer.
pub(crate) fn look(
    raw: &Raw,
    pool: &Pool,
    addresses: &[u64],
    salt: u64,
) -> Result<(u64, Vec<(usize, u64)>), StopReason> {
    let mut device = raw.by(pool);
    let bytes = device.bytes();
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    let gap = sorted.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let looked = (gap * 2).clamp(*LOOKED.start(), *LOOKED.end()).min(bytes / 2) / PIECE * PIECE;
    let high = (bytes - looked) / PIECE * PIECE;
    let mut elsewhere = Vec::new();
    let mut buffer = vec![0; PIECE as usize];
    for at in (0..looked).chain(high..bytes).step_by(PIECE as usize) {
        if pool.stopped() {
            return Err(StopReason::Stopped);
        }
        let length = PIECE.min(bytes - at) as usize;
        if device.read(at, &mut buffer[..length])?.is_err() {
            continue;
        }
        for (sector, nth) in buffer[..length].chunks(SECTOR_BYTES as usize).zip(0..) {
            let Some((place, within)) = owner(sector, salt) else { continue };
            let stands = (at + nth * SECTOR_BYTES).checked_sub(within as u64 * SECTOR_BYTES);
            let Some(own) = usize::try_from(place).ok().and_then(|place| addresses.get(place)) else { continue };
            if let Some(stands) = stands.filter(|stands| stands != own) {
                elsewhere.push((place as usize, stands));
            }
        }
    }
    elsewhere.dedup();
    Ok((looked, elsewhere))
}

/// Whether stamps are at one distance from their own addresses, or at multiples of one. Copies that a file system makes
/// are not.
pub(crate) fn are_of_one_period(addresses: &[u64], found: &[(usize, u64)]) -> bool {
    const LEAST: usize = 3;
    const LEAST_PERIOD: u64 = 64 << 10;
    let distances = found.iter().filter_map(|(place, at)| Some(addresses.get(*place)?.abs_diff(*at)));
    found.len() >= LEAST && distances.fold(0, gcd) >= LEAST_PERIOD
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_its_place_and_its_check() {
        let mut page = [0; STAMP];
        stamp(&mut page, 5, 70);
        assert_eq!(classify(&page, 5, 70), (SectorClass::Good, None));
        assert_eq!(classify(&page, 5, 71), (SectorClass::Overwritten, Some(70)));
        assert_eq!(classify(&page, 6, 70), (SectorClass::Corrupted, None), "of an earlier check");
        page[4000] ^= 1;
        assert_eq!(classify(&page, 5, 70), (SectorClass::Corrupted, None));
    }

    /// If addresses wrap around after an odd number of sectors, one page is overwritten by parts of two.
    #[test]
    fn a_part_of_another_page_is_told_too() {
        let (mut page, mut other) = ([0; STAMP], [0; STAMP]);
        stamp(&mut page, 5, 70);
        stamp(&mut other, 5, 71);
        page[3 * SECTOR..].copy_from_slice(&other[..5 * SECTOR]);
        assert_eq!(classify(&page, 5, 70), (SectorClass::Overwritten, Some(71)));
        assert_eq!(owner(&page[3 * SECTOR..4 * SECTOR], 5), Some((71, 0)));
        assert_eq!(owner(&[0; SECTOR], 5), None);
    }

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

    /// A stamp in each MiB of 300 MiB behind 16 MiB of tables.
    fn stamps() -> Vec<u64> {
        (16..300).map(|mib| mib * MIB + (mib * 37 % 256) * PAGE).collect()
    }

    fn pages(mib: std::ops::Range<u64>) -> Vec<u64> {
        (mib.start * MIB..mib.end * MIB).step_by(STAMP).collect()
    }

    #[test]
    fn runs_at_both_ends_meet_stamps_at_any_distance_but_the_largest() {
        let both: Vec<u64> = pages(16..32).into_iter().chain(pages(284..300)).collect();
        match Known::new(stamps(), &both).wraparounds(300 * MIB) {
            // The file system's tables are where data would be overwritten.
            Wraparounds::FoundFrom(share) => assert!((0.05..0.07).contains(&share), "{share}"),
            other => panic!("{other:?}"),
        }
        let looked = Known::new(stamps(), &both).and_looked(32 * MIB);
        assert_eq!(looked.wraparounds(300 * MIB), Wraparounds::Found);
    }

    #[test]
    fn copies_at_any_distance_are_no_period() {
        let addresses = stamps();
        let at = |distance: fn(u64) -> u64| -> Vec<(usize, u64)> {
            (200..210).map(|place| (place, addresses[place] - distance(place as u64))).collect()
        };
        assert!(are_of_one_period(&addresses, &at(|_| 100 * MIB + 512)));
        assert!(are_of_one_period(&addresses, &at(|place| 10 * MIB * (1 + place % 3))));
        assert!(!are_of_one_period(&addresses, &at(|place| place * place * PAGE)));
        assert!(!are_of_one_period(&addresses, &at(|_| 100 * MIB)[..2]), "too few");
    }

    #[test]
    fn one_run_somewhere_does_not_exclude_a_wraparound() {
        let middle = Known::new(stamps(), &pages(140..156));
        match middle.wraparounds(300 * MIB) {
            Wraparounds::FoundFrom(share) => assert!(share > 0.45, "{share}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(Known::new(stamps(), &[]).wraparounds(300 * MIB), Wraparounds::NotExcluded);
    }
}
