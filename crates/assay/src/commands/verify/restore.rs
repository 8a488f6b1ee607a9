//! Putting back what a probe overwrote, after a crash or a pulled plug.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_verify::probe::{BlockDevice, Device, Identity, Restored};
use serde_json::json;

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::output::{self, shown};

pub(super) fn restore(args: &VerifyArgs, journal: &Path) -> Result<Exit, Failure> {
    let sysroot = Sysroot::real();
    let seen = assay_device::look(&sysroot, &args.target)?;
    let named = args.target.to_string_lossy();
    let permit = check_raw(&sysroot, &args.target, Some(&named))?;
    let mut device = BlockDevice::open(&permit)?;
    let identity = Identity { bytes: device.bytes(), name: named.into_owned(), serial: seen.medium.unit };
    let done = assay_verify::probe::restore(journal, &mut device, &identity)?;
    if args.json {
        output::print_json(&json!({
            "restored_bytes": done.bytes, "differing_offsets": done.differing, "already_restored": done.already,
            "newer_offsets": done.newer, "missing_places": done.missing.len(), "journal_kept": done.journal_kept,
        }))?;
    } else {
        output::print(&words(&shown(&args.target), &shown(journal), &done))?;
    }
    Ok(if done.is_complete() { Exit::Good } else { Exit::No })
}

fn words(device: &str, journal: &str, done: &Restored) -> String {
    if done.already {
        return format!("{device} was put back before; the journal is not needed any more");
    }
    if !done.is_complete() {
        let amount = Bytes(done.bytes);
        return format!("{device}: {amount} put back, not everything: {done}; the journal {journal} is kept");
    }
    match (done.untouched, done.journal_kept) {
        (true, true) => format!(
            "{device} reads as before, and nothing of the probe stands on it: put back already, or another card with \
             the same content; the journal {journal} is kept"
        ),
        (_, true) => format!("{device} is as before: {} put back; {journal} can be removed", Bytes(done.bytes)),
        (_, false) => format!("{device} is as before: {} put back", Bytes(done.bytes)),
    }
}
