//! What the program prints for programs, held against the published schemas: of every command that a test runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::Value;

use super::ASSAY;

/// The schema of the errors.
pub const ERROR: &str = "error";
/// The schema of records.
const RECORD: &str = "record";

/// What a command was asked for: the words of its command line before `--`, if it is the program under test.
pub struct Asked(Option<Vec<String>>);

impl Asked {
    /// Of a command that is not run yet.
    pub fn of(command: &Command) -> Self {
        let words = command.get_args().take_while(|word| *word != "--").map(|word| word.to_string_lossy().into_owned());
        Self((command.get_program() == ASSAY).then(|| words.collect()))
    }
}

/// Fails unless the output of a command has exactly the fields of its schema.
#[track_caller]
pub fn check(asked: &Asked, code: Option<i32>, stdout: &str) {
    let Some(words) = &asked.0 else { return };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let asks_for = |option: &str| words.contains(&option);
    if stdout.trim().is_empty() {
        return;
    }
    if asks_for("--events") {
        let schema = schema_of(&words);
        for line in stdout.lines().filter(|line| !line.is_empty() && line.starts_with('{')) {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert_valid(if event.get("error").is_some() { ERROR } else { &schema }, &event);
        }
    } else if asks_for("--json") {
        // Of a plan each run is a document.
        for document in serde_json::Deserializer::from_str(stdout).into_iter::<Value>() {
            check_document(&words, code, &document.unwrap_or_else(|e| panic!("{words:?}: {e}: {stdout}")));
        }
    }
}

#[track_caller]
fn check_document(words: &[&str], code: Option<i32>, document: &Value) {
    if document.get("error").is_some_and(|error| error.get("exit_code").is_some()) {
        assert_eq!(document["error"]["exit_code"].as_i64(), code.map(i64::from), "{document:#}");
        return assert_valid(ERROR, document);
    }
    let schema = schema_of(words);
    match document {
        // Records of the store may be those of a newer program.
        Value::Array(records) if schema == RECORD => records.iter().for_each(|one| assert_holds(RECORD, one)),
        one if schema == RECORD && words.first() == Some(&"show") => assert_holds(RECORD, one),
        one => assert_valid(&schema, one),
    }
}

/// Fails unless the document is valid by the schema of that name, and has no other fields.
#[track_caller]
pub fn assert_valid(schema: &str, document: &Value) {
    holds(schema, true, document);
}

/// Fails unless the document is valid by the schema of that name; it may have more fields.
#[track_caller]
pub fn assert_holds(schema: &str, document: &Value) {
    holds(schema, false, document);
}

#[track_caller]
fn holds(schema: &str, closed: bool, document: &Value) {
    let errors: Vec<String> = validator(schema, closed)
        .iter_errors(document)
        .take(5)
        .map(|error| format!("{}: {}", error.instance_path(), error.to_string().chars().take(300).collect::<String>()))
        .collect();
    assert!(errors.is_empty(), "not as schemas/{schema}-v1.json says: {errors:#?}\n{document:#}");
}

/// Name of the schema of what these words of the command line print: that whose command has the most words in common.
fn schema_of(words: &[&str]) -> String {
    let fits = |command: &str| {
        let all: Vec<&str> = command.split(' ').skip(1).collect();
        let (options, names): (Vec<&str>, Vec<&str>) = all.iter().partition(|word| word.starts_with('-'));
        let has = |option: &&str| words.iter().any(|word| word == option || word.starts_with(&format!("{option}=")));
        (words.starts_with(&names) && options.iter().all(has)).then_some(all.len())
    };
    let best = commands().iter().filter_map(|(command, schema)| Some((fits(command)?, schema))).max();
    best.map_or_else(|| panic!("{words:?} prints JSON and has no schema"), |(_, schema)| schema.clone())
}

/// Each command with the name of its schema, as the titles of the schemas say.
fn commands() -> &'static BTreeMap<String, String> {
    static ALL: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: BTreeMap<String, String> =
            ["assay run", "assay verify", "assay show"].map(|name| (name.to_owned(), RECORD.to_owned())).into();
        for entry in directory().read_dir().unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            let name = file.strip_suffix("-v1.json").unwrap().to_owned();
            let schema = read(&name);
            let title = schema["title"].as_str().unwrap();
            let commands = title.split_once(": JSON").map_or("", |(commands, _)| commands).split(", ");
            let commands = commands.filter(|command| command.starts_with("assay "));
            all.extend(commands.map(|command| (command.to_owned(), name.clone())));
        }
        all
    })
}

fn directory() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(directory().join(format!("{name}-v1.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn validator(name: &str, closed: bool) -> Arc<Validator> {
    static ALL: Mutex<BTreeMap<(String, bool), Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let made = || {
        let mut schema = read(name);
        if closed {
            close(&mut schema);
        }
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    };
    all.entry((name.to_owned(), closed)).or_insert_with(made).clone()
}

/// Closes every object of a schema: a field that it does not describe is an error here, and none for readers.
fn close(schema: &mut Value) {
    let mut open = Vec::new();
    shared(schema, &mut open);
    if let Some(all) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
        for (name, one) in all {
            close_one(one, open.contains(&format!("#/$defs/{name}")));
        }
    }
    close_one(schema, false);
}

/// The definitions that are a part of an object with more fields: they cannot be closed by themselves.
fn shared(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let (Some(Value::String(name)), Some(_)) = (fields.get("$ref"), fields.get("properties")) {
                found.push(name.clone());
            }
            let parts = ["allOf", "oneOf", "anyOf"].into_iter().filter(|_| fields.contains_key("properties"));
            for part in parts.filter_map(|name| fields.get(name)?.as_array()).flatten() {
                found.extend(part.get("$ref").and_then(Value::as_str).map(str::to_owned));
            }
            fields.values().for_each(|value| shared(value, found));
        }
        Value::Array(all) => all.iter().for_each(|value| shared(value, found)),
        _ => {}
    }
}

/// Closes a schema and those inside, unless an outer one does it.
fn close_one(schema: &mut Value, outer_closes: bool) {
    match schema {
        Value::Object(fields) => {
            let is_object = fields.get("properties").is_some_and(Value::is_object);
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    "$defs" => {}
                    "allOf" | "oneOf" | "anyOf" => {
                        for one in value.as_array_mut().into_iter().flatten() {
                            close_one(one, outer_closes || is_object);
                        }
                    }
                    "properties" => {
                        value.as_object_mut().into_iter().flatten().for_each(|(_, field)| close_one(field, false));
                    }
                    _ => close_one(value, false),
                }
            }
            if is_object && !outer_closes && !fields.contains_key("additionalProperties") {
                fields.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| close_one(one, false)),
        _ => {}
    }
}
