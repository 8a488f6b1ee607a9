//! Baselines: names that stand for records of the store, each a file of ids beside it. `baseline:NAME` is a query.

use std::path::PathBuf;

use assay_core::text::quoted;

use crate::failure::Failure;
use crate::{files, output, state};

/// How a query names a baseline.
pub(crate) const PREFIX: &str = "baseline:";
const DIRECTORY: &str = "baselines";
/// Longest name; a file system may allow no more than 255 bytes.
const LONGEST: usize = 64;

/// A name that is a file's name everywhere.
fn checked(name: &str) -> Result<&str, Failure> {
    // As queries name it.
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && !name.starts_with(['.', '-']);
    if plain && !name.is_empty() && name.len() <= LONGEST {
        return Ok(name);
    }
    Err(Failure::usage(format!(
        "{} is not a valid baseline name; use up to {LONGEST} letters, digits, `-`, `_` and `.`, as in baseline:main",
        quoted(name)
    )))
}

fn file(name: &str) -> Result<PathBuf, Failure> {
    Ok(state::directory()?.join(DIRECTORY).join(checked(name)?))
}

/// Ids of the records of a baseline.
pub(crate) fn read(name: &str) -> Result<Vec<String>, Failure> {
    let path = file(name)?;
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let known = names()?;
            let known = if known.is_empty() {
                "there is none yet".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            let set = format!("assay baseline set {name} QUERY creates it");
            Err(Failure::usage(format!("no baseline is named `{name}`; {known}; {set}")))
        }
        Err(error) => Err(cannot("be read", &path, &error)),
    }
}

/// Makes a baseline of these records, in place of one of the same name.
pub(crate) fn set(name: &str, ids: &[String]) -> Result<(), Failure> {
    let path = file(name)?;
    state::subdirectory(DIRECTORY)?;
    files::write_whole(&path, ids.join("\n") + "\n")
}

/// Removes the name; the records stay.
pub(crate) fn remove(name: &str) -> Result<(), Failure> {
    read(name)?;
    let path = file(name)?;
    std::fs::remove_file(&path).map_err(|error| cannot("be removed", &path, &error))
}

/// Names of all baselines, sorted.
pub(crate) fn names() -> Result<Vec<String>, Failure> {
    let directory = state::directory()?.join(DIRECTORY);
    let entries = match std::fs::read_dir(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| cannot("be read", &directory, &error))?,
    };
    // Other files, like one that is being written, are no baselines.
    let named = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = named.filter(|name| checked(name).is_ok()).collect();
    names.sort();
    Ok(names)
}

fn cannot(what: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("{} cannot {what}: {error}", output::shown(path)))
}
