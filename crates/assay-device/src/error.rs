//! What can go wrong between a path and the medium under it.

use std::io;
use std::path::Path;

use assay_core::text::harmless;

use crate::system;

/// Why a path or device cannot be used: one line each, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// Nothing is there.
    #[error("{path}: no such file or directory; give a directory, a file or a block device that exists")]
    NoSuchPath {
        /// The path that was given.
        path: String,
    },
    /// The user may not read or write there.
    #[error("{path}: permission denied; run as root or choose a path that you own")]
    NotPermitted {
        /// The path that was given.
        path: String,
    },
    /// A character device, socket or pipe.
    #[error("{path}: is neither a directory, a file nor a block device; give one of these")]
    NotMeasurable {
        /// The path that was given.
        path: String,
    },
    /// A raw device was expected.
    #[error("{path}: is not a block device; give a device like /dev/sdX, or measure its mount point instead")]
    NotABlockDevice {
        /// The path that was given.
        path: String,
    },
    /// Raw devices are not measured on this system.
    #[error("{path}: raw devices are measured on Linux only; name a directory of the file system on it")]
    NoRawDevices {
        /// The path that was given.
        path: String,
    },
    /// The device, a part of it or something stacked on it is in use.
    #[error("{device}: in use ({place}); unmount, detach or close it first, a device in use is never written")]
    Mounted {
        /// The device that was given.
        device: String,
        /// Where it is mounted, or what holds it.
        place: String,
    },
    /// Another part of the same disk is in use.
    #[error(
        "{device}: its disk is in use ({place}), and what is written to a fake may land there; unmount or close that \
         first, then probe {device} or the whole disk"
    )]
    DiskInUse {
        /// The device that was given.
        device: String,
        /// What is in use, and how.
        place: String,
    },
    /// A loop device may share its data, and only root can see whether it does.
    #[error("{path}: permission denied: only root can see whether {device} shares its data; run as root")]
    LoopForRoot {
        /// The device that was given.
        path: String,
        /// Kernel name of the loop device.
        device: String,
    },
    /// A loop device may share its data.
    #[error(
        "{path}: {}the kernel does not say what is behind {device} ({why}); {}detach it (losetup -d /dev/{device}); if you \
         are not root, run as root",
        if *is_own { String::new() } else { format!("{device} may be on it, and ") },
        unmounting(.mounted.as_deref())
    )]
    UnknownLoop {
        /// The device that was given.
        path: String,
        /// Kernel name of the loop device.
        device: String,
        /// The system's answer.
        why: String,
        /// Whether it is the device that was given, or below it.
        is_own: bool,
        /// How it is used; `None` where it is free.
        mounted: Option<String>,
    },
    /// The device carries data.
    #[error("{device}: holds data ({what}); wipe all of it, or name the device once more (--overwrite) to allow that")]
    HoldsData {
        /// The device that was given.
        device: String,
        /// Name of the signature that was found.
        what: String,
    },
    /// All samples read were blank, but not all could be read.
    #[error(
        "{device}: cannot be read at byte {offset}, so that nothing shows it to be blank; name the device once more (--overwrite) to write it all the same"
    )]
    NotShownBlank {
        /// The device that was given.
        device: String,
        /// Where reading failed first.
        offset: u64,
    },
    /// The device refuses writes.
    #[error("{device}: is read-only; release its write-protect switch or choose another device")]
    ReadOnly {
        /// The device that was given.
        device: String,
    },
    /// Another device replaced the one that was checked.
    #[error("{device}: changed since it was checked; plug it in again and start over")]
    Changed {
        /// The device that was given.
        device: String,
    },
    /// Anything else the system answers.
    #[error("{path}: cannot be read ({source}); check the cable and the kernel log")]
    Unreadable {
        /// The path that was given.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl DeviceError {
    /// What is wrong, without the remedy.
    #[must_use]
    pub fn what(&self) -> String {
        let words = self.to_string();
        words.rsplit_once("; ").map_or(words.as_str(), |(what, _)| what).to_owned()
    }

    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = shown(path);
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NoSuchPath { path },
            io::ErrorKind::PermissionDenied => Self::NotPermitted { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { device: path },
            io::ErrorKind::ResourceBusy => {
                Self::Mounted { device: path, place: "the kernel says it is busy".to_owned() }
            }
            _ => Self::Unreadable { path, source },
        }
    }
}

/// What has to be done before a loop device in use can be detached.
fn unmounting(place: Option<&str>) -> String {
    place.map_or_else(String::new, |place| format!("it is in use ({place}): unmount or close that, then "))
}

/// A path, safe to show.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&system::as_written(&path.to_string_lossy()))
}
