//! Values that documents hold as sentences: they stay values until they are written.

use std::fmt::Display;

use serde::Serializer;

/// Writes an optional value as people read it; null where there is none. For `#[serde(serialize_with)]`.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn displayed<T: Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
