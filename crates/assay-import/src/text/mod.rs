//! A text as lines, without what wraps it.
//!
//! Results are pasted, mailed, logged and published: in UTF-16, with colours, behind `> `, in HTML, as strings in JSON.
//! All of that is taken off here, so that a format sees what its tool printed. Lines keep the number that they have in
//! the file, for messages.

mod decode;
mod html;
mod lines;
mod prefix;
mod shared;
mod strings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use decode::decode as decoded;
pub use lines::Line;

/// Most lines of a text: fio's JSON with bins of latencies has a few ten thousand.
pub(crate) const MOST_LINES: usize = 500_000;
/// Longest line in bytes that may be printed by a tool. Documents of JSON and XML may be one line, whatever their length.
const LONGEST_LINE: usize = 64 << 10;

/// Quotation marks around a path: those that tools print, and those that word processors make of them.
pub(crate) const QUOTES: [char; 9] = ['`', '\'', '"', '´', '‘', '’', '“', '”', '‚'];

/// Names by which a document of JSON is known wherever they stand in it: of smartctl, and of nvme.
pub(crate) const MARKS: [&str; 4] = ["\"json_format_version\"", "\"smartctl\"", "\"smart_status\"", "\"avail_spare\""];

fn named(line: &str, mark: &str) -> bool {
    line.trim_start().starts_with(mark)
}

/// A text as lines.
#[derive(Debug, Default)]
pub struct Text {
    lines: Vec<Line>,
    /// Lines that begin with a name by which a document is known, in order.
    named: Vec<usize>,
    /// Lines with commands of a program, in order, by its name. Each result asks for them anew.
    commands: Mutex<BTreeMap<&'static str, Arc<[usize]>>>,
}

impl Text {
    /// Reads bytes as text, whatever their encoding, and takes off what wraps it. There is no byte that is no text:
    /// what nothing else fits is read as Latin-1. Of one that comes to more than 500,000 lines, the first are read.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let text = decode::decode(bytes);
        let mut lines = lines::terminal_lines(&text);
        lines::without_lost_escapes(&mut lines);
        strings::expand_long(&mut lines);
        if !html::is_markup(&text) {
            html::strip_html(&mut lines);
            html::without_forum_marks(&mut lines);
        }
        // A log may have written before each line of what holds the strings, and what they hold may be a log.
        prefix::strip(&mut lines);
        strings::expand(&mut lines);
        // A coded line goes on in the next one, which is no blank one that a page has put there.
        lines::single_spaced(&mut lines);
        decode::quoted_printable(&mut lines);
        prefix::strip(&mut lines);
        lines::without_slants(&mut lines);
        prefix::strip_fenced(&mut lines);
        lines::single_spaced(&mut lines);
        prefix::comments(&mut lines);
        if !text.ends_with(['\n', '\r']) {
            lines::without_cut_number(&mut lines);
        }
        Self::of(lines)
    }

    /// A text that stood within another as a string, without what logs put in front of its lines, and without the coding of
    /// a mail. Strings in it stay.
    fn within(mut lines: Vec<Line>) -> Self {
        prefix::strip(&mut lines);
        decode::quoted_printable(&mut lines);
        prefix::strip(&mut lines);
        Self::of(lines)
    }

    /// The same text without the common beginning of nearly all of its lines; `None` where they have none.
    pub(crate) fn without_shared(&self) -> Option<Self> {
        let mut lines = self.lines.clone();
        shared::strip(&mut lines).then(|| {
            prefix::strip(&mut lines);
            lines::single_spaced(&mut lines);
            Self::of(lines)
        })
    }

    fn of(lines: Vec<Line>) -> Self {
        let named = (0..lines.len()).filter(|at| MARKS.iter().any(|mark| named(&lines[*at].text, mark))).collect();
        Self { lines, named, commands: Mutex::default() }
    }

    /// The lines for which `is_command` is true, in order. It is asked once for each line and program.
    pub(crate) fn commands(&self, program: &'static str, is_command: impl Fn(usize) -> bool) -> Arc<[usize]> {
        let mut known = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(program).or_insert_with(|| (0..self.len()).filter(|at| is_command(*at)).collect()).clone()
    }

    /// All lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The text of a line; empty behind the last, and of a line that is too long to be printed by a tool.
    #[must_use]
    pub fn line(&self, at: usize) -> &str {
        Some(self.long_line(at)).filter(|line| line.len() <= LONGEST_LINE).unwrap_or_default()
    }

    /// The text of a line of any length, which may be a whole document; empty behind the last.
    #[must_use]
    pub fn long_line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| &line.text)
    }

    /// The number in the file of a line; that of the last behind it.
    #[must_use]
    pub fn number(&self, at: usize) -> u32 {
        self.lines.get(at).or(self.lines.last()).map_or(1, |line| line.number)
    }

    /// Whether the object that begins in line `at` has one of the names by which documents are known among its own: the
    /// next line with such a name is set in as far as its first name is.
    pub(crate) fn is_known_object(&self, at: usize, most: usize) -> bool {
        let blanks = |line: &str| line.len() - line.trim_start().len();
        let next = self.named.get(self.named.partition_point(|named| *named <= at));
        next.is_some_and(|next| {
            let line = self.long_line(*next);
            next - at <= most && blanks(line) == blanks(self.long_line(at + 1))
        })
    }

    /// The lines from `from` to before `to` as one text, each with its end.
    #[must_use]
    pub fn joined(&self, from: usize, to: usize) -> String {
        let to = to.min(self.len());
        let mut text = String::new();
        for line in self.lines.get(from..to).unwrap_or_default() {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

// Documents of JSON in a text.

/// The text of the document that begins in line `at`, the first line behind it and whether it is cut off. One that is cut
/// off is closed behind the last object in a list of its own that is complete; it is empty where there is none. Where
/// `other` says that another begins, this one ends.
pub(crate) fn json_body(text: &Text, at: usize, other: impl Fn(usize) -> bool) -> (String, usize, bool) {
    let mut body = String::new();
    let (mut depth, mut quoted, mut escaped) = (0u32, false, false);
    let mut complete = None;
    for number in at..text.len() {
        if number > at && other(number) {
            return (closed(body, complete), number, true);
        }
        let line = text.long_line(number);
        let from = if number == at { line.find('{').unwrap_or(0) } else { 0 };
        let line = line.get(from..).unwrap_or_default();
        let line = if number == at && is_overprinted(line) { "{" } else { line };
        for c in line.chars() {
            body.push(c);
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '{' | '[' if !quoted => depth += 1,
                '}' | ']' if !quoted => {
                    depth = depth.saturating_sub(1);
                    if depth == 2 {
                        complete = Some(body.len());
                    }
                    if depth == 0 {
                        return (body, number + 1, false);
                    }
                }
                _ => {}
            }
        }
        body.push('\n');
    }
    (closed(body, complete), text.len(), true)
}

/// Whether the bracket of a document stands on the first letter of the line of fio's progress, as on a terminal:
/// `{obs: 1 (f=1): [R(1)]…`.
fn is_overprinted(line: &str) -> bool {
    line.starts_with("{obs: ")
}

fn closed(mut body: String, complete: Option<usize>) -> String {
    match complete {
        Some(end) => {
            body.truncate(end);
            body.push_str("]}");
            body
        }
        None => String::new(),
    }
}

/// Whether an object that has `name` among its first names begins in line `at`.
pub(crate) fn json_begins(text: &Text, at: usize, name: &str) -> bool {
    let line = text.long_line(at);
    match line.rsplit_once('{') {
        Some((_, behind)) if behind.trim().is_empty() || is_overprinted(line) => {
            (at + 1..at + 3).any(|next| text.long_line(next).contains(name))
        }
        Some(_) => line.contains(name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Vec<String> {
        Text::from_bytes(bytes).lines().iter().map(|line| line.text.clone()).collect()
    }

    #[test]
    fn encodings_and_ends_of_lines() {
        let want = vec!["a é".to_owned(), "b".to_owned()];
        assert_eq!(of("a é\nb".as_bytes()), want);
        assert_eq!(of("\u{feff}a é\r\nb\r\n".as_bytes()), want);
        assert_eq!(of(b"a \xe9\nb"), want, "Latin-1");
        let wide = |order: fn(u16) -> [u8; 2], mark: bool| -> Vec<u8> {
            let text = if mark { "\u{feff}a é\r\nb\r\n" } else { "a é\r\nb\r\n" };
            text.encode_utf16().flat_map(order).collect()
        };
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(of(&wide(order, true)), want);
            assert_eq!(of(&wide(order, false)), want, "without a mark");
        }
    }

    #[test]
    fn marks_of_forums() {
        assert_eq!(of(b"[code]a[/CODE]\n[size=2][B]b[/B][/size]\n"), ["a", "b"]);
        let other = "a[i] = 2 [Read] [b [b= [b\u{e9}] [b=\u{e9} [/ [";
        assert_eq!(of(format!("{other}[/b]").as_bytes()), [other]);
    }

    #[test]
    fn colours_and_progress() {
        assert_eq!(of(b"\x1b[1;32mok\x1b[0m\x1b]0;title\x07 12 \x1b(B MB/s\n"), ["ok 12  MB/s"]);
        assert_eq!(of(b"[1m[35mScore: 9 [0m\n^[[32mok^[[0m [b]\n"), ["Score: 9 ", "ok [b]"], "without the escape");
        let others = ["[10m] [0m:30s] [1m", "[5m30s] a", "lat [max] [mean] [m"];
        assert_eq!(of(others.join("\n").as_bytes()), others, "times and words");
        assert_eq!(of(b"10 %\r20 %\r\ndone\n"), ["10 %", "20 %", "done"]);
    }

    #[test]
    fn wrappings() {
        assert_eq!(of(b"> a 1\n> > b 2\n"), ["a 1", "b 2"]);
        assert_eq!(of(b"# a 1\n# b 2\n# c 3\n"), ["a 1", "b 2", "c 3"]);
        assert_eq!(of(b"a\n# b 1\n#\n#   c 2\nd\n# e\nf\n"), ["a", "b 1", "", "  c 2", "d", "# e", "f"], "of a part");
        assert_eq!(of(b"x\n@@ -1,2 +1,3 @@ y\n a\n+b\n-  c\nd\n+e\n"), ["x", "", "a", "b", "  c", "d", "+e"], "a diff");
        assert_eq!(of(b"+a 1\n+ b 2\n-c 3\n"), ["a 1", " b 2", "c 3"]);
        assert_eq!(of(b"- a 1\n- b 2\n- c 3\n"), ["- a 1", "- b 2", "- c 3"], "a list");
        assert_eq!(of(b"  1  a\n  2  b\n  3  c\n"), [" a", " b", " c"].map(str::trim));
        // What a tool has set in stays so, whatever stands before it.
        let numbered = "     8\ta\n     9\t  | b\n    10\t   c\n";
        assert_eq!(of(numbered.as_bytes()), ["a", "  | b", "   c"]);
        assert_eq!(of(b"8: a\n9:   | b\n10:    c\n"), ["a", "  | b", "   c"]);
        assert_eq!(of(b"8  a\n9    | b\n10 c\n11   d\n"), ["a", "  | b", "c", "  d"]);
        assert_eq!(of(b" 8 | a\n 9 |   | b\n10 |\n11 |    c\n"), ["a", "  | b", "", "   c"]);
        assert_eq!(of(b"1.5 a\n2.5 b\n3.5 c\n"), ["1.5 a", "2.5 b", "3.5 c"], "no numbers of lines");
        assert_eq!(of(b"20480 4 100\n20480 16 200\n"), ["20480 4 100", "20480 16 200"], "figures are no line numbers");
        assert_eq!(of(b"18446744073709551615 a\n"), ["18446744073709551615 a"], "a number that none follows");
        assert_eq!(of(b"a =3D 1\nlong =\nline\nb =3D 2\n"), ["a = 1", "long line", "b = 2"]);
        let long = "x".repeat(71);
        let soft = format!("> {long} a=\nb\n> {long} c=\nd\n> e=20\n");
        assert_eq!(
            of(soft.as_bytes()),
            [format!("{long} ab"), format!("{long} cd"), "e ".to_owned()],
            "no sign itself"
        );
        assert_eq!(of(b"a=\nb=\nc\n"), ["a=", "b=", "c"], "short lines");
        assert_eq!(of(b"rw=read, iodepth=32, 20=20.14%\n"), ["rw=read, iodepth=32, 20=20.14%"], "equals signs");
    }

    #[test]
    fn slashes_of_italics() {
        let marked = "out:/\na: 1/*\n/b (c): 2, //*d=3,*//e=4//\n//| f//\n//g//\n//h 5//\n//i//\n/dev/sda x\n";
        assert_eq!(of(marked.as_bytes()), ["out:", "a: 1", "b (c): 2, d=3,e=4", "| f", "g", "h 5", "i", "/dev/sda x"]);
        assert_eq!(of(b"x\n//a b//\n//c//\n//d\n"), ["x", "//a b//", "//c//", "//d"], "too few");
    }

    #[test]
    fn the_body_of_a_mail_is_decoded_whatever_its_head_holds() {
        let head = "DKIM-Signature: v=1; a=rsa; c=relaxed; d=x; s=y; h=from; bh=Zm8=; b=\n\tAb==; q=dns\n";
        let coded = "Content-Transfer-Encoding: quoted-printable\n\nif=3Da =\nb\n";
        let got = of(format!("{head}{coded}Received: from x\n{head}\nif=3Dc\n").as_bytes());
        assert_eq!(got[got.len() - 6..got.len() - 4], ["if=a b", "Received: from x"]);
        assert_eq!(got.last().unwrap(), "if=3Dc", "another mail, which is not coded so");
        // A string may be a mail.
        let timing = "Timing buffered disk reads: 456 MB in  3.01 seconds =3D 151.45 MB/sec";
        let got =
            of(format!("{{\"rc\": 0, \"mail\": \"{coded}/dev/sda:\n {timing}\n\"}}").replace('\n', "\\n").as_bytes());
        assert_eq!(got[got.len() - 2], format!(" {}", timing.replace("=3D", "=")), "{got:?}");
        // An archive has decoded the body, and kept the head.
        let plain = "Content-Transfer-Encoding: Quoted-Printable\n\nif=a of=b bs=1M\n";
        assert_eq!(of(format!("{head}{plain}").as_bytes()).last().unwrap(), "if=a of=b bs=1M");
    }

    #[test]
    fn what_logs_put_before_a_line() {
        for front in [
            "2024-05-01T10:00:0#.1234567Z ",
            "[2024-05-01 10:00:0#,123] ",
            "10:00:0# ",
            "[   12.34567#] ",
            "May  1 10:00:0# node1 bench[4711]: ",
            "2024-05-01T10:00:0#+0000 node1 bench[4711]: ",
            "bench-1  | ",
            "bench\tRun fio\t2024-05-01T10:00:0#.1234567Z ",
            "2024-05-01T10:00:0#.123456789Z stdout F ",
            "[bench] ",
            "node1: ",
            "==> default: ",
            "bench-7d9f-x2 fio ",
            "bench-7d9f-x2 ",
            "I0514 10:00:0#.000123   12 run.go:88] ",
            "[2024-05-14T10:00:0#Z INFO  bench] ",
            "2024-05-14 10:00:0#,123 - INFO - ",
            "2024-05-14 10:00:0#,123 - bench.runner - INFO - ",
            "2024-05-14 10:00:0#,123 - INFO - bench.runner - ",
            "bench.1.x2@node1    | ",
            "0|bench  | ",
            "INFO:bench:",
            "2024-10-24 00:16:2#,045 process          L0416 DEBUG| [stdout] ",
            "2024-05-14T10:00:0#.1234567Z ##[debug]",
            "05-14 10:00:0#.123  12  12 I fio     : ",
            "May 14, 2024 @ 10:00:0#.123\t",
            "Tue, 14 May 2024 10:00:0# GMT ",
            "2024-05-14T10:00:0#.123456+00:00 app[fio.1]: ",
            "node[1-4]: ",
            "null_resource.a (remote-exec): ",
            "(10:00:0#) INFO: ",
            "JD> ",
            "-- ",
            "REM ",
        ] {
            let lines = [" a", "b: 1", "  c", "[d]"];
            let number = |at: usize| front.replacen('#', &at.to_string(), 1);
            let text: String = lines.iter().enumerate().map(|(at, line)| format!("{}{line}\n", number(at))).collect();
            assert_eq!(of(text.as_bytes()), lines, "{front}");
        }
        assert_eq!(of(b"a: 1\nb: 2\nc: 3\n"), ["a: 1", "b: 2", "c: 3"], "names of values");
        let rows = ["Machine Size", "node-1 2G 10", "node-1 4G 20", "node-1 8G 30", "node-1 9G 40", "node-1 9G 50"];
        assert_eq!(of(rows.join("\n").as_bytes()), rows, "rows of one machine below a heading");
    }

    #[test]
    fn blank_lines_between_all_lines_are_taken_out() {
        assert_eq!(of(b"a\n\nb\n\n\n\nc\n\nd\n\n"), ["a", "b", "", "c", "d"]);
        assert_eq!(of(b"a\n\nb\nc\n\nd\n"), ["a", "", "b", "c", "", "d"]);
        assert_eq!(
            of(b"a =3D =\n\n1\n\nb=3D2\n\n"),
            ["a = 1", "b=2"],
            "a coded line goes on in the next that is filled"
        );
    }

    /// A blank line ends the head of a mail, and a result.
    #[test]
    fn blank_lines_stay_whatever_stands_in_them() {
        let coloured = "\x1b[32ma\x1b[0m\n\x1b[32m\x1b[0m\nb\nc";
        for text in ["a\r\rb\rc\r", "a\r\n\r\nb\r\nc", coloured, "a<br />\n<br />\nb<br />\nc<br />\n"] {
            assert_eq!(of(text.as_bytes()), ["a", "", "b", "c"], "{text:?}");
        }
        assert_eq!(of(b"<p>a</p>\n<p><code></code></p>\n<p>b</p>\n<p>c</p>\n"), ["a", "", "b", "c"]);
        assert_eq!(of(b"<div>\na\n</div>\n<div>b</div>\n"), ["a", "b"], "an element that leaves none");
    }

    #[test]
    fn a_number_that_may_be_cut_off_is_none() {
        assert_eq!(of(b"1 2 1165\n1 2 116"), ["1 2 1165", "1 2 "]);
        assert_eq!(of(b"1 2 1165\n1 2 116\n"), ["1 2 1165", "1 2 116"]);
        assert_eq!(of(b"1;2;3;4;5;116"), ["1;2;3;4;5;"]);
        assert_eq!(of(b"a\nH2testw v1.4"), ["a", "H2testw v1.4"]);
        assert_eq!(of(b"a\n12 MB/s"), ["a", "12 MB/s"]);
        assert_eq!(of(b"Score: 12"), ["Score: 12"], "no table");
    }

    #[test]
    fn html_and_json() {
        assert_eq!(of(b"<pre>a &lt; 1<br>b &amp; <b>2</b></pre>\n"), ["a < 1", "b & 2"]);
        assert_eq!(of(b"1 MB/s [ 2 IOPS] < 3.0 us>\n"), ["1 MB/s [ 2 IOPS] < 3.0 us>"]);
        assert_eq!(of(b"<?xml version=\"1.0\"?>\n<a><b>1</b></a>\n"), ["<?xml version=\"1.0\"?>", "<a><b>1</b></a>"]);
        assert_eq!(of(b"ok: [n1] => {\n  \"msg\": \"a\\n b\\tc\"\n}\n"), ["ok: [n1] => {", "a", " b\tc", "}"]);
        assert_eq!(
            of(b"\"stdout_lines\": [\n   \"a \\\"1\\\"\",\n   \"b\"\n]\n"),
            ["\"stdout_lines\": [", "a \"1\"", "b", "]"]
        );
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = Text::from_bytes(b"x\n<p>a<br>b</p>\ny\n");
        let numbers: Vec<u32> = text.lines().iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 2, 3]);
        assert_eq!((text.number(99), text.line(99), Text::default().number(0)), (3, "", 1));
        assert_eq!(Text::from_bytes(b"a\r\rb\r").number(2), 3, "where a carriage return ends each line");
    }
}
