//! `info`, `list`, Markdown, CSV, JSON and what is taken out before sharing.

mod common;

use assay_core::record::Record;
use assay_report::{Format, Redactor, Style, View, csv, info, json, list, markdown, render};

fn all() -> Vec<Record> {
    common::all().into_iter().map(|(_, r)| r).collect()
}

#[test]
fn info_shows_identity_bus_queue_and_health() {
    insta::assert_snapshot!(info(&common::card_medium(), &common::sopine(), &Style::default()));
}

#[test]
fn info_of_an_unknown_medium_shows_what_there_is() {
    let medium = assay_core::medium::Medium::unknown("/mnt/nas");
    insta::assert_snapshot!(info(&medium, &assay_core::record::Host::default(), &Style::default()));
}

#[test]
fn the_list_keeps_what_matters_as_the_width_shrinks() {
    let wide = list(&all(), &Style { width: 120, ..Style::default() });
    let narrow = list(&all(), &Style { width: 60, ..Style::default() });
    insta::assert_snapshot!("list_120", wide);
    insta::assert_snapshot!("list_80", list(&all(), &Style::default()));
    insta::assert_snapshot!("list_60", narrow);
}

#[test]
fn markdown_is_a_table_with_verdict_and_warnings() {
    insta::assert_snapshot!("markdown_one", markdown(&[common::scaled_down()]));
    insta::assert_snapshot!("markdown_several", markdown(&[common::good_card(), common::hostile()]));
}

/// Rows of cells, by RFC 4180.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("a row");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                row.last_mut().expect("a cell").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'));
                rows.push(vec![String::new()]);
            }
            c => row.last_mut().expect("a cell").push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line ends in CRLF");
    rows
}

#[test]
fn csv_has_one_row_for_each_measurement_and_no_formula() {
    let records = all();
    let rows = rows(&csv(&records));
    let measured: usize = records.iter().map(|r| r.measurements.len().max(1)).sum();
    assert_eq!(rows.len(), 1 + measured);
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
        for cell in row {
            let formula = cell.starts_with(['=', '+', '-', '@', '\t']) && cell.parse::<f64>().is_err();
            assert!(!formula, "{cell:?}");
        }
    }
    let column = |name: &str| rows[0].iter().position(|c| c == name).unwrap();
    let read = &rows[1];
    assert_eq!(read[column("workload")], "seq-read-1m-q8");
    let rate: f64 = read[column("bytes_per_second")].parse().unwrap();
    assert_eq!(Some(rate), records[0].measurements[0].bytes_per_second.as_ref().map(|e| e.point));
    assert_eq!(read[column("bus_limited")], "true");
    let hostile = rows.iter().find(|r| r[0].contains("\"id\"")).unwrap();
    assert_eq!(hostile[column("host")], "'=cmd|' /C calc'!A0");
}

#[test]
fn csv_is_the_table_that_scripts_rely_on() {
    insta::assert_snapshot!(csv(&[common::interrupted(), common::read_only_card()]));
}

#[test]
fn json_reads_back_as_the_record_it_was() {
    let record = common::good_card();
    let one: Record = serde_json::from_str(&json(std::slice::from_ref(&record))).unwrap();
    assert_eq!(one, record);
    let many: Vec<Record> = serde_json::from_str(&json(&[record.clone(), record.clone()])).unwrap();
    assert_eq!(many, [record.clone(), record]);
    assert_eq!(json(&[]), "[]\n");
}

fn redactor() -> Redactor {
    Redactor { key: [7; 32], keep_identity: false }
}

#[test]
fn no_report_of_a_redacted_record_holds_serial_number_or_host_name() {
    let mut record = common::good_card();
    let (unit, host) = ("035344534333324780a1b2c3d4016a00", "sopine7.lan");
    record.medium.path = format!("/dev/disk/by-id/mmc-SC32G_{unit}");
    record.medium.health.insert("serial".into(), unit.into());
    record.warnings.push(assay_core::finding::Finding::NotSaved { reason: format!("{host}: no space") }.into());
    let redacted = redactor().record(&record);
    for format in [Format::Html, Format::Markdown, Format::Csv, Format::Json] {
        let text = |r| String::from_utf8(render(format, std::slice::from_ref(r), &View::default()).unwrap()).unwrap();
        let before = text(&record);
        let after = text(&redacted);
        assert!(before.contains(unit) && before.contains(host), "{format:?}");
        assert!(!after.contains(unit) && !after.contains(host), "{format:?}");
        assert!(after.contains("unit-") && after.contains("host-"), "{format:?}");
    }
    assert_eq!(redacted.measurements, record.measurements);
}

#[test]
fn a_hash_is_the_same_for_the_same_piece_and_key_only() {
    let (r, record) = (redactor(), common::good_card());
    let once = r.record(&record);
    let name = once.medium.unit.clone().unwrap();
    assert!(name.len() == 13 && name.starts_with("unit-"), "{name}");
    assert_eq!(r.record(&common::read_only_card()).medium.unit, Some(name.clone()));
    assert_eq!(r.record(&once), once, "redacting twice changes nothing");
    let other = Redactor { key: [8; 32], keep_identity: false };
    assert_ne!(other.record(&record).medium.unit, Some(name));
    let open = Redactor { key: [7; 32], keep_identity: true };
    assert_eq!(open.record(&record), record);
    assert!(!format!("{r:?}").contains('7'), "the key is not for logs");
}

#[test]
fn a_redacted_document_keeps_fields_of_newer_versions() {
    let mut value = serde_json::to_value(common::good_card()).unwrap();
    value["medium"]["colour"] = "red".into();
    value["novelty"] = serde_json::json!({"x": [1, 2]});
    redactor().value(&mut value);
    assert_eq!(value["medium"]["colour"], "red");
    assert_eq!(value["novelty"]["x"][1], 2);
    assert!(value["medium"]["unit"].as_str().unwrap().starts_with("unit-"));
}

#[test]
fn servers_of_network_volumes_are_hosts_too() {
    let mut record = common::good_card();
    record.medium.device = Some("nas.lan:/export/cards".into());
    record.medium.mount_options = vec!["rw".into(), "addr=192.168.7.9".into(), "vers=4.2".into()];
    record.warnings.push(assay_core::finding::Finding::NotSaved { reason: "nas.lan refused".into() }.into());
    let text = json(&[redactor().record(&record)]);
    assert!(!text.contains("nas.lan") && !text.contains("192.168.7.9"), "{text}");
    assert!(text.contains(":/export/cards") && text.contains("vers=4.2"));
}
