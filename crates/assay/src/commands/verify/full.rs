//! Checks of a mounted medium.

use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::text::harmless;
use assay_core::units::{Bytes, counted, rate, span};
use assay_engine::{Control, Moment};
use assay_verify::files::{self, CheckPlan, Checked, Format, Phase, Progress, Settings};
use assay_verify::{CheckRecord, quick};

use super::record::{begin, finish};
use crate::cli::{ContentArg, VerifyArgs};
use crate::failure::Failure;
use crate::leftovers::{self, LeftoverAction};
use crate::output::{self, operand, shown};
use crate::progress::Status;
use crate::signals;

pub(super) fn full(args: &VerifyArgs) -> Result<Exit, Failure> {
    let usual = Settings::default();
    let settings = Settings {
        keep: args.keep,
        only_read: args.only.is_some(),
        format: match args.content {
            Some(ContentArg::F3) => Format::F3,
            Some(ContentArg::Salted) | None => Format::Salted,
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
    let (record, _) = begin(args, "fill and check")?;
    tell_left(args);
    let plan = CheckPlan::new(&args.target, &settings)?;
    if !args.quiet {
        output::tell_wrapped(&harmless(&plan.sentence()));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut status = Status::new(args.quiet);
    let (start, mut announced) = (control.now(), false);
    let checked = files::check(&plan, &settings, &control, &mut |progress| {
        // Said once, as soon as the speed of both directions is known.
        if let Some(left) = progress.whole_remaining.filter(|_| !announced && progress.phase == Phase::Write) {
            announced = true;
            let all = control.elapsed(&start) + left;
            status.say(&format!("takes about {} in total if it stays as fast as at the start", about(all)));
        }
        status.show(|| line(&progress));
    })?;
    drop(status);
    conclude(args, record, checked, &control, &start)
}

pub(super) fn quick(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (record, _) = begin(args, "quick check")?;
    let (fill_system, store) = (args.fill_system, crate::state::directory().ok());
    // What is refused is refused before anything is announced.
    CheckPlan::new(&args.target, &Settings { fill_system, store: store.clone(), ..Settings::default() })?;
    let how = quick::Quick { hang_after: args.hang_after, fill_system, store, ..quick::Quick::default() };
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    tell_left(args);
    let mut status = Status::new(args.quiet);
    status.say("writes samples across the free space, reads them back and removes them");
    let start = control.now();
    let checked = quick::check(&args.target, &how, &control, &mut |done, most| {
        status.show(|| format!("{done} of at most {most} operations"));
    })?;
    drop(status);
    conclude(args, record, checked, &control, &start)
}

/// Says what others left in the target.
fn tell_left(args: &VerifyArgs) {
    // What is resumed or read is no leftover.
    let does = if args.resume || args.only.is_some() { LeftoverAction::GoesOn } else { LeftoverAction::Checks };
    if !args.quiet {
        leftovers::lines(&args.target, does).iter().for_each(|line| output::tell_wrapped(&harmless(line)));
    }
}

/// Says where files are left that no later check resumes, and finishes the record.
fn conclude(
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
    finish(args, record.close_files(checked, kept, control, control.elapsed(start)))
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

fn line(progress: &Progress) -> String {
    let phase = match progress.phase {
        Phase::Write => "writing",
        Phase::Read => "reading",
    };
    let (done, total) = (Bytes(progress.done_bytes), Bytes(progress.total_bytes));
    let share = progress.done_bytes as f64 / progress.total_bytes.max(1) as f64;
    let mut line = format!(
        "{phase} {} {:.0} %  {done} of {total}  {}",
        bar(share),
        share * 100.0,
        rate(progress.bytes_per_second)
    );
    if let Some(left) = progress.whole_remaining.or(progress.remaining) {
        line += &format!("  {} left", span(Duration::from_secs(left.as_secs())));
    }
    line += &match (progress.lost_sectors, progress.phase) {
        (0, Phase::Write) => String::new(),
        (0, Phase::Read) => format!("  nothing found so far in {done} of {total}"),
        (lost, Phase::Write) => format!("  {} could not be written", counted(lost as usize, "sector")),
        (lost, Phase::Read) => format!("  {} lost", counted(lost as usize, "sector")),
    };
    line
}

/// Columns of the bar.
const COLUMNS: usize = 16;

fn bar(share: f64) -> String {
    let full = (share * COLUMNS as f64) as usize;
    (0..COLUMNS).map(|column| if column < full { '#' } else { '.' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_far_how_fast_how_long_and_what_was_found() {
        let mut progress = Progress {
            phase: Phase::Read,
            done_bytes: 1 << 30,
            total_bytes: 4 << 30,
            bytes_per_second: 20e6,
            remaining: Some(Duration::from_secs(160)),
            whole_remaining: None,
            lost_sectors: 0,
        };
        let reading = line(&progress);
        for words in
            ["reading ####............ 25 %", "20.0 MB/s", "2 min 40 s left", "nothing found so far in 1 GiB of 4 GiB"]
        {
            assert!(reading.contains(words), "{words}: {reading}");
        }
        progress.lost_sectors = 7;
        assert!(line(&progress).contains("7 sectors lost") && !line(&progress).contains("nothing found"));
        progress.phase = Phase::Write;
        assert!(line(&progress).contains("7 sectors could not be written"));
        assert_eq!(about(Duration::from_secs(7200 - 59)), about(Duration::from_secs(7200)));
    }
}
