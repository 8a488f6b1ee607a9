//! Kind of a disk, and the module that describes it.

use assay_core::medium::{Medium, MediumKind};

use super::facts::{clean, of_kind};
use super::{mmc, mmc_card, nvme, scsi, virt};
use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Medium {
    let name = disk.name.as_str();
    if let Some(card) = mmc_card::card_of(sysroot, disk) {
        return mmc::describe(sysroot, &card);
    }
    if name.starts_with("nvme") {
        return nvme::describe(sysroot, disk);
    }
    if let Some(facts) = virt::describe(sysroot, disk) {
        return facts;
    }
    if disk.dir.join("device/vendor").exists() && disk.dir.join("device/model").exists() {
        return scsi::describe(sysroot, disk);
    }
    let mut facts = of_kind(MediumKind::Unknown);
    if is_numbered(name, "mtdblock") {
        // Flash without a controller, as in routers; its name is that of the partition.
        let mtd = name.replace("mtdblock", "mtd");
        let class = sysroot.path("/sys/class/mtd").join(mtd);
        facts.model = files::text(&class.join("name")).and_then(|text| clean(&text));
        facts.vendor = files::text(&class.join("type")).and_then(|text| clean(&format!("raw {text} flash")));
    } else {
        facts.model = files::text(&disk.dir.join("device/model")).and_then(|text| clean(&text));
    }
    facts.unit = files::text(&disk.dir.join("device/serial")).and_then(|text| clean(&text));
    facts
}
