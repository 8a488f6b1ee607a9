//! How far down the page a command holds.
//!
//! People show a command once and below it what it printed, with titles and sentences between, or several outputs of it, each
//! with a title. A command holds for all that follows up to the next one, of any program. What its program printed before,
//! and marks of the page, may stand between without a warning. Any other line makes it doubtful which command printed what
//! follows, and gives a finding. A sentence about settings, or too much text, ends the reach of a command.

use assay_core::finding::{Finding, Untold};

use crate::command::{commands, continued, goes_on, is_cut_off, is_options, mentions};
use crate::text::Text;

/// Most lines of other text between a command and what it printed.
const MOST_OTHER: usize = 16;
/// Most lines between them, those that the program printed before included.
const MOST_LINES: usize = 400;
/// Programs whose call ends the reach of another command. For some of them the arguments are operands.
const PROGRAMS: [&str; 17] = [
    "fio", "dd", "iozone", "hdparm", "ioping", "sysbench", "diskspd", "elbencho", "ior", "mdtest", "rados", "bonnie++",
    "f3write", "f3read", "f3probe", "smartctl", "nvme",
];
/// What people write of settings that only a command tells.
const CACHE: [&str; 9] = ["direct", "buffer", "cache", "sync", "flush", "o_dir", "-i ", "直接", "缓存"];

/// A command that holds for a line below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// The words behind the name of the program.
    pub(crate) words: Vec<String>,
    /// Its whole line.
    pub(crate) whole: String,
    /// The line that it begins in.
    pub(crate) line: usize,
    /// Whether other text stands between.
    apart: bool,
}

impl Held {
    /// That its load is taken for an output below other text.
    pub(crate) fn doubt(&self, text: &Text, tool: &str) -> Option<Finding> {
        let untold = Untold::Call { taken_line: text.number(self.line) };
        self.apart.then(|| Finding::NotTold { tool: tool.to_owned(), untold })
    }
}

/// What text may stand between a command and an output of it.
#[derive(Clone, Copy)]
pub(crate) enum Beside {
    /// The output tells its load but for the page cache and syncs.
    Cache,
    /// It tells nothing about it.
    Load,
}

/// The command of `tool` that holds for line `at`. Its words satisfy `is_call`, since prose names programs, too; `own` recognises
/// the lines that the program prints.
pub(crate) fn held(
    text: &Text,
    at: usize,
    tool: &'static str,
    beside: Beside,
    is_call: impl Fn(&[String]) -> bool,
    own: impl Fn(&str) -> bool,
) -> Option<Held> {
    let whole = |line: usize, before: usize| continued(text, line, before, is_options);
    let commands_in = text.commands(tool, |line| {
        let named = !is_mark(text.line(line)) && mentions(text.line(line), tool);
        named && !commands(&whole(line, text.len()), tool).is_empty()
    });
    let behind = |limit: usize| commands_in.partition_point(|line| *line < limit);
    let near = behind(at.saturating_sub(MOST_LINES))..behind(at);
    let call = commands_in[near].iter().rev().find_map(|line| {
        let whole = whole(*line, at);
        let words = commands(&whole, tool).into_iter().find(|words| is_call(words))?;
        Some(Held { words, whole: whole.into_owned(), line: *line, apart: false })
    })?;
    let mut other = 0;
    for line in (call.line + 1..at).rev() {
        let here = text.line(line);
        // A mark, the rest of a command, or an output of the same program.
        if is_mark(here) || is_options(here.trim()) || goes_on(here) || is_cut_off(text, line) || own(here) {
            continue;
        }
        other += 1;
        if other > MOST_OTHER || ends(here) || speaks(here, beside) {
            return None;
        }
    }
    Some(Held { apart: other > 0, ..call })
}

/// The sign of a variable, and brackets around a placeholder.
const BRACKETS: [char; 9] = ['$', '(', ')', '[', ']', '<', '>', '{', '}'];
/// A variable or placeholder whose name contains one of these stands for options: `$OPTS`, `<flags>`, `[OPTIONS]`.
const OPTIONS: [&str; 6] = ["option", "opts", "flag", "args", "argument", "param"];

/// Whether options of a command were left out, or are not shown: `fio --rw=read ...`, `iozone -a $OPTS`.
pub(crate) fn is_shortened(words: &[String]) -> bool {
    words.iter().any(|word| {
        let name = word.trim_matches(BRACKETS).to_ascii_lowercase();
        let named =
            OPTIONS.iter().any(|part| name.contains(part)) || matches!(name.as_str(), "opt" | "arg" | "@" | "*");
        is_left_out(word) || word.starts_with(['$', '[', '<']) && named
    })
}

/// Whether the writer left something out here: `...`, `[…]`.
pub(crate) fn is_left_out(word: &str) -> bool {
    let inner = word.trim_matches(BRACKETS);
    inner.len() > 1 && inner.chars().all(|c| matches!(c, '.' | '…'))
}

/// Whether a line is a mark of a page, or empty.
fn is_mark(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") || line.starts_with("~~~") || !line.contains(|c: char| c.is_alphanumeric())
}

/// Whether a line is a command, of any program, or the prompt of one.
fn ends(line: &str) -> bool {
    let line = line.trim();
    let prompt = || {
        let (front, behind) = line.split_once(' ').unwrap_or((line, ""));
        let sign = front.ends_with(['$', '#', '%', '>', '❯', '➜']);
        // `##` begins a title of Markdown, and `%` stands behind a number.
        let title = front.bytes().all(|byte| byte == b'#') && behind.starts_with(char::is_uppercase);
        let share = front.starts_with(|c: char| c.is_ascii_digit());
        sign && !title
            && !share
            && !behind.is_empty()
            && (front.len() == 1 || front.contains(['@', ':', '~', '\\', '/']))
    };
    let started = ["./", "sudo ", "sh ", "bash ", "time ", "for ", "docker ", "kubectl ", "mpirun "];
    let is_call = |words: &Vec<String>| words.iter().any(|word| word.starts_with('-') || word.contains('='));
    prompt()
        || started.iter().any(|start| line.starts_with(start))
        || PROGRAMS.iter().any(|program| mentions(line, program) && commands(line, program).iter().any(is_call))
}

/// Whether a sentence speaks of settings that the output does not tell.
fn speaks(line: &str, beside: Beside) -> bool {
    let lower = line.to_lowercase();
    let cache = CACHE.iter().any(|word| lower.contains(word));
    match beside {
        Beside::Cache => cache,
        Beside::Load => cache || of_load(&lower),
    }
}

/// What people write of a load.
const LOAD: [&str; 17] = [
    "read",
    "writ",
    "random",
    "rand",
    "sequential",
    "seq",
    "depth",
    "qd",
    "block",
    "jobs",
    "thread",
    "bs=",
    "rw=",
    "--",
    "读",
    "写",
    "lesen",
];

fn of_load(lower: &str) -> bool {
    let size = |word: &str| {
        let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        digits > 0
            && matches!(word[digits..].trim_end_matches(['.', ',', ':', ')']), "k" | "m" | "kb" | "mb" | "kib" | "mib")
    };
    LOAD.iter().any(|word| lower.contains(word))
        || lower.split(|c: char| c.is_whitespace() || matches!(c, '(' | '/')).any(size)
        || ["kib", "kb", "mib", "mb"].iter().any(|unit| lower.split_whitespace().any(|word| word == *unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, beside: Beside) -> Option<(usize, bool)> {
        let text = Text::from_bytes(text.as_bytes());
        let is_call = |words: &[String]| words.first().is_some_and(|word| word.starts_with('-'));
        let own = |line: &str| line.starts_with("RESULT");
        held(&text, text.len(), "fio", beside, is_call, own).map(|held| (held.line, held.apart))
    }

    #[test]
    fn a_command_holds_up_to_the_next_one() {
        for (lines, want) in [
            ("$ fio --rw=read\n", Some((0, false))),
            ("$ fio --rw=read\n\n```\n------\n", Some((0, false))),
            ("x\n$ fio --rw=read\\\n --bs=4k\nRESULT 1\n", Some((1, false))),
            ("$ fio --rw=read\nOn the old kernel:\n", Some((0, true))),
            ("$ fio --rw=read\n## Old kernel\nRESULT 1\n## New kernel\n", Some((0, true))),
            ("$ fio --rw=read\n# cat x\n", None),
            ("$ fio --rw=read\nuser@host:~$ ./x.sh\n", None),
            ("$ fio --rw=read\n$ dd if=a of=b\n", None),
            ("$ fio --rw=read\nI used fio and dd.\n", Some((0, true))),
            ("$ fio --rw=read\nWith 64k:\n", None),
            ("$ fio --rw=read\nNow random writes\n", None),
            ("$ fio --rw=read\nThe same through the page cache:\n", None),
        ] {
            assert_eq!(of(lines, Beside::Load), want, "{lines}");
        }
        assert_eq!(of("$ fio --rw=read\nWith 64k, random:\n", Beside::Cache), Some((0, true)));
        assert_eq!(of("$ fio --rw=read\nwithout --direct:\n", Beside::Cache), None);
        let much = format!("$ fio --rw=read\n{}", "a word\n".repeat(MOST_OTHER + 1));
        assert_eq!(of(&much, Beside::Load), None);
    }

    #[test]
    fn options_may_be_left_out() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for line in ["-a ... -b", "-a …", "-a [...]", "-a $(...)", "-a $OPTS", "-a $(FLAGS)", "[OPTIONS] -a", "$@ -a"]
        {
            assert!(is_shortened(&words(line)), "{line}");
        }
        for line in ["-a ../x", "-a .", "-f $DISK", "-f $(mktemp)", "--opts=1", "-f $TARGET"] {
            assert!(!is_shortened(&words(line)), "{line}");
        }
        assert!(is_left_out("...") && is_left_out("<…>") && !is_left_out("direct") && !is_left_out(""));
    }
}
