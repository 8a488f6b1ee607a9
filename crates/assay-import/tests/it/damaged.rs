//! Damaged texts: a contradiction gives a warning, and damage never changes a figure without one.

use std::path::Path;

use assay_core::record::Record;
use assay_import::{File, Imported, Item, Options, import};

/// A sample of a format.
pub(crate) fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(name);
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

/// What comes out of a text; nothing where it is refused.
pub(crate) fn read(text: &str) -> Imported {
    import(File::new("a.txt", text), &Options::default()).unwrap_or_default()
}

pub(crate) fn records(text: &str) -> Vec<Record> {
    let made = |item| match item {
        Item::Made(record) => Some(*record),
        Item::Own { .. } => None,
    };
    read(text).items.into_iter().filter_map(made).collect()
}

/// All warnings of records and of their figures.
fn warnings(text: &str) -> Vec<String> {
    let of = |record: Record| {
        let figures = record.measurements.into_iter().flat_map(|m| m.warnings);
        record.warnings.into_iter().chain(figures).map(|warning| warning.cause()).collect::<Vec<_>>()
    };
    records(text).into_iter().flat_map(of).collect()
}

/// In each of these a figure of a sample is written wrong by one digit or one place.
#[rustfmt::skip]
const FAULTS: &[(&str, &str, &str)] = &[
    ("crystaldiskmark/v8.txt", "503.872 MB/s", "50.3872 MB/s"),
    ("crystaldiskmark/v8.txt", "7671.4 IOPS", "7041.4 IOPS"),
    ("kdiskmark/v3.txt", "7780.0 IOPS", "77800.0 IOPS"),
    ("kdiskmark/v3.txt", "31.120 MB/s", "81.120 MB/s"),
    ("amorphousdiskmark/v4.txt", "2691.10 MB/s", "269.110 MB/s"),
    ("as-ssd/two-views.txt", "Read: 790.25 MB/s", "Read: 190.25 MB/s"),
    ("as-ssd/two-views.txt", "Write: 2127.36 MB/s", "Write: 21273.6 MB/s"),
    ("fio/text-3.1.txt", "(12.6MB/s)", "(12.0MB/s)"),
    ("fio/text-3.1.txt", "IOPS=3070", "IOPS=8070"),
    ("fio/text-3.1.txt", "/20001msec", "/2001msec"),
    ("fio/text-2.1.txt", "bw=3906.2KB/s", "bw=906.2KB/s"),
    ("fio/text-2.1.txt", "iops=976", "iops=9760"),
    ("fio/randread-group.json", "\"bw_bytes\" : 95020666", "\"bw_bytes\" : 9502066"),
    ("fio/randread-group.json", "\"iops\" : 23198.404786", "\"iops\" : 28198.404786"),
    ("diskspd/cores-2.2.txt", "total:         327680000 |        40000 |      15.62", "total:         327680000 |        40000 |      75.62"),
    ("diskspd/cores-2.2.txt", "total:         327680000 |        40000 |", "total:         327680000 |        10000 |"),
    ("elbencho-text/session.txt", "IOPS             :         145         145", "IOPS             :         145         945"),
    ("elbencho-text/session.txt", "Elapsed time     :     14.002s     14.120s", "Elapsed time     :     14.002s     1.4120s"),
    ("ioping/several.txt", "6.20 k iops, 24.2 MiB/s", "6.20 k iops, 94.2 MiB/s"),
    ("sysbench/files_v1.txt", "read, MiB/s:                  97.59", "read, MiB/s:                  9.759"),
    ("sysbench/v04.txt", "(1.8412Mb/sec)", "(18.412Mb/sec)"),
    ("pibenchmarks/table.txt", "3011 IOPS (12045 KB/s)", "3011 IOPS (1204 KB/s)"),
    ("pibenchmarks/forum-excerpt-2019.txt", "702 IOPS (2811 KB/s)", "7020 IOPS (2811 KB/s)"),
    ("raspberry-pi-diagnostics/rpdiags.txt", "rand-4k-read;9087;2271", "rand-4k-read;9087;271"),
    ("h2testw/english.txt", "25.4 GByte DATA LOST (53266432 sectors)", "2.54 GByte DATA LOST (53266432 sectors)"),
    ("f3/reads.txt", "Data OK: 1.50 GB (3145728 sectors)", "Data OK: 1.50 GB (8145728 sectors)"),
    ("hdparm/repeats.txt", "68 MB in  3.01 seconds =  22.59", "68 MB in  3.01 seconds =  2.259"),
    ("bonnie--/1.97-with-csv-md.txt", "97 77104   5", "97 17104   5"),
    ("f3/handbook-elided-md.txt", "... 1491904/ ", "... 71491904/"),
    ("dd/script.txt", "52.1033 s, 20.6 MB/s", "52.1033 s, 20.0 MB/s"),
    ("dd/script.txt", "copied, 61.7 s", "copied, 67.1 s"),
    ("yabs/one-half.txt", "392.76 MB/s   (6.1k)", "932.76 MB/s   (6.1k)"),
    ("yabs/session.txt", "(1.5k)", "(4.5k)"),
    ("rados-bench/write-and-read-md.txt", "Total writes made:      912", "Total writes made:      12"),
    ("ezfio/tests.csv", "24410,3051.25", "24410,305.125"),
];

#[test]
fn a_figure_that_contradicts_another_is_told() {
    for (name, right, wrong) in FAULTS {
        let text = sample(name);
        assert!(text.contains(right), "{name} holds {right}");
        let contradicts = |text: &str| warnings(text).iter().filter(|cause| cause.contains("contradicts")).count();
        let changed = text.replacen(right, wrong, 1);
        assert!(contradicts(&changed) > contradicts(&text), "{name}: {wrong}\n{:?}", warnings(&changed));
    }
}
