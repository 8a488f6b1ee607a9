//! What a test of endurance says to people.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use assay_core::endurance::{Endurance, FailureKind, LifeEnd, Milestones, Rest, RestRead};
use assay_core::retention::Age;
use assay_core::text::harmless;
use assay_core::units::{Bytes, counted, rate, span};
use assay_endure::{Advice, Foreign, PAGE_BYTES, Phase, SLICES, State, Trouble};
use assay_report::{days, speed_by_age};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::cli::Until;
use crate::output::{operand, shown};

/// What a medium does.
pub(super) fn trouble(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Gone => "it is no longer there",
        Trouble::Hung => "it does not answer",
        Trouble::OnlyErrors => "every place answers with an error",
        Trouble::LostAll => "no place holds what was written",
        Trouble::RefusesWrites => "it refuses writes",
        Trouble::DropsWrites => "it accepts writes and keeps none",
        Trouble::Exchanged => "it holds what another test or something else wrote",
        Trouble::LogBehind => "it holds later cycles than the log, which is an older copy",
    }
}

/// What something else has written.
pub(super) fn foreign(other: Foreign) -> String {
    match other {
        Foreign::Mark(mark) => format!("it holds {mark}, which is not of the test"),
        Foreign::Content => "something else has written over what the test wrote".to_owned(),
    }
}

/// What the user can do meanwhile.
pub(super) fn advice(advice: Advice, path: &Path) -> String {
    match advice {
        Advice::LookAtBus => "several media failed together: look at the hub, its power and the host".to_owned(),
        Advice::ChangeReader => "the control medium fails too: put both into another reader".to_owned(),
        Advice::ResumeElsewhere => "it works elsewhere: stop with Ctrl-C, and resume it there".to_owned(),
        Advice::Separate => format!(
            "unplug it and plug it in again; or stop with Ctrl-C, put it into another reader and resume it there: assay \
             endure --resume {}",
            operand(path)
        ),
    }
}

/// What is to be done about a log that is an older copy.
pub(super) fn log_behind(path: &Path, log: &Path) -> String {
    format!(
        "{}: {}; nothing was written. Put the newer log at {}, or begin a new test",
        shown(path),
        trouble(Trouble::LogBehind),
        shown(log)
    )
}

/// How a test ended, or that it goes on.
pub(super) fn end(end: LifeEnd) -> String {
    match end {
        LifeEnd::Running => "not ended; assay endure --resume continues it, unless it is still running".to_owned(),
        LifeEnd::Died { cause } => format!("died: {}", cause.title()),
        LifeEnd::Censored { reason } => format!("censored: {}", reason.title()),
    }
}

/// One test in a few lines.
pub(super) fn summary(test: &Endurance) -> String {
    let name = [&test.model, &test.unit].into_iter().flatten().map(|name| harmless(name)).collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
    let mut lines = vec![format!(
        "{}  {name}{}, {}: {}, {} written; {}",
        test.id,
        Bytes(test.area_bytes),
        test.load.name(),
        counted(usize::try_from(test.cycles).unwrap_or(usize::MAX), "cycle"),
        Bytes(test.written_bytes),
        match test.end {
            LifeEnd::Running if test.written_bytes == 0 =>
                "no slice is written yet; if nothing does, begin anew".to_owned(),
            other => end(other),
        }
    )];
    if test.failed_sectors > 0 {
        lines.push(format!(
            "  {} of {} sectors failed ({}), {} readings held again",
            test.failed_sectors,
            test.sectors,
            kinds(&test.kinds),
            test.healed
        ));
    }
    lines.extend(milestones(&test.milestones));
    lines.extend(test.rest_reads.iter().map(|read| format!("  {}", rest_read(read))));
    lines.extend(test.rest.as_ref().map(|rest| format!("  {}", resting(rest))));
    lines.join("\n")
}

fn kinds(kinds: &BTreeMap<FailureKind, u64>) -> String {
    let said: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {}", kind.title())).collect();
    said.join(", ")
}

/// A time of a document as a date, with the time of day where it is today.
fn date(at: &str) -> String {
    at.parse::<Timestamp>().map_or_else(|_| harmless(at), on)
}

/// A time in seconds since 1970, in the same way.
pub(super) fn moment(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    at.map(on).unwrap_or_default()
}

fn on(at: Timestamp) -> String {
    let (at, today) = (at.to_zoned(TimeZone::system()), Timestamp::now().to_zoned(TimeZone::system()).date());
    if at.date() == today { at.strftime("%H:%M:%S").to_string() } else { at.date().to_string() }
}

fn resting(rest: &Rest) -> String {
    let second = |time: Timestamp| u64::try_from(time.as_second()).unwrap_or(0);
    let (days, now) = (days(rest.seconds), second(Timestamp::now()));
    let ends = rest.until.parse::<Timestamp>().map_or(0, second);
    let begun = ends.saturating_sub(rest.seconds);
    if !matches!(Age::at(now, begun, begun), Ok(Some(_))) {
        return format!("no clock tells when its rest of {days} is over");
    }
    let (over, until) = (now >= ends, date(&rest.until));
    if over { format!("its rest of {days} was over on {until}") } else { format!("rests {days}, until {until}") }
}

/// What is to be done with a medium that rests.
pub(super) fn rests(test: &Endurance, path: &Path) -> String {
    let words = test.rest.as_ref().map(resting).unwrap_or_default();
    let path = operand(path);
    format!("{path}: {words}: unplug it. Then: assay endure --resume {path}; --read-back reads it at any time")
}

/// A reading at rest in a line.
fn rest_read(read: &RestRead) -> String {
    let age = match read.age {
        Some(age) => format!("after {}", days(age.low_seconds)),
        None => format!("on {}, at an age that no clock tells", date(&read.at)),
    };
    let early = if read.early { ", before its rest was over" } else { "" };
    let part = if read.slices < 16 { format!(" ({} of 16 slices)", read.slices) } else { String::new() };
    let lost = match read.lost_sectors {
        0 if read.slices == 0 => "nothing was read".to_owned(),
        0 if read.slices < 16 => "all that was read held".to_owned(),
        0 => "all held".to_owned(),
        lost => {
            format!("{} lost ({})", counted(usize::try_from(lost).unwrap_or(usize::MAX), "sector"), kinds(&read.kinds))
        }
    };
    let mut line = format!("cycle {} {age}{early}{part}: {lost}", read.cycle);
    if read.transient > 0 {
        line += &format!(", {} held when read again", read.transient);
    }
    if let Some(speed) = &read.speed {
        line += &format!("; {}", speed_by_age(speed));
    }
    if read.clock_jump_seconds != 0 {
        let by = days(read.clock_jump_seconds.unsigned_abs());
        line += &format!("; the clock jumped by {by} meanwhile, so that the age may be wrong by as much");
    }
    line
}

fn milestones(reached: &Milestones) -> Option<String> {
    let marks = [
        ("first error", reached.first_error),
        ("0.1 %", reached.per_mille),
        ("1 %", reached.one_percent),
        ("10 %", reached.ten_percent),
        ("25 %", reached.quarter),
        ("50 %", reached.half),
        ("death", reached.death),
    ];
    let said: Vec<String> =
        marks.iter().filter_map(|(name, at)| at.map(|at| format!("{name} in cycle {}", at.cycle))).collect();
    (!said.is_empty()).then(|| format!("  {}", said.join(", ")))
}

/// What a line of progress says that does not change within a slice.
pub(super) struct Line {
    before: String,
    after: String,
    index: u64,
    slice_bytes: u64,
}

impl Line {
    pub(super) fn of(path: &Path, state: &State, until: Option<Until>) -> Self {
        let task = state.task();
        let does = if task.phase == Phase::Write { "writing" } else { "reading" };
        let cycles = match until {
            Some(Until::Cycles(cycles)) => format!(" of {cycles}"),
            _ => String::new(),
        };
        let before = format!("{}  cycle {}{cycles}  {does}", shown(path), task.cycle);
        let mut after = String::new();
        let last = state.recent().iter().rfind(|done| done.phase == task.phase);
        if let Some(last) = last.filter(|last| last.elapsed_ns > 0) {
            after += &format!("  {}", rate(last.bytes as f64 / (last.elapsed_ns as f64 / 1e9)));
        }
        let failed = state.failed().sectors();
        after += &if failed == 0 { "  no failure".to_owned() } else { format!("  {failed} sectors failed") };
        if let Some(Until::Cycles(cycles)) = until
            && let Some(left) = state.time_to(cycles)
        {
            after += &format!("  ends {}", when(left));
        }
        Self { before, after, index: task.index, slice_bytes: state.slice_bytes(task).max(1) }
    }

    /// With the bytes of the slice that are done.
    pub(super) fn at(&self, done: u64) -> String {
        let share = (self.index as f64 + done as f64 / self.slice_bytes as f64) / SLICES as f64 * 100.0;
        format!("{} {share:.0} %{}", self.before, self.after)
    }
}

/// The moment after this time: its date where it is another day.
pub(super) fn when(left: Duration) -> String {
    if left < Duration::from_secs(24 * 3600) {
        return format!("in {}", span(Duration::from_secs(left.as_secs().max(1))));
    }
    let seconds = i64::try_from(left.as_secs()).unwrap_or(i64::MAX);
    match Timestamp::now().checked_add(SignedDuration::from_secs(seconds)) {
        Ok(at) => format!("about {}", at.to_zoned(TimeZone::system()).date()),
        Err(_) => "after the year 9999".to_owned(),
    }
}

/// What will be done, before it begins.
pub(super) fn announcement(path: &Path, medium: &str, state: &State, log: &Path, is_limited: bool) -> String {
    let area = Bytes(state.layout().pages * PAGE_BYTES);
    let end = if is_limited { "" } else { " until it dies; Ctrl-C ends it, --until sets a limit" };
    format!("{} ({medium}): overwrites {area} in each cycle and wears it out{end}; log {}", shown(path), shown(log))
}
