//! File systems for a medium.

use std::path::Path;

use crate::command::{Missing, need, run};

/// A file system, and the driver that mounts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// ext2, by the kernel.
    Ext2,
    /// ext4, by the kernel.
    Ext4,
    /// XFS, by the kernel; at least 300 MiB.
    Xfs,
    /// btrfs, by the kernel; at least 110 MiB.
    Btrfs,
    /// FAT32, by fusefat: kernels without vfat are common on build machines.
    Vfat,
    /// exFAT, by exfat-fuse.
    Exfat,
}

impl FileSystem {
    /// Makes the file system on `device`.
    ///
    /// # Errors
    /// [`Missing`] without root, or without the programs that make and mount it, or if making it fails.
    pub(crate) fn make(self, device: &Path) -> Result<(), Missing> {
        let (maker, options, driver): (_, &[&str], _) = match self {
            Self::Ext2 => ("mkfs.ext2", &["-q", "-F", "-m", "0"], "mount"),
            // Without lazy initialisation the kernel writes nothing in the background while a test measures.
            Self::Ext4 => {
                let eager = "lazy_itable_init=0,lazy_journal_init=0";
                ("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", eager], "mount")
            }
            Self::Xfs => ("mkfs.xfs", &["-q", "-f"], "mount"),
            Self::Btrfs => ("mkfs.btrfs", &["-q", "-f"], "mount"),
            Self::Vfat => ("mkfs.vfat", &["-F", "32"], "fusefat"),
            Self::Exfat => ("mkfs.exfat", &[], "mount.exfat-fuse"),
        };
        need(&[maker, driver, "umount"])?;
        let options = options.iter().map(|option| option.as_ref());
        run(maker, &options.chain([device.as_os_str()]).collect::<Vec<_>>()).map(drop)
    }
}
