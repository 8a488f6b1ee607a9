//! A picture as SVG: one element, no script, no style sheet, no reference.

use std::collections::{BTreeSet, HashMap};

use assay_core::text::markup;
use assay_core::units::trimmed;
use gif::{Encoder, Frame, Repeat};
use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

use crate::font;
use crate::paint::{Anchor, Colour, Drawing, INK, PAPER, Shape, Stroke, Text};

impl Drawing {
    /// The picture as a self-contained SVG; texts of records are escaped and harmless.
    #[must_use]
    pub fn svg(&self) -> String {
        let (w, h) = (number(self.width), number(self.height));
        let (title, description) = (markup(&self.title), markup(&self.description));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="{}" direction="ltr"><title>{title}</title><desc>{description}</desc><rect width="{w}" height="{h}" fill="{}"/>"##,
            font::FAMILY,
            colour(crate::paint::PAPER),
        );
        for shape in &self.shapes {
            write(&mut out, shape);
        }
        out.push_str("</svg>\n");
        out
    }

    /// The same inside a page, where the name space is known and nothing may look like an address.
    #[must_use]
    pub fn inline(&self) -> String {
        self.svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
    }
}

fn write(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Path { points, closed, fill, stroke } => {
            out.push_str("<path d=\"");
            for (i, (x, y)) in points.iter().enumerate() {
                out.push_str(&format!("{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y)));
            }
            out.push_str(if *closed { "Z\"" } else { "\"" });
            svg_paint(out, *fill, *stroke);
            out.push_str("/>");
        }
        Shape::Circle { x, y, r, fill, stroke } => {
            out.push_str(&format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(*x), number(*y), number(*r)));
            svg_paint(out, *fill, *stroke);
            out.push_str("/>");
        }
        Shape::Text(text) => write_text(out, text),
    }
}

fn write_text(out: &mut String, text: &Text) {
    let (x, y) = (number(text.x), number(text.y));
    out.push_str(&format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"",
        number(text.size),
        colour(text.ink)
    ));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if text.turn != 0.0 {
        out.push_str(&format!(" transform=\"rotate({} {x} {y})\"", number(-text.turn)));
    }
    out.push_str(&format!(">{}</text>", markup(&text.text)));
}

fn svg_paint(out: &mut String, fill: Option<Colour>, stroke: Option<Stroke>) {
    match fill {
        Some(ink) => out.push_str(&format!(" fill=\"{}\"", colour(ink))),
        None => out.push_str(" fill=\"none\""),
    }
    let Some(Stroke { ink, width, dash }) = stroke else { return };
    out.push_str(&format!(" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"", colour(ink), number(width)));
    if !dash.is_empty() {
        let parts: Vec<String> = dash.iter().map(|part| number(*part)).collect();
        out.push_str(&format!(" stroke-dasharray=\"{}\"", parts.join(" ")));
    }
}

fn colour(Colour([r, g, b]): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// At most two decimals, without trailing zeros. NaN becomes 0, and values far outside of the picture are moved to its
/// edge.
fn number(value: f64) -> String {
    let within = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
    let short = trimmed(within, 2);
    if short == "-0" { "0".to_owned() } else { short }
}

// A picture as pixels.

/// A picture could not be made into an image file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the picture cannot be drawn as {format}: {reason}; write it as .svg")]
pub struct ImageError {
    pub(crate) format: &'static str,
    pub(crate) reason: String,
}

/// More pixels than this make a file that nothing shows: 400 MB of memory.
const MOST_PIXELS: f64 = 1e8;

impl Drawing {
    /// The picture as PNG with `scale` pixels for each CSS pixel.
    ///
    /// # Errors
    /// [`ImageError`] where the image would be too large.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, ImageError> {
        let fail = |reason: String| ImageError { format: "PNG", reason };
        self.pixels(scale).map_err(fail)?.encode_png().map_err(|e| fail(e.to_string()))
    }

    pub(crate) fn pixels(&self, scale: f64) -> Result<Pixmap, String> {
        let (width, height) = ((self.width * scale).ceil(), (self.height * scale).ceil());
        let fits = width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS;
        let mut pixmap = fits
            .then(|| Pixmap::new(width as u32, height as u32))
            .flatten()
            .ok_or_else(|| format!("{width:.0} by {height:.0} pixels are too many"))?;
        let Colour([r, g, b]) = PAPER;
        pixmap.fill(Color::from_rgba8(r, g, b, 255));
        let view = Transform::from_scale(scale as f32, scale as f32);
        for shape in &self.shapes {
            draw(&mut pixmap, shape, view);
        }
        Ok(pixmap)
    }
}

fn draw(pixmap: &mut Pixmap, shape: &Shape, view: Transform) {
    let (path, fill, stroke) = match shape {
        Shape::Path { points, closed, fill, stroke } => {
            let mut builder = PathBuilder::new();
            for (i, (x, y)) in points.iter().enumerate() {
                let (x, y) = (*x as f32, *y as f32);
                if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
            }
            if *closed {
                builder.close();
            }
            (builder.finish(), *fill, *stroke)
        }
        Shape::Circle { x, y, r, fill, stroke } => {
            (PathBuilder::from_circle(*x as f32, *y as f32, *r as f32), *fill, *stroke)
        }
        Shape::Text(text) => return letters(pixmap, text, view),
    };
    let Some(path) = path else { return };
    if let Some(ink) = fill {
        pixmap.fill_path(&path, &pixel_paint(ink), FillRule::Winding, view, None);
    }
    if let Some(stroke) = stroke {
        line(pixmap, &path, stroke, view);
    }
}

fn line(pixmap: &mut Pixmap, path: &Path, Stroke { ink, width, dash }: Stroke, view: Transform) {
    let stroke = tiny_skia::Stroke {
        width: width as f32,
        line_join: LineJoin::Round,
        dash: StrokeDash::new(dash.iter().map(|part| *part as f32).collect(), 0.0),
        ..tiny_skia::Stroke::default()
    };
    pixmap.stroke_path(path, &pixel_paint(ink), &stroke, view, None);
}

fn pixel_paint(Colour([r, g, b]): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint.anti_alias = true;
    paint
}

fn letters(pixmap: &mut Pixmap, text: &Text, view: Transform) {
    let Some(face) = font::face() else { return };
    let size = text.size / f64::from(face.units_per_em());
    let mut pen = Pen { builder: PathBuilder::new(), x: text.start(), y: text.y, size };
    for letter in text.text.chars() {
        let glyph = face.glyph_index(letter).or_else(|| face.glyph_index('□')).or_else(|| face.glyph_index('?'));
        if let Some(glyph) = glyph {
            face.outline_glyph(glyph, &mut pen);
        }
        // A rim adds less to a letter than a true bold face, which the width makes room for.
        pen.x += font::advance(letter, text.bold) * text.size;
    }
    let Some(path) = pen.builder.finish() else { return };
    let view = if text.turn == 0.0 {
        view
    } else {
        view.pre_concat(Transform::from_rotate_at(-text.turn as f32, text.x as f32, text.y as f32))
    };
    pixmap.fill_path(&path, &pixel_paint(text.ink), FillRule::Winding, view, None);
    if text.bold {
        // The file has one face; the same letters with a rim are its bold.
        line(pixmap, &path, Stroke::wide(text.ink, text.size * 0.055), view);
    }
}

/// Moves outlines from the units of the font, where y grows upwards, to the picture.
struct Pen {
    builder: PathBuilder,
    x: f64,
    y: f64,
    size: f64,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        ((self.x + f64::from(x) * self.size) as f32, (self.y - f64::from(y) * self.size) as f32)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}

// Pictures one after the other: a GIF, the steps of a slider, or a sheet with all of them.

/// Pictures of one size with what distinguishes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    /// What the frames differ in and the frames, in order; never empty.
    pub(crate) frames: Vec<(String, Drawing)>,
}

/// How long a frame stands, and the last one before it begins again; hundredths of a second.
const STANDS: u16 = 140;
const PAUSE: u16 = 400;
/// Steps of mixture of a colour with the paper and with ink: edges of shapes are mixtures.
const STEPS: u16 = 9;
/// What a table of a GIF holds.
const MOST_COLOURS: usize = 256;

impl Film {
    /// The frames with their names.
    pub fn frames(&self) -> impl Iterator<Item = (&str, &Drawing)> {
        self.frames.iter().map(|(name, drawing)| (name.as_str(), drawing))
    }

    /// An animated GIF that repeats, with a pause at its end, `scale` pixels for each CSS pixel.
    ///
    /// # Errors
    /// [`ImageError`] where the image would be too large.
    pub fn gif(&self, scale: f64) -> Result<Vec<u8>, ImageError> {
        let fail = |reason: String| ImageError { format: "GIF", reason };
        let colours = self.colours();
        let table: Vec<u8> = colours.iter().flat_map(|Colour(rgb)| *rgb).collect();
        let images = self.frames.iter().map(|(_, d)| d.pixels(scale)).collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let side = |side: Option<u32>| u16::try_from(side.unwrap_or(0)).map_err(|_| fail("too large".to_owned()));
        let width = side(images.iter().map(tiny_skia::Pixmap::width).max())?;
        let height = side(images.iter().map(tiny_skia::Pixmap::height).max())?;
        let mut out = Vec::new();
        {
            let mut encoder = Encoder::new(&mut out, width, height, &table).map_err(|e| fail(e.to_string()))?;
            encoder.set_repeat(Repeat::Infinite).map_err(|e| fail(e.to_string()))?;
            let mut nearest: HashMap<[u8; 3], u8> = HashMap::new();
            for (i, image) in images.iter().enumerate() {
                let pixel = |p: &tiny_skia::PremultipliedColorU8| [p.red(), p.green(), p.blue()];
                let buffer: Vec<u8> = image
                    .pixels()
                    .iter()
                    .map(|p| *nearest.entry(pixel(p)).or_insert_with_key(|rgb| closest(*rgb, &colours)))
                    .collect();
                let frame = Frame {
                    delay: if i + 1 == images.len() { PAUSE } else { STANDS },
                    width: u16::try_from(image.width()).unwrap_or(width),
                    height: u16::try_from(image.height()).unwrap_or(height),
                    buffer: buffer.into(),
                    ..Frame::default()
                };
                encoder.write_frame(&frame).map_err(|e| fail(e.to_string()))?;
            }
        }
        Ok(out)
    }

    /// The colours that the shapes have, and those between them and what lies under them.
    fn colours(&self) -> Vec<Colour> {
        let mut flat: BTreeSet<[u8; 3]> = BTreeSet::from([PAPER.0, INK.0]);
        for shape in self.frames.iter().flat_map(|(_, d)| &d.shapes) {
            match shape {
                Shape::Path { fill, stroke, .. } | Shape::Circle { fill, stroke, .. } => {
                    flat.extend(fill.iter().map(|ink| ink.0));
                    flat.extend(stroke.iter().map(|stroke| stroke.ink.0));
                }
                Shape::Text(text) => drop(flat.insert(text.ink.0)),
            }
        }
        let mut all: Vec<[u8; 3]> = flat.iter().copied().collect();
        for step in 1..STEPS {
            for colour in &flat {
                all.push(std::array::from_fn(|i| {
                    let (a, b) = (u16::from(colour[i]), u16::from(PAPER.0[i]));
                    ((a * (STEPS - step) + b * step) / STEPS) as u8
                }));
            }
        }
        let mut seen = BTreeSet::new();
        all.retain(|colour| seen.insert(*colour));
        all.truncate(MOST_COLOURS);
        all.into_iter().map(Colour).collect()
    }

    /// All frames on one still picture, in columns.
    #[must_use]
    pub fn sheet(&self) -> Drawing {
        let columns = if self.frames.len() > 2 { 2 } else { 1 };
        let gap = 16.0;
        let width = self.frames.iter().map(|(_, d)| d.width).fold(0.0, f64::max);
        let height = self.frames.iter().map(|(_, d)| d.height).fold(0.0, f64::max);
        let rows = self.frames.len().div_ceil(columns);
        let name = |frame: Option<&(String, Drawing)>| frame.map(|(_, d)| d.title.clone()).unwrap_or_default();
        let mut sheet = Drawing {
            width: width * columns as f64 + gap * (columns - 1) as f64,
            height: height * rows as f64 + gap * rows.saturating_sub(1) as f64,
            title: name(self.frames.first()),
            description: self.frames.first().map(|(_, d)| d.description.clone()).unwrap_or_default(),
            shapes: Vec::new(),
        };
        for (i, (_, drawing)) in self.frames.iter().enumerate() {
            let (column, row) = (i % columns, i / columns);
            sheet.include(drawing, (width + gap) * column as f64, (height + gap) * row as f64);
        }
        sheet
    }
}

fn closest(rgb: [u8; 3], colours: &[Colour]) -> u8 {
    let distance =
        |Colour(other): &Colour| -> u32 { rgb.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum() };
    let best = colours.iter().enumerate().min_by_key(|(_, ink)| distance(ink)).map_or(0, |(i, _)| i);
    u8::try_from(best).unwrap_or(0)
}
