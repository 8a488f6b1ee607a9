//! A launcher at work.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};

use super::heard::{Heard, Reader, Told, lines};

/// A process that starts one or several nodes.
#[derive(Debug)]
pub struct Launched {
    child: Child,
    heard: Arc<Mutex<Heard>>,
}

impl Launched {
    /// A process that starts one node, whose lines are those of the node.
    pub(super) fn one(command: Command, input: &str) -> std::io::Result<Self> {
        Self::several(command, input, Box::new(|line| Told::Plain(line.to_owned())))
    }

    /// Runs the command with `input`, and reads what it says on its standard error.
    pub(super) fn several(mut command: Command, input: &str, mut reader: Reader) -> std::io::Result<Self> {
        // A Ctrl-C is for the coordinator, which tells the nodes: a launcher that dies of it would leave them measuring.
        command.process_group(0);
        if !input.is_empty() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // It may take more than a pipe holds, and a launcher that ended already is noticed by its end.
            let input = input.to_owned();
            std::thread::Builder::new().spawn(move || stdin.write_all(input.as_bytes()))?;
        }
        let heard = Arc::new(Mutex::new(Heard::default()));
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&heard);
            std::thread::Builder::new().spawn(move || {
                lines(stderr, |line| {
                    let told = reader(line);
                    lock(&kept).take(told);
                });
            })?;
        }
        Ok(Self { child, heard })
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// What a node came to, by its number among those of this process, if it ended.
    pub fn node_ended(&mut self, place: usize) -> Option<String> {
        let told = lock(&self.heard).ended(place);
        told.or_else(|| self.ended().map(|status| format!("it ended with {status}")))
    }

    /// Asks it to end in good order.
    pub fn ask_to_end(&mut self) {
        if let (None, Some(process)) = (self.ended(), Pid::from_raw(self.child.id().cast_signed())) {
            let _ = kill_process(process, Signal::TERM);
        }
    }

    /// The last line that a node said, by its number among those of this process; empty where there is none.
    #[must_use]
    pub fn last_line(&self, place: usize) -> String {
        lock(&self.heard).last_line(place)
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

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn until(what: impl Fn() -> bool) {
        for _ in 0..500 {
            if what() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not in time");
    }

    #[test]
    fn what_a_node_says_last_is_kept_and_no_process_stays() {
        let script = "read -r key; echo first >&2; yes x | head -c 100000 >&2; echo; echo last $key >&2; exit 3";
        let mut launched = Launched::one(shell(script), "KEY\n").unwrap();
        let status = loop {
            match launched.ended() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(3));
        until(|| launched.last_line(0) == "last KEY");
        assert_eq!(launched.node_ended(0).as_deref(), Some("it ended with exit status: 3"));
        let launched = Launched::one(shell("exec sleep 1000"), "").unwrap();
        let process = format!("/proc/{}", launched.child.id());
        drop(launched);
        assert!(!std::path::Path::new(&process).exists());
        assert!(Launched::one(Command::new("/nowhere/assay"), "").is_err());
    }

    #[test]
    fn input_that_nobody_reads_keeps_nobody_waiting() {
        let mut launched = Launched::one(shell("exit 0"), &"x".repeat(1 << 20)).unwrap();
        while launched.ended().is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
