//! The tools whose measurements suites repeat.

use serde::Deserialize;

use crate::distribution::Distribution;
use crate::suite::{Analysis, SuiteWorkload};
use crate::units::{Bytes, KIB, MIB};
use crate::workload::{Op, Pattern, Sync};

/// A tool that can run a workload in place of assay: `original = "hdparm"` in a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Original {
    /// fio, with equal options.
    Fio,
    /// hdparm `-t`, with `--direct` where the workload is direct.
    Hdparm,
    /// GNU dd: writes zeros with `conv=fsync`, or reads the test file.
    Dd,
    /// iozone `-e`, with `-I` where the workload is direct.
    Iozone,
    /// ioping `-R`, with `-D` where the workload is direct.
    Ioping,
    /// f3write and f3read: files of 1 GiB through the page cache, which is emptied behind them.
    F3,
    /// bonnie++ `-f -n 0`, with `-D` where the workload is direct.
    #[serde(rename = "bonnie++")]
    Bonnie,
    /// sysbench cpu and memory, for programs.
    Sysbench,
    /// PostMark, for programs.
    Postmark,
}

/// hdparm reads such blocks (`TIMING_BUF_MB` in its source, hdparm.c).
const HDPARM_BLOCK: Bytes = Bytes(2 * MIB);
/// Records of iozone (`MINBUFFER` and `MAXBUFFERSIZE` in its source, iozone.c); direct ones are no smaller than a page.
const IOZONE_RECORDS: std::ops::RangeInclusive<u64> = 4 * KIB..=16 * MIB;

/// f3 passes such blocks to the kernel (by strace(1) of f3 8.0).
const F3_BLOCK: Bytes = Bytes(2 * MIB);
/// Chunks of bonnie++ (its manual, at `-s`: powers of two from 256 bytes to 1 MiB); direct ones are no smaller than a page.
const BONNIE_CHUNKS: std::ops::RangeInclusive<u64> = 4 * KIB..=MIB;

impl Original {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fio,
        Self::Hdparm,
        Self::Dd,
        Self::Iozone,
        Self::Ioping,
        Self::F3,
        Self::Bonnie,
        Self::Sysbench,
        Self::Postmark,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "dd",
            Self::Iozone => "iozone",
            Self::Ioping => "ioping",
            Self::F3 => "f3",
            Self::Bonnie => "bonnie++",
            Self::Sysbench => "sysbench",
            Self::Postmark => "postmark",
        }
    }

    /// The Debian package that brings it, with the part of the archive where that is not main.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "coreutils",
            Self::Iozone => "iozone3, of non-free",
            Self::Ioping | Self::F3 | Self::Bonnie | Self::Sysbench | Self::Postmark => self.name(),
        }
    }

    /// Why it cannot run this workload; `None` where it can.
    #[must_use]
    pub fn refuses(self, w: &SuiteWorkload) -> Option<String> {
        if w.rate.is_some() || w.think.is_some() || w.group.is_some() || w.analysis == Analysis::Soak {
            let name = self.name();
            return Some(format!("original = \"{name}\" is for workloads without rate, think, group and soak"));
        }
        if self == Self::Fio {
            return None;
        }
        let plain = w.queue_depth == 1
            && w.jobs == 1
            && w.blocks.is_empty()
            && w.sync == Sync::End
            && w.op != Op::Mixed
            && w.distribution == Distribution::Uniform;
        if !plain {
            let what = "does one operation at a time, reads or writes, of one size, without sync and distribution";
            return Some(format!("{} {what}", self.name()));
        }
        let sequential = w.pattern == Pattern::Sequential;
        let (can, what) = match self {
            Self::Fio => (true, String::new()),
            Self::Hdparm => (
                w.op == Op::Read && sequential && w.block == HDPARM_BLOCK,
                format!("reads blocks of {HDPARM_BLOCK} one after the other"),
            ),
            Self::Dd => (sequential, "moves one block after the other".to_owned()),
            Self::Iozone => {
                let (least, most) = (Bytes(*IOZONE_RECORDS.start()), Bytes(*IOZONE_RECORDS.end()));
                (
                    IOZONE_RECORDS.contains(&w.block.0) && w.block.0.is_multiple_of(KIB),
                    format!("has records of whole KiB, {least} to {most}"),
                )
            }
            Self::Ioping => (w.op == Op::Read, "is run for reads only".to_owned()),
            Self::F3 => (
                sequential && w.block == F3_BLOCK && !w.direct,
                format!("moves blocks of {F3_BLOCK} one after the other through the page cache: direct = false"),
            ),
            Self::Bonnie => {
                let (least, most) = (Bytes(*BONNIE_CHUNKS.start()), Bytes(*BONNIE_CHUNKS.end()));
                let fits = BONNIE_CHUNKS.contains(&w.block.0) && w.block.0.is_power_of_two();
                let what = format!("moves blocks of powers of two, {least} to {most}, one after the other");
                (sequential && fits, what)
            }
            Self::Sysbench | Self::Postmark => (false, "is the original of programs, not of workloads".to_owned()),
        };
        (!can).then(|| format!("{} {what}", self.name()))
    }
}

#[cfg(test)]
mod tests {
    use crate::suite::Suite;

    /// What a suite with this workload comes to.
    fn refused(workload: &str) -> Option<String> {
        let head = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\n\
                    span = \"64MiB\"\n[[workload]]\nname = \"w\"\n";
        Suite::parse(&format!("{head}{workload}"), "f").err().map(|error| error.message)
    }

    #[test]
    fn an_original_of_a_program_runs_what_it_can() {
        let own = "op = \"read\"\npattern = \"random\"\nblock = \"4k\"\n";
        for (does, tool, words) in [
            ("primes = { below = 20000, threads = 8 }", "sysbench", None),
            ("memory = { op = \"write\", block = \"1MiB\", total = \"2GiB\" }", "sysbench", None),
            ("memory = { op = \"write\", block = \"96KiB\", total = \"2GiB\" }", "sysbench", Some("powers of two")),
            ("stream = { block = \"8KiB\", count = 50000 }", "dd", None),
            ("stream = { block = \"8KiB\", count = 50000 }", "sysbench", Some("primes and memory")),
            ("postmark = { transactions = 9, files = 5, smallest = \"512B\", largest = \"9KiB\" }", "postmark", None),
            ("linpack = { size = 100 }", "postmark", Some("original of postmark")),
            ("linpack = { size = 100 }", "hdparm", Some("original of no program")),
        ] {
            let program = format!("{own}[[program]]\nname = \"p\"\noriginal = \"{tool}\"\ndoes.{does}\n");
            let refused = refused(&program);
            assert_eq!(refused.is_some(), words.is_some(), "{does}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(words.unwrap_or_default()), "{does}");
        }
    }

    #[test]
    fn an_original_runs_what_it_can_and_nothing_else() {
        let read = "op = \"read\"\npattern = \"sequential\"\n";
        let random = "op = \"read\"\npattern = \"random\"\n";
        for (workload, words) in [
            (format!("{read}block = \"2MiB\"\noriginal = \"hdparm\""), None),
            (format!("{read}block = \"1MiB\"\noriginal = \"hdparm\""), Some("blocks of 2 MiB")),
            (format!("{random}block = \"2MiB\"\noriginal = \"hdparm\""), Some("one after the other")),
            (format!("{read}block = \"4k\"\noriginal = \"dd\""), None),
            (format!("{random}block = \"4k\"\noriginal = \"dd\""), Some("dd moves one block")),
            (format!("{random}block = \"4k\"\noriginal = \"iozone\""), None),
            (format!("{random}block = \"32MiB\"\noriginal = \"iozone\""), Some("4 KiB to 16 MiB")),
            (
                format!("{random}block = \"4k\"\nqueue_depth = 2\noriginal = \"iozone\""),
                Some("one operation at a time"),
            ),
            (format!("{random}block = \"4k\"\nqueue_depth = 64\njobs = 4\noriginal = \"fio\""), None),
            (format!("{random}block = \"4k\"\nrate = \"5 iops\"\noriginal = \"fio\""), Some("without rate")),
            (format!("{random}block = \"4k\"\noriginal = \"ioping\""), None),
            (format!("{random}block = \"4k\"\noriginal = \"Dd\""), Some("Dd")),
            (format!("{read}block = \"2MiB\"\ndirect = false\noriginal = \"f3\""), None),
            (format!("{read}block = \"2MiB\"\noriginal = \"f3\""), Some("direct = false")),
            (format!("{read}block = \"1MiB\"\ndirect = false\noriginal = \"f3\""), Some("blocks of 2 MiB")),
            (format!("{read}block = \"64k\"\noriginal = \"bonnie++\""), None),
            (format!("{read}block = \"96k\"\noriginal = \"bonnie++\""), Some("powers of two")),
            (format!("{random}block = \"64k\"\noriginal = \"bonnie++\""), Some("one after the other")),
            (format!("{random}block = \"4k\"\noriginal = \"sysbench\""), Some("of programs")),
        ] {
            let refused = refused(&workload);
            assert_eq!(refused.is_some(), words.is_some(), "{workload}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(words.unwrap_or_default()), "{workload}");
        }
    }
}
