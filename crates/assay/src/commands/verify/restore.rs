//! Putting back what a probe overwrote, after a crash or a pulled plug.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_device::Sysroot;
use assay_device::guard::check_raw;
use assay_verify::probe::{BlockDevice, Device, Identity};
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
    if done.differing.is_empty() && !done.already {
        // Nobody needs it any more.
        let _ = std::fs::remove_file(journal);
    }
    if args.json {
        output::print_json(&json!({
            "restored_bytes": done.bytes, "differing_offsets": done.differing, "already_restored": done.already,
        }))?;
    } else if done.already {
        output::print(&format!("{} was put back before; the journal can be removed", shown(&args.target)))?;
    } else if done.differing.is_empty() {
        output::print(&format!("{} is as before: {} put back", shown(&args.target), Bytes(done.bytes)))?;
    } else {
        output::print(&format!(
            "{} put back; {} places read otherwise, the first at byte {}; a fake holds nothing there",
            Bytes(done.bytes),
            done.differing.len(),
            done.differing.first().copied().unwrap_or(0)
        ))?;
    }
    Ok(if done.differing.is_empty() { Exit::Good } else { Exit::No })
}
