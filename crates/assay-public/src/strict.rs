//! JSON without ambiguity: where an object has two values of one name, readers differ in which of them they take, and what is
//! checked would not be all that is kept.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// Why a text is no such JSON.
pub(crate) struct Misplaced {
    /// JSON pointer (RFC 6901) of the innermost value that cannot be read.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

/// Reads a text.
///
/// # Errors
/// [`Misplaced`] is the first error.
pub(crate) fn read(text: &str) -> Result<Value, Misplaced> {
    if let Ok(Unambiguous(value)) = serde_json::from_str(text) {
        return Ok(value);
    }
    // To know where it is takes longer, and most documents are good.
    let mut reader = serde_json::Deserializer::from_str(text);
    let read: Result<Unambiguous, _> = serde_path_to_error::deserialize(&mut reader);
    let misplaced = |pointer: String, error: &dyn fmt::Display| Misplaced { pointer, message: error.to_string() };
    let Unambiguous(value) = read.map_err(|error| misplaced(pointer_of(error.path()), error.inner()))?;
    reader.end().map(|()| value).map_err(|error| misplaced(String::new(), &error))
}

/// The JSON pointer of a place.
pub(crate) fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let part = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => pointer_part(key),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    };
    path.iter().map(part).collect()
}

/// A part of a JSON pointer.
pub(crate) fn pointer_part(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading).map(Self)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number beyond all numbers"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if all.contains_key(&name) {
                fields.next_value::<Again>()?;
            }
            let Unambiguous(value) = fields.next_value()?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

/// A second value of one name: it is never read, so that the error has the place of this name.
struct Again;

impl<'de> Deserialize<'de> for Again {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer)?;
        Err(D::Error::custom("an object has two values of this name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_what_every_reader_reads() {
        let good = r#" {"a": [1, -2, 3.5, null, true, "é\ud834\udd1e"], "b": {"a": {}}, "": 18446744073709551615} "#;
        assert_eq!(read(good).ok(), serde_json::from_str(good).ok());
        for (text, pointer) in [
            (r#"{"a": 1, "a": 1}"#, "/a"),
            (r#"{"a": [0, {"b/c": 1, "\u0062/c": {"x": 2}}]}"#, "/a/1/b~1c"),
            (r#"{"a": {"b": "\ud800"}}"#, "/a/b"),
            (r#"{"a": [1, 1e999]}"#, "/a/1"),
            (r#"{"a": 1} x"#, ""),
            (r#"{"a": 1}{"a": 1}"#, ""),
            ("\u{feff}{}", ""),
            ("", ""),
        ] {
            let misplaced = read(text).expect_err(text);
            assert_eq!(misplaced.pointer, pointer, "{text}: {}", misplaced.message);
        }
    }
}
