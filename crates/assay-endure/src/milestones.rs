//! The shares of failed sectors at which a milestone is reached.

use assay_core::endurance::{Milestones, Reached};

/// Notes what `failed` of `sectors` reach now and did not before.
pub(crate) fn note(milestones: &mut Milestones, failed: u64, sectors: u64, now: Reached) {
    let at_least =
        |thousandths: u64| failed > 0 && u128::from(failed) * 1000 >= u128::from(sectors) * u128::from(thousandths);
    let marks = [
        (&mut milestones.first_error, failed > 0),
        (&mut milestones.per_mille, at_least(1)),
        (&mut milestones.one_percent, at_least(10)),
        (&mut milestones.ten_percent, at_least(100)),
        (&mut milestones.quarter, at_least(250)),
        (&mut milestones.half, at_least(500)),
    ];
    for (mark, reached) in marks {
        if reached && mark.is_none() {
            *mark = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_share_is_noted_once_when_it_is_reached() {
        let mut milestones = Milestones::default();
        let steps = [
            (0, 0),
            (1, 1),
            (9, 1),
            (10, 2),
            (99, 2),
            (100, 3),
            (999, 3),
            (1000, 4),
            (2499, 4),
            (2500, 5),
            (4999, 5),
            (5000, 6),
        ];
        for (cycle, (failed, reached)) in (1..).zip(steps) {
            note(&mut milestones, failed, 10_000, Reached { cycle, written_bytes: 0 });
            let m = milestones;
            let marks = [m.first_error, m.per_mille, m.one_percent, m.ten_percent, m.quarter, m.half];
            assert_eq!(marks.iter().flatten().count(), reached, "{failed}");
        }
        assert_eq!(milestones.first_error.map(|at| at.cycle), Some(2));
        assert_eq!(milestones.half.map(|at| at.cycle), Some(12));
    }
}
