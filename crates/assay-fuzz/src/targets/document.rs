//! Documents of records from elsewhere.

use assay_report::Redactor;
use assay_store::read_document;

use crate::claims;
use crate::draw::Draw;
use crate::records::record;

/// A document is read or refused in a line; what is read is written and read as the same, and can be
/// redacted, also as the document of a newer version.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    match read_document(&text) {
        Ok(read) => {
            let written = serde_json::to_string(&read).expect("JSON");
            assert_eq!(read_document(&written).expect("a record written out is read"), read);
            let redactor = Redactor::with_key([7; 32]);
            let redacted = redactor.record(&read).expect("a record is redacted");
            assert_eq!(redacted.measurements.len(), read.measurements.len());
            let mut document = serde_json::from_str(&text).expect("JSON");
            redactor.value(&mut document);
            read_document(&document.to_string()).expect("a redacted document is read");
        }
        Err(error) => claims::one_line(&error),
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = [0u8, 1, 3, 4, 6, 11]
        .iter()
        .map(|byte| serde_json::to_vec(&record(&mut Draw::new(&[*byte; 300]), "aaaa0")).expect("JSON"))
        .collect();
    seeds.extend(claims::texts(&[
        "",
        "[]",
        "{\"schema\": \"2.0\"}",
        "{\"schema\": \"\u{1b}[2J\"}",
        "{\"schema\": \"1.0\"}",
        "{\"schema\": \"1.4294967296\"}",
        "{\"schema\": \"1.0\", \"\u{202e}\": 1}",
        "{\"schema\": \"1.0\", \"id\": {\"a\u{9b}\": []}}",
    ]));
    let failed = claims::text(&seeds[0]).replace(
        "\"state\":\"completed\"",
        "\"state\":\"failed\",\"failure\":\"A b\",\
        \"detail\":\"\",\"elapsed_ns\":1,\"written_bytes\":1",
    );
    seeds.push(failed.into_bytes());
    seeds.push(b"[".repeat(10_000));
    seeds.push(format!("{{\"schema\": \"{}\"}}", "9".repeat(3000)).into_bytes());
    seeds.push(format!("{{\"schema\": \"{}.0\"}}", "9".repeat(9)).into_bytes());
    seeds
}
