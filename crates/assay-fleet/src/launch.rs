//! How a node is started: here, or by ssh(1). Whether it did what it should is judged by its record, never by the exit code
//! of the launcher alone.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process};

use crate::key::Key;

/// What is kept of what a node says, in bytes.
const TAIL: usize = 4096;

/// By what nodes are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// As processes of this machine.
    Local,
    /// By the ssh of the system, through a tunnel to the coordinator.
    Ssh,
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Start<'a> {
    /// The node, and with ssh the host.
    pub node: &'a str,
    /// The program there.
    pub program: &'a str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Key of the run.
    pub key: &'a Key,
    /// Port of the coordinator on the loopback interface, for the tunnel, and the one at the far end of it.
    pub ports: (u16, u16),
}

/// A launcher at work.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    tail: Arc<Mutex<Vec<u8>>>,
}

impl Launcher {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ssh => "ssh",
        }
    }

    /// Starts a node.
    ///
    /// # Errors
    /// Where the launcher is missing, or no process can be made.
    pub fn start(self, start: &Start<'_>) -> std::io::Result<Launched> {
        let mut command = match self {
            Self::Local => {
                let mut command = Command::new(start.program);
                command.args(&start.arguments).env("ASSAY_FLEET_KEY", start.key.to_hex()).stdin(Stdio::null());
                command
            }
            Self::Ssh => {
                let mut command = Command::new("ssh");
                let (near, far) = start.ports;
                let tunnel = format!("127.0.0.1:{far}:127.0.0.1:{near}");
                // Nobody is there to be asked for a password.
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ExitOnForwardFailure=yes"]);
                command.args(["-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=15", "-R", &tunnel]);
                command.args(["--", start.node, &remote(start.program, &start.arguments)]);
                command.stdin(Stdio::piped());
                command
            }
        };
        // A Ctrl-C is for the coordinator, which tells the nodes: an ssh that dies of it would leave them measuring.
        command.process_group(0);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A launcher that ended already is noticed by its end.
            let _ = writeln!(stdin, "{}", start.key.to_hex());
        }
        let tail = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stderr) = child.stderr.take() {
            let kept = Arc::clone(&tail);
            std::thread::Builder::new().spawn(move || {
                let mut bytes = [0u8; TAIL];
                while let Ok(count @ 1..) = stderr.read(&mut bytes) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(&bytes[..count]);
                    let beyond = kept.len().saturating_sub(TAIL);
                    kept.drain(..beyond);
                }
            })?;
        }
        Ok(Launched { child, tail })
    }
}

impl Launched {
    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks it to end in good order.
    pub fn ask_to_end(&mut self) {
        if let (None, Some(process)) = (self.ended(), Pid::from_raw(self.child.id().cast_signed())) {
            let _ = kill_process(process, Signal::TERM);
        }
    }

    /// The last line that it said.
    #[must_use]
    pub fn last_line(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }
}

impl Drop for Launched {
    /// None is left behind.
    fn drop(&mut self) {
        if self.ended().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The command line for the shell of another host. The key comes by standard input: command lines are there for all to read.
fn remote(program: &str, arguments: &[String]) -> String {
    let words: Vec<String> = std::iter::once(program).chain(arguments.iter().map(String::as_str)).map(quoted).collect();
    let script = format!("IFS= read -r ASSAY_FLEET_KEY && export ASSAY_FLEET_KEY && exec {}", words.join(" "));
    // Whatever shell the user has there.
    format!("exec sh -c {}", quoted(&script))
}

/// A word that a POSIX shell takes as it stands.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pass_through_two_shells_as_they_are() {
        let nasty = "a b'c\"$HOME`id`;\\*&|<>\t~#!";
        let line = remote("printf", &["%s|%s".to_owned(), nasty.to_owned(), "-x".to_owned()]);
        let mut child =
            Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "key").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{nasty}|-x"));
    }

    #[test]
    fn what_a_node_says_last_is_kept_and_no_process_stays() {
        let key = Key::new().unwrap();
        let script = "echo first >&2; yes x | head -c 100000 >&2; echo; echo last $#${ASSAY_FLEET_KEY#??????????????????????????????} >&2; exit 3";
        let arguments = ["-c", script].map(str::to_owned).to_vec();
        let start = Start { node: "n", program: "sh", arguments, key: &key, ports: (0, 0) };
        let mut launched = Launcher::Local.start(&start).unwrap();
        let status = loop {
            match launched.ended() {
                Some(status) => break status,
                None => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(3));
        let wanted = format!("last 0{}", &key.to_hex()[30..]);
        for _ in 0..500 {
            if launched.last_line() == wanted {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(launched.last_line(), wanted);
        let sleeping = Start { arguments: vec!["1000".to_owned()], program: "sleep", ..start };
        let launched = Launcher::Local.start(&sleeping).unwrap();
        let process = format!("/proc/{}", launched.child.id());
        drop(launched);
        assert!(!std::path::Path::new(&process).exists());
        assert!(Launcher::Local.start(&Start { program: "/nowhere/assay", ..sleeping }).is_err());
    }
}
