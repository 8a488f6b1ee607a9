//! Disks with SCSI commands: on USB, SATA, SAS, iSCSI and in virtual machines.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use assay_core::medium::{Bus, Medium, MediumKind};

use super::bus::{self, Lane, clean, note, of_kind};
use crate::block::{Node, is_numbered};
use crate::files;
use crate::files::Sysroot;

pub(crate) fn describe_scsi(sysroot: &Sysroot, disk: &Node) -> Medium {
    if let Some(session) = disk.component(|part| is_numbered(part, "session")) {
        return describe_iscsi(sysroot, disk, &session);
    }
    if let Some(device) = device_of(sysroot, disk) {
        return describe_usb(disk, &device);
    }
    if disk.component(|part| is_numbered(part, "ata")).is_some() {
        return describe_ata(sysroot, disk);
    }
    if disk.component(|part| is_numbered(part, "virtio")).is_some() {
        let mut facts = named_by_inquiry(disk, MediumKind::Virtio);
        facts.bus = Some(bus::paravirtual("virtio-scsi"));
        return facts;
    }
    if disk.component(|part| part.starts_with("end_device-")).is_some() {
        let kind = if spins(disk) { MediumKind::SataHdd } else { MediumKind::SataSsd };
        let mut facts = named_by_inquiry(disk, kind);
        let source = "a SAS end device is in the sysfs path; its rate is not read".to_owned();
        facts.bus = Some(Lane::unknown("SAS").into_bus("sas", None, source));
        return facts;
    }
    named_by_inquiry(disk, MediumKind::Unknown)
}

// Facts from a disk with SCSI commands.

pub(crate) fn spins(disk: &Node) -> bool {
    files::flag(&disk.dir.join("queue/rotational"))
}

/// Vendor, model and serial number as INQUIRY gives them.
pub(crate) fn named_by_inquiry(disk: &Node, kind: MediumKind) -> Medium {
    let device = disk.dir.join("device");
    let mut facts = of_kind(kind);
    facts.vendor = files::text(&device.join("vendor")).and_then(|text| clean(&text)).filter(|v| v != "ATA");
    facts.model = files::text(&device.join("model")).and_then(|text| clean(&text));
    facts.unit = serial_by_inquiry(&device);
    note(&mut facts, "firmware", files::text(&device.join("rev")));
    facts
}

/// Vital product data page 0x80 (SPC, Unit Serial Number): four bytes of header, then the serial number; otherwise the
/// worldwide unique name.
pub(crate) fn serial_by_inquiry(device: &Path) -> Option<String> {
    let page = files::bytes(&device.join("vpd_pg80"));
    let number = page.and_then(|page| {
        let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
        let rest = page.get(4..)?;
        clean(&String::from_utf8_lossy(rest.get(..length).unwrap_or(rest)))
    });
    number.or_else(|| files::text(&device.join("wwid")).and_then(|text| clean(&text)))
}

// SATA disks behind libata.

pub(crate) fn describe_ata(sysroot: &Sysroot, disk: &Node) -> Medium {
    let kind = if spins(disk) { MediumKind::SataHdd } else { MediumKind::SataSsd };
    let mut facts = named_by_inquiry(disk, kind);
    // INQUIRY truncates the model to 16 characters; IDENTIFY has 40.
    if let Some(model) = identify_model(&disk.dir.join("device")) {
        facts.model = Some(model);
    }
    if facts.vendor.is_none() {
        facts.vendor = facts.model.as_deref().and_then(bus::maker_of_model).map(str::to_owned);
    }
    facts.bus = Some(ata_bus(sysroot, disk));
    facts
}

/// Vital product data page 0x89 (SAT, ATA Information): IDENTIFY DEVICE data begin at byte 60, their model
/// is words 27 to 46 with the bytes of each word swapped (ACS, model number).
fn identify_model(device: &Path) -> Option<String> {
    let page = files::bytes(&device.join("vpd_pg89"))?;
    let field = page.get(60 + 27 * 2..60 + 47 * 2)?;
    let straight: Vec<u8> = field.chunks_exact(2).flat_map(|pair| pair.iter().rev().copied()).collect();
    clean(&String::from_utf8_lossy(&straight))
}

fn ata_bus(sysroot: &Sysroot, disk: &Node) -> Bus {
    let port = disk.component(|part| is_numbered(part, "ata")).unwrap_or_default();
    let shown = format!("/sys/class/ata_link/link{}/sata_spd", port.trim_start_matches("ata"));
    // `6.0 Gbps`, `<unknown>` (kernel Documentation/ABI/testing/sysfs-ata).
    let rate = files::text(&sysroot.path(&shown)).and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match rate {
        Some(gbit) => bus::sata(gbit).into_bus("sata", None, shown),
        None => Lane::unknown("SATA").into_bus("sata", None, format!("{shown} tells no rate")),
    }
}

// Sticks, readers and bridges on USB (kernel Documentation/ABI/stable/sysfs-bus-usb).

/// The USB device of a disk.
pub(crate) struct UsbDevice {
    dir: PathBuf,
    /// `uas` or `usb-storage`.
    driver: Option<String>,
}

/// The nearest USB device above the disk; the interface between them has the driver.
pub(crate) fn device_of(sysroot: &Sysroot, disk: &Node) -> Option<UsbDevice> {
    let dir = disk.ancestor(sysroot, |dir| dir.join("idVendor").exists() && dir.join("speed").exists())?;
    let below = disk.dir.strip_prefix(&dir).ok()?.iter().next()?;
    let driver = files::link_name(&dir.join(below).join("driver"));
    Some(UsbDevice { driver, dir })
}

/// Numbers of the maker and product of the USB device of a disk.
pub(crate) fn usb_ids(sysroot: &Sysroot, disk: &Node) -> Option<(u16, u16)> {
    let device = device_of(sysroot, disk)?;
    let number = |name: &str| u16::from_str_radix(&files::text(&device.dir.join(name))?, 16).ok();
    number("idVendor").zip(number("idProduct"))
}

pub(crate) fn describe_usb(disk: &Node, device: &UsbDevice) -> Medium {
    // A bridge reports its disk as fixed, a stick its medium as removable. Only bridges for disks queue commands.
    let uas = device.driver.as_deref() == Some("uas");
    let removable = files::flag(&disk.dir.join("removable"));
    let kind = if removable && !uas { MediumKind::UsbStick } else { MediumKind::UsbDisk };
    let mut facts = named_by_inquiry(disk, kind);
    let read = |name: &str| files::text(&device.dir.join(name)).and_then(|text| clean(&text));
    if facts.model.as_deref().is_none_or(says_nothing) {
        facts.model = read("product").or(facts.model);
    }
    if facts.vendor.as_deref().is_none_or(says_nothing) {
        facts.vendor = read("manufacturer").or(facts.vendor);
    }
    // Many bridges give every disk the same page 0x80, so the USB serial number is better.
    facts.unit = read("serial").or(facts.unit);
    facts.bus = Some(usb_bus(&device.dir, device.driver.clone(), uas));
    facts
}

/// Fillers that bridges and sticks use in place of a name.
fn says_nothing(name: &str) -> bool {
    matches!(
        name.to_lowercase().as_str(),
        "generic" | "usb" | "mass" | "general" | "storage device" | "usb device" | "flash disk" | "usb disk" | "disk"
    )
}

fn usb_bus(dir: &Path, driver: Option<String>, uas: bool) -> Bus {
    let read = |name: &str| files::text(&dir.join(name)).and_then(|text| clean(&text));
    let port = files::file_name(dir).unwrap_or_default();
    let speed = read("speed").unwrap_or_else(|| "unknown".to_owned());
    let mut source = format!("/sys/bus/usb/devices/{port}/speed");
    let capable = read("version").is_some_and(|version| version.starts_with('3'));
    if speed == "480" && capable {
        // A USB 3 device reports version 2.10 on a USB 2 link; one that reports 3 has fallen back.
        source.push_str("; the device can do USB 3");
    } else if speed == "480" && read("version").as_deref() == Some("2.10") {
        source.push_str("; version 2.10 hints that the device can do USB 3 in another port");
    }
    bus::usb(&speed, uas).into_bus("usb", driver, source)
}

// iSCSI volumes (kernel drivers/scsi/scsi_transport_iscsi.c: classes iscsi_session and
// iscsi_connection).

pub(crate) fn describe_iscsi(sysroot: &Sysroot, disk: &Node, session: &str) -> Medium {
    let class = sysroot.path("/sys/class/iscsi_session").join(session);
    let mut facts = named_by_inquiry(disk, MediumKind::Iscsi);
    // All targets report the same product; target name and logical unit identify the unit.
    let lun =
        disk.component(|part| part.split(':').count() == 4).and_then(|part| Some(part.rsplit_once(':')?.1.to_owned()));
    if let Some(target) = files::text(&class.join("targetname")).and_then(|text| clean(&text)) {
        facts.unit = Some(match lun {
            Some(lun) => format!("{target} LUN {lun}"),
            None => target,
        });
    }
    facts.bus = bus::bus_towards(sysroot, portal(sysroot, session), "iscsi");
    facts
}

/// The address of the target: `connection1:0` belongs to `session1`.
fn portal(sysroot: &Sysroot, session: &str) -> Option<IpAddr> {
    let number = session.trim_start_matches("session");
    let class = sysroot.path("/sys/class/iscsi_connection");
    let connection = files::entries(&class)
        .into_iter()
        .find(|name| name.strip_prefix("connection").and_then(|rest| rest.split(':').next()) == Some(number))?;
    ["persistent_address", "address"]
        .iter()
        .find_map(|file| files::text(&class.join(&connection).join(file))?.trim_matches(['[', ']']).parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_model_is_read_from_swapped_words() {
        let dir = tempfile::tempdir().unwrap();
        let mut page = vec![0u8; 60 + 512];
        let model = format!("{:40}", "Samsung SSD 860 EVO 500GB");
        for (index, pair) in model.as_bytes().chunks(2).enumerate() {
            page[60 + 54 + index * 2] = pair[1];
            page[60 + 54 + index * 2 + 1] = pair[0];
        }
        std::fs::write(dir.path().join("vpd_pg89"), &page).unwrap();
        assert_eq!(identify_model(dir.path()).as_deref(), Some("Samsung SSD 860 EVO 500GB"));
        std::fs::write(dir.path().join("vpd_pg89"), &page[..100]).unwrap();
        assert_eq!(identify_model(dir.path()), None);
    }
}
