//! What was measured, where, and how it is attached.

use unicode_width::UnicodeWidthStr;

use assay_core::record::Record;
use assay_core::text::clean;

use crate::facts::{self, Rank};
use crate::line::{Page, Paint};
use crate::wrap::shorten;

/// Serial numbers are cut to this in the corner.
const UNIT: usize = 20;

pub(crate) fn add(page: &mut Page, record: &Record) {
    let title = page.style.fold(&record.title());
    let kind = record.medium.kind.title();
    let unit = record.labels.get("unit").or(record.medium.unit.as_ref()).map(|u| shorten(&clean(u), UNIT));
    // A medium that says nothing of itself is titled by its kind already.
    let corner: Vec<String> =
        Some(kind.to_owned()).filter(|k| !title.starts_with(k.as_str())).into_iter().chain(unit).collect();
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
    facts::about(record).iter().filter(|fact| fact.rank == Rank::Card).for_each(|fact| fact.line(page));
    page.blank();
}
