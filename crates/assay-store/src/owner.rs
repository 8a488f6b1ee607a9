//! Which process makes a record, and whether it still does.

use std::fs;
use std::io::ErrorKind;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// The process that makes a record, told from any later process with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/PID/stat`, proc(5).
    /// 0 where `/proc` is not to be read.
    pub start_time: u64,
    /// Which boot of the host: `/proc/sys/kernel/random/boot_id`. Empty where unknown.
    pub boot_id: String,
    /// Name of the host, as a home directory can be shared between hosts.
    pub host: String,
    /// Which process numbers these are: the link `/proc/self/ns/pid`, pid_namespaces(7), as a
    /// container counts its own. Empty where unknown.
    pub pid_namespace: String,
}

/// Whether an owner still works on its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// The process is there.
    Alive,
    /// The process is gone, for certain.
    Dead,
    /// The host was started anew since, so the process is gone.
    Rebooted,
    /// On another host or in another container: cannot be judged from here.
    Elsewhere,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: match look(pid) {
                Look::There(start_time) => start_time,
                Look::Gone | Look::Hidden => 0,
            },
            boot_id: fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            pid_namespace: fs::read_link("/proc/self/ns/pid")
                .map(|link| link.to_string_lossy().into_owned())
                .unwrap_or_default(),
        }
    }

    /// False only where the process is gone for certain.
    #[must_use]
    pub fn alive(&self) -> bool {
        matches!(self.life(), Life::Alive | Life::Elsewhere)
    }

    /// What can be said from here of the process.
    #[must_use]
    pub fn life(&self) -> Life {
        self.life_seen_by(&Self::current())
    }

    fn life_seen_by(&self, here: &Self) -> Life {
        let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
        if self.host != here.host {
            return Life::Elsewhere;
        }
        if differ(&self.boot_id, &here.boot_id) {
            return Life::Rebooted;
        }
        if differ(&self.pid_namespace, &here.pid_namespace) {
            return Life::Elsewhere;
        }
        match look(self.pid) {
            Look::Hidden => Life::Alive,
            Look::There(start_time) if self.start_time == 0 || start_time == self.start_time => Life::Alive,
            Look::There(_) | Look::Gone => Life::Dead,
        }
    }
}

enum Look {
    There(u64),
    Gone,
    Hidden,
}

fn look(pid: u32) -> Look {
    told(pid, fs::read(format!("/proc/{pid}/stat")))
}

/// What reading `/proc/PID/stat` tells.
fn told(pid: u32, stat: std::io::Result<Vec<u8>>) -> Look {
    match stat {
        Ok(stat) => match parse_stat(&String::from_utf8_lossy(&stat)) {
            // A killed process waits as a zombie until its parent asks for it.
            Some(('Z' | 'X' | 'x', _)) => Look::Gone,
            Some((_, start_time)) => Look::There(start_time),
            None => Look::Hidden,
        },
        // /proc may be absent, or hide the processes of others (hidepid=2): ask the kernel.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            match i32::try_from(pid).ok().and_then(Pid::from_raw).map(test_kill_process) {
                None | Some(Err(Errno::SRCH)) => Look::Gone,
                Some(_) => Look::Hidden,
            }
        }
        // ESRCH: it ended between open and read.
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Look::Gone,
        Err(_) => Look::Hidden,
    }
}

/// State (field 3) and start time (field 22) of `/proc/PID/stat`. Field 2 is the name in
/// parentheses, which may itself hold spaces and parentheses, so counting starts after the last.
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive() {
        let me = Owner::current();
        assert_ne!(me.start_time, 0);
        assert_eq!(me.boot_id.len(), 36, "{}", me.boot_id);
        assert_eq!(me.life(), Life::Alive);
    }

    #[test]
    fn a_reused_number_is_not_the_same_process() {
        let mut other = Owner::current();
        other.start_time += 1;
        assert_eq!(other.life(), Life::Dead);
        assert!(!other.alive());
    }

    #[test]
    fn a_killed_child_is_dead_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let Look::There(start_time) = look(child.id()) else { panic!("the child is not there") };
        let owner = Owner { pid: child.id(), start_time, ..Owner::current() };
        assert_eq!(owner.life(), Life::Alive);
        child.kill().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while owner.life() == Life::Alive && std::time::Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(owner.life(), Life::Dead, "as a zombie");
        child.wait().unwrap();
        assert_eq!(owner.life(), Life::Dead, "waited for");
    }

    #[test]
    fn one_that_ends_while_it_is_read_is_gone_and_one_that_is_hidden_is_not() {
        let of = |errno: Errno| told(std::process::id(), Err(errno.into()));
        assert!(matches!(of(Errno::SRCH), Look::Gone));
        assert!(matches!(of(Errno::ACCESS), Look::Hidden));
        assert!(matches!(of(Errno::NOENT), Look::Hidden), "the kernel knows it");
    }

    #[test]
    fn another_boot_is_dead_and_another_host_or_container_is_not_judged() {
        let here = Owner::current();
        let boot = Owner { boot_id: "00000000-0000-0000-0000-000000000000".to_owned(), ..here.clone() };
        assert_eq!(boot.life(), Life::Rebooted);
        assert!(!boot.alive());
        let host = Owner { host: "other".to_owned(), ..boot };
        assert_eq!(host.life(), Life::Elsewhere);
        let container = Owner { pid_namespace: "pid:[1]".to_owned(), pid: 999_999_999, ..here };
        assert_eq!(container.life(), Life::Elsewhere);
        assert!(container.alive());
    }

    #[test]
    fn a_process_name_with_parentheses_does_not_shift_the_fields() {
        let stat = "77 (a) S (b c) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        assert_eq!(parse_stat(stat), Some(('R', 4711)));
        assert_eq!(parse_stat("77 (a"), None);
        assert_eq!(parse_stat("77 (a) R 1 2"), None);
    }
}
