//! The server: routes, what holds for each answer, background work, and how it ends.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use assay_serve::{ConnectionPlace, Peer, Places, answer_all};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use tokio::net::TcpListener;

use crate::answers::Failure;
use crate::app::{App, yields_to_answers};
use crate::database::{Database, DatabaseError};
use crate::judge::Judge;
use crate::limits::{Limits, Rate};
use crate::metrics::Metrics;
use crate::questions::Questions;
use crate::snapshot::Snapshots;
use crate::writer::Writer;
use crate::{api, data, pages};

/// Connections at once.
const MOST_CONNECTIONS: usize = 1024;
/// How long requests that were begun may go on when the server ends.
const LAST: Duration = Duration::from_secs(20);
/// How long a snapshot is the newest at least.
const RENEWAL_REST: Duration = Duration::from_millis(1500);
/// How often the background looks without being called.
const LOOK: Duration = Duration::from_secs(2);
/// How often the files of the open data are made anew.
const DATA_EVERY: Duration = Duration::from_secs(600);

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Its address as the world knows it; none for where it listens.
    pub site: Option<String>,
    /// Proxies that are believed.
    pub proxies: Vec<IpAddr>,
    /// Submissions of an account.
    pub submissions: Rate,
    /// Requests of a network.
    pub requests: Rate,
    /// Where the files of the open data are made; none for no files.
    pub data: Option<PathBuf>,
}

/// The server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or is none of this machine.
    #[error("cannot listen on {address}: {reason}; name another one: --listen 127.0.0.1:8090")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The system has no room for it.
    #[error("the server cannot be started: {0}")]
    System(std::io::Error),
}

/// A server that listens.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    app: Arc<App>,
    judge: Judge,
    renewal: Background,
    files: Option<Background>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Opens what it needs, and listens.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(database: Database, setup: Setup) -> Result<Self, ServerError> {
        let database = Arc::new(database);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(ServerError::System)?;
        let address = setup.listen;
        let listener =
            runtime.block_on(TcpListener::bind(address)).map_err(|reason| ServerError::Listen { address, reason })?;
        let address = listener.local_addr().map_err(ServerError::System)?;
        let snapshots = Arc::new(Snapshots::open(Arc::clone(&database))?);
        let questions = Questions::start(Arc::clone(&snapshots), Arc::clone(&database));
        let files = setup.data.clone().map(|data| files(data, Arc::clone(&snapshots), Arc::clone(&database)));
        let (trouble, metrics) = (Arc::default(), Arc::new(Metrics::default()));
        let renewal = renewal(Arc::clone(&snapshots), questions.wants_usual());
        let (renew, counted) = (renewal.call(), Arc::clone(&metrics));
        let judge = Judge::start(Arc::clone(&database), Arc::clone(&trouble), move |judged| {
            counted.judged.fetch_add(judged as u64, Ordering::Relaxed);
            renew();
        });
        let (call, counted) = (judge.call(), Arc::clone(&metrics));
        let writer = Writer::start(Arc::clone(&database), move |kept| {
            counted.kept.fetch_add(kept as u64, Ordering::Relaxed);
            call();
        });
        let (incoming, turns) = App::semaphores();
        let app = Arc::new(App {
            database,
            writer,
            snapshots,
            questions,
            site: setup.site.unwrap_or_else(|| format!("http://{address}")).trim_end_matches('/').to_owned(),
            proxies: setup.proxies,
            submissions: Limits::new(setup.submissions),
            networks: Limits::new(setup.requests),
            metrics,
            places: Places::new(MOST_CONNECTIONS),
            incoming,
            turns,
            data: setup.data,
            trouble,
            ends: Arc::new(AtomicBool::new(false)),
        });
        Ok(Self { runtime, listener, app, judge, renewal, files, address })
    }

    /// Answers until `ends` says so; then what was begun is answered, and what waits is written.
    pub fn run(self, ends: impl Fn() -> bool) {
        let Self { runtime, listener, app, judge, renewal, files, .. } = self;
        let routes = router(&app);
        let (ending, places) = (Arc::clone(&app.ends), Arc::clone(&app.places));
        runtime.block_on(async {
            answer_all(listener, routes, None, Arc::clone(&places), ends).await;
            ending.store(true, Ordering::Relaxed);
            let last = Instant::now();
            while places.any_answered() && last.elapsed() < LAST {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        // The order matters: the writer calls the judge, and the judge the renewal.
        drop(app);
        drop(judge);
        drop(renewal);
        drop(files);
    }
}

fn router(app: &Arc<App>) -> Router {
    Router::new()
        .route("/api/v1/account", get(api::own_account))
        .route("/api/v1/records/{id}", get(api::receipt).put(api::submit).delete(api::withdraw))
        .route("/api/v1/records/{id}/document", get(api::document))
        .route("/api/v1/log", get(api::log))
        .route("/api/v1/snapshot", get(api::snapshot))
        .route("/api/v1/models", get(api::models))
        .route("/api/v1/models/{name}", get(api::model))
        .route("/api/v1/units/{name}", get(api::unit))
        .route("/api/v1/observations", get(api::observations))
        .route("/api/v1/search", get(api::search))
        .route("/api/v1/rank", get(api::rank))
        .route("/api/v1/compare", get(api::compare))
        .route("/api/v1/hosts", get(api::hosts))
        .route("/api/v1/openapi.json", get(api::description))
        .route("/api/v1/schemas/{name}", get(api::schema))
        .route("/health", get(api::health))
        .route("/ready", get(api::ready))
        .route("/metrics", get(api::metrics))
        .route("/", get(pages::models))
        .route("/assets/{name}", get(pages::asset))
        .route("/models/{name}", get(pages::model))
        .route("/units/{name}", get(pages::unit))
        .route("/records/{id}", get(pages::record))
        .route("/rank", get(pages::rank))
        .route("/compare", get(pages::compare))
        .route("/hosts", get(pages::hosts))
        .route("/hosts/{name}", get(pages::host))
        .route("/badges/{name}", get(pages::badge))
        .route("/pictures/ranking.svg", get(pages::ranking_picture))
        .route("/log", get(pages::log))
        .route("/about", get(pages::about))
        .route("/data/", get(pages::data))
        .route("/data/{name}", get(pages::data_file))
        .fallback(pages::missing)
        .layer(from_fn_with_state(Arc::clone(app), guard))
        .with_state(Arc::clone(app))
}

/// What a browser may do with any answer: show it with its style.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// Counts and bounds requests; sets the headers that each answer has.
async fn guard(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    place: Option<Extension<Arc<ConnectionPlace>>>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let answering = place.map(|Extension(place)| place.answers());
    let address = api::asking(&app, peer.as_ref().map(|Extension(peer)| peer), request.headers());
    let own = ["/health", "/ready", "/metrics"].contains(&request.uri().path());
    let allowed = [Method::GET, Method::HEAD, Method::PUT, Method::DELETE].contains(request.method());
    let let_in = if own { Ok(()) } else { api::let_in(&app, address) };
    let mut response = match let_in {
        Err(failure) => failure.into_response(),
        Ok(()) if !allowed => {
            let (status, words) = (axum::http::StatusCode::METHOD_NOT_ALLOWED, "there is no such method here");
            Failure::new(status, "method", words).into_response()
        }
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let microseconds = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    app.metrics.answered(response.status().as_u16(), microseconds);
    match answering {
        Some(answering) => answering.with(response),
        None => response,
    }
}

/// A thread that works until it is dropped, when it is called and now and then.
struct Background {
    call: std::sync::mpsc::SyncSender<()>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// `work` returns how long the thread rests then. A call during the rest is served after it.
    fn start(mut work: impl FnMut() -> Duration + Send + 'static) -> Self {
        let (call, called) = sync_channel::<()>(1);
        let ends = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            yields_to_answers();
            while !ended.load(Ordering::Relaxed) {
                let rests = Instant::now() + work();
                let mut was_called = false;
                while !ended.load(Ordering::Relaxed) {
                    let rest = rests.saturating_duration_since(Instant::now());
                    let wait = match (rest.is_zero(), was_called) {
                        (true, true) => break,
                        (true, false) => LOOK,
                        (false, _) => rest,
                    };
                    match called.recv_timeout(wait) {
                        Ok(()) => was_called = true,
                        Err(RecvTimeoutError::Timeout) if rest.is_zero() => break,
                        Err(RecvTimeoutError::Timeout) => {}
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
            }
        });
        Self { call, ends, thread: Some(thread) }
    }

    fn call(&self) -> impl Fn() + Send + use<> {
        let call = self.call.clone();
        move || {
            // Where a call waits already, it will see this one, too.
            let _ = call.try_send(());
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.call()();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes new snapshots. One that follows another at once waits: pages of what changed are made anew after each.
fn renewal(snapshots: Arc<Snapshots>, renewed: impl Fn() + Send + 'static) -> Background {
    let mut first = true;
    Background::start(move || {
        // What fails is tried again; pages go on with the snapshot before.
        let new = snapshots.renew(&pages::prepare).unwrap_or(false);
        if new || std::mem::take(&mut first) {
            renewed();
        }
        if new { RENEWAL_REST } else { Duration::ZERO }
    })
}

/// Makes the files of the open data, which takes minutes where there are many records.
fn files(data: PathBuf, snapshots: Arc<Snapshots>, database: Arc<Database>) -> Background {
    let mut made: Option<Instant> = None;
    Background::start(move || {
        let newest = snapshots.newest();
        let due = newest.cited.records > 0 && made.is_none_or(|made| made.elapsed() >= DATA_EVERY);
        if due && data::make(&data, &database, &newest).is_ok() {
            made = Some(Instant::now());
        }
        Duration::ZERO
    })
}
