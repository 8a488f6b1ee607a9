//! The terminal card of one record.

mod crosscheck;
mod foot;
mod head;
mod rows;
mod soak;

use assay_core::record::Record;

use crate::line::Page;
use crate::style::Style;

/// The card of `record`; no line is wider than the style asks for (40 columns at least).
#[must_use]
pub fn card(record: &Record, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    head::add(&mut page, record);
    rows::add(&mut page, record);
    soak::add(&mut page, record);
    crosscheck::add(&mut page, record);
    crate::verification::add(&mut page, record);
    foot::add(&mut page, record);
    page.finish()
}
