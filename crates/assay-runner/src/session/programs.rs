//! The programs of a suite, which run after its workloads.

use std::mem::discriminant;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use assay_core::event::EventKind;
use assay_core::finding::{Finding, Shortfall};
use assay_core::original::Original;
use assay_core::outcome::RunFailure;
use assay_core::program::{Program, ProgramRun, SuiteProgram};
use assay_core::record::{OriginalRun, Record, Score};
use assay_core::suite::LEAST_REPEATS;
use assay_core::units::{MIB, nanoseconds};
use assay_device::owned::{OwnDir, OwnedError};
use assay_engine as engine;
use assay_original::{ProgramReport, ToolSubject, run_program};
use assay_programs::{Done, Fitted, ProgramFigure, ProgramLimits, ProgramTrouble, Timed, Work, fit, run};
use assay_stats::geometric;

use super::run::Session;
use crate::area::room;
use crate::choose::{EngineChoice, Instrument, Peer};
use crate::crosscheck::Order;
use crate::system::TIMED_OUT;
use crate::timeout::{AFTER_STOP, SYNC};
use crate::{crosscheck, judge};

/// Between two looks at a program.
const LOOK: Duration = Duration::from_millis(50);
/// Less time than this is no repeat.
const LEAST: Duration = Duration::from_millis(100);
/// A repeat in which the process was stopped is made again this often.
const MOST_AGAIN: u32 = 3;

/// A program with its state over the repeats.
struct ProgramEntry {
    asked: SuiteProgram,
    /// As it runs here; settled before the first repeat.
    fitted: Option<Fitted>,
    /// Repeats made.
    done: u32,
    /// Why there are no more repeats of it.
    left_out: Option<Shortfall>,
}

/// What a repeat came to, and how the tool was called that ran in place of the program.
pub(super) type Made = (Done, Option<OriginalRun>);

/// What follows a repeat.
enum NextProgram {
    Go,
    Again,
    End,
}

impl Session<'_> {
    /// Runs all programs of the suite, in rounds; false where the run ended before the last repeat was made.
    pub(crate) fn run_programs(&mut self) -> bool {
        if self.request.suite.programs.is_empty() {
            return true;
        }
        if self.control.stopped() {
            return false;
        }
        let repeats = self.program_repeats();
        let mut entries: Vec<ProgramEntry> =
            self.request.suite.programs.iter().map(|p| program_entry(p, self.record())).collect();
        if let Some(reason) = self.no_programs() {
            entries.iter_mut().for_each(|entry| entry.left_out = Some(reason.clone()));
        }
        // Programs have files of their own, and a small medium needs the room.
        self.area.trim(0, self.request.hang_after * SYNC);
        let mut whole = true;
        'rounds: for round in 0..repeats {
            for at in 0..entries.len() {
                if entries[at].done > round || entries[at].left_out.is_some() {
                    continue;
                }
                let mut again = 0;
                loop {
                    match self.program(&mut entries, at, round, repeats) {
                        NextProgram::Again if again < MOST_AGAIN => again += 1,
                        NextProgram::Go | NextProgram::Again => break,
                        NextProgram::End => {
                            whole = false;
                            break 'rounds;
                        }
                    }
                }
                self.draft.change_settings(|settings| settings.elapsed_ns = self.emitter.elapsed_ns());
                self.checkpoint();
            }
        }
        if whole {
            self.conclude_programs(entries, repeats);
        }
        whole
    }

    /// Repeats of each program.
    fn program_repeats(&self) -> u32 {
        let asked = self.request.suite.repeats;
        if self.request.confidence.is_some() { asked.min(LEAST_REPEATS) } else { asked }
    }

    /// Why no program can run, where that is so.
    fn no_programs(&self) -> Option<Shortfall> {
        match self.request.engine {
            EngineChoice::Peer(Peer::Fio) => Some(Shortfall::NoSuchWork { engine: "fio".to_owned() }),
            EngineChoice::Null => Some(Shortfall::NoSuchWork { engine: "null".to_owned() }),
            EngineChoice::Own { .. } | EngineChoice::Peer(Peer::Reference) => None,
        }
    }

    /// Makes one repeat of a program.
    fn program(&mut self, entries: &mut [ProgramEntry], at: usize, round: u32, repeats: u32) -> NextProgram {
        let sides = |asked: &SuiteProgram| if self.program_peer(asked).is_some() { 2 } else { 1 };
        let left = || {
            let going = entries.iter().filter(|entry| entry.left_out.is_none());
            going.map(|e| (e, repeats.saturating_sub(e.done) * sides(&e.asked)))
        };
        let time = self.program_time(&entries[at].asked, left().map(|(e, times)| e.asked.duration * times).sum());
        if time < LEAST {
            entries[at].left_out = Some(Shortfall::Budget);
            return NextProgram::Go;
        }
        let writing: u64 = left().filter(|(e, _)| e.asked.does.writes()).map(|(_, times)| u64::from(times)).sum();
        let total = repeats * u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let done = entries.iter().map(|entry| entry.done).sum();
        let entry = &mut entries[at];
        let files = match self.files(&entry.asked.does) {
            Ok(files) => files,
            Err(reason) => {
                entry.left_out = Some(reason);
                return NextProgram::Go;
            }
        };
        if entry.fitted.is_none() {
            let limits = self.limits(time, writing, files.as_deref());
            match fit(&entry.asked.does, self.request.source_tree.is_given(), &limits) {
                Ok(fitted) => self.note_fit(entry, fitted),
                Err(reason) => {
                    entry.left_out = Some(reason);
                    return NextProgram::Go;
                }
            }
        }
        let Some(fitted) = entry.fitted.clone() else { return NextProgram::Go };
        self.emitter.emit(EventKind::RepeatStarted {
            workload: entry.asked.name.clone(),
            title: fitted.program.to_string(),
            repeat: round + 1,
            repeats,
            planned_ns: nanoseconds(time),
            done,
            total,
            left_ns: nanoseconds(self.whole.left()),
        });
        let suspended = self.control.suspended();
        match self.program_sides(&entry.asked, &fitted, files, time, round) {
            Ok(made) => {
                if self.control.suspended() > suspended {
                    return NextProgram::Again;
                }
                entry.done += 1;
                self.take_program(&entry.asked.name, &fitted.program, made, round);
                NextProgram::Go
            }
            Err(ProgramTrouble::Stopped) => NextProgram::End,
            Err(ProgramTrouble::LeftOut(reason)) => {
                entry.left_out = Some(reason);
                NextProgram::Go
            }
            Err(trouble) => self.program_failed(entry, &trouble),
        }
    }

    /// The time that a repeat may take, where all that are left would take `all`.
    fn program_time(&self, asked: &SuiteProgram, all: Duration) -> Duration {
        let share = asked.duration.as_secs_f64() / all.as_secs_f64().max(1e-9);
        self.whole.left().mul_f64(share.min(1.0)).min(asked.duration)
    }

    /// The directory for its files, if it needs one.
    pub(super) fn files(&self, program: &Program) -> Result<Option<Arc<OwnDir>>, Shortfall> {
        if !program.writes() {
            return Ok(None);
        }
        match self.area.files() {
            Ok(Some(files)) => Ok(Some(Arc::new(files))),
            Ok(None) => Err(Shortfall::RawDevice),
            Err(error) => Err(Shortfall::Refused { said: error.to_string() }),
        }
    }

    /// Limits of a repeat. `writing` more repeats write.
    fn limits(&self, time: Duration, writing: u64, files: Option<&OwnDir>) -> ProgramLimits {
        let settings = self.draft.settings();
        let written = self.budget.written_now() + self.whole.written_now();
        let layout = settings.layout.as_ref().filter(|layout| layout.bytes > 0 && layout.elapsed_ns > 0);
        ProgramLimits {
            time,
            write_bytes: self.request.suite.max_write.0.saturating_sub(written) / writing.max(1),
            space_bytes: files.and_then(|files| room(files.directory()).ok()).unwrap_or(0),
            bytes_per_second: layout.map(|layout| layout.bytes as f64 / (layout.elapsed_ns as f64 / 1e9)),
        }
    }

    /// Keeps how a program runs here, and says where that is less than the suite asks for.
    fn note_fit(&mut self, entry: &mut ProgramEntry, fitted: Fitted) {
        if let (Some(asked_size), Some(used_size)) = (entry.asked.does.size(), fitted.program.size())
            && asked_size != used_size
        {
            let program = Some(entry.asked.name.clone());
            self.warn(Finding::ScaledDown { program, asked_size, used_size, by_all: false });
        }
        entry.fitted = Some(fitted);
    }

    /// Runs it in a thread of its own, which is left behind where the medium hangs.
    fn run_program(
        &self,
        fitted: &Fitted,
        files: Option<Arc<OwnDir>>,
        time: Duration,
        round: u64,
    ) -> Result<Done, ProgramTrouble> {
        let beat = Arc::new(AtomicU64::new(0));
        let meter = self.meter.clone();
        let work = Work {
            place: files,
            control: self.control.clone(),
            beat: Arc::clone(&beat),
            deadline: Instant::now() + time,
            seed: self.request.seed ^ round,
            tree: Arc::clone(&self.request.source_tree),
            counters: Box::new(move || judge::read(meter.as_deref())),
        };
        let (fitted, (sender, answer)) = (fitted.clone(), channel());
        let begun = std::thread::Builder::new().spawn(move || {
            let result = run(&fitted, &work);
            // Closed before anybody removes what it was used for.
            drop(work);
            let _ = sender.send(result);
        });
        begun.map_err(|error| ProgramTrouble::Io { what: "starting a thread", error })?;
        let (mut last, mut moved, mut stopped) = (0, Instant::now(), None);
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ProgramTrouble::Wrong("a program ended without a result".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = beat.load(Ordering::Relaxed);
            if now != last {
                (last, moved) = (now, Instant::now());
            }
            if self.control.stopped() && stopped.get_or_insert_with(Instant::now).elapsed() > AFTER_STOP {
                return Err(ProgramTrouble::Stopped);
            }
            if moved.elapsed() > self.request.hang_after * SYNC {
                let error = std::io::Error::from_raw_os_error(TIMED_OUT);
                return Err(ProgramTrouble::Io { what: "waiting for the medium", error });
            }
        }
    }

    /// Runs it, with a look at what happens to the host meanwhile.
    pub(super) fn made(
        &mut self,
        fitted: &Fitted,
        files: Option<Arc<OwnDir>>,
        time: Duration,
        round: u64,
    ) -> Result<Done, ProgramTrouble> {
        let mark = self.host_monitor.before();
        let made = self.run_program(fitted, files, time, round);
        for finding in self.host_monitor.after(&mark) {
            // Said once of all programs.
            let said = self.record().warnings.iter().any(|w| discriminant(&w.finding) == discriminant(&finding));
            if !said {
                self.warn(finding);
            }
        }
        made
    }

    /// Counts what was written and read.
    pub(super) fn count(&mut self, done: &Done) {
        self.whole.wrote(done.written_bytes);
        let timed = done.figures.last().map(|figure| figure.timed);
        let read_bytes = timed.and_then(|timed| timed.crossed).map_or(0, |crossed| crossed.read_bytes);
        self.draft.change_settings(|settings| {
            settings.written_bytes += done.written_bytes;
            settings.read_bytes += read_bytes;
        });
    }

    /// Adds a repeat to the scores.
    fn take_program(&mut self, name: &str, program: &Program, (done, original): Made, round: u32) {
        let origin = self.request.source_tree.origin();
        for figure in &done.figures {
            let title = if figure.of.is_empty() { program.to_string() } else { format!("{program}, {}", figure.of) };
            let scores = &mut self.draft.fill().scores;
            // A resumed run may be told of another tree.
            let same = |tree: &String| tree.contains(&origin);
            let ours = |run: &ProgramRun| run.program == name && run.tree.as_ref().is_none_or(same);
            let known = scores.iter().position(|s| s.name == title && s.program.as_deref().is_some_and(ours));
            let at = known.unwrap_or_else(|| {
                let program = ProgramRun { program: name.to_owned(), tree: done.tree.clone(), ..ProgramRun::default() };
                let value = assay_core::estimate::Estimate::bare(figure.value, 1, "single repeat");
                scores.push(Score {
                    name: title,
                    value,
                    unit: figure.unit.to_owned(),
                    more_is_better: true,
                    program: Some(Box::new(program)),
                });
                scores.len() - 1
            });
            add_figures(&mut scores[at], figure, done.threads);
            if let Some(run) = scores[at].program.as_mut() {
                run.originals.extend(original.clone());
            }
        }
        if let Some(figure) = done.figures.first() {
            let (program, unit) = (name.to_owned(), figure.unit.to_owned());
            self.emitter.emit(EventKind::ProgramFinished { program, repeat: round + 1, value: figure.value, unit });
        }
    }

    /// What a failed program says of the medium: the run ends with it, unless the file system was only full.
    fn program_failed(&mut self, entry: &mut ProgramEntry, trouble: &ProgramTrouble) -> NextProgram {
        let errno = match trouble {
            ProgramTrouble::Io { error, .. } => error.raw_os_error(),
            ProgramTrouble::Owned(OwnedError::Io { source, .. }) => source.raw_os_error(),
            _ => None,
        };
        let failure = match trouble {
            ProgramTrouble::Wrong(_) => RunFailure::Host,
            _ => errno.map_or(RunFailure::Other, RunFailure::from_errno),
        };
        if failure == RunFailure::OutOfSpace {
            entry.left_out = Some(Shortfall::FileSystemFull);
            return NextProgram::Go;
        }
        let outcome = self.failed(failure, trouble.to_string(), Some(&entry.asked.name));
        self.draft.end(outcome);
        NextProgram::End
    }

    /// Says which programs have fewer repeats than planned.
    fn conclude_programs(&mut self, entries: Vec<ProgramEntry>, planned: u32) {
        for entry in entries.into_iter().filter(|entry| entry.done < planned) {
            let shortfall = entry.left_out.unwrap_or(Shortfall::Suspended);
            self.warn(Finding::ProgramLeftOut { program: entry.asked.name, planned, ran: entry.done, shortfall });
        }
    }
}

/// A program with what an earlier part of the run came to.
fn program_entry(asked: &SuiteProgram, record: &Record) -> ProgramEntry {
    let runs = record.scores.iter().filter_map(|score| score.program.as_ref()).filter(|p| p.program == asked.name);
    let done = runs.map(|run| u32::try_from(run.values.len()).unwrap_or(u32::MAX)).max().unwrap_or(0);
    ProgramEntry { asked: asked.clone(), fitted: None, done, left_out: None }
}

/// Adds the figure of a repeat and what it took.
fn add_figures(score: &mut Score, figure: &ProgramFigure, threads: u32) {
    let Some(run) = score.program.as_mut() else { return };
    let before: u64 = run.elapsed_ns.iter().sum();
    let Timed { elapsed, processor, crossed } = figure.timed;
    let mean = |old: Option<f64>, new: Option<f64>| match (old, new) {
        _ if before == 0 => new,
        (Some(old), Some(new)) => {
            let (before, now) = (before as f64, elapsed.as_nanos() as f64);
            Some((old * before + new * now) / (before + now).max(1.0))
        }
        _ => None,
    };
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let busy = crossed.map(|crossed| (crossed.busy_ms as f64 / 1e3 / seconds).min(1.0));
    let waited = |processor: Duration| 1.0 - processor.as_secs_f64() / seconds / f64::from(threads.max(1));
    let bytes = crossed.map(|crossed| crossed.read_bytes + crossed.written_bytes);
    run.medium_busy_share = mean(run.medium_busy_share, busy);
    run.waiting_share = mean(run.waiting_share, processor.map(|time| waited(time).clamp(0.0, 1.0)));
    run.medium_bytes = if before == 0 { bytes } else { run.medium_bytes.zip(bytes).map(|(old, new)| old + new) };
    run.values.push(figure.value);
    run.elapsed_ns.push(nanoseconds(elapsed));
    if let Some(value) = geometric(&run.values) {
        score.value = value;
    }
}

// A repeat of a program: by assay, by the tool that it was taken from, or by both in turns.

impl Session<'_> {
    /// The tool that runs a program too, in turns.
    fn program_peer(&self, asked: &SuiteProgram) -> Option<Original> {
        asked.original.filter(|_| self.request.engine.crosscheck() == Some(Peer::Reference))
    }

    /// Makes one repeat, by all that shall make it. Where the process is stopped meanwhile it counts for nothing.
    fn program_sides(
        &mut self,
        asked: &SuiteProgram,
        fitted: &Fitted,
        files: Option<Arc<OwnDir>>,
        time: Duration,
        round: u32,
    ) -> Result<Made, ProgramTrouble> {
        if self.request.engine == EngineChoice::Peer(Peer::Reference) {
            drop(files);
            let tool = asked.original.ok_or(ProgramTrouble::LeftOut(Shortfall::NoOriginal))?;
            return self.by_original(tool, fitted, time, round);
        }
        let Some(tool) = self.program_peer(asked) else {
            let done = self.made(fitted, files, time, u64::from(round))?;
            self.count(&done);
            return Ok((done, None));
        };
        let (suspended, first) = (self.control.suspended(), crosscheck::peer_first(round));
        let mut files = files;
        let mut theirs = None;
        if first {
            drop(files.take());
            theirs = Some(self.original(tool, fitted, time, round));
            files = self.files(&fitted.program).map_err(ProgramTrouble::LeftOut)?;
        }
        let done = self.made(fitted, files, time, u64::from(round))?;
        self.count(&done);
        if !first {
            theirs = Some(self.original(tool, fitted, time, round));
        }
        let (ours, theirs) = (done.figures.first().map(|figure| figure.value), theirs.and_then(Result::transpose));
        if let (Some(ours), Some(theirs), true) = (ours, theirs, self.control.suspended() == suspended) {
            let version = self.engines.version(Instrument::Tool(tool)).to_owned();
            let order = if first { Order::PeerFirst } else { Order::PeerLast };
            let (peer, operations) = ((tool.name(), version.as_str()), operations(&fitted.program));
            crosscheck::add_program(self.draft.fill(), &asked.name, peer, order, operations, (ours, theirs));
        }
        Ok((done, None))
    }

    /// One repeat by a tool in place of the program.
    fn by_original(
        &mut self,
        tool: Original,
        fitted: &Fitted,
        time: Duration,
        round: u32,
    ) -> Result<Made, ProgramTrouble> {
        let before = judge::read(self.meter.as_deref());
        let report = self.original(tool, fitted, time, round).map_err(|trouble| match trouble {
            // What the host lacks is no fault of the medium.
            engine::RepeatTrouble::Setup(said) => ProgramTrouble::LeftOut(Shortfall::Refused { said }),
            other => ProgramTrouble::Io {
                what: "its original",
                error: std::io::Error::other(crosscheck::trouble_text(&other)),
            },
        })?;
        let report = report.ok_or(ProgramTrouble::Stopped)?;
        let crossed = before.zip(judge::read(self.meter.as_deref())).map(|(before, after)| after - before);
        let timed = Timed { elapsed: report.elapsed, processor: None, crossed };
        let figure = ProgramFigure { of: "", value: report.value, unit: operations_unit(&fitted.program), timed };
        // What it wrote is counted.
        Ok((Done { figures: vec![figure], threads: 1, ..Done::default() }, Some(report.run)))
    }

    /// One repeat by a tool, whose files are gone afterwards; nothing where the end was asked for.
    fn original(
        &mut self,
        tool: Original,
        fitted: &Fitted,
        time: Duration,
        round: u32,
    ) -> Result<Option<ProgramReport>, engine::RepeatTrouble> {
        let missing = || engine::RepeatTrouble::Setup(format!("{} is missing", tool.name()));
        let found = self.engines.original(tool).cloned().ok_or_else(missing)?;
        if let Some(trouble) = self.area.prepare_for(Instrument::Tool(tool)) {
            return Err(trouble);
        }
        let subject = self.area.subject(&self.area.target, ToolSubject { time, ..ToolSubject::default() });
        let rounds = (self.request.seed ^ u64::from(round), self.request.hang_after);
        let report = run_program(&found, &fitted.program, &subject, rounds, &self.control);
        self.area.remove_original();
        let written = report.as_ref().ok().and_then(|report| Some(report.as_ref()?.written_bytes)).unwrap_or(0);
        self.whole.wrote(written);
        self.draft.change_settings(|settings| settings.written_bytes += written);
        report
    }
}

/// Operations for each unit of a program's figure.
fn operations(program: &Program) -> f64 {
    match program {
        Program::Memory { block, .. } => MIB as f64 / block.0 as f64,
        Program::Stream { block, .. } => 1e6 / block.0 as f64,
        _ => 1.0,
    }
}

/// Unit of the figure of a program that has an original.
fn operations_unit(program: &Program) -> &'static str {
    match program {
        Program::Primes { .. } => "events/s",
        Program::Memory { .. } => "MiB/s",
        Program::Postmark { .. } => "transactions/s",
        _ => "MB/s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_means_over_the_time_of_all_repeats() {
        let figure = |value, seconds: u64, busy_ms: u64, processor_ms: u64| ProgramFigure {
            of: "",
            value,
            unit: "MB/s",
            timed: Timed {
                elapsed: Duration::from_secs(seconds),
                processor: Some(Duration::from_millis(processor_ms)),
                crossed: Some(assay_device::Counters { busy_ms, written_bytes: 5, ..Default::default() }),
            },
        };
        let mut score = Score {
            name: "p".to_owned(),
            value: assay_core::estimate::Estimate::bare(1.0, 1, ""),
            unit: "MB/s".to_owned(),
            more_is_better: true,
            program: Some(Box::default()),
        };
        add_figures(&mut score, &figure(10.0, 1, 1000, 2000), 2);
        add_figures(&mut score, &figure(40.0, 3, 600, 0), 2);
        let run = score.program.unwrap();
        assert_eq!(run.medium_busy_share, Some(0.4));
        assert_eq!(run.waiting_share, Some(0.75));
        assert_eq!((run.medium_bytes, run.values.len()), (Some(10), 2));
        assert!((score.value.point - 20.0).abs() < 1e-9 && score.value.low.is_some());
    }
}
