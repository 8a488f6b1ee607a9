//! What killed runs and checks left on a medium, told with the command that removes it.

use std::path::Path;

use assay_core::units::Bytes;
use assay_verify::files;

use crate::output::shown;

/// What a command is about to do with what was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Nothing: it tells all that is there.
    Looks,
    /// A run removes what runs left by itself.
    Runs,
    /// A check says by itself where it may not begin.
    Checks,
    /// A check goes on with what a check left, or reads it.
    GoesOn,
}

/// One line for each thing that was left in the directory `target`; none where it is no directory. Nothing is
/// written.
pub(crate) fn lines(target: &Path, does: Does) -> Vec<String> {
    let mut lines = Vec::new();
    if !target.is_dir() {
        return lines;
    }
    let remove = format!("assay verify --remove {}", shown(target));
    let runs = assay_runner::left_behind(target);
    if runs.directories > 0 && does != Does::Runs {
        let whose =
            if runs.directories == 1 { "a killed run".to_owned() } else { format!("{} killed runs", runs.directories) };
        lines.push(format!("{whose} left {} of test files: {remove}", Bytes(runs.bytes)));
    }
    if does == Does::GoesOn {
        return lines;
    }
    match files::left(target) {
        Ok(Some(left)) if left.alive => lines.push(format!("{}: a check is at work there", shown(&left.path))),
        Ok(Some(left)) => {
            let why = if left.kept { "a check kept" } else { "a killed check left" };
            let resume = if left.resumable { " (or go on with it: --resume)" } else { "" };
            lines.push(format!("{why} {} in {}: {remove}{resume}", Bytes(left.bytes), shown(&left.path)));
        }
        Ok(None) => {}
        Err(error) if does == Does::Looks => lines.push(error.to_string()),
        Err(_) => {}
    }
    lines
}
