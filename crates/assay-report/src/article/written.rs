//! The files that were written, for machines.

use assay_analysis::UnitNote;
use serde::Serialize;

use super::caption::Caption;
use super::files::{Article, ArticleFile};
use super::findings::Finding;

/// The output of `assay report --article --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The directory.
    pub directory: String,
    /// Its files.
    pub files: Vec<WrittenFile>,
    /// The result of each load, in the order of the tables.
    pub findings: Vec<Finding>,
    /// Ids of the records.
    pub records: Vec<String>,
    /// Contradictions between labels and serial numbers.
    pub contradictions: Vec<UnitNote>,
}

/// A file in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// Its name.
    pub file: String,
    /// Its size.
    pub bytes: usize,
    /// The caption of a picture; null for other files.
    pub caption: Option<Caption>,
}

impl Article {
    /// The list of files in a directory, with the records they were made from.
    #[must_use]
    pub fn written<'a>(
        &self,
        directory: &str,
        records: impl IntoIterator<Item = &'a str>,
        contradictions: Vec<UnitNote>,
    ) -> Written {
        let file = |file: &ArticleFile| WrittenFile {
            file: file.name.clone(),
            bytes: file.content.len(),
            caption: file.caption.clone(),
        };
        Written {
            directory: directory.to_owned(),
            files: self.files.iter().map(file).collect(),
            findings: self.findings.clone(),
            records: records.into_iter().map(str::to_owned).collect(),
            contradictions,
        }
    }
}
