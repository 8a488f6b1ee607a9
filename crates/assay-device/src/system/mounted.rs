//! A mounted file system as statfs(2) of macOS tells of it, and what that says of the medium.

use assay_core::medium::{Bus, MediumKind};
use assay_core::text::{harmless, label};

use crate::target::TargetInfo;

// Flags of sys/mount.h.
const READ_ONLY: u32 = 0x0000_0001;
const REMOVABLE: u32 = 0x0000_0200;
const LOCAL: u32 = 0x0000_1000;
const IGNORE_OWNERSHIP: u32 = 0x0020_0000;

/// Flags by the words that mount(8) has for them. It prints `read-only`, where other systems and `mount -o` say `ro`.
const OPTIONS: [(u32, &str); 10] = [
    (READ_ONLY, "ro"),
    (0x0000_0002, "sync"),
    (0x0000_0004, "noexec"),
    (0x0000_0008, "nosuid"),
    (0x0000_0010, "nodev"),
    (0x0000_0020, "union"),
    (0x0000_0040, "async"),
    (0x0080_0000, "journaled"),
    (0x1000_0000, "noatime"),
    (IGNORE_OWNERSHIP, "noowners"),
];

/// What is asked of a mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// `f_fstypename`: `apfs`, `exfat`, `smbfs`.
    pub(crate) kind: String,
    /// `f_mntfromname`: `/dev/disk3s5`, or the share of a server.
    pub(crate) from: String,
    /// `f_mntonname`.
    pub(crate) on: String,
    /// `f_flags`.
    pub(crate) flags: u32,
}

impl Mounted {
    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.has(READ_ONLY)
    }

    /// Whether it is on another host: what is not local.
    pub(crate) fn is_remote(&self) -> bool {
        !self.has(LOCAL)
    }

    /// Whether all in it belongs to whoever asks.
    pub(crate) fn ignores_owners(&self) -> bool {
        self.has(IGNORE_OWNERSHIP)
    }

    /// Tells of it. Which disk it lies on, and what that is, is not said here.
    pub(crate) fn describe(&self, target: &mut TargetInfo) {
        let medium = &mut target.medium;
        medium.filesystem = label(&self.kind, 64);
        medium.mount_point = Some(harmless(&self.on));
        let set = OPTIONS.iter().filter(|(flag, _)| self.has(*flag));
        medium.mount_options = set.map(|(_, name)| (*name).to_owned()).collect();
        target.read_only = self.is_read_only();
        match self.kind.as_str() {
            "tmpfs" => medium.kind = MediumKind::Tmpfs,
            kind if kind.contains("fuse") => {
                medium.kind = MediumKind::Fuse;
                medium.model = label(&self.from, 223);
            }
            kind if self.is_remote() => {
                // The share is the closest there is to a model.
                medium.kind = if kind == "nfs" { MediumKind::Nfs } else { MediumKind::Unknown };
                medium.model = label(&self.from, 223);
                medium.bus = Some(of_network(kind));
            }
            _ if self.from.starts_with("/dev/") => {
                medium.device = Some(harmless(&self.from));
                target.removable = self.has(REMOVABLE);
            }
            _ => {}
        }
        target.is_memory = medium.kind.is_memory();
    }
}

fn of_network(kind: &str) -> Bus {
    Bus {
        kind: "network".to_owned(),
        mode: harmless(kind),
        ceiling_bytes_per_second: None,
        reachable_bytes_per_second: None,
        driver: None,
        source: "statfs; the way to the server is not known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::look::bare;
    use crate::target::What;

    fn mounted_target(kind: &str, from: &str, flags: u32) -> TargetInfo {
        let mounted = Mounted { kind: kind.to_owned(), from: from.to_owned(), on: "/Volumes/x".to_owned(), flags };
        let mut target = bare(Path::new("/Volumes/x/y"), What::Directory);
        mounted.describe(&mut target);
        target
    }

    #[test]
    fn a_volume_of_a_disk_is_told_without_its_disk() {
        let target = mounted_target("apfs", "/dev/disk3s5", 0x0080_1010 | READ_ONLY);
        assert_eq!(target.medium.filesystem.as_deref(), Some("apfs"));
        assert_eq!(target.medium.device.as_deref(), Some("/dev/disk3s5"));
        assert_eq!(target.medium.mount_point.as_deref(), Some("/Volumes/x"));
        assert_eq!(target.medium.mount_options, ["ro", "nodev", "journaled"]);
        assert!(target.read_only && !target.removable && !target.is_memory);
        assert_eq!(target.medium.kind, MediumKind::Unknown);
        assert_eq!((target.medium.capacity_bytes, target.medium.bus), (None, None));
        assert!(target.devices.is_empty(), "nothing counts what crosses it");
        assert!(mounted_target("exfat", "/dev/disk4s1", LOCAL | REMOVABLE).removable);
    }

    #[test]
    fn what_is_no_disk_is_told_by_its_kind() {
        assert!(mounted_target("tmpfs", "tmpfs", LOCAL).is_memory);
        assert_eq!(mounted_target("macfuse", "sshfs", 0).medium.kind, MediumKind::Fuse);
        let share = mounted_target("smbfs", "//user@server/share", 0);
        assert_eq!(share.medium.bus.as_ref().unwrap().mode, "smbfs");
        assert_eq!(share.medium.model.as_deref(), Some("//user@server/share"));
        assert_eq!(mounted_target("nfs", "server:/export", 0).medium.kind, MediumKind::Nfs);
        assert_eq!(mounted_target("nfs", "server:/export", 0).medium.device, None);
    }

    #[test]
    fn owners_and_hosts_are_told_by_flags() {
        let of = |flags| Mounted { kind: String::new(), from: String::new(), on: String::new(), flags };
        assert!(of(0).is_remote() && !of(LOCAL).is_remote());
        assert!(of(IGNORE_OWNERSHIP).ignores_owners() && !of(LOCAL).ignores_owners());
        assert!(of(READ_ONLY).is_read_only() && !of(LOCAL).is_read_only());
    }
}
