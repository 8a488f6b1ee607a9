//! Blank lines that a mail or a page has put between all lines, and the end of a text that is cut off.

use super::line::Line;

/// Fewest lines of which each is followed by a blank one.
const LEAST: usize = 2;
/// Share of the lines that are, of ten.
const MOST: usize = 9;
/// Fewest numbers of a row of a table.
const LEAST_NUMBERS: usize = 2;

/// Takes out a blank line behind each line, where nearly all have one: mails and copied pages double the ends of lines.
pub(super) fn single_spaced(lines: &mut Vec<Line>) {
    let is_blank = |line: &Line| line.text.trim().is_empty();
    let filled = lines.iter().filter(|line| !is_blank(line)).count();
    let followed = lines.windows(2).filter(|pair| !is_blank(&pair[0]) && is_blank(&pair[1])).count();
    // The last has none where the text ends with it.
    let last = usize::from(lines.last().is_some_and(|line| !is_blank(line)));
    if filled < LEAST || (followed + last) * 10 < filled * MOST {
        return;
    }
    let mut kept = true;
    lines.retain(|line| {
        kept = !(kept && is_blank(line));
        kept
    });
}

/// Takes the last number of a row away where the text ends with it, without the end of a line: of `1165` it may be the
/// `116`.
pub(super) fn without_cut_number(lines: &mut [Line]) {
    let Some(last) = lines.last_mut() else { return };
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | ',' | '|');
    let is_number = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
    };
    let Some(number) = last.text.rsplit(is_end).next().filter(is_number) else { return };
    if last.text.split(is_end).filter(is_number).count() >= LEAST_NUMBERS {
        let whole = last.text.len() - number.len();
        last.text.truncate(whole);
    }
}
