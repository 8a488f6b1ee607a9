//! All sensors together.

use std::time::Instant;

use assay_core::sensor::SensorKind;
use assay_core::text::harmless;

use super::probe::{Found, Probe, plausible};
use super::{clocks, drives, hwmon, rapl, zones};
use crate::sysroot::Sysroot;

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
            drives::find(sysroot, devices),
            zones::find(sysroot),
            hwmon::find(sysroot),
            clocks::find(sysroot),
            rapl::find(sysroot),
        ];
        let mut set = Self { readings: Vec::new(), probes: Vec::new() };
        let now = Instant::now();
        for found in all.into_iter().flatten() {
            set.add(found, now);
        }
        set
    }

    fn add(&mut self, found: Found, now: Instant) {
        let Found { name, kind, source, most, mut probe } = found;
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
