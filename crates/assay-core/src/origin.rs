//! Who made the figures of a record: a run of assay, another tool, or an article.

use serde::{Deserialize, Serialize};

/// Who made the figures. Only a run of assay has settings; only the text of another tool has lines and a hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "Fields", into = "Fields")]
pub enum Origin {
    /// A run or a check of assay, with these settings.
    Run(Box<Settings>),
    /// The printed result of another tool.
    Imported(Source),
    /// An article whose figures ship with the program.
    Published {
        /// Its name.
        article: String,
    },
}

impl Default for Origin {
    fn default() -> Self {
        Self::run(Settings::default())
    }
}

impl Origin {
    /// A run of assay with settings.
    #[must_use]
    pub fn run(settings: Settings) -> Self {
        Self::Run(Box::new(settings))
    }

    /// What a text says that was printed by a tool or in an article.
    #[must_use]
    pub fn printed(source: Source) -> Self {
        if source.format == PUBLISHED { Self::Published { article: source.file } } else { Self::Imported(source) }
    }

    /// The text that the figures were printed in, as [`Origin::printed`] takes it; `None` of a run of assay.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        match self {
            Self::Run(_) => None,
            Self::Imported(source) => Some(source.clone()),
            Self::Published { article } => {
                Some(Source { format: PUBLISHED.to_owned(), file: article.clone(), ..Source::default() })
            }
        }
    }

    /// The format and the name of the text that the figures were printed in; `None` of a run of assay.
    #[must_use]
    pub fn printed_in(&self) -> Option<(&str, &str)> {
        match self {
            Self::Run(_) => None,
            Self::Imported(source) => Some((&source.format, &source.file)),
            Self::Published { article } => Some((PUBLISHED, article)),
        }
    }

    /// The text of another tool.
    #[must_use]
    pub fn imported(&self) -> Option<&Source> {
        match self {
            Self::Imported(source) => Some(source),
            Self::Run(_) | Self::Published { .. } => None,
        }
    }
}

/// The two fields of a record that state its origin. A record has exactly one of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    { "required": ["settings"], "properties": { "settings": { "type": "object" }, "source": { "type": "null" } } },
    { "required": ["source"], "properties": { "source": { "type": "object" }, "settings": { "type": "null" } } },
])))]
struct Fields {
    /// With which settings, and what they came to; absent where another tool or an article printed the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<Settings>,
    /// Where the record was imported from; null for a run of assay.
    source: Option<Source>,
}

impl TryFrom<Fields> for Origin {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Self, Self::Error> {
        match (fields.source, fields.settings) {
            (Some(source), None) => Ok(Self::printed(source)),
            (Some(_), Some(_)) => Err("`settings` of a run beside the `source` of an import: a record has one of both"),
            (None, Some(settings)) => Ok(Self::run(settings)),
            (None, None) => Err("missing field `settings` of a run, or `source` of an import"),
        }
    }
}

impl From<Origin> for Fields {
    fn from(origin: Origin) -> Self {
        let source = origin.source();
        match origin {
            Origin::Run(settings) => Self { settings: Some(*settings), source },
            Origin::Imported(_) | Origin::Published { .. } => Self { settings: None, source },
        }
    }
}

/// Format of the figures of articles that ship with the program.
pub const PUBLISHED: &str = "published";

/// With which settings, and what they came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settings {
    /// Time budget in nanoseconds.
    pub budget_ns: u64,
    /// Most bytes the run was allowed to write.
    pub max_write_bytes: u64,
    /// Most bytes it said beforehand that it would write.
    pub planned_write_bytes: u64,
    /// Bytes it did write.
    pub written_bytes: u64,
    /// Bytes it did read.
    pub read_bytes: u64,
    /// Time from start to end in nanoseconds.
    pub elapsed_ns: u64,
    /// Time of it in which the run waited for other hosts, and is no part of the budget, in nanoseconds; absent where there were
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
    /// Size of the test area in bytes.
    pub span_bytes: u64,
    /// Seed of data and offsets.
    pub seed: u64,
    /// Planned repeats of each workload; at most, where a confidence was asked for or the suite leaves what is known.
    pub repeats: u32,
    /// Relative half width of the interval over repeats that was asked for; null where the number
    /// of repeats was.
    pub confidence: Option<f64>,
    /// Relative half width of the interval over repeats at which the suite leaves a workload; null where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<f64>,
    /// Without a completion for this long the medium hangs, in nanoseconds; three times as long
    /// where an operation is expected to take more than a second.
    pub hang_after_ns: Option<u64>,
    /// The suite as it ran, with what the command line changed in it: what an interrupted run
    /// is resumed by.
    pub suite_text: String,
    /// Whether a raw device was measured.
    pub raw_device: bool,
    /// Alignment of direct I/O in bytes, offset and memory; null where direct I/O is impossible.
    pub direct_alignment_bytes: Option<u32>,
    /// Where the alignment was learnt, or why direct I/O is impossible.
    pub direct_source: String,
    /// How the test area was written, before anything was timed.
    pub layout: Option<Layout>,
    /// Cost of one operation of the null engine here, in nanoseconds: the instrument's own.
    pub null_ns_per_operation: Option<f64>,
    /// By what each repeat was made a second time, in turns: `fio`, or `reference`, which is the tool that the workload
    /// was taken from. Null where by nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crosscheck: Option<String>,
}

impl Settings {
    /// Whether repeats ended when they agreed: their spread is then smaller than that of the medium.
    #[must_use]
    pub fn until_known(&self) -> bool {
        self.confidence.is_some() || self.enough.is_some()
    }
}

/// How the test area was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layout {
    /// Bytes written.
    pub bytes: u64,
    /// Time that took, final sync included, in nanoseconds.
    pub elapsed_ns: u64,
}

/// Where a record was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Format of the original.
    pub format: String,
    /// Its name.
    pub file: String,
    /// SHA-256 of its text: of the lines below, where they are given; absent of an article.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub original_text_sha256: String,
    /// First and last line of the original that this record was read from, from 1; null where that has no lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The text itself, as it was read: without what wrapped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_what_its_fields_say() {
        let run = Origin::run(Settings { seed: 7, ..Settings::default() });
        let imported = Origin::Imported(Source { format: "fio".to_owned(), ..Source::default() });
        let published = Origin::Published { article: "an article".to_owned() };
        for (origin, has_settings) in [(run, true), (imported, false), (published, false)] {
            let json = serde_json::to_value(&origin).unwrap();
            assert_eq!(json.get("settings").is_some(), has_settings, "{json}");
            assert_eq!(json["source"].is_null(), has_settings, "{json}");
            assert_eq!(serde_json::from_value::<Origin>(json).unwrap(), origin);
        }
        let error = serde_json::from_str::<Origin>("{}").unwrap_err();
        assert!(error.to_string().contains("missing field `settings`"), "{error}");
        let both = serde_json::json!({ "settings": serde_json::to_value(Settings::default()).unwrap(), "source": {
            "format": "fio", "file": "f"
        } });
        let error = serde_json::from_value::<Origin>(both).unwrap_err();
        assert!(error.to_string().contains("one of both"), "{error}");
    }
}
