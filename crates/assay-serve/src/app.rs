//! What all pages share: the program behind them, who may ask, what they began; and what each request passes before a page
//! answers it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::connections::Place;
use crate::jobs::Jobs;
use crate::page;
use crate::program::Program;

/// What all pages share.
pub(crate) struct App {
    pub(crate) program: Box<dyn Program>,
    pub(crate) access: Access,
    pub(crate) jobs: Jobs,
    /// Pages that are made at once.
    pub(crate) turns: Arc<Semaphore>,
    /// Whether the user chose a token, which a page asks for.
    pub(crate) asks_for_token: bool,
}

/// Longest form, in bytes.
const LONGEST_FORM: usize = 64 << 10;
/// How long a form may take to arrive.
const BODY: Duration = Duration::from_secs(10);

/// How a page that is not allowed is answered where there is nothing to log in with.
const NEEDS_ADDRESS: &str =
    "This page belongs to one user. Open the address that assay serve printed, with its secret.";

/// Pages that need no session.
fn is_open(path: &str, asks_for_token: bool) -> bool {
    asks_for_token && path == "/login" || path.starts_with("/assets/")
}

/// What a browser may do with any answer: nothing but its own styles, scripts and forms.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Lets a request through, or refuses it; sets the headers that each answer has.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = judged(&app, request, next).await;
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        // `no-referrer` would make browsers say `Origin: null` with forms of this server, too.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn judged(app: &Arc<App>, request: Request, next: Next) -> Response {
    let access = &app.access;
    let headers = request.headers();
    if !access.is_own_host(headers) {
        return plain(StatusCode::MISDIRECTED_REQUEST, "This server does not answer to that host name.");
    }
    if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "Pages are read with GET, and forms are sent with POST.");
    }
    if request.method() == Method::POST && access.is_cross_site(headers) {
        return plain(StatusCode::FORBIDDEN, "This form was sent by a page of another site.");
    }
    let key = request.uri().query().and_then(|query| query.strip_prefix("key=")).map(str::to_owned);
    if let (Some(key), "/") = (key, request.uri().path()) {
        return match access.log_in(&key).await {
            Some(cookie) => page::logged_in(&cookie),
            None => {
                plain(StatusCode::FORBIDDEN, "The secret in this address is wrong; assay serve prints the right one.")
            }
        };
    }
    let is_logged_in = access.has_session(headers);
    if is_logged_in || is_open(request.uri().path(), app.asks_for_token) {
        let place = request.extensions().get::<Arc<Place>>().filter(|_| is_logged_in).cloned();
        return match whole(request).await {
            Some(request) => match place.map(|place| place.answers()) {
                Some(answering) => answering.with(next.run(request).await),
                None => next.run(request).await,
            },
            None => plain(StatusCode::BAD_REQUEST, "This form is too long, or it took too long to arrive."),
        };
    }
    match app.asks_for_token {
        true => page::see("/login"),
        false => plain(StatusCode::FORBIDDEN, NEEDS_ADDRESS),
    }
}

/// The request with its body, which has to be there soon: a client that sends a byte a minute keeps no place.
async fn whole(request: Request) -> Option<Request> {
    let (parts, body) = request.into_parts();
    let body = tokio::time::timeout(BODY, axum::body::to_bytes(body, LONGEST_FORM)).await.ok()?.ok()?;
    Some(Request::from_parts(parts, Body::from(body)))
}

fn plain(status: StatusCode, words: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from(format!("{words}\n"))).into_response()
}
