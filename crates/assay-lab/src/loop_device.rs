//! A file as a block device.

use std::path::{Path, PathBuf};

use crate::command::{Missing, need, run, try_run};

/// A loop device, detached when dropped.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
}

impl LoopDevice {
    /// Attaches `file`; the kernel chooses the device. `direct` bypasses the cache of the file.
    ///
    /// # Errors
    /// [`Missing`] without root, `losetup` or a free device.
    pub fn attach(file: &Path, direct: bool) -> Result<Self, Missing> {
        Self::attach_with_blocks(file, direct, 512)
    }

    /// The same with logical blocks of `block_bytes`.
    ///
    /// # Errors
    /// As [`Self::attach`].
    pub(crate) fn attach_with_blocks(file: &Path, direct: bool, block_bytes: u32) -> Result<Self, Missing> {
        need(&["losetup"])?;
        let direct = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let blocks = format!("--sector-size={block_bytes}");
        let file = file.to_string_lossy().into_owned();
        let device = run("losetup", &["--find", "--show", direct, blocks.as_str(), file.as_str()])?;
        Ok(Self { path: PathBuf::from(device) })
    }

    /// Path of the device, like `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kernel name, like `loop3`.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// `major:minor`.
    ///
    /// # Errors
    /// [`Missing`] if the kernel does not list the device.
    pub fn number(&self) -> Result<String, Missing> {
        let path = Path::new("/sys/class/block").join(self.name()).join("dev");
        std::fs::read_to_string(&path)
            .map(|text| text.trim().to_owned())
            .map_err(|e| Missing(format!("{}: {e}", path.display())))
    }
}

/// A partition of a loop device that the kernel knows, removed when dropped: a detached loop device would keep it.
#[derive(Debug)]
pub struct LoopPartition {
    device: PathBuf,
    number: u32,
}

impl LoopPartition {
    /// Adds a partition in the kernel, in sectors of 512 bytes (addpart(8)). It writes nothing to the device.
    ///
    /// # Errors
    /// [`Missing`] without root, `addpart` or `delpart`, or if the kernel refuses.
    pub fn add(device: &LoopDevice, number: u32, start: u64, sectors: u64) -> Result<Self, Missing> {
        need(&["addpart", "delpart"])?;
        let words = [number.to_string(), start.to_string(), sectors.to_string()];
        let path = device.path().to_string_lossy();
        run("addpart", &[&*path, words[0].as_str(), words[1].as_str(), words[2].as_str()])?;
        Ok(Self { device: device.path().to_owned(), number })
    }

    /// Path of its node, like `/dev/loop3p1`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("{}p{}", self.device.display(), self.number))
    }
}

impl Drop for LoopPartition {
    fn drop(&mut self) {
        try_run("delpart", &[self.device.as_os_str(), self.number.to_string().as_ref()]);
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        try_run("losetup", &["--detach".as_ref(), self.path.as_os_str()]);
    }
}
