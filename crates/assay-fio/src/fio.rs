//! The program fio on this host.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use assay_engine::{Availability, EngineKind, RUNS_TOOLS, probe};

/// fio as it was found: what it calls itself, and which of its engines serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fio {
    /// Its version, like `fio-3.33`.
    pub version: String,
    /// Its engine for queues deeper than one.
    pub(crate) asynchronous: &'static str,
}

impl Fio {
    /// Looks for fio.
    ///
    /// # Errors
    /// Why it cannot be used, in one line.
    pub fn find() -> Result<Self, String> {
        if !RUNS_TOOLS {
            return Err("fio is run in place of an engine on Linux alone".to_owned());
        }
        let output =
            Command::new("fio").arg("--version").stdin(Stdio::null()).output().map_err(|error| match error.kind() {
                ErrorKind::NotFound => "fio is not installed (its package is called fio)".to_owned(),
                _ => format!("fio could not be started: {error}"),
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version: String = text.trim().chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
        // Version 3 brought nanoseconds to the JSON.
        let major = version.strip_prefix("fio-").and_then(|v| v.split(['.', '-']).next()).and_then(|v| v.parse().ok());
        match major {
            Some(3u32..) => {
                let uring = matches!(probe(EngineKind::Uring), Availability::Yes(_));
                Ok(Self { version, asynchronous: if uring { "io_uring" } else { "libaio" } })
            }
            Some(_) => Err(format!("{version} is too old; version 3 or later is needed")),
            None => Err("fio does not tell its version".to_owned()),
        }
    }
}
