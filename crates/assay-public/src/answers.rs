//! What an address asks for, and forms of answers: JSON, errors, and what is known by a snapshot.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::app::App;
use crate::database::DatabaseError;
use crate::intake::{Fault, Refusal};
use crate::questions::NoAnswer;
use crate::snapshot::Snapshot;

/// When a client may try again after a failure, in seconds.
const AGAIN: u64 = 5;

pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// An error as JSON.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    body: Value,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let body = json!({ "error": { "code": code, "message": message.into(), "pointer": null } });
        Self { status, body, headers: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.body[name] = value.into();
        self
    }

    fn header(mut self, name: HeaderName, value: &str) -> Self {
        self.headers.extend(HeaderValue::from_str(value).map(|value| (name, value)));
        self
    }

    pub(crate) fn missing() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is no such thing here")
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "a token is needed: Authorization: Bearer TOKEN; the operator of this server gives tokens";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message).header(header::WWW_AUTHENTICATE, "Bearer")
    }

    pub(crate) fn too_many(seconds: u64) -> Self {
        let message = format!("too many requests; try again in {seconds} s");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message).header(header::RETRY_AFTER, &seconds.to_string())
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message)
            .header(header::RETRY_AFTER, &AGAIN.to_string())
    }
}

impl From<DatabaseError> for Failure {
    /// What a database says of itself is for its operator.
    fn from(_: DatabaseError) -> Self {
        Self::unavailable("the database cannot be asked now; try again later")
    }
}

impl From<NoAnswer> for Failure {
    fn from(none: NoAnswer) -> Self {
        Self::unavailable(match none {
            NoAnswer::Busy => "too many questions wait; try again later",
            NoAnswer::Later => "this answer takes longer; ask again in some seconds",
        })
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.fault {
            Fault::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let mut failure = Self::new(status, refusal.fault.name(), refusal.message);
        failure.body["error"]["pointer"] = refusal.pointer.into();
        failure
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response =
            (self.status, [(header::CONTENT_TYPE, JSON)], Body::from(self.body.to_string())).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}

pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => (status, [(header::CONTENT_TYPE, JSON)], Body::from(text)).into_response(),
        Err(error) => Failure::unavailable(error.to_string()).into_response(),
    }
}

/// What makes an answer of a snapshot: a newer program may word it otherwise.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

fn versioned(tag: &str) -> String {
    format!("\"{tag}-{VERSION}\"")
}

/// Whether a client has what has this tag.
pub(crate) fn has(headers: &HeaderMap, tag: &str) -> bool {
    let tag = versioned(tag);
    let fields = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|field| field.to_str().ok());
    fields.flat_map(|field| field.split(',')).any(|one| one.trim().trim_start_matches("W/") == tag)
}

/// An answer with a tag; nothing of it where the client has it.
pub(crate) fn tagged(headers: &HeaderMap, tag: &str, kind: &'static str, make: impl FnOnce() -> Body) -> Response {
    let value = HeaderValue::from_str(&versioned(tag)).unwrap_or(HeaderValue::from_static("\"\""));
    let shared = [(header::ETAG, value), (header::CACHE_CONTROL, HeaderValue::from_static("public, no-cache"))];
    if has(headers, tag) {
        return (StatusCode::NOT_MODIFIED, shared).into_response();
    }
    (StatusCode::OK, shared, [(header::CONTENT_TYPE, kind)], make()).into_response()
}

/// What is made of the newest snapshot, on a thread on which computing is allowed.
pub(crate) async fn of_snapshot(
    app: &Arc<App>,
    headers: &HeaderMap,
    kind: &'static str,
    make: impl FnOnce(&Snapshot) -> Option<String> + Send + 'static,
) -> Result<Response, Failure> {
    let newest = app.snapshots.newest();
    let tag = newest.tag();
    if has(headers, &tag) {
        return Ok(tagged(headers, &tag, kind, Body::empty));
    }
    let text = app.on_a_thread(move |_| make(&newest)).await?.ok_or_else(Failure::missing)?;
    Ok(tagged(headers, &tag, kind, || Body::from(text)))
}

// What an address asks for, or an error like all others.

/// The fields behind the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let bad = |what: String| Failure::new(StatusCode::BAD_REQUEST, "query", what);
        Query::try_from_uri(&parts.uri).map(|Query(fields)| Self(fields)).map_err(|error| bad(error.body_text()))
    }
}

/// The name in a path.
pub(crate) struct Named(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        // What is no text names nothing here.
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(name)| Self(name)).map_err(|_| Failure::missing())
    }
}
