//! The comparison over block sizes, one frame for each, as the articles showed it.

use assay_analysis::{Load, Quantity};
use assay_core::observation::Observation;
use assay_core::units::{Bytes, figures};
use assay_core::workload::Op;

use super::curves::{Curves, family, family_title, with_block};
use crate::data::{BusCeiling, Label, Value, Wanted, ceilings, notes, rests_on, subjects, value, with_unit};
use crate::font;
use crate::output::Film;
use crate::paint::{AXIS, Anchor, BAND, Colour, Drawing, GRID, INK, MUTE, PAPER, Shape, Stroke};
use crate::sheet::{EDGE, LABEL, Scale, Sheet, WIDTH};

/// Reads and writes of several media at one block size after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The load: `random, 4 jobs`.
    pub load: String,
    /// Names of the rows.
    pub rows: Vec<Label>,
    /// The meaning of the bars of a row: `read`, `write (acknowledged)`.
    pub bars: Vec<String>,
    /// Block sizes, smaller ones first.
    pub steps: Vec<Step>,
    /// What the buses let through.
    pub ceilings: Vec<BusCeiling>,
}

/// One block size.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Size in bytes.
    pub block_bytes: u64,
    /// Rates in MB/s: for each row, for each bar.
    pub cells: Vec<Vec<Option<Value>>>,
}

const ROW: f64 = 38.0;
/// Dark and light of these differ in grey, too.
const BARS: [Colour; 3] = [Colour([0x00, 0x5a, 0x8f]), Colour([0xf0, 0xa6, 0x4a]), Colour([0x00, 0x9e, 0x73])];

impl Sweep {
    /// The kind of load with the most figures, reads and writes together.
    #[must_use]
    pub fn from_records(records: &[Observation], wanted: &Wanted) -> Option<Self> {
        let first = Curves::all_of(records, wanted).into_iter().next()?;
        let loads = wanted.loads_of(records);
        let bare = |title: &str| title.trim_end_matches(", acknowledged").to_owned();
        let leading = loads.iter().find(|load| family_title(load) == bare(&first.load))?;
        let like = |load: &Load| {
            load.pattern() == leading.pattern()
                && load.block_bytes > 0
                && load.queue_depth == leading.queue_depth
                && load.jobs == leading.jobs
                && load.synced == leading.synced
                && load.variant == leading.variant
                && (&load.offered, &load.spread) == (&leading.offered, &leading.spread)
                && (&load.blocks, &load.beside) == (&leading.blocks, &leading.beside)
        };
        let mut families: Vec<Load> = loads.iter().filter(|load| like(load)).map(family).collect();
        families.sort();
        families.dedup();
        let mut blocks: Vec<u64> = loads.iter().filter(|l| like(l)).map(|l| l.block_bytes).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let rate = |record: &Observation, of: &Load, block: u64| {
            value(record, &with_block(of, block), Quantity::BytesPerSecond)
        };
        let mut media = subjects(records);
        media.retain(|s| families.iter().any(|f| blocks.iter().any(|b| rate(s.record, f, *b).is_some())));
        let opening = |record: &Observation| {
            let figure = families.first().zip(blocks.first()).and_then(|(f, b)| rate(record, f, *b));
            figure.filter(Value::counts).map_or(0.0, |v| v.point)
        };
        media.sort_by(|a, b| opening(b.record).total_cmp(&opening(a.record)));
        let steps = blocks.iter().map(|block| Step {
            block_bytes: *block,
            cells: media.iter().map(|s| families.iter().map(|f| rate(s.record, f, *block)).collect()).collect(),
        });
        let bar = |f: &Load| match f.op() {
            Op::Read => "read".to_owned(),
            Op::Write => "write, acknowledged".to_owned(),
            Op::Mixed => {
                let reads = f.read_percent.unwrap_or(50).min(100);
                format!("mixed {reads}/{}", 100 - reads)
            }
        };
        let load = bare(&first.load).replacen(" read", "", 1).replacen(" write", "", 1);
        Some(Self {
            load,
            rows: media.iter().map(|s| s.label.clone()).collect(),
            bars: families.iter().map(bar).collect(),
            steps: steps.collect(),
            ceilings: ceilings(media.iter().map(|s| s.record)),
        })
    }

    fn title(&self, step: &Step) -> String {
        let kind = self.load.split(',').next().unwrap_or_default();
        let mut parts: Vec<String> = Vec::new();
        for (bar, name) in self.bars.iter().enumerate() {
            let rows = self.rows.iter().zip(&step.cells);
            let good =
                rows.filter_map(|(row, cells)| Some((row, cells.get(bar)?.as_ref()?))).filter(|(_, v)| v.counts());
            let points = good.map(|(_, v)| v.point);
            let (least, most) = points.fold((f64::INFINITY, 0.0), |(least, most), v| (v.min(least), v.max(most)));
            let op = name.split(',').next().unwrap_or_default();
            if least < most {
                parts.push(format!("{op} {} to {}", figures(least), with_unit(most, "MB/s")));
            } else if least == most {
                parts.push(format!("{op} {}", with_unit(most, "MB/s")));
            }
        }
        format!("{} {kind}: {}", Bytes(step.block_bytes), parts.join(", "))
    }
}

/// Draws a frame for each block size, all on the same axis.
#[must_use]
pub fn sweep(data: &Sweep) -> Film {
    let every = || data.steps.iter().flat_map(|s| s.cells.iter().flatten().flatten());
    let described = format!("{}, MB/s (10⁶ bytes); {}", data.load, rests_on(every()));
    // The title of every frame gets the room of the longest.
    let lines = |step: &Step| font::wrapped(&data.title(step), 17.0, true, WIDTH - 2.0 * EDGE).len();
    let most = data.steps.iter().map(lines).max().unwrap_or(1);
    let frame = |step: &Step| {
        let room = (most - lines(step)) as f64 * 17.0 * 1.3;
        (Bytes(step.block_bytes).to_string(), still(data, step, &described, room))
    };
    let mut frames: Vec<(String, Drawing)> = data.steps.iter().map(frame).collect();
    // Notes differ; a frame has to cover the one before it.
    let height = frames.iter().map(|(_, drawing)| drawing.height).fold(0.0, f64::max);
    frames.iter_mut().for_each(|(_, drawing)| drawing.height = height);
    Film { frames }
}

fn still(data: &Sweep, step: &Step, described: &str, room: f64) -> Drawing {
    let mut sheet = Sheet::new(WIDTH, &data.title(step), described);
    let every = || data.steps.iter().flat_map(|s| s.cells.iter().flatten().flatten());
    let names = data.rows.iter().map(|n| font::width(&n.to_string(), LABEL, false)).fold(60.0, f64::max).min(200.0);
    let (left, right) = (EDGE + names + 14.0, WIDTH - EDGE - 56.0);
    progress(&mut sheet.drawing, data, step, sheet.top + room + 12.0);
    let top = sheet.top + room + 74.0;
    let bottom = top + ROW * data.rows.len() as f64;
    key(&mut sheet.drawing, data, left, top - 24.0);
    let all = every().filter(|v| v.counts()).flat_map(Value::extent).chain(data.ceilings.iter().map(|c| c.value));
    let all: Vec<f64> = all.collect();
    let scale = Scale::bars(all.iter().copied(), left, right);
    for row in (0..data.rows.len()).step_by(2) {
        sheet.drawing.rect(EDGE - 6.0, top + ROW * row as f64, WIDTH - 2.0 * EDGE + 12.0, ROW, Some(BAND), None);
    }
    sheet.across(&scale, top, bottom, "MB/s", 7);
    for ceiling in &data.ceilings {
        let name = format!("{} allows {}", ceiling.name, with_unit(ceiling.value, "MB/s"));
        sheet.ceiling_upright(scale.at(ceiling.value), top, bottom, &name);
    }
    for ((row, name), cells) in data.rows.iter().enumerate().zip(&step.cells) {
        let y = top + ROW * row as f64;
        let name = name.fitted(LABEL, names);
        sheet.drawing.text(EDGE, y + ROW / 2.0 + 4.0, LABEL, INK, Anchor::Start, &name);
        let height = (ROW - 10.0) / data.bars.len().max(1) as f64;
        for (bar, cell) in cells.iter().enumerate() {
            let y = y + 5.0 + height * bar as f64;
            let look = (BARS[bar % BARS.len()], if row % 2 == 0 { BAND } else { PAPER });
            figure(&mut sheet.drawing, cell.as_ref(), &scale, (left, y, height), look);
        }
    }
    sheet.drawing.line([(left, top), (left, bottom)], Stroke::thin(AXIS));
    let named = || data.rows.iter().zip(&step.cells);
    let small = notes(named().flat_map(|(n, c)| c.iter().flatten().map(move |v| (n, v))));
    sheet.finish(bottom + 34.0, &small)
}

fn figure(
    drawing: &mut Drawing,
    cell: Option<&Value>,
    scale: &Scale,
    (left, y, height): (f64, f64, f64),
    (ink, paper): (Colour, Colour),
) {
    let middle = y + height / 2.0;
    let Some(v) = cell.filter(|v| v.counts()) else {
        let text = if cell.is_some() { "invalid" } else { "not measured" };
        drawing.text(left + 6.0, middle + 4.0, 10.0, MUTE, Anchor::Start, text);
        return;
    };
    let x = scale.at(v.point);
    let (fill, rim) = if v.bounded() { (PAPER, Some(Stroke::wide(ink, 1.6))) } else { (ink, None) };
    if scale.is_log() {
        // A length from an arbitrary beginning says nothing: a point on a stem.
        drawing.line([(left, middle), (x, middle)], Stroke::thin(ink));
        drawing.push(Shape::Circle { x, y: middle, r: 5.0, fill: Some(fill), stroke: rim });
    } else {
        drawing.rect(left, y + 1.0, x - left, height - 2.0, Some(fill), rim);
    }
    let mut end = x + if scale.is_log() { 5.0 } else { 0.0 };
    if let Some((low, high)) = v.interval {
        drawing.line([(scale.at(low), middle), (scale.at(high), middle)], Stroke::wide(INK, 1.6));
        end = end.max(scale.at(high));
    }
    let text = format!("{}{}", if v.bounded() { "≥ " } else { "" }, figures(v.point));
    // Over the line of the ceiling.
    drawing.rect(end + 5.0, middle - 5.5, font::width(&text, 10.5, false) + 2.0, 11.0, Some(paper), None);
    drawing.text(end + 6.0, middle + 4.0, 10.5, INK, Anchor::Start, &text);
}

/// The block sizes, with the one that is shown.
fn progress(drawing: &mut Drawing, data: &Sweep, step: &Step, y: f64) {
    let many = data.steps.len().max(1) as f64;
    let width = ((WIDTH - 2.0 * EDGE) / many).min(96.0);
    for (i, other) in data.steps.iter().enumerate() {
        let (x, on) = (EDGE + width * i as f64, other.block_bytes == step.block_bytes);
        let (fill, ink) = if on { (INK, PAPER) } else { (GRID, MUTE) };
        drawing.rect(x, y, width - 3.0, 20.0, Some(fill), None);
        let name = font::fitted(&Bytes(other.block_bytes).to_string(), 11.0, width - 6.0);
        drawing.text(x + (width - 3.0) / 2.0, y + 14.0, 11.0, ink, Anchor::Middle, &name);
    }
}

fn key(drawing: &mut Drawing, data: &Sweep, left: f64, y: f64) {
    let mut x = left;
    for (bar, name) in data.bars.iter().enumerate() {
        drawing.rect(x, y - 9.0, 20.0, 9.0, Some(BARS[bar % BARS.len()]), None);
        drawing.text(x + 26.0, y, 11.0, MUTE, Anchor::Start, name);
        x += 26.0 + font::width(name, 11.0, false) + 24.0;
    }
}
