//! The temperature of the drives under test. Other drives are left alone: reading a sensor sends its drive a command,
//! and would wake it (kernel Documentation/hwmon/drivetemp.rst).

use std::path::{Path, PathBuf};

use assay_core::sensor::SensorKind;
use assay_core::text::label;

use super::probe::{Found, Probe};
use crate::block::Node;
use crate::files;
use crate::sysroot::Sysroot;

/// The sensors of `devices` (kernel names of disks), each under the name of its disk.
pub(super) fn find(sysroot: &Sysroot, devices: &[String]) -> Vec<Found> {
    let found = devices.iter().filter_map(|name| {
        let node = Node::by_name(sysroot, name)?;
        let probe = Probe::parts(&input(&node.dir.join("device"))?, 1e3)?;
        Some(Found { name: label(name, 64)?, kind: SensorKind::Temperature, source: "drive", most: None, probe })
    });
    found.collect()
}

/// `device/hwmon/hwmon2/temp1_input` (drivetemp, older nvme) or `device/hwmon2/temp1_input` (nvme).
fn input(device: &Path) -> Option<PathBuf> {
    [device.to_path_buf(), device.join("hwmon")].iter().find_map(|dir| {
        let chips = files::entries(dir).into_iter().filter(|name| name.starts_with("hwmon"));
        chips.map(|name| dir.join(name).join("temp1_input")).find(|path| path.exists())
    })
}
