//! Processes with what they cost.

use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The output of a process, and the resources that it and its children used.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Processor time in user space, children that were waited for included, in seconds.
    pub(crate) user_seconds: f64,
    /// The same in the kernel.
    pub(crate) system_seconds: f64,
    /// From its start to its end, in seconds.
    pub(crate) wall_seconds: f64,
}

/// Runs the command to its end. Its output goes to files, because a pipe that is not read would block it.
pub(crate) fn finish(command: &mut Command) -> Finished {
    finish_watched(command, |_| ())
}

/// Runs the command to its end. `watch` is called with the process identity as soon as there is one.
#[allow(clippy::zombie_processes)] // `wait4` waits for it, and tells its usage too
pub(crate) fn finish_watched(command: &mut Command, watch: impl FnOnce(u32)) -> Finished {
    let (mut stdout, mut stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command.stdin(Stdio::null());
    command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let start = Instant::now();
    let child = command.spawn().unwrap_or_else(|e| panic!("{}: {e}", command.get_program().to_string_lossy()));
    watch(child.id());
    let mut status = 0;
    // SAFETY: a `rusage` is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let id = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: both pointers are to values that outlive the call; the child was not waited for yet.
    let waited = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
    let wall_seconds = start.elapsed().as_secs_f64();
    assert_eq!(waited, id, "wait4: {}", std::io::Error::last_os_error());
    let text = |file: &mut std::fs::File| {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Finished {
        stdout: text(&mut stdout),
        stderr: text(&mut stderr),
        user_seconds: seconds(usage.ru_utime),
        system_seconds: seconds(usage.ru_stime),
        wall_seconds,
    }
}

/// A process and all that descend from it, which are alive now.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(&parent) = all.get(next) {
        next += 1;
        for task in tasks(parent) {
            let children = std::fs::read_to_string(task.join("children")).unwrap_or_default();
            all.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        }
    }
    all
}

/// Folders of the threads of a process; none where it is gone.
pub(crate) fn tasks(process: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"));
    entries.map(|all| all.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}
