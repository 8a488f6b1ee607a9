//! Pictures as SVG, PNG and GIF, and inside the page. The title states the finding, if there is one, or what is shown.
//!
//! A picture is drawn in two steps. Its content is plain data ([`Ranking`] and similar types), taken from records or
//! given by the caller. Functions such as [`ranking()`] turn the data into shapes, which are written as SVG
//! ([`Drawing::svg`]) or pixels ([`Drawing::png`], [`Film::gif`]).

mod data;
mod font;
mod kind;
mod output;
mod paint;
mod sheet;
#[cfg(test)]
mod tests;

pub use data::{BusCeiling, Decided, Label, Value, Wanted};
pub use kind::{
    NothingToDraw, PictureKind, RankRow, Ranking, WearChange, WearMap, Year, YearLevel, YearMark, YearPanel, film,
    nodes, on_page, ranking, spread, still, survival, wear_map, year,
};
pub use output::{Film, ImageError};
pub use paint::Drawing;

/// Pixels of a PNG for each CSS pixel: sharp on today's screens, and enough for paper a column wide.
pub const PNG_SCALE: f64 = 2.0;
