//! What a machine says of itself and its disks: trees of the kernel, its log, sensors, descriptors, marks of formats.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use assay_core::medium::MediumKind;
use assay_core::sensor::{SensorCommand, SensorNote, first_number};
use assay_core::text::harmless;
use assay_device::descriptors::{
    DeviceDescriptor, device, disk, disks, length, length_by_geometry, medium, sectors, spins, totals,
};
use assay_device::guard::{mounted_beside, mounted_on, signature};
use assay_device::{
    HostState, KernelLog, ProofMeter, Seen, Sensors, StorageBelow, Sysroot, What, host, look_by_dev, swaps_on,
};
use assay_report::{Style, info};
use serde_json::Value;

use crate::input;
use crate::input::Draw;

// What the kernel says of a machine: mounts, swaps, disks, their pages and registers, routes, logs.

/// Devices that the boards among the seeds have.
const NUMBERS: [(u32, u32); 6] = [(179, 2), (259, 0), (8, 1), (253, 0), (9, 0), (0, 40)];
const NAMES: [&str; 8] = ["mmcblk0", "mmcblk0p2", "nvme0n1", "sda", "sda1", "dm-0", "md0", "loop0"];

/// Whatever a tree holds, it is looked at without panic, and what is learnt from it can be shown.
pub(crate) fn tree(data: &[u8]) {
    let directory = input::directory();
    make(directory.path(), &input::text(data));
    let root = Sysroot::at(directory.path());
    let machine = host(&root);
    for dev in NUMBERS {
        let below = StorageBelow::of_directory_by_dev(&root, Path::new("/mnt/card"), dev);
        below.unknown.iter().for_each(|why| input::one_line(why));
        for what in [What::Directory, What::BlockDevice] {
            let path = if what == What::Directory { "/mnt/card" } else { "/dev/card" };
            let target = look_by_dev(&root, Path::new(path), Seen { what, dev });
            let json_medium = serde_json::to_value(&target.medium).expect("JSON");
            shown(&json_medium);
            for line in info(&target.medium, &machine, &Style::default()).lines() {
                assert_eq!(harmless(line), line);
            }
        }
    }
    shown(&serde_json::to_value(&machine).expect("JSON"));
    for name in NAMES {
        for used in mounted_on(&root, name).into_iter().chain(mounted_beside(&root, name)) {
            input::one_line(&used.place);
            input::one_line(&used.device);
        }
        let _ = swaps_on(&root, &[name.to_owned()]);
    }
    let disks = NAMES.map(str::to_owned);
    match ProofMeter::open(&root, &disks) {
        Ok(meter) => drop(meter.read().map_err(|error| input::one_line(&error))),
        Err(error) => input::one_line(&error),
    }
    for reading in Sensors::find(&root, &disks).readings() {
        assert!(harmless(&reading.name) == reading.name && reading.value.is_none_or(f64::is_finite), "{reading:?}");
    }
    let _ = HostState::read(&root);
}

/// Every text in it is one harmless line of bounded length.
pub(super) fn shown(value: &Value) {
    match value {
        Value::String(text) => {
            assert!(harmless(text) == *text && text.chars().count() <= 5000, "{text:?}");
        }
        Value::Array(items) => items.iter().for_each(shown),
        Value::Object(fields) => fields.values().for_each(shown),
        _ => {}
    }
}

pub(crate) fn tree_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        include_str!("../../../assay-device/tests/boards/emmc-hs400.tree"),
        include_str!("../../../assay-device/tests/boards/hostile.tree"),
        include_str!("../../../assay-device/tests/boards/iscsi.tree"),
        include_str!("../../../assay-device/tests/boards/luks-lvm.tree"),
        include_str!("../../../assay-device/tests/boards/md-raid1.tree"),
        include_str!("../../../assay-device/tests/boards/old-router.tree"),
        include_str!("../../../assay-device/tests/boards/pi4-microsd.tree"),
        include_str!("../../../assay-device/tests/boards/pi5-nvme.tree"),
        include_str!("../../../assay-device/tests/boards/sopine-a64.tree"),
        include_str!("../../../assay-device/tests/boards/usb2-stick.tree"),
        include_str!("../../../assay-device/tests/boards/usb3-uas.tree"),
        "[proc/self]\nmountinfo = 1 0 8:1 / /mnt/\\x1b[2J rw\\x9b,\\xe2\\x80\\xae - ext4 /dev/sda1\\\\033 rw\n",
        "[proc]\nswaps = x\\n/dev/sda\\\\012 partition\n[/]\nproc/mounts/\n",
    ]);
    // Loop devices over each other, over themselves, and over nothing; overlays whose layers lie on them; paths to a disk.
    seeds.push(
        b"[proc/self]\nmountinfo = 1 0 7:0 / / rw - ext4 /dev/loop0 rw\\n2 1 0:40 / /mnt rw - overlay o rw,upperdir=/mnt/card,\
          lowerdir=/:/mnt\n[sys/devices/a]\nloop0/dev = 7:0\nloop0/size = 8\nloop0/loop/backing_file = /dev/loop1\n\
          loop1/dev = 7:1\nloop1/size = 8\nloop1/loop/backing_file = /dev/loop0\nloop2/dev = 7:2\nloop2/size = 8\n\
          loop2/loop/backing_file = /x\\x1b (deleted)\nsda/dev = 8:1\nsda/size = 1\nsda/wwid = naa.5\nsda/device/vpd_pg83 = \
          \\x00\\x83\\xff\\xff\\x01\\x03\\x00\\xff\nsdb/dev = 8:2\nsdb/size = 1\nsdb/wwid = naa.5\n"
            .to_vec(),
    );
    // Disks that hold each other.
    seeds.push(
        b"[sys/devices/a]\nsda/dev = 8:1\nsda/size = 1\nsda/slaves/sdb -> ../../sdb\nsda/holders/sdb -> ../../sdb\n\
          sdb/dev = 8:2\nsdb/size = 18446744073709551615\nsdb/slaves/sda -> ../../sda\nsdb/holders/sda -> ../../sda\n"
            .to_vec(),
    );
    seeds
}

// The kernel's log: records of its ring, and the files that loggers write.

/// A board whose log alone says how fast its card slot is.
const BOARD: &str = include_str!("../../../assay-device/tests/boards/sopine-a64.tree");
/// The card in it. Its slot is called mmc0.
const DISK: &str = "mmcblk0";
const NUMBER: (u32, u32) = (179, 0);
const LOG: &str = "var/log/kern.log";

/// Records, a NUL between each two, speak of the card or not; as a file the same says what its slot does. Nothing of
/// either harms who reads it.
pub(crate) fn klog(data: &[u8]) {
    let directory = input::directory();
    make(directory.path(), BOARD);
    std::fs::write(directory.path().join(LOG), data).expect("a log");
    let root = Sysroot::at(directory.path());
    let seen = look_by_dev(&root, Path::new("/dev/card"), Seen { what: What::BlockDevice, dev: NUMBER });
    shown(&serde_json::to_value(&seen.medium).expect("JSON"));
    let log = KernelLog::follow(&root, &[DISK.to_owned()]);
    for record in data.split(|byte| *byte == 0) {
        let Some(line) = log.trouble_in(record) else { continue };
        assert!(harmless(&line) == line && (1..=160).contains(&line.chars().count()), "{line:?}");
        let text = input::text(record);
        let (_, text) = text.split_once(';').expect("what has no text tells of no trouble");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.contains("mmc0") || first.contains(DISK), "not of the card: {first:?}");
    }
}

pub(crate) fn klog_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "3,1042,5120345678,-;mmc0: error -110 whilst initialising SD card\n SUBSYSTEM=mmc\n DEVICE=+mmc:mmc0\n\0\
         6,1043,5120345999,-;mmc0: new ultra high speed SDR104 SDXC card at address 4001\n\0\
         3,1044,5120346000,c;I/O error, dev mmcblk0, sector 81920 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n\0\
         2,1045,5120346001,-;EXT4-fs error (device mmcblk0p2): ext4_journal_check_start:83: comm rs: aborted journal\n",
        "Jan  1 00:00:01 a kernel: [    1.512693] mmc0: new high speed SDHC card at address 4001\n",
        "mmc0: new  card at address 4001\nmmc0: new UHS-I speed SDR9999999999999999999 SD card at address 4001",
        "mmc0: new \0\0\u{c}\u{1b}[2J SDR104 SDXC card at address 4001\n",
        "mmc2: new HS400 Enhanced strobe MMC card at address 0001 \r\n\u{1b}[2J",
        "4,1,1,-;\u{1b}]0;x\u{7}mmcblk0: \u{202e}timeout\u{9b}31m\n",
        "4,1,1,-;mmcblk0n18446744073709551616p1p2 error",
        "4,1,1,-;xmmc0 mmc0x mmc0: mmc00 \u{130}mmc0 reset",
        ";",
        ";\n;mmc0 error",
        "mmc0: error without a head",
    ]);
    seeds.push(b"3,1,1,-;mmc0\xff\xfe: error \xc3\x28\n\x003,2,2,-;\xf0\x9f mmcblk0 failed".to_vec());
    seeds.push(format!("3,1,1,-;mmc0: error {}", "x".repeat(9000)).into_bytes());
    seeds
}

// Sensors of the command line, and what their commands print.

/// A specification is read or refused in a line; names are harmless, numbers are numbers.
pub(crate) fn sensor(data: &[u8]) {
    let text = input::text(data);
    match SensorCommand::parse(&text) {
        Ok(sensor) => {
            name(&sensor.name);
            assert!(sensor.factor > 0.0 && text.ends_with(&sensor.command) && !sensor.command.trim().is_empty());
            let printed = first_number(&sensor.command).and_then(|(number, _)| sensor.scaled(number));
            assert!(printed.is_none_or(f64::is_finite));
            name(&sensor.kind.series(&sensor.name, "command").name);
        }
        Err(error) => input::one_line(&error),
    }
    match SensorNote::parse(&text) {
        Ok(note) => {
            name(&note.name);
            assert!(note.value.is_finite(), "{text:?}: {}", note.value);
        }
        Err(error) => input::one_line(&error),
    }
    if let Some((number, end)) = first_number(&text) {
        assert!(number.is_finite() && text.is_char_boundary(end) && end > 0);
        assert!(text.as_bytes()[end - 1].is_ascii_digit());
    }
}

#[track_caller]
fn name(name: &str) {
    assert!(!name.is_empty() && name.chars().count() <= 64 && harmless(name) == *name, "{name:?}");
}

pub(crate) fn sensor_seeds() -> Vec<Vec<u8>> {
    let mut seeds = input::texts(&[
        "my plug:W=curl -s http://x/?a=b | jq .power",
        "ir:C=cat x",
        "temperature=46C",
        "case=-38.5 °C",
        "cpu=1.5e3GHz",
        "x=179769313486231570000000000000000e290GHz",
        "plug:V=cat",
        "a:\u{1b}=b",
        "\u{202e}=1W",
        "t=.5",
        "5e",
        "-",
        "1e+",
        "x=1e308GHz",
    ]);
    seeds.push(format!("x:{}=y", "V".repeat(3000)).into_bytes());
    seeds.push(vec![b'9'; 500]);
    seeds
}

// What drivers of Windows answer about a disk.

/// Bytes of one extent of `VOLUME_DISK_EXTENTS`.
const EXTENT: usize = 24;

/// The first byte says whether the disk spins; the others are an answer, to each of the questions. What is reported comes from
/// the answer and not from behind it, is possible, and harms no reader.
pub(crate) fn descriptors(data: &[u8]) {
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

pub(crate) fn descriptors_seeds() -> Vec<Vec<u8>> {
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

// Marks of formats on images.

/// An image of any size with pieces at places; the rest is zeros, and takes no room.
struct Image<'a> {
    size: u64,
    at: u64,
    pieces: Vec<(u64, &'a [u8])>,
    read: u64,
}

impl Read for Image<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.size.saturating_sub(self.at);
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let part = &mut buffer[..length];
        part.fill(0);
        for (start, piece) in &self.pieces {
            for (byte, at) in piece.iter().zip(0..) {
                let inside = start
                    .checked_add(at)
                    .and_then(|place| place.checked_sub(self.at))
                    .and_then(|inside| usize::try_from(inside).ok());
                if let Some(slot) = inside.and_then(|inside| part.get_mut(inside)) {
                    *slot = *byte;
                }
            }
        }
        self.at += length as u64;
        self.read += length as u64;
        Ok(length)
    }
}

impl Seek for Image<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(back) => self.size.checked_add_signed(back),
            SeekFrom::Current(forward) => self.at.checked_add_signed(forward),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// More is not read of any device.
const MOST_READ: u64 = 64 << 20;

/// Any image is judged by reading a bounded part of it; one of zeros holds nothing.
pub(crate) fn signatures(data: &[u8]) {
    let mut draw = Draw::new(data);
    let size = match draw.byte() % 8 {
        0 => 1 << 20,
        1 => draw.number() % (4 << 20),
        2 => draw.number() >> 1,
        3 => 0,
        4 => i64::MAX as u64,
        5 => 511,
        6 => (1 << 30) + 512 * 7,
        _ => u64::MAX,
    };
    let mut pieces = Vec::new();
    while !draw.is_empty() && pieces.len() < 16 {
        let place = match draw.byte() % 4 {
            0 => u64::from(draw.byte()) * 512 + u64::from(draw.byte()),
            1 => draw.number() % (1 << 20),
            2 => size.saturating_sub(u64::from(draw.byte()) * 512),
            _ => size.saturating_sub(draw.number() % (1 << 20)),
        };
        let length = usize::from(draw.byte() % 32);
        pieces.push((place, draw.bytes(length)));
    }
    let blank = pieces.iter().all(|(_, piece)| piece.iter().all(|byte| *byte == 0));
    let mut image = Image { size, at: 0, pieces, read: 0 };
    let found = signature(&mut image);
    assert!(!blank || found.is_none(), "{found:?} in zeros");
    assert!(image.read <= MOST_READ, "{} bytes were read", image.read);
}

pub(crate) fn signature_seeds() -> Vec<Vec<u8>> {
    // Size, then for each piece: how the place is given, the place, length, bytes.
    let at = |size: u8, offset: u64, magic: &[u8]| {
        let mut seed = vec![size, 1];
        seed.extend(offset.to_le_bytes());
        seed.push(magic.len() as u8);
        seed.extend(magic);
        seed
    };
    vec![
        Vec::new(),
        at(0, 0, b"LUKS\xba\xbe"),
        at(0, 0x438, b"\x53\xef"),
        at(0, 0x1_0040, b"_BHRfS_M"),
        at(0, 510, b"\x55\xaa"),
        at(0, 131_072 + 4096, &0x00ba_b10c_u64.to_le_bytes()),
        vec![6, 2, 1, 8, b'E', b'F', b'I', b' ', b'P', b'A', b'R', b'T'],
        at(7, 4086, b"SWAPSPACE2"),
        at(5, 510, b"\x55"),
        vec![4, 2, 16, 4, 0xfc, 0x4e, 0x2b, 0xa9],
        vec![3],
    ]
}

// Trees as the kernel lays them out under `/sys` and `/proc`, made of a text, in a directory of their own.
//
// `[dir]` begins a directory; the lines after it are `name = content` (escapes `\n \t \0 \\ \xNN`),
// `name -> target` for a link, or `name/` for an empty directory, as in the boards of `assay-device`'s tests.
// Nothing outside of the directory is ever written or read: names have no `..`, links are made last and
// lead below the root alone.

/// More lines are left out.
const MOST_LINES: usize = 150;
/// Names of disks that are linked from `sys/dev/block` and `sys/block`.
const MOST_DISKS: usize = 16;

/// Makes the tree below `root`, which is empty.
pub(crate) fn make(root: &Path, text: &str) {
    let mut section = PathBuf::new();
    let mut links = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).take(MOST_LINES) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = below(name).unwrap_or_default();
        } else if let Some((name, content)) = line.split_once(" = ") {
            if let Some(path) = below(name).map(|name| root.join(&section).join(name)) {
                let mut bytes = unescaped(content);
                bytes.push(b'\n');
                let _ = path.parent().map(fs::create_dir_all);
                let _ = fs::write(&path, bytes);
            }
        } else if let Some((name, target)) = line.split_once(" -> ") {
            links.extend(below(name).map(|name| (section.join(name), target.to_owned())));
        } else if let Some(path) = line.strip_suffix('/').and_then(below) {
            let _ = fs::create_dir_all(root.join(&section).join(path));
        }
    }
    let mut disks = Vec::new();
    find_disks(root, Path::new("sys/devices"), 0, &mut disks);
    for (disk, number) in disks {
        let name = disk.file_name().unwrap_or_default().to_owned();
        let inside = disk.strip_prefix("sys").unwrap_or(&disk).to_owned();
        links.push((Path::new("sys/dev/block").join(number), Path::new("../..").join(&inside).display().to_string()));
        let of = |class: &str| Path::new("sys").join(class).join(&name);
        links.push((of("class/block"), Path::new("../..").join(&inside).display().to_string()));
        links.push((of("block"), Path::new("..").join(&inside).display().to_string()));
    }
    // All directories first: below a link nothing is made.
    for (link, _) in &links {
        let _ = root.join(link).parent().map(fs::create_dir_all);
    }
    for (link, target) in links.iter().filter(|(link, target)| stays_below(link, target)) {
        let _ = symlink(target, root.join(link));
    }
}

/// A path of plain names.
fn below(name: &str) -> Option<PathBuf> {
    let path = Path::new(name.trim_start_matches('/'));
    let plain = path.components().all(|part| matches!(part, Component::Normal(name) if name.len() < 200));
    (plain && !name.contains('\0') && name.len() < 2000).then(|| path.to_owned())
}

/// Upwards first, at most to the root, then down.
fn stays_below(link: &Path, target: &str) -> bool {
    let mut up = link.components().count().saturating_sub(1);
    let mut down = false;
    target.len() < 1000
        && !target.is_empty()
        && Path::new(target).components().all(|part| match part {
            Component::ParentDir if !down && up > 0 => {
                up -= 1;
                true
            }
            Component::Normal(_) => {
                down = true;
                true
            }
            Component::CurDir => true,
            _ => false,
        })
}

/// Directories with `dev` and `size`, and what `dev` says.
fn find_disks(root: &Path, at: &Path, depth: usize, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(root.join(at)) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = at.join(entry.file_name());
        if let Ok(number) = fs::read_to_string(root.join(&path).join("dev"))
            && root.join(&path).join("size").exists()
            && below(number.trim()).is_some_and(|name| name.components().count() == 1)
            && found.len() < MOST_DISKS
        {
            found.push((path.clone(), number.trim().to_owned()));
        }
        if depth < 20 {
            find_disks(root, &path, depth + 1, found);
        }
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let (byte, used) = match (first, tail) {
            (b'\\', [b'n', ..]) => (b'\n', 1),
            (b'\\', [b't', ..]) => (b'\t', 1),
            (b'\\', [b'0', ..]) => (0, 1),
            (b'\\', [b'x', high, low, ..]) => {
                let hex = [*high, *low];
                let byte = std::str::from_utf8(&hex).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                (byte.unwrap_or(b'?'), 3)
            }
            (b'\\', [other, ..]) => (*other, 1),
            (other, _) => (*other, 0),
        };
        out.push(byte);
        rest = &tail[used..];
    }
    out
}
