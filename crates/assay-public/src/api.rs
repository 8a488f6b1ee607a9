//! The API for programs.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_serve::Peer;
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::{self, Failure, JSON, of_snapshot, tagged};
use crate::answers::{Asked, Named};
use crate::app::App;
use crate::intake::{self, LARGEST, is_id, too_large};
use crate::intake::{Fault, Refusal};
use crate::limits::{asker, network};
use crate::openapi;
use crate::snapshot::{CONFIRMED, Entry, Snapshot};
use crate::states::{Code, Reason, State as Standing};
use crate::store::{self, Incoming, Submitted, hash_of, secret};
use crate::writer::WriteError;

type Shared = State<Arc<App>>;
type Answer = Result<Response, Failure>;

/// How long a document may take to arrive.
const ARRIVES: Duration = Duration::from_secs(60);
/// Entries of the log in an answer.
const LOG_PAGE: i64 = 100;
/// Models in an answer to a search.
const FOUND: usize = 100;

/// The address that asks.
pub(crate) fn asking(app: &App, peer: Option<&Peer>, headers: &HeaderMap) -> IpAddr {
    let forwarded: Vec<&str> =
        headers.get_all("x-forwarded-for").iter().filter_map(|field| field.to_str().ok()).collect();
    let peer = peer.map_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    asker(peer, &forwarded, &app.proxies)
}

fn token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| token.len() == 64)
}

async fn account(app: &Arc<App>, headers: &HeaderMap) -> Result<String, Failure> {
    let token = token(headers).ok_or_else(Failure::unauthorized)?.to_owned();
    app.read(move |connection| store::account_of(connection, &token)).await?.ok_or_else(Failure::unauthorized)
}

pub(crate) async fn own_account(State(app): Shared, headers: HeaderMap) -> Answer {
    let name = account(&app, &headers).await?;
    let own = name.clone();
    let records = app.read(move |connection| store::submissions_of(connection, &own)).await?;
    Ok(answers::json(StatusCode::OK, &json!({ "name": name, "records": records })))
}

#[derive(Deserialize)]
pub(crate) struct Wish {
    #[serde(default)]
    unlisted: bool,
}

pub(crate) async fn submit(
    State(app): Shared,
    Named(id): Named,
    Asked(wish): Asked<Wish>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    if app.is_ending() {
        return Err(Failure::unavailable("the server ends; try again later"));
    }
    let account = account(&app, &headers).await?;
    app.submissions.take(&account, Instant::now()).map_err(Failure::too_many)?;
    let bytes = arrived(&app, &headers, body).await?;
    let named = id.clone();
    let read = app.on_a_thread(move |_| intake::read(&named, bytes, Timestamp::now())).await??;
    let key = secret().map_err(|error| Failure::unavailable(error.to_string()))?;
    let incoming = Incoming { account, submission: read, unlisted: wish.unlisted, key: key.clone() };
    match app.writer.keep(incoming).await {
        Ok(Submitted::New(kept)) => Ok(answers::json(StatusCode::CREATED, &kept.receipt(&app.site, Some(key)))),
        Ok(Submitted::Same(kept)) => Ok(answers::json(StatusCode::OK, &kept.receipt(&app.site, None))),
        Ok(Submitted::Taken(kept)) => {
            let receipt = kept.receipt(&app.site, None);
            let message = "another document has this identity here";
            Err(Failure::new(StatusCode::CONFLICT, "conflict", message)
                .with("address", receipt.address)
                .with("hash", receipt.hash)
                .with("state", receipt.state.name()))
        }
        Err(WriteError::Full) => Err(Failure::unavailable("too many submissions wait; try again later")),
        Err(WriteError::Database(_)) => Err(Failure::unavailable("the database cannot be asked now; try again later")),
    }
}

/// The body, within what all together may take of the memory, and within a time.
async fn arrived(app: &Arc<App>, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Failure> {
    let refused = || Failure::from(Refusal { fault: Fault::TooLarge, message: too_large(), pointer: None });
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let Some(length) = length else {
        return Err(Failure::new(StatusCode::LENGTH_REQUIRED, "length_required", "Content-Length is needed"));
    };
    if length > LARGEST {
        return Err(refused());
    }
    let room = u32::try_from(length.div_ceil(1024)).unwrap_or(u32::MAX);
    let arrives = async {
        let _room = app.incoming.acquire_many(room).await.ok()?;
        to_bytes(body, LARGEST).await.ok()
    };
    match tokio::time::timeout(ARRIVES, arrives).await {
        Ok(Some(bytes)) => Ok(bytes.to_vec()),
        Ok(None) => Err(refused()),
        Err(_) => Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the document took too long to arrive")),
    }
}

pub(crate) async fn receipt(State(app): Shared, Named(id): Named) -> Answer {
    let kept = find(&app, id).await?;
    Ok(answers::json(StatusCode::OK, &kept.receipt(&app.site, None)))
}

async fn find(app: &Arc<App>, id: String) -> Result<store::Kept, Failure> {
    if !is_id(&id) {
        return Err(Failure::missing());
    }
    app.read(move |connection| store::find(connection, &id)).await?.ok_or_else(Failure::missing)
}

/// Whether the document of a record is shown, or why not.
pub(crate) fn shown(kept: &store::Kept) -> Result<(), Failure> {
    match kept.standing.state {
        Standing::Public | Standing::Unlisted => Ok(()),
        Standing::Received => {
            Err(Failure::new(StatusCode::FORBIDDEN, "received", "this record is not judged yet; ask again soon"))
        }
        Standing::Held => Err(Failure::new(StatusCode::FORBIDDEN, "held", "this record is held and not shown")),
        Standing::Withdrawn => Err(Failure::new(StatusCode::GONE, "withdrawn", "this record was taken back")),
    }
}

pub(crate) async fn document(State(app): Shared, Named(id): Named, headers: HeaderMap) -> Answer {
    let kept = find(&app, id.clone()).await?;
    shown(&kept)?;
    if answers::has(&headers, &kept.hash) {
        return Ok(tagged(&headers, &kept.hash, JSON, Body::empty));
    }
    let bytes = app.read(move |connection| store::document(connection, &id)).await?.ok_or_else(Failure::missing)?;
    Ok(tagged(&headers, &kept.hash, JSON, || Body::from(bytes)))
}

pub(crate) async fn withdraw(State(app): Shared, Named(id): Named, headers: HeaderMap) -> Answer {
    let kept = find(&app, id.clone()).await?;
    let key = headers.get("withdrawal-key").and_then(|key| key.to_str().ok());
    let owns = match key {
        // What is compared are hashes: how long that takes says nothing of the key.
        Some(key) => hash_of(key.trim()) == kept.withdrawal,
        None => account(&app, &headers).await? == kept.account,
    };
    if !owns {
        let message = "neither this key nor this account is the owner's";
        return Err(Failure::new(StatusCode::FORBIDDEN, "wrong_key", message));
    }
    let gone = app.write(move |connection| {
        // Its state may have changed meanwhile.
        let there = store::find(connection, &id)?;
        if let Some(there) = &there {
            store::withdraw(connection, there, Reason::new(Code::Asked, "its owner took it back"))?;
        }
        store::find(connection, &id)
    });
    let kept = gone.await?.ok_or_else(Failure::missing)?;
    Ok(answers::json(StatusCode::OK, &kept.receipt(&app.site, None)))
}

#[derive(Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: i64,
}

pub(crate) async fn log(State(app): Shared, Asked(asked): Asked<After>) -> Answer {
    let entries = app.read(move |connection| store::log(connection, asked.after, LOG_PAGE)).await?;
    let next = entries.last().filter(|_| entries.len() as i64 == LOG_PAGE).map(|last| last.n);
    Ok(answers::json(StatusCode::OK, &json!({ "entries": entries, "next": next })))
}

// What rests on a snapshot.

/// What a model is known by.
pub(crate) fn about_model(name: &str, entries: &[Arc<Entry>]) -> Value {
    let accounts = Snapshot::accounts(entries);
    json!({
        "model": name,
        "class": entries.first().map(|entry| &entry.class),
        "records": entries.len(),
        "units": Snapshot::unit_count(entries),
        "accounts": accounts,
        "confirmed": accounts >= CONFIRMED,
    })
}

fn about_record(entry: &Entry, whole: bool) -> Value {
    let Entry { account, class, model, unit, observation, .. } = entry;
    let mut about = json!({ "id": observation.id, "account": account, "unit": unit, "class": class, "model": model });
    if whole {
        about["observation"] = serde_json::to_value(observation).unwrap_or_default();
    }
    about
}

fn text(newest: &Snapshot, mut value: Value) -> Option<String> {
    value["snapshot"] = serde_json::to_value(&newest.cited).ok()?;
    Some(value.to_string())
}

pub(crate) async fn snapshot(State(app): Shared, headers: HeaderMap) -> Answer {
    of_snapshot(&app, &headers, JSON, |newest| text(newest, json!({ "loads": newest.loads }))).await
}

pub(crate) async fn models(State(app): Shared, headers: HeaderMap) -> Answer {
    let all = |newest: &Snapshot| {
        let models: Vec<Value> = newest.models.iter().map(|(name, entries)| about_model(name, entries)).collect();
        text(newest, json!({ "models": models }))
    };
    of_snapshot(&app, &headers, JSON, all).await
}

pub(crate) async fn model(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let one = move |newest: &Snapshot| {
        let entries = newest.models.get(&name)?;
        let mut about = about_model(&name, entries);
        about["of"] = entries.iter().map(|entry| about_record(entry, false)).collect();
        text(newest, about)
    };
    of_snapshot(&app, &headers, JSON, one).await
}

pub(crate) async fn unit(State(app): Shared, Named(name): Named, headers: HeaderMap) -> Answer {
    let one = move |newest: &Snapshot| {
        let entries = newest.units.get(&name)?;
        let records: Vec<Value> = entries.iter().map(|entry| about_record(entry, true)).collect();
        text(newest, json!({ "unit": name, "records": records }))
    };
    of_snapshot(&app, &headers, JSON, one).await
}

#[derive(Deserialize)]
pub(crate) struct OfModel {
    model: String,
}

pub(crate) async fn observations(State(app): Shared, Asked(asked): Asked<OfModel>, headers: HeaderMap) -> Answer {
    let all = move |newest: &Snapshot| {
        let entries = newest.models.get(&asked.model)?;
        let records: Vec<Value> = entries.iter().map(|entry| about_record(entry, true)).collect();
        text(newest, json!({ "observations": records }))
    };
    of_snapshot(&app, &headers, JSON, all).await
}

#[derive(Deserialize)]
pub(crate) struct Words {
    #[serde(default)]
    pub(crate) q: String,
}

pub(crate) async fn search(State(app): Shared, Asked(asked): Asked<Words>, headers: HeaderMap) -> Answer {
    let found = move |newest: &Snapshot| {
        let found = newest.search(&asked.q, FOUND);
        let models: Vec<Value> = found.into_iter().map(|(name, entries)| about_model(name, entries)).collect();
        text(newest, json!({ "models": models }))
    };
    of_snapshot(&app, &headers, JSON, found).await
}

#[derive(Deserialize)]
pub(crate) struct AskedRanking {
    pub(crate) class: String,
    pub(crate) load: Option<String>,
}

impl AskedRanking {
    /// The load; none where it was left open.
    pub(crate) fn load(&self) -> Option<&str> {
        self.load.as_deref().filter(|load| !load.is_empty())
    }
}

pub(crate) async fn rank(State(app): Shared, Asked(asked): Asked<AskedRanking>, headers: HeaderMap) -> Answer {
    let ranked = move |newest: &Snapshot| {
        let ranking = newest.ranking(&asked.class, asked.load())?;
        let loads = newest.loads.get(&asked.class).map(|loads| loads.keys().collect::<Vec<_>>());
        let (report, refused) = match &ranking.report {
            Ok(report) => (serde_json::to_value(report).ok()?, None),
            Err(error) => (Value::Null, Some(error)),
        };
        let models = json!({ "ranked": ranking.models, "of": ranking.of });
        text(
            newest,
            json!({ "class": asked.class, "loads": loads, "models": models, "report": report, "refused": refused }),
        )
    };
    of_snapshot(&app, &headers, JSON, ranked).await
}

pub(crate) async fn description(State(app): Shared) -> Response {
    answers::json(StatusCode::OK, &openapi::document(&app.site))
}

pub(crate) async fn schema(Named(name): Named) -> Answer {
    let text = openapi::schema(&name).ok_or_else(Failure::missing)?;
    Ok(([(header::CONTENT_TYPE, "application/schema+json")], Body::from(text)).into_response())
}

// Of the server itself.

pub(crate) async fn health() -> Response {
    answers::json(StatusCode::OK, &json!({ "alive": true }))
}

pub(crate) async fn ready(State(app): Shared) -> Answer {
    let trouble = app.trouble.read().unwrap_or_else(std::sync::PoisonError::into_inner).is_some();
    if app.is_ending() || trouble {
        return Err(Failure::unavailable("not ready"));
    }
    app.read(|connection| connection.rows("SELECT 1", &[]).map(|_| ())).await?;
    Ok(answers::json(StatusCode::OK, &json!({ "ready": true, "snapshot": app.snapshots.newest().cited.number })))
}

/// For the machine itself alone: what a proxy passes on, others asked for.
pub(crate) async fn metrics(State(app): Shared, peer: Option<Extension<Peer>>, headers: HeaderMap) -> Answer {
    let own = peer.is_some_and(|Extension(peer)| peer.0.ip().is_loopback());
    if !own || headers.contains_key("x-forwarded-for") || headers.contains_key("forwarded") {
        return Err(Failure::missing());
    }
    let states = app.read(store::counts).await?;
    let newest = app.snapshots.newest();
    let moments = [
        ("assay_public_snapshot", "Number of the newest snapshot.", newest.cited.number as f64),
        ("assay_public_connections", "Open connections.", app.places.open() as f64),
    ];
    let text = app.metrics.text(&moments, &states);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(text)).into_response())
}

/// What a network may ask.
pub(crate) fn let_in(app: &App, address: IpAddr) -> Result<(), Failure> {
    app.networks.take(&network(address), Instant::now()).map_err(Failure::too_many)
}
