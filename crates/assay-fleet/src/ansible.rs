//! `ansible-playbook` with the user's own inventory and the collection that is part of this program:
//! a play, its events, and a private directory.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use assay_core::private;
use assay_engine::{Signal, lead_a_group};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::tail::Tail;
use crate::key::nonce;
use crate::system::{end, is_private};

// What the collection's callback says, a JSON object a line. Nodes have their words in it: none is believed beyond its type
// and its length.

/// Longest line that is read, in bytes. What `assay info` says of a medium takes a few thousand.
const MAX_LINE: u64 = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum AnsibleEvent {
    /// A task is over on a node.
    Result(NodeEvent),
    /// The playbook is over.
    Stats {},
    /// Something else.
    #[serde(other)]
    Other,
}

/// How a task ended on a node.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NodeEvent {
    /// The node.
    pub node: String,
    /// How it ended.
    pub status: TaskStatus,
    /// Where it did not succeed, why.
    #[serde(default)]
    pub message: String,
    /// Whether that is no reason to end with the node.
    #[serde(default)]
    pub ignored: bool,
    /// What the role says of the node.
    #[serde(default)]
    pub facts: Map<String, Value>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Well.
    Ok,
    /// Not well.
    Failed,
    /// The node was not reached.
    Unreachable,
    /// It was not for this node.
    Skipped,
}

impl AnsibleEvent {
    /// From a line; none where it is something else, as other callbacks and warnings of Ansible are.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

impl NodeEvent {
    /// Whether this is the end of the node, and why.
    #[must_use]
    pub fn end(&self) -> Option<&str> {
        let ended = matches!(self.status, TaskStatus::Failed | TaskStatus::Unreachable) && !self.ignored;
        ended.then_some(if self.message.is_empty() { "no message" } else { &self.message })
    }
}

// A playbook at work.

/// Lines that wait to be taken.
const WAITING: usize = 1024;
/// How long Ansible may take to end when it was asked to.
const ENDING: Duration = Duration::from_secs(10);
/// How long its last lines may take after its end.
const LAST: Duration = Duration::from_secs(1);

/// A playbook to run.
#[derive(Debug)]
pub struct Playbook<'a> {
    /// Its name in the collection.
    pub name: &'a str,
    /// Inventories.
    pub inventory: &'a [PathBuf],
    /// Pattern of hosts, or `@FILE` with one a line; none for all.
    pub limit: Option<&'a str>,
    /// Connections at a time.
    pub forks: usize,
    /// A file with variables, which stand above those of the inventory.
    pub variables: Option<&'a Path>,
}

/// `ansible-playbook` at work. It is ended with this value.
#[derive(Debug)]
pub struct Play {
    child: Child,
    events: Receiver<AnsibleEvent>,
    tail: Tail,
}

/// What came.
#[derive(Debug)]
pub enum AnsibleStep {
    /// A line of the callback.
    Event(AnsibleEvent),
    /// Nothing within the time.
    Quiet,
    /// The end, and nothing after it.
    Over,
}

impl Playbook<'_> {
    /// The command line, on which nothing secret stands, and the environment. What a user has set of Ansible stays, but for
    /// what would change what these playbooks do or say.
    pub(crate) fn command(&self, directory: &PrivateDirectory) -> Command {
        let mut command = Command::new("ansible-playbook");
        command
            .env("LC_ALL", "C.UTF-8")
            .env("ANSIBLE_STDOUT_CALLBACK", "assay.fleet.jsonl")
            .env("ANSIBLE_CALLBACKS_ENABLED", "")
            .env("ANSIBLE_NOCOLOR", "1")
            .env("ANSIBLE_VERBOSITY", "0")
            .env("ANSIBLE_STRATEGY", "linear")
            .env("ANSIBLE_ANY_ERRORS_FATAL", "False")
            .env("ANSIBLE_JINJA2_NATIVE", "False")
            .env("ANSIBLE_RETRY_FILES_ENABLED", "False")
            .env("ANSIBLE_INVENTORY_UNPARSED_FAILED", "True")
            .env("ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "True")
            .env_remove("ANSIBLE_FORCE_COLOR")
            .env_remove("ANSIBLE_DEBUG")
            .arg("--forks")
            .arg(self.forks.max(1).to_string());
        for inventory in self.inventory {
            command.arg("-i").arg(inventory);
        }
        if let Some(limit) = self.limit {
            command.arg(format!("--limit={limit}"));
        }
        if let Some(variables) = self.variables {
            let mut file = OsString::from("@");
            file.push(variables);
            command.arg("-e").arg(file);
        }
        command.arg("--").arg(directory.path().join(format!("{}.yml", self.name)));
        command
    }

    /// Begins.
    ///
    /// # Errors
    /// Where `ansible-playbook` is missing, or no process can be made.
    pub fn start(&self, directory: &PrivateDirectory) -> std::io::Result<Play> {
        let mut command = self.command(directory);
        // A Ctrl-C is for this program, which ends it in good order.
        lead_a_group(&mut command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (sender, events) = sync_channel(WAITING);
        if let Some(stdout) = child.stdout.take() {
            std::thread::Builder::new().spawn(move || read(stdout, &sender))?;
        }
        let tail = Tail::default();
        if let Some(stderr) = child.stderr.take() {
            tail.follow(stderr)?;
        }
        Ok(Play { child, events, tail })
    }
}

/// Reads lines; one that is longer than any of the callback's is passed over.
fn read(stdout: ChildStdout, sender: &SyncSender<AnsibleEvent>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    let mut long = false;
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.last() == Some(&b'\n');
        if whole
            && !long
            && let Some(event) = AnsibleEvent::from_line(&line)
            && sender.send(event).is_err()
        {
            return;
        }
        long = !whole;
    }
}

impl Play {
    /// What comes next, within the time.
    pub fn next(&mut self, within: Duration) -> AnsibleStep {
        match self.events.recv_timeout(within) {
            Ok(event) => return AnsibleStep::Event(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(5)),
        }
        let Ok(Some(_)) = self.child.try_wait() else { return AnsibleStep::Quiet };
        // It has ended, but its last words may still be on their way.
        match self.events.recv_timeout(LAST) {
            Ok(event) => AnsibleStep::Event(event),
            Err(_) => AnsibleStep::Over,
        }
    }

    /// The last words that are not for programs.
    #[must_use]
    pub fn said(&self) -> String {
        self.tail.text()
    }

    /// Asks it to end in good order.
    pub fn ask_to_end(&mut self) {
        self.signal(Signal::TERM);
    }

    fn signal(&mut self, signal: Signal) {
        if let Ok(None) = self.child.try_wait() {
            end(&self.child, true, signal);
        }
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        self.ask_to_end();
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < ENDING {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

// A directory of the user alone, for as long as a command of Ansible takes.

const PREFIX: &str = "assay-fleet-";
/// Digits of the number behind it.
const DIGITS: usize = 16;
/// A file in the directory that is locked while the command lives.
const LOCK: &str = "lock";
/// Age from which a directory without a lock file is removed: it is made before that.
const FORGOTTEN: Duration = Duration::from_secs(2);
/// Tries to make one, where another command removes it before it is locked.
const TRIES: u32 = 10;

/// The place beside a playbook where Ansible looks for collections first.
const COLLECTION: &str = "collections/ansible_collections/assay/fleet";

/// The directory of a command: its playbooks, the collection beside them, and further input files. It is removed with
/// this value.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    /// Held while the command lives.
    _lock: File,
}

impl PrivateDirectory {
    /// Makes the directory among temporary files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new() -> std::io::Result<Self> {
        Self::within(&std::path::absolute(std::env::temp_dir())?)
    }

    fn within(parent: &Path) -> std::io::Result<Self> {
        let directory = Self::bare(parent)?;
        for (name, text) in FILES {
            directory.write(&format!("{COLLECTION}/{name}"), text.as_bytes())?;
        }
        for (name, text) in PLAYBOOKS {
            directory.write(name.trim_start_matches("playbooks/"), text.as_bytes())?;
        }
        Ok(directory)
    }

    /// Makes one without anything in it.
    pub(crate) fn bare(parent: &Path) -> std::io::Result<Self> {
        let mut lost = std::io::Error::other("its directory was removed again and again");
        for _ in 0..TRIES {
            let path = parent.join(format!("{PREFIX}{}", &nonce()?[..DIGITS]));
            // One that is there already is not taken.
            private::directories().create(&path)?;
            let lock = match private::file().create_new(true).write(true).open(path.join(LOCK)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    lost = error;
                    continue;
                }
                lock => lock?,
            };
            // A command that looks for forgotten directories may have locked it before, or removed it. A file system
            // may have no locks; then neither can happen.
            let is_taken = matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && path.join(LOCK).exists() {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(lost)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only this user can read.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, name: &str, content: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            private::directories().recursive(true).create(parent)?;
        }
        let mut file = private::file().create(true).truncate(true).write(true).open(&path)?;
        file.write_all(content)?;
        Ok(path)
    }
}

/// Removes what this user's commands left that were killed: directories in the temporary directory, which may hold the key of a
/// run. Each command on nodes begins so.
pub fn remove_left_by_killed() {
    if let Ok(parent) = std::path::absolute(std::env::temp_dir()) {
        remove_forgotten(&parent, FORGOTTEN);
    }
}

fn remove_forgotten(parent: &Path, age: Duration) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = entry.file_name().to_str().is_some_and(is_named);
        if named {
            let _ = remove_if_forgotten(&path, age);
        }
    }
}

fn is_named(name: &str) -> bool {
    let digits = name.strip_prefix(PREFIX).unwrap_or_default();
    digits.len() == DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Removes a directory that a command made whose lock is free, or that is old enough and has none.
fn remove_if_forgotten(path: &Path, age: Duration) -> std::io::Result<()> {
    let directory = path.symlink_metadata()?;
    if !is_private(&directory) {
        return Ok(());
    }
    let lock = path.join(LOCK);
    let held = match lock.symlink_metadata() {
        // Killed before it made the lock file, or the file was removed by hand. A time in the future counts as recent.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let old = directory.modified()?.elapsed().is_ok_and(|passed| passed >= age);
            if !old || !(path.join("check.yml").is_file() || path.read_dir()?.next().is_none()) {
                return Ok(());
            }
            None
        }
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => return Ok(()),
        Ok(_) => Some(OpenOptions::new().write(true).open(lock)?),
    };
    // It is held until the directory is gone: a command that made the directory just now makes another one then.
    if held.as_ref().is_none_or(|lock| lock.try_lock().is_ok()) {
        std::fs::remove_dir_all(path)?;
    }
    drop(held);
    Ok(())
}

impl AsRef<Path> for PrivateDirectory {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

// The collection, which is part of this program: one file is enough on the control machine.

/// The files needed to run the collection, by path.
macro_rules! collection_files {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"), "/../../fleet/ansible_collections/assay/fleet/", $path
        )))),*]
    };
}

/// Playbooks and their names.
const PLAYBOOKS: &[(&str, &str)] = collection_files! {
    "playbooks/check.yml"
    "playbooks/clean.yml"
    "playbooks/collect.yml"
    "playbooks/nodes.yml"
    "playbooks/run.yml"
};

/// All else.
const FILES: &[(&str, &str)] = collection_files! {
    "galaxy.yml"
    "meta/runtime.yml"
    "plugins/callback/jsonl.py"
    "roles/node/defaults/main.yml"
    "roles/node/files/clean.sh"
    "roles/node/files/look.sh"
    "roles/node/files/place.sh"
    "roles/node/files/run.sh"
    "roles/node/files/send.sh"
    "roles/node/meta/argument_specs.yml"
    "roles/node/meta/main.yml"
    "roles/node/tasks/check.yml"
    "roles/node/tasks/clean.yml"
    "roles/node/tasks/clock.yml"
    "roles/node/tasks/collect.yml"
    "roles/node/tasks/look.yml"
    "roles/node/tasks/main.yml"
    "roles/node/tasks/measure.yml"
    "roles/node/tasks/nodes.yml"
    "roles/node/tasks/prepare.yml"
    "roles/node/tasks/run.yml"
    "roles/node/vars/main.yml"
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn lines_of_the_callback_are_read_and_others_are_none() {
        let line = br#"{"event":"result","node":"n1","status":"failed","ignored":false,"message":"no","task":"t","facts":{"a":1}}"#;
        let Some(AnsibleEvent::Result(event)) = AnsibleEvent::from_line(line) else { panic!("no result") };
        assert_eq!((event.node.as_str(), event.end(), &event.facts["a"]), ("n1", Some("no"), &Value::from(1)));
        let ignored = br#"{"event":"result","node":"n1","status":"failed","ignored":true,"message":"no"}"#;
        assert!(matches!(AnsibleEvent::from_line(ignored), Some(AnsibleEvent::Result(event)) if event.end().is_none()));
        assert_eq!(
            AnsibleEvent::from_line(br#"{"event":"stats","nodes":{"n1":{"ok":1}}}"#),
            Some(AnsibleEvent::Stats {})
        );
        assert_eq!(AnsibleEvent::from_line(br#"{"event":"play","play":"x"}"#), Some(AnsibleEvent::Other));
        for other in [&b"PLAY RECAP ****"[..], b"{}", b"[1]", b"\xff", br#"{"event":"result","node":5,"status":"ok"}"#]
        {
            assert_eq!(AnsibleEvent::from_line(other), None);
        }
    }

    /// A directory of another time, as if its command had been killed.
    fn leave(parent: &Path) -> PathBuf {
        let left = PrivateDirectory::within(parent).unwrap();
        left.write("key", b"secret").unwrap();
        let path = left.path().to_owned();
        // As after a kill: the lock file is closed, and nothing is removed.
        let PrivateDirectory { _lock: lock, .. } = &left;
        lock.unlock().unwrap();
        std::mem::forget(left);
        path
    }

    #[test]
    fn what_killed_commands_left_is_removed_and_nothing_else() {
        let parent = PrivateDirectory::new().unwrap();
        let (left, before_locks) = (leave(parent.path()), leave(parent.path()));
        std::fs::remove_file(before_locks.join(LOCK)).unwrap();
        remove_forgotten(parent.path(), Duration::from_secs(3600));
        assert!(!left.exists() && before_locks.exists(), "one without a lock file may be one that is being made");
        let alive = PrivateDirectory::within(parent.path()).unwrap();
        let theirs = ["assay-fleet-notes", "assay-fleet-0123456789abcdef", "assay-fleet-0123456789abcde0"];
        for name in theirs {
            private::directories().create(parent.path().join(name)).unwrap();
            std::fs::write(parent.path().join(name).join("thesis.tex"), "dear").unwrap();
        }
        let open = parent.path().join(theirs[2]);
        std::fs::write(open.join(LOCK), "").unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&open, parent.path().join("assay-fleet-0123456789abcde1")).unwrap();
        remove_forgotten(parent.path(), Duration::ZERO);
        assert!(!before_locks.exists());
        assert!(alive.path().join("check.yml").exists());
        assert!(theirs.iter().all(|name| parent.path().join(name).join("thesis.tex").exists()));
    }

    #[test]
    fn it_is_the_users_alone_and_gone_afterwards() {
        let directory = PrivateDirectory::new().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let key = directory.write("key", b"secret").unwrap();
        assert_eq!((mode(directory.path()), mode(&key)), (0o700, 0o600));
        assert!(directory.path().join("check.yml").is_file());
        assert!(directory.path().join(COLLECTION).join("plugins/callback/jsonl.py").is_file());
        assert_ne!(PrivateDirectory::new().unwrap().path(), directory.path());
        let path = directory.path().to_owned();
        drop(directory);
        assert!(!path.exists());
    }

    fn below(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn no_file_of_the_collection_is_missing() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fleet/ansible_collections/assay/fleet"));
        let mut found = Vec::new();
        for part in ["meta", "playbooks", "plugins", "roles"] {
            below(&root.join(part), &mut found);
        }
        let name = |path: &PathBuf| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let mut there: BTreeSet<String> = found.iter().map(name).filter(|name| !name.ends_with(".pyc")).collect();
        there.insert("galaxy.yml".to_owned());
        let here: BTreeSet<String> = FILES.iter().chain(PLAYBOOKS).map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(here, there);
    }
}
