//! The API for programs.

use std::collections::{BTreeMap, HashMap};
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
use crate::derived::{self, observation_texts};
use crate::digest::{Entry, Text};
use crate::intake::{self, LARGEST, is_id, too_large};
use crate::limits::{asker, network};
use crate::openapi;
use crate::questions::{Answer as Said, MOST_COMPARED, Question};
use crate::selection::Filter;
use crate::snapshot::{Model, Snapshot};
use crate::states::{Code, Reason, State as Standing};
use crate::store::{self, Incoming, Submitted, hash_of, secret};
use crate::writer::WriteError;

type Shared = State<Arc<App>>;
type Answer = Result<Response, Failure>;

/// How long a document may take to arrive.
const ARRIVES: Duration = Duration::from_secs(60);
/// Entries of the log in an answer.
const LOG_PAGE: i64 = 100;
/// Records of a model in an answer.
const RECORDS_PAGE: usize = 5000;
/// Records with their observations in an answer.
const OBSERVATIONS_PAGE: usize = 1000;
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
    let refused = || Failure::from(too_large());
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
        // What is compared are hashes: how long that takes says nothing about the key.
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
            derived::withdraw(connection, there, Reason::new(Code::Asked, "its owner took it back"))?;
        }
        store::find(connection, &id)
    });
    let kept = gone.await?.ok_or_else(Failure::missing)?;
    Ok(answers::json(StatusCode::OK, &kept.receipt(&app.site, None)))
}

#[derive(Deserialize)]
pub(crate) struct After {
    #[serde(default)]
    after: u64,
}

pub(crate) async fn log(State(app): Shared, Asked(asked): Asked<After>) -> Answer {
    let after = i64::try_from(asked.after).unwrap_or(i64::MAX);
    let entries = app.read(move |connection| store::log(connection, after, LOG_PAGE)).await?;
    let next = entries.last().filter(|_| entries.len() as i64 == LOG_PAGE).map(|last| last.n);
    Ok(answers::json(StatusCode::OK, &json!({ "entries": entries, "next": next })))
}

// What rests on a snapshot.

/// What a model is known by.
fn about_model(model: &Model) -> Value {
    json!({
        "model": &*model.name,
        "class": model.class(),
        "records": model.entries.len(),
        "units": model.units,
        "accounts": model.accounts,
        "confirmed": model.is_confirmed(),
    })
}

fn about_record(entry: &Entry) -> Value {
    let Entry { id, account, class, model, unit, host, slot, bus, created, .. } = entry;
    json!({
        "id": **id, "account": **account, "unit": **unit, "class": class, "model": **model, "host": **host, "slot": **slot,
        "bus": **bus, "created": **created,
    })
}

fn text(newest: &Snapshot, mut value: Value) -> Option<String> {
    value["snapshot"] = serde_json::to_value(&newest.cited).ok()?;
    Some(value.to_string())
}

pub(crate) async fn snapshot(State(app): Shared, headers: HeaderMap) -> Answer {
    of_snapshot(&app, &headers, JSON, |newest| {
        let titles = |of: &BTreeMap<Text, usize>| of.iter().map(|(load, count)| (load.to_string(), *count)).collect();
        let loads: BTreeMap<&str, BTreeMap<String, usize>> =
            newest.loads.iter().map(|(class, of)| (*class, titles(of))).collect();
        text(newest, json!({ "loads": loads }))
    })
    .await
}

pub(crate) async fn models(State(app): Shared, headers: HeaderMap) -> Answer {
    let all = |newest: &Snapshot| {
        let models: Vec<Value> = newest.models.values().map(|model| about_model(model)).collect();
        text(newest, json!({ "models": models }))
    };
    of_snapshot(&app, &headers, JSON, all).await
}

/// Which part of a list.
#[derive(Deserialize)]
pub(crate) struct Behind {
    /// Identity of the last record of the part before.
    #[serde(default)]
    after: String,
}

/// The part of a list of records behind an identity, and the identity that the next part is behind.
fn part<'a>(entries: &'a [Arc<Entry>], after: &str, most: usize) -> (&'a [Arc<Entry>], Option<&'a str>) {
    let from = entries.partition_point(|entry| *entry.id <= *after);
    let rest = entries.get(from..).unwrap_or_default();
    let part = rest.get(..most).unwrap_or(rest);
    (part, part.last().filter(|_| rest.len() > most).map(|entry| &*entry.id))
}

pub(crate) async fn model(
    State(app): Shared,
    Named(name): Named,
    Asked(asked): Asked<Behind>,
    headers: HeaderMap,
) -> Answer {
    let one = move |newest: &Snapshot| {
        let model = newest.models.get(name.as_str())?;
        let (entries, next) = part(&model.entries, &asked.after, RECORDS_PAGE);
        let mut about = about_model(model);
        about["of"] = entries.iter().map(|entry| about_record(entry)).collect();
        about["next"] = next.into();
        text(newest, about)
    };
    of_snapshot(&app, &headers, JSON, one).await
}

pub(crate) async fn unit(
    State(app): Shared,
    Named(name): Named,
    Asked(asked): Asked<Behind>,
    headers: HeaderMap,
) -> Answer {
    let newest = app.snapshots.newest();
    let entries = newest.unit(&name).ok_or_else(Failure::missing)?;
    with_observations(&app, &headers, entries, &asked.after, ("records", json!({ "unit": name }))).await
}

#[derive(Deserialize)]
pub(crate) struct OfModel {
    model: String,
    #[serde(default)]
    after: String,
}

pub(crate) async fn observations(State(app): Shared, Asked(asked): Asked<OfModel>, headers: HeaderMap) -> Answer {
    let newest = app.snapshots.newest();
    let model = newest.models.get(asked.model.as_str()).ok_or_else(Failure::missing)?;
    with_observations(&app, &headers, &model.entries, &asked.after, ("observations", json!({}))).await
}

/// Records with what rankings read of them, which the database has. What was taken back since the snapshot is left out.
async fn with_observations(
    app: &Arc<App>,
    headers: &HeaderMap,
    entries: &[Arc<Entry>],
    after: &str,
    (name, mut about): (&'static str, Value),
) -> Answer {
    let newest = app.snapshots.newest();
    let tag = newest.tag();
    if answers::has(headers, &tag) {
        return Ok(tagged(headers, &tag, JSON, Body::empty));
    }
    let (entries, next) = part(entries, after, OBSERVATIONS_PAGE);
    (about["snapshot"], about["next"]) = (serde_json::to_value(&newest.cited).unwrap_or_default(), next.into());
    let entries = entries.to_vec();
    let read = app.read(move |connection| {
        let ids: Vec<&str> = entries.iter().map(|entry| &*entry.id).collect();
        let texts: HashMap<String, String> = observation_texts(connection, &ids)?.into_iter().collect();
        let line = |entry: &Arc<Entry>| {
            let mut of = about_record(entry).to_string();
            of.truncate(of.len().saturating_sub(1));
            texts.get(&*entry.id).map(|text| format!("{of},\"observation\":{text}}}"))
        };
        Ok(entries.iter().filter_map(line).collect::<Vec<String>>().join(","))
    });
    let records = read.await?;
    // The observations are text already: they are put into the object as they are.
    let mut whole = about.to_string();
    whole.truncate(whole.len().saturating_sub(1));
    let body = format!("{whole},\"{name}\":[{records}]}}");
    Ok(tagged(headers, &tag, JSON, || Body::from(body)))
}

#[derive(Deserialize)]
pub(crate) struct Words {
    #[serde(default)]
    pub(crate) q: String,
}

pub(crate) async fn search(State(app): Shared, Asked(asked): Asked<Words>, headers: HeaderMap) -> Answer {
    let found = move |newest: &Snapshot| {
        let models: Vec<Value> = newest.search(&asked.q, FOUND).into_iter().map(|model| about_model(model)).collect();
        text(newest, json!({ "models": models }))
    };
    of_snapshot(&app, &headers, JSON, found).await
}

/// All hosts, each with the models that were measured at it.
pub(crate) async fn hosts(State(app): Shared, headers: HeaderMap) -> Answer {
    let all = |newest: &Snapshot| {
        let mut hosts: BTreeMap<&str, BTreeMap<&str, Value>> = BTreeMap::new();
        for model in newest.models.values() {
            for (host, (records, units)) in model.hosts().iter().filter(|(host, _)| !host.is_empty()) {
                let counts = json!({ "records": records, "units": units });
                hosts.entry(host).or_default().insert(&model.name, counts);
            }
        }
        text(newest, json!({ "hosts": hosts }))
    };
    of_snapshot(&app, &headers, JSON, all).await
}

// Rankings and comparisons.

/// A ranking that is asked for. What is empty is left open.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AskedRanking {
    #[serde(default)]
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) load: String,
    #[serde(default)]
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) slot: String,
    #[serde(default)]
    pub(crate) bus: String,
    #[serde(default)]
    pub(crate) bridge: String,
}

impl AskedRanking {
    /// The question; none where the class or the load is not here.
    pub(crate) fn question(&self, newest: &Snapshot) -> Option<Question> {
        let Self { class, load, host, slot, bus, bridge } = self.clone();
        let loads = newest.loads.get(class.as_str())?;
        (load.is_empty() || loads.contains_key(load.as_str())).then_some(())?;
        Some(Question::Ranking { class, load, filter: Filter { host, slot, bus, bridge } })
    }
}

/// An answer as JSON that is made once.
async fn said(
    app: &Arc<App>,
    headers: &HeaderMap,
    question: Question,
    make: impl FnOnce(&Said) -> Option<Value> + Send + 'static,
) -> Answer {
    let answered = app.ask(&question).await?;
    let tag = answered.cited.tag();
    if answers::has(headers, &tag) {
        return Ok(tagged(headers, &tag, JSON, Body::empty));
    }
    let text = match answered.json.get() {
        Some(text) => text.clone(),
        None => {
            let of = Arc::clone(&answered);
            let made = app.on_a_thread(move |_| {
                let mut value = make(&of.answer)?;
                value["snapshot"] = serde_json::to_value(&of.cited).ok()?;
                Some(value.to_string())
            });
            let text = made.await?.ok_or_else(Failure::missing)?;
            answered.json.get_or_init(|| text.into()).clone()
        }
    };
    Ok(tagged(headers, &tag, JSON, || Body::from(text)))
}

pub(crate) async fn rank(State(app): Shared, Asked(asked): Asked<AskedRanking>, headers: HeaderMap) -> Answer {
    if asked.class.is_empty() {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "query", "class is missing: /api/v1/snapshot names classes"));
    }
    let question = asked.question(&app.snapshots.newest()).ok_or_else(Failure::missing)?;
    said(&app, &headers, question, move |answer| {
        let Said::Ranking(ranking) = answer else { return None };
        let (report, refused) = match &ranking.report {
            Ok(report) => {
                let mut report = serde_json::to_value(report).ok()?;
                report["contradictions"] = serde_json::to_value(&ranking.contradictions).ok()?;
                (report, None)
            }
            Err(error) => (Value::Null, Some(error)),
        };
        let models = json!({ "ranked": ranking.models, "of": ranking.of });
        Some(json!({
            "class": asked.class, "loads": ranking.loads, "filters": ranking.values, "models": models, "report": report,
            "refused": refused,
        }))
    })
    .await
}

/// Models and the load that are asked for. Empty fields are those that were left empty; a model that is named twice is one.
pub(crate) fn asked_comparison(fields: &[(String, String)]) -> (Vec<String>, String) {
    let of = |name: &'static str| {
        let is = move |(field, value): &&(String, String)| field == name && !value.trim().is_empty();
        fields.iter().filter(is).map(|(_, value)| value.trim().to_owned())
    };
    let mut models: Vec<String> = Vec::new();
    for model in of("model") {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    (models, of("load").next_back().unwrap_or_default())
}

pub(crate) async fn compare(
    State(app): Shared,
    Asked(fields): Asked<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Answer {
    let (models, load) = asked_comparison(&fields);
    if !(2..=MOST_COMPARED).contains(&models.len()) {
        let message = format!("name two to {MOST_COMPARED} models: model=A&model=B");
        return Err(Failure::new(StatusCode::BAD_REQUEST, "query", message));
    }
    let newest = app.snapshots.newest();
    if models.iter().any(|model| !newest.models.contains_key(model.as_str())) {
        return Err(Failure::missing());
    }
    let question = Question::Comparison { models: models.clone(), load };
    said(&app, &headers, question, move |answer| {
        let Said::Comparison(comparison) = answer else { return None };
        let (report, refused) = match comparison {
            Ok(compared) => (serde_json::to_value(compared).ok()?, None),
            Err(error) => (Value::Null, Some(error)),
        };
        Some(json!({ "models": models, "report": report, "refused": refused }))
    })
    .await
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
