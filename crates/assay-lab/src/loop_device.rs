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
    /// [`Missing`] where the kernel does not list the device.
    pub fn number(&self) -> Result<String, Missing> {
        let path = Path::new("/sys/class/block").join(self.name()).join("dev");
        std::fs::read_to_string(&path)
            .map(|text| text.trim().to_owned())
            .map_err(|e| Missing(format!("{}: {e}", path.display())))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        try_run("losetup", &["--detach".as_ref(), self.path.as_os_str()]);
    }
}
