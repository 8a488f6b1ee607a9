//! Suites: the built-in ones are files too, embedded.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use assay_analysis::nearest;
use assay_core::suite::{Suite, SuiteError, SuiteWorkload, WHOLE};
use assay_core::text::harmless;
use assay_core::units::Bytes;
use assay_fio::{Amount, JobFile, Wish};

use super::files;
use crate::ending::Failure;

/// Built-in suites, name and text.
pub(crate) const BUILT_IN: [(&str, &str); 18] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("smoke", include_str!("../../../suites/smoke.toml")),
    ("read-only", include_str!("../../../suites/read-only.toml")),
    ("blocks", include_str!("../../../suites/blocks.toml")),
    ("load-curve", include_str!("../../../suites/load-curve.toml")),
    ("contention", include_str!("../../../suites/contention.toml")),
    ("soak", include_str!("../../../suites/soak.toml")),
    ("crystaldiskmark3", include_str!("../../../suites/crystaldiskmark3.toml")),
    ("crystaldiskmark5", include_str!("../../../suites/crystaldiskmark5.toml")),
    ("crystaldiskmark8", include_str!("../../../suites/crystaldiskmark8.toml")),
    ("pibenchmarks", include_str!("../../../suites/pibenchmarks.toml")),
    ("iozone", include_str!("../../../suites/iozone.toml")),
    ("sweep", include_str!("../../../suites/sweep.toml")),
    ("sd-class", include_str!("../../../suites/sd-class.toml")),
    ("fsync", include_str!("../../../suites/fsync.toml")),
    ("hpi", include_str!("../../../suites/hpi.toml")),
    ("phoronix-disk", include_str!("../../../suites/phoronix-disk.toml")),
    ("boot", include_str!("../../../suites/boot.toml")),
];

/// The suite where none is named.
pub(crate) const DEFAULT: &str = "quick";

/// A longer file is no suite; without a limit, `/dev/zero` would fill the memory.
const LONGEST: u64 = 1 << 20;

/// No run takes longer.
pub(crate) const LONGEST_BUDGET: Duration = Duration::from_secs(30 * 86_400);

/// Text of a suite and its name in messages: a built-in one by name, else a file.
fn text(name: &str) -> Result<(String, String), Failure> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        return Ok(((*text).to_owned(), format!("{name}.toml")));
    }
    if name == "-" {
        return of_input();
    }
    let shown = harmless(name);
    let names = BUILT_IN.map(|(name, _)| name).join(", ");
    let path = Path::new(name);
    let looks_like_a_file = name.contains('/') || path.extension().is_some() || path.exists();
    if !looks_like_a_file {
        let nearest = nearest(name, BUILT_IN.map(|(built_in, _)| built_in))
            .map_or_else(String::new, |near| format!("the nearest is {near}; "));
        return Err(Failure::usage(format!("no suite `{shown}`; {nearest}there are {names}, or name a file")));
    }
    let mut text = String::new();
    match files::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)) {
        Ok(length) if length as u64 > LONGEST => {
            Err(Failure::usage(format!("{shown}: is larger than 1 MiB; a suite is a small TOML file")))
        }
        Ok(_) => Ok((text, shown)),
        Err(error) => Err(match error.kind() {
            ErrorKind::InvalidData => Failure::usage(format!("{shown}: is not a text file; a suite is a TOML file")),
            ErrorKind::TimedOut => Failure::usage(format!("{shown}: {error}; a suite is a TOML file")),
            ErrorKind::IsADirectory => Failure::usage(format!("{shown}: is a directory; a suite is a TOML file")),
            ErrorKind::NotFound => {
                Failure::usage(format!("{shown}: no such file; name a suite file, or one of {names}"))
            }
            ErrorKind::PermissionDenied => {
                Failure::environment(format!("{shown}: no permission to read it; change its owner or mode"))
            }
            _ => Failure::environment(format!("{shown}: {error}")),
        }),
    }
}

/// The text of a suite that comes on standard input.
fn of_input() -> Result<(String, String), Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LONGEST + 1).read_to_string(&mut text);
    match read {
        Ok(length) if length as u64 > LONGEST => {
            Err(Failure::usage("standard input: is larger than 1 MiB; a suite is a small TOML file"))
        }
        Ok(0) => Err(Failure::usage("standard input: is empty; --suite - takes a suite from there")),
        Ok(_) => Ok((text, "standard input".to_owned())),
        Err(error) => Err(Failure::usage(format!("standard input: {error}; a suite is a TOML file"))),
    }
}

/// Whether the program itself has the suite of this name.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|(built_in, _)| *built_in == name)
}

/// Refuses a word that names no suite here and no file anywhere: a suite of another machine is a file, which is written
/// with its path or its ending.
pub(crate) fn check_word(name: &str) -> Result<(), Failure> {
    match is_built_in(name) || name == "-" || name.contains(['/', '.']) {
        true => Ok(()),
        false => text(name).map(drop),
    }
}

/// A suite by name or file, and its text.
pub(crate) fn checked(name: &str) -> Result<(String, Suite), Failure> {
    let (text, suite, _) = wished(name, &Wish::default())?;
    Ok((text, suite))
}

/// A suite by name or file with what is asked for beside it, its text, and what is different from how its own tool would
/// run it.
pub(crate) fn wished(name: &str, wish: &Wish) -> Result<(String, Suite, Vec<String>), Failure> {
    let (text, file) = text(name)?;
    let (suite, notes) = parse(&text, &file, wish)?;
    if suite.budget > LONGEST_BUDGET {
        return Err(Failure::usage(format!("{file}: budget must be 1s to 30d")));
    }
    Ok((text, suite, notes))
}

/// A fio job file, and the places that it names.
pub(crate) fn job_file(file: &str, wish: &Wish) -> Result<JobFile, Failure> {
    let (text, shown) = text(file)?;
    Ok(read_job_file(&text, &shown, wish)?)
}

/// A job file with the files that it includes, which lie in its folder or below it.
fn read_job_file(text: &str, file: &str, wish: &Wish) -> Result<JobFile, SuiteError> {
    let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    let included = |path: &Path| {
        let file = files::open_below(&folder, path).map_err(|error| match error.kind() {
            Some(ErrorKind::NotFound) => "no such file".to_owned(),
            _ => error.to_string(),
        })?;
        let mut text = String::new();
        match file.take(LONGEST + 1).read_to_string(&mut text) {
            Ok(length) if length as u64 > LONGEST => Err("is larger than 1 MiB".to_owned()),
            Ok(_) => Ok(text),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err("is not a text file".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    assay_fio::read_job_file(text, file, &included, wish)
}

/// Whether a file is a fio job file, by what it holds or by its name. What cannot be read is none.
pub(crate) fn is_job_file(path: &Path) -> bool {
    if has_its_name(path) {
        return true;
    }
    let Ok(meta) = std::fs::metadata(path) else { return false };
    let mut text = String::new();
    let read = meta.is_file() && meta.len() <= LONGEST;
    read && files::open(path).is_ok_and(|file| file.take(LONGEST).read_to_string(&mut text).is_ok())
        && assay_fio::is_job_text(&text)
}

fn has_its_name(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("fio"))
}

/// Headings; every suite has at least one of them.
const LOADS: [&str; 2] = ["[[workload]]", "[[program]]"];

/// A suite of TOML, or a job file by its name or by what it holds.
fn parse(text: &str, file: &str, wish: &Wish) -> Result<(Suite, Vec<String>), Failure> {
    if has_its_name(Path::new(file)) || assay_fio::is_job_text(text) {
        let read = read_job_file(text, file, wish)?;
        return Ok((read.suite, read.notes));
    }
    let mut suite = Suite::parse(text, file).map_err(|error| match LOADS.iter().any(|loads| text.contains(loads)) {
        true => Failure::from(error),
        false => Failure::usage(format!(
            "{error}; the file is neither a suite (assay suite show quick prints one) nor a job file of fio"
        )),
    })?;
    if let Some(size) = wish.size {
        resize(&mut suite, size, file)?;
    }
    Ok((suite, Vec::new()))
}

/// Sets the size of the test area of a suite. Its workloads may use parts of it.
fn resize(suite: &mut Suite, size: Amount, file: &str) -> Result<(), Failure> {
    (suite.span, suite.span_percent) = match size {
        Amount::Bytes(bytes) => (Bytes(bytes), None),
        Amount::Percent(percent) => (Bytes((percent / 100.0 * WHOLE.0 as f64) as u64), Some(percent)),
    };
    let needs = |w: &SuiteWorkload| {
        let blocks = w.largest().saturating_mul(u64::from(w.jobs));
        let part = w.span.filter(|_| w.span_percent.is_none()).map_or(0, |span| span.0);
        part.saturating_add(w.offset.filter(|_| w.offset_percent.is_none()).map_or(0, |offset| offset.0)).max(blocks)
    };
    let most = suite.workloads.iter().max_by_key(|w| needs(w));
    match most.filter(|w| needs(w) > suite.span.0) {
        Some(w) => Err(Failure::usage(format!(
            "{file}: workload `{}` uses {}, which is more than --size {}",
            w.name,
            Bytes(needs(w)),
            suite.span
        ))),
        None => Ok(()),
    }
}

/// A suite by name or file.
pub(crate) fn load(name: &str) -> Result<Suite, Failure> {
    checked(name).map(|(_, suite)| suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_suite_is_sound_and_named_like_its_file() {
        for (name, text) in BUILT_IN {
            let suite = Suite::parse(text, name).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(suite.name, name);
        }
    }

    #[test]
    fn a_misspelt_suite_is_refused_before_other_machines_have_it() {
        let refused = format!("{:?}", check_word("smoek").unwrap_err());
        assert!(refused.contains("smoek") && refused.contains("smoke"), "{refused}");
        for name in ["smoke", "-", "/etc/assay/mine.toml", "mine.toml"] {
            assert!(check_word(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn quick_is_what_the_documentation_promises() {
        let suite = load("quick").unwrap();
        assert_eq!((suite.budget, suite.max_write), (Duration::from_secs(90), Bytes(1 << 30)));
        assert!(suite.repeats >= 3 && suite.enough == Some(0.05));
        assert_eq!(suite.workloads.len(), 7);
    }
}
