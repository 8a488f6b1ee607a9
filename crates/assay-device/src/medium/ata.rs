//! SATA disks behind libata.

use std::path::Path;

use assay_core::medium::{Bus, Medium, MediumKind};

use super::ceilings::{self, Lane};
use super::facts::clean;
use super::{inquiry, vendors};
use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Medium {
    let kind = if inquiry::spins(disk) { MediumKind::SataHdd } else { MediumKind::SataSsd };
    let mut facts = inquiry::named(disk, kind);
    // INQUIRY truncates the model to 16 characters; IDENTIFY has 40.
    if let Some(model) = identify_model(&disk.dir.join("device")) {
        facts.model = Some(model);
    }
    if facts.vendor.is_none() {
        facts.vendor = facts.model.as_deref().and_then(vendors::of_model).map(str::to_owned);
    }
    facts.bus = Some(bus(sysroot, disk));
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

fn bus(sysroot: &Sysroot, disk: &Node) -> Bus {
    let port = disk.component(|part| is_numbered(part, "ata")).unwrap_or_default();
    let shown = format!("/sys/class/ata_link/link{}/sata_spd", port.trim_start_matches("ata"));
    // `6.0 Gbps`, `<unknown>` (kernel Documentation/ABI/testing/sysfs-ata).
    let rate = files::text(&sysroot.path(&shown)).and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match rate {
        Some(gbit) => ceilings::sata(gbit).into_bus("sata", None, shown),
        None => Lane::unknown("SATA").into_bus("sata", None, format!("{shown} tells no rate")),
    }
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
