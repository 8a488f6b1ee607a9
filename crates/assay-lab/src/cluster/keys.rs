//! Keys of a cluster: one for its user, one for its machines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::{Missing, run};

/// Key files in the directory of the cluster.
#[derive(Debug)]
pub(super) struct Keys {
    directory: PathBuf,
}

impl Keys {
    pub(super) fn generate(directory: &Path) -> Result<Self, Missing> {
        let keys = Self { directory: directory.to_owned() };
        for key in [keys.private(), keys.host()] {
            run(
                "ssh-keygen",
                &[
                    "-q".as_ref(),
                    "-t".as_ref(),
                    "ed25519".as_ref(),
                    "-N".as_ref(),
                    "".as_ref(),
                    "-f".as_ref(),
                    key.as_os_str(),
                ],
            )?;
        }
        let known = keys.known_hosts();
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", known.display()));
        let public = std::fs::read_to_string(keys.host().with_extension("pub")).map_err(fail)?;
        std::fs::write(&known, format!("{} {public}", super::address::ANY)).map_err(fail)?;
        Ok(keys)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Key of the user.
    pub(super) fn private(&self) -> PathBuf {
        self.directory.join("user")
    }

    /// The public key that nodes accept.
    pub(super) fn authorized(&self) -> PathBuf {
        self.private().with_extension("pub")
    }

    /// Host key of every machine.
    pub(super) fn host(&self) -> PathBuf {
        self.directory.join("host")
    }

    /// The `known_hosts` file for all machines.
    pub(super) fn known_hosts(&self) -> PathBuf {
        self.directory.join("known_hosts")
    }

    /// Options of ssh that ignore the host's own ssh files and settings.
    pub(super) fn options(&self) -> Vec<OsString> {
        let mut known = OsString::from("UserKnownHostsFile=");
        known.push(self.known_hosts());
        let mut options: Vec<OsString> = ["-F", "none"].map(OsString::from).to_vec();
        for option in ["StrictHostKeyChecking=yes", "BatchMode=yes", "ConnectTimeout=20"].map(OsString::from) {
            options.extend([OsString::from("-o"), option]);
        }
        options.extend([OsString::from("-o"), known]);
        options
    }
}
