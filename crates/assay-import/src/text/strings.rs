//! The output of a program that stands in another text as a string: under a key of JSON (Ansible, pods, APIs), as the message
//! of each line of a log in JSON (`docker logs` as its files hold them, journals), as a value in a line of a log, and as a
//! literal of code.
//!
//! Keys that programs use for output are known. Any other string counts only where a result begins in it.

use serde_json::Value;

use super::lines::{Line, NARROW_BLANKS, terminal_lines};
use super::{MOST_LINES, Text};
use crate::registry;

/// Strings within one another: a log of the answer of an API with the output of a program.
const MOST_LAYERS: usize = 3;
/// Keys whose strings are the output of a program.
const KEYS: [&str; 5] = ["stdout", "stdout_lines", "msg", "stderr", "stderr_lines"];
/// Keys of the message in logs whose lines are objects, the first that there is counts: of Docker, of loggers, of journals.
const MESSAGES: [&str; 6] = ["log", "msg", "message", "MESSAGE", "line", "text"];
/// Share of the lines of such a log that have one, of ten.
const MOST: usize = 8;
/// Lines that are looked at for it.
const LOOKED_AT: usize = 50;
/// Shortest string in which a result is looked for, in bytes.
const SHORTEST: usize = 20;
/// Most lines of a string in which a result may begin.
const MOST_BEFORE: usize = 2_000;
/// What stands between the documents of a list in one line, and the names that they begin with.
const DOCUMENTS: [&str; 4] =
    ["{\"fio version\"", "{ \"fio version\"", "{\"json_format_version\"", "{ \"json_format_version\""];

/// Puts the lines of such strings in their place.
pub(super) fn expand(lines: &mut Vec<Line>) {
    // A log or a page may have put something in front of code.
    literals(lines);
    for _ in 0..MOST_LAYERS {
        // What a log in JSON holds may be such a log.
        if !messages(lines) && !(keyed(lines) | quoted(lines, false)) {
            break;
        }
    }
    apart(lines);
}

/// Puts the lines of strings of several lines in their place, and those of a log in JSON, before anything else is taken off:
/// they may hold markup. A string of one line is read without what stands in front of it.
pub(super) fn expand_long(lines: &mut Vec<Line>) {
    messages(lines);
    literals(lines);
    quoted(lines, true);
}

fn parts(out: &mut Vec<Line>, number: u32, text: &str) {
    let parts = text.split('\n').take(MOST_LINES + 1);
    out.extend(parts.map(|part| Line { number, text: plain_blanks(part.trim_end_matches('\r')) }));
}

/// Replaces blanks that stood in a string as escapes (`\u00a0`) by plain ones.
fn plain_blanks(text: &str) -> String {
    text.replace(NARROW_BLANKS, " ")
}

// Logs whose lines are objects.

fn messages(lines: &mut Vec<Line>) -> bool {
    let filled: Vec<&Line> = lines.iter().filter(|line| !line.text.trim().is_empty()).take(LOOKED_AT).collect();
    let key_of = |line: &&Line| message(&line.text).map(|(key, _)| key);
    let Some(key) = filled.iter().find_map(key_of) else { return false };
    let alike = filled.iter().filter(|line| key_of(line) == Some(key)).count();
    if filled.len() < 2 || alike * 10 < filled.len() * MOST {
        return false;
    }
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    // Docker divides what is longer than 16 KiB: only the last piece ends with the end of the line.
    let mut goes_on = false;
    for line in lines.drain(..) {
        let Some((_, text)) = message(&line.text) else {
            plain.push(line);
            goes_on = false;
            continue;
        };
        let whole = text.strip_suffix('\n');
        match plain.last_mut().filter(|_| goes_on) {
            Some(last) => last.text.push_str(whole.unwrap_or(&text)),
            None => parts(&mut plain, line.number, whole.unwrap_or(&text)),
        }
        goes_on = whole.is_none() && key == "log";
        if plain.len() > MOST_LINES {
            break;
        }
    }
    *lines = plain;
    true
}

/// The message of a line as logrus and others write it: `time="…" level=info msg="read: IOPS=1"`, `… msg=done`.
fn logfmt(line: &str) -> Option<String> {
    let (front, text) = line.split_once("msg=").filter(|(front, _)| front.is_empty() || front.ends_with(' '))?;
    if !front.contains("level=") {
        return None;
    }
    // It is the last field: others behind it may hold the output.
    if !text.starts_with('"') {
        return (!text.contains(' ')).then(|| text.to_owned());
    }
    let (inner, length) = unescaped(text).filter(|(_, length)| *length == text.len())?;
    // One without escapes is as it stands.
    Some(if inner.is_empty() { text[1..length - 1].to_owned() } else { inner })
}

/// The message of a line that is an object, and its key.
fn message(line: &str) -> Option<(&'static str, String)> {
    let line = line.trim();
    if line.contains("level=") && line.contains("msg=") {
        return logfmt(line).map(|text| ("msg", text));
    }
    if !line.starts_with('{') || !line.ends_with('}') {
        return None;
    }
    let Value::Object(mut object) = serde_json::from_str(line).ok()? else { return None };
    // A document of a tool in one line is no line of a log.
    MESSAGES.iter().find_map(|key| match object.remove(*key) {
        Some(Value::String(text)) => Some((*key, text)),
        _ => None,
    })
}

// Keys that are known: a line for each, and lists of strings.

fn keyed(lines: &mut Vec<Line>) -> bool {
    if !lines.iter().any(|line| key_of(&line.text).is_some_and(|key| KEYS.contains(&key))) {
        return false;
    }
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    let (mut listed, mut changed) = (false, false);
    for line in lines.drain(..) {
        let key = key_of(&line.text).filter(|key| KEYS.contains(key));
        let value = key.and_then(|_| line.text.split_once(':')).map(|(_, value)| value);
        if let Some(text) = value.and_then(string) {
            parts(&mut plain, line.number, &text);
            (listed, changed) = (false, true);
        } else if value.is_some_and(|value| value.trim() == "[") {
            listed = true;
            plain.push(line);
        } else if let Some(text) = listed.then(|| string(&line.text)).flatten() {
            plain.push(Line { number: line.number, text: plain_blanks(&text) });
            changed = true;
        } else {
            // A page may have put a blank line behind each.
            listed &= line.text.trim().is_empty();
            plain.push(line);
        }
        if plain.len() > MOST_LINES {
            break;
        }
    }
    *lines = plain;
    changed
}

/// The key of a line like `"key": …`.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start().strip_prefix('"')?.split_once('"')?;
    // `debug: var=fio.stdout_lines` prints the whole name of the variable.
    let key = key.rsplit_once('.').map_or(key, |(_, last)| last);
    rest.trim_start().starts_with(':').then_some(key)
}

/// The string that a line consists of, with a comma behind it or none.
fn string(text: &str) -> Option<String> {
    let text = text.trim();
    serde_json::from_str(text.strip_suffix(',').unwrap_or(text)).ok()
}

// Literals of code below one another, which a program puts together.

/// Fewest lines that are one literal each.
const LEAST_LITERALS: usize = 3;

/// Puts the text of such literals in their place. Of most of them an escaped end of a line is the end; a page may have put a
/// blank line behind each.
fn literals(lines: &mut Vec<Line>) {
    let is_blank = |line: &Line| line.text.trim().is_empty();
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    let mut at = 0;
    while at < lines.len() {
        let of = |line: &Line| is_blank(line).then(String::new).or_else(|| literal(&line.text));
        let all: Vec<String> = lines[at..].iter().map_while(of).collect();
        let part = &lines[at..at + all.len().max(1)];
        at += part.len();
        let count = part.iter().filter(|line| !is_blank(line)).count();
        let ended = all.iter().filter(|text| text.ends_with('\n')).count();
        let many = count >= LEAST_LITERALS && plain.len() <= MOST_LINES;
        if many && ended == 0 && is_list(part) && holds_result(&all.join("\n"), 1) {
            plain.extend(
                part.iter().zip(all).map(|(line, text)| Line { number: line.number, text: plain_blanks(&text) }),
            );
            continue;
        }
        if !many || ended * 2 <= count {
            plain.extend(part.iter().cloned());
            continue;
        }
        let mut open = String::new();
        for (line, text) in part.iter().zip(&all) {
            open.push_str(text);
            if let Some((whole, rest)) = open.rsplit_once('\n') {
                parts(&mut plain, line.number, whole);
                open = rest.to_owned();
            }
        }
        let last = Line { number: part[part.len() - 1].number, text: open };
        plain.extend(Some(last).filter(|line| !line.text.is_empty()));
    }
    plain.truncate(MOST_LINES + 1);
    *lines = plain;
}

/// Whether literals are those of a list: a comma follows each but the last, and nothing stands in front.
fn is_list(part: &[Line]) -> bool {
    let mut filled = part.iter().map(|line| line.text.trim()).filter(|line| !line.is_empty()).rev();
    let alone = |line: &str| line.starts_with('"') && line.len() > 2;
    filled.next().is_some_and(alone) && filled.all(|line| alone(line) && line.ends_with(','))
}

/// The text of a line that ends with a literal and what joins it to the next: `"…\r\n" +`. What it is given to, or what a log
/// has put there, may stand in front.
fn literal(line: &str) -> Option<String> {
    let open = line.find('"')?;
    let (text, length) = unescaped(&line[open..])?;
    // One without escapes is as it stands.
    let text = if text.is_empty() { line[open + 1..open + length - 1].to_owned() } else { text };
    let rest = line[open + length..].trim();
    rest.chars().all(|c| matches!(c, '+' | ',' | ';' | ')' | '.' | '\\' | '<' | '&' | '_')).then_some(text)
}

// Any string in which a result begins.

fn quoted(lines: &mut Vec<Line>, long: bool) -> bool {
    let may = |line: &Line| ["\\n", "\\\"", ";fio-"].iter().any(|mark| line.text.contains(mark));
    if !lines.iter().any(may) {
        return false;
    }
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    let mut changed = false;
    for line in lines.drain(..) {
        if !may(&line) || plain.len() > MOST_LINES {
            plain.push(line);
            continue;
        }
        let mut rest = line.text.as_str();
        while let Some((before, inner, behind)) = next(rest, MOST_LAYERS) {
            if long && !inner.trim_end().contains('\n') {
                break;
            }
            let piece = Line { number: line.number, text: before.trim_end_matches(['"', '\'']).to_owned() };
            plain.extend(Some(piece).filter(|piece| piece.text.len() > 2));
            parts(&mut plain, line.number, inner.trim_end_matches(['\n', '\r']));
            changed = true;
            rest = behind;
        }
        if rest.len() == line.text.len() {
            plain.push(line);
        } else if !rest.trim().is_empty() {
            plain.push(Line { number: line.number, text: rest.to_owned() });
        }
    }
    plain.truncate(MOST_LINES + 1);
    *lines = plain;
    changed
}

/// The first string of a line in which a result begins, or a string that holds one: what stands before it, its text, and what
/// follows.
fn next(line: &str, layers: usize) -> Option<(&str, String, &str)> {
    let mut from = 0;
    while let Some(found) = line[from..].find(['"', '\'']) {
        let open = from + found;
        let opens = line[..open].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '\\')
            // Of Python: `u'…'`, `b"…"`.
            || line[..open].ends_with(['u', 'b', 'r', 'f']);
        let Some((text, end)) = opens.then(|| unescaped(&line[open..])).flatten() else {
            from = open + 1;
            continue;
        };
        if text.len() >= SHORTEST && holds_result(&text, layers - 1) {
            return Some((&line[..open], text, &line[open + end..]));
        }
        from = open + end;
    }
    None
}

fn holds_result(text: &str, layers: usize) -> bool {
    let mut lines = terminal_lines(text);
    messages(&mut lines);
    let plain = Text::within(lines);
    (0..plain.len().min(MOST_BEFORE))
        .any(|at| registry::begins(&plain, at) || layers > 0 && next(plain.long_line(at), layers).is_some())
}

/// A string in quotation marks without its escapes, and its length with the marks. `None` where it is not closed, or has
/// nothing in it that such a text would have.
fn unescaped(text: &str) -> Option<(String, usize)> {
    let mut chars = text.char_indices();
    let (_, mark) = chars.next()?;
    let mut out = String::new();
    let mut escapes = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                escapes = true;
                match chars.next()?.1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    'b' | 'f' => {}
                    'u' => {
                        let code = text.get(at + 2..at + 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                        if let Some(c) = code.and_then(char::from_u32) {
                            out.push(c);
                            chars.nth(3)?;
                        }
                    }
                    other => out.push(other),
                }
            }
            c if c == mark => {
                let told = escapes || out.contains(";fio-");
                return Some((if told { out } else { String::new() }, at + c.len_utf8()));
            }
            c => out.push(c),
        }
    }
    None
}

// Lists of documents in one line.

/// Breaks a line before each document of a list but the first.
fn apart(lines: &mut Vec<Line>) {
    let begins = |text: &str| -> Vec<usize> {
        let mut all: Vec<usize> =
            DOCUMENTS.iter().flat_map(|begin| text.match_indices(begin).map(|(at, _)| at)).collect();
        all.sort_unstable();
        all
    };
    if !lines.iter().any(|line| begins(&line.text).len() > 1) {
        return;
    }
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    for line in lines.drain(..) {
        let mut from = 0;
        for at in begins(&line.text).into_iter().skip(1).take(MOST_LINES) {
            plain.push(Line { number: line.number, text: line.text[from..at].to_owned() });
            from = at;
        }
        plain.push(Line { number: line.number, text: line.text[from..].to_owned() });
    }
    plain.truncate(MOST_LINES + 1);
    *lines = plain;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.to_owned() }).collect();
        expand(&mut lines);
        lines.into_iter().map(|line| line.text).collect()
    }

    /// What begins a result, and a line of it.
    const HDPARM: [&str; 2] = ["/dev/sda:", " Timing buffered disk reads: 456 MB in  3.01 seconds = 151.45 MB/sec"];

    #[test]
    fn strings_that_hold_a_result() {
        let joined = HDPARM.join("\\n");
        for text in [
            format!("{{\"pod\": \"a\", \"output\": \"{joined}\\n\"}}"),
            format!("{{\"body\": \"{}\\n\"}}", joined.replace("in  3", "in\\u00a0 3")),
            format!("12:00 INFO done result=\"{joined}\" duration=31s"),
            format!("got {{'rc': 0, 'out': '{joined}\\n', 'cmd': ['x']}}"),
            format!("\"answer\": \"{{\\\"out\\\": \\\"{}\\\"}}\",", joined.replace('\\', "\\\\")),
        ] {
            let lines = of(&text);
            for want in HDPARM {
                assert!(lines.iter().any(|line| line.as_str() == want), "{text}: {lines:?}");
            }
        }
        for text in ["{\"a\": \"b\\nc d e f g h i j k l m\"}", "it's \\n what it 'is'", "\"\\", "'\\u12'"] {
            assert_eq!(of(text), [text]);
        }
    }

    #[test]
    fn literals_below_one_another() {
        let of_code = |text: &str| {
            let mut lines: Vec<Line> =
                (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.to_owned() }).collect();
            expand_long(&mut lines);
            lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
        };
        let code = "  String s = \"a\\r\\n\" +\n\t\t\"[b]\\r\\n  c\\r\\n\" + \n\t\t\"d \" +\n\t\t\"e\\r\\n\";\nx";
        assert_eq!(of_code(code), ["a", "[b]", "  c", "d e", "x"]);
        let list = "x = @(\n  \"Reads:\",\n  \"r: (groupid=0, jobs=1): err= 0: pid=1\",\n  \"end\"\n)";
        assert_eq!(of_code(list), ["x = @(", "Reads:", "r: (groupid=0, jobs=1): err= 0: pid=1", "end", ")"]);
        for code in
            ["\"argv\": [\n\"a\",\n\"b\",\n\"c\"\n]", "f(\"a\\n\", 1)\nf(\"b\\n\", 2)\nf(\"c\\n\", 3)", "\"a\\n\"\nb"]
        {
            assert_eq!(of_code(code), code.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn logs_whose_lines_are_objects() {
        let docker = HDPARM.map(|line| format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"x\"}}"));
        assert_eq!(of(&docker.join("\n")), HDPARM);
        let divided = ["{\"log\":\"a b\",\"stream\":\"stdout\"}", "{\"log\":\"c\\n\",\"stream\":\"stdout\"}"];
        assert_eq!(of(&divided.join("\n")), ["a bc"]);
        let other = HDPARM.map(|line| format!("{{\"level\":\"info\",\"msg\":\"{line}\"}}"));
        assert_eq!(of(&other.join("\n")), HDPARM);
        let logrus = HDPARM.map(|line| format!("time=\"2024-05-01T10:00:00Z\" level=info msg=\"{line}\""));
        assert_eq!(of(&logrus.join("\n")), HDPARM);
        let alone = "{\"log\": 1}\n{\"text\": [\"a\"]}";
        assert_eq!(of(alone), alone.lines().collect::<Vec<_>>(), "no strings");
    }

    #[test]
    fn documents_of_a_list_in_one_line() {
        let text = "[{\"fio version\" : \"a\"}, {\"fio version\" : \"b\"}]";
        assert_eq!(of(text), ["[{\"fio version\" : \"a\"}, ", "{\"fio version\" : \"b\"}]"]);
    }
}
