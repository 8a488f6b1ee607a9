//! The common beginning of nearly all lines of a text.
//!
//! Each logger has a form of its own, and there is always another one. Words with digits are taken for alike, as times and numbers
//! of lines change; all else has to be the same. What a tool prints in front of all of its lines would go, too: so a text is
//! read in this way only where more is found in it then.

use std::collections::{BTreeMap, BTreeSet};

use super::lines::Line;

/// Lines of ten that have to begin alike.
const MOST: usize = 9;
/// Least number of lines that are not empty, and of lines that differ behind the beginning.
const LEAST: usize = 4;
const LEAST_OTHER: usize = 3;
/// Lines that are looked at.
const LOOKED_AT: usize = 2_000;
/// Longest front in bytes, and in parts.
const LONGEST: usize = 200;
const MOST_PARTS: usize = 60;

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Blanks,
    /// A word with a digit in it.
    Number,
    Word(&'a str),
    Sign(char),
}

impl Part<'_> {
    /// Whether what a tool printed may begin behind it.
    fn ends(self) -> bool {
        matches!(self, Self::Blanks | Self::Sign(':' | '|' | '>' | ']' | ')' | '#' | '\u{2502}' | '\u{2503}'))
    }
}

/// The first part of a text and its length; `None` at its end.
fn first(text: &str) -> Option<(Part<'_>, usize)> {
    let c = text.chars().next()?;
    let length = |is: fn(char) -> bool| text.find(|c| !is(c)).unwrap_or(text.len());
    if matches!(c, ' ' | '\t') {
        return Some((Part::Blanks, length(|c| matches!(c, ' ' | '\t'))));
    }
    if c.is_alphanumeric() {
        let end = length(char::is_alphanumeric);
        let word = &text[..end];
        let part = if word.contains(|c: char| c.is_ascii_digit()) { Part::Number } else { Part::Word(word) };
        return Some((part, end));
    }
    Some((Part::Sign(c), c.len_utf8()))
}

/// Takes off what stands in front of nearly all lines; whether something did.
pub(super) fn strip(lines: &mut [Line]) -> bool {
    let is_filled = |line: &&Line| !line.text.trim().is_empty();
    let every = (lines.iter().filter(is_filled).count() / LOOKED_AT).max(1);
    let all: Vec<&str> = lines.iter().filter(is_filled).step_by(every).map(|line| line.text.as_str()).collect();
    let front: Vec<Part<'_>> = shared(&all);
    if all.len() < LEAST || front.is_empty() {
        return false;
    }
    let rests: BTreeSet<&str> = all.iter().filter_map(|line| Some(behind(line, &front)?.0)).collect();
    // The blanks before the least indented line belong to the front.
    let blanks = all.iter().filter_map(|line| behind(line, &front)).filter(|(rest, _)| !rest.trim().is_empty());
    let least = blanks.map(|(_, blanks)| blanks).min().unwrap_or(0);
    if rests.len() < LEAST_OTHER {
        return false;
    }
    let cuts: Vec<Option<usize>> = lines
        .iter()
        .map(|line| {
            let (rest, blanks) = behind(&line.text, &front)?;
            Some(line.text.len() - rest.len() - blanks.saturating_sub(least))
        })
        .collect();
    for (line, cut) in lines.iter_mut().zip(cuts) {
        if let Some(cut) = cut {
            line.text.drain(..cut);
        }
    }
    true
}

/// The parts that nearly all lines begin with, up to the last behind which a line may begin.
fn shared<'a>(all: &[&'a str]) -> Vec<Part<'a>> {
    let mut rests: Vec<&str> = all.to_vec();
    let (mut front, mut kept, mut bytes) = (Vec::new(), 0, 0);
    while front.len() < MOST_PARTS {
        let mut counts: BTreeMap<Part<'a>, (usize, usize)> = BTreeMap::new();
        for (part, length) in rests.iter().filter_map(|rest| first(rest)) {
            let count = counts.entry(part).or_default();
            *count = (count.0 + 1, count.1.max(length));
        }
        // Lines that were empty end with the front.
        let ended = rests.iter().filter(|rest| rest.is_empty()).count();
        let Some((part, (count, length))) = counts.into_iter().max_by_key(|(_, (count, _))| *count) else { break };
        bytes += length;
        if (count + ended) * 10 < all.len() * MOST || count < LEAST || bytes > LONGEST {
            break;
        }
        front.push(part);
        rests.retain(|rest| rest.is_empty() || first(rest).is_some_and(|(other, _)| other == part));
        for rest in &mut rests {
            *rest = &rest[first(rest).map_or(0, |(_, length)| length)..];
        }
        if part.ends() {
            kept = front.len();
        }
    }
    front.truncate(kept);
    // Blanks alone, and numbers alone, are those of a table.
    let tells = |part: &Part<'_>| !matches!(part, Part::Blanks | Part::Number);
    if front.iter().any(tells) { front } else { Vec::new() }
}

/// What follows the front of a line, and how many blanks at the end of the front stand before it. A line that was empty may
/// lack the blanks.
fn behind<'a>(line: &'a str, front: &[Part<'_>]) -> Option<(&'a str, usize)> {
    let (mut rest, mut blanks) = (line, 0);
    for (at, part) in front.iter().enumerate() {
        let Some((found, length)) = first(rest) else {
            return (at + 1 == front.len() && *part == Part::Blanks).then_some((rest, 0));
        };
        if found != *part {
            return None;
        }
        blanks = if found == Part::Blanks { length } else { 0 };
        rest = &rest[length..];
    }
    Some((rest, blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Vec<String>> {
        let mut lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.to_owned() }).collect();
        strip(&mut lines).then(|| lines.into_iter().map(|line| line.text).collect())
    }

    #[test]
    fn the_front_of_any_logger() {
        for front in
            ["<6>#[app/x] ", "run # of 9 => out>", "node-a1f# \u{2502} ", "##-#-# (bench@node) info: ", "%#%: "]
        {
            let lines = [" a 1", "b: 2", "  c 3", "", "d"];
            let text: String = (11..)
                .zip(lines)
                .map(|(at, line)| format!("{}{line}\n", front.replace('#', &at.to_string())))
                .collect();
            assert_eq!(of(&text).as_deref(), Some(lines.map(str::to_owned).as_slice()), "{front}");
        }
    }

    #[test]
    fn tables_have_none() {
        for text in [
            "1 2 3\n4 5 6\n7 8 9\n1 4 5",
            "  a\n  b\n  c\n  d",
            "a: 1\nb: 1\na: 2\na: 3\nb: 3",
            "x: 1\nx: 1\nx: 1\nx: 1",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
