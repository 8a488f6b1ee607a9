//! The journal and the restoration of a probe, under failures of power, process, disk and card.
//!
//! Each seed chooses a card, a call at which something fails, an event in between (nothing, newer data, damage of the
//! journal), and whether a second fault hits the restoration. After each fault the next command is run and the claims
//! are checked. `make campaign SEEDS=10000 ONLY=journal` runs more seeds than the tests do and prints each seed that
//! fails.
#![cfg(not(windows))] // its media are modelled by a crate for Linux
#![allow(clippy::unwrap_used, missing_docs)] // a test fails by panicking

mod claims;
mod world;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Seeds that are run with the other tests.
const USUAL: u64 = 300;

/// `ASSAY_CAMPAIGN_SEEDS`: a number, or a range like `10..20`.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return 0..USUAL };
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn the_journal_survives_every_fault() {
    let seeds = seeds();
    let stages = world::Stage::all();
    let next = Mutex::new(seeds.clone());
    let cases = Mutex::new(BTreeMap::new());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                loop {
                    let Some(seed) = next.lock().unwrap().next() else { return };
                    let case = claims::run(seed, &stages);
                    cases.lock().unwrap().insert(seed, case);
                }
            });
        }
    });
    let cases = cases.into_inner().unwrap();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for case in cases.values() {
        *kinds.entry(format!("{:<28} {}", case.what, case.end)).or_default() += 1;
    }
    for (kind, count) in &kinds {
        println!("{count:>6}  {kind}");
    }
    let faults: u64 = cases.values().map(|case| case.faults).sum();
    let failed: Vec<_> = cases.iter().filter_map(|(seed, case)| case.broken.as_ref().map(|why| (seed, why))).collect();
    println!("journal: {} seeds, {faults} faults, {} failed", cases.len(), failed.len());
    for (seed, why) in &failed {
        println!("seed {seed}: {why}");
    }
    assert_eq!(failed.len(), 0, "ASSAY_CAMPAIGN_SEEDS=17..18 runs one seed");
    // Each kind of fault occurred, and the card was restored after it.
    assert!(seeds.end - seeds.start < USUAL || faults * 10 > cases.len() as u64 * 9, "{faults}");
}
