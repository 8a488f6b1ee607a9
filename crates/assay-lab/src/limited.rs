//! A card with a known truth.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::cgroup::{Cgroup, Limits};
use crate::command::Missing;
use crate::loop_device::LoopDevice;
use crate::mount::Mount;

/// An ext4 file system on a loop device in memory. Commands run through it are subject to its limits.
///
/// Fields are dropped in order: the group before the mount, the mount before the device, the
/// device before its file.
#[derive(Debug)]
pub struct LimitedCard {
    group: Cgroup,
    mount: Mount,
    device: LoopDevice,
    _directory: tempfile::TempDir,
}

impl LimitedCard {
    /// Makes a card of `bytes`.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64, limits: Limits) -> Result<Self, Missing> {
        let fail = |e: std::io::Error| Missing(format!("/dev/shm: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir_in("/dev/shm").map_err(fail)?;
        let image = directory.path().join("card.img");
        std::fs::File::create(&image).and_then(|file| file.set_len(bytes)).map_err(fail)?;
        let device = LoopDevice::attach(&image, false)?;
        let mount = Mount::ext4(device.path(), &directory.path().join("mnt"))?;
        let group = Cgroup::new(&device.number()?, limits)?;
        Ok(Self { group, mount, device, _directory: directory })
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.path()
    }

    /// The mount, for changes.
    #[must_use]
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// Its block device.
    #[must_use]
    pub fn device(&self) -> &LoopDevice {
        &self.device
    }

    /// Changes the limits during use: a full cache, or a part that got hot.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn change(&self, limits: Limits) -> Result<(), Missing> {
        self.group.change(&self.device.number()?, limits)
    }

    /// Also limits another card, for commands that are run through this one.
    ///
    /// # Errors
    /// [`Missing`] if the kernel refuses.
    pub fn limit_too(&self, other: &Self, limits: Limits) -> Result<(), Missing> {
        self.group.change(&other.device.number()?, limits)
    }

    /// A command that is subject to the limits.
    #[must_use]
    pub fn command<A: AsRef<OsStr>>(&self, program: &Path, arguments: &[A]) -> Command {
        self.group.command(program, arguments)
    }

    /// The same command, subject to the limits.
    #[must_use]
    pub fn limited(&self, command: &Command) -> Command {
        let arguments: Vec<&OsStr> = command.get_args().collect();
        let mut within = self.command(Path::new(command.get_program()), &arguments);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => within.env(name, value),
                None => within.env_remove(name),
            };
        }
        within
    }
}
