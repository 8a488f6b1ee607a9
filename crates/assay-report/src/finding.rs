//! What several records come to, in a sentence: the answer of the ranking or of the comparison, so that a page
//! never says more than they do.

use assay_analysis::compare::{By, Request, compare, split};
use assay_analysis::rank::{Ask, rank};
use assay_core::record::Record;

use crate::{comparison, ranking};
use assay_pictures::{Kind, Wanted, still};

/// The finding on these records: which model is better where models can be ranked, how two records differ, else
/// what lies between the records.
pub(crate) fn of(records: &[Record]) -> String {
    let all: Vec<&Record> = records.iter().collect();
    if let Ok(report) = rank(&all, &Ask::default())
        && report.primary.refusal.is_none()
        && report.primary.models.len() > 1
    {
        return format!("{}: {}", crate::verdict::capitalised(&report.primary.title), ranking::answer(&report));
    }
    if let [_, _] = records
        && let Ok(found) = compare(&split(&[records.to_vec()], By::Record), &Request::default())
    {
        return comparison::finding(&found);
    }
    still(Kind::Dots, records, &Wanted::default())
        .map_or_else(|_| format!("{} records", records.len()), |drawing| drawing.title().to_owned())
}
