//! What `assay watch` prints with `--json`.

use assay_watch::{Skipped, Status, StatusEvent};
use serde::Serialize;

/// `assay watch status`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WatchStatusDocument {
    /// Whether a person has nothing to do: no alarm is open, and no night is late.
    pub(crate) quiet: bool,
    /// The watched media, by their names.
    pub(crate) media: Vec<Status>,
}

/// `assay watch run`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WatchRunDocument {
    /// The nights that were measured or skipped.
    pub(crate) nights: Vec<WatchNightDocument>,
}

/// A night of a medium.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WatchNightDocument {
    /// Name of the watch.
    pub(crate) name: String,
    /// Id of the record; null where the night was skipped before there was one.
    pub(crate) record: Option<String>,
    /// Id of the record of the second run; null where there was none.
    pub(crate) second_record: Option<String>,
    /// Why there is no result; null where there is one.
    pub(crate) skipped: Option<Skipped>,
    /// What happened.
    pub(crate) events: Vec<StatusEvent>,
}

/// A message, on the standard input of the commands of `--notify` and `--webhook`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct WatchMessage<'a> {
    /// Name of the watch.
    pub(crate) watch: &'a str,
    /// The medium, as it calls itself.
    pub(crate) medium: &'a str,
    /// Directory on it, or the device.
    pub(crate) target: &'a str,
    /// What happened.
    pub(crate) happened: &'a StatusEvent,
    /// The same in words, for people.
    pub(crate) sentence: String,
}
