//! Test areas: a small one is answered by the buffers of a medium, and says nothing beside a full one.

use std::collections::BTreeSet;

use assay_core::finding::{Finding, is_small_area};
use assay_core::record::Record;

use crate::exclusion::{Excluded, Reason};

/// That the test area of a record was less than a quarter of what its suite asks for; `None` where it was not.
#[must_use]
pub fn small_area(record: &Record) -> Option<Reason> {
    record.warnings.iter().find_map(|warning| match warning.finding {
        Finding::SmallerSpan { asked_bytes, used_bytes, .. } if is_small_area(asked_bytes, used_bytes) => {
            Some(Reason::SmallArea { asked_bytes, used_bytes })
        }
        _ => None,
    })
}

/// Records with a full test area, and those without. Where all are small, they are alike in that, and all stay.
pub(crate) fn full_areas(records: Vec<&Record>) -> (Vec<&Record>, Vec<Excluded>) {
    let small: BTreeSet<usize> =
        records.iter().enumerate().filter(|(_, record)| small_area(record).is_some()).map(|(at, _)| at).collect();
    if small.len() == records.len() {
        return (records, Vec::new());
    }
    let (mut full, mut left_out) = (Vec::with_capacity(records.len()), Vec::new());
    for record in records {
        match small_area(record) {
            Some(reason) => left_out.push(Excluded::new(record, None, reason)),
            None => full.push(record),
        }
    }
    (full, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::samples::record;

    fn of_area(unit: &str, used_bytes: u64) -> Record {
        let mut record = record("Card", unit);
        let reason = "free space allows no more".to_owned();
        record.warnings.push(Finding::SmallerSpan { asked_bytes: 256 << 20, used_bytes, reason }.into());
        record
    }

    #[test]
    fn a_small_area_is_not_compared_with_a_full_one() {
        let (full, little, half) = (record("Card", "1"), of_area("2", (64 << 20) - 1), of_area("3", 64 << 20));
        assert!(small_area(&full).is_none() && small_area(&half).is_none(), "a quarter is enough");
        let (kept, left_out) = full_areas(vec![&full, &little, &half]);
        assert_eq!(kept.iter().map(|r| r.labels["unit"].as_str()).collect::<Vec<_>>(), ["1", "3"]);
        let expected = Reason::SmallArea { asked_bytes: 256 << 20, used_bytes: (64 << 20) - 1 };
        assert!(left_out.len() == 1 && left_out[0].reason == expected && left_out[0].load.is_none(), "{left_out:?}");
        let (kept, left_out) = full_areas(vec![&little, &little]);
        assert_eq!((kept.len(), left_out.len()), (2, 0), "they are alike");
    }
}
