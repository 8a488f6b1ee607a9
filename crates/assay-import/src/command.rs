//! Command lines that stand in a log above what they printed.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::pattern::Regex;
use crate::text::Text;

/// Quotes, dollar signs and brackets within one another that are looked into: `sh -c "x=$(dd if=a of=b)"`.
const MOST_NESTED: usize = 4;
/// Most lines of one command.
const MOST_LINES: usize = 40;
/// What ends a prompt that stands before a command without a blank, and a place: `[root@host dir]#dd if=a`, `/bin/dd`.
const BEFORE_NAME: [char; 9] = ['/', '\\', '#', '$', '%', '>', '❯', '➜', '»'];
/// Words behind which a program is named, not run.
const NAMED_BY: [&str; 7] = ["install", "add", "man", "which", "whereis", "-S", "-y"];

/// The lines in which the command in line `at` goes on, with it, as one: those behind a `\`, a `^` or a backtick at its
/// end, and those that `wrapped` tells to be a rest that a terminal or a mail has put into a line of its own. None is at
/// or behind line `before`.
pub(crate) fn continued<'a>(text: &'a Text, at: usize, before: usize, wrapped: impl Fn(&str) -> bool) -> Cow<'a, str> {
    let mut whole = Cow::Borrowed(text.line(at).trim());
    for next in at + 1..before.min(text.len()).min(at + MOST_LINES) {
        let line = text.line(next).trim();
        let joined = match without_mark(&whole) {
            Some(part) => format!("{part} {line}"),
            None if wrapped(line) => format!("{whole} {line}"),
            // Cut at the width of a terminal, within a word or at a blank, which one of the lines has then.
            None if is_cut_off(text, next) => {
                let blank = if text.line(next - 1).ends_with(' ') { " " } else { "" };
                format!("{whole}{blank}{}", text.line(next).trim_end())
            }
            None => break,
        };
        whole = Cow::Owned(joined);
    }
    whole
}

/// Narrowest terminal.
const NARROWEST: usize = 79;

/// Whether a line is the rest of a command that a terminal has cut at its width: it has options, and is no output.
pub(crate) fn is_cut_off(text: &Text, at: usize) -> bool {
    let line = text.line(at);
    let cut = at.checked_sub(1).is_some_and(|before| text.line(before).chars().count() >= NARROWEST);
    let is_option = |word: &str| word.starts_with('-') && word.trim_start_matches('-').starts_with(char::is_alphabetic);
    // Another command has a prompt of its own.
    let prompt = ["$ ", "# ", "% "].iter().any(|prompt| line.trim_start().starts_with(prompt));
    cut && !prompt && !line.contains(": ") && line.split_whitespace().any(is_option)
}

/// Whether a command goes on behind this line.
pub(crate) fn goes_on(line: &str) -> bool {
    without_mark(line).is_some()
}

/// Whether a line is options alone, as a terminal or a mail wraps a command. No list and no line of a table is.
pub(crate) fn is_options(line: &str) -> bool {
    let dash =
        |line: &str| line.strip_prefix(['-', '–', '—']).is_some_and(|rest| !rest.starts_with(char::is_whitespace));
    dash(line) && !line.starts_with("---")
}

/// The line without the continuation mark at its end: `\` of a shell, `^` of cmd.exe, a backtick of PowerShell. `None` if it has
/// no mark.
fn without_mark(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let apart = |mark| line.strip_suffix(mark).filter(|rest| rest.ends_with([' ', '\t']) && !rest.contains(mark));
    line.strip_suffix('\\').or_else(|| apart('^')).or_else(|| apart('`'))
}

/// The calls of a program in a line, each as its arguments, as a shell makes words of it: `sudo dd if=a of=b && dd if=b
/// of=c` has two of `dd`. The reader drops prompts, `sudo`, `time`, surrounding quotes and
/// brackets, redirections, and a comment at the end.
pub(crate) fn commands(line: &str, tool: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    read(line, tool, MOST_NESTED, &mut found);
    found
}

/// The calls of a program in the lines above line `at`, at most as many of them, from the nearest up.
pub(crate) fn commands_above<'a>(
    text: &'a Text,
    at: usize,
    most: usize,
    tool: &'a str,
) -> impl Iterator<Item = Vec<String>> + use<'a> {
    (at.saturating_sub(most)..at).rev().flat_map(move |line| {
        let named = mentions(text.line(line), tool);
        if named { commands(&continued(text, line, at, is_options), tool) } else { Vec::new() }
    })
}

/// Whether a line has the name of a program in it, in letters of either case.
pub(crate) fn mentions(line: &str, tool: &str) -> bool {
    let (line, tool) = (line.as_bytes(), tool.as_bytes());
    let here = |at: usize| line.get(at..at + tool.len()).is_some_and(|part| part.eq_ignore_ascii_case(tool));
    memchr::memchr2_iter(tool[0].to_ascii_lowercase(), tool[0].to_ascii_uppercase(), line).any(here)
}

fn read(line: &str, tool: &str, nested: usize, found: &mut Vec<Vec<String>>) {
    if nested == 0 || !mentions(line, tool) {
        return;
    }
    let mut simple = Simple { tool, ..Simple::default() };
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => match behind.chars().next() {
                Some(next) if next.is_whitespace() || matches!(next, '"' | '\'' | '\\') => {
                    simple.word.push(next);
                    &behind[next.len_utf8()..]
                }
                _ => simple.push(c, behind),
            },
            '"' | '\'' | '“' | '„' | '‘' => simple.quotation(c, behind),
            '$' if behind.starts_with(['(', '{']) => simple.substitution(rest),
            '`' => match behind.split_once('`') {
                Some((inner, behind)) => simple.inner(inner, behind),
                None => simple.end(behind, nested, found),
            },
            '<' | '>' => match simple.redirection(c, behind) {
                Some(behind) => behind,
                None => simple.end(behind, nested, found),
            },
            // A comment, and no prompt.
            '#' if simple.word.is_empty() && simple.call().is_some() => "",
            '{' | '}' if !simple.word.is_empty() => simple.push(c, behind),
            ';' | '|' | '&' | '(' | ')' | '{' | '}' => simple.end(behind, nested, found),
            c if c.is_whitespace() => {
                simple.finish();
                behind
            }
            c => simple.push(c, behind),
        };
    }
    simple.end("", nested, found);
}

/// A command without those before and behind it, as far as it is read.
#[derive(Default)]
struct Simple<'t> {
    tool: &'t str,
    words: Vec<String>,
    word: String,
    /// Whether a part of the word stood in quotes: it may be empty, then.
    quoted: bool,
    /// Whether the word is the file of a redirection.
    to_file: bool,
    /// Texts in quotes and brackets. Each may be a command.
    within: Vec<String>,
}

impl Simple<'_> {
    fn push<'a>(&mut self, c: char, behind: &'a str) -> &'a str {
        self.word.push(c);
        behind
    }

    /// The word ends.
    fn finish(&mut self) {
        let (word, quoted) = (std::mem::take(&mut self.word), std::mem::take(&mut self.quoted));
        let word = if quoted { word.as_str() } else { word.trim_end_matches(['"', '\'', '”', '’']) };
        if word.is_empty() && !quoted || std::mem::take(&mut self.to_file) {
            return;
        }
        // Pages make one dash of two.
        let dashed = word.strip_prefix(['–', '—']).map(|rest| format!("--{}", rest.trim_start_matches('-')));
        self.words.push(dashed.unwrap_or_else(|| word.to_owned()));
    }

    /// A part in quotes, where they are closed: an apostrophe is no quote.
    fn quotation<'a>(&mut self, open: char, behind: &'a str) -> &'a str {
        let close = match open {
            '“' | '„' => '”',
            '‘' => '’',
            other => other,
        };
        if self.word.ends_with(char::is_alphanumeric) {
            return self.push(open, behind);
        }
        let mut escaped = false;
        let end = behind.char_indices().find(|(_, c)| {
            let ends = *c == close && !escaped;
            escaped = *c == '\\' && !escaped && close == '"';
            ends
        });
        let Some((end, _)) = end else { return behind };
        let inner = &behind[..end];
        let inner = if close == '"' { inner.replace("\\\"", "\"") } else { inner.to_owned() };
        self.word.push_str(&inner);
        self.quoted = true;
        self.within.push(inner);
        &behind[end + close.len_utf8()..]
    }

    /// `$(dd if=a of=b)` and `${name}`, as a part of a word.
    fn substitution<'a>(&mut self, rest: &'a str) -> &'a str {
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, c)| {
            match c {
                '(' | '{' => depth += 1,
                ')' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && matches!(c, ')' | '}')
        });
        match end {
            Some((end, _)) => self.inner(&rest[2..end], &rest[end + 1..]),
            None => self.push('$', &rest[1..]),
        }
    }

    /// A part that is what another command prints, or the value of a variable.
    fn inner<'a>(&mut self, inner: &str, behind: &'a str) -> &'a str {
        if let Some(product) = product(inner) {
            self.word.push_str(&product.to_string());
            return behind;
        }
        self.word.push_str("$(");
        self.word.push_str(inner);
        self.word.push(')');
        self.within.push(inner.to_owned());
        behind
    }

    /// What follows a redirection; `None` where it is the end of a prompt.
    fn redirection<'a>(&mut self, sign: char, behind: &'a str) -> Option<&'a str> {
        // `--filename=<device>`, as guides write.
        let placeholder = behind.find('>').filter(|end| sign == '<' && *end > 0);
        if let Some(end) = placeholder.filter(|end| !behind[..*end].contains(char::is_whitespace)) {
            self.word.push_str("$(");
            self.word.push_str(&behind[..end]);
            self.word.push(')');
            return Some(&behind[end + 1..]);
        }
        let next = behind.trim_start_matches(['>', '<', '|']);
        let name = next.trim_start().split(char::is_whitespace).next().unwrap_or_default();
        if self.call().is_none() && (next.starts_with('(') || is_name(name, self.tool)) {
            return None;
        }
        // In `2>&1` the first number is a file descriptor.
        if self.word.bytes().all(|byte| byte.is_ascii_digit()) {
            self.word.clear();
        }
        self.finish();
        if let Some(stream) = next.strip_prefix('&') {
            return Some(stream.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-'));
        }
        self.to_file = true;
        Some(next.trim_start())
    }

    /// Where the program is called.
    fn call(&self) -> Option<usize> {
        let named = |at: usize| at.checked_sub(1).is_some_and(|before| NAMED_BY.contains(&self.words[before].as_str()));
        (0..self.words.len()).find(|at| is_name(&self.words[*at], self.tool) && !named(*at))
    }

    /// The command ends.
    fn end<'a>(&mut self, behind: &'a str, nested: usize, found: &mut Vec<Vec<String>>) -> &'a str {
        self.finish();
        self.to_file = false;
        let call = self.call();
        let mut words = std::mem::take(&mut self.words);
        found.extend(call.map(|at| words.split_off(at + 1)));
        for inner in std::mem::take(&mut self.within) {
            // The place of a program in quotes is none.
            if !is_name(&inner, self.tool) {
                read(&inner, self.tool, nested - 1, found);
            }
        }
        behind
    }
}

/// The value of `$((512 * 1024))`, without the outer brackets: people write sizes as products.
fn product(inner: &str) -> Option<u64> {
    let factors = inner.trim().strip_prefix('(')?.strip_suffix(')')?;
    factors.split('*').try_fold(1_u64, |product, factor| product.checked_mul(factor.trim().parse().ok()?))
}

/// Whether a word is the name of a program. A path, a prompt or a container image may stand in front of the name.
fn is_name(word: &str, tool: &str) -> bool {
    let name = word.rsplit(BEFORE_NAME).next().unwrap_or_default();
    let same = |name: &str| {
        let exe = |at: usize| name.get(at..).is_some_and(|end| end.is_empty() || end.eq_ignore_ascii_case(".exe"));
        name.get(..tool.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tool)) && exe(tool.len())
    };
    let of_image = || name.split_once(':').filter(|(_, tag)| word.contains('/') && !tag.is_empty());
    same(name) || of_image().is_some_and(|(name, _)| same(name))
}

/// The value of an argument `key=value`; of several the last, as tools take it.
pub(crate) fn option_value<'a>(arguments: &'a [String], key: &str) -> Option<&'a str> {
    arguments.iter().rev().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// A size as `dd` and `iozone` take it: a number with a letter of a power of 1024, or with `kB`, `MB` of 1000; `4x512`
/// is a product. What a tool means by a number without a letter is `bare` bytes.
pub(crate) fn option_size(text: &str, bare: u64) -> Option<u64> {
    text.split('x')
        .map(|factor| factor_of(factor, bare))
        .try_fold(1_u64, |product, factor| product.checked_mul(factor?))
}

fn factor_of(text: &str, bare: u64) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let unit = match text.get(digits..)? {
        "" => bare,
        "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        "k" | "K" | "KiB" | "Ki" => 1 << 10,
        "m" | "M" | "MiB" | "Mi" => 1 << 20,
        "g" | "G" | "GiB" | "Gi" => 1 << 30,
        "t" | "T" | "TiB" | "Ti" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Whether a path is a device that holds data: `/dev/sda`, and not `/dev/zero`.
pub(crate) fn is_device(path: &str) -> bool {
    let none = ["zero", "null", "full", "random", "urandom", "stdin", "stdout", "shm", "tty", "fd"];
    path.strip_prefix("/dev/").is_some_and(|name| {
        let first = name.split('/').next().unwrap_or_default();
        !first.is_empty() && !none.contains(&first)
    })
}

/// A path that a command names; `None` of a variable of a shell or a placeholder, and of a device whose name has one: `$DISK`,
/// `%1`, `/dev/$d`.
pub(crate) fn named_path(path: &str) -> Option<&str> {
    let open = path.starts_with(['$', '%']) || path.starts_with("/dev/") && path.contains('$');
    Some(path).filter(|_| !open)
}

// The line that begins a tool's output and names its version.

/// A line that begins an output.
pub(crate) struct Title {
    /// Stands in each such line, as it is looked for sooner than a shape.
    words: &'static str,
    /// Its first group is the version.
    shape: LazyLock<Regex>,
}

impl Title {
    /// One that holds `words`; `shape` makes its pattern.
    pub(crate) const fn new(words: &'static str, shape: fn() -> Regex) -> Self {
        Self { words, shape: LazyLock::new(shape) }
    }

    /// Whether line `at` is one.
    pub(crate) fn stands(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains(self.words) && self.shape.is_match(line)
    }

    /// The version that line `at` names, if it names one.
    pub(crate) fn version(&self, text: &Text, at: usize) -> Option<String> {
        self.shape.captures(text.line(at))?.get(1).map(|version| version.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str, tool: &str) -> Vec<String> {
        commands(line, tool).into_iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn commands_stand_behind_prompts_and_beside_others() {
        let line =
            "root@pi:~# sync; time dd if=/dev/zero of=t bs=4k conv=fsync && /bin/dd if=t of=/dev/null 2>&1 | tail -1";
        let found = commands(line, "dd");
        assert_eq!(found.len(), 2);
        assert_eq!(option_value(&found[0], "conv"), Some("fsync"));
        assert_eq!(option_value(&found[1], "of"), Some("/dev/null"));
        for (line, arguments) in [
            ("bash -c \"(dd if=/dev/zero of=bf; sync)\"", "if=/dev/zero of=bf"),
            ("x=$(sudo dd if=a of=b 2>&1 | tail -1)", "if=a of=b"),
            ("\"cmd\": \"sh -c \\\"dd if=a of=b\\\"\",", "if=a of=b"),
            ("I ran `dd if=a of=b` here", "if=a of=b"),
            ("That's what I did: dd if=a of=b", "if=a of=b"),
            ("[root@host share]#dd if=a of=b # of the share", "if=a of=b"),
            ("pi@pi:~$/bin/dd if=a of=b", "if=a of=b"),
            ("sudo env LC_ALL=C ionice -c3 dd if=a of=b>log 2>&1 bs=4k", "if=a of=b bs=4k"),
            ("LC_ALL=C dd 2>/dev/null if=a of=b < /dev/null", "if=a of=b"),
            ("C:\\tools>dd if=a of=b", "if=a of=b"),
            ("PS C:\\> .\\dd.exe if=a of=b", "if=a of=b"),
            ("\"C:\\my tools\\dd.exe\" if=a of='b c'", "if=a of=b c"),
            ("dd if=a of=/mnt/b\\ c", "if=a of=/mnt/b c"),
            ("dd if=a of=/mnt/${x}/b bs=$(nproc)k", "if=a of=/mnt/$(x)/b bs=$(nproc)k"),
            ("dd if=a of=b bs=$((4 *1024))  count=$((2*x))", "if=a of=b bs=4096 count=$((2*x))"),
            ("dd if=<device> of=b", "if=$(device) of=b"),
            ("dd if=“a b” of=b –verbose", "if=a b of=b --verbose"),
            ("apt install dd && dd if=a of=b", "if=a of=b"),
            ("docker run --rm x/dd:1.0 if=a of=b", "if=a of=b"),
        ] {
            assert_eq!(of(line, "dd"), [arguments], "{line}");
        }
        for line in ["add it up", "sudo apt-get install dd -y", "odd if=a of=b"] {
            assert!(of(line, "dd").is_empty(), "{line}");
        }
        assert_eq!(of("DiskSpd.exe -b4K x", "diskspd"), ["-b4K x"]);
    }

    #[test]
    fn commands_go_on_in_the_next_line() {
        let whole = |lines: &str| {
            let text = Text::from_bytes(lines.as_bytes());
            continued(&text, 0, text.len(), is_options).into_owned()
        };
        for lines in ["fio -a \\\n  -b\n", "fio -a ^\n -b\n", "fio -a `\n -b\n", "fio -a\n-b\n- item\n"] {
            assert_eq!(whole(lines).split_whitespace().collect::<Vec<_>>(), ["fio", "-a", "-b"], "{lines}");
        }
        assert_eq!(whole("`fio -a`\nx\n"), "`fio -a`");
        let long = format!("fio --name={} --b", "x".repeat(70));
        assert_eq!(whole(&format!("{long}\ns=4k --rw=read\n")), format!("{long}s=4k --rw=read"));
        assert_eq!(whole(&format!("{long}s=4k\n --rw=read\n")), format!("{long}s=4k --rw=read"));
        assert_eq!(whole(&format!("{long}s=4k\nx: (g=0): --rw\n")), format!("{long}s=4k"));
        assert_eq!(whole("fio -a\n---\n"), "fio -a");
    }

    #[test]
    fn sizes_of_options() {
        for (text, bytes) in [
            ("4k", 4096),
            ("512", 512),
            ("1M", 1 << 20),
            ("1MB", 1_000_000),
            ("4x512", 2048),
            ("2b", 1024),
            ("1t", 1 << 40),
        ] {
            assert_eq!(option_size(text, 1), Some(bytes), "{text}");
        }
        assert_eq!(option_size("64", 1024), Some(65_536), "iozone takes a bare number for KiB");
        for bad in ["", "k", "x", "-1", "4q", "99999999999999999999", "99999999999g"] {
            assert_eq!(option_size(bad, 1), None, "{bad}");
        }
    }

    #[test]
    fn devices_hold_data() {
        assert!(is_device("/dev/sda") && is_device("/dev/mapper/x"));
        assert!(!is_device("/dev/zero") && !is_device("/dev/shm/x") && !is_device("file") && !is_device("/dev/"));
        assert_eq!((named_path("/dev/sda"), named_path("/mnt/a b")), (Some("/dev/sda"), Some("/mnt/a b")));
        for unknown in ["/dev/$d", "$DISK", "/dev/$(x)1", "%1"] {
            assert_eq!(named_path(unknown), None, "{unknown}");
        }
    }
}
