//! Putting back what a probe overwrote, after a crash or a pulled plug.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_engine::Control;
use assay_verify::probe::{
    BlockDevice, Device, Differing, Identity, JournalLeft, Restoration, RestoreProgress, RestoreStep, Restored,
    Standing,
};

use crate::cli::VerifyArgs;
use crate::documents::RestoreDocument;
use crate::failure::Failure;
use crate::output::{self, shown};
use crate::progress::Status;
use crate::{journals, signals};

pub(super) fn restore(args: &VerifyArgs, journal: &Path) -> Result<Exit, Failure> {
    let sysroot = Sysroot::real();
    let seen = assay_device::look(&sysroot, &args.target)?;
    let named = args.target.to_string_lossy();
    let permit = check_raw(&sysroot, &args.target, Some(&named))?;
    if let Some(other) = journals::belongs_to_another(journal, &args.target) {
        let mend = journals::restore_command(journal, &other);
        return Err(Failure::usage(format!(
            "{}: {} was probed, and not {}; nothing was written, put it back with: {mend}",
            shown(&args.target),
            shown(&other),
            shown(&args.target)
        )));
    }
    let mut device = BlockDevice::open(&permit)?;
    let identity = Identity {
        bytes: device.bytes(),
        name: named.into_owned(),
        serial: seen.medium.unit,
        attachment: permit.held().attachment(),
    };
    let again = journals::restore_command(journal, &args.target);
    let control = Control::default();
    signals::last_words(Some(format!("interrupted, not everything is put back; continue with: {again}")));
    signals::stop_on_signals(&control)?;
    let mut status = Status::new(args.quiet);
    let done = Restoration::new(journal, &identity)
        .keeping_newer(args.keep_newer)
        .until(&|| control.stopped())
        .telling(&mut |progress| status.show(|| line(&progress)))
        .run(&mut device);
    drop(status);
    signals::last_words(None);
    let done = done?;
    journals::forget(journal);
    if args.json {
        output::print_json(&RestoreDocument {
            restored_bytes: done.bytes,
            differing_offsets: offsets(&done),
            already_restored: done.already,
            newer_offsets: done.newer.clone(),
            missing_places: done.missing.len(),
            stopped: done.stopped,
            journal_kept: done.journal != JournalLeft::Removed,
        })?;
    } else {
        output::print(&words(&shown(&args.target), &shown(journal), &done))?;
    }
    if done.stopped {
        output::tell(&format!("continue with: {again}"));
        return Ok(Exit::Interrupted);
    }
    Ok(if done.is_complete() { Exit::Good } else { Exit::No })
}

fn line(progress: &RestoreProgress) -> String {
    let step = match progress.step {
        RestoreStep::Looking => "compares with the original contents",
        RestoreStep::Writing => "puts back",
        RestoreStep::ReadingBack => "reads back",
    };
    format!("{step}  {} of {} places, {} written", progress.done, progress.places, Bytes(progress.written_bytes))
}

fn offsets(done: &Restored) -> Vec<u64> {
    done.differing.iter().map(|place| place.offset).collect()
}

fn words(device: &str, journal: &str, done: &Restored) -> String {
    let amount = Bytes(done.bytes);
    if done.already {
        return format!("{device} still reads as before after it was attached anew; {journal} is removed");
    }
    if !done.is_complete() {
        let mend = if can_be_given_up(done) { "; --discard gives up what cannot come back" } else { "" };
        return format!("{device}: {amount} put back, not everything: {done}; {journal} is kept{mend}");
    }
    if done.untouched && done.journal == JournalLeft::Needed {
        return format!(
            "{device} reads as before, and nothing of the probe is on it: put back already, or another card with \
             the same content; {journal} is kept"
        );
    }
    format!("{device} is as before: {amount} put back; {}", kept_until_seen_again(journal))
}

/// Why a journal stays though everything was put back.
pub(super) fn kept_until_seen_again(journal: &str) -> String {
    format!(
        "leave it plugged in for a moment, since its cache may not have been written out; {journal} is removed when assay \
         sees the device again after it was unplugged"
    )
}

/// Whether the device is proven to be the right one, and answers: only then nothing is lost with the journal.
fn can_be_given_up(done: &Restored) -> bool {
    let answers = |place: &Differing| matches!(place.standing, Standing::Blocks | Standing::Other);
    !done.untouched && !done.stopped && done.differing.iter().all(answers)
}
