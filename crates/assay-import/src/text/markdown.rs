//! Tables of Markdown: a table that a tool has printed with blanks between its columns, as people put it in bars.
//!
//! A row becomes the line that it was. Its cells end in one column, so that the place of a cell shows which cells the tool left
//! out. The row of lines below the heading goes. Tables whose tool prints bars of its own stay as they are.

use super::line::Line;

/// Words of a heading whose tool divides its columns by bars: the totals of diskspd and its percentiles.
const OWN: [&str; 2] = ["thread", "%-ile"];
/// Most columns of a table, and the widest that is kept below one another: those of tools are narrower.
const MOST_COLUMNS: usize = 40;
const WIDEST: usize = 40;
/// Fewest bars of the row below a heading.
const LEAST_BARS: usize = 1;

/// Takes the bars off.
pub(super) fn tables(lines: &mut Vec<Line>) {
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
        let row = cells(&lines[*row].text);
        for (width, cell) in widths.iter_mut().zip(row.into_iter().flatten()) {
            *width = cell.chars().count().min(WIDEST).max(*width);
        }
    }
    for row in rows {
        let Some(row_of) = cells(&lines[*row].text) else { continue };
        let padded: Vec<String> = row_of.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        lines[*row].text = padded.join("  ").trim_end().to_owned();
    }
}

fn is_blank(line: &Line) -> bool {
    line.text.trim().is_empty()
}

/// Whether a line is the one below the heading: `| --- | :---: |`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.matches('|').count() >= LEAST_BARS
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
fn cells(row: &str) -> Option<Vec<&str>> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let all: Vec<&str> =
        row.split('|').map(|cell| cell.trim().trim_matches(['*', '`'])).take(MOST_COLUMNS + 1).collect();
    (all.len() <= MOST_COLUMNS).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut lines: Vec<Line> =
            (1..).zip(text.lines()).map(|(number, text)| Line { number, text: text.to_owned() }).collect();
        tables(&mut lines);
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
