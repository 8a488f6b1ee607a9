//! Devices so fast that the overhead of the instrument shows.

use std::path::{Path, PathBuf};

use crate::command::Missing;
use crate::loop_device::LoopDevice;
use crate::mount::Mount;

/// An ext4 file system on a loop device over memory, without limits.
#[derive(Debug)]
pub struct FastDevice {
    mount: Mount,
    device: LoopDevice,
    directory: tempfile::TempDir,
}

impl FastDevice {
    /// Makes a device of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("fast.img");
        std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        let mount = Mount::ext4(device.path(), &directory.path().join("mnt"))?;
        Ok(Self { mount, device, directory })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.path()
    }

    /// Its block device.
    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// A directory beside the mount, for results.
    #[must_use]
    pub fn beside(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}

/// A bare loop device over memory, filled with random bytes, so that two tools read the same content.
#[derive(Debug)]
pub struct FilledDevice {
    device: LoopDevice,
    directory: tempfile::TempDir,
}

impl FilledDevice {
    /// Makes a device of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("filled.img");
        let mut file = std::fs::File::create(&image).map_err(fail)?;
        let random = std::fs::File::open("/dev/urandom").map_err(fail)?;
        std::io::copy(&mut std::io::Read::take(random, bytes), &mut file).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        Ok(Self { device, directory })
    }

    /// Path of the device.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.device.path()
    }

    /// A directory beside the image, for results.
    #[must_use]
    pub fn beside(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}
