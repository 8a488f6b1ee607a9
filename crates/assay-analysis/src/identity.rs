//! Whose figures a record holds.

use assay_core::record::Record;
use assay_core::text::clean;
use serde::Serialize;

/// Whose figures a record holds. Text as the medium or the user gave it: make it harmless before
/// it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The product: label `model`, or what the medium says of itself. A record that names neither model nor unit is
    /// its own: nobody knows whether two such are of one medium.
    pub model: String,
    /// The physical piece: label `unit`, or its serial number; empty where neither is known. All
    /// such records of a model count as one unit. A unit of an article is told from one of the same number here.
    pub unit: String,
    /// Where it was: label `slot`, or the host's.
    pub slot: Option<String>,
    /// Round of a plan: label `round`.
    pub round: Option<String>,
}

/// Whose figures these are.
#[must_use]
pub fn identity(record: &Record) -> Identity {
    let label = |key: &str| record.labels.get(key).filter(|value| !value.is_empty()).cloned();
    let unit = unit_of(record);
    let own = unit.is_empty() && !names_model(record);
    Identity {
        model: if own { format!("{} {}", record.medium.kind.title(), record.id) } else { record.model() },
        unit: if record.is_published() { format!("{unit} (published)").trim_start().to_owned() } else { unit },
        slot: label("slot").or_else(|| record.host.slot.clone()),
        round: label("round"),
    }
}

/// Label `unit`, or the serial number; empty where neither is known.
#[must_use]
pub fn unit_of(record: &Record) -> String {
    let label = record.labels.get("unit").filter(|value| !value.is_empty());
    label.or(record.medium.unit.as_ref()).cloned().unwrap_or_default()
}

/// Whether it is known of which model a record is. What other tools print often names none; assay itself looks at what
/// lies under a path.
#[must_use]
pub fn names_model(record: &Record) -> bool {
    let is_given = |text: Option<&String>| text.is_some_and(|text| !clean(text).is_empty());
    let medium = &record.medium;
    !record.is_printed()
        || is_given(record.labels.get("model"))
        || is_given(medium.model.as_ref())
        || is_given(medium.vendor.as_ref())
}

/// What a record was measured with: the suite and its version; of an imported one the tool, which has its own.
pub(crate) fn suite(record: &Record) -> String {
    let suite = &record.suite;
    if record.is_printed() { suite.name.clone() } else { format!("{} {}", suite.name, suite.version) }
}

/// A name for a column or a row: model, and unit where there is one.
#[must_use]
pub fn short_name(identity: &Identity) -> String {
    unit_name(&identity.model, &identity.unit)
}

/// The same of its parts.
pub(crate) fn unit_name(model: &str, unit: &str) -> String {
    if unit.is_empty() { model.to_owned() } else { format!("{model} {unit}") }
}
