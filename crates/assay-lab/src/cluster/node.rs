//! A node: an sshd, a medium, its own directories, and the keys of its cluster.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::space::{Space, address};
use crate::host::{Missing, run};
use crate::limited::LimitedCard;

/// Script of the first process of a node. It waits until the node has its link; sshd returns when it listens.
const SCRIPT: &str = r#"
echo here
read -r _
ip address add "$1" dev eth0
ip link set eth0 up
"$2" -f "$3" -E "$4"
echo ready
read -r _ || true
"#;

/// The plan of a node.
#[derive(Debug)]
pub struct NodePlan<'a> {
    name: String,
    card: Option<&'a LimitedCard>,
    /// Further lines of its sshd_config(5).
    settings: String,
}

impl<'a> NodePlan<'a> {
    /// A node whose medium is its own directory.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), card: None, settings: String::new() }
    }

    /// A node whose medium is a card. The card's limits apply to everything that ssh runs on the node.
    #[must_use]
    pub fn on(name: &str, card: &'a LimitedCard) -> Self {
        Self { name: name.to_owned(), card: Some(card), settings: String::new() }
    }

    /// The same node with an sshd that makes no Unix socket for a tunnel.
    #[must_use]
    pub fn without_sockets(self) -> Self {
        self.with("AllowStreamLocalForwarding no")
    }

    /// The same node with another line in its sshd_config(5).
    #[must_use]
    pub fn with(self, line: &str) -> Self {
        Self { settings: format!("{}{line}\n", self.settings), ..self }
    }
}

/// One machine of a cluster. It shares the file system with all others, and has its own directory.
#[derive(Debug)]
pub struct Node {
    name: String,
    address: String,
    target: PathBuf,
    directory: PathBuf,
    space: Space,
}

impl Node {
    pub(super) fn begin(plan: &NodePlan<'_>, at: usize, keys: &Keys) -> Result<Self, Missing> {
        let name = plan.name.clone();
        let directory = keys.directory().join("nodes").join(&name);
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", directory.display()));
        for part in ["home", "data", "tmp", "medium"] {
            std::fs::create_dir_all(directory.join(part)).map_err(fail)?;
        }
        let address = address(at);
        let config = directory.join("sshd_config");
        let mut text = sshd_config(&name, &address, &directory, keys);
        text.push_str(&plan.settings);
        std::fs::write(&config, text).map_err(fail)?;

        let target = plan.card.map_or_else(|| directory.join("medium"), |card| card.path().to_owned());
        let unshare = plan.card.map_or_else(
            || Command::new("unshare"),
            // All processes of the node are children of this one, and so in the card's group.
            |card| card.command::<&str>(Path::new("unshare"), &[]),
        );
        let (network, log) = (format!("{address}/24"), directory.join("sshd.log"));
        let sshd = run("sh", &["-c", "PATH=$PATH:/usr/sbin:/sbin command -v sshd"])?;
        let arguments: [&OsStr; 4] = [network.as_ref(), sshd.as_ref(), config.as_ref(), log.as_ref()];
        let space = Space::begin(unshare, &name, &directory, &target, SCRIPT, &arguments)?;
        Ok(Self { name, address, target, directory, space })
    }

    /// The name, which is also the host name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address on the bridge.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The mount point of the medium.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// `HOME` on the node.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.directory.join("home")
    }

    /// `ASSAY_DATA` on the node.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// `TMPDIR` on the node.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// The namespaces of the node.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }

    pub(super) fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    /// A command that runs on the node with its directories, but without the limits of its card: those apply through
    /// ssh only.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.space.command(program);
        command.env("HOME", self.home()).env("ASSAY_DATA", self.data()).env("TMPDIR", self.temporary());
        command
    }
}

fn sshd_config(name: &str, address: &str, directory: &Path, keys: &Keys) -> String {
    let own = |part: &str| directory.join(part).display().to_string();
    format!(
        "Port 22\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nLogLevel ERROR\n\
         PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n\
         StrictModes no\nUseDNS no\nMaxStartups 100\nMaxSessions 100\nSubsystem sftp internal-sftp\n\
         SetEnv HOME={} ASSAY_DATA={} TMPDIR={} ASSAY_LAB_NODE={name}\n",
        keys.host().display(),
        keys.authorized().display(),
        own("home"),
        own("data"),
        own("tmp"),
    )
}

// Keys of a cluster: one for its user, one for its machines.

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
        std::fs::write(&known, format!("{} {public}", super::space::ANY)).map_err(fail)?;
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
