//! The model and unit that a record measured.

use assay_core::record::Record;
use assay_core::text::clean;
use serde::Serialize;

/// The model and unit that a record measured. Text is as the medium or the user gave it: escape it before it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// The product: label `model`, or the name that the medium reports. A record that names neither model nor unit gets
    /// a model of its own, because it is unknown whether two such records are of one medium.
    pub model: String,
    /// The physical piece: label `unit`, or its serial number; empty where neither is known. All records of a model
    /// without a unit count as one unit. A unit of a published article is kept distinct from a unit of the same number
    /// here.
    pub unit: String,
    /// The slot: label `slot`, or the slot that the host reports.
    pub slot: Option<String>,
    /// Round of a plan: label `round`.
    pub round: Option<String>,
}

/// The model and unit that a record measured.
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

/// Whether the model of a record is known. The output of other tools often names none. Records of assay itself always
/// count as named, because assay inspects the medium under a path.
#[must_use]
pub fn names_model(record: &Record) -> bool {
    let is_given = |text: Option<&String>| text.is_some_and(|text| !clean(text).is_empty());
    let medium = &record.medium;
    !record.is_printed()
        || is_given(record.labels.get("model"))
        || is_given(medium.model.as_ref())
        || is_given(medium.vendor.as_ref())
}

/// The suite a record was measured with, and its version. For an imported record only the name of the tool, which has a
/// version of its own.
pub(crate) fn suite(record: &Record) -> String {
    let suite = &record.suite;
    if record.is_printed() { suite.name.clone() } else { format!("{} {}", suite.name, suite.version) }
}

/// A name for a column or a row: model, and unit where there is one.
#[must_use]
pub fn short_name(identity: &Identity) -> String {
    unit_name(&identity.model, &identity.unit)
}

/// The same, from its parts.
pub(crate) fn unit_name(model: &str, unit: &str) -> String {
    if unit.is_empty() { model.to_owned() } else { format!("{model} {unit}") }
}
