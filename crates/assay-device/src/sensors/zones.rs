//! Thermal zones: thousandths of a degree (kernel Documentation/driver-api/thermal/sysfs-api.rst).

use assay_core::sensor::SensorKind;
use assay_core::text::label;

use super::probe::{Found, Probe};
use crate::files;
use crate::sysroot::Sysroot;

/// All zones, by the name of their type.
pub(super) fn find(sysroot: &Sysroot) -> Vec<Found> {
    let class = sysroot.path("/sys/class/thermal");
    let zones = files::entries(&class).into_iter().filter(|name| name.starts_with("thermal_zone"));
    let found = zones.filter_map(|zone| {
        let dir = class.join(&zone);
        let name = files::text(&dir.join("type")).and_then(|text| label(&text, 64)).unwrap_or(zone);
        let probe = Probe::parts(&dir.join("temp"), 1e3)?;
        Some(Found { name, kind: SensorKind::Temperature, source: "thermal zone", most: None, probe })
    });
    found.collect()
}
