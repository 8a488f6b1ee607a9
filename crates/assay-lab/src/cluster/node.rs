//! A node, with an sshd, a medium, its own directories and the keys of its cluster, and the namespaces that nodes live in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

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
        std::fs::write(&known, format!("{} {public}", ANY)).map_err(fail)?;
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

// Namespaces that end with the program that made them, and their addresses, which exist only in them.

// Addresses from a private range.

/// The control machine.
pub(super) const CONTROL: &str = "10.77.0.1";
/// The server.
pub(super) const SERVER: &str = "10.77.0.2";
/// All addresses, as a pattern of ssh.
pub(super) const ANY: &str = "10.77.0.*";

/// Address of the node with the index `at`.
pub(super) fn address(at: usize) -> String {
    format!("10.77.0.{}", 11 + at)
}

/// Script of the first process of a control machine. It removes the cluster's files, also after a crash.
const CONTROL_SCRIPT: &str = "echo here; read -r _ || true; rm -rf --one-file-system \"$1\"";

/// Script of the first process of a server.
const SERVER_SCRIPT: &str =
    "echo here; read -r _; ip address add \"$1\" dev eth0; ip link set eth0 up; echo ready; read -r _ || true";

/// Start of each of these scripts. `$0` is the name of the machine, `$KEEP` a mount that it needs. Mounts of devices
/// are copies of those outside and keep their file systems alive, so the mounts of other tests are released.
const BEGIN: &str = r#"
echo "$0" > /proc/sys/kernel/hostname
mount -t tmpfs none /run
mkdir -p /run/sshd
while read -r _ _ _ _ point rest; do
    case "$rest" in
    *" - fuse"* | *" /dev/loop"*) [ "$point" = "$KEEP" ] || [ "$point" = / ] || umount --lazy "$point" 2> /dev/null || true ;;
    esac
done < /proc/self/mountinfo
ip link set lo up
"#;

/// Namespaces of one machine: network, processes, mounts, host name.
#[derive(Debug)]
pub struct Space {
    name: String,
    process: Child,
    /// The pipe whose end the first process waits for.
    until: Option<ChildStdin>,
    words: ChildStdout,
    errors: PathBuf,
}

impl Space {
    pub(super) fn control(directory: &Path) -> Result<Self, Missing> {
        Self::begin(
            Command::new("unshare"),
            "control",
            directory,
            Path::new(""),
            CONTROL_SCRIPT,
            &[directory.as_os_str()],
        )
    }

    pub(super) fn server(directory: &Path) -> Result<Self, Missing> {
        let address = format!("{}/24", SERVER);
        Self::begin(Command::new("unshare"), "server", directory, Path::new(""), SERVER_SCRIPT, &[address.as_ref()])
    }

    /// Starts `script` by the command `unshare` as the first process of a machine. The mount `keep` stays.
    pub(super) fn begin(
        mut unshare: Command,
        name: &str,
        directory: &Path,
        keep: &Path,
        script: &str,
        arguments: &[&OsStr],
    ) -> Result<Self, Missing> {
        let errors = directory.join(format!("{name}.log"));
        let fail = |e: std::io::Error| Missing(format!("{name}: {e}"));
        let log = File::create(&errors).map_err(fail)?;
        unshare
            .args(["--net", "--pid", "--fork", "--kill-child", "--uts", "--mount", "--mount-proc", "sh", "-euc"])
            .arg(format!("{BEGIN}{script}"))
            .arg(name)
            .args(arguments)
            .env("KEEP", keep)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut process = unshare.spawn().map_err(fail)?;
        let (until, words) = (process.stdin.take(), process.stdout.take());
        let words = words.ok_or_else(|| Missing(format!("{name}: no output")))?;
        Ok(Self { name: name.to_owned(), process, until, words, errors })
    }

    /// Waits for a line of the first process.
    pub(super) fn expect(&mut self, word: &str, deadline: Instant) -> Result<(), Missing> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut byte = [0];
            let came = self.came(left) && matches!(self.words.read(&mut byte), Ok(1));
            if !came {
                let said = std::fs::read_to_string(&self.errors).unwrap_or_default();
                return Err(Missing(format!("{} is not {word}: {}", self.name, said.trim())));
            }
            line.push(byte[0]);
        }
        if line.trim_ascii() == word.as_bytes() {
            Ok(())
        } else {
            Err(Missing(format!("{} says {} in place of {word}", self.name, String::from_utf8_lossy(&line).trim())))
        }
    }

    fn came(&self, within: Duration) -> bool {
        let timeout = Timespec { tv_sec: within.as_secs().cast_signed(), tv_nsec: within.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.words, PollFlags::IN)], Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Tells the first process that the machine has its network device.
    pub(super) fn tell_linked(&mut self) -> Result<(), Missing> {
        let sent = self.until.as_mut().map(|pipe| pipe.write_all(b"linked\n"));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(Missing(format!("{} is gone", self.name))),
        }
    }

    /// A process in the machine's network, by its number outside.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// A command that runs on this machine, in the working directory `/`. Its processes end with the machine.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let of = format!("/proc/{}/ns", self.process());
        let mut command = Command::new("nsenter");
        command.args([
            // The command itself has a process number of the outside; its children have inner numbers.
            format!("--pid={of}/pid_for_children"),
            format!("--net={of}/net"),
            format!("--uts={of}/uts"),
            format!("--mount={of}/mnt"),
        ]);
        command.arg("--").arg(program);
        command
    }

    /// Runs `work` in the machine's network: `work` binds and reaches addresses of the machine.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Missing> {
        let path = format!("/proc/{}/ns/net", self.process());
        let network = File::open(&path).map_err(|e| Missing(format!("{path}: {e}")))?;
        // Each thread has its own network, and this thread ends in that of the machine.
        let entered = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).map(|()| work())
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        entered.map_err(|e| Missing(format!("{path}: {e}")))
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // The first process ends, then the kernel kills all others of the machine, then `unshare` ends.
        drop(self.until.take());
        let begun = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
