//! The same storage under another name, on a real kernel: storage in use under one name is refused under all names.
//! Needs root and loop devices; what is not possible is skipped with the reason.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Loop, MIB, alone};
use assay_device::guard::{RawPermit, check_probe, check_raw};
use assay_device::{DeviceError, Storage, StorageBelow, Sysroot};
use rustix::fs::OFlags;

fn named(path: &Path) -> Result<RawPermit, DeviceError> {
    check_raw(&Sysroot::real(), path, Some(&path.to_string_lossy()))
}

fn probe(path: &Path) -> Result<RawPermit, DeviceError> {
    check_probe(&Sysroot::real(), path)
}

#[track_caller]
fn refused(answer: Result<RawPermit, DeviceError>, words: &[&str]) {
    let error = answer.expect_err("a device in use is permitted");
    assert!(matches!(error, DeviceError::Mounted { .. } | DeviceError::DiskInUse { .. }), "{error:?}");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{word}: {text}");
    }
}

fn done(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

fn skip(test: &str, why: &str) {
    eprintln!("SKIP: {test}: {why}");
}

/// Opens a device exclusively, as mount(8) does.
fn claim(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::EXCL.bits() as i32).open(path)
}

/// A mounted file system, unmounted when dropped.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(test: &str, device: &Path) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        if done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(device))
            && done(Command::new("mount").arg(device).arg(dir.path()))
        {
            return Some(Self(dir));
        }
        skip(test, "mkfs.ext4 or mount is not possible here");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        done(Command::new("umount").arg(self.0.path()));
    }
}

/// A node of a device under another name.
fn node(test: &str, device: &Path, path: &Path) -> Option<PathBuf> {
    let name = device.file_name().unwrap().to_str().unwrap();
    let number = fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let _ = fs::remove_file(path);
    if done(Command::new("mknod").arg(path).args(["b", major, minor])) && File::open(path).is_ok() {
        return Some(path.to_owned());
    }
    skip(test, "no device node can be made or opened");
    None
}

/// Partitions that are announced to the kernel, as partprobe(8) does, and removed when dropped.
struct Parts<'a>(&'a Loop);

impl<'a> Parts<'a> {
    /// Two of 12 MiB each.
    fn new(test: &str, device: &'a Loop) -> Option<Self> {
        let parts = Self(device);
        for (number, start) in [("1", "2048"), ("2", "26624")] {
            if !done(Command::new("addpart").arg(&device.device).args([number, start, "24576"])) {
                skip(test, "addpart is not possible here");
                return None;
            }
        }
        Some(parts)
    }

    fn path(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.0.path()))
    }
}

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        for number in ["1", "2"] {
            done(Command::new("delpart").arg(&self.0.device).arg(number));
        }
    }
}

/// A process that is not a child of this one, ended when dropped.
struct Stranger(i32);

impl Stranger {
    /// A process with `file` open.
    fn with(file: &Path) -> Self {
        let script = "sleep 600 3<>\"$0\" >/dev/null 2>&1 </dev/null & echo $!";
        let output = Command::new("sh").args(["-c", script]).arg(file).output().unwrap();
        let stranger = Self(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap());
        while fs::read_link(format!("/proc/{}/fd/3", stranger.0)).is_err() {
            std::thread::yield_now();
        }
        stranger
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        if let Some(pid) = rustix::process::Pid::from_raw(self.0) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

/// A mount that only a process in a separate mount name space has.
struct Elsewhere(Child, tempfile::TempDir);

impl Elsewhere {
    fn mounted(test: &str, device: &Path) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        if !done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(device)) {
            skip(test, "mkfs.ext4 is not possible here");
            return None;
        }
        let script = "mount \"$0\" \"$1\" && : > \"$1/here\" && read -r end";
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--propagation", "private", "sh", "-c", script]);
        let child = unshare.arg(device).arg(dir.path()).stdin(Stdio::piped()).spawn().ok()?;
        let mut elsewhere = Self(child, dir);
        let root = format!("/proc/{}/root{}/here", elsewhere.0.id(), elsewhere.1.path().display());
        while !Path::new(&root).exists() {
            if elsewhere.0.try_wait().unwrap().is_some() {
                skip(test, "no mount name space can be made");
                return None;
            }
            std::thread::yield_now();
        }
        Some(elsewhere)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_that_is_mounted_by_a_second_loop_device_is_in_use() {
    const TEST: &str = "a_file_that_is_mounted_by_a_second_loop_device_is_in_use";
    let _alone = alone();
    let Some(first) = Loop::new(16 * MIB, false) else { return };
    // By another name of the file, which is still the same file.
    let link = first.file.with_file_name("hard link");
    fs::hard_link(&first.file, &link).unwrap();
    let Some(second) = Loop::over(&link) else { return };
    let Some(mounted) = Mounted::new(TEST, &second.device) else { return };
    let place = format!("{}, the same storage, mounted on {}", second.name(), mounted.0.path().display());
    refused(named(&first.device), &[&place]);
    refused(probe(&first.device), &[&place]);
    drop(mounted);
    let permit = named(&first.device).unwrap();
    assert!(claim(&second.device).is_err(), "the other name can be mounted while the device is written");
    drop(permit);
    claim(&second.device).unwrap();
}

#[test]
fn a_second_loop_device_that_is_mounted_where_it_is_not_seen_is_in_use() {
    const TEST: &str = "a_second_loop_device_that_is_mounted_where_it_is_not_seen_is_in_use";
    let _alone = alone();
    let Some(first) = Loop::new(16 * MIB, false) else { return };
    let Some(second) = Loop::over(&first.file) else { return };
    let Some(elsewhere) = Elsewhere::mounted(TEST, &second.device) else { return };
    refused(named(&first.device), &[&second.name(), "the same storage", "the kernel says"]);
    drop(elsewhere);
    named(&first.device).unwrap();
}

#[test]
fn a_loop_device_over_a_node_that_was_removed_or_replaced_is_a_use() {
    const TEST: &str = "a_loop_device_over_a_node_that_was_removed_or_replaced_is_a_use";
    let _alone = alone();
    let (Some(device), Some(other)) = (Loop::new(4 * MIB, false), Loop::new(4 * MIB, false)) else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = node(TEST, &device.device, &dir.path().join("node")) else { return };
    let Some(above) = Loop::over(&path) else { return };
    fs::remove_file(&path).unwrap();
    let backing = fs::read_to_string(format!("/sys/block/{}/loop/backing_file", above.name())).unwrap();
    assert!(backing.trim_end().ends_with(" (deleted)"), "{backing}");
    refused(named(&device.device), &[&format!("backs {}", above.name())]);
    // The name leads to another device now, and the loop device still to the first.
    node(TEST, &other.device, &dir.path().join("node (deleted)")).unwrap();
    refused(named(&device.device), &[&format!("backs {}", above.name())]);
    named(&other.device).unwrap();
}

#[test]
fn a_loop_device_over_a_device_in_use_is_in_use() {
    const TEST: &str = "a_loop_device_over_a_device_in_use_is_in_use";
    let _alone = alone();
    let Some(lower) = Loop::new(16 * MIB, false) else { return };
    let (Some(middle), Some(beside)) = (Loop::over(&lower.device), Loop::over(&lower.file)) else { return };
    let Some(upper) = Loop::over(&middle.device) else { return };
    for used in [&lower, &beside] {
        let Some(mounted) = Mounted::new(TEST, &used.device) else { return };
        refused(named(&upper.device), &[&format!("{}, the same storage, mounted on", used.name())]);
        drop(mounted);
    }
    let stranger = Stranger::with(&beside.device);
    refused(named(&upper.device), &[&format!("process {}", stranger.0)]);
    drop(stranger);
    named(&upper.device).unwrap();
}

#[test]
fn a_file_behind_a_loop_device_that_a_program_has_open_is_in_use() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let stranger = Stranger::with(&device.file);
    refused(named(&device.device), &[&format!("process {}", stranger.0)]);
    drop(stranger);
    named(&device.device).unwrap();
}

#[test]
fn a_file_that_is_swapped_to_by_a_second_loop_device_is_in_use() {
    const TEST: &str = "a_file_that_is_swapped_to_by_a_second_loop_device_is_in_use";
    let _alone = alone();
    let Some(first) = Loop::new(16 * MIB, false) else { return };
    let Some(second) = Loop::over(&first.file) else { return };
    if !done(Command::new("mkswap").arg(&second.device)) || !done(Command::new("swapon").arg(&second.device)) {
        return skip(TEST, "mkswap or swapon is not possible here");
    }
    let answer = named(&first.device);
    assert!(done(Command::new("swapoff").arg(&second.device)));
    refused(answer, &["the same storage, swap"]);
}

#[test]
fn a_partition_is_not_probed_while_another_one_of_its_disk_is_in_use() {
    const TEST: &str = "a_partition_is_not_probed_while_another_one_of_its_disk_is_in_use";
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB, false) else { return };
    let Some(parts) = Parts::new(TEST, &disk) else { return };
    let (first, second) = (parts.path(1), parts.path(2));
    drop(probe(&second).unwrap());
    let Some(mounted) = Mounted::new(TEST, &first) else { return };
    let place = format!("{}p1 mounted on {}", disk.name(), mounted.0.path().display());
    refused(probe(&second), &["its disk is in use", &place, "unmount", "the whole disk"]);
    // A run only writes to the device that it addresses.
    drop(named(&second).unwrap());
    refused(probe(&disk.device), &["mounted on"]);
    drop(mounted);
    let Some(elsewhere) = Elsewhere::mounted(TEST, &first) else { return };
    refused(probe(&second), &["its disk is in use", &format!("{}p1", disk.name()), "the kernel says"]);
    drop(elsewhere);
    let stranger = Stranger::with(&first);
    refused(probe(&second), &[&format!("process {}", stranger.0)]);
    drop(stranger);
    let permit = probe(&second).unwrap();
    assert!(claim(&first).is_err(), "the other partition can be mounted during the probe");
    drop(permit);
    claim(&first).unwrap();
}

#[test]
fn a_partition_of_a_second_loop_device_is_the_same_part() {
    const TEST: &str = "a_partition_of_a_second_loop_device_is_the_same_part";
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB, false) else { return };
    let Some(twin) = Loop::over(&disk.file) else { return };
    let (Some(parts), Some(others)) = (Parts::new(TEST, &disk), Parts::new(TEST, &twin)) else { return };
    let Some(mounted) = Mounted::new(TEST, &others.path(1)) else { return };
    let place = format!("{}p1, the same storage, mounted on", twin.name());
    refused(named(&parts.path(1)), &[&place]);
    refused(named(&disk.device), &[&place]);
    refused(probe(&parts.path(2)), &["its disk is in use", &place]);
    drop(named(&parts.path(2)).unwrap());
    drop(mounted);
    drop(probe(&parts.path(1)).unwrap());
}

#[test]
fn disks_below_a_directory_and_a_device_are_found_behind_partitions_and_loop_devices() {
    const TEST: &str = "disks_below_a_directory_and_a_device_are_found_behind_partitions_and_loop_devices";
    let _alone = alone();
    let Some(disk) = Loop::new(32 * MIB, false) else { return };
    let Some(parts) = Parts::new(TEST, &disk) else { return };
    let Some(mounted) = Mounted::new(TEST, &parts.path(1)) else { return };
    let device = |path: &Path| StorageBelow::of_device(&Sysroot::real(), path).unwrap();
    let directory = |path: &Path| StorageBelow::of_directory(&Sysroot::real(), path).unwrap();
    assert_eq!(directory(mounted.0.path()).shared(&device(&parts.path(2))), Some(disk.name().as_str()));
    // A file system in a file on the other partition.
    let image = mounted.0.path().join("image");
    File::create(&image).unwrap().set_len(8 * MIB as u64).unwrap();
    let Some(inner) = Loop::over(&image) else { return };
    let Some(within) = Mounted::new(TEST, &inner.device) else { return };
    let below = directory(within.0.path());
    assert_eq!(below.unknown, None);
    assert_eq!(below.shared(&device(&parts.path(2))), Some(disk.name().as_str()));
    assert_eq!(device(&inner.device).shared(&device(&parts.path(2))), None, "an image is a medium of its own");
    let Some(other) = Loop::new(16 * MIB, false) else { return };
    assert_eq!(below.shared(&device(&other.device)), None);
    // A bind mount and a link are the same directory.
    let bind = tempfile::tempdir().unwrap();
    if done(Command::new("mount").arg("--bind").arg(mounted.0.path()).arg(bind.path())) {
        assert_eq!(directory(bind.path()).shared(&device(&parts.path(2))), Some(disk.name().as_str()));
        assert!(done(Command::new("umount").arg(bind.path())));
    }
    drop(within);
}

#[test]
fn subvolumes_of_a_btrfs_are_one_file_system_and_an_overlay_is_that_of_its_upper_directory() {
    const TEST: &str = "subvolumes_of_a_btrfs_are_one_file_system_and_an_overlay_is_that_of_its_upper_directory";
    // User mode emulators pass on only the common requests of file systems.
    if std::env::var_os("ASSAY_EMULATOR").is_some() {
        return skip(TEST, "qemu's emulators of user mode do not know BTRFS_IOC_FS_INFO");
    }
    let _alone = alone();
    let Some(device) = Loop::new(128 * MIB, false) else { return };
    let dir = tempfile::tempdir().unwrap();
    if !done(Command::new("mkfs.btrfs").arg("-q").arg(&device.device))
        || !done(Command::new("mount").arg(&device.device).arg(dir.path()))
    {
        return skip(TEST, "mkfs.btrfs or mount is not possible here");
    }
    let mounted = Mounted(dir);
    let root = mounted.0.path();
    let (one, two) = (root.join("one"), root.join("two"));
    for subvolume in [&one, &two] {
        assert!(done(Command::new("btrfs").args(["subvolume", "create"]).arg(subvolume)));
    }
    let of = |path: &Path| Storage::of_file_system(&Sysroot::real(), path).unwrap();
    assert!(matches!(of(&one), Storage::Btrfs(_)));
    assert_eq!([of(&one), of(&two)], [of(root), of(root)]);
    assert_ne!(of(&one), of(Path::new("/proc")));
    let below = |path: &Path| StorageBelow::of_directory(&Sysroot::real(), path).unwrap();
    let itself = StorageBelow::of_device(&Sysroot::real(), &device.device).unwrap();
    assert_eq!(below(&two).shared(&itself), Some(device.name().as_str()));
    let over = tempfile::tempdir().unwrap();
    for name in ["upper", "work", "lower"] {
        fs::create_dir(one.join(name)).unwrap();
    }
    let options = format!("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", one.display());
    if done(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(over.path())) {
        let overlay = Mounted(over);
        assert_eq!(of(overlay.0.path()), of(root));
        assert_eq!(below(overlay.0.path()).shared(&itself), Some(device.name().as_str()));
    } else {
        skip(TEST, "an overlay cannot be mounted here");
    }
}

#[test]
fn a_file_seen_through_an_overlay_is_the_file_of_its_upper_directory() {
    const TEST: &str = "a_file_seen_through_an_overlay_is_the_file_of_its_upper_directory";
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    for name in ["upper", "work", "lower"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let options = format!("lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work", dir.path().display());
    let merged = tempfile::tempdir().unwrap();
    if !done(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(merged.path())) {
        return skip(TEST, "an overlay cannot be mounted here");
    }
    let overlay = Mounted(merged);
    let seen = overlay.0.path().join("image");
    File::create(&seen).unwrap().set_len(16 * MIB as u64).unwrap();
    let Some(through) = Loop::over(&seen) else { return };
    let Some(upper) = Loop::over(&dir.path().join("upper/image")) else { return };
    let Some(mounted) = Mounted::new(TEST, &upper.device) else { return };
    refused(named(&through.device), &[&format!("{}, the same storage, mounted on", upper.name())]);
    drop(mounted);
    for file in [&seen, &dir.path().join("upper/image")] {
        let stranger = Stranger::with(file);
        refused(named(&through.device), &[&format!("process {}", stranger.0)]);
    }
    drop(named(&through.device).unwrap());
    drop((upper, through));
    // The same for a file of a lower directory, which is not written through the overlay.
    let lower = dir.path().join("lower/below");
    File::create(&lower).unwrap().set_len(16 * MIB as u64).unwrap();
    let (Some(below), Some(seen)) = (Loop::over(&lower), Loop::read_only(&overlay.0.path().join("below"))) else {
        return;
    };
    assert!(done(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&below.device)));
    let swapped = claim(&seen.device).unwrap();
    refused(named(&below.device), &[&format!("{}, the same storage", seen.name())]);
    drop(swapped);
    drop(named(&below.device).unwrap());
}

#[test]
fn a_file_that_is_swapped_to_is_in_use_behind_a_loop_device() {
    const TEST: &str = "a_file_that_is_swapped_to_is_in_use_behind_a_loop_device";
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("swap file");
    fs::write(&file, vec![0; 8 * MIB]).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    if !done(Command::new("mkswap").arg(&file)) || !done(Command::new("swapon").arg(&file)) {
        return skip(TEST, "mkswap or swapon is not possible here");
    }
    let device = Loop::over(&file);
    let answer = device.as_ref().map(|device| named(&device.device));
    assert!(done(Command::new("swapoff").arg(&file)));
    if let Some(answer) = answer {
        refused(answer, &["its file is swapped to"]);
    }
}

/// A file that a program serves by FUSE; the program is killed, and the rest removed, when dropped.
struct Served {
    server: Child,
    file: PathBuf,
    _dir: tempfile::TempDir,
}

impl Served {
    fn new(test: &str, mebibytes: usize) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disk");
        let mut command = Command::new("nbdfuse");
        command.arg(&file).args(["[", "nbdkit", "--exit-with-parent", "memory", &format!("{mebibytes}M"), "]"]);
        let quiet = Stdio::null;
        let Ok(server) = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn() else {
            skip(test, "needs nbdfuse");
            return None;
        };
        let mut served = Self { server, file, _dir: dir };
        let bytes = (mebibytes * MIB) as u64;
        while fs::metadata(&served.file).map_or(0, |meta| meta.len()) != bytes {
            if served.server.try_wait().unwrap().is_some() {
                skip(test, "nbdfuse or nbdkit does not serve here");
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Some(served)
    }

    fn die(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Takes its file system out of sight, as many do when it no longer answers.
    fn unmount(&self) {
        assert!(done(Command::new("umount").arg("-l").arg(self.file.parent().unwrap())));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        done(Command::new("umount").arg("-l").arg(self.file.parent().unwrap()));
    }
}

/// The server of a FUSE died, and every raw device of the machine was refused.
#[test]
fn a_loop_device_whose_file_system_is_cut_off_refuses_what_it_may_be_and_nothing_else() {
    const TEST: &str = "a_loop_device_whose_file_system_is_cut_off_refuses_what_it_may_be_and_nothing_else";
    let _alone = alone();
    let (Some(other), Some(same)) = (Loop::new(4 * MIB, false), Loop::new(7 * MIB, false)) else { return };
    let Some(mut served) = Served::new(TEST, 7) else { return };
    let Some(cut_off) = Loop::over(&served.file) else { return };
    for device in [&other, &same, &cut_off] {
        named(&device.device).unwrap();
    }
    served.die();
    // The kernel knows what the file was for a second after that.
    let unknown = || matches!(named(&cut_off.device), Err(DeviceError::UnknownLoop { .. }));
    assert!((0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        unknown()
    }));
    named(&other.device).unwrap();
    probe(&other.device).unwrap();
    let mend = format!("losetup -d /dev/{}", cut_off.name());
    // What it showed may have been a node of a device of this size.
    let refused = |device: &Loop, is_its_own: bool| {
        let error = named(&device.device).expect_err("it may be in use");
        assert!(matches!(error, DeviceError::UnknownLoop { is_own, .. } if is_own == is_its_own), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&mend) && text.contains("not connected"), "{text}");
        assert_eq!(text.contains("may be on it"), !is_its_own, "{text}");
    };
    refused(&same, false);
    refused(&cut_off, true);
    served.unmount();
    named(&other.device).unwrap();
    refused(&same, false);
    refused(&cut_off, true);
    drop(cut_off);
    named(&same.device).unwrap();
}
