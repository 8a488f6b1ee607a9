//! What is said where words name several loads, and an answer is about one of them.

use assay_analysis::{Load, loads_named};
use assay_core::observation::Observation;
use assay_core::text::quoted;

use crate::output;

/// Loads that are named in one line.
const SHOWN: usize = 6;

/// Names the loads that the `words` of `--load` fit, where the answer is about `chosen`, one of several. All commands that
/// decide by one load choose it in one way ([`assay_analysis::deciding_load`]) and say so here.
pub(crate) fn tell_chosen<'r>(words: Option<&str>, records: impl IntoIterator<Item = &'r Observation>, chosen: &Load) {
    let named = words.and_then(|words| Some((words, loads_named(records, words).ok()?)));
    if let Some(line) = named.and_then(|(words, named)| among(words, &named, chosen)) {
        output::tell_wrapped(&line);
    }
}

/// The line, where there is more than one.
fn among(words: &str, named: &[Load], chosen: &Load) -> Option<String> {
    let others: Vec<String> = named.iter().filter(|load| *load != chosen).map(Load::title).collect();
    let (first, more) = others.split_at(others.len().min(SHOWN));
    let more = if more.is_empty() { String::new() } else { format!("; and {} more", more.len()) };
    (!others.is_empty()).then(|| {
        format!(
            "--load {} names {} loads; this is about {}, and not about {}{more}",
            quoted(words),
            named.len(),
            chosen.title(),
            first.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use assay_core::workload::{Op, Pattern, Workload};

    use super::*;

    #[test]
    fn several_loads_are_named_and_one_is_not() {
        let load = |block| Load::from_workload(&Workload::new("w", Op::Write, Pattern::Random, block));
        let all: Vec<Load> = (10..20).map(|power| load(1 << power)).collect();
        assert_eq!(among("write", &all[..1], &all[0]), None);
        let two = among("write", &all[..2], &all[1]).unwrap();
        assert_eq!(
            two,
            "--load `write` names 2 loads; this is about random write 2 KiB, and not about random write 1 KiB"
        );
        let many = among("write", &all, &all[2]).unwrap();
        assert!(
            many.contains("names 10 loads; this is about random write 4 KiB,") && many.ends_with("; and 3 more"),
            "{many}"
        );
    }
}
