//! Whether the medium is still the one under test. A reader may not report that it was replaced by another one.

use std::collections::BTreeSet;

use assay_core::verification::SECTOR_BYTES;

use super::super::device::{Device, ProbeFault};
use super::super::stamp::{SECTOR_LEN, digest};
use super::stamped::{End, SectorRange, StampedDevice};

/// Sectors that are tested for their stamps: from the lowest address on, and then all over.
const LOWEST: usize = 8;
const SPREAD: usize = 64;
/// Places that are tested for their saved content.
const ANCHORS: usize = 16;
/// One place in this many may be the same on another medium.
const FEW: usize = 4;
/// Readings of a place before a difference counts as more than a wrong bit in one of them.
const LOOKS: usize = 3;

/// State of a place that was saved and not written since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    AsSaved,
    /// It errs, reads differently each time, or shows a stamp or the data read just before.
    TellsNothing,
    Changed,
}

impl<D: Device> StampedDevice<'_, D> {
    /// Whether `place` may be written. A reader may not report that the medium under test was replaced by another one.
    /// An earlier write still shows its stamp, which no other medium carries. A place that is written for the first
    /// time still begins as it was saved.
    ///
    /// A medium may lose all of that by itself. Then more than a few of the places that were only saved still read as
    /// they were, and so does all of `place`: whichever medium that is, the journal has what is there.
    ///
    /// # Errors
    /// [`ProbeFault::Exchanged`] if all stamps are gone, and most of what was saved reads differently.
    pub(super) fn is_still_ours(&mut self, place: SectorRange) -> Result<bool, End> {
        if self.bears_a_stamp()? {
            // The medium that was saved may not be the one that carries the stamp now.
            let first = SectorRange { sectors: self.unit(), ..place };
            return Ok(self.written.contains_key(&place.at) || self.standing(first)? != Standing::Changed);
        }
        if !self.some_read_as_saved()? {
            return Err(End::Fault(ProbeFault::Exchanged));
        }
        Ok(self.standing(place)? != Standing::Changed)
    }

    /// Whether any stamp of an earlier write than the last is found: the medium may have been exchanged between the
    /// check and the last write.
    fn bears_a_stamp(&mut self) -> Result<bool, End> {
        let mut errs = None;
        if let Some(written) = self.before.or(self.took)
            && self.shows_stamp(written, &mut errs)?
        {
            return Ok(true);
        }
        // The lowest addresses come first, which most fakes keep. Sectors that were never read come last: a medium that
        // loses what is read keeps these. Each group is computed only if the one before showed no stamp, since that
        // goes through all findings.
        let groups: [fn(&Self) -> Vec<u64>; 4] =
            [Self::lowest, Self::spread_held, Self::spread_shown, Self::spread_unread];
        for group in groups {
            for sector in group(self) {
                let block = self.place(sector, 1);
                if !block.meets(self.last) && self.shows_stamp(block, &mut errs)? {
                    return Ok(true);
                }
            }
        }
        // A medium that only answers with errors proves nothing.
        errs.map_or(Ok(false), |fault| Err(End::Fault(fault)))
    }

    /// Sectors that were last seen to hold their stamps.
    fn held(&self) -> impl Iterator<Item = u64> + '_ {
        self.findings.iter().filter(|(_, seen)| seen.keeps()).map(|(sector, _)| *sector)
    }

    fn lowest(&self) -> Vec<u64> {
        self.shown.iter().copied().take(LOWEST).chain(self.held().take(LOWEST)).collect()
    }

    fn spread_shown(&self) -> Vec<u64> {
        spread(&self.shown.iter().copied().collect::<Vec<u64>>(), SPREAD)
    }

    fn spread_held(&self) -> Vec<u64> {
        spread(&self.held().collect::<Vec<u64>>(), SPREAD)
    }

    fn spread_unread(&self) -> Vec<u64> {
        let mut unread: Vec<u64> =
            self.written.keys().filter(|sector| !self.findings.contains_key(sector)).copied().collect();
        unread.sort_unstable();
        spread(&unread, SPREAD)
    }

    /// Whether a block carries a stamp of this probe, for any address, except for the stamp that was written last: a
    /// place without memory shows that one on any medium. An error counts as no stamp. It is left in `errs` if there
    /// were only errors.
    fn shows_stamp(&mut self, block: SectorRange, errs: &mut Option<ProbeFault>) -> Result<bool, End> {
        let mut buffer = vec![0; block.bytes() as usize];
        self.tell()?;
        self.moved.read_bytes += block.bytes();
        match self.device.read_at(block.offset(), &mut buffer) {
            Ok(()) => *errs = None,
            Err(ProbeFault::Medium) if self.device.present() => {
                *errs = Some(ProbeFault::AllErrors);
                return Ok(false);
            }
            Err(ProbeFault::Medium) => return Err(End::Fault(ProbeFault::Gone)),
            Err(fault) => return Err(End::Fault(fault)),
        }
        let is_last = |offset: u64, generation: u32| {
            let sector = offset / SECTOR_BYTES;
            self.last.numbers().contains(&sector) && self.written.get(&sector) == Some(&generation)
        };
        let older = |(offset, generation): (u64, u32)| !is_last(offset, generation);
        let shows = buffer.chunks_exact(SECTOR_LEN).any(|sector| self.salt.origin(sector).is_some_and(older));
        if shows {
            self.seen_stamp = true;
            self.shown.insert(block.at);
        }
        Ok(shows)
    }

    /// The content of a place, if it has no error. Such reads are reported by themselves.
    fn look(&mut self, place: SectorRange) -> Result<Option<Vec<u8>>, End> {
        self.tell()?;
        let mut buffer = vec![0; place.bytes() as usize];
        self.moved.read_bytes += place.bytes();
        Ok(self.device.read_at(place.offset(), &mut buffer).is_ok().then_some(buffer))
    }

    /// State of a place that was saved. Wrong bits of single readings are ignored.
    fn standing(&mut self, place: SectorRange) -> Result<Standing, End> {
        let mut missing: BTreeSet<u64> = place.numbers().collect();
        let (mut stamped, mut first) = (false, None);
        let mut from_elsewhere = false;
        for _ in 0..LOOKS {
            let Some(content) = self.look(place)? else { return Ok(Standing::TellsNothing) };
            for (sector, content) in place.numbers().zip(content.chunks_exact(SECTOR_LEN)) {
                let ours = self.salt.origin(content).is_some();
                if ours || self.saved.get(&sector) == Some(&digest(content)) {
                    stamped |= ours;
                    missing.remove(&sector);
                }
            }
            // Behind a cache, a place without memory shows what was read long before.
            let known = |at: &u64| {
                let from = ((at - place.at) * SECTOR_BYTES) as usize;
                self.contents.contains(&digest(&content[from..from + SECTOR_LEN]))
            };
            from_elsewhere = missing.iter().all(known);
            if missing.is_empty() {
                return Ok(if stamped { Standing::TellsNothing } else { Standing::AsSaved });
            }
            if first.get_or_insert_with(|| content.clone()) != &content {
                return Ok(Standing::TellsNothing);
            }
        }
        Ok(if from_elsewhere || self.shows_what_crossed(place)? { Standing::TellsNothing } else { Standing::Changed })
    }

    /// Whether a place shows whatever was read just before.
    fn shows_what_crossed(&mut self, place: SectorRange) -> Result<bool, End> {
        let block = SectorRange { sectors: self.unit(), ..place };
        // A stamp is unique. If there is none, blocks at the start of the device may differ from each other.
        let stamps = self.took.map(|took| took.at).into_iter().chain(self.shown.iter().rev().take(LOWEST).copied());
        let others: Vec<u64> =
            stamps.chain(self.lowest_saved()).filter(|at| !self.place(*at, 1).meets(block)).collect();
        let mut crossed: Vec<Vec<u8>> = Vec::new();
        for at in others {
            let Some(content) = self.look(self.place(at, 1))? else { continue };
            if crossed.contains(&content) {
                continue;
            }
            if self.look(block)?.as_ref() != Some(&content) {
                return Ok(false);
            }
            let is_stamp = content.chunks_exact(SECTOR_LEN).any(|sector| self.salt.origin(sector).is_some());
            crossed.push(content);
            if is_stamp || crossed.len() == 2 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The lowest saved addresses, in blocks.
    fn lowest_saved(&self) -> Vec<u64> {
        let unit = self.unit();
        (0..LOWEST as u64 * unit).step_by(unit as usize).filter(|at| self.saved.contains_key(at)).collect()
    }

    /// Whether more than a few of the places that were saved and not written still read as they were saved, or none of
    /// them has memory. Cards with the same partition table have few places in common.
    fn some_read_as_saved(&mut self) -> Result<bool, End> {
        let mut saved: Vec<u64> =
            self.saved.keys().filter(|sector| !self.written.contains_key(sector)).copied().collect();
        saved.sort_unstable();
        // Different places each time, while there are any: a medium may lose what is read.
        let fresh: Vec<u64> = saved.iter().filter(|sector| !self.asked.contains(sector)).copied().collect();
        let all_over = spread(if fresh.len() < ANCHORS { &saved } else { &fresh }, ANCHORS);
        self.asked.extend(&all_over);
        // The lowest addresses, which another card may share, count only if the others have no memory.
        for anchors in [all_over, saved.into_iter().take(LOWEST).collect()] {
            let (mut same, mut all) = (0, 0);
            for sector in anchors {
                match self.standing(self.place(sector, 1))? {
                    Standing::AsSaved => (same, all) = (same + 1, all + 1),
                    Standing::Changed => all += 1,
                    Standing::TellsNothing => {}
                }
            }
            if all > 0 {
                return Ok(same * FEW >= all);
            }
        }
        Ok(true)
    }
}

/// At most `some` of these numbers, spread over all.
fn spread(numbers: &[u64], some: usize) -> Vec<u64> {
    numbers.iter().rev().step_by(numbers.len().div_ceil(some).max(1)).copied().collect()
}
