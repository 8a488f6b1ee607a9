//! A test under way: fill, load, cut, wait for the medium, check; again as often as asked for.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_core::units::grouped;
use assay_endure::Medium;
use assay_engine::Control;
use assay_powercut::{
    Answer, BLOCK, Cannot, Checked, Circumstances, CutKind, CutReport, Ended, Ledger, Leftover, Load, LoadEnd, Place,
    Round, Seen, Target, fill, judge, look,
};
use jiff::Timestamp;

use super::home::ledger_failure;
use super::target::{Looked, Opened, Opening};
use super::words;
use crate::cli::PowercutArgs;
use crate::ending::Failure;
use crate::output::{operand, shown, tell_wrapped};
use crate::progress::Status;

/// Between two looks for a medium that is not back.
const LOOK: Duration = Duration::from_secs(1);
/// A medium may err for this long after it is attached; what errs is read again then.
const SETTLE: Duration = Duration::from_secs(10);
/// Rounds in turn that count for nothing, as those in which no cut is seen, after which a test ends.
const MOST_IDLE: u32 = 3;
/// A load that goes on for so long after the command ended did not notice a cut.
const UNNOTICED: Duration = Duration::from_secs(10);

/// A test under way.
pub(super) struct Session<'a> {
    pub(super) args: &'a PowercutArgs,
    pub(super) opening: Opening,
    pub(super) ledger: Arc<Mutex<Ledger>>,
    pub(super) stop: Control,
    pub(super) status: Status,
}

/// How a round ended.
#[derive(Debug)]
pub(super) enum RoundEnd {
    /// The medium has to be checked. Some writers may still be at work.
    Cut(Leftover),
    /// The user ended it.
    Stopped,
}

/// The command of the user that cuts the power.
struct Cutter<'a> {
    command: Option<&'a str>,
    moment: Instant,
    child: Option<Child>,
    ended: Option<Instant>,
    failed: Option<String>,
}

impl<'a> Cutter<'a> {
    /// At a random moment within this time.
    fn new(command: Option<&'a str>, within: Duration) -> Result<Self, Failure> {
        let mut random = [0; 4];
        assay_device::random(&mut random)
            .map_err(|error| Failure::environment(format!("no random numbers from the system: {error}")))?;
        let share = f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX);
        Ok(Self { command, moment: Instant::now() + within.mul_f64(share), child: None, ended: None, failed: None })
    }

    fn was_run(&self) -> bool {
        self.child.is_some() || self.ended.is_some()
    }

    /// Runs the command when it is time. `false` where the load has gone on for too long afterwards.
    fn look(&mut self) -> bool {
        let Some(command) = self.command else { return true };
        if !self.was_run() && Instant::now() >= self.moment {
            match Command::new("sh").args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).spawn() {
                Ok(child) => self.child = Some(child),
                Err(error) => self.failed = Some(error.to_string()),
            }
        }
        if let Some(child) = &mut self.child {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(code)) if code.success() => (self.child, self.ended) = (None, Some(Instant::now())),
                Ok(Some(code)) => {
                    (self.child, self.ended) = (None, Some(Instant::now()));
                    self.failed = Some(code.to_string());
                }
                Err(error) => self.failed = Some(error.to_string()),
            }
        }
        self.failed.is_none() && self.ended.is_none_or(|ended| ended.elapsed() < UNNOTICED)
    }

    /// Waits until the command has given the power back.
    fn finish(&mut self, stop: &Control) {
        while self.child.is_some() && !stop.stopped() && self.failed.is_none() {
            self.look();
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Session<'_> {
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills and loads until the power is cut.
    pub(super) fn round(&mut self, mut opened: Opened) -> Result<RoundEnd, Failure> {
        let medium = &opened.seen.medium;
        let flushes = match medium.queue.get("write_cache").map(String::as_str) {
            Some("write back") => Some(true),
            Some("write through") => Some(false),
            _ => None,
        };
        let attached = medium.attached.clone();
        let marked = (self.opening.target == Target::Device)
            .then(|| self.opening.mark(&mut opened.medium, opened.blocks).is_some());
        let round =
            Round { at: Timestamp::now().to_string(), path: shown(&self.opening.path), attached, flushes, marked };
        self.ledger().begin_round(round).map_err(ledger_failure)?;
        let (ledger, stop, path) = (Arc::clone(&self.ledger), self.stop.clone(), shown(&self.opening.path));
        let status = &mut self.status;
        let filled = fill(&mut opened.medium, &ledger, &mut |bytes| {
            status.show(|| format!("{path}  writing what is there before the load: {} MiB", bytes >> 20));
            !stop.stopped()
        });
        if let Err(stop) = filled {
            self.over(stop.end(), false)?;
            return match stop.end() {
                LoadEnd::Stopped => Ok(RoundEnd::Stopped),
                LoadEnd::Hung => Err(self.at_work()),
                _ => Ok(RoundEnd::Cut(Leftover::default())),
            };
        }
        drop(opened.medium);
        let (end, left) = self.load(opened.place)?;
        Ok(if end == LoadEnd::Stopped { RoundEnd::Stopped } else { RoundEnd::Cut(left) })
    }

    fn load(&mut self, place: Arc<dyn Place>) -> Result<(LoadEnd, Leftover), Failure> {
        let load = Load::begin(&place, &self.ledger)
            .map_err(|error| Failure::environment(format!("no memory or threads for the load: {error}")))?;
        let mut cutter = Cutter::new(self.args.cut_command.as_deref(), self.args.cut_within)?;
        if self.args.cut_command.is_none() {
            self.status
                .say(&format!("{}: writing; cut its power when you like, and give it back", shown(&self.opening.path)));
        }
        let (ledger, stop, path) = (Arc::clone(&self.ledger), self.stop.clone(), shown(&self.opening.path));
        let (status, began) = (&mut self.status, Instant::now());
        let (end, left) = load.wait(self.args.hang_after, &mut || {
            status.show(|| {
                let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
                let acknowledged: u64 = ledger.state().acknowledged().values().sum();
                let count = grouped(i64::try_from(acknowledged).unwrap_or(i64::MAX));
                let cut = ledger.state().rounds();
                format!("{path}  cut {cut}  {count} writes acknowledged  {} s", began.elapsed().as_secs())
            });
            !stop.stopped() && cutter.look()
        });
        // The command may have to unmount the file system.
        drop(place);
        cutter.finish(&self.stop);
        let by_command = cutter.was_run();
        let unnoticed = end == LoadEnd::Stopped && by_command && !self.stop.stopped();
        self.over(end, by_command)?;
        if let Some(why) = cutter.failed {
            return Err(Failure::environment(format!("--cut-command failed: {why}")));
        }
        if unnoticed {
            return Err(Failure::environment(format!(
                "--cut-command ended, and the load went on for {} s without an error: it cut nothing",
                UNNOTICED.as_secs()
            )));
        }
        Ok((end, left))
    }

    fn over(&mut self, end: LoadEnd, by_command: bool) -> Result<(), Failure> {
        self.status.clear();
        let noted = self.ledger().end(Ended { end, by_command });
        if end == LoadEnd::NoLedger {
            return Err(Failure::environment("acknowledgements can no longer be kept; the load was ended"));
        }
        noted.map_err(ledger_failure)
    }

    fn at_work(&self) -> Failure {
        Failure::environment(format!(
            "{}: an operation of the last load did not end; attach the medium anew, and go on with --resume",
            shown(&self.opening.path)
        ))
    }

    /// Waits until the medium can be read, and checks it. `None` where the user ended the wait.
    pub(super) fn check(&mut self, wait: Duration) -> Result<Option<CutReport>, Failure> {
        let began = Instant::now();
        let mut said = false;
        loop {
            let begin = self.ledger().state().begun().clone();
            let mut looked = self.opening.look(Some(&begin));
            if let Ok(medium) = &mut looked.medium
                && !reads(medium)
                && began.elapsed() < wait
            {
                looked.medium = Err(Cannot::Gone);
            }
            if looked.medium.is_ok() || began.elapsed() >= wait {
                return self.judge(looked);
            }
            if !said {
                said = true;
                let path = operand(&self.opening.path);
                let what = match looked.file_system {
                    Some(_) => format!("{path} is waited for: give the medium its power, and mount its file system"),
                    None => format!("{path} is waited for: give it its power"),
                };
                self.status.say(&what);
            }
            let pause = Instant::now();
            while pause.elapsed() < LOOK {
                if self.stop.stopped() {
                    return Ok(None);
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Judges what is there, and keeps that. An answer stands where a later reading is worse.
    fn judge(&mut self, looked: Looked) -> Result<Option<CutReport>, Failure> {
        let Some(checked) = self.read(looked) else { return Ok(None) };
        if let Some(before) = self.answered_before().filter(|before| before.is_worse_in(&checked.report)) {
            tell_wrapped(&format!(
                "{}: it changed since cut {} was checked; that answer stands",
                shown(&self.opening.path),
                before.cut
            ));
            return Ok(Some(before));
        }
        let report = checked.report.clone();
        if let (Some(before), Answer::CannotTell { reason }) = (self.answered_before(), report.answer) {
            let path = shown(&self.opening.path);
            tell_wrapped(&format!("{path}: {}; the answer to cut {} stands", reason.title(), before.cut));
            return Ok(Some(report));
        }
        self.ledger().checked(checked).map_err(ledger_failure)?;
        Ok(Some(report))
    }

    /// The report of the last cut, where it has an answer.
    fn answered_before(&self) -> Option<CutReport> {
        let ledger = self.ledger();
        let state = ledger.state();
        state.cuts().last().filter(|_| !state.is_unchecked()).cloned()
    }

    /// What changed since the last cut was checked is refused, or, where the user says that it may be written over, noted as not
    /// known: the next cut is not blamed for it. `false` where the user ended it.
    pub(super) fn changed(&mut self, may_go: bool) -> Result<bool, Failure> {
        let Some(before) = self.answered_before() else { return Ok(true) };
        let begin = self.ledger().state().begun().clone();
        let looked = self.opening.look(Some(&begin));
        let Some(checked) = self.read(looked) else { return Ok(false) };
        if before.is_worse_in(&checked.report) && may_go {
            self.ledger().checked(Checked { report: before, failed: checked.failed }).map_err(ledger_failure)?;
        } else if before.is_worse_in(&checked.report) {
            let path = shown(&self.opening.path);
            return Err(Failure::usage(format!(
                "{path}: it changed since cut {} was checked, so something else wrote to it; nothing was written; if the \
                 test may go on over that, add --overwrite {path}",
                before.cut
            )));
        }
        Ok(true)
    }

    /// Reads the area and judges it. `None` where the user ended it.
    fn read(&mut self, looked: Looked) -> Option<Checked> {
        let Looked { mut medium, seen, file_system } = looked;
        let state = self.ledger().state().clone();
        let (stop, path) = (self.stop.clone(), shown(&self.opening.path));
        let status = &mut self.status;
        let read: Result<Seen, Cannot> = match &mut medium {
            Err(reason) => Err(*reason),
            Ok(medium) => match look(medium, &state, SETTLE, &mut |bytes| {
                status.show(|| {
                    format!("{path}  reading: {} of {} MiB", bytes >> 20, (state.layout().blocks * BLOCK) >> 20)
                });
                !stop.stopped()
            }) {
                Ok(seen) => Ok(seen),
                Err(None) => return None,
                Err(Some(_)) => Err(Cannot::Gone),
            },
        };
        self.status.clear();
        let info = seen.as_ref().map(|seen| &seen.medium);
        let attached = info.and_then(|medium| medium.attached.as_deref());
        let how = state.round().map_or(CutKind::Unseen, |round| CutKind::of(round, state.ended(), attached));
        let about = Circumstances { at: Timestamp::now().to_string(), how, file_system };
        let mut checked = judge(&state, read.as_ref().map_err(|reason| *reason), about);
        // A mark that is older than the round may come back with a write that was lost.
        let was_bare = state.round().is_some_and(|round| round.marked == Some(false));
        let answered = !matches!(checked.report.answer, Answer::CannotTell { .. });
        if let Ok(medium) = &mut medium
            && was_bare
            && answered
            && self.opening.mark(medium, state.layout().blocks).is_some()
        {
            checked.report.answer = Answer::CannotTell { reason: Cannot::WrittenSince };
        }
        Some(checked)
    }

    /// Rounds until as many cuts as asked for count. Returns whether the user ended it before.
    pub(super) fn rounds(&mut self, first: Option<Opened>) -> Result<bool, Failure> {
        let mut opened = first;
        let (mut cuts, mut idle) = (0, 0);
        while cuts < self.args.cuts && idle < MOST_IDLE {
            let now = match opened.take() {
                Some(opened) => opened,
                None => {
                    let (begin, unit) = {
                        let ledger = self.ledger();
                        (ledger.state().begun().clone(), ledger.state().layout().unit)
                    };
                    self.opening.go_on(&begin, unit)?
                }
            };
            let RoundEnd::Cut(left) = self.round(now)? else { return Ok(true) };
            let Some(report) = self.check(self.args.wait)? else { return Ok(true) };
            (cuts, idle) = if report.counts() { (cuts + 1, 0) } else { (cuts, idle + 1) };
            let last = cuts == self.args.cuts || idle == MOST_IDLE;
            if !report.is_answered() {
                return Ok(false);
            }
            if !last {
                self.status.say(&words::cut(&report));
            }
            let began = Instant::now();
            while !last && !left.is_done() {
                if self.stop.stopped() {
                    return Ok(true);
                }
                if began.elapsed() >= self.args.wait {
                    return Err(self.at_work());
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(false)
    }
}

/// Whether any of three places can be read.
fn reads(medium: &mut impl Medium) -> bool {
    let pages = medium.bytes() / BLOCK;
    let mut page = vec![0; BLOCK as usize];
    pages > 0 && [0, pages / 2, pages - 1].iter().any(|at| medium.read(at * BLOCK, &mut page).is_ok())
}
