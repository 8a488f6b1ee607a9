//! Before anything is timed: the test area is written out, and a few places are read.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use assay_core::event::EventKind;
use assay_core::finding::{AreaLimit, Finding};
use assay_core::outcome::RunFailure;
use assay_core::record::Layout;
use assay_core::suite::LayoutRule;
use assay_core::units::{nanoseconds, span};
use assay_engine::{AlignedBuffer, Control, FileExt, Target, Timeout, fill_unique};

use super::run::Session;
use crate::area::rounded;
use crate::timeout::{HUNG_ALREADY, NoAnswer, SLOW, SYNC, no_thread, within};

impl Session<'_> {
    /// Writes the test area out; false where the run ends with that.
    pub(crate) fn lay_out(&mut self) -> bool {
        let only_reads_device = self.draft.settings().raw_device && !self.request.suite.writes();
        // The first write of a soak is the medium's first.
        let only_soaks = self.request.suite.only_soaks() && self.area.target.direct();
        // fio writes no area on a device beforehand.
        let unwritten = self.draft.settings().raw_device && self.request.suite.layout == LayoutRule::None;
        let as_it_is = only_reads_device || only_soaks || unwritten;
        if !as_it_is {
            self.emitter.phase("layout");
        }
        if !only_reads_device && !unwritten {
            self.area.reserve(self.area_bytes, self.request.hang_after * SYNC);
        }
        if as_it_is {
            self.draft.change_settings(|settings| settings.span_bytes = self.area_bytes);
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
        self.pace.note_layout(out.bytes_per_second, &out.pieces);
        self.draft.change_settings(|settings| {
            settings.written_bytes += out.bytes;
            settings.span_bytes = kept.unwrap_or(span);
            settings.layout = Some(Layout { bytes: out.bytes, elapsed_ns: nanoseconds(out.elapsed) });
        });
        let (failure, limit) = match &out.cut {
            None => return true,
            Some(Cut::Stopped) => return false,
            Some(Cut::Failed { failure, detail }) => {
                let (failure, why) = self.device_health.examine(*failure, true, &self.area.target);
                let detail = why.map_or(detail.clone(), |why| format!("{detail}; {why}"));
                self.fail(failure, detail);
                return false;
            }
            Some(Cut::Time) => (RunFailure::Hung, AreaLimit::Time { bytes_per_second: out.bytes_per_second }),
            Some(Cut::Space) => (RunFailure::OutOfSpace, AreaLimit::FileSystemFull),
        };
        if span == 0 || kept.is_some() || whole {
            self.fail(failure, limit.to_string());
            return false;
        }
        let asked_bytes = self.request.suite.span.0;
        self.draft.fill().warnings.retain(|w| !matches!(w.finding, Finding::SmallerSpan { .. }));
        self.warn(Finding::SmallerSpan { asked_bytes, used_bytes: span, limit });
        true
    }

    /// Reads a few places, to know how fast that is; false where the medium does not answer.
    pub(crate) fn first_reads(&mut self) -> bool {
        let limit = self.request.hang_after * SLOW;
        let (target, span, seed) = (Arc::clone(&self.area.target), self.draft.settings().span_bytes, self.request.seed);
        let (mut looking, looks) = (self.pace.clone(), self.looks());
        let looked = within(limit, move || {
            looking.look_at_reads(&target, span, seed, looks);
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

// Writing the test area out, before anything is timed: reading what was never written does not
// touch the medium.

/// First chunk: small enough that a medium of 20 KB/s is found out within a second.
const FIRST_CHUNK: usize = 16 << 10;
const LARGEST_CHUNK: usize = 4 << 20;
/// A smaller piece tells of latency more than of the stream.
const LEAST_PIECE: usize = 256 << 10;
/// Chunks grow while they take less than this, and shrink when they take ten times as long.
const CHUNK_TIME: Duration = Duration::from_millis(100);

/// Why writing ended before all was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The time for it was over.
    Time,
    /// The file system is full.
    Space,
    /// The user stopped it.
    Stopped,
    /// The medium failed.
    Failed { failure: RunFailure, detail: String },
}

/// What was written.
#[derive(Debug, Clone)]
pub(crate) struct LaidOut {
    pub(crate) bytes: u64,
    pub(crate) elapsed: Duration,
    /// Time until the data was durable, by chunks: the medium's pace for sequential writing.
    pub(crate) bytes_per_second: f64,
    /// Seconds for a byte in each piece of at least [`LEAST_PIECE`].
    pub(crate) pieces: Vec<f64>,
    pub(crate) cut: Option<Cut>,
}

/// Tells of bytes done and their rate.
type OnProgress<'a> = dyn FnMut(u64, f64) + 'a;

/// [`write_out`] in a thread that is left behind where no piece is done for [`SLOW`] times
/// `hang_after`: a piece may be large, and the sync at the end may take as long.
fn write_out_watched(
    target: &Arc<Target>,
    want: u64,
    seed: u64,
    limit: Duration,
    hang_after: Duration,
    control: &Control,
    on_progress: &mut OnProgress<'_>,
) -> std::io::Result<LaidOut> {
    enum LayoutMessage {
        Progress(u64, f64),
        Over(std::io::Result<LaidOut>),
    }
    let (sender, said) = channel();
    let (its_target, its_control) = (Arc::clone(target), control.clone());
    let begun = std::thread::Builder::new().spawn(move || {
        let tell = sender.clone();
        let out = write_out(&its_target, want, seed, limit, &its_control, &mut |done, rate| {
            let _ = tell.send(LayoutMessage::Progress(done, rate));
        });
        // Closed with its user: the file is removed when everything is reported.
        drop(its_target);
        let _ = sender.send(LayoutMessage::Over(out));
    });
    begun.map_err(|error| std::io::Error::new(error.kind(), no_thread(&error)))?;
    let (start, mut bytes) = (control.now(), 0);
    let limit = hang_after * SLOW;
    let mut timeout = Timeout::new(limit);
    let cut = loop {
        match said.recv_timeout(Duration::from_millis(50)) {
            Ok(LayoutMessage::Progress(done, rate)) => {
                bytes = done;
                timeout.restart();
                on_progress(done, rate);
            }
            Ok(LayoutMessage::Over(out)) => return out,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(std::io::Error::other("a thread ended early")),
        }
        if timeout.expired() {
            let detail = format!("writing the test area: nothing completed for {}", span(limit));
            break Cut::Failed { failure: RunFailure::Hung, detail };
        }
        if control.stopped() && timeout.waited() > HUNG_ALREADY {
            break Cut::Stopped;
        }
    };
    let elapsed = control.elapsed(&start);
    let bytes_per_second = bytes as f64 / elapsed.as_secs_f64().max(1e-9);
    Ok(LaidOut { bytes, elapsed, bytes_per_second, pieces: Vec::new(), cut: Some(cut) })
}

/// Writes `want` bytes of unique data from the start of the target, and syncs.
fn write_out(
    target: &Target,
    want: u64,
    seed: u64,
    limit: Duration,
    control: &Control,
    on_progress: &mut OnProgress<'_>,
) -> std::io::Result<LaidOut> {
    let mut buffer = AlignedBuffer::new(LARGEST_CHUNK)?;
    let start = control.now();
    let mut done = 0u64;
    let mut chunk = FIRST_CHUNK;
    let (mut cut, mut pieces) = (None, Vec::new());
    let mut last_reported = Instant::now();
    while done < want {
        if control.stopped() {
            cut = Some(Cut::Stopped);
            break;
        }
        if control.elapsed(&start) >= limit {
            cut = Some(Cut::Time);
            break;
        }
        let length = chunk.min(usize::try_from(want - done).unwrap_or(chunk));
        let piece = &mut buffer.as_mut_slice()[..length];
        fill_unique(piece, seed, done);
        let before = Instant::now();
        // Cached writes are made durable piece by piece: otherwise the page cache takes all at
        // once and the final sync takes as long as it likes.
        let written =
            target.file().write_all_at(piece, done).and_then(|()| if target.direct() { Ok(()) } else { target.sync() });
        if let Err(error) = written {
            cut = Some(failure_reason(&error));
            break;
        }
        done += length as u64;
        let took = before.elapsed();
        if length >= LEAST_PIECE {
            pieces.push(took.as_secs_f64() / length as f64);
        }
        if took < CHUNK_TIME {
            chunk = (chunk * 2).min(LARGEST_CHUNK);
        } else if took > CHUNK_TIME * 10 {
            chunk = (chunk / 2).max(FIRST_CHUNK);
        }
        if last_reported.elapsed() > Duration::from_millis(200) {
            last_reported = Instant::now();
            on_progress(done, done as f64 / control.elapsed(&start).as_secs_f64().max(1e-9));
        }
    }
    if let Err(error) = target.sync() {
        cut = Some(failure_reason(&error));
    }
    let _ = target.drop_cache();
    let elapsed = control.elapsed(&start);
    on_progress(done, done as f64 / elapsed.as_secs_f64().max(1e-9));
    let bytes_per_second = done as f64 / elapsed.as_secs_f64().max(1e-9);
    Ok(LaidOut { bytes: done, elapsed, bytes_per_second, pieces, cut })
}

fn failure_reason(error: &std::io::Error) -> Cut {
    let failure = error.raw_os_error().map_or(RunFailure::IoError, RunFailure::from_errno);
    if failure == RunFailure::OutOfSpace {
        Cut::Space
    } else {
        Cut::Failed { failure, detail: format!("writing the test area: {error}") }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_laid_out_is_written_in_full_and_unique() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let target = Target::create(&path, false).unwrap();
        let control = Control::default();
        let out = write_out(&target, 3 << 20, 5, Duration::from_secs(60), &control, &mut |_, _| {}).unwrap();
        assert_eq!((out.bytes, out.cut), (3 << 20, None));
        let mut content = Vec::new();
        std::fs::File::open(&path).unwrap().read_to_end(&mut content).unwrap();
        let pages: std::collections::HashSet<&[u8]> = content.chunks(4096).collect();
        assert_eq!(pages.len(), (3 << 20) / 4096);
    }

    #[test]
    fn time_and_a_stop_cut_it_short() {
        let dir = tempfile::tempdir().unwrap();
        let target = Target::create(&dir.path().join("data"), false).unwrap();
        let control = Control::default();
        let out = write_out(&target, 1 << 30, 5, Duration::ZERO, &control, &mut |_, _| {}).unwrap();
        assert_eq!((out.bytes, out.cut), (0, Some(Cut::Time)));
        control.stop();
        let out = write_out(&target, 1 << 30, 5, Duration::from_secs(9), &control, &mut |_, _| {}).unwrap();
        assert_eq!(out.cut, Some(Cut::Stopped));
    }
}
