//! What is looked at before a raw device may be written.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, FlockOperation, OFlags, fadvise, flock};

use super::contents::{Contents, contents};
use super::held::HeldDevice;
use super::openers::openers;
use crate::block::Node;
use crate::error::{DeviceError, shown};
use crate::guard::permit::RawPermit;
use crate::guard::usage::{mounted_on, numbers_of};
use crate::look::Seen;
use crate::sysroot::Sysroot;
use crate::target::What;

/// udev and others look at a new device for a moment: they are waited for so long.
const TIMEOUT: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(20);

/// Whether the block device at `path` may be overwritten. A device in use is always refused; one
/// that is not shown to be blank is refused unless `forced_by_name` is the very path that was
/// given, and is then not read at all.
///
/// # Errors
/// Says why not.
pub fn check_raw(sysroot: &Sysroot, path: &Path, forced_by_name: Option<&str>) -> Result<RawPermit, DeviceError> {
    let seen = Seen::at(path)?;
    if seen.what != What::BlockDevice {
        return Err(DeviceError::NotABlockDevice { path: shown(path) });
    }
    let missing = || DeviceError::Unreadable { path: shown(path), source: not_in_sysfs() };
    let node = Node::by_number(sysroot, seen.dev).ok_or_else(missing)?;
    // Asked first for the words, as the kernel only says that it is busy.
    refuse_in_use(sysroot, path, &node)?;
    let held = HeldDevice::exclusively(sysroot, path).map_err(|error| match error {
        DeviceError::Mounted { .. } => refuse_opened(sysroot, path, &node, Duration::ZERO).err().unwrap_or(error),
        error => error,
    })?;
    // What follows is about the device that is open now, whatever the path leads to.
    let node = Node::by_number(sysroot, held.seen().dev).ok_or_else(missing)?;
    let lock = lock(sysroot, &held, &node)?;
    refuse_in_use(sysroot, path, &node)?;
    refuse_opened(sysroot, path, &node, TIMEOUT)?;
    if !names(forced_by_name, path) {
        // Single blocks: a place that cannot be read would take what is read ahead with it.
        let _ = fadvise(held.file(), 0, None, Advice::Random);
        let found = contents(&mut held.file());
        let _ = fadvise(held.file(), 0, None, Advice::DontNeed);
        refuse_data(path, found)?;
    }
    Ok(RawPermit::new(held, node.name, lock))
}

fn not_in_sysfs() -> std::io::Error {
    std::io::Error::other("the device is not in /sys/dev/block")
}

fn refuse_in_use(sysroot: &Sysroot, path: &Path, node: &Node) -> Result<(), DeviceError> {
    let uses = mounted_on(sysroot, &node.name);
    if let Some(first) = uses.first() {
        let of = if first.device == node.name { String::new() } else { format!("{} ", first.device) };
        return Err(in_use(path, &format!("{of}{}", first.place), uses.len()));
    }
    if node.read_only() {
        return Err(DeviceError::ReadOnly { device: shown(path) });
    }
    Ok(())
}

fn in_use(path: &Path, first: &str, count: usize) -> DeviceError {
    let more = match count {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    DeviceError::Mounted { device: shown(path), place: format!("{first}{more}") }
}

/// Programs that have it open are refused, unless they close it within `timeout`.
fn refuse_opened(sysroot: &Sysroot, path: &Path, node: &Node, timeout: Duration) -> Result<(), DeviceError> {
    let numbers = numbers_of(sysroot, node);
    let start = Instant::now();
    loop {
        let found = openers(sysroot, &numbers);
        let Some(first) = found.first() else { return Ok(()) };
        if start.elapsed() >= timeout {
            return Err(in_use(path, &first.to_string(), found.len()));
        }
        std::thread::sleep(TICK);
    }
}

/// Takes the lock on the whole disk's node that udev and partitioning programs honour
/// (systemd.io, "Locking Block Device Access"). Without such a node the device itself is locked.
fn lock(sysroot: &Sysroot, held: &HeldDevice, node: &Node) -> Result<Option<File>, DeviceError> {
    let whole = if node.is_partition() { open_whole(sysroot, &node.whole()) } else { None };
    let file = whole.as_ref().unwrap_or_else(|| held.file());
    let start = Instant::now();
    while let Err(error) = flock(file, FlockOperation::NonBlockingLockExclusive) {
        if error != rustix::io::Errno::WOULDBLOCK {
            return Err(DeviceError::from_io(held.path(), error.into()));
        }
        if start.elapsed() >= TIMEOUT {
            refuse_opened(sysroot, held.path(), node, Duration::ZERO)?;
            return Err(in_use(held.path(), "locked by another program", 1));
        }
        std::thread::sleep(TICK);
    }
    Ok(whole)
}

fn open_whole(sysroot: &Sysroot, whole: &Node) -> Option<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(sysroot.path(&whole.dev_path())).ok()?;
    let rdev = file.metadata().ok()?.rdev();
    (Some((rustix::fs::major(rdev), rustix::fs::minor(rdev))) == whole.number()).then_some(file)
}

/// Whether the name is the very path.
fn names(forced: Option<&str>, path: &Path) -> bool {
    forced.is_some_and(|name| Path::new(name).as_os_str() == path.as_os_str())
}

fn refuse_data(path: &Path, contents: Contents) -> Result<(), DeviceError> {
    let device = shown(path);
    match contents {
        Contents::Blank => Ok(()),
        Contents::Marked(what) => Err(DeviceError::HoldsData { device, what: what.to_owned() }),
        Contents::Unknown { offset } => {
            let what = format!("without a mark that assay knows, at byte {offset}");
            Err(DeviceError::HoldsData { device, what })
        }
        Contents::Unreadable { offset } => Err(DeviceError::NotShownBlank { device, offset }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_overwritten_only_by_the_exact_name() {
        let path = Path::new("/dev/sdb");
        assert!(names(Some("/dev/sdb"), path));
        for wrong in [None, Some("/dev/sdc"), Some("sdb"), Some(""), Some("/dev/sdb1"), Some("/dev/../dev/sdb")] {
            assert!(!names(wrong, path), "{wrong:?}");
        }
    }

    #[test]
    fn only_what_is_shown_to_be_blank_is_overwritten_unnamed() {
        let path = Path::new("/dev/sdb");
        assert!(refuse_data(path, Contents::Blank).is_ok());
        let words = |contents| refuse_data(path, contents).unwrap_err().to_string();
        assert!(words(Contents::Marked("XFS file system")).contains("holds data (XFS file system)"));
        assert!(words(Contents::Unknown { offset: 4096 }).contains("at byte 4096"));
        assert!(words(Contents::Unreadable { offset: 0 }).contains("nothing shows it to be blank"));
    }
}
