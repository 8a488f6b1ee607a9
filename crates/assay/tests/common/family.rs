//! Processes and all that they started.

use std::path::Path;
use std::time::{Duration, Instant};

/// Whatever is waited for has come by then, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A process as `/proc/PID/stat` shows it, proc_pid_stat(5).
#[derive(Debug, Clone)]
pub struct Process {
    pub id: u32,
    pub name: String,
    pub state: char,
    parent: u32,
    /// When it was started: its number may be given anew.
    began: String,
}

impl Process {
    pub fn look(id: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let (head, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        Some(Self {
            id,
            name: head.split_once('(')?.1.to_owned(),
            state: fields[0].chars().next()?,
            parent: fields[1].parse().ok()?,
            began: fields[19].to_owned(),
        })
    }

    fn alive(&self) -> bool {
        Self::look(self.id).is_some_and(|now| now.began == self.began && !matches!(now.state, 'Z' | 'X'))
    }
}

/// A process and all below it.
pub fn family(root: u32) -> Vec<Process> {
    let ids =
        std::fs::read_dir(Path::new("/proc")).unwrap().filter_map(|e| e.unwrap().file_name().to_str()?.parse().ok());
    let all: Vec<Process> = ids.filter_map(Process::look).collect();
    let mut found: Vec<Process> = all.iter().filter(|p| p.id == root).cloned().collect();
    let mut at = 0;
    while at < found.len() {
        let parent = found[at].id;
        found.extend(all.iter().filter(|p| p.parent == parent).cloned());
        at += 1;
    }
    found
}

/// Waits until a process is stopped, or is not.
#[track_caller]
pub fn wait_until_stopped(id: u32, stopped: bool) {
    wait_for(&format!("process {id} stopped: {stopped}"), || {
        Process::look(id).is_some_and(|p| (p.state == 'T') == stopped)
    });
}

/// Waits until none of them is alive.
#[track_caller]
pub fn assert_gone(family: &[Process]) {
    let alive = || -> Vec<&Process> { family.iter().filter(|p| p.alive()).collect() };
    let begun = Instant::now();
    while !alive().is_empty() {
        assert!(begun.elapsed() < TIMEOUT, "still there: {:?}", alive());
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
pub fn wait_for(what: &str, mut seen: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !seen() {
        assert!(begun.elapsed() < TIMEOUT, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
