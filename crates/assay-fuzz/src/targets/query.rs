//! What people ask the store for.

use assay_analysis::published;
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store, Terms, headed};

use crate::draw::Draw;
use crate::records::record;
use crate::{claims, place};

thread_local! {
    static STORE: (tempfile::TempDir, SqliteStore) = {
        let directory = place::directory();
        let mut store = SqliteStore::open(directory.path()).expect("a store");
        for (at, byte) in [0u8, 1, 3].iter().enumerate() {
            let record: Record = record(&mut Draw::new(&[*byte; 40]), &format!("aaaa{at}"));
            store.save(&record, RunState::Finished).expect("saved");
        }
        (directory, store)
    };
}

/// A query names records that are there, the same in a list, or is refused in a line.
pub(crate) fn run(data: &[u8]) {
    let query = claims::text(data);
    STORE.with(|(_, store)| {
        let listed = store.list(&query).map_err(|error| claims::one_line(&error));
        match store.resolve(&query) {
            Ok(ids) => {
                ids.iter().for_each(|id| assert!(store.load(id).is_ok(), "{id}"));
                let listed: Vec<String> = listed.expect("listed").into_iter().map(|s| s.id).collect();
                assert_eq!(listed, ids);
            }
            Err(error) => {
                claims::one_line(&error);
                assert!(listed.is_err() || listed.is_ok_and(|listed| listed.is_empty()));
            }
        }
        // SQLite reads a text up to a NUL, which no command line has. `all` is a place, and no part of a condition.
        if query.contains('=')
            && !query.contains('\0')
            && headed(query.trim()).next().is_none_or(|(head, _)| head.contains('='))
        {
            same_at_hand(store, &query);
        }
        let _ = store.load(&query).map_err(|error| claims::one_line(&error));
    });
    for (head, terms) in headed(&query) {
        assert!(!head.is_empty() && query.ends_with(terms) && terms.contains('='), "{head} {terms}");
    }
    match published(&query) {
        Ok(records) => assert!(!records.is_empty()),
        Err(error) => claims::one_line(&error),
    }
}

/// Conditions name the same of the records of the store and of the same at hand.
fn same_at_hand(store: &SqliteStore, query: &str) {
    match Terms::parse(query) {
        Ok(terms) => {
            let stored = store.list(query).expect("listed");
            for one in store.list("all").expect("all") {
                let record = store.load(&one.id).expect("loaded").record;
                assert_eq!(terms.hold(&record), stored.iter().any(|row| row.id == one.id), "{query} of {}", one.id);
            }
        }
        Err(error) => {
            claims::one_line(&error);
            assert!(store.list(query).is_err(), "{query}");
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
        "",
        "all",
        "last",
        "last~1",
        "last~4294967296",
        "last~+1",
        "aaaa0",
        "AAAA1",
        "aaaa",
        "model=x",
        "unit=SN7QZ4T1K9",
        "label.price=x",
        "label.=x",
        "=x",
        "kind=sd",
        "all kind=sd",
        "last unit=1",
        "published:a/1 model=x* unit=1,2",
        "a b/c=d/e.json unit=\"x y=z\"",
        "model=*a*b* unit=*",
        "suite=%",
        "x=\u{0}",
        "\u{1b}[2J",
        "' OR 1=1 --",
        "aaaa_",
        "*",
        "sandisk-ultra-a1/1",
        "sandisk-ultra-a1",
        "/",
    ]);
    seeds.push(vec![b'a'; 3000]);
    seeds
}
