//! An advice under construction: the sentence with the decision, then tables and lists.

use assay_analysis::advise::{EvidenceBasis, EvidenceFigure};
use assay_analysis::{Excluded, Mark};
use assay_core::text::clean;
use assay_core::units::{figures, fixed};
use serde::Serialize;

use crate::caveats;
use crate::change::is_useless;
use crate::document::{Answered, Block, Column, Data, Document, Table, TableRow, number};
use crate::headline::{interval, unit};

/// Parts of an advice, in their order.
#[derive(Default)]
pub(super) struct Parts {
    blocks: Vec<Block>,
}

/// What `assay advise --json` prints: the answer with the numbers behind it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdviceDocument<'a, T> {
    /// The question: `nas`, `cache`, `buy` or `class`.
    advice: &'a str,
    /// The answer, for people.
    sentence: String,
    /// The numbers behind it.
    #[serde(flatten)]
    numbers: T,
}

impl Parts {
    /// A text with a name before it.
    pub(super) fn item(&mut self, name: &str, text: &str) {
        let item = (name.to_owned(), text.to_owned());
        match self.blocks.last_mut() {
            Some(Block::Items(items)) => items.push(item),
            _ => self.blocks.push(Block::Items(vec![item])),
        }
    }

    /// A title over what follows.
    pub(super) fn heading(&mut self, title: &str) {
        self.blocks.push(Block::Heading(title.to_owned()));
    }

    /// Rows under titles.
    pub(super) fn table(&mut self, columns: Vec<Column>, rows: Vec<Vec<String>>) {
        let rows = rows.into_iter().map(TableRow::from).collect();
        self.blocks.push(Block::Table(Table { caption: String::new(), columns, rows }));
    }

    /// Rows under titles, with a heading before each group of rows.
    pub(super) fn groups(&mut self, caption: String, columns: Vec<Column>, groups: Vec<(String, Vec<Vec<String>>)>) {
        let rows = groups.into_iter().flat_map(|(heading, rows)| {
            std::iter::once(TableRow::Heading(heading)).chain(rows.into_iter().map(TableRow::from))
        });
        self.blocks.push(Block::Table(Table { caption, columns, rows: rows.collect() }));
    }

    pub(super) fn answered(
        self,
        kind: &str,
        about: String,
        sentence: String,
        data: Data,
        numbers: &impl Serialize,
    ) -> Answered {
        let advice = AdviceDocument { advice: kind, sentence: assay_core::text::harmless(&sentence), numbers };
        // Numbers and text with string keys: this cannot fail.
        let json = serde_json::to_value(advice).unwrap_or_default();
        Answered { document: Document { kind: "Advice", about, finding: sentence, blocks: self.blocks, data }, json }
    }
}

// Words that all advice uses.

/// What one value without interval calls for.
pub(super) const ONE_VALUE: &str = "one value without an interval; measure with 3 repeats";

/// `3 units`, `5 runs`, `1 repeat`.
pub(super) fn values_counted(n: usize, basis: EvidenceBasis) -> String {
    let (one, many) = match basis {
        EvidenceBasis::Units => ("unit", "units"),
        EvidenceBasis::Days => ("day", "days"),
        EvidenceBasis::Runs => ("run", "runs"),
        EvidenceBasis::Repeats => ("repeat", "repeats"),
    };
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The figure for machines: quantity, value, ends of the interval, number of values, and what they are.
pub(super) const FIGURE: [&str; 6] = ["metric", "value", "low", "high", "n", "values_are"];

/// Cells under [`FIGURE`].
pub(super) fn exact_cells(figure: &EvidenceFigure) -> [String; 6] {
    [
        figure.quantity.name().to_owned(),
        number(Some(figure.value)),
        number(figure.interval.map(|ends| ends.0)),
        number(figure.interval.map(|ends| ends.1)),
        figure.n.to_string(),
        match figure.basis {
            EvidenceBasis::Units => "units",
            EvidenceBasis::Days => "days",
            EvidenceBasis::Runs => "runs",
            EvidenceBasis::Repeats => "repeats",
        }
        .to_owned(),
    ]
}

/// Value, and `a–b` or a dash, in MB/s or IOPS.
pub(super) fn figure_cells(figure: &EvidenceFigure) -> [String; 3] {
    let (_, unit) = unit(figure.quantity, figure.value);
    let range = figure.interval.map_or_else(
        || "–".to_owned(),
        |(low, high)| if is_useless(low, high) { "too wide".to_owned() } else { interval(low / unit, high / unit) },
    );
    [figures(figure.value / unit), range, values_counted(figure.n, figure.basis)]
}

/// `7.05 MB/s (6.13–8.11, 3 units)`, `130 IOPS (1 repeat, no interval)`.
pub(super) fn figure_text(figure: &EvidenceFigure) -> String {
    let [value, range, n] = figure_cells(figure);
    let (unit, _) = unit(figure.quantity, figure.value);
    match figure.interval {
        Some(_) => format!("{value} {unit} ({range}, {n})"),
        None => format!("{value} {unit} ({n}, no interval)"),
    }
}

/// A share with up to one decimal: `50 %`, `0.4 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    format!("{} %", fixed(percent, if percent == 0.0 || percent >= 9.95 { 0 } else { 1 }))
}

/// What marks say, without the one that a single value says already.
pub(super) fn marks_text(marks: &[Mark]) -> String {
    let words: Vec<&str> = marks
        .iter()
        .filter_map(|mark| match mark {
            Mark::BusLimited => Some("bus-limited: at least this"),
            Mark::InstrumentLimited => Some("instrument-limited"),
            Mark::BestOf => Some("best of several runs: at most this"),
            Mark::Suspect => Some("suspect"),
            Mark::Published => Some("published"),
            Mark::Invalid | Mark::Fake | Mark::Failed | Mark::Unfinished => None,
        })
        .collect();
    words.join(", ")
}

/// What takes no part, by the name of its unit.
pub(super) fn left_out_items(parts: &mut Parts, excluded: &[Excluded]) {
    for line in caveats::left_out_lines(excluded, |e| clean(&e.name()), Some("--json")) {
        parts.item(caveats::LEFT_OUT, &line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_have_a_decimal() {
        assert_eq!(percent(0.004), "0.4 %");
        assert_eq!(percent(1.254), "125 %");
    }
}
