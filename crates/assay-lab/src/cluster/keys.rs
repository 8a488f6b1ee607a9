//! Keys of a cluster: one of its user, one of its machines.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::{Missing, run};

/// Files in the cluster's directory.
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

    /// What nodes let in.
    pub(super) fn authorized(&self) -> PathBuf {
        self.private().with_extension("pub")
    }

    /// Key of each machine.
    pub(super) fn host(&self) -> PathBuf {
        self.directory.join("host")
    }

    /// Keys of all machines.
    pub(super) fn known_hosts(&self) -> PathBuf {
        self.directory.join("known_hosts")
    }

    /// Options of ssh: the machine's own files and settings have no part in it.
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
