//! Which nodes are in no sum, and which loads have none.

use std::collections::BTreeMap;

use assay_analysis::fleet::{Beside, FleetReport, NoSum};
use assay_core::text::clean;
use assay_core::units::figures;

use super::words::{count, node};

/// Nodes that are left out of sums, a line each, and loads without a sum though nodes began together.
pub(super) fn items(report: &FleetReport) -> Vec<(String, String)> {
    let mut outside: BTreeMap<usize, Vec<(&str, &Beside)>> = BTreeMap::new();
    let mut none = Vec::new();
    for load in &report.loads {
        for beside in load.together.iter().flat_map(|sum| &sum.beside) {
            outside.entry(beside.node).or_default().push((load.title.as_str(), beside));
        }
        if let Some(NoSum::Apart { largest, of, furthest }) = &load.no_sum {
            let who = furthest.as_ref().map(|one| format!("{} {}; ", node(report, one.node), off(one)));
            let words = match largest {
                0 | 1 => format!("no two of {of} worked at the same time"),
                _ => format!("{largest} of {of} worked at the same time"),
            };
            none.push(("no sum".to_owned(), format!("{}: {}{words}", clean(&load.title), who.unwrap_or_default())));
        }
    }
    let line = |(at, loads): (usize, Vec<(&str, &Beside)>)| {
        let (title, first) = loads.iter().max_by_key(|(_, beside)| beside.furthest_ns())?;
        let more = match loads.len() - 1 {
            0 => String::new(),
            more => format!(", and was apart under {}", count(more, "more load")),
        };
        let words = format!("{} {} under {}{more}", node(report, at), off(first), clean(title));
        Some(("not in the sum".to_owned(), words))
    };
    outside.into_iter().filter_map(line).chain(none).collect()
}

/// `ended 40 s after the others`.
fn off(beside: &Beside) -> String {
    let (verb, later_ns) = if beside.ended_later_ns.unsigned_abs() >= beside.began_later_ns.unsigned_abs() {
        ("ended", beside.ended_later_ns)
    } else {
        ("began", beside.began_later_ns)
    };
    let which = if later_ns < 0 { "before" } else { "after" };
    format!("{verb} {} s {which} the others", figures(later_ns.unsigned_abs() as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_is_further_off_is_told() {
        let words = |began_later_ns, ended_later_ns| off(&Beside { node: 0, began_later_ns, ended_later_ns });
        assert_eq!(words(1_000_000, 40_000_000_000), "ended 40.0 s after the others");
        assert_eq!(words(0, -2_500_000_000), "ended 2.50 s before the others");
        assert_eq!(words(3_000_000_000, 2_000_000_000), "began 3.00 s after the others");
    }
}
