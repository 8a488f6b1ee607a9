//! Warnings of a record, the same ones said once.

use assay_core::finding::{Finding, Severity, Warning};
use assay_core::record::Record;
use assay_core::text::statement;

/// A warning with the workloads it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) severity: Severity,
    /// One cause; of several that differ in numbers, with the range of each number.
    pub(crate) cause: String,
    pub(crate) remedy: String,
    /// Titles of workloads; empty where it is about the run.
    pub(crate) about: Vec<String>,
}

impl Note {
    /// The cause and its subject.
    pub(crate) fn sentence(&self) -> String {
        match self.about.as_slice() {
            [] => self.cause.clone(),
            about => {
                // Titles of an open loop have commas themselves.
                let between = if about.iter().any(|title| title.contains(", ")) { "; " } else { ", " };
                format!("{}: {}", about.join(between), self.cause)
            }
        }
    }

    /// The same with the remedy, as sentences.
    pub(crate) fn sentences(&self) -> String {
        let cause = format!("{}.", statement(&self.sentence()));
        if self.remedy.is_empty() { cause } else { format!("{cause} Remedy: {}.", statement(&self.remedy)) }
    }

    pub(crate) fn word(&self) -> &'static str {
        word(self.severity)
    }
}

/// A severity as people read it.
pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "invalid",
        Severity::Suspect => "suspect",
        Severity::Note => "note",
    }
}

/// All warnings, the gravest first, each cause once.
pub(crate) fn notes(record: &Record) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    let of_run = record.warnings.iter().map(|w| (w, None));
    let of_workloads =
        record.measurements.iter().flat_map(|m| m.warnings.iter().map(|w| (w, Some(record.load_title(m)))));
    for (warning, about) in of_run.chain(of_workloads) {
        // That a workload was skipped stands in its own row, with the reason.
        if matches!(warning.finding, Finding::FewerRepeats { ran: 0, .. }) {
            continue;
        }
        // This one names the workload itself.
        let about = about.filter(|_| !matches!(warning.finding, Finding::ScaledDown { .. }));
        let cause = common_cause(warning);
        match notes
            .iter_mut()
            .find(|n| n.severity == warning.severity && n.remedy == warning.remedy() && same(&n.cause, &cause))
        {
            Some(note) => {
                note.cause = merged(&note.cause, &cause);
                if let Some(title) = about.filter(|t| !note.about.is_empty() && !note.about.contains(t)) {
                    note.about.push(title);
                }
            }
            None => notes.push(Note {
                severity: warning.severity,
                cause,
                remedy: warning.remedy().to_owned(),
                about: about.into_iter().collect(),
            }),
        }
    }
    let all = record.measurements.len();
    for note in &mut notes {
        note.cause = without_bounds(&note.cause);
        // About all loads, as most notes on an imported figure are.
        if all > 2 && note.about.len() == all {
            note.about = vec!["all loads".to_owned()];
        }
    }
    notes.sort_by_key(|n| std::cmp::Reverse(n.severity));
    notes
}

/// The cause without what differs between workloads and stands in the table anyway.
fn common_cause(warning: &Warning) -> String {
    match warning.finding {
        Finding::BusLimited { .. } => "bus-limited, so the medium may be faster than this".to_owned(),
        _ => warning.cause(),
    }
}

// Sentences that differ in numbers alone, as one with ranges: `only 2.1 to 5.3 % of the bytes`.

/// What stands between the ends of a range.
const TO: &str = " to ";

/// A piece of a sentence.
#[derive(Debug, PartialEq)]
enum Piece<'a> {
    Words(&'a str),
    /// Lowest and highest number seen, as they were written; the same for one.
    Number(&'a str, &'a str),
}

/// Whether two sentences are the same but for their numbers.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (pieces(a), pieces(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|pair| match pair {
            (Piece::Words(a), Piece::Words(b)) => a == b,
            (Piece::Number(..), Piece::Number(..)) => true,
            _ => false,
        })
}

/// Two such sentences as one.
fn merged(a: &str, b: &str) -> String {
    let pair = |(a, b): (Piece<'_>, Piece<'_>)| match (a, b) {
        (Piece::Number(low, high), Piece::Number(other_low, other_high)) => {
            let least = if value(other_low) < value(low) { other_low } else { low };
            let most = if value(other_high) > value(high) { other_high } else { high };
            if least == most { least.to_owned() } else { format!("{least}{TO}{most}") }
        }
        (Piece::Words(words), _) | (_, Piece::Words(words)) => words.to_owned(),
    };
    pieces(a).into_iter().zip(pieces(b)).map(pair).collect()
}

/// What says of the number behind it that it is a bound.
const BOUNDS: [&str; 3] = ["up to ", "at most ", "at least "];

/// The sentence without words for a bound before a range, which has two of its own.
fn without_bounds(text: &str) -> String {
    let pieces = pieces(text);
    let mut out = String::with_capacity(text.len());
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Words(words) => {
                let range = matches!(pieces.get(at + 1), Some(Piece::Number(low, high)) if low != high);
                let bound = BOUNDS.iter().find_map(|bound| words.strip_suffix(bound)).filter(|_| range);
                out.push_str(bound.unwrap_or(words));
            }
            Piece::Number(low, high) if low == high => out.push_str(low),
            Piece::Number(low, high) => out.push_str(&format!("{low}{TO}{high}")),
        }
    }
    out
}

fn value(number: &str) -> f64 {
    number.replace(' ', "").parse().unwrap_or(0.0)
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        // Digits within a word belong to its name: `QD32`, `V10`.
        let named = rest[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        if named && start < rest.len() {
            let end = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| start + at);
            pieces.push(Piece::Words(&rest[..end]));
            rest = &rest[end..];
            continue;
        }
        if start > 0 {
            pieces.push(Piece::Words(&rest[..start]));
        }
        rest = &rest[start..];
        let end = number(rest);
        let low = &rest[..end];
        let second = rest[end..].strip_prefix(TO).filter(|after| !low.is_empty() && number(after) > 0);
        let (high, after) = second.map_or((low, &rest[end..]), |after| after.split_at(number(after)));
        if !low.is_empty() {
            pieces.push(Piece::Number(low, high));
        }
        rest = after;
    }
    pieces
}

/// Length of the number at the start: digits, a decimal point, and blanks before groups of three digits.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    loop {
        let group =
            bytes.get(end) == Some(&b' ') && (1..=3).all(|ahead| digit(end + ahead)) && !digit(end + 4) && end > 0;
        match bytes.get(end) {
            Some(c) if c.is_ascii_digit() => end += 1,
            Some(b'.') if end > 0 && digit(end + 1) => end += 1,
            Some(_) if group => end += 4,
            _ => return end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_become_one() {
        let (a, b) = ("only 5.3 % of 1 499 bytes at QD32", "only 2.10 % of 900 bytes at QD32");
        assert!(same(a, b));
        assert_eq!(merged(a, b), "only 2.10 to 5.3 % of 900 to 1 499 bytes at QD32");
        assert_eq!(
            merged(&merged(a, b), "only 9 % of 900 bytes at QD32"),
            "only 2.10 to 9 % of 900 to 1 499 bytes at QD32"
        );
        assert_eq!(merged("a 1 b", "a 1 b"), "a 1 b");
    }

    #[test]
    fn a_range_is_no_bound() {
        let merge = |all: &[&str]| all[1..].iter().fold(all[0].to_owned(), |whole, one| merged(&whole, one));
        let used = merge(&["used up to 85.4 % of all", "used up to 69.8 % of all", "used up to 70 % of all"]);
        assert_eq!(without_bounds(&used), "used 69.8 to 85.4 % of all");
        let same = "used up to 85.4 % of 4 at most 3 times, at least";
        assert_eq!(without_bounds(same), same);
    }

    #[test]
    fn other_sentences_stay_apart() {
        assert!(!same("random read QD1: 5 ms", "random read QD32: 5 ms"));
        assert!(!same("5 µs", "5 ms") && !same("a", "a 1") && !same("", "1"));
        assert!(same("", "") && same("Größe 漢字", "Größe 漢字"));
    }
}
