//! What a tool works on, and how much of it.

use std::path::PathBuf;
use std::time::Duration;

use assay_core::original::Original;
use assay_core::workload::Workload;

/// Fewer blocks than this are no measurement.
const LEAST_BLOCKS: u64 = 16;

/// What a tool works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    /// The directory in which it may make a file called [`crate::FILE`]; `None` on a raw device, which is only read.
    pub directory: Option<PathBuf>,
    /// The name in there of a directory for tools that name their files themselves.
    pub files: &'static str,
    /// The test file as a path from there, or the device.
    pub data: String,
    /// The block device under the test file.
    pub device: Option<String>,
    /// How long it may take, as far as that can be foretold.
    pub time: Duration,
    /// How long one operation takes, as far as that is known.
    pub operation: Option<Duration>,
    /// Most bytes it may write.
    pub write_bytes: u64,
    /// Most bytes that a file of its own may have.
    pub room_bytes: u64,
}

/// Whether a tool names its files itself, and so has to have a directory for them.
#[must_use]
pub fn needs_directory(tool: Original) -> bool {
    matches!(tool, Original::F3 | Original::Bonnie | Original::Postmark)
}

impl Subject {
    /// Where a tool is run.
    pub(crate) fn place(&self, tool: Original) -> Option<PathBuf> {
        let directory = self.directory.as_ref()?;
        Some(if needs_directory(tool) { directory.join(self.files) } else { directory.clone() })
    }

    /// The bytes of a tool that makes several passes over its file and writes all of it in some of them: those of the
    /// workload, or as many as there is time and room for.
    ///
    /// # Errors
    /// Where too few are left.
    pub(crate) fn bytes(&self, w: &Workload, passes: u64, writes: u64) -> Result<u64, String> {
        let block = w.block_bytes.max(1);
        let least = w.span_bytes.min(LEAST_BLOCKS * block) / block * block;
        // What is foretold after a few operations may be far off: that alone is no reason to leave a tool out.
        let in_time = self.operation.filter(|one| !one.is_zero()).map_or(u64::MAX, |one| {
            let operations = (self.time.as_secs_f64() / one.as_secs_f64()) as u64;
            (operations.saturating_mul(block) / passes.max(1)).max(least)
        });
        let may_write = self.write_bytes.checked_div(writes).unwrap_or(u64::MAX);
        let room = if writes > 0 { self.room_bytes } else { u64::MAX };
        let bytes = w.span_bytes.min(in_time).min(may_write).min(room) / block * block;
        if bytes == 0 || bytes < least {
            let limit = if room < may_write { "the free space" } else { "the write budget" };
            return Err(format!("{limit} is too small for it"));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use assay_core::units::MIB;
    use assay_core::workload::{Op, Pattern};

    use super::*;

    pub(crate) fn subject() -> Subject {
        Subject {
            directory: Some("/proc/1/fd/9".into()),
            files: "files",
            data: "data".to_owned(),
            device: Some("/dev/sdb1".to_owned()),
            time: Duration::from_secs(8),
            operation: None,
            write_bytes: u64::MAX,
            room_bytes: u64::MAX,
        }
    }

    #[test]
    fn time_and_room_limit_the_bytes() {
        let w = Workload { span_bytes: 80 * MIB, ..Workload::new("w", Op::Write, Pattern::Sequential, MIB) };
        assert_eq!(subject().bytes(&w, 2, 2), Ok(80 * MIB), "nothing is known of time");
        let slow = Subject { operation: Some(Duration::from_millis(100)), ..subject() };
        assert_eq!(slow.bytes(&w, 2, 2), Ok(40 * MIB), "80 blocks in 8 s, twice over");
        let limited = Subject { write_bytes: 50 * MIB + 1, ..slow };
        assert_eq!(limited.bytes(&w, 2, 2), Ok(25 * MIB));
        assert_eq!(limited.bytes(&w, 1, 0), Ok(80 * MIB), "a read writes nothing");
        let crawling = Subject { operation: Some(Duration::from_secs(1)), ..subject() };
        assert_eq!(crawling.bytes(&w, 1, 1), Ok(16 * MIB), "the least that is a measurement");
        let full = Subject { write_bytes: 3 * MIB, ..subject() };
        assert_eq!(full.bytes(&w, 1, 1), Err("the write budget is too small for it".to_owned()));
        let tight = Subject { room_bytes: 9 * MIB, ..subject() };
        assert_eq!(tight.bytes(&w, 1, 1), Err("the free space is too small for it".to_owned()));
        assert_eq!(tight.bytes(&w, 1, 0), Ok(80 * MIB), "a read needs no room");
        let small = Workload { span_bytes: 4 * MIB, ..w };
        assert_eq!(subject().bytes(&small, 1, 1), Ok(4 * MIB), "less than sixteen blocks were asked for");
    }
}
