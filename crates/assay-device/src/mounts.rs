//! Mounts: `/proc/self/mountinfo` (proc_pid_mountinfo(5), kernel Documentation/filesystems/proc.rst 3.5), and swap on the medium.

use std::path::{Path, PathBuf};

use crate::block::{Node, Stack};
use crate::files;
use crate::files::Sysroot;

/// One mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// `st_dev` of its files, in most file systems.
    pub(crate) dev: (u32, u32),
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    /// Type, `ext4`.
    pub(crate) fstype: String,
    /// Source, `/dev/sda1`.
    pub(crate) source: String,
    /// Options of this mount and of the file system, each once.
    pub(crate) options: Vec<String>,
}

impl Mount {
    pub(crate) fn read_only(&self) -> bool {
        self.options.iter().any(|option| option == "ro")
    }

    /// The value of `name=value` among the options.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The mounts visible to this process, in the order in which they were made.
pub(crate) fn read_mounts(sysroot: &Sysroot) -> Vec<Mount> {
    files::text(&sysroot.path("/proc/self/mountinfo")).map(|text| parse(&text)).unwrap_or_default()
}

/// The visible mounts of the whole machine: those of this process and those of init.
pub(crate) fn read_everywhere(sysroot: &Sysroot) -> Vec<Mount> {
    let mut mounts = read_mounts(sysroot);
    if let Some(text) = files::text(&sysroot.path("/proc/1/mountinfo")) {
        mounts.extend(parse(&text));
    }
    mounts
}

/// Where a block device is mounted first; `None` where it is not, or the system does not tell.
#[must_use]
pub fn mounted_at(sysroot: &Sysroot, device: &Path) -> Option<PathBuf> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let wanted = real(device)?;
    let at = |mount: &Mount| real(Path::new(&mount.source)).as_ref() == Some(&wanted);
    read_mounts(sysroot).into_iter().find(at).map(|mount| mount.point)
}

pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ');
    let dev = files::device_number(head.nth(2)?)?;
    let point = PathBuf::from(unescape(head.nth(1)?));
    let mut options: Vec<String> = Vec::new();
    let mut tail = tail.split(' ');
    let own = head.next()?;
    let fstype = unescape(tail.next()?);
    let source = unescape(tail.next().unwrap_or_default());
    let shared = tail.next().unwrap_or_default();
    for option in own.split(',').chain(shared.split(',')) {
        let option = unescape(option);
        // A read-only mount of a writable file system lists both; the option of the mount counts.
        let contradicts = (option == "rw" || option == "ro") && options.iter().any(|o| o == "ro");
        if !option.is_empty() && !contradicts && !options.contains(&option) {
            options.push(option);
        }
    }
    if options.iter().any(|o| o == "ro") {
        options.retain(|o| o != "rw");
    }
    Some(Mount { dev, point, fstype, source, options })
}

/// Decodes space, tab, newline and backslash, which are written as `\040` and so on in octal.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = match tail {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] if first == b'\\' => {
                Some((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'))
            }
            _ => None,
        };
        match octal {
            Some(byte) => {
                out.push(byte);
                rest = tail.get(3..).unwrap_or_default();
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The mount that holds `path`: the longest mount point above it, and the last mounted one of equals. If `dev` is
/// known, mounts of that device are preferred. btrfs gives subvolumes numbers that no mount has, so the others are
/// searched too.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path, dev: Option<(u32, u32)>) -> Option<&'a Mount> {
    let best = |wanted: &dyn Fn(&Mount) -> bool| {
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.point) && wanted(mount))
            .max_by_key(|mount| mount.point.components().count())
    };
    dev.and_then(|dev| best(&|mount| mount.dev == dev)).or_else(|| best(&|_| true))
}

// Swap on the medium under test (proc(5), `/proc/swaps`).

/// One line of `/proc/swaps`.
pub(crate) struct Swap {
    /// Device or file.
    pub(crate) path: String,
    /// Whether it is a device.
    pub(crate) is_device: bool,
}

pub(crate) fn read_swaps(sysroot: &Sysroot) -> Vec<Swap> {
    let text = files::text(&sysroot.path("/proc/swaps")).unwrap_or_default();
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        Some(Swap { path: unescape(fields.next()?), is_device: fields.next()? == "partition" })
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// Whether the kernel swaps to one of `devices` (kernel names of whole devices), through a
/// partition, a stacked device or a file.
#[must_use]
pub fn swaps_on(sysroot: &Sysroot, devices: &[String]) -> bool {
    let mounts = read_mounts(sysroot);
    let node = |swap: &Swap| {
        if swap.is_device {
            return Node::by_source(sysroot, &swap.path);
        }
        let mount = holding(&mounts, Path::new(&swap.path), None)?;
        Node::by_number(sysroot, mount.dev).or_else(|| Node::by_source(sysroot, &mount.source))
    };
    let touches = |node: Node| Stack::below(sysroot, &node).nodes.iter().any(|seen| devices.contains(&seen.name));
    read_swaps(sysroot).iter().filter_map(node).any(touches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r"22 1 179:2 / / rw,noatime shared:1 - ext4 /dev/root rw
30 22 0:25 / /run rw - tmpfs tmpfs rw,size=10k
40 22 8:1 / /mnt/my\040stick ro,nosuid master:3 propagate_from:2 - vfat /dev/sda1 rw,utf8
41 22 8:17 / /mnt/a rw - ext4 /dev/sdb1 rw
42 41 8:33 / /mnt/a rw - xfs /dev/sdc1 rw
43 22 0:40 /@home /home rw - btrfs /dev/sdd rw,subvol=/@home
garbage line
50 22 x:y / /bad rw - ext4 z rw";

    #[test]
    fn the_longest_mount_point_wins_and_of_equals_the_last() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 6);
        let find = |path: &str| holding(&mounts, Path::new(path), None).unwrap().source.clone();
        assert_eq!(find("/etc/fstab"), "/dev/root");
        assert_eq!(find("/mnt/a/file"), "/dev/sdc1");
        assert_eq!(find("/mnt/ab"), "/dev/root");
        assert_eq!(find("/home/x"), "/dev/sdd");
    }

    #[test]
    fn the_device_number_decides_between_stacked_mounts() {
        let mounts = parse(TABLE);
        assert_eq!(holding(&mounts, Path::new("/mnt/a/f"), Some((8, 17))).unwrap().source, "/dev/sdb1");
        assert_eq!(holding(&mounts, Path::new("/home/x"), Some((0, 41))).unwrap().source, "/dev/sdd");
    }

    #[test]
    fn octal_escapes_are_decoded_and_a_read_only_mount_is_read_only() {
        let mounts = parse(TABLE);
        let stick = holding(&mounts, Path::new("/mnt/my stick/a"), None).unwrap();
        assert_eq!(stick.point, Path::new("/mnt/my stick"));
        assert!(stick.read_only());
        assert_eq!(stick.options, ["ro", "nosuid", "utf8"]);
        assert_eq!(unescape(r"a\134b\09\04"), r"a\b\09\04");
    }
}
