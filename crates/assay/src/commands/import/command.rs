//! The files of a command line, one after another.

use std::path::Path;
use std::time::{Duration, Instant};

use assay_core::exit::Exit;
use assay_core::units::{grouped, span};
use assay_import::{Options, Sheet};

use super::intake::Intake;
use crate::cli::ImportArgs;
use crate::documents::FormatsDocument;
use crate::failure::Failure;
use crate::imports;
use crate::{output, state};

/// What takes longer shows how far it is.
const LONG: Duration = Duration::from_secs(1);

pub(in crate::commands) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    if args.formats {
        return formats(args.json);
    }
    let options = Options {
        labels: args.labels.iter().cloned().collect(),
        host: args.host.clone(),
        kind: args.kind,
        path: args.path.clone(),
        sheet: args.sheet.as_deref().map(sheet).transpose()?,
        keep_text: !args.no_text,
    };
    let files = imports::files(&args.paths)?;
    let store = if args.dry_run { None } else { Some(state::opened()?) };
    let mut intake = Intake::new(args, &options, store);
    let begun = Instant::now();
    for (done, found) in files.iter().enumerate() {
        if begun.elapsed() > LONG {
            intake.status.show(|| progress(done, files.len(), begun.elapsed()));
        }
        intake.open();
        let outcome = imports::imported(found, &options, &mut |held| {
            if begun.elapsed() > LONG {
                intake.status.show(|| progress(done, files.len(), begun.elapsed()));
            }
            intake.take(found, held)
        });
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(failure) => {
                // What was read before is not lost.
                intake.keep()?;
                return Err(failure);
            }
        };
        if let Err(error) = outcome {
            intake.refuse(found, &error);
        }
    }
    intake.keep()?;
    intake.tell()
}

fn formats(json: bool) -> Result<Exit, Failure> {
    let names = assay_import::names();
    if json {
        output::print_json(&FormatsDocument { formats: names })?;
    } else {
        output::print(&names.join("\n"))?;
    }
    Ok(Exit::Good)
}

/// A sheet of names.
fn sheet(path: &Path) -> Result<Sheet, Failure> {
    let file = imports::read(path)?;
    Sheet::parse(&file.bytes).map_err(|error| Failure::usage(format!("{}, {error}", output::shown(path))))
}

/// `imported 1,200 of 10,000 files, about 7 s left`.
fn progress(done: usize, of: usize, elapsed: Duration) -> String {
    let files = |count: usize| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    let mut line = format!("imported {} of {} files", files(done), files(of));
    if done > 0 {
        let left = elapsed.mul_f64((of - done) as f64 / done as f64);
        line += &format!(", about {} left", span(Duration::from_secs(left.as_secs().max(1))));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_files_are_done_and_what_is_left() {
        let line = progress(1_000, 5_000, Duration::from_secs(3));
        assert_eq!(line, format!("imported {} of {} files, about 12.0 s left", grouped(1_000), grouped(5_000)));
        assert_eq!(progress(0, 2, Duration::from_secs(3)), "imported 0 of 2 files");
    }
}
