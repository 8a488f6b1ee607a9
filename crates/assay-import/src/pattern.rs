//! Patterns that stand in the program, and where a number ends.
//!
//! A pattern takes as many digits as it can and leaves what follows. Of `1,234.50` one for a number without commas would
//! take the `1`, of `2.?87` the `2.`: a figure that was never printed. So a match counts only where each number in it
//! is whole.

use regex_lite::{Captures, Matches};

/// A pattern that takes whole numbers alone.
#[derive(Debug)]
pub(crate) struct Regex(regex_lite::Regex);

/// A pattern that stands in the program, and is therefore sound: each is used by a test.
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex(regex_lite::Regex::new(pattern).expect("the pattern is fixed"))
}

impl Regex {
    /// Whether the text has the shape; its numbers may be broken.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The first match, where the numbers in it are whole.
    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.0.captures(text).filter(|found| are_whole(text, found))
    }

    /// All matches that cut no number.
    pub(crate) fn captures_iter<'t>(&self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.0.captures_iter(text).filter(move |found| are_whole(text, found))
    }

    /// Where the text has the shape.
    pub(crate) fn find_iter<'p, 't>(&'p self, text: &'t str) -> Matches<'p, 't> {
        self.0.find_iter(text)
    }

    /// The text with each match replaced.
    pub(crate) fn replace_all<'t, R: regex_lite::Replacer>(&self, text: &'t str, by: R) -> std::borrow::Cow<'t, str> {
        self.0.replace_all(text, by)
    }
}

/// Whether each group that is a number begins and ends where the number does. What the pattern itself goes on to match
/// behind a group was meant.
fn are_whole(text: &str, found: &Captures<'_>) -> bool {
    let Some(all) = found.get(0) else { return false };
    found.iter().skip(1).flatten().filter(|group| is_number(group.as_str())).all(|group| {
        let begins = group.start() > all.start() || !goes_back(&text[..group.start()]);
        // A comma or point that ends the match may be one of the number.
        let open = text.get(group.end()..all.end()).is_some_and(|rest| matches!(rest, "" | "." | ","));
        begins && !(open && goes_on(&text[group.end()..]))
    })
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'e' | b'E' | b'+' | b'-'))
}

/// Whether a number goes on behind its digits: in another digit, behind a mark, or in what is left of a character.
pub(crate) fn goes_on(behind: &str) -> bool {
    let mut next = behind.chars();
    match next.next() {
        Some(char::REPLACEMENT_CHARACTER) => true,
        Some(c) if c.is_ascii_digit() => true,
        // A letter that was read for a digit: `3O`. A unit is part of the pattern.
        Some(c) if c.is_ascii_alphabetic() => true,
        // A mark within it, or one that stands for a digit: `1,234`, `2.?87`.
        Some(c @ ('.' | ',' | '?')) => {
            let digit = match next.next() {
                Some('?') if c != '?' => next.next(),
                other => other,
            };
            digit.is_some_and(|digit| digit.is_ascii_digit())
        }
        _ => false,
    }
}

/// Whether what ends here is the beginning of the number behind it.
fn goes_back(before: &str) -> bool {
    let mut last = before.chars().rev();
    match last.next() {
        Some(char::REPLACEMENT_CHARACTER) => true,
        Some(c) if c.is_ascii_digit() => true,
        Some('.' | ',' | '?') => last.next().is_some_and(|digit| digit.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_where_it_ends() {
        let number = regex(r"avg=([0-9.]+)");
        for (text, value) in [
            ("avg=12.5", Some("12.5")),
            ("avg=12.5, max=3", Some("12.5")),
            ("avg=12.5MB", None),
            ("avg=12.5.", Some("12.5.")),
            ("avg=1,234.50", None),
            ("avg=2.\u{fffd}87", None),
            ("avg=2.?87", None),
            ("avg=2?87", None),
            ("avg=3O.5", None),
            ("avg=3O5", None),
            ("avg=3?", Some("3")),
        ] {
            assert_eq!(
                number.captures(text).map(|found| found.get(1).map_or("", |n| n.as_str()).to_owned()).as_deref(),
                value,
                "{text}"
            );
        }
        assert!(regex(r"avg=([0-9.]+),").captures("avg=1,234.5,").is_none(), "the mark is one of the number");
        assert!(regex(r"v([0-9]+)\.([0-9]+)").captures("v8.04").is_some(), "the pattern goes on itself");
        assert!(regex(r"([0-9]+) s$").captures("1.25 s").is_none(), "the end of a number");
        assert!(regex(r"([0-9]+) s$").captures("1\u{fffd}25 s").is_none());
        assert!(regex(r"([0-9]+) s$").captures("x, 25 s").is_some());
    }
}
