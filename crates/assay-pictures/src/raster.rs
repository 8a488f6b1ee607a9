//! A picture as pixels.

use tiny_skia::{Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, StrokeDash, Transform};
use ttf_parser::OutlineBuilder;

use crate::font;
use crate::paint::PAPER;
use crate::scene::{Colour, Drawing, Shape, Stroke, Text};

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
        pixmap.fill_path(&path, &paint(ink), FillRule::Winding, view, None);
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
    pixmap.stroke_path(path, &paint(ink), &stroke, view, None);
}

fn paint(Colour([r, g, b]): Colour) -> Paint<'static> {
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
    pixmap.fill_path(&path, &paint(text.ink), FillRule::Winding, view, None);
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
