//! Marks figures as doubtful on request of a user.

use assay_core::draft::Draft;
use assay_core::finding::Finding;
use assay_core::record::Record;

use crate::deciding_load::{LoadError, loads_named};
use crate::load::Load;
use crate::reading::numbered;

/// Marks the figures of a load as doubtful, such as misprinted ones. The figures are kept, and decide nothing. Returns
/// how many loads were marked.
///
/// # Errors
/// The record has no load of that name; it is unchanged.
pub fn mark_doubtful(record: &mut Record, load: &str, why: &str) -> Result<usize, LoadError> {
    let named = loads_named([&*record], load)?;
    let loads: Vec<Load> = numbered(record).into_iter().map(|(load, _)| load).collect();
    let outcome = record.outcome.clone();
    let mut draft = Draft::reopen(record.clone());
    for (measurement, _) in draft.fill().measurements.iter_mut().zip(&loads).filter(|(_, load)| named.contains(load)) {
        measurement.warn(Finding::MarkedDoubtful { why: why.to_owned() });
    }
    *record = draft.close(outcome);
    Ok(named.len())
}

#[cfg(test)]
mod tests {
    use assay_core::finding::ValidityVerdict;

    use super::*;
    use crate::exclusion::excluded_whole;
    use crate::{Quantity, Reason, admit, loads, published};

    #[test]
    fn a_marked_figure_stays_and_decides_nothing() {
        let mut record = published("sandisk-extreme-a2").unwrap().remove(0);
        let before = record.clone();
        let all = loads([&record]);
        let (first, other) = (&all[0], &all[1]);
        assert_eq!(mark_doubtful(&mut record, &first.title(), "a point one place too far left"), Ok(1));
        assert_eq!(record.validity.verdict, ValidityVerdict::Invalid);
        assert_eq!(excluded_whole(&record), None, "the other figures are sound");
        let quantity = Quantity::usual(first);
        let (reading, reasons) = admit(&record, first, quantity);
        assert!(reading.is_none());
        assert!(matches!(&reasons[..], [Reason::Invalid { cause }] if cause.contains("too far left")), "{reasons:?}");
        assert!(admit(&record, other, Quantity::usual(other)).0.is_some());
        let figures = |record: &Record| -> Vec<_> {
            record.measurements.iter().map(|m| (m.iops.clone(), m.bytes_per_second.clone())).collect()
        };
        assert_eq!(figures(&record), figures(&before));
        assert!(mark_doubtful(&mut record, "random read 3 KiB", "").is_err());
    }
}
