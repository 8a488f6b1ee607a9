//! Reports by the ending of the file they go to.

use std::path::Path;

use assay_analysis::LoadError;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text;
use assay_pictures::{
    ImageError, NothingToDraw, PictureKind, Wanted, {self as pictures},
};

use crate::html::observed;
use crate::presented::{Overview, Presented, record_document, records_document};

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
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
    /// A table in long form, one figure a row.
    LongCsv,
    /// Rows as CrystalDiskMark 8 prints them.
    CrystalDiskMark,
    /// fio's JSON with bins of latencies.
    FioJson,
    /// Prometheus' text format.
    Prometheus,
    /// The result file of the Phoronix Test Suite.
    OpenBenchmarking,
    /// The table in long form as Apache Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Which picture of the records a [`ReportFormat::Svg`] or [`ReportFormat::Png`] is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The picture; none for what the records show best.
    pub kind: Option<PictureKind>,
    /// Words for the loads that it may show; none for all.
    pub load: Option<String>,
}

impl View {
    fn wanted(&self, records: &[Observation]) -> Result<Wanted, LoadError> {
        Wanted::named(records, self.load.as_deref())
    }
}

/// A report cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The records do not hold what the picture needs.
    #[error(transparent)]
    Nothing(#[from] NothingToDraw),
    /// The records have no such load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The picture is too large for an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A library refuses to write it.
    #[cfg(feature = "parquet")]
    #[error("the table cannot be written: {0}")]
    Refused(String),
    /// Asked for a still picture as an animation.
    #[error("a GIF shows the comparison over block sizes; for {asked} name a file in .svg or .png", asked = .0.name())]
    NotAnimated(PictureKind),
}

/// Every frame is stored whole, so less.
pub(crate) const GIF_SCALE: f64 = 1.25;

/// The extension of the file names no format that is possible here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: the extension names no format that is possible here; name a file in {possible}")]
pub struct FormatError {
    /// File as the user named it.
    pub path: String,
    /// Extensions that are possible, as in `.md or .json`.
    pub possible: String,
}

impl ReportFormat {
    /// All of them. A file's name can ask for those that have an extension of their own.
    pub const ALL: &[Self] = &[
        Self::Html,
        Self::Markdown,
        Self::Csv,
        Self::Json,
        Self::Svg,
        Self::Png,
        Self::Gif,
        Self::LongCsv,
        Self::CrystalDiskMark,
        Self::FioJson,
        Self::Prometheus,
        Self::OpenBenchmarking,
        #[cfg(feature = "parquet")]
        Self::Parquet,
    ];

    /// Its name and a short description.
    #[must_use]
    pub fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Html => ("html", "A page in one file"),
            Self::Markdown => ("md", "Markdown"),
            Self::Csv => ("csv", "A row for each measurement"),
            Self::Json => ("json", "The records"),
            Self::Svg => ("svg", "A picture as vectors"),
            Self::Png => ("png", "A picture as pixels"),
            Self::Gif => ("gif", "The comparison over block sizes, animated"),
            Self::LongCsv => ("long-csv", "A row for each figure of each repeat, for R, pandas or DuckDB"),
            Self::CrystalDiskMark => ("crystaldiskmark", "Rows as CrystalDiskMark 8 prints them, for a forum"),
            Self::FioJson => ("fio-json", "fio's JSON with latency bins, for programs that read it"),
            Self::Prometheus => ("prometheus", "Text for Prometheus' node_exporter"),
            Self::OpenBenchmarking => {
                ("openbenchmarking", "The result file of the Phoronix Test Suite and OpenBenchmarking")
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => ("parquet", "The long table as Apache Parquet"),
        }
    }

    /// Extensions of the format, the usual one first.
    fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Html => &["html", "htm"],
            Self::Markdown => &["md", "markdown"],
            Self::Csv => &["csv"],
            Self::Json => &["json"],
            Self::Svg => &["svg"],
            Self::Png => &["png"],
            Self::Gif => &["gif"],
            Self::Prometheus => &["prom"],
            #[cfg(feature = "parquet")]
            Self::Parquet => &["parquet"],
            // Their files end as those of other formats do.
            Self::LongCsv | Self::CrystalDiskMark | Self::FioJson | Self::OpenBenchmarking => &[],
        }
    }

    /// The format, one of `possible`, for a file of this name.
    ///
    /// # Errors
    /// [`FormatError`] where no format has this extension.
    pub fn from_path(path: &Path, possible: &[Self]) -> Result<Self, FormatError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let found = possible.iter().find(|format| format.extensions().contains(&extension.as_str()));
        found.copied().ok_or_else(|| {
            let names: Vec<String> =
                possible.iter().filter_map(|format| format.extensions().first()).map(|e| format!(".{e}")).collect();
            let possible = match names.split_last() {
                Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                _ => names.concat(),
            };
            FormatError { path: assay_core::text::harmless(&path.to_string_lossy()), possible }
        })
    }

    /// Whether it is a picture, which shows only a part of the records.
    #[must_use]
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Gif)
    }
}

/// Renders the report on `records`, which the caller has redacted where it is to be shared. `view` is used for pictures
/// only.
///
/// # Errors
/// [`RenderError`] where a picture cannot be drawn of these records; texts can always be made.
pub fn render(format: ReportFormat, records: &[Record], view: &View) -> Result<Vec<u8>, RenderError> {
    let text = match format {
        ReportFormat::Html => crate::html::html(records),
        ReportFormat::Markdown => markdown(records),
        ReportFormat::Csv => crate::csv::csv(records),
        ReportFormat::Json => json(records),
        ReportFormat::LongCsv => crate::foreign::long_csv(records),
        ReportFormat::CrystalDiskMark => crate::foreign::crystaldiskmark(records),
        ReportFormat::FioJson => crate::foreign::fio_json(records),
        ReportFormat::Prometheus => crate::foreign::prometheus(records),
        ReportFormat::OpenBenchmarking => crate::foreign::openbenchmarking(records),
        #[cfg(feature = "parquet")]
        ReportFormat::Parquet => {
            return crate::foreign::parquet(records).map_err(|error| RenderError::Refused(error.to_string()));
        }
        ReportFormat::Svg => still(&observed(records), view)?.svg(),
        ReportFormat::Png => return Ok(still(&observed(records), view)?.png(pictures::PNG_SCALE)?),
        ReportFormat::Gif => {
            return match view.kind {
                None | Some(PictureKind::Sweep) => {
                    let records = observed(records);
                    Ok(pictures::film(&records, &view.wanted(&records)?)?.gif(GIF_SCALE)?)
                }
                Some(other) => Err(RenderError::NotAnimated(other)),
            };
        }
    };
    Ok(text.into_bytes())
}

/// The files of a format that has one for each load of each record, by name; `None` of all other formats.
#[must_use]
pub fn render_files(format: ReportFormat, records: &[Record]) -> Option<Vec<(String, String)>> {
    (format == ReportFormat::FioJson).then(|| crate::foreign::fio_files(records))
}

fn still(records: &[Observation], view: &View) -> Result<pictures::Drawing, RenderError> {
    let wanted = view.wanted(records)?;
    let kind = view.kind.unwrap_or_else(|| PictureKind::usual(records, &wanted));
    let found = (kind.of_what_decides() && records.len() > 1)
        .then(|| crate::presented::common_finding(records, view.load.as_deref()));
    let wanted = wanted.decided(found.and_then(crate::presented::CommonFinding::titled));
    Ok(pictures::still(kind, records, &wanted)?)
}

// Records as JSON documents.

/// One record as a document; several (or none) as an array of documents. Terminal control characters are escaped.
#[must_use]
pub fn json(records: &[Record]) -> String {
    let document = match records {
        [one] => one.to_value(),
        many => many.iter().map(Record::to_value).collect(),
    };
    // A record has string keys only, and numbers that JSON lacks become null: this cannot fail.
    document.map(|document| text::json(&format!("{document:#}\n"))).unwrap_or_default()
}

// Records as Markdown, for issues, wikis and forums.

/// All records one after the other; several begin with what they come to, and a table that compares them.
#[must_use]
pub fn markdown(records: &[Record]) -> String {
    let overview = (records.len() > 1).then(|| records_document(&Overview::from_records(&observed(records))));
    let each = records.iter().map(|record| record_document(&Presented::from_record(record)));
    overview.into_iter().chain(each).map(|document| document.markdown()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_and_an_unknown_one_is_told_what_there_is() {
        let of = |name: &str| ReportFormat::from_path(Path::new(name), ReportFormat::ALL);
        assert_eq!(of("a/b.HTML"), Ok(ReportFormat::Html));
        assert_eq!(of("x.md"), Ok(ReportFormat::Markdown));
        assert!(of("noextension").is_err());
        let error = ReportFormat::from_path(
            Path::new("card.gif"),
            &[ReportFormat::Html, ReportFormat::Csv, ReportFormat::Json],
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "card.gif: the extension names no format that is possible here; name a file in .html, .csv or .json"
        );
    }
}
