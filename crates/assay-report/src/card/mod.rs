//! The terminal card of one record.

mod crosscheck;
mod foot;
mod head;
mod rows;
mod soak;

use assay_core::record::Record;

use crate::line::Page;
use crate::presented::Presented;
use crate::style::Style;

/// The card of `record`; no line is wider than the style asks for (40 columns at least).
#[must_use]
pub fn card(record: &Record, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    let presented = Presented::of(record);
    head::add(&mut page, &presented);
    rows::add(&mut page, &presented);
    soak::add(&mut page, record);
    crosscheck::add(&mut page, &presented);
    crate::verification::add(&mut page, &presented);
    foot::add(&mut page, &presented);
    page.finish()
}
