//! `assay watch` on a directory: added, measured, shown, acknowledged, removed. `assay-watch` tests what its nights say.

use crate::common::{Place, run};
use serde_json::Value;

fn watched(more: &[&str]) -> Place {
    let place = Place::new();
    let medium = place.medium();
    let medium = medium.to_str().unwrap();
    let add = ["watch", "add", medium, "--named", "card", "--suite", "tiny.toml", "--no-timer"];
    run(place.assay(add.iter().chain(more))).succeeds();
    place
}

fn kept(place: &Place) -> std::path::PathBuf {
    place.data().join("watch/card.json")
}

#[test]
fn a_night_is_a_record_and_a_second_one_is_too_early() {
    let place = watched(&["--textfile", "card.prom"]);
    let first = run(place.assay(["watch", "run", "--json"]));
    let printed: Value = serde_json::from_str(&first.stdout).unwrap();
    let night = &printed["nights"][0];
    if night["skipped"]["reason"] == "busy" {
        println!("SKIP: others use the disk");
        return;
    }
    let record = place.only_record();
    assert_eq!(night["record"], record.id.as_str());
    assert_eq!((record.labels["watch"].as_str(), record.labels["watch-run"].as_str()), ("card", "first"));
    let again = run(place.assay(["watch", "run", "card", "--json"]));
    let printed: Value = serde_json::from_str(&again.stdout).unwrap();
    if night["skipped"].is_null() {
        assert_eq!(printed["nights"][0]["skipped"]["reason"], "done");
        again.succeeds();
    }
    let metrics = std::fs::read_to_string(place.path().join("card.prom")).unwrap();
    assert!(metrics.contains("assay_watch_nights{watch=\"card\"}"), "{metrics}");
    let status = place.json(["watch", "status", "--json"]);
    assert_eq!(status["media"][0]["name"], "card");
}

/// A counter that moved while the medium was away: the message, once, until a person has seen it.
#[test]
fn an_event_is_a_message_and_ends_when_it_is_acknowledged() {
    let place = watched(&["--notify", "cat >> told.json"]);
    let text = std::fs::read_to_string(kept(&place)).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let event = serde_json::json!({"number": 1, "day": 20_000, "acknowledged": false,
        "what": {"kind": "counter", "name": "life_time[0]", "before": 1, "now": 2}});
    value["watch"]["events"] = serde_json::json!([event]);
    std::fs::write(kept(&place), value.to_string()).unwrap();
    let status = run(place.assay(["watch", "status"]));
    assert_eq!(status.code, Some(1), "{}", status.stdout);
    assert!(status.stdout.contains("life_time[0] went from 1 to 2"), "{}", status.stdout);
    run(place.assay(["watch", "ack", "card/9"])).refuses(2, &["card/9", "open are card/1"]);
    run(place.assay(["watch", "ack", "card/1"])).succeeds();
    run(place.assay(["watch", "status"])).succeeds();
}

#[test]
fn what_is_kept_is_made_again_and_removed() {
    let place = watched(&[]);
    let medium = place.medium();
    run(place.assay(["watch", "add", medium.to_str().unwrap(), "--no-timer"])).refuses(2, &["watched as card"]);
    let text = std::fs::read_to_string(kept(&place)).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["version"] = 0.into();
    value["watch"] = Value::Null;
    std::fs::write(kept(&place), value.to_string()).unwrap();
    run(place.assay(["watch", "status", "card"])).succeeds();
    run(place.assay(["watch", "remove", "card"])).succeeds();
    assert!(!kept(&place).exists());
    run(place.assay(["watch", "run"])).refuses(2, &["assay watch add"]);
}

#[test]
fn print_shows_the_timer_and_the_budget_and_changes_nothing() {
    let place = Place::new();
    let medium = place.medium();
    let add = ["watch", "add", medium.to_str().unwrap(), "--nightly", "4:05", "--endurance", "10TB", "--print"];
    let shown = run(place.assay(add));
    shown.succeeds();
    assert!(shown.stdout.contains("watch run") && shown.stdout.contains("04:05") || shown.stdout.contains("5 4 * * *"));
    assert!(shown.stderr.contains("of the stated endurance"), "{}", shown.stderr);
    assert!(!place.data().join("watch").exists());
}
