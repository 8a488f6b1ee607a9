//! Which workloads the tools can run that suites were taken from.

use super::workload::{Analysis, SuiteWorkload};
use crate::distribution::Distribution;
use crate::original::Original;
use crate::units::{Bytes, KIB, MIB};
use crate::workload::{Op, Pattern, Sync};

/// hdparm reads such blocks (`TIMING_BUF_MB` in its source, hdparm.c).
const HDPARM_BLOCK: Bytes = Bytes(2 * MIB);
/// Records of iozone (`MINBUFFER` and `MAXBUFFERSIZE` in its source, iozone.c); direct ones are no smaller than a page.
const IOZONE_RECORDS: std::ops::RangeInclusive<u64> = 4 * KIB..=16 * MIB;

/// f3 passes such blocks to the kernel (by strace(1) of f3 8.0).
const F3_BLOCK: Bytes = Bytes(2 * MIB);
/// Chunks of bonnie++ (its manual, at `-s`: powers of two from 256 bytes to 1 MiB); direct ones are no smaller than a page.
const BONNIE_CHUNKS: std::ops::RangeInclusive<u64> = 4 * KIB..=MIB;

/// Why an original cannot run a workload; `None` where it can.
pub(super) fn refuses(original: Original, w: &SuiteWorkload) -> Option<String> {
    if w.rate.is_some() || w.think.is_some() || w.group.is_some() || w.analysis == Analysis::Soak {
        let name = original.name();
        return Some(format!("original = \"{name}\" is for workloads without rate, think, group and soak"));
    }
    if original == Original::Fio {
        return None;
    }
    let plain = w.queue_depth == 1
        && w.jobs == 1
        && w.blocks.is_empty()
        && w.sync == Sync::End
        && w.op != Op::Mixed
        && w.refined.is_empty()
        && w.priorities.is_empty()
        && w.distribution == Distribution::Uniform;
    if !plain {
        let what = "does one operation at a time, reads or writes, of one size, without sync and distribution";
        return Some(format!("{} {what}", original.name()));
    }
    let sequential = w.pattern == Pattern::Sequential;
    let (can, what) = match original {
        Original::Fio => (true, String::new()),
        Original::Hdparm => (
            w.op == Op::Read && sequential && w.block == HDPARM_BLOCK,
            format!("reads blocks of {HDPARM_BLOCK} one after the other"),
        ),
        Original::Dd => (sequential, "moves one block after the other".to_owned()),
        Original::Iozone => {
            let (least, most) = (Bytes(*IOZONE_RECORDS.start()), Bytes(*IOZONE_RECORDS.end()));
            (
                IOZONE_RECORDS.contains(&w.block.0) && w.block.0.is_multiple_of(KIB),
                format!("has records of whole KiB, {least} to {most}"),
            )
        }
        Original::Ioping => (w.op == Op::Read, "is run for reads only".to_owned()),
        Original::F3 => (
            sequential && w.block == F3_BLOCK && !w.direct,
            format!("moves blocks of {F3_BLOCK} one after the other through the page cache: direct = false"),
        ),
        Original::Bonnie => {
            let (least, most) = (Bytes(*BONNIE_CHUNKS.start()), Bytes(*BONNIE_CHUNKS.end()));
            let fits = BONNIE_CHUNKS.contains(&w.block.0) && w.block.0.is_power_of_two();
            let what = format!("moves blocks of powers of two, {least} to {most}, one after the other");
            (sequential && fits, what)
        }
        Original::Sysbench | Original::Postmark => (false, "is the original of programs, not of workloads".to_owned()),
    };
    (!can).then(|| format!("{} {what}", original.name()))
}

#[cfg(test)]
mod tests {
    use super::super::Suite;

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
