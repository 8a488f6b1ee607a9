//! The redactor, and whether a document that was redacted elsewhere is redacted.

use std::collections::HashMap;

use assay_core::finding::{Finding, Warning};
use assay_core::observation::{Observation, ObservedOrigin};
use assay_core::record::Record;
use serde_json::{Map, Value, json};

use super::identity::{self, Key, Kind, Rule, ends_word, run_length, starts_with_any, unique};
use super::known::{self, Known, is_reading, is_reading_name, named_identity, replaced};
use super::rules::RECORD;

/// Removes identities from records, or keeps them where the user asked for that.
///
/// The same unit, host or path has the same short name in all records redacted with one key.
pub struct Redactor {
    /// None where identities are kept.
    key: Option<Key>,
    /// Units that are known beside those of the records.
    units: Units,
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
        Self { key: Some(Key::Secret(key)), units: Units::new() }
    }

    /// Keeps records unchanged.
    #[must_use]
    pub fn keeping_identities() -> Self {
        Self { key: None, units: Units::new() }
    }

    /// Whether identities stay.
    #[must_use]
    pub fn keeps_identities(&self) -> bool {
        self.key.is_none()
    }

    /// The same, which also knows these units: a label that is the name of one is replaced, whatever record has it.
    #[must_use]
    pub fn knowing<'a>(mut self, units: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(key) = &self.key {
            self.units = named(units, key);
        }
        self
    }

    /// Records without identities, which are shared together: a label of one may name the unit of another.
    ///
    /// # Errors
    /// [`RedactError`] where JSON cannot represent one of them.
    pub fn records<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> Result<Vec<Record>, RedactError> {
        let records: Vec<&Record> = records.into_iter().collect();
        let Some(key) = &self.key else { return Ok(records.into_iter().cloned().collect()) };
        let units = named(records.iter().filter_map(|record| record.medium.unit.as_deref()), key);
        records.into_iter().map(|record| self.without(record, &units)).collect()
    }

    /// The same of observations.
    ///
    /// # Errors
    /// As of records.
    pub fn observations<'a>(
        &self,
        observations: impl IntoIterator<Item = &'a Observation>,
    ) -> Result<Vec<Observation>, RedactError> {
        let all: Vec<&Observation> = observations.into_iter().collect();
        let Some(key) = &self.key else { return Ok(all.into_iter().cloned().collect()) };
        let units = named(all.iter().filter_map(|observation| observation.medium.unit.as_deref()), key);
        let without = |observation: &Observation| {
            let fail = |error: serde_json::Error| RedactError { id: observation.id.clone(), reason: error.to_string() };
            let mut value = as_record(observation).map_err(fail)?;
            self.redact(&mut value, key, &units);
            as_observation(value, observation).map_err(fail)
        };
        all.into_iter().map(without).collect()
    }

    /// The same of JSON documents, as [`Redactor::value`].
    pub fn values(&self, records: &mut [Value]) {
        let Some(key) = &self.key else { return };
        let units = named(records.iter().filter_map(|record| record["medium"]["unit"].as_str()), key);
        records.iter_mut().for_each(|record| self.redact(record, key, &units));
    }

    /// The record without identities.
    ///
    /// # Errors
    /// [`RedactError`] where JSON cannot represent the record.
    pub fn record(&self, record: &Record) -> Result<Record, RedactError> {
        self.without(record, &Units::new())
    }

    fn without(&self, record: &Record, units: &Units) -> Result<Record, RedactError> {
        let Some(key) = &self.key else { return Ok(record.clone()) };
        let fail = |error: serde_json::Error| RedactError { id: record.id.clone(), reason: error.to_string() };
        let mut value = record.to_value().map_err(fail)?;
        self.redact(&mut value, key, units);
        Record::from_json(&value.to_string()).map_err(fail)
    }

    /// Redacts a record as a JSON document, which a newer version may have written. Fields without a rule are left out,
    /// and a note in the record gives their number.
    pub fn value(&self, record: &mut Value) {
        if let Some(key) = &self.key {
            self.redact(record, key, &Units::new());
        }
    }

    fn redact(&self, record: &mut Value, key: &Key, units: &Units) {
        let known = Known::from_record(record, &RECORD, key);
        let mut pass = Pass { key, known, units: [&self.units, units], left_out: 0 };
        *record = pass.apply(record.take(), &RECORD).unwrap_or(Value::Null);
        if let (fields @ 1.., Value::Object(record)) = (pass.left_out, record) {
            redaction_note(record, fields);
        }
    }
}

/// An observation with the fields of a record, which have rules.
fn as_record(observation: &Observation) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(observation)?;
    for other in ["origin", "hottest_celsius", "medium_celsius"] {
        value.as_object_mut().map(|fields| fields.remove(other));
    }
    match observation.origin.source() {
        Some(source) => value["source"] = serde_json::to_value(source)?,
        None => value["settings"] = json!({ "suite_text": observation.suite_text() }),
    }
    Ok(value)
}

/// The observation that was redacted as a record.
fn as_observation(mut value: Value, of: &Observation) -> serde_json::Result<Observation> {
    let origin = match &of.origin {
        ObservedOrigin::Run { until_known, .. } => ObservedOrigin::Run {
            until_known: *until_known,
            suite_text: value["settings"]["suite_text"].as_str().map(str::to_owned),
        },
        ObservedOrigin::Imported(_) => ObservedOrigin::Imported(serde_json::from_value(value["source"].take())?),
        ObservedOrigin::Published { .. } => of.origin.clone(),
    };
    value["origin"] = serde_json::to_value(origin)?;
    value["hottest_celsius"] = json!(of.hottest_celsius);
    value["medium_celsius"] = json!(of.medium_celsius);
    serde_json::from_value(value)
}

/// Units of records, in small letters, with the names that replace them.
type Units = HashMap<String, String>;

/// Shorter names of units are words and numbers as often, such as `7`.
const SHORTEST_UNIT: usize = 4;

fn named<'a>(units: impl IntoIterator<Item = &'a str>, key: &Key) -> Units {
    let named = |unit: &'a str| {
        let name = key.name(Kind::Unit, unit);
        known::known_forms(Kind::Unit, unit).map(move |form| (form.to_lowercase(), name.clone()))
    };
    let all = units.into_iter().flat_map(named);
    all.filter(|(unit, _)| unit.chars().count() >= SHORTEST_UNIT).collect()
}

fn redaction_note(record: &mut Map<String, Value>, fields: u32) {
    let warning = serde_json::to_value(Warning::from(Finding::FieldsLeftOut { fields }));
    let warnings = record.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
    if let (Value::Array(warnings), Ok(warning)) = (warnings, warning) {
        warnings.push(warning);
    }
}

/// Whether a text is a time as of RFC 3339, or numbers with points between them.
fn is_stamp(text: &str) -> bool {
    let is_version = text.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_version && text.contains('.') && text.len() < 8 || text.parse::<jiff::Timestamp>().is_ok()
}

/// One record on its way out.
struct Pass<'a> {
    key: &'a Key,
    known: Known,
    /// Units of other records.
    units: [&'a Units; 2],
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
            (Rule::Stamp, Value::String(text)) if is_stamp(&text) => Some(text.into()),
            (Rule::Known | Rule::Stamp, Value::String(text)) => Some(self.known.replaced(&text).into()),
            (Rule::Text, Value::String(text)) => Some(scrubbed(&text, &self.known, self.key).into()),
            (Rule::Source, Value::String(text)) if !identity::is_path(&text) => {
                Some(scrubbed(&text, &self.known, self.key).into())
            }
            (Rule::Name(_), Value::String(text)) if text.is_empty() => Some(text.into()),
            (Rule::Name(kind), Value::String(text)) => Some(self.key.name(*kind, &text).into()),
            (Rule::Path | Rule::Source, Value::String(text)) => Some(identity::redacted_path(&text, self.key).into()),
            (Rule::MountOption, Value::String(text)) => {
                known::redacted_options(&text, &self.known, self.key).map(Value::String)
            }
            (Rule::Fields(rules), Value::Object(fields)) => return Some(self.fields(fields, rules)),
            (Rule::Labels, Value::Object(labels)) => return Some(self.labels(labels)),
            (Rule::Readings(rules), Value::Object(fields)) => return Some(self.readings(fields, rules)),
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

impl Pass<'_> {
    fn labels(&mut self, labels: Map<String, Value>) -> Value {
        let mut out = Map::new();
        for (name, value) in labels {
            match value {
                Value::String(text) => {
                    let text = self.label(&name, &text);
                    out.insert(self.known.replaced_in_label(&name), text.into());
                }
                Value::Null => drop(out.insert(self.known.replaced_in_label(&name), Value::Null)),
                _ => self.left_out += 1,
            }
        }
        Value::Object(out)
    }

    fn label(&self, name: &str, text: &str) -> String {
        if text.trim().is_empty() {
            return text.to_owned();
        }
        let of_model = (name == "model").then(|| self.known.in_model());
        let here = of_model.as_ref().unwrap_or(&self.known);
        let known = || here.whole(text).map(str::to_owned);
        let other = || self.units.iter().find_map(|units| units.get(&text.to_lowercase())).cloned();
        let named = || named_identity(name).map(|kind| self.key.name(kind, text));
        // A user may have written an address in it.
        let formed = || scrubbed(&here.replaced_in_label(text), here, self.key);
        known().or_else(other).or_else(named).unwrap_or_else(formed)
    }
}

// Readings of health, to which makers of media give names of their own.

impl Pass<'_> {
    fn readings(&mut self, fields: Map<String, Value>, rules: &[(&str, Rule)]) -> Value {
        let known = |name: &str| rules.iter().any(|(known, _)| *known == name);
        let plain = |name: &str, value: &Value| {
            is_reading_name(name) && self.known.replaced(name) == *name && value.as_str().is_some_and(is_reading)
        };
        let (readings, other): (Map<_, _>, Map<_, _>) =
            fields.into_iter().partition(|(name, value)| !known(name) && plain(name, value));
        let Value::Object(mut out) = self.fields(other, rules) else { return Value::Null };
        for (name, value) in readings {
            out.extend(self.apply(value, &Rule::Text).map(|value| (name, value)));
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

// Identities in free text: error messages, lines of the kernel's log, commands.
//
// What other fields of the record hold is replaced first. Beyond that an identity is recognised by its
// form; a host or user that has none, like `node7` alone, is not.

/// `text` with everything replaced that looks like an identity.
fn scrubbed(text: &str, known: &Known, key: &Key) -> String {
    if let Some(name) = known.whole(text) {
        return name.to_owned();
    }
    let mut before = None;
    replaced(text, |rest, inside| {
        let here = before;
        before = rest.chars().next();
        if let Some((length, name)) = known.at(rest, inside) {
            before = rest.get(..length).and_then(|found| found.chars().next_back());
            return Some((length, name.to_owned()));
        }
        let (length, form) = form(rest, here)?;
        let (found, _) = rest.split_at_checked(length)?;
        before = found.chars().next_back();
        Some((length, form.replaced(found, key)))
    })
}

/// What a part of a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Name(Kind),
    /// An absolute path, or one on another host.
    Path,
    /// `user@host`.
    Server,
    /// `scheme://user@host:port/path`.
    Url,
    /// `KEY=VALUE`, where the value is the identity.
    Value,
}

impl Form {
    fn replaced(self, found: &str, key: &Key) -> String {
        match self {
            Self::Name(kind) => key.name(kind, found),
            Self::Path => identity::redacted_path(found, key),
            Self::Server => identity::remote_server(found, key),
            Self::Url => url_replaced(found, key),
            Self::Value => {
                let start = value_start(found).unwrap_or(0);
                let (before, value) = found.split_at(start);
                format!("{before}{}", key.name(Kind::Id, value))
            }
        }
    }
}

/// What the text begins with, and its length in bytes; `before` is the character before it.
fn form(rest: &str, before: Option<char>) -> Option<(usize, Form)> {
    // The middle of a word cannot be the start of a form.
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let some = |form: Form| move |length: usize| (length, form);
    url(rest)
        .map(some(Form::Url))
        .or_else(|| unique(rest, before).map(|(length, kind)| (length, Form::Name(kind))))
        .or_else(|| keyed(rest).map(some(Form::Value)))
        .or_else(|| remote(rest).map(some(Form::Path)))
        .or_else(|| absolute(rest).map(some(Form::Path)))
        .or_else(|| account(rest).map(some(Form::Server)))
        .or_else(|| domain(rest).map(some(Form::Name(Kind::Host))))
}

/// What ends a word in a message or a command.
fn divides(c: char) -> bool {
    c.is_whitespace() || "\"'`<>|;,(){}�".contains(c)
}

/// Keys whose value is an identity or a secret, also where only a colon or a blank stands between.
const TELLING: [&str; 14] = [
    "serialnumber",
    "serial number",
    "serial no",
    "serial",
    "s/n",
    "sn",
    "wwn",
    "wwid",
    "partuuid",
    "uuid",
    "password",
    "passwd",
    "token",
    "secret",
];
/// The same where an equals sign stands between.
const KEYS: [&str; 21] = [
    "username",
    "user",
    "login",
    "pwd",
    "pass",
    "apikey",
    "api_key",
    "key",
    "hostname",
    "host",
    "server",
    "domain",
    "partlabel",
    "label",
    "cid",
    "mac",
    "address",
    "addr",
    "ip",
    "ssid",
    "auth",
];

/// Where the value begins in `KEY=VALUE`, `KEY: VALUE` or `KEY VALUE`.
fn value_start(rest: &str) -> Option<usize> {
    let (key, telling) = starts_with_any(rest, &TELLING)
        .map(|key| (key, true))
        .or_else(|| starts_with_any(rest, &KEYS).map(|key| (key, false)))?;
    let after = rest.get(key.len()..)?;
    let value = after.trim_start_matches(|c: char| c.is_whitespace() || "=:#\"'".contains(c));
    let between = after.get(..after.len() - value.len())?;
    let separated = if telling { !between.is_empty() } else { between.contains('=') };
    separated.then_some(rest.len() - value.len())
}

fn keyed(rest: &str) -> Option<usize> {
    let start = value_start(rest)?;
    let value = rest.get(start..)?;
    let length = run_length(value, |c| !divides(c) && c != '&');
    let value = value.get(..length)?.trim_end_matches(['.', ':']);
    // After a blank alone a word follows as often as a number.
    let sure = rest.get(..start).is_some_and(|before| before.contains(['=', ':', '#']));
    (!value.is_empty() && (sure || value.bytes().any(|b| b.is_ascii_digit()))).then_some(start + value.len())
}

fn url(rest: &str) -> Option<usize> {
    let scheme = run_length(rest, |c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let begins = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let authority = rest.get(scheme..)?.strip_prefix("://").filter(|_| begins && scheme <= 16)?;
    let length = run_length(authority, |c| !divides(c));
    (length > 0).then_some(scheme + 3 + length)
}

fn url_replaced(url: &str, key: &Key) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return key.name(Kind::Host, url) };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (server, port) = match authority.rsplit_once(':') {
        Some((server, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (server, format!(":{port}")),
        _ => (authority, String::new()),
    };
    let path = if path.len() > 1 { format!("/{}", key.name(Kind::Path, path)) } else { path.to_owned() };
    format!("{scheme}://{}{port}{path}", identity::remote_server(server, key))
}

/// A path on another host: `nas:/export`, `alice@nas.lan:/x`, `//nas/share`, `\\nas\share`.
fn remote(rest: &str) -> Option<usize> {
    let length = path_length(rest);
    let text = rest.get(..length)?;
    let (mark, server, path) = identity::remote(text)?;
    let named = |c: char| c.is_alphanumeric() || "._-@[]:%".contains(c);
    (server.chars().all(named) && (!mark.is_empty() || path.starts_with('/'))).then_some(length)
}

fn absolute(rest: &str) -> Option<usize> {
    let home = rest.starts_with("~/");
    let length = path_length(rest);
    ((home || rest.starts_with('/')) && length > 1).then_some(length)
}

/// A path in a message ends at a blank, a quotation mark or a bracket, or at a colon or full stop before a
/// blank. Where a slash follows in the next word, the blank was part of a name.
fn path_length(rest: &str) -> usize {
    let mut end = run_length(rest, |c| !divides(c));
    loop {
        let after = rest.get(end..).unwrap_or_default();
        let Some(next) = after.strip_prefix(' ') else { break };
        let word = run_length(next, |c| !divides(c));
        let goes_on =
            next.get(..word).is_some_and(|w| w.contains('/') && !w.starts_with(['/', '~']) && !w.contains("//"));
        let closed = rest.get(..end).is_some_and(|path| path.ends_with([':', '.']));
        if !goes_on || closed || is_quantity(next.get(..word).unwrap_or_default()) {
            break;
        }
        end += 1 + word;
    }
    rest.get(..end).unwrap_or_default().trim_end_matches([':', '.']).len()
}

/// `MB/s`, `I/O` and the like are no paths.
fn is_quantity(word: &str) -> bool {
    word.split('/').all(|part| part.len() <= 3)
}

/// `user@host`.
fn account(rest: &str) -> Option<usize> {
    let named = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let user = run_length(rest, named);
    let host = rest.get(user..)?.strip_prefix('@')?;
    let length = rest.get(user + 1..)?.get(..run_length(host, named))?.trim_end_matches('.').len();
    (user > 0 && length > 0).then_some(user + 1 + length)
}

/// Endings of files, which are no domains.
const FILES: [&str; 34] = [
    "bin", "cc", "cfg", "conf", "csv", "data", "db", "fio", "gif", "gz", "html", "img", "ini", "iso", "journal", "js",
    "json", "ko", "lock", "log", "md", "part", "png", "py", "rs", "service", "sh", "so", "sqlite", "svg", "tmp",
    "toml", "txt", "zip",
];

/// `nas.lan`, `node7.example.org`: words with full stops between them, the last without digits.
fn domain(rest: &str) -> Option<usize> {
    let text = rest
        .get(..run_length(rest, |c| c.is_ascii_alphanumeric() || c == '-' || c == '.'))?
        .trim_end_matches(['.', '-']);
    let (_, last) = text.rsplit_once('.')?;
    let labels = text.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    let top = (2..=24).contains(&last.len()) && last.bytes().all(|b| b.is_ascii_alphabetic());
    let file = FILES.contains(&last.to_ascii_lowercase().as_str());
    (labels && top && !file && ends_word(rest, text.len())).then_some(text.len())
}

/// The JSON pointer (RFC 6901) of the first place in the document of a record that a [`Redactor`](super::Redactor) would
/// change or leave out; `None` where it is redacted. Short names stay, with any key.
#[must_use]
pub fn unredacted(record: &Value) -> Option<String> {
    let (key, units) = (Key::Kept, Units::new());
    let known = Known::from_record(record, &RECORD, &key);
    Pass { key: &key, known, units: [&units, &units], left_out: 0 }.changes(record, &RECORD)
}

impl Pass<'_> {
    /// The first place that this pass would change. Only values with a rule of their own are copied.
    fn changes(&mut self, value: &Value, rule: &Rule) -> Option<String> {
        match (rule, value) {
            (Rule::Fields(rules), Value::Object(fields)) => fields.iter().find_map(|(name, value)| {
                let rule = rules.iter().find(|(known, _)| known == name);
                let below = rule.map_or_else(|| Some(String::new()), |(_, rule)| self.changes(value, rule))?;
                Some(pointer_part(name) + &below)
            }),
            (Rule::Each(rule), Value::Array(items)) => {
                items.iter().enumerate().find_map(|(at, item)| Some(format!("/{at}{}", self.changes(item, rule)?)))
            }
            _ => match self.apply(value.clone(), rule) {
                Some(out) => difference(value, &out),
                None => Some(String::new()),
            },
        }
    }
}

fn pointer_part(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Where two values differ first.
fn difference(a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let within = |(name, value): (&String, &Value)| {
                let below = match other.get(name) {
                    Some(there) => difference(value, there)?,
                    None => String::new(),
                };
                Some(pointer_part(name) + &below)
            };
            one.iter().find_map(within)
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.into_iter().find_map(|(at, (a, b))| Some(format!("/{at}{}", difference(a, b)?)))
        }
        _ => (a != b).then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::RECORD;
    use super::*;
    use crate::Redactor;
    use serde_json::json;

    fn scrub(text: &str) -> String {
        let key = Key::Secret([7; 32]);
        scrubbed(text, &Known::from_record(&serde_json::Value::Null, &RECORD, &key), &key)
    }

    #[test]
    fn what_has_the_form_of_an_identity_is_replaced() {
        for secret in [
            "9f1c2b34-5d6e-4f70-8a9b-0c1d2e3f4a5b",
            "ABCD-12EF",
            "b8:27:eb:12:34:56",
            "B8-27-EB-12-34-56",
            "0011.2233.4455",
            "00:25:90:ff:fe:11:22:33",
            "enxb827eb123456",
            "192.168.7.9",
            "fd00:1:2::17",
            "fe80::ba27:ebff:fe12:3456",
            "iqn.2004-10.com.example:storage.disk1",
            "nqn.2014-08.org.nvmexpress:uuid",
            "naa.5000c500a1b2c3d4",
            "eui.0025385b91b0b5a9",
            "wwn-0x5000c500a1b2c3d4",
            "0x5000c500a1b2c3d4",
            "035344534333324780a1b2c3d4016a00",
            "nas.lan",
            "node7.example.org",
            "alice@nas",
        ] {
            for text in [
                secret.to_owned(),
                format!("cannot reach {secret}: timeout"),
                format!("({secret})"),
                format!("\"{secret}\","),
            ] {
                let out = scrub(&text);
                assert!(!out.contains(secret), "{text} -> {out}");
            }
        }
        for (text, hidden) in [
            ("SerialNumber: 4C530001230615", "4C530001230615"),
            ("serial 4C53X", "4C53X"),
            ("mount -o username=alice,password=hunter2", "hunter2"),
            ("mount -o username=alice,password=hunter2", "alice"),
            ("curl http://alice:pw@plug.lan:8080/api?token=x", "alice"),
            ("curl http://alice:pw@plug.lan:8080/api?token=x", "plug"),
            ("nas:/export/alice refused", "nas:"),
            ("//nas2/alice: gone", "alice"),
            ("\\\\nas2\\alice gone", "nas2"),
            ("cannot write /home/alice/Meine Karte/x: full", "Karte"),
            ("'~/cards/secret'", "secret"),
            ("/dev/disk/by-id/usb-SanDisk_4C53-0:0", "4C53"),
        ] {
            let out = scrub(text);
            assert!(!out.contains(hidden), "{text} -> {out}");
        }
    }

    #[test]
    fn what_people_need_stays() {
        for text in [
            "read: Input/output error (os error 5)",
            "23.4 MB/s, 1 480 IOPS at 4 KiB, QD32; 98 % of the bus",
            "blk_update_request: I/O error, dev mmcblk0, sector 1234567 op 0x0:(READ) flags 0x80700",
            "mmc0: error -110 whilst initialising SD card",
            "/sys/kernel/debug/mmc0/ios",
            "/sys/class/net/eth0/speed, guessed from the default route",
            "name a directory on the medium: assay run /mnt/card",
            "/dev/mmcblk0p2 and /dev/nvme0n1p1 and /dev/sdX",
            "allow io_uring (sysctl kernel.io_uring_disabled=0; seccomp of a container)",
            "WDS500G2B0A-00SM50, SanDisk SC32G, Samsung SSD 870 EVO 500GB",
            "Intel(R) Xeon(R) CPU @ 2.20GHz",
            "Raspberry Pi 4 Model B Rev 1.4",
            "fio-3.36, Linux 6.6.31, Debian GNU/Linux 12 (bookworm)",
            "2026-11-21T06:31:04Z, after 38 min 5 s, 06:31:07",
            "byte 17179869184 of 31914983424, sectors 4096-8192",
            "listens on 127.0.0.1 and ::1",
            "see assay.sqlite and card.html",
        ] {
            assert_eq!(scrub(text), text);
        }
    }

    fn full() -> Value {
        json!({
            "schema": "1.0", "id": "0yknftbqsr", "created": "2026-11-28T15:43:57Z",
            "tool": {"name": "assay", "version": "0.1.0", "engine": "uring", "engine_reason": "asked for on node7.example.org"},
            "host": {"hostname": "node7.example.org", "cpu": "Cortex-A76", "cores": 4},
            "medium": {
                "kind": "sd", "model": "SN64G", "unit": "035344534e36344780a1b2c3d4016a00", "attached": "b5a1-77/1",
                "path": "/home/alice/card", "mount_point": "/media/alice/My Card", "device": "/dev/mmcblk0p1",
                "mount_options": ["rw", "uid=1000", "addr=192.168.7.9", "errors=remount-ro"],
                "health": {}, "queue": {}
            },
            "labels": {"model": "SN64G", "serial": "1234567", "owner": "node7"},
            "warnings": [{"severity": "note", "cause": "mount failed at /home/alice/x/y: see http://alice@nas.lan:80/a/b", "remedy": ""}],
            "source": {"format": "fio", "file": "\\\\nas\\share\\alice.txt", "text": "secret", "lines": [1], "original_text_sha256": "aa55aa55aa55aa55"}
        })
    }

    #[test]
    fn addresses_in_labels_are_replaced_and_words_stay() {
        let label = |text: &str| {
            let mut record = json!({ "labels": { "note": text } });
            Redactor::with_key([7; 32]).value(&mut record);
            record["labels"]["note"].as_str().unwrap().to_owned()
        };
        for secret in ["b8:27:eb:12:34:56", "B8-27-EB-12-34-57", "192.168.77.23", "fd12:3456:789a::77", "wombat.local"]
        {
            let out = label(&format!("behind {secret}, second shelf"));
            assert!(!out.contains(secret) && out.ends_with(", second shelf"), "{out}");
        }
        for text in
            ["10USD", "46C", "A1", "usb3, left", "v1.2.3", "2026-11-28", "node7", "rack 2/4", "9.99EUR", "bare card"]
        {
            assert_eq!(label(text), text);
        }
    }

    #[test]
    fn what_was_redacted_is_redacted_whoever_has_the_key() {
        for seed in [1, 7, 200] {
            let mut record = full();
            record["labels"]["note"] = "mail alice@nas.lan, 192.168.7.9 b8:27:eb:12:34:56 /home/alice/x".into();
            Redactor::with_key([seed; 32]).value(&mut record);
            // The note that counts the fields that were left out is part of the document.
            assert_eq!(unredacted(&record), None, "{record:#}");
        }
    }

    #[test]
    fn the_place_of_what_is_not_redacted_is_said() {
        let mut clean = full();
        Redactor::with_key([3; 32]).value(&mut clean);
        for (pointer, value) in [
            ("/host/hostname", json!("node7")),
            ("/medium/unit", json!("035344534e36344780a1b2c3d4016a00")),
            ("/medium/unit", json!("unit-3FA9C1D2")),
            ("/medium/path", json!("/home/alice")),
            ("/warnings/0/cause", json!("mail of bob@example.org")),
            ("/warnings/0/cause", json!("at b8:27:eb:12:34:56")),
            ("/labels/serial", json!("9876543")),
            ("/medium/mount_options/1", json!("addr=192.168.7.9")),
            ("/source/text", json!("what fio printed")),
            ("/host/secret~1name", json!("x")),
            ("/surprise", json!([[1, 2], [3, 4]])),
        ] {
            let mut record = clean.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match record.pointer_mut(parent).unwrap() {
                Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
                parent => parent[name.replace("~1", "/")] = value,
            }
            assert_eq!(unredacted(&record).as_deref(), Some(pointer));
        }
    }
}
