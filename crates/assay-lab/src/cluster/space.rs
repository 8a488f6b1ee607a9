//! Namespaces that end with the program that made them, and their addresses, which exist only in them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::host::Missing;

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
