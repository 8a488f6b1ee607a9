//! Answers of Windows drivers about a disk, as bytes whose layout is in `winioctl.h` and `ntddstor.h`. A driver may
//! answer anything; parts that do not fit are left out. The input is only bytes, so that every system can test this.

use assay_core::medium::{Bus, Medium, MediumKind};

use crate::counters::Counters;
use crate::medium::{clean, maker};

/// Description of a disk by itself (`STORAGE_DEVICE_DESCRIPTOR`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceDescriptor {
    /// A number of `STORAGE_BUS_TYPE`.
    pub bus: u32,
    /// Whether its medium is removable.
    pub removable: bool,
    /// The maker; many disks name it only in the model.
    pub vendor: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Revision of its firmware.
    pub revision: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
}

/// Source of the data, as stated in the record.
pub const SOURCE: &str = "IOCTL_STORAGE_QUERY_PROPERTY; the speed of the link is not told";

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let value = number(bytes, at).map(i64::from_le_bytes)?;
    u64::try_from(value).ok()
}

/// The text with its offset at `at`: up to a NUL, or to the end if there is none. An offset of zero means no text, and
/// so does one into the head or outside.
fn text(bytes: &[u8], at: usize) -> Option<String> {
    const HEAD: usize = 36;
    let offset = usize::try_from(u32_at(bytes, at)?).ok().filter(|offset| *offset >= HEAD)?;
    let rest = bytes.get(offset..)?;
    let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
    clean(String::from_utf8_lossy(rest.get(..end)?).trim())
}

/// Parses the answer to `StorageDeviceProperty`.
#[must_use]
pub fn device(bytes: &[u8]) -> Option<DeviceDescriptor> {
    // Bytes that the driver did not write do not count.
    let size = usize::try_from(u32_at(bytes, 4)?).ok()?;
    let bytes = bytes.get(..size.min(bytes.len()))?;
    Some(DeviceDescriptor {
        bus: u32_at(bytes, 28)?,
        removable: *bytes.get(10)? != 0,
        vendor: text(bytes, 12),
        model: text(bytes, 16),
        revision: text(bytes, 20),
        serial: text(bytes, 24),
    })
}

/// Bytes of a logical and of a physical sector (`STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`).
#[must_use]
pub fn sectors(bytes: &[u8]) -> Option<(u32, u32)> {
    let sane = |bytes: &u32| bytes.is_power_of_two() && (512..=1 << 20).contains(bytes);
    Some((u32_at(bytes, 16).filter(sane)?, u32_at(bytes, 20).filter(sane)?))
}

/// Whether seeking takes time (`DEVICE_SEEK_PENALTY_DESCRIPTOR`).
#[must_use]
pub fn spins(bytes: &[u8]) -> Option<bool> {
    bytes.get(8).map(|flag| *flag != 0)
}

/// Bytes of the whole disk, from `GET_LENGTH_INFORMATION`.
#[must_use]
pub fn length(bytes: &[u8]) -> Option<u64> {
    u64_at(bytes, 0).filter(|bytes| *bytes > 0)
}

/// The same from `DISK_GEOMETRY_EX`, which needs no rights.
#[must_use]
pub fn length_by_geometry(bytes: &[u8]) -> Option<u64> {
    u64_at(bytes, 24).filter(|bytes| *bytes > 0)
}

/// Numbers of the disks that a volume lies on (`VOLUME_DISK_EXTENTS`), each once.
#[must_use]
pub fn disks(bytes: &[u8]) -> Vec<u32> {
    const FIRST: usize = 8;
    const EXTENT: usize = 24;
    let count = u32_at(bytes, 0).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let listed = bytes.get(FIRST..).unwrap_or_default().chunks_exact(EXTENT).take(count);
    let mut numbers: Vec<u32> = listed.filter_map(|extent| u32_at(extent, 0)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The number of the disk that a volume lies on, from `STORAGE_DEVICE_NUMBER`; only for disks.
#[must_use]
pub fn disk(bytes: &[u8]) -> Option<u32> {
    const FILE_DEVICE_DISK: u32 = 7;
    u32_at(bytes, 0).filter(|kind| *kind == FILE_DEVICE_DISK)?;
    u32_at(bytes, 4).filter(|number| *number != u32::MAX)
}

/// Totals of a disk (`DISK_PERFORMANCE`). Flushes are not counted there; times are in units of 100 ns.
#[must_use]
pub fn totals(bytes: &[u8]) -> Option<Counters> {
    let count = |at: usize| u32_at(bytes, at).map(u64::from);
    let busy = u64_at(bytes, 56)?.saturating_sub(u64_at(bytes, 32)?);
    Some(Counters {
        read_bytes: u64_at(bytes, 0)?,
        written_bytes: u64_at(bytes, 8)?,
        read_ops: count(40)?,
        write_ops: count(44)?,
        flush_ops: 0,
        busy_ms: if u64_at(bytes, 32)? == 0 { 0 } else { busy / 10_000 },
        in_flight: count(48)?,
    })
}

/// Kind and attachment of a medium, as far as the numbers of `STORAGE_BUS_TYPE` tell.
#[must_use]
pub fn medium(said: DeviceDescriptor, spins: Option<bool>) -> Medium {
    let disk = match spins {
        Some(true) => MediumKind::SataHdd,
        Some(false) => MediumKind::SataSsd,
        None => MediumKind::Unknown,
    };
    let usb = if said.removable { MediumKind::UsbStick } else { MediumKind::UsbDisk };
    let (kind, bus, mode) = match said.bus {
        2 | 3 => (disk, "sata", "ATA"),
        7 => (usb, "usb", "USB"),
        9 => (MediumKind::Iscsi, "network", "iSCSI"),
        10 => (disk, "sas", "SAS"),
        11 => (disk, "sata", "SATA"),
        12 => (MediumKind::Sd, "sd", "SD"),
        13 => (MediumKind::Emmc, "mmc", "MMC"),
        14 => (MediumKind::Virtio, "virtio", "virtual"),
        15 => (MediumKind::Loop, "virtio", "a file as a disk"),
        17 => (MediumKind::Nvme, "pcie", "NVMe"),
        // Many adapters report SCSI although they are something else; arrays and storage spaces hide their disks.
        _ => (MediumKind::Unknown, "", ""),
    };
    let vendor = said.vendor.filter(|vendor| !["ATA", "NVMe"].contains(&vendor.as_str()));
    let vendor = vendor.or_else(|| said.model.as_deref().and_then(maker).map(str::to_owned));
    let mut medium = Medium { kind, vendor, model: said.model, unit: said.serial, ..Medium::default() };
    if let Some(revision) = said.revision {
        medium.health.insert("firmware".to_owned(), revision);
    }
    medium.bus = (!bus.is_empty()).then(|| Bus {
        kind: bus.to_owned(),
        mode: mode.to_owned(),
        ceiling_bytes_per_second: None,
        reachable_bytes_per_second: None,
        driver: None,
        source: SOURCE.to_owned(),
    });
    medium
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor with its texts after its head, one after another.
    fn descriptor(bus: u32, removable: bool, texts: [&str; 4]) -> Vec<u8> {
        let mut bytes = vec![0u8; 36];
        bytes[10] = removable.into();
        bytes[28..32].copy_from_slice(&bus.to_le_bytes());
        for (index, text) in texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
            let offset = bytes.len() as u32;
            bytes[12 + 4 * index..16 + 4 * index].copy_from_slice(&offset.to_le_bytes());
            bytes.extend(text.bytes().chain([0]));
        }
        let size = bytes.len() as u32;
        bytes[4..8].copy_from_slice(&size.to_le_bytes());
        bytes
    }

    #[test]
    fn a_disk_is_known_by_its_bus_and_by_whether_it_spins() {
        let said = device(&descriptor(11, false, ["", "ST4000VN008-2DR166  ", "SC60", "  ZDH1"])).unwrap();
        assert_eq!((said.serial.as_deref(), said.revision.as_deref()), (Some("ZDH1"), Some("SC60")));
        let disk = medium(said, Some(true));
        assert_eq!((disk.kind, disk.vendor.as_deref()), (MediumKind::SataHdd, Some("Seagate")));
        assert_eq!(disk.model.as_deref(), Some("ST4000VN008-2DR166"));
        assert_eq!(disk.bus.unwrap().ceiling_bytes_per_second, None);
        let stick = device(&descriptor(7, true, ["SanDisk", "Ultra", "1.00", ""])).unwrap();
        assert_eq!(medium(stick, None).kind, MediumKind::UsbStick);
        let array = device(&descriptor(8, false, ["", "", "", ""])).unwrap();
        assert_eq!(medium(array, Some(true)), Medium::default());
    }

    #[test]
    fn what_points_elsewhere_or_ends_nowhere_is_absent() {
        let whole = descriptor(7, true, ["VENDOR", "MODEL", "1", "SERIAL"]);
        for length in 0..whole.len() {
            let cut = &whole[..length];
            let _ =
                (device(cut), sectors(cut), spins(cut), disks(cut), disk(cut), totals(cut), length_by_geometry(cut));
        }
        for offset in [1u32, 35, whole.len() as u32, whole.len() as u32 + 1, u32::MAX, u32::MAX - 3] {
            let mut wrong = whole.clone();
            wrong[16..20].copy_from_slice(&offset.to_le_bytes());
            assert_eq!(device(&wrong).unwrap().model, None, "{offset}");
        }
        let mut unended = whole.clone();
        unended.pop();
        assert_eq!(device(&unended).unwrap().serial.as_deref(), Some("SERIAL"));
        let mut boasting = whole.clone();
        boasting[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(device(&boasting), device(&whole));
        let mut modest = whole;
        modest[4..8].copy_from_slice(&40u32.to_le_bytes());
        assert_eq!(device(&modest).unwrap().serial, None, "what the driver did not write");
        let odd = descriptor(7, false, ["\u{1b}[2J", "", "", ""]);
        assert!(!device(&odd).unwrap().vendor.unwrap().contains('\u{1b}'));
    }

    #[test]
    fn numbers_that_no_disk_has_are_absent() {
        let aligned = |logical: u32, physical: u32| {
            let mut bytes = vec![0u8; 28];
            bytes[16..20].copy_from_slice(&logical.to_le_bytes());
            bytes[20..24].copy_from_slice(&physical.to_le_bytes());
            sectors(&bytes)
        };
        assert_eq!(aligned(512, 4096), Some((512, 4096)));
        assert_eq!(aligned(0, 4096), None);
        assert_eq!(aligned(512, 1000), None);
        assert_eq!(length(&(-1i64).to_le_bytes()), None);
        assert_eq!(length(&(1i64 << 40).to_le_bytes()), Some(1 << 40));
        let mut extents = vec![0u8; 8 + 3 * 24];
        extents[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
        extents[8..12].copy_from_slice(&2u32.to_le_bytes());
        extents[32..36].copy_from_slice(&1u32.to_le_bytes());
        extents[56..60].copy_from_slice(&2u32.to_le_bytes());
        assert_eq!(disks(&extents), [1, 2]);
        extents[0..4].copy_from_slice(&0u32.to_le_bytes());
        assert!(disks(&extents).is_empty());
        let number = |kind: u32, number: u32| disk(&[kind.to_le_bytes(), number.to_le_bytes(), [0; 4]].concat());
        assert_eq!((number(7, 3), number(2, 0), number(7, u32::MAX)), (Some(3), None, None));
    }

    #[test]
    fn totals_of_a_disk_are_read() {
        let mut bytes = vec![0u8; 88];
        let mut put = |at: usize, value: i64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(0, 8192);
        put(8, 4096);
        put(32, 50_000);
        put(56, 150_000);
        bytes[40..44].copy_from_slice(&2u32.to_le_bytes());
        bytes[44..48].copy_from_slice(&1u32.to_le_bytes());
        let decoded = totals(&bytes).unwrap();
        assert_eq!(
            (decoded.read_bytes, decoded.written_bytes, decoded.read_ops, decoded.write_ops),
            (8192, 4096, 2, 1)
        );
        assert_eq!(decoded.busy_ms, 10);
        bytes[0..8].copy_from_slice(&(-5i64).to_le_bytes());
        assert_eq!(totals(&bytes), None);
    }
}
