//! A file system on a device, mounted.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::command::{Missing, need, run, try_run};
use crate::file_system::FileSystem;

/// A driver outside of the kernel mounts within this time.
const MOUNTED_WITHIN: Duration = Duration::from_secs(10);

/// Other mount namespaces that were made during the mount release the device within this time.
const FREE_WITHIN: Duration = Duration::from_secs(10);

/// A mounted file system, unmounted when dropped. Then the device is free.
#[derive(Debug)]
pub struct Mount {
    directory: PathBuf,
    /// The device that the kernel mounted.
    device: Option<PathBuf>,
    /// A driver that ends after the unmount.
    driver: Option<Child>,
}

impl Mount {
    /// Makes an ext4 file system on `device` and mounts it on `directory`.
    ///
    /// # Errors
    /// [`Missing`] without root, `mkfs.ext4` or `mount`.
    pub fn ext4(device: &Path, directory: &Path) -> Result<Self, Missing> {
        Self::make(FileSystem::Ext4, device, directory)
    }

    /// Makes a file system on `device` and mounts it on `directory`.
    ///
    /// # Errors
    /// [`Missing`] without root, or if the programs that make or mount it are missing or fail.
    pub fn make(file_system: FileSystem, device: &Path, directory: &Path) -> Result<Self, Missing> {
        file_system.make(device)?;
        match file_system {
            FileSystem::Ext2 | FileSystem::Ext4 | FileSystem::Xfs | FileSystem::Btrfs => {
                Self::existing(device, directory, "rw,noatime")
            }
            FileSystem::Vfat => Self::with_driver(
                Command::new("fusefat").args(["-f", "-o", "rw+"]).arg(device).arg(directory),
                directory,
            ),
            FileSystem::Exfat => {
                make_directory(directory)?;
                // It moves to the background when it has mounted, and umount(8) waits for its end.
                run(
                    "mount.exfat-fuse",
                    &["-o".as_ref(), "noatime".as_ref(), device.as_os_str(), directory.as_os_str()],
                )?;
                Ok(Self { directory: directory.to_owned(), device: None, driver: None })
            }
        }
    }

    /// Mounts by a driver that stays in the foreground.
    fn with_driver(driver: &mut Command, directory: &Path) -> Result<Self, Missing> {
        make_directory(directory)?;
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", directory.display()));
        let outside = std::fs::metadata(directory).map_err(fail)?.dev();
        let quiet = driver.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut driver = quiet.spawn().map_err(fail)?;
        let start = Instant::now();
        while std::fs::metadata(directory).is_ok_and(|inside| inside.dev() == outside) {
            if start.elapsed() > MOUNTED_WITHIN || driver.try_wait().map_err(fail)?.is_some() {
                let _ = driver.kill();
                let _ = driver.wait();
                return Err(Missing(format!("{}: could not be mounted", directory.display())));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { directory: directory.to_owned(), device: None, driver: Some(driver) })
    }

    /// Mounts the file system on `device`.
    ///
    /// # Errors
    /// [`Missing`] without root, or if the kernel refuses.
    pub fn existing(device: &Path, directory: &Path, options: &str) -> Result<Self, Missing> {
        need(&["mount", "umount"])?;
        make_directory(directory)?;
        run("mount", &["-o".as_ref(), options.as_ref(), device.as_os_str(), directory.as_os_str()])?;
        Ok(Self { directory: directory.to_owned(), device: Some(device.to_owned()), driver: None })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Remounts it with other options, for example `ro`.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn remount(&self, options: &str) -> Result<(), Missing> {
        let options = format!("remount,{options}");
        run("mount", &["-o".as_ref(), options.as_ref(), self.directory.as_os_str()]).map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = (0..50).any(|attempt| {
            if attempt > 0 {
                std::thread::sleep(Duration::from_millis(100));
            }
            run("umount", &[self.directory.as_os_str()]).is_ok()
        });
        if !unmounted {
            try_run("umount", &["--lazy".as_ref(), self.directory.as_os_str()]);
        }
        if let Some(device) = &self.device {
            until_free(device);
        }
        if let Some(driver) = &mut self.driver {
            if !unmounted {
                let _ = driver.kill();
            }
            let _ = driver.wait();
        }
    }
}

/// Waits until the device is mounted nowhere. A namespace that copied the mount keeps the file system alive, and the
/// file system writes to the device when that namespace ends.
fn until_free(device: &Path) {
    let start = Instant::now();
    while matches!(open(device, OFlags::RDONLY | OFlags::EXCL, Mode::empty()), Err(Errno::BUSY))
        && start.elapsed() < FREE_WITHIN
    {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn make_directory(directory: &Path) -> Result<(), Missing> {
    std::fs::create_dir_all(directory).map_err(|e| Missing(format!("{}: {e}", directory.display())))
}
