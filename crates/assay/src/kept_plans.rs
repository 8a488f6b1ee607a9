//! Plans that are kept in the data directory under their labels: pages show how far they are.

use std::path::PathBuf;

use assay_analysis::plan::ExperimentPlan;

use crate::failure::Failure;
use crate::state::DataDirectory;

const DIRECTORY: &str = "plans";
const ENDING: &str = ".toml";

/// Keeps a plan.
pub(crate) fn keep(plan: &ExperimentPlan) -> Result<(), Failure> {
    DataDirectory::made(DIRECTORY)?.write(&file_of(&plan.label()), plan.to_text())
}

fn file_of(label: &str) -> String {
    format!("{label}{ENDING}")
}

/// Labels of all that are kept.
pub(crate) fn labels() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(DIRECTORY)? else { return Ok(Vec::new()) };
    let names = directory.names()?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned)).collect())
}

/// Where a plan is, and its text; none where none of this label is kept.
pub(crate) fn read(label: &str) -> Result<Option<(PathBuf, String)>, Failure> {
    // A label of an address may be anything: it is looked for among the names that are there.
    let known = labels()?.into_iter().any(|known| known == label);
    let Some(directory) = DataDirectory::existing(DIRECTORY)?.filter(|_| known) else { return Ok(None) };
    let name = file_of(label);
    Ok(directory.read(&name)?.map(|text| (directory.path(&name), text)))
}
