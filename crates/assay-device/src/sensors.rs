//! Temperatures, clocks and power: found once, read through files that stay open.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use assay_core::sensor::SensorKind;
use assay_core::text::{harmless, label};

use crate::block::Node;
use crate::files::Sysroot;
use crate::{files, system};

// All sensors together.

/// A sensor with its last value.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its unique name.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Where it was found: `drive`, `thermal zone`, `hwmon`, `cpufreq`, `rapl`.
    pub source: &'static str,
    /// Highest possible value: the maximum clock of a processor.
    pub most: Option<f64>,
    /// In the unit of its kind; `None` if the last reading was not plausible.
    pub value: Option<f64>,
}

impl Reading {
    /// Unit of the value.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        self.kind.unit()
    }
}

/// The sensors of a machine, found once. A reading costs one or two system calls for each and no allocation. Reading
/// may block as long as the driver of a hanging drive, so it runs apart from anything that must not wait.
#[derive(Debug)]
pub struct Sensors {
    readings: Vec<Reading>,
    probes: Vec<Probe>,
}

impl Sensors {
    /// The sensors of `devices` (kernel names of disks, [`crate::TargetInfo::leaves`]) and of the machine. Sensors
    /// without a plausible value now are left out.
    #[must_use]
    pub fn find(sysroot: &Sysroot, devices: &[String]) -> Self {
        let all = [
            find_drives(sysroot, devices),
            find_zones(sysroot),
            find_chips(sysroot),
            find_clocks(sysroot),
            find_energy(sysroot),
        ];
        let mut set = Self { readings: Vec::new(), probes: Vec::new() };
        let now = Instant::now();
        for found in all.into_iter().flatten() {
            set.add(found, now);
        }
        set
    }

    fn add(&mut self, found: FoundSensor, now: Instant) {
        let FoundSensor { name, kind, source, most, mut probe } = found;
        // A sensor without a name has the name of its directory, which may contain anything.
        let name = harmless(&name);
        let value = probe.read(now).filter(|value| plausible(kind, *value));
        // The first reading of energy gives no value; later ones give its growth.
        if value.is_none() && !matches!(probe, Probe::Energy { last: Some(_), .. }) {
            return;
        }
        let taken = |name: &str| self.readings.iter().any(|other| other.name == name);
        let mut unique = name.clone();
        let mut number = 2;
        while taken(&unique) {
            unique = format!("{name} {number}");
            number += 1;
        }
        self.readings.push(Reading { name: unique, kind, source, most, value });
        self.probes.push(probe);
    }

    /// Whether there is no sensor at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }

    /// The last readings.
    #[must_use]
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// Reads all of them.
    pub fn read(&mut self) -> &[Reading] {
        self.read_at(Instant::now())
    }

    pub(crate) fn read_at(&mut self, now: Instant) -> &[Reading] {
        for (reading, probe) in self.readings.iter_mut().zip(&mut self.probes) {
            reading.value = probe.read(now).filter(|value| plausible(reading.kind, *value));
        }
        &self.readings
    }
}

// Reads one value: one system call for a number, two for a product.

/// A way of reading a value.
#[derive(Debug)]
enum Probe {
    /// A number in another unit: `over` of that unit are `times` of ours.
    Number { file: File, times: f64, over: f64 },
    /// The product of two numbers, volts and amperes. `over` of its unit are one of ours.
    Product { files: [File; 2], over: f64 },
    /// Growth of a counter of microjoules that wraps around beyond `range`.
    Energy { file: File, range: u64, last: Option<(Instant, u64)> },
}

/// A sensor that was found.
#[derive(Debug)]
struct FoundSensor {
    name: String,
    kind: SensorKind,
    source: &'static str,
    /// Highest possible value: the maximum clock.
    most: Option<f64>,
    probe: Probe,
}

impl Probe {
    /// A file with a value in fractions of a unit (`over` fractions make one unit); `None` if it cannot be opened.
    fn parts(path: &Path, over: f64) -> Option<Self> {
        Some(Self::Number { file: File::open(path).ok()?, times: 1.0, over })
    }

    /// The value in the unit of its kind; `None` if the sensor has none at the moment.
    fn read(&mut self, now: Instant) -> Option<f64> {
        match self {
            Self::Number { file, times, over } => Some(number(file)? * *times / *over),
            Self::Product { files: [a, b], over } => Some(number(a)? * number(b)? / *over),
            Self::Energy { file, range, last } => {
                let energy = number(file)? as u64;
                let (then, before) = last.replace((now, energy))?;
                let seconds = now.saturating_duration_since(then).as_secs_f64();
                let microjoules =
                    if energy >= before { energy - before } else { range.checked_sub(before)?.checked_add(energy)? };
                (seconds > 0.0).then(|| microjoules as f64 / 1e6 / seconds)
            }
        }
    }
}

/// Rejects values that no working sensor has: drivers return 0 K, 255 °C or all ones if nothing is attached.
fn plausible(kind: SensorKind, value: f64) -> bool {
    match kind {
        SensorKind::Temperature => (-40.0..=150.0).contains(&value),
        SensorKind::Frequency => value > 0.0 && value < 2e10,
        SensorKind::Power => (0.0..1e4).contains(&value),
    }
}

/// The number at the start of a file that stays open.
fn number(file: &File) -> Option<f64> {
    let mut buffer = [0u8; 32];
    let length = system::read_at(file, &mut buffer, 0).ok()?;
    std::str::from_utf8(buffer.get(..length)?).ok()?.trim().parse().ok()
}

// Processor clocks in kHz (kernel Documentation/admin-guide/pm/cpufreq.rst).

/// Most policies that are read: on x86, kernels before 5.17 sleep 10 ms in the reading of each, and large machines have
/// hundreds that run alike.
const MOST_CLOCKS: usize = 8;

/// The clock of each policy, or of an evenly spaced selection if there are many.
fn find_clocks(sysroot: &Sysroot) -> Vec<FoundSensor> {
    let dir = sysroot.path("/sys/devices/system/cpu/cpufreq");
    let names: Vec<String> = files::entries(&dir).into_iter().filter(|name| name.starts_with("policy")).collect();
    let step = names.len().div_ceil(MOST_CLOCKS).max(1);
    let found = names.iter().step_by(step).filter_map(|name| {
        let policy = dir.join(name);
        let probe = Probe::Number { file: File::open(policy.join("scaling_cur_freq")).ok()?, times: 1e3, over: 1.0 };
        let most = files::number(&policy.join("cpuinfo_max_freq")).map(|khz| khz as f64 * 1e3);
        let name = format!("cpu{} clock", name.trim_start_matches("policy"));
        Some(FoundSensor { name, kind: SensorKind::Frequency, source: "cpufreq", most, probe })
    });
    found.collect()
}

// The temperature of the drives under test. Other drives are left alone: reading a sensor sends its drive a command,
// and would wake it (kernel Documentation/hwmon/drivetemp.rst).

/// The sensors of `devices` (kernel names of disks), each under the name of its disk.
fn find_drives(sysroot: &Sysroot, devices: &[String]) -> Vec<FoundSensor> {
    let found = devices.iter().filter_map(|name| {
        let node = Node::by_name(sysroot, name)?;
        let probe = Probe::parts(&input(&node.dir.join("device"))?, 1e3)?;
        Some(FoundSensor { name: label(name, 64)?, kind: SensorKind::Temperature, source: "drive", most: None, probe })
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

// Sensor chips of the machine (kernel Documentation/hwmon/sysfs-interface.rst): temperatures in thousandths of a
// degree, power in µW, otherwise volts and amperes of power monitors.

/// Most inputs of a chip: more say nothing about storage (large machines have one for each core).
const MOST_CHIPS: usize = 8;

/// All chips except those of drives, which [`find_drives`] reads, and those that repeat a thermal zone.
fn find_chips(sysroot: &Sysroot) -> Vec<FoundSensor> {
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

fn temperatures(dir: &Path, chip: &str, inputs: &[String], found: &mut Vec<FoundSensor>) {
    for number in sensor_numbers(inputs, "temp", "_input").into_iter().take(MOST_CHIPS) {
        if let Some(probe) = Probe::parts(&dir.join(format!("temp{number}_input")), 1e3) {
            let name = named(dir, chip, &format!("temp{number}"));
            found.push(FoundSensor { name, kind: SensorKind::Temperature, source: "hwmon", most: None, probe });
        }
    }
}

fn powers(dir: &Path, chip: &str, inputs: &[String], found: &mut Vec<FoundSensor>) {
    let before = found.len();
    for (suffix, numbers) in ["_input", "_average"].map(|s| (s, sensor_numbers(inputs, "power", s))) {
        // A chip with both kinds has the mean only for inputs without a momentary value.
        if found.len() > before {
            break;
        }
        for number in numbers.into_iter().take(MOST_CHIPS) {
            if let Some(probe) = Probe::parts(&dir.join(format!("power{number}{suffix}")), 1e6) {
                let name = named(dir, chip, &format!("power{number}"));
                found.push(FoundSensor { name, kind: SensorKind::Power, source: "hwmon", most: None, probe });
            }
        }
    }
    if found.len() > before || !chip.starts_with("ina") {
        return;
    }
    // Power monitors without a power input: mV times mA of the same channel (Documentation/hwmon/ina2xx.rst,
    // ina3221.rst: in1 to in3 are bus voltages, in0 and in4 to in6 those across the shunts).
    for number in sensor_numbers(inputs, "curr", "_input").into_iter().filter(|n| (1..=3).contains(n)) {
        let open = |what: &str| File::open(dir.join(format!("{what}{number}_input"))).ok();
        if let (Some(volts), Some(amperes)) = (open("in"), open("curr")) {
            let probe = Probe::Product { files: [volts, amperes], over: 1e6 };
            let name = named(dir, chip, &format!("in{number}"));
            found.push(FoundSensor { name, kind: SensorKind::Power, source: "hwmon", most: None, probe });
        }
    }
}

/// Numbers N of the files `prefixNsuffix`, ascending.
fn sensor_numbers(inputs: &[String], prefix: &str, suffix: &str) -> Vec<u32> {
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

// Energy of Intel and AMD processors in µJ (kernel Documentation/power/powercap/powercap.rst). Only root may read it.

/// The zones at the top (`intel-rapl:0`), not their parts (`intel-rapl:0:1`).
fn find_energy(sysroot: &Sysroot) -> Vec<FoundSensor> {
    let class = sysroot.path("/sys/class/powercap");
    let zones = files::entries(&class).into_iter().filter(|name| name.starts_with("intel-rapl:"));
    let found = zones.filter(|name| name.matches(':').count() == 1).filter_map(|zone| {
        let dir = class.join(&zone);
        let name = files::text(&dir.join("name")).and_then(|text| label(&text, 64)).unwrap_or(zone);
        let range = files::number(&dir.join("max_energy_range_uj"))?;
        let probe = Probe::Energy { file: File::open(dir.join("energy_uj")).ok()?, range, last: None };
        Some(FoundSensor { name, kind: SensorKind::Power, source: "rapl", most: None, probe })
    });
    found.collect()
}

// Thermal zones: thousandths of a degree (kernel Documentation/driver-api/thermal/sysfs-api.rst).

/// All zones, by the name of their type.
fn find_zones(sysroot: &Sysroot) -> Vec<FoundSensor> {
    let class = sysroot.path("/sys/class/thermal");
    let zones = files::entries(&class).into_iter().filter(|name| name.starts_with("thermal_zone"));
    let found = zones.filter_map(|zone| {
        let dir = class.join(&zone);
        let name = files::text(&dir.join("type")).and_then(|text| label(&text, 64)).unwrap_or(zone);
        let probe = Probe::parts(&dir.join("temp"), 1e3)?;
        Some(FoundSensor { name, kind: SensorKind::Temperature, source: "thermal zone", most: None, probe })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Sysroot) {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), files);
        let sysroot = Sysroot::at(dir.path());
        (dir, sysroot)
    }

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    fn value(readings: &[Reading], name: &str) -> Option<f64> {
        readings.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("{name} in {readings:?}")).value
    }

    #[test]
    fn energy_becomes_power_also_where_the_counter_starts_anew() {
        const ZONE: &str = "sys/class/powercap/intel-rapl:0";
        let (dir, sysroot) = tree(&[
            (&format!("{ZONE}/name"), "package-0\n"),
            (&format!("{ZONE}/energy_uj"), "1000000\n"),
            (&format!("{ZONE}/max_energy_range_uj"), "262143328850\n"),
            ("sys/class/powercap/intel-rapl:0:0/name", "core\n"),
            ("sys/class/powercap/intel-rapl:0:0/energy_uj", "1\n"),
            ("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "262143328850\n"),
        ]);
        let start = Instant::now();
        let mut sensors = Sensors::find(&sysroot, &[]);
        assert_eq!(sensors.readings().len(), 1, "parts of a package are not counted twice");
        sensors.read_at(start);
        write(dir.path(), &[(&format!("{ZONE}/energy_uj"), "262143328840\n")]);
        sensors.read_at(start + Duration::from_secs(100));
        write(dir.path(), &[(&format!("{ZONE}/energy_uj"), "24999990\n")]);
        let watts = value(sensors.read_at(start + Duration::from_secs(102)), "package-0").unwrap();
        assert!((watts - 12.5).abs() < 1e-9, "{watts}");
        fs::write(dir.path().join(ZONE).join("energy_uj"), "rubbish\n").unwrap();
        assert_eq!(value(sensors.read_at(start + Duration::from_secs(103)), "package-0"), None);
    }

    #[test]
    fn power_is_read_in_microwatts_or_from_volts_and_amperes() {
        let (_dir, sysroot) = tree(&[
            ("sys/class/hwmon/hwmon0/name", "ina219\n"),
            ("sys/class/hwmon/hwmon0/in0_input", "3\n"),
            ("sys/class/hwmon/hwmon0/in1_input", "5040\n"),
            ("sys/class/hwmon/hwmon0/curr1_input", "610\n"),
            ("sys/class/hwmon/hwmon0/power1_input", "3075000\n"),
            ("sys/class/hwmon/hwmon1/name", "ina3221\n"),
            ("sys/class/hwmon/hwmon1/in1_input", "5000\n"),
            ("sys/class/hwmon/hwmon1/in1_label", "VDD_IN\n"),
            ("sys/class/hwmon/hwmon1/curr1_input", "800\n"),
            ("sys/class/hwmon/hwmon1/in4_input", "40\n"),
            ("sys/class/hwmon/hwmon1/curr4_input", "800\n"),
            ("sys/class/hwmon/hwmon2/name", "nct6775\n"),
            ("sys/class/hwmon/hwmon2/in1_input", "5000\n"),
            ("sys/class/hwmon/hwmon2/curr1_input", "100\n"),
        ]);
        let sensors = Sensors::find(&sysroot, &[]);
        let all: Vec<_> = sensors.readings().iter().map(|r| (r.name.as_str(), r.value, r.unit())).collect();
        assert_eq!(all, [("ina219", Some(3.075), "W"), ("ina3221 VDD_IN", Some(4.0), "W")]);
    }

    // Windows has no such names.
    #[cfg(not(windows))]
    #[test]
    fn a_directory_lends_its_name_without_what_a_terminal_obeys() {
        let (_dir, sysroot) = tree(&[("sys/class/hwmon/h\u{1c}mon1/temp1_input", "39850\n")]);
        let names: Vec<String> = Sensors::find(&sysroot, &[]).readings().iter().map(|r| r.name.clone()).collect();
        assert_eq!(names, ["h\u{fffd}mon1"]);
    }

    #[test]
    fn what_no_working_sensor_says_is_left_out() {
        let (_dir, sysroot) = tree(&[
            ("sys/class/thermal/thermal_zone0/temp", "255000\n"),
            ("sys/class/thermal/thermal_zone1/temp", "-273150\n"),
            ("sys/class/thermal/thermal_zone2/temp", "rubbish\n"),
            ("sys/class/thermal/thermal_zone3/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone3/temp", "42000\n"),
            ("sys/class/thermal/thermal_zone4/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone4/temp", "43000\n"),
        ]);
        let mut sensors = Sensors::find(&sysroot, &[]);
        assert_eq!(value(sensors.read(), "x86_pkg_temp"), Some(42.0));
        assert_eq!(value(sensors.read(), "x86_pkg_temp 2"), Some(43.0));
        assert_eq!(sensors.readings().len(), 2);
    }

    #[cfg(not(windows))]
    #[test]
    fn an_hour_of_readings_costs_next_to_nothing() {
        let mut files = Vec::new();
        for i in 0..8 {
            files.push((format!("sys/class/thermal/thermal_zone{i}/temp"), "42000\n"));
            files.push((format!("sys/devices/system/cpu/cpufreq/policy{i}/scaling_cur_freq"), "1500000\n"));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_dir, sysroot) = tree(&files);
        let mut sensors = Sensors::find(&sysroot, &[]);
        assert_eq!(sensors.readings().len(), 16);
        let cpu = || {
            let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
        };
        let before = cpu();
        for _ in 0..3600 {
            sensors.read();
        }
        let used = cpu() - before;
        eprintln!("16 sensors: {:.1} µs of processor time a reading", used / 3600.0 * 1e6);
        assert!(used < 36.0, "{used} s in an hour is more than 1 % of a core");
    }
}
