//! What is said of all files beside what they hold.

use std::collections::BTreeMap;

use assay_core::medium::MediumKind;

use crate::given::Given;
use crate::labels::PathPattern;
use crate::sheet::Sheet;

/// What is said of files beside what they hold.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Labels of all records, in place of what a report says.
    pub labels: BTreeMap<String, String>,
    /// The host of all records, in place of what a report says.
    pub host: Option<String>,
    /// The kind of all media, in place of what a report says.
    pub kind: Option<MediumKind>,
    /// Labels that come from the path.
    pub path: Option<PathPattern>,
    /// What a sheet says of each file.
    pub sheet: Option<Sheet>,
    /// Whether a record keeps the text that it was read from.
    pub keep_text: bool,
}

impl Options {
    /// What is said of a result of a file, the results of a file counted from 1: all of them weigh more than its row in the sheet,
    /// and that more than its path.
    #[must_use]
    pub fn given(&self, file: &str, result: usize) -> Given {
        let row = self.sheet.as_ref().and_then(|sheet| sheet.row(file, result)).unwrap_or_default();
        let mut labels = self.path.as_ref().and_then(|pattern| pattern.labels(file)).unwrap_or_default();
        labels.extend(row.labels);
        labels.extend(self.labels.clone());
        Given { labels, host: self.host.clone().or(row.host), kind: self.kind.or(row.kind), doubtful: row.doubtful }
    }
}
