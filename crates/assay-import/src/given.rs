//! What is said of a file beside what it holds.

use std::collections::BTreeMap;

use assay_core::medium::MediumKind;

/// What is said of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// Labels of its records.
    pub labels: BTreeMap<String, String>,
    /// Where they were measured.
    pub host: Option<String>,
    /// What was measured.
    pub kind: Option<MediumKind>,
    /// Loads whose figures are doubtful, each with the reason, which may be empty.
    pub doubtful: Vec<(String, String)>,
}
