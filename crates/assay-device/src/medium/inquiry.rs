//! Facts from a disk with SCSI commands.

use std::path::Path;

use assay_core::medium::{Medium, MediumKind};

use super::facts::{clean, note, of_kind};
use crate::block::Node;
use crate::files;

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

/// Vital product data page 0x80 (SPC, Unit Serial Number): four bytes of header, then the serial number; otherwise the
/// worldwide unique name.
pub(crate) fn serial(device: &Path) -> Option<String> {
    let page = files::bytes(&device.join("vpd_pg80"));
    let number = page.and_then(|page| {
        let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
        let rest = page.get(4..)?;
        clean(&String::from_utf8_lossy(rest.get(..length).unwrap_or(rest)))
    });
    number.or_else(|| files::text(&device.join("wwid")).and_then(|text| clean(&text)))
}
