//! Trees laid out like those of other machines' kernels.

use crate::common::{Board, ceiling, mode, source, stack};
use assay_core::health::CounterKind;
use assay_core::medium::MediumKind;
use assay_device::health::HealthReader;
use assay_device::{ProofMeter, Sensors, StorageBelow, Sysroot, guard, host, survey, swaps_on};

fn near(got: Option<f64>, wanted: f64) {
    let got = got.expect("a ceiling");
    assert!((got - wanted).abs() < wanted * 1e-3, "{got} MB/s, wanted {wanted}");
}

fn read(sensors: &Sensors) -> Vec<(&str, &str, f64, &str)> {
    sensors.readings().iter().map(|r| (r.name.as_str(), r.source, r.value.unwrap(), r.unit())).collect()
}

#[test]
fn a_pi_4_tells_its_temperature_once_and_its_clock() {
    let sensors = Sensors::find(&Board::new("pi4-microsd").sysroot(), &["mmcblk0".to_owned()]);
    let wanted = [("cpu-thermal", "thermal zone", 48.199, "°C"), ("cpu0 clock", "cpufreq", 6e8, "Hz")];
    assert_eq!(read(&sensors), wanted);
    assert_eq!(sensors.readings()[1].most, Some(1.5e9));
}

#[test]
fn a_pi_4_card_tells_maker_unit_classes_and_ddr50() {
    let board = Board::new("pi4-microsd");
    let target = board.directory("/home/pi", (179, 2));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::Sd);
    assert_eq!(medium.vendor.as_deref(), Some("SanDisk"));
    assert_eq!(medium.model.as_deref(), Some("SC16G"));
    assert_eq!(medium.unit.as_deref(), Some("035344534331364780ecf4c851011b85"));
    assert_eq!(medium.capacity_bytes, Some(31_116_288 * 512));
    assert_eq!(medium.claimed_classes, ["C10", "U1", "A1"]);
    assert_eq!(medium.health.get("manufactured").map(String::as_str), Some("11/2017"));
    assert_eq!(medium.filesystem.as_deref(), Some("ext4"));
    assert_eq!(medium.mount_point.as_deref(), Some("/"));
    assert_eq!(medium.mount_options, ["rw", "noatime"]);
    assert_eq!(medium.device.as_deref(), Some("/dev/mmcblk0p2"));
    assert_eq!(stack(&target), "mmcblk0p2:partition mmcblk0:disk");
    assert_eq!(target.devices, ["mmcblk0"]);
    assert_eq!(mode(&target), "DDR50");
    near(ceiling(&target), 50.0);
    assert_eq!(source(&target), "/sys/kernel/debug/mmc0/ios");
    assert_eq!(medium.bus.as_ref().unwrap().kind, "sd");
    assert_eq!(medium.queue.get("scheduler").map(String::as_str), Some("mq-deadline"));
    assert_eq!(medium.queue.get("write_cache").map(String::as_str), Some("write through"));
    assert_eq!(target.logical_block_bytes, Some(512));
    assert!(target.removable && !target.read_only && !target.is_memory && !target.raw);
}

#[test]
fn a_pi_4_tells_what_machine_it_is() {
    let board = Board::new("pi4-microsd");
    let host = host(&board.sysroot());
    assert_eq!(host.hostname.as_deref(), Some("raspberrypi"));
    assert_eq!(host.board.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.1"));
    assert_eq!(host.cpu.as_deref(), Some("Cortex-A72"));
    assert_eq!(host.cores, Some(4));
    assert_eq!(host.memory_bytes, Some(3_884_360 * 1024));
    assert_eq!(host.kernel.as_deref(), Some("5.10.63-v7l+"));
    assert_eq!(host.os.as_deref(), Some("Raspbian GNU/Linux 10 (buster)"));
    assert_eq!(host.governor.as_deref(), Some("ondemand"));
}

#[test]
fn a_swap_file_counts_as_swapping_on_its_card() {
    let board = Board::new("pi4-microsd");
    assert!(swaps_on(&board.sysroot(), &["mmcblk0".to_owned()]));
    assert!(!swaps_on(&board.sysroot(), &["sda".to_owned()]));
    let board = Board::new("luks-lvm");
    assert!(swaps_on(&board.sysroot(), &["sda".to_owned()]));
}

#[test]
fn a_tmpfs_on_the_way_is_memory_without_proof() {
    let target = Board::new("pi4-microsd").directory("/tmp/x", (0, 22));
    assert_eq!(target.medium.kind, MediumKind::Tmpfs);
    assert!(target.is_memory);
    assert!(target.devices.is_empty() && target.medium.stack.is_empty() && target.medium.bus.is_none());
}

#[test]
fn a_pi_5_drive_runs_at_pcie_2_and_says_that_it_could_do_more() {
    let board = Board::new("pi5-nvme");
    let target = board.directory("/", (259, 2));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::Nvme);
    assert_eq!(medium.vendor.as_deref(), Some("Samsung"));
    assert_eq!(medium.model.as_deref(), Some("Samsung SSD 980 500GB"));
    assert_eq!(medium.unit.as_deref(), Some("S64DNF0R000000X"));
    assert_eq!(medium.capacity_bytes, Some(500_107_862_016));
    assert_eq!(medium.health.get("firmware").map(String::as_str), Some("2B4QFXO7"));
    assert_eq!(stack(&target), "nvme0n1p2:partition nvme0n1:disk");
    assert_eq!(target.devices, ["nvme0n1"]);
    assert_eq!(mode(&target), "PCIe 2.0 x1");
    near(ceiling(&target), 500.0);
    assert!(source(&target).contains("nvme0/device/current_link_speed"), "{}", source(&target));
    assert!(source(&target).contains("PCIe 3.0 x4"), "{}", source(&target));
    assert!(!target.removable);
    assert_eq!(host(&board.sysroot()).cpu.as_deref(), Some("Cortex-A76"));
    let sensors = Sensors::find(&board.sysroot(), &target.leaves);
    assert_eq!(
        read(&sensors),
        [
            ("nvme0n1", "drive", 39.85, "°C"),
            ("cpu-thermal", "thermal zone", 51.8, "°C"),
            ("rp1_adc", "hwmon", 50.2, "°C"),
            ("cpu0 clock", "cpufreq", 2.4e9, "Hz"),
        ]
    );
}

#[test]
fn without_debugfs_the_last_log_line_of_the_card_tells_the_mode() {
    let target = Board::new("sopine-a64").directory("/root", (179, 1));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::Sd);
    assert_eq!(medium.vendor.as_deref(), Some("Samsung"));
    assert_eq!(medium.model.as_deref(), Some("R04GS"));
    assert_eq!(medium.claimed_classes, ["C10", "U3", "V30", "A2"]);
    assert_eq!(mode(&target), "High Speed");
    near(ceiling(&target), 25.0);
    near(medium.bus.as_ref().unwrap().reachable_bytes_per_second.map(|b| b / 1e6), 23.0);
    assert_eq!(source(&target), "kernel log `mmc0: new high speed SDHC card at address 4001`");
    assert_eq!(target.devices, ["mmcblk0"]);
}

#[test]
fn without_debugfs_and_log_the_mode_is_unknown_and_the_reason_said() {
    let board = Board::new("sopine-a64");
    std::fs::remove_file(board.path("var/log/kern.log")).unwrap();
    let target = board.directory("/root", (179, 1));
    assert_eq!(mode(&target), "unknown");
    assert_eq!(ceiling(&target), None);
    assert!(source(&target).contains("/sys/kernel/debug/mmc0/ios is not there"), "{}", source(&target));
}

#[test]
fn a_usb_2_stick_is_told_from_a_disk() {
    let target = Board::new("usb2-stick").directory("/media/pi/MY STICK/files", (8, 17));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::UsbStick);
    assert_eq!(medium.vendor.as_deref(), Some("SanDisk"));
    assert_eq!(medium.model.as_deref(), Some("Cruzer Blade"));
    assert_eq!(medium.unit.as_deref(), Some("4C530001230910115284"));
    assert_eq!(medium.capacity_bytes, Some(8_004_304_896));
    assert_eq!(medium.mount_point.as_deref(), Some("/media/pi/MY STICK"));
    assert_eq!(mode(&target), "USB 2.0");
    near(ceiling(&target), 53.248);
    near(medium.bus.as_ref().unwrap().reachable_bytes_per_second.map(|b| b / 1e6), 40.0);
    assert_eq!(medium.bus.as_ref().unwrap().driver.as_deref(), Some("usb-storage"));
    assert_eq!(source(&target), "/sys/bus/usb/devices/1-2/speed");
    assert_eq!(stack(&target), "sdb1:partition sdb:disk");
    assert_eq!(target.devices, ["sdb"]);
    assert!(target.removable);
}

#[test]
fn a_usb_3_bridge_with_uas_is_a_disk_at_5_gbit() {
    let target = Board::new("usb3-uas").directory("/", (8, 2));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::UsbDisk);
    assert_eq!(medium.vendor.as_deref(), Some("Samsung"));
    assert_eq!(medium.model.as_deref(), Some("SSD 870 EVO 250G"));
    assert_eq!(medium.unit.as_deref(), Some("123456789012"));
    assert_eq!(mode(&target), "USB 5 Gbit/s");
    near(ceiling(&target), 500.0);
    near(medium.bus.as_ref().unwrap().reachable_bytes_per_second.map(|b| b / 1e6), 440.0);
    assert_eq!(medium.bus.as_ref().unwrap().driver.as_deref(), Some("uas"));
    assert_eq!(target.devices, ["sda"]);
}

#[test]
fn an_iscsi_volume_is_named_by_its_target_and_limited_by_the_route_to_it() {
    let target = Board::new("iscsi").directory("/var/lib/data", (8, 0));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::Iscsi);
    assert_eq!(medium.vendor.as_deref(), Some("IET"));
    assert_eq!(medium.model.as_deref(), Some("VIRTUAL-DISK"));
    assert_eq!(medium.unit.as_deref(), Some("iqn.2019-10.io.longhorn:pvc-697ac77e-8c65-43ad-aa11-55023ac835d8 LUN 1"));
    assert_eq!(target.devices, ["sda"]);
    if cfg!(target_endian = "little") {
        assert_eq!(mode(&target), "network 1 Gbit/s");
        near(ceiling(&target), 125.0);
        assert_eq!(source(&target), "/sys/class/net/eth0/speed, the route to 10.52.0.59");
    }
}

#[test]
fn an_old_router_has_an_overlay_a_jffs2_and_a_nameless_stick() {
    let board = Board::new("old-router");
    let root = board.directory("/etc", (0, 15));
    assert_eq!(root.medium.kind, MediumKind::Overlay);
    assert!(root.devices.is_empty());
    let flash = board.directory("/overlay/upper", (31, 3));
    assert_eq!(flash.medium.model.as_deref(), Some("rootfs_data"));
    assert_eq!(flash.devices, ["mtdblock3"]);
    let stick = board.directory("/mnt/sda1", (8, 1));
    assert_eq!(stick.medium.kind, MediumKind::UsbStick);
    assert_eq!(stick.medium.vendor.as_deref(), Some("Alcor Micro"));
    assert_eq!(stick.medium.model.as_deref(), Some("Mass Storage Device"));
    assert_eq!(stick.medium.unit, None);
    assert_eq!(mode(&stick), "USB 2.0");
    assert_eq!(stick.devices, ["sda"]);
    let host = host(&board.sysroot());
    assert_eq!(host.board.as_deref(), Some("TP-Link Archer C7 v2"));
    assert_eq!(host.cpu.as_deref(), Some("MIPS 74Kc V5.0"));
    assert_eq!((host.cores, host.os.as_deref()), (Some(1), Some("OpenWrt 19.07.3")));
}

#[test]
fn luks_and_lvm_are_followed_down_to_the_ssd() {
    let board = Board::new("luks-lvm");
    let target = board.directory("/home", (253, 1));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::SataSsd);
    assert_eq!(medium.vendor.as_deref(), Some("Samsung"));
    assert_eq!(medium.model.as_deref(), Some("Samsung SSD 860"));
    assert_eq!(medium.unit.as_deref(), Some("S3Z2NB0K000000X"));
    assert_eq!(medium.device.as_deref(), Some("/dev/dm-1"));
    assert_eq!(stack(&target), "dm-1:dm dm-0:dm sda3:partition sda:disk");
    assert_eq!(target.devices, ["sda"]);
    assert_eq!(mode(&target), "SATA 6 Gbit/s");
    near(ceiling(&target), 600.0);
    assert_eq!(source(&target), "/sys/class/ata_link/link1/sata_spd");
    let sensors = Sensors::find(&board.sysroot(), &target.leaves);
    assert_eq!(read(&sensors), [("sda", "drive", 31.0, "°C")]);
}

#[test]
fn a_btrfs_without_a_device_number_is_found_by_its_mapper_name() {
    let target = Board::new("luks-lvm").directory("/pool/data", (0, 45));
    assert_eq!(target.medium.filesystem.as_deref(), Some("btrfs"));
    assert_eq!(stack(&target), "dm-3:dm dm-0:dm sda3:partition sda:disk");
    assert_eq!(target.devices, ["sda"]);
    assert_eq!(target.logical_block_bytes, Some(4096));
}

#[test]
fn a_mirror_is_one_medium_of_two_disks_proved_by_its_own_counters() {
    let board = Board::new("md-raid1");
    let target = board.directory("/", (9, 0));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::SataHdd);
    assert_eq!(medium.vendor.as_deref(), Some("WDC"));
    assert_eq!(medium.model.as_deref(), Some("2 x WDC WD40EFRX-68N"));
    assert_eq!(medium.unit.as_deref(), Some("naa.50014ee2b0000001 + naa.50014ee2b0000002"));
    assert_eq!(medium.capacity_bytes, Some(7_813_771_264 * 512));
    assert_eq!(stack(&target), "md0:md sda1:partition sda:disk sdb1:partition sdb:disk");
    assert_eq!(target.leaves, ["sda", "sdb"]);
    assert_eq!(target.devices, ["md0"]);
    assert_eq!(mode(&target), "SATA 3 Gbit/s");
    assert_eq!(ceiling(&target), None);
    assert!(source(&target).starts_with("2 disks"), "{}", source(&target));
    let counters = ProofMeter::open(&board.sysroot(), &target.devices).unwrap().read().unwrap();
    assert_eq!((counters.read_bytes, counters.written_bytes), (400 * 512, 1600 * 512));
    let leaves = ProofMeter::open(&board.sysroot(), &target.leaves).unwrap().read().unwrap();
    assert_eq!(leaves.written_bytes, 2 * 1600 * 512);
}

#[test]
fn an_emmc_tells_hs400_its_wear_and_its_boot_partition_is_read_only() {
    let board = Board::new("emmc-hs400");
    let target = board.directory("/", (179, 2));
    let medium = &target.medium;
    assert_eq!(medium.kind, MediumKind::Emmc);
    assert_eq!(medium.vendor.as_deref(), Some("Samsung"));
    assert_eq!(medium.model.as_deref(), Some("CJTD4R"));
    assert_eq!(medium.capacity_bytes, Some(122_142_720 * 512));
    let readings = HealthReader::new(&board.sysroot(), &target).read();
    let life = [CounterKind::LifeUsedATenths, CounterKind::LifeUsedBTenths, CounterKind::PreEndOfLife];
    assert_eq!(life.map(|kind| readings.count(kind)), [Some(1), Some(2), Some(1)]);
    assert!(readings.unread.is_empty(), "{readings:?}");
    assert_eq!(medium.queue.get("cmdq_en").map(String::as_str), Some("1"));
    assert_eq!(mode(&target), "HS400");
    near(ceiling(&target), 400.0);
    assert!(medium.claimed_classes.is_empty());
    assert!(!target.removable);
    assert_eq!(host(&board.sysroot()).cpu.as_deref(), Some("Cortex-A55 + Cortex-A76"));
    let boot = board.device("/dev/mmcblk0boot0", (179, 32));
    assert!(boot.raw && boot.read_only);
    assert_eq!(boot.medium.kind, MediumKind::Emmc);
    assert_eq!(boot.medium.filesystem, None);
}

#[test]
fn a_raw_device_is_described_without_a_mount() {
    let target = Board::new("usb2-stick").device("/dev/sdb", (8, 16));
    assert!(target.raw);
    assert_eq!(target.medium.device.as_deref(), Some("/dev/sdb"));
    assert_eq!((target.medium.filesystem, target.medium.mount_point), (None, None));
    assert_eq!(target.medium.kind, MediumKind::UsbStick);
    let unknown = Board::new("usb2-stick").device("/dev/sdz", (65, 144));
    assert_eq!(unknown.medium.kind, MediumKind::Unknown);
    assert!(unknown.devices.is_empty());
}

/// No text that reaches a record may contain terminal control characters.
fn harmless(json: &str) {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    fn walk(value: &serde_json::Value) {
        match value {
            serde_json::Value::String(text) => {
                assert_eq!(*text, assay_core::text::harmless(text), "a control character is left");
            }
            serde_json::Value::Array(list) => list.iter().for_each(walk),
            serde_json::Value::Object(map) => map.iter().for_each(|(key, value)| {
                assert_eq!(*key, assay_core::text::harmless(key));
                walk(value);
            }),
            _ => {}
        }
    }
    walk(&value);
}

#[test]
fn hostile_names_come_out_without_controls_and_break_nothing() {
    let board = Board::new("hostile");
    let stick = board.directory("/media/\u{1b}[2J\"><script>alert(1)</script>/x", (8, 17));
    assert_eq!(stick.medium.kind, MediumKind::UsbStick);
    assert_eq!(stick.medium.vendor.as_deref(), Some("\u{fffd}[2JBad\""));
    assert_eq!(stick.medium.model.as_deref(), Some("<b>\u{fffd}XYZ</b> second line"));
    assert_eq!(stick.medium.unit.as_deref(), Some("'; DROP TABLE runs; --\u{fffd}"));
    assert_eq!(stick.medium.capacity_bytes, None, "more sectors than fit");
    assert_eq!(stick.logical_block_bytes, None);
    assert_eq!(ceiling(&stick), None);
    let nfs = board.directory("/mnt/nfs", (0, 99));
    assert_eq!(nfs.medium.kind, MediumKind::Nfs);
    let looped = board.directory("/mnt/loop", (7, 0));
    for target in [&stick, &nfs, &looped, &board.device("/dev/sd\u{1b}b", (8, 16))] {
        harmless(&serde_json::to_string(&target.medium).unwrap());
    }
    let host = host(&board.sysroot());
    harmless(&serde_json::to_string(&host).unwrap());
    assert_eq!((host.memory_bytes, host.cores), (None, None));
    assert!(Sensors::find(&board.sysroot(), &stick.leaves).is_empty());
    assert!(ProofMeter::open(&board.sysroot(), &stick.devices).unwrap().read().is_ok());
    assert!(!guard::mounted_on(&board.sysroot(), "sdb").is_empty());
}

#[test]
fn the_guard_sees_mounts_on_partitions_and_on_what_is_stacked_on_them() {
    let uses = |board: &str, device: &str| -> Vec<String> {
        let uses = guard::mounted_on(&Board::new(board).sysroot(), device);
        uses.into_iter().map(|one| format!("{} {}", one.device, one.place)).collect()
    };
    assert_eq!(uses("usb2-stick", "sdb"), ["sdb1 mounted on /media/pi/MY STICK"]);
    assert_eq!(uses("usb2-stick", "sdb1"), ["sdb1 mounted on /media/pi/MY STICK"]);
    let disk = uses("luks-lvm", "sda");
    for wanted in [
        "sda3 held by dm-0",
        "dm-0 held by dm-1",
        "dm-1 mounted on /",
        "sda2 mounted on /boot",
        "dm-2 swap",
        "dm-3 mounted on /pool",
    ] {
        assert!(disk.iter().any(|one| one == wanted), "{wanted} is not in {disk:?}");
    }
    assert_eq!(uses("luks-lvm", "sda2"), ["sda2 mounted on /boot"], "the other partitions are apart");
    assert!(uses("md-raid1", "sdb").iter().any(|one| one == "md0 mounted on /"));
    assert!(uses("md-raid1", "sdc").is_empty(), "a disk that nobody uses is free");
    assert!(uses("md-raid1", "nonsense").is_empty());
}

/// Layouts of kernel drivers/nvme/host/multipath.c, drivers/block/{zram,nbd}, fs/fuse and fs/nfs, as small as possible.
const ODDITIES: &str = r"[/]
proc/self/mountinfo = 22 1 259:0 / / rw - xfs /dev/nvme0n1 rw\n30 22 0:50 / /mnt/nfs rw - nfs4 nas:/export/data rw,vers=4.2,addr=192.0.2.7\n31 22 0:51 / /mnt/ssh ro - fuse.sshfs me@host:/x rw\n32 22 8:1 / /mnt/ntfs rw - fuseblk /dev/sda1 rw\n33 22 252:0 / /mnt/zram rw - ext4 /dev/zram0 rw\n34 22 43:0 / /mnt/nbd rw - ext4 /dev/nbd0 rw\n35 22 0:52 / /mnt/zfs rw - zfs tank/data rw\n36 22 253:0 / /mnt/mp rw - ext4 /dev/mapper/mpatha rw\n37 22 0:53 / /mnt/two rw - btrfs /dev/sdb rw\n38 22 0:54 / /mnt/cifs rw - cifs //nas/share rw
sys/class/net/eth0/operstate = up
sys/class/net/eth0/device/vendor = 0x8086
sys/class/net/eth0/speed = 2500
sys/class/net/lo/operstate = unknown
sys/fs/btrfs/aaaa/devices/sdb -> x
sys/fs/btrfs/aaaa/devices/sdc -> x
[sys/devices/virtual/nvme-subsystem/nvme-subsys0]
model = WD_BLACK SN770 1TB
serial = 22000000
firmware_rev = 731030WD
nvme0 -> ../../../pci0000:00/0000:01:00.0/nvme/nvme0
[sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1]
dev = 259:0
size = 1953525168
device -> ../../nvme-subsys0
[sys/devices/pci0000:00/0000:01:00.0]
current_link_speed = 16.0 GT/s PCIe
current_link_width = 4
max_link_speed = 16.0 GT/s PCIe
max_link_width = 4
[sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0]
transport = pcie
cntlid = 0
device -> ../../../0000:01:00.0
[sys/devices/virtual/block/zram0]
dev = 252:0
size = 2048
comp_algorithm = lzo [zstd] lz4
[sys/devices/virtual/block/nbd0]
dev = 43:0
size = 2048
[sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0]
vendor = ATA
model = ST4000VN008-2DR1
[sys/devices/pci0000:00/ata1/host0/target0:0:0/0:0:0:0/block/sda]
dev = 8:0
size = 4096
device -> ../../../0:0:0:0
queue/rotational = 1
sda1/dev = 8:1
sda1/size = 2048
sda1/partition = 1
[sys/devices/pci0000:00/host1/target1:0:0/1:0:0:0]
vendor = HP
model = P2000
[sys/devices/pci0000:00/host1/target1:0:0/1:0:0:0/block/sdb]
dev = 8:16
size = 4096
device -> ../../../1:0:0:0
[sys/devices/pci0000:00/host2/target2:0:0/2:0:0:0]
vendor = HP
model = P2000
[sys/devices/pci0000:00/host2/target2:0:0/2:0:0:0/block/sdc]
dev = 8:32
size = 4096
device -> ../../../2:0:0:0
[sys/devices/virtual/block/dm-0]
dev = 253:0
size = 4096
dm/uuid = mpath-3600c0ff000
dm/name = mpatha
slaves/sdb -> ../../../../pci0000:00/host1/target1:0:0/1:0:0:0/block/sdb
slaves/sdc -> ../../../../pci0000:00/host2/target2:0:0/2:0:0:0/block/sdc
";

#[test]
fn the_odd_ones_are_told_apart() {
    let board = Board::from_text(ODDITIES);

    let nvme = board.directory("/srv", (259, 0));
    assert_eq!((nvme.medium.kind, nvme.medium.model.as_deref()), (MediumKind::Nvme, Some("WD_BLACK SN770 1TB")));
    assert_eq!((nvme.medium.vendor.as_deref(), mode(&nvme)), (Some("WDC"), "PCIe 4.0 x4"));
    assert!(!source(&nvme).contains("could do"), "{}", source(&nvme));

    let nfs = board.directory("/mnt/nfs/a", (0, 50));
    assert_eq!((nfs.medium.kind, nfs.medium.model.as_deref()), (MediumKind::Nfs, Some("nas:/export/data")));
    assert_eq!(mode(&nfs), "network 2.5 Gbit/s");
    near(ceiling(&nfs), 312.5);
    assert!(source(&nfs).contains("guessed"), "{}", source(&nfs));
    assert!(nfs.devices.is_empty() && !nfs.is_memory);

    let ssh = board.directory("/mnt/ssh", (0, 51));
    assert_eq!((ssh.medium.kind, ssh.read_only), (MediumKind::Fuse, true));
    assert!(ssh.medium.bus.is_none());

    let ntfs = board.directory("/mnt/ntfs", (8, 1));
    assert_eq!((ntfs.medium.kind, ntfs.medium.vendor.as_deref()), (MediumKind::SataHdd, Some("Seagate")));
    assert_eq!(ntfs.devices, ["sda"]);

    let zram = board.directory("/mnt/zram", (252, 0));
    assert_eq!((zram.medium.kind, zram.medium.model.as_deref()), (MediumKind::Zram, Some("zstd")));
    assert!(zram.is_memory);

    let nbd = board.directory("/mnt/nbd", (43, 0));
    assert_eq!((nbd.medium.kind, mode(&nbd)), (MediumKind::Nbd, "network 2.5 Gbit/s"));

    let zfs = board.directory("/mnt/zfs", (0, 52));
    assert_eq!((zfs.medium.kind, zfs.medium.model.as_deref()), (MediumKind::Unknown, Some("tank/data")));
    assert!(zfs.devices.is_empty());

    let cifs = board.directory("/mnt/cifs", (0, 54));
    assert_eq!(cifs.medium.bus.as_ref().unwrap().driver.as_deref(), Some("cifs"));
}

#[test]
fn several_ways_to_one_disk_are_one_disk_and_a_btrfs_of_two_are_two() {
    let board = Board::from_text(ODDITIES);
    let multipath = board.directory("/mnt/mp", (253, 0));
    assert_eq!(multipath.medium.model.as_deref(), Some("P2000"));
    assert_eq!(multipath.devices, ["dm-0"]);
    assert_eq!(multipath.leaves, ["sdb", "sdc"]);
    let btrfs = board.directory("/mnt/two", (0, 53));
    assert_eq!(btrfs.medium.model.as_deref(), Some("2 x P2000"));
    assert_eq!(btrfs.devices, ["sdb", "sdc"]);
    assert_eq!(btrfs.medium.capacity_bytes, Some(2 * 4096 * 512));
    let uses = guard::mounted_on(&board.sysroot(), "sdc");
    assert!(uses.iter().any(|one| one.place == "member of a btrfs in use"), "{uses:?}");
}

/// Two paths to each of two LUNs without dm-multipath, as kernel drivers/scsi/scsi_sysfs.c and drivers/nvme/host/sysfs.c
/// show them: `wwid`, or on an old kernel `vpd_pg83` alone. The pages begin with the port of the path, which differs.
const PATHS: &str = r"[/]
proc/self/mountinfo = 22 1 8:1 / / rw - xfs /dev/sda1 rw\n23 22 8:49 / /data rw - xfs /dev/sdd1 rw\n24 22 259:4 / /fast rw - xfs /dev/nvme2n1 rw
[sys/devices/host1/block/sda]
dev = 8:0
size = 8192
device/wwid = naa.600140500000000000000000000000a1
sda1/dev = 8:1
sda1/size = 2048
sda1/start = 2048
sda1/partition = 1
sda2/dev = 8:2
sda2/size = 2048
sda2/start = 4096
sda2/partition = 2
sda3/dev = 8:3
sda3/size = 1024
sda3/start = 2560
sda3/partition = 3
[sys/devices/host2/block/sdb]
dev = 8:16
size = 8192
device/wwid = naa.600140500000000000000000000000a1
sdb1/dev = 8:17
sdb1/size = 2048
sdb1/start = 2048
sdb1/partition = 1
sdb2/dev = 8:18
sdb2/size = 2048
sdb2/start = 4096
sdb2/partition = 2
[sys/devices/host3/block/sdc]
dev = 8:32
size = 8192
device/vpd_pg83 = \x00\x83\x00\x14\x01\x94\x00\x04\x00\x00\x00\x01\x01\x03\x00\x08\x50\x01\x40\x50\x00\x00\x00\xb1
sdc1/dev = 8:33
sdc1/size = 2048
sdc1/partition = 1
[sys/devices/host4/block/sdd]
dev = 8:48
size = 8192
device/vpd_pg83 = \x00\x83\x00\x14\x01\x94\x00\x04\x00\x00\x00\x02\x01\x03\x00\x08\x50\x01\x40\x50\x00\x00\x00\xb1
sdd1/dev = 8:49
sdd1/size = 2048
sdd1/partition = 1
[sys/devices/host5/block/sde]
dev = 8:64
size = 8192
device/wwid = naa.0000000000000000
[sys/devices/host6/block/sdf]
dev = 8:80
size = 8192
device/wwid = naa.0000000000000000
[sys/devices/pci0/nvme0/nvme0n1]
dev = 259:0
size = 8192
nsid = 1
wwid = eui.01000000010000005cd2e42a81a45151
device/serial = A
[sys/devices/pci1/nvme1/nvme1n1]
dev = 259:2
size = 8192
nsid = 1
wwid = eui.01000000010000005cd2e42a81a45151
device/serial = B
[sys/devices/pci2/nvme2/nvme2n1]
dev = 259:4
size = 8192
nsid = 1
nguid = 01000000-0100-0000-5cd2-e42a81a45199
device/serial = C
[sys/devices/pci3/nvme3/nvme3n1]
dev = 259:6
size = 8192
nsid = 1
nguid = 01000000-0100-0000-5cd2-e42a81a45199
device/serial = C
";

fn uses_of(root: &Sysroot, device: &str) -> Vec<String> {
    let word =
        |one: &guard::MountPoint| format!("{}{} {}", one.device, if one.alias { " as well" } else { "" }, one.place);
    guard::mounted_on(root, device).iter().map(word).collect()
}

#[test]
fn another_path_to_a_disk_in_use_is_in_use() {
    let board = Board::from_text(PATHS);
    let uses = |device| uses_of(&board.sysroot(), device);
    for device in ["sdb", "sdb1"] {
        assert_eq!(uses(device), ["sda1 as well mounted on /"], "{device}");
    }
    assert!(uses("sda2").is_empty() && uses("sdb2").is_empty(), "another part of the disk");
    assert_eq!(uses("sda3"), ["sda1 mounted on /"], "partitions that overlap are not apart");
    for device in ["sdc", "sdc1"] {
        assert_eq!(uses(device), ["sdd1 as well mounted on /data"], "{device}, by its page 83h");
    }
    assert_eq!(uses("nvme3n1"), ["nvme2n1 as well mounted on /fast"]);
    for device in ["sde", "sdf", "nvme0n1", "nvme1n1"] {
        assert!(uses(device).is_empty(), "{device}: an identifier that names nothing, or another drive of the model");
    }
    let beside = |device| guard::mounted_beside(&board.sysroot(), device);
    assert_eq!(beside("sdb2").iter().map(|one| one.device.as_str()).collect::<Vec<_>>(), ["sda1"]);
    assert!(beside("nvme0n1").is_empty());
}

#[test]
fn what_lies_beside_a_volume_on_its_disks_is_found() {
    let board = Board::new("luks-lvm");
    let beside = |device: &str| -> Vec<String> {
        let uses = guard::mounted_beside(&board.sysroot(), device);
        uses.into_iter().map(|one| format!("{} {}", one.device, one.place)).collect()
    };
    let volume = beside("dm-3");
    for wanted in ["dm-1 mounted on /", "sda2 mounted on /boot", "dm-2 swap"] {
        assert!(volume.iter().any(|one| one == wanted), "{wanted} is not in {volume:?}");
    }
    assert!(!volume.iter().any(|one| one.ends_with("held by dm-3") || one.contains("held by dm-0")), "{volume:?}");
    assert!(beside("sda2").iter().any(|one| one == "dm-1 mounted on /"));
    assert!(guard::mounted_beside(&Board::new("usb2-stick").sysroot(), "sdb").len() == 1);
}

#[test]
fn disks_below_a_directory_are_compared_by_what_they_are() {
    let below = |board: &Board, path: &str, dev| {
        StorageBelow::of_directory_by_dev(&board.sysroot(), std::path::Path::new(path), dev)
    };
    let board = Board::from_text(PATHS);
    let (root, other_path) = (below(&board, "/x", (8, 1)), below(&board, "/y", (8, 18)));
    assert_eq!(root.shared(&other_path), Some("sda"), "two paths to one disk");
    assert_eq!(root.shared(&below(&board, "/data", (8, 49))), None);
    let board = Board::new("luks-lvm");
    let (root, boot) = (below(&board, "/", (253, 1)), below(&board, "/boot", (8, 2)));
    assert_eq!((root.shared(&boot), root.unknown.clone()), (Some("sda"), None), "LVM inside of LUKS");
    assert_eq!(below(&board, "/pool/x", (0, 44)).shared(&boot), Some("sda"), "btrfs has a number that no device has");
    let board = Board::from_text(ODDITIES);
    assert_eq!(below(&board, "/mnt/two", (0, 53)).storage.len(), 2);
    assert!(below(&board, "/mnt/zfs", (0, 52)).unknown.is_some());
    let elsewhere = below(&board, "/mnt/nfs", (0, 50));
    assert!(elsewhere.storage.is_empty() && elsewhere.unknown.is_none(), "no disk of this machine");
    assert_eq!(below(&board, "/mnt/ntfs", (8, 1)).storage[0].1, "sda");
}

/// A card with two mounted parts is one medium, named by the larger one; memory is none.
#[test]
fn the_media_of_a_board_are_its_disks_and_not_its_mounts() {
    let listed = |board: &Board| -> Vec<(String, MediumKind)> {
        let all = survey(&board.sysroot());
        all.into_iter().map(|found| (found.path.display().to_string(), found.target.medium.kind)).collect()
    };
    assert_eq!(listed(&Board::new("pi4-microsd")), [("/".to_owned(), MediumKind::Sd)]);
    let stick = listed(&Board::new("usb2-stick"));
    assert!(stick.contains(&("/media/pi/MY STICK".to_owned(), MediumKind::UsbStick)), "{stick:?}");
    let volume = listed(&Board::new("iscsi"));
    assert!(volume.iter().any(|(_, kind)| *kind == MediumKind::Iscsi), "{volume:?}");
}
