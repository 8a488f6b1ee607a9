//! Texts out of web pages.

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
        let parts: Vec<&str> = stripped.split('\n').collect();
        let whole = parts.len() == 1;
        let kept = parts.into_iter().filter(|part| whole || !part.trim().is_empty());
        plain.extend(kept.map(|part| Line { number: line.number, text: entities(part) }));
    }
    *lines = plain;
}

fn has_element(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| element(&text[at..]).is_some())
}

/// The name and the length of the element at the beginning of `text`.
fn element(text: &str) -> Option<(&'static str, usize)> {
    let end = text.find('>')? + 1;
    let inner = text[1..end - 1].trim_start_matches('/');
    let name: String = inner.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let after = inner[name.len()..].chars().next();
    let closed = matches!(after, None | Some(' ' | '/' | '\t'));
    INLINE.iter().chain(&BREAKS).find(|known| **known == name && closed).map(|known| (*known, end))
}

fn without_elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match element(rest) {
            Some((name, length)) => {
                if BREAKS.contains(&name) {
                    out.push('\n');
                } else if name == "td" || name == "th" {
                    out.push(' ');
                }
                rest = &rest[length..];
            }
            None => {
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
