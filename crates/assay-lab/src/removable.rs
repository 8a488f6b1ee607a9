//! Devices that go away during use: a card that is removed, loses capacity or turns read-only, and an unplugged device.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use assay_verify::probe::{Device, Fault};

use super::host::{Missing, run};
use super::mount::LoopDevice;
use crate::mount::Mount;

/// Attempts to shorten the file: writes in flight end soon.
const ATTEMPTS: u32 = 20;

/// A loop device in memory whose size changes during use, like that of a reader whose card is removed; with or without
/// ext4 on it.
#[derive(Debug)]
pub struct RemovableCard {
    // Dropped in this order.
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

    /// The mount point, or the device if there is no file system.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.device.path(), Mount::path)
    }

    /// Removes the card: the device still exists, with a size of 0.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn pull(&self) -> Result<(), Missing> {
        self.shorten(0)
    }

    /// Shortens the card to `bytes`.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn shorten(&self, bytes: u64) -> Result<(), Missing> {
        let fail = |e: std::io::Error| Missing(format!("{}: {e}", self.image.display()));
        // A write in flight extends the file again, so it is cut until it stays short.
        for _ in 0..ATTEMPTS {
            OpenOptions::new().write(true).open(&self.image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
            run("losetup", &["--set-capacity".as_ref(), self.device.path().as_os_str()])?;
            if std::fs::metadata(&self.image).map_err(fail)?.len() <= bytes && self.sectors() * 512 <= bytes {
                return Ok(());
            }
        }
        Err(Missing(format!("{}: grows again and again", self.image.display())))
    }

    /// Size of the device in the kernel, in sectors of 512 bytes.
    fn sectors(&self) -> u64 {
        let size = Path::new("/sys/block").join(self.device.name()).join("size");
        std::fs::read_to_string(size).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX / 512)
    }

    /// Makes the file system report an error and turn read-only, as ext4 does on a failing card.
    ///
    /// # Errors
    /// [`Missing`] if the kernel has no such switch (ext4.rst, `trigger_fs_error`).
    pub fn turn_read_only(&self) -> Result<(), Missing> {
        let switch = Path::new("/sys/fs/ext4").join(self.device.name()).join("trigger_fs_error");
        std::fs::write(&switch, "1").map_err(|e| Missing(format!("{}: {e}", switch.display())))
    }
}

// A device that is unplugged.

/// A device that works for a number of operations. The write that meets the end is torn, and every later operation
/// fails.
#[derive(Debug, Clone)]
pub struct Dying<D> {
    inner: D,
    left: u64,
    dead: bool,
}

impl<D: Device> Dying<D> {
    /// A device that works for `operations` reads and writes.
    pub fn new(inner: D, operations: u64) -> Self {
        Self { inner, left: operations, dead: false }
    }

    /// The device, plugged in again.
    pub fn revive(self) -> D {
        self.inner
    }

    /// Counts one operation; returns false if the device is unplugged.
    fn lives(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }
}

impl<D: Device> Device for Dying<D> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.inner.block_bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if !self.lives() {
            self.dead = true;
            return Err(Fault::Gone);
        }
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), Fault> {
        if !self.lives() {
            if !self.dead {
                self.dead = true;
                self.inner.write_at(offset, &data[..data.len() / 1024 * 512])?;
            }
            return Err(Fault::Gone);
        }
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), Fault> {
        if self.dead { Err(Fault::Gone) } else { self.inner.sync() }
    }

    fn present(&mut self) -> bool {
        !self.dead && self.inner.present()
    }
}
