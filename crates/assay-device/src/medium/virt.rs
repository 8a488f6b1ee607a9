//! Disks that are not hardware: paravirtual, loop, memory, network block devices.

use assay_core::medium::{Bus, Medium, MediumKind};

use super::ceilings::Lane;
use super::facts::{clean, of_kind};
use super::network;
use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Option<Medium> {
    let name = disk.name.as_str();
    let read = |path: &str| files::text(&disk.dir.join(path)).and_then(|text| clean(&text));
    if is_numbered(name, "loop") {
        let mut facts = of_kind(MediumKind::Loop);
        facts.model = read("loop/backing_file");
        if let Some(direct) = read("loop/dio") {
            facts.queue.insert("loop_direct_io".to_owned(), direct);
        }
        return Some(facts);
    }
    if is_numbered(name, "zram") {
        let mut facts = of_kind(MediumKind::Zram);
        // `lzo [lz4] zstd`
        facts.model =
            read("comp_algorithm").and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned()));
        return Some(facts);
    }
    if is_numbered(name, "ram") {
        return Some(of_kind(MediumKind::Ramdisk));
    }
    if is_numbered(name, "nbd") {
        let mut facts = of_kind(MediumKind::Nbd);
        facts.unit = read("backend");
        facts.bus = network::bus_towards(sysroot, None, "nbd");
        return Some(facts);
    }
    let driver = files::link_name(&disk.dir.join("device/driver"));
    if driver.as_deref() == Some("virtio_blk") || name.starts_with("xvd") {
        let mut facts = of_kind(MediumKind::Virtio);
        facts.unit = read("serial");
        facts.bus = Some(paravirtual(if name.starts_with("xvd") { "xen-blkfront" } else { "virtio-blk" }));
        return Some(facts);
    }
    None
}

/// A queue in shared memory has no wire, and so no ceiling.
pub(crate) fn paravirtual(mode: &str) -> Bus {
    let source = "the driver; a paravirtual queue has no ceiling of its own".to_owned();
    Lane::unknown(mode).into_bus("virtio", None, source)
}
