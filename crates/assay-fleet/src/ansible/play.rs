//! A playbook at work.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use assay_engine::{Signal, lead_a_group};

use super::PrivateDirectory;
use super::event::{Event, MAX_LINE};
use crate::system::end;
use crate::tail::Tail;

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
    events: Receiver<Event>,
    tail: Tail,
}

/// What came.
#[derive(Debug)]
pub enum Step {
    /// A line of the callback.
    Event(Event),
    /// Nothing within the time.
    Quiet,
    /// The end, and nothing after it.
    Over(ExitStatus),
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
fn read(stdout: ChildStdout, sender: &SyncSender<Event>) {
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
            && let Some(event) = Event::from_line(&line)
            && sender.send(event).is_err()
        {
            return;
        }
        long = !whole;
    }
}

impl Play {
    /// What comes next, within the time.
    pub fn next(&mut self, within: Duration) -> Step {
        match self.events.recv_timeout(within) {
            Ok(event) => return Step::Event(event),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(5)),
        }
        let Ok(Some(status)) = self.child.try_wait() else { return Step::Quiet };
        // It has ended, but its last words may still be on their way.
        match self.events.recv_timeout(LAST) {
            Ok(event) => Step::Event(event),
            Err(_) => Step::Over(status),
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
