//! Two loads at once: whose figures are exceeded in both, and whose are not.

use assay_analysis::{Load, deciding_quantity};
use assay_core::observation::Observation;
use assay_core::text::capitalised;
use assay_core::workload::{Op, Pattern};

use crate::data::{Label, Value, Wanted, notes, rests_on, subjects, unit, value};
use crate::font;
use crate::paint::{Anchor, Drawing, INK, MUTE, Stroke, looks};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH, spread};

/// Media by two figures; more is better of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Pareto {
    /// What the horizontal axis shows, with its unit.
    pub x: (String, String),
    /// What the vertical axis shows, with its unit.
    pub y: (String, String),
    /// The media.
    pub points: Vec<ParetoPoint>,
    /// Below the picture.
    pub notes: Vec<String>,
}

/// One medium.
#[derive(Debug, Clone, PartialEq)]
pub struct ParetoPoint {
    /// Who it is.
    pub label: Label,
    /// Place of its model among those of all pictures that stand together, which gives it its colour.
    pub hue: usize,
    /// Its figures.
    pub x: Value,
    /// See `x`.
    pub y: Value,
}

impl ParetoPoint {
    fn counts(&self) -> bool {
        self.x.counts() && self.y.counts()
    }

    fn exceeded_by(&self, other: &Self) -> bool {
        let (dx, dy) = (other.x.point - self.x.point, other.y.point - self.y.point);
        other.counts() && dx >= 0.0 && dy >= 0.0 && dx + dy > 0.0
    }
}

impl Pareto {
    /// A read against a write of the same kind: the pair that most records have, small random
    /// work before other work.
    #[must_use]
    pub fn from_records(records: &[Observation], wanted: &Wanted) -> Option<Self> {
        let mut loads = wanted.loads_of(records);
        loads.retain(Load::is_plain);
        let all = subjects(records);
        let decides = |load: &Load| deciding_quantity(records, load).quantity;
        let usual = |record: &Observation, load: &Load| value(record, load, decides(load));
        let both = |(a, b): &(&Load, &Load)| {
            all.iter().filter(|s| usual(s.record, a).is_some() && usual(s.record, b).is_some()).count()
        };
        let pairs = loads.iter().filter(|l| l.op() == Op::Read).flat_map(|read| {
            let writes = loads.iter().filter(|l| l.op() == Op::Write && !l.synced && l.pattern() == read.pattern());
            writes.filter(|w| w.queue_depth == read.queue_depth && w.jobs == read.jobs).map(move |write| (read, write))
        });
        let best = pairs.enumerate().max_by_key(|(i, (read, write))| {
            let same = read.block_bytes == write.block_bytes;
            (both(&(read, write)), read.pattern() == Some(Pattern::Random), same, std::cmp::Reverse(*i))
        });
        let (read, write) = best.map(|(_, pair)| pair).filter(|pair| both(pair) > 1)?;
        let points: Vec<ParetoPoint> = all
            .iter()
            .filter_map(|s| {
                let (x, y) = (usual(s.record, read)?, usual(s.record, write)?);
                Some(ParetoPoint { label: s.label.clone(), hue: s.hue, x, y })
            })
            .collect();
        let missing = records.len() - points.len();
        let missing =
            (missing > 0).then(|| format!("{missing} of {} records lack one of the two loads.", records.len()));
        let axis = |load: &Load| (load.title(), unit(decides(load)).to_owned());
        Some(Self { x: axis(read), y: axis(write), points, notes: missing.into_iter().collect() })
    }

    /// The Pareto front, from left to right: points that no other point exceeds in both figures.
    fn front(&self) -> Vec<&ParetoPoint> {
        let good = self.points.iter().filter(|p| p.counts());
        let mut front: Vec<&ParetoPoint> = good.filter(|p| !self.points.iter().any(|o| p.exceeded_by(o))).collect();
        front.sort_by(|a, b| a.x.point.total_cmp(&b.x.point).then(b.y.point.total_cmp(&a.y.point)));
        front
    }

    fn title(&self) -> String {
        let good = self.points.iter().filter(|p| p.counts()).count();
        let both = format!("{} and {}", self.x.0, self.y.0);
        if good == 0 {
            format!("No valid figures of {both}")
        } else {
            format!("{} of {good} records", capitalised(&both))
        }
    }
}

/// Draws media by two figures, with the front.
#[must_use]
pub fn pareto(data: &Pareto) -> Drawing {
    let values = || data.points.iter().flat_map(|p| [&p.x, &p.y]);
    let described = format!("{} against {}; up and to the right is better; {}", data.y.0, data.x.0, rests_on(values()));
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let names =
        data.points.iter().map(|p| font::width(&p.label.to_string(), LABEL, false)).fold(60.0, f64::max).min(230.0);
    let (left, right) = (EDGE + 46.0, WIDTH - EDGE - names - 40.0);
    let top = sheet.top + 18.0;
    let bottom = top + (data.points.len() as f64 * 18.0).clamp(360.0, 700.0);
    let extent = |pick: fn(&ParetoPoint) -> &Value| {
        data.points.iter().filter(|p| p.counts()).flat_map(move |p| pick(p).extent()).collect::<Vec<f64>>()
    };
    let across = Scale::new(extent(|p| &p.x), left, right);
    let upright = Scale::new(extent(|p| &p.y), bottom, top);
    sheet.upright(&upright, left, right, &format!("{}, {}", data.y.0, data.y.1));
    sheet.across(&across, top, bottom, &format!("{}, {}", data.x.0, data.x.1), 6);

    let front = data.front();
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for p in &front {
        let (x, y) = (across.at(p.x.point), upright.at(p.y.point));
        match steps.last() {
            None => steps.push((left, y)),
            Some((before, _)) => steps.push((*before, y)),
        }
        steps.push((x, y));
    }
    if let Some((x, _)) = steps.last().copied() {
        steps.push((x, bottom));
        sheet.drawing.line(steps, Stroke { ink: MUTE, width: 1.4, dash: &[5.0, 3.0] });
    }
    let looks = looks(data.points.iter().map(|p| p.hue));
    for (p, look) in data.points.iter().zip(&looks).filter(|(p, _)| p.counts()) {
        let (x, y) = (across.at(p.x.point), upright.at(p.y.point));
        let whisker = Stroke::wide(look.ink, 1.2);
        if let Some((low, high)) = p.x.interval {
            sheet.drawing.line([(across.at(low), y), (across.at(high), y)], whisker);
        }
        if let Some((low, high)) = p.y.interval {
            sheet.drawing.line([(x, upright.at(low)), (x, upright.at(high))], whisker);
        }
    }
    for (p, look) in data.points.iter().zip(&looks).filter(|(p, _)| p.counts()) {
        let bounded = p.x.bounded() || p.y.bounded();
        look.marker(&mut sheet.drawing, across.at(p.x.point), upright.at(p.y.point), bounded);
    }
    let wanted: Vec<f64> = data.points.iter().map(|p| upright.at(p.y.point)).collect();
    for ((p, look), y) in data.points.iter().zip(&looks).zip(spread(&wanted, 17.0, top, bottom)) {
        if p.counts() {
            look.marker(&mut sheet.drawing, right + 20.0, y, false);
        }
        let on = front.iter().any(|f| std::ptr::eq(*f, p));
        let name = p.label.fitted(LABEL, WIDTH - EDGE - right - 32.0);
        sheet.drawing.text(right + 32.0, y + 4.0, LABEL, if on { INK } else { MUTE }, Anchor::Start, &name);
    }
    let mut small = notes(data.points.iter().flat_map(|p| [(&p.label, &p.x), (&p.label, &p.y)]));
    small.push("The dashed line joins those whose figures no other exceeds in both, whatever the intervals; their names are in \
         dark print.".to_owned());
    small.extend(data.notes.iter().cloned());
    sheet.finish(bottom + 36.0, &small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_holds_what_no_other_exceeds_in_both_figures() {
        let point = |(x, y): (f64, f64)| {
            let value = |point| Value { point, interval: None, level: None, n: 1, marks: Vec::new() };
            ParetoPoint { label: Label::default(), hue: 0, x: value(x), y: value(y) }
        };
        let axis = || (String::new(), String::new());
        let front = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let points = points.iter().copied().map(point).collect();
            let data = Pareto { x: axis(), y: axis(), points, notes: Vec::new() };
            data.front().iter().map(|p| (p.x.point, p.y.point)).collect()
        };
        assert_eq!(front(&[(20.0, 5.0), (10.0, 10.0)]), [(10.0, 10.0), (20.0, 5.0)]);
        assert_eq!(front(&[(20.0, 5.0), (10.0, 10.0), (20.0, 10.0)]), [(20.0, 10.0)]);
        assert_eq!(front(&[(10.0, 10.0), (10.0, 10.0)]).len(), 2, "equals do not exceed each other");
    }
}
