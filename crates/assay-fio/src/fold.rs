//! Repeats that stand in a job file as sections of their own.

use assay_core::suite::SuiteWorkload;

/// Folds `x-1`, `x-2`, … that are otherwise alike into one workload `x` with repeats, where all of
/// the file is written so. A single repeat is told from a name that ends in `-1` only in a file
/// that assay wrote (`ours`).
pub(crate) fn fold(workloads: Vec<SuiteWorkload>, ours: bool) -> (Vec<SuiteWorkload>, u32) {
    let Some(repeats) = count(&workloads).filter(|n| *n > 1 || ours) else { return (workloads, 1) };
    let folded = workloads
        .chunks(repeats)
        .filter_map(<[SuiteWorkload]>::first)
        .map(|w| SuiteWorkload {
            name: split(&w.name).map_or(w.name.as_str(), |(stem, _)| stem).to_owned(),
            ..w.clone()
        })
        .collect();
    match u32::try_from(repeats) {
        Ok(repeats) if repeats <= 1000 => (folded, repeats),
        _ => (workloads, 1),
    }
}

/// How many repeats every workload has; `None` where they are not written as repeats.
fn count(workloads: &[SuiteWorkload]) -> Option<usize> {
    let (stem, _) = split(&workloads.first()?.name)?;
    let repeats = workloads.iter().take_while(|w| split(&w.name).is_some_and(|(s, _)| s == stem)).count();
    let groups = workloads.chunks(repeats);
    let mut stems: Vec<&str> = Vec::new();
    for group in groups {
        let first = group.first()?;
        let (stem, _) = split(&first.name)?;
        let alike = group.len() == repeats
            && group.iter().enumerate().all(|(i, w)| {
                split(&w.name) == Some((stem, i + 1)) && *w == SuiteWorkload { name: w.name.clone(), ..first.clone() }
            });
        if !alike || stem.is_empty() || stems.contains(&stem) {
            return None;
        }
        stems.push(stem);
    }
    Some(repeats)
}

fn split(name: &str) -> Option<(&str, usize)> {
    let (stem, number) = name.rsplit_once('-')?;
    Some((stem, number.parse().ok()?))
}
