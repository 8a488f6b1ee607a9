//! Tables and paragraphs of all planning texts.

use assay_core::units::fixed;

use crate::document::{self, left, right};
use crate::style::Style;
use crate::wrap::wrap;

/// Lines of `cells` under `titles`; columns named in `numeric` stand to the right.
pub(super) fn table(titles: &[&str], numeric: &[usize], rows: Vec<Vec<String>>, style: Style) -> String {
    let column = |(at, title): (usize, &&str)| if numeric.contains(&at) { right(*title) } else { left(*title) };
    document::table(titles.iter().enumerate().map(column).collect(), rows, &style)
}

/// A paragraph, broken at the width of the terminal.
pub(super) fn paragraph(text: &str, style: Style) -> String {
    wrap(&style.fold(text), style.width).join("\n") + "\n"
}

/// Minutes as people say them.
pub(super) fn minutes(minutes: f64) -> String {
    let seconds = (minutes * 60.0).clamp(0.0, 1e12);
    assay_core::units::span(std::time::Duration::from_secs_f64(seconds))
}

/// A ratio above 1 as whole percent: 1.31 is 31.
pub(super) fn percent_above(ratio: f64) -> String {
    format!("{} %", fixed((ratio - 1.0) * 100.0, 0))
}
