//! Redacts paths: components that readers of a report need are kept, and components that may identify a person are
//! replaced.

use super::name::{Key, Kind};

/// Directories of the file system hierarchy and words for what a mount point is for. They stay wherever
/// they stand before the first component that is replaced, also with a number: `card3`, `disk-2`.
pub(super) const WORDS: [&str; 62] = [
    "assay", "backup", "bench", "boot", "cache", "card", "cards", "data", "dev", "disk", "disks", "drive", "emmc",
    "etc", "export", "exports", "flash", "fs", "hdd", "home", "journals", "lib", "local", "log", "media", "memory",
    "microsd", "mnt", "mount", "nas", "net", "nfs", "node", "nodes", "nvme", "opt", "proc", "reports", "root", "run",
    "scratch", "sd", "sdcard", "share", "shares", "shm", "slot", "smb", "spool", "srv", "ssd", "stick", "storage",
    "sys", "test", "tests", "tmp", "usb", "user", "usr", "var", "volume",
];

/// Directories whose entries are named after people or by them. The entries are replaced even if they are common words.
const HOMES: [&str; 5] = ["/home", "/Users", "/root", "/run/user", "/run/media"];

/// Kernel interfaces: names that the kernel gives, not people.
const KERNEL: [&str; 2] = ["/sys", "/proc"];

/// Whether text of either kind is a path rather than a title.
pub(super) fn is_path(text: &str) -> bool {
    text.contains(['/', '\\'])
}

/// What lies before the path of a remote volume, and the path: `nas.lan:/export`, `//nas/share`,
/// `alice@nas:cards`, `[fd00::1]:/export`.
pub(super) fn remote(text: &str) -> Option<(&str, &str, &str)> {
    for mark in ["//", "\\\\"] {
        if let Some(rest) = text.strip_prefix(mark) {
            let end = rest.find(['/', '\\']).unwrap_or(rest.len());
            let (server, path) = rest.split_at(end);
            return (!server.is_empty()).then_some((mark, server, path));
        }
    }
    let end = if text.starts_with('[') { text.find("]:")? + 1 } else { text.find(':')? };
    let (server, path) = (text.get(..end)?, text.get(end + 1..)?);
    (!server.is_empty() && !server.contains('/')).then_some(("", server, path))
}

/// The path with short names in place of components that may identify a person. From the first such component on all
/// are replaced, except names that assay itself gives.
pub(super) fn redacted(text: &str, key: &Key) -> String {
    if let Some((mark, server, path)) = remote(text) {
        let colon = if mark.is_empty() { ":" } else { "" };
        return format!("{mark}{}{colon}{}", self::server(server, key), components(path, key));
    }
    components(text, key)
}

/// `user@host` or a host alone.
pub(super) fn server(text: &str, key: &Key) -> String {
    match text.rsplit_once('@') {
        Some((user, host)) => format!("{}@{}", key.name(Kind::Path, user), key.name(Kind::Host, host)),
        None => key.name(Kind::Host, text),
    }
}

/// The components for a search in other text: the first that is replaced, which names a user or a volume more
/// often than not, and the volume below a user's directory of volumes.
pub(super) fn names(text: &str) -> Vec<&str> {
    let path = remote(text).map_or(text, |(_, _, path)| path);
    let mut walk = Walk::default();
    let mut names: Vec<&str> = Vec::new();
    for component in path.split(['/', '\\']) {
        let is_name = !walk.replaced || walk.volume;
        if !walk.keeps(component) && is_name {
            names.push(component);
        }
    }
    names
}

fn components(path: &str, key: &Key) -> String {
    let mut walk = Walk::default();
    let mut out = String::with_capacity(path.len());
    for (at, component) in path.split(['/', '\\']).enumerate() {
        if at > 0 {
            out.push('/');
        }
        let keep = walk.keeps(component);
        out.push_str(&if keep { component.to_owned() } else { key.name(Kind::Path, component) });
    }
    out
}

/// How far into a path.
#[derive(Default)]
struct Walk {
    /// What stands before, as long as nothing was replaced.
    before: String,
    /// Something was replaced.
    replaced: bool,
    /// The one before names a user below a directory of volumes: this one names a volume.
    volume: bool,
}

impl Walk {
    /// Whether the next component stays.
    fn keeps(&mut self, component: &str) -> bool {
        if component.is_empty() || component == "." {
            return true;
        }
        if component == ".." {
            // The following components may be anywhere.
            self.before = "..".to_owned();
            return true;
        }
        let before = std::mem::take(&mut self.before);
        let kernel = KERNEL
            .iter()
            .any(|root| before.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
        let stays = if self.replaced {
            is_own(component)
        } else if HOMES.contains(&before.as_str()) {
            false
        } else if before == "/dev" {
            is_device(component) || ["disk", "mapper", "shm"].contains(&component)
        } else if before == "/dev/disk" {
            component.starts_with("by-")
        } else if kernel {
            is_kernel_name(component)
        } else {
            is_word(component) || is_own(component)
        };
        self.volume = !stays && !self.replaced && ["/media", "/run/media"].contains(&before.as_str());
        self.replaced |= !stays;
        self.before = format!("{before}/{component}");
        stays
    }
}

fn is_word(component: &str) -> bool {
    let bare = component.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = component.len() - bare.len();
    let bare = if digits > 0 { bare.strip_suffix(['-', '_']).unwrap_or(bare) } else { bare };
    digits <= 3 && WORDS.contains(&bare.to_ascii_lowercase().as_str())
}

/// What assay calls its own directories and files.
fn is_own(component: &str) -> bool {
    let id = |id: &str| id == "verify" || (id.len() == 10 && id.bytes().all(|b| b.is_ascii_alphanumeric()));
    let numbered = |name: &str| name.strip_suffix(".h2w").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    component.strip_prefix(".assay-").is_some_and(id)
        || numbered(component)
        || ["data", "lock", "state.json", "assay.sqlite"].contains(&component)
}

/// Names of block devices that drivers give (kernel Documentation/admin-guide/devices.txt): letters for disks
/// of SCSI, ATA, virtio, Xen and DASD, numbers for all others.
pub(super) fn is_device(name: &str) -> bool {
    let lettered = ["sd", "hd", "vd", "xvd", "dasd"].iter().any(|driver| {
        let Some(rest) = name.strip_prefix(driver) else { return false };
        let part = rest.trim_start_matches(|c: char| c.is_ascii_lowercase());
        let letters = rest.len() - part.len();
        rest == "X" || ((1..=3).contains(&letters) && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()))
    });
    let numbered = [
        "mmcblk", "nvme", "loop", "zram", "ram", "nbd", "md", "dm-", "sr", "fd", "ublkb", "rbd", "bcache", "pmem",
        "mtdblock",
    ]
    .iter()
    .any(|driver| {
        let Some(rest) = name.strip_prefix(driver) else { return false };
        // `nvme0n1p2`, `mmcblk0boot1`, `nvme0c1n1`
        let rest = rest.replace("boot", "p").replace("rpmb", "0");
        rest.len() <= 10
            && rest.starts_with(|c: char| c.is_ascii_digit())
            && rest.bytes().all(|b| b.is_ascii_digit() || b"npc".contains(&b))
    });
    lettered || numbered
}

/// A name below `/sys` or `/proc` that holds no address: network interfaces are named after theirs
/// (systemd.net-naming-scheme(7), `enx001122334455`). `root` and `cwd` of a process lead elsewhere (proc(5)).
fn is_kernel_name(component: &str) -> bool {
    super::unique::finds_nothing(component) && !["root", "cwd"].contains(&component)
}
