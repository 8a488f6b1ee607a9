//! What a text says of its media and hosts beside the results.
//!
//! A result on a file and one on a raw device are of one medium only where the text joins them: by a line of `df`, `mount`
//! or `lsblk`, by the disks that fio names below its results, or because a script that prints its commands (`sh -x`) ran
//! both. The host is the one that a prompt names.

use std::cell::OnceCell;
use std::sync::LazyLock;

use assay_core::medium::Medium;

use crate::command::is_device;
use crate::pattern::{Regex, regex};
use crate::report::Part;
use crate::text::Text;

/// Most lines that join a device and a folder, which are kept of a text.
const MOST_MOUNTS: usize = 200;
/// Longest line that may be one, or a prompt.
const LONGEST: usize = 400;
/// Most lines between a prompt and a result.
const MOST_ABOVE: usize = 40;
/// Most lines between a command that a script prints and what the part begins with.
const MOST_TO_TRACE: usize = 3;
/// Fields of a terse line of fio before those of disks.
const BEFORE_DISKS: usize = 100;

/// What a report names as the place of its figures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Named {
    /// Neither a file nor a device, or one that begins where the tool was started.
    #[default]
    Nothing,
    /// A file or a folder outside of `/dev`, by its whole path.
    File(String),
    /// A device, or the model of one.
    Device,
    /// Both, which are one medium then.
    Both,
}

impl Named {
    pub(crate) fn of(medium: &Medium) -> Self {
        let path = medium.path.as_str();
        let in_dev = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
        let device = medium.device.is_some() || medium.model.is_some() || medium.unit.is_some();
        match (path.starts_with('/') && !in_dev, device) {
            (true, true) => Self::Both,
            (true, false) => Self::File(path.to_owned()),
            (false, true) if path.is_empty() || in_dev => Self::Device,
            _ => Self::Nothing,
        }
    }

    /// What two reports of one run name.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, other) => other,
            (one, Self::Nothing) => one,
            (Self::File(file), Self::File(_)) => Self::File(file),
            (Self::Device, Self::Device) => Self::Device,
            _ => Self::Both,
        }
    }
}

/// What stands around a part.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// The host that the nearest prompt above names.
    pub(crate) host: Option<String>,
    /// The disks that fio names below results of a file: `sda`.
    pub(crate) disks: Vec<String>,
    /// Whether a script printed the command.
    pub(crate) traced: bool,
}

impl Around {
    /// What stands around a part, behind line `after`, which is the end of the part before.
    pub(crate) fn of(text: &Text, part: &Part, after: usize) -> Self {
        let lines = |most: usize| (after.max(part.from.saturating_sub(most))..part.from + 1).rev();
        let host = |at: usize| {
            let line = text.line(at);
            let found = PROMPT.captures(line).filter(|_| line.len() <= LONGEST)?;
            Some(found[1].to_owned())
        };
        Self {
            host: lines(MOST_ABOVE).find_map(host),
            disks: disks(text, part),
            traced: lines(MOST_TO_TRACE).any(|at| text.line(at).starts_with("+ ")),
        }
    }
}

/// `root@node1:~# dd if=a`, `[root@node1 dir]# dd if=a`, `me@node1 ~ % dd if=a`.
static PROMPT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*\[?[A-Za-z_][A-Za-z0-9_.-]*@([A-Za-z0-9][A-Za-z0-9_.-]*)[: ][^\s@#$%>]*\]? ?[#$%>] ?\S")
});

/// The disks that fio names below the results of a part.
fn disks(text: &Text, part: &Part) -> Vec<String> {
    let mut found = Vec::new();
    if part.format != "fio" || !matches!(Named::of(&part.report.medium), Named::File(_)) {
        return found;
    }
    let mut below = false;
    for line in text.lines().get(part.from..part.to).unwrap_or_default() {
        let line = line.text.trim();
        below |= line.starts_with("Disk stats") || line.starts_with("\"disk_util\"");
        if below && line.len() <= LONGEST {
            let disk = DISK.captures(line).and_then(|disk| disk.get(1).or(disk.get(2)));
            found.extend(disk.map(|disk| disk.as_str().to_owned()));
        }
        let is_terse = line.split(';').nth(1).is_some_and(|version| version.starts_with("fio"));
        if is_terse {
            let fields = line.split(';').skip(BEFORE_DISKS);
            let names = fields.filter(|field| field.starts_with(|c: char| c.is_ascii_lowercase()));
            found.extend(names.map(str::to_owned));
        }
    }
    found
}

/// `  sda: ios=12/3, merge=0/0`, `"name" : "sda",`.
static DISK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^(?:([A-Za-z][A-Za-z0-9_-]*): ios=|\{? ?"name" ?: ?"([A-Za-z][A-Za-z0-9_-]*)")"#));

/// A device and the folder that it is mounted on.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: String,
    folder: String,
}

/// The mounts that a text shows. They are looked for when the first is asked for.
#[derive(Debug)]
pub(crate) struct Mounts<'a> {
    text: &'a Text,
    found: OnceCell<Vec<Mount>>,
}

impl<'a> Mounts<'a> {
    pub(crate) fn new(text: &'a Text) -> Self {
        Self { text, found: OnceCell::new() }
    }

    /// Whether the text tells that a file lies on a device: the longest folder that it shows above the file decides.
    pub(crate) fn join(&self, file: &str, device: &str) -> bool {
        let lines = || self.text.lines().iter().filter_map(|line| mount(&line.text));
        let found = self.found.get_or_init(|| lines().take(MOST_MOUNTS).collect());
        let above = found.iter().filter(|mount| is_below(file, &mount.folder));
        above.max_by_key(|mount| mount.folder.len()).is_some_and(|mount| is_of_disk(&mount.device, device))
    }
}

/// The mount that a line shows: of `df`, `mount`, `lsblk`, `findmnt`, ioping, or of a sentence.
fn mount(line: &str) -> Option<Mount> {
    // A redirection names a file that has nothing to do with the device.
    if line.len() > LONGEST || !line.contains('/') || line.contains("> ") {
        return None;
    }
    let marks = [',', ';', ':', '(', ')', '"', '\'', '`', '├', '└', '─', '│'];
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches(marks)).collect();
    let is_kind = |word: &str| matches!(word, "part" | "disk" | "lvm" | "crypt");
    let named = words.iter().find(|word| is_device(word)).map(|device| (*device).to_owned());
    // A line of lsblk has the name alone.
    let listed = || {
        let name = words.iter().find(|word| !word.is_empty())?.trim_start_matches(['|', '`', '-']);
        let is_row = words.iter().any(|word| is_kind(word)) && name.chars().all(|c| c.is_ascii_alphanumeric());
        (is_row && !name.is_empty()).then(|| format!("/dev/{name}"))
    };
    let device = named.or_else(listed)?;
    let before = |at: usize| at.checked_sub(1).map_or("", |before| words[before]);
    let is_root = |at: usize| before(at) == "on" || before(at).ends_with('%') || is_kind(before(at));
    let is_folder = |(at, word): &(usize, &&str)| {
        word.starts_with('/') && !word.starts_with("/dev/") && (word.len() > 1 || is_root(*at))
    };
    let (_, folder) = words.iter().enumerate().find(is_folder)?;
    Some(Mount { device, folder: (*folder).to_owned() })
}

/// Whether a file is a folder or lies in it.
fn is_below(file: &str, folder: &str) -> bool {
    let rest = file.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether two names of devices are one disk, or one is a part of the other: `/dev/sda` and `/dev/sda1`.
pub(crate) fn is_of_disk(one: &str, other: &str) -> bool {
    let is_part = |part: &str, disk: &str| {
        let numbered = disk.ends_with(|c: char| c.is_ascii_digit());
        part.strip_prefix(disk).is_some_and(|rest| match numbered {
            true => rest.starts_with(['p', 'n', 's']) && rest.ends_with(|c: char| c.is_ascii_digit()),
            false => !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()),
        })
    };
    one == other || is_part(one, other) || is_part(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_join_a_device_and_a_folder() {
        for (line, device, folder) in [
            ("/dev/sda1       100G  1G   99G   1% /media/usb", "/dev/sda1", "/media/usb"),
            ("/dev/mmcblk0p2 on / type ext4 (rw,noatime)", "/dev/mmcblk0p2", "/"),
            ("└─sda1   8:1    1  29.8G  0 part /media/usb", "/dev/sda1", "/media/usb"),
            ("`-sda1   8:1    1  29.8G  0 part /", "/dev/sda1", "/"),
            ("$ sudo mount /dev/sda1 /mnt/x", "/dev/sda1", "/mnt/x"),
            ("--- /mnt/card (ext4 /dev/mmcblk0p2 29.8 GiB) ioping statistics ---", "/dev/mmcblk0p2", "/mnt/card"),
        ] {
            assert_eq!(mount(line), Some(Mount { device: device.to_owned(), folder: folder.to_owned() }), "{line}");
        }
        for line in [
            "/dev/sda:",
            "# hdparm -t /dev/sda",
            "$ smartctl -a /dev/sda > /mnt/x/smart",
            "dd if=/dev/zero of=/mnt/x",
            "read / write of /dev/sda",
        ] {
            assert_eq!(mount(line), None, "{line}");
        }
        let text = Text::from_bytes(b"/dev/sdb1 on / type ext4 (rw)\n/dev/sda1 on /media/usb type vfat (rw)\n");
        let mounts = Mounts::new(&text);
        assert!(mounts.join("/media/usb/t", "/dev/sda") && mounts.join("/home/t", "/dev/sdb"));
        assert!(!mounts.join("/media/usb/t", "/dev/sdb") && !mounts.join("/media/usb2/t", "/dev/sda"));
    }

    #[test]
    fn a_disk_and_its_parts() {
        for (one, other) in [
            ("/dev/sda", "/dev/sda"),
            ("/dev/sda1", "/dev/sda"),
            ("/dev/mmcblk0", "/dev/mmcblk0p2"),
            ("/dev/nvme0", "/dev/nvme0n1p1"),
        ] {
            assert!(is_of_disk(one, other) && is_of_disk(other, one), "{one} {other}");
        }
        for (one, other) in [("/dev/sda", "/dev/sdb1"), ("/dev/sda", "/dev/sdaa"), ("/dev/nvme1", "/dev/nvme10n1")] {
            assert!(!is_of_disk(one, other) && !is_of_disk(other, one), "{one} {other}");
        }
    }

    #[test]
    fn hosts_of_prompts() {
        let of = |line: &str| PROMPT.captures(line).map(|found| found[1].to_owned());
        for line in [
            "root@node1:~# dd if=a of=b",
            "[root@node1 dir]#dd if=a of=b",
            "me@node1 ~ % dd if=a of=b",
            "pi@node1:~ $ dd if=a of=b",
            "  u@node1:/mnt/x$ ls",
        ] {
            assert_eq!(of(line).as_deref(), Some("node1"), "{line}");
        }
        for line in ["root@node1:~# ", "a@b.org wrote: it costs $5", "$ ssh root@node1 dd", "a@b"] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
