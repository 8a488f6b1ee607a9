//! What came of a node.

/// What came of a node.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) node: String,
    pub(super) taken: Vec<String>,
    pub(super) here: Vec<String>,
    /// Records that were not taken, and why.
    pub(super) refused: Vec<(String, String)>,
    /// Why there is none, or not all.
    pub(super) reason: Option<String>,
}
