//! By how much runs of the reference differ, and the smallest limit that is kept without a change.

use assay_analysis::compare::{Case, Check, Comparison, NoSeries, SeriesUse};
use assay_core::text::clean;
use assay_core::units::{figures, trimmed};

/// Lines below the cases of a limit, each group by its name.
pub(super) fn spread(c: &Comparison, check: &Check, name: impl Fn(usize) -> String) -> Vec<String> {
    [runs_of_reference(check, &name(0)), unusable(check, &name(0)), smallest(c, check, name)]
        .into_iter()
        .flatten()
        .collect()
}

/// What the runs of the reference were used for in the cases that an interval decides.
fn series(check: &Check) -> impl Iterator<Item = (SeriesUse, &Case)> {
    check
        .cases
        .iter()
        .filter(|case| case.smallest.is_some())
        .filter_map(|case| Some((case.pair.as_ref()?.series, case)))
}

/// Whether the repeats of single runs decide, which vary less than runs do.
fn by_repeats(check: &Check) -> bool {
    series(check).any(|(series, _)| series == SeriesUse::SingleRuns)
}

/// By how much runs of the reference differ, under the load that varies most, or that nothing says it.
fn runs_of_reference(check: &Check, reference: &str) -> Option<String> {
    let decides = series(check).filter_map(|(series, case)| Some((series.decides()?, clean(&case.load))));
    if let Some((series, load)) = decides.max_by(|a, b| a.0.deviation.total_cmp(&b.0.deviation)) {
        let on = if series.days > 1 { format!(" on {} days", series.days) } else { String::new() };
        let deviation = figures(series.deviation * 100.0);
        let runs = series.runs;
        return Some(format!(
            "standard deviation between {runs} runs of {reference}{on}: at most {deviation} %, for {load}"
        ));
    }
    by_repeats(check).then(|| {
        "repeats of single runs decide; three or more runs of the reference would show how much runs here differ"
            .to_owned()
    })
}

/// Why the runs of the reference do not decide, where they were asked.
fn unusable(check: &Check, reference: &str) -> Option<String> {
    let why = series(check).find_map(|(series, _)| match series {
        SeriesUse::Unusable { why } => Some(why),
        _ => None,
    })?;
    let why = match why {
        NoSeries::Few => "they are fewer than three",
        NoSeries::Undated => "one of the runs does not say its day",
        NoSeries::Hosts => "not all runs are known to be of one host and one computer",
        NoSeries::Days => "they are of one day or two, and the other group is of another",
        NoSeries::Equal => "they are equal, and look like copies",
    };
    Some(format!(
        "the spread between the runs of {reference} does not decide, as {why}; what another day may change is assumed"
    ))
}

/// `9 %`, `1.3 %`: rounded up, as less cannot be held.
fn rounded_up(share: f64) -> String {
    let percent = share * 100.0;
    let step = if percent < 10.0 { 10.0 } else { 1.0 };
    format!("{} %", trimmed((percent * step - 1e-9).ceil() / step, 1))
}

/// The smallest limits that are kept without a change: of the load that varies most, and of the one that varies least.
fn smallest(c: &Comparison, check: &Check, name: impl Fn(usize) -> String) -> Option<String> {
    let place = |case: &Case| match c.groups.len() {
        2 => clean(&case.load),
        _ => format!("{} of {}", clean(&case.load), name(case.group)),
    };
    let of_case = |case: &Case| case.smallest.map(|smallest| (smallest, place(case)));
    let mut all: Vec<(f64, String)> = check.cases.iter().filter_map(of_case).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((least, quiet), (most, loud)) = (all.first()?, all.last()?);
    let known = if by_repeats(check) { "at least " } else { "" };
    let from = format!("smallest limit that an unchanged group keeps here: {known}{}", rounded_up(*most));
    Some(match all.len() {
        1 => from,
        _ if rounded_up(*least) == rounded_up(*most) => from,
        _ => format!("{from} for {loud}, down to {} for {quiet}", rounded_up(*least)),
    })
}
