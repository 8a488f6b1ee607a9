//! The figures that composites are made of.

use std::collections::BTreeMap;

use assay_core::record::Record;

use crate::load::Load;
use crate::quantity::Quantity;
use crate::reading::reading;

use super::collect::Catalogue;
use super::pibenchmarks::PiRun;

/// Geometric mean of a unit's figures under a load, over its records.
fn log_mean<'a>(records: impl Iterator<Item = &'a Record>, load: &Load) -> Option<f64> {
    let values: Vec<f64> = records
        .filter_map(|r| reading(r, load, Quantity::BytesPerSecond).filter(|reading| reading.counts()))
        .flat_map(|reading| reading.values)
        .filter(|v| *v > 0.0 && v.is_finite())
        .collect();
    let logs: f64 = values.iter().map(|v| v.ln()).sum();
    (!values.is_empty()).then(|| logs / values.len() as f64)
}

/// Rates in bytes per second of each model that has all of these loads.
pub(super) fn index_figures(catalogue: &Catalogue<'_>, loads: &[Load]) -> BTreeMap<String, Vec<f64>> {
    let mut units: BTreeMap<&str, BTreeMap<&str, Vec<&Record>>> = BTreeMap::new();
    for entry in &catalogue.entries {
        let model = units.entry(&entry.identity.model).or_default();
        model.entry(&entry.identity.unit).or_default().push(entry.record);
    }
    let mut figures = BTreeMap::new();
    for (model, units) in units {
        let of = |load: &Load| {
            let means: Vec<f64> =
                units.values().filter_map(|records| log_mean(records.iter().copied(), load)).collect();
            (!means.is_empty()).then(|| (means.iter().sum::<f64>() / means.len() as f64).exp())
        };
        if let Some(row) = loads.iter().map(of).collect::<Option<Vec<f64>>>() {
            figures.insert(model.to_owned(), row);
        }
    }
    figures
}

/// What that script measures, from a record of its tools.
pub(super) fn pi_run(record: &Record) -> Option<PiRun> {
    let find = |tool: &str, op: &str, pattern: &str| {
        record.measurements.iter().find(|m| {
            let load = Load::of(&m.workload);
            let title = load.title();
            m.workload.name == tool && title.starts_with(&format!("{pattern} {op}"))
        })
    };
    let rate =
        |tool: &str, op: &str, pattern: &str| find(tool, op, pattern)?.bytes_per_second.as_ref().map(|e| e.point);
    let iops = |op: &str| find("fio", op, "random")?.iops.as_ref().map(|e| e.point);
    // Powers of two for iozone, of ten for dd: data/README.md.
    let iozone = |op: &str, pattern: &str| rate("iozone", op, pattern).map(|rate| rate / 1024.0);
    Some(PiRun {
        dd_write_megabytes: rate("dd fsync", "write", "sequential")? / 1e6,
        fio_read_iops: iops("read")?,
        fio_write_iops: iops("write")?,
        iozone_read: iozone("read", "sequential")?,
        iozone_write: iozone("write", "sequential")?,
        iozone_random_read: iozone("read", "random")?,
        iozone_random_write: iozone("write", "random")?,
    })
}
