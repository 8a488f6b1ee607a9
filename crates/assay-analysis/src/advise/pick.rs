//! Loads by the words that people write.

use assay_core::record::Record;

use super::error::AdviseError;
use crate::{Load, loads};

/// The loads that `asked` names: a title like `random read 4 KiB, QD 32` (spaces, commas and case
/// do not matter), the name of a workload, or the beginning of a title.
///
/// # Errors
/// None of the records has such a load.
pub fn load_named(records: &[&Record], asked: &str) -> Result<Vec<Load>, AdviseError> {
    let all = loads(records.iter().copied());
    let wanted = bare(asked);
    let of = |pick: &dyn Fn(&Load) -> bool| all.iter().filter(|l| pick(l)).cloned().collect::<Vec<_>>();
    let exact = of(&|l| bare(&l.title()) == wanted);
    if !exact.is_empty() {
        return Ok(exact);
    }
    let mut workloads = records.iter().flat_map(|r| &r.measurements).filter(|m| m.workload.name == asked);
    if let Some(measurement) = workloads.next() {
        let load = Load::of(&measurement.workload);
        let named = of(&|l| *l == load);
        if !named.is_empty() {
            return Ok(named);
        }
    }
    let begins = of(&|l| !wanted.is_empty() && bare(&l.title()).starts_with(&wanted));
    if begins.is_empty() {
        return Err(AdviseError::NoSuchLoad {
            whose: "none of the records".to_owned(),
            load: format!("load `{asked}`"),
            mend: format!("there are: {}", titles(&all)),
        });
    }
    Ok(begins)
}

/// The first few titles.
pub(super) fn titles(loads: &[Load]) -> String {
    const SHOWN: usize = 8;
    let mut text = loads.iter().take(SHOWN).map(Load::title).collect::<Vec<_>>().join("; ");
    if loads.len() > SHOWN {
        text += &format!("; and {} more", loads.len() - SHOWN);
    }
    if text.is_empty() { "none".to_owned() } else { text }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
