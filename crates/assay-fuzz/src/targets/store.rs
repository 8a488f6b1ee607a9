//! A damaged store.

use std::fs;
use std::sync::LazyLock;

use assay_core::record::Record;
use assay_store::{Detail, RunState, SqliteStore, Store};

use crate::draw::Draw;
use crate::records::record;
use crate::{claims, place};

fn records() -> Vec<Record> {
    [0u8, 1, 4]
        .iter()
        .enumerate()
        .map(|(at, byte)| record(&mut Draw::new(&[*byte; 40]), &format!("aaaa{at}")))
        .collect()
}

/// A small store.
static SOUND: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let directory = place::directory();
    let mut store = SqliteStore::open(directory.path()).expect("a store");
    for record in records() {
        store.save(&record, RunState::Finished).expect("saved");
    }
    drop(store);
    fs::read(directory.path().join("assay.sqlite")).expect("a store in one file")
});

/// A store of any bytes is read as far as it goes, or refused in a line; the file stays.
pub(crate) fn run(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut bytes = SOUND.clone();
    let mode = draw.byte();
    let mut log = Vec::new();
    while !draw.is_empty() {
        let at = draw.number() as usize % bytes.len().max(1);
        match draw.byte() % 4 {
            0 => bytes.truncate(at),
            1 => {
                let run = usize::from(draw.byte());
                let end = (at + run).min(bytes.len());
                bytes[at..end].fill(draw.byte());
            }
            _ => {
                // The first pages say where everything is.
                let at = if draw.byte().is_multiple_of(2) { at % 4096 } else { at };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = draw.byte();
                }
            }
        }
        if mode % 8 == 7 {
            log = draw.bytes(4096).to_vec();
        }
    }
    let directory = place::directory();
    let file = directory.path().join("assay.sqlite");
    fs::write(&file, &bytes).expect("written");
    if !log.is_empty() {
        fs::write(directory.path().join("assay.sqlite-wal"), &log).expect("written");
    }
    match SqliteStore::open(directory.path()) {
        Ok(mut store) => read_all(&mut store),
        Err(error) => claims::one_line(&error),
    }
    assert!(file.exists(), "a damaged store is never removed");
}

fn read_all(store: &mut SqliteStore) {
    let check_message = |error| claims::one_line(&error);
    let _ = store.abandoned().map_err(check_message);
    let _ = store.identity_key().map_err(check_message);
    for query in ["all", "last", "aaaa", "model=x", "suite=x"] {
        let _ = store.list(query).map_err(check_message);
        let _ = store.observations(query, Detail::Latencies).map_err(check_message);
        for id in store.resolve(query).map_err(check_message).into_iter().flatten().take(8) {
            let _ = store.load(&id).map_err(check_message);
        }
    }
    let _ = store.save(&records()[0], RunState::Finished).map_err(check_message);
    let _ = store.remove("aaaa1").map_err(check_message);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let edit = |at: u64, rest: &[u8]| [&[0], &at.to_le_bytes()[..], rest].concat();
    let mut seeds = vec![Vec::new(), edit(0, &[0]), edit(100, &[0]), edit(5000, &[0]), edit(18, &[2, 0, 9])];
    seeds.extend((0..10u64).map(|page| edit(page * 4096, &[1, 8, 255])));
    seeds.extend((0..10u64).map(|page| edit(page * 4096 + 5, &[2, 1, 200])));
    seeds.push([&[7], &100u64.to_le_bytes()[..], &[3, 1, 1], &[0x37, 0x7f, 6, 0x82]].concat());
    seeds
}
