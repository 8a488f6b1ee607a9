//! What stands before each line: marks of a quotation, of a comment, numbers of lines, the time and the name that a log
//! puts there, and blanks.
//!
//! A prefix counts where most lines have it, and is taken off with one blank behind it: what a tool has set in stays so.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::lines::{Line, markdown_tables};

/// Share of the lines that have to begin so, of ten: a comment within a text is no wrapping.
const MOST: usize = 8;
/// Prefixes within one another: a CI log of the log of a container of a log of the kernel.
const MOST_LAYERS: usize = 4;
/// Lines that are looked at for a form of prefix.
const LOOKED_AT: usize = 2_000;
/// Most digits of the number of a line.
const MOST_DIGITS: usize = 19;
/// Fewest lines, each another, with the same name in front for it to be one of a log.
const LEAST_NAMED: usize = 3;

/// What opens and closes a block of code in Markdown.
const FENCES: [&str; 2] = ["```", "~~~"];
/// Fewest lines of a block for its beginnings to be looked at.
const LEAST_FENCED: usize = 3;
/// Fewest lines of a quotation that is set in.
const LEAST_SET_IN: usize = 3;

/// Forms of a time and of what logs put behind it, each with a mark that it holds, which is looked for sooner than a
/// shape. Each ends with one blank, or the line.
static FORMS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let zone = r"(?:Z| ?[+-]\d\d:?\d\d)?";
    let time = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [AP]M)?";
    let level = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)";
    let patterns = [
        // Of env_logger: `[2024-05-01T10:00:00Z INFO  bench] `.
        ("] ", format!(r"^\[\d{{4}}-\d\d-\d\dT{time}Z {level} +[^\s\]]+\](?: |$)")),
        // `2024-05-01T10:00:00.1234567Z `, `[2024-05-01 10:00:00,123] `, `20240501 10:00:00.123 `.
        (":", format!(r"^\[?\d{{4}}[-/]?\d\d[-/]?\d\d[T ]{time}{zone}\]?:?(?:[ \t]|$)")),
        (":", format!(r"^[\[(]?{time}[\])]?:?(?:[ \t]|$)")),
        // `May 14, 2024 @ 09:11:00.123`, `Tue, 14 May 2024 09:11:00 GMT`.
        (
            ":",
            format!(
                r"^(?:[A-Z][a-z]{{2}}, )?(?:\d\d )?[A-Z][a-z]{{2}} (?:\d\d?, )?\d{{4}} (?:@ )?{time}(?: GMT| UTC)?(?:[ \t]|$)"
            ),
        ),
        // Of glog and Android: `I0501 10:00:00.123456   7 main.go:8] `,
        // `05-01 10:00:00.123  1234  1234 I fio     : `.
        ("]", format!(r"^[IWEF]\d{{4}} {time} +\d+ [^\s\]]+:\d+\](?: |$)")),
        (":", format!(r"^\d\d-\d\d {time} +\d+ +\d+ [VDIWEF] \S+ *:(?: |$)")),
        // Of loggers: `INFO: `, `[INFO] `, ` - INFO - `, `INFO:bench:`, `##[debug]`.
        ("", format!(r"^(?:- )? *{level}(?: -|:)?(?: |$)")),
        ("", format!(r"^\[ *{level} *\]:?(?: |$)")),
        (":", format!(r"^{level}:[\w.]+:")),
        // Of avocado: `process          L0416 DEBUG| `.
        ("| ", format!(r"^[A-Za-z_]\w* +L\d{{4}} {level} *\|(?: |$)")),
        ("##[", r"^##\[[a-z]+\]".to_owned()),
        // Of Loki: nanoseconds.
        ("", r"^\d{19}(?: |$)".to_owned()),
        // Of the kernel: `[   12.345678] `.
        ("]", r"^\[ *\d+\.\d{3,6}\](?: |$)".to_owned()),
        // Of syslog, with host and program.
        (":", r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{6})? \S+ [^\s:]+:(?: |$)".to_owned()),
        ("]:", r"^(?:\S+ )?[^\s:\[]+\[[\w.]+\]:(?: |$)".to_owned()),
        // Of containers, and of a runner of GitLab.
        ("std", r"^(?:stdout|stderr) [FP](?: |$)".to_owned()),
        ("O", r"^\d\dO(?:[ +]|$)".to_owned()),
        ("|", r"^[A-Za-z0-9][A-Za-z0-9_.@-]* *\|(?: |$)".to_owned()),
        // Of pm2: `0|bench  | `.
        ("|", r"^\d{1,3}\|[A-Za-z0-9][A-Za-z0-9_.-]* *\|(?: |$)".to_owned()),
        // Job and step, of a downloaded log of GitHub.
        ("\t", r"^[^\t]+\t[^\t]+\t(?:\u{feff})?".to_owned()),
    ];
    let read = |(mark, pattern): (&'static str, String)| (mark, Regex::new(&pattern).expect("the pattern is fixed"));
    patterns.into_iter().map(read).collect()
});
/// Longest prefix in bytes.
const LONGEST: usize = 160;
/// A name that all lines have: `[app] `, `node[1-4]: `, `==> default: `, `JD> ` of a mail; that of a logger between two
/// dashes; and those of a pod and its container, as stern prints them: `bench-7d9f fio `. A name of a pod that a controller
/// made has a hyphen.
static NAMES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        r"^(?:\[[^\[\]]+\]|\([a-z0-9_-]+\)|[A-Z]{2,3}>|(?:==> )?[A-Za-z0-9][A-Za-z0-9_./\[\]-]*(?: \([a-z-]+\))?:)(?: |$)",
        r"^(?:- )?[A-Za-z_][A-Za-z0-9_.:-]* -(?: |$)",
        r"^[a-z0-9.]+(?:-[a-z0-9.]+)+ [a-z][a-z0-9-]*(?: |$)",
    ]
    .map(|pattern| Regex::new(pattern).expect("the pattern is fixed"))
});
/// The name of a pod alone, which stands before each line: `bench-7d9f `.
static POD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[a-z][a-z0-9.]*(?:-[a-z0-9.]+)*-[a-z0-9.]*\d[a-z0-9.]*(?: |$)").expect("the pattern is fixed")
});
/// What tools print in front of their own figures, of one direction again and again: no name of a log.
const DIRECTIONS: [&str; 4] = ["read:", "write:", "trim:", "mixed:"];

/// Takes it off.
pub(super) fn strip(lines: &mut Vec<Line>) {
    for _ in 0..MOST_LAYERS {
        indentation(lines);
        let mut changed = quotation(lines);
        for mark in ["//", "#", "|", ";", "*", "--", "::", "%", "REM"] {
            // Before a bar is taken for the mark of a comment.
            if mark == "|" {
                markdown_tables(lines);
            }
            changed |= common(lines, |text| {
                let inner = text.trim_start();
                let rest = inner.strip_prefix(mark)?;
                Some(text.len() - rest.strip_prefix(' ').unwrap_or(rest).len())
            });
        }
        changed |= changes(lines);
        changed |= numbers(lines);
        for (mark, form) in FORMS.iter() {
            changed |= common(lines, |text| {
                let begin = beginning(text);
                begin.contains(mark).then(|| form.find(begin)).flatten().map(|found| found.end())
            });
        }
        for form in NAMES.iter() {
            changed |= name(lines, form, MOST);
        }
        changed |= name(lines, &POD, 10);
        if !changed {
            break;
        }
    }
    indentation(lines);
}

/// Takes it off within each block of code that a page has fenced: the rest of a post has none. A line that opens or closes
/// a block stays.
pub(super) fn strip_fenced(lines: &mut Vec<Line>) {
    let is_fence = |line: &Line| FENCES.iter().any(|fence| line.text.trim_start().starts_with(fence));
    if !lines.iter().any(is_fence) {
        return;
    }
    let mut all: Vec<Line> = Vec::with_capacity(lines.len());
    let mut block: Option<Vec<Line>> = None;
    let close = |all: &mut Vec<Line>, block: Option<Vec<Line>>| {
        let Some(mut block) = block else { return };
        if block.iter().filter(|line| is_filled(line)).count() >= LEAST_FENCED {
            strip(&mut block);
        }
        all.append(&mut block);
    };
    for line in lines.drain(..) {
        match &mut block {
            _ if is_fence(&line) => {
                let opens = block.is_none();
                close(&mut all, block.take());
                block = opens.then(Vec::new);
                all.push(line);
            }
            Some(block) => block.push(line),
            None => all.push(line),
        }
    }
    close(&mut all, block);
    *lines = all;
}

/// Takes off the marks of a quotation, which stand on its own lines alone; whether there were some. One in a list is set
/// in: its lines have as many blanks in front.
fn quotation(lines: &mut [Line]) -> bool {
    let mut changed = set_in(lines);
    for line in lines.iter_mut().filter(|line| line.text.starts_with('>')) {
        let mut rest = line.text.as_str();
        while let Some(behind) = rest.strip_prefix('>') {
            rest = behind.strip_prefix(' ').unwrap_or(behind);
        }
        line.text.drain(..line.text.len() - rest.len());
        changed = true;
    }
    changed
}

/// Takes the blanks off that stand before the marks of a quotation.
fn set_in(lines: &mut [Line]) -> bool {
    let depth = |line: &Line| {
        let rest = line.text.trim_start_matches([' ', '\t']);
        (rest.starts_with("> ") || rest == ">").then(|| line.text.len() - rest.len()).filter(|blanks| *blanks > 0)
    };
    let (mut at, mut changed) = (0, false);
    while at < lines.len() {
        let blanks = depth(&lines[at]);
        // A page may have put a blank line behind each.
        let part =
            lines[at..].iter().take_while(|line| blanks.is_some() && (!is_filled(line) || depth(line) == blanks));
        let (count, marked) = part.fold((0, 0), |(all, marked), line| (all + 1, marked + usize::from(is_filled(line))));
        if marked >= LEAST_SET_IN {
            for line in lines[at..at + count].iter_mut().filter(|line| is_filled(line)) {
                line.text.drain(..blanks.unwrap_or(0));
            }
            changed = true;
        }
        at += count.max(1);
    }
    changed
}

/// Fewest lines below one another with the mark of a comment that are taken for a text in a comment.
const LEAST_COMMENT: usize = 2;

/// Removes comment marks from a block of lines if most of the text has none. Scripts show output of their commands this way.
pub(super) fn comments(lines: &mut [Line]) {
    for mark in ["//", "#"] {
        let behind = |line: &Line| {
            let rest = line.text.strip_prefix(mark)?;
            (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| line.text.len() - rest.len())
        };
        let mut at = 0;
        while at < lines.len() {
            let count = lines[at..].iter().take_while(|line| behind(line).is_some()).count();
            let part = &mut lines[at..at + count];
            if count >= LEAST_COMMENT {
                let blank = part.iter().all(|line| !line.text[mark.len()..].starts_with('\t'));
                for line in part {
                    let blank = blank && line.text[mark.len()..].starts_with(' ');
                    line.text.drain(..mark.len() + usize::from(blank));
                }
            }
            at += count.max(1);
        }
    }
}

/// Takes off the signs of a comparison of two files: where most lines have one, and of its parts, which begin with `@@`. Lines
/// that did not change have a blank there.
fn changes(lines: &mut [Line]) -> bool {
    let signed = |text: &str| text.starts_with(['+', '-']);
    let all = looked_at(lines);
    let (added, marked) =
        (all.iter().filter(|text| text.starts_with('+')).count(), all.iter().filter(|text| signed(text)).count());
    // A list has one sign alone, and lines of figures begin with none.
    let whole = all.len() > 1 && marked * 10 >= all.len() * MOST && added * 4 >= marked;
    let (mut changed, mut within) = (!whole && patches(lines), false);
    for line in lines.iter_mut() {
        if line.text.starts_with("@@ -") && line.text[3..].contains(" @@") {
            (within, changed) = (true, true);
            line.text.clear();
            continue;
        }
        within &= line.text.is_empty() || signed(&line.text) || line.text.starts_with(' ');
        if (whole || within) && (signed(&line.text) || line.text.starts_with(' ')) {
            line.text.drain(..1);
            changed = true;
        }
    }
    changed
}

/// Least number of successive lines with a sign that are a part of a patch.
const LEAST_PATCH: usize = 4;

/// Removes the signs of successive lines of a patch, `+` and `-`. Most lines of a text about a patch have no sign. Before a word
/// a sign belongs to no number, and a minus may begin an option.
fn patches(lines: &mut [Line]) -> bool {
    let signed = |line: &Line| {
        let mut chars = line.text.chars();
        matches!(chars.next(), Some('+' | '-')) && chars.next().is_none_or(|next| next.is_alphabetic() || next == ' ')
    };
    let (mut at, mut changed) = (0, false);
    while at < lines.len() {
        let count = lines[at..].iter().take_while(|line| signed(line)).count();
        let part = &mut lines[at..at + count];
        let added = part.iter().filter(|line| line.text.starts_with('+')).count();
        if count >= LEAST_PATCH && added * 2 >= count {
            part.iter_mut().for_each(|line| drop(line.text.drain(..1)));
            changed = true;
        }
        at += count.max(1);
    }
    changed
}

fn is_filled(line: &Line) -> bool {
    !line.text.trim().is_empty()
}

/// As much of a line as a prefix may take.
fn beginning(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// Lines with something in them, at most some of them, from all over the text. Jenkins puts no time before its own steps.
fn looked_at(lines: &[Line]) -> Vec<&str> {
    let counts = |line: &&Line| is_filled(line) && !line.text.starts_with("[Pipeline] ");
    let every = (lines.iter().filter(counts).count() / LOOKED_AT).max(1);
    lines.iter().filter(counts).step_by(every).map(|line| line.text.as_str()).collect()
}

/// Removes the prefix that `length` finds, if most lines have one. Returns whether they had.
fn common(lines: &mut [Line], length: impl Fn(&str) -> Option<usize>) -> bool {
    let looked_at = looked_at(lines);
    let marked = looked_at.iter().filter(|text| length(text).is_some()).count();
    if looked_at.len() < 2 || marked * 10 < looked_at.len() * MOST {
        return false;
    }
    for line in lines {
        if let Some(length) = length(&line.text) {
            line.text.drain(..length);
        }
    }
    true
}

/// Takes off a name of this form that is the same before `most` of ten lines.
fn name(lines: &mut [Line], form: &Regex, most: usize) -> bool {
    let looked_at = looked_at(lines);
    // Four of five lines have it: a fifth of them, and one more, would be enough to find one.
    let some = looked_at.iter().take(looked_at.len() / 5 + 1);
    let Some(first) = some.into_iter().find_map(|text| form.find(beginning(text))) else { return false };
    let first = first.as_str().trim_end().to_owned();
    if DIRECTIONS.iter().any(|direction| first.eq_ignore_ascii_case(direction)) {
        return false;
    }
    let length = |text: &str| {
        let rest = text.strip_prefix(first.as_str())?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| first.len() + usize::from(!rest.is_empty()))
    };
    // The same line again and again is a value and its name, not a log.
    let rests: BTreeSet<&str> = looked_at.iter().filter_map(|text| text.get(length(text)?..)).collect();
    let named = looked_at.iter().filter(|text| length(text).is_some()).count();
    rests.len() >= LEAST_NAMED && named * 10 >= looked_at.len() * most && common(lines, length)
}

/// Takes off the numbers of lines, where they follow each other. Text behind a number begins in one column: what is set in
/// further stays so.
fn numbers(lines: &mut [Line]) -> bool {
    // A bar is one of the numbers only where most lines have it: fio begins some of its lines with one.
    let looked_at = looked_at(lines);
    let barred = looked_at.iter().filter(|text| numbered(text, true).is_some_and(|line| line.barred)).count();
    let bar = barred * 10 >= looked_at.len() * MOST;
    let filled: Vec<Option<Numbered<'_>>> =
        lines.iter().filter(|line| is_filled(line)).map(|line| numbered(&line.text, bar)).collect();
    let known: Vec<&Numbered<'_>> = filled.iter().flatten().collect();
    // Lines that a page or a mail has broken have no number of their own.
    let follow = known.windows(2).filter(|pair| pair[0].number.checked_add(1) == Some(pair[1].number)).count();
    let jumps =
        known.windows(2).filter(|pair| (2..=8).contains(&pair[1].number.saturating_sub(pair[0].number))).count();
    let steps = known.len().saturating_sub(1);
    if known.len() < 3 || known.len() * 10 < filled.len() * MOST || follow * 10 < steps * 7 || follow + jumps < steps {
        return false;
    }
    // Behind numbers of other lengths that begin in one column there are as many blanks more or fewer.
    let padded = known.iter().all(|line| !line.marked) && known.windows(2).any(|pair| pair[0].end != pair[1].end);
    let place = |line: &Numbered<'_>| if padded { line.digits.min(MOST_DIGITS) } else { 0 };
    let mut blanks = [usize::MAX; MOST_DIGITS + 1];
    for line in known.iter().filter(|line| !line.rest.trim().is_empty()) {
        let least = &mut blanks[place(line)];
        *least = line.blanks().min(*least);
    }
    let cuts: Vec<Option<usize>> = lines
        .iter()
        .map(|line| {
            let found = numbered(&line.text, bar)?;
            Some(line.text.len() - found.rest.len() + found.blanks().min(blanks[place(&found)]))
        })
        .collect();
    for (line, cut) in lines.iter_mut().zip(cuts) {
        if let Some(cut) = cut {
            line.text.drain(..cut.min(line.text.len()));
        }
    }
    true
}

/// A line with a number in front.
struct Numbered<'a> {
    number: u64,
    digits: usize,
    /// Where it ends in its line.
    end: usize,
    /// Whether a mark divides it from the text, not blanks alone.
    marked: bool,
    /// Whether that is a bar.
    barred: bool,
    /// What follows it and the mark behind it.
    rest: &'a str,
}

impl Numbered<'_> {
    fn blanks(&self) -> usize {
        self.rest.len() - self.rest.trim_start_matches(' ').len()
    }
}

fn numbered(text: &str, bar: bool) -> Option<Numbered<'_>> {
    let inner = text.trim_start();
    let digits = inner.len() - inner.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = inner.get(..digits)?.parse().ok()?;
    let behind = &inner[digits..];
    let barred = behind.trim_start_matches(' ').strip_prefix('|').filter(|_| bar);
    let (rest, marked) = if let Some(rest) = barred {
        (rest, true)
    } else if behind.starts_with([':', ')', '\t']) {
        (&behind[1..], true)
    } else if let Some(rest) = behind.strip_prefix('.') {
        // Not that of a decimal number.
        (Some(rest).filter(|rest| rest.is_empty() || rest.starts_with(' '))?, true)
    } else if behind.is_empty() || behind.starts_with(' ') {
        (behind, false)
    } else {
        return None;
    };
    Some(Numbered { number, digits, end: text.len() - behind.len(), marked, barred: barred.is_some(), rest })
}

/// Takes off the blanks that all lines begin with.
fn indentation(lines: &mut [Line]) {
    let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let mut filled = lines.iter().filter(|line| is_filled(line));
    let Some(first) = filled.next() else { return };
    let mut shared = first.text[..blanks(&first.text)].to_owned();
    for line in filled {
        let alike = shared.bytes().zip(line.text.bytes()).take_while(|(a, b)| a == b).count();
        shared.truncate(alike);
    }
    if shared.is_empty() {
        return;
    }
    for line in lines {
        line.text = line.text.strip_prefix(shared.as_str()).unwrap_or_default().to_owned();
    }
}
