//! Reports by the ending of the file they go to.

use std::path::Path;

use assay_core::record::Record;

use crate::pictures::{self, ImageError, Kind, NothingToDraw, Wanted};

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One self-contained interactive page.
    Html,
    /// Markdown.
    Markdown,
    /// A table, one row a measurement.
    Csv,
    /// The records themselves.
    Json,
    /// A picture as vectors.
    Svg,
    /// A picture as pixels.
    Png,
    /// The comparison over block sizes, animated.
    Gif,
}

/// Which picture of the records a [`Format::Svg`] or [`Format::Png`] is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The picture; none for what the records show best.
    pub kind: Option<Kind>,
    /// The loads that it may show.
    pub wanted: Wanted,
}

/// A report cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The records do not hold what the picture needs.
    #[error(transparent)]
    Nothing(#[from] NothingToDraw),
    /// The picture is too large for an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Asked for a still picture as an animation.
    #[error("a GIF shows the comparison over block sizes; for {asked} name a file in .svg or .png", asked = .0.name())]
    NotAnimated(Kind),
}

/// Pixels for each CSS pixel: sharp on today's screens, and enough for paper a column wide.
const PNG_SCALE: f64 = 2.0;
/// Every frame is stored whole, so less.
const GIF_SCALE: f64 = 1.25;

/// The ending of the file says nothing known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: the ending says no known format; name a report in {known}", known = Format::ENDINGS)]
pub struct FormatError {
    /// File as the user named it.
    pub path: String,
}

impl Format {
    /// Endings of all formats, as they stand in help and errors.
    pub const ENDINGS: &str = ".html, .md, .csv, .json, .svg, .png or .gif";

    /// The format that a file of this name is written in.
    ///
    /// # Errors
    /// [`FormatError`] where the ending is none of [`Format::ENDINGS`].
    pub fn from_path(path: &Path) -> Result<Self, FormatError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "html" | "htm" => Ok(Self::Html),
            "md" | "markdown" => Ok(Self::Markdown),
            "csv" => Ok(Self::Csv),
            "json" => Ok(Self::Json),
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            "gif" => Ok(Self::Gif),
            _ => Err(FormatError { path: assay_core::text::harmless(&path.to_string_lossy()) }),
        }
    }

    /// Whether it is a picture, which shows only a part of the records.
    #[must_use]
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Gif)
    }
}

/// The report on `records`, which the caller has redacted where it is to be shared. `view` is
/// looked at for pictures only.
///
/// # Errors
/// [`RenderError`] where a picture cannot be drawn of these records; texts can always be made.
pub fn render(format: Format, records: &[Record], view: &View) -> Result<Vec<u8>, RenderError> {
    let text = match format {
        Format::Html => crate::html::html(records),
        Format::Markdown => crate::markdown::markdown(records),
        Format::Csv => crate::csv::csv(records),
        Format::Json => crate::json::json(records),
        Format::Svg => still(records, view)?.svg(),
        Format::Png => return Ok(still(records, view)?.png(PNG_SCALE)?),
        Format::Gif => {
            return match view.kind {
                None | Some(Kind::Sweep) => Ok(pictures::film(records, &view.wanted)?.gif(GIF_SCALE)?),
                Some(other) => Err(RenderError::NotAnimated(other)),
            };
        }
    };
    Ok(text.into_bytes())
}

fn still(records: &[Record], view: &View) -> Result<pictures::Drawing, NothingToDraw> {
    let kind = view.kind.unwrap_or_else(|| Kind::usual(records, &view.wanted));
    pictures::still(kind, records, &view.wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_and_an_unknown_one_is_told_what_there_is() {
        assert_eq!(Format::from_path(Path::new("a/b.HTML")), Ok(Format::Html));
        assert_eq!(Format::from_path(Path::new("x.md")), Ok(Format::Markdown));
        let error = Format::from_path(Path::new("card.xlsx")).unwrap_err().to_string();
        assert_eq!(
            error,
            "card.xlsx: the ending says no known format; name a report in .html, .md, .csv, .json, .svg, .png or .gif"
        );
        assert!(Format::from_path(Path::new("noending")).is_err());
    }
}
