//! Rates over block sizes, with the ceilings of the buses.

use assay_analysis::{Load, Mark, Quantity};
use assay_core::observation::Observation;
use assay_core::text::capitalised;
use assay_core::units::Bytes;
use assay_core::workload::Op;

use crate::data::{BusCeiling, Label, Value, Wanted, ceilings, notes, rests_on, subjects, value, with_unit};
use crate::font;
use crate::paint::{AXIS, Anchor, CEILING, Drawing, GRID, INK, MUTE, Stroke, looks};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH, spread};

/// One kind of load over block sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// The load without its block size: `random read, 4 jobs`.
    pub load: String,
    /// A line for each record.
    pub lines: Vec<Line>,
    /// What the buses let through.
    pub ceilings: Vec<BusCeiling>,
}

/// The rates of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Who it is.
    pub label: Label,
    /// Place of its model among those of all pictures that stand together, which gives it its colour.
    pub hue: usize,
    /// Block size in bytes and rate in MB/s, smaller blocks first.
    pub points: Vec<(u64, Value)>,
}

/// A load without its block size.
pub(crate) fn family(load: &Load) -> Load {
    with_block(load, 0)
}

/// The same load with another block size.
pub(crate) fn with_block(load: &Load, block_bytes: u64) -> Load {
    let mut other = load.clone();
    other.block_bytes = block_bytes;
    other
}

/// `random read, 4 jobs`.
pub(crate) fn family_title(load: &Load) -> String {
    family(load).title_of_sizes()
}

/// Figures no further apart than this have met, in a picture.
const MET: f64 = 1.10;

/// Whether the bus was reached.
fn at_bus(value: &Value) -> bool {
    value.marks.contains(&Mark::BusLimited)
}

impl Curves {
    /// The kinds of load that these records measured at two block sizes or more, those of the
    /// most records and sizes first.
    #[must_use]
    pub(crate) fn all_of(records: &[Observation], wanted: &Wanted) -> Vec<Self> {
        let loads = wanted.loads_of(records);
        let mut families: Vec<Load> = loads.iter().map(family).collect();
        families.dedup();
        let mut seen: Vec<Load> = Vec::new();
        families.retain(|f| {
            !seen.contains(f) && {
                seen.push(f.clone());
                true
            }
        });
        let mut all: Vec<Self> = families.iter().filter_map(|f| Self::of_family(records, &loads, f)).collect();
        all.sort_by_key(|curves| std::cmp::Reverse(curves.lines.iter().map(|l| l.points.len()).sum::<usize>()));
        all
    }

    fn of_family(records: &[Observation], loads: &[Load], of: &Load) -> Option<Self> {
        // A load of unknown block size has no place on the axis.
        let mut steps: Vec<&Load> = loads.iter().filter(|load| load.block_bytes > 0 && family(load) == *of).collect();
        steps.sort_by_key(|load| load.block_bytes);
        let mut shown: Vec<&Observation> = Vec::new();
        let mut lines: Vec<Line> = Vec::new();
        for subject in subjects(records) {
            let at = |load: &&Load| Some((load.block_bytes, value(subject.record, load, Quantity::BytesPerSecond)?));
            let points: Vec<(u64, Value)> = steps.iter().filter_map(at).collect();
            if !points.is_empty() {
                shown.push(subject.record);
                lines.push(Line { label: subject.label, hue: subject.hue, points });
            }
        }
        let longest = lines.iter().map(|line| line.points.len()).max()?;
        let acknowledged = if of.op() == Op::Read { "" } else { ", acknowledged" };
        (longest >= 2).then(|| Self { load: family_title(of) + acknowledged, lines, ceilings: ceilings(shown) })
    }

    fn blocks(&self) -> Vec<u64> {
        let mut blocks: Vec<u64> = self.lines.iter().flat_map(|l| l.points.iter().map(|(b, _)| *b)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    fn at(&self, block: u64) -> Vec<(&Line, &Value)> {
        let of = |line: &'_ Line| line.points.iter().position(|(b, v)| *b == block && v.counts());
        self.lines.iter().filter_map(|line| of(line).map(|i| (line, &line.points[i].1))).collect()
    }

    /// The smallest block from which on something holds of all lines.
    fn holds_from(&self, holds: impl Fn(&[(&Line, &Value)]) -> bool) -> Option<u64> {
        let blocks = self.blocks();
        let from = blocks.iter().rposition(|b| !holds(&self.at(*b))).map_or(0, |last| last + 1);
        blocks.get(from).copied()
    }

    /// The finding in a sentence.
    pub(crate) fn title(&self) -> String {
        let blocks = self.blocks();
        let (Some(&first), Some(&last)) = (blocks.first(), blocks.last()) else { return "No figures".to_owned() };
        let kind = self.load.split(',').next().unwrap_or_default();
        let many = self.lines.len() > 1;
        let mut title = match &self.at(first)[..] {
            [] if !many => return format!("No valid figure of {}", self.load),
            [(line, value)] if !many => {
                format!("{} does {} at {} {kind}", line.label, with_unit(value.point, "MB/s"), Bytes(first))
            }
            _ => format!("{}, {} to {}: {} records", capitalised(kind), Bytes(first), Bytes(last), self.lines.len()),
        };
        let from = |block: u64| if block == last { "at" } else { "from" };
        let all = if many { "all" } else { "it" };
        let capped = self.holds_from(|at| !at.is_empty() && at.iter().all(|(_, v)| at_bus(v)));
        let met = self.holds_from(|at| {
            let points = || at.iter().map(|(_, v)| v.point);
            at.len() > 1 && points().fold(0.0, f64::max) <= MET * points().fold(f64::INFINITY, f64::min)
        });
        let partly = self.at(last).iter().filter(|(_, v)| at_bus(v)).count();
        if let Some(block) = capped {
            title += &format!("; the bus caps {all} {} {}", from(block), Bytes(block));
        } else if partly > 0 {
            title += &format!("; the bus caps {partly} of {} at {}", self.at(last).len(), Bytes(last));
        } else if let Some(block) = met {
            title += &format!("; {} {} all figures lie within 10 %", from(block), Bytes(block));
        } else if let ([(_, value)], false) = (&self.at(last)[..], many || last == first) {
            title += &format!(" and {} at {}", with_unit(value.point, "MB/s"), Bytes(last));
        }
        title
    }
}

/// Draws rates over block sizes.
#[must_use]
pub fn curves(data: &Curves) -> Drawing {
    let values = || data.lines.iter().flat_map(|line| line.points.iter().map(|(_, v)| v));
    let described = format!("{}; {}", data.load, rests_on(values()));
    let mut sheet = Sheet::new(WIDTH, &data.title(), &described);
    let labels =
        data.lines.iter().map(|l| font::width(&l.label.to_string(), LABEL, false)).fold(60.0, f64::max).min(190.0);
    let (left, right) = (EDGE + 42.0, WIDTH - EDGE - labels - 46.0);
    let top = sheet.top + 18.0;
    let bottom = top + (data.lines.len() as f64 * 17.0).clamp(280.0, 600.0);
    let shown = values().filter(|v| v.counts()).flat_map(Value::extent);
    let scale = Scale::new(shown.chain(data.ceilings.iter().map(|c| c.value)), bottom, top);
    sheet.upright(&scale, left, right, "MB/s (10⁶ bytes)");

    let blocks = data.blocks();
    let ends = |block: Option<&u64>| block.map_or(0.0, |b| (*b as f64).max(1.0).log2());
    let (low, high) = (ends(blocks.first()), ends(blocks.last()));
    let x = |block: u64| {
        left + 14.0 + ((block as f64).max(1.0).log2() - low) / (high - low).max(1e-9) * (right - left - 28.0)
    };
    let mut free = f64::NEG_INFINITY;
    for block in &blocks {
        let (at, name) = (x(*block), Bytes(*block).to_string());
        sheet.drawing.line([(at, top), (at, bottom)], Stroke::thin(GRID));
        sheet.drawing.line([(at, bottom), (at, bottom + 4.0)], Stroke::thin(AXIS));
        let half = font::width(&name, 11.0, false) / 2.0;
        if at - half > free {
            sheet.drawing.text(at, bottom + 17.0, 11.0, MUTE, Anchor::Middle, &name);
            free = at + half + 4.0;
        }
    }
    sheet.drawing.line([(left, bottom), (right, bottom)], Stroke::thin(AXIS));
    sheet.drawing.text(right, bottom + 33.0, 11.0, MUTE, Anchor::End, "block size");

    lines(&mut sheet.drawing, data, &scale, x, (right, top, bottom));
    let mut named = f64::INFINITY;
    for ceiling in &data.ceilings {
        let y = scale.at(ceiling.value);
        sheet.drawing.line([(left, y), (right, y)], CEILING);
        if (named - y).abs() > 12.0 {
            let name = format!("{} allows {}", ceiling.name, with_unit(ceiling.value, "MB/s"));
            let name = font::fitted(&name, 11.0, right - left - 20.0);
            sheet.drawing.text(left + 6.0, y - 5.0, 11.0, CEILING.ink, Anchor::Start, &name);
            named = y;
        }
    }
    let named = |line: &Line, block: u64| format!("{} at {}", line.label, Bytes(block));
    let all: Vec<(String, &Value)> =
        data.lines.iter().flat_map(|l| l.points.iter().map(move |(b, v)| (named(l, *b), v))).collect();
    let mut small = notes(all.iter().map(|(name, v)| (name.as_str(), *v)));
    if data.ceilings.is_empty() {
        small.push("The ceiling of the bus is not known for these.".to_owned());
    }
    sheet.finish(bottom + 40.0, &small)
}

fn lines(
    drawing: &mut Drawing,
    data: &Curves,
    scale: &Scale,
    x: impl Fn(u64) -> f64,
    (right, top, bottom): (f64, f64, f64),
) {
    let looks = looks(data.lines.iter().map(|line| line.hue));
    let mut ends: Vec<f64> = Vec::new();
    for (line, look) in data.lines.iter().zip(&looks) {
        let good: Vec<(f64, &Value)> =
            line.points.iter().filter(|(_, v)| v.counts()).map(|(b, v)| (x(*b), v)).collect();
        let path: Vec<(f64, f64)> = good.iter().map(|(x, v)| (*x, scale.at(v.point))).collect();
        ends.push(path.last().map_or(bottom, |end| end.1));
        if path.len() > 1 {
            drawing.line(path, look.line(2.0));
        }
        for (x, v) in &good {
            if let Some((low, high)) = v.interval {
                drawing.line([(*x, scale.at(low)), (*x, scale.at(high))], Stroke::wide(look.ink, 1.2));
            }
        }
    }
    // Markers over all lines.
    for (line, look) in data.lines.iter().zip(&looks) {
        for (block, v) in line.points.iter().filter(|(_, v)| v.counts()) {
            look.marker(drawing, x(*block), scale.at(v.point), v.bounded());
        }
    }
    let at = spread(&ends, 17.0, top, bottom);
    let last = data.blocks().last().copied().unwrap_or(0);
    for (((line, look), y), end) in data.lines.iter().zip(&looks).zip(at).zip(ends) {
        if line.points.last().is_some_and(|(b, v)| *b == last && v.counts()) {
            drawing.line([(x(last) + 7.0, end), (right + 6.0, y)], Stroke::thin(GRID));
        }
        drawing.line([(right + 8.0, y), (right + 36.0, y)], look.line(2.0));
        look.marker(drawing, right + 22.0, y, false);
        let name = line.label.fitted(LABEL, WIDTH - EDGE - right - 42.0);
        drawing.text(right + 42.0, y + 4.0, LABEL, INK, Anchor::Start, &name);
    }
}
