//! Texts out of web pages.

use super::MOST_LINES;
use super::line::Line;

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

/// Takes the elements of pages off, and resolves entities, where there are any.
pub(super) fn strip(lines: &mut Vec<Line>) {
    if !lines.iter().any(|line| has_element(&line.text) || line.text.contains("&lt;") || line.text.contains("&amp;")) {
        return;
    }
    let mut plain = Vec::with_capacity(lines.len());
    for line in lines.drain(..) {
        let stripped = without_elements(&line.text);
        let whole = !stripped.contains('\n');
        let kept = stripped.split('\n').filter(|part| whole || !part.trim().is_empty());
        plain.extend(kept.map(|part| Line { number: line.number, text: entities(part) }).take(MOST_LINES + 1));
        if plain.len() > MOST_LINES {
            break;
        }
    }
    *lines = plain;
}

fn has_element(text: &str) -> bool {
    for (at, _) in text.match_indices('<') {
        match element(&text[at..]) {
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
fn element(text: &str) -> Element {
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
        match element(rest) {
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
