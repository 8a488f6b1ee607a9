//! fio on the command line of `assay run`: job files as suites, and the cross-check.

use std::path::{Path, PathBuf};

use assay_fio::Place;

use crate::cli::{EngineArg, RunArgs};
use crate::failure::Failure;
use crate::output::{self, shown};
use crate::suites;

/// `assay run job.fio` measures the current directory by that job file; and a cross-check needs
/// two instruments.
pub(super) fn settle(mut args: RunArgs) -> Result<RunArgs, Failure> {
    if suites::is_job_file(&args.target) && args.target.is_file() {
        let file = args.target.to_string_lossy().into_owned();
        if args.suite != suites::DEFAULT {
            return Err(Failure::usage(format!(
                "{} is a fio job file, and --suite names another suite; name the directory to measure in, or leave out --suite",
                shown(&args.target)
            )));
        }
        args.suite = file;
        args.target = PathBuf::from(".");
    }
    if suites::is_job_file(Path::new(&args.suite)) && args.resume.is_none() {
        settle_place(&mut args)?;
    }
    if args.crosscheck.is_some() && matches!(args.engine, EngineArg::Fio | EngineArg::Reference | EngineArg::Null) {
        return Err(Failure::usage(
            "--crosscheck compares assay's own engines with another tool; use --engine auto, uring or sync",
        ));
    }
    Ok(args)
}

/// A job file is run where it says; a directory or device on the command line goes before that, and is told.
fn settle_place(args: &mut RunArgs) -> Result<(), Failure> {
    let Some(place) = suites::place(&args.suite)? else { return Ok(()) };
    let (Place::Directory(named) | Place::Device(named)) = &place;
    let file = output::shown(Path::new(&args.suite));
    if args.target == Path::new(".") {
        if !args.quiet {
            output::tell_wrapped(&format!("{file}: measures {}, as the file says", shown(named)));
        }
        args.target.clone_from(named);
    } else if !args.quiet && args.target != *named {
        let target = shown(&args.target);
        output::tell_wrapped(&format!("{file}: measures {target}, as the command line says, not {}", shown(named)));
    }
    Ok(())
}

/// What is different from how fio would run a job file.
pub(super) fn tell_notes(args: &RunArgs, notes: &[String]) {
    if !args.quiet {
        for note in notes {
            output::tell_wrapped(&format!("{}: {note}", args.suite));
        }
    }
}
