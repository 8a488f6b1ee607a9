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
}

/// hdparm reads such blocks (`TIMING_BUF_MB` in its source, hdparm.c).
const HDPARM_BLOCK: Bytes = Bytes(2 * MIB);
/// Records of iozone (`MINBUFFER` and `MAXBUFFERSIZE` in its source, iozone.c); direct ones are no smaller than a page.
const IOZONE_RECORDS: std::ops::RangeInclusive<u64> = 4 * KIB..=16 * MIB;

impl Original {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Fio, Self::Hdparm, Self::Dd, Self::Iozone, Self::Ioping];

    /// Its name, which is that of its program.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Hdparm => "hdparm",
            Self::Dd => "dd",
            Self::Iozone => "iozone",
            Self::Ioping => "ioping",
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
            Self::Ioping => "ioping",
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
        ] {
            let refused = refused(&workload);
            assert_eq!(refused.is_some(), words.is_some(), "{workload}: {refused:?}");
            assert!(refused.unwrap_or_default().contains(words.unwrap_or_default()), "{workload}");
        }
    }
}
