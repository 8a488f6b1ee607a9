//! Documents of JSON in a text.

use crate::text::Text;

/// The text of the document that begins in line `at`, the first line behind it and whether it is cut off. One that is cut
/// off is closed behind the last object in a list of its own that is complete; it is empty where there is none. Where
/// `other` says that another begins, this one ends.
pub(crate) fn body(text: &Text, at: usize, other: impl Fn(usize) -> bool) -> (String, usize, bool) {
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
pub(crate) fn begins(text: &Text, at: usize, name: &str) -> bool {
    let line = text.long_line(at);
    match line.rsplit_once('{') {
        Some((_, behind)) if behind.trim().is_empty() || is_overprinted(line) => {
            (at + 1..at + 3).any(|next| text.long_line(next).contains(name))
        }
        Some(_) => line.contains(name),
        None => false,
    }
}
