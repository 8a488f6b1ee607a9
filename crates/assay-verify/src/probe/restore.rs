//! Puts everything back.
//!
//! First it is looked at what stands at each place. Only what bears this journal's stamp is
//! overwritten; another card, or data that are newer than the probe, are refused before a single
//! write. The journal goes when every place was read back as before, and else is kept.
//!
//! Where two addresses are one memory cell, the second save of that cell reads what the probe
//! wrote under the first address. So parts are put back in the reverse order of saving, and a
//! saved sector that bears the probe's own stamp is replaced by what was saved for the address in
//! the stamp: every address is then given the original content of its cell, whatever order a cache
//! of the medium lets the writes through in, and restoring may be broken off and begun again.

use std::path::Path;
use std::sync::Arc;

use assay_core::text::harmless;

use super::contract::{Device, Fault};
use super::journal::{Disk, Identity, JournalError, Log, SystemDisk};
use super::put_back::{ReadBack, put_back};
use super::restored::{RestoreProgress, RestoreStep, Restored};
use super::survey::{Class, Survey, SurveyError, may_be_overwritten};

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
        fault: Fault,
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
    /// Nothing of the probe stands on it, and nothing of what the probe saved.
    #[error(
        "{name}: another card: none of the {places} places in {journal} contains what the probe wrote or saved; \
         nothing was written, plug in the one that was {made_for}"
    )]
    AnotherCard {
        /// The device.
        name: String,
        /// Places that the journal holds.
        places: usize,
        /// The journal.
        journal: String,
        /// What it was made for.
        made_for: String,
    },
    /// Something was written since the probe.
    #[error(
        "{name}: newer data at {newer} of {places} places, the first at byte {first} (mkfs since?), the probe's \
         blocks at {stamped}; nothing was written; --keep-newer puts back only where the probe's blocks are, \
         --discard {journal} discards the rest"
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
/// broken off. The journal is removed when everything is as before.
///
/// # Errors
/// Where the journal cannot be read, the device is another one, or gone.
pub fn restore<D: Device>(path: &Path, device: &mut D, identity: &Identity) -> Result<Restored, RestoreError> {
    Restoration::new(path, identity).run(device)
}

/// How to put back.
#[allow(missing_debug_implementations)] // holds functions
pub struct Restoration<'a> {
    path: &'a Path,
    identity: &'a Identity,
    disk: Arc<dyn Disk>,
    keep_newer: bool,
    own: bool,
    read_back: ReadBack,
    doubt: Option<&'static str>,
    stop: &'a dyn Fn() -> bool,
    progress: Option<&'a mut dyn FnMut(RestoreProgress)>,
}

impl<'a> Restoration<'a> {
    /// Of what the journal at `path` saved, to the device `identity`.
    #[must_use]
    pub fn new(path: &'a Path, identity: &'a Identity) -> Self {
        let disk = Arc::new(SystemDisk);
        Self {
            path,
            identity,
            disk,
            keep_newer: false,
            own: false,
            read_back: ReadBack { readings: 1, evicting_bytes: 0 },
            doubt: None,
            stop: &|| false,
            progress: None,
        }
    }

    /// The journal lies on `disk`.
    #[must_use]
    pub fn on(self, disk: Arc<dyn Disk>) -> Self {
        Self { disk, ..self }
    }

    /// Where newer data stand, they are left, and the rest is put back.
    #[must_use]
    pub fn keeping_newer(self, keep_newer: bool) -> Self {
        Self { keep_newer, ..self }
    }

    /// In the session that made the journal and has held the device ever since: what stands there
    /// is its own, whatever a bad medium makes of it.
    #[must_use]
    pub(crate) fn of_own_session(self) -> Self {
        Self { own: true, ..self }
    }

    /// How it is read back.
    #[must_use]
    pub(super) fn with_read_back(self, read_back: ReadBack) -> Self {
        Self { read_back, ..self }
    }

    /// The journal is kept for this reason, though every place reads as before.
    #[must_use]
    pub(super) fn doubting(self, doubt: Option<&'static str>) -> Self {
        Self { doubt, ..self }
    }

    /// `stop` is asked before each place.
    #[must_use]
    pub fn until(self, stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop, ..self }
    }

    /// Tells how far it is.
    #[must_use]
    pub fn telling(self, progress: &'a mut dyn FnMut(RestoreProgress)) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Does it.
    ///
    /// # Errors
    /// Where the journal cannot be read, the device is another one, holds newer data, or is gone.
    pub fn run<D: Device>(mut self, device: &mut D) -> Result<Restored, RestoreError> {
        let log = Log::read(Arc::clone(&self.disk), self.path)?;
        if device.bytes() != log.header.device.bytes {
            return Err(RestoreError::OtherSize {
                name: harmless(&self.identity.name),
                bytes: device.bytes(),
                journal: self.journal(),
                made_for: harmless(&log.header.device.name),
                its: log.header.device.bytes,
            });
        }
        let mut done =
            Restored { places: log.entries.len(), journal_kept: true, doubt: self.doubt, ..Restored::default() };
        let survey = match self.look(&log, device) {
            Ok(survey) => survey,
            Err(SurveyError::Stopped) => return Ok(Restored { stopped: true, ..done }),
            Err(SurveyError::Fault(fault)) => return Err(self.lost(fault)),
            Err(SurveyError::Journal(error)) => return Err(error.into()),
        };
        let stamped = survey.with(Class::Stamped).count();
        if stamped == 0 && log.restored {
            return Ok(Restored { already: true, journal_kept: !log.close(), ..done });
        }
        self.refuse(&log, &survey, stamped)?;
        done.missing = log.missing.iter().map(|place| place.map(|place| place.offset)).collect();
        done.unreadable = log.unreadable.as_ref().map(|(at, error)| format!("{error} at byte {at}"));
        for place in &log.doubtful {
            if may_be_overwritten(log.salt(), device, *place).map_err(|fault| self.lost(fault))? {
                done.missing.push(Some(place.offset));
            }
        }
        done.missing.sort_unstable();
        done.missing.dedup_by(|a, b| a.is_some() && a == b);
        done.untouched = stamped == 0;
        match self.write(&log, &survey, device, &mut done) {
            Ok(()) => {}
            Err(SurveyError::Stopped) => return Ok(Restored { stopped: true, ..done }),
            Err(SurveyError::Fault(fault)) => return Err(self.lost(fault)),
            Err(SurveyError::Journal(error)) => return Err(error.into()),
        }
        // Where nothing of the probe stands, nothing proves that it is the device: cards that were
        // written from the same image hold the same at all places.
        let proven = self.own || stamped > 0 || log.entries.is_empty();
        if done.is_complete() && log.is_whole() && proven {
            done.journal_kept = !log.close();
        }
        Ok(done)
    }

    fn look<D: Device>(&mut self, log: &Log, device: &mut D) -> Result<Survey, SurveyError> {
        if self.own {
            return Ok(Survey::own(log)?);
        }
        let places = log.entries.len();
        Survey::of(log, device, &mut |done| {
            self.tell(RestoreProgress { step: RestoreStep::Looking, done, places, written_bytes: 0, read_bytes: 0 })
        })
    }

    /// Before the first write.
    fn refuse(&self, log: &Log, survey: &Survey, stamped: usize) -> Result<(), RestoreError> {
        let newer: Vec<usize> = survey.with(Class::Other).collect();
        let Some(first) = newer.iter().map(|index| log.entries[*index].place.offset).min() else { return Ok(()) };
        let name = harmless(&self.identity.name);
        let (places, journal) = (log.entries.len(), self.journal());
        if stamped == 0 && !survey.recognised {
            let made_for = harmless(&log.header.device.name);
            return Err(RestoreError::AnotherCard { name, places, journal, made_for });
        }
        if self.keep_newer && stamped > 0 {
            return Ok(());
        }
        Err(RestoreError::Newer { name, newer: newer.len(), places, first, stamped, journal })
    }

    fn write<D: Device>(
        &mut self,
        log: &Log,
        survey: &Survey,
        device: &mut D,
        done: &mut Restored,
    ) -> Result<(), SurveyError> {
        let places = log.entries.len();
        let mut ended = 0;
        put_back(log, survey, device, done, self.read_back, &mut |step, written_bytes, read_bytes| {
            ended = if step == RestoreStep::Writing { places.min(ended + 1) } else { ended };
            self.tell(RestoreProgress { step, done: ended, places, written_bytes, read_bytes })
        })
    }

    /// Whether to stop.
    fn tell(&mut self, progress: RestoreProgress) -> bool {
        if let Some(tell) = &mut self.progress {
            tell(progress);
        }
        (self.stop)()
    }

    fn lost(&self, fault: Fault) -> RestoreError {
        RestoreError::Device { name: harmless(&self.identity.name), fault, journal: self.journal() }
    }

    fn journal(&self) -> String {
        harmless(&self.path.display().to_string())
    }
}
