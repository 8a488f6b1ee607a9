//! The table, as Markdown.

use crate::found::Share;
use crate::row::{Bound, Row};
use crate::run::Measured;

/// Names of the columns.
#[must_use]
pub fn head() -> String {
    "| question | should be | is | cannot tell | |\n|---|---|--:|--:|---|".to_owned()
}

/// A row.
#[must_use]
pub fn line(row: &Row, measured: &Measured) -> String {
    let holds = row.bound.holds(measured.figure, 0.0);
    let mut is = percent(measured.figure);
    if let Some(exact) = measured.tally.exact() {
        is += &format!(" of {:.0} %", exact.value * 100.0);
    }
    if let Some(about) = measured.tally.about() {
        is += &format!(", in {:.0} % of fleets", about * 100.0);
    }
    let undecided = measured.tally.undecided().value;
    let cannot_tell = match row.bound {
        Bound::Power(_) | Bound::Mean(_) => String::new(),
        _ => format!("{:.1} %", undecided * 100.0),
    };
    let word = match (holds, row.missed) {
        (true, None) => "",
        (true, Some(_)) => "held now",
        (false, Some(_)) => "missed",
        (false, None) => "**missed, and was held**",
    };
    format!("| {} | {} | {is} | {cannot_tell} | {word} |", row.name, row.bound)
}

fn percent(share: Share) -> String {
    if share.value.is_nan() {
        return "none".to_owned();
    }
    format!("{:.1} ± {:.1} %", share.value * 100.0, share.error * 100.0)
}
