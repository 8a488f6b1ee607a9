//! The reader that a medium is in, by the place of its device in the kernel's tree.

use std::path::Path;

/// The reader of a device by its kernel name (`sdb`, `mmcblk0p1`); `None` where it has none, as a loop device.
#[must_use]
pub fn reader_of(name: &str) -> Option<String> {
    let device = std::fs::canonicalize(Path::new("/sys/class/block").join(name)).ok()?;
    reader_in(&device)
}

/// The part of a device's path that ends with its USB device or card slot, else with the controller before its host.
#[must_use]
pub fn reader_in(device: &Path) -> Option<String> {
    let parts: Vec<&str> = device.iter().filter_map(|part| part.to_str()).collect();
    if parts.contains(&"virtual") {
        return None;
    }
    // `1-1.4:1.0` is a function of the USB device `1-1.4` before it.
    let usb = parts.iter().position(|part| {
        part.split_once(':')
            .is_some_and(|(device, _)| device.contains('-') && device.starts_with(|c: char| c.is_ascii_digit()))
    });
    let slot =
        || parts.iter().rposition(|part| part.starts_with("mmc") && part[3..].parse::<u32>().is_ok()).map(|at| at + 1);
    let host =
        || parts.iter().position(|part| part.starts_with("host") || part.starts_with("nvme") || *part == "block");
    let end = usb.or_else(slot).or_else(host)?;
    let at: Vec<&str> = parts.get(1..end)?.iter().copied().filter(|part| !matches!(*part, "sys" | "devices")).collect();
    (!at.is_empty()).then(|| at.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_told_from_its_hub_and_its_slots_are_one() {
        let cases = [
            (
                "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1.4/1-1.4:1.0/host6/target6:0:0/6:0:0:1/block/sdc",
                Some("pci0000:00/0000:00:14.0/usb1/1-1/1-1.4"),
            ),
            (
                "/sys/devices/platform/soc/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0/mmcblk0p2",
                Some("platform/soc/fe340000.mmc/mmc_host/mmc0"),
            ),
            (
                "/sys/devices/pci0000:00/0000:00:17.0/ata2/host1/target1:0:0/1:0:0:0/block/sda",
                Some("pci0000:00/0000:00:17.0/ata2"),
            ),
            ("/sys/devices/virtual/block/loop3", None),
        ];
        for (device, reader) in cases {
            assert_eq!(reader_in(Path::new(device)).as_deref(), reader, "{device}");
        }
    }
}
