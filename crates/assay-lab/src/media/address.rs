//! From an address to the memory: faulty address lines first, then the layout.

use std::iter::once;
use std::ops::Range;

use assay_core::verification::SECTOR_BYTES;

use super::layout::{CellPlace, CellRun, Layout};

/// Operations that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    /// Only reads.
    Reads,
    /// Only writes.
    Writes,
    /// Both.
    Both,
}

impl Operations {
    pub(super) fn concerns(self, direction: Direction) -> bool {
        match self {
            Self::Reads => direction == Direction::Read,
            Self::Writes => direction == Direction::Write,
            Self::Both => true,
        }
    }
}

/// Read or write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// Operations that land at another address than the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misaddress {
    /// From `from_bytes` on, operations land `by_sectors` higher, or lower if it is negative. Outside of the announced
    /// addresses they are dropped.
    Shift {
        /// First affected byte address.
        from_bytes: u64,
        /// Distance in sectors of 512 bytes.
        by_sectors: i64,
        /// Which operations.
        on: Operations,
    },
    /// One bit of the sector number is wrong in a range.
    Line {
        /// The bit, counted from the lowest one of the number of a 512-byte sector.
        bit: u32,
        /// The fault.
        fault: LineFault,
        /// Affected byte addresses.
        range: Range<u64>,
        /// Which operations.
        on: Operations,
    },
    /// Addresses wrap around after `period_bytes`, for reads only or for writes only.
    Wrap {
        /// The period.
        period_bytes: u64,
        /// Which operations.
        on: Operations,
    },
}

/// The fault of an address line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFault {
    /// It is always 0: two addresses share a cell.
    Ignored,
    /// It is inverted: pairs of addresses are exchanged.
    Inverted,
}

impl Misaddress {
    /// Where an operation on `sector` of `announced` sectors lands (`None`: nowhere), and for how many sectors this
    /// holds.
    fn locate(&self, sector: u64, direction: Direction, announced: u64) -> (Option<u64>, u64) {
        match self {
            Self::Shift { from_bytes, by_sectors, on } => {
                let from = from_bytes / SECTOR_BYTES;
                if !on.concerns(direction) {
                    return (Some(sector), u64::MAX);
                }
                if sector < from {
                    return (Some(sector), from - sector);
                }
                match sector.checked_add_signed(*by_sectors) {
                    Some(there) if there < announced => (Some(there), announced - there),
                    Some(_) => (None, u64::MAX),
                    None => (None, by_sectors.unsigned_abs() - sector),
                }
            }
            Self::Line { bit, fault, range, on } => {
                let (start, end) = (range.start / SECTOR_BYTES, range.end / SECTOR_BYTES);
                if !on.concerns(direction) || sector >= end {
                    return (Some(sector), u64::MAX);
                }
                if sector < start {
                    return (Some(sector), start - sector);
                }
                let line = 1 << bit;
                let there = match fault {
                    LineFault::Ignored => sector & !line,
                    LineFault::Inverted => sector ^ line,
                };
                let goes_on = (line - sector % line).min(end - sector);
                if there < announced { (Some(there), goes_on.min(announced - there)) } else { (None, goes_on) }
            }
            Self::Wrap { period_bytes, on } => {
                let period = period_bytes / SECTOR_BYTES;
                if !on.concerns(direction) {
                    return (Some(sector), u64::MAX);
                }
                (Some(sector % period), period - sector % period)
            }
        }
    }

    /// Sectors that may land on `sector`, perhaps with others.
    fn candidates(&self, sector: u64) -> [Option<u64>; 2] {
        match self {
            Self::Shift { by_sectors, .. } => [Some(sector), sector.checked_add_signed(-by_sectors)],
            Self::Line { bit, .. } => [Some(sector), Some(sector ^ (1 << bit))],
            Self::Wrap { .. } => [Some(sector), None],
        }
    }

    /// Whether every address still has its own place, the same for reading and writing, so that no read can show the
    /// fault.
    pub(super) fn is_harmless(&self, announced_bytes: u64) -> bool {
        match self {
            Self::Shift { from_bytes, by_sectors, .. } => *by_sectors == 0 || *from_bytes >= announced_bytes,
            Self::Wrap { period_bytes, .. } => *period_bytes >= announced_bytes,
            Self::Line { bit, fault, range, on } => {
                let pair = SECTOR_BYTES << (bit + 1);
                let pairs = range.start.is_multiple_of(pair) && range.end.is_multiple_of(pair);
                let inside = range.end <= announced_bytes;
                range.is_empty() || (*fault == LineFault::Inverted && *on == Operations::Both && pairs && inside)
            }
        }
    }

    /// Whether a part of the addresses loses its writes, and no data are found where they were not sent. Then every
    /// affected operation lands outside of the announced addresses, or every read lands there or at one constant
    /// distance in a part that keeps its own data. A fake whose addresses have no memory there does exactly the same,
    /// so no test can distinguish them.
    pub(super) fn is_a_hole(&self, announced_bytes: u64) -> bool {
        let Self::Line { bit, fault: LineFault::Inverted, range, on } = self else { return false };
        let line = SECTOR_BYTES << bit;
        let block = range.start / line;
        if range.is_empty() {
            return false;
        }
        let last = (range.end - 1) / line;
        if *on != Operations::Reads {
            return last == block && block.is_multiple_of(2) && range.start + line >= announced_bytes;
        }
        let higher = (block..=last).filter(|block| block.is_multiple_of(2));
        let mut higher = higher.map(|block| range.start.max(block * line) + line);
        let lower = (block..=last).take(2).any(|block| !block.is_multiple_of(2));
        !(lower && higher.any(|there| there < announced_bytes))
    }

    /// Byte addresses at which reads show the fault.
    pub(super) fn concerned(&self, announced_bytes: u64) -> Vec<Range<u64>> {
        match self {
            Self::Shift { from_bytes, by_sectors, on: Operations::Both } => {
                let distance = by_sectors.unsigned_abs() * SECTOR_BYTES;
                vec![match by_sectors {
                    // The sectors behind the end have no place.
                    1.. => announced_bytes.saturating_sub(distance).max(*from_bytes)..announced_bytes,
                    // The sectors below have two places.
                    _ => from_bytes.saturating_sub(distance)..(from_bytes + distance).min(announced_bytes),
                }]
            }
            Self::Shift { from_bytes, .. } => once(*from_bytes..announced_bytes).collect(),
            Self::Line { bit, fault: LineFault::Inverted, range, on: Operations::Both } => {
                let half = SECTOR_BYTES << bit;
                let alone = unpaired(range, half);
                alone.into_iter().flat_map(|part| [part.clone(), part.start + half..part.end + half]).collect()
            }
            Self::Line { range, .. } => once(range.clone()).collect(),
            Self::Wrap { period_bytes, .. } => once(*period_bytes..announced_bytes).collect(),
        }
    }

    pub(super) fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Shift { by_sectors, .. } if *by_sectors == i64::MIN => Err("a shift is more than i64::MIN sectors"),
            // Sector numbers have fewer than 56 bits, since byte addresses have 64.
            Self::Line { bit, .. } if *bit > 54 => Err("an address line is at most bit 54"),
            Self::Wrap { period_bytes, .. } if *period_bytes == 0 || !period_bytes.is_multiple_of(SECTOR_BYTES) => {
                Err("a period is whole sectors")
            }
            Self::Shift { .. } | Self::Line { .. } | Self::Wrap { .. } => Ok(()),
        }
    }
}

/// Addresses with the line at 0 where exactly one of the address and its partner, `half` behind, lies in `range`.
fn unpaired(range: &Range<u64>, half: u64) -> Vec<Range<u64>> {
    let mut alone = Vec::new();
    let mut blocks = [range.start, range.end].map(|edge| edge / (2 * half) * (2 * half)).to_vec();
    blocks.dedup();
    for block in blocks {
        let inside = |from: u64| range.start.clamp(from, from + half) - from..range.end.clamp(from, from + half) - from;
        let (low, high) = (inside(block), inside(block + half));
        let parts = if low.is_empty() || high.is_empty() || low.end <= high.start || high.end <= low.start {
            [low, high]
        } else {
            let ends = low.end.min(high.end)..low.end.max(high.end);
            [low.start.min(high.start)..low.start.max(high.start), ends]
        };
        alone
            .extend(parts.into_iter().filter(|part| !part.is_empty()).map(|part| block + part.start..block + part.end));
    }
    alone
}

/// Maps addresses to the memory.
#[derive(Debug, Clone)]
pub(super) struct AddressMap {
    announced_sectors: u64,
    misaddress: Option<Misaddress>,
    layout: Layout,
}

impl AddressMap {
    pub(super) fn new(announced_bytes: u64, misaddress: Option<Misaddress>, layout: Layout) -> Self {
        Self { announced_sectors: announced_bytes / SECTOR_BYTES, misaddress, layout }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The place of an operation on `sector`, for at most `most` sectors.
    pub(super) fn locate(&self, sector: u64, direction: Direction, most: u64) -> CellRun {
        let (there, aligned) = match &self.misaddress {
            None => (Some(sector), most),
            Some(misaddress) => misaddress.locate(sector, direction, self.announced_sectors),
        };
        let CellRun { place, sectors } = match there {
            Some(there) => self.layout.locate(there),
            None => CellRun { place: CellPlace::Dropped, sectors: aligned },
        };
        CellRun { place, sectors: sectors.min(aligned).min(most) }
    }

    /// One of the addresses that read `cell`; `None` if no address does.
    pub(super) fn reader_of(&self, cell: u64) -> Option<u64> {
        let candidates = self.misaddress.as_ref().map_or([Some(cell), None], |wrong| wrong.candidates(cell));
        candidates.into_iter().flatten().find(|sector| {
            *sector < self.announced_sectors && self.locate(*sector, Direction::Read, 1).place == CellPlace::Cell(cell)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const SECTORS: u64 = 8 * MIB / SECTOR_BYTES;

    fn map(misaddress: Misaddress) -> AddressMap {
        AddressMap::new(8 * MIB, Some(misaddress), Layout::whole(8 * MIB))
    }

    fn cell(map: &AddressMap, sector: u64, direction: Direction) -> Option<u64> {
        match map.locate(sector, direction, u64::MAX).place {
            CellPlace::Cell(cell) => Some(cell),
            CellPlace::Dropped => None,
        }
    }

    #[test]
    fn a_shift_concerns_one_direction_from_an_address_on() {
        let lower = map(Misaddress::Shift { from_bytes: 4 * MIB, by_sectors: -1, on: Operations::Reads });
        assert_eq!(cell(&lower, SECTORS / 2 - 1, Direction::Read), Some(SECTORS / 2 - 1));
        assert_eq!(cell(&lower, SECTORS / 2, Direction::Read), Some(SECTORS / 2 - 1));
        assert_eq!(cell(&lower, SECTORS / 2, Direction::Write), Some(SECTORS / 2));
        // The last cell is written and never read.
        assert_eq!((lower.reader_of(SECTORS - 1), lower.reader_of(100)), (None, Some(100)));
        let higher = map(Misaddress::Shift { from_bytes: 0, by_sectors: 3, on: Operations::Writes });
        assert_eq!(cell(&higher, SECTORS - 3, Direction::Write), None);
        assert_eq!(cell(&higher, 5, Direction::Write), Some(8));
    }

    #[test]
    fn an_ignored_line_makes_two_addresses_one_cell() {
        let fault = LineFault::Ignored;
        let line = map(Misaddress::Line { bit: 4, fault, range: 4 * MIB..8 * MIB, on: Operations::Both });
        let start = SECTORS / 2;
        assert_eq!(cell(&line, start + 16, Direction::Write), Some(start));
        assert_eq!(cell(&line, start + 31, Direction::Read), Some(start + 15));
        assert_eq!(cell(&line, start + 32, Direction::Read), Some(start + 32));
        assert_eq!(cell(&line, 16, Direction::Read), Some(16));
        assert_eq!((line.reader_of(start), line.reader_of(start + 16)), (Some(start), None));
    }

    #[test]
    fn an_inverted_line_is_noticed_in_one_direction_or_where_it_cuts_a_pair() {
        let fault = LineFault::Inverted;
        let line = |range: Range<u64>, on| Misaddress::Line { bit: 4, fault, range, on };
        assert!(line(4 * MIB..8 * MIB, Operations::Both).is_harmless(8 * MIB));
        assert!(!line(4 * MIB..8 * MIB, Operations::Reads).is_harmless(8 * MIB));
        assert!(!line(4 * MIB..6 * MIB + 512, Operations::Both).is_harmless(8 * MIB));
        let reads = map(line(4 * MIB..8 * MIB, Operations::Reads));
        let start = SECTORS / 2;
        assert_eq!(cell(&reads, start, Direction::Read), Some(start + 16));
        assert_eq!(cell(&reads, start, Direction::Write), Some(start));
        assert_eq!(reads.reader_of(start), Some(start + 16));
    }

    /// The stated addresses are those that the map shows, address by address.
    #[test]
    fn reads_show_a_fault_of_both_directions_at_the_addresses_concerned() {
        let shift = |from_bytes, by_sectors| Misaddress::Shift { from_bytes, by_sectors, on: Operations::Both };
        let line = |range, bit| Misaddress::Line { bit, fault: LineFault::Inverted, range, on: Operations::Both };
        for wrong in [
            shift(MIB, 5),
            shift(MIB, -5),
            line(4 * MIB..6 * MIB + 512, 4),
            line(4 * MIB + 1024..6 * MIB, 9),
            line(MIB + 512..MIB + 1024, 3),
            line(MIB..5 * MIB, 13),
            line(4 * MIB..6 * MIB, 4),
        ] {
            let map = map(wrong.clone());
            let mut leads = std::collections::HashMap::new();
            let cells: Vec<Option<u64>> = (0..SECTORS).map(|sector| cell(&map, sector, Direction::Read)).collect();
            cells.iter().flatten().for_each(|cell| *leads.entry(*cell).or_insert(0) += 1);
            let shown = |sector: &u64| cells[*sector as usize].is_none_or(|cell| leads[&cell] > 1);
            let shown: Vec<u64> = (0..SECTORS).filter(shown).collect();
            let stated = wrong.concerned(8 * MIB);
            let inside = |sector: &u64| stated.iter().any(|range| range.contains(&(sector * SECTOR_BYTES)));
            assert_eq!(shown, (0..SECTORS).filter(inside).collect::<Vec<_>>(), "{wrong:?}");
            assert_eq!(stated.is_empty(), wrong.is_harmless(8 * MIB), "{wrong:?}");
        }
    }

    #[test]
    fn what_lands_behind_the_end_or_is_never_read_is_a_hole() {
        let line = |start: u64, end: u64, bit, on| {
            let range = start * MIB..end * MIB;
            Misaddress::Line { bit, fault: LineFault::Inverted, range, on }
        };
        // 4 MiB is bit 13. The partner of 5 MiB is at 1 MiB, that of 2 MiB lies behind the end of 6 MiB.
        let writes = |start, end, bit| line(start, end, bit, Operations::Writes);
        assert!(!writes(5, 6, 13).is_a_hole(8 * MIB), "data are found at 1 MiB");
        assert!(writes(5, 6, 14).is_a_hole(8 * MIB) && writes(2, 3, 13).is_a_hole(6 * MIB));
        assert!(!writes(1, 3, 13).is_a_hole(6 * MIB) && !writes(2, 5, 13).is_a_hole(6 * MIB));
        let map = map(writes(5, 6, 14));
        assert_eq!(cell(&map, 5 * MIB / SECTOR_BYTES, Direction::Write), None);
        let reads = |start, end, bit| line(start, end, bit, Operations::Reads);
        assert!(reads(5, 6, 13).is_a_hole(8 * MIB), "its data are in no cell that is read");
        assert!(!reads(3, 6, 13).is_a_hole(8 * MIB), "some read higher, others lower");
        assert!(reads(5, 9, 13).is_a_hole(10 * MIB), "some read lower, others behind the end");
        assert!(!reads(5, 9, 13).is_a_hole(14 * MIB));
    }

    #[test]
    fn runs_end_where_the_fault_begins_and_ends() {
        let shift = map(Misaddress::Shift { from_bytes: MIB, by_sectors: -4096, on: Operations::Reads });
        assert_eq!(shift.locate(0, Direction::Read, u64::MAX).sectors, 2048);
        // Below the first address there is no memory.
        assert_eq!(shift.locate(2048, Direction::Read, u64::MAX), CellRun { place: CellPlace::Dropped, sectors: 2048 });
        assert_eq!(shift.locate(4096, Direction::Read, 7), CellRun { place: CellPlace::Cell(0), sectors: 7 });
    }
}
