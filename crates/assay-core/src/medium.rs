//! The thing under test and how it is attached.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::IntoDeserializer;
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize};

use crate::health::{CounterKind, HealthReadings};

/// What kind of medium lies under a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MediumKind {
    /// microSD or SD card in a native slot.
    Sd,
    /// Soldered or socketed eMMC.
    Emmc,
    /// USB flash drive, or a card reader that looks like one.
    UsbStick,
    /// SSD or HDD behind a USB bridge.
    UsbDisk,
    /// Solid-state disk on SATA or SAS.
    SataSsd,
    /// Rotating disk on SATA or SAS.
    SataHdd,
    /// NVMe drive.
    Nvme,
    /// Paravirtual disk of a virtual machine.
    Virtio,
    /// Loop device over a file.
    Loop,
    /// Compressed memory.
    Zram,
    /// Plain memory as a disk.
    Ramdisk,
    /// iSCSI volume.
    Iscsi,
    /// NBD volume.
    Nbd,
    /// NFS mount.
    Nfs,
    /// FUSE file system.
    Fuse,
    /// tmpfs: memory.
    Tmpfs,
    /// overlayfs: what lies below is not visible.
    Overlay,
    /// Anything not recognised.
    #[default]
    #[serde(other)]
    Unknown,
}

/// It names no kind of medium.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a kind of medium; there are {}", crate::text::quoted(.0), KINDS.join(", "))]
pub struct KindError(String);

/// Names of all kinds, as in records, but for the unknown one.
pub const KINDS: &[&str] = &[
    "sd",
    "emmc",
    "usb_stick",
    "usb_disk",
    "sata_ssd",
    "sata_hdd",
    "nvme",
    "virtio",
    "loop",
    "zram",
    "ramdisk",
    "iscsi",
    "nbd",
    "nfs",
    "fuse",
    "tmpfs",
    "overlay",
];

/// By its name in records.
impl FromStr for MediumKind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        let named: StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
        match Self::deserialize(named) {
            Ok(Self::Unknown) | Err(_) => Err(KindError(text.to_owned())),
            Ok(kind) => Ok(kind),
        }
    }
}

/// File systems that are on another machine and show no block device.
const REMOTE: [&str; 9] = ["nfs", "nfs4", "cifs", "smb3", "ceph", "afs", "9p", "fuse.sshfs", "fuse.glusterfs"];

impl Medium {
    /// The last value of a counter: as it was read, else the number at the start of an imported reading by one of its names:
    /// `34 (Min/Max 19/54)`, `0x00`, `54118h+30m`.
    #[must_use]
    pub fn count(&self, kind: CounterKind) -> Option<i64> {
        let own = kind.name();
        let mut names = std::iter::once(own.as_str()).chain(kind.other_names().iter().copied());
        let known = |value: &i64| kind != CounterKind::TemperatureCelsius || (-90..=200).contains(value);
        self.readings.count(kind).or_else(|| names.find_map(|name| self.imported_number(name))).filter(known)
    }

    fn imported_number(&self, name: &str) -> Option<i64> {
        let text = self.health.get(name)?.trim();
        if let Some(hex) = text.strip_prefix("0x") {
            return i64::from_str_radix(hex.split_whitespace().next()?, 16).ok();
        }
        let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && *c == '-'));
        text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
    }

    /// Whether it is known to be on another machine.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.kind, MediumKind::Iscsi | MediumKind::Nbd | MediumKind::Nfs)
            || self.filesystem.as_deref().is_some_and(|name| REMOTE.contains(&name))
            || self.bus.as_ref().is_some_and(|bus| bus.kind == "network")
    }
}

/// Where a path lies, by what is mounted there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mounted {
    /// A file system is mounted at the path itself, or the path is a device.
    There,
    /// In a file system that is mounted above it, other than the root.
    Above,
    /// In the root file system, as nothing is mounted at the path.
    Root,
    /// In memory.
    Memory,
    /// Not known.
    Unknown,
}

impl Mounted {
    /// Whether somebody who names a card most likely meant another medium.
    #[must_use]
    pub fn is_no_medium(self) -> bool {
        matches!(self, Self::Root | Self::Memory)
    }
}

impl Medium {
    /// Where its path lies, by the mount that holds it.
    #[must_use]
    pub fn mounted(&self) -> Mounted {
        match self.mount_point.as_deref() {
            _ if self.kind.is_memory() => Mounted::Memory,
            Some(point) if point == self.path => Mounted::There,
            Some("/") => Mounted::Root,
            Some(_) => Mounted::Above,
            None if self.device.as_deref() == Some(self.path.as_str()) => Mounted::There,
            None => Mounted::Unknown,
        }
    }
}

impl MediumKind {
    /// The kind as people say it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Sd => "SD card",
            Self::Emmc => "eMMC",
            Self::UsbStick => "USB stick",
            Self::UsbDisk => "USB disk",
            Self::SataSsd => "SATA SSD",
            Self::SataHdd => "hard disk",
            Self::Nvme => "NVMe drive",
            Self::Virtio => "virtual disk",
            Self::Loop => "loop device",
            Self::Zram => "zram device",
            Self::Ramdisk => "RAM disk",
            Self::Iscsi => "iSCSI volume",
            Self::Nbd => "NBD volume",
            Self::Nfs => "NFS mount",
            Self::Fuse => "FUSE file system",
            Self::Tmpfs => "tmpfs",
            Self::Overlay => "overlay",
            Self::Unknown => "medium",
        }
    }

    /// Whether it is no medium that can be bought: a disk of a virtual machine, memory, a volume over the network, or
    /// a file system that hides what lies below.
    #[must_use]
    pub fn is_virtual(self) -> bool {
        self.is_memory()
            || matches!(
                self,
                Self::Virtio | Self::Loop | Self::Iscsi | Self::Nbd | Self::Nfs | Self::Fuse | Self::Overlay
            )
    }

    /// Whether the medium is the host's own memory.
    #[must_use]
    pub fn is_memory(self) -> bool {
        matches!(self, Self::Tmpfs | Self::Zram | Self::Ramdisk)
    }
}

/// How the medium is attached, and what that allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bus {
    /// `sd`, `mmc`, `usb`, `sata`, `pcie`, `virtio`, `network`.
    pub kind: String,
    /// Mode as the field names it: `SDR25`, `HS400`, `USB 2.0`, `SATA 6 Gbit/s`, `PCIe 3.0 x1`.
    pub mode: String,
    /// What the wires carry after line coding, in bytes per second; null where unknown.
    pub ceiling_bytes_per_second: Option<f64>,
    /// What payload is usually reached through it, in bytes per second; null where unknown.
    /// A result within 5 % of this, or above it, is bus-limited.
    pub reachable_bytes_per_second: Option<f64>,
    /// Driver in use where it matters: `uas`, `usb-storage`.
    pub driver: Option<String>,
    /// Where mode and ceiling were read.
    pub source: String,
}

impl Bus {
    /// What payload it lets through, in bytes per second: what is usually reached, else what the wires carry.
    /// `None` where neither is known.
    #[must_use]
    pub fn reachable(&self) -> Option<f64> {
        self.reachable_bytes_per_second.or(self.ceiling_bytes_per_second).filter(|rate| rate.is_finite() && *rate > 0.0)
    }
}

/// Whether an SD card's command queue (SD 6.0, class A2) is in use; where it is not, who is without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandQueue {
    /// In use.
    On,
    /// The card claims no class A2, and so no queue.
    CardHasNone,
    /// The host controller has none.
    HostHasNone,
    /// The kernel does not queue on SD cards.
    KernelHasNone,
    /// The kernel queues on cards of its list only, and this card is not on it.
    CardNotListed,
    /// Switched off for this slot.
    SwitchedOff,
    /// Not in use, and what is visible does not tell why.
    #[serde(other)]
    Unknown,
}

impl CommandQueue {
    /// In words: `off: the host controller has no command queue`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::On => "in use",
            Self::CardHasNone => "off: the card claims no class A2",
            Self::HostHasNone => "off: the host controller has none",
            Self::KernelHasNone => "off: this kernel does not queue on SD cards",
            Self::CardNotListed => "off: the card is not on the kernel's list",
            Self::SwitchedOff => "off: switched off for this slot",
            Self::Unknown => "not known to be in use",
        }
    }
}

/// One block device between the path and the medium, topmost first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockNode {
    /// Kernel name: `mmcblk0p2`, `dm-0`, `sda`.
    pub name: String,
    /// `partition`, `dm`, `md`, `loop`, `disk`.
    pub role: String,
}

/// The medium under a path, as far as the host can see it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Medium {
    /// What kind it is.
    pub kind: MediumKind,
    /// Who made it.
    pub vendor: Option<String>,
    /// Product name.
    pub model: Option<String>,
    /// What tells this piece from another of the same model: CID or serial number.
    pub unit: Option<String>,
    /// Which attachment of the medium this was: the identity of the system's boot and the kernel's
    /// sequence number of each disk (`diskseq`, Linux 5.15). Where it is the same the medium was not
    /// taken out in between; null where the kernel does not tell.
    pub attached: Option<String>,
    /// Announced capacity of the whole medium in bytes.
    pub capacity_bytes: Option<u64>,
    /// File system type, null for a raw device.
    pub filesystem: Option<String>,
    /// Mount options as the kernel lists them.
    pub mount_options: Vec<String>,
    /// Where the file system is mounted.
    pub mount_point: Option<String>,
    /// The path that was asked about.
    pub path: String,
    /// Block device that holds the path, like `/dev/mmcblk0p2`.
    pub device: Option<String>,
    /// Block devices from there down to the medium.
    pub stack: Vec<BlockNode>,
    /// How it is attached.
    pub bus: Option<Bus>,
    /// Performance classes that the medium itself claims: `C10`, `U3`, `V30`, `A2`.
    pub claimed_classes: Vec<String>,
    /// Texts about its state by the name that the medium, the kernel or another program gives them.
    pub health: BTreeMap<String, String>,
    /// Its state as it counts it, before and after the run.
    #[serde(default, skip_serializing_if = "HealthReadings::is_empty")]
    pub readings: HealthReadings,
    /// Whether an SD card's command queue is in use, and where not, why; null for other media.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_queue: Option<CommandQueue>,
    /// Settings of the block queue that change results: scheduler, write cache, read-ahead.
    pub queue: BTreeMap<String, String>,
}

impl Medium {
    /// A medium with nothing known but its path.
    #[must_use]
    pub fn unknown(path: &str) -> Self {
        Self { path: path.to_owned(), ..Self::default() }
    }

    /// [`Bus::reachable`] of its bus.
    #[must_use]
    pub fn reachable(&self) -> Option<f64> {
        self.bus.as_ref()?.reachable()
    }

    /// Vendor, model and capacity, or the kind where the medium says nothing of itself: `SD card, 32.0 GB`; `unnamed
    /// (510 GB)` where the kind is not known either.
    #[must_use]
    pub fn title(&self) -> String {
        let name = match (&self.vendor, &self.model) {
            (None, None) if self.kind == MediumKind::Unknown => {
                let size = self.capacity_bytes.map(|bytes| format!(" ({})", crate::units::capacity(bytes)));
                return format!("unnamed{}", size.unwrap_or_default());
            }
            (Some(v), Some(m)) if !m.to_lowercase().starts_with(&v.to_lowercase()) => format!("{v} {m}"),
            (_, Some(m)) => m.clone(),
            (Some(v), None) => format!("{v} {}", self.kind.title()),
            (None, None) => self.kind.title().to_owned(),
        };
        match self.capacity_bytes {
            Some(bytes) => format!("{name}, {}", crate::units::capacity(bytes)),
            None => name,
        }
    }
}

// Performance classes of SD cards and their thresholds. Sources: SD Association, speed classes (C, U, V: minimum
// sequential write) and application performance classes (SD 5.1 for A1, SD 6.0 for A2: minimum random 4 KiB IOPS
// and 10 MB/s sustained sequential write).

/// Thresholds of one class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// As printed on cards.
    pub name: &'static str,
    /// Least sequential write in bytes per second.
    pub sequential_write: f64,
    /// Least random 4 KiB read and write in IOPS, for application classes.
    pub random: Option<(f64, f64)>,
}

const fn speed(name: &'static str, megabytes: f64) -> Class {
    Class { name, sequential_write: megabytes * 1e6, random: None }
}

/// All classes, each family in rising order.
pub const CLASSES: [Class; 13] = [
    speed("C2", 2.0),
    speed("C4", 4.0),
    speed("C6", 6.0),
    speed("C10", 10.0),
    speed("U1", 10.0),
    speed("U3", 30.0),
    speed("V6", 6.0),
    speed("V10", 10.0),
    speed("V30", 30.0),
    speed("V60", 60.0),
    speed("V90", 90.0),
    Class { name: "A1", sequential_write: 10e6, random: Some((1500.0, 500.0)) },
    Class { name: "A2", sequential_write: 10e6, random: Some((4000.0, 2000.0)) },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::{Counter, HealthSource};

    #[test]
    fn counters_are_found_in_imported_readings_by_their_names() {
        let mut medium = Medium::unknown("/dev/sda");
        for (name, value) in [
            ("Airflow_Temperature_Cel", "34 (Min/Max 19/54)"),
            ("Power_On_Hours", "54118h+30m+12.1s"),
            ("critical_warning", "0x04"),
            ("media_errors", "7"),
        ] {
            medium.health.insert(name.to_owned(), value.to_owned());
        }
        let counts = |medium: &Medium| {
            [
                CounterKind::TemperatureCelsius,
                CounterKind::PowerOnHours,
                CounterKind::CriticalWarning,
                CounterKind::MediaErrors,
                CounterKind::PendingSectors,
            ]
            .map(|kind| medium.count(kind))
        };
        assert_eq!(counts(&medium), [Some(34), Some(54118), Some(4), Some(7), None]);
        medium.readings.counters.push(Counter::read(CounterKind::MediaErrors, HealthSource::AtaSmart, 8));
        assert_eq!(medium.count(CounterKind::MediaErrors), Some(8), "what was read counts");
    }

    #[test]
    fn what_is_on_another_machine_is_known_by_kind_file_system_or_bus() {
        let of = |kind, filesystem: &str| Medium { kind, filesystem: Some(filesystem.to_owned()), ..Medium::default() };
        for kind in [MediumKind::Iscsi, MediumKind::Nbd, MediumKind::Nfs] {
            assert!(of(kind, "ext4").is_remote(), "{kind:?}");
        }
        for filesystem in ["cifs", "smb3", "9p", "fuse.sshfs"] {
            assert!(of(MediumKind::Unknown, filesystem).is_remote(), "{filesystem}");
        }
        for kind in [MediumKind::Sd, MediumKind::Fuse, MediumKind::Tmpfs, MediumKind::Unknown] {
            assert!(!of(kind, "fuse.nbdfuse").is_remote(), "{kind:?}");
        }
    }

    #[test]
    fn where_a_path_lies_is_known_by_the_mount_that_holds_it() {
        let of = |path: &str, point: Option<&str>, kind| Medium {
            path: path.to_owned(),
            mount_point: point.map(str::to_owned),
            kind,
            ..Medium::default()
        };
        let card = |path, point| of(path, Some(point), MediumKind::Sd).mounted();
        assert_eq!(card("/mnt/card", "/mnt/card"), Mounted::There);
        assert_eq!(card("/mnt/card/sub", "/mnt/card"), Mounted::Above);
        assert_eq!(card("/mnt/card", "/"), Mounted::Root);
        assert_eq!(card("/", "/"), Mounted::There);
        assert_eq!(of("/mnt/card", Some("/mnt"), MediumKind::Tmpfs).mounted(), Mounted::Memory);
        assert_eq!(of("/mnt/card", None, MediumKind::Sd).mounted(), Mounted::Unknown);
        let device = Medium { device: Some("/dev/sda".to_owned()), ..Medium::unknown("/dev/sda") };
        assert_eq!(device.mounted(), Mounted::There);
    }

    #[test]
    fn every_kind_has_a_name() {
        for name in KINDS {
            let kind: MediumKind = name.parse().unwrap();
            assert_ne!(kind.title(), "medium", "{name}");
        }
        for bad in ["", "unknown", "SD", "floppy"] {
            assert!(bad.parse::<MediumKind>().is_err(), "{bad}");
        }
    }
}
