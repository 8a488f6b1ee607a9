//! The address of a public instance, and what it answers to a submission.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// A public instance, by its origin: `https://results.example.org`, without a slash at its end.
///
/// Plain `http` is accepted for this machine alone, because the token of the account would cross the network readable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Site(String);

/// An address that names no site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// No scheme that is known.
    #[error("`{0}` is no address of a site; write it as https://results.example.org")]
    NoAddress(String),
    /// It would send the token unencrypted.
    #[error("`{0}` is not encrypted, and would show your token to the network; use https")]
    Plain(String),
    /// Something stands behind the origin.
    #[error("`{0}` is not the address of a site alone; leave out what follows the host, as in {1}")]
    Longer(String, String),
}

impl Site {
    /// Reads an address. Letters become small, a slash at the end and the usual port are left out.
    ///
    /// # Errors
    /// [`SiteError`].
    pub fn parse(text: &str) -> Result<Self, SiteError> {
        let none = || SiteError::NoAddress(text.to_owned());
        let trimmed = text.trim();
        let (scheme, rest) = trimmed.split_once("://").ok_or_else(none)?;
        let scheme = scheme.to_ascii_lowercase();
        let usual_port = match scheme.as_str() {
            "https" => ":443",
            "http" => ":80",
            _ => return Err(none()),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, behind) = (rest[..end].to_ascii_lowercase(), &rest[end..]);
        let (host, port) = divided(&authority).ok_or_else(none)?;
        let named = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = literal.unwrap_or(host).parse::<IpAddr>().ok();
        let is_host = match literal {
            Some(_) => matches!(address, Some(IpAddr::V6(_))),
            None => !host.is_empty() && host.chars().all(named),
        };
        let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
        if !is_host || !is_port {
            return Err(none());
        }
        let authority = authority.strip_suffix(usual_port).unwrap_or(&authority);
        let origin = format!("{scheme}://{authority}");
        if !behind.trim_start_matches('/').is_empty() {
            return Err(SiteError::Longer(text.to_owned(), origin));
        }
        let local = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        if scheme == "http" && !local {
            return Err(SiteError::Plain(text.to_owned()));
        }
        Ok(Self(origin))
    }

    /// The origin.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.0
    }
}

/// Host and port; a host of IPv6 stands in brackets.
fn divided(authority: &str) -> Option<(&str, Option<&str>)> {
    let from = authority.rfind(']').map_or(0, |end| end + 1);
    match authority[from..].find(':') {
        None if from < authority.len() && from > 0 => None,
        None => Some((authority, None)),
        Some(at) if from > 0 && at > 0 => None,
        Some(at) => Some((&authority[..from + at], Some(&authority[from + at + 1..]))),
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Site {
    type Error = SiteError;

    fn try_from(text: String) -> Result<Self, SiteError> {
        Self::parse(&text)
    }
}

impl From<Site> for String {
    fn from(site: Site) -> Self {
        site.0
    }
}

/// State of a record at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Publication {
    /// Kept, and not judged yet.
    Received,
    /// Counts in rankings and pages.
    Public,
    /// Found by its address alone.
    Unlisted,
    /// Does not count; the reasons say why.
    Held,
    /// Taken back by who sent it.
    Withdrawn,
    /// A state that a newer site has.
    #[serde(other)]
    Other,
}

/// Confirms that a site holds a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Id of the record.
    pub id: String,
    /// BLAKE3 of the document, in hexadecimal digits.
    pub hash: String,
    /// Its state.
    pub state: Publication,
    /// Why it is held, or shown at its address alone.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// When it was received, RFC 3339.
    pub received: String,
    /// Address of its page.
    pub address: String,
}

/// Why a record does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// For programs, such as `copy` or `above_ceiling`.
    pub code: String,
    /// For people, as the site gives it.
    #[serde(default)]
    pub detail: String,
}

/// Why a site does not take a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Refusal {
    /// Status of HTTP.
    pub status: u16,
    /// For programs, such as `schema` or `not_redacted`; empty if the answer was not one of a site of assay.
    pub code: String,
    /// For people, as the site gives it.
    pub message: String,
    /// Where in the document, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The record that is in its place, of a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_site_has_one_name() {
        for text in ["https://Results.example.org", "https://results.example.org/", "HTTPS://results.example.org:443"] {
            assert_eq!(Site::parse(text).map(|site| site.0).as_deref(), Ok("https://results.example.org"), "{text}");
        }
        assert_eq!(Site::parse("http://[::1]:80").map(|site| site.0).as_deref(), Ok("http://[::1]"));
        assert_eq!(Site::parse("http://127.0.0.1:8080").map(|site| site.0).as_deref(), Ok("http://127.0.0.1:8080"));
    }

    #[test]
    fn a_token_never_goes_out_readable() {
        for text in ["http://results.example.org", "http://10.0.0.1:80", "http://localhost.example.org"] {
            assert!(matches!(Site::parse(text), Err(SiteError::Plain(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in [
            "results.example.org",
            "ftp://a",
            "https://",
            "https://user@host",
            "https://a b",
            "https://a:0",
            "https://a:70000",
            "https://[::1",
            "https://[1.2.3.4]",
            "https://[::1]x:80",
            "https://a\u{7f}b",
        ] {
            let read = Site::parse(text);
            assert!(matches!(read, Err(SiteError::NoAddress(_))), "{text}: {read:?}");
        }
        assert!(matches!(Site::parse("https://a/api?x"), Err(SiteError::Longer(_, origin)) if origin == "https://a"));
    }
}
