//! Documents of about 100 kB, each of a run of its own. They are made once for each number of them.

use std::io::{BufRead, BufReader, BufWriter, Write};

use crate::samples::{Of, document, id_of};
use crate::seed::{ACCOUNT, directory, number};

/// Identities and documents.
pub fn documents() -> Vec<(String, Vec<u8>)> {
    let count = number("ASSAY_PUBLIC_LOAD_DOCUMENTS", 2000) as u64;
    let path = directory().join(format!("documents-{count}"));
    if !path.exists() {
        let making = path.with_extension("making");
        let mut file = BufWriter::new(std::fs::File::create(&making).unwrap());
        let half = |from: u64| (from..=count).step_by(2).map(text).collect::<Vec<String>>();
        let (odd, even) = std::thread::scope(|scope| {
            let odd = scope.spawn(|| half(1));
            (half(2), odd.join().unwrap())
        });
        for line in odd.iter().chain(&even) {
            writeln!(file, "{line}").unwrap();
        }
        file.into_inner().unwrap();
        std::fs::rename(&making, &path).unwrap();
    }
    let lines = BufReader::new(std::fs::File::open(&path).unwrap()).lines();
    let id = |text: &str| text.split("\"id\":\"").nth(1).unwrap()[..10].to_owned();
    lines.map(|line| line.unwrap()).map(|line| (id(&line), line.into_bytes())).collect()
}

fn text(seed: u64) -> String {
    let (model, unit) = (format!("Card {:04}", seed % 20), format!("sent {seed}"));
    // A unit of its own, and a speed that its model may have.
    let speed = 0.8 + 0.2 * (seed % 17) as f64 / 17.0;
    document(Of { seed, model: &model, unit: &unit, speed, loads: 8, repeats: 5, ..Of::default() }, ACCOUNT)
}

/// The page of a document's unit.
pub fn unit_of((id, text): &(String, Vec<u8>)) -> String {
    let seed: u64 = id.parse().unwrap();
    debug_assert_eq!(id_of(seed), *id);
    let value: serde_json::Value = serde_json::from_slice(text).unwrap();
    format!("/units/{ACCOUNT}:{}", value["medium"]["unit"].as_str().unwrap())
}
