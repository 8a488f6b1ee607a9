//! What is compared with what: kinds of media that can be bought, each by itself, and everything else apart.

use assay_core::medium::{Medium, MediumKind};
use assay_core::observation::Observation;
use assay_core::record::{Host, Record};

/// Disks of virtual machines, loop devices, volumes over a network, and anything measured in a virtual machine.
pub const VIRTUAL: &str = "virtual";
/// Memory.
pub const MEMORY: &str = "memory";

/// All classes in the order of pages, each with its title.
pub const ALL: [(&str, &str); 10] = [
    ("sd", "SD cards"),
    ("emmc", "eMMC"),
    ("usb_stick", "USB sticks"),
    ("usb_disk", "USB disks"),
    ("sata_ssd", "SATA SSDs"),
    ("sata_hdd", "Hard disks"),
    ("nvme", "NVMe drives"),
    ("unknown", "Unknown media"),
    (VIRTUAL, "Virtual and network media"),
    (MEMORY, "Memory"),
];

/// What machines and disks of hypervisors are called by (systemd's `src/basic/virt.c` has most of them).
const HYPERVISORS: [&str; 14] = [
    "qemu",
    "kvm",
    "virtualbox",
    "vbox",
    "vmware",
    "bochs",
    "xen",
    "hyper-v",
    "virtual machine",
    "virtual disk",
    "amazon ec2",
    "google compute",
    "persistentdisk",
    "firecracker",
];

/// The class of a record.
#[must_use]
pub fn class_of(record: &Record) -> &'static str {
    let Medium { kind, vendor, model, .. } = &record.medium;
    let Host { board, cpu, .. } = &record.host;
    let names = [vendor, model, board, cpu].into_iter().flatten();
    let mut names = names.map(|name| name.to_lowercase());
    if kind.is_memory() {
        return MEMORY;
    }
    if kind.is_virtual() || names.any(|name| HYPERVISORS.iter().any(|word| name.contains(word))) {
        return VIRTUAL;
    }
    match kind {
        MediumKind::Sd => "sd",
        MediumKind::Emmc => "emmc",
        MediumKind::UsbStick => "usb_stick",
        MediumKind::UsbDisk => "usb_disk",
        MediumKind::SataSsd => "sata_ssd",
        MediumKind::SataHdd => "sata_hdd",
        MediumKind::Nvme => "nvme",
        _ => "unknown",
    }
}

/// The name of a unit on this site. Names of units are made by each account with a key of its own: the same name at two
/// accounts is two units, and one unit at two accounts is not recognised. A label such as `1` names a unit of its model only.
#[must_use]
pub fn site_unit(account: &str, observation: &Observation) -> String {
    let of = assay_analysis::identity(observation);
    let labelled = observation.labels.get("unit").is_some_and(|label| !label.is_empty());
    let own = match of.unit {
        // A record that names no unit cannot be counted with others.
        unit if unit.is_empty() => observation.id.clone(),
        unit if labelled => format!("{} {unit}", of.model),
        unit => unit,
    };
    format!("{account}:{}", own.chars().filter(|c| !c.is_control() && *c != '/').collect::<String>())
}

/// By what a medium is attached, as figures are compared by it.
#[must_use]
pub fn bus_of(medium: &Medium) -> String {
    medium.bus.as_ref().map_or_else(String::new, |bus| format!("{} {}", bus.kind, bus.mode))
}

#[cfg(test)]
mod tests {
    use assay_core::record::Record;

    use super::*;

    #[test]
    fn unit_one_of_two_models_is_two_units() {
        let of = |model: &str| {
            let record: Record = assay_analysis::published_records("sandisk-ultra-a1/1").unwrap().remove(0);
            let mut observation = Observation::from(&record);
            observation.origin = assay_core::observation::ObservedOrigin::default();
            observation.labels = [("model", model), ("unit", "1")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
            observation
        };
        assert_eq!(site_unit("alice", &of("EVO")), "alice:EVO 1");
        assert_ne!(site_unit("alice", &of("EVO")), site_unit("alice", &of("Ultra")));
        assert_ne!(site_unit("alice", &of("EVO")), site_unit("bob", &of("EVO")));
    }
}
