//! The load that decides, by the words of the user or by what was measured.

use assay_core::record::Record;

use super::error::PlanError;
use crate::load::Load;
use crate::reading::{identity, loads};

/// The load that `words` name: its title, the name of a workload, or a part of the title that
/// only one load has. Without words, the load of most models; of several, the first in the order
/// people read them.
///
/// # Errors
/// [`PlanError`] with the loads there are, where there is none or more than one.
pub fn choose_load(records: &[Record], words: Option<&str>) -> Result<Load, PlanError> {
    let all = loads(records);
    let Some(words) = words else {
        let most = all.iter().map(|load| models(records, load)).max();
        let first = all.iter().find(|load| Some(models(records, load)) == most);
        return first.cloned().ok_or_else(|| PlanError::new("records", "hold no figures; measure first: assay run"));
    };
    let wanted = words.trim().to_lowercase();
    let named = |load: &&Load| load.title().to_lowercase() == wanted || workloads(records, load).contains(&wanted);
    let exact: Vec<&Load> = all.iter().filter(named).collect();
    let found: Vec<&Load> = if exact.is_empty() {
        all.iter().filter(|load| load.title().to_lowercase().contains(&wanted)).collect()
    } else {
        exact
    };
    match found[..] {
        [load] => Ok(load.clone()),
        _ => {
            let candidates = if found.is_empty() { all.iter().collect() } else { found.clone() };
            let titles: Vec<String> = candidates.into_iter().map(Load::title).collect();
            let count = if found.is_empty() { "no load is".to_owned() } else { format!("{} loads are", found.len()) };
            let there = if titles.is_empty() { "there are none".to_owned() } else { titles.join("; ") };
            Err(PlanError::new("--load", format!("{count} named `{}`; name one of: {there}", words.trim())))
        }
    }
}

/// How many models have a figure under a load.
fn models(records: &[Record], load: &Load) -> usize {
    let mut names: Vec<String> =
        records.iter().filter(|record| loads([*record]).contains(load)).map(|r| identity(r).model).collect();
    names.sort();
    names.dedup();
    names.len()
}

/// Names of the workloads with this load, in small letters.
fn workloads(records: &[Record], load: &Load) -> Vec<String> {
    let measurements = records.iter().flat_map(|record| &record.measurements);
    let mut plain = load.clone();
    plain.variant.clear();
    let same = measurements
        .filter(|m| Load::of(&m.workload) == plain && (load.variant.is_empty() || load.variant == m.workload.name));
    same.map(|m| m.workload.name.to_lowercase()).collect()
}
