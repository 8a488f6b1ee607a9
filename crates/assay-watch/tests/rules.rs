//! Rules and dashboard name metrics that a watch writes, and promtool, where it is installed, lets each rule fire and end.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use assay_watch::{Change, Event, Kind, Level, Status, StatusEvent, Trend, What, metrics};

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/watch")
}

fn status() -> Status {
    let change = Change { ratio: 0.9, low: 0.8, high: 0.95 };
    let event = Event { number: 1, day: 20_000, what: What::Failed, acknowledged: false };
    Status {
        name: "card".into(),
        medium: "Card \"A\", 32.0 GB".into(),
        unit: None,
        node: None,
        nightly: "03:30".into(),
        target: "/mnt".into(),
        nights: 100,
        first_day: Some(19_900),
        last_night: Some(1_728_000_000),
        next_night: None,
        overdue: false,
        skipped: None,
        written_bytes_of_year: 1,
        budget_bytes_of_year: 2,
        endurance_bytes: None,
        endurance_is_stated: false,
        levels: vec![Level {
            load: "write".into(),
            figure: Kind::Rate,
            since_day: 19_900,
            nights: 100,
            value: 400.0,
            low: 390.0,
            high: 410.0,
            spread: 0.03,
            correlation: 0.2,
            trend: Some(Trend { per_year: change, weeks: 14, days: 91.0 }),
        }],
        counters: [("life_time[0]".to_owned(), 1)].into(),
        open: vec![StatusEvent { id: "card/1".into(), event }],
        events: Vec::new(),
    }
}

#[test]
fn every_metric_that_is_named_is_written() {
    let written = metrics(&[status()]);
    assert!(written.contains("assay_watch_info{watch=\"card\",medium=\"Card \\\"A\\\", 32.0 GB\"} 1\n"), "{written}");
    for line in written.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "a line has a time of its own: {line}");
    }
    let known: BTreeSet<&str> =
        written.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for file in ["assay.rules.yml", "assay.rules.test.yml", "dashboard.json"] {
        let text = std::fs::read_to_string(directory().join(file)).unwrap();
        let mut named = 0;
        for (at, _) in text.match_indices("assay_watch_") {
            let name: String = text[at..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            assert!(known.contains(name.as_str()), "{file}: no metric is {name}");
            named += 1;
        }
        assert!(named >= 4, "{file}");
    }
    let dashboard = std::fs::read_to_string(directory().join("dashboard.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&dashboard).unwrap();
}

#[test]
fn each_rule_fires_and_ends() {
    // `tests/install-peers.sh` unpacks it there.
    let unpacked = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/promtool");
    let program = if unpacked.is_file() { unpacked.canonicalize().unwrap() } else { "promtool".into() };
    let done = Command::new(program).args(["test", "rules", "assay.rules.test.yml"]).current_dir(directory()).output();
    match done {
        Err(_) => println!("SKIP: promtool is not installed"),
        Ok(done) => assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout)),
    }
}
