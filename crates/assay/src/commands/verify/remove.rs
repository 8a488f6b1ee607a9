//! `assay verify --remove`: what killed checks and runs left, and nothing else.

use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::{Bytes, counted};
use assay_verify::files;

use crate::failure::Failure;
use crate::output;
use crate::output::shown;

/// At most this many leftovers are listed one by one.
const TOLD: usize = 20;

pub(super) fn remove(target: &Path) -> Result<Exit, Failure> {
    let runs = assay_runner::remove_left(target)?;
    let removed = runs.removed;
    if removed.directories > 0 {
        let of = if removed.directories == 1 {
            "the test files of a run that was killed".to_owned()
        } else {
            format!("the test files of {} runs that were killed", removed.directories)
        };
        output::print(&format!("removed {of}, {}", Bytes(removed.bytes)))?;
    }
    let check = files::remove(target)?;
    if let Some(left) = &check {
        output::print(&format!("removed {}, {}", shown(&left.path), Bytes(left.bytes)))?;
    }
    let (refused, strange): (Vec<_>, Vec<_>) = runs.stays.iter().partition(|why| why.kind().is_some());
    for why in strange.iter().take(TOLD) {
        output::print(&format!("left {why}"))?;
    }
    if strange.len() > TOLD {
        output::print(&format!("left {} more of that kind", strange.len() - TOLD))?;
    }
    if removed.alive > 0 {
        output::print(&format!("left {}: a run is still measuring there", shown(target)))?;
    } else if check.is_none() && removed.directories == 0 && runs.stays.is_empty() {
        output::print(&format!("nothing to remove in {}", shown(target)))?;
    }
    if let Some(why) = refused.first() {
        return Err(Failure::environment(format!(
            "the test files of {} cannot be removed: {why}",
            counted(refused.len(), "killed run")
        )));
    }
    if removed.more {
        let line =
            format!("{} has more directories like those of runs than are looked at; run this again", shown(target));
        return Err(Failure::environment(line));
    }
    Ok(Exit::Good)
}
