//! Conditions mean the same for records in memory as for those of a store.

use assay_core::medium::MediumKind;
use assay_core::record::Record;
use assay_store::{RunState, SqliteStore, Store, StoreError, Terms};

use crate::common::record;

/// Pseudo-random numbers, the same in every run (Marsaglia's xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Texts that look alike to one of the two, or have a meaning in SQL or in a query.
const TEXTS: [&str; 22] = [
    "1",
    "01",
    "0 0",
    "000",
    "a",
    "A",
    "é",
    "É",
    "50%",
    "500",
    "x_y",
    "xzy",
    "x\\y",
    "a,b",
    "a, b",
    "SanDisk Ultra",
    "sandisk ultra",
    "Ultra",
    "sd",
    "SD",
    "quick",
    "'",
];
const KEYS: [&str; 6] = ["model", "unit", "slot", "suite", "shop", "kind"];

fn drawn(draw: &mut Draw, number: usize) -> Record {
    let mut record = record(&format!("{number:010}"));
    let maybe = |draw: &mut Draw| (draw.below(3) > 0).then(|| draw.one(&TEXTS).to_owned());
    record.medium.model = maybe(draw);
    record.medium.vendor = maybe(draw);
    record.medium.unit = maybe(draw);
    record.host.slot = maybe(draw);
    record.suite.name = maybe(draw).unwrap_or_default();
    record.medium.kind = if draw.below(2) == 0 { MediumKind::Sd } else { MediumKind::SataHdd };
    for key in KEYS {
        if let Some(value) = maybe(draw).filter(|_| draw.below(3) == 0) {
            record.labels.insert(key.to_owned(), value);
        }
    }
    record
}

/// A text of a record, a part of it with stars, or a quoted one.
fn value(draw: &mut Draw, records: &[Record]) -> String {
    let mut text = draw.one(&TEXTS).to_owned();
    if draw.below(6) == 0 {
        text = records[draw.below(records.len())].medium.title();
    }
    match draw.below(6) {
        0 => format!("\"{text}\""),
        1 => format!("\"{text}*\""),
        2 => "*".to_owned(),
        3 => {
            let characters: Vec<char> = text.chars().collect();
            let (mut from, mut to) = (draw.below(characters.len() + 1), draw.below(characters.len() + 1));
            if from > to {
                std::mem::swap(&mut from, &mut to);
            }
            let part = |range: std::ops::Range<usize>| characters[range].iter().collect::<String>();
            format!("{}*{}*{}", part(0..from), part(from..to), part(to..characters.len()))
        }
        _ => text,
    }
}

fn query(draw: &mut Draw, records: &[Record]) -> String {
    let condition = |draw: &mut Draw| {
        let prefix = if draw.below(6) == 0 { "label." } else { "" };
        let values: Vec<String> = (0..=draw.below(3)).map(|_| value(draw, records)).collect();
        format!("{prefix}{}={}", draw.one(&KEYS), values.join(","))
    };
    let all: Vec<String> = (0..=draw.below(2)).map(|_| condition(draw)).collect();
    all.join(" ")
}

#[test]
fn a_condition_names_the_same_records_in_memory_and_in_the_store() {
    let place = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(place.path()).unwrap();
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let records: Vec<Record> = (0..60).map(|number| drawn(&mut draw, number)).collect();
    for record in &records {
        store.save(record, RunState::Finished).unwrap();
    }
    let mut some = 0;
    for _ in 0..4000 {
        let query = query(&mut draw, &records);
        let stored = match store.resolve(&query) {
            Err(StoreError::NoMatch { .. }) => Vec::new(),
            Err(StoreError::NoKind(_)) => {
                assert!(matches!(Terms::parse(&query), Err(StoreError::NoKind(_))), "{query}");
                continue;
            }
            found => found.unwrap(),
        };
        let terms = Terms::parse(&query).unwrap();
        let held: Vec<&str> = records.iter().filter(|r| terms.hold(*r)).map(|r| r.id.as_str()).collect();
        assert_eq!(held, stored, "{query}");
        some += usize::from(!held.is_empty() && held.len() < records.len());
    }
    assert!(some > 1000, "only {some} queries divide the records");
}

#[test]
fn what_the_store_refuses_is_refused_of_records_at_hand() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path()).unwrap();
    for text in ["=x", "label.=x", &format!("model={}", "x".repeat(5000)), &format!("unit={}", ["1"; 101].join(","))] {
        let (of_store, at_hand) = (store.resolve(text).unwrap_err(), Terms::parse(text).unwrap_err());
        assert_eq!(of_store.to_string(), at_hand.to_string());
    }
}
