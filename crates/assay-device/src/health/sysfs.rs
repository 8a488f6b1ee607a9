//! Health that the kernel shows in its trees, to every user and without a command to the medium.

use assay_core::health::{CounterKind, HealthReadings, HealthSource};

use super::ask::Parsed;
use super::ext_csd;
use crate::block::Node;
use crate::files;
use crate::files::Sysroot;
use crate::medium::card_directory;

/// A number in a file, in hexadecimal digits or decimal ones.
fn number(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `life_time` (`0x01 0x02`) and `pre_eol_info` of an eMMC (kernel Documentation/driver-api/mmc/mmc-dev-attrs.rst).
pub(super) fn emmc(sysroot: &Sysroot, disk: &Node) -> Option<HealthReadings> {
    let dir = card_directory(sysroot, disk)?;
    let life = files::text(&dir.join("life_time")).unwrap_or_default();
    let mut life = life.split_whitespace().map(|text| number(text).unwrap_or(0));
    let (a, b) = (life.next().unwrap_or(0), life.next().unwrap_or(0));
    let pre_end = files::text(&dir.join("pre_eol_info")).and_then(|text| number(&text)).unwrap_or(0);
    let parsed = ext_csd::life(a, b, pre_end);
    (!parsed.counters.is_empty()).then(|| parsed.of(HealthSource::ExtCsd))
}

/// The same register whole, as debugfs shows it to root.
pub(super) fn ext_csd_digits(sysroot: &Sysroot, disk: &Node) -> Option<String> {
    let dir = card_directory(sysroot, disk)?;
    let card = files::file_name(&dir)?;
    let host = card.split(':').next()?;
    files::text(&sysroot.path("/sys/kernel/debug").join(host).join(&card).join("ext_csd"))
}

/// `eol_info`, `life_time_estimation_a` and `_b` of a UFS device (kernel Documentation/ABI/testing/sysfs-driver-ufs).
pub(super) fn ufs(sysroot: &Sysroot, disk: &Node) -> Option<HealthReadings> {
    let dir = disk.ancestor(sysroot, |dir| dir.join("health_descriptor").is_dir())?.join("health_descriptor");
    let value = |name: &str| files::text(&dir.join(name)).and_then(|text| number(&text)).unwrap_or(0);
    let parsed = ext_csd::life(value("life_time_estimation_a"), value("life_time_estimation_b"), value("eol_info"));
    Some(parsed.of(HealthSource::UfsDescriptor))
}

/// Bytes that ext4 and f2fs wrote since they were made (kernel Documentation/ABI/testing/sysfs-fs-ext4 and sysfs-fs-f2fs,
/// `lifetime_write_kbytes`), by the name of the device that is mounted.
pub(super) fn file_system(sysroot: &Sysroot, kind: &str, device: &str) -> Option<HealthReadings> {
    if !matches!(kind, "ext4" | "f2fs") {
        return None;
    }
    let path = sysroot.path("/sys/fs").join(kind).join(device).join("lifetime_write_kbytes");
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::FileSystemWrittenBytes, files::number(&path)?.saturating_mul(1024));
    Some(parsed.of(HealthSource::FileSystem))
}
