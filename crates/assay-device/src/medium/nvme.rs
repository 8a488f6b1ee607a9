//! NVMe drives (kernel drivers/nvme/host/sysfs.c).

use std::path::{Path, PathBuf};

use assay_core::medium::{Bus, Medium, MediumKind};

use super::ceilings::{self, Lane};
use super::facts::{clean, note, of_kind};
use super::{network, vendors};
use crate::block::{Node, is_numbered};
use crate::files;
use crate::sysroot::Sysroot;

pub(crate) fn describe(sysroot: &Sysroot, disk: &Node) -> Medium {
    // `device` is the controller, or the subsystem if the kernel joins several paths under one head.
    let device = disk.dir.join("device");
    let controller = controller_of(sysroot, &device, &disk.name);
    let read = |name: &str| {
        let inside = |dir: &Path| files::text(&dir.join(name)).and_then(|text| clean(&text));
        inside(&device).or_else(|| inside(controller.as_ref()?))
    };
    let mut facts = of_kind(MediumKind::Nvme);
    facts.model = read("model");
    facts.vendor = facts.model.as_deref().and_then(vendors::of_model).map(str::to_owned);
    facts.unit = read("serial");
    note(&mut facts, "firmware", read("firmware_rev"));
    facts.bus = controller.and_then(|controller| bus(sysroot, &controller));
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

fn bus(sysroot: &Sysroot, controller: &Path) -> Option<Bus> {
    let transport = files::text(&controller.join("transport")).unwrap_or_else(|| "pcie".to_owned());
    if transport != "pcie" {
        // address: `traddr=192.168.1.5,trsvcid=4420`
        let address = files::text(&controller.join("address"))
            .and_then(|text| text.split(',').find_map(|part| part.strip_prefix("traddr=")?.parse().ok()));
        return network::bus_towards(sysroot, address, &clean(&format!("nvme-{transport}"))?);
    }
    // kernel Documentation/ABI/testing/sysfs-bus-pci: current_link_speed `5.0 GT/s PCIe`.
    let link = controller.join("device");
    let number = |name: &str| files::text(&link.join(name))?.split(' ').next()?.parse::<f64>().ok();
    let rate = number("current_link_speed");
    let lanes = files::number(&link.join("current_link_width")).and_then(|width| u32::try_from(width).ok());
    let source = "/sys/class/nvme/*/device/current_link_speed and _width".to_owned();
    let source = match files::real(controller).and_then(|dir| files::file_name(&dir)) {
        Some(name) => source.replace('*', &name),
        None => source,
    };
    let Some((rate, lanes)) = rate.zip(lanes).filter(|(_, lanes)| *lanes > 0) else {
        return Some(Lane::unknown("PCIe").into_bus("pcie", None, format!("{source} tell no rate")));
    };
    let could = number("max_link_speed").zip(number("max_link_width"));
    let source = match could {
        Some((most, width)) if most > rate || width > f64::from(lanes) => {
            format!("{source}; the drive could do {}", ceilings::pcie(most, width as u32).mode)
        }
        _ => source,
    };
    Some(ceilings::pcie(rate, lanes).into_bus("pcie", None, source))
}
