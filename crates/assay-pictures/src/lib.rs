//! Pictures as SVG, PNG and GIF, and inside the page. The title states the finding, if there is one, or what is shown.
//!
//! A picture is drawn in two steps. Its content is plain data ([`Ranking`] and similar types), taken from records or
//! given by the caller. Functions such as [`ranking()`] turn the data into shapes, which are written as SVG
//! ([`Drawing::svg`]) or pixels ([`Drawing::png`], [`Film::gif`]).

mod data;
mod film;
mod font;
mod heads;
mod kind;
mod label;
mod paint;
mod raster;
mod rows;
mod scale;
mod scene;
mod sheet;
mod svg;
#[cfg(test)]
mod tests;
mod wanted;

pub use data::{Ceiling, Value};
pub use film::Film;
pub use kind::{Kind, NothingToDraw, RankRow, Ranking, film, nodes, on_page, ranking, spread, still};
pub use label::Label;
pub use raster::ImageError;
pub use scene::Drawing;
pub use wanted::{Decided, Wanted};

/// Pixels of a PNG for each CSS pixel: sharp on today's screens, and enough for paper a column wide.
pub const PNG_SCALE: f64 = 2.0;
