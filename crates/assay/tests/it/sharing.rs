//! What leaves the machine: files that are to be shared hold no identity.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Place, can_be_apart, run};
use assay_core::finding::Finding;
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store};
use serde_json::Value;

const SERIALS: [&str; 4] = ["SN12345678A", "SN12345678B", "SN12345678C", "SN12345678D"];

/// A serial number that only labels tell.
const LABELLED: &str = "ZZ987654QZ";

/// Identities that are in the records beside the serial numbers.
const SECRETS: [&str; 8] = [
    "alicezq",
    "storage1.lan",
    "node7qz",
    "b8:27:eb:12:34:56",
    "9f1c2b34-5d6e-4f70-8a9b-0c1d2e3f4a5b",
    "192.168.7.9",
    "iqn.2004-10.org.example:disk",
    "CARD_QZ",
];

fn record(at: usize) -> Record {
    let mut record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
    let said = format!("{} of {}", SECRETS.join(", "), SERIALS[at]);
    record.id = format!("aaaa{at}");
    record.created = format!("2026-11-21T06:31:0{at}Z");
    record.origin = assay_core::record::Origin::default();
    record.labels.remove("unit");
    record.labels.insert("model".to_owned(), if at < 2 { "A" } else { "B" }.to_owned());
    record.labels.insert("note".to_owned(), format!("{} in {}", SERIALS[at], SECRETS[2]));
    record.labels.insert("neighbour".to_owned(), SERIALS[(at + 1) % 4].to_lowercase());
    record.labels.insert("disk-sn".to_owned(), LABELLED.to_owned());
    record.host.hostname = Some(SECRETS[2].to_owned());
    record.medium.unit = Some(SERIALS[at].to_owned());
    record.medium.mount_point = Some(format!("/media/{}/{}", SECRETS[0], SECRETS[7]));
    record.medium.path = format!("/media/{}/{}/x", SECRETS[0], SECRETS[7]);
    record.medium.device = Some(format!("{}:/export", SECRETS[1]));
    record.medium.mount_options = vec![format!("addr={}", SECRETS[5])];
    record.tool.engine_reason = said.clone();
    record.warnings.push(Finding::NotSaved { reason: said.clone() }.into());
    for measurement in &mut record.measurements {
        measurement.warn(Finding::CachedIo { reason: said.clone() });
    }
    record
}

fn place() -> Place {
    let place = Place::new();
    let mut store = SqliteStore::open(&place.data()).unwrap();
    (0..4).for_each(|at| store.save(&record(at), RunState::Finished).unwrap());
    place
}

#[track_caller]
fn assert_no_identity(text: &str, what: &str) {
    let text = text.to_lowercase();
    for secret in SECRETS.iter().chain(&SERIALS).chain([&LABELLED]) {
        assert!(!text.contains(&secret.to_lowercase()), "{what} shows {secret}");
    }
}

#[test]
fn no_file_of_any_command_shows_an_identity() {
    let place = place();
    for (number, command) in [
        "report all -o FILE.html",
        "report all -o FILE.md",
        "report all -o FILE.csv",
        "report all -o FILE.json",
        "report all -o FILE.svg",
        "report all --picture dots -o FILE.svg",
        "compare unit=SN12345678A unit=SN12345678C -o FILE.md",
        "compare unit=SN12345678A unit=SN12345678C -o FILE.json",
        "compare all --by unit -o FILE.md",
        "compare all --by record -o FILE.json",
        "rank all -o FILE.md",
        "rank all -o FILE.html",
        "rank all -o FILE.csv",
        "rank all -o FILE.svg",
    ]
    .iter()
    .enumerate()
    {
        let command = command.replace("FILE", &format!("f{number}"));
        let done = run(place.assay(command.split(' ')));
        assert!(matches!(done.code, Some(0 | 1)), "{command}: {}", done.stderr);
        let file = command.rsplit(' ').next().unwrap();
        assert_no_identity(&fs::read_to_string(place.path().join(file)).unwrap(), &command);
    }
    run(place.assay(["report", "all", "--article", "article"])).succeeds();
    for file in fs::read_dir(place.path().join("article")).unwrap() {
        let file = file.unwrap().path();
        assert_no_identity(&String::from_utf8_lossy(&fs::read(&file).unwrap()), &file.to_string_lossy());
    }
    // The same search finds them where they are asked for, and in what stays here.
    run(place.assay(["report", "last", "--identities", "-o", "open.json"])).succeeds();
    let open = fs::read_to_string(place.path().join("open.json")).unwrap();
    let stored = place.json(["show", "last", "--json"]).to_string();
    assert!(SECRETS.iter().all(|secret| open.contains(secret) && stored.contains(secret)));
}

#[test]
fn pages_of_a_run_show_no_identity_and_its_record_does() {
    let place = Place::new();
    if !can_be_apart("pages_of_a_run_show_no_identity_and_its_record_does") {
        return;
    }
    let host = "node7qz";
    let done = run(place.apart(
        "echo node7qz > /proc/sys/kernel/hostname
         exec \"$ASSAY\" run --json --quiet --suite tiny.toml --label note=node7qz -o r.html medium",
    ));
    let record: Record = serde_json::from_str(&done.measures().stdout).unwrap();
    assert_eq!(record.host.hostname.as_deref(), Some(host));
    let kept = place.data().join("reports").join(format!("{}.html", record.id));
    for page in [place.path().join("r.html"), kept] {
        let text = fs::read_to_string(&page).unwrap();
        assert!(!text.contains(host), "{}: shows {host}", page.display());
        // The directory of this test lies in one that is named after somebody's project.
        assert!(!text.contains(&*place.medium().to_string_lossy()), "{}: shows the path", page.display());
        assert!(text.contains("host-") && text.contains("path-"));
    }
}

fn host_in(file: &Path) -> String {
    let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    document["host"]["hostname"].as_str().unwrap().to_owned()
}

#[test]
fn without_a_store_every_report_has_names_of_its_own() {
    let place = Place::new();
    let mut names = BTreeSet::new();
    for number in 0..2 {
        let file = format!("r{number}.json");
        run(place.assay(["run", "--quiet", "--no-save", "--suite", "tiny.toml", "-o", &file, "medium"])).measures();
        names.insert(host_in(&place.path().join(file)));
    }
    assert_eq!(names.len(), 2, "{names:?}");
    // With a store they stay the same.
    place.measured();
    let mut kept = BTreeSet::new();
    for file in ["a.json", "b.json"] {
        run(place.assay(["report", "last", "-o", file])).succeeds();
        kept.insert(host_in(&place.path().join(file)));
    }
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept.is_disjoint(&names));
}

#[test]
fn published_figures_are_reported_without_a_home() {
    let place = Place::new();
    for arguments in [&["report", "published:", "-o", "p.html"][..], &["rank", "published:", "-o", "p.md"]] {
        let mut command = place.assay(arguments);
        command.env_remove("HOME").env_remove("ASSAY_DATA").env_remove("XDG_DATA_HOME");
        run(command).measures();
    }
    let mut command = place.assay(["list"]);
    command.env_remove("HOME").env_remove("ASSAY_DATA").env_remove("XDG_DATA_HOME");
    run(command).refuses(4, &["HOME is not set"]);
}
