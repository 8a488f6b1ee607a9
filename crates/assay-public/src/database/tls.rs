//! TLS to PostgreSQL, on the rustls of `assay serve`. The connector that exists for it brings ten crates for channel binding, and
//! a second version of one that is here; what the driver asks for is a handshake.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use postgres::Socket;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Connects to servers whose certificate one of these authorities has signed for the name by which they are reached.
#[derive(Clone)]
pub(super) struct Verified(TlsConnector);

impl Verified {
    /// With the authorities in a file (PEM).
    ///
    /// # Errors
    /// A line that says what is wrong with the file.
    pub(super) fn by(file: &Path) -> Result<Self, String> {
        let wrong = |what: String| format!("sslrootcert={}: {what}", file.display());
        let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("there is no certificate in it (PEM)".to_owned()));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }
}

impl MakeTlsConnect<Socket> for Verified {
    type Stream = Encrypted;
    type TlsConnect = ToServer;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> Result<ToServer, io::Error> {
        let name = ServerName::try_from(domain.to_owned()).map_err(io::Error::other)?;
        Ok(ToServer { connector: self.0.clone(), name })
    }
}

/// A handshake with a server of this name.
pub(super) struct ToServer {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for ToServer {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(
            async move { self.connector.connect(self.name, stream).await.map(|stream| Encrypted(Box::new(stream))) },
        )
    }
}

/// What is sent and received.
pub(super) struct Encrypted(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Encrypted {
    /// The name of the server was verified; a password is not bound to the connection beyond that.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
