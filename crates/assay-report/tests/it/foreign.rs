//! Records in the forms of other tools.

use assay_core::record::Record;
use assay_report::{ReportFormat, View, render};
use serde_json::Value;

fn text(format: ReportFormat, records: &[Record]) -> String {
    String::from_utf8(render(format, records, &View::default()).unwrap()).unwrap()
}

fn hostile(mut record: Record) -> Record {
    record.labels.insert("model".to_owned(), "a\"\\<b>\n=c\u{1b}[2J".to_owned());
    record
}

#[test]
fn the_form_of_crystaldiskmark_has_a_row_for_each_load_and_says_who_wrote_it() {
    let record = crate::common::good_card();
    let written = text(ReportFormat::CrystalDiskMark, std::slice::from_ref(&record));
    assert!(written.lines().nth(1).unwrap().starts_with("assay "), "{written}");
    let rows: Vec<&str> = written.lines().filter(|line| line.contains(" MB/s [")).collect();
    let plain = |m: &&assay_core::record::Measurement| m.bytes_per_second.is_some() && !m.workload.sync.each();
    assert_eq!(rows.len(), record.measurements.iter().filter(plain).count(), "{written}");
    let first = record.measurements.iter().find(plain).unwrap();
    let rate = format!("{:9.3} MB/s", first.bytes_per_second.as_ref().unwrap().point / 1e6);
    assert!(rows.iter().any(|row| row.contains(&rate)), "{rate}: {written}");
    assert!(rows.iter().all(|row| row.contains("(Q=") && row.contains(" us>")), "{written}");
    // The number of repeats is that of the rows, which may differ.
    let tested = |record: &Record| {
        let written = text(ReportFormat::CrystalDiskMark, std::slice::from_ref(record));
        written.lines().find(|line| line.contains("Test: ")).unwrap().to_owned()
    };
    let with = |of: &[u64]| {
        let mut record = record.clone();
        record.measurements.retain(|m| plain(&m));
        for (m, n) in record.measurements.iter_mut().zip(of.iter().cycle()) {
            m.bytes_per_second.as_mut().unwrap().n = *n as _;
        }
        tested(&record)
    };
    assert!(with(&[3]).contains("(x3)"), "{}", with(&[3]));
    assert!(with(&[3, 9]).contains("(x3 to 9)"), "{}", with(&[3, 9]));
}

#[test]
fn fios_json_has_its_fields_and_all_latencies() {
    let record = hostile(crate::common::good_card());
    let document: Value = serde_json::from_str(&text(ReportFormat::FioJson, std::slice::from_ref(&record))).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let repeats: Vec<_> = record.measurements.iter().flat_map(|m| m.repeats.iter().map(move |r| (m, r))).collect();
    assert_eq!(jobs.len(), repeats.len());
    for (job, (m, repeat)) in jobs.iter().zip(repeats) {
        let name = job["job options"]["rw"].as_str().unwrap();
        let direction = &job[if name.contains("read") { "read" } else { "write" }];
        assert_eq!(direction["total_ios"], Value::from(repeat.operations));
        assert_eq!(direction["iops"], Value::from(repeat.iops));
        assert_eq!(job["job options"]["iodepth"], Value::from(m.workload.queue_depth.to_string()));
        let clat = &direction["clat_ns"];
        let bins: u64 = clat["bins"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(Value::from(bins), clat["N"]);
        let percentiles: Vec<f64> =
            clat["percentile"].as_object().unwrap().values().map(|value| value.as_f64().unwrap()).collect();
        assert!(percentiles.is_sorted(), "{percentiles:?}");
        // Of a few repeats of the samples the latencies and the rate are drawn apart; these fields come from one.
        assert!(clat["max"].as_f64().unwrap() >= clat["min"].as_f64().unwrap());
    }
}

#[test]
fn the_long_table_has_as_many_cells_in_each_row() {
    let records = [hostile(crate::common::good_card()), crate::common::good_card()];
    let table = text(ReportFormat::LongCsv, &records[1..]);
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|line| line.split(',').count() == columns || line.contains('"')), "{table}");
    let repeats: usize = records[1].measurements.iter().map(|m| m.repeats.len()).sum();
    assert!(table.lines().filter(|line| line.contains(",iops,1/s,")).count() > repeats, "values and estimates");
    assert!(!text(ReportFormat::LongCsv, &records[..1]).contains("\u{1b}"));
}

#[test]
fn records_that_name_no_model_are_not_one_in_tables_and_series() {
    let mut one = crate::common::good_card();
    one.origin = assay_core::record::Origin::Imported(assay_core::record::Source {
        format: "dd".to_owned(),
        ..Default::default()
    });
    one.labels.clear();
    (one.medium.model, one.medium.vendor, one.medium.unit) = (None, None, None);
    let other = Record { id: "z000000001".to_owned(), ..one.clone() };
    let series = text(ReportFormat::Prometheus, &[one.clone(), other.clone()]);
    assert_eq!(series.lines().filter(|line| line.starts_with("assay_valid{")).count(), 2, "{series}");
    let table = text(ReportFormat::LongCsv, &[one.clone(), other]);
    let row = table.lines().nth(1).unwrap();
    assert!(row.starts_with(&format!("{},{},,", one.id, one.created)), "{row}");
}

#[test]
fn prometheus_reads_every_line() {
    let record = hostile(crate::common::good_card());
    let older = Record { created: "2020-01-01T00:00:00Z".to_owned(), id: "older".to_owned(), ..record.clone() };
    let written = text(ReportFormat::Prometheus, &[older, record]);
    let mut series = Vec::new();
    for line in written.lines().filter(|line| !line.starts_with('#')) {
        let (labelled, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        let (name, labels) = labelled.split_once('{').unwrap();
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
        // Quotation marks within a value are escaped, so that those that are not come in pairs.
        let plain = labels.replace("\\\\", "").replace("\\\"", "");
        assert!(labels.ends_with('}') && plain.matches('"').count() % 2 == 0, "{line}");
        series.push(labelled);
    }
    let all = series.len();
    series.sort_unstable();
    series.dedup();
    assert!(all > 10 && series.len() == all, "a series has one value: {written}");
    assert!(!written.contains('\u{1b}'));
}

#[test]
fn the_phoronix_file_is_well_formed() {
    let records = [hostile(crate::common::good_card()), crate::common::good_card()];
    let written = text(ReportFormat::OpenBenchmarking, &records);
    assert!(written.starts_with("<?xml") && !written.contains("<b>") && !written.contains('\u{1b}'));
    for element in ["PhoronixTestSuite", "System", "Result", "Entry", "Data", "Value"] {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        assert_eq!(written.matches(&open).count(), written.matches(&close).count(), "{element}");
    }
    assert_eq!(written.matches("<System>").count(), 2);
    let figures: usize = records[0].measurements.iter().filter(|m| m.iops.is_some()).count();
    assert!(written.matches("<Scale>IOPS</Scale>").count() <= figures);
}

/// Found by random records: counts that add up to more than fits.
#[test]
fn counts_that_no_run_can_have_are_written_without_a_panic() {
    let mut record = crate::common::good_card();
    for repeat in record.measurements.iter_mut().flat_map(|m| &mut m.repeats) {
        let histogram = assay_core::histogram::StoredHistogram {
            counts: vec![(1_000, u64::MAX), (1_008, u64::MAX), (1_016, 7)],
            ..(*repeat.histogram).clone()
        };
        repeat.histogram = histogram.into();
    }
    for format in ReportFormat::ALL.iter().filter(|format| !format.is_picture()) {
        assert!(!render(*format, std::slice::from_ref(&record), &View::default()).unwrap().is_empty(), "{format:?}");
    }
}
