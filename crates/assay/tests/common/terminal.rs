//! Commands at a terminal, by script(1).

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_lab::{Missing, skip};

use super::{ASSAY, Place, run};

/// Runs commands on a terminal of their own, by script(1).
pub struct Terminal;

impl Terminal {
    pub fn new(test: &str) -> Option<Self> {
        let found = Command::new("script").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
        if !found {
            skip(test, &Missing("needs script".to_owned()));
        }
        found.then_some(Self)
    }

    /// What the terminal was sent.
    pub fn run(&self, place: &Place, script: &str, environment: &[(&str, &str)]) -> String {
        let mut command = place.shell("exec script --quiet --return --command \"$SCRIPT\" /dev/null");
        command.env("SCRIPT", script).env("TERM", "xterm").env("SHELL", "/bin/sh").envs(environment.iter().copied());
        let done = run(command);
        done.measures();
        assert!(!done.stdout.contains("panicked"), "{}", done.stdout);
        done.stdout
    }
}

/// The command at a terminal of its own, whose keys a test presses.
pub struct AtTerminal {
    child: Child,
    keys: ChildStdin,
    said: Arc<Mutex<String>>,
}

impl AtTerminal {
    pub fn new(place: &Place, words: &str) -> Self {
        let mut command = place.shell("exec script --quiet --return --command \"$SCRIPT\" /dev/null");
        command.env("SCRIPT", format!("'{ASSAY}' {words}")).env("TERM", "xterm").env("SHELL", "/bin/sh");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (keys, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&said);
        std::thread::spawn(move || {
            let mut bytes = [0u8; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Self { child, keys, said }
    }

    /// Waits until the words were printed so often.
    pub fn waits_for(&mut self, words: &str, times: usize) {
        let end = Instant::now() + Duration::from_secs(120);
        while self.said.lock().unwrap().matches(words).count() < times {
            let said = self.said.lock().unwrap().clone();
            assert!(Instant::now() < end && self.child.try_wait().unwrap().is_none(), "{said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn presses(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// What was said by the end, and the exit code.
    pub fn ended(mut self) -> (String, Option<i32>) {
        let code = self.child.wait().unwrap().code();
        std::thread::sleep(Duration::from_millis(200));
        (self.said.lock().unwrap().clone(), code)
    }
}
