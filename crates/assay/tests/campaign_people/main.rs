//! Stores as people make them, against what the commands decide of them.
//!
//! Their generator was written from the documents alone (`assay_lab::people`). Each seed is a store; its files are
//! imported, and compare, rank, race, buy, class, nas and list are asked. What is false of the truth is counted by kind of
//! store and claim, and a row fails where it is more than the documents allow; what two commands say must be able to be true
//! together. "Cannot tell" is never wrong.
//!
//! `make campaign SEEDS=2000 ONLY=people` draws more; `ASSAY_CAMPAIGN_SEEDS=17..18` one; `ASSAY_CAMPAIGN_PROGRAM` names
//! another program than that of this build; `ASSAY_CAMPAIGN_WORDS=1` shows the table also where nothing failed.
#![cfg(not(windows))]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and a campaign prints its figures

mod agree;
mod ask;
mod judge;
mod table;

use std::ops::Range;

use assay_lab::on_all_processors;
use assay_lab::people::draw;

use crate::ask::Asked;
use crate::table::Table;

/// In the tests of each day: one store of most kinds.
const USUAL: u64 = 20;

/// `ASSAY_CAMPAIGN_SEEDS`: a number, or a range like `10..20`.
fn seeds(usual: u64) -> Range<u64> {
    let Ok(text) = std::env::var("ASSAY_CAMPAIGN_SEEDS") else { return 0..usual };
    let (from, to) = text.split_once("..").unwrap_or(("0", &text));
    from.parse().unwrap()..to.parse().unwrap()
}

#[test]
fn nothing_false_is_said_of_stores_as_people_make_them() {
    let seeds = seeds(USUAL);
    let tables = on_all_processors(seeds.clone(), |seed| {
        let store = draw(seed);
        let asked = Asked::of(&store);
        let answers = judge::answers(&store, &asked);
        let mut table = Table::default();
        judge::judge(&store, &answers, &mut table);
        agree::agree(&store, &answers, &asked.refused, &mut table);
        table
    });
    let mut table = Table::default();
    tables.into_iter().for_each(|one| table.add(one));
    println!("{} stores\n{table}", seeds.end - seeds.start);
}
