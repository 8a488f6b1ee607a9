//! Other programs: started, signalled and waited for as groups of processes.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Has the process that `command` will start lead a group of its own: Ctrl-C comes to this process alone, and what the
/// other starts is signalled with it.
pub fn lead_a_group(command: &mut Command) {
    command.process_group(0);
}

/// How the program ended, if it did. What it started and left behind is killed before its number is free for others.
pub(crate) fn ended(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Some(process) = pid(child) else { return child.try_wait() };
    if waitid(WaitId::Pid(process), options)?.is_none() {
        return Ok(None);
    }
    signal(child, Signal::KILL);
    child.wait().map(Some)
}

/// Asks the program, and what it started, to end.
pub(crate) fn interrupt(child: &Child) {
    signal(child, Signal::INT);
}

/// Kills the program and what it started.
pub(crate) fn kill_all(child: &mut Child) {
    signal(child, Signal::KILL);
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

/// Sends a signal to the group that the program leads; it was not waited for yet, so that its number is its own.
fn signal(child: &Child, signal: Signal) {
    if let Some(group) = pid(child) {
        let _ = kill_process_group(group, signal);
    }
}
