//! Texts out of web pages and forums.

use super::MOST_LINES;
use super::lines::Line;

/// Elements of pages that people write; those of data formats are left alone. These do not begin a line.
const INLINE: [&str; 20] = [
    "a", "b", "body", "center", "code", "dl", "em", "font", "head", "html", "i", "kbd", "samp", "span", "strong",
    "tbody", "td", "th", "tt", "ul",
];
/// Those that begin a line of their own.
const BREAKS: [&str; 18] = [
    "blockquote",
    "br",
    "dd",
    "div",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "table",
    "tr",
];

/// Length of the longest name of an element.
const LONGEST_NAME: usize = 10;

/// Whether a text is markup that a format reads by itself.
pub(super) fn is_markup(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("<?xml") || start.starts_with("<PhoronixTestSuite") || start.starts_with("<Results>")
}

/// Marks of forums, without their values: `[code]`, `[/B]`, `[size=2]`.
const FORUM: [&str; 14] =
    ["b", "i", "u", "code", "quote", "pre", "size", "color", "font", "center", "spoiler", "tt", "mono", "noparse"];
/// Longest value of a mark.
const LONGEST_VALUE: usize = 60;

/// Takes the marks of forums off whose ends stand somewhere in the text, too.
pub(super) fn without_forum_marks(lines: &mut [Line]) {
    let ends = |name: &&&str| lines.iter().any(|line| line.text.contains("[/") && has_end(&line.text, name));
    let names: Vec<&str> = FORUM.iter().filter(ends).copied().collect();
    if names.is_empty() {
        return;
    }
    for line in lines.iter_mut().filter(|line| line.text.contains('[')) {
        let mut out = String::with_capacity(line.text.len());
        let mut rest = line.text.as_str();
        while let Some(at) = rest.find('[') {
            let (before, mark) = rest.split_at(at);
            out.push_str(before);
            let length = forum_mark(mark, &names);
            if length == 0 {
                out.push('[');
            }
            rest = &mark[length.max(1)..];
        }
        out.push_str(rest);
        line.text = out;
    }
}

fn has_end(text: &str, name: &str) -> bool {
    text.match_indices("[/").any(|(at, _)| forum_mark(&text[at..], &[name]) > 0)
}

/// Length of the mark at the beginning of a text; 0 if it has no such name.
fn forum_mark(text: &str, names: &[&str]) -> usize {
    let inner = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let stands = |name: &&&str| {
        let head = inner.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        head && matches!(inner.as_bytes().get(name.len()), Some(b']' | b'='))
    };
    let Some(name) = names.iter().find(stands) else { return 0 };
    let value = inner[name.len()..].bytes().take(LONGEST_VALUE).position(|byte| matches!(byte, b']' | b'['));
    let closed = value.filter(|end| inner.as_bytes()[name.len() + end] == b']');
    closed.map_or(0, |end| text.len() - inner.len() + name.len() + end + 1)
}

/// Takes the elements of pages off, and resolves entities, where there are any.
pub(super) fn strip_html(lines: &mut Vec<Line>) {
    if !lines.iter().any(|line| has_element(&line.text) || line.text.contains("&lt;") || line.text.contains("&amp;")) {
        return;
    }
    let mut plain = Vec::with_capacity(lines.len());
    for line in lines.drain(..) {
        let stripped = without_elements(&line.text);
        // A line of breaks alone is a blank one; other elements alone are none.
        let whole = !stripped.contains('\n') || stripped.trim().is_empty() && is_gap(&line.text);
        let stripped = if whole { stripped.trim_matches('\n') } else { &stripped };
        let kept = stripped.split('\n').filter(|part| whole || !part.trim().is_empty());
        plain.extend(kept.map(|part| Line { number: line.number, text: entities(part) }).take(MOST_LINES + 1));
        if plain.len() > MOST_LINES {
            break;
        }
    }
    *lines = plain;
}

/// Whether a line has an element that a page shows as a blank line when it is empty: `<br/>`, `<p></p>`.
fn is_gap(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| matches!(html_element(&text[at..]), Element::Known { name: "br" | "p", .. }))
}

fn has_element(text: &str) -> bool {
    for (at, _) in text.match_indices('<') {
        match html_element(&text[at..]) {
            Element::Known { .. } => return true,
            Element::Open => return false,
            Element::None => {}
        }
    }
    false
}

/// What stands at a `<`.
enum Element {
    /// An element of a page, with its length.
    Known {
        name: &'static str,
        length: usize,
    },
    /// The beginning of one, and no `>` in all that follows: no element does.
    Open,
    None,
}

/// The element at the beginning of `text`. Its end is looked for behind a name that is known alone, so that the marks of a
/// line are passed once.
fn html_element(text: &str) -> Element {
    let inner = text[1..].trim_start_matches('/');
    let name = inner.bytes().take(LONGEST_NAME + 1).take_while(u8::is_ascii_alphanumeric).count();
    let closed = matches!(inner.as_bytes().get(name), Some(b' ' | b'/' | b'\t' | b'>'));
    let known = INLINE.iter().chain(&BREAKS).find(|known| inner[..name].eq_ignore_ascii_case(known));
    match (known, closed) {
        (Some(name), true) => text.find('>').map_or(Element::Open, |end| Element::Known { name, length: end + 1 }),
        _ => Element::None,
    }
}

fn without_elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match html_element(rest) {
            Element::Known { name, length } => {
                if BREAKS.contains(&name) {
                    out.push('\n');
                } else if name == "td" || name == "th" {
                    out.push(' ');
                }
                rest = &rest[length..];
            }
            Element::Open => break,
            Element::None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entities(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let replaced = text
        .replace("&nbsp;", " ")
        .replace("&#160;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&#x27;", "'")
        .replace("&micro;", "µ");
    // Last, so that what it uncovers is not resolved again.
    replaced.replace("&amp;", "&")
}
