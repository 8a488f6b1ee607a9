//! `assay verify --remove`: what killed checks and runs left, and nothing else.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_verify::files;

use crate::failure::Failure;
use crate::output;
use crate::output::shown;

pub(super) fn remove(target: &Path) -> Result<Exit, Failure> {
    let runs = assay_runner::remove_left(target)?;
    if runs.directories > 0 {
        let of = if runs.directories == 1 { "the test file of a run" } else { "the test files of runs" };
        output::print(&format!("removed {of} that was killed, {}", Bytes(runs.bytes)))?;
    }
    let check = files::remove(target)?;
    if let Some(left) = &check {
        output::print(&format!("removed {}, {}", shown(&left.path), Bytes(left.bytes)))?;
    }
    if runs.alive > 0 {
        output::print(&format!("left {}: a run is still measuring there", shown(target)))?;
    } else if check.is_none() && runs.directories == 0 {
        output::print(&format!("nothing to remove in {}", shown(target)))?;
    }
    Ok(Exit::Good)
}
