//! The test of one medium: slices one after the other, and what is done about trouble.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_core::endurance::{CensorReason, Endurance, LifeEnd};
use assay_core::sensor::SensorKind;
use assay_device::health::HealthReader;
use assay_device::{KernelLog, Sensors, Sysroot, TargetInfo};
use assay_endure::{
    Attachment, Condition, Control as Comparison, Entry, Evidence, Incident, JournalError, KernelSign, Log, Medium,
    Phase, Recognised, RestBegun, Ruling, SLICES, Shows, Sight, State, Step, Trouble, Wear, judge, mark_on, recognise,
    written_since,
};
use assay_engine::Control;
use jiff::Timestamp;

use super::target::{Absent, Opened, Opening, control};
use super::{target, words};
use crate::cli::Until;
use crate::ending::Failure;
use crate::output::{shown, tell_wrapped};

/// Between two looks at a medium in trouble.
const LOOK: Duration = Duration::from_secs(2);
/// Between two lines of progress.
const TELL: Duration = Duration::from_millis(200);
/// Media that fail within this time fail together.
const TOGETHER: Duration = Duration::from_secs(10);

/// What the tests of one process know of each other.
#[derive(Debug, Default)]
pub(super) struct Neighbour {
    pub(super) line: String,
    reader: Option<String>,
    troubled: Option<Instant>,
    worked: Option<Instant>,
}

pub(super) type Neighbours = Arc<Mutex<Vec<Neighbour>>>;

/// When a test ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) until: Option<Until>,
    /// The rest after its last cycle.
    pub(super) retain: Option<Duration>,
    /// Time that a medium in trouble is waited for.
    pub(super) wait: Duration,
}

/// Most lines of the kernel that are logged at once.
const MOST_LINES: usize = 1000;

/// A test under way.
pub(super) struct Session {
    pub(super) number: usize,
    pub(super) opening: Opening,
    pub(super) limits: Limits,
    pub(super) control: Option<PathBuf>,
    pub(super) stop: Control,
    pub(super) neighbours: Neighbours,
    wear: Wear<Box<dyn Medium + Send>, Log>,
    seen: TargetInfo,
    reader: Option<String>,
    attachment: Option<String>,
    attached_anew: bool,
    /// Whether the log says that it was attached since the trouble began.
    noted: bool,
    elsewhere: Sight,
    over_other: bool,
    /// The mark that the medium bore when it was looked at last: older than the test, or named as to be overwritten.
    marked: Option<&'static str>,
    kernel: KernelLog,
    document: PathBuf,
}

/// What a session begins with.
pub(super) struct Beginning {
    pub(super) number: usize,
    pub(super) opening: Opening,
    pub(super) opened: Opened,
    pub(super) log: Log,
    pub(super) state: State,
    /// Whether it holds what something else has written, which the user named as to be overwritten.
    pub(super) over_other: bool,
}

fn now() -> String {
    Timestamp::now().to_string()
}

fn failed(error: &JournalError) -> Failure {
    Failure::environment(error.to_string())
}

impl Session {
    pub(super) fn new(
        beginning: Beginning,
        (limits, control): (Limits, Option<PathBuf>),
        stop: &Control,
        neighbours: &Neighbours,
    ) -> Result<Self, Failure> {
        let Beginning { number, opening, opened, log, state, over_other } = beginning;
        let Opened { mut medium, seen, reader, attachment, .. } = opened;
        let pages = state.layout().pages;
        let marked = mark_on(&mut medium, &|page| page < pages);
        let kernel = KernelLog::follow(&Sysroot::real(), &seen.leaves);
        let before = state.attachment().cloned();
        let other = |now: &Option<String>, then: &Option<String>| now.is_some() && then.is_some() && now != then;
        let moved = state.is_troubled() && before.as_ref().is_some_and(|before| other(&reader, &before.way.reader));
        let anew = state.is_troubled() && before.as_ref().is_some_and(|before| other(&attachment, &before.attachment));
        let unfinished = state.end() == LifeEnd::Running;
        let document = log.path().with_extension("json");
        let mut session = Self {
            number,
            opening,
            limits,
            control,
            stop: stop.clone(),
            neighbours: Arc::clone(neighbours),
            wear: Wear::new(Box::new(medium), log, state),
            seen,
            reader,
            attachment,
            attached_anew: anew,
            noted: false,
            // If it fails again before a slice is done, it fails in both readers.
            elsewhere: if moved { Sight::Fails } else { Sight::None },
            over_other,
            marked,
            kernel,
            document,
        };
        // A test that had ended left no slice.
        session.note_attached(before.is_some() && unfinished)?;
        session.neighbour(|own| own.line.clear());
        Ok(session)
    }

    fn note_attached(&mut self, partly: bool) -> Result<(), Failure> {
        let attached = Attachment {
            at: now(),
            path: shown(&self.opening.path),
            way: target::way(&self.seen, self.reader.clone()),
            attachment: self.attachment.clone(),
            partly,
        };
        self.wear.note(&Entry::Attached(attached)).map_err(|error| failed(&error))
    }

    fn neighbour(&self, change: impl FnOnce(&mut Neighbour)) {
        let mut all = self.neighbours.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get_mut(self.number) {
            own.reader.clone_from(&self.reader);
            change(own);
        }
    }

    /// Runs until the end, or until the user stops it.
    pub(super) fn run(mut self) -> Result<Endurance, Failure> {
        loop {
            if let Some(reason) = self.limit() {
                self.end(LifeEnd::Censored { reason })?;
                self.rest()?;
            }
            match self.step()? {
                Step::Done(task) => {
                    self.neighbour(|own| (own.worked, own.troubled) = (Some(Instant::now()), None));
                    (self.attached_anew, self.elsewhere) = (false, Sight::None);
                    if self.marked.is_some() {
                        let pages = self.wear.state().layout().pages;
                        self.marked = mark_on(self.wear.medium().as_mut(), &|page| page < pages);
                    }
                    if task.phase == Phase::Read && task.index + 1 == SLICES {
                        self.condition(task.cycle)?;
                        self.save()?;
                    }
                }
                Step::Trouble(trouble) => {
                    if !self.recovers(trouble)? {
                        return self.save();
                    }
                }
                Step::Stopped | Step::Ended(_) => return self.save(),
            }
        }
    }

    fn step(&mut self) -> Result<Step, Failure> {
        let (stop, neighbours, number) = (self.stop.clone(), Arc::clone(&self.neighbours), self.number);
        let line = words::Line::of(&self.opening.path, self.wear.state(), self.limits.until);
        let mut told = None::<Instant>;
        let step = self.wear.step(&mut |done| {
            if told.is_none_or(|told| told.elapsed() > TELL) {
                told = Some(Instant::now());
                if let Some(own) = neighbours.lock().unwrap_or_else(PoisonError::into_inner).get_mut(number) {
                    own.line = line.at(done);
                }
            }
            !stop.stopped()
        });
        step.map_err(|error| failed(&error))
    }

    /// Whether what was asked for is reached.
    fn limit(&self) -> Option<CensorReason> {
        let state = self.wear.state();
        let reached = match self.limits.until {
            Some(Until::Cycles(cycles)) => state.cycles() >= cycles,
            Some(Until::Date(date)) => Timestamp::now() >= date,
            Some(Until::FirstError) => state.failed().sectors() > 0,
            None => self.limits.retain.is_some(),
        };
        // What rests is a whole cycle that was read.
        let reached = reached && (self.limits.retain.is_none() || state.is_between_cycles());
        (reached && state.end() == LifeEnd::Running).then_some(CensorReason::Limit)
    }

    fn end(&mut self, end: LifeEnd) -> Result<(), Failure> {
        self.wear.note(&Entry::End(end)).map_err(|error| failed(&error))
    }

    /// The rest after the last cycle, where one is asked for.
    fn rest(&mut self) -> Result<(), Failure> {
        let Some(retain) = self.limits.retain else { return Ok(()) };
        let rest = RestBegun { at: now(), seconds: retain.as_secs() };
        self.wear.note(&Entry::Rest(rest)).map_err(|error| failed(&error))
    }

    /// Health and temperature, in the log.
    fn condition(&mut self, cycle: u64) -> Result<(), Failure> {
        let sysroot = Sysroot::real();
        let mut sensors = Sensors::find(&sysroot, &self.seen.leaves);
        let warm = sensors.read().iter().filter(|reading| reading.kind == SensorKind::Temperature);
        let celsius = warm.filter_map(|reading| Some((reading.name.clone(), reading.value?))).collect();
        let counters = HealthReader::new(&sysroot, &self.seen).read().counters;
        let name = |kind| serde_json::to_value(kind).ok().and_then(|kind| kind.as_str().map(str::to_owned));
        let health = counters.iter().filter_map(|counter| Some((name(counter.kind)?, counter.before?))).collect();
        let condition = Condition { at: now(), cycle, celsius, health };
        self.wear.note(&Entry::Condition(condition)).map_err(|error| failed(&error))
    }

    /// The document, beside the log.
    fn save(&self) -> Result<Endurance, Failure> {
        let document = self.wear.state().document(now());
        let text = serde_json::to_vec_pretty(&document).unwrap_or_default();
        crate::files::write_whole(&self.document, text)?;
        Ok(document)
    }

    // Trouble.

    /// Waits for the medium. Returns whether the test goes on; otherwise it has ended, or the user stopped it.
    fn recovers(&mut self, trouble: Trouble) -> Result<bool, Failure> {
        let (path, wait) = (self.opening.path.clone(), self.limits.wait);
        let began = Instant::now();
        self.neighbour(|own| own.troubled = Some(began));
        let mut kernel = self.kernel.trouble();
        self.note_trouble(trouble, &kernel)?;
        self.noted = false;
        let mut said = None;
        let mut trouble = trouble;
        loop {
            let evidence = self.evidence(trouble, began, &kernel, began.elapsed() >= wait);
            match judge(&evidence) {
                Ruling::Ended(end) => {
                    if trouble == Trouble::LogBehind {
                        tell_wrapped(&words::log_behind(&path, &self.document.with_extension("log")));
                    }
                    tell_wrapped(&format!("{}: {}", shown(&path), words::end(end)));
                    self.end(end)?;
                    return Ok(false);
                }
                Ruling::Wait(advice) if said != Some(advice) => {
                    said = Some(advice);
                    let left = words::when(wait.saturating_sub(began.elapsed()));
                    let (does, can) = (words::trouble(trouble), words::advice(advice, &path));
                    tell_wrapped(&format!(
                        "{}: {does}; the test ends {left} unless it comes back. {can}",
                        shown(&path)
                    ));
                }
                Ruling::Wait(_) => {}
            }
            let pause = Instant::now();
            while pause.elapsed() < LOOK.min(wait) {
                if self.stop.stopped() {
                    return Ok(false);
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            match self.attach_again()? {
                None => return Ok(true),
                Some(again) => trouble = again.unwrap_or(trouble),
            }
            kernel.extend(self.kernel.trouble());
        }
    }

    fn note_trouble(&mut self, trouble: Trouble, kernel: &[String]) -> Result<(), Failure> {
        let incident = Incident { at: now(), trouble, kernel: kernel.iter().take(MOST_LINES).cloned().collect() };
        self.wear.note(&Entry::Incident(incident)).map_err(|error| failed(&error))
    }

    /// Opens the medium again. `None` if it works; otherwise its trouble, if that is known.
    fn attach_again(&mut self) -> Result<Option<Option<Trouble>>, Failure> {
        // The old file holds the name of a device that is gone.
        let bytes = self.wear.medium().bytes();
        self.wear.attach(Box::new(Absent(bytes)));
        let again = Opening { resume: true, ..self.opening.clone() };
        let Ok(Opened { mut medium, seen, reader, attachment, .. }) = again.open() else { return Ok(Some(None)) };
        match recognise(&mut medium, self.wear.state()) {
            Recognised::Ours => {}
            Recognised::NothingYet if attachment == self.attachment && attachment.is_some() => {}
            Recognised::NothingYet | Recognised::Other(_) => return Ok(Some(Some(Trouble::Exchanged))),
            Recognised::Foreign | Recognised::Unreadable => {
                self.anew(&reader, &attachment);
                return Ok(Some(None));
            }
        }
        // Meanwhile it may have been in other hands.
        if !self.over_other && written_since(&mut medium, self.wear.state(), Shows::Since(self.marked)).is_some() {
            return Ok(Some(Some(Trouble::Exchanged)));
        }
        self.anew(&reader, &attachment);
        let changed = reader != self.reader || attachment != self.attachment;
        (self.seen, self.reader, self.attachment) = (seen, reader, attachment);
        self.wear.attach(Box::new(medium));
        if let Some(trouble) = self.wear.look() {
            return Ok(Some(Some(trouble)));
        }
        // Only a slice that is written shows that writes are kept again; each try may write all of it.
        let writes = self.wear.state().task().phase == Phase::Write;
        if changed || writes || self.wear.state().is_troubled() && !self.noted {
            self.noted = true;
            self.note_attached(true)?;
        }
        match self.step()? {
            Step::Trouble(trouble) => Ok(Some(Some(trouble))),
            _ => Ok(None),
        }
    }

    fn anew(&mut self, reader: &Option<String>, attachment: &Option<String>) {
        if attachment.is_some() && *attachment != self.attachment {
            self.attached_anew = true;
        }
        if reader.is_some() && self.reader.is_some() && *reader != self.reader {
            self.elsewhere = Sight::Fails;
        }
    }

    fn evidence(&self, trouble: Trouble, began: Instant, kernel: &[String], waited: bool) -> Evidence {
        let (neighbour, together) = self.seen_of_neighbours(began);
        Evidence {
            trouble,
            control: self.seen_of_control().unwrap_or(neighbour),
            elsewhere: self.elsewhere,
            attached_anew: self.attached_anew,
            together,
            waited,
            kernel: kernel.iter().filter_map(|line| KernelSign::of(line)).collect(),
        }
    }

    fn seen_of_control(&self) -> Option<Comparison> {
        let (works, reader) = control(self.control.as_ref()?, self.opening.hang_after);
        let same_reader = reader.is_some() && reader == self.reader;
        Some(Comparison { sight: if works { Sight::Works } else { Sight::Fails }, same_reader, written: false })
    }

    /// What other tests of this process show, and how many failed together with this one.
    fn seen_of_neighbours(&self, began: Instant) -> (Comparison, u32) {
        let all = self.neighbours.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut seen, mut together) = (Comparison::default(), 0);
        for (number, other) in all.iter().enumerate() {
            if number == self.number {
                continue;
            }
            let apart = |at: Instant| at.max(began).duration_since(at.min(began));
            together += u32::from(other.troubled.is_some_and(|at| apart(at) < TOGETHER));
            let same_reader = self.reader.is_some() && other.reader == self.reader;
            if other.worked.is_some_and(|at| at > began) && (same_reader || seen.sight == Sight::None) {
                seen = Comparison { sight: Sight::Works, same_reader, written: true };
            }
        }
        (seen, together)
    }
}
