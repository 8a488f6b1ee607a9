//! Heads of the columns of a table of cells, turned so that long ones fit.

use crate::font;
use crate::paint::INK;
use crate::scene::{Anchor, Drawing, Shape, Text};
use crate::sheet::{EDGE, WIDTH};

const SIZE: f64 = 11.0;
/// Heads stand at 55 degrees, which still reads without turning one's own.
const TURN: f64 = 55.0;
/// Longer ones are cut.
const LONGEST: f64 = 250.0;

/// What stands over each column.
pub(crate) struct Heads {
    texts: Vec<String>,
    longest: f64,
}

impl Heads {
    pub(crate) fn new(texts: Vec<String>) -> Self {
        let longest = texts.iter().map(|head| font::width(head, SIZE, false)).fold(0.0, f64::max).min(LONGEST);
        Self { texts, longest }
    }

    /// Height that they take.
    pub(crate) fn rise(&self) -> f64 {
        self.longest * TURN.to_radians().sin()
    }

    /// Width of the picture with columns of `cell` from `left` on.
    pub(crate) fn width(&self, left: f64, cell: f64) -> f64 {
        let end = |(i, head): (usize, &String)| {
            let run = font::width(head, SIZE, false).min(self.longest) * TURN.to_radians().cos();
            left + cell * (i + 1) as f64 + run
        };
        (self.texts.iter().enumerate().map(end).fold(WIDTH - EDGE, f64::max) + EDGE).ceil()
    }

    /// Writes one over the column of `cell` that begins at `x`, below which the cells begin at `top`.
    pub(crate) fn write(&self, drawing: &mut Drawing, column: usize, (x, top): (f64, f64), cell: f64) {
        drawing.push(Shape::Text(Text {
            x: x + cell / 2.0 + 3.0,
            y: top - 7.0,
            size: SIZE,
            ink: INK,
            anchor: Anchor::Start,
            bold: false,
            turn: TURN,
            text: font::fitted(&self.texts[column], SIZE, self.longest),
        }));
    }
}
