//! What a site answers to a submission.

use serde::{Deserialize, Serialize};

/// State of a record at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Publication {
    /// Kept, and not judged yet.
    Received,
    /// Counts in rankings and pages.
    Public,
    /// Found by its address alone.
    Unlisted,
    /// Does not count; the reasons say why.
    Held,
    /// Taken back by who sent it.
    Withdrawn,
    /// A state that a newer site has.
    #[serde(other)]
    Other,
}

/// Confirms that a site holds a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Id of the record.
    pub id: String,
    /// BLAKE3 of the document, in hexadecimal digits.
    pub hash: String,
    /// Its state.
    pub state: Publication,
    /// Why it is held, or shown at its address alone.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// When it was received, RFC 3339.
    pub received: String,
    /// Address of its page.
    pub address: String,
}

/// Why a record does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// For programs, such as `copy` or `above_ceiling`.
    pub code: String,
    /// For people, as the site gives it.
    #[serde(default)]
    pub detail: String,
}

/// Why a site does not take a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Status of HTTP.
    pub status: u16,
    /// For programs, such as `schema` or `not_redacted`; empty if the answer was not one of a site of assay.
    pub code: String,
    /// For people, as the site gives it.
    pub message: String,
    /// Where in the document, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The record that is in its place, of a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}
