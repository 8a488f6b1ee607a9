//! What stands before each line: marks of a quotation, of a comment, numbers of lines.

use super::line::Line;

/// Share of the lines that have to begin so, of ten: a comment within a text is no wrapping.
const MOST: usize = 8;

/// Takes it off.
pub(super) fn strip(lines: &mut [Line]) {
    // A quotation is marked on its own lines alone.
    for line in lines.iter_mut() {
        let mut rest = line.text.as_str();
        while let Some(behind) = rest.strip_prefix('>') {
            rest = behind.strip_prefix(' ').unwrap_or(behind);
        }
        line.text.drain(..line.text.len() - rest.len());
    }
    for mark in ["//", "#", "|", ";", "*"] {
        common(lines, |text| text.strip_prefix(mark).map(|rest| rest.strip_prefix(' ').unwrap_or(rest)));
    }
    let mut expected = None;
    let counted = lines.iter().filter(|line| !line.text.trim().is_empty()).all(|line| {
        let number = numbered(&line.text).map(|(number, _)| number);
        let follows = number.is_some() && expected.is_none_or(|expected| number == Some(expected));
        expected = number.and_then(|number| number.checked_add(1));
        follows
    });
    if counted && expected.is_some_and(|next| next > 3) {
        common(lines, |text| numbered(text).map(|(_, rest)| rest));
    }
}

/// Takes off what `rest` takes off, where most lines have it.
fn common(lines: &mut [Line], rest: impl Fn(&str) -> Option<&str>) {
    let filled: Vec<&Line> = lines.iter().filter(|line| !line.text.trim().is_empty()).collect();
    let marked = filled.iter().filter(|line| rest(line.text.trim_start()).is_some()).count();
    if filled.len() < 2 || marked * 10 < filled.len() * MOST {
        return;
    }
    for line in lines {
        if let Some(rest) = rest(line.text.trim_start()) {
            line.text = rest.to_owned();
        }
    }
}

/// The number at the beginning of a line and what follows it.
fn numbered(text: &str) -> Option<(u64, &str)> {
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text.get(..digits)?.parse().ok()?;
    let rest = text[digits..].trim_start_matches([':', '|', '.', ')', '\t', ' ']);
    Some((number, rest))
}
