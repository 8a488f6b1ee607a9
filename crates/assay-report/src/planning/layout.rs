//! Tables and paragraphs of all planning texts.

use assay_core::units::fixed;

use comfy_table::{CellAlignment, ContentArrangement, Table};

use crate::style::Style;
use crate::wrap::wrap;

/// Lines of `cells` under `titles`; columns named in `numeric` stand to the right.
pub(super) fn table(titles: &[&str], numeric: &[usize], rows: &[Vec<String>], style: Style) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(titles.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| style.fold(cell)));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if numeric.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.trim_fmt().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
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
