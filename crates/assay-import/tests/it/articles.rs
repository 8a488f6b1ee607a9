//! Raw reports as two published articles print them, run together to lines by a page and with what it wrapped them in, and
//! their figures as a checked sheet has them: of USB sticks beside disks (CrystalDiskMark), and of a USB stick in a router
//! (iozone). The outputs are the tools'; the articles' own words are not here.

use std::path::Path;

use assay_core::record::{Measurement, Record};
use assay_core::workload::{Op, Pattern};
use assay_import::{File, Item, Options, import};

fn folder(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/articles").join(name)).unwrap()
}

fn records(name: &str) -> Vec<Record> {
    let imported = import(File::new(name, folder(name)), &Options::default()).unwrap();
    assert_eq!(imported.problems, [], "{name}");
    let made = |item| match item {
        Item::Made(record) => *record,
        Item::Own { .. } => panic!("a record of assay in {name}"),
    };
    imported.items.into_iter().map(made).collect()
}

/// Whether a measurement is the load of a row, and holds its figure as it was printed.
fn holds(m: &Measurement, cells: &[&str]) -> bool {
    let [_, _, op, pattern, block, depth, metric, unit, value, _] = cells else { panic!("{cells:?}") };
    let w = &m.workload;
    let op = w.op == if *op == "read" { Op::Read } else { Op::Write };
    let pattern = w.pattern == if *pattern == "random" { Pattern::Random } else { Pattern::Sequential };
    let load = op && pattern && w.block_bytes.to_string() == *block && w.queue_depth.to_string() == *depth;
    let (estimate, factor) = match (*metric, *unit) {
        ("iops", _) => (&m.iops, 1.0),
        (_, "MB/s (10^6)") => (&m.bytes_per_second, 1e6),
        (_, "KiB/s") => (&m.bytes_per_second, 1024.0),
        other => panic!("{other:?}"),
    };
    let want = value.parse::<f64>().unwrap() * factor;
    load && estimate.as_ref().is_some_and(|e| (e.point - want).abs() <= want * 1e-12 && !e.method.contains("from"))
}

#[test]
fn every_figure_of_the_sheet_is_read_from_the_text() {
    let sheet = String::from_utf8(folder("figures.csv")).unwrap();
    let rows: Vec<Vec<&str>> = sheet.lines().skip(1).map(|line| line.split(',').collect()).collect();
    for text in ["crystaldiskmark.txt", "iozone.txt"] {
        let records = records(text);
        // A figure of the text stands for one row of the sheet: bytes and operations apart.
        let mut printed: Vec<(&Measurement, &str)> = records
            .iter()
            .flat_map(|record| &record.measurements)
            .flat_map(|m| [(m, "throughput"), (m, "iops")])
            .filter(|(m, metric)| {
                let estimate = if *metric == "iops" { &m.iops } else { &m.bytes_per_second };
                estimate.as_ref().is_some_and(|e| !e.method.contains("from"))
            })
            .collect();
        for row in rows.iter().filter(|row| row[0] == text) {
            let found = printed.iter().position(|(m, metric)| *metric == row[6] && holds(m, row));
            printed.remove(found.unwrap_or_else(|| panic!("not read: {row:?}")));
        }
        let left: Vec<String> = printed.iter().map(|(m, metric)| format!("{} {metric}", m.workload.name)).collect();
        assert!(left.is_empty(), "{text}: not in the sheet: {left:?}");
    }
    assert_eq!(rows.len(), 114);
}
