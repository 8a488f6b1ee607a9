//! fio on the command line of `assay run`: job files as suites, and the cross-check.

use std::path::{Path, PathBuf};

use assay_fio::Wish;

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

/// A job file is run where it says. A directory or device on the command line overrides that, with a note.
fn settle_place(args: &mut RunArgs) -> Result<(), Failure> {
    let here = args.target == Path::new(".");
    let wish = Wish { size: args.size, at: (!here).then(|| args.target.clone()) };
    let read = suites::job_file(&args.suite, &wish)?;
    let file = output::shown(Path::new(&args.suite));
    if here && !read.others.is_empty() {
        let all: Vec<String> = read.place.iter().chain(&read.others).map(|place| shown(place.path())).collect();
        return Err(Failure::usage(format!(
            "{file}: its jobs are on {}, and a run measures one medium; name it, like assay run --suite {file} {}",
            all.join(", "),
            all[0]
        )));
    }
    let Some(place) = &read.place else { return Ok(()) };
    let named = place.path();
    if here {
        if !args.quiet {
            output::tell_wrapped(&format!("{file}: measures {}, as the file says", shown(named)));
        }
        args.target = named.to_owned();
    } else if !args.quiet && args.target != named {
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
