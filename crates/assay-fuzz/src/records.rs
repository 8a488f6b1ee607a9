//! Records made of an input by the JSON Schema of the format: every field that the format has, with random texts
//! and figures.

use std::sync::LazyLock;

use assay_core::record::{Record, json_schema};
use serde_json::{Map, Value, json};

use crate::input::Draw;

/// Identities that every record made here holds in the fields for them, and that no shared report shows.
pub(crate) const SECRETS: [&str; 4] = ["SN7QZ4T1K9", "qznode7", "alicezq", "CARDZQ5"];

/// A tag that stands in texts; where it is found in a page, a text has become markup.
pub(crate) const TAG: &str = "<b7q";

/// Texts. With the identities, as error messages and labels hold them.
const TEXTS: [&str; 12] = [
    "x",
    "a plain word",
    "",
    "=cmd|' /C calc'!A0 \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{7f}\u{202e}\u{2066}\u{200b}\u{e0041}\u{ffff}\r\n\t| a |",
    "</script></svg>]]>--><b7q src=x onerror=alert(1)>&quot;\"'`*_[x](http://evil.example)\\",
    "\n# head\n- item\n```\n| b |",
    "qznode7 cannot read /home/alicezq/cards, SN7QZ4T1K9 on /media/alicezq/CARDZQ5: error",
    "@SUM(A1);SN7QZ4T1K9,alicezq",
    "2026-11-21T06:31:00Z",
    "1.0",
    "漢字 مرحبا ❤\u{fe0f} e\u{301}\u{301}\u{301}",
    "temperature",
];

/// Figures at the ends of what a field can hold, and plain ones.
const WHOLE: [u64; 14] = [
    1,
    4096,
    3,
    0,
    1_000_000_000,
    8,
    60_000_000_000,
    512,
    255,
    1 << 20,
    32_000_000_000,
    u32::MAX as u64,
    i64::MAX as u64,
    u64::MAX,
];
const REAL: [f64; 14] =
    [1.5, 1e6, 0.95, 0.0, -1.0, 1e-9, 100.0, 4096.0, 1e15, 1e300, f64::MAX, f64::MIN, f64::MIN_POSITIVE, -0.0];

static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);

/// More values than this are not made for one record.
const MOST_VALUES: usize = 3000;

/// A record with every field that the bytes ask for.
pub(crate) fn record(draw: &mut Draw<'_>, id: &str) -> Record {
    let mut left = MOST_VALUES;
    let mut value = value_of_schema(&SCHEMA, draw, &mut left, 0);
    value["schema"] = json!("1.0");
    value["id"] = json!(id);
    if draw.byte() < 250 {
        value["created"] = json!("2026-11-21T06:31:00Z");
    }
    // Properties were drawn one by one: a record has either settings of a run, or the source of an import.
    match (value["settings"].is_null(), value["source"].is_null()) {
        (true, true) => value["source"] = json!({ "format": "dd", "file": "dd.txt" }),
        (false, false) => value[if draw.byte().is_multiple_of(2) { "settings" } else { "source" }] = Value::Null,
        (true, false) | (false, true) => {}
    }
    let [serial, host, user, volume] = SECRETS;
    value["medium"]["unit"] = json!(serial);
    value["host"]["hostname"] = json!(host);
    value["medium"]["mount_point"] = json!(format!("/media/{user}/{volume}"));
    serde_json::from_value(value).unwrap_or_else(|error| panic!("the schema allows what the types do not: {error}"))
}

fn value_of_schema(schema: &Value, draw: &mut Draw<'_>, left: &mut usize, depth: usize) -> Value {
    *left = left.saturating_sub(1);
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return value_of_schema(&SCHEMA["$defs"][name], draw, left, depth);
    }
    if let Some(word) = schema.get("const") {
        return word.clone();
    }
    // Beside properties they say which of these are there together.
    let choices = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let (Some(choices), None) = (choices, schema.get("properties")) {
        let at = draw.below(choices.len());
        return choices.get(at).map_or(Value::Null, |choice| value_of_schema(choice, draw, left, depth));
    }
    if let Some(words) = schema["enum"].as_array() {
        let at = draw.below(words.len());
        return words.get(at).cloned().unwrap_or_default();
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        // A value or null.
        Value::Array(kinds) if draw.byte() % 4 == 3 => kinds.last().and_then(Value::as_str).unwrap_or("null"),
        Value::Array(kinds) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        _ => "null",
    };
    match kind {
        "object" => object(schema, draw, left, depth),
        "array" => array(schema, draw, left, depth),
        "string" => text(draw).into(),
        "boolean" => (draw.byte() % 2 == 1).into(),
        "integer" => whole(schema, draw).into(),
        "number" => json!(draw.pick(&REAL)),
        _ => Value::Null,
    }
}

fn object(schema: &Value, draw: &mut Draw<'_>, left: &mut usize, depth: usize) -> Value {
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        fields.insert(name.clone(), value_of_schema(field, draw, left, depth + 1));
    }
    if schema["additionalProperties"].is_object() {
        for _ in 0..draw.byte() % 4 {
            fields.insert(key(draw), text(draw).into());
        }
    }
    fields.into()
}

/// Keys that mean something, and others.
fn key(draw: &mut Draw<'_>) -> String {
    const KEYS: [&str; 7] = ["model", "unit", "slot", "price", "power", "firmware", "scheduler"];
    if draw.byte().is_multiple_of(2) { draw.pick(&KEYS).unwrap_or_default().to_owned() } else { text(draw) }
}

fn array(schema: &Value, draw: &mut Draw<'_>, left: &mut usize, depth: usize) -> Value {
    if let Some(items) = schema["prefixItems"].as_array() {
        return items.iter().map(|item| value_of_schema(item, draw, left, depth + 1)).collect();
    }
    let length = match draw.byte() {
        _ if *left == 0 || depth > 12 => 0,
        0 => 1,
        byte @ 1..250 => usize::from(byte % 4),
        byte => usize::from(byte % 8) * 10,
    };
    (0..length).map(|_| value_of_schema(&schema["items"], draw, left, depth + 1)).collect()
}

fn text(draw: &mut Draw<'_>) -> String {
    match draw.byte() {
        byte @ 0..=247 => TEXTS.get(usize::from(byte) % TEXTS.len()).copied().unwrap_or_default().to_owned(),
        248..=253 => {
            let length = draw.below(24);
            String::from_utf8_lossy(draw.bytes(length)).into_owned()
        }
        // With space between: a name that is glued to a word is no name.
        _ => [TEXTS.get(draw.below(TEXTS.len())).copied().unwrap_or_default(); 40].join(" "),
    }
}

fn whole(schema: &Value, draw: &mut Draw<'_>) -> u64 {
    let most = match schema["format"].as_str() {
        Some("uint8") => u64::from(u8::MAX),
        Some("uint32") => u64::from(u32::MAX),
        Some("int32") => u64::from(i32::MAX.unsigned_abs()),
        Some("int64") => i64::MAX.unsigned_abs(),
        _ => u64::MAX,
    };
    match draw.byte() {
        byte @ 0..=251 => WHOLE.get(usize::from(byte) % WHOLE.len()).copied().unwrap_or_default().min(most),
        _ => draw.number() & most,
    }
}
