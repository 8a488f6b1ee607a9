//! Disks with SCSI commands: on USB, SATA, SAS, iSCSI and in virtual machines.

use assay_core::medium::{Medium, MediumKind};

use super::ceilings::Lane;
use super::inquiry::{named, spins};
use super::{ata, iscsi, usb, virt};
use crate::block::{Node, is_numbered};
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
