//! Reports by the ending of the file they go to.

use std::path::Path;

use assay_core::record::Record;

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
}

/// The ending of the file says nothing known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: the ending says no known format; name a report in {known}", known = Format::ENDINGS)]
pub struct FormatError {
    /// File as the user named it.
    pub path: String,
}

impl Format {
    /// Endings of all formats, as they stand in help and errors.
    pub const ENDINGS: &str = ".html, .md, .csv or .json";

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
            _ => Err(FormatError { path: assay_core::text::harmless(&path.to_string_lossy()) }),
        }
    }
}

/// The report on `records`, which the caller has redacted where it is to be shared.
#[must_use]
pub fn render(format: Format, records: &[Record]) -> String {
    match format {
        Format::Html => crate::html::html(records),
        Format::Markdown => crate::markdown::markdown(records),
        Format::Csv => crate::csv::csv(records),
        Format::Json => crate::json::json(records),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides_and_an_unknown_one_is_told_what_there_is() {
        assert_eq!(Format::from_path(Path::new("a/b.HTML")), Ok(Format::Html));
        assert_eq!(Format::from_path(Path::new("x.md")), Ok(Format::Markdown));
        let error = Format::from_path(Path::new("card.xlsx")).unwrap_err().to_string();
        assert_eq!(error, "card.xlsx: the ending says no known format; name a report in .html, .md, .csv or .json");
        assert!(Format::from_path(Path::new("noending")).is_err());
    }
}
