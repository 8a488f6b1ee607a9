//! What a picture consists of, before it is SVG or pixels.

use crate::font;

/// A colour, red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Colour(pub(crate) [u8; 3]);

/// A line's colour, width and gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) ink: Colour,
    pub(crate) width: f64,
    /// Lengths drawn and left out in turn; empty for a whole line.
    pub(crate) dash: &'static [f64],
}

impl Stroke {
    pub(crate) const fn thin(ink: Colour) -> Self {
        Self { ink, width: 1.0, dash: &[] }
    }

    pub(crate) const fn wide(ink: Colour, width: f64) -> Self {
        Self { ink, width, dash: &[] }
    }
}

/// Which point of a text stands where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text on one line; `y` is its base line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) size: f64,
    pub(crate) ink: Colour,
    pub(crate) anchor: Anchor,
    pub(crate) bold: bool,
    /// Degrees, against the clock.
    pub(crate) turn: f64,
    pub(crate) text: String,
}

/// A piece of a picture; coordinates in pixels from the upper left.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Path { points: Vec<(f64, f64)>, closed: bool, fill: Option<Colour>, stroke: Option<Stroke> },
    Circle { x: f64, y: f64, r: f64, fill: Option<Colour>, stroke: Option<Stroke> },
    Text(Text),
}

/// A still picture: its finding as title, the basis of the figures, and shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) shapes: Vec<Shape>,
}

impl Drawing {
    /// The finding, as it stands over the picture.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What the picture shows, its unit, n and level of the intervals.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Width and height in CSS pixels.
    #[must_use]
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    pub(crate) fn line(&mut self, points: impl Into<Vec<(f64, f64)>>, stroke: Stroke) {
        self.shapes.push(Shape::Path { points: points.into(), closed: false, fill: None, stroke: Some(stroke) });
    }

    pub(crate) fn rect(
        &mut self,
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        fill: Option<Colour>,
        stroke: Option<Stroke>,
    ) {
        let points = vec![(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
        self.shapes.push(Shape::Path { points, closed: true, fill, stroke });
    }

    pub(crate) fn text(&mut self, x: f64, y: f64, size: f64, ink: Colour, anchor: Anchor, text: &str) {
        self.shapes.push(Shape::Text(Text { x, y, size, ink, anchor, bold: false, turn: 0.0, text: text.to_owned() }));
    }

    pub(crate) fn push(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    /// Shapes of another picture, moved.
    pub(crate) fn include(&mut self, other: &Self, dx: f64, dy: f64) {
        self.shapes.extend(other.shapes.iter().map(|shape| match shape {
            Shape::Path { points, closed, fill, stroke } => Shape::Path {
                points: points.iter().map(|(x, y)| (x + dx, y + dy)).collect(),
                closed: *closed,
                fill: *fill,
                stroke: *stroke,
            },
            Shape::Circle { x, y, r, fill, stroke } => {
                Shape::Circle { x: x + dx, y: y + dy, r: *r, fill: *fill, stroke: *stroke }
            }
            Shape::Text(text) => Shape::Text(Text { x: text.x + dx, y: text.y + dy, ..text.clone() }),
        }));
    }
}

impl Text {
    /// Where the first letter begins, before it is turned.
    pub(crate) fn start(&self) -> f64 {
        let width = font::drawn(&self.text, self.size, self.bold);
        match self.anchor {
            Anchor::Start => self.x,
            Anchor::Middle => self.x - width / 2.0,
            Anchor::End => self.x - width,
        }
    }
}
