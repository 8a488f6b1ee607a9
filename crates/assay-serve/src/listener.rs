//! Takes connections and answers what they ask, within limits of time and number.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::future::select;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::connections::{Place, Places, Timed};

/// How long the head of a request may take, and how long a connection may wait for the next; of TLS also its beginning.
const HEAD: Duration = Duration::from_secs(5);
/// Fields of the head of a request.
const MOST_FIELDS: usize = 64;
/// How long a client may take none of what is written to it.
const WRITE: Duration = Duration::from_secs(20);
/// Between two tries to take a connection, where the system has no room for one.
const NO_ROOM: Duration = Duration::from_millis(200);
/// How often the server looks whether it was asked to end.
const LOOK: Duration = Duration::from_millis(100);

/// Where a connection comes from: an extension of each of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Takes connections until `ends` says so. Each request has its [`Peer`] and its [`Place`] as extensions. What was begun
/// by then goes on.
pub async fn answer_all(
    listener: TcpListener,
    router: Router,
    tls: Option<TlsAcceptor>,
    places: Arc<Places>,
    ends: impl Fn() -> bool,
) {
    while !ends() {
        let Ok(taken) = timeout(LOOK, listener.accept()).await else { continue };
        match taken {
            Ok((stream, peer)) => {
                // Where all are answered the connection is closed.
                let Some(place) = places.take() else { continue };
                let (router, tls) = (router.clone(), tls.clone());
                tokio::spawn(async move {
                    let served = pin!(serve(stream, Peer(peer), tls, router, Arc::clone(&place)));
                    select(served, pin!(place.is_given_away())).await;
                });
            }
            Err(_) => tokio::time::sleep(NO_ROOM).await,
        }
    }
}

async fn serve(stream: TcpStream, peer: Peer, tls: Option<TlsAcceptor>, router: Router, place: Arc<Place>) {
    let _ = stream.set_nodelay(true);
    let stream = Timed::new(stream, WRITE);
    match tls {
        None => answer(stream, peer, router, place).await,
        // Who speaks anything else, or takes too long, is not answered.
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HEAD, tls.accept(stream)).await {
                answer(stream, peer, router, place).await;
            }
        }
    }
}

async fn answer(stream: impl AsyncRead + AsyncWrite + Unpin, peer: Peer, router: Router, place: Arc<Place>) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&place));
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(stream), service);
    // A browser that went away is no error.
    let _ = connection.await;
}
