//! Restores the original content, and reads it back.
//!
//! One rule holds for every write, in the session that made the journal and later. The place is read immediately
//! before, and a sector is written only if it holds a block of the probe or its original content. So an exchanged
//! medium, and data that another program wrote meanwhile, remain untouched.
//!
//! A controller may take everything into a cache and lose it without power, although it was told to flush. So
//! everything is written in several rounds. The data of one round leave a cache of any usual order while the next round
//! writes the same again, and what the cache still holds at the end is already in the memory.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use assay_core::units::counted;
use foldhash::fast::FixedState;

use super::device::{Device, ProbeFault};
use super::journal::{ByteRange, Log};
use super::places::{Class, Places, STREAK, Sectors, SurveyError, classify};
use super::stamp::{SECTOR_LEN, digest};

/// Attempts to write places again that are not as before.
const RETRIES: usize = 2;
/// Attempts to write a block before a device counts as storing nothing.
const ATTEMPTS: usize = 3;

/// How thoroughly to restore.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thoroughness {
    /// Times that everything is written.
    pub(super) rounds: usize,
    /// Number of times that everything is read back: cells that do not last lose their data within a few readings.
    pub(super) readings: usize,
    /// Whether unreadable sectors are written: a power cut during a write leaves such sectors.
    pub(super) heal: bool,
    /// Whether content that is neither original nor from the probe is newer data that its owner wants to keep.
    pub(super) keep_newer: bool,
    /// Offset of the first byte without memory: writes from here on land on lower places. `u64::MAX` if there is none.
    pub(super) ends_at: u64,
}

/// Gets the bytes written and read back so far. Returns whether to stop.
pub(super) type Step<'s> = &'s mut dyn FnMut(RestoreStep, u64, u64) -> bool;

/// Restores the content of a journal.
pub(super) struct PutBack<'a, 'd, D> {
    log: &'a Log,
    places: &'a mut Places<'d, D>,
    how: Thoroughness,
    step: Step<'a>,
    /// By entry: the sectors that were written here; empty if none were.
    wrote: Vec<Vec<bool>>,
    /// By entry: whether the device refused a block.
    refused: Vec<bool>,
    /// Entries with a sector that could not be read at first.
    unreadable: Vec<usize>,
    /// Entries in which a block of the probe was found.
    pub(super) stamped: usize,
    /// Entries in which something else was found at first.
    strange: usize,
    read_back_bytes: u64,
}

impl<'a, 'd, D: Device> PutBack<'a, 'd, D> {
    pub(super) fn new(log: &'a Log, places: &'a mut Places<'d, D>, how: Thoroughness, step: Step<'a>) -> Self {
        let entries = log.entries.len();
        Self {
            log,
            places,
            how,
            step,
            wrote: vec![Vec::new(); entries],
            refused: vec![false; entries],
            unreadable: Vec::new(),
            stamped: 0,
            strange: 0,
            read_back_bytes: 0,
        }
    }

    /// Restores everything. Adds the bytes, and the places that are not as before, to `done`.
    ///
    /// # Errors
    /// Where it was told to stop, the device fails as a whole, or the journal cannot be read.
    pub(super) fn run(&mut self, done: &mut Restored) -> Result<(), SurveyError> {
        let order = self.order();
        self.first_round(&order)?;
        self.heal()?;
        let mut settled = self.places.settle()?;
        for _ in 1..self.how.rounds {
            for index in order.clone() {
                self.write_again(index)?;
            }
            settled &= self.places.settle()?;
        }
        if !settled {
            self.each_by_itself(&order)?;
        }
        let mut all = order.clone();
        all.sort_unstable();
        let mut differing = Vec::new();
        for _ in 0..self.how.readings {
            differing.extend(self.read_back(&all)?);
        }
        for _ in 0..RETRIES {
            let again = self.write_differing(&order, &differing)?;
            if again.is_empty() {
                break;
            }
            self.places.settle()?;
            differing.retain(|(index, _)| !again.contains(index));
            differing.extend(self.read_back(&again)?);
        }
        done.bytes = self.places.written_bytes;
        let place = |(index, standing): (usize, PlaceStanding)| {
            let standing = if self.refused[index] && standing == PlaceStanding::Blocks {
                PlaceStanding::Refused
            } else {
                standing
            };
            Differing { offset: self.log.entries[index].place.offset, standing }
        };
        done.differing = differing.into_iter().map(place).collect();
        done.differing.sort_unstable();
        done.differing.dedup_by_key(|place| place.offset);
        let as_before: Vec<usize> = order
            .into_iter()
            .rev()
            .filter(|index| {
                let offset = self.log.entries[*index].place.offset;
                done.differing.binary_search_by_key(&offset, |place| place.offset).is_err()
            })
            .collect();
        self.still_stores(&as_before)?;
        done.bytes = self.places.written_bytes;
        if self.places.present() { Ok(()) } else { Err(ProbeFault::Gone.into()) }
    }

    /// From the highest address to the lowest: of two addresses that share a memory cell, the owner uses the lower one.
    fn order(&self) -> Vec<usize> {
        let has_memory = |index: &usize| self.log.entries[*index].place.offset < self.how.ends_at;
        let mut order: Vec<usize> = (0..self.log.entries.len()).filter(has_memory).collect();
        order.sort_unstable_by_key(|index| std::cmp::Reverse(self.log.entries[*index].place.offset));
        order
    }

    fn tell(&mut self, step: RestoreStep) -> Result<(), SurveyError> {
        let stop = (self.step)(step, self.places.written_bytes, self.read_back_bytes);
        if stop { Err(SurveyError::Stopped) } else { Ok(()) }
    }

    /// Writes each place that holds blocks of the probe. If the device refuses several in a row, places at the other
    /// end of the order are tried, until it takes one, or has refused as many there.
    fn first_round(&mut self, order: &[usize]) -> Result<(), SurveyError> {
        let mut rest: VecDeque<usize> = order.iter().copied().collect();
        while let Some(index) = rest.pop_front() {
            self.write_first(index)?;
            while self.places.refused >= STREAK {
                let Some(other) = rest.pop_back() else { break };
                self.write_first(other)?;
                if self.places.refused >= 2 * STREAK {
                    return Err(ProbeFault::WriteErrors.into());
                }
            }
        }
        Ok(())
    }

    fn write_first(&mut self, index: usize) -> Result<(), SurveyError> {
        self.tell(RestoreStep::Writing)?;
        let (original, now, classes) = self.look(index)?;
        self.stamped += usize::from(classes.contains(&Class::Stamped));
        self.strange += usize::from(classes.contains(&Class::Other));
        if classes.contains(&Class::Unreadable) {
            self.unreadable.push(index);
        }
        let ours: Vec<bool> = classes.iter().map(|class| *class == Class::Stamped).collect();
        if ours.contains(&true) {
            self.refused[index] |= !self.write(index, &original, &now, &ours)?;
            self.wrote[index] = ours;
        }
        Ok(())
    }

    /// Writes unreadable sectors, if blocks of the probe prove the device and no data are newer.
    fn heal(&mut self) -> Result<(), SurveyError> {
        if !self.how.heal || self.stamped == 0 || self.strange > 0 {
            return Ok(());
        }
        for index in std::mem::take(&mut self.unreadable) {
            let (original, now, classes) = self.look(index)?;
            let ours: Vec<bool> = classes.iter().map(|class| *class == Class::Unreadable).collect();
            self.refused[index] |= !self.write(index, &original, &now, &ours)?;
            self.wrote[index].resize(ours.len(), false);
            self.wrote[index].iter_mut().zip(ours).for_each(|(wrote, ours)| *wrote |= ours);
            if self.places.refused >= STREAK {
                break;
            }
        }
        Ok(())
    }

    /// Writes once more what an earlier round wrote, where it reads as before, or as the block of the probe again.
    fn write_again(&mut self, index: usize) -> Result<bool, SurveyError> {
        if self.wrote[index].is_empty() {
            return Ok(true);
        }
        self.tell(RestoreStep::Writing)?;
        let (original, now, classes) = self.look(index)?;
        let known = |class: &Class| matches!(class, Class::Stamped | Class::Original | Class::Unreadable);
        let ours: Vec<bool> =
            classes.iter().zip(&self.wrote[index]).map(|(class, wrote)| *wrote && known(class)).collect();
        if !ours.contains(&true) {
            return Ok(true);
        }
        let took = self.write(index, &original, &now, &ours)?;
        self.refused[index] |= !took;
        Ok(took)
    }

    /// The saved content of a place, its current content, and the class of that.
    fn look(&mut self, index: usize) -> Result<(Vec<u8>, Sectors, Vec<Class>), SurveyError> {
        let place = self.log.entries[index].place;
        let now = self.places.read(place)?;
        let (original, lost) = self.log.original(index)?;
        let classes = classify(self.log.salt(), place, &now, &original, &lost);
        Ok((original, now, classes))
    }

    /// Writes the original content of the sectors that are `ours`, in whole blocks. The other sectors of such a block
    /// are written with the content that they showed at two readings. If one of them is unreadable, or reads
    /// differently, the block is left alone. Returns false if not everything was written.
    fn write(&mut self, index: usize, original: &[u8], now: &Sectors, ours: &[bool]) -> Result<bool, SurveyError> {
        let place = self.log.entries[index].place;
        let block = self.places.block_bytes();
        let in_block = block / SECTOR_LEN;
        let wanted: Vec<usize> =
            ours.chunks(in_block).enumerate().filter(|(_, part)| part.contains(&true)).map(|(at, _)| at).collect();
        let mut good = true;
        // A block that contains other sectors is written by itself.
        let whole = |block: usize| ours[block * in_block..].iter().take(in_block).all(|ours| *ours);
        for run in wanted.chunk_by(|a, b| a + 1 == *b && whole(*a) && whole(*b)) {
            let sectors = run[0] * in_block..((run[run.len() - 1] + 1) * in_block).min(ours.len());
            let mut data = original[sectors.start * SECTOR_LEN..sectors.end * SECTOR_LEN].to_vec();
            let offset = place.offset + (sectors.start * SECTOR_LEN) as u64;
            if sectors.clone().any(|sector| !ours[sector]) {
                let again = self.places.read(ByteRange { offset, length: data.len() as u64 })?;
                let kept = sectors.clone().zip(again).zip(data.chunks_exact_mut(SECTOR_LEN));
                let mut steady = true;
                for ((sector, again), data) in kept.filter(|((sector, _), _)| !ours[*sector]) {
                    match (&now[sector], again) {
                        (Some(now), Some(again)) if *now == again => data.copy_from_slice(now),
                        _ => steady = false,
                    }
                }
                if !steady {
                    good = false;
                    continue;
                }
            }
            good &= self.places.write(offset, &data)?;
        }
        Ok(good)
    }

    /// A cache that errs at a flush may have dropped anything that it held, and still show it. So each place is written
    /// and flushed by itself, so that no other one is dropped with a place that errs.
    fn each_by_itself(&mut self, order: &[usize]) -> Result<(), SurveyError> {
        for index in order {
            let took = self.write_again(*index)?;
            self.refused[*index] |= !(self.places.settle()? && took);
        }
        Ok(())
    }

    /// Reads these places. Returns those that are not as before.
    fn read_back(&mut self, indices: &[usize]) -> Result<Vec<(usize, PlaceStanding)>, SurveyError> {
        let mut differing = Vec::new();
        for index in indices {
            self.tell(RestoreStep::ReadingBack)?;
            let (_, _, classes) = self.look(*index)?;
            self.read_back_bytes += self.log.entries[*index].place.length;
            let newer = |class: &Class| self.how.keep_newer && matches!(class, Class::Other);
            let standing = |class: &Class| match class {
                Class::Original | Class::Lost => None,
                Class::Stamped => Some(PlaceStanding::Blocks),
                Class::Unreadable => Some(PlaceStanding::Unreadable),
                class if newer(class) => None,
                Class::Other | Class::Unsteady => Some(PlaceStanding::Other),
            };
            if let Some(worst) = classes.iter().filter_map(standing).min() {
                differing.push((*index, worst));
            }
        }
        Ok(differing)
    }

    /// Writes places once more that now hold a block of the probe, or the original content of another place that was
    /// just written, as when a write lands at the wrong address. Constant content counts only in sectors that were
    /// written here. A write may land on any lower place, so after the first one all lower places are read, the lowest
    /// last. Returns the entries that were read, or none if nothing was written.
    fn write_differing(
        &mut self,
        order: &[usize],
        differing: &[(usize, PlaceStanding)],
    ) -> Result<Vec<usize>, SurveyError> {
        let (mut again, mut wrote_one) = (Vec::new(), false);
        if differing.is_empty() {
            return Ok(again);
        }
        let mine = self.written_contents()?;
        let differs: HashSet<usize> = differing.iter().map(|(index, _)| *index).collect();
        for index in order {
            if !wrote_one && !differs.contains(index) {
                continue;
            }
            again.push(*index);
            let (original, now, classes) = self.look(*index)?;
            let wrote = |sector: usize| self.wrote[*index].get(sector).copied().unwrap_or_default();
            let elsewhere = |sector: usize| now[sector].as_ref().is_some_and(|now| mine.contains(&digest(now)));
            let varies = |sector: usize| now[sector].as_ref().is_some_and(|now| now.iter().any(|byte| *byte != now[0]));
            let ours: Vec<bool> = (0..classes.len())
                .map(|sector| match classes[sector] {
                    Class::Stamped => true,
                    Class::Other => elsewhere(sector) && (wrote(sector) || varies(sector)),
                    _ => false,
                })
                .collect();
            if ours.contains(&true) {
                self.tell(RestoreStep::Writing)?;
                self.refused[*index] |= !self.write(*index, &original, &now, &ours)?;
                self.wrote[*index].resize(ours.len(), false);
                self.wrote[*index].iter_mut().zip(ours).for_each(|(wrote, ours)| *wrote |= ours);
                wrote_one = true;
            }
        }
        Ok(if wrote_one { again } else { Vec::new() })
    }

    /// Digests of the sectors that were written here.
    fn written_contents(&self) -> Result<HashSet<u64, FixedState>, SurveyError> {
        let mut all = HashSet::default();
        for (index, wrote) in self.wrote.iter().enumerate().filter(|(_, wrote)| !wrote.is_empty()) {
            let original = self.log.original(index)?.0;
            let written = original.chunks_exact(SECTOR_LEN).zip(wrote).filter(|(_, wrote)| **wrote);
            all.extend(written.map(|(sector, _)| digest(sector)));
        }
        Ok(all)
    }

    /// Tests whether the device still stores data, after everything was read back: the restored content reads as
    /// before, whether or not the device takes new data. So one block of a restored place gets a content that it never
    /// had, and then its own again.
    fn still_stores(&mut self, as_before: &[usize]) -> Result<(), SurveyError> {
        let block = self.places.block_bytes();
        let in_block = block / SECTOR_LEN;
        let written =
            |index: &usize| self.wrote[*index].chunks(in_block).position(|part| part.iter().all(|wrote| *wrote));
        let found = as_before.iter().find_map(|index| written(index).map(|at| (*index, at)));
        let Some((index, at)) = found else { return Ok(()) };
        let offset = self.log.entries[index].place.offset + (at * block) as u64;
        let original = self.log.original(index)?.0[at * block..(at + 1) * block].to_vec();
        let mut stamp = vec![0; block];
        self.log.salt().stamp(offset / SECTOR_LEN as u64, u32::MAX, &mut stamp);
        let took_stamp = self.stores(offset, &stamp)?;
        let took_original = self.stores(offset, &original)?;
        if took_stamp && took_original { Ok(()) } else { Err(ProbeFault::DropsWrites.into()) }
    }

    /// Whether a block reads as it was written, in one of a few attempts.
    fn stores(&mut self, offset: u64, content: &[u8]) -> Result<bool, SurveyError> {
        for _ in 0..ATTEMPTS {
            if !(self.places.write(offset, content)? && self.places.settle()?) {
                return Err(ProbeFault::WriteErrors.into());
            }
            let now = self.places.read(ByteRange { offset, length: content.len() as u64 })?.concat_known();
            if now.as_deref() == Some(content) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Joins sectors, if all of them were read.
trait Concat {
    fn concat_known(self) -> Option<Vec<u8>>;
}

impl Concat for Sectors {
    fn concat_known(self) -> Option<Vec<u8>> {
        self.into_iter().collect::<Option<Vec<Vec<u8>>>>().map(|sectors| sectors.concat())
    }
}

// How far a restoration is, and what it came to.

/// How far a restoration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoreProgress {
    /// What it does.
    pub step: RestoreStep,
    /// Places done.
    pub done: usize,
    /// Places in all.
    pub places: usize,
    /// Bytes written so far.
    pub written_bytes: u64,
    /// Bytes read back so far.
    pub read_bytes: u64,
}

/// What a restoration does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreStep {
    /// Looks at what stands there; nothing is written yet.
    Looking,
    /// Writes.
    Writing,
    /// Reads back what was written.
    ReadingBack,
}

/// What a place shows instead of its original content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceStanding {
    /// The probe's own blocks: the device took the original content and dropped it.
    Blocks,
    /// The probe's own blocks: the device refused to take the original content.
    Refused,
    /// Nothing: it cannot be read.
    Unreadable,
    /// Something that neither was saved there nor is a block of the probe. It was not overwritten.
    Other,
}

/// A place that is not as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Differing {
    /// Its first byte.
    pub offset: u64,
    /// What it shows.
    pub standing: PlaceStanding,
}

/// What became of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JournalLeft {
    /// It is needed: not everything is as before, or a reason speaks against it.
    #[default]
    Needed,
    /// Every place reads as before. A cache that loses data without power may still show what the memory does not hold,
    /// so the journal stays until the device was attached anew and seen again.
    UntilSeenAgain,
    /// It was removed.
    Removed,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restored {
    /// Places that the journal holds.
    pub places: usize,
    /// Bytes that the device took.
    pub bytes: u64,
    /// Places that are not as before, by ascending offset. On a fake, places that hold nothing are among them: their
    /// content cannot come back.
    pub differing: Vec<Differing>,
    /// Byte offsets of places that hold newer data and were left as they are, on request.
    pub newer: Vec<u64>,
    /// Places whose saved content is damaged or cannot be read in the journal, by byte offset;
    /// `None` where that is not known either.
    pub missing: Vec<Option<u64>>,
    /// The end of the journal is missing: more places than those in `missing` may not be as before.
    pub cut_off: bool,
    /// What the journal's disk said where it cannot be read.
    pub unreadable: Option<String>,
    /// Nothing of the probe stood on the device: it was as before, or is another one that holds
    /// the same at all these places.
    pub untouched: bool,
    /// The journal says that everything was put back earlier, and the device agrees after it was attached anew.
    pub already: bool,
    /// It was stopped.
    pub stopped: bool,
    /// Why what reads as before may not be so, where the probe found a reason.
    pub doubt: Option<&'static str>,
    /// What became of the journal.
    pub journal: JournalLeft,
}

impl Restored {
    /// Whether every place that the journal was made for reads as before.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let all = self.differing.is_empty() && self.newer.is_empty() && self.missing.is_empty() && !self.cut_off;
        self.already || (all && self.unreadable.is_none() && !self.stopped && self.doubt.is_none())
    }
}

impl fmt::Display for Restored {
    /// What could not be put back, in words; nothing where everything was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.doubt.map(str::to_owned));
        if self.stopped {
            parts.push("it was interrupted".to_owned());
        }
        if !self.missing.is_empty() || self.cut_off {
            let known: Vec<u64> = self.missing.iter().flatten().copied().collect();
            let first = known.first().map_or_else(String::new, |at| format!(", the first at byte {at}"));
            let more = if self.cut_off { "; its end is cut off, so more places may be missing" } else { "" };
            parts.push(format!(
                "the journal is damaged: what was saved of {} is missing in it{first}{more}",
                counted(self.missing.len(), "place")
            ));
        }
        if let Some(error) = &self.unreadable {
            parts.push(format!("the journal cannot be read in full ({error})"));
        }
        if let Some(first) = self.newer.first() {
            let (hold, were) = if self.newer.len() == 1 { ("holds", "was") } else { ("hold", "were") };
            let places = counted(self.newer.len(), "place");
            parts.push(format!("{places} {hold} newer data and {were} left, the first at byte {first}"));
        }
        for standing in [PlaceStanding::Refused, PlaceStanding::Blocks, PlaceStanding::Unreadable, PlaceStanding::Other]
        {
            let places: Vec<u64> =
                self.differing.iter().filter(|place| place.standing == standing).map(|place| place.offset).collect();
            if let Some(first) = places.first() {
                parts.push(format!(
                    "{} {}, the first at byte {first}",
                    counted(places.len(), "place"),
                    standing_in_words(standing)
                ));
            }
        }
        f.write_str(&parts.join("; "))
    }
}

/// What is said of places that are not as before.
fn standing_in_words(standing: PlaceStanding) -> &'static str {
    match standing {
        PlaceStanding::Refused => "could not be written: the device refused",
        PlaceStanding::Blocks => "did not keep what was put back, as where a fake has no memory",
        PlaceStanding::Unreadable => "cannot be read",
        PlaceStanding::Other => "changed in another way and stayed untouched",
    }
}
