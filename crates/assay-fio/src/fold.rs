//! Repeats that stand in a job file as sections of their own.

use std::collections::HashSet;

use assay_core::suite::SuiteWorkload;

/// Folds `x-1`, `x-2`, … that are otherwise alike into one workload `x` with repeats, where all of
/// the file is written so; of jobs at the same time all have the number. A single repeat is distinguished from names
/// that end in `-1` only in a file that assay wrote (`ours`).
pub(crate) fn fold(workloads: Vec<SuiteWorkload>, ours: bool) -> (Vec<SuiteWorkload>, u32) {
    let turns: Vec<&[SuiteWorkload]> = workloads.chunk_by(|a, b| a.group.is_some() && a.group == b.group).collect();
    let repeats = count(&turns).filter(|n| (*n > 1 || ours) && *n <= 1000);
    let Some((repeats, number)) = repeats.and_then(|n| Some((n, u32::try_from(n).ok()?))) else {
        return (workloads, 1);
    };
    let stem = |w: &SuiteWorkload| SuiteWorkload {
        name: split(&w.name).map_or(w.name.as_str(), |(stem, _)| stem).to_owned(),
        ..w.clone()
    };
    let folded = turns.chunks(repeats).filter_map(|same| same.first()).flat_map(|turn| turn.iter().map(stem)).collect();
    (folded, number)
}

/// How many repeats every turn has; `None` where they are not written as repeats.
fn count(turns: &[&[SuiteWorkload]]) -> Option<usize> {
    let (stems, _) = numbered(turns.first()?)?;
    let repeats = turns.iter().take_while(|turn| numbered(turn).is_some_and(|(others, _)| others == stems)).count();
    let mut known: HashSet<&str> = HashSet::new();
    for same in turns.chunks(repeats) {
        let first = same.first()?;
        let (stems, _) = numbered(first)?;
        let like = |a: &SuiteWorkload, b: &SuiteWorkload| {
            *a == SuiteWorkload { name: a.name.clone(), group: a.group.clone(), ..b.clone() }
        };
        let alike = same.len() == repeats
            && same.iter().enumerate().all(|(i, turn)| {
                numbered(turn) == Some((stems.clone(), i + 1)) && turn.iter().zip(*first).all(|(a, b)| like(a, b))
            });
        if !alike || stems.iter().any(|stem| stem.is_empty() || known.contains(stem)) {
            return None;
        }
        known.extend(stems);
    }
    Some(repeats)
}

/// Names without the number that all of them end in, and that number.
fn numbered(turn: &[SuiteWorkload]) -> Option<(Vec<&str>, usize)> {
    let split: Option<Vec<_>> = turn.iter().map(|w| split(&w.name)).collect();
    let (stems, numbers): (Vec<&str>, Vec<usize>) = split?.into_iter().unzip();
    let first = *numbers.first()?;
    numbers.iter().all(|number| *number == first).then_some((stems, first))
}

fn split(name: &str) -> Option<(&str, usize)> {
    let (stem, number) = name.rsplit_once('-')?;
    Some((stem, number.parse().ok()?))
}
