//! JSON without ambiguity: where an object has two values of one name, readers differ in which of them they take, and what is
//! checked would not be all that is kept. A document has thousands of numbers, which are read and not kept: a value is for checks
//! of names and texts.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// Why a text is no such JSON.
pub(crate) struct Misplaced {
    /// JSON pointer (RFC 6901) of the innermost value that cannot be read.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

/// Reads a text. A list of numbers, or of such lists, has its first item alone.
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
        let Some(Unambiguous(first)) = items.next_element()? else { return Ok(Value::Array(Vec::new())) };
        match depth(&first) {
            Some(depth) => {
                let short = Value::Array(vec![first.clone()]);
                Ok(numbers(items, (depth, first, 1))?.err().unwrap_or(short))
            }
            None => others(items, vec![first]),
        }
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

/// How many lists a number is nested in; `None` for other values.
fn depth(value: &Value) -> Option<usize> {
    match value {
        Value::Number(_) => Some(0),
        Value::Array(items) => match items.as_slice() {
            [item] => depth(item).map(|depth| depth + 1),
            _ => None,
        },
        _ => None,
    }
}

/// The rest of a list.
fn others<'de, A: SeqAccess<'de>>(mut items: A, mut all: Vec<Value>) -> Result<Value, A::Error> {
    while let Some(Unambiguous(item)) = items.next_element()? {
        all.push(item);
    }
    Ok(Value::Array(all))
}

/// Reads the rest of a list whose first `read` items are numbers, each nested in `depth` lists. Returns the number of items if all
/// are such numbers. Otherwise returns the list; copies of `like` take the places of the numbers that were not kept, so that
/// the other items keep their index.
fn numbers<'de, A: SeqAccess<'de>>(
    mut items: A,
    (depth, like, mut read): (usize, Value, usize),
) -> Result<Result<usize, Value>, A::Error> {
    while let Some(item) = items.next_element_seed(Numbers(depth))? {
        match item {
            None => read += 1,
            Some(other) => {
                let mut all = vec![like; read];
                all.push(other);
                return others(items, all).map(Err);
            }
        }
    }
    Ok(Ok(read))
}

/// Reads an item. Returns `None` for a number that is nested in this many lists, and the value for anything else.
#[derive(Clone, Copy)]
struct Numbers(usize);

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Numbers {
    fn kept(self, value: Value) -> Option<Value> {
        (self.0 > 0).then_some(value)
    }
}

impl<'de> Visitor<'de> for Numbers {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Reading.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Reading.visit_unit().map(Some)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Reading.visit_bool(value).map(Some)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Reading.visit_i64(value).map(|value| self.kept(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Reading.visit_u64(value).map(|value| self.kept(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Reading.visit_f64(value).map(|value| self.kept(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Reading.visit_str(value).map(Some)
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Self::Value, E> {
        Reading.visit_string(value).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        let Some(depth) = self.0.checked_sub(1) else { return Reading.visit_seq(items).map(Some) };
        let like = (0..depth).fold(Value::from(0), |item, _| Value::Array(vec![item]));
        Ok(match numbers(items, (depth, like, 0))? {
            Ok(0) => Some(Value::Array(Vec::new())),
            Ok(_) => None,
            Err(others) => Some(others),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        Reading.visit_map(fields).map(Some)
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
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_not_kept_and_the_places_of_others_are() {
        for (text, short) in [
            ("[]", json!([])),
            ("[[]]", json!([[]])),
            ("[1, 2.5, -3]", json!([1])),
            ("[[1, 2], [3, 4], [5]]", json!([[1]])),
            ("[[[1], [2, 3]], [[4]]]", json!([[[1]]])),
            (r#"[1, 2, "x", 3]"#, json!([1, 1, "x", 3])),
            (r#"[1, [2], 3]"#, json!([1, [2], 3])),
            (r#"[[1, 2], [3, "x", 4], [5]]"#, json!([[1], [0, "x", 4], [5]])),
            (r#"[[1], 2, []]"#, json!([[1], 2, []])),
            (r#"[[1, 2], []]"#, json!([[1], []])),
            (r#"[[[1, 2]], [[3], {"a": 4}]]"#, json!([[[1]], [[0], {"a": 4}]])),
            (r#"[1, null, true, {"a": [7, 8]}]"#, json!([1, null, true, {"a": [7]}])),
        ] {
            assert_eq!(read(text).ok(), Some(short), "{text}");
        }
    }

    #[test]
    fn what_is_read_is_what_every_reader_reads() {
        let good = r#" {"a": [null, 1, -2, 3.5, true, "é\ud834\udd1e"], "b": {"a": {}}, "": 18446744073709551615} "#;
        assert_eq!(read(good).ok(), serde_json::from_str(good).ok());
        for (text, pointer) in [
            (r#"{"a": 1, "a": 1}"#, "/a"),
            (r#"{"a": [0, {"b/c": 1, "\u0062/c": {"x": 2}}]}"#, "/a/1/b~1c"),
            (r#"{"a": {"b": "\ud800"}}"#, "/a/b"),
            (r#"{"a": [1, 1e999]}"#, "/a/1"),
            (r#"{"a": [1, 2, 3, {"b": 1, "b": 1}]}"#, "/a/3/b"),
            (r#"{"a": [[1, 2], [3, {"b": 1, "b": 1}]]}"#, "/a/1/1/b"),
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
