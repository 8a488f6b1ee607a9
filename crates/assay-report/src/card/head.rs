//! What was measured, where, and how it is attached.

use unicode_width::UnicodeWidthStr;

use crate::facts::Rank;
use crate::line::{Page, Paint};
use crate::presented::Presented;
use crate::wrap::shorten;

/// Serial numbers are cut to this in the corner.
const UNIT: usize = 20;

pub(crate) fn add(page: &mut Page, record: &Presented<'_>) {
    let title = page.style.fold(&record.title);
    let kind = record.kind;
    let unit = Some(shorten(&record.unit, UNIT)).filter(|unit| !unit.is_empty());
    // A medium that says nothing of itself is titled by its kind already.
    let corner: Vec<String> =
        Some(kind).filter(|kind| !title.starts_with(kind)).map(str::to_owned).into_iter().chain(unit).collect();
    let corner = corner.join(" · ");
    let width = page.style.width;
    if title.width() + 3 + page.style.fold(&corner).width() <= width {
        let mut line = page.line();
        line.push(Paint::Bold, &title).right(Paint::Dim, &corner, width);
        page.add(line);
    } else {
        page.text(Paint::Bold, 0, &title);
        page.text(Paint::Dim, 0, &corner);
    }
    page.rule();
    record.about.iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
    page.blank();
}
