//! The process that makes a record, and whether it is still running.

use serde::{Deserialize, Serialize};

use crate::system::{self, ProcessState};

/// The process that makes a record, distinguished from any later process with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Process number.
    pub pid: u32,
    /// Start time, in clock ticks since boot: field 22 of `/proc/PID/stat`, proc(5); on Windows in units of 100 ns
    /// since 1601. 0 if it cannot be read.
    pub start_time: u64,
    /// Boot of the host: `/proc/sys/kernel/random/boot_id`. Empty if unknown.
    pub boot_id: String,
    /// Name of the host, as a home directory can be shared between hosts.
    pub host: String,
    /// Name space of the process number: the link `/proc/self/ns/pid`, pid_namespaces(7), as a container has numbers of
    /// its own. Empty if unknown.
    pub pid_namespace: String,
}

/// Whether an owner still works on its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    /// The process is running.
    Alive,
    /// The process has certainly ended.
    Dead,
    /// The host was rebooted since, so the process has ended.
    Rebooted,
    /// On another host or in another container: unknown here.
    Elsewhere,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            start_time: match system::process(pid) {
                ProcessState::There(start_time) => start_time,
                ProcessState::Gone | ProcessState::Hidden => 0,
            },
            boot_id: system::boot_id(),
            host: system::host_name(),
            pid_namespace: system::process_numbers(),
        }
    }

    /// False only if the process has certainly ended.
    #[must_use]
    pub fn alive(&self) -> bool {
        matches!(self.life(), OwnerState::Alive | OwnerState::Elsewhere)
    }

    /// The state of the process, as far as it is known here.
    #[must_use]
    pub fn life(&self) -> OwnerState {
        self.life_seen_by(&Self::current())
    }

    fn life_seen_by(&self, here: &Self) -> OwnerState {
        let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
        if self.host != here.host {
            return OwnerState::Elsewhere;
        }
        if differ(&self.boot_id, &here.boot_id) {
            return OwnerState::Rebooted;
        }
        if differ(&self.pid_namespace, &here.pid_namespace) {
            return OwnerState::Elsewhere;
        }
        match system::process(self.pid) {
            ProcessState::Hidden => OwnerState::Alive,
            ProcessState::There(start_time) if self.start_time == 0 || start_time == self.start_time => {
                OwnerState::Alive
            }
            ProcessState::There(_) | ProcessState::Gone => OwnerState::Dead,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Windows has no boot id, no containers and no zombies.

    #[cfg(not(windows))]
    #[test]
    fn this_process_is_alive() {
        let me = Owner::current();
        assert_ne!(me.start_time, 0);
        assert_eq!(me.boot_id.len(), 36, "{}", me.boot_id);
        assert_eq!(me.life(), OwnerState::Alive);
    }

    #[test]
    fn a_reused_number_is_not_the_same_process() {
        let mut other = Owner::current();
        other.start_time += 1;
        assert_eq!(other.life(), OwnerState::Dead);
        assert!(!other.alive());
    }

    #[cfg(not(windows))]
    #[test]
    fn a_killed_child_is_dead_even_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let ProcessState::There(start_time) = system::process(child.id()) else { panic!("the child is not there") };
        let owner = Owner { pid: child.id(), start_time, ..Owner::current() };
        assert_eq!(owner.life(), OwnerState::Alive);
        child.kill().unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while owner.life() == OwnerState::Alive && std::time::Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(owner.life(), OwnerState::Dead, "as a zombie");
        child.wait().unwrap();
        assert_eq!(owner.life(), OwnerState::Dead, "waited for");
    }

    #[cfg(not(windows))]
    #[test]
    fn another_boot_is_dead_and_another_host_or_container_is_not_judged() {
        let here = Owner::current();
        let boot = Owner { boot_id: "00000000-0000-0000-0000-000000000000".to_owned(), ..here.clone() };
        assert_eq!(boot.life(), OwnerState::Rebooted);
        assert!(!boot.alive());
        let host = Owner { host: "other".to_owned(), ..boot };
        assert_eq!(host.life(), OwnerState::Elsewhere);
        let container = Owner { pid_namespace: "pid:[1]".to_owned(), pid: 999_999_999, ..here };
        assert_eq!(container.life(), OwnerState::Elsewhere);
        assert!(container.alive());
    }
}
