//! Energy of Intel and AMD processors in µJ (kernel Documentation/power/powercap/powercap.rst). Only root may read it.

use std::fs::File;

use assay_core::sensor::SensorKind;
use assay_core::text::label;

use super::probe::{Found, Probe};
use crate::files;
use crate::sysroot::Sysroot;

/// The zones at the top (`intel-rapl:0`), not their parts (`intel-rapl:0:1`).
pub(super) fn find(sysroot: &Sysroot) -> Vec<Found> {
    let class = sysroot.path("/sys/class/powercap");
    let zones = files::entries(&class).into_iter().filter(|name| name.starts_with("intel-rapl:"));
    let found = zones.filter(|name| name.matches(':').count() == 1).filter_map(|zone| {
        let dir = class.join(&zone);
        let name = files::text(&dir.join("name")).and_then(|text| label(&text, 64)).unwrap_or(zone);
        let range = files::number(&dir.join("max_energy_range_uj"))?;
        let probe = Probe::Energy { file: File::open(dir.join("energy_uj")).ok()?, range, last: None };
        Some(Found { name, kind: SensorKind::Power, source: "rapl", most: None, probe })
    });
    found.collect()
}
