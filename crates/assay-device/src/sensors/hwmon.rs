//! Sensor chips of the machine (kernel Documentation/hwmon/sysfs-interface.rst): temperatures in thousandths of a
//! degree, power in µW, otherwise volts and amperes of power monitors.

use std::fs::File;
use std::path::Path;

use assay_core::sensor::SensorKind;
use assay_core::text::label;

use super::probe::{Found, Probe};
use crate::files;
use crate::sysroot::Sysroot;

/// Most inputs of a chip: more say nothing about storage (large machines have one for each core).
const MOST: usize = 8;

/// All chips except those of drives, which [`super::drives`] reads, and those that repeat a thermal zone.
pub(super) fn find(sysroot: &Sysroot) -> Vec<Found> {
    let class = sysroot.path("/sys/class/hwmon");
    let mut found = Vec::new();
    for entry in files::entries(&class) {
        let dir = class.join(&entry);
        let chip = files::text(&dir.join("name")).and_then(|text| label(&text, 48)).unwrap_or_default();
        let of_zone = files::link_name(&dir.join("device")).is_some_and(|name| name.starts_with("thermal_zone"));
        if matches!(chip.as_str(), "nvme" | "drivetemp") || of_zone {
            continue;
        }
        let chip = if chip.is_empty() { entry } else { chip };
        let inputs = files::entries(&dir);
        temperatures(&dir, &chip, &inputs, &mut found);
        powers(&dir, &chip, &inputs, &mut found);
    }
    found
}

fn temperatures(dir: &Path, chip: &str, inputs: &[String], found: &mut Vec<Found>) {
    for number in numbers(inputs, "temp", "_input").into_iter().take(MOST) {
        if let Some(probe) = Probe::parts(&dir.join(format!("temp{number}_input")), 1e3) {
            let name = named(dir, chip, &format!("temp{number}"));
            found.push(Found { name, kind: SensorKind::Temperature, source: "hwmon", most: None, probe });
        }
    }
}

fn powers(dir: &Path, chip: &str, inputs: &[String], found: &mut Vec<Found>) {
    let before = found.len();
    for (suffix, numbers) in ["_input", "_average"].map(|s| (s, numbers(inputs, "power", s))) {
        // A chip with both kinds has the mean only for inputs without a momentary value.
        if found.len() > before {
            break;
        }
        for number in numbers.into_iter().take(MOST) {
            if let Some(probe) = Probe::parts(&dir.join(format!("power{number}{suffix}")), 1e6) {
                let name = named(dir, chip, &format!("power{number}"));
                found.push(Found { name, kind: SensorKind::Power, source: "hwmon", most: None, probe });
            }
        }
    }
    if found.len() > before || !chip.starts_with("ina") {
        return;
    }
    // Power monitors without a power input: mV times mA of the same channel (Documentation/hwmon/ina2xx.rst,
    // ina3221.rst: in1 to in3 are bus voltages, in0 and in4 to in6 those across the shunts).
    for number in numbers(inputs, "curr", "_input").into_iter().filter(|n| (1..=3).contains(n)) {
        let open = |what: &str| File::open(dir.join(format!("{what}{number}_input"))).ok();
        if let (Some(volts), Some(amperes)) = (open("in"), open("curr")) {
            let probe = Probe::Product { files: [volts, amperes], over: 1e6 };
            let name = named(dir, chip, &format!("in{number}"));
            found.push(Found { name, kind: SensorKind::Power, source: "hwmon", most: None, probe });
        }
    }
}

/// Numbers N of the files `prefixNsuffix`, ascending.
fn numbers(inputs: &[String], prefix: &str, suffix: &str) -> Vec<u32> {
    let number = |name: &String| name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok();
    let mut numbers: Vec<u32> = inputs.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// `coretemp Package id 0` if the channel has a label, otherwise `k10temp` and `ina219 power2`.
fn named(dir: &Path, chip: &str, channel: &str) -> String {
    match files::text(&dir.join(format!("{channel}_label"))).and_then(|text| label(&text, 48)) {
        Some(text) => format!("{chip} {text}"),
        None if channel.ends_with('1') => chip.to_owned(),
        None => format!("{chip} {channel}"),
    }
}
