//! The quick probe of a device.

use std::time::Instant;

use assay_core::exit::Exit;
use assay_core::finding::Finding;
use assay_core::outcome::{Failure as MediumFailure, Outcome};
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_engine::Control;
use assay_verify::probe::{
    BlockDevice, Device, Ended, Identity, Journal, Patient, Phase, Probed, Progress, Salt, Settings, plan, run,
};

use super::paper::Paper;
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
    let mut device = Patient::new(device, args.hang_after)
        .map_err(|e| Failure::environment(format!("no thread for the device: {e}")))?;
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
    let control = Control::default();
    signals::last_words(Some(format!("interrupted, not everything is put back; go on with: {mend}")));
    signals::stop_on_signals(&control)?;
    let start = Instant::now();
    let begun = run(&mut device, journal, &settings, &|| control.stopped(), &mut |progress| {
        status.show(|| line(&progress));
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
    let elapsed = start.elapsed();
    let outcome = outcome(&probed, u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX));
    let mut findings = Vec::new();
    if probed.journal_kept {
        let reason = match &probed.restored {
            Err(error) => harmless(&error.to_string()),
            Ok(done) => harmless(&done.to_string()),
        };
        findings.push(Finding::NotPutBack { journal: harmless(&path.to_string_lossy()), reason });
    }
    let by_journal = matches!(probed.ended, Ended::Journal(_));
    let exit = paper.finish(args, probed.verification, outcome, findings, elapsed)?;
    if probed.journal_kept {
        output::tell(&format!("not everything is put back; go on with: {mend}"));
    } else {
        journals::forget(&path);
    }
    // The journal's disk is no fault of the medium.
    Ok(if by_journal && exit != Exit::No { Exit::Environment } else { exit })
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
        Ended::Journal(error) => (MediumFailure::Other, error.to_string()),
    };
    Outcome::Failed {
        failure,
        detail: harmless(&detail),
        workload: None,
        elapsed_ns,
        written_bytes: probed.verification.written_bytes,
    }
}

fn line(progress: &Progress) -> String {
    let phase = match progress.phase {
        Phase::Discovering => "looks for any loss",
        Phase::FindingPeriod => "looks where addresses start again",
        Phase::Mapping => "looks to the sector for what holds",
        Phase::Restoring => "puts everything back",
    };
    format!("{phase}  {} written, {} read", Bytes(progress.written_bytes), Bytes(progress.read_bytes))
}
