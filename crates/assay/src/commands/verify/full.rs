//! Checks of a mounted medium.

use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::finding::Finding;
use assay_core::text::harmless;
use assay_core::units::{Bytes, rate, span};
use assay_engine::Control;
use assay_verify::files::{self, Checked, Phase, Plan, Progress, Settings};
use assay_verify::quick;

use super::paper::Paper;
use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::leftovers::{self, Does};
use crate::output;
use crate::progress::Status;
use crate::signals;

pub(super) fn full(args: &VerifyArgs) -> Result<Exit, Failure> {
    let settings = Settings {
        keep: args.keep,
        only_read: args.only.is_some(),
        limit_bytes: args.limit.map(|limit| limit.0),
        until_first_error: args.until.is_some(),
        resume: args.resume,
        hang_after: args.hang_after,
        ..Settings::default()
    };
    let (paper, _) = Paper::begin(args, "fill and check")?;
    tell_left(args);
    let plan = Plan::new(&args.target, &settings)?;
    if !args.quiet {
        output::tell_wrapped(&harmless(&plan.sentence()));
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let mut status = Status::new(args.quiet);
    let start = Instant::now();
    let checked = files::check(&plan, &settings, &control, &mut |progress| status.show(|| line(&progress)))?;
    drop(status);
    told(args, paper, checked, start.elapsed())
}

pub(super) fn quick(args: &VerifyArgs) -> Result<Exit, Failure> {
    let how = quick::Quick { hang_after: args.hang_after, ..quick::Quick::default() };
    let (paper, _) = Paper::begin(args, "quick check")?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    tell_left(args);
    let mut status = Status::new(args.quiet);
    status.say("writes a little all over the free space, reads it back and removes it");
    let start = Instant::now();
    let checked = quick::check(&args.target, &how, &control, &mut |done, most| {
        status.show(|| format!("{done} of at most {most} operations"));
    })?;
    drop(status);
    told(args, paper, checked, start.elapsed())
}

/// Says what others left in the target.
fn tell_left(args: &VerifyArgs) {
    // What is gone on with or read is no leftover.
    let does = if args.resume || args.only.is_some() { Does::GoesOn } else { Does::Checks };
    if !args.quiet {
        leftovers::lines(&args.target, does).iter().for_each(|line| output::tell_wrapped(&harmless(line)));
    }
}

fn told(args: &VerifyArgs, paper: Paper, checked: Checked, elapsed: Duration) -> Result<Exit, Failure> {
    let mut findings = Vec::new();
    if let Some(left) = &checked.left
        && !args.keep
        && args.only.is_none()
    {
        findings.push(Finding::CheckUnfinished { path: harmless(&left.to_string_lossy()) });
    }
    paper.finish(args, checked.verification, checked.outcome, findings, elapsed)
}

fn line(progress: &Progress) -> String {
    let phase = match progress.phase {
        Phase::Write => "writing",
        Phase::Read => "reading",
    };
    let share = progress.done_bytes as f64 / progress.total_bytes.max(1) as f64 * 100.0;
    let mut line = format!(
        "{phase} {} of {}  {share:.0} %  {}",
        Bytes(progress.done_bytes),
        Bytes(progress.total_bytes),
        rate(progress.bytes_per_second)
    );
    if let Some(left) = progress.remaining {
        line += &format!("  {} left", span(Duration::from_secs(left.as_secs())));
    }
    if progress.lost_sectors > 0 {
        line += &format!("  {} sectors lost", progress.lost_sectors);
    }
    line
}
