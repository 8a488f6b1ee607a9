//! Giving up what a journal holds, by its owner, in words.

use std::io::BufRead;
use std::path::Path;

use assay_core::exit::Exit;
use assay_core::units::Bytes;
use assay_verify::probe::{JournalError, described};

use crate::cli::VerifyArgs;
use crate::failure::Failure;
use crate::journals;
use crate::output::{self, shown};

/// Longest answer that is read.
const LONGEST: usize = 4096;

pub(super) fn discard(args: &VerifyArgs, journal: &Path) -> Result<Exit, Failure> {
    let what = match described(journal) {
        Ok(what) => format!(
            "{} holds the original contents of {} places of {} ({}) from before a quick probe",
            shown(journal),
            what.places,
            assay_core::text::harmless(&what.device.name),
            Bytes(what.device.bytes)
        ),
        // It is a journal, though of no use.
        Err(error @ (JournalError::OtherFormat { .. } | JournalError::Read { .. })) => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let name = journal.file_name().unwrap_or_default().to_string_lossy().into_owned();
    output::tell(&what);
    output::tell("without it, blocks that were not put back cannot be restored");
    output::tell(&format!("type {} to discard it:", shown(Path::new(&name))));
    let mut answer = Vec::new();
    let mut input = std::io::Read::take(std::io::stdin().lock(), LONGEST as u64);
    input.read_until(b'\n', &mut answer).map_err(|e| Failure::environment(format!("standard input: {e}")))?;
    if String::from_utf8_lossy(&answer).trim_end_matches(['\n', '\r']) != name {
        return Err(Failure::usage(format!("{}: kept, its name was not typed", shown(journal))));
    }
    std::fs::remove_file(journal)
        .map_err(|e| Failure::environment(format!("{}: cannot be removed ({e})", shown(journal))))?;
    journals::forget(journal);
    if !args.quiet {
        output::tell(&format!("{} was discarded", shown(journal)));
    }
    Ok(Exit::Good)
}
