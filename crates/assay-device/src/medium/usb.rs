//! Sticks, readers and bridges on USB (kernel Documentation/ABI/stable/sysfs-bus-usb).

use std::path::{Path, PathBuf};

use assay_core::medium::{Bus, Medium, MediumKind};

use super::ceilings;
use super::facts::clean;
use super::inquiry;
use crate::block::Node;
use crate::files;
use crate::sysroot::Sysroot;

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

pub(crate) fn describe(disk: &Node, device: &UsbDevice) -> Medium {
    // A bridge reports its disk as fixed, a stick its medium as removable. Only bridges for disks queue commands.
    let uas = device.driver.as_deref() == Some("uas");
    let removable = files::flag(&disk.dir.join("removable"));
    let kind = if removable && !uas { MediumKind::UsbStick } else { MediumKind::UsbDisk };
    let mut facts = inquiry::named(disk, kind);
    let read = |name: &str| files::text(&device.dir.join(name)).and_then(|text| clean(&text));
    if facts.model.as_deref().is_none_or(says_nothing) {
        facts.model = read("product").or(facts.model);
    }
    if facts.vendor.as_deref().is_none_or(says_nothing) {
        facts.vendor = read("manufacturer").or(facts.vendor);
    }
    // Many bridges give every disk the same page 0x80, so the USB serial number is better.
    facts.unit = read("serial").or(facts.unit);
    facts.bus = Some(bus(&device.dir, device.driver.clone(), uas));
    facts
}

/// Fillers that bridges and sticks use in place of a name.
fn says_nothing(name: &str) -> bool {
    matches!(
        name.to_lowercase().as_str(),
        "generic" | "usb" | "mass" | "general" | "storage device" | "usb device" | "flash disk" | "usb disk" | "disk"
    )
}

fn bus(dir: &Path, driver: Option<String>, uas: bool) -> Bus {
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
    ceilings::usb(&speed, uas).into_bus("usb", driver, source)
}
