//! `assay verify`: which check, the check of a mounted medium, and what becomes of the result.

mod aged;
mod probe;
mod usable;

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use assay_core::event::{Event, EventKind};
use assay_core::exit::Exit;
use assay_core::record::Record;
use assay_core::text::harmless;
use assay_core::units::{Bytes, counted, nanoseconds, rate, span};
use assay_device::TargetInfo;
use assay_engine::{Control, Moment};
use assay_store::new_id;
use assay_verify::files::{self, CheckPhase, CheckPlan, CheckProgress, CheckSettings, Checked, FileFormat};
use assay_verify::probe::{LEAST_BYTES, ProbeError};
use assay_verify::{CheckRecord, CheckSubject, quick};
use jiff::Timestamp;

use super::finished::{OutputOptions, store_page_and_show};
use crate::cli::{ContentArg, VerifyArgs, own_build};
use crate::ending::Failure;
use crate::leftovers::{self, LeftoverAction};
use crate::output::{self, operand, shown};
use crate::progress::{Status, time_left};
use crate::recorder::{self, Saved};
use crate::{ending, node, signals, state};

pub(super) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    // Like a run: a thread that waits for a hung medium cannot be ended.
    let target = args.target.clone();
    // What a killed check wrote is kept, since it can be resumed.
    signals::in_child(|| work(args), move || leftovers::leftover_lines(&target, LeftoverAction::Looks))
}

/// Why no check of a device is possible, where it is as small as an extended partition announces.
fn too_small(device: &Path) -> Option<ProbeError> {
    let bytes = File::open(device).and_then(|mut file| file.seek(SeekFrom::End(0))).ok()?;
    (bytes < LEAST_BYTES).then_some(ProbeError::TooSmall { bytes: Bytes(bytes), least: Bytes(LEAST_BYTES) })
}

fn work(args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(journal) = &args.discard {
        return probe::discard(args, journal);
    }
    let target = &args.target;
    if args.remove {
        return remove_leftovers(target);
    }
    let device = std::fs::metadata(target).is_ok_and(|meta| crate::system::is_device(&meta));
    if let Some(path) = &args.output {
        crate::files::refuse_stdout(path)?;
        let format = assay_report::ReportFormat::from_path(path, super::finished::FORMATS)
            .map_err(|e| Failure::usage(e.to_string()))?;
        if format.is_picture() {
            return Err(Failure::usage(format!(
                "{}: a check has no picture of its own; name a report in .html, .md, .csv or .json",
                shown(path)
            )));
        }
        crate::files::check_writable(path)?;
    }
    if args.restore.is_none() && !args.no_save {
        crate::state::refuse_homeless()?;
    }
    if args.restore.is_none() {
        leftovers::refuse_pending(target)?;
    }
    if args.read_back {
        return aged::read_back(args, device);
    }
    match (&args.restore, args.quick, device) {
        (Some(journal), _, true) => probe::restore(args, journal),
        (Some(_), _, false) => Err(Failure::usage(format!(
            "{} is not a device; --restore JOURNAL needs the device that was probed, like /dev/sdX",
            shown(target)
        ))),
        (None, true, true) => probe::probe(args),
        (None, true, false) if args.journal.is_some() => {
            Err(Failure::usage(format!("{} is not a device; --journal is for --quick on a device", shown(target))))
        }
        (None, true, false) => quick(args),
        (None, false, true) => Err(Failure::usage(match too_small(target) {
            Some(why) => format!("{}: {why}", shown(target)),
            None => format!("{} is a device; mount it and name the directory, or add --quick", shown(target)),
        })),
        (None, false, false) => full_check(args),
    }
}

// The record of a check: begun, saved and shown.

/// Looks at the medium; `method` says how it is checked.
fn begin_record(args: &VerifyArgs, method: &'static str) -> Result<(CheckRecord, TargetInfo), Failure> {
    let build = own_build();
    Ok(CheckRecord::begin(CheckSubject {
        id: new_id(),
        version: build.version,
        commit: build.commit,
        method,
        target: args.target.clone(),
        labels: args.labels.iter().cloned().collect(),
    })?)
}

/// Saves and shows what was found.
fn finish_record(args: &VerifyArgs, record: Record) -> Result<Exit, Failure> {
    let mut keeper = if args.no_save { None } else { Some(state::keeper_at_any_rate()?) };
    let saved = keeper.as_mut().map_or(Saved::Yes, |keeper| recorder::keep_finished(keeper, &record));
    let exit = ending::of_check(&record);
    let settings = record.settings();
    let finished = EventKind::Finished {
        id: record.id.clone(),
        outcome: record.outcome.clone(),
        validity: record.validity.clone(),
        written_bytes: settings.map_or(0, |settings| settings.written_bytes),
    };
    CheckEvents::new(args.events).tell_at(settings.map_or(0, |settings| settings.elapsed_ns), finished);
    let options = OutputOptions { output: args.output.as_deref(), json: args.json, events: args.events };
    let usable = usable::usable_lines(&record);
    let exit = store_page_and_show(record, saved, exit, keeper, &options)?;
    for line in usable {
        // A command is one line, that it can be copied.
        if args.json || args.events { output::tell(&line) } else { output::print(&line)? }
    }
    Ok(exit)
}

// `assay verify --remove`: what killed checks and runs left, and nothing else.

fn remove_leftovers(target: &Path) -> Result<Exit, Failure> {
    let mut found = leftovers::remove(target)?;
    found.removed.extend(node::recover());
    for words in &found.removed {
        output::print(&format!("removed {words}"))?;
    }
    for words in &found.left {
        output::print(&format!("left {words}"))?;
    }
    let worn = super::endure::left_in(target);
    if let Some(worn) = &worn {
        output::print(&format!(
            "left {}: a test of endurance, which assay endure --resume {} continues; delete this directory to give it up",
            shown(worn),
            operand(target)
        ))?;
    }
    if found.is_nothing() && worn.is_none() {
        output::print(&format!("nothing to remove in {}", shown(target)))?;
    }
    match found.refused {
        Some(words) => Err(Failure::environment(words)),
        None => Ok(Exit::Good),
    }
}

// Checks of a mounted medium.

fn full_check(args: &VerifyArgs) -> Result<Exit, Failure> {
    let usual = CheckSettings::default();
    let (record, seen) = begin_record(args, "fill and check")?;
    let settings = CheckSettings {
        keep: args.keep,
        writer: Some(aged::writer(&record, &seen)),
        only_read: args.only.is_some(),
        format: match args.content {
            Some(ContentArg::F3) => FileFormat::F3,
            Some(ContentArg::Salted) | None => FileFormat::Salted,
        },
        cache_bytes: args.cache.map_or(usual.cache_bytes, |cache| cache.0),
        fill_system: args.fill_system,
        store: crate::state::directory().ok(),
        limit_bytes: args.bytes.map(|bytes| bytes.0),
        until_first_error: args.until.is_some(),
        resume: args.resume,
        hang_after: args.hang_after,
        ..usual
    };
    if !args.dry_run {
        tell_left(args);
    }
    let plan = CheckPlan::new(&args.target, &settings)?;
    if args.dry_run {
        return would_do(&plan.sentence());
    }
    if !args.quiet {
        output::tell_wrapped(&harmless(&plan.sentence()));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let start = control.now();
    let checked = checked(args, &plan, &settings, &control, &start)?;
    finish_full_check(args, record, checked, &control, &start)
}

/// The check with its progress.
fn checked(
    args: &VerifyArgs,
    plan: &CheckPlan,
    settings: &CheckSettings,
    control: &Control,
    start: &Moment,
) -> Result<Checked, Failure> {
    let mut status = Status::new(args.quiet || args.events);
    let mut events = CheckEvents::new(args.events);
    let mut announced = false;
    Ok(files::check(plan, settings, control, &mut |progress| {
        // Said once, as soon as the speed of both directions is known.
        if let Some(left) = progress.whole_remaining.filter(|_| !announced && progress.phase == CheckPhase::Write) {
            announced = true;
            let all = control.elapsed(start) + left;
            status.say(&format!("takes about {} in total if it stays as fast as at the start", about(all)));
        }
        status.show(|| full_line(&progress));
        events.progress(&progress);
    })?)
}

/// What a quick check of a mounted medium does with this much free space.
fn quick_sentence(area: u64) -> String {
    // Three digits may be less than the bound; whole MiB are not.
    let most = Bytes(quick::most_written(area).next_multiple_of(1 << 20));
    format!(
        "writes samples across {} of free space, at most {most} in all, reads them back and removes them",
        Bytes(area)
    )
}

/// The answer of a dry run.
fn would_do(words: &str) -> Result<Exit, Failure> {
    let words = format!("{}\nNothing was written.", harmless(words));
    output::print(&output::wrapped(&words, output::stdout_style().width))?;
    Ok(Exit::Good)
}

/// Least time between two events of the same pass.
const BETWEEN_EVENTS: Duration = Duration::from_millis(250);

/// A check as events on standard output, where these were asked for.
struct CheckEvents {
    start: Instant,
    /// The pass that was told last, and when.
    told: Option<(CheckPhase, Instant)>,
    wanted: bool,
}

impl CheckEvents {
    fn new(wanted: bool) -> Self {
        Self { start: Instant::now(), told: None, wanted }
    }

    fn tell(&self, event: EventKind) {
        self.tell_at(nanoseconds(self.start.elapsed()), event);
    }

    fn tell_at(&self, elapsed_ns: u64, event: EventKind) {
        if self.wanted {
            let event = Event { at: Timestamp::now().to_string(), elapsed_ns, event };
            // The check goes on without its reader: its record is still wanted.
            if let Err(failure) = output::print_event(&event) {
                output::keep_lost(failure);
            }
        }
    }

    fn phase(&self, name: &str) {
        self.tell(EventKind::Phase { phase: name.to_owned() });
    }

    fn progress(&mut self, progress: &CheckProgress) {
        let now = Instant::now();
        match self.told {
            Some((phase, at)) if phase == progress.phase && now.duration_since(at) < BETWEEN_EVENTS => return,
            Some((phase, _)) if phase == progress.phase => {}
            _ => self.phase(match progress.phase {
                CheckPhase::Write => "write",
                CheckPhase::Read => "read",
            }),
        }
        self.told = Some((progress.phase, now));
        self.tell(EventKind::Progress {
            done_bytes: progress.done_bytes,
            total_bytes: progress.total_bytes,
            bytes_per_second: progress.bytes_per_second,
        });
    }
}

fn quick(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (record, _) = begin_record(args, "quick check")?;
    let (fill_system, store) = (args.fill_system, crate::state::directory().ok());
    // What is refused is refused before anything is announced.
    let settings = CheckSettings { fill_system, store: store.clone(), ..CheckSettings::default() };
    let does = quick_sentence(CheckPlan::new(&args.target, &settings)?.area_bytes);
    if args.dry_run {
        return would_do(&does);
    }
    let how = quick::Quick { hang_after: args.hang_after, fill_system, store, ..quick::Quick::default() };
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    tell_left(args);
    let mut status = Status::new(args.quiet || args.events);
    status.say(&does);
    CheckEvents::new(args.events).phase("samples");
    let start = control.now();
    let checked = quick::check(&args.target, &how, &control, &mut |done, most| {
        status.show(|| format!("{done} of at most {most} operations"));
    })?;
    drop(status);
    finish_full_check(args, record, checked, &control, &start)
}

/// Says what others left in the target.
fn tell_left(args: &VerifyArgs) {
    // What is resumed or read is no leftover.
    let does = if args.resume || args.only.is_some() || args.read_back {
        LeftoverAction::GoesOn
    } else {
        LeftoverAction::Checks
    };
    if !args.quiet {
        leftovers::leftover_lines(&args.target, does).iter().for_each(|line| output::tell_wrapped(&harmless(line)));
    }
}

/// Says where files are left that no later check resumes, and finishes the record.
fn finish_full_check(
    args: &VerifyArgs,
    record: CheckRecord,
    checked: Checked,
    control: &Control,
    start: &Moment,
) -> Result<Exit, Failure> {
    let kept = args.keep || args.only.is_some();
    if let Some(left) = checked.left.as_ref().filter(|_| !kept && !checked.resumable) {
        output::tell(&format!(
            "files of the check are left in {}; assay verify --remove {} removes them",
            shown(left),
            operand(&args.target)
        ));
    }
    finish_record(args, record.close_files(checked, kept, control, control.elapsed(start)))
}

/// In whole minutes; in tens of seconds below ten minutes, and in seconds where it is short.
fn about(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    let step = match seconds {
        0..90 => 1,
        90..600 => 10,
        _ => 60,
    };
    span(Duration::from_secs(seconds.div_ceil(step) * step))
}

fn full_line(progress: &CheckProgress) -> String {
    let phase = match progress.phase {
        CheckPhase::Write => "writing",
        CheckPhase::Read => "reading",
    };
    let (done, total) = (Bytes(progress.done_bytes), Bytes(progress.total_bytes));
    let share = progress.done_bytes as f64 / progress.total_bytes.max(1) as f64;
    let mut line = format!(
        "{phase} {} {:.0} %  {done} of {total}  {}",
        progress_bar(share),
        share * 100.0,
        rate(progress.bytes_per_second)
    );
    if let Some(left) = progress.whole_remaining.or(progress.remaining) {
        line += &format!("  {}", time_left(left));
    }
    line += &match (progress.lost_sectors, progress.phase) {
        (0, CheckPhase::Write) => String::new(),
        (0, CheckPhase::Read) => "  no loss so far".to_owned(),
        (lost, CheckPhase::Write) => format!("  {} could not be written", counted(lost as usize, "sector")),
        (lost, CheckPhase::Read) => format!("  {} lost", counted(lost as usize, "sector")),
    };
    line
}

/// Columns of the bar.
const COLUMNS: usize = 16;

fn progress_bar(share: f64) -> String {
    let full = (share * COLUMNS as f64) as usize;
    (0..COLUMNS).map(|column| if column < full { '#' } else { '.' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_how_long_and_what_was_found() {
        let mut progress = CheckProgress {
            phase: CheckPhase::Read,
            done_bytes: 1 << 30,
            total_bytes: 4 << 30,
            bytes_per_second: 20e6,
            remaining: Some(Duration::from_secs(160)),
            whole_remaining: None,
            lost_sectors: 0,
        };
        let reading = full_line(&progress);
        for words in
            ["reading ####............ 25 %", "1 GiB of 4 GiB", "20.0 MB/s", "2 min 40 s left", "no loss so far"]
        {
            assert!(reading.contains(words), "{words}: {reading}");
        }
        progress.lost_sectors = 7;
        assert!(full_line(&progress).contains("7 sectors lost") && !full_line(&progress).contains("no loss"));
        progress.phase = CheckPhase::Write;
        assert!(full_line(&progress).contains("7 sectors could not be written"));
        assert_eq!(about(Duration::from_secs(7200 - 59)), about(Duration::from_secs(7200)));
    }
}
