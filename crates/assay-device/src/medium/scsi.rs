//! Disks that speak SCSI: on USB, SATA, SAS, iSCSI and in virtual machines.

use std::path::Path;

use assay_core::medium::{Medium, MediumKind};

use super::ceilings::Lane;
use super::facts::{clean, note, of_kind};
use super::{ata, iscsi, usb, virt};
use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Medium {
    if let Some(session) = disk.component(|part| is_numbered(part, "session")) {
        return iscsi::describe(sysroot, disk, &session);
    }
    if let Some(device) = usb::device_of(sysroot, disk) {
        return usb::describe(disk, &device);
    }
    if disk.component(|part| is_numbered(part, "ata")).is_some() {
        return ata::describe(sysroot, disk);
    }
    if disk.component(|part| is_numbered(part, "virtio")).is_some() {
        let mut facts = named(disk, MediumKind::Virtio);
        facts.bus = Some(virt::paravirtual("virtio-scsi"));
        return facts;
    }
    if disk.component(|part| part.starts_with("end_device-")).is_some() {
        let kind = if spins(disk) { MediumKind::SataHdd } else { MediumKind::SataSsd };
        let mut facts = named(disk, kind);
        let source = "a SAS end device is in the sysfs path; its rate is not read".to_owned();
        facts.bus = Some(Lane::unknown("SAS").into_bus("sas", None, source));
        return facts;
    }
    named(disk, MediumKind::Unknown)
}

pub(crate) fn spins(disk: &Node) -> bool {
    files::flag(&disk.dir.join("queue/rotational"))
}

/// Vendor, model and serial number as INQUIRY gives them.
pub(crate) fn named(disk: &Node, kind: MediumKind) -> Medium {
    let device = disk.dir.join("device");
    let mut facts = of_kind(kind);
    facts.vendor = files::text(&device.join("vendor")).and_then(|text| clean(&text)).filter(|v| v != "ATA");
    facts.model = files::text(&device.join("model")).and_then(|text| clean(&text));
    facts.unit = serial(&device);
    note(&mut facts, "firmware", files::text(&device.join("rev")));
    facts
}

/// Vital product data page 0x80 (SPC, Unit Serial Number): four bytes of header, then the serial number; else
/// the name that is unique in the world.
pub(crate) fn serial(device: &Path) -> Option<String> {
    let page = files::bytes(&device.join("vpd_pg80"));
    let number = page.and_then(|page| {
        let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
        let rest = page.get(4..)?;
        clean(&String::from_utf8_lossy(rest.get(..length).unwrap_or(rest)))
    });
    number.or_else(|| files::text(&device.join("wwid")).and_then(|text| clean(&text)))
}
