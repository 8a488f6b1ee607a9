//! Requests to a site, by the API of docs/public.md.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::{Response, StatusCode};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::accounts::Account;
use crate::site::{Receipt, Refusal, Site};

/// A site that does not answer is left after this time.
const CONNECT: Duration = Duration::from_secs(10);
/// A whole request with its answer: 4 MiB at 64 kB/s, twice.
const WHOLE: Duration = Duration::from_secs(120);
/// Longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 1 << 20;
/// Longest message of a site that is kept, in characters.
const LONGEST_MESSAGE: usize = 500;

/// Speaks to one site for one account.
#[derive(Debug)]
pub struct Client {
    site: Site,
    authorization: String,
    agent: Agent,
}

/// What a site says of an account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// How many records it has there.
    pub records: u64,
}

/// A document was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivered {
    /// The receipt.
    pub receipt: Receipt,
    /// Withdraws the record. None if the same document had arrived before.
    pub withdrawal_key: Option<String>,
}

/// A request was not fulfilled.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No answer, or one that asks for another try later.
    #[error("{site} cannot be reached now: {reason}")]
    Later {
        /// The site.
        site: Site,
        /// What happened; may be a text from elsewhere.
        reason: String,
        /// When the site wants to be asked again.
        after: Option<Duration>,
    },
    /// The token opens no account.
    #[error("{0} does not know this token; `assay login {0}` takes a new one")]
    Unauthorized(Site),
    /// The site refuses, and would refuse again.
    #[error("{site} refuses: {}", .refusal.message)]
    Refused {
        /// The site.
        site: Site,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// The answer is none of a site of assay.
    #[error("{site} answers like no site of assay: {reason}")]
    Strange {
        /// The site.
        site: Site,
        /// What is wrong in it.
        reason: String,
    },
    /// The certificates that are given cannot be read.
    #[error("the certificates cannot be read: {0}; give PEM")]
    Certificates(String),
}

#[derive(Deserialize)]
struct ErrorAnswer {
    error: ErrorParts,
    #[serde(default)]
    address: Option<String>,
}

#[derive(Deserialize)]
struct ErrorParts {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    pointer: Option<String>,
}

#[derive(Deserialize)]
struct ReceiptAnswer {
    #[serde(flatten)]
    receipt: Receipt,
    #[serde(default)]
    withdrawal_key: Option<String>,
}

impl Client {
    /// For this account.
    ///
    /// # Errors
    /// [`ClientError::Certificates`].
    pub fn new(account: &Account) -> Result<Self, ClientError> {
        let agent = agent(account.certificates.as_deref(), WHOLE)?;
        let authorization = format!("Bearer {}", account.token);
        Ok(Self { site: account.site.clone(), authorization, agent })
    }

    /// The account that the token opens.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn profile(&self) -> Result<Profile, ClientError> {
        let address = format!("{}/api/v1/account", self.site);
        let answer = self.agent.get(&address).header("Authorization", &self.authorization).call();
        let (status, text) = self.read(answer)?;
        if status == StatusCode::OK { self.parsed(&text) } else { Err(self.refused(status, &text)) }
    }

    /// Sends the document of a record, byte for byte. Sending it again is harmless.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn deliver(&self, record: &str, document: &str, unlisted: bool) -> Result<Delivered, ClientError> {
        let query = if unlisted { "?unlisted=true" } else { "" };
        let request = self.agent.put(format!("{}{query}", self.address(record)));
        let request = request.header("Authorization", &self.authorization).header("Content-Type", "application/json");
        let (status, text) = self.read(request.send(document))?;
        if !matches!(status, StatusCode::OK | StatusCode::CREATED) {
            return Err(self.refused(status, &text));
        }
        let answer: ReceiptAnswer = self.parsed(&text)?;
        let sent = blake3::hash(document.as_bytes()).to_hex();
        // A receipt of something else would end the retries of a record that is not there.
        if answer.receipt.id != record || answer.receipt.hash != sent.as_str() {
            return Err(self.strange("its receipt is of another document"));
        }
        Ok(Delivered { receipt: answer.receipt, withdrawal_key: answer.withdrawal_key })
    }

    /// The receipt as it is now.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn receipt(&self, record: &str) -> Result<Receipt, ClientError> {
        let (status, text) = self.read(self.agent.get(self.address(record)).call())?;
        if status != StatusCode::OK {
            return Err(self.refused(status, &text));
        }
        let receipt: Receipt = self.parsed(&text)?;
        if receipt.id == record { Ok(receipt) } else { Err(self.strange("its receipt is of another record")) }
    }

    /// Takes a record back.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn withdraw(&self, record: &str, key: Option<&str>) -> Result<Receipt, ClientError> {
        let mut request = self.agent.delete(self.address(record)).header("Authorization", &self.authorization);
        if let Some(key) = key {
            request = request.header("Withdrawal-Key", key);
        }
        let (status, text) = self.read(request.call())?;
        if status == StatusCode::OK { self.parsed(&text) } else { Err(self.refused(status, &text)) }
    }

    fn address(&self, record: &str) -> String {
        format!("{}/api/v1/records/{}", self.site, escaped(record))
    }

    /// Status and text of an answer. What another try may mend is an error of its own.
    fn read(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<(StatusCode, String), ClientError> {
        let later = |reason: String, after| ClientError::Later { site: self.site.clone(), reason, after };
        let mut answer = answer.map_err(|error| later(error.to_string(), None))?;
        let status = answer.status();
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let after = after.and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let mut bytes = Vec::new();
        let body = answer.body_mut().as_reader().take(LONGEST_ANSWER + 1).read_to_end(&mut bytes);
        body.map_err(|error| later(error.to_string(), None))?;
        if bytes.len() as u64 > LONGEST_ANSWER {
            return Err(self.strange("its answer is longer than 1 MiB"));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if matches!(status.as_u16(), 429 | 502 | 503 | 504) {
            return Err(later(refusal(status, &text).message, after));
        }
        Ok((status, text))
    }

    fn parsed<T: for<'de> Deserialize<'de>>(&self, text: &str) -> Result<T, ClientError> {
        serde_json::from_str(text).map_err(|error| self.strange(&error.to_string()))
    }

    fn refused(&self, status: StatusCode, text: &str) -> ClientError {
        match status {
            StatusCode::UNAUTHORIZED => ClientError::Unauthorized(self.site.clone()),
            status if status.is_client_error() => {
                ClientError::Refused { site: self.site.clone(), refusal: Box::new(refusal(status, text)) }
            }
            status => self.strange(&format!("status {}", status.as_u16())),
        }
    }

    fn strange(&self, reason: &str) -> ClientError {
        ClientError::Strange { site: self.site.clone(), reason: reason.to_owned() }
    }
}

/// What a site says of a refusal, or its status where it says nothing that can be read.
fn refusal(status: StatusCode, text: &str) -> Refusal {
    let answer = serde_json::from_str::<ErrorAnswer>(text).ok();
    let (error, address) = match answer {
        Some(answer) => (Some(answer.error), answer.address),
        None => (None, None),
    };
    let (code, message, pointer) =
        error.map_or_else(Default::default, |error| (error.code, error.message, error.pointer));
    let message = if message.is_empty() { format!("status {status}") } else { message };
    let message = message.chars().take(LONGEST_MESSAGE).collect();
    Refusal { status: status.as_u16(), code, message, pointer, address }
}

/// A text as part of an address (RFC 3986, section 2.3).
pub(crate) fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// What requests go through, trusting these certificates or else the public ones. No redirection is followed: it could carry
/// a token to another site.
pub(crate) fn agent(pem: Option<&str>, whole: Duration) -> Result<Agent, ClientError> {
    let roots = match pem {
        Some(pem) => RootCerts::Specific(Arc::new(certificates(pem)?)),
        None => RootCerts::WebPki,
    };
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(whole))
        .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")))
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build();
    Ok(config.into())
}

fn certificates(pem: &str) -> Result<Vec<ureq::tls::Certificate<'static>>, ClientError> {
    let mut found = Vec::new();
    for item in parse_pem(pem.as_bytes()) {
        match item {
            Ok(PemItem::Certificate(certificate)) => found.push(certificate),
            Ok(_) => {}
            Err(error) => return Err(ClientError::Certificates(error.to_string())),
        }
    }
    if found.is_empty() {
        return Err(ClientError::Certificates("none was found".to_owned()));
    }
    Ok(found)
}
