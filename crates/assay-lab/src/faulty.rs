//! A card that fails on request.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_verify::probe::{Device, ProbeFault};
use rustix::process::{Pid, Signal, kill_process};

use super::host::{Missing, need, run, try_run};
use super::mount::LoopDevice;
use crate::mount::Mount;

/// Duration of an operation in milliseconds; it keeps a repeat from filling a histogram.
const DELAY_MS: u64 = 10;
/// A server starts or ends within this time.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The error of a write while [`FaultyCard::fail_writes`] is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// `EIO`: the cells are worn out.
    Io,
    /// `ENOSPC`: a thinly provisioned volume whose pool is full.
    NoSpace,
}

/// nbdkit with its error and delay filters. nbdfuse shows it as a file, a loop device shows the file as a block device,
/// and ext4 lies on it.
///
/// Errors begin and end with the existence of a file that nbdkit tests. The card hangs while nbdkit is stopped.
#[derive(Debug)]
pub struct FaultyCard {
    // Dropped in this order: each layer before the one below it.
    mount: Option<Mount>,
    device: Option<LoopDevice>,
    _fuse: Fuse,
    server: Process,
    directory: tempfile::TempDir,
}

impl FaultyCard {
    /// Makes a sound card of `bytes`. Its writes fail by `fault` after [`Self::fail_writes`].
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(bytes: u64, fault: WriteFault) -> Result<Self, Missing> {
        need(&["nbdkit", "nbdfuse", "losetup", "fusermount3"])?;
        let fail = |e: std::io::Error| Missing(format!("temporary directory: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir().map_err(fail)?;
        let (socket, point) = (directory.path().join("socket"), directory.path().join("disk"));
        let mut nbdkit = Command::new("nbdkit");
        nbdkit
            .args(["--foreground", "--exit-with-parent", "--unix"])
            .arg(&socket)
            .args(["--filter=error", "--filter=delay", "memory"])
            .arg(format!("{bytes}"))
            .args([format!("rdelay={DELAY_MS}ms"), format!("wdelay={DELAY_MS}ms")])
            .args(["error-pread=EIO", "error-pread-rate=100%", "error-pwrite-rate=100%"])
            .arg(match fault {
                WriteFault::Io => "error-pwrite=EIO",
                WriteFault::NoSpace => "error-pwrite=ENOSPC",
            })
            .arg(format!("error-pread-file={}", trigger(directory.path(), "read").display()))
            .arg(format!("error-pwrite-file={}", trigger(directory.path(), "write").display()));
        let server = Process::start(nbdkit, "nbdkit")?;
        wait_for(|| socket.exists(), "nbdkit")?;
        File::create(&point).map_err(fail)?;
        let fuse = Fuse::start(&socket, &point, bytes)?;
        let mut card = Self { mount: None, device: None, _fuse: fuse, server, directory };
        let device = card.device.insert(LoopDevice::attach(&point, true)?);
        card.mount = Some(Mount::ext4(device.path(), &card.directory.path().join("mnt"))?);
        Ok(card)
    }

    /// The mount point.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount.as_ref().map_or(self.directory.path(), Mount::path)
    }

    /// Makes every read fail from now on, or none.
    ///
    /// # Errors
    /// [`Missing`] if the trigger file cannot be made.
    pub fn fail_reads(&self, on: bool) -> Result<(), Missing> {
        self.set("read", on)
    }

    /// Makes every write fail from now on, or none.
    ///
    /// # Errors
    /// [`Missing`] if the trigger file cannot be made.
    pub fn fail_writes(&self, on: bool) -> Result<(), Missing> {
        self.set("write", on)
    }

    fn set(&self, what: &str, on: bool) -> Result<(), Missing> {
        let path = trigger(self.directory.path(), what);
        let done = if on { File::create(&path).map(drop) } else { std::fs::remove_file(&path) };
        done.map_err(|e| Missing(format!("{}: {e}", path.display())))
    }

    /// Stops all answers until [`Self::recover`].
    pub fn hang(&self) {
        self.server.signal(Signal::STOP);
    }

    /// Resumes answers, also to earlier requests.
    pub fn recover(&self) {
        self.server.signal(Signal::CONT);
    }

    /// Removes the card as a lost reader would: every operation fails at once, for good.
    pub fn lose(&mut self) {
        self.server.end();
    }
}

impl Drop for FaultyCard {
    fn drop(&mut self) {
        // A file system is unmounted only when its pending requests are answered.
        self.recover();
        for what in ["read", "write"] {
            let _ = std::fs::remove_file(trigger(self.directory.path(), what));
        }
    }
}

fn trigger(directory: &Path, what: &str) -> PathBuf {
    directory.join(format!("fail-{what}"))
}

/// A program of the lab; ended when dropped.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn start(mut command: Command, what: &str) -> Result<Self, Missing> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Self).map_err(|e| Missing(format!("{what}: {e}")))
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// nbdfuse and its mount.
#[derive(Debug)]
struct Fuse {
    point: PathBuf,
    process: Process,
}

impl Fuse {
    fn start(socket: &Path, point: &Path, bytes: u64) -> Result<Self, Missing> {
        let mut nbdfuse = Command::new("nbdfuse");
        nbdfuse.arg(point).arg("--unix").arg(socket);
        let fuse = Self { point: point.to_owned(), process: Process::start(nbdfuse, "nbdfuse")? };
        wait_for(|| std::fs::metadata(point).is_ok_and(|m| m.len() == bytes), "nbdfuse")?;
        Ok(fuse)
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        try_run("fusermount3", &["-u".as_ref(), self.point.as_os_str()]);
        let end = Instant::now() + Duration::from_secs(2);
        while Instant::now() < end && matches!(self.process.0.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        // When nbdfuse is killed, it closes /dev/fuse, and the kernel fails all pending requests.
        self.process.end();
        try_run("fusermount3", &["-u".as_ref(), "-z".as_ref(), self.point.as_os_str()]);
    }
}

fn wait_for(ready: impl Fn() -> bool, what: &str) -> Result<(), Missing> {
    let start = Instant::now();
    while !ready() {
        if start.elapsed() > TIMEOUT {
            return Err(Missing(format!("{what} did not start")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

// Devices that go away during use: a card that is removed, loses capacity or turns read-only, and an unplugged device.

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

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        if !self.lives() {
            self.dead = true;
            return Err(ProbeFault::Gone);
        }
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        if !self.lives() {
            if !self.dead {
                self.dead = true;
                self.inner.write_at(offset, &data[..data.len() / 1024 * 512])?;
            }
            return Err(ProbeFault::Gone);
        }
        self.inner.write_at(offset, data)
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        if self.dead { Err(ProbeFault::Gone) } else { self.inner.sync() }
    }

    fn present(&mut self) -> bool {
        !self.dead && self.inner.present()
    }
}
