//! Sensors of the user and what the host goes through, in the record of a real run.

use std::time::Instant;

use assay_core::finding::Finding;

use crate::common::known::{findings, read_for};

#[test]
fn commands_and_notes_become_sensors_and_power_becomes_work_for_a_joule() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("ran");
    let failing = format!("broken:C=echo x >> {}; exit 1", mark.display());
    let begun = Instant::now();
    let record = read_for(
        directory.path(),
        "4s",
        &[
            "--sensor",
            "plug:W=echo 'now 2.5 W'",
            "--sensor",
            "slow:C=sleep 1000; echo 1",
            "--sensor",
            &failing,
            "--note",
            "temperature=46C",
            "--note",
            "temperature=47C",
        ],
    );
    assert!(begun.elapsed().as_secs() < 60, "a slow command was waited for: {:?}", begun.elapsed());
    let sensor = |name: &str| record.sensors.iter().find(|s| s.name == name);
    let plug = sensor("plug").unwrap();
    assert_eq!((plug.kind.as_str(), plug.unit.as_str(), plug.source.as_str()), ("power", "W", "command"));
    assert!(plug.samples.len() >= 2 && plug.samples.iter().all(|(_, watts)| *watts == 2.5), "{plug:?}");
    let note = sensor("temperature").unwrap();
    assert_eq!((note.source.as_str(), note.samples.as_slice()), ("note", &[(0, 46.0), (0, 47.0)][..]));
    assert!(sensor("slow").is_none() && sensor("broken").is_none());
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "x\n", "run once");
    let dropped = findings(&record)
        .into_iter()
        .filter(|f| matches!(f, Finding::SensorDropped { sensor, .. } if sensor == "broken"));
    assert_eq!(dropped.count(), 1, "{:?}", record.warnings);
    let m = &record.measurements[0];
    let wanted = m.iops.as_ref().unwrap().point / 2.5;
    let got = m.operations_per_joule.as_ref().unwrap().point;
    assert!((got / wanted - 1.0).abs() < 1e-9, "{got} {wanted}");
}
