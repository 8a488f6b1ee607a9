//! A file system on a device, mounted.

use std::path::{Path, PathBuf};

use crate::command::{Missing, need, run, try_run};

/// A mounted file system, unmounted when dropped.
#[derive(Debug)]
pub struct Mount {
    directory: PathBuf,
}

impl Mount {
    /// Makes an ext4 file system on `device` and mounts it on `directory`.
    ///
    /// # Errors
    /// [`Missing`] without root, `mkfs.ext4` or `mount`.
    pub fn ext4(device: &Path, directory: &Path) -> Result<Self, Missing> {
        need(&["mkfs.ext4", "mount", "umount"])?;
        let device = device.to_string_lossy().into_owned();
        // Without lazy initialisation nothing writes in the background while a test measures.
        run("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0", device.as_str()])?;
        Self::existing(Path::new(&device), directory, "rw,noatime")
    }

    /// Mounts what is on `device`.
    ///
    /// # Errors
    /// [`Missing`] without root or where the kernel refuses.
    pub fn existing(device: &Path, directory: &Path, options: &str) -> Result<Self, Missing> {
        need(&["mount", "umount"])?;
        std::fs::create_dir_all(directory).map_err(|e| Missing(format!("{}: {e}", directory.display())))?;
        run("mount", &["-o".as_ref(), options.as_ref(), device.as_os_str(), directory.as_os_str()])?;
        Ok(Self { directory: directory.to_owned() })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Mounts it anew with other options, like `ro`.
    ///
    /// # Errors
    /// [`Missing`] where the kernel refuses.
    pub fn remount(&self, options: &str) -> Result<(), Missing> {
        let options = format!("remount,{options}");
        run("mount", &["-o".as_ref(), options.as_ref(), self.directory.as_os_str()]).map(drop)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        for _ in 0..50 {
            if run("umount", &[self.directory.as_os_str()]).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        try_run("umount", &["--lazy".as_ref(), self.directory.as_os_str()]);
    }
}
