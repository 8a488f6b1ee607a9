//! Latency over the load that is offered, with the knee.

use assay_analysis::{KNEE_FACTOR, LoadCurve, load_curves};
use assay_core::observation::Observation;
use assay_core::units::figures;

use crate::data::{Label, Wanted, subjects};
use crate::font;
use crate::paint::{Anchor, CEILING, Drawing, INK, Stroke, looks};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH, spread};

/// The 99th percentile of several media under one kind of load.
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    /// The offered load: `random read 4 KiB, QD32`.
    pub load: String,
    /// Name, hue and loads of each medium.
    pub lines: Vec<(Label, usize, LoadCurve)>,
}

impl Latencies {
    /// One for each kind of load, the one that most records have first.
    pub(crate) fn all_of(records: &[Observation], wanted: &Wanted) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for subject in subjects(records) {
            for curve in load_curves(subject.record)
                .into_iter()
                .filter(|curve| curve.loads.iter().any(|load| wanted.holds(load)))
            {
                let line = (subject.label.clone(), subject.hue, curve.clone());
                match all.iter_mut().find(|known| known.load == curve.title) {
                    Some(known) => known.lines.push(line),
                    None => all.push(Self { load: curve.title, lines: vec![line] }),
                }
            }
        }
        all.sort_by_key(|of| std::cmp::Reverse(of.lines.len()));
        all
    }

    /// The medium that holds the heaviest load before its knee.
    fn title(&self) -> String {
        let knees = self.lines.iter().filter_map(|(name, _, curve)| Some((name, curve.knee()?.iops)));
        match knees.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
            Some((name, iops)) => {
                let iops = figures(iops);
                format!("{name}: up to {iops} IOPS, p99 stays within {KNEE_FACTOR} times that of the lightest load")
            }
            None => "None keeps up with its lightest load".to_owned(),
        }
    }
}

/// Draws the 99th percentiles over the offered load.
#[must_use]
pub fn latencies(data: &Latencies) -> Drawing {
    let described = format!(
        "{}, from an open loop; latency counts from when an operation was due; hollow where the medium did not keep up",
        data.load
    );
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let labels = data
        .lines
        .iter()
        .map(|(name, ..)| font::width(&name.to_string(), LABEL, false))
        .fold(60.0, f64::max)
        .min(190.0);
    let (left, right) = (EDGE + 46.0, WIDTH - EDGE - labels - 46.0);
    let top = sheet.top + 18.0;
    let bottom = top + 300.0;
    let points = || data.lines.iter().flat_map(|(_, _, curve)| &curve.points);
    let across = Scale::new(points().map(|p| p.iops), left, right);
    let upright = Scale::new(points().map(|p| p.p99_ns / 1e6), bottom, top);
    sheet.upright(&upright, left, right, "p99, ms");
    sheet.across(&across, top, bottom, "IOPS offered", 7);

    let looks = looks(data.lines.iter().map(|(_, hue, _)| *hue));
    let mut ends = Vec::new();
    for ((_, _, curve), look) in data.lines.iter().zip(&looks) {
        let path: Vec<(f64, f64)> =
            curve.points.iter().map(|p| (across.at(p.iops), upright.at(p.p99_ns / 1e6))).collect();
        ends.push(path.last().map_or(bottom, |end| end.1));
        sheet.drawing.line(path.clone(), look.line(2.0));
        for ((x, y), point) in path.into_iter().zip(&curve.points) {
            look.marker(&mut sheet.drawing, x, y, !point.held);
        }
        if let Some(knee) = curve.knee().filter(|_| curve.beyond().is_some()) {
            let x = across.at(knee.iops);
            sheet.drawing.line([(x, upright.at(knee.p99_ns / 1e6)), (x, bottom)], Stroke { ink: look.ink, ..CEILING });
        }
    }
    for (((name, ..), look), y) in data.lines.iter().zip(&looks).zip(spread(&ends, 17.0, top, bottom)) {
        sheet.drawing.line([(right + 8.0, y), (right + 36.0, y)], look.line(2.0));
        look.marker(&mut sheet.drawing, right + 22.0, y, false);
        let name = name.fitted(LABEL, WIDTH - EDGE - right - 42.0);
        sheet.drawing.text(right + 42.0, y + 4.0, LABEL, INK, Anchor::Start, &name);
    }
    let knee = format!(
        "A dashed line ends at the heaviest load up to which p99 is at most {KNEE_FACTOR} times that of the lightest."
    );
    sheet.finish(bottom + 40.0, &[knee])
}

#[cfg(test)]
mod tests {
    use assay_analysis::LoadPoint;

    use super::*;

    #[test]
    fn the_title_names_the_medium_with_the_farthest_knee() {
        let curve = |loads: &[f64]| {
            let point =
                |(at, iops): (usize, &f64)| LoadPoint { iops: *iops, p99_ns: 1e6 * (1 + at) as f64, held: true };
            let points = loads.iter().enumerate().map(point).collect();
            LoadCurve { title: "random read".to_owned(), points, loads: Vec::new() }
        };
        let named = |model: &str| Label::without_unit(model.to_owned());
        let lines =
            vec![(named("A"), 0, curve(&[100.0, 200.0, 300.0])), (named("B"), 1, curve(&[150.0, 250.0, 350.0]))];
        let data = Latencies { load: "random read".to_owned(), lines };
        assert!(data.title().starts_with("B: up to 250 IOPS"), "{}", data.title());
        let drawing = latencies(&data);
        assert!(drawing.height > 300.0 && !drawing.shapes.is_empty());
    }
}
