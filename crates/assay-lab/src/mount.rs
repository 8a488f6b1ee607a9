//! Files as block devices, file systems on them, and their mounts.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_verify::probe::{Disk, DiskFile};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::host::{Missing, need, run, try_run};

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

// A file as a block device.

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

// File systems for a medium.

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

// Devices in memory: so fast that the overhead of the instrument shows, and disks for journals.

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

// A disk for journals in memory: campaigns restore some thousand media, sector by sector.

/// Files in memory. They never fail, and are gone with the last handle.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<BTreeMap<PathBuf, MemoryFile>>>);

#[derive(Debug, Clone, Default)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl MemoryDisk {
    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, MemoryFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for MemoryDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut files = self.files();
        if files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(files.entry(path.to_owned()).or_default().clone()))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let files = self.files();
        let file = files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(file.clone()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files().remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory_of(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

impl MemoryFile {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFile for MemoryFile {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        self.bytes().extend_from_slice(data);
        Ok(())
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes();
        let from = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
        let length = buffer.len().min(bytes.len() - from);
        buffer[..length].copy_from_slice(&bytes[from..from + length]);
        Ok(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        true
    }
}
