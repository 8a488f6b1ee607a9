//! A comparison as Markdown.

use assay_analysis::compare::{Comparison, LoadComparison};
use assay_core::text;

use super::answer::{letter, overall, sentence, side, word};
use super::left_out::{about, clean_line, left_out};
use super::names::{self, method};
use crate::facts::clean;
use crate::figure::shown;

/// The answer, a table of groups, a table of loads, and what has to be known.
#[must_use]
pub fn markdown(c: &Comparison) -> String {
    let mut out = format!("# Comparison\n\n**{}**\n\n", text::markdown(&overall(c).0));
    out.push_str("| group | medium | records |\n|---|---|---|\n");
    for info in &c.groups {
        let ids: Vec<String> = info.records.iter().map(|id| clean(id)).collect();
        out.push_str(&format!(
            "| {} | {} | {} |\n",
            info.letter,
            text::markdown(&names::group(info)),
            text::markdown(&ids.join(", "))
        ));
    }
    if !c.loads.is_empty() {
        loads(&mut out, c);
    }
    out.push('\n');
    if let Some(about) = about(c) {
        out.push_str(&format!("- about: {}\n", text::markdown(&about)));
    }
    for note in &c.notes {
        out.push_str(&format!("- note: {}\n", text::markdown(&clean_line(&note.to_string()))));
    }
    for line in left_out(c) {
        out.push_str(&format!("- left out: {}\n", text::markdown(&line)));
    }
    if !c.loads.is_empty() {
        out.push_str(&format!("- method: {}\n", text::markdown(&method(c))));
    }
    out
}

fn loads(out: &mut String, c: &Comparison) {
    let letters: String = c.groups.iter().map(|info| format!(" {} |", info.letter)).collect();
    let lines = "--:|".repeat(c.groups.len());
    out.push_str(&format!("\n| load | unit |{letters} answer |\n|---|---|{lines}---|\n"));
    let (primary, others): (Vec<_>, Vec<_>) = c.loads.iter().partition(|load| load.primary);
    for load in primary.into_iter().chain(others) {
        row(out, c, load);
    }
}

fn row(out: &mut String, c: &Comparison, load: &LoadComparison) {
    let reference = load.sides.first().and_then(|side| side.values.first()).copied().unwrap_or(1.0);
    let (unit, divisor) = names::unit(load.quantity, reference);
    let role = if load.primary { "primary" } else { "exploratory" };
    out.push_str(&format!(
        "| {} ({role}) | {}, {unit} |",
        text::markdown(&clean(&load.title)),
        names::quantity(load.quantity)
    ));
    for group in 0..c.groups.len() {
        let cell = side(load, group).and_then(|side| {
            let figure = shown(side.estimate.as_ref()?, divisor);
            let marks = names::marks(side);
            let marks = if marks.is_empty() { marks } else { format!("; {marks}") };
            let value = if side.values.len() > 1 { figure.text() } else { figure.value };
            Some(format!("{value} ({}{marks})", names::n(side)))
        });
        out.push_str(&format!(" {} |", text::markdown(&cell.unwrap_or_else(|| "–".to_owned()))));
    }
    let answers: Vec<String> = load
        .pairs
        .iter()
        .map(|pair| {
            let names = (letter(c, pair.first), letter(c, pair.second));
            format!("{}: {}", word(pair.verdict), sentence(c, load, pair, (&names.0, &names.1)))
        })
        .collect();
    out.push_str(&format!(" {} |\n", text::markdown(&answers.join(". "))));
}
