//! Baselines: names that stand for records of the store, each a file of ids beside it. `baseline:NAME` is a query.

use assay_core::text::quoted;

use crate::data_directory::DataDirectory;
use crate::failure::Failure;

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

/// Ids of the records of a baseline.
pub(crate) fn read(name: &str) -> Result<Vec<String>, Failure> {
    let name = checked(name)?;
    let directory = DataDirectory::existing(DIRECTORY)?;
    if let Some(text) = directory.map(|directory| directory.read(name)).transpose()?.flatten() {
        return Ok(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect());
    }
    let known = names()?;
    let known =
        if known.is_empty() { "there is none yet".to_owned() } else { format!("there are {}", known.join(", ")) };
    let set = format!("assay baseline set {name} QUERY creates it");
    Err(Failure::usage(format!("no baseline is named `{name}`; {known}; {set}")))
}

/// Makes a baseline of these records, in place of one of the same name.
pub(crate) fn set(name: &str, ids: &[String]) -> Result<(), Failure> {
    let name = checked(name)?;
    DataDirectory::made(DIRECTORY)?.write(name, ids.join("\n") + "\n")
}

/// Removes the name; the records stay.
pub(crate) fn remove(name: &str) -> Result<(), Failure> {
    read(name)?;
    DataDirectory::made(DIRECTORY)?.remove(checked(name)?).map(drop)
}

/// Names of all baselines, sorted.
pub(crate) fn names() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(DIRECTORY)? else { return Ok(Vec::new()) };
    let mut names = directory.names()?;
    // Other files, like one that is being written, are no baselines.
    names.retain(|name| checked(name).is_ok());
    Ok(names)
}
