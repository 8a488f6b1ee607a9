//! Processes that have a device open. The kernel allows this beside an exclusive user.

use std::path::Path;

use assay_core::text::harmless;

use crate::files::{self, FileId, Stat};
use crate::sysroot::Sysroot;
use crate::system;

/// No real process has more ancestors; more is a loop in a table that changes while it is read.
const DEEPEST: usize = 64;

/// A process that has one of the devices open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opener {
    pid: u32,
    program: String,
}

impl std::fmt::Display for Opener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "open in {}, process {}", self.program, self.pid)
    }
}

/// Processes other than this one and its children that have a device of `numbers` open, or one of the files in
/// `backing` behind loop devices, as far as this process may inspect them (proc(5), `/proc/PID/fd`).
pub(super) fn openers(sysroot: &Sysroot, numbers: &[(u32, u32)], backing: &[FileId]) -> Vec<Opener> {
    let proc = sysroot.path("/proc");
    let all = files::entries(&proc).into_iter().filter_map(|name| name.parse::<u32>().ok());
    let open = |pid: &u32| {
        let fds = proc.join(pid.to_string()).join("fd");
        let is_one = |stat: Stat| match stat.of_block_device {
            Some(number) => numbers.contains(&number),
            None => backing.contains(&stat.id()),
        };
        files::entries(&fds).iter().filter_map(|fd| system::stat(&fds.join(fd))).any(is_one)
    };
    all.filter(open)
        .filter(|pid| !is_own(&proc, *pid))
        .map(|pid| {
            let name = files::text(&proc.join(pid.to_string()).join("comm"));
            Opener { pid, program: name.map_or_else(|| "a program".to_owned(), |name| harmless(&name)) }
        })
        .collect()
}

/// Whether it is this process or one that it started.
fn is_own(proc: &Path, pid: u32) -> bool {
    let own = std::process::id();
    let mut at = pid;
    for _ in 0..DEEPEST {
        if at == own {
            return true;
        }
        match parent(&proc.join(at.to_string()).join("stat")) {
            Some(above) if above > 0 => at = above,
            _ => return false,
        }
    }
    false
}

/// The fourth field; the second, the name, may hold spaces and parentheses (proc(5)).
fn parent(stat: &Path) -> Option<u32> {
    let text = files::text(stat)?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "42 (a) R 1 (b) S 7 42 42 0").unwrap();
        assert_eq!(parent(file.path()), Some(7));
        assert_eq!(parent(Path::new("/proc/self/stat")), Some(std::os::unix::process::parent_id()));
        assert!(is_own(Path::new("/proc"), std::process::id()));
        assert!(!is_own(Path::new("/proc"), 1));
    }
}
