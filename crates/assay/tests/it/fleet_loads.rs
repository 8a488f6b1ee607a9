//! Nodes with a known truth that run the same loads: cards of this machine, limited by the kernel.

use assay_lab::{LimitedCard, Limits, Missing, skip};
use serde_json::Value;

use crate::common::{Place, run};

const MB: u64 = 1_000_000;

fn limits(write: u64) -> Limits {
    Limits { read_iops: Some(800), write_iops: Some(400), read_bytes: Some(20 * MB), write_bytes: Some(write * MB) }
}

/// Cards whose limits hold for what is run through the first of them; the one at `slow` writes slowly.
fn cards(count: usize, slow: usize) -> Result<Vec<LimitedCard>, Missing> {
    let mut cards = Vec::new();
    for at in 0..count {
        let own = limits(if at == slow { 4 } else { 10 });
        let card = LimitedCard::new(64 << 20, if at == 0 { own } else { Limits::default() })?;
        if let Some(first) = cards.first() {
            LimitedCard::limit_too(first, &card, own)?;
        }
        cards.push(card);
    }
    Ok(cards)
}

/// A card that is slow in sequential writes alone chose a depth of its own, and no answer compared it with the others.
#[test]
fn a_card_that_is_slow_in_sequential_writes_alone_is_named() {
    let cards = match cards(5, 3) {
        Ok(cards) => cards,
        Err(missing) => return skip("a_card_that_is_slow_in_sequential_writes_alone_is_named", &missing),
    };
    let place = Place::new();
    let text = "name = \"fleet\"\nversion = 1\npurpose = \"a test\"\nbudget = \"40s\"\nmax_write = \"512MiB\"\n\
                repeats = 3\nspan = \"32MiB\"\n\
                [[workload]]\nname = \"r\"\nop = \"read\"\npattern = \"random\"\nblock = \"4KiB\"\nqueue_depth = 4\n\
                [[workload]]\nname = \"w\"\nop = \"write\"\npattern = \"sequential\"\nblock = \"1MiB\"\nqueue_depth = 8\n";
    let suite = place.file("fleet.toml", text).display().to_string();
    let nodes: Vec<String> = (0..).zip(&cards).map(|(n, card)| format!("n{n}={}", card.path().display())).collect();
    let mut words = vec!["fleet", "run", "--via", "local"];
    words.extend(nodes.iter().map(String::as_str));
    words.extend(["--", "--suite", &suite, "--label", "model=X"]);
    let done = run(cards[0].limited(&place.assay(&words)));
    done.succeeds();
    // On a busy machine a first look may seem slow under other loads, too.
    let first_look = done.stderr.lines().find(|line| line.starts_with("n3: seems slow at a first look under "));
    assert!(first_look.is_some_and(|line| line.contains(" w (")), "{}", done.stderr);
    let report = place.json(["fleet", "report", "--json"]);
    let loads = report["loads"].as_array().unwrap();
    assert_eq!(loads.len(), 2, "all ran the same: {loads:?}");
    assert!(loads.iter().all(|load| load["median"]["n"] == 5), "{loads:?}");
    let write = loads.iter().find(|load| load["title"].as_str().unwrap().starts_with("sequential write")).unwrap();
    let odd = report["odd"]["odd"].as_array().unwrap();
    let named = odd.iter().find(|odd| odd["node"] == 3).unwrap_or_else(|| panic!("{odd:?}"));
    let at = named["at"].as_array().unwrap().iter().find(|at| at["title"] == write["title"]).unwrap();
    assert!((0.3..0.55).contains(&at["ratio"].as_f64().unwrap()), "{at}");
    let text = run(place.assay(["fleet", "report"])).succeeds().stdout.clone();
    assert!(text.contains("n3 is odd: sequential write 1 MiB, QD8") || text.contains("n3 (sequential write"), "{text}");
    // What was settled is in each record, and in the file of the run.
    let list = place.json(["list", "--json"]);
    for id in list.as_array().unwrap().iter().map(|record| record["id"].as_str().unwrap()) {
        let record: Value = place.json(["show", id, "--json"]);
        let settled = &record["cluster"]["settled"];
        assert_eq!((&settled["by"], &settled["nodes"]), (&"nodes".into(), &5.into()), "{settled}");
        assert_eq!(
            (&settled["loads"][1]["queue_depth"], &settled["loads"][1]["block_bytes"]),
            (&8.into(), &(1 << 20).into())
        );
        assert_eq!(settled["loads"][1]["standing"] != "counted", record["cluster"]["node"] == "n3", "{settled}");
    }
    let kept = place.json(["fleet", "list", "--json"])["runs"][0]["settled"].clone();
    assert_eq!((&kept["nodes"], &kept["loads"][1]["queue_depth"]), (&5.into(), &8.into()), "{kept}");
}

/// Memory of this machine is no card, and each command says so.
#[test]
fn a_target_in_memory_is_told_by_check_and_run() {
    let place = Place::new();
    let memory = tempfile::tempdir_in("/dev/shm");
    let memory = memory
        .ok()
        .filter(|dir| place.json(["info", "--json", &dir.path().display().to_string()])["medium"]["kind"] == "tmpfs");
    let Some(memory) = memory else {
        let missing = Missing("needs /dev/shm in memory".to_owned());
        return skip("a_target_in_memory_is_told_by_check_and_run", &missing);
    };
    let node = format!("m={}", memory.path().display());
    let words = format!("m: in memory, as no medium is mounted at {}", memory.path().display());
    let arguments = ["--", "--suite", "tiny.toml", "--engine", "null"];
    let check = run(place.assay([&["fleet", "check", "--via", "local", &node], &arguments[..]].concat()));
    assert!(check.succeeds().stdout.contains(&words), "{}", check.stdout);
    let told = check.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("It measures the root disk or memory: is that what you mean?"), "{}", check.stdout);
    let document = place.json([&["fleet", "check", "--json", "--via", "local", &node], &arguments[..]].concat());
    assert_eq!((&document["no_medium"], &document["nodes"][0]["no_medium"]), (&1.into(), &true.into()), "{document}");
    assert_eq!((&document["fit"], &document["nodes"][0]["mounted"]), (&1.into(), &"memory".into()), "{document}");
    let done = run(place.assay([&["fleet", "run", "--via", "local", &node], &arguments[..]].concat()));
    assert!(
        done.succeeds().stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words),
        "{}",
        done.stderr
    );
    let report = run(place.assay(["fleet", "report"]));
    assert!(report.stdout.contains("not mounted"), "{}", report.stdout);
}
