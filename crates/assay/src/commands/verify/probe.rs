//! The quick probe of a device.

use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::finding::Finding;
use assay_core::outcome::{Failure as MediumFailure, Outcome};
use assay_core::text::harmless;
use assay_core::units::{Bytes, rate, span};
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_engine::Control;
use assay_runner::RunError;
use assay_verify::probe::{
    BlockDevice, Device, Ended, Forecast, Identity, Journal, Patient, Phase, Probed, Progress, Salt, Settings, plan,
    run, suits,
};

use super::paper::{Paper, stopped_for};
use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::output::{self, shown};
use crate::progress::Status;
use crate::{journals, signals};

pub(super) fn probe(args: &VerifyArgs) -> Result<Exit, Failure> {
    let (paper, seen) = Paper::begin(args, "quick probe")?;
    // What the device holds is put back, so that a file system on it is no reason to refuse; a
    // device in use still is one.
    let named = args.target.to_string_lossy();
    let permit = check_raw(&Sysroot::real(), &args.target, Some(&named))?;
    let device = BlockDevice::open(&permit)?;
    let mut device = Patient::new(device, args.hang_after).map_err(RunError::NoThread)?;
    suits(&device).map_err(|error| Failure::usage(format!("{}: {error}", shown(&args.target))))?;
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    let identity = Identity { bytes: device.bytes(), name: named.into_owned(), serial: seen.medium.unit.clone() };
    let path = journals::new_place(&args.target, args.journal.as_deref())?;
    Journal::refuse_same_device(&path, &args.target)?;
    let settings = match args.cache {
        Some(size) => Settings { cache_limit_bytes: size.0 },
        None => Settings::usual(identity.bytes),
    };
    let most = plan(identity.bytes, device.block_bytes(), &settings);
    let salt = Salt::random().map_err(|e| Failure::environment(format!("no random numbers from the kernel: {e}")))?;
    let mut journal = Journal::create(&path, &identity, salt).inspect_err(|_| journals::forget(&path))?;
    if let Err(error) = journal.reserve(most.most_journal_bytes) {
        journal.abandon();
        journals::forget(&path);
        return Err(error.into());
    }
    // Whatever ends this process: who reads on knows how to mend it.
    let mend = journals::mend(&path, &args.target);
    output::tell(&format!("what is overwritten is saved first; if this does not end by itself: {mend}"));
    let mut status = Status::new(args.quiet);
    status.say(&format!(
        "writes about {} and reads about {} on a genuine device, writes at most {} on any other; puts everything back",
        Bytes(most.written_bytes),
        Bytes(most.read_bytes),
        Bytes(most.most_written_bytes),
    ));
    if journal.is_volatile() {
        status.say(&format!(
            "{} is in memory: it does not survive a reboot; --journal names a file on a disk",
            shown(&path)
        ));
    }
    signals::last_words(Some(format!("interrupted, not everything is put back; continue with: {mend}")));
    let start = control.now();
    let (mut forecast, mut announced) = (Forecast::new(most), false);
    let begun = run(&mut device, journal, &settings, &|| control.stopped(), &mut |progress| {
        forecast.observe(&progress, control.elapsed(&start));
        // Said once; of what is no genuine device nothing is known beforehand.
        if let Some(left) = forecast.left().filter(|_| !announced && progress.lost == 0) {
            announced = true;
            let all = Duration::from_secs((control.elapsed(&start) + left).as_secs().max(1));
            status.say(&format!("a genuine device: about {} in all, at the speed of its first transfers", span(all)));
        }
        status.show(|| line(&progress, &forecast));
    });
    drop(status);
    signals::last_words(None);
    let probed = match begun {
        Ok(probed) => probed,
        Err(error) => {
            // Nothing was overwritten.
            let _ = std::fs::remove_file(&path);
            journals::forget(&path);
            return Err(Failure::usage(error.to_string()));
        }
    };
    let elapsed = control.elapsed(&start);
    let outcome = outcome(&probed, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
    let mut findings = Vec::from_iter(stopped_for(&control));
    if probed.journal_kept {
        let reason = match &probed.restored {
            Err(error) => harmless(&error.to_string()),
            Ok(done) => harmless(&done.to_string()),
        };
        findings.push(Finding::NotPutBack { journal: harmless(&path.to_string_lossy()), reason });
    }
    let exit = paper.finish(args, probed.verification, outcome, findings, elapsed)?;
    if probed.journal_kept {
        output::tell(&format!("not everything is put back; continue with: {mend}"));
    } else {
        journals::forget(&path);
    }
    Ok(exit)
}

fn outcome(probed: &Probed, elapsed_ns: u64) -> Outcome {
    let (failure, detail) = match &probed.ended {
        Ended::Complete | Ended::Spent => return Outcome::Completed,
        Ended::Stopped => (MediumFailure::Interrupted, String::new()),
        Ended::Device(fault) => {
            let failure = match fault {
                assay_verify::probe::Fault::Gone => MediumFailure::Disappeared,
                assay_verify::probe::Fault::ReadOnly => MediumFailure::ReadOnly,
                assay_verify::probe::Fault::Hung => MediumFailure::Hung,
                _ => MediumFailure::IoError,
            };
            (failure, fault.to_string())
        }
        Ended::Journal(error) if error.is_full() => (MediumFailure::OutOfSpace, error.to_string()),
        // The journal's disk is no fault of the medium.
        Ended::Journal(error) => (MediumFailure::Host, error.to_string()),
    };
    Outcome::Failed {
        failure,
        detail: harmless(&detail),
        workload: None,
        elapsed_ns,
        written_bytes: probed.verification.written_bytes,
    }
}

fn line(progress: &Progress, forecast: &Forecast) -> String {
    let phase = match progress.phase {
        Phase::Discovering => "looks for any loss",
        Phase::FindingPeriod => "looks where addresses start again",
        Phase::Mapping => "looks to the sector for what holds",
        Phase::Restoring => "puts everything back",
    };
    let (written, read) = (Bytes(progress.written_bytes), Bytes(progress.read_bytes));
    let mut line = format!("{phase}  {written} written, {read} read  {}", rate(forecast.bytes_per_second()));
    // How much a fake takes is not known before.
    let foreseen = progress.lost == 0 && matches!(progress.phase, Phase::Discovering | Phase::Restoring);
    if let Some(left) = forecast.left().filter(|_| foreseen) {
        line += &format!("  {} left", span(Duration::from_secs(left.as_secs())));
    }
    match (progress.places, progress.lost) {
        (0, _) => {}
        (places, 0) => line += &format!("  nothing found so far in {places} of {} places", progress.of.max(places)),
        (places, lost) => line += &format!("  {lost} of {places} places lost what was written"),
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_fast_how_long_and_what_was_found() {
        let mut forecast = Forecast::new(plan(1 << 30, 512, &Settings::default()));
        let mut progress =
            Progress { phase: Phase::Discovering, written_bytes: 0, read_bytes: 0, places: 12, of: 400, lost: 0 };
        for step in 0..200 {
            forecast.observe(&progress, Duration::from_millis(step * 10));
            progress.written_bytes += 100_000 * (step % 2);
            progress.read_bytes += 100_000 * (1 - step % 2);
        }
        let said = line(&progress, &forecast);
        for words in ["10.0 MB/s", " s left", "nothing found so far in 12 of 400 places"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        progress.lost = 3;
        let said = line(&progress, &forecast);
        assert!(said.contains("3 of 12 places lost") && !said.contains("nothing found") && !said.contains(" left"));
    }
}
