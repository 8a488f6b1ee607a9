//! Lines that fio prints beside its results, and all that it prints.

use super::text;

/// The version where a line is nothing else: `fio-3.33`, `fio 2.0.8`.
pub(super) fn version(line: &str) -> Option<String> {
    let rest = line.trim().strip_prefix("fio")?.strip_prefix(['-', ' '])?;
    let plain = rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('.') && !rest.contains([' ', ':']);
    plain.then(|| rest.to_owned())
}

/// The name of the format and of the tool.
pub(super) const NAME: &str = "fio";
/// How other lines of fio begin, and what stands before a colon.
const STARTS: [&str; 3] = ["Starting ", "Run status group", "Disk stats"];
const NAMES: [&str; 7] = ["READ", "WRITE", "TRIM", "MIXED", "Jobs", "fio", "note"];

/// Whether fio prints this line beside its results.
pub(super) fn is_fios(line: &str) -> bool {
    let line = line.trim().trim_start_matches("* ");
    matches!(line, "" | "...")
        || STARTS.iter().any(|start| line.starts_with(start))
        || line.split_once(": ").is_some_and(|(name, _)| NAMES.contains(&name))
        || ["Laying out IO file", ": ios=", "aggrios=", ", aggrb=", "hostname="].iter().any(|part| line.contains(part))
}

/// Whether fio prints a line.
pub(super) fn is_printed(line: &str) -> bool {
    let here = line.trim();
    let begins =
        |start: &&str| here.strip_prefix(*start).is_some_and(|rest| rest.starts_with([' ', '(', ':', '=', '/']));
    is_fios(line)
        || text::is_result(line)
        || here.contains("(g=")
        || version(line).is_some()
        || text::WITHIN.iter().any(begins) && here.contains('=')
        || here.starts_with("clat percentiles")
        // The rest of a sum that was wrapped.
        || here.contains(" run=") && here.contains("msec")
        || here.starts_with(['"', '{', '}', '[', ']']) && here.ends_with(['{', '}', ',', '[', ']'])
}
