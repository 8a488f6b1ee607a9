//! Lines that iozone prints: headings, rows, settings.

use std::sync::LazyLock;

use assay_core::workload::{Op, Pattern};

use crate::pattern::{Regex, regex};
use crate::text::Text;

pub(super) const SPLASH: &str = "Iozone: Performance Test of File I/O";
/// Most lines from the first of its output to its first figure.
pub(super) const MOST_SPLASH: usize = 100;
/// Most lines between a command and what it printed.
pub(super) const MOST_BETWEEN: usize = 8;

/// Most lines of something else between two rows of a table: blank ones, and what people say of each row.
pub(super) const MOST_FOREIGN: usize = 12;
/// Most lines into which a mail wraps a heading or a row.
pub(super) const MOST_WRAPPED: usize = 4;
/// Largest record that iozone takes, in bytes.
pub(super) const LARGEST_RECORD: u64 = 16 << 20;

/// The columns in their order, each with the number of its test (`-i`).
pub(super) const COLUMNS: [(&str, &str, u32); 15] = [
    ("kb", "", 0),
    ("reclen", "", 0),
    ("write", "write", 0),
    ("rewrite", "rewrite", 0),
    ("read", "read", 1),
    ("reread", "reread", 1),
    ("read", "random read", 2),
    ("write", "random write", 2),
    ("read", "bkwd read", 3),
    ("rewrite", "record rewrite", 4),
    ("read", "stride read", 5),
    ("fwrite", "fwrite", 6),
    ("frewrite", "frewrite", 6),
    ("fread", "fread", 7),
    ("freread", "freread", 7),
];
/// The blocks of `-R`, as the columns are called.
const BLOCKS: [(&str, &str); 13] = [
    ("Writer report", "write"),
    ("Re-writer report", "rewrite"),
    ("Reader report", "read"),
    ("Re-Reader report", "reread"),
    ("Random read report", "random read"),
    ("Random write report", "random write"),
    ("Backward read report", "bkwd read"),
    ("Record rewrite report", "record rewrite"),
    ("Stride read report", "stride read"),
    ("Fwrite report", "fwrite"),
    ("Re-Fwrite report", "frewrite"),
    ("Fread report", "fread"),
    ("Re-Fread report", "freread"),
];

pub(super) static CHILDREN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(Children|Parent) sees? throughput for\s+(\d{1,6}) ([^=]+?)\s*=\s*([0-9.]+) ([A-Za-z]+)/sec")
});
pub(super) static EACH: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"Each (?:process|thread) writes a\s+(\d+) [kK](?:[Bb]|i[Bb])?(?:yte)? file in\s+(\d+) [kK](?:[Bb]|i[Bb])?(?:yte)? records",
    )
});
pub(super) static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"Version \$Revision: ([0-9.]+)"));
pub(super) static SET: LazyLock<Regex> = LazyLock::new(|| regex(r"(File size set to|Record Size) (\d+) [kK]B"));

/// What the figures are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mode {
    /// kB per second.
    #[default]
    Rate,
    /// Operations per second.
    Operations,
    /// Microseconds by operation.
    Latency,
}

/// How lines of settings begin, between the title and the figures.
const SETTINGS: [&str; 19] = [
    "Version $Revision:",
    "Run began:",
    "Include ",
    "File size set to ",
    "Record Size ",
    "Command line used:",
    "Output is in ",
    "OPS Mode",
    "Microseconds/op Mode",
    "O_DIRECT feature enabled",
    "SYNC Mode",
    "Auto Mode",
    "Time Resolution = ",
    "Processor cache ",
    "File stride size set to ",
    "Throughput test with ",
    "Each process writes a ",
    "Each thread writes a ",
    "Using ",
];

/// What a test does, by its name in a table or in throughput mode. Backward and strided reads, and writing one record
/// again and again, have patterns that records have no name for.
pub(super) fn test(name: &str) -> Option<(Op, Option<Pattern>)> {
    let op = if name.contains("mixed") {
        Op::Mixed
    } else if name.contains("read") {
        Op::Read
    } else if name.contains("writ") {
        Op::Write
    } else {
        return None;
    };
    let other = ["bkwd", "reverse", "stride", "record"].iter().any(|word| name.contains(word));
    let pattern = if name.contains("random") || op == Op::Mixed { Pattern::Random } else { Pattern::Sequential };
    Some((op, (!other).then_some(pattern)))
}

/// The right edges of the headings, where a line is the second of them.
pub(super) fn header(line: &str) -> Option<Vec<usize>> {
    if !line.contains("reclen") {
        return None;
    }
    // In a table of Markdown both lines are one.
    let line = ["random", "bkwd", "record", "stride"]
        .iter()
        .fold(line.to_owned(), |line, word| line.replace(word, &" ".repeat(word.len())));
    let words = cells(&line);
    let alike =
        words.iter().zip(COLUMNS).take_while(|((_, word), (heading, ..))| word.eq_ignore_ascii_case(heading)).count();
    (alike >= 4).then(|| words.iter().take(alike).map(|(edge, _)| *edge).collect())
}

/// How many columns there are with those that a line of a wrapped heading names behind the first `headed`.
pub(super) fn continued_heading(line: &str, headed: usize) -> Option<usize> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let names = COLUMNS.get(headed..headed + words.len())?;
    let alike = words.iter().zip(names).all(|(word, (heading, ..))| word.eq_ignore_ascii_case(heading));
    (!words.is_empty() && alike).then_some(headed + words.len())
}

/// The words of a line, each with its right edge in characters.
pub(super) fn cells(line: &str) -> Vec<(usize, &str)> {
    // Bytes and characters up to the word before.
    let (mut bytes, mut edge) = (0, 0);
    line.split_whitespace()
        .map(|word| {
            let end = (word.as_ptr() as usize).saturating_sub(line.as_ptr() as usize) + word.len();
            edge += line.get(bytes..end).map_or(end - bytes, |passed| passed.chars().count());
            bytes = end;
            (edge, word)
        })
        .collect()
}

pub(super) fn is_row(line: &str) -> bool {
    (3..=40).contains(&line.split_whitespace().count()) && is_numbers(line)
}

pub(super) fn is_numbers(line: &str) -> bool {
    !line.trim().is_empty() && line.bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'\t' | b'.'))
}

/// The first of the lines of settings that stand above line `at`, where its title is missing; `at` where there are none.
pub(super) fn first_setting(text: &Text, at: usize) -> usize {
    let mut first = at;
    if text.line(at).contains(SPLASH) {
        return at;
    }
    for above in (at.saturating_sub(MOST_SPLASH)..at).rev() {
        let line = text.line(above).trim_start();
        // The run before ends there.
        let over = line.contains("iozone test complete") || throughput_line(line) || header(line).is_some();
        if over || is_row(line) || line.contains(SPLASH) || above + MOST_BETWEEN < first {
            break;
        }
        if SETTINGS.iter().any(|start| line.starts_with(start)) {
            first = above;
        }
    }
    first
}

/// Whether iozone prints a line.
pub(super) fn is_printed(line: &str) -> bool {
    header(line).is_some()
        || is_row(line)
        || throughput_line(line)
        || line.contains("Children see throughput")
        || line.contains("iozone test complete")
        || SETTINGS.iter().any(|start| line.trim_start().starts_with(start))
        // The upper line of a heading.
        || line.split_whitespace().all(|word| ["random", "bkwd", "record", "stride"].contains(&word))
}

/// The name of the block of `-R` whose title a line is.
pub(super) fn block(line: &str) -> Option<&'static str> {
    let title = line.trim().strip_prefix('"')?.strip_suffix('"')?;
    BLOCKS.iter().find(|(known, _)| *known == title).map(|(_, name)| *name)
}

pub(super) fn throughput_line(line: &str) -> bool {
    // With `-+u`; a mail wraps these lines.
    let load = ["CPU Utilization", "CPU utilization", "utilization"];
    ["Parent sees throughput", "throughput per process", "throughput per thread", "Min xfer"]
        .iter()
        .any(|known| line.contains(known))
        || load.iter().any(|known| line.trim().starts_with(known))
}

pub(super) fn kibibytes(text: &str) -> Option<u64> {
    text.parse::<u64>().ok()?.checked_mul(1024)
}

// The table that `-R` adds to throughput mode: a row for each test, a column for each number of processes (the end of `main` in
// iozone.c). It repeats the lines above it, and people post it alone. Only the command says how many processes a column has
// (`-t`, or `-l` and `-u`).

/// Title of the table of `-R` in throughput mode: a row for each test, a column for each number of processes.
const PROCESSES: &str = "\"Throughput report Y-axis";
/// The rows of that table, as throughput mode calls its tests.
const TESTS: [(&str, &str); 13] = [
    ("Initial write", "initial writers"),
    ("Rewrite", "rewriters"),
    ("Read", "readers"),
    ("Re-read", "re-readers"),
    ("Reverse Read", "reverse readers"),
    ("Stride read", "stride readers"),
    ("Random read", "random readers"),
    ("Mixed workload", "mixed workload"),
    ("Random write", "random writers"),
    ("Pwrite", "pwrite writers"),
    ("Pread", "pread readers"),
    ("Fwrite", "fwriters"),
    ("Fread", "freaders"),
];

/// What a line of the table of `-R` in throughput mode tells.
pub(super) enum OfProcesses<'a> {
    RecordBytes(Option<u64>),
    Unit(&'a str),
    /// A test and its figures.
    Row(&'static str, Vec<&'a str>),
}

/// Whether a line is the title of the table of `-R` in throughput mode.
pub(super) fn of_processes(line: &str) -> bool {
    line.trim_start().starts_with(PROCESSES)
}

/// What a line below that title tells.
pub(super) fn of_processes_line(line: &str) -> Option<OfProcesses<'_>> {
    let (quoted, rest) = line.trim().strip_prefix('"')?.split_once('"')?;
    let quoted = quoted.trim();
    if let Some(size) = quoted.strip_prefix("Record size = ") {
        return Some(OfProcesses::RecordBytes(size.split_whitespace().next().and_then(kibibytes)));
    }
    if let Some(unit) = quoted.strip_prefix("Output is in ") {
        return Some(OfProcesses::Unit(unit));
    }
    let (_, name) = TESTS.iter().find(|(known, _)| *known == quoted)?;
    is_numbers(rest).then(|| OfProcesses::Row(name, rest.split_whitespace().collect()))
}
