//! Stores as people make them, against what the commands decide of them.
//!
//! Their generator was written from the documents alone (`assay_lab::people`). Each seed is a store; its files are
//! imported, and compare, rank, race, buy, class, nas and list are asked. What is false of the truth is counted by kind of
//! store and claim, and a row fails where it is more than the documents allow; what two commands say must be able to be true
//! together. "Cannot tell" is never wrong.
//!
//! `make people` draws 2,000; `ASSAY_CAMPAIGN_SEEDS=17..18` one; `ASSAY_CAMPAIGN_PROGRAM` names
//! another program than that of this build, such as that of a release, which is quicker; `ASSAY_CAMPAIGN_KEEP=DIR` keeps the
//! stores.
#![cfg(not(windows))]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and a campaign prints its figures

mod agree;
mod ask;
mod judge;
mod seen;
mod table;

use assay_lab::on_all_processors;
use assay_lab::people::draw;

use crate::ask::Asked;
use crate::seen::{SEEN, State};
use crate::table::Table;

/// In the tests of each day: one store of most kinds.
const USUAL: u64 = 16;

/// `ASSAY_CAMPAIGN_SEEDS`: a number, a range like `10..20`, or `2..2402/24`, which are 100 stores of the third kind.
fn seeds(usual: u64) -> Vec<u64> {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return (0..usual).collect() };
    let (range, step) = text.split_once('/').unwrap_or((&text, "1"));
    let (from, to) = range.split_once("..").unwrap_or(("0", range));
    (from.parse().unwrap()..to.parse().unwrap()).step_by(step.parse().unwrap()).collect()
}

fn of_seed(seed: u64) -> Table {
    let store = draw(seed);
    let asked = Asked::of(&store);
    let answers = judge::answers(&store, &asked);
    let mut table = Table::default();
    judge::judge(&store, &answers, &mut table);
    agree::agree(&store, &answers, &asked.refused, &mut table);
    table
}

#[test]
fn nothing_false_is_said_of_stores_as_people_make_them() {
    let seeds = seeds(USUAL);
    let mut table = Table::default();
    on_all_processors(0..seeds.len() as u64, |index| of_seed(seeds[index as usize]))
        .into_iter()
        .for_each(|one| table.add(one));
    println!("{} stores\n{table}", seeds.len());
    let known = |kind: &str, words: &str| SEEN.iter().any(|seen| seen.state != State::Mended && seen.is(kind, words));
    let missed: Vec<String> = table
        .missed()
        .into_iter()
        .filter(|(kind, claim)| !known(kind, claim.name))
        .map(|(kind, claim)| format!("{kind}: {}", claim.name))
        .collect();
    let faults: Vec<_> = table.faults.iter().filter(|(kind, _, words)| !known(kind, words)).collect();
    assert!(missed.is_empty() && faults.is_empty(), "more is false than the documents allow: {missed:#?} {faults:#?}");
}

/// Mended faults stay mended, and the output names open ones that no longer occur.
#[test]
fn what_was_seen_is_as_it_is_listed() {
    if std::env::var_os("ASSAY_CAMPAIGN_SEEDS").is_some() {
        return;
    }
    let all: Vec<(usize, u64)> = SEEN
        .iter()
        .enumerate()
        .filter(|(_, seen)| seen.state != State::Documented)
        .flat_map(|(at, seen)| seen.seeds.iter().map(move |seed| (at, *seed)))
        .collect();
    let wrong = on_all_processors(0..all.len() as u64, |index| {
        let (at, seed) = all[index as usize];
        let table = of_seed(seed);
        let row = table.rows.iter().any(|((kind, claim), tally)| tally.wrong > 0 && SEEN[at].is(kind, claim.name));
        row || table.faults.iter().any(|(kind, _, words)| SEEN[at].is(kind, words))
    });
    for ((at, seed), is_wrong) in all.into_iter().zip(wrong) {
        let seen = &SEEN[at];
        if seen.state == State::Open && !is_wrong {
            println!("{}, seed {seed}: no longer wrong, and may be called mended: {}", seen.kind, seen.about);
        }
        assert!(seen.state != State::Mended || !is_wrong, "{}, seed {seed}: {} is wrong again", seen.kind, seen.about);
    }
}
