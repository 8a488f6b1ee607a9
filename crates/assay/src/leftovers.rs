//! What killed runs and checks left on a medium, told with the command that removes it.

use std::path::Path;

use assay_core::units::Bytes;
use assay_verify::files;

use crate::documents::{self, LeftDocument};
use crate::output::{operand, shown};

/// What a command is about to do with what was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftoverAction {
    /// Nothing: it tells all that is there.
    Looks,
    /// A run removes what runs left by itself.
    Runs,
    /// A check says by itself where it may not begin.
    Checks,
    /// A check resumes what a check left, or reads it.
    GoesOn,
}

/// Something that was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Left {
    /// Test files of killed runs, each in a directory of its own.
    Runs {
        directories: u32,
        bytes: u64,
        /// Whether there are more.
        more: bool,
    },
    /// The directory of a check.
    Check(files::Left),
    /// What has the name of a check's directory and is not assay's, or cannot be looked at, and why.
    Strange(String),
}

impl Left {
    /// As `assay info --json` tells it: `docs/verify.md` describes the fields.
    pub(crate) fn document(&self) -> LeftDocument {
        match self {
            Self::Runs { directories, bytes, .. } => {
                LeftDocument::Run { state: "killed", directories: *directories, bytes: *bytes }
            }
            Self::Check(left) => LeftDocument::Check {
                state: match (left.alive, left.kept) {
                    (true, _) => "alive",
                    (false, true) => "kept",
                    (false, false) => "killed",
                },
                path: documents::path(&left.path),
                bytes: left.bytes,
                resumable: left.resumable,
            },
            Self::Strange(reason) => LeftDocument::Unknown { reason: reason.clone() },
        }
    }

    /// One line about the directory `target`.
    fn line(&self, target: &Path) -> String {
        let remove = format!("assay verify --remove {}", operand(target));
        match self {
            Self::Runs { directories, bytes, more: true } => {
                format!("more than {directories} killed runs left more than {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Runs { directories: 1, bytes, .. } => {
                format!("a killed run left {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Runs { directories, bytes, .. } => {
                format!("{directories} killed runs left {} of test files: {remove}", Bytes(*bytes))
            }
            Self::Check(left) if left.alive => format!("{}: a check is at work there", shown(&left.path)),
            Self::Check(left) => {
                let why = if left.kept { "a check kept" } else { "a killed check left" };
                let resume = if left.resumable { " (or resume it with --resume)" } else { "" };
                format!("{why} {} in {}: {remove}{resume}", Bytes(left.bytes), shown(&left.path))
            }
            Self::Strange(reason) => reason.clone(),
        }
    }
}

/// What was left in the directory `target`; nothing where it is no directory. Nothing is written.
pub(crate) fn found(target: &Path, does: LeftoverAction) -> Vec<Left> {
    let mut found = Vec::new();
    if !target.is_dir() {
        return found;
    }
    let runs = assay_runner::left_behind(target);
    if runs.directories > 0 && does != LeftoverAction::Runs {
        found.push(Left::Runs { directories: runs.directories, bytes: runs.bytes, more: runs.more });
    }
    if does == LeftoverAction::GoesOn {
        return found;
    }
    match files::left(target) {
        Ok(left) => found.extend(left.map(Left::Check)),
        Err(error) if does == LeftoverAction::Looks => found.push(Left::Strange(error.to_string())),
        Err(_) => {}
    }
    found
}

/// One line for each thing that was left in the directory `target`.
pub(crate) fn lines(target: &Path, does: LeftoverAction) -> Vec<String> {
    found(target, does).iter().map(|left| left.line(target)).collect()
}
