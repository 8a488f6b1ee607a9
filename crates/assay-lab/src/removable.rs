//! A card that is taken out, loses capacity or turns read-only while it is used.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::command::{Missing, run};
use crate::loop_device::LoopDevice;
use crate::mount::Mount;

/// A loop device in memory whose size changes under its users, as that of a reader whose card is
/// taken out; with or without ext4 on it.
#[derive(Debug)]
pub struct RemovableCard {
    // Dropped in order.
    mount: Option<Mount>,
    device: LoopDevice,
    image: PathBuf,
    _directory: tempfile::TempDir,
}

impl RemovableCard {
    /// Makes a card of `bytes` with ext4, mounted.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn formatted(bytes: u64) -> Result<Self, Missing> {
        let mut card = Self::raw(bytes)?;
        let point = card.image.with_file_name("mnt");
        let mount = Mount::ext4(card.device.path(), &point)?;
        mount.remount("errors=remount-ro")?;
        card.mount = Some(mount);
        Ok(card)
    }

    /// Makes a card of `bytes` of zeros.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn raw(bytes: u64) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("card.img");
        File::create(&image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        Ok(Self { mount: None, device, image, _directory: directory })
    }

    /// Where it is mounted; without a file system, its device.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.device.path(), Mount::path)
    }

    /// Takes the card out: the device is still there and holds nothing.
    ///
    /// # Errors
    /// [`Missing`] where the kernel refuses.
    pub fn pull(&self) -> Result<(), Missing> {
        self.shorten(0)
    }

    /// Leaves `bytes` of it.
    ///
    /// # Errors
    /// [`Missing`] where the kernel refuses.
    pub fn shorten(&self, bytes: u64) -> Result<(), Missing> {
        let image = OpenOptions::new().write(true).open(&self.image);
        image.and_then(|file| file.set_len(bytes)).map_err(|e| Missing(format!("{}: {e}", self.image.display())))?;
        run("losetup", &["--set-capacity".as_ref(), self.device.path().as_os_str()]).map(drop)
    }

    /// The file system finds itself damaged and turns read-only, as ext4 does on a failing card.
    ///
    /// # Errors
    /// [`Missing`] where the kernel has no such switch (ext4.rst, `trigger_fs_error`).
    pub fn turn_read_only(&self) -> Result<(), Missing> {
        let switch = Path::new("/sys/fs/ext4").join(self.device.name()).join("trigger_fs_error");
        std::fs::write(&switch, "1").map_err(|e| Missing(format!("{}: {e}", switch.display())))
    }
}
