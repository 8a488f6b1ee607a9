//! `assay verify`: which check, and what becomes of its result.

mod discard;
mod full;
mod probe;
mod record;
mod remove;
mod restore;

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_verify::probe::{LEAST_BYTES, ProbeError};

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::journals;
use crate::leftovers::{self, LeftoverAction};
use crate::output::shown;

pub(super) fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    // Like a run: a thread that waits for a hung medium cannot be ended.
    let target = args.target.clone();
    // What a killed check wrote is kept, since it can be resumed.
    crate::child::in_child(|| work(args), move || leftovers::lines(&target, LeftoverAction::Looks))
}

/// Why no check of a device is possible, where it is as small as an extended partition announces.
fn too_small(device: &Path) -> Option<ProbeError> {
    let bytes = File::open(device).and_then(|mut file| file.seek(SeekFrom::End(0))).ok()?;
    (bytes < LEAST_BYTES).then_some(ProbeError::TooSmall { bytes: Bytes(bytes), least: Bytes(LEAST_BYTES) })
}

fn work(args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(journal) = &args.discard {
        return discard::discard(args, journal);
    }
    let target = &args.target;
    if args.remove {
        return remove::remove(target);
    }
    let device = std::fs::metadata(target).is_ok_and(|meta| crate::system::is_device(&meta));
    if let Some(path) = &args.output {
        let format = assay_report::Format::from_path(path, super::finished::FORMATS)
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
        journals::refuse_pending(target)?;
    }
    match (&args.restore, args.quick, device) {
        (Some(journal), _, true) => restore::restore(args, journal),
        (Some(_), _, false) => Err(Failure::usage(format!(
            "{} is not a device; --restore JOURNAL needs the device that was probed, like /dev/sdX",
            shown(target)
        ))),
        (None, true, true) => probe::probe(args),
        (None, true, false) if args.journal.is_some() => {
            Err(Failure::usage(format!("{} is not a device; --journal is for --quick on a device", shown(target))))
        }
        (None, true, false) => full::quick(args),
        (None, false, true) => Err(Failure::usage(match too_small(target) {
            Some(why) => format!("{}: {why}", shown(target)),
            None => format!("{} is a device; mount it and name the directory, or add --quick", shown(target)),
        })),
        (None, false, false) => full::full(args),
    }
}
