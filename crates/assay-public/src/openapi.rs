//! The description of the API, OpenAPI 3.1.

use assay_core::record::SCHEMA;
use serde_json::{Value, json};

use crate::classes;

/// Schemas of what records and rankings are, as they are committed.
const SCHEMAS: [(&str, &str); 3] = [
    ("compare-v1.json", include_str!("../../../schemas/compare-v1.json")),
    ("record-v1.json", include_str!("../../../schemas/record-v1.json")),
    ("rank-v1.json", include_str!("../../../schemas/rank-v1.json")),
];

/// The text of a schema that the description refers to.
pub(crate) fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn parameter(place: &str, name: &str, about: &str) -> Value {
    let mut schema = json!({ "type": "string" });
    if name == "id" {
        schema["pattern"] = "^[0-9a-z]{10}$".into();
    }
    if name == "class" {
        schema["enum"] = classes::ALL.iter().map(|(class, _)| *class).collect();
    }
    if name == "after" {
        schema = json!({ "type": "integer", "default": 0, "minimum": 0, "maximum": u64::MAX });
    }
    if name == "unlisted" {
        schema = json!({ "type": "boolean", "default": false });
    }
    let required = place == "path" || ["class", "model"].contains(&name);
    json!({ "name": name, "in": place, "required": required, "description": about, "schema": schema })
}

/// Where a part of a list begins.
fn behind() -> Value {
    let schema = json!({ "type": "string", "default": "" });
    json!({ "name": "after", "in": "query", "required": false, "description": "Records behind this identity.", "schema": schema })
}

/// Several models.
fn models() -> Value {
    let schema = json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 2, "maxItems": 6, "uniqueItems": true });
    json!({ "name": "model", "in": "query", "required": true, "description": "Names of models.", "schema": schema })
}

fn answer(about: &str, schema: &str) -> Value {
    json!({ "description": about, "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{schema}") } } } })
}

fn refused(statuses: &[(&str, &str)]) -> serde_json::Map<String, Value> {
    statuses.iter().map(|(status, about)| ((*status).to_owned(), answer(about, "Error"))).collect()
}

fn operation(about: &str, parameters: Vec<Value>, good: &[(&str, Value)], bad: &[(&str, &str)]) -> Value {
    let mut responses = refused(bad);
    if parameters.iter().any(|parameter| parameter["in"] == "query") {
        responses.insert("400".to_owned(), answer("A field of the query is missing, or is none.", "Error"));
    }
    responses.insert("429".to_owned(), answer("Too many requests; Retry-After has the seconds.", "Error"));
    responses.insert("503".to_owned(), answer("Try again later; Retry-After has the seconds.", "Error"));
    responses.extend(good.iter().map(|(status, value)| ((*status).to_owned(), value.clone())));
    json!({ "summary": about, "parameters": parameters, "responses": responses })
}

/// The document.
#[must_use]
pub fn document(site: &str) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "assay: a public place for results", "version": "1", "license": { "name": "CC0-1.0" } },
        "servers": [{ "url": site }],
        "paths": paths(),
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "withdrawal": { "type": "apiKey", "in": "header", "name": "Withdrawal-Key" }
            },
            "schemas": schemas()
        }
    })
}

fn paths() -> Value {
    let id = || parameter("path", "id", "Identity of the record.");
    let ok = |schema: &str| [("200", answer("As asked.", schema))];
    let none = [("404", "There is none.")];
    let read =
        |about: &str, parameters: Vec<Value>| json!({ "get": operation(about, parameters, &ok("Cited"), &none) });
    json!({
        "/api/v1/account": { "get": secured(operation("Whose token this is", vec![], &ok("Account"), &[("401", "No account has this token.")]), &["token"]) },
        "/api/v1/records/{id}": {
            "get": operation("Where a submission stands", vec![id()], &ok("Receipt"), &none),
            "put": secured(with_body(operation(
                "Submit a record, redacted",
                vec![id(), parameter("query", "unlisted", "Show it at its address alone.")],
                &[("201", answer("It is kept.", "Receipt")), ("200", answer("The same was kept before.", "Receipt"))],
                &[("401", "No account has this token."), ("408", "The document took too long."), ("409", "Another document has this identity."),
                  ("411", "Content-Length is needed."), ("413", "It is too large."), ("422", "It is no record that can be kept; `pointer` says where.")],
            )), &["token"]),
            "delete": secured(operation("Take a record back", vec![id()], &ok("Receipt"),
                &[("401", "Neither key nor token."), ("403", "The key or the account of another."), ("404", "There is none.")]), &["token", "withdrawal"])
        },
        "/api/v1/records/{id}/document": { "get": operation("The document as it was sent", vec![id()],
            &[("200", json!({ "description": "A record.", "content": { "application/json": { "schema": { "$ref": "/api/v1/schemas/record-v1.json" } } } }))],
            &[("403", "It is held or not judged yet."), ("404", "There is none."), ("410", "It was taken back.")]) },
        "/api/v1/log": { "get": operation("Holds, releases and removals", vec![parameter("query", "after", "Entries after this number.")], &ok("Log"), &[]) },
        "/api/v1/snapshot": read("The newest snapshot and its loads", vec![]),
        "/api/v1/models": read("All models", vec![]),
        "/api/v1/models/{name}": read("A model and its records; `next` is what the next part is behind", vec![parameter("path", "name", "Its name."), behind()]),
        "/api/v1/units/{name}": read("A unit and what rankings read of it", vec![parameter("path", "name", "Its name."), behind()]),
        "/api/v1/observations": read("What rankings read of a model's records, 1,000 at once; `next` is what the next part is behind",
            vec![parameter("query", "model", "Name of the model."), behind()]),
        "/api/v1/hosts": read("Hosts, and the models that were measured at them", vec![]),
        "/api/v1/search": read("Models by words in their names", vec![parameter("query", "q", "The words.")]),
        "/api/v1/rank": { "get": operation("A ranking, as `assay rank --json` has it", vec![
            parameter("query", "class", "The class, as /api/v1/snapshot names it."),
            parameter("query", "load", "Title of the load; without it the usual one."),
            parameter("query", "host", "Board or processor, as `filters` of an answer names it."),
            parameter("query", "slot", "Slot or port."),
            parameter("query", "bus", "Bus and mode."),
            parameter("query", "bridge", "Driver of the bridge.")], &ok("Ranking"), &none) },
        "/api/v1/compare": { "get": operation("A comparison, as `assay compare --json` has it", vec![
            models(), parameter("query", "load", "Words for the load; without them the usual one.")], &ok("Comparison"), &none) },
    })
}

fn secured(mut operation: Value, by: &[&str]) -> Value {
    operation["security"] = by.iter().map(|name| json!({ *name: [] })).collect();
    operation
}

fn with_body(mut operation: Value) -> Value {
    let here = json!({ "properties": { "schema": { "const": SCHEMA }, "id": { "pattern": "^[0-9a-z]{10}$" } } });
    // When another tool measured need not be known.
    let when = json!({ "anyOf": [
        { "properties": { "created": { "format": "date-time" } } },
        { "required": ["source"], "properties": { "created": { "maxLength": 0 }, "source": { "type": "object" } } },
    ] });
    let schema = json!({ "allOf": [{ "$ref": "/api/v1/schemas/record-v1.json" }, here, when] });
    operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    operation
}

fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let reason = json!({ "type": "object", "properties": { "code": text(), "detail": text() } });
    json!({
        "Error": { "type": "object", "required": ["error"], "properties": { "error": { "type": "object",
            "required": ["code", "message", "pointer"],
            "properties": { "code": text(), "message": text(), "pointer": { "type": ["string", "null"] } } } } },
        "Account": { "type": "object", "properties": { "name": text(), "records": { "type": "integer" } } },
        "Receipt": { "type": "object", "required": ["id", "hash", "state", "reasons", "received", "address"], "properties": {
            "id": text(), "hash": text(), "state": { "enum": ["received", "public", "unlisted", "held", "withdrawn"] },
            "reasons": { "type": "array", "items": reason }, "received": text(), "address": text(), "withdrawal_key": text() } },
        "Log": { "type": "object", "properties": { "entries": { "type": "array", "items": { "type": "object", "properties": {
            "n": { "type": "integer" }, "at": text(), "id": text(), "from": text(), "to": text(),
            "reasons": { "type": "array", "items": reason } } } }, "next": { "type": ["integer", "null"] } } },
        "Ranking": { "type": "object", "required": ["snapshot", "class", "report", "refused"], "properties": {
            "snapshot": { "type": "object" }, "class": text(), "loads": { "type": "array", "items": text() },
            "models": { "type": "object", "properties": { "ranked": { "type": "integer" }, "of": { "type": "integer" } } },
            "report": { "anyOf": [{ "type": "null" }, { "$ref": "/api/v1/schemas/rank-v1.json" }] },
            "refused": { "type": ["string", "null"] } } },
        "Comparison": { "type": "object", "required": ["snapshot", "models", "report", "refused"], "properties": {
            "snapshot": { "type": "object" }, "models": { "type": "array", "items": text() },
            "report": { "anyOf": [{ "type": "null" }, { "$ref": "/api/v1/schemas/compare-v1.json" }] },
            "refused": { "type": ["string", "null"] } } },
        "Cited": { "type": "object", "required": ["snapshot"], "properties": { "snapshot": { "type": "object",
            "properties": { "number": { "type": "integer" }, "made": text(), "records": { "type": "integer" },
                "units": { "type": "integer" }, "accounts": { "type": "integer" }, "hash": text() } } } }
    })
}
