//! Targets without libFuzzer: `list` names them, `seeds DIR` writes their seeds, `check TARGET FILE…` runs a
//! target on files, such as a finding.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use assay_fuzz::{TARGETS, find};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => TARGETS.iter().try_for_each(|target| writeln!(io::stdout(), "{}", target.name)),
        ["seeds", directory] => seeds(Path::new(directory)),
        ["check", name, ref files @ ..] => check(name, files),
        _ => Err(io::Error::other("write: assay-fuzz list | seeds DIR | check TARGET FILE…")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "assay-fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

/// A directory for each target, a file for each seed.
fn seeds(directory: &Path) -> io::Result<()> {
    for target in TARGETS {
        let place = directory.join(target.name);
        fs::create_dir_all(&place)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(place.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}

fn check(name: &str, files: &[&str]) -> io::Result<()> {
    let target = find(name).ok_or_else(|| io::Error::other(format!("no target `{name}`; `list` names them")))?;
    for file in files {
        target.check(&fs::read(file)?);
    }
    Ok(())
}
