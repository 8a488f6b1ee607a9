//! Connections: how many, how long they may take, and how they end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::access::{Access, Secret};
use crate::app::App;
use crate::connections::Places;
use crate::jobs::Jobs;
use crate::listener::answer_all;
use crate::program::Program;
use crate::routes::router;
use crate::tls::Tls;

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
