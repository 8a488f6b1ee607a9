//! Connections: how many, how long they may take, how they end, and their TLS.

use std::net::{IpAddr, SocketAddr};
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
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};

use crate::access::{Access, Secret};
use crate::app::App;
use crate::connections::{Place, Places, Timed};
use crate::jobs::Jobs;
use crate::program::Program;
use crate::routes::router;

/// Connections at once.
const MOST_CONNECTIONS: usize = 256;
/// Pages that are made at once.
const MOST_PAGES: usize = 2;

/// The server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken, or is none of this machine.
    #[error("cannot listen on {address}: {reason}; name another one: --listen 127.0.0.1:8080")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// Other machines could ask without a token.
    #[error("{address} can be reached from other machines, so a token is needed: --token-file FILE")]
    NeedsToken {
        /// The address.
        address: SocketAddr,
    },
    /// The system has no room for it.
    #[error("the server cannot be started: {0}")]
    System(std::io::Error),
}

/// Where a server listens, and for whom.
pub struct Listen<'a> {
    /// The address.
    pub address: SocketAddr,
    /// Further host names that lead to it.
    pub names: &'a [String],
    /// The token that the user chose; none for a secret in the address.
    pub chosen: Option<Secret>,
    /// Certificate and key; none without TLS.
    pub tls: Option<Tls>,
}

/// A server that listens and does not answer yet.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    app: Arc<App>,
    router: Router,
    tls: Option<TlsAcceptor>,
    /// The address that it listens on.
    pub address: SocketAddr,
}

impl Server {
    /// Listens. `random` is two times 256 fresh random bits.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub fn listen(on: Listen<'_>, random: [[u8; 32]; 2], program: impl Program) -> Result<(Self, Secret), ServeError> {
        let Listen { address, names, chosen, tls } = on;
        if !is_this_machine(address.ip()) && chosen.is_none() {
            return Err(ServeError::NeedsToken { address });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(MOST_PAGES + 2)
            .enable_all()
            .build()
            .map_err(ServeError::System)?;
        let listener =
            runtime.block_on(TcpListener::bind(address)).map_err(|reason| ServeError::Listen { address, reason })?;
        let address = listener.local_addr().map_err(ServeError::System)?;
        let asks_for_token = chosen.is_some();
        let secret = chosen.unwrap_or_else(|| Secret::from_random(random[0]));
        let app = Arc::new(App {
            program: Box::new(program),
            access: Access::new(secret.clone(), random[1], address, names, tls.is_some()),
            jobs: Jobs::default(),
            turns: Arc::new(Semaphore::new(MOST_PAGES)),
            asks_for_token,
        });
        let router = router(Arc::clone(&app));
        let tls = tls.as_ref().map(Tls::acceptor);
        Ok((Self { runtime, listener, app, router, tls, address }, secret))
    }

    /// Answers until `ends` says so; stops what pages began, and waits until that has cleaned up.
    pub fn run(self, ends: impl Fn() -> bool) {
        let Self { runtime, listener, app, router, tls, .. } = self;
        runtime.block_on(answer_all(listener, router, tls, Places::new(MOST_CONNECTIONS), ends));
        app.jobs.end();
        // Live views wait for events that do not come.
        runtime.shutdown_background();
    }
}

/// Whether only programs of this machine reach the address.
fn is_this_machine(ip: IpAddr) -> bool {
    ip.is_loopback()
}

/// How long the head of a request may take, and how long a connection may wait for the next; of TLS also its beginning.
const HEAD: Duration = Duration::from_secs(5);
/// Fields of the head of a request.
const MOST_FIELDS: usize = 64;
/// How long a client may accept no byte of an answer.
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

/// Why a certificate and its key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// The file of certificates has none.
    #[error("holds no certificate in PEM form; name the file that begins with -----BEGIN CERTIFICATE-----")]
    NoCertificate,
    /// The file of the key has none.
    #[error("holds no private key in PEM form without a password; name the file of the certificate's key")]
    NoKey,
    /// The key is another one's, or its kind is unknown.
    #[error("cannot be used with this key: {0}; name a certificate and its own key")]
    Unusable(String),
}

/// Certificates and a key that belong together.
#[derive(Clone)]
pub struct Tls(Arc<ServerConfig>);

impl Tls {
    /// From the texts of two PEM files: the certificate of the server, then the certificates that sign it; and its key.
    ///
    /// # Errors
    /// See [`TlsError`].
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(certificates).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(TlsError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?;
        let unusable = |error: Error| TlsError::Unusable(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    /// What takes connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pem_is_said_to_be_none() {
        let cut = b"-----BEGIN CERTIFICATE-----\nMIIB\n";
        for certificates in [&b""[..], b"nothing", cut, b"\xff\0"] {
            assert_eq!(Tls::from_pem(certificates, b"").err(), Some(TlsError::NoCertificate));
        }
        let empty = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        for key in
            [&b""[..], empty, b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n"]
        {
            assert_eq!(Tls::from_pem(empty, key).err(), Some(TlsError::NoKey));
        }
        let key = b"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
        assert!(matches!(Tls::from_pem(empty, key).err(), Some(TlsError::Unusable(_))));
    }
}
