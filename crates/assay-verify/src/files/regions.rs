//! Findings in the order of device addresses, if the file system reports them.

use assay_core::verification::SectorClass;

use super::extents::Extent;
use super::lost::{Counted, Run};
use super::tally::Tally;

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
fn place(found: &mut Vec<Region>, (from, to): (u64, u64), run: Option<Run>, map: Option<&Map>) {
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
    use super::super::tally::Found;
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A medium whose file lies backwards: the last MiB of the file has the lowest address.
    fn backwards(lost: std::ops::Range<u64>) -> Vec<Region> {
        let mut tally = Tally::new(8 * MIB);
        for chunk in 0..8 {
            let mut found = Found::default();
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
