//! The real size of a fake, derived from what it holds and what it lost.

use assay_core::units::Bytes;
use assay_core::verification::{FakeKind, SECTOR_BYTES};

use super::pass::REACH;
use super::regions::{Map, Region, is_dropped, missing_from, regions as in_order, silent_from};
use super::survey::Repeats;
use super::tally::Tally;

/// What is known about the real size, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Size {
    /// Exactly this.
    Exact(u64),
    /// Between these two.
    Within(u64, u64),
    /// Nothing is known.
    Unknown,
}

impl Size {
    /// Real size, lower and upper bound, as the fields of the record.
    pub(crate) fn fields(&self) -> (Option<u64>, Option<u64>, Option<u64>) {
        match *self {
            Self::Exact(bytes) => (Some(bytes), None, None),
            Self::Within(low, high) => (None, Some(low), Some(high)),
            Self::Unknown => (None, None, None),
        }
    }

    /// As part of a sentence.
    pub(crate) fn words(&self) -> String {
        match *self {
            Self::Exact(bytes) => Bytes(bytes).to_string(),
            Self::Within(low, high) => match (Bytes(low).to_string(), Bytes(high).to_string()) {
                // Three digits show no difference.
                (low, high) if low == high => format!("about {low}"),
                (low, high) => format!("{low} to {high}"),
            },
            Self::Unknown => "an unknown size".to_owned(),
        }
    }
}

impl Size {
    /// At least `bytes`, and up to `untested` bytes more.
    pub(crate) fn and_untested(bytes: u64, untested: u64) -> Self {
        if untested == 0 { Self::Exact(bytes) } else { Self::Within(bytes, bytes.saturating_add(untested)) }
    }
}

/// The size of a fake of this kind, if everything that could be checked was checked.
pub(crate) fn of(kind: FakeKind, tally: &Tally, map: Option<&Map>, regions: &[Region]) -> Size {
    let good = tally.counts.good * SECTOR_BYTES;
    // Space that the file system keeps for itself was not tested, and may or may not lie on the real part.
    let untested = map.map_or(0, |map| map.device_bytes.saturating_sub(tally.counts.total() * SECTOR_BYTES));
    let sure = |bytes: u64| Size::and_untested(bytes, untested);
    match kind {
        // A medium that gives its memory to the first writes, and was filled in the order of addresses, loses the same
        // places. Then it may hold any of the untested part, or none of it.
        FakeKind::Limbo if map.is_some() && in_order_of_writing(tally) => sure(good),
        // The same may be true of one that lacks less than the file system keeps, whatever the order in which it was
        // filled: the latest writes then lie anywhere.
        FakeKind::Limbo => match limbo(regions, map, good).unwrap_or(sure(good)) {
            Size::Exact(most) | Size::Within(_, most) if tally.counts.lost() * SECTOR_BYTES < untested => {
                Size::Within(good.min(most), most)
            }
            size => size,
        },
        FakeKind::Wraparound | FakeKind::Chain => {
            let period = period(tally, map);
            // Data before a window are never overwritten.
            let address = |offset: u64| map.map_or(Some(offset), |map| map.address(offset));
            let before = protected(regions);
            let behind = |offset: u64| address(offset).is_some_and(|address| address >= before);
            let is_window = tally.aliases.iter().all(|alias| behind(alias.at) && behind(alias.holds));
            let candidates = match kind {
                FakeKind::Wraparound => [period, period.filter(|_| is_window).map(|period| before + period)],
                _ => [chain(tally, map, regions), None],
            };
            // Each is right only if that much was found to hold.
            let possible = |real: &u64| (good..=good + untested).contains(real);
            candidates.into_iter().flatten().find(possible).map_or(sure(good), Size::Exact)
        }
        FakeKind::Newest | FakeKind::Unknown => sure(good),
    }
}

/// The size of a fake whose addresses wrap around, as the device itself showed it, where `good` bytes were found good.
pub(crate) fn of_repeats(found: Repeats, good: u64) -> Size {
    let (least, most) = if found.is_whole() { (found.period, found.period) } else { (found.real, found.period) };
    // A wrap-around from the beginning is the simpler explanation than one from within the first tables.
    let (from_least, from_most) = if found.from_least == 0 { (0, 0) } else { (found.from_least, found.from_most) };
    match (from_least + least, from_most + most) {
        // Laps in another order repeat at one distance from some address on, and share cells before it too.
        (_, high) if !found.alone => Size::Within(good.min(found.period), high),
        (low, high) if low == high => Size::Exact(low),
        (low, high) => Size::Within(low, high),
    }
}

/// The end of the part that holds data.
fn limbo(regions: &[Region], map: Option<&Map>, good: u64) -> Option<Size> {
    let from = missing_from(regions, 9)?;
    let (before, behind) = regions.split_at(regions.partition_point(|region| region.start < from));
    // Good data behind the end are either held, or only shown by a cache.
    let shown: u64 = behind.iter().map(Region::good_bytes).sum();
    // For a step that is partly lost, it is only known that the end lies within it.
    let coarse = |region: &&Region| !region.is_whole();
    let steps = before.iter().rev().take_while(coarse).map(Region::bytes).sum::<u64>();
    let first = behind.first().filter(coarse).map_or(0, Region::bytes);
    if map.is_none() {
        let least = good - shown;
        return Some(if steps + first + shown == 0 { Size::Exact(least) } else { Size::Within(least, good) });
    }
    // The space that the file system keeps for itself lies between them.
    let last = before.iter().rev().find(|region| region.is_good()).map_or(0, |region| region.end);
    let most = from + first + shown;
    Some(if last == most { Size::Exact(most) } else { Size::Within(last.min(from), most) })
}

/// Whether the latest writes are what is lost.
fn in_order_of_writing(tally: &Tally) -> bool {
    let files = in_order(tally, None);
    let lost: u64 = files.iter().map(Region::silent_bytes).sum();
    // Operations that were in flight when the losses began were written in any order.
    missing_from(&files, 9).is_some_and(|from| lost - silent_from(&files, from) <= (lost / 100).max(REACH))
}

/// Start of the first loss, if more is held before it than what the file system keeps there.
fn protected(regions: &[Region]) -> u64 {
    match regions {
        [first, second, ..] if first.is_good() && second.is_whole() => second.start,
        _ => 0,
    }
}

/// The greatest common divisor of the distances between each place and the one whose data it holds.
pub(super) fn period(tally: &Tally, map: Option<&Map>) -> Option<u64> {
    let address = |offset: u64| map.map_or(Some(offset), |map| map.address(offset));
    let distances = tally.aliases.iter().filter_map(|alias| Some(address(alias.at)?.abs_diff(address(alias.holds)?)));
    let period = distances.fold(0, gcd);
    (period > 0).then_some(period)
}

/// How much of each period holds data.
fn chain(tally: &Tally, map: Option<&Map>, regions: &[Region]) -> Option<u64> {
    let period = period(tally, map)?;
    regions
        .windows(2)
        .filter(|pair| pair.iter().all(Region::is_whole))
        .filter(|pair| !is_dropped(pair[0].class) && is_dropped(pair[1].class) && pair[0].end == pair[1].start)
        .map(|pair| pair[1].start % period)
        .filter(|real| *real > 0)
        .min()
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
