//! What the kernel says of a machine: mounts, swaps, disks, their pages and registers, routes, logs.

use std::path::Path;

use assay_core::text::harmless;
use assay_device::guard::{mounted_beside, mounted_on};
use assay_device::{HostState, ProofMeter, Seen, Sensors, StorageBelow, Sysroot, What, host, look_by_dev, swaps_on};
use assay_report::{Style, info};
use serde_json::Value;

use crate::{claims, place, tree};

/// Devices that the boards among the seeds have.
const NUMBERS: [(u32, u32); 6] = [(179, 2), (259, 0), (8, 1), (253, 0), (9, 0), (0, 40)];
const NAMES: [&str; 8] = ["mmcblk0", "mmcblk0p2", "nvme0n1", "sda", "sda1", "dm-0", "md0", "loop0"];

/// Whatever a tree holds, it is looked at without panic, and what is learnt from it can be shown.
pub(crate) fn run(data: &[u8]) {
    let directory = place::directory();
    tree::make(directory.path(), &claims::text(data));
    let root = Sysroot::at(directory.path());
    let machine = host(&root);
    for dev in NUMBERS {
        let below = StorageBelow::of_directory_by_dev(&root, Path::new("/mnt/card"), dev);
        below.unknown.iter().for_each(|why| claims::one_line(why));
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
            claims::one_line(&used.place);
            claims::one_line(&used.device);
        }
        let _ = swaps_on(&root, &[name.to_owned()]);
    }
    let disks = NAMES.map(str::to_owned);
    match ProofMeter::open(&root, &disks) {
        Ok(meter) => drop(meter.read().map_err(|error| claims::one_line(&error))),
        Err(error) => claims::one_line(&error),
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

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = claims::texts(&[
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
