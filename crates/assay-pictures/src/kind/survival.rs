//! The share of units of each group that lasts, over cycles or bytes.

use assay_analysis::survive::{Axis, Point, Survival, SurviveGroup};
use assay_core::units::counted;

use crate::font;
use crate::paint::{Anchor, BAND, Drawing, INK, SeriesStyle, Shape, Stroke, looks};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH, spread};

/// Most curves that a reader can distinguish.
const MOST: usize = 8;

/// Draws the curves of an answer under a title; `None` where no time is above nought.
#[must_use]
pub fn survival(answer: &Survival, title: &str) -> Option<Drawing> {
    let shown = &answer.groups[..answer.groups.len().min(MOST)];
    let longest = shown.iter().flat_map(|group| &group.course.points).map(|point| point.at).fold(0.0, f64::max);
    if longest <= 0.0 {
        return None;
    }
    let (divisor, unit) = unit(answer.axis, longest);
    let units: u32 = shown.iter().map(|group| group.units).sum();
    let described = format!(
        "Share of {} without {}, with {:.0} % intervals; a stroke is a unit last seen there",
        counted(units as usize, "unit"),
        answer.milestone.title(),
        answer.level * 100.0
    );
    let mut sheet = Sheet::new(WIDTH, title, &described);
    let names: Vec<String> = shown.iter().map(|group| format!("{} ({})", group.name, group.units)).collect();
    let wide = names.iter().map(|name| font::width(name, LABEL, false)).fold(60.0, f64::max).min(190.0);
    let (left, right) = (EDGE + 46.0, WIDTH - EDGE - wide - 46.0);
    let top = sheet.top + 18.0;
    let bottom = top + 300.0;
    let across = Scale::new([longest / divisor], left, right);
    let upright = Scale::new([100.0], bottom, top);
    let looks = looks(0..shown.len());
    let place = |at: f64, share: f64| (across.at(at / divisor), upright.at(share * 100.0));
    // A filled band would hide those of other groups.
    if let [only] = shown {
        let mut around = steps(only, longest, &place, |point| point.high);
        around.extend(steps(only, longest, &place, |point| point.low).into_iter().rev());
        sheet.drawing.push(Shape::Path { points: around, closed: true, fill: Some(BAND), stroke: None });
    }
    sheet.upright(&upright, left, right, "lasting, %");
    sheet.across(&across, top, bottom, unit, 7);
    let mut ends = Vec::new();
    for (group, look) in shown.iter().zip(&looks) {
        for end in [low as fn(&Point) -> f64, high] {
            let path = steps(group, longest, &place, end);
            sheet.drawing.line(path, Stroke { ink: look.ink, width: 0.8, dash: &[2.0, 3.0] });
        }
        let path = steps(group, longest, &place, |point| point.share);
        ends.push(path.last().map_or(bottom, |end| end.1));
        sheet.drawing.line(path, Stroke::wide(look.ink, 2.2));
        for point in group.course.points.iter().filter(|point| point.censored > 0) {
            let (x, y) = place(point.at, point.share);
            sheet.drawing.line([(x, y - 5.0), (x, y + 5.0)], Stroke::wide(look.ink, 1.6));
        }
    }
    for (((name, group), look), y) in names.iter().zip(shown).zip(&looks).zip(spread(&ends, 17.0, top, bottom)) {
        key(&mut sheet.drawing, look, name, group, right, y);
    }
    let mut notes = vec![format!(
        "In brackets the units. Curves: Kaplan-Meier; dotted: {}. A curve above 0 ends where its last unit was seen.",
        shown[0].course.method
    )];
    if answer.groups.len() > MOST {
        notes.push(format!("{} more groups are not drawn.", answer.groups.len() - MOST));
    }
    Some(sheet.finish(bottom + 40.0, &notes))
}

fn low(point: &Point) -> f64 {
    point.low
}

fn high(point: &Point) -> f64 {
    point.high
}

/// A staircase: a value holds until the next point.
fn steps(
    group: &SurviveGroup,
    longest: f64,
    place: &impl Fn(f64, f64) -> (f64, f64),
    value: impl Fn(&Point) -> f64,
) -> Vec<(f64, f64)> {
    let mut path = Vec::new();
    let mut current = 1.0;
    for (number, point) in group.course.points.iter().enumerate() {
        if number > 0 {
            path.push(place(point.at, current));
        }
        current = value(point);
        path.push(place(point.at, current));
    }
    // Where all failed the curve is known beyond its last point.
    if group.course.points.last().is_some_and(|point| point.share == 0.0) {
        path.push(place(longest, current));
    }
    path
}

fn key(drawing: &mut Drawing, look: &SeriesStyle, name: &str, group: &SurviveGroup, right: f64, y: f64) {
    drawing.line([(right + 8.0, y), (right + 36.0, y)], Stroke::wide(look.ink, 2.2));
    look.marker(drawing, right + 22.0, y, group.failed == 0);
    let name = font::fitted(name, LABEL, WIDTH - EDGE - right - 42.0);
    drawing.text(right + 42.0, y + 4.0, LABEL, INK, Anchor::Start, &name);
}

fn unit(axis: Axis, longest: f64) -> (f64, &'static str) {
    match axis {
        Axis::Cycles => (1.0, "cycles"),
        Axis::Bytes if longest >= 1e12 => (1e12, "TB written"),
        Axis::Bytes => (1e9, "GB written"),
    }
}
