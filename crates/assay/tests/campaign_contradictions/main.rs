//! No two commands contradict each other: list, show, compare, rank, advise, plan race and fleet report are asked about
//! the same stores, and what they say of a record, a unit or a model is laid side by side: verdicts, figures, units,
//! number of units, names, classes, odd units, which of two models is better, what titles of pictures claim, and the figures of the
//! dashboard. An answer that cannot tell contradicts no other answer.
//!
//! `ASSAY_CAMPAIGN_SEEDS` says how many stores are drawn, or which of them: `200..300`. A command may take up to a
//! minute: on a busy machine, a release build has its answers in time (`ASSAY_CAMPAIGN_SEEDS=1000 cargo test --release -p
//! assay --test campaign_contradictions -- drawn --nocapture`).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and a campaign prints its figures

#[path = "../common/mod.rs"]
mod common;

mod claims;
mod dashboard;
mod faces;
mod stores;
mod titles;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use assay_core::record::Record;
use assay_lab::on_all_processors;
use assay_store::{Owner, RunState, SqliteStore, Store};

use claims::{Claims, contradictions};
use common::Place;

/// What was found, by its kind.
type Found = BTreeMap<&'static str, Vec<String>>;

/// Stores after which a campaign tells what it came to.
const PROGRESS: u64 = 50;

/// In the tests of each day.
const STORES: u64 = 10;

/// `ASSAY_CAMPAIGN_SEEDS`: a number, or a range like `10..20`.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return 0..STORES };
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn no_two_commands_contradict_each_other_on_stores_that_were_drawn() {
    let stores = seeds();
    let all = Mutex::new((Found::new(), 0, 0u64));
    on_all_processors(stores, |seed| {
        let mut found = Found::new();
        let claims = judge(&saved(&stores::drawn(seed)), "all", &format!("store {seed}"), &mut found);
        // Told at once: who ends a long campaign keeps what it found.
        found.values().flatten().for_each(|what| println!("{what}"));
        let mut all = all.lock().unwrap();
        all.1 += claims;
        all.2 += 1;
        found.into_iter().for_each(|(kind, what)| all.0.entry(kind).or_default().extend(what));
        // A campaign takes an hour: what it came to is told on the way.
        if all.2.is_multiple_of(PROGRESS) {
            let contradictions: usize = all.0.values().map(Vec::len).sum();
            println!("{} stores, {} claims, {contradictions} contradictions", all.2, all.1);
        }
    });
    let (found, claims, _) = all.into_inner().unwrap();
    end(&found, claims);
}

#[test]
fn no_two_commands_contradict_each_other_on_published_figures() {
    let mut found = Found::new();
    let mut records = assay_analysis::published_records("").unwrap();
    for (at, record) in records.iter_mut().enumerate() {
        record.id = format!("published{at}");
        record.created = "2026-01-02T03:04:05Z".to_owned();
        record.labels.insert("price".to_owned(), format!("{}USD", 5 + at % 7));
    }
    let mut claims = judge(&saved(&records), "all", "published figures in a store", &mut found);
    claims += judge(&Place::new(), "published:", "published figures", &mut found);
    end(&found, claims);
}

#[test]
fn no_two_commands_contradict_each_other_on_what_was_measured() {
    let place = Place::new();
    for (model, unit) in [("Left", "1"), ("Left", "2"), ("Right", "1"), ("Right", "1")] {
        let labels = [format!("model={model}"), format!("unit={unit}"), "price=9USD".to_owned()];
        let labels: Vec<&str> = labels.iter().flat_map(|label| ["--label", label]).collect();
        place.measured_with(&labels);
    }
    let mut found = Found::new();
    let claims = judge(&place, "all", "measured", &mut found);
    end(&found, claims);
}

fn saved(records: &[Record]) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.data()).unwrap();
    let mut store = SqliteStore::open(&place.data()).unwrap();
    let owner = Owner::current();
    for record in records {
        let running = record.outcome == assay_core::outcome::Outcome::Running;
        let state = if running { RunState::Running { owner: &owner, scratch: None } } else { RunState::Finished };
        store.save(record, state).unwrap();
    }
    place
}

/// Asks all commands, and returns how many claims they make.
fn judge(place: &Place, query: &str, name: &str, found: &mut Found) -> usize {
    let mut said: Vec<Claims> = faces::ask(place, query);
    if query == "all" {
        said.push(dashboard::pages(place, &said[0].units));
    }
    for (kind, what) in contradictions(&said) {
        found.entry(kind).or_default().push(format!("{name}: {what}"));
    }
    said.iter().map(Claims::len).sum()
}

fn end(found: &Found, claims: usize) {
    println!("{claims} claims");
    for (kind, all) in found {
        println!("{kind}: {} contradictions", all.len());
        all.iter().take(20).for_each(|what| println!("  {what}"));
    }
    assert!(claims > 100, "{claims} claims");
    assert!(found.is_empty(), "{:?}", found.iter().map(|(kind, all)| (kind, all.len())).collect::<Vec<_>>());
}
