//! The progress of a plan.

use assay_core::outcome::{Outcome, RunFailure};

use super::*;

#[test]
fn a_plan_is_done_when_every_cell_has_a_record() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let mut records: Vec<Record> = plan.cells().iter().map(|cell| result(&plan, cell)).collect();
    let done = status(&plan, &records);
    assert!(done.complete() && done.misfits.is_empty(), "{done:?}");
    records.pop();
    assert_eq!(status(&plan, &records).missing(), 1);
    assert_eq!(status(&plan, &[]).missing(), 8);
}

#[test]
fn records_that_do_not_fit_are_named_with_the_reason() {
    let plan = planned("A=1,2;B=1,2", "3", 2);
    let cell = &plan.cells()[0];
    let changed = |change: &dyn Fn(&mut Record)| {
        let mut record = result(&plan, cell);
        change(&mut record);
        status(&plan, &[record])
    };
    let label = |key: &'static str, value: &'static str| {
        changed(&move |r| {
            r.labels.insert(key.to_owned(), value.to_owned());
        })
    };
    let failed =
        |failure| Outcome::Failed { failure, detail: String::new(), workload: None, elapsed_ns: 0, written_bytes: 0 };
    for (status, words) in [
        (label("slot", "99"), "was in slot 99"),
        (label("model", "Z"), "model Z is not in the plan"),
        (label("unit", "Z"), "unit Z of"),
        (label("round", "3"), "round 3 is not in the plan"),
        (label("round", "x"), "round x is not a number"),
        (changed(&|r| drop(r.labels.remove("slot"))), "has no label slot"),
        (changed(&|r| drop(r.labels.remove("plan"))), "has no label plan="),
        (changed(&|r| r.suite.name = "quick".to_owned()), "ran suite quick"),
        (changed(&|r| r.settings.suite_text = SUITE.replace("4KiB", "8KiB")), "other workloads"),
        (changed(&|r| r.outcome = Outcome::Running), "under way"),
        (changed(&|r| r.outcome = failed(RunFailure::Interrupted)), "interrupted"),
        (changed(&|r| r.validity.verdict = assay_core::finding::ValidityVerdict::Invalid), "is invalid"),
    ] {
        assert_eq!(status.misfits.len(), 1, "{words}");
        assert!(status.misfits[0].reason.contains(words), "{words}: {status:?}");
        assert_eq!(status.missing(), 8, "{words}");
    }
    // Another plan's are not ours; a medium that fails is a result.
    assert!(label("plan", "0123456789abcdef").misfits.is_empty());
    let hung = changed(&|r| r.outcome = failed(RunFailure::Hung));
    assert_eq!(hung.missing(), 7);
    assert!(matches!(hung.cells[0].state, CellState::MediumFailed { .. }));
    let twice = status(&plan, &[result(&plan, cell), result(&plan, cell)]);
    assert!(matches!(&twice.cells[0].state, CellState::Measured { records } if records.len() == 2));
}
