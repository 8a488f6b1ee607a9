//! The passes of a check, one after another.
//!
//! 1. The area is written. A little of its beginning is read back early, to measure how long reading
//!    will take.
//! 2. All but the end is read.
//! 3. Places all over that were found good are written again, to evict the end from any cache.
//! 4. The end is read, and then those places.

use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::outcome::RunFailure;
use assay_core::units::nanoseconds;
use assay_core::verification::SECTOR_BYTES;
use assay_device::owned::OwnDir;

use super::content::{Content, FileFormat, PIECE};
use super::directory::failure_of;
use super::medium::DriverLayer;
use super::pass::{Area, Ended, Moment, REACH, Save, StopReason, extent, start_of};
use super::plan::{CheckPlan, CheckSettings};
use super::pool::{Pool, Task};
use super::progress::{CheckProgress, Timed};
use super::size::{Map, Region, missing_upto, regions};
use super::state::State;
use super::tally::Tally;
use super::verdict::{Retried, Rewritten};
use super::{eviction, pass};
use crate::sys::Extent;

const MIB: u64 = 1 << 20;
/// Writing is timed over this long, or over this part of the area, before a remaining time is reported.
const PILOT: Duration = Duration::from_millis(1500);
const PILOT_PART: u64 = 16;
/// To time reading, this much of what was written so far is read: a 64th of the area.
const PILOT_READ_PART: u64 = 64;

pub(super) struct Work<'a> {
    pub(super) plan: &'a CheckPlan,
    pub(super) settings: &'a CheckSettings,
    pub(super) pool: &'a Pool,
    pub(super) driver_layer: &'a DriverLayer,
    /// The directory of assay's own; `None` if the check only reads.
    pub(super) own: Option<&'a Arc<OwnDir>>,
    pub(super) state: &'a mut State,
}

/// The result of the work.
pub(super) struct Worked {
    pub(super) tally: Tally,
    /// `None` where nothing was to be written.
    pub(super) write: Option<Ended>,
    /// `None` where nothing could be read.
    pub(super) read: Option<Ended>,
    pub(super) rewritten: Option<Rewritten>,
    /// Result for places that were lost and written again; `None` if there were none.
    pub(super) retried: Option<Retried>,
    pub(super) map: Option<Map>,
    again_bytes: u64,
}

impl Worked {
    /// Why it ended early.
    pub(super) fn stop_reason(&self) -> Option<&StopReason> {
        match (&self.write, &self.read) {
            (Some(Ended { stop_reason: Some(stop_reason), .. }), _) if !matches!(stop_reason, StopReason::Full) => {
                Some(stop_reason)
            }
            (_, Some(Ended { stop_reason, .. })) => stop_reason.as_ref(),
            _ => None,
        }
    }

    /// Ends the work for a reason that was found after its passes.
    pub(super) fn end(&mut self, stop_reason: StopReason) {
        if let Some(ended) = self.read.as_mut().or(self.write.as_mut()) {
            ended.stop_reason = Some(stop_reason);
        }
    }

    /// Bytes written in all.
    pub(super) fn written_bytes(&self) -> u64 {
        self.write.as_ref().map_or(0, |ended| ended.pass.bytes) + self.again_bytes
    }
}

impl Work<'_> {
    pub(super) fn run(mut self, progress: &mut dyn FnMut(CheckProgress)) -> Worked {
        let write = self.write(progress);
        let upto = self.readable(write.as_ref());
        let (from, tally) = self.state.read.take().unwrap_or_else(|| (0, Tally::new(extent(&self.plan.files))));
        let mut done = Worked { tally, write, read: None, rewritten: None, retried: None, map: None, again_bytes: 0 };
        let files = self.plan.files.clone();
        if upto == 0 || files.is_empty() {
            return done;
        }
        done.map = self.map(&files, upto);
        let (content, until_first_error) = (self.content(), self.settings.until_first_error);
        let area = Area { from, upto, until_first_error, ..Area::all(&files, &content) };
        let whole = self.own.is_some()
            && done.write.as_ref().is_none_or(|w| matches!(w.stop_reason, None | Some(StopReason::Full)));
        if !whole {
            let mut read = self.read(area, &mut done.tally, progress);
            // Removed while the others were read.
            if self.own.is_none() && read.stop_reason.as_ref().is_some_and(StopReason::is_not_found) {
                read.stop_reason = Some(StopReason::FilesMissing);
            }
            done.read = Some(read);
            return done;
        }
        let boundary = match extent(&files) {
            all if upto >= all => self.boundary(),
            // A file system that was full early took the last parts in any order.
            _ => eviction::boundary(upto, self.settings.cache_bytes + REACH),
        };
        let mut read = self.read(Area { upto: boundary, ..area }, &mut done.tally, progress);
        if read.stop_reason.is_none() {
            match self.end(Area { from: from.max(boundary), ..area }, boundary, &mut done, progress) {
                Ok(end) => {
                    read.pass.bytes += end.pass.bytes;
                    read.pass.elapsed_ns += end.pass.elapsed_ns;
                    read.pass.speed.extend(end.pass.speed);
                    read.stop_reason = end.stop_reason;
                }
                Err(stop_reason) => read.stop_reason = Some(stop_reason),
            }
        }
        done.read = Some(read);
        done
    }

    /// The findings of earlier sessions, where what they wrote is no longer there.
    pub(super) fn without_files(self) -> Worked {
        let (upto, tally) = self.state.read.clone().unwrap_or_else(|| (0, Tally::new(extent(&self.plan.files))));
        let stop_reason = Some(StopReason::FilesMissing);
        let read = Some(Ended { pass: Default::default(), upto, refused: Vec::new(), stop_reason });
        Worked { tally, write: None, read, rewritten: None, retried: None, map: None, again_bytes: 0 }
    }

    fn content(&self) -> Arc<Content> {
        Arc::new(self.state.content.clone())
    }

    /// Start of the end part, which is read last and written last.
    fn boundary(&self) -> u64 {
        eviction::boundary(extent(&self.plan.files), self.settings.cache_bytes)
    }

    /// `None` where nothing is to be written.
    fn write(&mut self, progress: &mut dyn FnMut(CheckProgress)) -> Option<Ended> {
        if self.own.is_none() || self.state.written_bytes >= self.plan.area_bytes {
            return None;
        }
        let content = self.content();
        let all = extent(&self.plan.files);
        let until_first_error = self.settings.until_first_error;
        let (from, barrier) = (self.state.written_bytes, self.boundary());
        let area = Area { from, until_first_error, barrier, ..Area::all(&self.plan.files, &content) };
        let timed = self.timed(area, all);
        let (mut ended, known) = match timed {
            Ok((ended, known)) => (Some(ended), known),
            Err(ended) => return Some(self.written(ended)),
        };
        let from = self.state.written_bytes;
        if from < all {
            let rest = self.pass(Area { from, known, ..area }, progress);
            ended = Some(match ended.filter(|first| first.pass.bytes > 0) {
                Some(first) => joined(first, rest),
                None => rest,
            });
        }
        ended.map(|ended| self.written(ended))
    }

    fn written(&mut self, ended: Ended) -> Ended {
        self.state.refuse(&ended.refused);
        if matches!(ended.stop_reason, Some(StopReason::Full)) {
            self.state.area_bytes = ended.upto;
        }
        ended
    }

    fn pass(&mut self, area: Area, progress: &mut dyn FnMut(CheckProgress)) -> Ended {
        let Self { own, settings, pool, state, .. } = self;
        let mut timer = Timer::new(settings.save_every);
        pass::write(pool, area, progress, &mut |upto, moment| {
            state.written_bytes = upto;
            own.filter(|_| timer.is_due(moment)).map(|own| save(own, state))
        })
    }

    /// Writes the beginning and reads some of it. Returns how fast that was and how long everything after the writing
    /// will take: reading, and rewriting.
    ///
    /// # Errors What was written, if that ended early.
    fn timed(&mut self, area: Area, all: u64) -> Result<(Ended, Timed), Ended> {
        let control = self.pool.control();
        let (start, begin) = (control.now(), area.from);
        let mut ended = Ended { pass: Default::default(), upto: begin, refused: Vec::new(), stop_reason: None };
        let mut step = 4 * MIB;
        while self.state.written_bytes.max(begin) - begin < (all - begin) / PILOT_PART
            && control.elapsed(&start) < PILOT
        {
            let from = self.state.written_bytes.max(begin);
            let next = self.pass(Area { from, upto: from + step, ..area }, &mut |_| {});
            ended = if ended.pass.bytes > 0 { joined(ended, next) } else { next };
            if ended.stop_reason.is_some() {
                return Err(ended);
            }
            step *= 2;
        }
        let written = ended.upto - begin;
        if written == 0 || self.settle().is_err() {
            return Ok((ended, Timed::default()));
        }
        let write_seconds = control.elapsed(&start).as_secs_f64();
        let (mut tally, start) = (Tally::new(all), control.now());
        let again = self.plan.again_bytes as f64;
        let upto = begin + written.min((all / PILOT_READ_PART).next_multiple_of(MIB));
        let read = pass::read(self.pool, Area { upto, ..area }, &[], &mut tally, &mut |_| {}, &mut |_, _, _| None);
        let rate = read.pass.bytes as f64 / control.elapsed(&start).as_secs_f64().max(1e-9);
        let then_seconds = (read.stop_reason.is_none() && rate > 0.0)
            .then(|| (all as f64 + again) / rate + again * write_seconds / written as f64);
        let known =
            Timed { bytes: written, elapsed_ns: nanoseconds(Duration::from_secs_f64(write_seconds)), then_seconds };
        Ok((ended, known))
    }

    /// Up to where reading back makes sense.
    fn readable(&self, written: Option<&Ended>) -> u64 {
        match written.and_then(|ended| ended.stop_reason.as_ref().map(|stop_reason| (stop_reason, ended.upto))) {
            None => u64::MAX,
            Some((StopReason::Full | StopReason::FirstError, upto)) => upto,
            // What is durable can be read although the medium turned read-only, or the file system failed, as it does
            // when later laps of a fake overwrite its tables.
            Some((StopReason::Failed(error), upto)) if failure_of(error) != RunFailure::Disappeared => upto,
            Some(_) => 0,
        }
    }

    fn read(&mut self, area: Area, tally: &mut Tally, progress: &mut dyn FnMut(CheckProgress)) -> Ended {
        if let Err(stop_reason) = self.settle() {
            return Ended {
                pass: Default::default(),
                upto: area.from,
                refused: Vec::new(),
                stop_reason: Some(stop_reason),
            };
        }
        let Self { settings, pool, state, own, .. } = self;
        let mut timer = Timer::new(settings.save_every);
        let refused = state.refused.clone();
        pass::read(pool, area, &refused, tally, progress, &mut |upto, tally, moment| {
            own.filter(|_| timer.is_due(moment)).map(|own| {
                state.read = Some((upto, tally.clone()));
                save(own, state)
            })
        })
    }

    /// Evicts the end from caches, then reads it and the places that evicted it.
    fn end(
        &mut self,
        tail: Area,
        boundary: u64,
        done: &mut Worked,
        progress: &mut dyn FnMut(CheckProgress),
    ) -> Result<Ended, StopReason> {
        let before = self.content();
        let places = eviction::places(&done.tally, boundary, self.settings.cache_bytes, &before);
        let generation = before.generations() + 1;
        places.iter().for_each(|place| self.state.content.rewrite(*place, generation));
        self.remember(done)?;
        let again = self.content();
        let written = match eviction::write(self.pool, tail.files, &places, &again) {
            // A file system that never writes in place has no room for this.
            Err(StopReason::Full) => None,
            other => Some(other?),
        };
        let bytes = written.as_ref().map_or(0, |(bytes, _)| *bytes);
        done.again_bytes += bytes;
        let end = self.read(tail, &mut done.tally, progress);
        let Some((_, refused)) = written.filter(|(bytes, _)| *bytes > 0 && end.stop_reason.is_none()) else {
            return Ok(end);
        };
        self.settle()?;
        let found = eviction::read(self.pool, tail.files, &places, &again, &refused, &mut done.tally)?;
        self.state.refuse(&refused);
        let (sectors, mut stale) = (found.counts.total(), found.stale);
        let mut written = places.clone();
        // A cache may show what was written last although the medium stores nothing any more. What is lost then looks
        // like what a fake lacks.
        if done.tally.counts.lost() > 0 && stale * 2 < sectors {
            let others = eviction::others(&done.tally, boundary, self.settings.cache_bytes, &places);
            stale += self.displace(tail.files, &places, &others, boundary, done)?;
            written.extend(others);
        }
        done.retried = self.retry(tail.files, done)?;
        if before.format() == FileFormat::F3 {
            self.state.content.undo_rewriting();
            let content = self.content();
            let kept = eviction::still_good(&done.tally, boundary, &written);
            let (bytes, refused) = eviction::write(self.pool, tail.files, &kept, &content)?;
            done.again_bytes += bytes;
            self.settle()?;
            stale += eviction::read(self.pool, tail.files, &kept, &content, &refused, &mut done.tally)?.stale;
        }
        done.rewritten = Some(Rewritten { bytes, sectors, stale: stale.min(sectors) });
        self.remember(done)?;
        Ok(end)
    }

    /// Writes `others` again and reads `places`, which were written again before. Returns how many of their sectors
    /// still hold the first content.
    fn displace(
        &mut self,
        files: &[(u64, u64)],
        places: &[u64],
        others: &[u64],
        boundary: u64,
        done: &mut Worked,
    ) -> Result<u64, StopReason> {
        let generation = self.state.content.generations() + 1;
        others.iter().for_each(|place| self.state.content.rewrite(*place, generation));
        self.remember(done)?;
        let content = self.content();
        let (bytes, refused) = match eviction::write(self.pool, files, others, &content) {
            Err(StopReason::Full) => return Ok(0),
            other => other?,
        };
        done.again_bytes += bytes;
        self.state.refuse(&refused);
        self.settle()?;
        let kept = eviction::still_good(&done.tally, boundary, places);
        Ok(eviction::read(self.pool, files, &kept, &content, &[], &mut done.tally)?.stale)
    }

    /// If what was written first is lost, a medium may keep only the newest writes. Then it holds lost places that are
    /// written again, and loses as much of the rest.
    fn retry(&mut self, files: &[(u64, u64)], done: &mut Worked) -> Result<Option<Retried>, StopReason> {
        // This many are read after all others were written; no cache of the assumed size outlasts that.
        const FIRST: usize = 16;
        let others = usize::try_from(self.settings.cache_bytes.div_ceil(PIECE)).unwrap_or(usize::MAX);
        let wanted = others.saturating_add(FIRST);
        let places = eviction::all_lost(&done.tally, wanted);
        let good_bytes = done.tally.counts.good.saturating_mul(SECTOR_BYTES);
        // A medium that holds less than a cache may have nothing else.
        if !lost_first(&done.tally) || places.len() < wanted || good_bytes < wanted as u64 * PIECE {
            return Ok(None);
        }
        let generation = self.state.content.generations() + 1;
        places.iter().for_each(|place| self.state.content.rewrite(*place, generation));
        self.remember(done)?;
        let content = self.content();
        let (bytes, refused) = match eviction::write(self.pool, files, &places, &content) {
            Err(StopReason::Full) => return Ok(None),
            other => other?,
        };
        done.again_bytes += bytes;
        self.settle()?;
        let mut apart = Tally::new(extent(files));
        let read = |places: &[u64], tally: &mut Tally| {
            eviction::read(self.pool, files, places, &content, &refused, tally).map(|found| found.counts)
        };
        let first = read(&places[..FIRST], &mut apart)?;
        if first.good * 2 < first.total() {
            return Ok(Some(Retried::Lost));
        }
        let kept = read(&eviction::all_good(&done.tally), &mut done.tally)?;
        let again = read(&places, &mut apart)?;
        let displaced = kept.lost() * 2 >= again.good;
        let held_bytes = (kept.good + again.good).saturating_mul(SECTOR_BYTES);
        Ok(Some(if displaced { Retried::Displace { held_bytes } } else { Retried::Hold }))
    }

    /// Saves that everything before the end was read.
    fn remember(&mut self, done: &Worked) -> Result<(), StopReason> {
        let upto = done.tally.tested().last().map_or(0, |(_, end)| *end);
        self.state.read = Some((upto, done.tally.clone()));
        match self.own {
            Some(own) => self.pool.run(save(own, self.state)).map_err(StopReason::from).map(drop),
            None => Ok(()),
        }
    }

    /// Flushes the medium, and drops what a driver keeps in the host's memory.
    fn settle(&self) -> Result<(), StopReason> {
        match self.driver_layer.settle() {
            Ok(Some(work)) => self.pool.run(work)?.map_err(StopReason::Failed),
            Ok(None) => Ok(()),
            Err(error) => Err(StopReason::Failed(error)),
        }
    }

    /// Where the files lie, up to the byte `upto` of the area.
    fn map(&self, files: &[(u64, u64)], upto: u64) -> Option<Map> {
        let device_bytes = self.plan.device_bytes?;
        let mut all = Vec::new();
        for &(number, bytes) in files.iter().filter(|(number, _)| start_of(*number) < upto) {
            let piece = pass::piece(self.pool, Task::Open { number }).ok()?;
            let (sender, receiver) = std::sync::mpsc::channel();
            let asked = self.pool.run(move || {
                let _ = sender.send(piece.extents(bytes));
                Ok(())
            });
            asked.ok()?.ok()?;
            let extents = receiver.try_recv().ok().flatten()?;
            all.extend(extents.into_iter().map(|part| Extent { offset: part.offset + start_of(number), ..part }));
        }
        Map::new(all, device_bytes)
    }
}

/// Whether what was written first is lost, not overwritten, and what was written last holds.
fn lost_first(tally: &Tally) -> bool {
    let files = regions(tally, None);
    let silent = |upto: u64| files.iter().filter(|region| region.end <= upto).map(Region::silent_bytes).sum::<u64>();
    let all = silent(u64::MAX);
    let overwritten = tally.counts.overwritten.saturating_mul(SECTOR_BYTES);
    missing_upto(&files, 9).is_some_and(|upto| silent(upto) * 10 >= all * 9) && overwritten * 20 < all
}

/// Two passes, one after another, as one.
fn joined(first: Ended, second: Ended) -> Ended {
    let mut pass = first.pass;
    pass.bytes += second.pass.bytes;
    pass.elapsed_ns += second.pass.elapsed_ns;
    pass.speed.extend(second.pass.speed);
    let mut refused = first.refused;
    refused.extend(second.refused);
    Ended { pass, upto: second.upto, refused, stop_reason: second.stop_reason }
}

/// When progress is saved.
struct Timer {
    every: Duration,
    last: Instant,
}

impl Timer {
    fn new(every: Duration) -> Self {
        Self { every, last: Instant::now() }
    }

    fn is_due(&mut self, moment: Moment) -> bool {
        let due = moment == Moment::End || self.last.elapsed() >= self.every;
        if due {
            self.last = Instant::now();
        }
        due
    }
}

/// Saves the state on the medium. If that fails, only the ability to resume is lost.
pub(super) fn save(own: &Arc<OwnDir>, state: &State) -> Save {
    let (state, own) = (state.clone(), Arc::clone(own));
    Box::new(move || {
        let _ = state.save(&own);
        Ok(())
    })
}
