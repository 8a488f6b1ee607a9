//! Temperatures: of the drive where it has a sensor, and of the hottest zone of the machine.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_core::text::label;

use crate::block::Node;
use crate::files;
use crate::sysroot::Sysroot;

/// What no working sensor says; drivers answer 0 K or 255 °C where a sensor is missing.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = -40.0..=150.0;

/// Finds the sensors once and reads them through files that stay open: one system call each.
#[derive(Debug)]
pub struct Thermometer {
    drives: Vec<(String, File)>,
    zones: Vec<File>,
}

impl Thermometer {
    /// The sensors of `devices` (kernel names of disks, [`crate::Target::leaves`]) and of the machine.
    #[must_use]
    pub fn find(sysroot: &Sysroot, devices: &[String]) -> Self {
        let mut drives = Vec::new();
        for name in devices {
            let sensor = Node::by_name(sysroot, name).and_then(|node| drive_sensor(&node.dir.join("device")));
            if let Some((file, name)) = sensor.and_then(|path| Some((File::open(path).ok()?, label(name, 64)?))) {
                drives.push((name, file));
            }
        }
        Self { drives, zones: zones(sysroot) }
    }

    /// Whether there is no sensor at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.drives.is_empty() && self.zones.is_empty()
    }

    /// Degrees Celsius by name: each drive's by its kernel name, then `cpu`, the hottest zone.
    #[must_use]
    pub fn read(&self) -> Vec<(String, f64)> {
        let drives = self.drives.iter().filter_map(|(name, file)| Some((name.clone(), celsius(file)?)));
        let hottest = self.zones.iter().filter_map(celsius).max_by(f64::total_cmp);
        drives.chain(hottest.map(|degrees| ("cpu".to_owned(), degrees))).collect()
    }
}

/// Thousandths of a degree (kernel Documentation/hwmon/sysfs-interface.rst, `temp[1-*]_input`;
/// Documentation/driver-api/thermal/sysfs-api.rst, `temp`).
fn celsius(file: &File) -> Option<f64> {
    let mut buffer = [0u8; 32];
    let length = file.read_at(&mut buffer, 0).ok()?;
    let text = std::str::from_utf8(buffer.get(..length)?).ok()?;
    let degrees = text.trim().parse::<f64>().ok()? / 1000.0;
    PLAUSIBLE.contains(&degrees).then_some(degrees)
}

/// `device/hwmon/hwmon2/temp1_input` (drivetemp, older nvme) or `device/hwmon2/temp1_input` (nvme).
fn drive_sensor(device: &Path) -> Option<PathBuf> {
    [device.to_path_buf(), device.join("hwmon")].iter().find_map(|dir| {
        let chips = files::entries(dir).into_iter().filter(|name| name.starts_with("hwmon"));
        chips.map(|name| dir.join(name).join("temp1_input")).find(|path| path.exists())
    })
}

/// All thermal zones; processors without one (x86) have a hwmon chip instead.
fn zones(sysroot: &Sysroot) -> Vec<File> {
    let class = sysroot.path("/sys/class/thermal");
    let zones: Vec<File> = files::entries(&class)
        .into_iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|name| File::open(class.join(name).join("temp")).ok())
        .collect();
    if zones.iter().any(|file| celsius(file).is_some()) {
        return zones;
    }
    let class = sysroot.path("/sys/class/hwmon");
    let chip = |name: &String| {
        matches!(
            files::text(&class.join(name).join("name")).as_deref(),
            Some("coretemp" | "k10temp" | "zenpower" | "cpu_thermal")
        )
    };
    let inputs = files::entries(&class).into_iter().filter(chip).map(|name| class.join(name).join("temp1_input"));
    inputs.filter_map(|path| File::open(path).ok()).collect()
}
