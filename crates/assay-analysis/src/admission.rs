//! Which figures decide nothing, and why. Comparison, ranking, plan and advice all use this one rule.

use std::collections::HashMap;

use assay_core::finding::{self, Finding, is_small_area};
use assay_core::observation::{Observation, ObservedMeasurement};
use assay_core::record::Record;
use assay_core::verification::Verification;

use crate::exclusion::{Excluded, NoFigureCause, Reason, excluded_whole, invalid};
use crate::identity::{Identity, identity, names_model};
use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::{Mark, Reading, measurement, reading_of};
use crate::settle::{SettledName, settled_names};

/// Splits records into those that may be grouped by model and those that may not. Records of an unknown model, and
/// records of a small test area beside full ones, may not be grouped. A single record is always kept, because it is
/// grouped with no other.
#[must_use]
pub fn named<'a>(records: impl IntoIterator<Item = &'a Observation>) -> (Vec<&'a Observation>, Vec<Excluded>) {
    let all: Vec<&Observation> = records.into_iter().collect();
    if all.len() == 1 {
        return (all, Vec::new());
    }
    let (named, nameless): (Vec<&Observation>, Vec<&Observation>) =
        all.into_iter().partition(|record| names_model(record));
    let (full, small) = full_areas(named);
    let nameless = nameless.into_iter().map(|record| Excluded::new(record, None, Reason::NoModel));
    (full, nameless.chain(small).collect())
}

/// Why a figure decides nothing; `None` where it may.
#[must_use]
pub fn excluded(reading: &Reading<'_>) -> Option<Reason> {
    excluded_whole(reading.record)
        .or_else(|| reading.marks.contains(&Mark::Invalid).then(|| invalid(reading.record, Some(reading.measurement))))
}

/// The figure of a record under a load, with only its positive and finite values, and the reasons for the parts that
/// are left out.
#[must_use]
pub fn examine<'a>(record: &'a Observation, load: &Load, quantity: Quantity) -> (Option<Reading<'a>>, Vec<Reason>) {
    let Some(measured) = measurement(record, load) else {
        let nothing = record.measurements.is_empty();
        let bare = || Reason::NoFigure { cause: NoFigureCause::NothingMeasured { outcome: record.outcome.clone() } };
        return (None, vec![if nothing { bare() } else { nearest(record, load) }]);
    };
    let Some(mut reading) = reading_of(record, measured, quantity) else {
        let other =
            [Quantity::Iops, Quantity::BytesPerSecond].iter().any(|q| reading_of(record, measured, *q).is_some());
        let reason = if other { Reason::NoQuantity { quantity } } else { Reason::NoFigure { cause: cause(measured) } };
        return (None, vec![reason]);
    };
    let mut reasons = Vec::new();
    let planned = measured.repeats.len();
    if planned > reading.values.len() {
        reasons.push(Reason::Repeats { left_out: planned - reading.values.len(), of: planned });
    }
    let (good, bad): (Vec<f64>, Vec<f64>) = reading.values.iter().partition(|v| v.is_finite() && **v > 0.0);
    reasons.extend(bad.iter().map(|value| Reason::BadValue { value: value.to_string() }));
    reading.values = good;
    (Some(reading).filter(|r| !r.values.is_empty()), reasons)
}

/// The figure of a record under a load, if it may decide something, and the reasons for what is left out or missing.
#[must_use]
pub fn admit<'a>(record: &'a Observation, load: &Load, quantity: Quantity) -> (Option<Reading<'a>>, Vec<Reason>) {
    let (reading, reasons) = examine(record, load, quantity);
    match reading.as_ref().map_or_else(|| excluded_whole(record), excluded) {
        Some(barred) => (None, vec![barred]),
        None => (reading, reasons),
    }
}

fn cause(measurement: &ObservedMeasurement) -> NoFigureCause {
    let fewer = measurement.warnings.iter().find(|w| matches!(w.finding, finding::Finding::FewerRepeats { .. }));
    match (fewer, measurement.repeats.len()) {
        (Some(warning), _) => NoFigureCause::Skipped { warning: Box::new(warning.clone()) },
        (None, 0) => NoFigureCause::NotReached,
        (None, repeats) => NoFigureCause::NoneCompleted { repeats },
    }
}

/// The reason that names the most similar load that was measured instead of the requested one.
fn nearest(record: &Observation, load: &Load) -> Reason {
    let kind = |other: &Load| {
        let conditions: Vec<String> = other.conditions().map(str::to_owned).collect();
        (other.op(), other.pattern(), other.synced, other.read_percent, conditions, other.blocks.clone())
    };
    if load.pattern().is_none() || load.block_bytes == 0 || load.queue_depth == 0 || load.jobs == 0 {
        return Reason::LoadNotTold;
    }
    let mut alike: Vec<Load> = record.measurements.iter().map(|m| Load::from_workload(&m.workload)).collect();
    alike.retain(|other| kind(other) == kind(load));
    alike.sort();
    alike.dedup();
    // Only a further figure of the load is missing.
    let same = |l: &Load| (l.block_bytes, l.queue_depth, l.jobs) == (load.block_bytes, load.queue_depth, load.jobs);
    if alike.iter().any(same) {
        return Reason::OtherTool;
    }
    let same_block: Vec<String> = alike.iter().filter(|l| l.block_bytes == load.block_bytes).map(depth).collect();
    if !same_block.is_empty() {
        return Reason::OtherDepths { measured: same_block };
    }
    let mut block_bytes: Vec<u64> = alike.iter().map(|l| l.block_bytes).collect();
    block_bytes.dedup();
    if block_bytes.is_empty() { Reason::NotMeasured } else { Reason::OtherBlocks { block_bytes } }
}

fn depth(load: &Load) -> String {
    let depth = match load.queue_depth {
        0 => "an unknown one".to_owned(),
        depth => format!("QD{depth}"),
    };
    if load.jobs > 1 { format!("{depth}, {} jobs", load.jobs) } else { depth }
}

/// [`share_verdicts`] of whole records.
pub fn share_verdicts_of_records(records: &mut [Record], checks: &[Observation]) {
    let before: Vec<Observation> = records.iter().map(Observation::from).collect();
    let mut after = before.clone();
    share_verdicts(&mut after, checks);
    for ((record, before), after) in records.iter_mut().zip(before).zip(after) {
        // An observation lacks the map of a check.
        if before.verification != after.verification {
            record.verification = after.verification;
        }
    }
}

/// Shares the verdicts of verifications among all records of a unit.
///
/// A unit that one record or check found fake, damaged or failing is bad in all its records. A genuine verdict of a
/// check is copied to all records of the unit, together with the id of the check. A record without a unit name keeps
/// its own verdict only. Units are those of [`settle_units`](crate::settle_units) for all these records together: a check
/// may lack the labels of the runs, and the number of the medium names its unit.
pub fn share_verdicts(records: &mut [Observation], checks: &[Observation]) {
    if !checks.iter().chain(records.iter()).any(|record| record.verification.is_some()) {
        return;
    }
    let units = {
        let all: Vec<&Observation> = checks.iter().chain(records.iter()).collect();
        let of = |(record, name): (&&Observation, SettledName)| {
            let Identity { model, unit, .. } = identity(record);
            (name.model.unwrap_or(model), name.unit.unwrap_or(unit))
        };
        all.iter().zip(settled_names(&all).0).map(of).collect::<Vec<(String, String)>>()
    };
    // A later check that sees no loss does not cancel a proven loss. Of two checks with equal weight, the later one
    // counts.
    let mut known: HashMap<&(String, String), (bool, String, Verification)> = HashMap::new();
    let found_by = |record: &Observation, verification: &Verification| Verification {
        by_check: Some(record.id.clone()),
        ..verification.clone()
    };
    for (record, unit) in checks.iter().chain(records.iter()).zip(&units) {
        let Some(verification) = &record.verification else { continue };
        let (bad, created) = (verification.verdict.is_bad(), &record.created);
        let weighs_less =
            |(other_bad, other_created, _): &(bool, String, _)| (*other_bad, other_created) <= (bad, created);
        if !unit.1.is_empty() && known.get(unit).is_none_or(weighs_less) {
            known.insert(unit, (bad, created.clone(), found_by(record, verification)));
        }
    }
    for (record, unit) in records.iter_mut().zip(&units[checks.len()..]) {
        let Some((bad, _, found)) = known.get(unit) else { continue };
        // A record that is only a check keeps what that check saw on its day.
        let outweighs = |own: &Verification| *bad && !own.verdict.is_bad() && !record.measurements.is_empty();
        if record.verification.as_ref().is_none_or(outweighs) {
            record.verification = Some(found.clone());
        }
    }
}

// Test areas: a small one is answered by the buffers of a medium, and says nothing beside a full one.

/// That the test area of a record was less than a quarter of what its suite asks for; `None` where it was not.
#[must_use]
pub fn small_area(record: &Observation) -> Option<Reason> {
    record.warnings.iter().find_map(|warning| match warning.finding {
        Finding::SmallerSpan { asked_bytes, used_bytes, .. } if is_small_area(asked_bytes, used_bytes) => {
            Some(Reason::SmallArea { asked_bytes, used_bytes })
        }
        _ => None,
    })
}

/// Whether a record has figures of a full test area. One without figures, as of a medium without room or of a check, has
/// no area.
pub(crate) fn has_full_area(record: &Observation) -> bool {
    let figure = |measured: &ObservedMeasurement| {
        let of = [Quantity::Iops, Quantity::BytesPerSecond].map(|quantity| reading_of(record, measured, quantity));
        of.iter().flatten().any(|reading| reading.values.iter().any(|value| *value > 0.0))
    };
    small_area(record).is_none() && record.measurements.iter().any(figure)
}

/// Records with a full test area, and the others. If no record with figures has one, all records stay.
pub(crate) fn full_areas(records: Vec<&Observation>) -> (Vec<&Observation>, Vec<Excluded>) {
    if !records.iter().any(|record| has_full_area(record)) {
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
    use assay_core::record::Source;
    use assay_core::verification::Verdict;

    use super::*;
    use crate::advise::samples::{card, fake, record};

    /// A check of a day of January.
    fn checked(unit: &str, day: u32, verdict: Verdict) -> Observation {
        let mut record = fake(record("Card", unit));
        record.created = format!("2026-01-{day:02}T00:00:00Z");
        record.verification.as_mut().unwrap().verdict = verdict;
        record
    }

    #[test]
    fn a_unit_has_its_worst_verdict_and_of_equals_the_latest() {
        let shared = |unit: &str, checks: &[Observation]| {
            let mut records = [record("Card", unit), record("Other", unit)];
            share_verdicts(&mut records, checks);
            assert!(records[1].verification.is_none());
            records[0].verification.as_ref().map(|v| v.verdict)
        };
        let (fake, good) = (checked("1", 2, Verdict::Fake), checked("1", 3, Verdict::Genuine));
        assert_eq!(shared("1", &[fake.clone(), good.clone()]), Some(Verdict::Fake));
        assert_eq!(shared("1", &[good.clone(), fake.clone()]), Some(Verdict::Fake));
        let damaged = checked("1", 1, Verdict::Damaged);
        assert_eq!(shared("1", &[fake.clone(), damaged.clone()]), Some(Verdict::Fake));
        assert_eq!(shared("1", &[damaged, good]), Some(Verdict::Damaged));
        assert_eq!(shared("2", &[fake]), None);
        // The unit is unknown, so no verdict is shared.
        assert_eq!(shared("", &[checked("", 1, Verdict::Fake)]), None);
    }

    /// The check was typed without the labels of the runs, or with another one; the number says whose it is.
    #[test]
    fn a_verdict_goes_by_the_number_of_the_medium() {
        let run = |unit: &str, number: &str| {
            let mut run = card("Card", unit, &[1000.0]);
            run.labels.insert("model".to_owned(), "Ultra".to_owned());
            run.medium.unit = Some(number.to_owned());
            run.medium.bus = None;
            run
        };
        for labels in [&[][..], &[("unit", "1")], &[("model", "Ultra")], &[("model", "Ultra"), ("unit", "zz")]] {
            let mut check = checked("", 2, Verdict::Fake);
            check.medium = run("1", "cid1").medium;
            check.measurements.clear();
            check.labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            let mut runs = [run("1", "cid1"), run("2", "cid2")];
            share_verdicts(&mut runs, &[check]);
            let verdicts = runs.each_ref().map(|run| run.verification.as_ref().map(|v| v.verdict));
            assert_eq!(verdicts, [Some(Verdict::Fake), None], "{labels:?}");
        }
    }

    #[test]
    fn figures_of_a_fake_that_a_check_took_for_genuine_decide_nothing() {
        let verification = checked("1", 2, Verdict::Genuine).verification;
        let measured = Observation { verification, ..card("Card", "1", &[1000.0]) };
        let mut shared = [measured, checked("1", 1, Verdict::Fake)];
        share_verdicts(&mut shared, &[]);
        assert!(excluded_whole(&shared[0]).is_some());
        let found = shared[0].verification.as_ref().unwrap();
        assert_eq!(found.by_check.as_ref(), Some(&shared[1].id));
        // A check that measured nothing keeps what it saw.
        let mut check = checked("1", 2, Verdict::Genuine);
        check.measurements.clear();
        let mut shared = [check, checked("1", 1, Verdict::Fake)];
        share_verdicts(&mut shared, &[]);
        assert_eq!(shared[0].verification.as_ref().unwrap().verdict, Verdict::Genuine);
    }

    fn imported(id: &str, labels: &[(&str, &str)]) -> Observation {
        let mut record = record("", "");
        record.id = id.to_owned();
        record.origin =
            assay_core::observation::ObservedOrigin::Imported(Source { format: "dd".to_owned(), ..Source::default() });
        record.labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        (record.medium.vendor, record.medium.model, record.medium.unit) = (None, None, None);
        record
    }

    #[test]
    fn records_that_name_no_model_are_not_of_one() {
        let (one, other) = (imported("z1", &[]), imported("z2", &[("model", "")]));
        assert_ne!(identity(&one).model, identity(&imported("z2", &[])).model);
        let third = imported("z3", &[("model", "EVO")]);
        let (named, left_out) = named([&one, &other, &third]);
        assert_eq!(named.len(), 1);
        let ids: Vec<&str> = left_out.iter().map(|one| one.record.as_str()).collect();
        assert_eq!(ids, ["z1", "z2"]);
        assert!(left_out[0].reason.to_string().contains("model=…"), "{}", left_out[0].reason);
    }

    #[test]
    fn one_record_alone_and_one_of_assay_itself_are_asked_of() {
        let one = imported("z1", &[]);
        assert_eq!(named([&one]).0.len(), 1);
        let own = Observation { origin: assay_core::observation::ObservedOrigin::default(), ..imported("a1", &[]) };
        let again = Observation { id: "a2".to_owned(), ..own.clone() };
        assert_eq!(named([&own, &again]).0.len(), 2);
        assert_eq!(identity(&own), identity(&again));
        // The unit is known, though its model is not.
        let unit = [("unit", "3")];
        assert_eq!(identity(&imported("z1", &unit)), identity(&imported("z2", &unit)));
    }

    fn of_area(unit: &str, used_bytes: u64) -> Observation {
        let mut record = card("Card", unit, &[1000.0]);
        let limit = finding::AreaLimit::FreeSpace;
        record.warnings.push(Finding::SmallerSpan { asked_bytes: 256 << 20, used_bytes, limit }.into());
        record
    }

    #[test]
    fn a_small_area_is_not_compared_with_a_full_one() {
        let (full, little, half) = (card("Card", "1", &[1000.0]), of_area("2", (64 << 20) - 1), of_area("3", 64 << 20));
        assert!(small_area(&full).is_none() && small_area(&half).is_none(), "a quarter is enough");
        let (kept, left_out) = full_areas(vec![&full, &little, &half]);
        assert_eq!(kept.iter().map(|r| r.labels["unit"].as_str()).collect::<Vec<_>>(), ["1", "3"]);
        let expected = Reason::SmallArea { asked_bytes: 256 << 20, used_bytes: (64 << 20) - 1 };
        assert!(left_out.len() == 1 && left_out[0].reason == expected && left_out[0].load.is_none(), "{left_out:?}");
        let (kept, left_out) = full_areas(vec![&little, &little]);
        assert_eq!((kept.len(), left_out.len()), (2, 0), "they are alike");
    }

    /// A run without free space has no test area, so that its area is not full.
    #[test]
    fn a_record_without_figures_has_no_full_area() {
        let little = of_area("2", 1 << 20);
        let empty = card("Card", "9", &[]);
        for bare in [record("Card", "1"), empty] {
            let (kept, left_out) = full_areas(vec![&bare, &little, &little]);
            assert_eq!((kept.len(), left_out.len()), (3, 0));
        }
    }
}
