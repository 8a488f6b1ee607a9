//! `assay watch` on a directory: added, measured, shown, acknowledged, removed. `assay-watch` tests what its nights say.

use crate::common::{Place, is_installed, run};
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
    assert!(status.stdout.contains("life_time[0]: 1 → 2"), "{}", status.stdout);
    run(place.assay(["watch", "ack", "card/9"])).refuses(2, &["card/9", "open are card/1"]);
    run(place.assay(["watch", "ack", "card/1"])).succeeds();
    run(place.assay(["watch", "status"])).succeeds();
}

#[test]
fn a_status_is_a_page_and_a_picture_without_paths() {
    let place = watched(&[]);
    run(place.assay(["watch", "run"]));
    run(place.assay(["watch", "status", "-o", "card.html"]));
    let page = std::fs::read_to_string(place.path().join("card.html")).unwrap();
    let medium = place.medium();
    assert!(page.contains("card: ") && !page.contains(medium.to_str().unwrap()), "{page}");
    // A night that others disturbed leaves nothing to draw.
    let drawn = run(place.assay(["watch", "status", "card", "-o", "card.svg"]));
    match place.json(["watch", "status", "--json"])["media"][0]["nights"].as_u64() {
        Some(0) => _ = drawn.refuses(2, &["there is no figure to draw"]),
        _ => assert!(std::fs::read_to_string(place.path().join("card.svg")).unwrap().contains("IOPS")),
    }
}

/// A process that ends with its test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What Home Assistant would read of a broker: the entities with the values that they name.
#[test]
fn entities_are_published_and_withdrawn() {
    if !["mosquitto", "mosquitto_pub", "mosquitto_sub"].iter().all(|name| is_installed(name, "a watch by MQTT")) {
        return;
    }
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let broker = format!("127.0.0.1:{port}");
    let place = watched(&["--mqtt", &broker]);
    // There is no broker yet. The night is measured all the same.
    let alone = run(place.assay(["watch", "run"]));
    assert!(alone.stderr.contains("did not take the figures"), "{}", alone.stderr);
    std::fs::write(place.path().join("broker.conf"), format!("listener {port} 127.0.0.1\nallow_anonymous true\n"))
        .unwrap();
    let server = std::process::Command::new("sh")
        .args(["-c", "PATH=$PATH:/usr/sbin; exec mosquitto -c broker.conf"])
        .current_dir(place.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let mut server = Ended(server.unwrap());
    while std::net::TcpStream::connect(&broker).is_err() {
        assert!(server.0.try_wait().unwrap().is_none(), "the broker has ended");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run(place.assay(["watch", "run"]));
    let read = |topic: &str| {
        let asked = ["-h", "127.0.0.1", "-p", &port, "-C", "1", "-W", "30", "-t", topic];
        let done = std::process::Command::new("mosquitto_sub").args(asked).output().unwrap();
        serde_json::from_slice::<Value>(&done.stdout).unwrap()
    };
    let entities = read("homeassistant/device/assay-watch-card/config");
    let state = read(entities["state_topic"].as_str().unwrap());
    assert_eq!(state["quiet"], true);
    for component in entities["components"].as_object().unwrap().values() {
        assert!(component["unique_id"].as_str().unwrap().starts_with("assay-watch-card-"), "{component}");
        let template = component["value_template"].as_str().unwrap();
        if let Some(level) = template.split("levels.").nth(1).and_then(|rest| rest.split(' ').next()) {
            assert!(state["levels"][level].as_f64().unwrap() > 0.0, "{template} {state}");
        }
    }
    run(place.assay(["watch", "remove", "card"])).succeeds();
    let gone = ["-h", "127.0.0.1", "-p", &port, "-W", "1", "-t", "homeassistant/device/assay-watch-card/config"];
    let left = std::process::Command::new("mosquitto_sub").args(gone).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
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

/// A timer does not have the variables of the shell in which the watch was added.
#[test]
#[cfg(not(windows))]
fn print_names_the_store_however_it_is_named() {
    let place = Place::new();
    let (medium, node) = (place.medium().display().to_string(), format!("a={}", place.medium().display()));
    let of_medium = ["watch", "add", medium.as_str(), "--print"];
    let of_fleet = ["fleet", "watch", "add", "--named", "rig", "--via", "local", "--print", node.as_str()];
    let root = place.path().canonicalize().unwrap();
    let elsewhere = root.join("x").display().to_string();
    let cases = [
        (None, ".local/share/assay"),
        (Some(("XDG_DATA_HOME", elsewhere.as_str())), "x/assay"),
        (Some(("ASSAY_DATA", "here")), "here"),
    ];
    for (variable, data) in cases {
        let data = root.join(data).display().to_string();
        for add in [of_medium.as_slice(), of_fleet.as_slice()] {
            let mut command = place.assay(add);
            command.env("HOME", &root).env_remove("ASSAY_DATA").env_remove("XDG_DATA_HOME").envs(variable);
            let shown = run(command);
            shown.succeeds();
            let named = ["", "'"].map(|mark| format!("ASSAY_DATA={mark}{data}"));
            assert!(named.iter().any(|named| shown.stdout.contains(named.as_str())), "{data}: {}", shown.stdout);
        }
    }
}

/// Two media of this machine as nodes: a night is one run, and each node is a watch of its own.
#[test]
fn a_cluster_is_measured_at_once_and_each_node_is_watched() {
    let place = Place::new();
    let medium = place.medium();
    let nodes = ["a", "b"].map(|name| {
        std::fs::create_dir_all(medium.join(name)).unwrap();
        format!("{name}={}", medium.join(name).display())
    });
    let add = ["fleet", "watch", "add", "--named", "rig", "--via", "local", "--suite", "tiny.toml", "--no-timer"];
    let more = ["--textfile", "rig.prom", &nodes[0], &nodes[1]];
    run(place.assay(add.iter().chain(&more))).succeeds();
    run(place.assay(add.iter().chain(&more))).refuses(2, &["there is a watch rig already"]);
    let night = run(place.assay(["fleet", "watch", "run", "rig", "--json"]));
    let printed: Value = serde_json::from_str(&night.stdout).unwrap();
    let nights = printed["nights"].as_array().unwrap();
    let names: Vec<&str> = nights.iter().map(|night| night["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["rig-a", "rig-b"], "{}", night.stderr);
    // What a busy machine makes invalid is no result; what is one is kept, and not measured again.
    let measured = nights.iter().filter(|night| night["skipped"].is_null()).count();
    let status = place.json(["watch", "status", "--json"]);
    let kept: u64 = status["media"].as_array().unwrap().iter().map(|one| one["nights"].as_u64().unwrap()).sum();
    assert_eq!(kept, measured as u64, "{}", night.stderr);
    if measured == 2 {
        let again = run(place.assay(["fleet", "watch", "run", "--json"]));
        let printed: Value = serde_json::from_str(&again.stdout).unwrap();
        assert!(printed["nights"].as_array().unwrap().iter().all(|night| night["skipped"]["reason"] == "done"));
        let metrics = std::fs::read_to_string(place.path().join("rig.prom")).unwrap();
        assert!(metrics.contains("assay_watch_nights{watch=\"rig-b\"} 1"), "{metrics}");
        run(place.assay(["watch", "status", "-o", "rig.md"]));
        let shared = std::fs::read_to_string(place.path().join("rig.md")).unwrap();
        assert!(shared.contains("host-") && !shared.contains("rig-a"), "{shared}");
        run(place.assay(["watch", "run", "rig-a"])).refuses(2, &["assay fleet watch run rig"]);
        run(place.assay(["watch", "remove", "rig-a"])).refuses(2, &["assay fleet watch remove rig"]);
    }
    run(place.assay(["fleet", "watch", "remove", "rig"])).succeeds();
    assert!(!place.data().join("watch/rig-a.json").exists());
    run(place.assay(["fleet", "watch", "run"])).refuses(2, &["assay fleet watch add"]);
}
