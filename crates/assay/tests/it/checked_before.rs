//! What a check found of a unit is told by the card and the page of each run of it, as by `show`, `list` and `rank`.

use assay_core::verification::{Method, SectorCounts, Verdict, Verification};
use assay_store::{RunState, SqliteStore, Store};

use crate::common::Place;

#[test]
fn a_run_of_a_unit_that_was_proven_to_be_a_fake_says_so() {
    let place = Place::new();
    let (suite, medium) = (place.path().join("tiny.toml"), place.medium());
    let output = |arguments: &[&str]| String::from_utf8(place.assay(arguments).output().unwrap().stdout).unwrap();
    let run = ["run", medium.to_str().unwrap(), "--suite", suite.to_str().unwrap(), "--label", "model=Card"];
    let measured = |more: &[&str]| output(&[&run, &["--label", "unit=7"][..], more].concat());
    let first = measured(&[]);
    assert!(first.contains("rand") && !first.contains("fake"), "{first}");

    // The check of the same unit, by a record of its own.
    let mut store = SqliteStore::open(&place.data()).unwrap();
    let id = store.resolve("last").unwrap().remove(0);
    let mut check = store.load(&id).unwrap().record;
    check.id = "c0000check".to_owned();
    check.suite.name = "verify".to_owned();
    check.measurements.clear();
    check.verification = Some(Verification {
        verdict: Verdict::Fake,
        announced_bytes: 64,
        real_bytes: Some(8),
        checked_bytes: 64,
        written_bytes: 64,
        counts: SectorCounts { good: 1, overwritten: 7, ..SectorCounts::default() },
        ..Verification::undecided(Method::Full)
    });
    store.save(&check, RunState::Finished).unwrap();
    drop(store);

    let second = measured(&[]);
    for (who, text) in [("run", &second), ("show", &output(&["show", "last"]))] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("is a fake. "), "{who}: {text}");
        assert!(
            words.contains(
                "fake: only 8 B of 64 B hold data, the rest is overwritten or dropped, by the check c0000check"
            ),
            "{who}: {text}"
        );
    }
    let page = second.lines().find_map(|line| line.strip_prefix("report ")).unwrap().trim();
    let page = std::fs::read_to_string(page).unwrap();
    // The page names no host: on one that is called like a word of the sentence, another word stands there.
    assert!(page.contains("is a fake. ") && page.contains("c0000check"), "the page does not say what the card says");
    // What the run itself saw is printed for programs as it is stored.
    let record: serde_json::Value = serde_json::from_str(&measured(&["--json"])).unwrap();
    assert!(record["verification"].is_null(), "{record:#}");
}
