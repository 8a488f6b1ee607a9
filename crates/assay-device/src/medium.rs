//! What a disk is: kind, identity, bus.

mod bus;
mod mmc;
mod scsi;

pub(crate) use bus::{bus_towards, clean, maker_of_model as maker};
pub(crate) use mmc::{card_directory, card_host_driver, is_known_sd_maker};
pub(crate) use scsi::usb_ids;

use std::path::{Path, PathBuf};

use assay_core::medium::{Bus, Medium, MediumKind};

use self::bus::Lane;
use crate::block::{Node, is_numbered};
use crate::files;
use crate::files::Sysroot;
use bus::{note, of_kind};

// Kind of a disk, and the module that describes it; NVMe drives and disks that are not hardware.

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Medium {
    let name = disk.name.as_str();
    if let Some(card) = mmc::card_of(sysroot, disk) {
        let mut facts = mmc::describe_mmc(sysroot, &card);
        let is_a2 = facts.claimed_classes.iter().any(|class| class == "A2");
        facts.command_queue = (card.kind == MediumKind::Sd).then(|| mmc::of_card(sysroot, &card, is_a2));
        return facts;
    }
    if name.starts_with("nvme") {
        return describe_nvme(sysroot, disk);
    }
    if let Some(facts) = describe_virtual(sysroot, disk) {
        return facts;
    }
    if disk.dir.join("device/vendor").exists() && disk.dir.join("device/model").exists() {
        return scsi::describe_scsi(sysroot, disk);
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

// NVMe drives (kernel drivers/nvme/host/sysfs.c).

pub(crate) fn describe_nvme(sysroot: &Sysroot, disk: &Node) -> Medium {
    // `device` is the controller, or the subsystem if the kernel joins several paths under one head.
    let device = disk.dir.join("device");
    let controller = controller_of(sysroot, &device, &disk.name);
    let read = |name: &str| {
        let inside = |dir: &Path| files::text(&dir.join(name)).and_then(|text| clean(&text));
        inside(&device).or_else(|| inside(controller.as_ref()?))
    };
    let mut facts = of_kind(MediumKind::Nvme);
    facts.model = read("model");
    facts.vendor = facts.model.as_deref().and_then(bus::maker_of_model).map(str::to_owned);
    facts.unit = read("serial");
    note(&mut facts, "firmware", read("firmware_rev"));
    facts.bus = controller.and_then(|controller| nvme_bus(sysroot, &controller));
    facts
}

fn controller_of(sysroot: &Sysroot, device: &Path, disk: &str) -> Option<PathBuf> {
    let is_controller = |dir: &Path| dir.join("transport").exists() || dir.join("cntlid").exists();
    if is_controller(device) {
        return Some(device.to_path_buf());
    }
    // A subsystem lists its controllers as links nvme0, nvme1.
    let listed =
        files::entries(device).into_iter().find(|name| is_numbered(name, "nvme")).map(|name| device.join(name));
    listed.or_else(|| {
        let number: String = disk.strip_prefix("nvme")?.chars().take_while(char::is_ascii_digit).collect();
        let class = sysroot.path(&format!("/sys/class/nvme/nvme{number}"));
        class.exists().then_some(class)
    })
}

fn nvme_bus(sysroot: &Sysroot, controller: &Path) -> Option<Bus> {
    let transport = files::text(&controller.join("transport")).unwrap_or_else(|| "pcie".to_owned());
    if transport != "pcie" {
        // address: `traddr=192.168.1.5,trsvcid=4420`
        let address = files::text(&controller.join("address"))
            .and_then(|text| text.split(',').find_map(|part| part.strip_prefix("traddr=")?.parse().ok()));
        return bus::bus_towards(sysroot, address, &clean(&format!("nvme-{transport}"))?);
    }
    // kernel Documentation/ABI/testing/sysfs-bus-pci: current_link_speed `5.0 GT/s PCIe`.
    let link = controller.join("device");
    let number = |name: &str| files::text(&link.join(name))?.split(' ').next()?.parse::<f64>().ok();
    let rate = number("current_link_speed");
    let lanes = files::number(&link.join("current_link_width")).and_then(|width| u32::try_from(width).ok());
    let source = "/sys/class/nvme/*/device/current_link_speed and _width".to_owned();
    let source = match files::real_path(controller).and_then(|dir| files::file_name(&dir)) {
        Some(name) => source.replace('*', &name),
        None => source,
    };
    let Some((rate, lanes)) = rate.zip(lanes).filter(|(_, lanes)| *lanes > 0) else {
        return Some(Lane::unknown("PCIe").into_bus("pcie", None, format!("{source} tell no rate")));
    };
    let could = number("max_link_speed").zip(number("max_link_width"));
    let source = match could {
        Some((most, width)) if most > rate || width > f64::from(lanes) => {
            format!("{source}; the drive could do {}", bus::pcie(most, width as u32).mode)
        }
        _ => source,
    };
    Some(bus::pcie(rate, lanes).into_bus("pcie", None, source))
}

// Disks that are not hardware: paravirtual, loop, memory, network block devices.

pub(crate) fn describe_virtual(sysroot: &Sysroot, disk: &Node) -> Option<Medium> {
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
        facts.bus = bus::bus_towards(sysroot, None, "nbd");
        return Some(facts);
    }
    let driver = files::link_name(&disk.dir.join("device/driver"));
    if driver.as_deref() == Some("virtio_blk") || name.starts_with("xvd") {
        let mut facts = of_kind(MediumKind::Virtio);
        facts.unit = read("serial");
        facts.bus = Some(bus::paravirtual(if name.starts_with("xvd") { "xen-blkfront" } else { "virtio-blk" }));
        return Some(facts);
    }
    None
}
