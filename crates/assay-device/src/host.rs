//! The machine that measures.

use assay_core::record::Host;
use assay_core::text::label;

use crate::files::Sysroot;
use crate::{files, system};

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
}
