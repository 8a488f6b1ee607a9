//! Scores that are not tied to a load: a score, the speed of processor or memory.

use assay_core::program::ProgramRun;
use assay_core::record::{Record, Score};
use assay_core::text::clean;
use assay_core::units::figures;

/// A program that spends less of its time in the medium than this says nothing about it: twice as fast a medium would
/// change its figure by less than repeats differ.
const LEAST_SHARE: f64 = 0.05;

/// Each score in a line: `sysbench cpu, 8 threads: 5,210 events/s`.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    record.scores.iter().map(line).collect()
}

fn line(score: &Score) -> String {
    let unit = clean(&score.unit);
    let unit = if unit.is_empty() { unit } else { format!(" {unit}") };
    let better = if score.more_is_better { "" } else { ", less is better" };
    let point = score.value.point;
    // Scores are printed whole; three figures of a large one would be another number.
    let value = if point.fract() == 0.0 && point.abs() < 1e15 { format!("{point:.0}") } else { figures(point) };
    let interval = match (score.value.low, score.value.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", figures(low), figures(high)),
        _ => String::new(),
    };
    let program = score.program.as_deref().map(of_program).unwrap_or_default();
    format!("{}: {value}{unit}{interval}{better}{program}", clean(&score.name))
}

/// On what a program ran, and how much of its time the medium can have had: `; at most 3 % of its time in the medium:
/// says nothing about the medium`.
fn of_program(run: &ProgramRun) -> String {
    let tree = run.tree.as_deref().map(|tree| format!("; {}", clean(tree))).unwrap_or_default();
    let Some(share) = run.medium_share() else { return tree };
    let percent = (share * 100.0).ceil();
    let verdict = if share < LEAST_SHARE { ": not a property of the medium" } else { "" };
    format!("{tree}; at most {percent} % of its time in the medium{verdict}")
}

#[cfg(test)]
mod tests {
    use assay_core::estimate::Estimate;

    use super::*;

    #[test]
    fn a_score_is_told_with_its_unit() {
        let score = |point, unit: &str, more_is_better| Score {
            name: "a\u{1b}b".to_owned(),
            value: Estimate::bare(point, 1, ""),
            unit: unit.to_owned(),
            more_is_better,
            program: None,
        };
        assert_eq!(line(&score(3171.0, "", true)), "a\u{fffd}b: 3171");
        assert_eq!(line(&score(12.3456, "s", false)), "a\u{fffd}b: 12.3 s, less is better");
    }

    #[test]
    fn a_program_tells_what_its_figure_says_of_the_medium() {
        let sentence_of = |busy, waiting, tree: Option<&str>| {
            let run = ProgramRun {
                tree: tree.map(str::to_owned),
                medium_busy_share: busy,
                waiting_share: waiting,
                ..ProgramRun::default()
            };
            line(&Score {
                name: "p".to_owned(),
                value: Estimate { low: Some(9.0), high: Some(11.0), ..Estimate::bare(10.0, 3, "") },
                unit: "MB/s".to_owned(),
                more_is_better: true,
                program: Some(Box::new(run)),
            })
        };
        let nothing = "p: 10 MB/s (9.00 to 11.0); at most 4 % of its time in the medium: not a property of the medium";
        assert_eq!(sentence_of(Some(0.9), Some(0.031), None), nothing);
        assert_eq!(
            sentence_of(Some(0.5), Some(0.9), Some("a\u{1b}tree")),
            "p: 10 MB/s (9.00 to 11.0); a\u{fffd}tree; at most 50 % of its time in the medium"
        );
        assert_eq!(sentence_of(None, None, None), "p: 10 MB/s (9.00 to 11.0)");
    }
}
