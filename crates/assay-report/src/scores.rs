//! Figures that are none of a load: a score, the speed of processor or memory.

use assay_core::record::{Record, Score};
use assay_core::text::clean;
use assay_core::units::figures;

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
    format!("{}: {value}{unit}{better}", clean(&score.name))
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
        };
        assert_eq!(line(&score(3171.0, "", true)), "a\u{fffd}b: 3171");
        assert_eq!(line(&score(12.3456, "s", false)), "a\u{fffd}b: 12.3 s, less is better");
    }
}
