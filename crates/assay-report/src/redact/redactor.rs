//! The redactor.

use assay_core::finding::{Finding, Warning};
use assay_core::record::Record;
use serde_json::{Map, Value};

use super::known::Known;
use super::name::Key;
use super::rule::Rule;
use super::rules::RECORD;
use super::{options, path, scrub};

/// Removes identities from records, or keeps them where the user asked for that.
///
/// The same unit, host or path has the same short name in all records redacted with one key.
pub struct Redactor {
    /// None where identities are kept.
    key: Option<Key>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.key.is_some() { "Redactor(secret key)" } else { "Redactor(keeps identities)" };
        f.write_str(what)
    }
}

/// A record cannot be redacted.
#[derive(Debug, thiserror::Error)]
#[error(
    "record {id}: cannot be written without identities ({reason}); it is damaged, or holds a figure that is no number"
)]
pub struct RedactError {
    id: String,
    reason: String,
}

impl Redactor {
    /// Replaces identities by names made with `key`. The key has to be secret, because it allows guesses to be tested.
    #[must_use]
    pub fn with_key(key: [u8; 32]) -> Self {
        Self { key: Some(Key(key)) }
    }

    /// Keeps records unchanged.
    #[must_use]
    pub fn keeping_identities() -> Self {
        Self { key: None }
    }

    /// The record without identities.
    ///
    /// # Errors
    /// [`RedactError`] where JSON cannot represent the record.
    pub fn record(&self, record: &Record) -> Result<Record, RedactError> {
        if self.key.is_none() {
            return Ok(record.clone());
        }
        let fail = |error: serde_json::Error| RedactError { id: record.id.clone(), reason: error.to_string() };
        let mut value = record.to_value().map_err(fail)?;
        self.value(&mut value);
        Record::from_json(&value.to_string()).map_err(fail)
    }

    /// Redacts a record as a JSON document, which a newer version may have written. Fields without a rule are left out,
    /// and a note in the record gives their number.
    pub fn value(&self, record: &mut Value) {
        let Some(key) = &self.key else { return };
        let known = Known::of(record, &RECORD, key);
        let mut pass = Pass { key, known, left_out: 0 };
        *record = pass.apply(record.take(), &RECORD).unwrap_or(Value::Null);
        if let (fields @ 1.., Value::Object(record)) = (pass.left_out, record) {
            note(record, fields);
        }
    }
}

fn note(record: &mut Map<String, Value>, fields: u32) {
    let warning = serde_json::to_value(Warning::from(Finding::FieldsLeftOut { fields }));
    let warnings = record.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
    if let (Value::Array(warnings), Ok(warning)) = (warnings, warning) {
        warnings.push(warning);
    }
}

/// One record on its way out.
struct Pass<'a> {
    key: &'a Key,
    known: Known,
    left_out: u32,
}

impl Pass<'_> {
    /// What goes out of a field; `None` for one that stays behind.
    fn apply(&mut self, value: Value, rule: &Rule) -> Option<Value> {
        let out = match (rule, value) {
            (_, Value::Null) => Some(Value::Null),
            (Rule::Never, _) => return None,
            (Rule::Keep | Rule::Known, value @ (Value::Bool(_) | Value::Number(_))) => Some(value),
            (Rule::Keep, Value::String(word)) if is_word(&word) => Some(Value::String(word)),
            // A variant that no version of this format has; without the field the record could not be read.
            (Rule::Keep, Value::String(_)) => {
                self.left_out += 1;
                Some(OTHER.into())
            }
            (Rule::Known, Value::String(text)) => Some(self.known.replaced(&text).into()),
            (Rule::Text, Value::String(text)) => Some(scrub::scrubbed(&text, &self.known, self.key).into()),
            (Rule::Source, Value::String(text)) if !path::is_path(&text) => {
                Some(scrub::scrubbed(&text, &self.known, self.key).into())
            }
            (Rule::Name(_), Value::String(text)) if text.is_empty() => Some(text.into()),
            (Rule::Name(kind), Value::String(text)) => Some(self.key.name(*kind, &text).into()),
            (Rule::Path | Rule::Source, Value::String(text)) => Some(path::redacted(&text, self.key).into()),
            (Rule::MountOption, Value::String(text)) => {
                options::redacted(&text, &self.known, self.key).map(Value::String)
            }
            (Rule::Fields(rules), Value::Object(fields)) => return Some(self.fields(fields, rules)),
            (Rule::Each(rule), Value::Array(items)) => {
                return Some(items.into_iter().filter_map(|item| self.apply(item, rule)).collect());
            }
            (Rule::Each(rule), Value::Object(fields)) => {
                let mut out = Map::new();
                for (name, value) in fields {
                    out.extend(self.apply(value, rule).map(|value| (self.known.replaced(&name), value)));
                }
                return Some(Value::Object(out));
            }
            _ => None,
        };
        self.left_out += u32::from(out.is_none());
        out
    }

    fn fields(&mut self, fields: Map<String, Value>, rules: &[(&str, Rule)]) -> Value {
        let mut out = Map::new();
        for (name, value) in fields {
            match rules.iter().find(|(known, _)| *known == name) {
                Some((_, rule)) => out.extend(self.apply(value, rule).map(|value| (name, value))),
                None => self.left_out += 1,
            }
        }
        Value::Object(out)
    }
}

/// The name that replaces a variant that may hold an identity.
const OTHER: &str = "other";

/// What names a variant in this format: nothing that could hold an identity of some length.
fn is_word(text: &str) -> bool {
    text.len() <= 40 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
