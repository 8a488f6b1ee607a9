//! The kernel log: the kernel's ring buffer if it may be read, otherwise the file of a logger.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use assay_core::text::label;

use crate::block::{Node, Stack};
use crate::files::Sysroot;
use crate::system;

/// Files that syslog daemons and boot scripts write.
const FILES: [&str; 4] = ["/var/log/kern.log", "/var/log/dmesg", "/var/log/messages", "/var/log/syslog"];

/// Bytes that are read from the end of a log file.
const TAIL: u64 = 4 << 20;

/// More records than any ring buffer holds (the largest, CONFIG_LOG_BUF_SHIFT = 25, has less than 2^20).
const MOST_RECORDS: usize = 1 << 20;

/// The last line that `wanted` accepts.
pub(crate) fn last_line(sysroot: &Sysroot, wanted: impl Fn(&str) -> bool) -> Option<String> {
    if sysroot.is_real()
        && let Some(line) = in_ring(&wanted)
    {
        return Some(line);
    }
    FILES.iter().find_map(|file| in_file(&sysroot.path(file), &wanted))
}

/// Each read of `/dev/kmsg` returns one record: `priority,sequence,time,flags;text`, then lines that begin with a space
/// (kernel Documentation/ABI/testing/dev-kmsg). EPIPE means that records were overwritten meanwhile, EAGAIN that there
/// are no more.
#[derive(Debug)]
pub(crate) struct Ring {
    file: File,
    record: Vec<u8>,
}

impl Ring {
    fn open() -> Option<Self> {
        Some(Self { file: system::kernel_log()?, record: vec![0u8; 8192] })
    }

    /// The ring, from its current end on.
    pub(crate) fn at_the_end() -> Option<Self> {
        let mut ring = Self::open()?;
        ring.file.seek(SeekFrom::End(0)).ok()?;
        Some(ring)
    }

    /// Passes each unread record to `on_record`.
    pub(crate) fn each(&mut self, mut on_record: impl FnMut(&[u8])) {
        for _ in 0..MOST_RECORDS {
            match self.file.read(&mut self.record) {
                Ok(0) => break,
                Ok(length) => on_record(self.record.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::BrokenPipe || error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }
}

/// The first line of a record's text.
pub(crate) fn first_line(record: &[u8]) -> String {
    let record = String::from_utf8_lossy(record);
    record.split_once(';').and_then(|(_, text)| text.lines().next()).unwrap_or_default().to_owned()
}

fn in_ring(wanted: &impl Fn(&str) -> bool) -> Option<String> {
    let mut found = None;
    Ring::open()?.each(|record| {
        let line = first_line(record);
        if wanted(&line) {
            found = Some(line);
        }
    });
    found
}

fn in_file(path: &Path, wanted: &impl Fn(&str) -> bool) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut content = Vec::new();
    file.take(TAIL).read_to_end(&mut content).ok()?;
    let text = String::from_utf8_lossy(&content);
    text.lines().rfind(|line| wanted(line)).map(str::to_owned)
}

// Errors of the devices under test in the kernel log.

/// Words that the kernel uses for trouble with a device.
const TROUBLE: [&str; 14] = [
    "error",
    "fail",
    "timeout",
    "timed out",
    "timing out",
    "reset",
    "disconnect",
    "removed",
    "abort",
    "offline",
    "read-only",
    "exception",
    "corrupt",
    "not responding",
];
/// Lines with such words that are harmless: mounting, and replaying a journal.
const HARMLESS: [&str; 4] = ["mounted filesystem", "re-mounted", "recovery complete", "unmounting filesystem"];

/// Most characters of a reported line.
const LONGEST: usize = 160;

/// Lines of the kernel log about some devices, since it was opened.
#[derive(Debug)]
pub struct KernelLog {
    ring: Option<Ring>,
    names: Vec<String>,
}

impl KernelLog {
    /// Begins at the end of the log. `devices` are kernel names of disks, partitions and devices stacked on them. If
    /// the log may not be read (`kernel.dmesg_restrict`), nothing is found.
    #[must_use]
    pub fn follow(sysroot: &Sysroot, devices: &[String]) -> Self {
        let ring = if sysroot.is_real() { Ring::at_the_end() } else { None };
        Self { ring, names: names(sysroot, devices) }
    }

    /// Lines about trouble since the last call, harmless and at most 160 characters each.
    pub fn trouble(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(mut ring) = self.ring.take() {
            ring.each(|record| found.extend(self.trouble_in(record)));
            self.ring = Some(ring);
        }
        found
    }

    /// The line about trouble with the devices, if any, in a record from one read of `/dev/kmsg`.
    #[must_use]
    pub fn trouble_in(&self, record: &[u8]) -> Option<String> {
        let line = first_line(record);
        if is_trouble(&line, &self.names) { label(&line, LONGEST) } else { None }
    }
}

/// Names that the kernel log uses for the devices: their own, and those of the card slot, the NVMe controller, the SCSI
/// address, the ATA and the USB port on the way to them.
fn names(sysroot: &Sysroot, devices: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for node in devices.iter().filter_map(|name| Node::by_name(sysroot, name)) {
        let stack = Stack::below(sysroot, &node);
        names.extend(stack.nodes.into_iter().map(|seen| seen.name));
        for leaf in stack.leaves {
            names.extend(leaf.dir.iter().filter_map(|part| name_of(part.to_str()?)));
            names.push(leaf.name);
        }
    }
    names.sort();
    names.dedup();
    names
}

/// The name in the log of a directory on the way to a disk.
fn name_of(part: &str) -> Option<String> {
    let numbered = |prefix: &str| part.strip_prefix(prefix).is_some_and(is_number);
    if numbered("mmc") || numbered("nvme") || numbered("ata") {
        return Some(part.to_owned());
    }
    if part.split(':').count() == 4 && part.split(':').all(is_number) {
        return Some(part.to_owned());
    }
    // `1-1.4` is a port, `1-1.4:1.0` a function of the device at that port.
    let (bus, port) = part.split_once('-')?;
    (is_number(bus) && port.split('.').all(is_number)).then(|| format!("usb {part}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a line reports trouble with one of the names.
fn is_trouble(line: &str, names: &[String]) -> bool {
    let lower = line.to_lowercase();
    TROUBLE.iter().any(|word| lower.contains(word))
        && !HARMLESS.iter().any(|word| lower.contains(word))
        && names.iter().any(|name| speaks_of(line, name))
}

/// Whether the name is in the line by itself, or as part of a partition or namespace name.
fn speaks_of(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let rest = line.get(at + name.len()..).unwrap_or_default();
        let rest = if name.ends_with(|c: char| c.is_ascii_digit()) {
            let part = |text: &str, letter: char| -> Option<usize> {
                let digits = text.strip_prefix(letter)?.bytes().take_while(u8::is_ascii_digit).count();
                (digits > 0).then_some(1 + digits)
            };
            let rest = part(rest, 'n').map_or(rest, |length| rest.get(length..).unwrap_or_default());
            part(rest, 'p').map_or(rest, |length| rest.get(length..).unwrap_or_default())
        } else {
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        };
        let mut after = rest.chars();
        let next = after.next();
        // `1-1.4` is another port than `1-1`; `ata1.00` is the drive at `ata1`.
        let is_deeper = name.starts_with("usb ")
            && matches!(next, Some('.' | '-'))
            && after.next().is_some_and(|c| c.is_ascii_digit());
        !before.is_some_and(|c| c.is_alphanumeric() || "-_.:".contains(c))
            && !next.is_some_and(|c| c.is_alphanumeric() || c == '_')
            && !is_deeper
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_read_to_its_end_without_waiting() {
        if let Err(error) = File::open("/dev/kmsg") {
            eprintln!("SKIP: /dev/kmsg cannot be read ({error})");
            return;
        }
        assert_eq!(in_ring(&|_| false), None);
        if let Some(last) = in_ring(&|_| true) {
            assert!(!last.contains('\n'));
        }
    }

    #[test]
    fn the_last_matching_line_of_a_log_file_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "mmc0: one\nmmc0: two\nother\nÿ\n").unwrap();
        assert_eq!(in_file(file.path(), &|line| line.contains("mmc0")).as_deref(), Some("mmc0: two"));
    }
}

#[cfg(test)]
mod log_tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_the_kernel_says_of_failing_media_is_recognised() {
        // As the kernel words them: block/blk-core.c, fs/buffer.c, fs/ext4/super.c, drivers/mmc,
        // drivers/nvme/host/pci.c, drivers/usb/core/hub.c, drivers/scsi, drivers/ata.
        let about = names(&["sda", "sda1", "mmcblk0", "mmc0", "nvme0", "nvme0n1", "usb 1-1.2", "6:0:0:0", "ata1"]);
        for line in [
            "blk_update_request: I/O error, dev sda, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
            "I/O error, dev mmcblk0, sector 81920 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
            "critical medium error, dev sda, sector 1234 op 0x0:(READ) flags 0x0",
            "Buffer I/O error on dev sda1, logical block 0, lost sync page write",
            "lost page write due to I/O error on sda1",
            "EXT4-fs error (device mmcblk0p2): ext4_journal_check_start:83: comm rs: Detected aborted journal",
            "EXT4-fs (sda1): Remounting filesystem read-only",
            "mmc0: error -110 whilst initialising SD card",
            "mmc0: Timeout waiting for hardware interrupt.",
            "mmc0: card aaaa removed",
            "mmcblk0: error -110 sending status command, retrying",
            "nvme nvme0: I/O 12 QID 3 timeout, aborting",
            "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
            "nvme0n1: I/O Cmd(0x2) @ LBA 0, 8 blocks, I/O Error (sct 0x2 / sc 0x81)",
            "usb 1-1.2: reset high-speed USB device number 3 using xhci_hcd",
            "usb 1-1.2: USB disconnect, device number 3",
            "sd 6:0:0:0: [sdb] tag#0 FAILED Result: hostbyte=DID_ERROR driverbyte=DRIVER_OK cmd_age=0s",
            "ata1.00: failed command: READ FPDMA QUEUED",
            "ata1: hard resetting link",
        ] {
            assert!(is_trouble(line, &about), "{line}");
        }
    }

    #[test]
    fn what_is_said_of_others_or_is_no_trouble_is_left() {
        let about = names(&["sda", "sda1", "mmcblk0", "mmc0", "nvme0", "nvme0n1", "usb 1-1", "loop1"]);
        for line in [
            "I/O error, dev sdb, sector 2048",
            "I/O error, dev sdaa, sector 2048",
            "mmc10: error -110 whilst initialising SD card",
            "usb 1-1.2: USB disconnect, device number 3",
            "usb 11-1: USB disconnect, device number 3",
            "I/O error, dev loop12, sector 0",
            "EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
            "EXT4-fs (sda1): recovery complete",
            "mmc0: new ultra high speed DDR50 SDHC card at address aaaa",
            "sda: sda1 sda2",
            "",
        ] {
            assert!(!is_trouble(line, &about), "{line}");
        }
    }

    #[test]
    fn names_on_the_way_to_a_disk() {
        assert_eq!(name_of("mmc0").as_deref(), Some("mmc0"));
        assert_eq!(name_of("1-1.4").as_deref(), Some("usb 1-1.4"));
        assert_eq!(name_of("6:0:0:0").as_deref(), Some("6:0:0:0"));
        assert_eq!(name_of("ata2").as_deref(), Some("ata2"));
        for none in ["mmc_host", "mmc0:aaaa", "1-1.4:1.0", "pci0000:00", "0000:01:00.0", "usb1", "target6:0:0", "-"] {
            assert_eq!(name_of(none), None, "{none}");
        }
    }
}
