//! Throttling of the processor: heat, firmware, supply voltage.

use assay_core::finding::FirmwareFlag;

use crate::files;
use crate::files::Sysroot;

/// Bits that the firmware of a Raspberry Pi sets for a current condition. Shifted by 16, they mean a condition since
/// the start (Raspberry Pi documentation, `vcgencmd get_throttled`).
const SINCE_START: u32 = 16;

/// Flags of the firmware of a Raspberry Pi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firmware(pub u32);

impl Firmware {
    /// By their bits.
    const FLAGS: [FirmwareFlag; 4] = [
        FirmwareFlag::UnderVoltage,
        FirmwareFlag::ClockCapped,
        FirmwareFlag::Throttled,
        FirmwareFlag::SoftTemperatureLimit,
    ];

    /// Reads `50005` or `0x50005`: the kernel writes hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok().map(Self)
    }

    /// Current conditions.
    #[must_use]
    pub fn now(self) -> Vec<FirmwareFlag> {
        Self::flags(self.0)
    }

    /// Conditions since the start of the host.
    #[must_use]
    pub fn since_start(self) -> Vec<FirmwareFlag> {
        Self::flags(self.0 >> SINCE_START)
    }

    /// Conditions that occurred after `earlier`: current ones, and those that occurred for the first time.
    #[must_use]
    pub fn met_after(self, earlier: Self) -> Vec<FirmwareFlag> {
        let first = (self.0 & !earlier.0) >> SINCE_START;
        Self::flags(self.0 | first)
    }

    fn flags(bits: u32) -> Vec<FirmwareFlag> {
        Self::FLAGS.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, flag)| *flag).collect()
    }
}

/// Throttling of the processor at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThrottleState {
    /// Times that x86 processors throttled themselves, summed (kernel
    /// Documentation/ABI/testing/sysfs-devices-system-cpu, `thermal_throttle`).
    pub events: u64,
    /// Policies with their allowed and their possible clock in kHz.
    pub limits: Vec<(String, u64, u64)>,
    /// Cooling devices that throttle the processor now.
    pub cooling: Vec<String>,
    /// Flags of a Raspberry Pi.
    pub firmware: Option<Firmware>,
    /// Whether the voltage monitor of a Raspberry Pi raises its alarm.
    pub voltage_alarm: bool,
}

impl ThrottleState {
    pub(super) fn read(sysroot: &Sysroot) -> Self {
        let cpus = sysroot.path("/sys/devices/system/cpu");
        let mut state = Self::default();
        for cpu in files::entries(&cpus) {
            let throttle = cpus.join(cpu).join("thermal_throttle");
            let counts = ["core_throttle_count", "package_throttle_count"];
            state.events += counts.iter().filter_map(|name| files::number(&throttle.join(name))).sum::<u64>();
        }
        let policies = cpus.join("cpufreq");
        for policy in files::entries(&policies) {
            let number = |name: &str| files::number(&policies.join(&policy).join(name));
            if let (Some(allowed), Some(possible)) = (number("scaling_max_freq"), number("cpuinfo_max_freq")) {
                state.limits.push((policy, allowed, possible));
            }
        }
        let thermal = sysroot.path("/sys/class/thermal");
        for name in files::entries(&thermal).into_iter().filter(|name| name.starts_with("cooling_device")) {
            let kind = files::text(&thermal.join(&name).join("type")).unwrap_or_default();
            // cpufreq-cpu0, thermal-cpufreq-0 (cpufreq cooling), Processor (ACPI); fans do not throttle.
            let holds_back = kind.contains("cpufreq") || kind == "Processor";
            if holds_back && files::number(&thermal.join(&name).join("cur_state")).is_some_and(|state| state > 0) {
                state.cooling.push(kind);
            }
        }
        let flags = files::text(&sysroot.path("/sys/devices/platform/soc/soc:firmware/get_throttled"));
        state.firmware = flags.as_deref().and_then(Firmware::parse);
        let hwmon = sysroot.path("/sys/class/hwmon");
        state.voltage_alarm = files::entries(&hwmon).into_iter().map(|name| hwmon.join(name)).any(|chip| {
            files::text(&chip.join("name")).as_deref() == Some("rpi_volt") && files::flag(&chip.join("in0_lcrit_alarm"))
        });
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_firmware_are_decoded() {
        let flags = Firmware::parse("50005\n").unwrap();
        assert_eq!(flags.now(), [FirmwareFlag::UnderVoltage, FirmwareFlag::Throttled]);
        assert_eq!(flags.since_start(), [FirmwareFlag::UnderVoltage, FirmwareFlag::Throttled]);
        assert_eq!(Firmware::parse("0x80008").unwrap().now(), [FirmwareFlag::SoftTemperatureLimit]);
        assert_eq!(Firmware::parse("0").unwrap().since_start(), []);
        assert_eq!(Firmware::parse("hot"), None);
    }

    #[test]
    fn what_was_met_before_is_not_met_again() {
        let (clean, old, during) = (Firmware(0), Firmware(0x5_0000), Firmware(0x7_0000));
        assert_eq!(old.met_after(old), []);
        assert_eq!(old.met_after(clean), [FirmwareFlag::UnderVoltage, FirmwareFlag::Throttled]);
        assert_eq!(during.met_after(old), [FirmwareFlag::ClockCapped]);
        assert_eq!(Firmware(0x5_0004).met_after(old), [FirmwareFlag::Throttled], "now, again");
    }

    #[test]
    fn a_tree_of_an_x86_machine_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let cpu = dir.path().join("sys/devices/system/cpu");
        for (path, text) in [
            ("cpu0/thermal_throttle/core_throttle_count", "3\n"),
            ("cpu0/thermal_throttle/package_throttle_count", "4\n"),
            ("cpu1/thermal_throttle/core_throttle_count", "5\n"),
            ("cpufreq/policy0/scaling_max_freq", "1200000\n"),
            ("cpufreq/policy0/cpuinfo_max_freq", "3600000\n"),
            ("../../../class/thermal/cooling_device0/type", "Processor\n"),
            ("../../../class/thermal/cooling_device0/cur_state", "2\n"),
            ("../../../class/thermal/cooling_device1/type", "pwm-fan\n"),
            ("../../../class/thermal/cooling_device1/cur_state", "4\n"),
        ] {
            let path = cpu.join(path);
            std::fs::create_dir_all(&cpu).unwrap();
            std::fs::create_dir_all(dir.path().join("sys/class")).unwrap();
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let state = ThrottleState::read(&Sysroot::at(dir.path()));
        assert_eq!(state.events, 12);
        assert_eq!(state.limits, [("policy0".to_owned(), 1_200_000, 3_600_000)]);
        assert_eq!(state.cooling, ["Processor"]);
        assert_eq!((state.firmware, state.voltage_alarm), (None, false));
    }
}
