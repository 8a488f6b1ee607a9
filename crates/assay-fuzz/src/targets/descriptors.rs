//! What drivers of Windows answer about a disk.

use assay_core::medium::MediumKind;
use assay_core::text::harmless;
use assay_device::descriptors::{
    DeviceDescriptor, device, disk, disks, length, length_by_geometry, medium, sectors, spins, totals,
};

use super::tree::shown;

/// Bytes of one extent of `VOLUME_DISK_EXTENTS`.
const EXTENT: usize = 24;

/// The first byte says whether the disk spins; the others are an answer, to each of the questions. What is reported comes from
/// the answer and not from behind it, is possible, and harms no reader.
pub(crate) fn run(data: &[u8]) {
    let (seeks, answer) = match data.split_first() {
        Some((first, rest)) => ([None, Some(false), Some(true)][usize::from(first % 3)], rest),
        None => (None, data),
    };
    if let Some(said) = device(answer) {
        check_descriptor(answer, &said);
        let vendor = said.vendor.clone();
        let medium = medium(said, seeks);
        assert!(medium.vendor.is_some() || vendor.is_none_or(|vendor| ["ATA", "NVMe"].contains(&vendor.as_str())));
        let spinning = medium.kind == MediumKind::SataHdd;
        assert!(!spinning || seeks == Some(true), "{:?} of a disk that does not spin", medium.kind);
        shown(&serde_json::to_value(&medium).expect("JSON"));
    }
    if let Some((logical, physical)) = sectors(answer) {
        assert!(logical.is_power_of_two() && physical.is_power_of_two() && logical >= 512 && physical >= 512);
    }
    assert!(spins(answer).is_some() == (answer.len() > 8));
    for bytes in [length(answer), length_by_geometry(answer)].into_iter().flatten() {
        assert!((1..=i64::MAX as u64).contains(&bytes), "{bytes} bytes");
    }
    let numbers = disks(answer);
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert!(numbers.len() * EXTENT <= answer.len().saturating_sub(8), "{numbers:?} of {} bytes", answer.len());
    assert!(disk(answer).is_none_or(|number| number != u32::MAX));
    if let Some(totals) = totals(answer) {
        assert!(totals.read_bytes.max(totals.written_bytes) <= i64::MAX as u64, "{totals:?}");
        assert!(totals.read_ops.max(totals.write_ops).max(totals.in_flight) <= u32::MAX.into(), "{totals:?}");
    }
}

/// What follows the size that the driver gave was not written by it.
fn check_descriptor(answer: &[u8], said: &DeviceDescriptor) {
    let size = answer.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes).expect("a size");
    let mut other = answer.to_vec();
    other.iter_mut().skip(size as usize).for_each(|byte| *byte = !*byte);
    assert_eq!(device(&other).as_ref(), Some(said), "by what follows {size} bytes");
    for text in [&said.vendor, &said.model, &said.revision, &said.serial].into_iter().flatten() {
        assert!(!text.is_empty() && harmless(text) == *text && text.trim() == text, "{text:?}");
    }
}

/// A `STORAGE_DEVICE_DESCRIPTOR` whose texts begin behind its head, one after another, and whether its disk spins.
fn descriptor(spins: u8, bus: u32, removable: bool, texts: [&[u8]; 4]) -> Vec<u8> {
    let mut bytes = vec![0u8; 36];
    bytes[10] = removable.into();
    bytes[28..32].copy_from_slice(&bus.to_le_bytes());
    for (field, text) in texts.iter().enumerate() {
        let offset = bytes.len() as u32;
        if !text.is_empty() {
            bytes[12 + 4 * field..][..4].copy_from_slice(&offset.to_le_bytes());
            bytes.extend(text.iter().chain([&0]));
        }
    }
    let size = bytes.len() as u32;
    bytes[4..8].copy_from_slice(&size.to_le_bytes());
    [vec![spins], bytes].concat()
}

/// `VOLUME_DISK_EXTENTS` that says `count` and has extents on `disks`.
fn extents(count: u32, disks: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0];
    bytes.extend(count.to_le_bytes());
    bytes.extend([0; 4]);
    for disk in disks {
        bytes.extend(disk.to_le_bytes());
        bytes.extend([0; 20]);
    }
    bytes
}

/// `DISK_PERFORMANCE`: totals and times of 64 bits, counts of 32, and when it was asked.
fn performance(totals: [i64; 5], asked: i64, counts: [u32; 4]) -> Vec<u8> {
    let mut bytes = vec![0];
    totals.iter().for_each(|total| bytes.extend(total.to_le_bytes()));
    counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    bytes.extend(asked.to_le_bytes());
    bytes.extend([0; 24]);
    bytes
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let whole = descriptor(1, 7, true, [b"SanDisk", b"Ultra", b"1.00", b"4C53"]);
    let with = |at: usize, value: u32| {
        let mut wrong = whole.clone();
        wrong[1 + at..5 + at].copy_from_slice(&value.to_le_bytes());
        wrong
    };
    let aligned =
        |logical: u32, physical: u32| [vec![0; 17], [logical, physical].map(u32::to_le_bytes).concat()].concat();
    vec![
        Vec::new(),
        vec![0; 9],
        vec![0xff; 90],
        whole.clone(),
        whole[..whole.len() - 1].to_vec(),
        descriptor(2, 11, false, [b"", b"ST4000VN008-2DR166  ", b"SC60", b"  ZDH1"]),
        descriptor(1, 17, false, [b"NVMe", b"Samsung SSD 980", b"", b"\xff\xfe"]),
        descriptor(0, 8, false, [b"\x1b[2J", b"\xe2\x80\xae\x9b31m", b" ", b"\0"]),
        descriptor(1, 12, true, [&[b'x'; 4000], b"", b"", b""]),
        with(4, 40),
        with(4, u32::MAX),
        with(12, 35),
        with(16, u32::MAX - 3),
        with(20, 12),
        aligned(512, 4096),
        aligned(4096, 512),
        aligned(0, 1000),
        extents(3, &[2, 1, 2]),
        extents(u32::MAX, &[7, u32::MAX]),
        extents(0, &[1]),
        [vec![0], [7u32, 3, 1].map(u32::to_le_bytes).concat()].concat(),
        [vec![0], [7u32, u32::MAX, 0].map(u32::to_le_bytes).concat()].concat(),
        performance([8192, 4096, 10, 20, 50_000], 150_000, [2, 1, 0, 0]),
        performance([-5, i64::MAX, 0, 0, 0], -1, [u32::MAX; 4]),
        [vec![0], i64::MIN.to_le_bytes().to_vec()].concat(),
    ]
}
