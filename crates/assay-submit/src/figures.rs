//! Figures of a site: the observations of its public records, from the site or as they were fetched last.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use assay_core::observation::Observation;
use assay_device::owned::{Caching, Directory};
use jiff::Timestamp;
use ruzstd::decoding::StreamingDecoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::http::StatusCode;

use crate::client::{ClientError, agent, escaped};
use crate::outbox::OutboxError;
use crate::site::Site;

/// A download of 64 MiB at 250 kB/s.
const WHOLE: Duration = Duration::from_secs(300);
/// Longest answer, in bytes.
const LONGEST: u64 = 64 << 20;
/// Longest text in a packed answer, in bytes.
const LONGEST_TEXT: u64 = 1 << 30;
/// Most observations of an answer: some 400 MB of memory.
const MOST: usize = 200_000;
/// A line is an observation; a longer one is none.
const LONGEST_LINE: u64 = 4 << 20;

/// Which observations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Those of a model, by its name.
    Model(&'a str),
    /// All.
    All,
}

/// Observations of a site.
#[derive(Debug)]
pub struct Figures {
    /// In the order of the site. Their units are those of the site, and of no other place.
    pub observations: Vec<Observation>,
    /// When they were fetched, RFC 3339, and why they are not newer; None if the site was asked now.
    pub stale: Option<(String, ClientError)>,
}

/// What is kept of an answer, in front of its body.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    address: String,
    tag: Option<String>,
    fetched: String,
}

/// No figures of a site.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// The site does not give them, and none were fetched before.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// What was fetched cannot be kept or read.
    #[error(transparent)]
    Cache(#[from] OutboxError),
    /// The site has more than fit.
    #[error("{0} has more than {MOST} records; name a model: 'site: model=…'")]
    Many(Site),
    /// The site has no such model.
    #[error("{site} has no model `{model}`")]
    NoModel {
        /// The site.
        site: Site,
        /// The name.
        model: String,
    },
}

#[derive(Deserialize)]
struct Answer {
    observations: Vec<Line>,
}

/// A part of an answer: what it says of each record is not read.
#[derive(Serialize, Deserialize)]
struct AnswerPart {
    observations: Vec<Value>,
    /// What the next part is behind; none of the last part, and of a site that has no parts.
    #[serde(default, skip_serializing)]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    account: String,
    unit: String,
    observation: Observation,
}

impl Line {
    /// The observation, whose unit has the name that it has on the site: what accounts call `1` are different units.
    fn scoped(self) -> Observation {
        let mut observation = self.observation;
        if let Some(unit) = observation.labels.get_mut("unit") {
            *unit = format!("{} of {}", unit, self.account);
        }
        observation.medium.unit = Some(self.unit).filter(|unit| !unit.is_empty());
        observation
    }
}

/// Observations of a site. They are kept in `cache`, and serve while the site cannot be reached.
///
/// # Errors
/// [`FiguresError`].
pub fn figures(cache: &Directory, site: &Site, pem: Option<&str>, scope: Scope<'_>) -> Result<Figures, FiguresError> {
    let address = match scope {
        Scope::Model(model) => format!("{site}/api/v1/observations?model={}", escaped(model)),
        Scope::All => format!("{site}/data/observations.ndjson.zst"),
    };
    let kept = read_kept(cache, &address);
    let tag = kept.as_ref().and_then(|(head, _)| head.tag.as_deref());
    let fetched = fetched(site, pem, &address, tag).and_then(|fetched| match scope {
        Scope::Model(_) => whole(site, pem, &address, fetched),
        Scope::All => Ok(fetched),
    });
    let (body, stale) = match (fetched, kept) {
        (Ok(Fetched::Body { tag, body }), _) => {
            keep(cache, &Head { address, tag, fetched: Timestamp::now().to_string() }, &body)?;
            (body, None)
        }
        (Ok(Fetched::Unchanged), Some((_, body))) => (body, None),
        (Ok(Fetched::Unchanged), None) => return Err(strange(site, "nothing was asked to be unchanged").into()),
        (Ok(Fetched::Missing), _) => {
            return Err(match scope {
                Scope::Model(model) => FiguresError::NoModel { site: site.clone(), model: model.to_owned() },
                Scope::All => strange(site, "it hands out no data").into(),
            });
        }
        (Err(error @ ClientError::Later { .. }), Some((head, body))) => (body, Some((head.fetched, error))),
        (Err(error), _) => return Err(error.into()),
    };
    let lines = match scope {
        Scope::Model(_) => serde_json::from_slice::<Answer>(&body)
            .map(|answer| answer.observations)
            .map_err(|error| strange(site, &error.to_string()))?,
        Scope::All => unpacked(site, &body)?,
    };
    if lines.len() > MOST {
        return Err(FiguresError::Many(site.clone()));
    }
    Ok(Figures { observations: lines.into_iter().map(Line::scoped).collect(), stale })
}

fn strange(site: &Site, reason: &str) -> ClientError {
    ClientError::Strange { site: site.clone(), reason: reason.to_owned() }
}

enum Fetched {
    Body { tag: Option<String>, body: Vec<u8> },
    Unchanged,
    Missing,
}

fn fetched(site: &Site, pem: Option<&str>, address: &str, tag: Option<&str>) -> Result<Fetched, ClientError> {
    let agent = agent(pem, WHOLE)?;
    let later = |reason: String| ClientError::Later { site: site.clone(), reason, after: None };
    let mut request = agent.get(address);
    if let Some(tag) = tag {
        request = request.header("If-None-Match", tag);
    }
    let mut answer = request.call().map_err(|error| later(error.to_string()))?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_MODIFIED => return Ok(Fetched::Unchanged),
        StatusCode::NOT_FOUND => return Ok(Fetched::Missing),
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Err(later(format!("status {status}")));
        }
        status => return Err(strange(site, &format!("status {status}"))),
    }
    let tag = answer.headers().get("etag").and_then(|tag| tag.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    let read = answer.body_mut().as_reader().take(LONGEST + 1).read_to_end(&mut body);
    read.map_err(|error| later(error.to_string()))?;
    if body.len() as u64 > LONGEST {
        return Err(strange(site, "its answer is longer than 64 MiB; name a model"));
    }
    Ok(Fetched::Body { tag, body })
}

/// An answer with all of its parts in one. The parts are in the order of identities: of a site that changes meanwhile, each
/// record is in one of them.
fn whole(site: &Site, pem: Option<&str>, address: &str, first: Fetched) -> Result<Fetched, ClientError> {
    let Fetched::Body { tag, body } = first else { return Ok(first) };
    let read =
        |body: &[u8]| serde_json::from_slice::<AnswerPart>(body).map_err(|error| strange(site, &error.to_string()));
    let mut all = read(&body)?;
    if all.next.is_none() {
        return Ok(Fetched::Body { tag, body });
    }
    let mut length = body.len();
    while let Some(after) = all.next.take() {
        let next = fetched(site, pem, &format!("{address}&after={}", escaped(&after)), None)?;
        let Fetched::Body { body, .. } = next else { return Err(strange(site, "a part of its answer is missing")) };
        length += body.len();
        let part = read(&body)?;
        if length as u64 > LONGEST || part.observations.is_empty() {
            return Err(strange(site, "its answer is longer than 64 MiB, or does not end"));
        }
        all.observations.extend(part.observations);
        all.next = part.next;
    }
    let body = serde_json::to_vec(&all).map_err(|error| strange(site, &error.to_string()))?;
    Ok(Fetched::Body { tag, body })
}

/// The observations of a file of the open data.
fn unpacked(site: &Site, body: &[u8]) -> Result<Vec<Line>, FiguresError> {
    let damaged = |error: &dyn std::fmt::Display| strange(site, &error.to_string());
    let decoder = StreamingDecoder::new(body).map_err(|error| damaged(&error))?;
    let mut reader = BufReader::new(decoder.take(LONGEST_TEXT));
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(|error| damaged(&error))?;
        if read == 0 {
            return Ok(lines);
        }
        if lines.len() == MOST {
            return Err(FiguresError::Many(site.clone()));
        }
        lines.push(serde_json::from_slice(&line).map_err(|error| damaged(&error))?);
    }
}

// What was fetched: a line of JSON, and the body as it came.

fn name_of(address: &str) -> String {
    format!("{}.figures", &blake3::hash(address.as_bytes()).to_hex()[..32])
}

fn keep(cache: &Directory, head: &Head, body: &[u8]) -> Result<(), OutboxError> {
    let mut content = serde_json::to_vec(head).unwrap_or_default();
    content.push(b'\n');
    content.extend_from_slice(body);
    Ok(cache.replace(OsStr::new(&name_of(&head.address)), &content)?)
}

/// What was fetched of an address; none where it cannot be read, since the site can be asked again.
fn read_kept(cache: &Directory, address: &str) -> Option<(Head, Vec<u8>)> {
    let file = cache.read_file(name_of(address), Caching::Cached).ok()?;
    let mut content = Vec::new();
    file.take(LONGEST + LONGEST_LINE).read_to_end(&mut content).ok()?;
    let end = content.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&content[..end]).ok()?;
    (head.address == address).then(|| (head, content.split_off(end + 1)))
}
