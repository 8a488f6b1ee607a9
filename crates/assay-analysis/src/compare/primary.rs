//! The load that the answer is about.

use assay_core::workload::{Op, Pattern};

use super::group::{CompareError, Group};
use super::report::LoadComparison;

/// What CrystalDiskMark, the application performance classes of SD cards and `quick` have in common.
const USUAL_BLOCK: u64 = 4096;

/// Index of the primary load. It is chosen by its kind and never by its figures: choosing by figures would make
/// differences out of chance.
pub(super) fn primary(
    loads: &[LoadComparison],
    groups: &[Group<'_>],
    asked: Option<&str>,
) -> Result<Option<usize>, CompareError> {
    let Some(asked) = asked else { return Ok(usual(loads)) };
    let wanted = plain(asked);
    let named = |at: &usize| {
        let mut all = groups.iter().flat_map(|g| &g.records).flat_map(|r| &r.measurements);
        all.any(|m| m.workload.name == asked && crate::Load::of(&m.workload) == loads[*at].load)
    };
    let candidates = || 0..loads.len();
    let exact: Vec<usize> = candidates().filter(|at| plain(&loads[*at].title) == wanted || named(at)).collect();
    let part = || candidates().filter(|at| plain(&loads[*at].title).contains(&wanted)).collect::<Vec<_>>();
    let found = if exact.is_empty() && !wanted.is_empty() { part() } else { exact };
    match found[..] {
        [one] => Ok(Some(one)),
        _ => Err(CompareError::Primary {
            asked: asked.to_owned(),
            found: if found.is_empty() { "none" } else { "several" },
            known: loads.iter().map(|l| l.title.as_str()).collect::<Vec<_>>().join("; "),
        }),
    }
}

/// Random reads of 4 KiB at the greatest depth that most groups have; else the first that comes near it.
fn usual(loads: &[LoadComparison]) -> Option<usize> {
    let likeness = |l: &LoadComparison| {
        let load = &l.load;
        let random = load.pattern() == Pattern::Random;
        let read = load.op() == Op::Read;
        let depth = u64::from(load.queue_depth) * u64::from(load.jobs);
        (l.sides.len(), random && read && load.block_bytes == USUAL_BLOCK, random && read, random, depth)
    };
    (0..loads.len()).rev().max_by_key(|at| likeness(&loads[*at]))
}

/// Letters and digits only, so that nobody has to guess at commas.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
