//! `assay rank`.

use assay_analysis::rank::{self, Better, RankOptions, RankReport};
use assay_core::record::Record;

use crate::found::Failure;

/// `assay rank`.
///
/// # Errors
/// Records that cannot be ranked.
pub fn rank(records: &[Record], ask: &RankOptions) -> Result<RankReport, Failure> {
    Ok(rank::rank(&records.iter().collect::<Vec<_>>(), ask)?)
}

/// Pairs of models where the ranking calls the first better.
#[must_use]
pub fn orders(report: &RankReport) -> Vec<(String, String)> {
    let ordered = |better| matches!(better, Better::First | Better::FirstPerhapsSlightly);
    let pairs = report.primary.pairs.iter().filter(|pair| ordered(pair.verdict));
    pairs.map(|pair| (pair.first.clone(), pair.second.clone())).collect()
}

/// A model and one of its units; `None` where no unit is named.
pub type Named = (String, Option<String>);

/// The deviating units in the ranking: each unit named under the deciding load or under several loads, and each model
/// whose units are reported to differ by more than chance.
#[must_use]
pub fn odd(report: &RankReport) -> Vec<Named> {
    let said = report.primary.odd.iter().filter(|odd| odd.unit.is_some() || odd.tested);
    let several = report.deviations.iter().filter(|deviation| deviation.loads > 1);
    let over_loads = several.map(|d| (d.model.clone(), Some(d.unit.clone())));
    said.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(over_loads).collect()
}

/// The same with each load by itself, as `--all` and `--json` show it.
#[must_use]
pub fn odd_under_any_load(report: &RankReport) -> Vec<Named> {
    let each = report.exploratory.iter().flat_map(|load| &load.odd).filter(|odd| odd.unit.is_some() || odd.tested);
    each.map(|odd| (odd.model.clone(), odd.unit.clone())).chain(odd(report)).collect()
}

/// For a model whose units differ without a named unit: the ratio, and the number of units with which one would be
/// named.
#[must_use]
pub fn needed_to_name(report: &RankReport) -> Option<(f64, u32)> {
    report.primary.odd.iter().find_map(|odd| Some((odd.ratio, odd.needed?)))
}
