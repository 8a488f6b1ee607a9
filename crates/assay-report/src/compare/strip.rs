//! Points on a common logarithmic axis.

use assay_analysis::compare::{LoadComparison, Side};

/// One point, and several that fall into one column.
const POINTS: [char; 2] = ['◦', '•'];

/// The axis of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// From the least to the greatest point, and at least twice the margin wide: what does not matter is not blown up.
    /// `None` without points.
    pub(super) fn of(load: &LoadComparison, margin: f64) -> Option<Self> {
        let logs: Vec<f64> = load.sides.iter().flat_map(points).map(f64::ln).collect();
        let low = logs.iter().copied().reduce(f64::min)?;
        let high = logs.iter().copied().reduce(f64::max)?;
        let (middle, half) = ((low + high) / 2.0, ((high - low) / 2.0).max(margin.ln_1p()).max(1e-6));
        Some(Self { low: middle - half, high: middle + half })
    }

    /// Values at the ends.
    pub(super) fn ends(self) -> (f64, f64) {
        (self.low.exp(), self.high.exp())
    }

    /// A line of `width` columns with the points of a group.
    pub(super) fn strip(self, side: &Side, width: usize) -> String {
        let last = width.saturating_sub(1);
        let mut counts = vec![0usize; width.max(1)];
        for point in points(side) {
            let share = (point.ln() - self.low) / (self.high - self.low);
            let column = (share * last as f64).round().clamp(0.0, last as f64) as usize;
            counts[column] += 1;
        }
        let shown = counts.iter().map(|count| match count {
            0 => ' ',
            1 => POINTS[0],
            _ => POINTS[1],
        });
        shown.collect()
    }
}

fn points(side: &Side) -> impl Iterator<Item = f64> + '_ {
    side.runs.iter().flat_map(|run| run.points.iter().copied()).filter(|p| *p > 0.0 && p.is_finite())
}
