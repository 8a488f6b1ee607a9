//! Pictures one after the other: a GIF, the steps of a slider, or a sheet with all of them.

use std::collections::{BTreeSet, HashMap};

use gif::{Encoder, Frame, Repeat};

use crate::paint::{INK, PAPER};
use crate::raster::ImageError;
use crate::scene::{Colour, Drawing, Shape};

/// Pictures of one size with what tells them apart.
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
