//! The machine that measures, and its conditions during a measurement.

use assay_core::finding::FirmwareFlag;
use assay_core::record::Host;
use assay_core::text::label;

use crate::files::{self, Sysroot};
use crate::system;

/// Description of the machine; `slot` is left to the user's label.
#[must_use]
pub fn host(sysroot: &Sysroot) -> Host {
    if sysroot.is_real()
        && let Some(from_system) = system::host()
    {
        return from_system;
    }
    let read = |path: &str| files::text(&sysroot.path(path)).and_then(|text| label(&text, 128));
    let cpuinfo = files::text(&sysroot.path("/proc/cpuinfo")).unwrap_or_default();
    Host {
        hostname: read("/proc/sys/kernel/hostname"),
        board: board(sysroot, &cpuinfo),
        cpu: cpu(sysroot, &cpuinfo),
        cores: cores(sysroot, &cpuinfo),
        memory_bytes: memory(sysroot),
        kernel: read("/proc/sys/kernel/osrelease"),
        os: os(sysroot),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        // In /proc since kernel 6.1.
        arch: read("/proc/sys/kernel/arch").or_else(|| sysroot.is_real().then(|| std::env::consts::ARCH.to_owned())),
        slot: None,
    }
}

/// The value of the first line `key : value` of `/proc/cpuinfo`.
fn field(cpuinfo: &str, key: &str) -> Option<String> {
    let line = cpuinfo.lines().find_map(|line| line.split_once(':').filter(|(name, _)| name.trim() == key))?;
    label(line.1, 128)
}

/// From the device tree, from firmware tables of PCs, or from cpuinfo on old ports.
fn board(sysroot: &Sysroot, cpuinfo: &str) -> Option<String> {
    let read = |path: &str| files::text(&sysroot.path(path)).and_then(|text| label(&text, 128));
    let useful = |text: String| {
        let filler = ["to be filled by o.e.m.", "system product name", "default string", "not specified", "none"];
        (!filler.contains(&text.to_lowercase().as_str())).then_some(text)
    };
    read("/proc/device-tree/model")
        .or_else(|| read("/sys/firmware/devicetree/base/model"))
        .or_else(|| {
            let product = read("/sys/class/dmi/id/product_name").and_then(useful);
            let product = product.or_else(|| read("/sys/class/dmi/id/board_name").and_then(useful))?;
            let vendor = read("/sys/class/dmi/id/sys_vendor").and_then(useful);
            Some(match vendor {
                Some(vendor) if !product.starts_with(&vendor) => format!("{vendor} {product}"),
                _ => product,
            })
        })
        .or_else(|| field(cpuinfo, "machine"))
        .or_else(|| field(cpuinfo, "Model"))
        .or_else(|| field(cpuinfo, "Hardware"))
}

fn cpu(sysroot: &Sysroot, cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu"].iter().find_map(|key| field(cpuinfo, key));
    // 32-bit ARM reports `ARMv7 Processor rev 3 (v7l)`, as any ARM does; the part number says more.
    let vague = |name: &String| name.starts_with("ARMv") || name.starts_with("AArch64");
    arm_cores(cpuinfo)
        .filter(|_| named.as_ref().is_none_or(vague))
        .or(named)
        .or_else(|| field(cpuinfo, "system type"))
        .or_else(|| {
            let compatible = files::text(&sysroot.path("/proc/device-tree/cpus/cpu@0/compatible"))?;
            label(compatible.split('\0').next()?, 128)
        })
}

/// `CPU implementer` and `CPU part` (kernel arch/arm64/include/asm/cputype.h); each kind of core is listed once.
fn arm_cores(cpuinfo: &str) -> Option<String> {
    const ARM_LTD: &str = "0x41";
    const PARTS: &[(&str, &str)] = &[
        ("0xb76", "ARM1176"),
        ("0xc07", "Cortex-A7"),
        ("0xc08", "Cortex-A8"),
        ("0xc09", "Cortex-A9"),
        ("0xc0f", "Cortex-A15"),
        ("0xd03", "Cortex-A53"),
        ("0xd04", "Cortex-A35"),
        ("0xd05", "Cortex-A55"),
        ("0xd07", "Cortex-A57"),
        ("0xd08", "Cortex-A72"),
        ("0xd09", "Cortex-A73"),
        ("0xd0a", "Cortex-A75"),
        ("0xd0b", "Cortex-A76"),
        ("0xd0c", "Neoverse-N1"),
        ("0xd0d", "Cortex-A77"),
        ("0xd40", "Neoverse-V1"),
        ("0xd41", "Cortex-A78"),
        ("0xd49", "Neoverse-N2"),
    ];
    if field(cpuinfo, "CPU implementer")? != ARM_LTD {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    let parts = cpuinfo.lines().filter_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == "CPU part"));
    for (_, part) in parts {
        let name = PARTS.iter().find(|(id, _)| *id == part.trim()).map(|(_, name)| *name)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(" + "))
}

/// Parses `0-3,6`; otherwise counts the processors in cpuinfo.
fn cores(sysroot: &Sysroot, cpuinfo: &str) -> Option<u32> {
    let online = files::text(&sysroot.path("/sys/devices/system/cpu/online")).and_then(|text| count_list(&text));
    online.or_else(|| {
        let listed = cpuinfo.lines().filter(|line| line.split(':').next().is_some_and(|key| key.trim() == "processor"));
        u32::try_from(listed.count()).ok().filter(|count| *count > 0)
    })
}

fn count_list(text: &str) -> Option<u32> {
    text.trim().split(',').try_fold(0u32, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// Memory in bytes that new programs can use without swapping (kernel Documentation/filesystems/proc.rst,
/// `MemAvailable`).
#[must_use]
pub fn available_memory(sysroot: &Sysroot) -> Option<u64> {
    let from_system = if sysroot.is_real() { system::available_memory() } else { None };
    from_system.or_else(|| meminfo(sysroot, "MemAvailable:"))
}

fn memory(sysroot: &Sysroot) -> Option<u64> {
    meminfo(sysroot, "MemTotal:")
}

fn meminfo(sysroot: &Sysroot, name: &str) -> Option<u64> {
    let text = files::text(&sysroot.path("/proc/meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// PRETTY_NAME of os-release(5).
fn os(sysroot: &Sysroot) -> Option<String> {
    let text = ["/etc/os-release", "/usr/lib/os-release"].iter().find_map(|path| files::text(&sysroot.path(path)))?;
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    label(value.trim().trim_matches(['"', '\'']), 128)
}

/// State of the host at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostState {
    /// Throttling of the processor.
    pub throttle: ThrottleState,
    /// Time that programs have used.
    pub load: LoadState,
    /// Pages swapped in and out since the start of the host.
    pub swapped_pages: u64,
}

impl HostState {
    /// Reads the state of the host; this reads one line for each process.
    #[must_use]
    pub fn read(sysroot: &Sysroot) -> Self {
        Self {
            throttle: ThrottleState::read(sysroot),
            load: LoadState::read(sysroot),
            swapped_pages: swapped(&files::text(&sysroot.path("/proc/vmstat")).unwrap_or_default()),
        }
    }
}

/// `pswpin` and `pswpout` (kernel mm/vmstat.c).
fn swapped(vmstat: &str) -> u64 {
    let value = |name: &str| {
        vmstat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or_default()
    };
    value("pswpin ").saturating_add(value("pswpout "))
}

// Load of the processors by program (proc(5): `/proc/stat`, `/proc/PID/stat`).

/// PF_KTHREAD (kernel include/linux/sched.h). Kernel threads also work for the I/O under test, so they do not count as
/// load of others.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Ticks used since the start of the host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadState {
    /// Of all processors, including idle time.
    total: u64,
    /// Of all programs and the kernel, without interrupts.
    busy: u64,
    /// Of all programs outside of the kernel.
    user: u64,
    /// Of this process and its ended children.
    own: u64,
    /// Of this process, outside of the kernel.
    own_user: u64,
    tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Task {
    id: u32,
    /// Start time. Together with the process number it identifies a process. Names change: a kernel worker is named
    /// after its work.
    began: u64,
    name: String,
    is_kernel: bool,
    ticks: u64,
}

/// Load of others between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct HostLoad {
    /// Share of all processors, 0 to 1.
    pub share: f64,
    /// Ticks of all processors in the interval: the fewer, the coarser the share.
    pub ticks: u64,
    /// The program that used most of it; empty if that was a short one.
    pub most: String,
}

impl LoadState {
    /// For a system that only reports on the machine and this process: ticks of all processors, of all programs outside
    /// of the kernel, and of this process outside of the kernel.
    fn of_machine([total, user, own_user]: [u64; 3]) -> Self {
        Self { total, busy: user, user, own: own_user, own_user, tasks: Vec::new() }
    }

    pub(super) fn read(sysroot: &Sysroot) -> Self {
        if sysroot.is_real()
            && let Some(machine_load) = system::load()
        {
            return Self::of_machine(machine_load);
        }
        let read = |path: &str| files::text(&sysroot.path(path)).unwrap_or_default();
        let mut state = Self::default();
        state.machine(&read("/proc/stat"));
        let own = read("/proc/self/stat");
        if let Some((task, times)) = task_of(&own) {
            state.own = times.iter().sum();
            state.own_user = times[0] + times[2];
            let proc = sysroot.path("/proc");
            let others = files::entries(&proc).into_iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
            state.tasks = others
                .filter_map(|id| files::text(&proc.join(id).join("stat")))
                .filter_map(|text| Some(task_of(&text)?.0))
                .filter(|other| other.id != task.id)
                .collect();
        }
        state
    }

    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are in user.
    fn machine(&mut self, stat: &str) {
        let Some(line) = stat.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        self.total = ticks.iter().take(8).sum();
        self.user = at(0) + at(1);
        // Stolen time counts as load: it is load of other guests.
        self.busy = self.user + at(2) + at(7);
    }

    /// What others used since `earlier`; `None` if no time passed or it cannot be read.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Option<HostLoad> {
        let ticks = self.total.checked_sub(earlier.total).filter(|ticks| *ticks > 0)?;
        let grown = |now: u64, then: u64| now.saturating_sub(then);
        let mut kernel = 0;
        let mut sees_kernel = false;
        let mut most: Option<(u64, &str)> = None;
        for task in &self.tasks {
            // A process that was absent before began since then.
            let before = earlier.tasks.iter().find(|t| (t.id, t.began) == (task.id, task.began)).map_or(0, |t| t.ticks);
            let used = grown(task.ticks, before);
            sees_kernel |= task.is_kernel;
            if task.is_kernel {
                kernel += used;
            } else if most.is_none_or(|(largest, _)| used > largest) && used > 0 {
                most = Some((used, &task.name));
            }
        }
        let others = if sees_kernel {
            grown(self.busy, earlier.busy).saturating_sub(grown(self.own, earlier.own)).saturating_sub(kernel)
        } else {
            // In a container or with hidepid it is unknown for whom the kernel worked.
            grown(self.user, earlier.user).saturating_sub(grown(self.own_user, earlier.own_user))
        };
        let most = most.filter(|(used, _)| used * 3 > others).map(|(_, name)| name.to_owned()).unwrap_or_default();
        Some(HostLoad { share: (others as f64 / ticks as f64).min(1.0), ticks, most })
    }
}

/// `PID (name) state …`: user and system time of the process, then those of its ended children.
/// The name may hold anything, also brackets.
fn task_of(stat: &str) -> Option<(Task, [u64; 4])> {
    let (id, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // The state is field 3 of proc(5).
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let times = [number(14)?, number(15)?, number(16)?, number(17)?];
    let task = Task {
        id: id.trim().parse().ok()?,
        began: number(22)?,
        name: label(name, 32).unwrap_or_default(),
        is_kernel: number(9)? & KERNEL_THREAD != 0,
        ticks: times[0] + times[1],
    };
    Some((task, times))
}

// Throttling of the processor: heat, firmware, supply voltage.

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

    /// Conditions that occurred after `earlier`: current ones, and ones that occurred for the first time.
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
    fn lists_of_processors_are_counted() {
        assert_eq!(count_list("0-3"), Some(4));
        assert_eq!(count_list("0,2-3,7"), Some(4));
        assert_eq!(count_list("3-0"), None);
        assert_eq!(count_list("0-4294967295"), None);
        assert_eq!(count_list(""), None);
    }

    #[test]
    fn mixed_cores_are_named_once_each() {
        let cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\nprocessor\t: 1\n\
                       CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n\nCPU part\t: 0xd0b\n";
        assert_eq!(arm_cores(cpuinfo).as_deref(), Some("Cortex-A55 + Cortex-A76"));
        assert_eq!(arm_cores("model name : AMD EPYC\n"), None);
    }

    #[test]
    fn swapped_pages_of_both_directions_are_added() {
        assert_eq!(swapped("nr_free 5\npswpin 12\npswpout 30\npswpin_x 9\n"), 42);
        assert_eq!(swapped(""), 0);
    }

    fn state(cpu: &str, own: [u64; 4], tasks: &[(u32, &str, bool, u64)]) -> LoadState {
        let mut state = LoadState {
            own: own.iter().sum(),
            own_user: own[0] + own[2],
            tasks: tasks
                .iter()
                .map(|(id, name, is_kernel, ticks)| Task {
                    id: *id,
                    began: 1,
                    name: (*name).to_owned(),
                    is_kernel: *is_kernel,
                    ticks: *ticks,
                })
                .collect(),
            ..LoadState::default()
        };
        state.machine(cpu);
        state
    }

    #[test]
    fn a_line_of_a_process_is_read_whatever_its_name() {
        let line = "1234 (a) b (c\u{1b}) S 1 1234 1234 0 -1 4194560 200 0 0 0 7 5 3 2 20 0 1 0 999";
        let (task, times) = task_of(line).unwrap();
        assert_eq!((task.id, task.name.as_str(), task.is_kernel), (1234, "a) b (c\u{fffd}", false));
        assert_eq!((task.ticks, times), (12, [7, 5, 3, 2]));
        let kernel = "9 (kworker/u8:1-loop0) I 2 0 0 0 -1 69238880 0 0 0 0 0 77 0 0 20 0 1 0 5";
        assert!(task_of(kernel).unwrap().0.is_kernel);
        for bad in ["", "1 (x", "x (y) S 1", "1 (y) S 1 2"] {
            assert_eq!(task_of(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_load_of_others_is_neither_ours_nor_the_kernels() {
        let kworker = |ticks| (7, if ticks < 10 { "kworker/0:1" } else { "kworker/0:1-loop0" }, true, ticks);
        let before =
            state("cpu  100 0 100 1000 0 0 0 0 0 0\ncpu0 1 2", [10, 10, 0, 0], &[kworker(5), (8, "make", false, 50)]);
        let after = state("cpu  150 10 140 1090 0 5 5 0 0 0", [30, 20, 0, 0], &[kworker(25), (8, "make", false, 90)]);
        // 50 + 10 + 40 busy, 30 of them ours, 20 of the kernel, in 200 ticks.
        let load = after.since(&before).unwrap();
        assert!((load.share - 0.25).abs() < 1e-9, "{load:?}");
        assert_eq!((load.ticks, load.most.as_str()), (200, "make"));
        assert_eq!(before.since(&before), None);
    }

    #[test]
    fn children_of_ours_are_ours() {
        let before = state("cpu  0 0 0 1000", [0, 0, 0, 0], &[(7, "kworker/0:1", true, 5)]);
        let after = state("cpu  100 0 0 1100", [1, 1, 90, 8], &[(7, "kworker/0:1", true, 5)]);
        assert_eq!(after.since(&before).unwrap().share, 0.0);
    }

    #[test]
    fn where_processes_are_hidden_only_time_outside_of_the_kernel_counts() {
        let before = state("cpu  0 0 0 1000", [0, 0, 0, 0], &[]);
        let after = state("cpu  50 0 100 1050", [10, 0, 0, 0], &[]);
        let load = after.since(&before).unwrap();
        assert!((load.share - 0.2).abs() < 1e-9, "{load:?}");
        assert_eq!(load.most, "");
    }

    #[test]
    fn this_machine_can_be_read() {
        let sysroot = Sysroot::real();
        let before = LoadState::read(&sysroot);
        assert!(before.total > 0);
        let begun = std::time::Instant::now();
        let mut sum = 0u64;
        while begun.elapsed() < std::time::Duration::from_millis(300) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let after = LoadState::read(&sysroot);
        if std::env::var_os("ASSAY_EMULATOR").is_some() {
            // linux-user/syscall.c: all of /proc/self/stat is 0, except for number, name, parent, start and stack.
            println!("SKIP: this_machine_can_be_read: qemu tells no time of the program that it runs");
        } else {
            assert!(after.own > before.own, "our own work is seen");
        }
        let load = after.since(&before).unwrap();
        assert!((0.0..=1.0).contains(&load.share), "{load:?}");
    }

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
