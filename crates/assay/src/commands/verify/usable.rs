//! The commands that make a partition of the part of a medium that works. They are printed and never run.

use std::path::{Path, PathBuf};

use assay_core::record::Record;
use assay_core::text::shell;
use assay_core::units::Bytes;
use assay_verify::usable::{sectors, usable_part};

/// The disk of a device, and where the device begins on it in bytes; `None` where it is neither disk nor partition.
fn disk_of(device: &Path) -> Option<(PathBuf, u64)> {
    let real = std::fs::canonicalize(device).ok()?;
    let name = real.file_name()?.to_str()?;
    let place = std::fs::canonicalize(Path::new("/sys/class/block").join(name)).ok()?;
    if !place.join("partition").exists() {
        // What is stacked on others is no place for a table.
        let stacked = std::fs::read_dir(place.join("slaves")).is_ok_and(|mut members| members.next().is_some());
        return (!stacked).then_some((real, 0));
    }
    let start: u64 = std::fs::read_to_string(place.join("start")).ok()?.trim().parse().ok()?;
    Some((Path::new("/dev").join(place.parent()?.file_name()?), start * 512))
}

/// What is said of the part that can be used; nothing where there is none.
pub(super) fn usable_lines(record: &Record) -> Vec<String> {
    let Some(v) = &record.verification else { return Vec::new() };
    let device = record.medium.device.as_deref().unwrap_or(&record.medium.path);
    let Some((disk, start)) = disk_of(Path::new(device)) else { return Vec::new() };
    usable_part(v, start).map_or_else(Vec::new, |part| commands(&disk.to_string_lossy(), part))
}

fn commands(disk: &str, part: assay_core::verification::Extent) -> Vec<String> {
    let (first, last) = sectors(part);
    let between = if disk.ends_with(|c: char| c.is_ascii_digit()) { "p" } else { "" };
    let (disk, partition) = (shell(disk), shell(&format!("{disk}{between}1")));
    vec![
        format!(
            "usable    {} from {} on held what was written. These commands make a partition of that part, and destroy \
             what the medium holds; assay does not run them:",
            Bytes(part.bytes),
            Bytes(part.offset_bytes)
        ),
        format!("  parted --script {disk} mklabel msdos mkpart primary fat32 {first}s {last}s"),
        format!("  mkfs.vfat {partition}"),
        format!("  or with f3: f3fix --first-sec={first} --last-sec={last} {disk}"),
    ]
}

#[cfg(test)]
mod tests {
    use assay_core::verification::Extent;

    use super::*;

    #[test]
    fn the_commands_name_sectors_and_the_first_partition() {
        let part = Extent { offset_bytes: 1 << 20, bytes: 99 << 20 };
        let said = commands("/dev/sdq", part);
        assert_eq!(said[1], "  parted --script /dev/sdq mklabel msdos mkpart primary fat32 2048s 204799s");
        assert_eq!(said[2], "  mkfs.vfat /dev/sdq1");
        assert!(commands("/dev/mmcblk0", part)[2].ends_with("/dev/mmcblk0p1"));
        assert!(said[3].ends_with("f3fix --first-sec=2048 --last-sec=204799 /dev/sdq"));
        assert!(said[0].contains("destroy") && said[0].contains("does not run them"));
    }
}
