//! Lines as a terminal would show them: without colours and other escape sequences.

use super::line::Line;

/// The lines of a text. A carriage return ends a line too: progress is written over itself so.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let parts = line.split('\r').map(plain);
        lines.extend(parts.filter(|part| !part.is_empty()).map(|text| Line { number, text }));
        if line.trim_matches('\r').is_empty() {
            lines.push(Line { number, text: String::new() });
        }
    }
    lines
}

/// A line without escape sequences and control characters; tabs stay.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // Control sequences end with a byte from @ to ~ (ECMA-48).
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                // Commands of the system, such as titles, end with BEL or ESC \.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || c == '\u{1b}' && chars.next_if_eq(&'\\').is_some() {
                            break;
                        }
                    }
                }
                // Character sets have one more byte.
                Some('(' | ')') => {
                    chars.next();
                }
                _ => {}
            },
            '\u{a0}' | '\u{202f}' | '\u{2009}' => out.push(' '),
            '\t' => out.push('\t'),
            c if c.is_control() || c == '\u{feff}' => {}
            c => out.push(c),
        }
    }
    out
}
