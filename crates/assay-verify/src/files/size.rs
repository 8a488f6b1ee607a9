//! The real size of a fake, from what it holds and lost.

use assay_core::units::Bytes;
use assay_core::verification::{FakeKind, SECTOR_BYTES, SectorCounts};

use super::pass::REACH;
use super::regions::{Map, Region, is_dropped, missing_from, regions as in_order, silent_from};
use super::survey::Repeats;
use super::tally::Tally;

/// What is known of the real size, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Size {
    /// This.
    Exact(u64),
    /// From this to that.
    Within(u64, u64),
    /// Nothing.
    Unknown,
}

impl Size {
    /// Real size, least and most, as the record has them.
    pub(crate) fn fields(&self) -> (Option<u64>, Option<u64>, Option<u64>) {
        match *self {
            Self::Exact(bytes) => (Some(bytes), None, None),
            Self::Within(low, high) => (None, Some(low), Some(high)),
            Self::Unknown => (None, None, None),
        }
    }

    /// For a sentence; what was found good where the size is not known.
    pub(crate) fn words(&self, counts: &SectorCounts) -> String {
        match *self {
            Self::Exact(bytes) => Bytes(bytes).to_string(),
            Self::Within(low, high) => format!("{} to {}", Bytes(low), Bytes(high)),
            Self::Unknown => Bytes(counts.good * SECTOR_BYTES).to_string(),
        }
    }
}

/// The size of a fake of a kind, of which everything was checked that could be.
pub(crate) fn of(kind: FakeKind, tally: &Tally, map: Option<&Map>, regions: &[Region]) -> Size {
    let good = tally.counts.good * SECTOR_BYTES;
    // What the file system keeps for itself was not tested, and may lie on the real part or not.
    let untested = map.map_or(0, |map| map.device_bytes.saturating_sub(tally.counts.total() * SECTOR_BYTES));
    let sure = |bytes: u64| if untested == 0 { Size::Exact(bytes) } else { Size::Within(bytes, bytes + untested) };
    match kind {
        // A medium that gives what it has to what comes first, and was filled in the order of addresses, loses the
        // same. Then any of what was not tested may be held, or none of it.
        FakeKind::Limbo if map.is_some() && in_order_of_writing(tally) => sure(good),
        // So may one that lacks less than the file system keeps, in whatever order that filled it: what was written
        // last then lies anywhere.
        FakeKind::Limbo => match limbo(regions, map, good).unwrap_or(sure(good)) {
            Size::Exact(most) | Size::Within(_, most) if tally.counts.lost() * SECTOR_BYTES < untested => {
                Size::Within(good.min(most), most)
            }
            size => size,
        },
        FakeKind::Wraparound | FakeKind::Chain => {
            let period = period(tally, map);
            let candidates = match kind {
                FakeKind::Wraparound => [period, period.map(|period| protected(regions) + period)],
                _ => [chain(tally, map, regions), None],
            };
            // Either is right only where that much was found to hold.
            let possible = |real: &u64| (good..=good + untested).contains(real);
            candidates.into_iter().flatten().find(possible).map_or(sure(good), Size::Exact)
        }
        FakeKind::Unknown => sure(good),
    }
}

/// The size of a fake whose addresses start again, as the device itself showed it.
pub(crate) fn of_repeats(found: Repeats) -> Size {
    let (least, most) = if found.is_whole() { (found.period, found.period) } else { (found.real, found.period) };
    // That they start again from the beginning is simpler than that they do from within its first tables.
    let (from_least, from_most) = if found.from_least == 0 { (0, 0) } else { (found.from_least, found.from_most) };
    match (from_least + least, from_most + most) {
        (low, high) if low == high => Size::Exact(low),
        (low, high) => Size::Within(low, high),
    }
}

/// Up to where it holds data.
fn limbo(regions: &[Region], map: Option<&Map>, good: u64) -> Option<Size> {
    let from = missing_from(regions, 9)?;
    let before = regions.iter().take_while(|region| region.start < from);
    let last = before.filter(|region| region.is_good()).map(|region| region.end).last().unwrap_or(0);
    if map.is_none() {
        // What follows the missing part is shown by a cache, and held by nothing.
        let shown: u64 =
            regions.iter().filter(|region| region.start >= from && region.is_good()).map(Region::bytes).sum();
        return Some(Size::Exact(good - shown));
    }
    // Between them lies what the file system keeps for itself.
    Some(if last == from { Size::Exact(from) } else { Size::Within(last, from) })
}

/// Whether what is lost is what was written last.
fn in_order_of_writing(tally: &Tally) -> bool {
    let files = in_order(tally, None);
    let lost: u64 = files.iter().filter(|region| region.is_silent()).map(Region::bytes).sum();
    // What was in flight at once when it began to be lost was written in any order.
    missing_from(&files, 9).is_some_and(|from| lost - silent_from(&files, from) <= (lost / 100).max(REACH))
}

/// What is held before the first loss, where that is more than what the file system keeps there.
fn protected(regions: &[Region]) -> u64 {
    match regions {
        [first, second, ..] if first.is_good() => second.start,
        _ => 0,
    }
}

/// The largest number that divides every distance between a place and the one whose data it holds.
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
