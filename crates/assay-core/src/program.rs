//! Programs of a suite: work beyond input and output, as of a processor, of memory, or of
//! many files. They have figures of their own.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::original::OriginalRun;
use crate::finding::Size;
use crate::original::Original;
use crate::text::quoted;
use crate::units::{Bytes, grouped, parse_duration};
use crate::workload::Direction;

/// The longest that a repeat of a program takes where its suite does not say.
const USUAL_DURATION: Duration = Duration::from_secs(10);
/// The longest that a suite may give it.
const LONGEST_DURATION: Duration = Duration::from_secs(24 * 3600);

/// A program as a suite asks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteProgram {
    /// Name within the suite.
    pub name: String,
    /// What it does.
    pub does: Program,
    /// The longest that a repeat takes, with what it sets up.
    pub duration: Duration,
    /// The tool that it was taken from.
    pub original: Option<Original>,
}

/// What a program does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Program {
    /// Events of the processor test of sysbench: each number below a limit is divided by smaller ones until one
    /// divides it.
    Primes {
        /// The limit.
        below: u32,
        /// Threads.
        threads: u32,
    },
    /// The memory test of sysbench: a block is read or written word by word, over and over.
    Memory {
        /// Direction.
        op: Direction,
        /// Size of the block.
        block: Bytes,
        /// Bytes to move.
        total: Bytes,
    },
    /// LINPACK: a dense system of linear equations in single precision.
    Linpack {
        /// Equations.
        size: u32,
    },
    /// `dd if=/dev/zero conv=fsync`: zeros are written through the page cache, with a sync at the end.
    Stream {
        /// Size of one write.
        block: Bytes,
        /// Writes.
        count: u32,
    },
    /// PostMark: small files are made, read, appended to and removed.
    Postmark {
        /// Transactions: each makes or removes a file, and reads another one or appends to it.
        transactions: u32,
        /// Files at the beginning.
        files: u32,
        /// Size of the smallest file.
        smallest: Bytes,
        /// Size of the largest file.
        largest: Bytes,
    },
    /// Copies of a source tree are read from the medium and compressed as one tar archive by gzip.
    Compress {
        /// Copies.
        copies: u32,
    },
    /// A .tar.xz archive of a source tree is read from the medium and unpacked there.
    Unpack {},
    /// Rows are inserted into an SQLite database, each in a transaction of its own.
    Inserts {
        /// Rows.
        rows: u32,
    },
}

impl Program {
    /// Whether it writes to the medium.
    #[must_use]
    pub fn writes(&self) -> bool {
        !matches!(self, Self::Primes { .. } | Self::Memory { .. } | Self::Linpack { .. })
    }

    /// How large it is, where it may run smaller than the suite has it.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        match *self {
            Self::Stream { block, count } => Some(Size::Stream { block_bytes: block.0, writes: count }),
            Self::Postmark { transactions, files, .. } => Some(Size::Files { files, transactions }),
            Self::Inserts { rows } => Some(Size::Rows { rows }),
            Self::Primes { .. }
            | Self::Memory { .. }
            | Self::Linpack { .. }
            | Self::Compress { .. }
            | Self::Unpack {} => None,
        }
    }

    /// Whether it works on a source tree.
    #[must_use]
    pub fn needs_tree(&self) -> bool {
        matches!(self, Self::Compress { .. } | Self::Unpack { .. })
    }

    /// Why a tool is not its original; `None` where it is.
    fn refused_by(&self, tool: Original) -> Option<String> {
        let (can, what) = match (tool, self) {
            (Original::Sysbench, Self::Memory { block, .. }) => {
                (block.0.is_power_of_two(), "has blocks of powers of two")
            }
            (Original::Sysbench, Self::Primes { .. })
            | (Original::Postmark, Self::Postmark { .. })
            | (Original::Dd, Self::Stream { .. }) => (true, ""),
            (Original::Sysbench, _) => (false, "is the original of primes and memory"),
            (Original::Postmark, _) => (false, "is the original of postmark"),
            (Original::Dd, _) => (false, "is the original of stream"),
            _ => (false, "is the original of no program"),
        };
        (!can).then(|| format!("{} {what}", tool.name()))
    }

    /// What is wrong with its numbers.
    fn fault(&self) -> Option<String> {
        let within = |name: &str, value: u64, least: u64, most: u64| {
            (!(least..=most).contains(&value)).then(|| format!("{name} = {value} must be {least} to {most}"))
        };
        match *self {
            Self::Primes { below, threads } => {
                within("below", below.into(), 4, 10_000_000).or(within("threads", threads.into(), 1, 256))
            }
            Self::Memory { block, total, .. } => {
                within("block", block.0, 1024, 1 << 30).or(within("total", total.0, block.0, 1 << 50))
            }
            Self::Linpack { size } => within("size", size.into(), 10, 2000),
            Self::Stream { block, count } => {
                within("block", block.0, 512, 64 << 20).or(within("count", count.into(), 1, 1 << 30))
            }
            Self::Postmark { transactions, files, smallest, largest } => {
                within("transactions", transactions.into(), 1, 100_000_000)
                    .or(within("files", files.into(), 1, 1_000_000))
                    .or(within("smallest", smallest.0, 1, 1 << 30))
                    .or(within("largest", largest.0, smallest.0, 1 << 30))
            }
            Self::Compress { copies } => within("copies", copies.into(), 1, 16),
            Self::Unpack {} => None,
            Self::Inserts { rows } => within("rows", rows.into(), 1, 100_000_000),
        }
    }

    /// As a suite file has it.
    fn to_text(&self) -> String {
        match self {
            Self::Primes { below, threads } => format!("primes = {{ below = {below}, threads = {threads} }}"),
            Self::Memory { op, block, total } => {
                format!("memory = {{ op = \"{op}\", block = \"{}B\", total = \"{}B\" }}", block.0, total.0)
            }
            Self::Linpack { size } => format!("linpack = {{ size = {size} }}"),
            Self::Stream { block, count } => format!("stream = {{ block = \"{}B\", count = {count} }}", block.0),
            Self::Postmark { transactions, files, smallest, largest } => format!(
                "postmark = {{ transactions = {transactions}, files = {files}, smallest = \"{}B\", largest = \"{}B\" }}",
                smallest.0, largest.0
            ),
            Self::Compress { copies } => format!("compress = {{ copies = {copies} }}"),
            Self::Unpack {} => "unpack = {}".to_owned(),
            Self::Inserts { rows } => format!("inserts = {{ rows = {rows} }}"),
        }
    }
}

impl fmt::Display for Program {
    /// In words: `primes to 20,000, 8 threads`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |n: u32, one: &str| if n == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(n.into())) };
        match self {
            Self::Primes { below, threads } => {
                write!(f, "processor, primes to {}, {}", grouped((*below).into()), of(*threads, "thread"))
            }
            Self::Memory { op, block, .. } => write!(f, "memory {op} {block}"),
            Self::Linpack { size } => write!(f, "LINPACK {size} × {size}, single precision"),
            Self::Stream { block, count } => {
                write!(f, "stream of zeros, {} × {block}, fsync", grouped((*count).into()))
            }
            Self::Postmark { transactions, files, smallest, largest } => write!(
                f,
                "PostMark, {}, {}, {smallest} to {largest}",
                of(*transactions, "transaction"),
                of(*files, "file")
            ),
            Self::Compress { copies } => {
                let copies = if *copies == 1 { "1 copy".to_owned() } else { format!("{copies} copies") };
                write!(f, "gzip of {copies} of a source tree")
            }
            Self::Unpack {} => write!(f, "unpacking a .tar.xz source tree"),
            Self::Inserts { rows } => write!(f, "SQLite, {}, a sync each", of(*rows, "insert")),
        }
    }
}

/// A program in a suite file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramFile {
    name: Spanned<String>,
    does: Spanned<Program>,
    duration: Option<Spanned<String>>,
    original: Option<Spanned<Original>>,
}

/// Why a program is refused, and where in the file.
pub(crate) type Fault = (usize, String);

impl ProgramFile {
    /// The program, checked.
    pub(crate) fn check(self, is_name: impl Fn(&str) -> bool) -> Result<SuiteProgram, Fault> {
        let name = self.name.get_ref().clone();
        if !is_name(&name) {
            let what = format!("name {} may hold only letters, digits, `-` and `_`", quoted(&name));
            return Err((self.name.span().start, what));
        }
        if let Some(fault) = self.does.get_ref().fault() {
            return Err((self.does.span().start, format!("program `{name}`: {fault}")));
        }
        let duration = match &self.duration {
            None => USUAL_DURATION,
            Some(text) => {
                let allowed = Duration::from_millis(100)..=LONGEST_DURATION;
                let read = parse_duration(text.get_ref()).ok().filter(|duration| allowed.contains(duration));
                read.ok_or_else(|| {
                    let what =
                        format!("program `{name}`: duration {} must be 100ms to 24h, like 10s", quoted(text.get_ref()));
                    (text.span().start, what)
                })?
            }
        };
        let (does, original) = (self.does.into_inner(), self.original);
        let refused = original.as_ref().and_then(|original| Some((original, does.refused_by(*original.get_ref())?)));
        if let Some((original, why)) = refused {
            return Err((original.span().start, format!("program `{name}`: {why}")));
        }
        Ok(SuiteProgram { name, does, duration, original: original.map(Spanned::into_inner) })
    }
}

impl SuiteProgram {
    /// As a suite file has it. The duration is kept to the millisecond.
    pub(crate) fn to_text(&self) -> String {
        let original = self.original.map(|original| format!("original = \"{}\"\n", original.name()));
        format!(
            "\n[[program]]\nname = {}\nduration = \"{}ms\"\n{}does.{}\n",
            crate::text::toml(&self.name),
            self.duration.as_millis(),
            original.unwrap_or_default(),
            self.does.to_text()
        )
    }
}

/// How a program ran from which a score was taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramRun {
    /// Name of the program in its suite.
    pub program: String,
    /// On what, where it needs a source tree: where that came from, its files and bytes.
    pub tree: Option<String>,
    /// The figure of each repeat.
    pub values: Vec<f64>,
    /// Time of each repeat without what was set up for it, in nanoseconds.
    pub elapsed_ns: Vec<u64>,
    /// Share of that time in which the block devices under the medium had work, by `io_ticks` of their `stat`; null
    /// where there is no block device.
    pub medium_busy_share: Option<f64>,
    /// Share of that time in which the threads of the program did not run: they waited for the medium or for others.
    pub waiting_share: Option<f64>,
    /// Bytes that crossed the block devices in that time; null where there is no block device.
    pub medium_bytes: Option<u64>,
    /// How the tool that the program was taken from was called in each repeat, and what it printed, where it ran in place
    /// of the program; times and shares are then those of the whole tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub originals: Vec<OriginalRun>,
}

impl ProgramRun {
    /// The most of its time that the program can have spent in the medium: while that had work, and it did not run.
    #[must_use]
    pub fn medium_share(&self) -> Option<f64> {
        match (self.medium_busy_share, self.waiting_share) {
            (Some(busy), Some(waiting)) => Some(busy.min(waiting)),
            (busy, waiting) => busy.or(waiting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    const HEAD: &str = "name = \"x\"\nversion = 1\npurpose = \"p\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\nspan = \"64MiB\"\n[[workload]]\nname = \"w\"\nop = \"read\"\npattern = \"random\"\nblock = \"4k\"\n";

    fn with(program: &str) -> Result<Suite, crate::suite::SuiteError> {
        Suite::parse(&format!("{HEAD}[[program]]\n{program}"), "my.toml")
    }

    #[test]
    fn all_programs_are_read_and_written_out() {
        for does in [
            "primes = { below = 20000, threads = 8 }",
            "memory = { op = \"write\", block = \"1MiB\", total = \"2GiB\" }",
            "linpack = { size = 100 }",
            "stream = { block = \"8KiB\", count = 50000 }",
            "postmark = { transactions = 25000, files = 500, smallest = \"5120B\", largest = \"524288B\" }",
            "compress = { copies = 2 }",
            "unpack = {}",
            "inserts = { rows = 7500 }",
            "stream = { block = \"8KiB\", count = 5 }\noriginal = \"dd\"",
        ] {
            let suite = with(&format!("name = \"p\"\nduration = \"5s\"\ndoes.{does}\n")).unwrap();
            assert_eq!(suite.programs.len(), 1);
            assert_eq!(Suite::parse(&suite.to_text(), "y").unwrap(), suite, "{does}");
            assert!(!suite.programs[0].does.to_string().is_empty());
        }
    }

    #[test]
    fn mistakes_of_a_program_name_its_line() {
        for (program, line, words) in [
            ("name = \"p\"\ndoes.primes = { below = 2, threads = 1 }\n", 15, "below = 2 must be 4"),
            ("name = \"p p\"\ndoes.unpack = {}\n", 14, "may hold only"),
            ("name = \"p\"\ndoes.unpack = {}\nduration = \"never\"\n", 16, "`never`"),
            ("name = \"p\"\ndoes.guess = {}\n", 15, "guess"),
            ("name = \"p\"\ndoes.inserts = { rows = 1, row = 2 }\n", 15, "row"),
            ("name = \"w\"\ndoes.unpack = {}\n", 13, "two workloads"),
        ] {
            let error = with(program).unwrap_err();
            assert!(error.message.contains(words), "{program:?}: {error}");
            assert_eq!(error.line, line, "{program:?}: {error}");
        }
    }

    #[test]
    fn time_in_the_medium_is_bounded_by_both_shares() {
        let run = |busy, waiting| ProgramRun { medium_busy_share: busy, waiting_share: waiting, ..Default::default() };
        assert_eq!(run(Some(0.9), Some(0.1)).medium_share(), Some(0.1), "busy while the program computes");
        assert_eq!(run(Some(0.0), Some(0.5)).medium_share(), Some(0.0), "the program waits for others");
        assert_eq!(run(None, Some(0.5)).medium_share(), Some(0.5));
    }
}
