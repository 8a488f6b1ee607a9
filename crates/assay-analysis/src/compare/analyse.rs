//! The comparison of groups, load by load.

use std::collections::BTreeSet;

use super::gather::gather;
use super::group::{CompareError, Group, Request, check};
use super::judge::judge;
use super::note::letter;
use super::notes::notes;
use super::numbers::{options, pairs, widen};
use super::report::{Comparison, GroupInfo, LoadComparison, Side};
use crate::Excluded;
use crate::deciding::deciding_load;
use crate::identity::identity;
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::loads;

/// Compares groups of records under every load that at least two of them have. The first group is the reference.
///
/// # Errors
/// [`CompareError`]: fewer than two groups, more than [`super::MOST_GROUPS`], a record in two of them, a primary
/// load that is not there, a margin or level out of range.
pub fn compare<'a>(groups: &[Group<'a>], request: &Request) -> Result<Comparison, CompareError> {
    check(groups)?;
    let mut compared = Vec::new();
    let mut excluded = Vec::new();
    for load in loads(groups.iter().flat_map(|g| g.records.iter().copied())) {
        compared.extend(under(groups, load, request, &mut excluded)?);
    }
    let there: Vec<Load> = compared.iter().map(|l| l.load.clone()).collect();
    if request.primary.is_some() || !there.is_empty() {
        let of = |(at, group): (usize, &Group<'a>)| group.records.iter().map(move |r| (at, *r)).collect::<Vec<_>>();
        let records: Vec<_> = groups.iter().enumerate().flat_map(of).collect();
        let decides = deciding_load(&records, request.primary.as_deref(), Some(&there))?;
        compared.iter_mut().for_each(|l| l.primary = l.load == decides);
    }
    let notes = notes(groups, &compared);
    let infos = groups.iter().enumerate().map(|(at, group)| info(at, group)).collect();
    Ok(Comparison { level: request.level, margin: request.margin, groups: infos, loads: compared, excluded, notes })
}

/// One load; `None` where fewer than two groups have it.
pub(super) fn under(
    groups: &[Group<'_>],
    load: Load,
    request: &Request,
    excluded: &mut Vec<Excluded>,
) -> Result<Option<LoadComparison>, CompareError> {
    let quantity = request.quantity.unwrap_or_else(|| Quantity::usual(&load));
    let more_is_better = quantity.more_is_better();
    let options = options(request, more_is_better)?;
    let mut sides = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let (side, left_out) = gather(at, group, &load, quantity, request.level);
        sides.extend(side);
        excluded.extend(left_out);
    }
    if sides.len() < 2 {
        return Ok(None);
    }
    let widened = sides.iter().any(Side::until_narrow);
    let options = if widened { widen(options) } else { options };
    let (method, numbers) = pairs(&sides, request.runs, &options)?;
    let pairs = numbers.into_iter().map(|(a, b, n)| judge(&sides[a], &sides[b], n, more_is_better)).collect();
    let title = load.title();
    Ok(Some(LoadComparison { title, load, quantity, more_is_better, primary: false, method, widened, sides, pairs }))
}

fn info(at: usize, group: &Group<'_>) -> GroupInfo {
    let of: BTreeSet<(String, String)> = group.records.iter().map(|r| identity(r)).map(|i| (i.model, i.unit)).collect();
    let models: BTreeSet<String> = of.iter().map(|(model, _)| model.clone()).collect();
    GroupInfo {
        letter: letter(at),
        query: group.name.clone(),
        models: models.into_iter().collect(),
        units: of.into_iter().collect(),
        records: group.records.iter().map(|r| r.id.clone()).collect(),
    }
}
