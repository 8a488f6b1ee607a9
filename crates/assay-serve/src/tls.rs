//! TLS of a server: its certificates and its key.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, ServerConfig};

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
    /// From the texts of two PEM files: the certificate of the server first, then those that sign it; and its key.
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
