//! The real size of a fake, derived from what it holds and what it lost.

use assay_core::verification::{FakeKind, SECTOR_BYTES, SectorClass};
use regions as in_order;

use super::pass::REACH;
use super::survey::Repeats;
use super::tally::{Counted, LostPart, Tally};
use crate::sys::Extent;

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
}

impl Size {
    /// At least `bytes`, and up to `untested` bytes more.
    pub(crate) fn and_untested(bytes: u64, untested: u64) -> Self {
        if untested == 0 { Self::Exact(bytes) } else { Self::Within(bytes, bytes.saturating_add(untested)) }
    }
}

/// The size of a fake of this kind, if everything that could be checked was checked.
pub(crate) fn size_of_fake(kind: FakeKind, tally: &Tally, map: Option<&Map>, regions: &[Region]) -> Size {
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
pub(crate) fn size_of_repeats(found: Repeats, good: u64) -> Size {
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

// Findings in the order of device addresses, if the file system reports them.

/// Where the area lies on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Map {
    /// Parts of the area, by their byte offset in it.
    extents: Vec<Extent>,
    /// Size of the device in bytes.
    pub(crate) device_bytes: u64,
}

/// A part of the device that was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    /// Byte address of its start.
    pub(crate) start: u64,
    /// Byte address of its end.
    pub(crate) end: u64,
    /// Class of the region. If it is only partly lost, the class of most of its losses.
    pub(crate) class: SectorClass,
    /// What is lost in it.
    counted: Counted,
}

impl Region {
    pub(crate) fn bytes(&self) -> u64 {
        self.end - self.start
    }

    pub(crate) fn is_good(&self) -> bool {
        self.class == SectorClass::Good
    }

    /// Whether all of it is of its class.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_good() || self.counted.lost() == self.bytes()
    }

    /// Bytes of it that returned other data than were written.
    pub(crate) fn silent_bytes(&self) -> u64 {
        self.counted.silent
    }

    /// Lost sectors from the address `from` to `to` in it: all of a whole region, else its share of them.
    pub(crate) fn lost_sectors(&self, from: u64, to: u64) -> u64 {
        let lost = if self.is_good() { 0 } else { self.counted.lost() };
        let upto = |at: u64| {
            let share = u128::from(lost) * u128::from(at - self.start) / u128::from(self.bytes().max(1));
            (share as u64).div_ceil(SECTOR_BYTES)
        };
        upto(to) - upto(from)
    }

    /// Bytes of it that hold what was written.
    pub(crate) fn good_bytes(&self) -> u64 {
        self.bytes().saturating_sub(self.counted.lost())
    }
}

impl Map {
    /// A map from extents with offsets in the whole area; `None` if they do not lie on the device.
    pub(crate) fn new(mut extents: Vec<Extent>, device_bytes: u64) -> Option<Self> {
        extents.sort_unstable_by_key(|extent| extent.offset);
        let ends = extents.iter().map(|extent| extent.address.saturating_add(extent.bytes));
        // The last extent of a file may be longer than the file, but still ends within the device.
        (device_bytes > 0 && ends.max().is_some_and(|end| end <= device_bytes))
            .then_some(Self { extents, device_bytes })
    }

    /// Device address of the byte `offset` of the area.
    pub(crate) fn address(&self, offset: u64) -> Option<u64> {
        let next = self.extents.partition_point(|extent| extent.offset + extent.bytes <= offset);
        let extent = self.extents.get(next).filter(|extent| extent.offset <= offset)?;
        Some(extent.address + offset - extent.offset)
    }
}

/// Tested regions in the order of addresses, or of the area if addresses are unknown.
pub(crate) fn regions(tally: &Tally, map: Option<&Map>) -> Vec<Region> {
    let mut found = Vec::new();
    let mut lost = tally.lost.runs().iter().copied().peekable();
    let mut tested = tally.tested().to_vec();
    tested.sort_unstable();
    for (start, end) in tested {
        let mut at = start;
        while at < end {
            while lost.next_if(|run| run.end <= at).is_some() {}
            let (to, run) = match lost.peek() {
                Some(run) if run.start <= at => (run.end.min(end), Some(*run)),
                Some(run) => (run.start.min(end), None),
                None => (end, None),
            };
            place(&mut found, (at, to), run, map);
            at = to;
        }
    }
    found.sort_unstable_by_key(|region| region.start);
    let mut joined: Vec<Region> = Vec::new();
    for region in found {
        match joined.last_mut() {
            Some(last)
                if last.end == region.start && last.class == region.class && last.is_whole() && region.is_whole() =>
            {
                last.end = region.end;
                last.counted = last.counted.plus(region.counted);
            }
            _ => joined.push(region),
        }
    }
    joined
}

/// Adds the bytes `from..to` of the area: a part of `run`, or good if `run` is `None`.
fn place(found: &mut Vec<Region>, (from, to): (u64, u64), run: Option<LostPart>, map: Option<&Map>) {
    let region = |from: u64, to: u64, start: u64| Region {
        start,
        end: start + (to - from),
        class: run.map_or(SectorClass::Good, |run| run.class),
        counted: run.map_or(Counted::default(), |run| run.counted_in(from, to)),
    };
    let Some(map) = map else { return found.push(region(from, to, from)) };
    let mut next = map.extents.partition_point(|extent| extent.offset + extent.bytes <= from);
    while let Some(extent) = map.extents.get(next).filter(|extent| extent.offset < to) {
        let (from, to) = (extent.offset.max(from), (extent.offset + extent.bytes).min(to));
        found.push(region(from, to, extent.address + from - extent.offset));
        next += 1;
    }
}

/// Start of the part that is dropped up to the end: from there on losses outweigh good data by `weight` to one.
pub(crate) fn missing_from(regions: &[Region], weight: u64) -> Option<u64> {
    let (mut sum, mut best, mut from) = (0i128, 0i128, None);
    for region in regions.iter().rev() {
        let silent = region.silent_bytes();
        sum += i128::from(silent) - i128::from(region.bytes() - silent) * i128::from(weight);
        if sum > best {
            (best, from) = (sum, Some(region.start));
        }
    }
    from
}

/// End of the part that is lost from the beginning: up to there losses outweigh good data by `weight` to one.
pub(crate) fn missing_upto(regions: &[Region], weight: u64) -> Option<u64> {
    let (mut sum, mut best, mut upto) = (0i128, 0i128, None);
    for region in regions {
        let silent = region.silent_bytes();
        sum += i128::from(silent) - i128::from(region.bytes() - silent) * i128::from(weight);
        if sum > best {
            (best, upto) = (sum, Some(region.end));
        }
    }
    upto
}

/// Bytes that are silently lost from the address `from` on.
pub(crate) fn silent_from(regions: &[Region], from: u64) -> u64 {
    regions.iter().filter(|region| region.start >= from).map(Region::silent_bytes).sum()
}

/// Whether this class means dropped data.
pub(super) fn is_dropped(class: SectorClass) -> bool {
    class == SectorClass::Corrupted
}

#[cfg(test)]
mod tests {
    use super::super::tally::ChunkFindings;
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A medium whose file lies backwards: the last MiB of the file has the lowest address.
    fn backwards(lost: std::ops::Range<u64>) -> Vec<Region> {
        let mut tally = Tally::new(8 * MIB);
        for chunk in 0..8 {
            let mut found = ChunkFindings::default();
            for sector in 0..2048 {
                let class = if lost.contains(&chunk) { SectorClass::Corrupted } else { SectorClass::Good };
                found.note(class, chunk * MIB + sector * 512, None);
            }
            tally.add(chunk * MIB, &found);
        }
        let extent = |chunk: u64| Extent { offset: chunk * MIB, address: (10 - chunk) * MIB, bytes: MIB };
        let map = Map::new((0..8).map(extent).collect(), 16 * MIB).unwrap();
        assert_eq!(map.address(3 * MIB + 5), Some(7 * MIB + 5));
        assert_eq!(map.address(8 * MIB), None);
        regions(&tally, Some(&map))
    }

    /// Losses at the beginning of the file are at the end of the device.
    #[test]
    fn losses_are_put_into_the_order_of_addresses() {
        let found = backwards(0..3);
        let parts: Vec<_> = found.iter().map(|region| (region.start, region.end, region.silent_bytes())).collect();
        assert_eq!(parts, [(3 * MIB, 8 * MIB, 0), (8 * MIB, 11 * MIB, 3 * MIB)]);
        assert_eq!(missing_from(&found, 9), Some(8 * MIB));
        assert_eq!(silent_from(&found, 8 * MIB), 3 * MIB);
        assert_eq!(missing_from(&backwards(5..8), 9), None, "lost at the beginning of the device");
        assert_eq!(missing_from(&backwards(0..0), 9), None);
    }

    #[test]
    fn extents_beyond_the_device_are_no_map() {
        let extent = Extent { offset: 0, address: 7 * MIB, bytes: 2 * MIB };
        assert_eq!(Map::new(vec![extent], 8 * MIB), None);
    }
}
