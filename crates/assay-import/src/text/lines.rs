//! A line of a text.

/// Blanks at which a page breaks no line, and narrow ones. Tools print plain ones.
pub(super) const NARROW_BLANKS: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Its text, without the end of the line.
    pub text: String,
}

// Lines as a terminal would show them: without colours and other escape sequences.

/// The lines of a text. A carriage return ends a line too: progress is written over itself so. Where nothing else ends a
/// line, all of them end so.
pub(super) fn terminal_lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let end = if text.contains('\n') { '\n' } else { '\r' };
    for (number, line) in (1..).zip(text.split_terminator(end)) {
        let known = lines.len();
        let parts = line.split('\r').map(plain_line);
        lines.extend(parts.filter(|part| !part.is_empty()).map(|text| Line { number, text }));
        // A line of colours alone is a blank one.
        if lines.len() == known {
            lines.push(Line { number, text: String::new() });
        }
    }
    lines
}

/// A line without escape sequences and control characters; tabs stay.
fn plain_line(line: &str) -> String {
    let line = if line.contains('\u{8}') { &overprinted(line) } else { line };
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
            c if NARROW_BLANKS.contains(&c) => out.push(' '),
            '\t' => out.push('\t'),
            c if c.is_control() || c == '\u{feff}' => {}
            c => out.push(c),
        }
    }
    out
}

/// A line in which backspaces take the place of writing back, as f3 and bonnie++ write over their progress.
fn overprinted(line: &str) -> String {
    let (mut shown, mut at) = (Vec::with_capacity(line.len()), 0_usize);
    for c in line.chars() {
        match (c, shown.get_mut(at)) {
            ('\u{8}', _) => at = at.saturating_sub(1),
            (c, Some(place)) => {
                *place = c;
                at += 1;
            }
            (c, None) => {
                shown.push(c);
                at += 1;
            }
        }
    }
    shown.into_iter().collect()
}

// Colours whose first byte a page or a form has lost: `[1m[35mScore: 9[0m`.

/// Fewest codes of a text for them to be codes.
const LEAST_CODES: usize = 3;
/// What stands for the escape, as terminals, pages and strings write it.
const MARKS: [&str; 8] = ["^[", "\u{241b}", "\\e", "\\033", "\\x1b", "\\x1B", "\\u001b", "\\u001B"];

/// Takes colours off that lost their escape, where a text has several and one that ends them.
pub(super) fn without_lost_escapes(lines: &mut [Line]) {
    let (mut count, mut ends) = (0, false);
    for line in &*lines {
        for (_, code) in lost_codes(&line.text) {
            count += 1;
            ends |= code == "[0m";
        }
    }
    if count < LEAST_CODES || !ends {
        return;
    }
    for line in lines {
        let mut plain = String::with_capacity(line.text.len());
        let mut from = 0;
        for (at, code) in lost_codes(&line.text) {
            let before = &line.text[from..at];
            plain.push_str(MARKS.iter().find_map(|mark| before.strip_suffix(mark)).unwrap_or(before));
            from = at + code.len();
        }
        if from > 0 {
            plain.push_str(&line.text[from..]);
            line.text = plain;
        }
    }
}

/// Codes of colours in a line, each with where it begins: numbers with semicolons between them (ECMA-48). A time in
/// brackets, as `[10m]`, `[10m:30s]`, is none, nor is `[max]`.
fn lost_codes(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices('[').filter_map(move |(at, _)| {
        let behind = &line[at + 1..];
        let numbers = behind.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
        let rest = behind[numbers..].strip_prefix('m')?;
        let known = |number: &str| number.parse::<u8>().is_ok();
        let is_code = behind[..numbers].split(';').all(known) && !rest.starts_with([']', ':']);
        is_code.then(|| (at, &line[at..at + numbers + 2]))
    })
}

// Blank lines that a mail or a page has put between all lines, and the end of a text that is cut off.

/// Fewest lines that are each followed by a blank one.
const LEAST_BLANK_LINES: usize = 2;
/// Share of the lines that are, of ten.
const MOST_BLANK_LINES: usize = 9;
/// Fewest numbers of a row of a table.
const LEAST_NUMBERS: usize = 2;

/// Takes out a blank line behind each line, where nearly all have one: mails and copied pages double the ends of lines.
pub(super) fn single_spaced(lines: &mut Vec<Line>) {
    let is_blank = |line: &Line| line.text.trim().is_empty();
    let filled = lines.iter().filter(|line| !is_blank(line)).count();
    let followed = lines.windows(2).filter(|pair| !is_blank(&pair[0]) && is_blank(&pair[1])).count();
    // The last has none where the text ends with it.
    let last = usize::from(lines.last().is_some_and(|line| !is_blank(line)));
    if filled < LEAST_BLANK_LINES || (followed + last) * 10 < filled * MOST_BLANK_LINES {
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

// Tables of Markdown: a table that a tool has printed with blanks between its columns, as people put it in bars.
//
// A row becomes the line that it was. Its cells end in one column, so that the place of a cell shows which cells the tool left
// out. The row of lines below the heading goes. Tables whose tool prints bars of its own stay as they are.

/// Words of a heading whose tool divides its columns by bars: the totals of diskspd, whose title people put there too, and its
/// percentiles.
const OWN: [&str; 9] =
    ["thread", "i/o per s", "%-ile", "total io", "totalio", "read io", "readio", "write io", "writeio"];
/// Most columns of a table, and the widest that is kept below one another: those of tools are narrower.
const MOST_COLUMNS: usize = 40;
const WIDEST: usize = 40;
/// Fewest bars of the row below a heading.
const LEAST_BARS: usize = 1;

/// Takes the bars off.
pub(super) fn markdown_tables(lines: &mut Vec<Line>) {
    let mut rules = Vec::new();
    let mut at = 1;
    while at < lines.len() {
        // A mail may have put a blank line behind each.
        let step = if is_blank(&lines[at - 1]) { 2 } else { 1 };
        let heading =
            at.checked_sub(step).filter(|heading| is_row(&lines[*heading].text) && !is_own(&lines[*heading].text));
        let Some(heading) = heading.filter(|_| is_rule(&lines[at].text)) else {
            at += 1;
            continue;
        };
        rules.push(at);
        let mut rows = vec![heading];
        at += step;
        while at < lines.len() && is_row(&lines[at].text) && !is_rule(&lines[at].text) {
            rows.push(at);
            at += step;
        }
        align(lines, &rows);
    }
    let (mut number, mut rules) = (0, rules.into_iter().peekable());
    lines.retain(|_| {
        number += 1;
        rules.next_if(|rule| *rule + 1 == number).is_none()
    });
}

/// Puts the cells of each column below one another.
fn align(lines: &mut [Line], rows: &[usize]) {
    let mut widths = [0; MOST_COLUMNS];
    for row in rows {
        let row = markdown_cells(&lines[*row].text);
        for (width, cell) in widths.iter_mut().zip(row.into_iter().flatten()) {
            *width = cell.chars().count().min(WIDEST).max(*width);
        }
    }
    for row in rows {
        let Some(row_of) = markdown_cells(&lines[*row].text) else { continue };
        let padded: Vec<String> = row_of.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        lines[*row].text = padded.join("  ").trim_end().to_owned();
    }
}

fn is_blank(line: &Line) -> bool {
    line.text.trim().is_empty()
}

/// Whether a line is the one below the heading: `| --- | :---: |`. A bar in front alone, `| ---`, marks a quotation.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    let quoted = line.starts_with('|') && line.matches('|').count() == 1;
    line.matches('|').count() >= LEAST_BARS
        && !quoted
        && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
        && line.trim_matches('|').split('|').all(|cell| {
            let cell = cell.trim();
            let dashes = cell.trim_start_matches(':').trim_end_matches(':');
            !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
        })
}

fn is_row(line: &str) -> bool {
    line.contains('|')
}

fn is_own(heading: &str) -> bool {
    heading.split('|').any(|cell| OWN.contains(&cell.trim().to_ascii_lowercase().as_str()))
}

/// The cells of a row, without its bars and without marks of type. `None` where they are more than any tool has.
fn markdown_cells(row: &str) -> Option<Vec<&str>> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let all: Vec<&str> =
        row.split('|').map(|cell| cell.trim().trim_matches(['*', '`'])).take(MOST_COLUMNS + 1).collect();
    (all.len() <= MOST_COLUMNS).then_some(all)
}

/// Fewest lines between two slashes on each side that tell of a mail whose italics they are.
const LEAST_SLANTED: usize = 4;

/// Takes the marks of italic and bold letters off, where a mail was made of a page: `//lat (usec): min=6, //*max=9*//`. A
/// comment of code does not end with two slashes.
pub(super) fn without_slants(lines: &mut [Line]) {
    let whole =
        |line: &&Line| line.text.len() > 4 && line.text.starts_with("//") && line.text.trim_end().ends_with("//");
    if lines.iter().filter(whole).count() < LEAST_SLANTED {
        return;
    }
    for line in lines {
        let text = line.text.trim_end();
        let ends = text.ends_with('/') || text.ends_with("/*");
        let begins = text.starts_with("//") || text.starts_with("/*") || text.starts_with('/') && ends;
        let text = if begins { text.trim_start_matches(['/', '*']) } else { text };
        let text = if ends { text.trim_end_matches(['/', '*']) } else { text };
        line.text = text.replace("//*", "").replace("*//", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.to_owned() }).collect();
        markdown_tables(&mut lines);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_table_is_what_was_printed() {
        let table = "x | y\n| A  | B b |\n| :- | --: |\n| **1** | `2 MB/s` |\n| 3 |  |\nno | row\n\n| c | d |";
        assert_eq!(of(table), ["x | y", " A     B b", " 1  2 MB/s", " 3", "no     row", "", "| c | d |"]);
        assert_eq!(of("a|b\n-|-\n1|2"), ["a  b", "1  2"], "without bars at its ends");
        assert_eq!(of("a|b\n\n-|-\n\n1|2\n\n3|4"), ["a  b", "", "", "1  2", "", "3  4"], "blank lines between");
    }

    #[test]
    fn what_has_bars_of_its_own_stays() {
        for text in [
            "thread | bytes |\n|---|---|\n| 0 | 1 |",
            "%-ile | Read |\n---|---\nmin | 1",
            "thread |       bytes     |\n------------------\n     0 |     1",
            "     |  1.00th=[    5],\n     | 99.00th=[    7]",
            "a\n---\nb | c",
        ] {
            assert_eq!(of(text).join("\n"), text);
        }
    }
}
