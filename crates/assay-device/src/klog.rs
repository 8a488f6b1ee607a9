//! The kernel log: the kernel's ring buffer if it may be read, otherwise the file of a logger.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

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
