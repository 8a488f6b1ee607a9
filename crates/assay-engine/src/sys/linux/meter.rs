//! What another program moves, as the kernel counts it: `read_bytes` and `write_bytes` of `/proc/PID/io`
//! (Documentation/filesystems/proc.rst), which it hands to the block layer.

/// The counts of one process.
#[derive(Debug)]
pub(crate) struct Meter {
    file: String,
}

impl Meter {
    pub(crate) fn of(process: u32) -> Self {
        Self { file: format!("/proc/{process}/io") }
    }

    /// Bytes handed to the block layer so far, read and written; `None` once the process is gone.
    pub(crate) fn read(&self) -> Option<u64> {
        sum(&std::fs::read_to_string(&self.file).ok()?)
    }
}

fn sum(text: &str) -> Option<u64> {
    let value = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.trim().parse().ok())
    };
    Some(value("read_bytes")?.saturating_add(value("write_bytes")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_to_the_block_layer_is_counted_and_nothing_else() {
        assert_eq!(
            sum("rchar: 7\nwchar: 9\nread_bytes: 1000\nwrite_bytes: 4096\ncancelled_write_bytes: 3\n"),
            Some(5096)
        );
        assert_eq!(sum("rchar: 7\n"), None);
        assert_eq!(Meter::of(u32::MAX).read(), None);
        assert!(Meter::of(std::process::id()).read().is_some());
    }
}
