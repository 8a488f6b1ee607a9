//! What `phoronix-test-suite result-file-to-json` writes. Where PHP has an empty map, or one with numbers for names, it
//! writes a list.

use serde_json::Value;

use super::document::{Document, Entry, System, Test, short, version};
use crate::json::body;
use crate::text::Text;

/// Longest document that is read, in bytes: in memory it takes up to fifty times as much.
const LONGEST: usize = 4 << 20;
/// Most names in front of `systems`.
const MOST_BEFORE: usize = 9;

pub(super) fn begins(text: &Text, at: usize) -> bool {
    let line = text.long_line(at).trim();
    if line == "{" {
        let next = |number: usize| text.long_line(at + number).trim_start();
        return (1..=MOST_BEFORE).any(|number| next(number).starts_with("\"systems\":"))
            && !(1..=MOST_BEFORE).any(|number| next(number) == "{");
    }
    line.starts_with('{')
        && line.contains("\"systems\":")
        && line.contains("\"results\":")
        && line.contains("\"scale\"")
}

/// The document that begins in line `at`, and the line behind it.
pub(super) fn read(text: &Text, at: usize) -> (Result<Document, String>, usize) {
    let (body, end, cut_off) = body(text, at, |next| begins(text, next));
    if cut_off {
        return (Err("JSON of the Phoronix Test Suite that is cut off".to_owned()), end);
    }
    if body.len() > LONGEST {
        return (Err(format!("JSON of the Phoronix Test Suite with more than {LONGEST} bytes")), end);
    }
    let document = serde_json::from_str::<Value>(&body)
        .map(|value| document(&value))
        .map_err(|error| format!("JSON of the Phoronix Test Suite that cannot be read: {error}"));
    (document, end)
}

fn document(value: &Value) -> Document {
    Document {
        client: None,
        systems: entries(&value["systems"]).map(|(name, value)| system(name, value)).collect(),
        tests: entries(&value["results"]).map(|(_, value)| test(value)).collect(),
        cut_off: false,
        broken: false,
    }
}

/// The members of a map, or of a list with no names.
fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let named = value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    named.chain(value.as_array().into_iter().flatten().map(|value| ("", value)))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => short(text.trim()).to_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn system(name: &str, value: &Value) -> System {
    let identifier =
        Some(text(&value["identifier"])).filter(|name| !name.is_empty()).unwrap_or_else(|| short(name).to_owned());
    let parts = |value: &Value| entries(value).map(|(name, value)| (name.to_owned(), text(value))).collect();
    System {
        identifiers: vec![identifier],
        hardware: parts(&value["hardware"]),
        software: parts(&value["software"]),
        time: text(&value["timestamp"]),
        client: version(&text(&value["client_version"])),
    }
}

fn test(value: &Value) -> Test {
    Test {
        identifier: text(&value["identifier"]),
        title: text(&value["title"]),
        arguments: text(&value["arguments"]),
        description: text(&value["description"]),
        scale: text(&value["scale"]),
        less_is_better: text(&value["proportion"]) == "LIB",
        entries: entries(&value["results"]).map(|(name, value)| entry(name, value)).collect(),
    }
}

fn entry(name: &str, value: &Value) -> Entry {
    let mut entry = Entry { system: short(name).to_owned(), ..Entry::default() };
    entry.set(&text(&value["value"]));
    let runs = entries(&value["raw_values"]).filter(|(_, value)| value.is_number()).count();
    entry.runs = u32::try_from(runs).unwrap_or(u32::MAX);
    entry
}
