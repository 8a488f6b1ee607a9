//! Views of records, made once. Card, page and Markdown lay out the part that they have room for.

mod record;
mod several;

pub(crate) use record::{Crosscheck, Figure, Figures, LoadRow, Mark, Presented};
pub(crate) use several::{CommonFinding, Listed, Overview, common_finding, record_document, records_document};
