//! A run takes as long as it was given.

use std::time::Duration;

use crate::common::{Place, run};

#[test]
fn a_run_ends_within_its_budget() {
    let place = Place::new();
    let record = place.measured_with(&["--repeats", "2", "--budget", "3s"]);
    assert_eq!(record.settings.budget_ns, 3_000_000_000);
    assert!(record.settings.elapsed_ns < 3_500_000_000, "{}", record.settings.elapsed_ns);
    let done = run(place.assay(["run", "--suite", "tiny.toml", "medium"]));
    assert!(done.measures().elapsed < Duration::from_secs(6), "took {:?} of 2 s", done.elapsed);
}
