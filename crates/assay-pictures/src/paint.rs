//! Colours, markers and lines that stay apart in grey and for colour-blind eyes.

use crate::font;

/// Under every picture, so that it reads on light and dark pages.
pub(crate) const PAPER: Colour = Colour([255, 255, 255]);
/// Text and points.
pub(crate) const INK: Colour = Colour([0x17, 0x1b, 0x20]);
/// Text of less weight.
pub(crate) const MUTE: Colour = Colour([0x59, 0x63, 0x6d]);
/// Axes.
pub(crate) const AXIS: Colour = Colour([0x9a, 0xa3, 0xab]);
/// Lines of the grid.
pub(crate) const GRID: Colour = Colour([0xe6, 0xe9, 0xec]);
/// Every other row.
pub(crate) const BAND: Colour = Colour([0xf5, 0xf6, 0xf7]);
/// What has no figure.
pub(crate) const VOID: Colour = Colour([0xee, 0xf0, 0xf2]);
/// Text on a colour of its own, light or dark: unlike [`INK`] and [`PAPER`] it is the same on dark pages.
const ON_LIGHT: Colour = Colour([0x10, 0x13, 0x17]);
const ON_DARK: Colour = Colour([0xfc, 0xfc, 0xfc]);
const BLACK: Colour = Colour([0, 0, 0]);
/// Ceilings: a colour and a dash of their own.
pub(crate) const CEILING: Stroke = Stroke { ink: Colour([0xb0, 0x23, 0x18]), width: 1.4, dash: &[7.0, 4.0] };

/// Okabe and Ito, Color Universal Design (2008), without the yellow, which white paper swallows,
/// and with a brown in its place.
const COLOURS: [Colour; 8] = [
    Colour([0x00, 0x72, 0xb2]),
    Colour([0xd5, 0x5e, 0x00]),
    Colour([0x00, 0x9e, 0x73]),
    Colour([0xcc, 0x79, 0xa7]),
    Colour([0x17, 0x1b, 0x20]),
    Colour([0xe6, 0x9f, 0x00]),
    Colour([0x56, 0xb4, 0xe9]),
    Colour([0x7a, 0x5b, 0x1e]),
];

const DASHES: [&[f64]; 5] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0], &[4.0, 2.0]];

/// Shapes of markers in [`SeriesStyle::marker`].
const MARKERS: usize = 8;

/// How one row or line looks: the colour says the model, marker and dash the row itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SeriesStyle {
    pub(crate) ink: Colour,
    pub(crate) dash: &'static [f64],
    marker: usize,
}

/// Looks of rows whose models have these places; the same place has the same colour in every picture.
pub(crate) fn looks(hues: impl IntoIterator<Item = usize>) -> Vec<SeriesStyle> {
    let look = |(row, hue): (usize, usize)| {
        // The second time round the markers are shifted, so that no pair comes twice.
        let marker = row + row / MARKERS;
        SeriesStyle { ink: COLOURS[hue % COLOURS.len()], dash: DASHES[row % DASHES.len()], marker }
    };
    hues.into_iter().enumerate().map(look).collect()
}

impl SeriesStyle {
    /// The marker at a point; hollow where the figure is a lower bound.
    pub(crate) fn marker(self, drawing: &mut Drawing, x: f64, y: f64, hollow: bool) {
        let (fill, stroke) = if hollow {
            (Some(PAPER), Some(Stroke::wide(self.ink, 1.8)))
        } else {
            (Some(self.ink), Some(Stroke::thin(PAPER)))
        };
        // Corners from the middle; areas about equal to that of a circle of radius 4.5.
        let corners: &[(f64, f64)] = match self.marker % MARKERS {
            0 => {
                drawing.push(Shape::Circle { x, y, r: 4.5, fill, stroke });
                return;
            }
            1 => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
            2 => &[(0.0, -5.8), (5.4, 4.0), (-5.4, 4.0)],
            3 => &[(0.0, -5.8), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)],
            4 => &[(-5.4, -4.0), (5.4, -4.0), (0.0, 5.8)],
            5 => &PLUS,
            6 => &CROSS,
            _ => &[(-5.6, -2.6), (5.6, -2.6), (5.6, 2.6), (-5.6, 2.6)],
        };
        let points = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        drawing.push(Shape::Path { points, closed: true, fill, stroke });
    }

    pub(crate) fn line(self, width: f64) -> Stroke {
        Stroke { ink: self.ink, width, dash: self.dash }
    }
}

const PLUS: [(f64, f64); 12] = [
    (-2.0, -6.0),
    (2.0, -6.0),
    (2.0, -2.0),
    (6.0, -2.0),
    (6.0, 2.0),
    (2.0, 2.0),
    (2.0, 6.0),
    (-2.0, 6.0),
    (-2.0, 2.0),
    (-6.0, 2.0),
    (-6.0, -2.0),
    (-2.0, -2.0),
];

/// The plus, turned by an eighth.
const CROSS: [(f64, f64); 12] = [
    (0.0, -2.8),
    (2.8, -5.6),
    (5.6, -2.8),
    (2.8, 0.0),
    (5.6, 2.8),
    (2.8, 5.6),
    (0.0, 2.8),
    (-2.8, 5.6),
    (-5.6, 2.8),
    (-2.8, 0.0),
    (-5.6, -2.8),
    (-2.8, -5.6),
];

/// Little is light, much is dark, in grey too: stops of the scale cividis of Nuñez, Anderton and
/// Renslow (2018), PLoS ONE 13(7), from its upper end down.
const STOPS: [[f64; 3]; 5] =
    [[254.0, 232.0, 56.0], [187.0, 173.0, 108.0], [124.0, 123.0, 120.0], [64.0, 78.0, 107.0], [0.0, 34.0, 78.0]];

/// A colour of the scale, and that of a text on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ramp {
    pub(crate) paper: Colour,
    pub(crate) ink: Colour,
}

/// The colours of a share from 0 to 1.
pub(crate) fn heat(share: f64) -> Ramp {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let low = (place.floor() as usize).min(STOPS.len() - 2);
    ramp(STOPS[low], STOPS[low + 1], place - low as f64)
}

/// From slow to fast with the median in the middle: vermilion and blue of Okabe and Ito, which colour-blind eyes tell
/// apart, darker towards the ends, so that in grey the distance from the median is seen.
const SIDES: [[[f64; 3]; 4]; 2] = [
    [[240.0, 238.0, 232.0], [245.0, 183.0, 136.0], [213.0, 94.0, 0.0], [110.0, 40.0, 0.0]],
    [[240.0, 238.0, 232.0], [150.0, 200.0, 232.0], [10.0, 110.0, 170.0], [0.0, 45.0, 90.0]],
];
/// A ratio of this and more, or its inverse and less, has the colour of the end.
const FURTHEST: f64 = 4.0;

/// The colours of a ratio to the median.
pub(crate) fn diverging(ratio: f64) -> Ramp {
    let ln = if ratio.is_finite() && ratio > 0.0 { ratio.ln() } else { 0.0 };
    let stops = SIDES[usize::from(ln > 0.0)];
    let place = (ln.abs() / FURTHEST.ln()).min(1.0) * (stops.len() - 1) as f64;
    let low = (place.floor() as usize).min(stops.len() - 2);
    ramp(stops[low], stops[low + 1], place - low as f64)
}

/// The colour between two, and that of a text on it.
fn ramp(from: [f64; 3], to: [f64; 3], part: f64) -> Ramp {
    let mut rgb = [0u8; 3];
    for (i, value) in rgb.iter_mut().enumerate() {
        *value = (from[i] + (to[i] - from[i]) * part).round() as u8;
    }
    let paper = Colour(rgb);
    // Between what is light and what is dark, black alone has a contrast of 4.5.
    let ink = [ON_DARK, ON_LIGHT].into_iter().find(|ink| contrast(*ink, paper) >= LEGIBLE).unwrap_or(BLACK);
    Ramp { paper, ink }
}

/// Least contrast of a text, WCAG 2.2, 1.4.3.
const LEGIBLE: f64 = 4.5;

/// Contrast of two colours, WCAG 2.2.
fn contrast(a: Colour, b: Colour) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance, WCAG 2.2.
pub(crate) fn luminance(Colour(rgb): Colour) -> f64 {
    let linear = rgb.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

// What a picture consists of, before it is SVG or pixels.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heat_scale_darkens_steadily_and_its_text_is_legible() {
        let mut before = 2.0;
        for step in 0..=100 {
            let Ramp { paper, ink } = heat(f64::from(step) / 100.0);
            assert!(luminance(paper) < before, "step {step}");
            before = luminance(paper);
            assert!(contrast(paper, ink) >= LEGIBLE, "step {step}");
        }
    }

    #[test]
    fn the_scale_about_a_median_darkens_to_both_sides_and_its_text_is_legible() {
        for side in [-1.0, 1.0] {
            let mut before = 2.0;
            for step in 0..=100 {
                let Ramp { paper, ink } = diverging((f64::from(step) / 100.0 * side * FURTHEST.ln()).exp());
                assert!(luminance(paper) < before, "step {step} to {side}");
                before = luminance(paper);
                assert!(contrast(paper, ink) >= LEGIBLE, "step {step} to {side}");
            }
        }
        assert_eq!(diverging(f64::NAN), diverging(1.0));
        assert_eq!(diverging(1e-9), diverging(0.25));
    }

    #[test]
    fn what_is_paper_and_ink_follows_the_page_and_text_on_a_colour_does_not() {
        let style = include_str!("../../assay-report/assets/report.css");
        let selector = |Colour([r, g, b]): Colour| format!(".picture [fill=\"#{r:02x}{g:02x}{b:02x}\"]");
        for ink in [PAPER, INK, MUTE, AXIS, GRID, BAND, VOID, CEILING.ink] {
            assert!(style.contains(&selector(ink)), "{}", selector(ink));
        }
        let scale = (0..=2000).map(|step| diverging((f64::from(step - 1000) / 700.0).exp()).paper);
        for ink in [ON_LIGHT, ON_DARK, BLACK].into_iter().chain(scale) {
            assert!(!style.contains(&selector(ink)), "{}", selector(ink));
        }
    }

    #[test]
    fn no_colour_and_marker_come_twice_among_sixty_four_models() {
        let looks = looks(0..64);
        let pairs: std::collections::HashSet<_> =
            looks.iter().map(|look| (look.ink.0, look.marker % MARKERS)).collect();
        assert_eq!(pairs.len(), looks.len());
    }

    #[test]
    fn rows_of_a_model_share_its_colour_and_nothing_else() {
        let looks = looks([0, 0, 1]);
        assert_eq!(looks[0].ink, looks[1].ink);
        assert_ne!(looks[0].ink, looks[2].ink);
        assert_ne!(looks[0].dash, looks[1].dash);
        assert_ne!(looks[0].marker, looks[1].marker);
    }
}
