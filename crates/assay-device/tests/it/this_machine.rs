//! The machine that runs the tests; what is not possible is skipped with the reason.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::Command;

use crate::common::{Loop, MIB, alone};
use assay_core::health::{CounterKind, HealthSource, NoAnswer, Unread};
use assay_core::medium::MediumKind;
use assay_device::health::HealthReader;
use assay_device::owned::Caching;

use assay_device::{DeviceError, ProofMeter, Sensors, Sysroot, What, guard, host, look, swaps_on};

#[test]
fn the_root_file_system_is_found_with_its_device() {
    let target = look(&Sysroot::real(), Path::new("/")).unwrap();
    assert_eq!(target.medium.path, "/");
    assert_eq!(target.what, What::Directory);
    assert!(target.medium.filesystem.is_some());
    assert!(!target.raw);
    let Some(device) = target.devices.first() else {
        eprintln!("SKIP: the root file system here has no visible block device ({:?})", target.medium.filesystem);
        return;
    };
    assert!(target.medium.capacity_bytes.unwrap() > 0);
    assert!(target.logical_block_bytes.unwrap() >= 512);
    assert!(Path::new("/sys/class/block").join(device).exists());
    if device.starts_with("vd") {
        assert_eq!(target.medium.kind, MediumKind::Virtio);
        assert_eq!(target.medium.bus.as_ref().unwrap().kind, "virtio");
        assert_eq!(target.medium.bus.as_ref().unwrap().ceiling_bytes_per_second, None);
    }
    let meter = ProofMeter::open(&Sysroot::real(), &target.devices).unwrap();
    assert!(meter.read().unwrap().read_bytes > 0, "something was read since the start");
    if fs::read_to_string("/proc/swaps").unwrap_or_default().lines().count() < 2 {
        assert!(!swaps_on(&Sysroot::real(), &target.devices), "no swap at all");
    }
}

/// What the disk of this machine counts, or the reason why nothing is known.
#[test]
fn the_health_of_the_root_file_system_is_read_or_says_why_not() {
    let target = look(&Sysroot::real(), Path::new("/")).unwrap();
    let readings = HealthReader::new(&Sysroot::real(), &target).read();
    if target.leaves.is_empty() {
        assert!(readings.unread.is_empty(), "{readings:?}");
        eprintln!("SKIP: the root file system here has no visible block device ({:?})", target.medium.filesystem);
        return;
    }
    assert!(!readings.is_empty(), "neither a counter nor a reason");
    if target.medium.kind == MediumKind::Virtio {
        assert_eq!(readings.unread, [Unread::because(HealthSource::Medium, NoAnswer::Virtual)]);
    }
    if target.medium.filesystem.as_deref() == Some("ext4") {
        let of_file_system = readings.count(CounterKind::FileSystemWrittenBytes);
        assert!(of_file_system.is_some_and(|bytes| bytes > 0), "{readings:?}");
    }
}

#[test]
fn shared_memory_is_memory() {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        eprintln!("SKIP: there is no /dev/shm");
        return;
    }
    let target = look(&Sysroot::real(), shm).unwrap();
    assert_eq!(target.medium.kind, MediumKind::Tmpfs);
    assert!(target.is_memory && target.devices.is_empty());
    assert!(HealthReader::new(&Sysroot::real(), &target).read().is_empty());
    let meter = ProofMeter::open(&Sysroot::real(), &target.devices).unwrap();
    assert!(meter.is_empty());
    assert_eq!(meter.read().unwrap(), assay_device::Counters::default());
}

#[test]
fn the_host_knows_its_kernel_and_processors() {
    let host = host(&Sysroot::real());
    assert!(host.kernel.is_some() && host.arch.is_some());
    assert!(host.cores.unwrap() >= 1);
    assert!(host.memory_bytes.unwrap() > 16 << 20);
    for reading in Sensors::find(&Sysroot::real(), &[]).read() {
        assert!(reading.value.is_none_or(f64::is_finite), "{reading:?}");
    }
}

#[test]
fn what_is_no_target_is_refused_in_one_line() {
    let error = look(&Sysroot::real(), Path::new("/nonexistent/path")).unwrap_err();
    assert!(matches!(error, DeviceError::NoSuchPath { .. }), "{error}");
    assert!(error.to_string().starts_with("/nonexistent/path: "), "{error}");
    let error = look(&Sysroot::real(), Path::new("/dev/null")).unwrap_err();
    assert!(matches!(error, DeviceError::NotMeasurable { .. }), "{error}");
    let error = guard::check_raw(&Sysroot::real(), Path::new("/tmp"), None).unwrap_err();
    assert!(matches!(error, DeviceError::NotABlockDevice { .. }), "{error}");
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("x");
    assert!(matches!(look(&Sysroot::real(), &below).unwrap_err(), DeviceError::NoSuchPath { .. }));
    let error = look(&Sysroot::real(), Path::new("/no\u{1b}[2J")).unwrap_err().to_string();
    assert!(!error.contains('\u{1b}') && !error.contains('\n'), "{error:?}");
}

#[test]
fn a_link_is_followed_to_where_its_data_are() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink("/proc/self", &link).unwrap();
    let target = look(&Sysroot::real(), &link).unwrap();
    assert_eq!(target.medium.filesystem.as_deref(), Some("proc"));
    assert_eq!(target.medium.path, link.to_str().unwrap());
}

#[test]
fn the_device_under_the_running_system_is_never_permitted() {
    let target = look(&Sysroot::real(), Path::new("/")).unwrap();
    let Some(device) = target.medium.device.filter(|device| Path::new(device).exists()) else {
        eprintln!("SKIP: the root file system has no device node here");
        return;
    };
    // By its own name and by that of the whole disk, forced or not.
    let disk = format!("/dev/{}", target.leaves[0]);
    for name in [&device, &disk] {
        for forced in [None, Some(name.as_str())] {
            match guard::check_raw(&Sysroot::real(), Path::new(name), forced) {
                Err(DeviceError::Mounted { .. }) => {}
                other => panic!("{name} {forced:?}: {other:?}"),
            }
        }
    }
}

/// A page-aligned window into a buffer, as direct I/O needs it.
fn aligned(buffer: &mut [u8], length: usize) -> &mut [u8] {
    let start = buffer.as_ptr().align_offset(4096);
    &mut buffer[start..start + length]
}

#[test]
fn a_loop_device_is_described_and_its_counters_see_direct_writes() {
    let _alone = alone();
    let Some(device) = Loop::new(16 * MIB, false) else { return };
    let sysroot = Sysroot::real();
    let target = look(&sysroot, &device.device).unwrap();
    assert!(target.raw);
    assert_eq!(target.medium.kind, MediumKind::Loop);
    assert_eq!(target.medium.model.as_deref(), device.file.to_str());
    assert_eq!(target.medium.capacity_bytes, Some(16 * MIB as u64));
    assert_eq!(target.devices, [device.name()]);
    assert_eq!(crate::common::stack(&target), format!("{}:loop", device.name()));

    let readings = HealthReader::new(&sysroot, &target).read();
    assert_eq!(readings.unread, [Unread::because(HealthSource::Medium, NoAnswer::Virtual)]);

    let permit = guard::check_raw(&sysroot, &device.device, None).unwrap();
    assert_eq!(permit.name(), device.name());
    let file = permit.held().reopen(Caching::Direct).unwrap();
    let meter = ProofMeter::open(&sysroot, &target.devices).unwrap();
    let before = meter.read().unwrap();
    let mut buffer = vec![0xa5u8; MIB + 4096];
    file.write_all_at(aligned(&mut buffer, MIB), MIB as u64).unwrap();
    let written = meter.read().unwrap() - before;
    assert_eq!((written.written_bytes, written.read_bytes), (MIB as u64, 0));
    assert!(written.write_ops > 0);
    file.read_exact_at(aligned(&mut buffer, MIB), 0).unwrap();
    assert_eq!((meter.read().unwrap() - before).read_bytes, MIB as u64);
}

#[test]
fn a_device_with_data_needs_its_name_and_one_that_is_held_is_refused() {
    let _alone = alone();
    let Some(device) = Loop::new(16 * MIB, false) else { return };
    let sysroot = Sysroot::real();
    let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&device.device).output();
    if !made.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIP: mkfs.ext4 cannot be run");
        return;
    }
    match guard::check_raw(&sysroot, &device.device, None) {
        Err(DeviceError::HoldsData { what, .. }) => assert_eq!(what, "ext2/ext3/ext4 file system"),
        other => panic!("{other:?}"),
    }
    assert!(guard::check_raw(&sysroot, &device.device, Some("/dev/sda")).is_err());
    let permit = guard::check_raw(&sysroot, &device.device, Some(device.path())).unwrap();

    // Two users at once: the kernel refuses the second, and any mount meanwhile.
    let second = guard::check_raw(&sysroot, &device.device, Some(device.path()));
    assert!(matches!(second, Err(DeviceError::Mounted { .. })), "{second:?}");
    let dir = tempfile::tempdir().unwrap();
    let raced = Command::new("mount").arg(&device.device).arg(dir.path()).output();
    assert!(!raced.is_ok_and(|output| output.status.success()), "mounted under a permit");
    let other = permit.clone();
    drop(permit);
    let third = guard::check_raw(&sysroot, &device.device, Some(device.path()));
    assert!(matches!(third, Err(DeviceError::Mounted { .. })), "held as long as there is a copy: {third:?}");
    drop(other);

    let mounted = Command::new("mount").arg(&device.device).arg(dir.path()).output();
    if !mounted.as_ref().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIP: mount is not possible here");
        return;
    }
    let inside = look(&sysroot, dir.path());
    let refused = guard::check_raw(&sysroot, &device.device, Some(device.path()));
    let unmounted = Command::new("umount").arg(dir.path()).status().unwrap();
    assert!(unmounted.success());
    match refused {
        Err(DeviceError::Mounted { place, .. }) => {
            assert_eq!(place, format!("mounted on {}", dir.path().display()));
        }
        other => panic!("{other:?}"),
    }
    let inside = inside.unwrap();
    assert_eq!(inside.medium.filesystem.as_deref(), Some("ext4"));
    assert_eq!(inside.medium.device.as_deref(), Some(device.path()));
    assert_eq!(inside.medium.mount_point.as_deref(), dir.path().to_str());
    assert_eq!(inside.devices, [device.name()]);
}

#[test]
fn a_read_only_device_is_refused() {
    let _alone = alone();
    let Some(device) = Loop::new(MIB, true) else { return };
    let target = look(&Sysroot::real(), &device.device).unwrap();
    assert!(target.read_only);
    let error = guard::check_raw(&Sysroot::real(), &device.device, Some(device.path())).unwrap_err();
    assert!(matches!(error, DeviceError::ReadOnly { .. }), "{error}");
}

#[test]
fn what_the_tools_of_this_machine_make_is_recognised() {
    let _alone = alone();
    let makers: [(&str, &[&str], usize, &str); 5] = [
        ("mkfs.ext4", &["-q", "-F"], 16, "ext2/ext3/ext4 file system"),
        ("mkfs.vfat", &[], 16, "FAT file system"),
        ("mkfs.xfs", &["-q", "-f"], 400, "XFS file system"),
        ("mkfs.btrfs", &["-q", "-f"], 200, "btrfs file system"),
        ("mkswap", &[], 16, "swap space"),
    ];
    for (tool, options, mib, wanted) in makers {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len((mib * MIB) as u64).unwrap();
        match Command::new(tool).args(options).arg(file.path()).output() {
            Ok(output) if output.status.success() => {
                let found = guard::signature(&mut File::open(file.path()).unwrap());
                assert_eq!(found, Some(wanted), "{tool}");
            }
            Ok(output) => eprintln!("SKIP: {tool}: {}", String::from_utf8_lossy(&output.stderr).trim()),
            Err(error) => eprintln!("SKIP: {tool} cannot be run ({error})"),
        }
    }
}

#[test]
fn a_path_behind_a_closed_directory_is_named_as_not_permitted() {
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        eprintln!("SKIP: root may look everywhere");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let closed = dir.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let error = look(&Sysroot::real(), &closed.join("x")).unwrap_err();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    assert!(matches!(error, DeviceError::NotPermitted { .. }), "{error}");
}

#[test]
fn counters_do_not_see_what_the_page_cache_serves() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let meter = ProofMeter::open(&Sysroot::real(), &[device.name()]).unwrap();
    let file = File::open(&device.device).unwrap();
    // Read-ahead of the kernel crosses the device too, and may arrive after the requested data.
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    let mut buffer = vec![0u8; MIB];
    file.read_exact_at(&mut buffer, 0).unwrap();
    let warm = meter.read().unwrap();
    file.read_exact_at(&mut buffer, 0).unwrap();
    assert_eq!((meter.read().unwrap() - warm).read_bytes, 0);
}
