//! The nights of a watched medium: a panel for each figure, with its level and what happened.

use crate::font;
use crate::paint::{Anchor, BAND, CEILING, Drawing, GRID, INK, MUTE, Shape, Stroke};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH};

/// Nights of a medium.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Year {
    /// The finding.
    pub title: String,
    /// What is shown.
    pub about: String,
    /// The first and the last day, in days since 1970.
    pub days: (i64, i64),
    /// Days that are named below the panels.
    pub dates: Vec<(i64, String)>,
    /// The figures.
    pub panels: Vec<YearPanel>,
    /// What happened.
    pub marks: Vec<YearMark>,
}

/// The nights of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct YearPanel {
    /// The load and the unit.
    pub name: String,
    /// Day and value of each night.
    pub nights: Vec<(i64, f64)>,
    /// The level now; none before the first night of it.
    pub level: Option<YearLevel>,
}

/// A level with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YearLevel {
    /// Its first day.
    pub since_day: i64,
    /// The level.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct YearMark {
    /// The day.
    pub day: i64,
    /// Its number.
    pub number: u32,
    /// Whether it was an alarm.
    pub is_alarm: bool,
}

/// Height of a panel, and what is between two of them.
const PANEL: f64 = 78.0;
/// See [`PANEL`].
const BETWEEN: f64 = 34.0;
/// Panels at most: further figures are not drawn.
const MOST: usize = 8;

/// Draws the nights; `None` where no figure has one.
#[must_use]
pub fn year(year: &Year) -> Option<Drawing> {
    let drawn: Vec<&YearPanel> = year.panels.iter().filter(|panel| !panel.nights.is_empty()).take(MOST).collect();
    if drawn.is_empty() {
        return None;
    }
    let mut sheet = Sheet::new(WIDTH, &year.title, &year.about);
    let (left, right) = (EDGE + 52.0, WIDTH - EDGE);
    let (first, last) = (year.days.0, year.days.1.max(year.days.0 + 1));
    let across = |day: i64| {
        let share = (day - first) as f64 / (last - first) as f64;
        left + share.clamp(0.0, 1.0) * (right - left)
    };
    let start = sheet.top + 30.0;
    let mut top = start;
    for panel in &drawn {
        let bottom = top + PANEL;
        let upright = Scale::close(panel.nights.iter().map(|(_, value)| *value), bottom, top);
        let name = font::fitted(&panel.name, LABEL, right - EDGE);
        sheet.drawing.text(EDGE, top - 8.0, LABEL, INK, Anchor::Start, &name);
        sheet.drawing.rect(left, top, right - left, PANEL, Some(BAND), None);
        sheet.upright_of(&upright, left, right, 3);
        for (day, _) in &year.dates {
            let x = across(*day);
            sheet.drawing.line([(x, top), (x, bottom)], Stroke::thin(GRID));
        }
        for mark in &year.marks {
            let x = across(mark.day);
            let stroke = if mark.is_alarm { CEILING } else { Stroke { ink: MUTE, width: 1.0, dash: &[2.0, 3.0] } };
            sheet.drawing.line([(x, top), (x, bottom)], stroke);
        }
        for (day, value) in &panel.nights {
            let (x, y) = (across(*day), upright.at(*value));
            sheet.drawing.push(Shape::Circle { x, y, r: 1.7, fill: Some(MUTE), stroke: None });
        }
        if let Some(level) = &panel.level {
            let (from, to) = (across(level.since_day), across(last));
            for (value, width) in [(level.low, 0.8), (level.value, 2.0), (level.high, 0.8)] {
                let y = upright.at(value);
                sheet.drawing.line([(from, y), (to, y)], Stroke::wide(INK, width));
            }
        }
        top = bottom + BETWEEN;
    }
    let bottom = top - BETWEEN;
    let mut free = f64::NEG_INFINITY;
    for mark in &year.marks {
        let (x, text) = (across(mark.day), mark.number.to_string());
        let wide = font::width(&text, LABEL, true);
        if x - wide / 2.0 > free {
            let ink = if mark.is_alarm { CEILING.ink } else { MUTE };
            sheet.drawing.text(x, bottom + 14.0, LABEL, ink, Anchor::Middle, &text);
            free = x + wide / 2.0 + 4.0;
        }
    }
    let mut free = f64::NEG_INFINITY;
    for (day, name) in &year.dates {
        let (x, half) = (across(*day), font::width(name, LABEL, false) / 2.0);
        let x = x.clamp(left + half, right - half);
        if x - half > free {
            sheet.drawing.text(x, bottom + 30.0, LABEL, MUTE, Anchor::Middle, name);
            free = x + half + 6.0;
        }
    }
    let mut notes = vec![
        "Dots are nights, the line is the level now with its 95 % interval; numbers are events, red ones alarms."
            .into(),
    ];
    if year.panels.len() > drawn.len() {
        notes.push(format!("{} more figures are not drawn.", year.panels.len() - drawn.len()));
    }
    Some(sheet.finish(bottom + 36.0, &notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_a_level_and_an_alarm_are_drawn_where_they_are() {
        let panel = YearPanel {
            name: "random read, IOPS".to_owned(),
            nights: vec![(100, 1000.0), (465, 900.0)],
            level: Some(YearLevel { since_day: 400, value: 905.0, low: 900.0, high: 910.0 }),
        };
        let marks = vec![YearMark { day: 400, number: 3, is_alarm: true }];
        let dates = vec![(282, "2025-01-01".to_owned())];
        let all = Year { days: (100, 465), dates, panels: vec![panel], marks, ..Year::default() };
        let svg = year(&all).unwrap().svg();
        assert!(svg.contains("2025-01-01") && svg.contains(">3<") && svg.contains("random read, IOPS"), "{svg}");
        assert_eq!(year(&Year { panels: Vec::new(), ..all }), None);
    }
}
