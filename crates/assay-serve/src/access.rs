//! Who may ask: the host by which the page was reached, the secret, the session, and where a form comes from.
//!
//! A page of another origin must neither read nor start anything. Three things keep it out, and most attacks fail at each
//! of them: the name in `Host` has to be one of this server (DNS rebinding), the cookie is not sent by other sites
//! (`SameSite=Strict`), and each form that changes something holds a token that only a page of this server knows.

use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{HeaderMap, header};
use tokio::sync::Mutex;

/// Name of the hidden field that a page of this server puts into each form that changes something.
pub(crate) const TOKEN_FIELD: &str = "form";

/// Shortest token that a user may choose, in characters.
pub const TOKEN_LEAST: usize = 16;

/// Text that only this server and its user know.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// 256 random bits as 64 hexadecimal digits.
    #[must_use]
    pub fn from_random(bits: [u8; 32]) -> Self {
        Self(blake3::Hash::from_bytes(bits).to_hex().to_string())
    }

    /// A token that the user chose; none where it is shorter than [`TOKEN_LEAST`].
    #[must_use]
    pub fn chosen(text: &str) -> Option<Self> {
        let text = text.trim();
        (text.chars().count() >= TOKEN_LEAST).then(|| Self(text.to_owned()))
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether another text is the same. The time that this takes says nothing about where they differ.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        blake3::hash(self.0.as_bytes()) == blake3::hash(other.as_bytes())
    }

    /// Another secret, which does not reveal this one.
    fn derived(&self, purpose: &str) -> Self {
        Self(blake3::derive_key(purpose, self.0.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The rules of one server.
#[derive(Debug)]
pub struct Access {
    secret: Secret,
    /// Value of the cookie.
    session: Secret,
    /// Value of the hidden field in forms.
    form: Secret,
    /// Name of the cookie: cookies of one host are shared between its ports.
    cookie: String,
    /// What `Host` may say, with the port.
    hosts: Vec<String>,
    port: u16,
    /// Whether the server listens on all addresses of the machine.
    everywhere: bool,
    /// Whether it speaks TLS.
    is_secure: bool,
    /// Wrong tokens are answered one after the other, and late.
    wrong: Mutex<()>,
}

/// Whether a host ends with a port: `[::1]` has colons, and none.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// How long a wrong token waits for its answer.
const WRONG_WAITS: Duration = Duration::from_secs(1);
impl Access {
    /// For a server that listens on this address; `random` is fresh, and `names` are further host names that lead to it.
    #[must_use]
    pub fn new(secret: Secret, random: [u8; 32], address: SocketAddr, names: &[String], is_secure: bool) -> Self {
        let (port, everywhere) = (address.port(), address.ip().is_unspecified());
        let mut hosts = vec![address.to_string()];
        if address.ip().is_loopback() || everywhere {
            hosts.push(format!("localhost:{port}"));
        }
        for name in names.iter().map(|name| name.to_ascii_lowercase()) {
            hosts.extend([format!("{name}:{port}"), format!("{name}:443")]);
            if !is_secure {
                // A proxy passes on the name by which it was reached, with its own port or none.
                hosts.push(format!("{name}:80"));
            }
        }
        let base = Secret::from_random(random);
        let (session, form) = (base.derived("assay serve session"), base.derived("assay serve form"));
        let cookie = format!("assay-{port}");
        Self { secret, session, form, cookie, hosts, port, everywhere, is_secure, wrong: Mutex::new(()) }
    }

    /// The value of the hidden field in forms.
    pub(crate) fn form_token(&self) -> &str {
        self.form.text()
    }

    /// Whether a form comes from a page of this server.
    pub(crate) fn is_own_form(&self, fields: &[(String, String)]) -> bool {
        fields.iter().any(|(name, value)| name == TOKEN_FIELD && self.form.is(value))
    }

    /// Whether a request names this server.
    pub(crate) fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| self.knows(host))
    }

    /// Whether a host, with its port unless that is the usual one, leads here. An address cannot be made to lead elsewhere, as a
    /// name can: where the server listens on all of them, each is its own.
    fn knows(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let usual = if self.is_secure { 443 } else { 80 };
        let whole = if has_port(&host) { host } else { format!("{host}:{usual}") };
        let is_address =
            || self.everywhere && whole.parse::<SocketAddr>().is_ok_and(|address| address.port() == self.port);
        self.hosts.contains(&whole) || is_address()
    }

    pub(crate) fn has_session(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|all| all.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == self.cookie && self.session.is(value))
    }

    /// A form of another site, as browsers say it.
    pub(crate) fn is_cross_site(&self, headers: &HeaderMap) -> bool {
        let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let other_site = said("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site));
        // Behind a proxy the page may have come by TLS, and with TLS of its own it came by nothing else.
        let own_origin = |origin: &str| match origin.split_once("://") {
            Some((scheme, host)) => (scheme == "https" || !self.is_secure) && self.knows(host),
            None => false,
        };
        let other_origin = said("origin").is_some_and(|origin| !own_origin(origin));
        other_site || other_origin
    }

    /// Answers a token: the cookie of a session, or nothing, late on purpose.
    pub(crate) async fn log_in(&self, token: &str) -> Option<String> {
        if !self.secret.is(token) {
            let _one_at_a_time = self.wrong.lock().await;
            tokio::time::sleep(WRONG_WAITS).await;
            return None;
        }
        let secure = if self.is_secure { "; Secure" } else { "" };
        Some(format!("{}={}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie, self.session.text()))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn access() -> Access {
        let secret = Secret::from_random([1; 32]);
        Access::new(secret, [2; 32], "127.0.0.1:4321".parse().unwrap(), &["nas.lan".to_owned()], false)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect::<HeaderMap>()
    }

    #[test]
    fn only_names_of_this_server_are_its_hosts() {
        let access = access();
        for (host, own) in [
            ("127.0.0.1:4321", true),
            ("localhost:4321", true),
            ("LOCALHOST:4321", true),
            ("nas.lan", true),
            ("nas.lan:4321", true),
            ("127.0.0.1", false),
            ("127.0.0.1:80", false),
            ("attacker.example:4321", false),
            ("localhost.attacker.example:4321", false),
        ] {
            assert_eq!(access.is_own_host(&headers(&[("host", host)])), own, "{host}");
        }
        assert!(!access.is_own_host(&HeaderMap::new()));
        let everywhere =
            Access::new(Secret::from_random([1; 32]), [2; 32], "0.0.0.0:4321".parse().unwrap(), &[], false);
        assert!(everywhere.is_own_host(&headers(&[("host", "192.168.1.5:4321")])));
        assert!(everywhere.is_own_host(&headers(&[("host", "localhost:4321")])));
        assert!(!everywhere.is_own_host(&headers(&[("host", "192.168.1.5:80")])));
        let usual = Access::new(Secret::from_random([1; 32]), [2; 32], "127.0.0.1:80".parse().unwrap(), &[], false);
        for host in ["127.0.0.1", "127.0.0.1:80", "localhost"] {
            assert!(usual.is_own_host(&headers(&[("host", host)])), "browsers leave the usual port out: {host}");
        }
        assert!(!usual.is_cross_site(&headers(&[("origin", "http://127.0.0.1")])));
        assert!(!everywhere.is_own_host(&headers(&[("host", "attacker.example:4321")])));
    }

    #[test]
    fn with_tls_only_pages_of_tls_are_its_own() {
        let address = "127.0.0.1:4321".parse().unwrap();
        let access = Access::new(Secret::from_random([1; 32]), [2; 32], address, &["nas.lan".to_owned()], true);
        for (host, own) in [("nas.lan", true), ("nas.lan:4321", true), ("nas.lan:80", false), ("127.0.0.1:4321", true)]
        {
            assert_eq!(access.is_own_host(&headers(&[("host", host)])), own, "{host}");
        }
        assert!(!access.is_cross_site(&headers(&[("origin", "https://nas.lan")])));
        assert!(access.is_cross_site(&headers(&[("origin", "http://nas.lan:4321")])));
    }

    #[test]
    fn a_session_is_the_cookie_of_this_server_alone() {
        let access = access();
        let right = format!("x=1; assay-4321={}", access.session.text());
        assert!(access.has_session(&headers(&[("cookie", &right)])));
        for wrong in ["", "assay-4321=", "assay-4321", "assay-80=1"] {
            assert!(!access.has_session(&headers(&[("cookie", wrong)])), "{wrong}");
        }
        // Neither secret is the other.
        for other in [access.secret.text(), access.form.text()] {
            assert!(!access.has_session(&headers(&[("cookie", &format!("assay-4321={other}"))])));
        }
    }

    #[test]
    fn a_form_of_another_site_is_known_by_either_header() {
        let access = access();
        for (pairs, cross) in [
            (vec![], false),
            (vec![("origin", "http://127.0.0.1:4321")], false),
            (vec![("origin", "http://localhost:4321"), ("sec-fetch-site", "same-origin")], false),
            (vec![("origin", "null")], true),
            (vec![("origin", "http://attacker.example")], true),
            (vec![("origin", "http://127.0.0.1:80")], true),
            (vec![("sec-fetch-site", "cross-site")], true),
            (vec![("sec-fetch-site", "same-site")], true),
        ] {
            assert_eq!(access.is_cross_site(&headers(&pairs)), cross, "{pairs:?}");
        }
    }

    #[test]
    fn a_chosen_token_is_long_enough() {
        assert!(Secret::chosen("fifteen letters").is_none());
        assert!(Secret::chosen("  fifteen letters \n").is_none(), "blanks at the ends do not count");
        assert!(Secret::chosen("sixteen letters!").is_some_and(|secret| secret.is("sixteen letters!")));
    }
}
