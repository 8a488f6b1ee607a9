//! Puts everything back.
//!
//! Before anything is written, every place is read. Only blocks with this journal's stamp are overwritten. Another
//! card, or data that are newer than the probe, are refused before the first write. A device may lose the content of
//! its cache when the power goes, although it was told to flush it. So the journal is kept, marked as fully restored,
//! until the device was attached anew and still reads as before.
//!
//! Where two addresses share a memory cell, the second save of that cell reads what the probe wrote under the first
//! address. So a saved sector that carries the probe's own stamp is replaced by the content saved for the address in
//! the stamp. Every address then gets the original content of its cell, in whatever order a cache of the medium
//! performs the writes. Restoring may be interrupted and started again.

use std::path::Path;
use std::sync::Arc;

use assay_core::text::harmless;

use super::device::{Device, ProbeFault};
use super::journal::{Disk, JournalError, JournalIdentity, Log, SystemDisk};
use super::places::{Class, Places, Survey, SurveyError, may_be_overwritten};
use super::put_back::{JournalLeft, PutBack, RestoreProgress, RestoreStep, Restored, Thoroughness};

/// Number of times that everything is written. While the second round writes, the data of the first round leave any
/// cache that is smaller than a round and replaces in one of the usual orders.
const ROUNDS: usize = 2;
/// The same on a device that lost restored data together with the power. A cache that replaces a random block at each
/// write still holds a given block after this many rounds with a probability of e^-12, if it holds as much as a round
/// writes.
const ROUNDS_AFTER_LOSS: usize = 12;

/// Why nothing, or not everything, could be put back. The journal is kept.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The device.
    #[error("{name}: {fault} while restoring; plug it in again and restore once more from {journal}")]
    Device {
        /// The device.
        name: String,
        /// Its answer.
        fault: ProbeFault,
        /// The journal, which is still good.
        journal: String,
    },
    /// Another size.
    #[error(
        "{name}: has {bytes} bytes and {journal} was made for {made_for} of {its} bytes: another device or partition; \
         nothing was written, name the one that was probed"
    )]
    OtherSize {
        /// The device.
        name: String,
        /// Its size in bytes.
        bytes: u64,
        /// The journal.
        journal: String,
        /// What it was made for.
        made_for: String,
        /// Size of that in bytes.
        its: u64,
    },
    /// No block of the probe is on it, and it does not hold what was saved.
    #[error(
        "{name}: another card, or one that was overwritten since: no block of the probe is on it, and {differing} of the \
         {places} places in {journal} do not hold what was saved; nothing was written, plug in the one that was {made_for}"
    )]
    AnotherCard {
        /// The device.
        name: String,
        /// Places that do not hold what was saved.
        differing: usize,
        /// Places that the journal holds.
        places: usize,
        /// The journal.
        journal: String,
        /// What it was made for.
        made_for: String,
    },
    /// In the session that probed it: no block of the probe is on it any more.
    #[error(
        "{name}: no block of the probe is on it any more: another medium took its place, or it lost everything; \
         nothing more was written; plug in the one that was probed and restore from {journal}"
    )]
    Exchanged {
        /// The device.
        name: String,
        /// The journal.
        journal: String,
    },
    /// Something was written since the probe.
    #[error(
        "{name}: newer data at {newer} of {places} places, the first at byte {first} (mkfs since?), the probe's \
         blocks at {stamped}; nothing was written; --keep-newer puts back only where the probe's blocks are, and then \
         --discard {journal} gives up the rest"
    )]
    Newer {
        /// The device.
        name: String,
        /// Places with newer data.
        newer: usize,
        /// Places that the journal holds.
        places: usize,
        /// Byte offset of the first place with newer data.
        first: u64,
        /// Places that bear the probe's blocks.
        stamped: usize,
        /// The journal.
        journal: String,
    },
}

/// Puts back what the journal at `path` saved, and reads it back. May be called again after it was
/// broken off. The journal is removed where a device that was attached anew still reads as before.
///
/// # Errors
/// Where the journal cannot be read, the device is another one, or gone.
pub fn restore<D: Device>(path: &Path, device: &mut D, identity: &JournalIdentity) -> Result<Restored, RestoreError> {
    Restoration::new(path, identity).run(device)
}

/// The session that made the journal and has held the device ever since.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnSession {
    /// Times that everything is read back.
    pub(super) readings: usize,
    /// What became of the blocks that it wrote.
    pub(super) blocks: Blocks,
    /// Why what reads as before may not be so.
    pub(super) doubt: Option<&'static str>,
    /// Offset of the first byte without memory, if writes wrap there and reads do not.
    pub(super) ends_at: Option<u64>,
}

/// What a session knows of the blocks that it wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// It wrote none.
    None,
    /// None was ever read back.
    NeverSeen,
    /// Some were read back.
    Seen,
}

/// How to put back.
#[allow(missing_debug_implementations)] // holds functions
pub struct Restoration<'a> {
    path: &'a Path,
    identity: &'a JournalIdentity,
    disk: Arc<dyn Disk>,
    keep_newer: bool,
    own: Option<OwnSession>,
    stop: &'a dyn Fn() -> bool,
    progress: Option<&'a mut dyn FnMut(RestoreProgress)>,
}

impl<'a> Restoration<'a> {
    /// Restores what the journal at `path` saved to the device `identity`.
    #[must_use]
    pub fn new(path: &'a Path, identity: &'a JournalIdentity) -> Self {
        let disk = Arc::new(SystemDisk);
        Self { path, identity, disk, keep_newer: false, own: None, stop: &|| false, progress: None }
    }

    /// Sets the disk that holds the journal.
    #[must_use]
    pub fn on(self, disk: Arc<dyn Disk>) -> Self {
        Self { disk, ..self }
    }

    /// Leaves places with newer data as they are, and restores the rest.
    #[must_use]
    pub fn keeping_newer(self, keep_newer: bool) -> Self {
        Self { keep_newer, ..self }
    }

    /// For the end of the session that made the journal. Nothing has to be refused: a place that holds neither a block
    /// of the probe nor its original content is left alone.
    #[must_use]
    pub(super) fn of_own_session(self, own: OwnSession) -> Self {
        Self { own: Some(own), ..self }
    }

    /// Asks `stop` before each place.
    #[must_use]
    pub fn until(self, stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop, ..self }
    }

    /// Reports progress to `progress`.
    #[must_use]
    pub fn telling(self, progress: &'a mut dyn FnMut(RestoreProgress)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Runs the restoration.
    ///
    /// # Errors
    /// Where the journal cannot be read, the device is another one, holds newer data, or is gone.
    pub fn run<D: Device>(mut self, device: &mut D) -> Result<Restored, RestoreError> {
        let log = Log::read(Arc::clone(&self.disk), self.path)?;
        let bytes = device.bytes();
        let ends = log.entries.iter().map(|entry| entry.place.offset + entry.place.length).max().unwrap_or(0);
        if bytes < ends {
            return Err(self.other_size(&log, bytes));
        }
        let mut done = Restored { places: log.entries.len(), ..Restored::default() };
        let mut places = Places::new(device);
        let ended = match self.own {
            Some(own) => self.end_session(&log, &mut places, own, &mut done),
            None => self.begin_again(&log, &mut places, bytes, &mut done),
        };
        done.bytes = places.written_bytes;
        match ended {
            Ok(()) => {}
            Err(Refusal::Refused(error)) => return Err(error),
            Err(Refusal::Survey(SurveyError::Stopped)) => done.stopped = true,
            Err(Refusal::Survey(SurveyError::Fault(ProbeFault::Exchanged))) => {
                return Err(RestoreError::Exchanged { name: self.name(), journal: self.journal() });
            }
            Err(Refusal::Survey(SurveyError::Fault(fault))) => return Err(self.lost(fault)),
            Err(Refusal::Survey(SurveyError::Journal(error))) => return Err(error.into()),
        }
        done.journal = self.close(log, &done);
        Ok(done)
    }

    /// At the end of the session.
    fn end_session<D: Device>(
        &mut self,
        log: &Log,
        places: &mut Places<'_, D>,
        own: OwnSession,
        done: &mut Restored,
    ) -> Result<(), Refusal> {
        done.doubt = own.doubt;
        if own.blocks == Blocks::None {
            return Ok(());
        }
        self.missing(log, places, done)?;
        let how = Thoroughness {
            rounds: ROUNDS,
            readings: own.readings,
            heal: true,
            keep_newer: false,
            ends_at: own.ends_at.unwrap_or(u64::MAX),
        };
        let seen = self.write(log, places, how, done)?;
        if seen == 0 && own.blocks == Blocks::Seen {
            return Err(SurveyError::Fault(ProbeFault::Exchanged).into());
        }
        Ok(())
    }

    /// In a later session: looks at everything before the first write.
    fn begin_again<D: Device>(
        &mut self,
        log: &Log,
        places: &mut Places<'_, D>,
        bytes: u64,
        done: &mut Restored,
    ) -> Result<(), Refusal> {
        let count = log.entries.len();
        let survey = Survey::take(log, places, &mut |at| {
            let (step, written_bytes, read_bytes) = (RestoreStep::Looking, 0, 0);
            self.tell(RestoreProgress { step, done: at, places: count, written_bytes, read_bytes })
        })?;
        let stamped = survey.with(Class::Stamped).count();
        // A device that has grown is the same device if the journal's own blocks are at their places. On the whole
        // disk, whose partition was probed, they are at other offsets.
        if bytes != log.header.device.bytes && !self.stands_at_home(log, places, &survey)? {
            return Err(Refusal::Refused(self.other_size(log, bytes)));
        }
        if stamped == 0 && self.was_seen_again(log, &survey) {
            done.already = true;
            return Ok(());
        }
        self.refuse(log, &survey, stamped).map_err(Refusal::Refused)?;
        self.missing(log, places, done)?;
        done.untouched = stamped == 0;
        let newer: Vec<usize> = survey.with(Class::Other).collect();
        let rounds = if log.restored.is_some() { ROUNDS_AFTER_LOSS } else { ROUNDS };
        let heal = newer.is_empty() && stamped > 0;
        let how = Thoroughness { rounds, readings: 1, heal, keep_newer: self.keep_newer, ends_at: u64::MAX };
        self.write(log, places, how, done)?;
        done.newer = newer.into_iter().map(|index| log.entries[index].place.offset).collect();
        done.newer.sort_unstable();
        Ok(())
    }

    /// Whether a block of the probe is at a place that it was written for.
    fn stands_at_home<D: Device>(
        &self,
        log: &Log,
        places: &mut Places<'_, D>,
        survey: &Survey,
    ) -> Result<bool, SurveyError> {
        for index in survey.with(Class::Stamped).filter(|index| !survey.classes[*index].contains(&Class::Unreadable)) {
            if may_be_overwritten(log.salt(), places, log.entries[index].place)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the journal where everything was put back, the device was attached anew since, and still reads as before.
    /// Nothing is written to the device. Whether it was removed.
    ///
    /// # Errors
    /// Where the journal cannot be read.
    pub fn confirm<D: Device>(self, device: &mut D) -> Result<bool, RestoreError> {
        let log = Log::read(Arc::clone(&self.disk), self.path)?;
        if !self.is_attached_anew(&log) || device.bytes() != log.header.device.bytes {
            return Ok(false);
        }
        let survey = Survey::take(&log, &mut Places::new(device), &mut |_| (self.stop)());
        let confirmed = survey
            .is_ok_and(|survey| survey.with(Class::Stamped).next().is_none() && self.was_seen_again(&log, &survey));
        Ok(confirmed && log.remove())
    }

    /// Notes what the journal has lost, and which of these places the device needs.
    fn missing<D: Device>(&self, log: &Log, places: &mut Places<'_, D>, done: &mut Restored) -> Result<(), Refusal> {
        done.missing = log.missing.iter().map(|place| place.map(|place| place.offset)).collect();
        done.unreadable = log.unreadable.as_ref().map(|(at, error)| format!("{error} at byte {at}"));
        for place in &log.doubtful {
            if may_be_overwritten(log.salt(), places, *place).map_err(SurveyError::Fault)? {
                done.missing.push(Some(place.offset));
                // It was overwritten after its record was synced, so the file once had an end that is gone.
                done.cut_off = true;
            }
        }
        done.missing.sort_unstable();
        done.missing.dedup_by(|a, b| a.is_some() && a == b);
        Ok(())
    }

    /// Whether the device was attached anew after everything was put back, and still does not need the journal.
    fn was_seen_again(&self, log: &Log, survey: &Survey) -> bool {
        let readable = survey.with(Class::Unreadable).next().is_none();
        // An empty card holds what each empty card holds.
        let is_its_own = survey.is_distinctive() || self.has_same_serial(log) == Some(true);
        self.is_attached_anew(log) && log.is_whole() && readable && survey.is_recognised() && is_its_own
    }

    /// Whether the serial numbers agree; `None` where one of them is not known.
    fn has_same_serial(&self, log: &Log) -> Option<bool> {
        let its = log.header.device.serial.as_ref().zip(self.identity.serial.as_ref());
        its.map(|(then, now)| then == now)
    }

    /// Whether everything was put back while the device was attached before, as far as its serial number tells.
    fn is_attached_anew(&self, log: &Log) -> bool {
        let Some(then) = log.restored.as_ref().filter(|then| !then.is_empty()) else { return false };
        self.has_same_serial(log) != Some(false) && self.identity.attachment.as_ref().is_some_and(|now| now != then)
    }

    /// Refuses another card and newer data, before the first write.
    fn refuse(&self, log: &Log, survey: &Survey, stamped: usize) -> Result<(), RestoreError> {
        let newer: Vec<usize> = survey.with(Class::Other).collect();
        let Some(first) = newer.iter().map(|index| log.entries[*index].place.offset).min() else { return Ok(()) };
        let (name, places, journal) = (self.name(), log.entries.len(), self.journal());
        if stamped == 0 {
            let made_for = harmless(&log.header.device.name);
            return Err(RestoreError::AnotherCard { name, differing: newer.len(), places, journal, made_for });
        }
        if self.keep_newer {
            return Ok(());
        }
        Err(RestoreError::Newer { name, newer: newer.len(), places, first, stamped, journal })
    }

    /// Writes the saved content back. Returns the number of entries where blocks of the probe were found.
    fn write<D: Device>(
        &mut self,
        log: &Log,
        places: &mut Places<'_, D>,
        how: Thoroughness,
        done: &mut Restored,
    ) -> Result<usize, SurveyError> {
        let count = log.entries.len();
        let mut ended = 0;
        let mut step = |step, written_bytes, read_bytes| {
            ended = if step == RestoreStep::Writing { count.min(ended + 1) } else { ended };
            self.tell(RestoreProgress { step, done: ended, places: count, written_bytes, read_bytes })
        };
        let mut work = PutBack::new(log, places, how, &mut step);
        work.run(done)?;
        Ok(work.stamped)
    }

    /// Decides what becomes of the journal.
    fn close(&self, mut log: Log, done: &Restored) -> JournalLeft {
        let unwritten = self.own.is_some_and(|own| own.blocks == Blocks::None);
        if done.already || ((unwritten || log.entries.is_empty()) && log.is_whole()) {
            return if log.remove() { JournalLeft::Removed } else { JournalLeft::UntilSeenAgain };
        }
        // Without a block of the probe, nothing proves that this is the device: cards written from the same image hold
        // the same content at all places.
        if !done.is_complete() || !log.is_whole() || done.untouched {
            return if log.restored.is_some() && done.is_complete() {
                JournalLeft::UntilSeenAgain
            } else {
                JournalLeft::Needed
            };
        }
        log.mark_restored(self.identity.attachment.as_deref());
        JournalLeft::UntilSeenAgain
    }

    /// Reports progress. Returns whether to stop.
    fn tell(&mut self, progress: RestoreProgress) -> bool {
        if let Some(tell) = &mut self.progress {
            tell(progress);
        }
        (self.stop)()
    }

    fn other_size(&self, log: &Log, bytes: u64) -> RestoreError {
        RestoreError::OtherSize {
            name: self.name(),
            bytes,
            journal: self.journal(),
            made_for: harmless(&log.header.device.name),
            its: log.header.device.bytes,
        }
    }

    fn lost(&self, fault: ProbeFault) -> RestoreError {
        RestoreError::Device { name: self.name(), fault, journal: self.journal() }
    }

    fn name(&self) -> String {
        harmless(&self.identity.name)
    }

    fn journal(&self) -> String {
        harmless(&self.path.display().to_string())
    }
}

/// Why the restoration ended early.
enum Refusal {
    Refused(RestoreError),
    Survey(SurveyError),
}

impl From<SurveyError> for Refusal {
    fn from(error: SurveyError) -> Self {
        Self::Survey(error)
    }
}
