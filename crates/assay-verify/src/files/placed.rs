//! Findings by device address in place of the order of the files, where the file system tells addresses.

use assay_core::verification::{
    FirstError, MapCell, Offsets, Pass, PassSpeed, SECTOR_BYTES, SectorClass, Verification,
};

use super::size::{Map, Region, regions};
use super::tally::Tally;

/// Puts map, first error and speed of a check in the order of device addresses. They stay as they are where the address of
/// something that was tested is not known.
pub(super) fn by_address(verification: &mut Verification, tally: &Tally, map: &Map) {
    let found = regions(tally, Some(map));
    let tested: u64 = tally.tested().iter().map(|(start, end)| end - start).sum();
    let passes = [&verification.write, &verification.read].map(|pass| pass.as_ref().map(|pass| placed(pass, map)));
    if found.iter().map(Region::bytes).sum::<u64>() != tested || passes.contains(&Some(None)) {
        return;
    }
    let [write, read] = passes.map(Option::flatten);
    (verification.write, verification.read) = (write, read);
    verification.map = cells(&found, map.device_bytes);
    verification.first_error = found.iter().find(|region| !region.is_good()).map(|region| first(region, tally, map));
    verification.offsets = Offsets::Device;
}

/// The first place of a lost region. What it holds is known where the findings kept that of this very place.
fn first(region: &Region, tally: &Tally, map: &Map) -> FirstError {
    let here = tally.aliases.iter().find(|alias| map.address(alias.at) == Some(region.start));
    let holds = here.filter(|_| region.class == SectorClass::Overwritten).and_then(|alias| map.address(alias.holds));
    FirstError { offset_bytes: region.start, class: region.class, holds_offset_bytes: holds }
}

/// A device of `device_bytes` in equal parts, with what was found in the regions.
fn cells(found: &[Region], device_bytes: u64) -> Vec<MapCell> {
    let mut cells = Tally::new(device_bytes).map();
    for region in found {
        let first = cells.partition_point(|cell| cell.offset_bytes + cell.bytes <= region.start);
        for cell in cells[first..].iter_mut().take_while(|cell| cell.offset_bytes < region.end) {
            let (from, to) = (region.start.max(cell.offset_bytes), region.end.min(cell.offset_bytes + cell.bytes));
            let sectors = (to - from).div_ceil(SECTOR_BYTES);
            let lost = region.lost_sectors(from, to).min(sectors);
            cell.counts.add(region.class, lost);
            cell.counts.add(SectorClass::Good, sectors - lost);
        }
    }
    cells
}

/// A pass with its parts by the address at which each begins; `None` where one of them has none.
fn placed(pass: &Pass, map: &Map) -> Option<Pass> {
    let part = |part: &PassSpeed| Some(PassSpeed { offset_bytes: map.address(part.offset_bytes)?, ..part.clone() });
    let mut speed = pass.speed.iter().map(part).collect::<Option<Vec<PassSpeed>>>()?;
    speed.sort_by_key(|part| part.offset_bytes);
    Some(Pass { speed, ..pass.clone() })
}

#[cfg(test)]
mod tests {
    use assay_core::verification::{Method, SectorCounts};

    use super::super::tally::ChunkFindings;
    use super::*;
    use crate::sys::Extent;

    const MIB: u64 = 1 << 20;

    /// An area of 8 MiB whose last MiB has the lowest address. The chunks `lost` lose their data.
    fn backwards(lost: &[u64], extents: u64) -> (Tally, Verification, Map) {
        let mut tally = Tally::new(8 * MIB);
        for chunk in 0..8 {
            let mut found = ChunkFindings::default();
            for sector in 0..2048 {
                let at = chunk * MIB + sector * SECTOR_BYTES;
                match lost.contains(&chunk) {
                    true => found.note(SectorClass::Overwritten, at, Some(at - MIB)),
                    false => found.note(SectorClass::Good, at, None),
                }
            }
            tally.add(chunk * MIB, &found);
        }
        let part = |at: u64| PassSpeed { offset_bytes: at * MIB, bytes: MIB, elapsed_ns: at + 1 };
        let pass = Pass { bytes: 8 * MIB, elapsed_ns: 36, speed: (0..8).map(part).collect() };
        let verification = Verification {
            counts: tally.counts,
            first_error: tally.first.clone(),
            map: tally.map(),
            write: None,
            read: Some(pass),
            ..Verification::undecided(Method::Full)
        };
        let extent = |chunk: u64| Extent { offset: chunk * MIB, address: (10 - chunk) * MIB, bytes: MIB };
        let map = Map::new((0..extents).map(extent).collect(), 16 * MIB).unwrap();
        (tally, verification, map)
    }

    #[test]
    fn the_lowest_address_comes_first_and_not_the_first_file() {
        let (tally, mut verification, map) = backwards(&[1, 2], 8);
        assert_eq!(verification.first_error.as_ref().unwrap().offset_bytes, MIB);
        by_address(&mut verification, &tally, &map);
        assert_eq!(verification.offsets, Offsets::Device);
        let first = verification.first_error.unwrap();
        assert_eq!((first.offset_bytes, first.class), (8 * MIB, SectorClass::Overwritten));
        assert_eq!(first.holds_offset_bytes, Some(9 * MIB), "where the file that it holds lies");
        let good_and_lost = |cell: &MapCell| (cell.counts.good, cell.counts.overwritten);
        let cells: Vec<(u64, u64)> = verification.map.iter().map(good_and_lost).collect();
        let (none, good, lost) = ((0, 0), (2048, 0), (0, 2048));
        let expected = [none, none, none, good, good, good, good, good, lost, lost, good, none, none, none, none, none];
        assert_eq!(cells, expected);
        let mut sum = SectorCounts::default();
        verification.map.iter().for_each(|cell| sum.merge(&cell.counts));
        assert_eq!(sum, verification.counts);
        let speed: Vec<(u64, u64)> =
            verification.read.unwrap().speed.iter().map(|part| (part.offset_bytes / MIB, part.elapsed_ns)).collect();
        assert_eq!(speed, [(3, 8), (4, 7), (5, 6), (6, 5), (7, 4), (8, 3), (9, 2), (10, 1)]);
    }

    #[test]
    fn what_has_no_address_leaves_all_in_the_order_of_the_files() {
        let (tally, mut verification, map) = backwards(&[1], 7);
        let before = verification.clone();
        by_address(&mut verification, &tally, &map);
        assert_eq!(verification, before);
    }
}
