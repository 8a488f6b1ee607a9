//! Waiting for a medium that may never answer.
//!
//! A system call that waits for a hung medium cannot be broken off, not even by SIGKILL. So what
//! may wait so is done by a thread that owns all it uses and can be left behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use assay_core::outcome::RunFailure;
use assay_core::units::Bytes;
use assay_device::Sysroot;
use assay_engine::{Target, answer_within};

use crate::system;

/// Without `--hang-after`: nothing completed for this long, and the medium hangs.
pub const HANG_AFTER: Duration = Duration::from_secs(30);
/// Where an operation is expected to take more than a second, or many make one step, it may take
/// this many times as long: 90 s.
pub(crate) const SLOW: u32 = 3;
/// A sync may have a whole cache to write: this many times as long, 120 s.
pub(crate) const SYNC: u32 = 4;
/// Removing a file from a medium that hung already is tried for no longer than this.
pub(crate) const HUNG_ALREADY: Duration = Duration::from_secs(5);
/// After a stop the removal of the file is awaited no longer than this.
pub(crate) const AFTER_STOP: Duration = Duration::from_secs(10);
/// What the kernel knows without asking the medium takes no longer than this.
const KNOWN: Duration = Duration::from_secs(2);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It takes longer than the limit, and goes on alone.
    Late,
    /// Not started: the system made no thread.
    NoThread(io::Error),
}

/// What `work` came to.
///
/// # Errors
/// Where it took longer than `limit`, or there is no thread to do it; `work` was dropped then.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoAnswer> {
    let (sender, answer) = channel();
    let begun = std::thread::Builder::new().spawn(move || {
        let _ = sender.send(work());
    });
    begun.map_err(NoAnswer::NoThread)?;
    answer_within(&answer, limit).ok_or(NoAnswer::Late)
}

/// That the system made no thread, in words.
pub(crate) fn no_thread(error: &io::Error) -> String {
    format!("no thread could be made: {error}")
}

// What an I/O error means: whether the device is still there, as large as it was, and writable.
//
// A medium that was pulled, that lost a part or whose file system failed answers with the same
// `EIO` as one bad block. What the kernel knows distinguishes them.

/// Between two looks at whether a device is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The block devices under the test area as they were before the first operation.
#[derive(Debug)]
pub(crate) struct DeviceHealth {
    class: PathBuf,
    devices: Vec<Device>,
}

#[derive(Debug, Clone)]
struct Device {
    name: String,
    bytes: u64,
    read_only: bool,
}

impl DeviceHealth {
    /// Looks at the devices by these kernel names.
    pub(crate) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        Self::under(&Sysroot::real().path("/sys/class/block"), names)
    }

    fn under<'a>(class: &Path, names: impl Iterator<Item = &'a str>) -> Self {
        let devices = names.filter_map(|name| look_at_device(class, name)).collect();
        Self { class: class.to_owned(), devices }
    }

    /// What an error means by what the kernel knows of the devices, and its words for it.
    pub(crate) fn examine(
        &self,
        failure: RunFailure,
        write: bool,
        target: &Arc<Target>,
    ) -> (RunFailure, Option<String>) {
        let open = |failure| matches!(failure, RunFailure::IoError | RunFailure::ReadOnly | RunFailure::OutOfSpace);
        if !open(failure) {
            return (failure, None);
        }
        // A medium that is pulled errs first; the kernel takes its device away a moment later. However busy the host is, there is
        // a second look.
        let begun = Instant::now();
        let mut last = failure != RunFailure::IoError;
        loop {
            if let Some(seen) = self.devices() {
                return seen;
            }
            if last {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
            last = begun.elapsed() > KNOWN;
        }
        if failure == RunFailure::IoError && write {
            let target = Arc::clone(target);
            if let Some(words) = within(KNOWN, move || system::write_failure(target.file())).ok().flatten() {
                return (RunFailure::ReadOnly, Some(words));
            }
        }
        (failure, None)
    }

    /// What happened to the devices, if anything did.
    fn devices(&self) -> Option<(RunFailure, Option<String>)> {
        for before in &self.devices {
            let name = &before.name;
            match look_at_device(&self.class, name) {
                None => return Some((RunFailure::Disappeared, Some(format!("{name} is gone")))),
                Some(Device { bytes: 0, .. }) if before.bytes > 0 => {
                    return Some((RunFailure::Disappeared, Some(format!("{name} is empty now"))));
                }
                Some(now) if now.bytes < before.bytes => {
                    let words = format!("{name} has only {} of {} left", Bytes(now.bytes), Bytes(before.bytes));
                    return Some((RunFailure::IoError, Some(words)));
                }
                Some(now) if now.read_only && !before.read_only => {
                    return Some((RunFailure::ReadOnly, Some(format!("{name} turned read-only"))));
                }
                Some(_) => {}
            }
        }
        None
    }
}

/// Size in sectors of 512 bytes and the flag `ro`: Documentation/ABI/stable/sysfs-block.
fn look_at_device(class: &Path, name: &str) -> Option<Device> {
    let read = |file: &str| std::fs::read_to_string(class.join(name).join(file)).ok();
    let sectors: u64 = read("size")?.trim().parse().ok()?;
    let read_only = read("ro").is_some_and(|flag| flag.trim() == "1");
    Some(Device { name: name.to_owned(), bytes: sectors.saturating_mul(512), read_only })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_takes_too_long_is_left_behind() {
        let (hold, held) = channel::<()>();
        let start = Instant::now();
        assert!(matches!(within(Duration::from_millis(50), move || held.recv().is_ok()), Err(NoAnswer::Late)));
        assert!(start.elapsed() < Duration::from_secs(20));
        drop(hold);
        assert!(matches!(within(Duration::from_secs(60), || 7), Ok(7)));
    }

    fn set(class: &Path, name: &str, sectors: u64, read_only: bool) {
        std::fs::create_dir_all(class.join(name)).unwrap();
        std::fs::write(class.join(name).join("size"), format!("{sectors}\n")).unwrap();
        std::fs::write(class.join(name).join("ro"), if read_only { "1\n" } else { "0\n" }).unwrap();
    }

    #[test]
    fn gone_empty_shorter_and_read_only_devices_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        set(dir.path(), "sda1", 1 << 21, false);
        set(dir.path(), "sda", 1 << 22, false);
        let health = DeviceHealth::under(dir.path(), ["sda1", "sda", "sdz"].into_iter());
        assert_eq!(health.devices(), None);
        set(dir.path(), "sda", 1 << 22, true);
        assert_eq!(health.devices(), Some((RunFailure::ReadOnly, Some("sda turned read-only".into()))));
        set(dir.path(), "sda", 1 << 21, false);
        let words = "sda has only 1 GiB of 2 GiB left";
        assert_eq!(health.devices(), Some((RunFailure::IoError, Some(words.into()))));
        set(dir.path(), "sda", 0, false);
        assert_eq!(health.devices(), Some((RunFailure::Disappeared, Some("sda is empty now".into()))));
        std::fs::remove_dir_all(dir.path().join("sda")).unwrap();
        assert_eq!(health.devices(), Some((RunFailure::Disappeared, Some("sda is gone".into()))));
    }

    /// The size is in a pipe, so that the device goes while it is looked at for the first time.
    #[cfg(not(windows))]
    #[test]
    fn a_device_that_goes_after_its_error_is_gone() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        set(dir.path(), "sda", 1 << 22, false);
        let health = DeviceHealth::under(dir.path(), ["sda"].into_iter());
        let (device, size) = (dir.path().join("sda"), dir.path().join("sda").join("size"));
        std::fs::remove_file(&size).unwrap();
        mknodat(CWD, &size, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let pulled = std::thread::spawn(move || {
            // Opening it waits for the reader.
            let mut pipe = std::fs::OpenOptions::new().write(true).open(size).unwrap();
            std::fs::remove_dir_all(device).unwrap();
            std::io::Write::write_all(&mut pipe, format!("{}\n", 1 << 22).as_bytes()).unwrap();
        });
        let target = Arc::new(Target::create(&dir.path().join("data"), false).unwrap());
        let seen = health.examine(RunFailure::IoError, false, &target);
        assert_eq!(seen, (RunFailure::Disappeared, Some("sda is gone".into())));
        pulled.join().unwrap();
    }
}
