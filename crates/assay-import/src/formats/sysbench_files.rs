//! What a command of sysbench asks of its test of files. Copies often lack the lines that repeat it.
//!
//! Options and what is taken without them: `fileio_args` of `sb_fileio.c` of akopytov/sysbench (GPL); all versions have the
//! same.

use assay_core::workload::{Op, Pattern, Sync};

use crate::command::{option_size, option_value};

/// The load, as far as the command tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileOptions {
    pub(super) threads: Option<u32>,
    pub(super) block_bytes: Option<u64>,
    pub(super) span_bytes: Option<u64>,
    pub(super) depth: Option<u32>,
    pub(super) direct: Option<bool>,
    pub(super) sync: Option<Sync>,
}

impl FileOptions {
    /// The options of a call that tests files; `None` of another.
    pub(super) fn from_words(words: &[String]) -> Option<Self> {
        let value = |key: &str| option_value(words, key);
        let files = words.iter().any(|word| word == "fileio") || value("--test") == Some("fileio");
        if !files || value("--file-test-mode").is_none() {
            return None;
        }
        let size = |key: &str, usual: u64| value(key).map_or(Some(usual), |size| option_size(size, 1));
        let flags = Some(value("--file-extra-flags").unwrap_or_default()).filter(|flags| !flags.contains('$'));
        let has = |flags: &str, name: &str| flags.split(',').any(|flag| flag == name);
        let on = |key: &str| words.iter().any(|word| word == key) || value(key) == Some("on");
        let sync = match flags {
            _ if on("--file-fsync-all") => Some(Sync::Fsync),
            Some(flags) if has(flags, "sync") => Some(Sync::Fsync),
            Some(flags) if has(flags, "dsync") => Some(Sync::Fdatasync),
            Some(_) if value("--file-fsync-end").is_none() => Some(Sync::End),
            _ => None,
        };
        let threads =
            value("--threads").or_else(|| value("--num-threads")).map_or(Some(1), |threads| threads.parse().ok());
        Some(Self {
            threads,
            block_bytes: size("--file-block-size", 16 << 10),
            span_bytes: size("--file-total-size", 2 << 30),
            depth: matches!(value("--file-io-mode"), None | Some("sync")).then_some(1),
            direct: flags.map(|flags| has(flags, "direct")),
            sync,
        })
    }
}

/// What a test of files does, by its name.
pub(super) fn mode(name: &str) -> Option<(Op, Option<Pattern>)> {
    let (op, pattern) = match name {
        "seqrd" => (Op::Read, Pattern::Sequential),
        "seqwr" | "seqrewr" => (Op::Write, Pattern::Sequential),
        "rndrd" => (Op::Read, Pattern::Random),
        "rndwr" => (Op::Write, Pattern::Random),
        "rndrw" => (Op::Mixed, Pattern::Random),
        _ => return None,
    };
    Some((op, Some(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<FileOptions> {
        FileOptions::from_words(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_a_command_asks_for() {
        let usual = of("fileio --file-test-mode=rndrd run").unwrap();
        assert_eq!((usual.block_bytes, usual.span_bytes, usual.depth), (Some(16 << 10), Some(2 << 30), Some(1)));
        assert_eq!(usual.threads, Some(1));
        assert_eq!((usual.direct, usual.sync), (Some(false), Some(Sync::End)));
        let other = "--test=fileio --file-test-mode=rndwr --file-block-size=4K --file-total-size=8G --file-io-mode=async \
                     --file-extra-flags=direct,dsync run";
        let other = of(other).unwrap();
        assert_eq!((other.block_bytes, other.span_bytes, other.depth), (Some(4 << 10), Some(8 << 30), None));
        assert_eq!((other.direct, other.sync), (Some(true), Some(Sync::Fdatasync)));
        let all = of(
            "fileio --file-test-mode=seqwr --file-fsync-all --threads=$(t) --file-block-size=$(bs) --file-extra-flags=$(f) run",
        );
        let all = all.unwrap();
        assert_eq!(all.threads, None);
        assert_eq!((all.block_bytes, all.direct, all.sync), (None, None, Some(Sync::Fsync)));
        assert_eq!(of("cpu run"), None);
        assert_eq!(of("fileio --file-total-size=8G prepare"), None);
    }
}
