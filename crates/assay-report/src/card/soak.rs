//! What soaks show over time.

use assay_core::record::Record;

use crate::line::{Page, Paint};

pub(crate) fn add(page: &mut Page, record: &Record) {
    for soak in record.measurements.iter().filter_map(|m| m.soak.as_ref()) {
        page.blank();
        page.labelled("soak", Paint::Dim, &soak.rates(), Paint::Plain);
        let paint = if soak.cliff.is_some() { Paint::Care } else { Paint::Plain };
        page.labelled("", Paint::Dim, &soak.cliff_sentence(), paint);
    }
}
