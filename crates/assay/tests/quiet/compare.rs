//! `assay compare` with cards whose truth is known.

use std::path::Path;

use assay_core::record::Record;
use assay_core::units::MIB;
use assay_lab::{Lab, LimitedCard, Limits, lab};
use serde_json::Value;

use crate::common::{ASSAY, Place, run};

fn verdict(document: &Value) -> String {
    let loads = document["comparison"]["loads"].as_array().unwrap();
    let primary = loads.iter().find(|load| load["primary"] == true).unwrap();
    primary["pairs"][0]["verdict"]["answer"].as_str().unwrap().to_owned()
}

/// Measures a card of so many operations a second until it is known to 1 %, into the store of the place.
fn measure(place: &Place, card: &LimitedCard, unit: &str) {
    let suite = place.file(
        format!("lab-{unit}.toml"),
        "name = \"lab\"\nversion = 1\npurpose = \"test\"\nbudget = \"10s\"\nmax_write = \"1GiB\"\nrepeats = 3\n\
         span = \"16MiB\"\n[[workload]]\nname = \"read\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\n\
         queue_depth = 8\n",
    );
    let (suite, target) = (suite.to_string_lossy(), card.path().to_string_lossy());
    let label = format!("unit={unit}");
    let arguments = [
        "run",
        "--quiet",
        "--json",
        "--suite",
        &suite,
        "--confidence",
        "1%",
        "--budget",
        "18s",
        "--label",
        &label,
        "--label",
        "model=Lab",
        &target,
    ];
    let mut command = card.command(Path::new(ASSAY), &arguments);
    place.at_home(&mut command);
    let record: Record = serde_json::from_str(&run(command).measures().stdout).unwrap();
    let m = &record.measurements[0];
    let iops = m.iops.as_ref().unwrap();
    eprintln!(
        "unit {unit}: {iops:?} in {} s, {:?}",
        record.settings().unwrap().elapsed_ns / 1_000_000_000,
        record.validity
    );
    assert!(m.repeats.len() >= 3 && iops.relative_half_width().unwrap() <= 0.01, "{iops:?}");
}

#[test]
fn cards_that_differ_by_five_percent_are_told_apart_and_equal_ones_are_not() {
    const TEST: &str = "cards_that_differ_by_five_percent_are_told_apart_and_equal_ones_are_not";
    let _lab = lab!(TEST, Lab::share());
    let limited = |iops| LimitedCard::new(128 * MIB, Limits { read_iops: Some(iops), ..Limits::default() });
    let (slow, fast) = (lab!(TEST, limited(1000)), lab!(TEST, limited(1050)));
    let place = Place::new();
    // Each of the two waits for most of the time.
    std::thread::scope(|scope| {
        scope.spawn(|| measure(&place, &slow, "1"));
        measure(&place, &fast, "2");
    });
    measure(&place, &slow, "3");
    let against = |other: &str| {
        let json = place.json(["compare", "unit=1", other, "--runs", "--json"]);
        (verdict(&json), json["comparison"]["loads"][0]["pairs"][0].clone())
    };
    let (answer, pair) = against("unit=2");
    eprintln!("{pair}");
    assert_eq!(answer, "better", "{pair}");
    let ratio = pair["ratio"].as_f64().unwrap();
    assert!((1.04..=1.06).contains(&ratio), "{pair}");
    assert!(pair["low"].as_f64().unwrap() > 1.03, "beyond the margin: {pair}");
    let (answer, pair) = against("unit=3");
    eprintln!("{pair}");
    assert_eq!(answer, "same", "{pair}");
}
