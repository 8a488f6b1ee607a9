//! Before anything is timed: the test area is written out, and a few places are read.

use std::sync::Arc;
use std::time::Duration;

use assay_core::event::EventKind;
use assay_core::finding::Finding;
use assay_core::outcome::RunFailure;
use assay_core::record::Layout;
use assay_core::suite::LayoutRule;
use assay_core::units::nanoseconds;

use super::begin::Session;
use crate::area::rounded;
use crate::session::write_out::{Cut, LaidOut, write_out_watched};
use crate::timeout::{NoAnswer, SLOW, SYNC, no_thread, within};

impl Session<'_> {
    /// Writes the test area out; false where the run ends with that.
    pub(crate) fn lay_out(&mut self) -> bool {
        let only_reads_device = self.record().settings.raw_device && !self.request.suite.writes();
        // The first write of a soak is the medium's first.
        let only_soaks = self.request.suite.only_soaks() && self.area.target.direct();
        // fio writes no area on a device beforehand.
        let unwritten = self.record().settings.raw_device && self.request.suite.layout == LayoutRule::None;
        let as_it_is = only_reads_device || only_soaks || unwritten;
        if !as_it_is {
            self.emitter.phase("layout");
        }
        if !only_reads_device && !unwritten {
            self.area.reserve(self.area_bytes, self.request.hang_after * SYNC);
        }
        if as_it_is {
            self.draft.fill().settings.span_bytes = self.area_bytes;
            return true;
        }
        // What was measured before was measured on an area of this size, however long it takes to write it again.
        let kept = self.request.resume.as_ref().and_then(|resumption| resumption.area_bytes());
        let whole = self.request.suite.layout.keeps_size();
        match self.write_out(kept.is_some() || whole) {
            Ok(out) => self.take_layout(&out, kept),
            Err(error) => {
                self.fail(RunFailure::Host, format!("writing the test area: {error}"));
                false
            }
        }
    }

    fn write_out(&mut self, all: bool) -> std::io::Result<LaidOut> {
        let limit = if all { Duration::MAX } else { self.budget.layout_time() };
        let (total, seed, hang_after) = (self.area_bytes, self.request.seed, self.request.hang_after);
        let emitter = &mut self.emitter;
        let mut tell = |done, rate| {
            emitter.emit(EventKind::Progress { done_bytes: done, total_bytes: total, bytes_per_second: rate });
        };
        write_out_watched(&self.area.target, total, seed, limit, hang_after, &self.control, &mut tell)
    }

    /// Takes over what was written. With `kept` all of it is needed. Returns false where the run ends with that.
    fn take_layout(&mut self, out: &LaidOut, kept: Option<u64>) -> bool {
        let total = self.area_bytes;
        let span = if out.bytes == total { total } else { rounded(out.bytes) };
        if !matches!(out.cut, Some(Cut::Failed { .. } | Cut::Stopped)) {
            self.area.trim(span, self.request.hang_after * SYNC);
        }
        self.budget.wrote(out.bytes);
        let whole = self.request.suite.layout.keeps_size();
        if whole {
            // The time for it comes on top.
            self.budget.waited(out.elapsed);
        }
        self.pace.note_layout(out.bytes_per_second);
        let settings = &mut self.draft.fill().settings;
        settings.written_bytes += out.bytes;
        settings.span_bytes = kept.unwrap_or(span);
        settings.layout = Some(Layout { bytes: out.bytes, elapsed_ns: nanoseconds(out.elapsed) });
        let (failure, reason) = match &out.cut {
            None => return true,
            Some(Cut::Stopped) => return false,
            Some(Cut::Failed { failure, detail }) => {
                let (failure, why) = self.health.examine(*failure, true, &self.area.target);
                let detail = why.map_or(detail.clone(), |why| format!("{detail}; {why}"));
                self.fail(failure, detail);
                return false;
            }
            Some(Cut::Time) => {
                let rate = assay_core::units::rate(out.bytes_per_second);
                (RunFailure::Hung, format!("writing at {rate} there was no time for more"))
            }
            Some(Cut::Space) => (RunFailure::OutOfSpace, "the file system was full".to_owned()),
        };
        if span == 0 || kept.is_some() || whole {
            self.fail(failure, reason);
            return false;
        }
        let asked_bytes = self.request.suite.span.0;
        self.draft.fill().warnings.retain(|w| !matches!(w.finding, Finding::SmallerSpan { .. }));
        self.warn(Finding::SmallerSpan { asked_bytes, used_bytes: span, reason });
        true
    }

    /// Reads a few places, to know how fast that is; false where the medium does not answer.
    pub(crate) fn first_reads(&mut self) -> bool {
        let limit = self.request.hang_after * SLOW;
        let (target, span, seed) =
            (Arc::clone(&self.area.target), self.record().settings.span_bytes, self.request.seed);
        let mut looking = self.pace.clone();
        let looked = within(limit, move || {
            looking.look_at_reads(&target, span, seed);
            looking
        });
        match looked {
            Ok(known) => {
                self.pace = known;
                // A killed run tells what it wrote.
                self.checkpoint();
                return true;
            }
            Err(NoAnswer::Late) => {
                let limit = assay_core::units::span(limit);
                self.fail(RunFailure::Hung, format!("a first read was not answered for {limit}"));
            }
            Err(NoAnswer::NoThread(error)) => self.fail(RunFailure::Host, no_thread(&error)),
        }
        false
    }
}
