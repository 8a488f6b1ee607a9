//! The table that `-R` adds to throughput mode: a row for each test, a column for each number of processes (the end of
//! `main` in iozone.c). It repeats the lines above it, and people post it alone. How many processes a column has only the
//! command tells (`-t`, or `-l` and `-u`).

use super::lines::{is_numbers, kibibytes};

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
