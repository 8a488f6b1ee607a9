//! dd: GNU in any locale and of any age, BusyBox, toybox, BSD and macOS.
//!
//! A result is the count of bytes behind the two lines of records. The rate is computed from bytes and seconds, which
//! are exact, not taken from the printed one, which is rounded to two or three digits: powers of 1000 in GNU (since
//! coreutils 5.1), powers of 1024 in BusyBox (`make_human_readable_str` in its libbb). The size of a block is bytes by
//! records. Whether it read or wrote, and with what flags, only the command tells, where it stands in the log above.
//! dd moves one block at a time (POSIX).

use std::sync::LazyLock;

use assay_core::finding::{Contradiction, Finding, Missing, SourceAmount, SourceQuantity, Untold};
use assay_core::outcome::{Outcome, RunFailure};
use assay_core::workload::{Op, Pattern, Sync};

use super::pibenchmarks::ran_dd;
use crate::command::{commands, continued, goes_on, is_device, named_path, option_size, option_value};
use crate::number::{Base, Printed, Told, printed, unit};
use crate::pattern::{Regex, regex};
use crate::reach::{is_left_out, is_shortened};
use crate::report::{Figure, Format, Load, Report, Section};
use crate::text::Text;

/// dd.
pub(crate) struct Dd;

const NAME: &str = "dd";
/// Most lines between a command and its result.
const MOST_BETWEEN: usize = 30;
/// Most counts of records before their result: dd prints two, and two of them may run at once.
const MOST_COUNTS: u32 = 4;
/// Longest end of a line that was wrapped: `s, 21.6 MB/s`.
const LONGEST_END: usize = 30;
/// Longest line that can be one of dd: no locale has longer ones.
const LONGEST: usize = 400;

/// `8388608 bytes (8.4 MB, 8.0 MiB) copied, 0.0463944 s, 181 MB/s` in the words of any language.
static COPIED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?:^|[^0-9.,])(?P<bytes>[0-9]{1,19}) ?[^0-9(),（）]{0,24}[(（](?P<size>[^()（）]{2,40})[)）] ?[^0-9()（）]{2,40}?",
        r"(?P<seconds>[0-9]+(?:[.,][0-9]+)?(?:e[-+]?[0-9]+)?) ?[^0-9,，、 ]{1,12}[,，、] ?\**",
        r"(?P<rate>[0-9]+(?:[.,][0-9]+)?)(?P<space> ?)(?P<unit>[kKMGTP]?i?(?:B|b|o|Б|б|字节|字節|位元組|bytes?)?)/[a-zссе秒초]"
    ))
});
/// `104857600 bytes transferred in 1.234567 secs (84934656 bytes/sec)`.
static TRANSFERRED: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?:^|[^0-9.,])(?P<bytes>[0-9]{1,19}) bytes transferred in (?P<seconds>[0-9.,]+(?:e[-+]?[0-9]+)?) sec(?:ond)?s? ",
        r"\((?P<rate>[0-9.,]+)(?P<space> ?)(?P<unit>[kKMGT]?i?(?:B|bytes?))/sec\)"
    ))
});
/// A copy of less than a kilobyte: `512 bytes copied, 0.00812345 s, 63.0 kB/s`.
static FEW: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?:^|[^0-9.,])(?P<bytes>[0-9]{1,4}) bytes? copied, (?P<seconds>[0-9.]+(?:e[-+]?[0-9]+)?) s(?:ec(?:ond)?s?)?, ",
        r"(?P<rate>[0-9.]+)(?P<space> )(?P<unit>[kKM]?i?B)/s"
    ))
});
/// `2048+0 records out` in the words of any language.
static RECORDS: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[^0-9+.,:])([0-9]{1,15})\+([0-9]{1,15})[^0-9+]*$"));

/// What one line says.
#[derive(Debug, Clone, Copy)]
struct Copied {
    bytes: u64,
    seconds: Printed,
    /// Bytes per second as printed, as powers of 1000 and of 1024.
    printed: (Printed, Printed),
    /// BusyBox and toybox put no space before the unit.
    binary: bool,
}

impl Format for Dd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn keywords(&self) -> &'static [&'static str] {
        &["records in", "records out", "copied,", "bytes transferred", "dd if="]
    }

    fn needs(&self) -> &'static str {
        "a line of bytes with their seconds and rate"
    }

    fn begins(&self, text: &Text, at: usize) -> bool {
        if copied_at(text, at).is_some() {
            return is_result(text, at);
        }
        let calls =
            || text.line(at).contains(NAME) && !called(&continued(text, at, at + MOST_BETWEEN, is_operands)).is_empty();
        (records(text.line(at)).is_some() || calls()) && result_below(text, at).is_some()
    }

    fn read(&self, text: &Text, at: usize) -> Section {
        let result = if copied_at(text, at).is_some() { at } else { result_below(text, at).unwrap_or(at) };
        // Its unit may stand in a line of its own.
        let wrapped = copied(text.line(result)).is_none();
        let end = result + 1 + usize::from(wrapped);
        let Some(found) = copied_at(text, result) else { return Section::nothing(end, text.number(at), "no result") };
        if found.bytes == 0 {
            return Section::nothing(end, text.number(result), "dd copied nothing");
        }
        let mut report = report(text, result, found);
        failure(&mut report, text, result, found);
        Section::from_report(report, end)
    }
}

fn copied(line: &str) -> Option<Copied> {
    if line.len() > LONGEST || !line.contains('/') {
        return None;
    }
    let found = COPIED.captures(line).or_else(|| TRANSFERRED.captures(line)).or_else(|| FEW.captures(line))?;
    let rate = printed(&found["rate"])?;
    let unit = |base| Some(rate.times(unit(&in_latin(&found["unit"]), base)?));
    Some(Copied {
        bytes: found["bytes"].parse().ok()?,
        seconds: printed(&found["seconds"])?,
        printed: (unit(Base::Decimal)?, unit(Base::Binary)?),
        binary: found["space"].is_empty() && found.name("size").is_some(),
    })
}

/// The same of a line that a mail has wrapped before its unit.
fn copied_at(text: &Text, at: usize) -> Option<Copied> {
    let line = text.line(at);
    let end = text.line(at + 1).trim();
    let wrapped = !line.contains('/') && line.contains(['(', '（']) && end.contains('/') && end.len() <= LONGEST_END;
    if wrapped { copied(&format!("{} {end}", line.trim_end())) } else { copied(line) }
}

/// The unit of a rate with the word of any language for bytes, as one with `B`.
fn in_latin(unit: &str) -> String {
    let prefix: String = unit.chars().take_while(|c| "kKMGTPi".contains(*c)).collect();
    format!("{prefix}B")
}

/// Whole and partial records.
fn records(line: &str) -> Option<(u64, u64)> {
    if line.len() > LONGEST || !line.contains('+') {
        return None;
    }
    let found = RECORDS.captures(line)?;
    Some((found[1].parse().ok()?, found[2].parse().ok()?))
}

/// The commands in a line that copy something.
fn called(line: &str) -> Vec<Vec<String>> {
    let mut all = commands(line, NAME);
    // A page that makes dashes longer had one before the first operand: `dd –if=/dev/zero`.
    for word in all.iter_mut().flatten() {
        if let Some(operand) = word.strip_prefix("--").filter(|operand| has_key(operand)) {
            *word = operand.to_owned();
        }
    }
    all.retain(|arguments| option_value(arguments, "if").is_some() || option_value(arguments, "of").is_some());
    all
}

/// The next line of what dd prints, without its errors and the signals that ask for its state.
fn next_filled(text: &Text, at: usize) -> Option<usize> {
    let filled = |line: &str| !line.trim().is_empty() && !is_error(line) && !is_signal(line);
    (at + 1..text.len().min(at + MOST_BETWEEN)).find(|line| filled(text.line(*line)))
}

/// `dd: error writing '/mnt/card/f': No space left on device`
fn is_error(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("dd: ") || line.split(": ").next().is_some_and(|name| name.ends_with("/dd")) && line.contains(": ")
}

/// A call that makes dd print its state: `kill -USR1 $pid`, `pkill -INFO dd`.
fn is_signal(line: &str) -> bool {
    line.contains("kill ") && ["USR1", "INFO"].iter().any(|signal| line.contains(signal)) && called(line).is_empty()
}

fn previous_filled(text: &Text, at: usize) -> Option<usize> {
    (at.saturating_sub(MOST_BETWEEN)..at).rev().find(|line| !text.line(*line).trim().is_empty())
}

/// Whether a line of copied bytes is a result, not a report of progress: those look alike. A result follows its records;
/// where only results were kept, none has more bytes in more time behind it. A signal makes dd print
/// its state with records too: the last state of a command counts.
fn is_result(text: &Text, at: usize) -> bool {
    let Some(this) = copied_at(text, at) else { return false };
    if previous_filled(text, at).is_some_and(|line| records(text.line(line)).is_some()) {
        return !is_state(text, at, this);
    }
    let Some(next) = next_filled(text, at).map(|line| text.line(line)) else { return true };
    let grows = |next: Copied| next.bytes > this.bytes && next.seconds.value > this.seconds.value;
    records(next).is_none() && !copied(next).is_some_and(grows)
}

/// The line above that runs dd once, with nothing but its output in between.
fn single_command(text: &Text, at: usize) -> Option<&str> {
    for number in (at.saturating_sub(MOST_BETWEEN)..at).rev() {
        let line = text.line(number);
        if !called(line).is_empty() {
            let once = called(line).len() == 1 && !LOOPS.iter().any(|word| line.contains(word));
            return once.then_some(line);
        }
        let printed = records(line).is_some() || copied(line).is_some() || is_error(line) || is_signal(line);
        if !line.trim().is_empty() && !printed {
            return None;
        }
    }
    None
}

/// Whether more of the same command follows: records and a result with more bytes in more time.
fn is_state(text: &Text, at: usize, this: Copied) -> bool {
    let next = next_filled(text, at).filter(|line| records(text.line(*line)).is_some());
    let second = next.and_then(|line| next_filled(text, line));
    let last = second.filter(|line| records(text.line(*line)).is_some()).and_then(|line| next_filled(text, line));
    let grows = |next: Copied| next.bytes > this.bytes && next.seconds.value > this.seconds.value;
    last.and_then(|line| copied_at(text, line)).is_some_and(grows) && single_command(text, at).is_some()
}

/// Words of a shell that runs a command several times.
const LOOPS: [&str; 6] = ["for ", "while ", "until ", "watch ", "repeat ", "seq "];

/// The result of the command or the records at line `at`, with nothing of another tool before it.
fn result_below(text: &Text, at: usize) -> Option<usize> {
    let (mut at, mut counts) = (at, 0);
    for _ in 0..MOST_BETWEEN {
        let before = text.line(at);
        at += 1;
        let line = text.line(at);
        if copied_at(text, at).is_some() && is_result(text, at) {
            return Some(at);
        }
        let counted = records(line).is_some();
        counts += u32::from(counted);
        if counts > MOST_COUNTS {
            return None;
        }
        let ours = line.trim().is_empty()
            || counted
            || copied(line).is_some()
            || line.contains("dd:")
            || line.contains("truncated")
            || is_signal(line)
            || goes_on(before)
            || is_operands(line);
        if !ours || !called(line).is_empty() {
            return None;
        }
    }
    None
}

/// The command that printed the result at line `at`: the nearest above, of several in one line the one in turn. Of several
/// lines with commands above as many results, each has its own.
fn command(text: &Text, at: usize) -> Option<Vec<String>> {
    let mut results = 0;
    for line in (at.saturating_sub(MOST_BETWEEN)..at).rev() {
        if copied_at(text, line).is_some() && is_result(text, line) {
            results += 1;
            continue;
        }
        let whole = continued(text, line, at, is_operands);
        let mut all = called(&whole);
        if all.is_empty() {
            continue;
        }
        let loops = LOOPS.iter().any(|word| whole.contains(word));
        let turn = if loops { results % all.len() } else { results };
        if !loops && let Some(found) = in_turn(text, line, turn) {
            return found;
        }
        let once = all.len() == 1 && !loops;
        let mut command = (turn < all.len()).then(|| all.swap_remove(turn))?;
        if once && option_value(&command, "of").is_none() {
            command.extend(redirected(&whole).map(|file| format!("of={file}")));
        }
        return Some(command);
    }
    None
}

/// Where the shell puts the output of a line with one command: `dd if=/dev/zero bs=1M count=9 >> file`.
fn redirected(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("if=").filter(|(_, behind)| !behind.contains('|'))?;
    REDIRECTED.captures(behind)?.get(1).map(|file| file.as_str())
}

/// A redirection of the standard output, not of another stream.
static REDIRECTED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:^|[^0-9&>])>{1,2} *([^\s;|&<>()'$]+)"));

/// Whether a line is operands alone, as a terminal or a mail wraps a command.
fn is_operands(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(has_key) && called(line).is_empty()
}

fn has_key(word: &str) -> bool {
    word.split_once('=').is_some_and(|(key, _)| OPERANDS.contains(&key))
}

/// Operands of dd (POSIX, GNU and BSD).
const OPERANDS: [&str; 13] =
    ["if", "of", "bs", "ibs", "obs", "cbs", "count", "skip", "seek", "conv", "iflag", "oflag", "status"];

/// The command in turn of a block of several lines whose last is `line`, where as many results follow it as it has
/// commands: people show what they ran, and below it what that printed. `Some(None)` where the numbers of commands and
/// results differ, so that no result has a known command; `None` without such a block.
fn in_turn(text: &Text, line: usize, turn: usize) -> Option<Option<Vec<String>>> {
    let mut block: Vec<Vec<String>> = Vec::new();
    let mut lines = 0;
    for above in (line.saturating_sub(MOST_BETWEEN)..=line).rev() {
        let whole = continued(text, above, line + MOST_BETWEEN, is_operands);
        let all = called(&whole);
        if LOOPS.iter().any(|word| whole.contains(word)) {
            return None;
        }
        if !all.is_empty() {
            lines += 1;
            block.splice(0..0, all);
        } else if !beside_commands(text.line(above)) {
            break;
        }
    }
    if lines < 2 {
        return None;
    }
    let below = line + 1..text.len().min(line + MOST_BETWEEN);
    let results: Vec<u64> = below
        .take_while(|below| called(text.line(*below)).is_empty())
        .filter(|below| is_result(text, *below))
        .filter_map(|below| copied_at(text, below).map(|found| found.bytes))
        .collect();
    let fits =
        results.len() == block.len() && block.iter().zip(&results).all(|(command, bytes)| copies(command, *bytes));
    if fits && turn < block.len() {
        return Some(Some(block.swap_remove(turn)));
    }
    // What follows a command without a word between is its own.
    let own = next_filled(text, line).is_some_and(|next| records(text.line(next)).is_some() || is_result(text, next));
    (results.len() > 1 && !own).then_some(None)
}

/// Whether a line may stand between commands that are shown without what they print.
fn beside_commands(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix("sudo ").unwrap_or(line);
    let word = line.split([' ', ';', '&']).next().unwrap_or_default();
    line.is_empty() || line.starts_with(['#', '`']) || BESIDE.contains(&word)
}

/// Commands that people run between two of dd.
const BESIDE: [&str; 11] = ["sync", "rm", "echo", "sh", "bash", "sleep", "sysctl", "cd", "time", "umount", "mount"];

fn report(text: &Text, at: usize, found: Copied) -> Report {
    let mut report = Report::new(NAME);
    let command = own_command(text, at, found);
    let arguments = command.as_deref().unwrap_or_default();
    let (from, to) = (option_value(arguments, "if"), option_value(arguments, "of"));
    let op = match &command {
        Some(_) => direction(from, to),
        None => words_around(text, at),
    };
    let path = match op {
        Some(Op::Read) => from,
        Some(_) => to,
        None => None,
    };
    let path = path.and_then(named_path);
    report.medium.path = path.unwrap_or_default().to_owned();
    report.medium.device = path.filter(|path| is_device(path)).map(str::to_owned);
    let rate = rate(&mut report, found);
    let grown = || {
        let before = previous_filled(text, at).and_then(|line| copied_at(text, line));
        before.is_some_and(|before| before.bytes < found.bytes && before.seconds.value < found.seconds.value)
    };
    let under_way = || single_command(text, at).is_some_and(|line| line.contains("status=progress"));
    // The same command printed more, but no whole result.
    let more = || {
        let next = next_filled(text, at).map(|line| text.line(line));
        let of_dd = next.is_some_and(|line| records(line).is_some() || copied(line).is_some());
        of_dd && single_command(text, at).is_some()
    };
    if !follows_records(text, at) && (grown() || under_way()) || more() {
        report.findings.push(Finding::SourceIncomplete { missing: Missing::End { tool: NAME.to_owned() } });
    } else if let Some(asked) = asked_bytes(arguments).filter(|asked| *asked > found.bytes) {
        // The text lost its end behind a progress line, or the medium ended sooner.
        let missing = Missing::Bytes { asked_bytes: asked, told_bytes: found.bytes };
        report.findings.push(Finding::SourceIncomplete { missing });
    }
    let Some(op) = op else {
        // A copy from one medium to another, or from or to an unknown one.
        report.findings.push(Finding::NotTold { tool: NAME.to_owned(), untold: Untold::Direction { taken: None } });
        report.score("dd copy", rate / 1e6, "MB/s", true);
        return report;
    };
    let block_bytes = block(text, at, op, found.bytes);
    let said =
        option_value(arguments, if op == Op::Read { "ibs" } else { "obs" }).or_else(|| option_value(arguments, "bs"));
    let said = said.and_then(|said| option_size(said, 1));
    let counted = whole_records(text, at, op).filter(|_| block_bytes.is_none_or(|block| block != found.bytes));
    if let (Some(records), Some(said)) = (counted, said)
        && records.checked_mul(said) != Some(found.bytes)
    {
        let told = |quantity, value: u64| SourceAmount::new(quantity, value as f64);
        let contradiction = Contradiction::product(
            told(SourceQuantity::Bytes, found.bytes),
            told(SourceQuantity::Operations, records),
            told(SourceQuantity::BlockBytes, said),
        );
        report.findings.push(Finding::SourceContradicts { contradiction });
    }
    // A script that is known shows no command, and has one.
    let script = command.is_none() && op == Op::Write && ran_dd(text, at, found.bytes);
    let of_script = ["conv=fsync".to_owned()];
    let arguments = if script { &of_script } else { arguments };
    let flags_known = command.is_some() || script;
    let flags = Flags::from_arguments(arguments, op);
    let direct = flags.direct || path.is_some_and(is_unbuffered);
    let load = Load {
        pattern: Some(Pattern::Sequential),
        block_bytes: block_bytes.or(said),
        queue_depth: Some(1),
        jobs: Some(1),
        span_bytes: Some(found.bytes),
        direct: (flags_known && (direct || !flags.open)).then_some(direct),
        sync: (op == Op::Read || flags_known && (flags.durable || !flags.open)).then_some(flags.sync),
        duration_ns: (found.seconds.value > 0.0).then_some((found.seconds.value * 1e9) as u64),
        ..Load::new(if op == Op::Read { "dd read" } else { "dd write" }, op)
    };
    let mut figure = Figure::new(load);
    figure.bytes_per_second = Some(rate);
    if op == Op::Write && flags.durable {
        figure.durable_bytes_per_second = Some(rate);
    }
    report.figures.push(figure);
    report
}

/// What dd says of an error of the medium.
const IO_ERRORS: [&str; 3] = ["Input/output error", "I/O error", "Eingabe-/Ausgabefehler"];
/// Its number in Linux, BSD and macOS (EIO).
const EIO: i64 = 5;

/// Takes an error of the medium that dd tells above a result: the result is of what it did until then.
fn failure(report: &mut Report, text: &Text, at: usize, found: Copied) {
    let own = |line: &usize| called(text.line(*line)).is_empty() && copied(text.line(*line)).is_none();
    let mut above = (at.saturating_sub(MOST_BETWEEN)..at).rev().take_while(own).map(|line| text.line(line));
    let told = |line: &str| IO_ERRORS.into_iter().find(|words| line.contains(words)).filter(|_| is_error(line));
    let Some(said) = above.find_map(told).map(str::to_owned) else { return };
    let wrote = report.figures.iter().any(|figure| figure.load.op == Op::Write);
    report.outcome = Outcome::Failed {
        failure: RunFailure::IoError,
        detail: said.clone(),
        workload: None,
        elapsed_ns: (found.seconds.value.max(0.0) * 1e9) as u64,
        written_bytes: if wrote { found.bytes } else { 0 },
    };
    report.findings.push(Finding::ToolFailed { tool: NAME.to_owned(), job: None, error: EIO, said: Some(said) });
}

/// The command of a result, unless the text says that it printed another one.
fn own_command(text: &Text, at: usize, found: Copied) -> Option<Vec<String>> {
    let command = command(text, at).filter(|arguments| copies(arguments, found.bytes))?;
    // A heading of the other direction tells that the command printed something else.
    let headed = said(heading(text, at).filter(|line| called(line).is_empty()));
    (headed.is_none() || of_command(&command).is_none_or(|op| headed == Some(op))).then_some(command)
}

/// Whether a command copies as many bytes: no more than it counts. One that does is of another result.
fn copies(arguments: &[String], bytes: u64) -> bool {
    asked_bytes(arguments).is_none_or(|asked| bytes <= asked)
}

/// Bytes that the count of a command asks for; `None` without one, and where it or the size of a block cannot be read.
fn asked_bytes(arguments: &[String]) -> Option<u64> {
    let said = |key: &str| option_value(arguments, key).and_then(|said| option_size(said, 1));
    let block = said("ibs").or_else(|| said("bs")).unwrap_or(512);
    // A count may be one of bytes, by a flag or a letter.
    let in_bytes =
        arguments.iter().any(|word| word.contains("count_bytes") || word.starts_with("count=") && word.ends_with('B'));
    // A size that cannot be read, such as a sum, says nothing.
    let unread = ["bs", "ibs"].into_iter().any(|key| option_value(arguments, key).is_some() && said(key).is_none());
    let count = said("count").filter(|count| !unread && *count > 0 && !in_bytes)?;
    Some(count.saturating_mul(block))
}

/// Bytes per second, by bytes and seconds where both are more than nothing.
fn rate(report: &mut Report, found: Copied) -> f64 {
    let (decimal, binary) = found.printed;
    let (meant, other) = if found.binary { (binary, decimal) } else { (decimal, binary) };
    if found.seconds.value <= 0.0 {
        return meant.value;
    }
    // Which unit an `MB` is, not all of them tell: in one of both the rate has to be that of bytes and seconds.
    let bytes = Some(Printed::exact(found.bytes as f64));
    let wrong =
        |rate| Told { rate: Some(rate), bytes, seconds: Some(found.seconds), ..Told::default() }.contradiction(None);
    if wrong(other).is_some() {
        report.findings.extend(wrong(meant));
    }
    // Reports of progress have whole seconds, and a rate of more digits.
    let coarse = found.seconds.step >= 1.0 && meant.step / meant.value < found.seconds.step / found.seconds.value;
    if coarse && wrong(meant).is_none() {
        return meant.value;
    }
    found.bytes as f64 / found.seconds.value
}

fn follows_records(text: &Text, at: usize) -> bool {
    previous_filled(text, at).is_some_and(|line| records(text.line(line)).is_some())
}

/// What it did to the medium, by what the other end is.
fn direction(from: Option<&str>, to: Option<&str>) -> Option<Op> {
    let made = from.is_some_and(|from| ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&from));
    // Without `of` it goes to the standard output, a pipe or /dev/null. /dev/zero drops what is written, too.
    let dropped = matches!(to, Some("/dev/null" | "/dev/zero"));
    match (made, dropped) {
        (true, false) if to.is_some() => Some(Op::Write),
        (false, true) => Some(Op::Read),
        _ => None,
    }
}

/// What a command does to the medium.
fn of_command(arguments: &[String]) -> Option<Op> {
    direction(option_value(arguments, "if"), option_value(arguments, "of"))
}

/// The line above a result and its records.
fn heading(text: &Text, at: usize) -> Option<&str> {
    (at.saturating_sub(MOST_BETWEEN)..at)
        .rev()
        .map(|line| text.line(line))
        .find(|line| !is_rule(line) && records(line).is_none() && copied(line).is_none())
}

/// Whether a line is empty, or the stroke below a heading.
fn is_rule(line: &str) -> bool {
    line.trim().chars().all(|c| matches!(c, '=' | '-' | '*' | '#' | '─'))
}

/// The direction that a line of words names.
fn said(line: Option<&str>) -> Option<Op> {
    let line = line.filter(|line| line.len() < LONGEST)?.to_lowercase();
    let has = |words: &[&str]| line.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word));
    match (has(&["write", "writes", "writing", "written"]), has(&["read", "reads", "reading"])) {
        (true, false) => Some(Op::Write),
        (false, true) => Some(Op::Read),
        _ => None,
    }
}

/// The direction by the heading above a result, or by the summary below, where a script shows no command.
fn words_around(text: &Text, at: usize) -> Option<Op> {
    // The heading of the next result tells nothing about this one.
    let heads = |line: &usize| next_filled(text, *line).is_some_and(|next| records(text.line(next)).is_some());
    let below = next_filled(text, at).filter(|line| !heads(line)).map(|line| text.line(line));
    // A line below tells of this result only where it speaks of dd.
    let of_dd = |line: &&str| line.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|word| word == NAME);
    said(heading(text, at)).or_else(|| said(below.filter(of_dd)))
}

/// Whole and partial records of the side that is the medium.
fn counted(text: &Text, at: usize, op: Op) -> Option<(u64, u64)> {
    let lines: Vec<(u64, u64)> = (at.saturating_sub(4)..at).filter_map(|line| records(text.line(line))).collect();
    if op == Op::Read { lines.iter().rev().nth(1).or(lines.last()) } else { lines.last() }.copied()
}

/// The records where all of them are whole.
fn whole_records(text: &Text, at: usize, op: Op) -> Option<u64> {
    counted(text, at, op).and_then(|(whole, partial)| (whole > 0 && partial == 0).then_some(whole))
}

/// Bytes of one block by the records: whole ones alone, or one that is partial.
fn block(text: &Text, at: usize, op: Op, bytes: u64) -> Option<u64> {
    match counted(text, at, op)? {
        (0, 1) => Some(bytes),
        (whole, 0) if whole > 0 && bytes.is_multiple_of(whole) => Some(bytes / whole),
        _ => None,
    }
}

/// Names of disks that the system gives no cache: the raw ones of macOS, NetBSD and OpenBSD, and all of FreeBSD, which has
/// no block devices (intro(4)). Linux has none of these names.
const UNBUFFERED: [&str; 12] =
    ["rdisk", "rsd", "rwd", "rld", "rdk", "da", "ada", "nda", "nvd", "mmcsd", "vtbd", "diskid/"];

/// Whether a path is a disk whose blocks pass no cache of the system.
fn is_unbuffered(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| {
        UNBUFFERED.iter().any(|disk| {
            let rest = name.strip_prefix(disk);
            rest.is_some_and(|rest| disk.ends_with('/') || rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// What the flags of a command ask for.
struct Flags {
    direct: bool,
    sync: Sync,
    /// Whether the time that is printed has the sync in it.
    durable: bool,
    /// Whether there may be others that the text does not show.
    open: bool,
}

impl Flags {
    fn from_arguments(arguments: &[String], op: Op) -> Self {
        let has = |key: &str, flag: &str| {
            arguments
                .iter()
                .filter_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .any(|all| all.split(',').any(|one| one == flag))
        };
        let side = if op == Op::Read { "iflag" } else { "oflag" };
        let (each, data) = (has(side, "sync"), has(side, "dsync"));
        let end = has("conv", "fsync") || has("conv", "fdatasync");
        let sync = match (op, each, data) {
            (Op::Write, true, _) => Sync::Fsync,
            (Op::Write, _, true) => Sync::Fdatasync,
            _ => Sync::End,
        };
        let unread = |value: &str| value.split(',').any(|one| one.starts_with('$') || is_left_out(one));
        let open = is_shortened(arguments)
            // Each operand has a key.
            || arguments.iter().any(|word| word.starts_with('$') && !word.contains('='))
            || [side, "conv"].into_iter().filter_map(|key| option_value(arguments, key)).any(unread);
        Self { direct: has(side, "direct"), sync, durable: end || sync.each(), open }
    }
}
