//! The result file of the Phoronix Test Suite (`composite.xml`), which OpenBenchmarking takes: one result for each load,
//! one entry for each record. Elements and their order are those of the suite's `result-file.xsd` (version 10.8).

use std::collections::BTreeMap;

use assay_core::record::{Measurement, Record};
use assay_core::text::markup;
use assay_core::units::exact;

use crate::facts;

/// A record, its figure and the values of its repeats.
type Entry<'a> = (&'a Record, f64, Vec<f64>);

/// One file over all records.
pub(crate) fn openbenchmarking(records: &[Record]) -> String {
    let mut out = "<?xml version=\"1.0\"?>\n<PhoronixTestSuite>\n  <Generated>\n    <Title>assay</Title>\n".to_owned();
    let newest = records.iter().map(|r| r.created.as_str()).max().unwrap_or_default();
    out += &format!(
        "    <LastModified>{}</LastModified>\n    <TestClient>assay {}</TestClient>\n    <Description>Storage media</Description>\n  </Generated>\n",
        time(newest),
        env!("CARGO_PKG_VERSION")
    );
    for record in records {
        out += &format!(
            "  <System>\n    <Identifier>{}</Identifier>\n    <Hardware>{}</Hardware>\n    <Software>{}</Software>\n    <User></User>\n    <TimeStamp>{}</TimeStamp>\n    <TestClientVersion>{}</TestClientVersion>\n    <Notes></Notes>\n  </System>\n",
            markup(&name(record)),
            markup(&format!("Disk: {}", record.medium.title())),
            markup(&facts::machine(&record.host)),
            time(&record.created),
            markup(&record.tool.version)
        );
    }
    let mut loads: BTreeMap<(String, &str), Vec<Entry<'_>>> = BTreeMap::new();
    for record in records {
        for m in &record.measurements {
            for (scale, point, runs) in figures(m) {
                loads.entry((record.load_title(m), scale)).or_default().push((record, point, runs));
            }
        }
    }
    for ((load, scale), entries) in loads {
        out += &format!(
            "  <Result>\n    <Identifier>local/assay</Identifier>\n    <Title>assay</Title>\n    <AppVersion>{}</AppVersion>\n    <Arguments></Arguments>\n    <Description>{}</Description>\n    <Scale>{scale}</Scale>\n    <Proportion>HIB</Proportion>\n    <DisplayFormat>BAR_GRAPH</DisplayFormat>\n    <Data>\n",
            markup(entries.first().map_or("", |(record, _, _)| &record.tool.version)),
            markup(&load)
        );
        for (record, point, runs) in entries {
            let runs: Vec<String> = runs.into_iter().map(exact).collect();
            out += &format!(
                "      <Entry>\n        <Identifier>{}</Identifier>\n        <Value>{}</Value>\n        <RawString>{}</RawString>\n      </Entry>\n",
                markup(&name(record)),
                exact(point),
                runs.join(":")
            );
        }
        out += "    </Data>\n  </Result>\n";
    }
    out + "</PhoronixTestSuite>\n"
}

/// A time as the suite writes it, in UTC; of a record without a date the start of 1970.
fn time(created: &str) -> String {
    let time: jiff::Timestamp = created.parse().unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// The longest identifier of a system in characters.
const LONGEST: usize = 128;

/// Model and unit, and the record, as two runs of a unit are two systems to the suite.
fn name(record: &Record) -> String {
    let unit = record.labels.get("unit").map(|unit| format!(" {unit}")).unwrap_or_default();
    let id = format!(" ({})", record.id);
    let room = LONGEST.saturating_sub(id.chars().count());
    format!("{}{unit}", record.title()).chars().take(room).collect::<String>() + &id
}

/// Rate in MB/s and operations a second: the estimate, and the values of its repeats.
fn figures(m: &Measurement) -> Vec<(&'static str, f64, Vec<f64>)> {
    let rates = m.repeats.iter().map(|r| r.bytes_per_second / 1e6).collect();
    let iops = m.repeats.iter().map(|r| r.iops).collect();
    let rate = m.bytes_per_second.as_ref().map(|e| ("MB/s", e.point / 1e6, rates));
    rate.into_iter().chain(m.iops.as_ref().map(|e| ("IOPS", e.point, iops))).collect()
}
