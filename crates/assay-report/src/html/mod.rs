//! stub
use assay_core::record::Record;
/// stub
pub fn html(_r: &[Record]) -> String { String::new() }
