//! Nodes that share a volume behind one link: each gets its part of it, and the advice finds what that means.

use assay_core::record::Record;
use assay_lab::{Cluster, ClusterPlan, Lab, Volume, lab};
use serde_json::Value;

use crate::common::ASSAY;
use crate::common::known::{text, workload};

/// A tenth of a gigabit per second, of which 957 of 1,000 bits reach a stream.
const BITS: u64 = 100_000_000;
const PAYLOAD: f64 = BITS as f64 / 8.0 * 0.957;
const PART: u64 = 48 << 20;

/// Length of a repeat in seconds: streams need tens of seconds until each had its part, and `make test` has few nodes.
fn seconds(nodes: usize) -> u32 {
    if nodes > 3 { 28 } else { 6 }
}

fn stream(nodes: usize) -> String {
    let duration = format!("duration = \"{}s\"", seconds(nodes));
    text("300s", 2, "16MiB", &workload("seq-read", "read", "sequential", "256KiB", 4, &duration))
}

/// `ASSAY_NODES=28` is the whole cluster.
#[test]
fn each_node_gets_its_part_of_the_link_and_the_advice_follows() {
    let name = "each_node_gets_its_part_of_the_link_and_the_advice_follows";
    let nodes: usize = std::env::var("ASSAY_NODES").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    let _lab = lab!(name, Lab::enter());
    let cluster = lab!(name, Cluster::new(&ClusterPlan { uplink: Some(BITS), ..ClusterPlan::with_nodes(nodes) }));
    let volume = lab!(name, Volume::new(&cluster, PART));
    let suite = cluster.directory().join("stream.toml");
    std::fs::write(&suite, stream(nodes)).unwrap();
    let suite = suite.display().to_string();
    let assay = |words: &[&str]| {
        let mut command = cluster.command(ASSAY);
        command.env("ASSAY_DATA", cluster.directory().join("here")).env("HOME", cluster.directory()).args(words);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words:?}: {said}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"))
    };
    let targets: Vec<String> =
        cluster.nodes().iter().map(|node| format!("{}={}", node.name(), volume.path(node).display())).collect();
    let mut words = vec!["fleet", "run", "--json", "--program", ASSAY];
    words.extend(targets.iter().map(String::as_str));
    words.extend(["--", "--suite", &suite, "--label", "model=NAS"]);
    let printed = assay(&words);
    let share = PAYLOAD / nodes as f64;
    let mut rates = Vec::new();
    for entry in printed["run"]["nodes"].as_array().unwrap() {
        let id = entry["fate"]["id"].as_str().unwrap_or_else(|| panic!("{printed}"));
        let record: Record = serde_json::from_value(assay(&["show", id, "--json"])).unwrap();
        let repeats = &record.measurements[0].repeats;
        rates.push(repeats.iter().map(|r| r.bytes_per_second).sum::<f64>() / repeats.len() as f64);
    }
    let shown: Vec<String> = rates.iter().map(|rate| format!("{:.3}", rate / share)).collect();
    eprintln!("{nodes} nodes, {:.3} MB/s each by the link; parts of that: {}", share / 1e6, shown.join(" "));
    // How fairly streams share a queue is TCP's affair; that all of them fill the link is the volume's.
    let sum: f64 = rates.iter().sum();
    assert!((sum / PAYLOAD - 1.0).abs() < 0.1, "{sum} of {PAYLOAD}: {shown:?}");
    assert!(rates.iter().all(|rate| (rate / share - 1.0).abs() < 0.4), "{shown:?}");

    if nodes == 1 {
        return;
    }
    // Cards of 4 MB/s: the break-even is where the link divided by the nodes is that. Somebody thinks that the link is wider.
    let run = printed["run"]["run"].as_str().unwrap();
    let card = assay_core::record::Record::clone(&serde_json::from_value(assay(&["show", "last", "--json"])).unwrap());
    let card = as_card(card, 4e6);
    let file = cluster.directory().join("card.json");
    std::fs::write(&file, serde_json::to_string(&card).unwrap()).unwrap();
    let file = file.display().to_string();
    let query = format!("fleet={run}");
    let count = nodes.to_string();
    let advice = assay(&["advise", "nas", &file, "--nas", &query, "--nodes", &count, "--link", "1Gbit", "--json"]);
    let row = &advice["models"][0]["rows"][0];
    let even = row["break_even"]["nodes"].as_f64().unwrap_or_else(|| panic!("{advice}"));
    assert_eq!(row["limit"], "together", "{advice}");
    assert!((even / (PAYLOAD / 4e6) - 1.0).abs() < 0.1, "{even} nodes: {advice}");
    assert_eq!(advice["volume_read_bytes"], 16 << 20, "{advice}");
    let seen = row["share_bytes_per_second"].as_f64().unwrap();
    assert!((seen / share - 1.0).abs() < 0.1, "{seen} of {share}");
}

/// The record as if a card by itself had read at this rate.
fn as_card(mut record: Record, rate: f64) -> Record {
    record.cluster = None;
    record.labels.retain(|name, _| name != "fleet" && name != "node");
    record.labels.insert("model".to_owned(), "Card".to_owned());
    record.id = "0aaaaaaaaa".parse().unwrap();
    for repeat in record.measurements.iter_mut().flat_map(|m| &mut m.repeats) {
        repeat.common_start = None;
        repeat.iops = rate / (256 << 10) as f64;
        repeat.bytes_per_second = rate;
    }
    record
}
