//! The permit on a real kernel: refusals, and that the device that was checked is the one that is written. Needs root
//! and loop devices; what is not possible is skipped with the reason.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Loop, MIB, alone};
use assay_device::guard::{RawPermit, check_raw};
use assay_device::owned::Caching;
use assay_device::{DeviceError, Sysroot};
use rustix::fs::{FlockOperation, flock};

fn check(path: &Path) -> Result<RawPermit, DeviceError> {
    check_raw(&Sysroot::real(), path, None)
}

fn named(path: &Path) -> Result<RawPermit, DeviceError> {
    check_raw(&Sysroot::real(), path, Some(&path.to_string_lossy()))
}

/// A node of a loop's device under another name; `None` if none can be created.
fn node(device: &Loop, path: &Path) -> Option<PathBuf> {
    let number = fs::read_to_string(format!("/sys/class/block/{}/dev", device.name())).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let made = Command::new("mknod").arg(path).args(["b", major, minor]).status();
    if !made.is_ok_and(|status| status.success()) || File::open(path).is_err() {
        eprintln!("SKIP: no device node can be made or opened in {}", path.display());
        return None;
    }
    Some(path.to_owned())
}

#[track_caller]
fn refused_as_used(answer: Result<RawPermit, DeviceError>, words: &str) {
    match answer {
        Err(DeviceError::Mounted { place, .. }) => assert!(place.contains(words), "{place}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_opened_by_a_permit_is_the_device_that_was_checked_whatever_takes_its_name() {
    let _alone = alone();
    let (Some(card), Some(other)) = (Loop::new(4 * MIB, false), Loop::new(4 * MIB, false)) else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = node(&card, &dir.path().join("card")) else { return };
    let permit = check(&path).unwrap();
    fs::remove_file(&path).unwrap();
    node(&other, &path).unwrap();
    for offset in [0, MIB as u64] {
        permit.held().reopen(Caching::Cached).unwrap().write_all_at(b"ours", offset).unwrap();
    }
    assert!(permit.held().present());
    drop(permit);
    assert_eq!(&fs::read(&card.file).unwrap()[..4], b"ours");
    assert!(fs::read(&other.file).unwrap().iter().all(|byte| *byte == 0), "a device that was not checked was written");
}

#[test]
fn a_device_of_another_size_is_no_longer_the_one_that_was_checked() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let permit = check(&device.device).unwrap();
    assert!(permit.held().reopen(Caching::Cached).is_ok() && permit.held().present());
    OpenOptions::new().write(true).open(&device.file).unwrap().set_len(2 * MIB as u64).unwrap();
    assert!(Command::new("losetup").arg("--set-capacity").arg(&device.device).status().unwrap().success());
    let error = permit.held().reopen(Caching::Cached).unwrap_err();
    assert!(matches!(error, DeviceError::Changed { .. }), "{error}");
    assert!(!permit.held().present());
}

/// A kernel's tree with the device as a disk `sdz` that is in no use. Where its table of swaps is read for the first time,
/// the next one has the device.
fn tree_that_swaps_later(device: &Loop) -> (tempfile::TempDir, std::thread::JoinHandle<()>) {
    let tree = tempfile::tempdir().unwrap();
    let at = |path: &str| tree.path().join(path);
    let real = PathBuf::from(format!("/sys/class/block/{}", device.name()));
    let number = fs::read_to_string(real.join("dev")).unwrap();
    for directory in ["sys/devices/sdz", "sys/dev/block", "sys/block", "sys/class/block", "proc", "dev"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for file in ["dev", "size", "ro", "diskseq"] {
        if let Ok(content) = fs::read(real.join(file)) {
            fs::write(at("sys/devices/sdz").join(file), content).unwrap();
        }
    }
    for name in [format!("sys/dev/block/{}", number.trim()), "sys/block/sdz".into(), "sys/class/block/sdz".into()] {
        std::os::unix::fs::symlink(at("sys/devices/sdz"), at(&name)).unwrap();
    }
    let (table, later) = (at("proc/swaps"), at("proc/later"));
    fs::write(&later, "Filename Type Size Used Priority\n/dev/sdz partition 4096 0 -2\n").unwrap();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &table, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let swaps = std::thread::spawn(move || {
        // Opening it waits for the reader, who sees an empty table.
        let pipe = OpenOptions::new().write(true).open(&table).unwrap();
        fs::rename(&later, &table).unwrap();
        drop(pipe);
    });
    (tree, swaps)
}

/// What is in no use when it is first looked at, may be in use when it is held.
#[test]
fn a_device_is_looked_at_once_more_when_it_is_held() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let (tree, swaps) = tree_that_swaps_later(&device);
    refused_as_used(check_raw(&Sysroot::at(tree.path()), &device.device, None), "swap");
    swaps.join().unwrap();
}

#[test]
fn a_link_is_followed_once_and_direct_io_works_behind_it() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("by-id");
    std::os::unix::fs::symlink(&device.device, &link).unwrap();
    let permit = check(&link).unwrap();
    assert_eq!((permit.path(), permit.name()), (link.as_path(), device.name().as_str()));
    let direct = permit.held().reopen(Caching::Direct).unwrap();
    assert!(rustix::fs::fcntl_getfl(&direct).unwrap().contains(rustix::fs::OFlags::DIRECT));
}

/// A process that is not a child of this one, ended when dropped.
struct Stranger(i32);

impl Stranger {
    /// A process with `device` open, for writing or only for reading, without `O_EXCL`.
    fn with(device: &Path, redirection: &str) -> Self {
        // The shell ends at once, so its child gets another parent.
        let script = format!("sleep 600 3{redirection}\"$0\" >/dev/null 2>&1 </dev/null & echo $!");
        let output = Command::new("sh").args(["-c", &script]).arg(device).output().unwrap();
        let stranger = Self(String::from_utf8_lossy(&output.stdout).trim().parse().unwrap());
        let fd = format!("/proc/{}/fd/3", stranger.0);
        while fs::read_link(&fd).is_err() {
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

#[test]
fn a_process_that_has_it_open_without_excluding_others_is_found_and_named() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    for redirection in ["<>", "<"] {
        let stranger = Stranger::with(&device.device, redirection);
        for answer in [check(&device.device), named(&device.device)] {
            refused_as_used(answer, &format!("process {}", stranger.0));
        }
    }
    // Devices that this process and its children have open are not refused.
    let own = File::open(&device.device).unwrap();
    let mut child = Command::new("sleep").arg("600").stdin(Stdio::from(own)).spawn().unwrap();
    let answer = check(&device.device);
    child.kill().unwrap();
    child.wait().unwrap();
    answer.unwrap();
}

#[test]
fn a_loop_device_over_the_device_by_another_name_is_a_use_of_it() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let dir = tempfile::tempdir().unwrap();
    let Some(path) = node(&device, &dir.path().join("other-name")) else { return };
    let Some(above) = Loop::over(&path) else { return };
    refused_as_used(named(&device.device), &format!("backs {}", above.name()));
    let upper = above.name();
    drop(above);
    named(&device.device).unwrap_or_else(|error| panic!("{upper} is gone: {error}"));
}

#[test]
fn a_loop_device_over_a_file_on_the_device_is_a_use_of_it() {
    let _alone = alone();
    let Some(device) = Loop::new(16 * MIB, false) else { return };
    let dir = tempfile::tempdir().unwrap();
    let done = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !done(Command::new("mkfs.ext4").arg("-q").arg(&device.device))
        || !done(Command::new("mount").arg(&device.device).arg(dir.path()))
    {
        eprintln!("SKIP: mkfs.ext4 or mount is not possible here");
        return;
    }
    let file = dir.path().join("inner");
    File::create(&file).unwrap().set_len(MIB as u64).unwrap();
    let inner = Loop::over(&file);
    let answer = inner.as_ref().map(|_| named(&device.device));
    drop(inner);
    assert!(done(Command::new("umount").arg(dir.path())));
    match answer {
        Some(Err(DeviceError::Mounted { place, .. })) => assert!(place.contains("backs loop"), "{place}"),
        None => {}
        Some(other) => panic!("{other:?}"),
    }
}

#[test]
fn the_lock_that_udev_honours_is_respected_and_held() {
    let _alone = alone();
    let Some(device) = Loop::new(4 * MIB, false) else { return };
    let ours = File::open(&device.device).unwrap();
    flock(&ours, FlockOperation::LockShared).unwrap();
    refused_as_used(check(&device.device), "locked by another program");
    flock(&ours, FlockOperation::Unlock).unwrap();
    let permit = check(&device.device).unwrap();
    assert!(flock(&ours, FlockOperation::NonBlockingLockShared).is_err(), "the permit holds no lock");
    drop(permit);
    flock(&ours, FlockOperation::NonBlockingLockShared).unwrap();
}

#[test]
fn data_without_a_known_mark_need_the_name_a_second_time() {
    let _alone = alone();
    let Some(device) = Loop::new(16 * MIB, false) else { return };
    check(&device.device).unwrap();
    let image = OpenOptions::new().write(true).open(&device.device).unwrap();
    // Neither is at a place of a known mark.
    for (offset, what) in [(0, &b"./cats/tabby.jpg"[..]), (16 * MIB as u64 - 7, b"the end")] {
        image.write_all_at(what, offset).unwrap();
        let error = check(&device.device).unwrap_err();
        assert!(matches!(error, DeviceError::HoldsData { .. }), "{error}");
        named(&device.device).unwrap();
        image.write_all_at(&vec![0; what.len()], offset).unwrap();
        check(&device.device).unwrap();
    }
}
