//! Pictures whose title states the finding: as SVG, PNG and GIF, and inside the page.
//!
//! A picture is drawn in two steps. What it shows is plain data ([`Curves`], [`Dots`], …), taken
//! from records or given by the caller; [`curves()`], [`dots()`], … make shapes of it, which are
//! written as SVG ([`Drawing::svg`]) or pixels ([`Drawing::png`], [`Film::gif`]).

mod curves;
mod data;
mod dots;
mod film;
mod font;
mod heat;
mod kind;
mod paint;
mod pareto;
mod ranking;
mod raster;
mod rows;
mod scale;
mod scene;
mod sheet;
mod svg;
mod sweep;
#[cfg(test)]
mod tests;

pub use curves::{Curves, Line, curves};
pub use data::{Ceiling, Value, Wanted};
pub use dots::{DotRow, Dots, dots};
pub use film::Film;
pub use heat::{Column, Heat, heat};
pub use kind::{Kind, NothingToDraw, film, still};
pub use pareto::{Pareto, ParetoPoint, pareto};
pub use ranking::{RankRow, Ranking, ranking};
pub use raster::ImageError;
pub use scene::Drawing;
pub use sweep::{Step, Sweep, sweep};

/// Pixels of a PNG for each CSS pixel: sharp on today's screens, and enough for paper a column wide.
pub const PNG_SCALE: f64 = 2.0;
